/* Between the files that record what kernels do while they run (`weir exec` in mode record): modules are instrumented
 * as they are loaded, a launch gets one more parameter and memory for its records, and a thread of our own takes these
 * off the device when the launch is done, and writes recordings (trace/file.h). One mutex, gpu_mutex, guards all of
 * it.
 *
 * Nothing is dropped in silence: gpu_unseen has a sentence for each kernel that was launched and not recorded. */
#ifndef RUNTIME_RECORD_GPU_H
#define RUNTIME_RECORD_GPU_H

#include "instrument/instrument.h"
#include "runtime/capture/capture.h"
#include "runtime/record/gpu_driver.h"
#include "runtime/record/gpu_graphs.h"
#include "runtime/record/gpu_hang.h"
#include "runtime/record/gpu_order.h"
#include "runtime/shadow/gpu_shadow.h"
#include "trace/file.h"
#include "trace/pack.h"
#include "trace/sample.h"

#include <pthread.h>

extern pthread_mutex_t gpu_mutex;

/* ---- What was asked for (gpu_options.c) ---------------------------------------------------------- */

typedef struct GpuOptions {
    const char *folder;           /* NULL: nothing is recorded */
    const char *texts;            /* a folder with PTX that was instrumented by ptxas' wrapper, by its hash */
    uint64_t launches;            /* that are recorded of those of a kernel that are equal in shape and numbers */
    uint64_t sample;              /* about so many CTAs of a launch; 0: all */
    uint64_t memory;              /* of the device, for records, at most; 0: a quarter of what it has, at most 16 GiB */
    uint64_t disk;                /* bytes of recordings, at most; 0: any */
    uint64_t hang_after;          /* nanoseconds; 0: never */
    bool on_host;                 /* records are in memory of the host, where a launch that fails leaves them */
    bool times;                   /* the log says how long things take */
    const char *only, *exclude;   /* names with commas between; NULL: all, none */
    InstrumentOptions instrument; /* what is recorded */
} GpuOptions;

/* Read from the environment, once. */
const GpuOptions *gpu_options(void);
/* Whether anything is recorded in this process. */
bool gpu_on(void);
/* Whether kernels check themselves against shadow memory: mode shadow. */
bool gpu_checks(void);
/* Whether the options want a kernel of that name to be looked at. */
bool gpu_wants(const char *kernel);

/* ---- Modules (gpu_images.c, gpu_kernels.c) ------------------------------------------------------- */

typedef struct GpuKernel GpuKernel;
typedef struct GpuModule GpuModule;
typedef struct GpuVariant GpuVariant;
typedef struct GpuSites GpuSites;

struct GpuModule {
    GpuModule *next;
    uint64_t key;     /* of the image that was loaded */
    char *ptx;        /* its text; NULL: it has none */
    size_t ptx_bytes; /* */
    const char *why;  /* it has none: one sentence */
    GpuKernel *kernels;
    const void *cubin; /* of one that came through ptxas' wrapper: its kernels, instrumented; NULL: it did not */
    /* As it is instrumented, when that is asked for. */
    pthread_mutex_t busy;
    bool tried, frees_registers;
    const char *problem;     /* it cannot be: one sentence */
    PtxModule *plain, *with; /* before and after */
    GpuModule *freed;        /* the same without limits on registers */
    GpuModule *first;        /* the same for launches that may be run several times: the first time is recorded */
    bool once;               /* it is that */
    /* The same for launches of one kernel with CTAs of one shape: the first of them, and of such a one the next. */
    GpuModule *shaped, *beside;
    const GpuKernel *of;
    uint32_t block[3];
    uint32_t chunk, spaces, options;
    uint64_t fingerprint;
    GpuShadowMark shadow; /* of kernels that check themselves */
    GpuSites *sites;      /* made when they are asked for (gpu_sites.c) */
    bool searched, polls; /* it was looked whether its kernels may wait for what others write; they may */
};

typedef struct GpuParameter {
    size_t offset, bytes;
} GpuParameter;

