/* What the handles of the public API hold, and how its files write. */
#ifndef API_INTERNAL_H
#define API_INTERNAL_H

#include "base/dependencies.h"
#include "check/pipeline/pipeline.h"
#include "config/apply.h"
#include "mlir/reader.h"
#include "ptx/images.h"
#include "ptx/reader.h"
#include "trace/copies.h"
#include "weir/weir.h"

struct weir_context {
    char error[256];
};

struct weir_file {
    weir_context *context;
    Source *source;
    Units units;
    Unit whole; /* the only one of PTX */
    bool ptx;
    bool log;      /* PTX among other lines, or several modules of it */
    Images images; /* of a fatbin or an ELF file; none of others */
    bool container;
    bool recorded;   /* a recording: its PTX is the module */
    bool program;    /* an order log of a program, or what checks of its launches have found */
    uint32_t *texts; /* of such a one, the image of each unit */
};

struct weir_module {
    Module module;       /* empty if it is PTX */
    PtxModule *ptx;      /* NULL: it is none */
    Source *text;        /* its own, if it comes from an image or a log; NULL: the file's */
    Recording recording; /* of a recording */
    Source *program;     /* an order log, or launches that were checked: the file's; NULL: it is none */
    bool later;          /* ... an order log that was not read */
    Arena recorded;
    bool *kept; /* of PTX, the statements that are printed; NULL: all */
    Diagnostics diagnostics;
    bool ok;
    size_t number;  /* among the modules of its file, from 1; 0 if it is the only one */
    Str when, pass; /* of a pass log: as in weir_module_info */
};

struct weir_project {
    Project project;
    Dependencies files;    /* its file, and its baseline */
    const Remark *remarks; /* once they were asked for */
    size_t remark_count;
};

struct weir_result {
    weir_module *module;
    PipelineResult result;
    weir_result *joined;        /* with those before it: what other launches have shown; NULL: nothing */
    const char **witness_files; /* one a finding, in the order of the kernels; NULL where there is none, or in all */
};

/* A string as callers see it. */
static inline weir_string public(Str s) {
    return (weir_string){s.data ? s.data : "", s.size};
}

/* ---- options.c ---- */
/* Options of a caller as this library has them: zero what an older header did not have, and all if there are none. Its
 * size is OPTIONS_UNKNOWN if a newer one has something in them that this library does not know. */
#define OPTIONS_UNKNOWN SIZE_MAX
#define OPTIONS_PROBLEM "the options are those of a newer Weir than this, " WEIR_VERSION
void options_take(void *own, size_t size, const void *given);

/* ---- question.c ---- */
/* A result that nothing has been asked about yet but what the options say; NULL if there is no memory. */
weir_result *question_begin(weir_module *module, const weir_run_options *options);
/* How many kernels a module of PTX has, or those of a name; *last: the last of them. */
size_t question_entries(const PtxModule *module, const char *name, uint32_t *last);

/* ---- proof.c ---- */
/* The proof itself; NULL: there is none. */
const struct Proof *proof_behind(const weir_proof *proof);

/* ---- recordings.c ---- */
/* PipelineResult.find_recordings, of those that lie beside the log. Whether one was found that tells. */
bool recordings_find(PipelineResult *result, ProgramRecordings *recordings);

/* ---- weir.c ---- */
/* A caller's function as the end of a Text. */
typedef struct Sink {
    weir_write *write;
    void *to;
} Sink;

bool sink_pass(void *sink, const char *data, size_t size);
/* A text that goes there, for as long as the block it stands in. */
#define SINK_TEXT(write, to)               \
    {                                      \
        .sink = sink_pass, .to = &(Sink) { \
            write, to                      \
        }                                  \
    }
/* Empties the buffer and frees it; 0, or -1 if not all went well. */
int sink_finish(Text *out);
/* Diagnostics for a person; 50 of each kind at most, and how many more there are. */
void report_diagnostics(const Diagnostics *diagnostics, const char *file, bool color, Text *to);

/* ---- texts.c ---- */
/* The text of a module of PTX, the module's own if it is not the file's. One that cannot be read is empty, and that is
 * an error among its diagnostics; with WEIR_LOG_LATER order logs are not read. NULL: there is no memory. */
Source *text_of_module(weir_file *file, weir_module *module, size_t index, unsigned flags);
/* An order log that was left for later is read; what is wrong with it is among the module's diagnostics. */
void log_read_now(weir_module *module);

#endif
