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
static bool looks_like_start(const MlirReader *r, const char *at) {
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

bool at_op_boundary(MlirReader *r) {
    skip_space(r);
    if (location_follows(r))
        return true;
    if (looks_like_start(r, r->p) || (*r->p == '^' && first_on_line(r)))
        return true;
    /* A word on a new line may be anything, but it is not part of this op. */
    return is_class(*r->p, CLASS_LETTER) && first_on_line(r);
}

/* The column of the first character of a line, from 0. */
static size_t indent_of(const MlirReader *r, const char *at) {
    const char *line = at;
    while (line > r->base && line[-1] != '\n')
        line--;
    size_t indent = 0;
    while (line[indent] == ' ' || line[indent] == '\t')
        indent++;
    return indent;
}

const char *extent_by_indent(const MlirReader *r, const char *start) {
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

const char *op_extent(MlirReader *r, const char *at) {
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
        if ((c == '<' || c == '>') && at[1] == '=' && depth && open[depth - 1] == '(') {
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
static bool is_region(MlirReader *r, const char *at) {
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
static bool try_types(MlirReader *r) {
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

/* An op that is being read without knowing its form. */
typedef struct Loose {
    Op *op;
    const char *start, *end;         /* of its text; the end as op_extent found it */
    const char *arrow;               /* behind its last `->` outside brackets */
    const char *open[LIMIT_NESTING]; /* parentheses and square brackets that are open */
    unsigned depth;
    uint32_t operand_mark, pending_mark, successor_mark;
} Loose;

static bool is_bound(const MlirReader *r, const OperandRef *ref) {
    return ref->name->bound && ref->name->scope == r->scope;
}

/* At the brace of a region. A name before it that means nothing yet is an argument of it: `for %i in ...`. */
static bool read_loose_region(MlirReader *r, Loose *loose) {
    Op *op = loose->op;
    if (!op->region_count) {
        uint32_t kept = loose->operand_mark;
        for (uint32_t i = loose->operand_mark; i < r->operands.count; i++) {
            OperandRef ref = r->operands.items[i];
            if (is_bound(r, &ref))
                r->operands.items[kept++] = ref;
            else
                PUSH(r, r->pending) = (PendingArg){.name = ref.name, .at = ref.at};
        }
        r->operands.count = kept;
        if (!make_operands(r, op, loose->operand_mark, r->notes.count))
            return false;
    }
    uint32_t mark = op->region_count ? r->pending.count : loose->pending_mark;
    return read_region(r, op, add_region(r, op), mark, false);
}

/* At the brace of a dictionary, or of something else that is passed over. */
static bool read_loose_dict(MlirReader *r, Loose *loose) {
    const char *open = r->p;
    if (loose->depth == 0 && !loose->op->dict) {
        r->quiet = true;
        loose->op->dict = read_dict(r);
        r->quiet = r->failed = false;
        if (loose->op->dict)
            return true;
    }
    const char *close = balanced_end(r, open);
    r->p = close ? close : open;
    return close != NULL;
}

/* `%x`; in parentheses, and followed by `:` or `=`, an argument of the regions to come. */
static bool read_loose_operand(MlirReader *r, Loose *loose) {
    OperandRef ref;
    if (!read_operand_ref(r, &ref))
        return false;
    const char *after = r->p;
    bool argument = loose->depth > 0 && (next_is(r, '=') || *r->p == ':') && !is_bound(r, &ref);
    r->p = after;
    if (argument)
        PUSH(r, r->pending) = (PendingArg){.name = ref.name, .at = ref.at};
    else if (!loose->op->region_count)
        PUSH(r, r->operands) = ref;
    return true;
}

static void read_loose_successor(MlirReader *r, Loose *loose) {
    const char *start = r->p++;
    Str text = take_suffix(r);
    if (!text.size || loose->depth || !loose->op->block)
        return;
    Name *label = name_intern(r->module, &r->module->labels, text);
    Block *block = block_named(r, loose->op->block->region, label, offset_of(r, start));
    PUSH(r, r->successors) = (Successor){block, 0};
}

/* `loc(...)`: 1 if it ends the op, and so belongs to it like any other's; 0 if it is passed over; -1 for an error. */
static int pass_location(MlirReader *r, const Loose *loose) {
    const char *at = r->p, *close = balanced_end(r, at + 3);
    if (!close)
        return -1;
    r->p = close;
    skip_space(r);
    bool last = r->p >= loose->end;
    r->p = last ? at : close;
    return last;
}

/* One word or bracket. */
static bool read_loose_word(MlirReader *r, Loose *loose) {
    char c = *r->p;
    if (c == '{')
        return is_region(r, r->p) ? read_loose_region(r, loose) : read_loose_dict(r, loose);
    if (c == '%')
        return read_loose_operand(r, loose);
    if (c == '"' || c == '<') {
        const char *close = c == '"' ? string_end(r, r->p) : balanced_end(r, r->p);
        r->p = close ? close : r->p;
        return close != NULL;
    }
    if (c == 0)
        return fail_at_zero(r, r->p);
    if (c == '^') {
        read_loose_successor(r, loose);
    } else if (c == '-' && r->p[1] == '>') {
        r->p += 2;
        loose->arrow = loose->depth ? loose->arrow : r->p;
    } else {
        if (c == '(' || c == '[') {
            if (loose->depth == LIMIT_NESTING)
                return fail(r, r->p, "brackets nested more than %d deep", LIMIT_NESTING);
            loose->open[loose->depth++] = r->p;
        } else if (c == ')' || c == ']' || c == '}' || c == '>') {
            char open = loose->depth ? *loose->open[--loose->depth] : 0;
            if ((c != ')' || open != '(') && (c != ']' || open != '['))
                return fail(r, r->p, "this '%c' closes nothing", c);
        }
        r->p++;
        while (is_class(c, CLASS_ID) && is_class(*r->p, CLASS_ID))
            r->p++;
    }
    return true;
}

bool read_opaque(MlirReader *r, Op *op, const char *start, uint32_t name_mark) {
    Loose loose = {.op = op,
                   .start = start,
                   .end = op_extent(r, start),
                   .operand_mark = r->operands.count,
                   .pending_mark = r->pending.count,
                   .successor_mark = r->successors.count};
    if (r->failed)
        return false;
    op->row = NULL; /* its columns do not describe what stands here */
    const char *text_end;
    for (;;) {
        text_end = r->p;
        skip_space(r);
        if (r->p >= loose.end)
            break;
        int location = loose.depth == 0 && location_follows(r) ? pass_location(r, &loose) : 0;
        if (location > 0)
            break;
        if (location < 0 || !read_loose_word(r, &loose))
            return false;
    }
    if (loose.depth)
        return fail(r, loose.open[loose.depth - 1], "this '%c' is never closed", *loose.open[loose.depth - 1]);
    op_extra(r->module, op)->text = str_between(start, text_end);
    if (!op->region_count && !make_operands(r, op, loose.operand_mark, r->notes.count))
        return false;
    r->pending.count = loose.pending_mark;
    keep_successors(r, op, loose.successor_mark);

    uint32_t named = 0, types_mark = r->types.count;
    for (uint32_t i = name_mark; i < r->names.count; i++)
        named += r->names.items[i].count;
    if (loose.arrow && named) {
        r->p = loose.arrow;
        if (!try_types(r) || r->types.count - types_mark != named)
            r->types.count = types_mark;
    }
    while (r->types.count - types_mark < named)
        PUSH(r, r->types) = NULL;
    bool good = make_results(r, op, name_mark, r->types.items + types_mark, named);
    r->types.count = types_mark;
    r->operands.count = loose.operand_mark;
    r->p = text_end;
    return good;
}