typedef struct GpuSeen {
    uint64_t key, times;
    bool enough;      /* one was recorded in full, and has much to say: others are not recorded */
    bool landed;      /* one has ended: */
    uint64_t further; /* bytes of further chunks that such a launch has asked for, for each CTA that was recorded */
} GpuSeen;

struct GpuKernel {
    GpuKernel *next;
    GpuModule *home;   /* that of the image it came with */
    GpuModule *module; /* as it was instrumented last: that, or a form of it */
    char *name;
    bool wanted;
    bool prepared;            /* its first launch is about to be made */
    GpuVariant *variants;     /* in images that record (gpu_variants.c) */
    unsigned registers;       /* the limit that they have to have; 0: none */
    int cache, banks;         /* preferences that the program has set, + 1; 0: none */
    bool measured;            /* the parameters were asked for */
    GpuParameter *parameters; /* */
    size_t parameter_count, parameter_bytes;
    size_t ours;         /* offset of ours, in an image that records */
    uint32_t cluster[3]; /* that it was compiled for; 0: the launch says it */
    uint32_t local;      /* bytes of each thread, once they were asked for */
    bool local_known;
    GpuSeen *seen; /* launches by what tells them apart */
    size_t seen_count;
    uint64_t launches, recorded, repeated;
    size_t flying;                  /* outstanding launches of it whose memory is in use */
    uint64_t further, further_each; /* bytes of further chunks that it has asked for, at most, and for each CTA; 0:
                                       none, or not known yet */
    uint64_t packed;                /* bytes of its records when they were packed, at most; 0: not known yet */
};

/* The name of a section of an ELF file; false: it has not so many. */
bool gpu_section(const void *file, size_t bytes, unsigned number, const char **name);
/* The text of an image that Triton took from its cache, for free(); NULL: it did not, or *why says why the driver
 * cannot make the same of it (gpu_cached.c). */
char *gpu_cached_text(const void *image, size_t bytes, const char **why);
/* The module of an image that is about to be loaded, which may be known from before; NULL: no memory. */
GpuModule *gpu_module(const void *image);
/* An image of a kernel that records. */
typedef struct GpuImage {
    const void *bytes;  /* NULL: there is none */
    GpuModule *module;  /* as it is instrumented */
    unsigned registers; /* that its threads have at most; 0: as many as it takes */
    const char *why;    /* there is none: one sentence */
} GpuImage;
/* Has it compiled, of a form of the kernel's module, in the context of the thread; no mutex is held. */
bool gpu_image(GpuKernel *kernel, GpuModule *form, unsigned registers, GpuImage *image);
/* The form of a kernel's module for launches with such CTAs. A kernel that does not say how large its CTAs are gets
 * that directive, since records are far fewer then; one that says so, or has had many shapes, is taken as it is. */
GpuModule *gpu_shaped(GpuKernel *kernel, const uint32_t block[3]);
/* Of that, the form for a launch that may be run several times; NULL: there is no memory. */
GpuModule *gpu_once(GpuModule *form);
/* Whether it is for a launch to say how large its CTAs are. */
bool gpu_waits_for_shape(GpuKernel *kernel);
/* The variables that images of a module have in common; false: there was no memory. */
bool gpu_each_variable(GpuModule *module, void (*work)(void *of, const char *name, bool literal), void *of);
/* The text of a kernel with a limit on the registers of its threads; and the limit with which so many CTAs of so many
 * threads fit on an SM (gpu_registers.c). */
