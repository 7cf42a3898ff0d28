# Bash completion for weir: commands, their options, and input files;
# made from src/cli/options.def by make docs; do not edit.

_weir_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$word"); }

_weir_files() {
    mapfile -t COMPREPLY < <(
        compgen -d -- "$word"
        for suffix in ttgir mlir log; do compgen -f -X "!*.$suffix" -- "$word"; done
    )
}

_weir() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    local commands="check exec run report membar prove lint merge parse launch instrument nvcc rules help"
    local -A options=(
        [check]="--help -h --version -V --arg --baseline --block --cache --cluster --compile-commands --config --devices --grid --ignore --kernel --launch --module --no-cache --no-config --no-launch --nvcc-flags --only-launch --require --require-all --rule --select --severity --shard --shared --triton --update-baseline --budget --cross-check --gsan --jobs -j --memory-limit --mma-order --prove-time --resident --timeout --values --volatile-races --also --brief --color --format --max-findings --output -o --quiet -q --source-root --strict --verbose -v --witness"
        [exec]="--help -h --version -V --baseline --config --devices --exclude --ignore --keep --kernel --no-config --only --only-launch --require --require-all --rule --select --severity --target --triton --update-baseline --budget --check-time --cross-check --gsan --hang-after --jobs -j --memory-limit --mma-order --mode --prove-time --record-disk --record-host --record-launches --record-memory --rerun-on-failure --resident --sample --timeout --values --volatile-races --also --brief --color --format --max-findings --output -o --quiet -q --source-root --strict --verbose -v --witness"
        [run]="--help -h --version -V --arg --baseline --block --cluster --compile-commands --config --devices --grid --ignore --kernel --launch --module --no-config --no-launch --nvcc-flags --only-launch --replay --require --rule --select --severity --shared --update-baseline --budget --granule --gsan --memory-limit --mma-order --prove-time --resident --ring --schedule --schedules --seed --slots --timeout --values --volatile-races --also --brief --color --format --global --max-findings --memory --output -o --quiet -q --source-root --state --state= --steps --strict --trace --verbose -v --witness"
        [report]="--help -h --version -V --arg --block --buffer-id --cluster --compile-commands --diff --grid --kernel --launch --module --no-launch --nvcc-flags --only-launch --require --shared --triton --budget --memory-limit --mma-order --prove-time --timeout --color --format --full --glossary --output -o --quiet -q --section --wide --width --witness"
        [membar]="--help -h --version -V --function --kernel --module --triton --assume --model --timeout --color --compare --emit --format --output -o --prune --quiet -q --why"
        [prove]="--help -h --version -V --arg --block --certificate --compile-commands --config --grid --kernel --launch --module --no-config --no-launch --nvcc-flags --verify --cross-check --prove-time --output -o"
        [lint]="--help -h --version -V --arg --baseline --compile-commands --config --devices --grid --ignore --kernel --launch --module --no-config --no-launch --nvcc-flags --only-launch --port --rule --select --severity --shard --target --triton --update-baseline --budget --gsan --memory-limit --mma-order --resident --timeout --also --brief --color --emit --format --max-findings --output -o --quiet -q --source-root --verbose -v --witness"
        [merge]="--help -h --version -V --output -o --quiet -q --require"
        [parse]="--help -h --version -V --color --dump-ops --dump-ops= --effects --generic --kernel --list --module --output -o --print --ptx --quiet -q --stats --strict"
        [launch]="--help -h --version -V --color --compile-commands --kernel --module --nvcc-flags --output -o --template"
        [instrument]="--help -h --version -V --free-registers --layout --mode --module --output -o --spaces"
        [nvcc]="--help -h --version -V --output -o --strict"
        [rules]="--help -h --version -V --format --markdown --output -o"
        [help]="--help -h --version -V --completion --man"
    )

    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        _weir_words "$commands --help --version"
        return
    fi
    case "$command $before" in
    "check --arg") return ;;
    "check --baseline") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "check --block") return ;;
    "check --cache") mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    "check --cluster") return ;;
    "check --compile-commands") mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    "check --config") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "check --devices") return ;;
    "check --grid") return ;;
    "check --ignore") _weir_words "$(weir rules 2>/dev/null | cut -d ' ' -f 1)" && return ;;
    "check --kernel") return ;;
    "check --launch") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "check --module") return ;;
    "check --nvcc-flags") return ;;
    "check --require") _weir_words "every-launch given-launch tried-launches" && return ;;
    "check --rule") _weir_words "$(weir rules 2>/dev/null | cut -d ' ' -f 1)" && return ;;
    "check --select") _weir_words "$(weir rules 2>/dev/null | cut -d ' ' -f 1)" && return ;;
    "check --severity") return ;;
    "check --shard") return ;;
    "check --shared") return ;;
    "check --triton") return ;;
    "check --budget") return ;;
    "check --gsan") _weir_words "exact sampled off" && return ;;
    "check --jobs" | "check -j") return ;;
    "check --memory-limit") return ;;
    "check --mma-order") _weir_words "issue waits" && return ;;
    "check --prove-time") return ;;
    "check --resident") return ;;
    "check --timeout") return ;;
    "check --values") _weir_words "all needed" && return ;;
    "check --also") _weir_words "text github" && return ;;
    "check --color") _weir_words "auto always never" && return ;;
    "check --format") _weir_words "text json sarif github gitlab junit checkstyle" && return ;;
    "check --max-findings") return ;;
    "check --output" | "check -o") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "check --source-root") mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    "check --witness") mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    "exec --baseline") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "exec --config") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "exec --devices") return ;;
    "exec --exclude") return ;;
    "exec --ignore") _weir_words "$(weir rules 2>/dev/null | cut -d ' ' -f 1)" && return ;;
    "exec --keep") mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    "exec --kernel") return ;;
    "exec --only") return ;;
    "exec --require") _weir_words "every-launch given-launch tried-launches" && return ;;
    "exec --rule") _weir_words "$(weir rules 2>/dev/null | cut -d ' ' -f 1)" && return ;;
    "exec --select") _weir_words "$(weir rules 2>/dev/null | cut -d ' ' -f 1)" && return ;;
    "exec --severity") return ;;
    "exec --target") _weir_words "sm_80 sm_90 sm_100 gfx942 gfx950" && return ;;
    "exec --triton") return ;;
    "exec --budget") return ;;
    "exec --check-time") return ;;
    "exec --gsan") _weir_words "exact sampled off" && return ;;
    "exec --hang-after") return ;;
    "exec --jobs" | "exec -j") return ;;
    "exec --memory-limit") return ;;
    "exec --mma-order") _weir_words "issue waits" && return ;;
    "exec --mode") _weir_words "record shadow capture" && return ;;
    "exec --prove-time") return ;;
    "exec --record-disk") return ;;
    "exec --record-launches") return ;;
    "exec --record-memory") return ;;
    "exec --resident") return ;;
    "exec --sample") return ;;
    "exec --timeout") return ;;
    "exec --values") _weir_words "all needed" && return ;;
    "exec --also") _weir_words "text github" && return ;;
    "exec --color") _weir_words "auto always never" && return ;;
    "exec --format") _weir_words "text json sarif github gitlab junit checkstyle" && return ;;
    "exec --max-findings") return ;;
    "exec --output" | "exec -o") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "exec --source-root") mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    "exec --witness") mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    "run --arg") return ;;
    "run --baseline") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "run --block") return ;;
    "run --cluster") return ;;
    "run --compile-commands") mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    "run --config") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "run --devices") return ;;
    "run --grid") return ;;
    "run --ignore") _weir_words "$(weir rules 2>/dev/null | cut -d ' ' -f 1)" && return ;;
    "run --kernel") return ;;
    "run --launch") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "run --module") return ;;
    "run --nvcc-flags") return ;;
    "run --replay") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "run --require") _weir_words "every-launch given-launch tried-launches" && return ;;
    "run --rule") _weir_words "$(weir rules 2>/dev/null | cut -d ' ' -f 1)" && return ;;
    "run --select") _weir_words "$(weir rules 2>/dev/null | cut -d ' ' -f 1)" && return ;;
    "run --severity") return ;;
    "run --shared") return ;;
    "run --budget") return ;;
    "run --granule") return ;;
    "run --gsan") _weir_words "exact sampled off" && return ;;
    "run --memory-limit") return ;;
    "run --mma-order") _weir_words "issue waits" && return ;;
    "run --prove-time") return ;;
    "run --resident") return ;;
    "run --ring") return ;;
    "run --schedule") _weir_words "directed eager lazy round-robin random all" && return ;;
    "run --schedules") return ;;
    "run --seed") return ;;
    "run --slots") return ;;
    "run --timeout") return ;;
    "run --values") _weir_words "all needed" && return ;;
    "run --also") _weir_words "text github" && return ;;
    "run --color") _weir_words "auto always never" && return ;;
    "run --format") _weir_words "text json sarif github gitlab junit checkstyle" && return ;;
    "run --max-findings") return ;;
    "run --memory") return ;;
    "run --output" | "run -o") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "run --source-root") mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    "run --trace") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "run --witness") mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    "report --arg") return ;;
    "report --block") return ;;
    "report --buffer-id") return ;;
    "report --cluster") return ;;
    "report --compile-commands") mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    "report --grid") return ;;
    "report --kernel") return ;;
    "report --launch") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "report --module") return ;;
    "report --nvcc-flags") return ;;
    "report --require") _weir_words "every-launch given-launch tried-launches" && return ;;
    "report --shared") return ;;
    "report --triton") return ;;
    "report --budget") return ;;
    "report --memory-limit") return ;;
    "report --mma-order") _weir_words "issue waits" && return ;;
    "report --prove-time") return ;;
    "report --timeout") return ;;
    "report --color") _weir_words "auto always never" && return ;;
    "report --format") _weir_words "text markdown json dot html" && return ;;
    "report --output" | "report -o") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "report --section") _weir_words "partitions dependencies phases shared aliases deadlocks coverage limits" && return ;;
    "report --width") return ;;
    "report --witness") mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    "membar --function") return ;;
    "membar --kernel") return ;;
    "membar --module") return ;;
    "membar --triton") return ;;
    "membar --assume") _weir_words "inserted before" && return ;;
    "membar --model") _weir_words "sync near async" && return ;;
    "membar --timeout") return ;;
    "membar --color") _weir_words "auto always never" && return ;;
    "membar --compare") _weir_words "sync near async" && return ;;
    "membar --format") _weir_words "text json" && return ;;
    "membar --output" | "membar -o") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "membar --why") return ;;
    "prove --arg") return ;;
    "prove --block") return ;;
    "prove --certificate") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "prove --compile-commands") mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    "prove --config") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "prove --grid") return ;;
    "prove --kernel") return ;;
    "prove --launch") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "prove --module") return ;;
    "prove --nvcc-flags") return ;;
    "prove --verify") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "prove --prove-time") return ;;
    "prove --output" | "prove -o") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "lint --arg") return ;;
    "lint --baseline") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "lint --compile-commands") mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    "lint --config") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "lint --devices") return ;;
    "lint --grid") return ;;
    "lint --ignore") _weir_words "$(weir rules 2>/dev/null | cut -d ' ' -f 1)" && return ;;
    "lint --kernel") return ;;
    "lint --launch") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "lint --module") return ;;
    "lint --nvcc-flags") return ;;
    "lint --port") _weir_words "gfx942 gfx950 gfx1250" && return ;;
    "lint --rule") _weir_words "$(weir rules 2>/dev/null | cut -d ' ' -f 1)" && return ;;
    "lint --select") _weir_words "$(weir rules 2>/dev/null | cut -d ' ' -f 1)" && return ;;
    "lint --severity") return ;;
    "lint --shard") return ;;
    "lint --target") _weir_words "sm_80 sm_86 sm_89 sm_90a sm_100a sm_103a sm_110a sm_120a gfx942 gfx950 gfx1250" && return ;;
    "lint --triton") return ;;
    "lint --budget") return ;;
    "lint --gsan") _weir_words "exact sampled off" && return ;;
    "lint --memory-limit") return ;;
    "lint --mma-order") _weir_words "issue waits" && return ;;
    "lint --resident") return ;;
    "lint --timeout") return ;;
    "lint --also") _weir_words "text github" && return ;;
    "lint --color") _weir_words "auto always never" && return ;;
    "lint --format") _weir_words "text json sarif github gitlab junit checkstyle" && return ;;
    "lint --max-findings") return ;;
    "lint --output" | "lint -o") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "lint --source-root") mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    "lint --witness") mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    "merge --output" | "merge -o") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "merge --require") _weir_words "every-launch given-launch tried-launches" && return ;;
    "parse --color") _weir_words "auto always never" && return ;;
    "parse --kernel") return ;;
    "parse --module") return ;;
    "parse --output" | "parse -o") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "parse --print") _weir_words "effects flow slice program values" && return ;;
    "launch --color") _weir_words "auto always never" && return ;;
    "launch --compile-commands") mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    "launch --kernel") return ;;
    "launch --module") return ;;
    "launch --nvcc-flags") return ;;
    "launch --output" | "launch -o") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "instrument --layout") _weir_words "compact gsan" && return ;;
    "instrument --mode") _weir_words "record shadow" && return ;;
    "instrument --module") return ;;
    "instrument --output" | "instrument -o") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "instrument --spaces") _weir_words "global shared tensor" && return ;;
    "nvcc --output" | "nvcc -o") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "rules --format") _weir_words "text json" && return ;;
    "rules --output" | "rules -o") mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    "help --completion") _weir_words "bash zsh fish" && return ;;
    esac
    if [[ $word = -* ]]; then
        _weir_words "${options[$command]}"
        return
    fi
    case $command in
    check) _weir_files ;;
    exec) mapfile -t COMPREPLY < <(compgen -cf -- "$word") ;;
    run) _weir_files ;;
    report) _weir_files ;;
    membar) _weir_files ;;
    prove) _weir_files ;;
    lint) _weir_files ;;
    merge) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    parse) _weir_files ;;
    launch) _weir_files ;;
    instrument) _weir_files ;;
    nvcc) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    rules) _weir_words "$(weir rules 2>/dev/null | cut -d ' ' -f 1)" ;;
    help) _weir_words "$commands" ;;
    esac
}

complete -o filenames -F _weir weir
