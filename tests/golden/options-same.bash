# Holds the options of every command's help against its man page and the completions: `bash options-same.bash`.
export LC_ALL=C
root=../..
commands=$(weir --help | sed -n 's/^  \([a-z]*\)  *.*/\1/p')

of_help() { weir "$1" --help | sed -nE 's/^  (-(.), |    )--([a-z-]+).*/\3 \2/p' | sed 's/ $//' | sort -u; }

of_man() { sed -nE 's/^\.It (Fl ([a-zA-Z]) (Ar "[^"]*" )?, )?Fl -([a-z-]+).*/\4 \2/p' "$root/man/weir-$1.1" | sed 's/ $//' | sort -u; }

# As bash calls it when TAB is pressed after a dash.
of_bash() {
    (
        . "$root/completions/weir.bash"
        COMP_WORDS=(weir "$1" -) COMP_CWORD=2
        _weir
        printf '%s\n' "${COMPREPLY[@]}"
    )
}

of_zsh() { sed -n "/^_weir_$1() {/,/^}/p" "$root/completions/_weir" | grep -oE -- "^ *'[^[]*\[" | sed -E "s/^ *'(\([^)]*\)'\{)?\*?//; s/[]['{}]//g; s/[+=]-?//g; s/,/ /" | sed -E 's/^-(.) --(.*)/\2 \1/; s/^--//' | sort -u; }

of_fish() { grep -- "from $1'" "$root/completions/weir.fish" | sed -nE 's/.* -l ([a-z-]+)( -s (.))?.*/\1 \3/p' | sed 's/ $//' | sort -u; }

for command in $commands; do
    help=$(of_help "$command") same=yes
    words=$(while read -r name letter; do echo "--$name${letter:+ -$letter}"; done <<<"$help" | tr ' ' '\n' | sort -u)
    [ -n "$help" ] || same="no options"
    [ "$(of_man "$command")" = "$help" ] || same="the man page is not: $(of_man "$command" | xargs)"
    [ "$(of_bash "$command" | grep -v '=$' | sort -u)" = "$words" ] || same="bash is not: $(of_bash "$command" | xargs)"
    [ "$(of_zsh "$command")" = "$help" ] || same="zsh is not: $(of_zsh "$command" | xargs)"
    [ "$(of_fish "$command")" = "$help" ] || same="fish is not: $(of_fish "$command" | xargs)"
    echo "$command: $same"
done
# A function of zsh for each command, and helpers: one of the same name would be lost.
grep -o '^_weir[a-z_]*()' "$root/completions/_weir" | sort | uniq -d
for shell in bash zsh fish; do
    script=$(echo "$root"/completions/*"${shell/zsh/_weir}")
    if command -v "$shell" >/dev/null && ! "$shell" -n "$script"; then echo "$script: wrong"; fi
done
