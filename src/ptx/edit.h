/* Edits of a PTX module: a list of changes beside it, and the text with them.
 *
 * The module stays as it was read. What is not changed keeps its bytes, comments and line ends included; what is new
 * is text, a line of its own, which the caller writes as PTX. New registers get names that the function does not have.
 *
 *     PtxEdits edits;
 *     ptx_edits_init(&edits, module);
 *     Str counter = ptx_edit_register(&edits, function, ".b32");
 *     ptx_edit_before(&edits, statement, text);
 *     ptx_edit_print(&edits, &out);
 */
#ifndef PTX_EDIT_H
#define PTX_EDIT_H

#include "ptx/ptx.h"

typedef enum PtxEditKind { PTX_EDIT_BEFORE, PTX_EDIT_REPLACE, PTX_EDIT_AFTER } PtxEditKind;

typedef struct PtxEdit {
    uint32_t statement;
    PtxEditKind kind;
    uint32_t order; /* edits of one statement and kind stay in the order in which they were made */
    Str text;
} PtxEdit;

typedef struct PtxEdits {
    const PtxModule *module;
    Arena arena;
    PtxEdit *items;
    uint32_t count, capacity;
    uint32_t registers; /* made so far, in all functions */
    Str prefix;         /* of their names; empty: none was made */
} PtxEdits;

void ptx_edits_init(PtxEdits *edits, const PtxModule *module);
void ptx_edits_free(PtxEdits *edits);

/* Text before or after a statement, on lines of its own, or in its place (an empty one takes it away). A label stays
 * where it is: what is inserted before a labeled instruction is run whenever the label is jumped to. */
void ptx_edit_before(PtxEdits *edits, uint32_t statement, Str text);
void ptx_edit_after(PtxEdits *edits, uint32_t statement, Str text);
void ptx_edit_replace(PtxEdits *edits, uint32_t statement, Str text);
/* Takes a statement away, but for its line ends: lines keep their numbers. */
void ptx_edit_take_out(PtxEdits *edits, uint32_t statement);
/* Text at the top of the module, behind .address_size and the like: new variables and functions. */
void ptx_edit_top(PtxEdits *edits, Str text);
/* A register of that type (".b32") for the whole of a function that has a body; its name, which nothing in the module
 * has. Empty if the function has none. */
Str ptx_edit_register(PtxEdits *edits, uint32_t function, const char *type);
/* One more parameter, behind the last: ".param .u64 name"; if the function has no list of them, it gets one. */
void ptx_edit_parameter(PtxEdits *edits, uint32_t function, Str text);

/* The module with the edits. Without any it is the text that was read, byte for byte. */
void ptx_edit_print(PtxEdits *edits, Text *to);

#endif
