#!/usr/bin/env bash
# Whether scripts/tests/words finds what it is to find, and only that: in literals, split ones too, in comments and names, and in pages
# without code.
set -u
cd "$(dirname "$0")/.." || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
failed=0

expect() { # STATUS FILE LINES... : the lines that are named
    local status=$1 file=$2 said
    shift 2
    said=$(scripts/tests/words "$scratch/$file")
    if [ $? != "$status" ] || [ "$(sed -n "s|^[^:]*$file:\([0-9]*\):.*|\1|p" <<<"$said" | tr '\n' ' ')" != "${*:+$* }" ]; then
        echo "failed: $file: $said"
        failed=1
    fi
}

cat >"$scratch/wrong.c" <<'END'
/* nobody reads comments */
const char *a = "nobody waits for it";
const char *b = "the fence is put "
                "in by the compiler";
const char *c = "Its rings are gone\nround";
int flight_count, in_flight, putIn, WhoNobodyKnows;
END
cat >"$scratch/right.c" <<'END'
/* What reads `nobody`: a comment may name code. */
const char *a = "nothing waits for it; input in, output in, departed, renewed, warp-group";
const char *b = "put" " " "them in";
END
printf 'Fine.\n\nThe copy\nengine reads it; `nobody`.\n\n```\nwhoever\n```\nColour.\n' >"$scratch/wrong.md"
printf 'TMA reads it, says `nobody`.\n' >"$scratch/right.md"
printf 'Of a tensor, its shape.\n\n- Of nodes of graphs, nothing is told.\n\nIt ends, whatever it is.\n' >"$scratch/style.md"
printf 'Of 12 kernels 3 are clean; the shape of a tensor is `whatever`.\n\n    whatever\n' >"$scratch/plain.md"
cat >"$scratch/wrong.js" <<'END'
// nobody reads comments
const a = "nobody waits";
const b = 'for ever', c = `${nobody} and
 whoever`;
END
cat >"$scratch/right.js" <<'END'
/* whoever */ const nobody = `${whoever} waits`, b = 'nothing';
END
printf '"""For whoever reads it."""\n# nobody\nprint(f"{nobody} and nobody")\n' >"$scratch/wrong.py"
printf '"""What `nobody` does."""\nnobody = "nothing"  # whoever\n' >"$scratch/right.py"
printf 'description: Nobody waits\n' >"$scratch/wrong.yml"
expect 1 wrong.js 2 3 3
expect 0 right.js
expect 1 wrong.py 1 3
expect 0 right.py
expect 1 wrong.yml 1
expect 1 wrong.c 6 6 6 2 3 5 1
expect 0 right.c
expect 1 wrong.md 3 9
expect 0 right.md
expect 1 style.md 5 3 1 3
expect 0 plain.md
exit $failed