bool gpu_limit(Text *text, const char *kernel, unsigned registers);
unsigned gpu_registers_for(unsigned threads, unsigned ctas);
/* What handles lead to: a library or a module to its GpuModule, a function or a kernel to its GpuKernel. */
void gpu_loaded(Handle handle, GpuModule *module, bool library);
void gpu_unloaded(Handle handle);
/* `of` belongs to what `from` belongs to. */
void gpu_same(Handle of, Handle from);
/* The kernel behind a function or a kernel's handle. NULL: it is not known where it comes from. */
GpuKernel *gpu_kernel(Handle function);
/* Asks the driver for the parameters, once; false if it does not say. */
bool gpu_measure(GpuKernel *kernel, Handle function);
/* A kernel or function of a library, whose code is loaded when it is first used; and whether this use is the first. */
void gpu_lazy(Handle handle);
bool gpu_loads(Handle handle);
/* Whether a function of that name was not asked for before, of that module: it may be loaded now. */
bool gpu_asks_first(Handle module, const char *name);
/* Bytes of local memory that each of its threads needs. */
uint64_t gpu_local(Handle function);
/* What a function or kernel was loaded with, and whether that is a library; NULL: it is not known. */
Handle gpu_owner(Handle function, bool *library);
/* The program has set a preference of a function: of the caches, or else of banks of shared memory. */
void gpu_prefers(Handle function, bool caches, int value);
/* An attribute of a function or kernel; 0: the driver does not say. The mutex may be held. */
uint32_t gpu_attribute(Handle function, int attribute);
void gpu_each_kernel(void (*work)(GpuKernel *kernel));

/* ---- Kernels in images that record (gpu_variants.c) -------------------------------------------------- */

/* A function was asked for, in the context of the thread, and may be launched: what records it is compiled meanwhile.
 */
void gpu_variant_soon(Handle function);
/* The function that records for a launch, with the attributes of the program's, and the module that it was made of;
 * waits until it is there. NULL, with one sentence: there is none with which this launch could be made. No mutex is
 * held. */
Handle gpu_variant(GpuKernel *kernel, const SeenLaunch *launch, GpuModule **module, const char **why);
/* What was loaded with this is about to be unloaded, or a context is about to end, or has ended with its device; NULL
 * and -1: none. */
void gpu_variants_end(Handle owner, Handle context, int device);
/* At the end of the program: waits for those that are being made. */
void gpu_variants_settle(uint64_t nanoseconds);

/* ---- Not looked at (gpu_unseen.c) ---------------------------------------------------------------- */

/* Of these there are many in programs that use libraries: they are told together. */
#define NO_PTX "it has no PTX, only machine code"
#define TWO_ADDRESSES                                                                                                  \
    "some memory of the program has two addresses (cuMemMap): accesses by one of them were not held against those by " \
    "the other"
/* So many launches of that kernel, and why; one. */
void gpu_unseen_times(uint64_t times, const char *kernel, const char *why, ...) __attribute__((format(printf, 3, 4)));
#define gpu_unseen(kernel, ...) gpu_unseen_times(1, kernel, __VA_ARGS__)
/* Something of no kernel in particular: the whole sentence. */
void gpu_unseen_program(const char *why, ...) __attribute__((format(printf, 1, 2)));
/* Writes a recording for each kernel of which there is something to be said. Returns how many launches were of kernels
 * that have no PTX. */
uint64_t gpu_unseen_write(void);

/* ---- Memory of a device for records (gpu_pool.c) ------------------------------------------------- */

enum { GPU_OUTSTANDING_LAUNCHES = 256 }; /* at once, in a context */
enum { GPU_ALIGN = 1 << 16 };            /* of pieces; the largest that a chunk may be */

/* What host and device both see of a launch; in pinned memory. */
typedef struct GpuSlot {
    RecordLaunch block; /* as it goes to the device */
    RecordLaunch after; /* as it comes back */
    RecordHost host;
} GpuSlot;

/* Where packed records come to; in pinned memory. */
typedef struct GpuStaging {
    void *at;
    uint64_t bytes;
} GpuStaging;

/* A part of the arena that was mapped at once, behind those before it. */
enum { GPU_BLOCKS = 64 };
typedef struct GpuBlock {
    uint64_t bytes;
    GpuMapped handle;
} GpuBlock;

