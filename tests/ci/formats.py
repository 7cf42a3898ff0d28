#!/usr/bin/env python3
"""What `weir check` writes for continuous integration, read as those who take it do: tests/ci/formats.py WEIR

Every kernel of tests/kernels, inputs that cannot be read, and files, kernels and sources whose names try to break out: as
SARIF (sarif_shape.py; and by the schema of the standard, if $WEIR_SARIF_SCHEMA or build/sarif-schema-2.1.0.json is it and
there is the module jsonschema), as workflow commands, as a code quality report, as JUnit's and Checkstyle's XML; in shards, and merged.
The schema is not kept here: it is Schemata/sarif-schema-2.1.0.json of the OASIS repository oasis-tcs/sarif-spec.

The last line is `N passed, N failed`.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import sarif_shape
from counting import finish, test
from sarif_shape import expect

ROOT = Path(__file__).resolve().parents[2]
WEIR = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/weir")
KERNELS = ROOT / "tests/kernels"



def weir(*arguments, cwd=ROOT):
    run = subprocess.run([os.fsencode(WEIR), *map(os.fsencode, arguments)], cwd=cwd, capture_output=True, check=False)
    return run.returncode, run.stdout


def check(fmt, *arguments, cwd=ROOT):
    return weir("check", "--format", fmt, *arguments, cwd=cwd)


# ---- The schema ---------------------------------------------------------------------------------


def validator():
    path = os.environ.get("WEIR_SARIF_SCHEMA") or ROOT / "build/sarif-schema-2.1.0.json"
    try:
        import jsonschema
    except ImportError:
        print("skipped: the schema of SARIF: there is no Python module jsonschema")
        return None
    if not os.path.exists(path):
        print("skipped: the schema of SARIF: $WEIR_SARIF_SCHEMA names no file")
        return None
    schema = json.loads(Path(path).read_bytes())
    return jsonschema.validators.validator_for(schema)(schema)


SCHEMA = validator()


def read_sarif(status, output):
    sarif = json.loads(output.decode("utf-8"))
    sarif_shape.check(sarif, status)
    if SCHEMA:
        for problem in SCHEMA.iter_errors(sarif):
            raise sarif_shape.Wrong(f"{list(problem.absolute_path)}: {problem.message[:200]}")
    return sarif["runs"][0]


# ---- The other formats --------------------------------------------------------------------------

COMMAND = re.compile(rb"::(error|warning|notice) file=([^,:]*),line=(\d+),col=(\d+),title=([^,:]*)::([^\r]*)\Z")


def unescape(data):
    return re.sub(rb"%([0-9A-F]{2})", lambda match: bytes([int(match.group(1), 16)]), data)


def read_github(output):
    lines = output.split(b"\n")
    expect(lines.pop() == b"", "the last line has no end")
    expect(lines.pop().startswith(b"weir: "), "there is no last line with the verdict")
    commands = []
    for line in lines:
        match = COMMAND.match(line)
        expect(match, f"{line[:100]!r} is no command")
        expect(int(match[3]) >= 1 and int(match[4]) >= 1, f"{line[:100]!r} is nowhere")
        line.decode("utf-8")
        expect(not re.search(rb"[\x00-\x1f\x7f]", line), f"{line[:100]!r} has control characters")
        expect(not re.search(rb"%(?![0-9A-F]{2})", line), f"{line[:100]!r} has a bare %")
        commands.append([match[1].decode(), *(unescape(match[i]).decode("utf-8") for i in (2, 5, 6))])
    return commands


def read_gitlab(output):
    issues = json.loads(output.decode("utf-8"))
    prints = set()
    for issue in issues:
        expect(set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}, f"{issue}")
        expect(issue["severity"] in {"info", "minor", "major", "critical", "blocker"}, f"{issue}")
        expect(set(issue["location"]) == {"path", "lines"} and issue["location"]["lines"]["begin"] >= 1, f"{issue}")
        expect(issue["description"] and issue["check_name"] and issue["location"]["path"], f"{issue}")
        expect(re.match(r"[0-9a-f]{16}\Z", issue["fingerprint"]), f"{issue}")
        expect(not issue["location"]["path"].startswith(("/", "./")), f"{issue}")
        expect(issue["fingerprint"] not in prints, f"two have the fingerprint {issue['fingerprint']}")
        prints.add(issue["fingerprint"])
    return issues


def read_junit(output):
    suites = ElementTree.fromstring(output.decode("utf-8").encode("utf-8"))
    expect(suites.tag == "testsuites" and len(suites) == 1 and suites[0].tag == "testsuite", "there is no one suite")
    cases = suites[0].findall("testcase")
    kinds = {kind: [case for case in cases if case.find(kind) is not None] for kind in ("failure", "error", "skipped")}
    for element in (suites, suites[0]):
        for key, count in (("tests", cases), ("failures", kinds["failure"]), ("errors", kinds["error"])):
            expect(int(element.get(key)) == len(count), f"{key} is {element.get(key)}, there are {len(count)}")
    for case in cases:
        expect(case.get("classname") and float(case.get("time")) >= 0, "a case has no class or time")
        expect(all(problem.get("message") for problem in case if problem.tag in kinds), "a problem has no message")
    return cases, kinds


def read_checkstyle(output):
    report = ElementTree.fromstring(output.decode("utf-8").encode("utf-8"))
    expect(report.tag == "checkstyle" and report.get("version").startswith("weir "), "it is no report")
    errors = [error.attrib for file in report for error in file if file.tag == "file" and error.tag == "error" and file.get("name")]
    expect(len(errors) == len(report), "a file has no name or no error")
    for error in errors:
        expect(set(error) == {"line", "column", "severity", "message", "source"}, f"{error}")
        expect(int(error["line"]) >= 1 and int(error["column"]) >= 1 and error["message"], f"{error}")
        expect(error["severity"] in {"error", "warning", "info"} and error["source"].startswith("weir."), f"{error}")
    return errors


# ---- All kernels of ours ------------------------------------------------------------------------


def of_json():
    status, output = check("json", str(KERNELS), "no/such.ttgir")
    return status, json.loads(output)["inputs"]


def agree():
    """All formats tell of the same kernels, findings, and of all that is incomplete or cannot be read."""
    status, inputs = of_json()
    by_verdict = {verdict: [each for each in inputs if each["verdict"] == verdict] for verdict in sarif_shape.STATUS}
    findings = [(f["rule"], f["fingerprint"]) for each in inputs for f in each["findings"]]
    reasons = [i for each in inputs for i in each["incomplete"] if each["verdict"] != "error"]
    expect(all(by_verdict.values()) and findings and reasons, "not everything there is comes up")

    the_run = read_sarif(*check("sarif", str(KERNELS), "no/such.ttgir"))
    results = [(r["ruleId"], r["partialFingerprints"]["weir/v1"]) for r in the_run["results"] if "kind" not in r]
    expect(results == findings, "SARIF has other findings")
    opened = [r for r in the_run["results"] if r.get("kind") == "open"]
    expect(len(opened) == len(by_verdict["incomplete"]), "SARIF has other kernels that are incomplete")
    told = the_run["invocations"][0]["toolExecutionNotifications"]
    expect(len(told) == len(reasons) + 1, f"SARIF has {len(told)} notifications")
    expect(the_run["properties"]["kernels"] == {v: len(k) for v, k in by_verdict.items()}, "SARIF counts otherwise")

    commands = read_github(check("github", str(KERNELS), "no/such.ttgir")[1])
    expect(len(commands) == len(findings) + len(reasons) + 1, f"there are {len(commands)} commands")
    issues = read_gitlab(check("gitlab", str(KERNELS), "no/such.ttgir")[1])
    expect(len(issues) == len(findings) + len(reasons) + 1, f"there are {len(issues)} issues")
    errors = read_checkstyle(check("checkstyle", str(KERNELS), "no/such.ttgir")[1])
    expect([error["source"][5:] for error in errors] == [issue["check_name"] for issue in issues], "Checkstyle has other errors")
    cases, kinds = read_junit(check("junit", str(KERNELS), "no/such.ttgir")[1])
    expect(len(cases) == len(inputs), f"there are {len(cases)} cases")
    expect(len(kinds["failure"]) == len(by_verdict["findings"]), "there are other failures")
    expect(len(kinds["error"]) == len(by_verdict["incomplete"]) + 1, "there are other errors")
    expect(status == 2, f"the status is {status}")


def clean():
    kernel = str(KERNELS / "scope/closed.ttgir")  # nothing is asked of its launches
    status, output = check("sarif", kernel)
    the_run = read_sarif(status, output)
    expect(status == 0 and not the_run["results"], "something is wrong with a right kernel")
    expect(not the_run["invocations"][0]["toolExecutionNotifications"], "something is told of it")
    expect(check("github", kernel)[1].startswith(b"weir: clean (every launch): 1 kernel, 1 clean (1 every launch)"), "it is not told clean")
    expect(read_gitlab(check("gitlab", kernel)[1]) == [], "there are issues")
    expect(read_checkstyle(check("checkstyle", kernel)[1]) == [], "there are errors")
    expect(not any(read_junit(check("junit", kernel)[1])[1].values()), "there are problems")


def other_commands():
    for command in ("run", "lint"):
        status, output = weir(command, "--format", "sarif", str(KERNELS / "ring-not-primed-hang.ttgir"))
        read_sarif(status, output)


def suppressed():
    """What does not count is in SARIF, and says why; it is no annotation, no issue, and no failure."""
    project = ROOT / "tests/golden/project"
    arguments = ("--no-config", "--source-root", "sources", "kernels/ring.ttgir")
    status, output = check("sarif", *arguments, cwd=project)
    results = read_sarif(status, output)["results"]
    reasons = [each["suppressions"] for each in results if each["suppressions"]]
    expect(status == 0 and len(reasons) == 3 and len(results) == 4, f"there are {len(reasons)} of {len(results)}")
    expect(all(each[0]["kind"] == "inSource" and each[0]["justification"] for each in reasons), f"{reasons}")
    expect([command[0] for command in read_github(check("github", *arguments, cwd=project)[1])] == ["notice"], "GitHub")
    expect([issue["severity"] for issue in read_gitlab(check("gitlab", *arguments, cwd=project)[1])] == ["info"], "GitLab")
    expect([error["severity"] for error in read_checkstyle(check("checkstyle", *arguments, cwd=project)[1])] == ["info"], "Checkstyle")
    expect(not any(read_junit(check("junit", *arguments, cwd=project)[1])[1].values()), "JUnit")


# ---- Names that try to break out ----------------------------------------------------------------

HANG = b"""#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @%s() {
    %%zero = arith.constant 0 : i32
    %%bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttng.init_barrier %%bar, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    ttng.wait_barrier %%bar, %%zero : !ttg.memdesc<1xi64, #shared, #smem, mutable>%s
    tt.return
  }
}
"""
UNKNOWN = HANG.replace(b"    tt.return\n", b"    acme.unknown %%bar : !ttg.memdesc<1xi64, #shared, #smem, mutable>\n    tt.return\n")

KERNEL_NAMES = [
    b"plain",
    rb'"<script>&amp;\22\27]]>"',
    rb'"a\0A::error file=x,line=1::broken out"',
    rb'"\1B[31mred\07\00\7F"',
    '"\u202eright-to-left\ufffe"'.encode(),
    b'"\xff\xfe no UTF-8 \xc3"',
    b'"%25%0A,title=x:{0}[a](b)"',
]
FILE_NAMES = [
    b"plain.ttgir",
    b"a b,c:d%0Ae.ttgir",
    b"new\nline\r::error::x.ttgir",
    b'quo"te\'<&>.ttgir',
    b"\xff\xfe.ttgir",
    "umlaut-\u00e4-\u202e.ttgir".encode(),
]
SOURCES = [
    b"",
    b' loc("plain.py":3:5)',
    rb' loc("/x/a\0A::error::x,y:z%0A.py":3:5)',
    rb' loc("<&\22>\07.py":3:5)',
]


def hostile_folder(folder):
    cases = 0
    for index, name in enumerate(FILE_NAMES):
        kernel = KERNEL_NAMES[index % len(KERNEL_NAMES)]
        Path(os.fsdecode(os.path.join(os.fsencode(folder), name))).write_bytes(HANG % (kernel, SOURCES[index % 4]))
        cases += 1
    for index, kernel in enumerate(KERNEL_NAMES):
        for kind, text in (("hang", HANG), ("unknown", UNKNOWN)):
            Path(folder, f"{kind}-{index}.ttgir").write_bytes(text % (kernel, SOURCES[(index + 1) % 4]))
            cases += 1
    return cases


def hostile():
    with tempfile.TemporaryDirectory() as folder:
        cases = hostile_folder(folder)
        status, output = check("json", ".", cwd=folder)
        inputs = json.loads(output.decode("utf-8"))["inputs"]
        expect(len(inputs) == cases, f"there are {len(inputs)} inputs")
        findings = sum(len(each["findings"]) for each in inputs)
        reasons = sum(len(each["incomplete"]) for each in inputs if each["verdict"] != "error")
        errors = sum(each["verdict"] == "error" for each in inputs)
        expect(findings >= len(FILE_NAMES), f"there are {findings} findings")
        the_run = read_sarif(*check("sarif", ".", cwd=folder))
        expect(sum("kind" not in r for r in the_run["results"]) == findings, "SARIF has other findings")
        commands = read_github(check("github", ".", cwd=folder)[1])
        expect(len(commands) == findings + reasons + errors, f"there are {len(commands)} commands")
        expect(len(read_gitlab(check("gitlab", ".", cwd=folder)[1])) == len(commands), "there are other issues")
        expect(len(read_checkstyle(check("checkstyle", ".", cwd=folder)[1])) == len(commands), "there are other errors")
        cases_of_junit, _ = read_junit(check("junit", ".", cwd=folder)[1])
        expect(len(cases_of_junit) == cases, f"there are {len(cases_of_junit)} cases")


def hostile_messages():
    """Nor does standard error, which ends up in the same log."""
    with tempfile.TemporaryDirectory() as folder:
        name = "new\nline\n::error::x.ttgir"
        Path(folder, name).write_text("module {")
        run = subprocess.run([WEIR, "check", name, "none\n::error::y"], cwd=folder, capture_output=True, check=False)
        expect(run.returncode == 2, f"the status is {run.returncode}")
        expect(not re.search(rb"^::", run.stderr + run.stdout, re.MULTILINE), "a line starts a command")


# ---- Where things are ---------------------------------------------------------------------------


def below_root():
    """Paths are relative to the root, from wherever it is asked, and the source is found by the end of its path."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder, "repo")
        (top / "kernels").mkdir(parents=True)
        (top / "ir").mkdir()
        (top / "kernels/hang.py").write_text("def hang():\n    pass\n    \u00e4 = wait()\n")
        (top / "ir/hang.ttgir").write_bytes(HANG % (b"hang", b' loc("/build/7/kernels/hang.py":3:10)'))
        for cwd, root, ir in ((top, ".", "ir/hang.ttgir"), (top / "ir", "..", "hang.ttgir"), ("/", top, top / "ir")):
            the_run = read_sarif(*check("sarif", "--source-root", str(root), str(ir), cwd=cwd))
            place = the_run["results"][0]["locations"][0]["physicalLocation"]
            expect(place["artifactLocation"]["uri"] == "kernels/hang.py", f"it is at {place}")
            # The IR counts bytes from 0: that is the 11th, and the 10th character, as one before it takes two bytes.
            expect(place["region"]["startLine"] == 3 and place["region"]["startColumn"] == 10, f"it is at {place}")
            related = the_run["results"][0]["relatedLocations"][0]["physicalLocation"]
            expect(related["artifactLocation"]["uri"] == "ir/hang.ttgir", f"the IR is at {related}")
            base = the_run["originalUriBaseIds"]["SRCROOT"]["uri"]
            expect(base == f"file://{os.path.realpath(top)}/", f"the base is {base}")


