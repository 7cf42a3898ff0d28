/* Weir's C API: read Triton GPU IR, look at it, print it.
 *
 *     weir_context *weir = weir_create();
 *     weir_file *file = weir_open(weir, "kernel.ttgir");
 *     weir_module *module = file ? weir_parse(file, 0, 0) : NULL;
 *     for (const weir_op *op = weir_first_op(module); op; op = weir_next_op(op))
 *         puts(weir_op_name(op).data) ...
 *
 * Everything is behind opaque handles, and there is no state outside them: two threads may work at the same
 * time, each with a context of its own. Free what you made, in the reverse order: modules before their file, files
 * before their context. Ops and values belong to their module and are good until it is freed.
 * Strings belong to the handle they came from; those of type weir_string need not end in a zero byte. */
#ifndef WEIR_WEIR_H
#define WEIR_WEIR_H

#include <stddef.h>
#include <stdint.h>

#define WEIR_VERSION "0.1.0"

#if defined(__GNUC__)
#define WEIR_API __attribute__((visibility("default")))
#else
#define WEIR_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_context weir_context;
typedef struct weir_file weir_file;
typedef struct weir_module weir_module;
typedef struct weir_op weir_op;
typedef struct weir_value weir_value;

typedef struct weir_string {
    const char *data;
    size_t size;
} weir_string;

/* The version of the library that is linked, as opposed to WEIR_VERSION, that of this header. */
WEIR_API const char *weir_version(void);

/* ---- Contexts and files ---------------------------------------------------------------------- */

/* NULL if there is no memory. */
WEIR_API weir_context *weir_create(void);
WEIR_API void weir_destroy(weir_context *context);
/* One sentence on why the last call that returned NULL did so. */
WEIR_API const char *weir_error(const weir_context *context);

/* A file, "-" for standard input, or a buffer, which is copied. NULL on failure. Nothing is parsed yet. */
WEIR_API weir_file *weir_open(weir_context *context, const char *path);
WEIR_API weir_file *weir_open_buffer(weir_context *context, const char *name, const char *data, size_t size);
WEIR_API void weir_close(weir_file *file);

WEIR_API const char *weir_file_name(const weir_file *file);
WEIR_API size_t weir_file_size(const weir_file *file);
/* Nonzero for a log of compiler passes (MLIR_ENABLE_DUMP). */
WEIR_API int weir_file_is_pass_log(const weir_file *file);

/* A file holds several modules where `// -----` lines part them, or where it is a pass log. */
WEIR_API size_t weir_module_count(const weir_file *file);

typedef struct weir_module_info {
    weir_string header;   /* the pass log's line before it; empty if there is none */
    weir_string when;     /* "Before" or "After" */
    weir_string pass;     /* "TritonGPUPipeline" */
    weir_string argument; /* "tritongpu-pipeline" */
    uint32_t line;        /* where it starts */
    size_t size;          /* in bytes */
} weir_module_info;
WEIR_API weir_module_info weir_module_info_of(weir_file *file, size_t index);

/* ---- Parsing --------------------------------------------------------------------------------- */

enum {
    WEIR_STRICT = 1, /* an op that the op table does not know is an error, not a note */
};

/* Parses one module. NULL only if there is no memory or no such module: what is wrong with the text is in
 * the module's diagnostics. */
WEIR_API weir_module *weir_parse(weir_file *file, size_t index, unsigned flags);
WEIR_API void weir_module_free(weir_module *module);

/* Nonzero if there was no error. */
WEIR_API int weir_module_ok(const weir_module *module);
WEIR_API size_t weir_module_ops(const weir_module *module);
/* Ops that the table does not know, or not in this spelling. */
WEIR_API size_t weir_module_unknown_ops(const weir_module *module);
/* Bytes that the module takes, the file's text not counted. */
WEIR_API size_t weir_module_memory(const weir_module *module);

typedef enum weir_severity { WEIR_ERROR, WEIR_WARNING, WEIR_NOTE } weir_severity;

typedef struct weir_diagnostic {
    weir_severity severity;
    uint32_t line, column; /* from 1; a column counts bytes */
    const char *message;   /* one sentence */
    const char *excerpt;   /* the source line and a line with a caret under the place */
} weir_diagnostic;

/* In the order of the text. At most 50 errors and 50 notes are kept; weir_error_count counts them all. */
WEIR_API size_t weir_diagnostic_count(const weir_module *module);
WEIR_API weir_diagnostic weir_diagnostic_at(const weir_module *module, size_t index);
WEIR_API size_t weir_error_count(const weir_module *module);
WEIR_API size_t weir_note_count(const weir_module *module);

/* Takes a piece of text; returns nonzero to stop. */
typedef int weir_write(void *to, const char *data, size_t size);

/* Writes all of them for a person: file, line and column, the message, the source line and a caret. 0, or -1 if
 * `write` stopped or there was no memory. */
WEIR_API int weir_report(const weir_file *file, const weir_module *module, int colour, weir_write *write, void *to);

/* ---- Looking at ops -------------------------------------------------------------------------- */

/* Every op of the module, an outer one before those in its regions; NULL at the end. */
WEIR_API const weir_op *weir_first_op(const weir_module *module);
WEIR_API const weir_op *weir_next_op(const weir_op *op);
/* The op in whose region this one is; NULL at the top. */
WEIR_API const weir_op *weir_op_parent(const weir_op *op);

WEIR_API weir_string weir_op_name(const weir_op *op);
WEIR_API uint32_t weir_op_line(weir_module *module, const weir_op *op);
/* Nonzero if the op table knows the op and its spelling. */
WEIR_API int weir_op_known(const weir_op *op);
/* Nonzero for an op that the text leaves out, such as the `scf.yield` of an empty branch. */
WEIR_API int weir_op_implicit(const weir_op *op);

WEIR_API size_t weir_operand_count(const weir_op *op);
WEIR_API const weir_value *weir_operand(const weir_op *op, size_t index);
WEIR_API size_t weir_result_count(const weir_op *op);
WEIR_API const weir_value *weir_result(const weir_op *op, size_t index);
WEIR_API size_t weir_region_count(const weir_op *op);
/* An attribute's text by its name; empty data if the op has none. */
WEIR_API weir_string weir_attribute(const weir_op *op, const char *name);

/* Without the '%'; empty if it has none. */
WEIR_API weir_string weir_value_name(const weir_value *value);
/* As it was written; empty if it is not known. */
WEIR_API weir_string weir_value_type(const weir_value *value);
/* The op whose result it is; NULL for a block's argument. */
WEIR_API const weir_op *weir_value_definition(const weir_value *value);

/* ---- Printing -------------------------------------------------------------------------------- */

typedef enum weir_form {
    WEIR_AS_WRITTEN, /* token for token */
    WEIR_GENERIC,    /* MLIR's generic form */
} weir_form;

/* 0, or -1 if `write` stopped or there was no memory. The module must be ok. */
WEIR_API int weir_print(weir_module *module, weir_form form, weir_write *write, void *to);

/* ---- The op table ---------------------------------------------------------------------------- */

typedef struct weir_table_row {
    const char *name, *operands, *attributes, *results;
    const char *const *formats; /* ended by NULL */
} weir_table_row;

WEIR_API size_t weir_table_size(void);
WEIR_API weir_table_row weir_table_at(size_t index);

#ifdef __cplusplus
}
#endif

#endif
