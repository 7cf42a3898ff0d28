/* Ops that the table does not know: where they end, and what can be told of them all the same.
 *
 * MLIR's printed form is regular enough: an op ends where, outside all brackets, a line starts that could
 * be another op. Its `%names` are operands, its braces are a dictionary or a region, and the types after
 * its last `->` are its results'; without one, what type they have is not known. */
#include "mlir/internal.h"

/* ---- Boundaries ------------------------------------------------------------------------------ */

bool looks_like_results(const char *at) {
    for (;;) {
        if (*at != '%')
            return false;
        at++;
        while (is_class(*at, CLASS_SUFFIX))
            at++;
        if (*at == ':')
            for (at++; is_class(*at, CLASS_DIGIT);)
                at++;
        while (*at == ' ')
            at++;
        if (*at == '=')
            return true;
        if (*at != ',')
            return false;
        for (at++; *at == ' ';)
            at++;
    }
}

/* Whether an op, a label, an alias or the end of a region starts here. */
static bool looks_like_start(const Reader *r, const char *at) {
    if (at >= r->end || *at == '}')
        return true;
    if (*at == '%')
        return looks_like_results(at);
    if (*at == '"') {
        const char *close = memchr(at + 1, '"', (size_t)(r->end - at - 1));
        return close && close[1] == '(';
    }
    if (*at == '^') { /* a label ends in ':' on its line */
        const char *line_end = memchr(at, '\n', (size_t)(r->end - at));
        const char *last = line_end ? line_end : r->end;
        while (last > at && is_class(last[-1], CLASS_SPACE))
            last--;
        const char *comment = memmem(at, (size_t)(last - at), "//", 2);
        for (last = comment ? comment : last; last > at && is_class(last[-1], CLASS_SPACE);)
            last--;
        return last > at && last[-1] == ':';
    }
    if (*at == '#' || *at == '!') {
        for (at++; is_class(*at, CLASS_SUFFIX);)
            at++;
        while (*at == ' ')
            at++;
        return *at == '=';
    }
    if (*at == '{')
        return at[1] == '-' && at[2] == '#';
    if (!is_class(*at, CLASS_LETTER))
        return false;
    const char *start = at;
    while (is_class(*at, CLASS_ID))
        at++;
    Str word = str_between(start, at);
    return memchr(word.data, '.', word.size) ? true : op_row(word) != NULL;
}

bool at_op_boundary(Reader *r) {
    skip_space(r);
    if (location_follows(r))
        return true;
    if (looks_like_start(r, r->p) || (*r->p == '^' && first_on_line(r)))
        return true;
    /* A word on a new line may be anything, but it is not part of this op. */
    return is_class(*r->p, CLASS_LETTER) && first_on_line(r);
}

/* The column of the first character of a line, from 0. */
static size_t indent_of(const Reader *r, const char *at) {
    const char *line = at;
    while (line > r->base && line[-1] != '\n')
        line--;
    size_t indent = 0;
    while (line[indent] == ' ' || line[indent] == '\t')
        indent++;
    return indent;
}

const char *extent_by_indent(const Reader *r, const char *start) {
    size_t indent = indent_of(r, start);
    const char *line_end = memchr(start, '\n', (size_t)(r->end - start));
    while (line_end) {
        const char *line = line_end + 1, *first = line;
        while (*first == ' ' || *first == '\t')
            first++;
        const char *next = memchr(line, '\n', (size_t)(r->end - line));
        bool blank = *first == '\n' || *first == '\r' || (*first == '/' && first[1] == '/');
        bool label = *first == '^' && (size_t)(first - line) == indent; /* of the op's own region */
        if (!blank && !label && (size_t)(first - line) <= indent) {
            bool own = *first == '}' && (size_t)(first - line) == indent && line > start + 1 && line_end[-1] != '{' &&
                       memchr(start, '{', (size_t)(line_end - start));
            return !own ? line_end : next ? next : r->end;
        }
        line_end = next;
    }
    return r->end;
}

