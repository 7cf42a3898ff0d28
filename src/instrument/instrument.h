/* PTX with code in it that records what it does (trace/record.h), or checks it (mode shadow).
 *
 * The sites of a module are found from its text and the options alone, in the order of the text; a recording has a
 * table of them, which says what its site 17 is. The result is text that ptxas takes for the same target; what is not a
 * site stays as it was, byte for byte. A kernel gets one more parameter, the last. */
#ifndef INSTRUMENT_INSTRUMENT_H
#define INSTRUMENT_INSTRUMENT_H

#include "base/text.h"
#include "ptx/ptx.h"
#include "ptx/value/sum.h"
#include "ptx/value/value.h"
#include "trace/sites.h"

typedef enum InstrumentMode { INSTRUMENT_RECORD, INSTRUMENT_SHADOW } InstrumentMode;

typedef struct InstrumentOptions {
    InstrumentMode mode;
    uint32_t spaces;     /* RECORDING_...: memory whose accesses are recorded; synchronization is always */
    bool keep_registers; /* setmaxnreg stays; else it is taken out, for kernels in which the code does not fit */
    bool seed_layout;    /* shadow: the cells of the seed, and not the compact ones */
    bool once;           /* a launch may be run several times: the first time is recorded */
} InstrumentOptions;

/* False, with one sentence: there are too many, or a function cannot be analyzed in the memory that there is. */
bool instrument_sites(Sites *sites, PtxModule *module, const InstrumentOptions *options, const char **problem);
void instrument_sites_free(Sites *sites);
/* The table of those of a kernel, for recordings of launches with such CTAs. `sites` are those of the module. */
void instrument_table(const PtxModule *module, uint32_t kernel, const uint32_t block[3], Sites *sites, Text *to);
/* Whether the records of a launch with such CTAs say what they are taken to say. A kernel that looks at no place of a
 * thread but %tid.x, and does not say how large its CTAs are, is taken to have one row of threads in them, or several
 * of a multiple of 32. In others it runs as it did, too. */
bool instrument_fits(const PtxModule *module, uint32_t function, const uint32_t block[3]);

/* The text of a module for launches of one kernel with CTAs of that shape, which the kernel requires then (.reqntid);
 * other kernels are taken out, unless debug information names them. Lines keep their numbers. */
void instrument_launched(const PtxModule *module, uint32_t kernel, const uint32_t block[3], Text *to);
/* The text. False, with one sentence, if something in the module cannot be instrumented; nothing is written then. */
bool instrument(PtxModule *module, const InstrumentOptions *options, Text *to, const char **problem);
/* One kernel of an instrumented module, `with`, for an image beside that of the module as it was, `plain`: with what it
 * needs, and with variables that are those of the plain image. INSTRUMENT_AT and a variable's name is that of a pointer
 * in constant memory, set at load to where that image has it; of what is a literal it points to a copy.
 * An empty name is all kernels. False, with one sentence, if that cannot be done. */
bool instrument_beside(const PtxModule *plain, const PtxModule *with, Str kernel, Text *to, const char **problem);
#define INSTRUMENT_AT "weir_at_"
/* Whether a variable is one that images have in common; and whether it is text, such as a format of printf: where the
 * plain image does not have it by its name, a copy does as well. */
bool instrument_in_common(const PtxModule *module, uint32_t variable);
bool instrument_literal(const PtxModule *module, uint32_t variable);
/* The name of what an instrumented module defines, so that its loader knows what it is: a variable in global
 * memory, { abi: u32, chunk: u32, spaces: u32, options: u32, hash of the text before: u64, fingerprint: u64 }. */
#define INSTRUMENT_MARK "weir_instrumented"
/* What a kernel and its launch agree on; what its records say. */
enum { INSTRUMENT_ABI = 6, INSTRUMENT_RECORDS = 4, INSTRUMENT_MARK_WORDS = 8 };
uint64_t instrument_hash(Str bytes);
/* Of all that decides how records are read: another build of Weir may make others of the same text, and its image is
 * not taken for one of this build. Before there is a table of them. Not 0. */
uint64_t instrument_fingerprint(Sites *sites);
/* The statement of a function that what it does first stands before: the first that is no declaration and no label that
 * nothing jumps to, as those of debug information are. */
uint32_t instrument_start(const PtxModule *module, uint32_t function);
/* Which variables a kernel tells the addresses of (RecordPlaces): those of shared memory, if it names more than one,
 * and those of global memory; of the module and of its own that are declared before its start. How many. */
uint32_t instrument_shared(const PtxModule *module, uint32_t function, uint32_t variables[RECORD_VARIABLES]);
uint32_t instrument_globals(const PtxModule *module, uint32_t function, uint32_t variables[RECORD_GLOBALS]);
/* The options as a number, of RecordingLaunch.options; and back. */
uint32_t instrument_options_number(const InstrumentOptions *options);
InstrumentOptions instrument_options_of(uint32_t spaces, uint32_t number);

#endif
