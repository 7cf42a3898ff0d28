/* A litmus test (tests/reference/litmus) as a kernel of PTX: each thread the first of a warp of its own, in CTAs as the
 * test says; memory as words, 16 bytes apart; registers as registers. */
#ifndef LITMUS_TRANSLATE_H
#define LITMUS_TRANSLATE_H

#include <stdbool.h>

enum { PLACE_BYTES = 16 };

typedef struct Translated {
    const char *unread; /* it is no litmus test: why */
    bool race;          /* what the evaluator says */
    char text[1 << 16]; /* kernel `litmus`, with the parameters `out` (a word for each register) and `mem` */
    char launch[4096];
    const char *problem; /* why PTX for one GPU and one proxy has no such kernel; NULL: it has */
} Translated;

void litmus_translate(const char *text, Translated *to);

#endif