typedef struct GpuPiece GpuPiece;
typedef struct GpuContext {
    struct GpuContext *next;
    Handle context;
    int device_number;
    bool primary;
    Handle behind, ahead; /* streams: what is done when a launch has ended; what is asked for before that */
    DevicePointer arena;
    uint64_t arena_bytes;  /* that it has now */
    uint64_t usual, limit; /* ... that it has to begin with, and may get */
    uint64_t reserved;     /* addresses that it may grow into */
    bool on_host;          /* the arena is memory of the host */
    bool grows;            /* it is mapped, block by block: */
    GpuMap map;
    GpuBlock blocks[GPU_BLOCKS];
    unsigned block_count;
    Handle packer;    /* a function of our own; NULL: there is none */
    GpuPiece *pieces; /* of the arena, in its order */
    GpuSlot *slots;
    bool taken[GPU_OUTSTANDING_LAUNCHES];
    Handle events[GPU_OUTSTANDING_LAUNCHES]
                 [3];         /* of each slot: the kernel begins, it has ended, its records are packed */
    uint64_t landed;          /* outstanding launches so far */
    size_t flying, unwritten; /* outstanding launches whose memory is in use; whose recordings are not written yet */
    unsigned tag;             /* of the last launch */
    GpuStaging later,
        soon; /* of the thread that takes records off; of an outstanding launch that packs behind itself */
    bool soon_taken;
    char *device;    /* its name */
    const char *why; /* nothing can be recorded in it: one sentence that begins with "there" */
} GpuContext;

/* That of the calling thread, made when it is first asked for; NULL: there is none. The mutex is held. */
GpuContext *gpu_context(void);
/* A context is about to be destroyed: what it has of ours is written, and forgotten. */
void gpu_context_ends(Handle context);
/* Waits for all contexts, for so long; whether everything was written. */
bool gpu_settle_all(uint64_t nanoseconds);
/* The same for what runs on a device, before its primary context may end; and after that: whether it has. */
void gpu_device_settle(int device);
bool gpu_device_ended(int device, bool surely);
/* A piece of the arena, all zero; 0: there is none so large now. `least` bytes, `most` if that is there. */
DevicePointer gpu_take(GpuContext *context, uint64_t least, uint64_t most, uint64_t *bytes);
/* Gives it back; it is all zero. */
void gpu_give(GpuContext *context, DevicePointer piece);
/* The largest that could be had now without more memory of the device; and, if no launch had any, with it. */
uint64_t gpu_free(const GpuContext *context);
uint64_t gpu_most(const GpuContext *context);
/* The program found no memory on the device: that for records is given back, as far as no launch needs it. Whether it
 * may find some now. The mutex is not held. */
bool gpu_make_room(void);
/* Bytes that the program would get that way, in the current context. */
uint64_t gpu_lent(void);
/* A number of a slot, or -1. */
int gpu_slot(GpuContext *context);

/* ---- Launches (gpu_launch.c, gpu_outstanding.c) ------------------------------------------------------- */

/* One that is recorded, from when it is made until its records are written. */
typedef struct GpuOutstanding {
    struct GpuOutstanding *next;
    GpuContext *context;
    GpuKernel *kernel;
    GpuModule *module; /* that its variant was made of */
    uint64_t key;      /* what tells the launch apart from others of the kernel (GpuSeen) */
    int slot;
    DevicePointer block, first, more; /* one behind the other; the block is where its piece begins */
    uint64_t first_bytes, more_count;
    RecordingLaunch launch;
    uint8_t *parameters;
    RecordingMemory *memory;
    size_t memory_count;
    bool twice; /* some memory has two addresses */
    RecordPlaces places;
    Result failed;      /* at once: what the driver said behind it; 0: nothing yet */
    bool undone;        /* the driver did not take it: there is nothing to be written */
    bool maybe;         /* it may not be run, though it is made */
    bool packs;         /* its records are packed behind it, to `soon` of the context */
    GpuOrder order;     /* among other launches */
    HangLaunch watched; /* if there is a limit to its waits */
    uint64_t made_at;   /* nanoseconds of a clock of the host: the program asked for it */
    uint64_t things;    /* that had been put into streams then */
} GpuOutstanding;

/* Makes a launch, or a node of a graph, recorded or not; what the driver says of it. */
Result gpu_launch(const SeenLaunch *launch);
/* Of a launch whose `go` did not make it: it was made in that stream, or could not be made with what records it; or
 * what was to make it failed. */
