/* What the machine keeps of barriers, groups and outstanding operations, for those who run their instructions:
 * barriers*.c, outstanding.c and copies*.c. */
#ifndef MACHINE_SIMT_SYNC_BARRIERS_H
#define MACHINE_SIMT_SYNC_BARRIERS_H

#include "base/table.h"
#include "machine/simt/core/machine.h"
#include "machine/simt/decode/prepare.h"

enum { PTX_NAMED_BARRIERS = 16, PTX_REDUCTION_POPC = 0, PTX_REDUCTION_AND, PTX_REDUCTION_OR };

/* A barrier with a number: its phase that is open. */
typedef struct NamedBarrier {
    PtxNamed shown;
    bool counted;         /* with a number of threads; else all that have not ended */
    bool reduces;         /* with a reduction, or without */
    uint32_t ones, lanes; /* reductions: lanes whose predicate is true; all that came */
    bool unknown;         /* some predicate is not known */
    const PtxCode *first; /* that came */
} NamedBarrier;

/* The barrier of a cluster. */
typedef struct ClusterBarrier {
    uint32_t cluster;
    uint32_t missing; /* threads that have not ended and have not arrived */
    uint32_t ctas;    /* that have it */
} ClusterBarrier;

typedef TABLE_OF(PtxMbarrier *) MbarrierTable;

typedef struct CtaSync {
    NamedBarrier named[PTX_NAMED_BARRIERS];
    MbarrierTable mbarriers; /* by address */
    ClusterBarrier *cluster;
    int64_t registers; /* free in its pool; setmaxnreg */
    bool refused;      /* it has seen that a request for another cluster failed */
} CtaSync;

/* Kinds of groups that are committed. */
typedef enum GroupSlot { SLOT_COPIES, SLOT_BULK, SLOT_WGMMA, GROUP_SLOTS } GroupSlot;

typedef struct WarpSync {
    /* At named barriers, lanes: that came in the phase that is open; of these, that wait; that may go on. */
    uint32_t came[PTX_NAMED_BARRIERS], waiting[PTX_NAMED_BARRIERS], released[PTX_NAMED_BARRIERS];
    uint32_t result[PTX_NAMED_BARRIERS]; /* of the reduction of those */
    bool result_unknown[PTX_NAMED_BARRIERS];
    uint32_t arrived;   /* lanes that arrived at the cluster barrier in the phase that is open */
    uint32_t completed; /* ... in one that is complete, and have not waited for it */
    uint32_t committed[GROUP_SLOTS][PTX_LANES]; /* groups; of wgmma those of the warp */
    uint32_t flying[GROUP_KINDS];               /* outstanding operations of that kind of group that have not landed */
    uint32_t last_copy;                         /* sequence of its last cp.async; they land one after the other */
    uint32_t registers;                         /* of each thread */
} WarpSync;

/* Memory of outstanding operations that landed, and of CTAs that are over, is used again. */
enum { POOL_CLASSES = 16 };
typedef struct GridSync {
    ClusterBarrier *latest; /* that began */
    void *pool[POOL_CLASSES];
    uint8_t *begun;     /* of each cluster: CLUSTER_... */
    void *scratch;      /* of landings: copies.h */
    uint32_t registers; /* of each thread when the kernel begins, + 1; 0: it was not asked for */
} GridSync;
enum { CLUSTER_BEGUN = 1, CLUSTER_CANCELED = 2 };

static inline WarpSync *warp_sync(const PtxWarp *warp) {
    return warp->sync;
}
static inline CtaSync *cta_sync(const PtxCta *cta) {
    return cta->sync;
}
GridSync *grid_sync(PtxMachine *machine);

static inline uint32_t live_lanes(const PtxWarp *warp) {
    return warp->launched & ~warp->exited;
}

/* ---- For preparing ---- */

/* The argument that the row gives that name; NULL: it has none, or the name is empty. */
const PtxArgument *named_argument(const PtxPrepare *about, const PtxCode *code, Str name);
const PtxEffect *effect_with(const PtxPrepare *about, EffectVerb verb);
/* The memory that the form's group "space" names; PTX_SPACE_UNKNOWN: none, its addresses are generic. */
PtxSpace space_of(const PtxCode *code);
/* Sets what all of them set. `detail` is copied. */
bool take_code(const PtxPrepare *about, PtxCode *code, PtxRun *run, const void *detail, size_t size);

/* ---- For running ---- */

/* The instruction is for the warp together: true if all of its lanes that have not ended run it. Else *step says what
 * came of it. */
bool runs_together(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes, PtxStep *step);
/* The value of an argument that has to be the same in all lanes; false, with *step, if it is not, or not known. */
bool fetch_uniform(PtxMachine *machine, PtxGroup *group, const PtxCode *code, const PtxArgument *argument,
                   uint32_t lanes, uint64_t *value, PtxStep *step);
/* A fault of a group or an outstanding operation; `place` and `amount` as in PtxFault. */
PtxStep fault_with(PtxMachine *machine, RuleId rule, const PtxCode *code, const PtxWarp *warp, uint32_t lanes,
                   uint64_t place, int64_t amount, const char *what);
/* A sentence in the machine's arena. */
const char *machine_sentence(PtxMachine *machine, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Memory of outstanding operations and CTAs: at least `size` bytes, not set; to be given back with the same size. */
void *pool_take(PtxMachine *machine, size_t size);
void pool_give(PtxMachine *machine, void *memory, size_t size);

/* barriers_mbarrier.c: the mbarrier there, to be changed. */
PtxMbarrier *mbarrier_at(const PtxMachine *machine, uint64_t place);
bool mbarrier_wait_is_over(const PtxMachine *machine, const PtxGroup *group);
/* barriers_named.c, barriers_cluster.c: what the end of lanes does. */
void named_exit(PtxMachine *machine, PtxWarp *warp);
void cluster_exit(PtxMachine *machine, PtxWarp *warp, uint32_t lanes);
void cluster_begin(PtxMachine *machine, PtxCta *cta);
void cluster_end(PtxMachine *machine, PtxCta *cta);
/* barriers_mbarrier.c: those of a CTA that is over. */
void mbarriers_end(PtxMachine *machine, PtxCta *cta);
/* barriers_groups.c */
bool group_wait_is_over(const PtxMachine *machine, const PtxGroup *group);
/* Which groups its outstanding operations are of; -1: of none that is committed. */
int group_slot(GroupKind group);
void registers_begin(PtxMachine *machine, PtxCta *cta);

/* What the families of barriers take, each its own instructions. */
PtxPrepareFamily named_prepare, cluster_prepare, mbarrier_prepare, group_prepare, fence_prepare;

#endif
