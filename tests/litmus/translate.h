/* A litmus test (tests/reference/litmus) as a kernel of PTX: each thread the first of a warp of its own, in CTAs as the
 * test says; memory as words, 16 bytes apart; registers as registers. */
#ifndef LITMUS_TRANSLATE_H
#define LITMUS_TRANSLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLACE_BYTES = 16 };

typedef struct Translated {
    const char *unread; /* it is no litmus test: why */
    bool race, holds;   /* what the evaluator says: of races, of the condition */
    bool in_order;      /* ... of races in executions without a cycle */
    char text[1 << 16]; /* kernel `litmus`, with the parameters `out` (a word for each register) and `mem` */
    char launch[4096];
    const char *problem; /* why PTX for one GPU and one proxy has no such kernel; NULL: it has */
} Translated;

void litmus_translate(const char *text, Translated *to);

/* A random test of a few threads, as text. */
void litmus_random(uint64_t seed, char *text, size_t size);

/* Of the test that was translated last: whether an outcome decides its condition (one that `exists` is about, one that
 * `forall` is not true of). The words at `out` and `mem`. */
bool litmus_decides(const int32_t *out, const int32_t *mem);
/* Whether the condition holds, if such an outcome was seen or not. */
bool litmus_holds(bool decided);

#endif
