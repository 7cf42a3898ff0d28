"""pytest --weir: a test fails whose Triton kernels have findings, or whose operations race with each other where there is no GPU
(docs/programs.md), in its body, its fixtures or its teardown. --weir-target names the GPU to compile for where there is none,
--weir-strict lets a test fail, too, in which a kernel is incomplete, and --weir-require one whose clean kernels cover less than it
names. Findings count as the project file says (docs/config.md); for one test, class or module
@pytest.mark.weir(require="given-launch", ignore=["race.inflight"], strict=True) goes over it. Findings that no failed test shows (of a
test that is expected to fail, or while modules are imported) are reported at the end, and the exit status is that of failed tests.
Under xdist the processes that run the tests check, and the one that prints reports."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Any, Generator, Iterator

import pytest

if TYPE_CHECKING:
    from . import Project
    from .triton import Watch

SCOPES = ("every-launch", "given-launch", "tried-launches")
MARKER = "weir(require=SCOPE, ignore=[RULE, ...], strict=True): what the kernels of this test must cover, and findings that do not count in it"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("weir", "races, deadlocks and missing barriers in Triton kernels")
    group.addoption("--weir", action="store_true", help="check the Triton kernels that tests launch")
    group.addoption("--weir-strict", action="store_true", help="let a test fail in which a kernel could not be checked in full")
    group.addoption("--weir-target", metavar="TARGET", help="compile for this GPU, and run kernels on the CPU (sm_90, ...; gfx942: not run)")
    group.addoption("--weir-config", metavar="FILE", help="read the project file FILE instead of weir.toml or .weir")
    group.addoption("--weir-require", metavar="SCOPE", choices=SCOPES,
                    help="what a clean kernel must cover, every-launch, given-launch or tried-launches: a test with a kernel that is "
                         "clean for less, or incomplete, fails")
    group.addoption("--weir-no-config", action="store_true", help="read no project file")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """PyTorch's device is there before the first module of the tests asks for it."""
    options = early_config.known_args_namespace
    if getattr(options, "weir", False):
        from . import device_torch

        device_torch.install_later(getattr(options, "weir_target", None))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    if not config.getoption("--weir"):
        return
    config.pluginmanager.register(Plugin(config), "weir-checks")


@dataclasses.dataclass(frozen=True)
class Demands:
    """What is asked of the kernels of a test: by the command line, or by the marker that is closest to it."""

    require: str | None = None
    ignore: tuple[str, ...] = ()
    strict: bool = False

    def of(self, item: pytest.Item) -> Demands:
        marker = item.get_closest_marker("weir")
        if not marker:
            return self
        known = {field.name for field in dataclasses.fields(self)}
        unknown = [name for name in marker.kwargs if name not in known]
        ignore = marker.kwargs.get("ignore", ())
        if marker.args or unknown:
            raise pytest.UsageError(f"{item.nodeid}: the marker is {MARKER.split(':')[0]}, and has no {', '.join(unknown) or 'argument without a name'}")
        if marker.kwargs.get("require", SCOPES[0]) not in SCOPES:
            raise pytest.UsageError(f"{item.nodeid}: require is one of {', '.join(SCOPES)}, not {marker.kwargs['require']!r}")
        return dataclasses.replace(self, **{**marker.kwargs, "ignore": (ignore,) if isinstance(ignore, str) else tuple(ignore)})


@dataclasses.dataclass
class Seen:
    """What all tests have shown, in types that xdist hands on: (where, sentence) each, and of findings whether a test fails for them."""

    launches: int = 0
    findings: list[tuple[str, str, bool]] = dataclasses.field(default_factory=list)
    incomplete: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    notes: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    remarks: list[tuple[str, str]] = dataclasses.field(default_factory=list)

    def add(self, other: dict[str, Any]) -> None:
        self.launches += other.pop("launches", 0)
        for name, values in other.items():
            mine = getattr(self, name)
            mine += [value for value in map(tuple, values) if value not in mine]