# ---- What led to a finding ----------------------------------------------------------------------


def steps_of(result):
    """The steps of a result's flow in their order: agent, op, line."""
    every = [(step["executionOrder"], thread["id"], step["location"]) for flow in result.get("codeFlows", [])
             for thread in flow["threadFlows"] for step in thread["locations"]]
    return [(agent, re.search(r"\(([a-z_0-9.]+)\)", place["message"]["text"])[1], place["physicalLocation"]["region"]["startLine"])
            for _, agent, place in sorted(every, key=lambda step: step[0])]


def replayed(trail, kernel):
    """The same of the run that a witness is."""
    _, output = weir("run", "--replay", str(trail), "--steps", str(kernel))
    lines = re.findall(r"^ *\d+  (\S+(?: core)?) +([a-z_0-9.]+) @(\d+)(.*)", output.decode(), re.M)
    return [(agent, op, int(line)) for agent, op, line, what in lines if not what.endswith("barrier completes")
            and not re.search(r"named barrier \d+ completes$", what)]


def is_part(part, whole):
    return any(whole[i:i + len(part)] == part for i in range(len(whole) - len(part) + 1))


def flows():
    """A race's steps lead from the earlier access to the later one, a hang's to the wait; and the witness has the same ones."""
    seen = {"race": 0, "deadlock": 0}
    for kernel in sorted(KERNELS.glob("*.ttgir")):
        with tempfile.TemporaryDirectory() as folder:
            # Where a source is not below the root, places are in the IR.
            status, output = check("sarif", "--witness", folder, "--source-root", str(KERNELS), str(kernel))
            for result in read_sarif(status, output)["results"] if status == 1 else []:
                steps, family = steps_of(result), result["ruleId"].split(".")[0]
                trail = result.get("properties", {}).get("witness")
                if not steps or family not in seen:
                    continue
                line = lambda place: place["physicalLocation"]["region"]["startLine"]
                where = f"{kernel.name}, {result['ruleId']}: {steps}"
                ends = [line(result["locations"][0])] + [line(place) for place in result["relatedLocations"][1:2]]
                ends = ends if result["ruleId"].startswith("race.exit") else ends[::-1]
                expect(family == "deadlock" or [steps[0][2], steps[-1][2]] == ends, f"{where} does not go from and to {ends}")
                expect(steps[-1][2] == line(result["locations"][0]) or "exit" in result["ruleId"], f"{where} ends elsewhere")
                run = replayed(trail, kernel)
                expect(is_part(steps, run) or family == "deadlock" and is_part(steps[:-1], run), f"{where} is not in {trail}")
                seen[family] += 1
    expect(min(seen.values()) >= 20, f"there are too few: {seen}")


