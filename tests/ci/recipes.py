#!/usr/bin/env python3
"""The recipes of docs/ci.md, action.yml and the hooks of pre-commit: tests/ci/recipes.py WEIR

YAML parses (where there is the module yaml) and has the keys that its readers need. The commands run, as they are written, on
two kernels of our own, one clean and one with a race: those of the page's GitHub and GitLab jobs, of the Slurm array (one task
after the other, with srun left out), of GNU parallel (where it is installed), and the steps of the action that are not other
people's. And scripts/docs/links says so where a link leads nowhere.

The last line is `N passed, N failed`.
"""

import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WEIR = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/weir").resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
from counting import finish, test  # noqa: E402: without a trace in the tree
yaml = __import__("yaml") if importlib.util.find_spec("yaml") else None



def expect(holds, *told):
    if not holds:
        raise AssertionError(" ".join(map(str, told)))


def project(*kinds):
    """A folder with kernels/, a clean one and one with a race unless told otherwise."""
    folder = Path(tempfile.mkdtemp(dir=SCRATCH))
    (folder / "kernels").mkdir()
    for kind in kinds or ("ok", "broken"):
        for end in (".ttgir", ".launch.json"):
            shutil.copy(ROOT / f"examples/races/ring_released_early-{kind}{end}", folder / "kernels")
    return folder


def bash(script, folder, **environment):
    path = os.pathsep.join([str(WEIR.parent), os.environ["PATH"]])
    run = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=folder, capture_output=True, text=True,
                         env={**os.environ, "PATH": path, **environment}, check=False)
    return run.returncode, run.stdout + run.stderr


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / "docs/ci.md").read_text(), re.M | re.S)


def jobs(document):
    return document["jobs"].values() if "jobs" in document else ()


def steps(document):
    return [step for job in jobs(document) for step in job["steps"]]


def yaml_parses():
    shown = [yaml.safe_load(block) for block in blocks("yaml")]
    expect(len(shown) == 8, len(shown), "blocks of YAML")
    for document in shown:
        for job in jobs(document):
            expect(job["runs-on"] and all("uses" in step or "run" in step for step in job["steps"]), document)
        for repository in document.get("repos", ()):
            expect(repository["repo"] == "local" or repository["rev"], document)


def action_inputs():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    used = [step for document in map(yaml.safe_load, blocks("yaml")) for step in steps(document) if "weir@" in step.get("uses", "")]
    expect(len(used) == 2, used)
    for step in used:
        expect(set(step["with"]) <= set(action["inputs"]), step)
    table = re.findall(r"^\| `([a-z-]+)` \|", (ROOT / "docs/ci.md").read_text().split("| input | |")[1].split("\n\n")[0], re.M)
    expect(table == list(action["inputs"]), table)
    for step in action["runs"]["steps"]:
        expect("${{" not in step.get("run", ""), "an input is pasted into a script:", step["name"])


def action_run(name, folder, **environment):
    for step in yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]:
        if step["name"] == name:
            output = folder / "output"
            return *bash(step["run"], folder, GITHUB_OUTPUT=str(output), GITHUB_STEP_SUMMARY=str(folder / "summary"), RUNNER_TEMP=str(folder),
                         **environment), output
    raise AssertionError(f"action.yml has no step {name}")


def action_checks():
    for kinds, status in ((("ok",), "0"), (("ok", "broken"), "1"), ((), "2")):
        folder = project(*kinds) if kinds else Path(tempfile.mkdtemp(dir=SCRATCH))
        code, told, output = action_run("Check kernels", folder, WEIR_PATHS="kernels", WEIR_COMMAND="", WEIR_OPTIONS="--timeout 30",
                                        WEIR_OUTPUT="weir.sarif")
        expect(code == 0 and output.read_text() == f"status={status}\n", told, output.read_text())
        if status != "2":
            expect(json.loads((folder / "weir.sarif").read_text())["version"] == "2.1.0")
        code, told, _ = action_run("Verdict", folder, WEIR_STATUS=status, WEIR_ALLOW_INCOMPLETE="false")
        expect(str(code) == status, code, told)


def action_lines():
    """Paths and options on lines of their own are all taken, and the log has what is wrong."""
    folder = project("ok", "broken")
    files = sorted((folder / "kernels").glob("*.ttgir"))
    code, told, output = action_run("Check kernels", folder, WEIR_PATHS="\n".join(f"kernels/{file.name}" for file in files) + "\n",
                                    WEIR_COMMAND="", WEIR_OPTIONS="--timeout 30\n--only-launch\n", WEIR_OUTPUT="weir.sarif")
    expect(code == 0 and output.read_text() == "status=1\n", told, output.read_text())
    expect("::error file=" in told and f"{len(files)} kernels" in told, told)
    summary = (folder / "summary").read_text()
    expect(summary.startswith("### Weir\n") and f"{len(files)} kernels" in summary and "| error | `race.war` | 1 |" in summary and "::error" not in summary, summary)


def action_command():
    folder = project()
    code, told, output = action_run("Check kernels", folder, WEIR_PATHS="", WEIR_COMMAND="true && echo ran", WEIR_OPTIONS="",
                                    WEIR_OUTPUT="weir.sarif")
    expect(code == 0 and output.read_text() == "status=3\n", "nothing was captured:", told, output.read_text())
    expect("ran" in told, told)


