/* The device's code as text of PTX, function by function: a module gets those that it calls. */
#ifndef INSTRUMENT_EMIT_SHADOW_RUNTIME_H
#define INSTRUMENT_EMIT_SHADOW_RUNTIME_H

#include "base/text.h"

enum { RUNTIME_MOST = 32 };

/* Names of functions that are called. */
typedef struct RuntimeUse {
    char names[RUNTIME_MOST][32];
    uint32_t count;
} RuntimeUse;

void runtime_use(RuntimeUse *use, const char *name);
/* Those functions, and what they call, none of them visible. */
void runtime_print(const RuntimeUse *use, bool seed_layout, Text *to);

#endif
