/* A kernel run by the interpreter and by the machine of src/machine/simt: what global memory holds behind it. The two
 * have types of the same names, so each is asked in a file of its own. */
#ifndef TESTS_REFERENCE_PTX_HELD_H
#define TESTS_REFERENCE_PTX_HELD_H

#include "base/text.h"

enum { HELD_BYTES = 1 << 16 };
#define HELD_OUT UINT64_C(0x4000000000)

typedef struct Held {
    uint32_t ctas, threads;
    uint32_t n, more;           /* parameters behind the pointer */
    uint8_t bytes[HELD_BYTES];  /* from HELD_OUT on; zeros at first */
    bool known[HELD_BYTES / 4]; /* of each word; the interpreter says that of all */
    uint32_t havocs;            /* places where something that PTX does not say decided: then all may be otherwise */
    char problem[200];          /* why it did not finish; empty: it did */
} Held;

/* The kernel of a module, whose parameters are a pointer and two words. */
void held_interpret(const char *text, Held *held);
/* With schedule 0 eagerly, else at random by that seed. */
void held_run(const char *text, uint64_t schedule, Held *held);

/* Random kernels of generate.c with what depends on other threads taken out, so that one order of threads speaks for
 * all; and ones about control and memory. Each thread writes down its registers at the end. */
void held_values_kernel(uint64_t seed, Text *text);
void held_memory_kernel(uint64_t seed, Text *text);

#endif
