"""The examples of rule pages: tests/rules.py WEIR; prints what failed, then `N passed, N failed`.

CUDA: the wrong kernel has a finding of the page's rule, the right one has none and is clean, at the launch of its first line. All are
compiled at once, which needs nvcc; without it that is said, and nothing is counted. Gluon: the kernel is in the file that the page names,
word for word, and expected.tsv beside it has the rule for its broken version, and clean for the other.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAIR = re.compile(r"^Wrong:\n\n```cuda\n(.*?)```\n\nRight:\n\n```cuda\n(.*?)```$", re.S | re.M)
KERNEL = re.compile(r"^Wrong with `BROKEN`, right without \(`(.*?)`\):\n\n```python\n(.*?)```$", re.S | re.M)
LAUNCH = re.compile(r"// <<<(\d+), (\d+)>>>\n")


def pages(weir):
    listed = subprocess.run([weir, "rules", "--format", "json"], capture_output=True, text=True, check=True).stdout
    return [(rule["id"], rule["text"]) for rule in json.loads(listed)["rules"]]


def gluon_problem(rule, file, code):
    name = re.match(r"def (\w+)\(", code)[1]
    path = ROOT / file
    if not path.is_file() or code not in path.read_text():
        return f"{file} does not have this text of {name}"
    expected = [line.split("\t") for line in (path.parent / "expected.tsv").read_text().splitlines()]
    verdicts = {row[0]: row[1:3] for row in expected if len(row) >= 3}
    if rule not in verdicts.get(f"{name}-broken.ttgir", ["", ""])[1].split(","):
        return f"{name}-broken is not expected to break it"
    return None if verdicts.get(f"{name}-ok.ttgir", [""])[0] == "clean" else f"{name}-ok is not expected to be clean"


def cuda_problems(weir, pairs):
    """For each launch one source, with each kernel in a namespace of its own."""
    launches, problems = {}, []
    for number, (rule, *codes) in enumerate(pairs):
        for kind, code in zip(("wrong", "right"), codes):
            launches.setdefault(LAUNCH.match(code).groups(), []).append((f"{kind}_{number}", rule, kind, code))
    with tempfile.TemporaryDirectory() as folder:
        for (grid, block), kernels in launches.items():
            source = Path(folder) / f"launch_{grid}_{block}.cu"
            includes = sorted({line for kernel in kernels for line in kernel[3].splitlines() if line.startswith("#include")})
            bodies = [re.sub(r"^#include.*\n", "", code, flags=re.M) for _, _, _, code in kernels]
            source.write_text("\n".join(includes) + "\n" + "\n".join(
                f"namespace {kernel[0]} {{\n{body}}}" for kernel, body in zip(kernels, bodies)))
            ran = subprocess.run([weir, "check", "--format", "json", "--no-config", "--grid", f"{grid},1,1", "--block", f"{block},1,1",
                                  "--nvcc-flags=-arch=sm_90a", source], capture_output=True, text=True, env={**os.environ, "WEIR_CACHE": ""})
            found = {each["demangled"].split("::")[0]: each for each in json.loads(ran.stdout)["inputs"] if each.get("demangled")}
            for name, rule, kind, _ in kernels:
                verdict = found.get(name)
                rules = {finding["rule"] for finding in verdict["findings"]} if verdict else set()
                if not verdict or (kind == "wrong" and rule not in rules) or (kind == "right" and verdict["verdict"] != "clean") or (
                        kind == "right" and rule in rules):
                    problems.append(f"{rule}: the {kind} kernel is {verdict['verdict'] if verdict else 'not there'}, with {sorted(rules)}")
    return problems


def main(weir):
    passed, failed, pairs = 0, [], []
    for rule, page in pages(weir):
        pairs += [(rule, *pair) for pair in PAIR.findall(page)]
        for file, code in KERNEL.findall(page):
            problem = gluon_problem(rule, file, code)
            failed += [f"{rule}: {problem}"] if problem else []
            passed += not problem
        if page.count("## Example") != len(PAIR.findall(page)) + len(KERNEL.findall(page)):
            failed.append(f"{rule}: an example cannot be read")
    if shutil.which("nvcc"):
        problems = cuda_problems(weir, pairs)
        failed += problems
        passed += 2 * len(pairs) - len(problems)
    else:
        print(f"skipped: {len(pairs)} examples in CUDA: there is no nvcc")
    for problem in failed:
        print(f"failed: {problem}")
    print(f"{passed} passed, {len(failed)} failed")
    return bool(failed) or not passed


if __name__ == "__main__":
    sys.exit(main(os.path.realpath(sys.argv[1])))
