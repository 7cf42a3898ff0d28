#!/usr/bin/env bash
# Compiles and runs the hardware tests on a machine with a Hopper GPU, and prints a line per variant with what was seen.
#
#   tests/hardware/run.sh [BUILD] [TEST...]
#
# BUILD is where the programs go (build/hardware); TEST is a number such as t05 (all). Nothing is asserted; what follows
# from the lines is written down in docs/hardware-notes.md. Needs nvcc; T11 also needs cuobjdump.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/hardware}
shift || true
flags=(-std=c++20 -O3 -gencode "arch=compute_90a,code=sm_90a")
test_seconds=300

# sources [TEST...]: the files of these tests, or of all
sources() {
    local test
    for test in "${@:-t}"; do
        ls "$here/$test"*.cu
    done
}

# compile FILE: the program, or for T11 the machine code alone
compile() {
    local name
    name=$(basename "$1" .cu)
    if [[ $name == t11_* ]]; then
        nvcc "${flags[@]}" -cubin -o "$build/$name" "$1"
    else
        nvcc "${flags[@]}" -o "$build/$name" "$1"
    fi > "$build/$name.log" 2>&1 || rm -f "$build/$name"
}

# statements FILE: a line per kernel of the file, with those of its machine instructions that move data or order it
statements() {
    cuobjdump -sass "$1" 2> "$1.log" | awk '
        function tell() { if (name != "") printf "T11 | %-56s | %s\n", name, instructions }
        /Function :/ { tell(); name = $3; instructions = ""; ended = 0 }
        /^ *\/\*[0-9a-f]+\*\// && !ended {
            line = $0
            sub(/^ *\/\*[0-9a-f]+\*\/ */, "", line)
            sub(/^@!?U?P[0-9T]+ /, "", line)
            split(line, word, /[ ;]/)
            if (word[1] == "EXIT") ended = 1
            else if (word[1] !~ /^(U?LDC|U?MOV|R2UR|S2U?R|U?ISETP|U?PLOP3|UIADD|IADD|BRA|NOP|IMAD|HFMA2|SHF)/)
                instructions = instructions (instructions == "" ? "" : "; ") word[1]
        }
        END { tell() }' | sort
}

# show FILE: what the test prints
show() {
    local name
    name=$(basename "$1" .cu)
    if [ ! -e "$build/$name" ]; then
        echo "$name: could not be compiled:"
        tail -n 5 "$build/$name.log"
    elif [[ $name != t11_* ]]; then
        timeout "$test_seconds" "$build/$name" || echo "$name: ended with $?"
    elif command -v cuobjdump > /dev/null; then
        echo "T11: which machine instructions do the scopes, orders and fences become?"
        statements "$build/$name"
    else
        echo "$name: there is no cuobjdump here"
    fi
}

mkdir -p "$build"
files=$(sources "$@")
for file in $files; do
    compile "$file" &
done
wait
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true
nvcc --version | tail -n 1
for file in $files; do
    show "$file"
done
