#!/usr/bin/env bash
# Captures and graphs on a GPU: tests/gpu/graphs.sh [WORK]. Compiles graphs.cu if WORK (build/gpu-graphs) does not have it, runs each case without Weir and under
# weir exec, four at a time, and compares what it prints and its status; the status of weir exec is held against those that are right. WEIR: the command
# (build/weir). COMPILE_ONLY=1: nothing is run. The last line is `N right, N wrong`.
set -u
cd "$(dirname "$0")/../.." || exit 2
work=${1:-build/gpu-graphs} weir=${WEIR:-build/weir}
mkdir -p "$work" || exit 2
for streams in legacy per-thread; do
    [ -x "$work/graphs-$streams" ] ||
        nvcc -std=c++17 -O2 -lineinfo -arch=sm_90 --default-stream $streams -Wno-deprecated-declarations -o "$work/graphs-$streams" tests/gpu/graphs.cu || exit 2
done
[ -z "${COMPILE_ONLY:-}" ] || exit 0
rm -rf "$work/runs"
mkdir "$work/runs"
started=0

try() { # STATUSES OF WEIR, TEXT THAT IS SAID OR -, DEFAULT STREAM, WORDS...
    run_case "$@" &
    started=$((started + 1))
    [ $((started % 4)) != 0 ] || wait
}

run_case() {
    local wanted=$1 said=$2 program=$work/graphs-$3 name status plain bad=
    shift 2
    name=$(echo "$*" | tr ' ' '-')
    shift
    local at=$work/runs/$name
    timeout 60 "$program" "$@" >"$at.plain" 2>"$at.plain-err"
    plain=$?
    timeout 120 "$weir" exec --color never -- "$program" "$@" >"$at.weir" 2>"$at.weir-err"
    status=$?
    # What these print depends on time without Weir, too: a race, and pageable memory, which the driver may read before the graph fills it.
    # shellcheck disable=SC2194 # a list of words
    case " racing host " in *" $1 "*) sed -i 's/[0-9][0-9]*/N/g' "$at.plain" "$at.weir" ;; esac
    head -n "$(wc -l <"$at.plain")" "$at.weir" | diff "$at.plain" - >"$at.diff" || bad="$bad; another output: $(head -n 4 "$at.diff" | tr '\n' '|')"
    [ $plain = 0 ] || bad="$bad; plain: status $plain"
    case " $wanted " in *" $status "*) ;; *) bad="$bad; status $status, not $wanted" ;; esac
    [ "$said" = - ] || grep -qF -- "$said" "$at.weir" || bad="$bad; not said: $said"
    {
        echo "${bad:+WRONG }$name ($status): $(grep -ah '^weir: .* launch' "$at.weir" "$at.weir-err" | tail -n 1)$bad"
        grep -h '^TIME' "$at.plain-err" | sed 's/^/    plain: /'
        grep -h '^TIME' "$at.weir-err" | sed 's/^/    weir:  /'
    } >"$at.result"
}

for mode in global thread relaxed; do
    for kind in blocking free thread; do try 0 - legacy capture $mode $kind; done
    try 0 - legacy capture $mode free warm
    try 0 - per-thread capture $mode thread
done
for what in query event all allocation default; do try 0 - legacy wrong-$what; done
for what in line many branches wide child set updated host dependent cluster events streams anew; do try 0 - legacy $what; done
try '0 3' - legacy cooperative
try 1 race. legacy racing
try 1 race. legacy race-within
try 1 race. legacy beside
try 1 race. legacy late
try 3 'changed in a way that is not followed' legacy disabled
try 0 - legacy conditional
try 0 - legacy chooses
try 0 - legacy allocates
try 1 race. legacy allocates-race
for what in branches wrong-default; do try 0 - per-thread $what; done
wait
cat "$work"/runs/*.result
wrong=$(grep -l '^WRONG' "$work"/runs/*.result | wc -l)
echo "$((started - wrong)) right, $wrong wrong"
[ "$wrong" = 0 ]
