"""pytest --weir: a test fails whose Triton kernels have findings; --weir-target names the GPU to compile for where there is
none; --weir-require says what a clean kernel must cover (docs/checking.md): a test with one that is clean for less, or incomplete, fails.
Findings count as the project file says (docs/config.md). A test in which a kernel could not be looked at as a whole is told
of at the end."""

import pytest


def pytest_addoption(parser):
    group = parser.getgroup("weir", "races, deadlocks and missing barriers in Triton kernels")
    group.addoption("--weir", action="store_true", help="check the Triton kernels that tests launch")
    group.addoption("--weir-target", metavar="TARGET", help="compile for this GPU, and run no kernel (sm_90, gfx942, ...)")
    group.addoption("--weir-config", metavar="FILE", help="read the project file FILE instead of weir.toml or .weir")
    group.addoption("--weir-require", metavar="SCOPE", choices=("every-launch", "given-launch", "tried-launches"),
                    help="what a clean kernel must cover, every-launch, given-launch or tried-launches: a test with a kernel that is "
                         "clean for less, or incomplete, fails")
    group.addoption("--weir-no-config", action="store_true", help="read no project file")


def pytest_configure(config):
    if not config.getoption("--weir"):
        return
    from . import Project, ProjectError

    try:
        project = Project(False if config.getoption("--weir-no-config") else config.getoption("--weir-config"),
                          require=config.getoption("--weir-require"))
    except ProjectError as error:
        raise pytest.UsageError(str(error)) from None
    config.pluginmanager.register(Plugin(config.getoption("--weir-target"), project, config.getoption("--weir-require")),
                                   "weir-checks")


class Plugin:
    def __init__(self, target, project, require=None):
        self.target, self.project, self.require = target, project, require
        self.launches, self.incomplete, self.notes = 0, [], []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        from . import triton

        recorder = triton.install(self.target)
        recorder.forget()
        watch = triton.Watch(project=self.project)
        triton.State.watches.append(watch)
        outcome = yield
        triton.State.watches.remove(watch)
        results = watch.finish()
        self.launches += len(results)
        self.incomplete += [(item.nodeid, name, result) for name, result in results if result.verdict == "incomplete"]
        self.notes += [(item.nodeid, sentence) for sentence in watch.notes]
        bad = watch.bad() + [each for each in results if self.require and each[1].verdict == "incomplete"]
        if bad and outcome.excinfo is None:
            outcome.force_exception(pytest.fail.Exception(str(triton.Findings(bad)), pytrace=False))

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section("weir")
        terminalreporter.line(f"{self.launches} launches checked" if self.launches else
                              "nothing was checked: no test launched a Triton kernel")
        for test, sentence in self.notes:
            terminalreporter.line(f"{test}: {sentence}")
        for sentence in self.project.remarks():
            terminalreporter.line(sentence)
        for test, name, result in self.incomplete:
            terminalreporter.line(f"{test}: kernel {name} is incomplete: {'; '.join(map(str, result.incomplete))[:200]}")

