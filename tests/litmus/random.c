/* Random litmus tests: threads in one or two CTAs that publish and take over data, with orders, scopes, fences, atomics
 * and barriers that are right or wrong. */
#include "translate.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { THREADS_MOST = 3, ROWS_MOST = 14, CELL = 48 };

typedef struct Random {
    uint64_t state;
    char cells[THREADS_MOST][ROWS_MOST][CELL];
    int rows[THREADS_MOST], registers[THREADS_MOST], threads;
    bool barrier; /* all threads come to it; they are of one CTA */
} Random;

static unsigned draw(Random *random, unsigned below) {
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random->state >> 33) % below;
}

static const char *one_of(Random *random, const char *const *words, unsigned count) {
    return words[draw(random, count)];
}

static void __attribute__((format(printf, 3, 4))) cell(Random *random, int thread, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (random->rows[thread] < ROWS_MOST) {
        vsnprintf(random->cells[thread][random->rows[thread]++], CELL, format, arguments);
    }
    va_end(arguments);
}

static const char *scope(Random *random) {
    static const char *const scopes[] = {"gpu", "gpu", "gpu", "cta", "sys"};
    return one_of(random, scopes, 5);
}

/* x is data, which is accessed weakly most of the time; f and g are flags. */
static void random_instruction(Random *random, int t) {
    static const char *const loads[] = {"relaxed", "acquire"}, *const stores[] = {"relaxed", "release"};
    static const char *const atomics[] = {"relaxed", "acquire", "release", "acq_rel"}, *const flags[] = {"f", "g"};
    static const char *const fences[] = {"acq_rel", "acq_rel", "sc"};
    int r = random->registers[t];
    switch (draw(random, 9)) {
    case 0:
    case 1:
        cell(random, t, "st.weak x, %u", 1 + draw(random, 2));
        break;
    case 2:
        cell(random, t, "ld.weak r%d, x", random->registers[t]++);
        break;
    case 3:
    case 4:
        cell(random, t, "st.%s.%s %s, %u", one_of(random, stores, 2), scope(random), one_of(random, flags, 2),
             1 + draw(random, 2));
        break;
    case 5:
    case 6: /* often what is behind is done only if the flag was up */
        cell(random, t, "ld.%s.%s r%d, %s", one_of(random, loads, 2), scope(random), random->registers[t]++,
             one_of(random, flags, 2));
        if (draw(random, 4) != 0) {
            cell(random, t, "beq r%d, 0, LC9", r);
        }
        break;
    case 7:
        cell(random, t, "atom.%s.%s.%s r%d, %s, 1", one_of(random, atomics, 4), scope(random),
             draw(random, 2) != 0 ? "add" : "exch", random->registers[t]++, one_of(random, flags, 2));
        break;
    default:
        cell(random, t, "fence.%s.%s", one_of(random, fences, 3), scope(random));
    }
}

static void random_thread(Random *random, int t) {
    unsigned count = 2 + draw(random, 3), at = draw(random, count);
    for (unsigned i = 0; i < count; i++) {
        if (random->barrier && i == at) {
            cell(random, t, "bar.cta.sync 1");
        }
        random_instruction(random, t);
    }
    cell(random, t, "LC9:");
}

void litmus_random(uint64_t seed, char *text, size_t size) {
    Random random = {.state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1};
    draw(&random, 2);
    random.threads = 2 + (draw(&random, 3) == 0);
    bool one_cta = draw(&random, 3) == 0;
    random.barrier = one_cta && draw(&random, 2) == 0;
    size_t length = (size_t)snprintf(text, size, "PTX random-%llu\n{\nx=0; f=0; g=0;\n}\n", (unsigned long long)seed);
    for (int t = 0; t < random.threads; t++) {
        random_thread(&random, t);
        length += (size_t)snprintf(text + length, size - length, "%sP%d@cta %d,gpu 0", t == 0 ? " " : " | ", t,
                                   one_cta || t == 2 ? 0 : t);
    }
    length += (size_t)snprintf(text + length, size - length, " ;\n");
    for (int row = 0; row < ROWS_MOST; row++) {
        for (int t = 0; t < random.threads; t++) {
            length +=
                (size_t)snprintf(text + length, size - length, "%s%s", t == 0 ? " " : " | ", random.cells[t][row]);
        }
        length += (size_t)snprintf(text + length, size - length, " ;\n");
    }
    snprintf(text + length, size - length, "exists (x == 0)\n");
}
