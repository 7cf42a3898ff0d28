/* Atomics: read, change, write, of each lane one after the other. */
#include "emulate/ptx/internal.h"

bool updates_prepare(const PtxPrepare *about, PtxCode *code) {
    (void)about, (void)code;
    return false;
}
