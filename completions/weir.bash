# Bash completion for weir: commands, their options, and input files. Sourced by bash-completion.

_weir() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local commands="check run report membar lint parse rules"
    local options_parse="--generic --effects --print --quiet --stats --list --module --strict --output --dump-ops --help --version"
    local options_check="--launch --no-launch --only-launch --arg --grid --kernel --module --devices --rule --triton \
        --budget --timeout --jobs --mma-order --gsan --resident --format --witness --verbose --quiet --output --help --version"
    local options_run="--launch --no-launch --only-launch --arg --grid --kernel --module --devices --replay --schedule \
        --seed --schedules --budget --timeout --mma-order --gsan --resident --slots --ring --granule --format \
        --witness --steps --global --state --trace --verbose --quiet --output --help --version"
    local options_report="--launch --no-launch --only-launch --arg --grid --kernel --module --buffer-id --diff --budget \
        --timeout --mma-order --format --width --wide --glossary --quiet --output --help --version"
    local options_membar="--function --kernel --module --model --assume --compare --timeout --why --emit --prune --format --quiet \
        --output --help --version"
    local options_lint="--launch --no-launch --only-launch --arg --grid --kernel --module --rule --target --triton \
        --budget --timeout --mma-order --emit --format --verbose --quiet --output --help --version"
    local options_rules="--markdown --output --help --version"
    local command=${COMP_WORDS[1]} options formats="text json"

    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$word")
        return
    fi
    case $before in
    --module | --arg | --grid | --kernel | --devices | --resident | --slots | --ring | --granule | --seed | --schedules | --budget | --timeout | --triton | -j | --jobs | --buffer-id | --width | --function | --why) return ;; # a number, or the input's names
    --schedule)
        mapfile -t COMPREPLY < <(compgen -W "directed eager lazy round-robin random all" -- "$word")
        return
        ;;
    --rule)
        mapfile -t COMPREPLY < <(compgen -W "$(weir rules 2>/dev/null | cut -d ' ' -f 1)" -- "$word")
        return
        ;;
    --target)
        mapfile -t COMPREPLY < <(compgen -W "sm_80 sm_86 sm_89 sm_90a sm_100a sm_103a sm_110a sm_120a gfx942 gfx950 gfx1250" -- "$word")
        return
        ;;
    --model | --compare)
        mapfile -t COMPREPLY < <(compgen -W "sync near async" -- "$word")
        return
        ;;
    --assume)
        mapfile -t COMPREPLY < <(compgen -W "inserted before" -- "$word")
        return
        ;;
    --print)
        mapfile -t COMPREPLY < <(compgen -W "effects flow slice program" -- "$word")
        return
        ;;
    --gsan)
        mapfile -t COMPREPLY < <(compgen -W "exact sampled off" -- "$word")
        return
        ;;
    --mma-order)
        mapfile -t COMPREPLY < <(compgen -W "issue waits" -- "$word")
        return
        ;;
    --format)
        if [ "$command" = report ]; then formats="text markdown json dot html"; fi
        mapfile -t COMPREPLY < <(compgen -W "$formats" -- "$word")
        return
        ;;
    --witness)
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return
        ;;
    -o | --output | --launch | --replay | --trace)
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