void gpu_held(GpuOutstanding *outstanding, Handle stream, bool made);
void gpu_held_failed(GpuOutstanding *outstanding, Handle stream);
/* It may not have been run, and was not: it never was one. */
void gpu_not_run(GpuOutstanding *outstanding);
/* Launches so far, recorded or not. */
uint64_t gpu_launches(void);
/* A number for a graph among launches. */
uint64_t gpu_graph_number(void);
/* What tells it apart from others, whichever stream it is on, and with where its memory is; 0: it cannot be recorded.
 */
uint64_t gpu_launch_key(GpuKernel *kernel, const SeenLaunch *launch, uint64_t *exact);
/* Whether it has no PTX, and the options do not leave it out. */
bool gpu_is_library(const GpuKernel *kernel);
/* Launches of a kernel (NULL: it is not known) by graphs that were launched as they are: equal to recorded ones, or not
 * looked at, and why. */
void gpu_ran_plain(GpuKernel *kernel, uint64_t times, const char *why);
/* As the program has it, with ours behind the last of its parameters. */
Result launch_ours(const SeenLaunch *launch, const GpuKernel *kernel, const void *ours, size_t ours_bytes);

/* ---- Mode shadow (gpu_checked.c) ---------------------------------------------------------------- */

/* Memory with its shadow, in place of the driver's; false: the driver is to be asked. */
bool checked_allocate(DevicePointer *to, size_t bytes, Result *result);
bool checked_pitch(DevicePointer *to, size_t *pitch, size_t width, size_t height, Result *result);
bool checked_free(DevicePointer memory, Result *result);
/* Addresses to which the program maps memory itself. False: they are not ours to give, or to take back. */
bool checked_reserve(DevicePointer *to, size_t bytes, size_t alignment);
bool checked_unreserve(DevicePointer memory);
/* Allocations that other processes get by a handle: false: it is not one of ours. */
bool checked_hand_over(IpcHandle *handle, DevicePointer memory);
bool checked_take_over(DevicePointer *memory, const IpcHandle *handle, Result *result);
bool checked_hand_back(DevicePointer memory, Result *result);
/* It has mapped memory, or unmapped it. */
Result checked_map(DevicePointer memory, size_t bytes);
void checked_unmap(DevicePointer memory, size_t bytes);
/* Which one it is among all, and whether it is like others: then it is written only if it found something. */
typedef struct CheckedPlace {
    const uint8_t *values;
    bool again;
    uint64_t number;
    const GpuOrder *order;
} CheckedPlace;
/* Makes a launch; what it found is written when it is over. With a *problem nothing was launched. */
Result checked_launch(const SeenLaunch *launch, GpuKernel *kernel, Handle stream, const CheckedPlace *place,
                      const char **problem);
/* Writes what launches have found that are over; or waits for all. */
void checked_look(bool waits);

/* An outstanding launch for a launch of that kernel; NULL: there is no room, and *why says so. Waits for others to end
 * if it has to. The mutex is held. */
GpuOutstanding *outstanding_take(GpuContext *context, GpuKernel *kernel, GpuModule *module, uint64_t key,
                                 const SeenLaunch *launch, const char **why);
/* Before it is handed to the driver; false: the driver does not let it. And after. */
bool outstanding_begins(GpuOutstanding *outstanding, Handle stream);
void outstanding_made(GpuOutstanding *outstanding, Handle stream);
/* It was not made after all: nothing was written to its memory but the block. That is cleared when the stream comes to
 * it, so it has yet to land, as others do. */
void outstanding_undo(GpuOutstanding *outstanding, Handle stream);
/* The event behind it, and how long the kernel took once that has come; and that behind what packs it. */
Handle outstanding_ended(const GpuOutstanding *outstanding);
Handle outstanding_packed(const GpuOutstanding *outstanding);
uint64_t outstanding_nanoseconds(const GpuOutstanding *outstanding);
/* Its memory, which is all zero again, and its slot are free. The mutex is held. */
void outstanding_complete(GpuOutstanding *outstanding);
void outstanding_free(GpuOutstanding *outstanding);

/* ---- Taking records off the device (gpu_drain.c) ------------------------------------------------- */

/* A launch is about to be recorded: the thread that takes records off should be awake. The mutex is held, here and
 * below. */
