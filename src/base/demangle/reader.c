/* The next characters of a mangled name, its numbers, and the nodes that are made of them. */
#include "base/demangle/reader.h"

#include <ctype.h>

NodeId reader_fail(Demangler *d) {
    d->failed = true;
    return NODE_NONE;
}

char reader_peek(const Demangler *d) {
    return d->at < d->end && !d->failed ? *d->at : 0;
}

char reader_peek_next(const Demangler *d) {
    return d->at + 1 < d->end && !d->failed ? d->at[1] : 0;
}

bool reader_take(Demangler *d, const char *text) {
    size_t size = strlen(text);
    if (d->failed || (size_t)(d->end - d->at) < size || memcmp(d->at, text, size) != 0)
        return false;
    d->at += size;
    return true;
}

void reader_expect(Demangler *d, const char *text) {
    if (!reader_take(d, text))
        reader_fail(d);
}

NodeId reader_node(Demangler *d, NodeKind kind, Str text, NodeId a, NodeId b) {
    if (d->failed || d->to->count == d->to->capacity)
        return reader_fail(d);
    d->to->nodes[d->to->count] = (Node){kind, a, b, text};
    return d->to->count++;
}

Node *reader_node_of(Demangler *d, NodeId id) {
    return &d->to->nodes[id];
}

NodeId reader_word(Demangler *d, const char *text) {
    return reader_node(d, NODE_TEXT, str_of(text), 0, 0);
}

NodeId reader_remember(Demangler *d, NodeId id) {
    if (d->failed || d->known_count == d->to->capacity)
        return reader_fail(d);
    d->known[d->known_count++] = id;
    return id;
}

void reader_append(Demangler *d, List *list, NodeId item) {
    NodeId more = reader_node(d, NODE_LIST, (Str){0}, item, 0);
    if (list->last)
        reader_node_of(d, list->last)->b = more;
    else
        list->first = more;
    list->last = more;
}

uint32_t reader_number(Demangler *d) {
    uint64_t number = 0;
    if (!isdigit((unsigned char)reader_peek(d)))
        reader_fail(d);
    while (isdigit((unsigned char)reader_peek(d)) && number <= LONGEST_NAME)
        number = number * 10 + (uint64_t)(*d->at++ - '0');
    if (number > LONGEST_NAME)
        reader_fail(d);
    return (uint32_t)number;
}

uint32_t reader_count(Demangler *d) {
    uint32_t number = reader_peek(d) == '_' ? 0 : reader_number(d) + 1;
    reader_expect(d, "_");
    return number;
}

uint32_t reader_count_36(Demangler *d) {
    uint64_t number = 0;
    if (reader_take(d, "_"))
        return 0;
    for (; number <= LONGEST_NAME && (isdigit((unsigned char)reader_peek(d)) || isupper((unsigned char)reader_peek(d)));
         d->at++)
        number = number * 36 + (uint64_t)(isdigit((unsigned char)*d->at) ? *d->at - '0' : *d->at - 'A' + 10);
    reader_expect(d, "_");
    return (uint32_t)number + 1;
}