# ---- Shards -------------------------------------------------------------------------------------


def of_shards(folder, fmt, count):
    files = []
    for number in range(1, count + 1):
        path = f"{folder}/{number}.{fmt}"
        status, _ = check(fmt, "--shard", f"{number}/{count}", "-o", path, str(KERNELS))
        expect(status in (0, 1, 3), f"shard {number} ended with {status}")
        files.append(path)
    return files


def plainly(things):
    return sorted(json.dumps(thing, sort_keys=True) for thing in things)


def shards():
    with tempfile.TemporaryDirectory() as folder:
        whole_status, whole = check("json", str(KERNELS))
        for count in (1, 3, 7):
            files = of_shards(folder, "json", count)
            seen = [each["file"] for file in files for each in json.loads(Path(file).read_text())["inputs"]]
            expect(sorted(seen) == sorted(each["file"] for each in json.loads(whole)["inputs"]), "a file is lost or twice")
            status, merged = weir("merge", *reversed(files))
            expect(status == whole_status, f"the status is {status}")
            expect(plainly(json.loads(merged)["inputs"]) == plainly(json.loads(whole)["inputs"]), "it is not the whole")
            expect(weir("merge", *files)[1] == merged, "the order of the files shows")
            if count > 1:
                missing_status, missing = weir("merge", *files[1:])
                expect(json.loads(missing)["verdict"] == "findings" and missing_status == 1, "findings are lost")
                expect(f"shard 1 of {count} is missing" in missing.decode(), "nobody says that a shard is missing")
    clean_shards()


