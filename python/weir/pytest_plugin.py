"""pytest --weir: a test fails whose Triton kernels have findings, or whose operations race with each other where there is no GPU (docs/programs.md), in its body, its fixtures or its teardown. --weir-target names the GPU
to compile for where there is none, --weir-strict lets a test fail, too, in which a kernel is incomplete, and --weir-require one whose clean kernels cover less than it names. Findings count as the project
file says (docs/config.md). Findings that no failed test shows (of a test that is expected to fail, or while modules are imported) are reported
at the end, and the exit status is that of failed tests. Under xdist the processes that run the tests check, and the one
that prints reports."""

import contextlib

import pytest


def pytest_addoption(parser):
    group = parser.getgroup("weir", "races, deadlocks and missing barriers in Triton kernels")
    group.addoption("--weir", action="store_true", help="check the Triton kernels that tests launch")
    group.addoption("--weir-strict", action="store_true", help="let a test fail in which a kernel could not be checked in full")
    group.addoption("--weir-target", metavar="TARGET", help="compile for this GPU, and run kernels on the CPU (sm_90, ...; gfx942: not run)")
    group.addoption("--weir-config", metavar="FILE", help="read the project file FILE instead of weir.toml or .weir")
    group.addoption("--weir-require", metavar="SCOPE", choices=("every-launch", "given-launch", "tried-launches"),
                    help="what a clean kernel must cover, every-launch, given-launch or tried-launches: a test with a kernel that is "
                         "clean for less, or incomplete, fails")
    group.addoption("--weir-no-config", action="store_true", help="read no project file")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    """PyTorch's device is there before the first module of the tests asks for it."""
    options = early_config.known_args_namespace
    if getattr(options, "weir", False):
        from . import device_torch

        device_torch.install_later(getattr(options, "weir_target", None))


def pytest_configure(config):
    if not config.getoption("--weir"):
        return
    from . import Project, ProjectError

    try:
        project = Project(False if config.getoption("--weir-no-config") else config.getoption("--weir-config"),
                          require=config.getoption("--weir-require"))
    except ProjectError as error:
        raise pytest.UsageError(str(error)) from None
    config.pluginmanager.register(Plugin(config, project), "weir-checks")


class Plugin:
    def __init__(self, config, project):
        self.config, self.project = config, project
        # What all tests have shown, in types that xdist hands on: (where, sentence) each, and of findings whether a test fails for them.
        self.seen = {"launches": 0, "findings": [], "incomplete": [], "notes": [], "remarks": []}
        self.sections = {}  # of a test and its phase: findings that are not why it fails

    @contextlib.contextmanager
    def watching(self):
        from . import triton

        watch = triton.Watch(project=self.project)
        triton.install(self.config.getoption("--weir-target")).forget()
        triton.State.watches.append(watch)
        log = triton.OrderLog()
        try:
            yield watch
        finally:
            triton.State.watches.remove(watch)
            log.end(watch)

    def settle(self, where, watch):
        """Adds up what a watch has seen; gives the text for which a test is to fail, or None."""
        from . import triton

        results = watch.finish()
        bad, text = watch.bad(), []
        incomplete = [(name, result) for name, result in results if result.verdict == "incomplete"]
        lines = [f"kernel {name} is incomplete: {'; '.join(map(str, result.incomplete))[:200]}" for name, result in incomplete]
        self.seen["launches"] += len(results)
        self.seen["notes"] += [(where, sentence) for sentence in watch.notes]
        self.seen["incomplete"] += [(where, line) for line in lines]
        if bad:
            text.append(str(triton.Findings(bad)))
        if self.config.getoption("--weir-strict") or self.config.getoption("--weir-require"):
            text += lines + watch.notes
        return "\n".join(text) or None

    def phase(self, item, when):
        """Watches one phase of a test; the test fails if a kernel has findings; if it fails anyway, they are reported with the reason."""
        with self.watching() as watch:
            outcome = yield
        text = self.settle(item.nodeid, watch)
        if not text:
            return
        fails = outcome.excinfo is None and not item.get_closest_marker("xfail")
        self.seen["findings"].append((item.nodeid, text, fails))
        if outcome.excinfo is None:
            outcome.force_exception(pytest.fail.Exception(text, pytrace=False))
        else:
            self.sections[item.nodeid, when] = text

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item):
        yield from self.phase(item, "setup")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        yield from self.phase(item, "call")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_teardown(self, item):
        yield from self.phase(item, "teardown")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        text = self.sections.pop((item.nodeid, call.when), None)
        if text:
            outcome.get_result().sections.append(("weir", text))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector):
        """Modules may launch kernels when they are imported."""
        if not isinstance(collector, pytest.Module):
            yield
            return
        with self.watching() as watch:
            yield
        text = self.settle(collector.nodeid, watch)
        if text:
            self.seen["findings"].append((collector.nodeid, text, False))

    # ---- The end ------------------------------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node, error):
        """A process of xdist's is over, and has left what it has seen."""
        for key, value in (getattr(node, "workeroutput", None) or {}).get("weir", {}).items():
            self.seen[key] += [entry for entry in map(tuple, value) if entry not in self.seen[key]] if key != "launches" else value

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session, exitstatus):
        self.seen["remarks"] += [("", sentence) for sentence in self.project.remarks()]
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["weir"] = self.seen
        elif exitstatus == pytest.ExitCode.OK and any(not fails for _, _, fails in self.seen["findings"]):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        seen = self.seen
        terminalreporter.section("weir")
        terminalreporter.line(f"{seen['launches']} launches checked" if seen["launches"] else
                              "nothing was checked: no test launched a Triton kernel")
        for where, text, fails in seen["findings"]:
            if not fails:
                terminalreporter.line(f"{where}: findings beside how it ended:")
                terminalreporter.line(text)
        for where, sentence in seen["notes"] + seen["incomplete"]:
            terminalreporter.line(f"{where}: {sentence}")
        for _, sentence in seen["remarks"]:
            terminalreporter.line(sentence)
