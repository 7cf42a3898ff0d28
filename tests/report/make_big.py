#!/usr/bin/env python3
"""Writes big.ttgir: nine partitions and sixty barriers, for the picture. python3 tests/report/make_big.py >big.ttgir

The eight partitions are stages of a pipeline. Each hands two tiles an iteration to the next (x, y); each also sends a
result to the default partition (z), which answers with a tile of its own (w). Every channel is a buffer with a full and
an empty barrier: 7 * 2 + 8 + 8 channels, 60 barriers.
"""

STAGES = 8

HEADER = """\
// Eight partitions in a row, each with two channels to the next and one to and from the default partition: thirty
// channels, each of one buffer, a full and an empty barrier. Made by make_big.py. Nothing is wrong.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!barrier = !ttg.memdesc<1xi64, #shared1, #smem, mutable>
!tile = !ttg.memdesc<32x32xf16, #shared, #smem, mutable>
!values = tensor<32x32xf16, #blocked>
!values1 = tensor<32x32xf16, #blocked1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @big(%tiles: i32) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ones = arith.constant dense<1.000000e+00> : !values"""

line = 10


def located(indent, op):
    """An op with a line of its own in the source that the kernel would have."""
    global line
    line += 1
    print(f'{" " * indent}{op} loc("big.py":{line}:{indent + 1})')


def named(indent, op, name):
    global line
    line += 1
    print(f'{" " * indent}{op} loc("{name}"("big.py":{line}:{indent + 1}))')


def channels():
    """(name, who writes, who reads); the default partition is STAGES."""
    for stage in range(STAGES - 1):
        yield f"x{stage}", stage, stage + 1
        yield f"y{stage}", stage, stage + 1
    for stage in range(STAGES):
        yield f"z{stage}", stage, STAGES
        yield f"w{stage}", STAGES, stage


def receive(name, suffix, values):
    located(8, f"ttng.wait_barrier %{name}_full{suffix}, %ready : !barrier")
    located(8, f"%{name}_value = ttg.local_load %{name}{suffix} : !tile -> {values}")
    located(8, f"ttng.arrive_barrier %{name}_empty{suffix}, 1 : !barrier")


def send(name, value, suffix, values):
    located(8, f"ttng.wait_barrier %{name}_empty{suffix}, %free : !barrier")
    located(8, f"ttg.local_store {value}, %{name}{suffix} : {values} -> !tile")
    located(8, f"ttng.arrive_barrier %{name}_full{suffix}, 1 : !barrier")


def loop(suffix):
    print(f"      scf.for %i = %c0{suffix} to %tiles{suffix} step %c1{suffix} : i32 {{")
    print(f"        %ready = arith.andi %i, %c1{suffix} : i32")
    print(f"        %free = arith.xori %ready, %c1{suffix} : i32")


def main():
    print(HEADER)
    names = [name for name, _, _ in channels()]
    for name in names:
        named(4, f"%{name} = ttg.local_alloc : () -> !tile", name)
        for end in "full", "empty":
            named(4, f"%{name}_{end} = ttg.local_alloc : () -> !barrier", f"{name}_{end}")
            located(4, f"ttng.init_barrier %{name}_{end}, 1 : !barrier")
    captures = [f"{name}{end}" for name in names for end in ("", "_full", "_empty")] + ["tiles"]
    types = ["!tile", "!barrier", "!barrier"] * len(names) + ["i32"]
    print(f"    ttg.warp_specialize({', '.join('%' + capture for capture in captures)})")
    print("    default {")
    loop("")
    for stage in range(STAGES):
        send(f"w{stage}", "%ones", "", "!values")
    for stage in range(STAGES):
        receive(f"z{stage}", "", "!values")
    print("      }\n      ttg.warp_yield\n    }")
    for stage in range(STAGES):
        suffix = f"_p{stage}"
        arguments = ", ".join(f"%{capture}{suffix}: {kind}" for capture, kind in zip(captures, types))
        print(f"    partition{stage}({arguments}) num_warps(1) {{")
        print(f"      %c0{suffix} = arith.constant 0 : i32\n      %c1{suffix} = arith.constant 1 : i32")
        loop(suffix)
        receive(f"w{stage}", suffix, "!values1")
        if stage:
            receive(f"x{stage - 1}", suffix, "!values1")
            receive(f"y{stage - 1}", suffix, "!values1")
            print(f"        %sum = arith.addf %x{stage - 1}_value, %y{stage - 1}_value : !values1")
        else:
            print("        %sum = arith.addf %w0_value, %w0_value : !values1")
        if stage < STAGES - 1:
            send(f"x{stage}", "%sum", suffix, "!values1")
            send(f"y{stage}", f"%w{stage}_value", suffix, "!values1")
        send(f"z{stage}", "%sum", suffix, "!values1")
        print("      }\n      ttg.warp_return")
        print("    }" + (f" : ({', '.join(types)}) -> ()" if stage == STAGES - 1 else ""))
    print("    tt.return\n  }\n}")


main()
