/* Orders for qsort and bsearch, each in a line: ORDER(by_begin, Buffer, BY(life.begin) BY(number)) is a function that
 * compares two Buffers by the first of their members that differ. */
#ifndef BASE_ORDER_H
#define BASE_ORDER_H

#include <string.h>

/* -1 or 1 where two numbers differ; else what stands behind it decides. */
#define COMPARE(a, b) \
    if ((a) != (b))   \
    return (a) < (b) ? -1 : 1

/* A member, from the least on; from the most on; as text. Or where the items themselves lie, of pointers. */
#define BY(member)      COMPARE(x->member, y->member);
#define BY_MOST(member) COMPARE(y->member, x->member);
#define BY_TEXT(member)                    \
    if (strcmp(x->member, y->member) != 0) \
        return strcmp(x->member, y->member);
#define BY_PLACE COMPARE(x, y);

/* Of items of a type; of pointers to them. */
#define ORDER(name, T, keys)                          \
    static int name(const void *a_, const void *b_) { \
        const T *x = a_, *y = b_;                     \
        keys return 0;                                \
    }
#define ORDER_POINTERS(name, T, keys)                                   \
    static int name(const void *a_, const void *b_) {                   \
        const T *x = *(const T *const *)a_, *y = *(const T *const *)b_; \
        keys return 0;                                                  \
    }
/* Of numbers themselves. */
#define ORDER_NUMBERS(name, T) ORDER(name, T, COMPARE(*x, *y);)

#endif
