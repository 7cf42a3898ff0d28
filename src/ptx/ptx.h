/* What a PTX module (ir/ptx_module.h) says of its kernels. */
#ifndef PTX_PTX_H
#define PTX_PTX_H

#include "ir/ptx_module.h"

/* Bytes that the parameters of a kernel may have. */
static inline uint32_t ptx_most_parameters(unsigned version) {
    return version >= 81 ? 32764 : 4352;
}
/* The function behind a name: that which an alias or a declaration stands for. */
uint32_t ptx_function_behind(const PtxModule *module, uint32_t function);
/* A directive of a kernel's header with up to three numbers (".maxntid"); false: there is none. */
bool ptx_header_numbers(const PtxModule *module, uint32_t entry, const char *name, uint32_t numbers[3]);
/* Registers of each thread when the kernel begins, as ptxas gives them to one that uses setmaxnreg: .maxnreg, or as
 * many as .minnctapersm CTAs of that many threads can have. 0: the header does not say, and ptxas ignores setmaxnreg
 * (C7508), unless its option -maxrregcount says it. */
uint32_t ptx_first_registers(const PtxModule *module, uint32_t entry);

/* Whether Triton has compiled that kernel: its source cannot name fences of PTX, and the compiler inserts
 * them. Its last two parameters are pointers to scratch memory, and all pointers say that they are to .global. */
bool ptx_is_tiled(const PtxModule *module, uint32_t entry);

/* Where an instruction is in the user's own source: its own place, and the places that it was inlined at, the
 * innermost first. */
typedef struct PtxPlace {
    Str file, function; /* function: empty if it is not said */
    uint32_t line, column;
} PtxPlace;
/* From the last .loc before a statement, in its function; returns how many places there are, at most `most`. */
uint32_t ptx_places(PtxModule *module, uint32_t statement, PtxPlace *places, uint32_t most);
/* The first instruction on a line of the text; PTX_NONE: there is none. */
uint32_t ptx_statement_on(const PtxModule *module, uint32_t line);
/* Which of them is the user's: the innermost one in the file of the kernel itself. What is within is a library's. */
uint32_t ptx_own_place(const PtxPlace *places, uint32_t count);
enum { PTX_MOST_PLACES = 64 }; /* that are worth a look: libcu++ has a dozen in each other */

/* Looks up what the author of each kernel called its parameters, in the source that its .loc name (base/code.h, `root`
 * as there); of C++ whose source cannot be read "param_2". Done once. */
void ptx_name_parameters(PtxModule *module, const char *root);
/* What it is called then, else what PTX calls it; and whether it has that name, in either. */
Str ptx_parameter_name(const PtxModule *module, uint32_t variable);
bool ptx_parameter_is(const PtxModule *module, uint32_t variable, Str name);
/* "argument input", of a kernel's parameter; "argument 2", if its source does not say what it is called. */
const char *ptx_argument_name(const PtxModule *module, uint32_t entry, uint32_t index, Arena *arena);

/* The type that a parameter points to, as launch files have it, "i32", where the kernel's mangled name says it; NULL. */
const char *ptx_pointee(const PtxModule *module, uint32_t entry, uint32_t index, Arena *arena);

/* How the kernel's own source launches it, as far as that is constants, and all launches there agree; -1: not known.
 */
enum { PTX_MOST_SOURCE_ARGUMENTS = 64 };
typedef struct PtxSourceLaunch {
    uint32_t count; /* of launches; 0: none was found, and nothing else is set */
    int64_t grid[3], block[3], shared, arguments[PTX_MOST_SOURCE_ARGUMENTS];
} PtxSourceLaunch;
PtxSourceLaunch ptx_source_launch(PtxModule *module, uint32_t entry, const char *root);

/* Bytes that it takes, the text not counted. */
size_t ptx_memory(const PtxModule *module);
void ptx_free(PtxModule *module);

/* ---- Types ---- */

/* "f16x2" has 32. */
unsigned ptx_type_bits(Str type);
/* 'p' of predicates; '-' of what takes no register; 'b', 'u', 's' and 'f'; 'h' of those that only bits and the same
 * type go with; 0: none of these. */
char ptx_type_letter(Str type);

#endif
