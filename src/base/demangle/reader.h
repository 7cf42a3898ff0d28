/* What reads a mangled name: where it is, the tree that it makes, and what is known so far. */
#ifndef BASE_DEMANGLE_READER_H
#define BASE_DEMANGLE_READER_H

#include "base/demangle/internal.h"

enum {
    LONGEST_NAME = 1 << 16,
    DEEPEST = 256,          /* productions in each other */
    NODES_OF_CHARACTER = 4, /* no character is read into more */
    LEAST_NODES = 64,
};

typedef struct Demangler {
    const char *at, *end;
    Mangled *to;
    NodeId *known; /* what was said before, and may be referred to */
    uint32_t known_count;
    bool converting; /* the type of a conversion is read: template arguments that follow are the conversion's */
    uint32_t depth;
    bool failed;
} Demangler;

/* Lists are made from the front. */
typedef struct List {
    NodeId first, last;
} List;

NodeId reader_fail(Demangler *d);
char reader_peek(const Demangler *d);
char reader_peek_next(const Demangler *d);
bool reader_take(Demangler *d, const char *text);
void reader_expect(Demangler *d, const char *text);
NodeId reader_node(Demangler *d, NodeKind kind, Str text, NodeId a, NodeId b);
Node *reader_node_of(Demangler *d, NodeId id);
NodeId reader_word(Demangler *d, const char *text);
/* May be referred to from here on. */
NodeId reader_remember(Demangler *d, NodeId id);
void reader_append(Demangler *d, List *list, NodeId item);
uint32_t reader_number(Demangler *d);
/* "_" is 0, "0_" 1, "1_" 2. */
uint32_t reader_count(Demangler *d);
/* The same with 36 digits. */
uint32_t reader_count_36(Demangler *d);

#endif
