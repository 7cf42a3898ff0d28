/* What people call the buffers and barriers of a kernel.
 *
 * An allocation is named after, in this order: the name in its location (`loc("a_bufs"(...))`), the name that its value
 * was printed with, unless that is a number (`%a_bufs`), the tensor descriptor or kernel argument that fills it, what
 * it is used for (`full(qk)`), and at last its value (`%12`). Of several that would be called the same, each says what
 * else tells it apart: what is multiplied into it, who passes it to whom, and at last a number. */
#ifndef MODEL_NAMES_NAMES_H
#define MODEL_NAMES_NAMES_H

#include "ir/ir.h"

typedef struct Names Names;

/* Looks at every op below `function` once. */
Names *names_create(Arena *arena, Module *module, const Op *function);
/* The same, kept by the module for all who ask. */
Names *names_of(Module *module, const Op *function);
/* Prints what an allocation is called in a message: as the text has it (`%bars`), or, where that says nothing (`%20`),
 * its name. */
void name_print(Module *module, const Op *op, Text *to);
/* Of the op that allocates something (ttg.local_alloc, ttng.tmem_alloc, nvws.create_token, nvws.aref.create ...), or of
 * an op that makes a view of it; unique among all. Without a '%', unless it is only a value. */
const char *name_of(Names *names, const Op *op);
/* What the text calls it, before that is made unique; "" if the text has no name for it. */
const char *given_name_of(Names *names, const Op *op);
/* The op that allocates the memory behind a view, through arefs to their buffers; NULL if that cannot be seen. */
const Op *data_root(Module *module, const Value *value);
/* Whether the text gives the op's value a name, and another than that of `other`. */
bool is_renamed(Module *module, const Op *other, const Op *op);
/* Whether the text gives a value a name. */
bool is_named(Module *module, const Value *value);
/* What a tensor that is stored is called: by itself or what it was converted from; what comes out of a loop by what the
 * loop yields, as its results are called after the loop. "" if it has no name. */
const char *stored_name(Names *names, const Value *value);
/* A value as it is written: "%a_bufs", "%x#1"; in the arena. */
const char *value_text(Arena *arena, const Value *value);
/* What a tensor descriptor, pointer or tensor value is called: "q" for %q_desc, %desc_q, loc("q"); "" if it has no name
 * of its own. */
const char *operand_name(Names *names, const Value *value);

#endif
