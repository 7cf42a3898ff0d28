/* Rules of lint_amd.def: which parts of them look at what. */
#include "check/lint/tile/amd.h"

const Value *lds_read(Lint *lint, const Op *op) {
    const Effect *read = lint_effect(lint, op, EFFECT_READ);
    bool plain = read && read->helper == HELPER_BASE && read->done == DONE_NOW && read->order == ORDER_WEAK;
    return plain && read->space == SPACE_SHARED ? read->on : NULL;
}

/* Only AMD's own ops, which nothing is said of elsewhere: what others become is another question. */
static void check_target(Lint *lint, const Op *op) {
    AmdForm form = op->row && !*op->row->ptx ? amd_form_of(op, lint->target) : (AmdForm){0};
    if (form.class == AMD_NONE)
        lint_find(lint, RULE_AMD_TARGET, op, "%s does not have %.*s: %.*s", lint->target->name, STR_ARG(op->row->name),
                  STR_ARG(form.remark));
}

void lint_amd(Lint *lint) {
    if (!lint_is_amd(lint))
        return;
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        check_target(lint, op);
        lint_amd_copy(lint, op);
        lint_amd_move(lint, op);
    }
    lint_amd_waits(lint);
    lint_amd_barriers(lint);
}
