/* Locations: loc("file":1:2), names around them, call sites, fused ones and aliases. */
#include "mlir/internal.h"

/* What stands inside loc(...), or inside another location. */
static bool read_location_body(MlirReader *r, Attr *loc, unsigned depth) {
    if (depth > LIMIT_NESTING)
        return fail(r, r->p, "locations nested more than %d deep", LIMIT_NESTING);
    skip_space(r);
    const char *start = r->p;
    if (*start == '"') {
        const char *end = string_end(r, start);
        if (!end)
            return false;
        loc->name = str_between(start + 1, end - 1);
        r->p = end;
        if (take(r, ':')) {
            int64_t line, column;
            loc->location = LOC_FILE;
            if (!take_number(r, &line) || !take(r, ':') || !take_number(r, &column) || line < 0 || column < 0)
                return fail(r, r->p, "expected LINE:COLUMN in a location");
            loc->line = (uint32_t)line;
            loc->column = (uint32_t)column;
            r->module->column_zero |= line > 0 && column == 0;
            if (take_text(r, STR("to"))) { /* a range; its end is of no use here */
                take_number(r, &line);
                if (!take(r, ':') || !take_number(r, &column))
                    return fail(r, r->p, "expected LINE:COLUMN or :COLUMN after 'to'");
            }
            return true;
        }
        loc->location = LOC_NAME;
        if (!take(r, '('))
            return true;
        Attr *inner = new_attr(r, ATTR_LOCATION);
        loc->inner = inner;
        return read_location_body(r, inner, depth + 1) && (take(r, ')') || fail(r, r->p, "expected ')' in a location"));
    }
    if (take_text(r, STR("unknown")) || take(r, '?'))
        return true;
    if (*start == '#') {
        r->p++;
        loc->location = LOC_ALIAS;
        loc->name = take_suffix(r);
        return (loc->name.size && !is_class(*loc->name.data, CLASS_DIGIT)) ||
               fail(r, start, "expected an alias's name after '#'");
    }
    if (take_text(r, STR("callsite"))) {
        Attr *callee = new_attr(r, ATTR_LOCATION), *caller = new_attr(r, ATTR_LOCATION);
        loc->location = LOC_CALLSITE;
        loc->inner = callee;
        loc->caller = caller;
        return (take(r, '(') || fail(r, r->p, "expected '(' after 'callsite'")) &&
               read_location_body(r, callee, depth + 1) &&
               (take_text(r, STR("at")) || fail(r, r->p, "expected 'at' in a call site")) &&
               read_location_body(r, caller, depth + 1) &&
               (take(r, ')') || fail(r, r->p, "expected ')' in a location"));
    }
    if (take_text(r, STR("fused"))) {
        loc->location = LOC_FUSED;
        if (next_is(r, '<')) {
            const char *end = balanced_end(r, r->p);
            if (!end)
                return false;
            r->p = end;
        }
        if (!take(r, '['))
            return fail(r, r->p, "expected '[' after 'fused'");
        do {
            Attr *part = new_attr(r, ATTR_LOCATION);
            if (!read_location_body(r, part, depth + 1))
                return false;
            if (!loc->inner)
                loc->inner = part;
        } while (take(r, ','));
        return take(r, ']') || fail(r, r->p, "expected ',' or ']' in a fused location");
    }
    return fail(r, start, "expected a location: \"file\":LINE:COLUMN, \"name\", callsite, fused, unknown or an alias");
}

/* `loc(#locN)`, the form that nearly every op of a compiled kernel has: its number N, or -1. */
static int64_t location_number(const MlirReader *r, const char *at, const char **end) {
    static const char head[] = "loc(#loc";
    int64_t number = 0;
    if ((size_t)(r->end - at) < sizeof head || memcmp(at, head, sizeof head - 1) != 0)
        return -1;
    at += sizeof head - 1;
    const char *digits = at;
    for (; is_class(*at, CLASS_DIGIT) && at - digits < 6; at++)
        number = number * 10 + (*at - '0');
    *end = at + 1;
    return at > digits && *digits != '0' && *at == ')' ? number : -1;
}

const Attr *read_location(MlirReader *r) {
    skip_space(r);
    const char *start = r->p, *end;
    int64_t number = location_number(r, start, &end);
    if (number >= 0) {
        while (r->numbered_locations.count <= number)
            PUSH(r, r->numbered_locations) = NULL;
        if (r->numbered_locations.items[number]) {
            r->p = end;
            return r->numbered_locations.items[number];
        }
    }
    if (!(end = balanced_end(r, start + 3)))
        return NULL;
    const Attr *known = attr_find(r->module, str_between(start, end));
    if (known) {
        r->p = end;
        return known;
    }
    Attr *loc = new_attr(r, ATTR_LOCATION);
    r->p = start + 4;
    if (!read_location_body(r, loc, 0))
        return NULL;
    if (!take(r, ')') || r->p != end) {
        fail(r, r->p, "expected ')' after a location");
        return NULL;
    }
    const Attr *entered = enter_attr(r, start, loc);
    if (number >= 0)
        r->numbered_locations.items[number] = entered;
    return entered;
}