void drain_soon(void);
/* Before it is handed to the driver: its waits may have a limit. */
void drain_watch(GpuOutstanding *outstanding);
/* From here on it is looked at until it has ended. */
void drain_add(GpuOutstanding *outstanding);
/* Something has changed that others may wait for. */
void drain_changed(void);
/* Waits until an outstanding launch of that context has landed; false if there is none. The mutex is let go meanwhile.
 */
bool drain_one(GpuContext *context);
/* Waits until all outstanding launches of a context have ended and are written; or for so long, and whether they are.
 */
void drain_all(GpuContext *context);
bool drain_until(GpuContext *context, uint64_t nanoseconds);
/* Waits until the memory of no launch of that kernel is in use; or for so long. */
void drain_kernel(const GpuKernel *kernel, uint64_t nanoseconds);
/* What is in the air is not waited for any more. */
void drain_lost(void);
/* Whether any launch may run that is recorded. */
bool drain_flies(void);
/* Whether a launch that is recorded runs in a context. The mutex is not held. */
bool drain_busy(Handle context);
/* Whether a launch that is watched for hangs runs, of those that were made before so many things were put into streams,
 * and in that context; NULL: in any. The mutex is not held. */
bool drain_runs(uint64_t before, Handle context);

/* What a launch left (gpu_copy.c). */
typedef struct GpuChunks {
    uint8_t *first, *more;                   /* NULL: they are packed */
    uint64_t first_count, more_count, bytes; /* bytes: of all of them, before they were packed */
    Str packed;         /* in staging, until something else is packed, or the outstanding launch is over */
    uint32_t near, far; /* as it was packed */
    void *copied;       /* for free() */
} GpuChunks;
/* What a launch left, until it is written. */
typedef struct GpuWriting {
    struct GpuWriting *next;
    GpuOutstanding *outstanding;
    GpuKernel *kernel;
    GpuChunks chunks;
    Result result;          /* how the launch ended, as the driver says it */
    bool written;           /* it is already, as a hang */
    uint64_t ended, copied; /* when it was seen that it has ended, and when its records were on the host */
} GpuWriting;
/* It is written, and its outstanding launch freed. */
void drain_written(GpuWriting *writing);
/* Another thread does that, one after the other (gpu_writing.c); waits if there is too much to be written. */
void writing_add(GpuWriting *writing);
/* Waits for that, for so long; and what is not written by then is said not to have been looked at. */
void writing_settle(uint64_t nanoseconds);
void writing_lost(void);
/* Whether a launch that has ended was run at all. */
bool gpu_has_run(const GpuOutstanding *outstanding);
/* Of a launch that has ended: its block, of which the outstanding launch gets to know, and its chunks. */
bool gpu_copy(GpuOutstanding *outstanding, GpuChunks *chunks);
/* What the launch wrote is all zero again. Chunks are lost by it if records are in memory of the host. */
void gpu_clear(const GpuOutstanding *outstanding, const GpuChunks *chunks);

/* Before anything of the program runs in a context: the driver may wait for all that does, and lock out who watches for
 * hangs, where it loads a module. */
void gpu_pack_prepare(GpuContext *context);
/* Has the device pack its chunks, to memory of the host (gpu_pack.c): the block as it is then, and `packed`. False:
 * they have to be copied as they are. */
bool gpu_pack(const GpuOutstanding *outstanding, RecordLaunch *after, GpuChunks *chunks);
/* Has it do so as soon as a launch that was just made has ended, without the host in between, if there is a place to
 * pack to; the mutex is held. And after that outstanding launch was written: the place is free. */
void gpu_pack_behind(GpuOutstanding *outstanding);
void gpu_packed(const GpuOutstanding *outstanding);

/* A recording as a file of the folder. `key`: that of recordings of equal launches is the same; 0: there are none.
 * False: the folder has no room for it, and the launch was not looked at. */
bool drain_write(const Recording *recording, uint64_t key);
/* Whether all that has ended is written, and nothing else that is recorded was launched. */
bool drain_is_done(void);

/* ---- Recordings that can be checked while the program runs (gpu_over.c) --------------------------- */