def clean_shards():
    """A clean whole of which a part is missing is incomplete."""
    with tempfile.TemporaryDirectory() as folder:
        for number in (1, 2):
            (Path(folder) / f"{number}.ttgir").write_text((KERNELS / "ring-ok.ttgir").read_text())
        for fmt in ("json", "sarif"):
            files = [f"{number}.{fmt}" for number in (1, 2, 3)]
            for number, file in enumerate(files, 1):
                status, _ = check(fmt, "--shard", f"{number}/3", "-o", file, "1.ttgir", "2.ttgir", cwd=folder)
                expect(status == 0, f"the status is {status}")
            expect(weir("merge", *files, cwd=folder)[0] == 0, "the whole is not clean")
            status, output = weir("merge", *files[:2], cwd=folder)
            expect(status == 3, f"with a shard missing the status is {status}")
            if fmt == "sarif":
                read_sarif(status, output)
            expect(weir("merge", files[0], files[0], cwd=folder)[0] == 2, "a shard is there twice")


def merged_sarif():
    with tempfile.TemporaryDirectory() as folder:
        status, whole = check("sarif", str(KERNELS))
        whole_run = read_sarif(status, whole)
        merged_status, merged = weir("merge", *of_shards(folder, "sarif", 4))
        the_run = read_sarif(merged_status, merged)
        expect(merged_status == status, f"the status is {merged_status}")
        expect(plainly(the_run["results"]) == plainly(whole_run["results"]), "there are other results")
        expect(the_run["properties"] == whole_run["properties"], "it counts otherwise")
        twice = Path(folder, "whole.sarif")
        twice.write_bytes(whole)
        _, again = weir("merge", str(twice), str(twice))
        expect(len(json.loads(again)["runs"][0]["results"]) == len(whole_run["results"]), "results are there twice")


