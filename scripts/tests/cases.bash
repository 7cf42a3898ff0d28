# What scripts/tests/golden, scripts/tests/malformed and scripts/tests/global have in common; they source it. Their options are
#
#   --build DIR   test DIR/weir (default: build)
#   --update      write what comes out as what is expected, for each NAME given
#   --first       end at the first case that fails
#   NAME...       these cases only
#
# and the last line each prints is `N passed, N failed`.

build=build update=no first=no names=() passed=0 failed=0
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$2 && shift ;;
    --update) update=yes ;;
    --first) first=yes ;;
    -*) echo "usage: $0 [--build DIR] [--update] [--first] [NAME...]" >&2 && exit 2 ;;
    *) names+=("$1") ;;
    esac
    shift
done
if [ $update = yes ] && [ ${#names[@]} = 0 ]; then
    echo "$0: --update needs the names of the cases to update, so that each is looked at" >&2
    exit 2
fi
build=$(cd "$build" && pwd) || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# Runs a command line with the built weir, no terminal, and nothing of the caller's environment that could
# change the output; leaves $scratch/out and $scratch/err, and the exit status in $status. A case has a minute of
# processor time, so that it fails for what it does and not for what else the machine does; on the clock, three.
run_case() {
    setsid -w env -i PATH="$build:$PATH" HOME=/nonexistent WEIR_CACHE= LC_ALL=C ASAN_OPTIONS="${ASAN_OPTIONS-}" \
        UBSAN_OPTIONS="${UBSAN_OPTIONS-}" ${MUTANT+MUTANT="$MUTANT"} ${MUTANTS_REACHED+MUTANTS_REACHED="$MUTANTS_REACHED"} timeout 180 bash -c "ulimit -t 60; $1" </dev/null >"$scratch/out" 2>"$scratch/err"
    status=$?
}

# Compares expected with actual, or overwrites it; counts.
settle_case() { # NAME EXPECTED-FILE ACTUAL-FILE
    if [ $update = yes ]; then cp "$3" "$2"; fi
    if cmp -s "$2" "$3"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $1"
        diff -u --label expected --label actual "$2" "$3"
        if [ $first = yes ]; then finish_cases || exit; fi
    fi
}

# Goes where the cases lie. No folder is no cases, which is the caller's to judge.
cd_cases() {
    cd "$1" 2>/dev/null || { finish_cases && exit; }
}

# The names asked for, or all files *SUFFIX here.
list_cases() { # SUFFIX
    if [ ${#names[@]} -gt 0 ]; then
        printf '%s\n' "${names[@]%"$1"}"
    else
        find . -maxdepth 1 -name "*$1" -printf '%f\n' | sed "s/\\$1\$//" | LC_ALL=C sort
    fi
}

finish_cases() {
    echo "$passed passed, $failed failed"
    [ $failed = 0 ]
}
