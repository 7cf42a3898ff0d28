/* What a module of PTX has in it, and PTX with code in it that records or checks what it does. */
#ifndef WEIR_PTX_H
#define WEIR_PTX_H

#include <weir/weir.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_ptx {
    unsigned version;    /* 87 of .version 8.7; 0: the module is no PTX */
    weir_string target;  /* "sm_90a" */
    size_t functions;    /* declarations and prototypes included */
    size_t forms;        /* opcodes with their modifiers, each once */
    size_t instructions; /* and how many are in no row of the table */
    size_t without_row;
} weir_ptx;
WEIR_API weir_ptx weir_ptx_of(const weir_module *module);

typedef struct weir_ptx_function {
    weir_string name; /* empty: a prototype */
    int entry, body;  /* nonzero: it can be launched; it is defined here */
    uint32_t line;
    size_t instructions;
} weir_ptx_function;
WEIR_API weir_ptx_function weir_ptx_function_at(weir_module *module, size_t index);

/* From now on weir_print writes one kernel of a PTX module that is ok, with what it needs: the functions and variables
 * that it names, those that they name, and the directives of the module. 1; 0 if the module defines no such kernel; -1
 * if there was no memory. */
WEIR_API int weir_ptx_pick(weir_module *module, const char *kernel);

/* PTX with code in it that records what it does while it runs, or checks it (docs/gpu.md). Zero is the usual. */
typedef struct weir_instrument_options {
    size_t size;
    int shadow;         /* nonzero: checked against shadow memory, else recorded */
    int seed_layout;    /* nonzero: shadow memory in the layout of GSan, else the compact one */
    int free_registers; /* nonzero: setmaxnreg is taken out, for kernels in which the code does not fit */
    unsigned spaces;    /* memory whose accesses are recorded: 1 global, 2 shared, 4 tensor; 0: all */
    int beside;         /* nonzero: for an image beside that of the module as it is, whose variables it uses */
} weir_instrument_options;
/* Writes the text of a PTX module that is ok. 0; -1 if it cannot be instrumented, with one sentence in *problem that
 * stays as long as the module, or if `write` stopped: then *problem is NULL. */
WEIR_API int weir_ptx_instrument(weir_module *module, const weir_instrument_options *options, weir_write *write,
                                 void *to, const char **problem);

typedef struct weir_ptx_form {
    weir_string text; /* "ld.global.b32" */
    size_t used;      /* instructions that have it */
    int known;        /* nonzero: the table has a row for it */
} weir_ptx_form;
WEIR_API weir_ptx_form weir_ptx_form_at(const weir_module *module, size_t index);

/* What the flow of all functions of a PTX module has: blocks, SSA values of registers and those of them that are phis,
 * loops and those of them that are irreducible. */
typedef struct weir_ptx_flow {
    size_t blocks, values, phis, loops, irreducible;
    size_t memory; /* bytes that the largest of them takes */
} weir_ptx_flow;
/* 0; -1 if the module is no PTX, or if a function would take too much memory. */
WEIR_API int weir_ptx_flow_of(const weir_module *module, weir_ptx_flow *flow);

/* Accesses of memory by a PTX module, in one state space, by what is known of their addresses: one address, the same in
 * all lanes of a warp, so many bytes a lane, so many for each bit of the lane, 32 known offsets, or nothing. */
typedef struct weir_ptx_accesses {
    const char *space; /* "global" */
    size_t constant, uniform, affine, bits, table, any;
    size_t assumed; /* of all but `any`: those that hold if no index wraps and memory is steady (docs/ptx.md) */
} weir_ptx_accesses;
enum { WEIR_PTX_SPACES = 8 };
typedef struct weir_ptx_values {
    weir_ptx_accesses spaces[WEIR_PTX_SPACES];
    size_t parting, blocks; /* blocks whose end may part the threads of a warp, of so many */
    size_t memory;          /* bytes that the largest of them takes */
} weir_ptx_values;
/* 0; -1 if the module is no PTX, or if a function would take too much memory. */
WEIR_API int weir_ptx_values_of(const weir_module *module, weir_ptx_values *values);

#ifdef __cplusplus
}
#endif

#endif