class Plugin:
    def __init__(self, config: pytest.Config) -> None:
        self.config, self.seen = config, Seen()
        require = config.getoption("--weir-require")
        self.demands = Demands(require, (), bool(config.getoption("--weir-strict") or require))
        self.projects: dict[Demands, Project] = {}
        self.project(self.demands)
        self.sections: dict[tuple[str, str], str] = {}  # of a test and its phase: findings that are not why it fails

    def project(self, demands: Demands, where: str = "") -> Project:
        from . import Project, ProjectError

        if demands not in self.projects:
            try:
                self.projects[demands] = Project(
                    False if self.config.getoption("--weir-no-config") else self.config.getoption("--weir-config"),
                    require=demands.require, ignore=demands.ignore)
            except ProjectError as error:
                raise pytest.UsageError(f"{where}{error}") from None
        return self.projects[demands]

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Markers that make no sense are said before the first test."""
        for item in items:
            self.project(self.demands.of(item), f"{item.nodeid}: ")

    @contextlib.contextmanager
    def watching(self, project: Project) -> Iterator[Watch]:
        from . import triton

        watch = triton.Watch(project=project)
        triton.install(self.config.getoption("--weir-target")).forget()
        triton.State.watches.append(watch)
        log = triton.OrderLog()
        try:
            yield watch
        finally:
            triton.State.watches.remove(watch)
            log.end(watch)

    def settle(self, where: str, watch: Watch, strict: bool) -> str | None:
        """Adds up what a watch has seen; gives the text for which a test is to fail, or None."""
        from . import triton

        results = watch.finish()
        bad = watch.bad()
        text: list[str] = []
        incomplete = [(name, result) for name, result in results if result.verdict == "incomplete"]
        lines = [f"kernel {name} is incomplete: {'; '.join(map(str, result.incomplete))[:200]}" for name, result in incomplete]
        self.seen.launches += len(results)
        self.seen.notes += [(where, sentence) for sentence in watch.notes]
        self.seen.incomplete += [(where, line) for line in lines]
        if bad:
            text.append(str(triton.Findings(bad)))
        if strict:
            text += lines + watch.notes
        return "\n".join(text) or None

    def phase(self, item: pytest.Item, when: str) -> Generator[None, Any, None]:
        """Watches one phase of a test; the test fails if a kernel has findings; if it fails anyway, they are reported with the reason."""
        demands = self.demands.of(item)
        with self.watching(self.project(demands)) as watch:
            outcome = yield
        text = self.settle(item.nodeid, watch, demands.strict or demands.require is not None)
        if not text:
            return
        fails = outcome.excinfo is None and not item.get_closest_marker("xfail")
        self.seen.findings.append((item.nodeid, text, fails))
        if outcome.excinfo is None:
            outcome.force_exception(pytest.fail.Exception(text, pytrace=False))
        else:
            self.sections[item.nodeid, when] = text

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, None]:
        yield from self.phase(item, "setup")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, None]:
        yield from self.phase(item, "call")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, None]:
        yield from self.phase(item, "teardown")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
        outcome = yield
        text = self.sections.pop((item.nodeid, call.when), None)
        if text:
            outcome.get_result().sections.append(("weir", text))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, None]:
        """Modules may launch kernels when they are imported."""
        if not isinstance(collector, pytest.Module):
            yield
            return
        with self.watching(self.project(self.demands)) as watch:
            yield
        text = self.settle(collector.nodeid, watch, self.demands.strict)
        if text:
            self.seen.findings.append((collector.nodeid, text, False))

    # ---- The end ------------------------------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """A process of xdist's is over, and has left what it has seen."""
        self.seen.add((getattr(node, "workeroutput", None) or {}).get("weir", {}))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        # What one project finds of no use may be of use in another, of a test with a marker.
        remarks = [project.remarks() for project in self.projects.values()]
        self.seen.remarks += [("", sentence) for sentence in remarks[0] if all(sentence in others for others in remarks)]
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["weir"] = dataclasses.asdict(self.seen)
        elif exitstatus == pytest.ExitCode.OK and any(not fails for _, _, fails in self.seen.findings):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        seen = self.seen
        terminalreporter.section("weir")
        terminalreporter.line(f"{seen.launches} launches checked" if seen.launches else
                              "nothing was checked: no test launched a Triton kernel")
        for where, text, fails in seen.findings:
            if not fails:
                terminalreporter.line(f"{where}: findings beside how it ended:")
                terminalreporter.line(text)
        for where, sentence in seen.notes + seen.incomplete:
            terminalreporter.line(f"{where}: {sentence}")
        for _, sentence in seen.remarks:
            terminalreporter.line(sentence)
