#!/usr/bin/env bash
# scripts/release in a clone: a tree that is not ready is said to be so, and one that is gets notes, and in a dry run no tag.
set -u
cd "$(dirname "$0")/.." || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
number=0 status=0

ok() { # NAME CONDITION...
    number=$((number + 1))
    if "${@:2}"; then echo "ok $number - $1"; else echo "not ok $number - $1" && cat "$scratch/said" && status=1; fi
}
release() { (cd "$scratch/weir" && scripts/release --dry-run "$1") >"$scratch/said" 2>&1; }
says() { grep -qF -- "$1" "$scratch/said"; }
commit() { git -C "$scratch/weir" add -A && git -C "$scratch/weir" -c user.name=test -c user.email=test@example.org commit -qm test; }

git clone -q . "$scratch/weir" && cp scripts/release "$scratch/weir/scripts/" || exit 2
[ -z "$(git -C "$scratch/weir" status --porcelain)" ] || commit
release 9.8.7
ok "a version that no file names ends with 1" test $? = 1
for file in include/weir/weir.h python/weir/__init__.py CITATION.cff packaging/debian/changelog CHANGELOG.md; do
    ok "$file is named" says "release: $file does not name version 9.8.7"
done
ok "changes of no release are said" says "CHANGELOG.md has changes that are in no release"
cd "$scratch/weir" || exit 2
version=$(sed -n 's/^.define WEIR_VERSION  *"\(.*\)".*/\1/p' include/weir/weir.h)
sed -i "s/\"$version\"/\"9.8.7\"/" include/weir/weir.h python/weir/__init__.py
sed -i "s/^version: .*/version: 9.8.7/" CITATION.cff
sed -i "1s/(.*)/(9.8.7-1)/" packaging/debian/changelog
sed -i "s/^## \[Unreleased\]/&\n\n## [9.8.7] - 2030-01-02/" CHANGELOG.md
release 9.8.7
ok "changes that are not committed are said" says "the tree has changes that are not committed"
commit
release 9.8.7
ok "a tree that is ready ends with 0" test $? = 0
ok "notes are those of the section" cmp -s build/release/NOTES.md <(awk '/^## \[/ { on = $2 == "[9.8.7]"; next } on' CHANGELOG.md | sed '/./,$!d')
ok "a dry run tags nothing" test -z "$(git tag -l v9.8.7)"
ok "and says that it would" says "would run: git tag -a v9.8.7"
git -c user.name=test -c user.email=test@example.org tag -a v9.8.7 -m test
release 9.8.7
ok "a tag that is there is said" says "there is a tag v9.8.7"
release 1.0
ok "what is no version is an error" test $? = 2
echo "1..$number"
exit $status
