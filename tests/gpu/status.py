#!/usr/bin/env python3
"""What `weir exec` ends with, on a GPU: status.py WEIR

Runs itself under WEIR exec in each of these ways, and prints what is right and what is wrong of status and output:
clean: Triton's kernels beside PyTorch's own, on one stream: status 0, and the others are counted; required: the same with --require-all: 3;
beside: PyTorch's own on another stream, which nothing orders: 3; streams: equal launches on two streams, to memory of their own: 0;
fails: a kernel that writes where there is no memory: the command that finds out why; again: the same with --rerun-on-failure: access.invalid;
early: recordings are checked and removed while the program runs. It takes about a minute and a half."""
import json
import os
import subprocess
import sys
import time

WAYS = {  # options, status, what has to be said
    "clean": (["--format", "json"], 0, ['"unseen_kernels"', '"verdict": "clean"']),
    "required": (["--require-all"], 3, ["without PTX", "kernels without PTX, not looked at:"]),
    "beside": ([], 3, ["could run at the same time as launches that were looked at"]),
    "streams": ([], 0, ["equal to these in shape and numbers"]),
    "fails": ([], 3, ["exec --record-host --only adds"]),
    "again": (["--rerun-on-failure"], 1, ["the program is run again", "[access.invalid]"]),
    "early": ([], 0, ["recordings left: 0"]),
}


if "--way" in sys.argv:
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def adds(to, of, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(to + at, tl.load(of + at) + 1.0)


def program(way):
    x, y = torch.zeros(1 << 16, device="cuda"), torch.ones(1 << 16, device="cuda")
    a = torch.ones(256, 256, device="cuda")
    torch.cuda.synchronize()

    def launch(to, of):
        adds[(64,)](to, of, BLOCK=1024)

    if way in ("clean", "required"):
        for _ in range(20):
            launch(x, y)
            a = (a @ a).clamp(0, 1)
            x.add_(a.sum())
        print(x[0].item())
    elif way == "beside":
        other = torch.cuda.Stream()
        for _ in range(5):
            launch(x, y)
            with torch.cuda.stream(other):
                a @ a
        torch.cuda.synchronize()
    elif way == "streams":
        streams, memory = [torch.cuda.Stream(), torch.cuda.Stream()], [(x, y), (x.clone(), y.clone())]
        torch.cuda.synchronize()
        for i in range(200):
            with torch.cuda.stream(streams[i % 2]):
                launch(*memory[i % 2])
        torch.cuda.synchronize()
    elif way in ("fails", "again"):
        adds[(1 << 20,)](x, y, BLOCK=1024)
        torch.cuda.synchronize()
    elif way == "early":
        for _ in range(10):
            launch(x, y)
            x[0].item()
        folder = os.environ["WEIR_RECORD"]
        left = -1
        for _ in range(100):
            left = sum(name.endswith(".weirrec") for name in os.listdir(folder))
            if not left:
                break
            time.sleep(0.1)
        print("recordings left:", left, flush=True)


def main(weir):
    wrong = 0
    for way, (options, status, said) in WAYS.items():
        begin = time.time()
        run = subprocess.run([weir, "exec", "--color", "never", *options, "--", sys.executable, __file__, "--way", way],
                             capture_output=True, text=True, timeout=100)
        text = run.stdout + run.stderr
        problems = [f"status {run.returncode}, not {status}"] if run.returncode != status else []
        problems += [f"not said: {words}" for words in said if words not in text]
        if way == "clean" and not problems:
            kernels = json.loads(run.stdout[run.stdout.index('{"tool"'):])["unseen_kernels"]
            problems += [] if kernels else ["no kernel without PTX was counted"]
        print(f"{way}: {'right' if not problems else 'WRONG: ' + '; '.join(problems)} ({time.time() - begin:.0f} s)", flush=True)
        if problems:
            wrong += 1
            print("    " + text[-3000:].replace("\n", "\n    "))
    print(f"{len(WAYS) - wrong} right, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--way":
        program(sys.argv[2])
    else:
        sys.exit(main(sys.argv[1]))