def many_merged():
    """Documents are not all in memory at once: what more of them take is their keys."""
    with tempfile.TemporaryDirectory() as folder:
        for fmt, few, many in (("json", 50, 1000), ("sarif", 20, 120)):
            name = "ring-not-primed-hang.ttgir"
            text, most = check(fmt, str(KERNELS / name))[1].decode(), []
            for number in range(many):
                Path(folder, f"{number}.{fmt}").write_text(text.replace(name, f"{number}.ttgir"))
            for count in (few, many):
                files = [f"{number}.{fmt}" for number in range(count)]
                with open(Path(folder, "merged"), "wb") as merged:
                    run = subprocess.Popen([WEIR, "merge", *files], cwd=folder, stdout=merged, stderr=subprocess.DEVNULL)
                    _, status, used = os.wait4(run.pid, 0)
                run.returncode = os.waitstatus_to_exitcode(status)
                expect(run.returncode == 1, f"the status of {count} is {run.returncode}")
                document = json.loads(Path(folder, "merged").read_bytes())
                found = document["inputs"] if fmt == "json" else document["runs"][0]["results"]
                expect(len(found) % count == 0 and found, f"of {count} there are {len(found)}")
                most.append(used.ru_maxrss)
            expect(most[1] - most[0] < 8 << 10, f"{fmt}: of {few} and of {many} files, {most} kB")


def wrong_merges():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (
            ("broken.json", '{"tool": "weir", "inputs": ['),
            ("other.json", '{"tool": "else"}'),
            ("list.json", "[]"),
            ("other.sarif", '{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "Else"}}, "results": []}]}'),
            ("verdict.json", '{"tool": "weir", "version": "x", "inputs": [], "verdict": "fine"}'),
            ("deep.json", "[" * 100000),
            ("empty.json", ""),
        ):
            Path(folder, name).write_text(text)
            status, output = weir("merge", name, cwd=folder)
            expect(status == 2 and not output, f"{name} ended with {status}")
        expect(weir("merge", "none.json", cwd=folder)[0] == 2, "there is no such file")


test("all formats tell the same", agree)
test("a clean kernel", clean)
test("run and lint", other_commands)
test("findings that do not count", suppressed)
test("names that try to break out", hostile)
test("messages that try to break out", hostile_messages)
test("paths below the root", below_root)
test("what led to a finding", flows)
test("shards", shards)
test("SARIF of shards", merged_sarif)
test("many that are merged", many_merged)
test("what cannot be merged", wrong_merges)
finish()
