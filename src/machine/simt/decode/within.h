/* Which variable of shared memory the address of an access is of: one that leads out of it is wrong, though there is
 * memory, be it another variable or the padding before that. */
#ifndef MACHINE_SIMT_DECODE_WITHIN_H
#define MACHINE_SIMT_DECODE_WITHIN_H

#include "machine/simt/decode/program.h"

/* Sets `within` of the kernel's code, where that is known: addresses that come from one variable alone, of
 * instructions with one address in shared memory. With more than `budget` bytes, of none. */
void ptx_within(PtxProgram *program, size_t budget);

#endif
