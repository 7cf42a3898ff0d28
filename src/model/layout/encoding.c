/* Finds the fields of an encoding in its text. */
#include "model/layout/encoding.h"

#include <ctype.h>

enum { MOST_BASES = 24 };

Str str_trimmed(Str s) {
    while (s.size && isspace((unsigned char)s.data[0]))
        s = (Str){s.data + 1, s.size - 1};
    while (s.size && isspace((unsigned char)s.data[s.size - 1]))
        s.size--;
    return s;
}

Encoding encoding_read(Module *module, Str text) {
    const Item *item = map_get(&module->aliases, text);
    if (item && item->kind == ITEM_ATTR_ALIAS) {
        const Attr *attr = attr_resolve(module, item->attr);
        if (!attr)
            return (Encoding){0};
        text = attr->text;
    }
    const char *open = text.size ? memchr(text.data, '<', text.size) : NULL;
    if (!text.size || text.data[0] != '#')
        return (Encoding){0};
    const char *end = text.data + text.size;
    Encoding encoding = {.name = str_trimmed(str_between(text.data + 1, open ? open : end))};
    if (open && end[-1] == '>')
        encoding.body = str_between(open + 1, end - 1);
    return encoding;
}

bool encoding_is(const Encoding *encoding, const char *name) {
    Str full = encoding->name;
    const char *dot = full.size ? memrchr(full.data, '.', full.size) : NULL;
    return dot && str_is(str_between(dot + 1, full.data + full.size), name);
}

/* Just after the value that starts at `at`: at a comma, a brace that closes what holds it, or the end. */
static const char *value_end(const char *at, const char *end) {
    int depth = 0;
    for (; at < end; at++) {
        if (*at == '[' || *at == '{' || *at == '<' || *at == '(')
            depth++;
        else if (depth == 0 && (*at == ',' || *at == '}'))
            break;
        else if (*at == ']' || *at == '}' || *at == '>' || *at == ')')
            depth--;
    }
    return at;
}

Str encoding_field(const Encoding *encoding, const char *key) {
    const char *at = encoding->body.data, *end = at ? at + encoding->body.size : NULL;
    while (at < end) {
        const char *word = at;
        while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
            at++;
        if (at == word) { /* braces around the fields, and the list of paddings before them */
            const char *close = *at == '[' ? memchr(at, ']', (size_t)(end - at)) : at;
            at = close ? close + 1 : end;
            continue;
        }
        Str name = str_between(word, at);
        while (at < end && isspace((unsigned char)*at))
            at++;
        if (at == end || *at != '=')
            continue;
        const char *value = at + 1;
        at = value_end(value, end);
        if (str_is(name, key))
            return str_trimmed(str_between(value, at));
    }
    return (Str){"", 0};
}

int64_t encoding_int(const Encoding *encoding, const char *key, int64_t otherwise) {
    int64_t value;
    Str text = encoding_field(encoding, key);
    if (!text.size)
        return otherwise;
    return str_to_int(text, &value) && value >= 0 && value <= ENCODING_LARGEST ? value : -1;
}

bool encoding_true(const Encoding *encoding, const char *key) {
    return str_is(encoding_field(encoding, key), "true");
}

bool encoding_list(const Encoding *encoding, const char *key, Numbers *numbers) {
    *numbers = (Numbers){0};
    Str text = encoding_field(encoding, key);
    if (!text.size || text.data[0] != '[')
        return false;
    const char *at = text.data + 1, *end = text.data + text.size;
    while (at < end) {
        if (*at == ']' && !numbers->inner)
            numbers->inner = numbers->count;
        if (!isdigit((unsigned char)*at)) {
            at++;
            continue;
        }
        const char *digits = at;
        while (at < end && isdigit((unsigned char)*at))
            at++;
        if (numbers->count == ENCODING_NUMBERS ||
            !str_to_int(str_between(digits, at), &numbers->items[numbers->count]) ||
            numbers->items[numbers->count++] > ENCODING_LARGEST_LISTED)
            return false;
    }
    return true;
}

bool encoding_list_of(const Encoding *encoding, const char *key, unsigned count, Numbers *numbers) {
    return encoding_list(encoding, key, numbers) && numbers->count == count;
}

bool encoding_order(const Encoding *encoding, const char *key, unsigned rank, unsigned *order) {
    Numbers numbers;
    unsigned seen = 0;
    if (!encoding_list_of(encoding, key, rank, &numbers))
        return false;
    for (unsigned i = 0; i < rank; i++) {
        if (numbers.items[i] >= rank)
            return false;
        order[i] = (unsigned)numbers.items[i];
        seen |= 1u << order[i];
    }
    return seen == (1u << rank) - 1;
}

bool encoding_bases(const Encoding *encoding, const char *key, unsigned rank, Numbers *numbers) {
    if (!encoding_list(encoding, key, numbers))
        return !encoding_field(encoding, key).size;
    return !numbers->count || (numbers->inner == rank && numbers->count / rank < MOST_BASES);
}

bool encoding_ctas(const Encoding *encoding, unsigned rank, Ctas *ctas) {
    Numbers numbers, split;
    unsigned order[CTAS_RANK], size[CTAS_RANK] = {0};
    *ctas = (Ctas){0};
    if (!encoding_field(encoding, "CTAsPerCGA").size) {
        if (!encoding_bases(encoding, "CGALayout", rank, &numbers) || numbers.count / rank > CTAS_BITS)
            return false;
        ctas->count = numbers.count / rank;
        for (uint32_t i = 0; i < numbers.count; i++)
            ctas->bases[i / rank][i % rank] = (uint32_t)numbers.items[i];
        return true;
    }
    if (!encoding_list_of(encoding, "CTAsPerCGA", rank, &numbers) ||
        !encoding_list_of(encoding, "CTASplitNum", rank, &split) || !encoding_order(encoding, "CTAOrder", rank, order))
        return false;
    for (unsigned i = 0; i < rank; i++) {
        unsigned d = order[i];
        if (!is_power(numbers.items[d]) || !is_power(split.items[d]) || split.items[d] > numbers.items[d])
            return false;
        for (int64_t n = 1; n < numbers.items[d]; n *= 2) {
            if (ctas->count == CTAS_BITS)
                return false;
            if (n < split.items[d])
                ctas->bases[ctas->count][d] = UINT32_C(1) << size[d]++;
            ctas->count++;
        }
    }
    return true;
}

uint32_t encoding_shared_bits(Module *module, const Type *memdesc, uint32_t ctas) {
    Encoding encoding = {0};
    Numbers bases;
    uint32_t shared = 0;
    memdesc = memdesc ? type_resolve(module, memdesc) : NULL;
    for (uint32_t i = 0; memdesc && i < memdesc->param_count && !encoding.body.size; i++)
        encoding = encoding_read(module, memdesc->params[i]);
    if (ctas < 2 || module->own_barriers || !encoding.body.size || !encoding_list(&encoding, "CGALayout", &bases) ||
        !bases.inner)
        return 0;
    for (uint32_t bit = 0; ctas >> bit > 1 && (bit + 1) * bases.inner <= bases.count; bit++) {
        bool moves = false;
        for (uint32_t i = 0; i < bases.inner; i++)
            moves |= bases.items[bit * bases.inner + i] != 0;
        shared |= (uint32_t)!moves << bit;
    }
    return shared;
}

uint32_t encoding_sharers(Module *module, const Type *memdesc, uint32_t ctas) {
    return 1u << __builtin_popcount(encoding_shared_bits(module, memdesc, ctas));
}