/* A recording was written under that name. */
void over_written(const char *name, const Recording *recording);
/* The host has waited for something, or a recording was written: says in the log (`over NAME`) of which recordings it
 * knows that their launches are over. All launches that come are behind these then, and all that may have run beside
 * them are written. */
void over_look(void);
/* A launch is being made; and is not any more. */
void over_making(int count);

/* ---- What recordings may take on disk (gpu_disk.c) ------------------------------------------------ */

/* Whether so many bytes more are within the limit. */
bool disk_has(uint64_t bytes);
/* Whether more than half of it is taken, by what is known. */
bool disk_is_pressed(void);
/* So many were written. */
void disk_takes(uint64_t bytes);
/* Why a launch was not looked at, if they are not. */
extern const char disk_full[];

/* ---- CTAs that run at the same time (gpu_occupancy.c) -------------------------------------------------- */

/* How many there can be of a launch of that function. */
uint32_t gpu_resident(const SeenLaunch *launch, Handle function);
/* As many CTAs of a launch as an SM has to have at a time so that all run at the same time, if they do so as the
 * program has it, and may wait for each other; else 0. */
uint32_t gpu_together(GpuModule *module, const SeenLaunch *launch);

/* ---- Calls that the driver would lock others out with (gpu_hold.c) -------------------------------- */

/* Each waits for launches that are watched for hangs, if any run. No mutex is held, nor anything of the driver's.
 * Before a call in which the driver waits for all that runs in the thread's context. */
void hold_for_all(void);
/* For what is in that stream. */
void hold_for_stream(Handle stream);
/* Before so many things are put into that stream: the driver waits once there is too much in it. */
void hold_for_room(Handle stream, unsigned count);
/* How many things were put into streams. */
uint64_t hold_things(void);
/* Whether a launch whose threads have so much local memory would make the driver wait for all that runs; and it may. */
bool hold_local_grows(uint64_t local);
void hold_local_grown(uint64_t local);
/* Before a launch of that function in that stream. */
void hold_to_launch(Handle function, Handle stream);
/* Before the driver begins: launches that are to wait for their kernels (CUDA_LAUNCH_BLOCKING) do so here, not there.
 * And after one was made: what its kernel ended with. */
void hold_begin(void);
Result hold_launched(Handle stream);
/* Whether the code of libraries is loaded when it is first used, not before. */
bool hold_is_lazy(void);

/* ---- What records are of (gpu_sites.c) ----------------------------------------------------------- */

/* Of the sites of a module; NULL: they are not known. *count: how many. */
const RecordShape *gpu_shapes(GpuModule *module, uint32_t *count);
/* The table that recordings of such launches have; empty: they are not known. */
Str gpu_site_table(GpuModule *module, const GpuKernel *kernel, const uint32_t block[3]);

/* ---- Launches whose waits have a limit (gpu_watch.c) --------------------------------------------- */

/* Right after it was made; `recording` is all that is known of it before it ends. */
void gpu_watch(GpuOutstanding *outstanding, Recording recording);

/* ---- Launches that fail (gpu_finish.c) ------------------------------------------------------------ */

/* The driver says so, and nothing can be done in the context any more. `kernel`: of a recorded launch whose records
 * were lost by it; NULL: it is not known which launch failed. */
void gpu_failed(Result result, const char *kernel);
/* What caused it was kept, or is reported as a hang. */
void gpu_failed_kept(void);

/* ---- Beginning and end (gpu_finish.c) ------------------------------------------------------------ */

/* The program uses the device: from here on it has to be said how that ended. */
void gpu_begin(void);
/* At the end of the program: everything is drained and said. Called again it does nothing. */
void gpu_finish(void);
/* A launch is recorded, or an image compiled, from here on, or until here: for how long is said in the end. */
void gpu_busy(bool begins);
/* The same for what has ended: a kernel never will, and others may be in the driver with the mutex, and not come back.
 */
void gpu_abandon(void);
/* A signal that ends the program waits until everything is written (gpu_crash.c). */
void crash_watch(void);

/* Nanoseconds of a clock that only goes on. */
uint64_t gpu_now(void);

#endif