const char *op_extent(Reader *r, const char *at) {
    const char *start = at;
    char open[LIMIT_NESTING];
    unsigned depth = 0;
    char last = 0;
    while (at < r->end) {
        char c = *at;
        if (c == '\n' && depth == 0) {
            const char *saved = r->p;
            r->p = at;
            skip_space(r);
            const char *next = r->p;
            r->p = saved;
            bool goes_on = last == ',' || last == '(' || last == '=' || last == ':' || last == '>';
            if ((!goes_on || next >= r->end || *next == '}') && looks_like_start(r, next))
                return at;
            at = next;
            continue;
        }
        if (c == '"') {
            const char *end = string_end(r, at);
            if (!end)
                return extent_by_indent(r, start);
            at = end;
            last = '"';
            continue;
        }
        if (c == '/' && at[1] == '/') {
            const char *line_end = memchr(at, '\n', (size_t)(r->end - at));
            at = line_end ? line_end : r->end;
            continue;
        }
        if (c == '-' && at[1] == '>') {
            at += 2;
            last = '-'; /* types follow */
            continue;
        }
        if ((c == '<' || c == '>') && at[1] == '=') {
            at += 2;
            last = '=';
            continue;
        }
        if (c == '(' || c == '[' || c == '{' || c == '<') {
            if (depth == LIMIT_NESTING)
                return extent_by_indent(r, start);
            open[depth++] = c;
        } else if (c == ')' || c == ']' || c == '}' || c == '>') {
            if (depth == 0)
                return c == '}' ? at : extent_by_indent(r, start);
            if (c != (open[depth - 1] == '(' ? ')' : open[depth - 1] + 2))
                return extent_by_indent(r, start);
            depth--;
        }
        if (!is_class(c, CLASS_SPACE))
            last = c == '>' ? 0 : c;
        at++;
    }
    return depth ? extent_by_indent(r, start) : r->end;
}

/* ---- What can be told ------------------------------------------------------------------------ */

/* Whether the braces at `at` hold ops rather than attributes. */
static bool is_region(Reader *r, const char *at) {
    const char *saved = r->p;
    r->p = at + 1;
    skip_space(r);
    bool region = *r->p == '%' || *r->p == '^';
    if (*r->p == '"') {
        const char *close = memchr(r->p + 1, '"', (size_t)(r->end - r->p - 1));
        region = close && close[1] == '(';
    } else if (is_class(*r->p, CLASS_LETTER)) {
        Str word = take_id(r);
        skip_space(r);
        region = memchr(word.data, '.', word.size) && *r->p != '=' && *r->p != ',' && (*r->p != '}' || op_row(word));
    }
    r->p = saved;
    return region;
}

/* Types from here on, separated by commas, in parentheses or not; pushed on `types`. */
static bool try_types(Reader *r) {
    r->quiet = true;
    bool parens = take(r, '(');
    bool good = parens && take(r, ')');
    if (!good) {
        do {
            const Type *type = read_type(r);
            good = type != NULL;
            if (type)
                PUSH(r, r->types) = type;
        } while (good && take(r, ','));
        good = good && (!parens || take(r, ')'));
    }
    r->quiet = r->failed = false;
    return good;
}

