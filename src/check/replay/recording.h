/* `weir check K.weirrec`: the run that a recording is of, played in the machine of PTX, with the findings that a check
 * of PTX makes of a run. */
#ifndef CHECK_REPLAY_RECORDING_H
#define CHECK_REPLAY_RECORDING_H

#include "check/simt/check.h"
#include "finding/report.h"
#include "machine/simt/host/touched.h"
#include "render/trace.h"
#include "trace/file.h"

/* `entry`: of the kernel that the recording names. Of the options: volatile_races, progress. */
void recording_check(PtxModule *module, uint32_t entry, const Recording *recording, const ThreadsOptions *options,
                     Verdict *verdict);
/* The same, and a report of it with a picture (check/report/trace). */
void recording_report(PtxModule *module, uint32_t entry, const Recording *recording, const ThreadsOptions *options,
                      Verdict *verdict, Report *report, Trace *trace);
/* What the launch touches of global memory, byte by byte. */
typedef struct RecordingTouches {
    TouchedBytes *items; /* the caller frees them */
    uint32_t count;
    bool dependent;
    TouchedWaits waits;
} RecordingTouches;
/* False: the recording does not tell all of it. The arena is for what it takes meanwhile. */
bool recording_touches(PtxModule *module, uint32_t entry, const Recording *recording, const ThreadsOptions *options,
                       Arena *arena, RecordingTouches *touches);
/* Whether all threads of the kernel wait for the launches before it (griddepcontrol.wait) before they do anything: by its
 * text, as far as that goes straight on. */
bool recording_waits_first(const PtxModule *module, uint32_t entry);
/* Whether a dependent launch may touch some before it has waited for the launch before it. */
bool recording_touches_early(PtxModule *module, uint32_t entry, const Recording *recording,
                             const ThreadsOptions *options, Arena *arena);
/* The launch as a launch file has it, without what memory holds, for a proof to be asked (check/prove); NULL: not all of
 * it is known. */
const Launch *recording_given(PtxModule *module, uint32_t entry, const Recording *recording, Arena *arena);
/* Whether something in the kernel may order CTAs, and launches: a release, an acquire or a fence of the scope of a
 * device, unless these are `followed`, or what is not known. */
bool recording_may_signal(PtxModule *module, uint32_t entry, bool followed);
/* What it says of a kernel that has no records: why it was not looked at. */
void recording_unseen(const Recording *recording, Verdict *verdict);
/* The kernel that it is of; PTX_NONE: the module has none of that name. */
uint32_t recording_entry(const PtxModule *module, const Recording *recording);

#endif
