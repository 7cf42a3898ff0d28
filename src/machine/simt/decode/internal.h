/* What the files that take a kernel of PTX apart share: program, layout, arguments. */
#ifndef MACHINE_SIMT_DECODE_INTERNAL_H
#define MACHINE_SIMT_DECODE_INTERNAL_H

#include "machine/simt/decode/prepare.h"

/* ---- program.c ---- */

/* Bits of a type's name: 32 of "u32" and "f16x2"; 1 of "pred"; 0: it is none. */
unsigned ptx_bits_of_type(Str type);
/* The variable that a declaration stands for. */
uint32_t ptx_variable_behind(const PtxModule *module, uint32_t variable);
/* Runs into a sentence: an instruction that cannot be run. `detail` is the sentence, or NULL. */
PtxRun ptx_run_unknown;

/* ---- layout.c ---- */

/* Functions that a kernel can come to, and the variables that they name. */
void layout_reach(PtxProgram *program, Arena *scratch, bool *reached);
/* Where all variables lie. */
void layout_seats(PtxProgram *program, const bool *reached);
void layout_images(PtxProgram *program);

/* ---- decode.c ---- */

/* Types that forms want, as they are found. */
typedef struct WantedTypes WantedTypes;
WantedTypes *decode_types(const PtxModule *module, Arena *scratch);
/* The arguments of the instruction at code->statement. `places`: the code behind each statement of the function. */
void decode_arguments(PtxProgram *program, PtxCode *code, const uint32_t *places, uint32_t first_statement,
                      WantedTypes *types);

/* ---- special.c ---- */

/* Which special register each of the table is. */
uint8_t *special_kinds(Arena *arena);

#endif