def action_verdict():
    for status, allow, wanted in (("3", "false", 3), ("3", "true", 0), ("", "true", 2), ("9", "false", 2)):
        code, told, _ = action_run("Verdict", project(), WEIR_STATUS=status, WEIR_ALLOW_INCOMPLETE=allow)
        expect(code == wanted, status, allow, code, told)


def gitlab_and_github_commands():
    commands = []
    for document in map(yaml.safe_load, blocks("yaml")):
        commands += [step["run"] for step in steps(document) if step.get("run", "").startswith("weir check --format")]
        commands += [line for job in document.values() if isinstance(job, dict) for line in job.get("script", ())]
    expect(len(commands) == 3, commands)
    for command in commands:
        expect(bash(command, project())[0] == 1, command)
        expect(bash(command, project("ok"))[0] == 0, command)


def github_matrix():
    document = next(document for document in map(yaml.safe_load, blocks("yaml")) if "verdict" in document.get("jobs", ()))
    shards, folder = document["jobs"]["check"]["strategy"]["matrix"]["shard"], project()
    check = next(step["run"] for step in document["jobs"]["check"]["steps"] if "run" in step)
    merge = next(step["run"] for step in document["jobs"]["verdict"]["steps"] if "run" in step)
    for shard in shards:
        bash(check.replace("${{ matrix.shard }}", str(shard)), folder)
    expect(bash(merge, folder)[0] == 1)
    (folder / "3.sarif").unlink()
    (folder / "2.sarif").unlink()
    expect(bash(merge, folder)[0] in (1, 3), "a shard is missing")
    expect(len(json.loads((folder / "weir.sarif").read_text())["runs"]) == 1)


def slurm():
    script = next(block for block in blocks("bash") if "#SBATCH" in block).replace("srun ", "")
    then = next(block for block in blocks("bash") if "sbatch --dependency" in block)
    merge = re.search(r"--wrap '([^']*)'", then)[1]
    for kinds, status in ((("ok", "broken"), 1), (("ok",), 0)):
        folder = project(*kinds)
        for task in range(1, 17):
            bash(script, folder, SLURM_ARRAY_TASK_ID=str(task), SLURM_ARRAY_TASK_COUNT="16")
        expect(bash(merge, folder)[0] == status, kinds)


def parallel():
    script = next(block for block in blocks("bash") if "parallel --sshloginfile" in block)
    folder = project()
    (folder / "machines").write_text(":\n")
    # parallel's status is the number of shards with findings, which ends a script under -e.
    code, told = bash("set +e\n" + script, folder)
    expect(code == 1, code, told)
    expect(len(list((folder / "shards").iterdir())) == 16, told)


def hook():
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    for one in hooks:
        expect({"id", "name", "entry", "language", "files"} <= set(one), one)
        files = [f"kernels/ring_released_early-{kind}.ttgir" for kind in ("ok", "broken")]
        expect(all(re.search(one["files"], name) for name in files) and not re.search(one["files"], "kernels/rings.py"), one)
        expect(bash(f"{one['entry']} {files[0]}", project())[0] == 0 and bash(f"{one['entry']} {files[1]}", project())[0] == 1, one)
    shown = [repository for block in blocks("yaml") for repository in yaml.safe_load(block).get("repos", ())]
    expect({one["id"] for repository in shown if repository["repo"] != "local" for one in repository["hooks"]} <= {one["id"] for one in hooks})


def links():
    spec = importlib.util.spec_from_loader("links", importlib.machinery.SourceFileLoader("links", str(ROOT / "scripts/docs/links")))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.ROOT = folder = Path(tempfile.mkdtemp(dir=SCRATCH)).resolve()
    (folder / "a.md").write_text("# One `two`: three\n\n[b](b.md#x) [self](#one-two-three) ![i](i.png) [web](https://c)\n\n    [code](no.md)\n\n"
                                 "`[span](no.md)`\n\n```\n[fenced](no.md)\n```\n\n- item\n  [wrong](#four) [file](no.md)\n")
    (folder / "b.md").write_text("<a id=\"x\"></a>\n# A\n\n# A\n\n[second](#a-1) [third](#a-2)\n")
    (folder / "i.png").touch()
    passed, wrong = module.check_tree([folder / "a.md", folder / "b.md"])
    expect(passed == 4 and len(wrong) == 3, passed, wrong)
    expect(sorted(line.split(":")[2].strip() for line in wrong) == ["#a-2", "#four", "no.md"], wrong)
    expect(module.reached([folder / "a.md"]) == ["a.md", "b.md", "i.png"], module.reached([folder / "a.md"]))


with tempfile.TemporaryDirectory(prefix="weir-recipes-") as SCRATCH:
    for work in (links, slurm):
        test(work.__name__, work)
    if shutil.which("parallel"):
        test("parallel", parallel)
    else:
        print("skipped: the recipe of GNU parallel: it is not installed")
    if yaml:
        for work in (yaml_parses, action_inputs, action_checks, action_lines, action_command, action_verdict, gitlab_and_github_commands, github_matrix, hook):
            test(work.__name__, work)
    else:
        print("skipped: the recipes in YAML: there is no Python module yaml")
finish()
