/* "`ttng.async_tma_store_wait {pendings = 0 : i32}`" becomes "`tma.store_wait(0)`". */
#include "check/explain/calls.h"

#include "ir/optable.h"

/* The value of an attribute in an op as a text writes it: "0" in "{pendings = 0 : i32}"; no data if it is not there. */
static Str value_in(Str op, Str name) {
    for (const char *at = op.data, *end = op.data + op.size; (at = memchr(at, name.data[0], (size_t)(end - at)));
         at++) {
        Str rest = str_between(at, end);
        if (at > op.data && strchr("{ ", at[-1]) && str_starts(rest, name) && rest.size > name.size + 3 &&
            strncmp(at + name.size, " = ", 3) == 0) {
            const char *value = at + name.size + 3;
            return (Str){value, strcspn(value, " ,}`")};
        }
    }
    return (Str){NULL, 0};
}

/* An argument of the column: `...`, an attribute, NAME=ATTRIBUTE or NAME=True; what the op does not say, or denies, is
 * left out. */
static void add_argument(Text *to, Str argument, Str op, bool *any) {
    const char *equals = memchr(argument.data, '=', argument.size);
    Str attribute = equals ? str_between(equals + 1, argument.data + argument.size) : argument;
    Str value = str_is(argument, "...") || str_is(attribute, "True") ? attribute : value_in(op, attribute);
    if (!value.data || str_is(value, "false"))
        return;
    text_addf(to, "%s", *any ? ", " : "");
    if (equals)
        text_str(to, str_between(argument.data, equals + 1));
    text_str(to, str_is(value, "true") ? STR("True") : value);
    *any = true;
}

/* One call, "tma.store_wait(pendings)", with the values that the op has. */
static void add_call(Text *to, Str call, Str op) {
    size_t open = (size_t)((const char *)memchr(call.data, '(', call.size) - call.data);
    text_addf(to, "`");
    text_str(to, (Str){call.data, open + 1});
    bool any = false;
    for (const char *at = call.data + open + 1, *end = call.data + call.size - 1; at < end;) {
        size_t size = strcspn(at, ",)");
        add_argument(to, (Str){at, size}, op, &any);
        at += size + 1 + (at[size] == ',');
    }
    text_addf(to, ")`");
}

static void add_calls(Text *to, const char *column, Str op) {
    static const char between[] = " or ";
    for (const char *at = column; at;) {
        const char *next = strstr(at, between);
        add_call(to, next ? str_between(at, next) : str_of(at), op);
        text_addf(to, "%s", next ? between : "");
        at = next ? next + sizeof between - 1 : NULL;
    }
}

/* The call of what stands in backquotes at `at`, and *op that; NULL if it is no op with one. */
static const char *call_at(const char *at, Str *op) {
    const char *end = *at == '`' ? strchr(at + 1, '`') : NULL;
    if (!end)
        return NULL;
    *op = str_between(at + 1, end);
    const OpRow *row = op_row((Str){op->data, strcspn(op->data, " `")});
    return row && *row->python ? row->python : NULL;
}

void text_add_calls(Text *to, const char *text) {
    static const Str insert = STR("Insert "); /* what is inserted into IR is called in Python */
    Str op;
    for (const char *at = text; *at;) {
        const char *call = call_at(at, &op), *end = *at == '`' ? strchr(at + 1, '`') : NULL;
        if (call) {
            add_calls(to, call, op);
            text_addf(to, " (");
            text_str(to, op);
            text_addf(to, ")");
            at = end + 1;
        } else if (str_starts(str_of(at), insert) && call_at(at + insert.size, &op)) {
            text_addf(to, "Call ");
            at += insert.size;
        } else {
            const char *next = end ? end + 1 : at + 1;
            text_str(to, str_between(at, next));
            at = next;
        }
    }
}
