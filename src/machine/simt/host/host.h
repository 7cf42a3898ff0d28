/* A device without a GPU: launches run on the memory of this process, thread by thread, and leave their results there.
 */
#ifndef MACHINE_SIMT_HOST_HOST_H
#define MACHINE_SIMT_HOST_HOST_H

#include "machine/simt/core/launch.h"
#include "machine/simt/host/steps.h"
#include "machine/simt/host/touched.h"
#include "machine/simt/schedule/schedule.h"

/* Memory that kernels may access. */
typedef struct HostRange {
    char *name; /* for people */
    PtxHost memory;
} HostRange;

/* A kernel that is ready to run. */
typedef struct HostKernel {
    struct HostKernel *next;
    const PtxModule *module;
    uint32_t entry;
    Arena arena;
    PtxProgram *program;
    PtxProgram *checked; /* the same as checks need it; NULL: none was made */
    /* CTAs of a launch ran at the same time, and had to run again in their order: how often, and how many launches from
     * now on that is not tried. */
    unsigned ordered, skipped;
} HostKernel;

/* What variables of a module hold in global and const memory, from one launch to the next. */
typedef struct HostVariables {
    struct HostVariables *next;
    const PtxModule *module;
    PtxHost *values; /* of each variable of the module; without bytes: no kernel that has run uses it */
} HostVariables;

/* What kernels have got by malloc and not freed, from one launch to the next. */
typedef struct HostPiece {
    uint64_t address; /* for kernels */
    PtxHost memory;
} HostPiece;
typedef struct HostHeap {
    HostPiece **pieces; /* sorted by address */
    uint32_t count, capacity;
    PtxHeap left; /* by the last launch; next 0: there was none */
    bool used;    /* some kernel that calls malloc was launched */
} HostHeap;

typedef struct PtxDevice {
    HostRange **ranges; /* sorted by address; none overlaps another */
    uint32_t range_count, range_capacity;
    HostKernel *kernels;
    HostVariables *variables;
    HostHeap heap;
    unsigned jobs;    /* threads that run CTAs of a launch at most; 0: one for each processor */
    double alone_for; /* seconds after which other threads help with a launch */
    int lock;         /* a file that processes lock while they run a launch on memory that they share, + 1; 0: none */
} PtxDevice;

/* There is memory from now on; what was there before and overlaps it is gone. `written`: its bytes are data of the
 * program; else they are not known before a kernel, or host_written, writes them. False: there is not enough memory. */
bool host_add(PtxDevice *device, void *address, uint64_t bytes, const char *name, bool written);
/* That of which this is the first address is gone. */
/* Other processes access the memory that begins there, too. */
void host_share(PtxDevice *device, const void *address);
void host_remove(PtxDevice *device, const void *address);
/* The program has written bytes itself. */
void host_written(PtxDevice *device, const void *address, uint64_t bytes);
/* It has copied bytes: what is known of them goes along. Those that lie in no memory are known. */
void host_copied(PtxDevice *device, void *to, const void *from, uint64_t bytes);
/* Whether all of these bytes are known; those of no memory are not. */
bool host_known(const PtxDevice *device, const void *address, uint64_t bytes);

/* The kernel, taken apart; NULL, with a sentence. It stays for later launches, until the module is forgotten. */
HostKernel *host_kernel(PtxDevice *device, const PtxModule *module, uint32_t entry, const char **problem);
void host_forget(PtxDevice *device, const PtxModule *module);
void host_free(PtxDevice *device);

/* Fills in what a launch of the kernel has on this device beside its shape: all of its memory, with the variables of
 * the module, and the bytes of its parameters, of which each is known. */
void host_place(PtxDevice *device, const HostKernel *kernel, uint8_t *parameters, PtxLaunch *launch, Arena *arena);
/* The variables of the module; NULL: there is not enough memory. One of them, with its initial value at first; NULL: it
 * is neither in global nor in const memory, or there is not enough memory. And what the kernel uses of them, as
 * buffers; false: there is not enough memory. */
HostVariables *host_variables(PtxDevice *device, const PtxModule *module);
PtxHost *host_variable(HostVariables *variables, const PtxProgram *program, uint32_t index);
bool host_add_variables(HostVariables *variables, const PtxProgram *program, PtxLaunch *launch, Arena *arena);
/* Variables of all modules, at most; and those that the kernel does not name and may have the address of, as buffers.
 */
size_t host_count_variables(const PtxDevice *device);
void host_add_others(PtxDevice *device, const PtxProgram *program, PtxLaunch *launch, Arena *arena);
void host_forget_variables(PtxDevice *device, const PtxModule *module);

/* How many bytes the heap has. False: a kernel that takes some was launched before. */
bool host_heap_limit(PtxDevice *device, uint64_t bytes);
/* What is in it, as buffers of a launch, in which there is room for them. */
void host_heap_place(PtxDevice *device, PtxLaunch *launch);
/* A launch is complete: what it got stays (false: there is not enough memory, and nothing does); then, what it freed is
 * gone. */
bool host_heap_take(PtxDevice *device, PtxMachine *machine);
void host_heap_give(PtxDevice *device, const PtxMachine *machine);
/* All of it is gone, as at first. */
void host_heap_free(PtxDevice *device);

/* A launch that is run. */
typedef struct HostRun {
    PtxDevice *device;
    HostKernel *kernel;
    const PtxLaunch *launch;
    bool watched;              /* what it touches is wanted */
    bool dependent;            /* ... of a launch that may begin while the one before it runs */
    Touched *touched;          /* that, if it was wanted and there is memory; freed by the caller */
    const PtxProgram *program; /* of the kernel; NULL: kernel->program */
    /* Of a launch on memory that other processes have: called before it begins, and for each event. NULL: nothing is.
     */
    void (*begins)(struct HostRun *run);
    PtxObserve *observe;
    void *observer;
    HostSteps *steps;    /* of a launch on memory that other processes have, if it was watched; freed by the caller */
    Text *printed;       /* NULL: what the kernel prints is not kept */
    PtxMachine *machine; /* says why the run ended so, and is freed by the caller; NULL: `problem` says why */
    const char *problem;
    unsigned threads; /* that ran CTAs */
    bool again;       /* they ran CTAs whose order may matter: all ran again, one after the other */
} HostRun;
/* Every CTA runs. Memory holds the results if the end is PTX_END_COMPLETE, else it is as it was before. It is the same
 * whatever the number of threads: CTAs run in the order of their numbers, one after the other, unless none of them
 * accesses what another one writes. */
PtxEnd host_run(HostRun *run);
/* The machine's accesses are written down there; NULL: they are not. */
void host_watch(PtxMachine *machine, Touched *touched);
/* The same with CTAs that may run at the same time (team.c). False: memory is to be restored, and CTAs run in order. */
bool team_run(HostRun *run, PtxEnd *end);

#endif
