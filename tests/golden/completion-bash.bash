# What bash offers when TAB is pressed behind the words: `bash completion-bash.bash WORD...`.
. ../../completions/weir.bash
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_weir
printf '%s\n' "${COMPREPLY[@]}" | sort | xargs