bool read_opaque(Reader *r, Op *op, const char *start, uint32_t name_mark) {
    const char *end = op_extent(r, start);
    if (r->failed)
        return false;
    uint32_t operand_mark = r->operands.count, note_mark = r->notes.count, pending_mark = r->pending.count;
    uint32_t successor_mark = r->successors.count;
    const char *arrow = NULL, *token_end = r->p;
    unsigned depth = 0;
    op->row = NULL; /* its columns do not describe what stands here */

    /* First the words and brackets outside braces. A name that is written `%x:` or `%x =` is an argument
     * of the regions to come. */
    for (; token_end = r->p, r->p < end && (skip_space(r), r->p < end);) {
        char c = *r->p;
        if (c == 0)
            return fail_at_zero(r, r->p);
        if (c == '^') {
            const char *label = r->p++;
            Str text = take_suffix(r);
            if (text.size && depth == 0 && op->block) {
                Name *name = name_intern(r->module, &r->module->labels, text);
                Block *block = block_named(r, op->block->region, name, offset_of(r, label));
                PUSH(r, r->successors) = (Successor){block, 0};
            }
        } else if (c == '"') {
            const char *close = string_end(r, r->p);
            if (!close)
                return false;
            r->p = close;
        } else if (c == '{') {
            const char *close;
            if (is_region(r, r->p)) {
                /* A name that means nothing yet is an argument of the region: `for %i in ...`. */
                uint32_t kept = operand_mark;
                for (uint32_t i = operand_mark; !op->region_count && i < r->operands.count; i++) {
                    OperandRef ref = r->operands.items[i];
                    if (ref.name->bound && ref.name->scope == r->scope)
                        r->operands.items[kept++] = ref;
                    else
                        PUSH(r, r->pending) = (PendingArg){.name = ref.name, .at = ref.at};
                }
                if (!op->region_count)
                    r->operands.count = kept;
                if (!op->operands && !make_operands(r, op, operand_mark, note_mark))
                    return false;
                Region *region = add_region(r, op);
                uint32_t args = r->pending.count;
                if (!read_region(r, op, region, op->region_count == 1 ? pending_mark : args, false))
                    return false;
            } else {
                r->quiet = true;
                const char *open = r->p;
                const Attr *dict = depth == 0 && !op->dict ? read_dict(r) : NULL;
                r->quiet = r->failed = false;
                if (dict)
                    op->dict = dict;
                else if ((close = balanced_end(r, open)))
                    r->p = close;
                else
                    return false;
            }
        } else if (c == '%') {
            OperandRef ref;
            if (!read_operand_ref(r, &ref))
                return false;
            const char *after = r->p;
            bool argument =
                depth > 0 && (next_is(r, '=') || *r->p == ':') && !(ref.name->bound && ref.name->scope == r->scope);
            r->p = after;
            if (argument)
                PUSH(r, r->pending) = (PendingArg){.name = ref.name, .at = ref.at};
            else if (!op->operands)
                PUSH(r, r->operands) = ref;
        } else if (c == '-' && r->p[1] == '>') {
            r->p += 2;
            if (depth == 0)
                arrow = r->p;
        } else if (c == '<') {
            const char *close = balanced_end(r, r->p);
            if (!close)
                return false;
            r->p = close;
        } else if (depth == 0 && location_follows(r) && r->p > start) {
            /* A location at the end belongs to the op like any other's. */
            const char *close = balanced_end(r, r->p + 3), *at = r->p;
            if (!close)
                return false;
            r->p = close;
            skip_space(r);
            if (r->p >= end) {
                r->p = at;
                break;
            }
            r->p = close;
        } else {
            if (c == '(' || c == '[')
                depth++;
            else if ((c == ')' || c == ']') && depth)
                depth--;
            r->p++;
            if (is_class(c, CLASS_ID))
                while (is_class(*r->p, CLASS_SUFFIX))
                    r->p++;
        }
    }
    const char *text_end = token_end;
    op_extra(r->module, op)->text = str_between(start, text_end);

    if (!op->operands && !make_operands(r, op, operand_mark, note_mark))
        return false;
    r->pending.count = pending_mark;
    uint32_t named = 0, types_mark = r->types.count;
    for (uint32_t i = name_mark; i < r->names.count; i++)
        named += r->names.items[i].count;
    if (arrow && named) {
        r->p = arrow;
        if (!try_types(r) || r->types.count - types_mark != named)
            r->types.count = types_mark;
    }
    while (r->types.count - types_mark < named)
        PUSH(r, r->types) = NULL;
    keep_successors(r, op, successor_mark);
    bool good = make_results(r, op, name_mark, r->types.items + types_mark, named);
    r->types.count = types_mark;
    r->operands.count = operand_mark;
    r->p = text_end;
    return good;
}
