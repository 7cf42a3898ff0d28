#!/usr/bin/env bash
# What orders the operations of a program, on a GPU: tests/gpu/order.sh [WORK]. Compiles order.cu if WORK (build/gpu-order) does not have it, runs each case without
# Weir and under weir exec, and holds the status of weir exec and what it says against what is right. WEIR: the command (build/weir). COMPILE_ONLY=1: nothing is
# run. The last line is `N right, N wrong`.
set -u
cd "$(dirname "$0")/../.." || exit 2
work=${1:-build/gpu-order} weir=${WEIR:-build/weir} right=0 wrong=0
mkdir -p "$work" || exit 2
[ -x "$work/order" ] || nvcc -std=c++17 -O2 -lineinfo -cudart shared -gencode "arch=compute_90,code=[sm_90,compute_90]" -o "$work/order" tests/gpu/order.cu -lcuda || exit 2
[ -z "${COMPILE_ONLY:-}" ] || exit 0

try() { # STATUS, TEXT THAT IS SAID OR -, CASE
    local bad= status plain
    timeout 60 "$work/order" "$3" >"$work/plain" 2>&1
    plain=$?
    timeout 120 "$weir" exec --mode record --color never -- "$work/order" "$3" >"$work/said" 2>&1
    status=$?
    [ $plain = 0 ] || bad="$bad; plain: status $plain: $(tail -n 1 "$work/plain")"
    grep -q '^done$' "$work/said" || bad="$bad; it did not come to its end"
    [ $status = "$1" ] || bad="$bad; status $status, not $1"
    [ "$2" = - ] || grep -qF -- "$2" "$work/said" || bad="$bad; not said: $2"
    echo "${bad:+WRONG }$3 ($status)$bad"
    if [ -n "$bad" ]; then
        wrong=$((wrong + 1))
        grep -aE 'error:|incomplete:|^weir:' "$work/said" | cut -c1-240 | head -n 6
    else
        right=$((right + 1))
    fi
}

try 0 - event
try 1 '[race.raw]' none
try 0 - thread-made
try 0 - thread-joined
try 3 'of the host' thread-other
try 1 'of the program (cuMemcpyHtoD' sync-in
try 0 - sync-in-pinned
try 0 - sync-in-default
try 0 - sync-in-memops
try 1 'of the program (cuMemcpyDtoD' sync-device
try 0 - sync-device-memops
try 1 'of the program (cuMemset' sync-set
try 0 - copies-event
try 0 - copies-elsewhere
try 1 '[program.race]' copies-none
try 0 - graph
try 1 'of the program (memset node)' graph-without-edge
try 3 'were not known to be over when memory was shared with other processes' shared
# Memory of pools: allocated and freed in the order of a stream, and used in another one.
for case in pool pool-from pool-copy pool-again pool-trim pool-malloc pool-host-wait; do try 0 - $case; done
try 1 'of the program (cuMemAllocAsync' pool-early
try 1 'of the program (cuMemAllocFromPoolAsync' pool-from-early
for case in pool-late pool-from-late pool-malloc-late; do try 1 'of the program (cuMemFreeAsync' $case; done
try 1 'of the program (cuMemFree' pool-host
try 1 '[access.invalid]' pool-behind
try 1 '[program.race]' pool-copy-early
try 1 '[program.race]' pool-copy-late
try 0 - free
try 1 '[race.raw]' free-none
# Launches that may begin before the one before them has ended.
for case in dependent-waits dependent-early-waits dependent-default-waits; do try 0 - $case; done
for case in dependent-never dependent-early-never dependent-default-never; do try 1 '[race.raw]' $case; done
echo "$right right, $wrong wrong"
