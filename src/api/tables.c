/* The public API: the table of ops, and the rules. */
#include "api/internal.h"

#include "finding/finding.h"
#include "ir/optable.h"

/* ---- The op table ---------------------------------------------------------------------------- */

size_t weir_table_size(void) {
    return op_row_count();
}

weir_table_row weir_table_at(size_t index) {
    static const char *const none[] = {NULL};
    if (index >= op_row_count())
        return (weir_table_row){"", "", "", "", none, "", "", "", ""};
    const OpRow *row = op_row_by_id((unsigned)index);
    return (weir_table_row){row->name.data,
                            row->operand_column,
                            row->attr_column,
                            row->result_column,
                            row->format_column,
                            row->evaluate,
                            row->effects,
                            row->ptx,
                            row->amd};
}

/* ---- The rules ------------------------------------------------------------------------------- */

size_t weir_rule_count(void) {
    return RULE_COUNT;
}

weir_string weir_rules_unknown(const char *rules) {
    Str name = rule_list_unknown(rules);
    return (weir_string){name.data, name.size};
}

weir_string weir_rule_near(weir_string name) {
    Str near = rule_near((Str){name.data, name.size});
    return (weir_string){near.data, near.size};
}

const char *weir_rule_name(const char *name) {
    Str now = rule_name(str_of(name));
    return now.data;
}

weir_rule weir_rule_at(size_t index) {
    if (index >= RULE_COUNT)
        return (weir_rule){"", WEIR_NOTE, "", ""};
    const Rule *rule = rule_of((RuleId)index);
    return (weir_rule){rule->id, (weir_severity)rule->severity, rule->summary, rule->text};
}
