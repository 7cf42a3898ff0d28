# Bash completion for weir: commands, their options, and input files. Sourced by bash-completion.

_weir() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local commands="parse"
    local options_parse="--generic --quiet --stats --list --module --strict --output --dump-ops --help --version"
    local command=${COMP_WORDS[1]} options

    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$word")
        return
    fi
    case $before in
    --module) return ;; # a number, or the name of a pass
    -o | --output)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    esac
    options=options_$command
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "${!options}" -- "$word") ;;
    *)
        mapfile -t COMPREPLY < <(
            compgen -d -- "$word"
            for suffix in ttgir mlir log; do compgen -f -X "!*.$suffix" -- "$word"; done
        )
        ;;
    esac
}

complete -o filenames -F _weir weir
