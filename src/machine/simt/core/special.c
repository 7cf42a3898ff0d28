/* Special registers. */
#include "machine/simt/core/internal.h"
#include "machine/simt/core/scout.h"

/* Names, and what they are; those behind SPECIAL_UNKNOWN have numbers that no launch gives. */
#define SPECIALS(SPECIAL)                                  \
    SPECIAL(TID, "%tid")                                   \
    SPECIAL(NTID, "%ntid")                                 \
    SPECIAL(LANEID, "%laneid")                             \
    SPECIAL(WARPID, "%warpid")                             \
    SPECIAL(NWARPID, "%nwarpid")                           \
    SPECIAL(CTAID, "%ctaid")                               \
    SPECIAL(NCTAID, "%nctaid")                             \
    SPECIAL(GRIDID, "%gridid")                             \
    SPECIAL(IS_EXPLICIT_CLUSTER, "%is_explicit_cluster")   \
    SPECIAL(CLUSTERID, "%clusterid")                       \
    SPECIAL(NCLUSTERID, "%nclusterid")                     \
    SPECIAL(CLUSTER_CTAID, "%cluster_ctaid")               \
    SPECIAL(CLUSTER_NCTAID, "%cluster_nctaid")             \
    SPECIAL(CLUSTER_CTARANK, "%cluster_ctarank")           \
    SPECIAL(CLUSTER_NCTARANK, "%cluster_nctarank")         \
    SPECIAL(LANEMASK_EQ, "%lanemask_eq")                   \
    SPECIAL(LANEMASK_LE, "%lanemask_le")                   \
    SPECIAL(LANEMASK_LT, "%lanemask_lt")                   \
    SPECIAL(LANEMASK_GE, "%lanemask_ge")                   \
    SPECIAL(LANEMASK_GT, "%lanemask_gt")                   \
    SPECIAL(ENVREG, "%envreg")                             \
    SPECIAL(RESERVED_BEGIN, "%reserved_smem_offset_begin") \
    SPECIAL(RESERVED_END, "%reserved_smem_offset_end")     \
    SPECIAL(RESERVED_CAP, "%reserved_smem_offset_cap")     \
    SPECIAL(TOTAL_SMEM, "%total_smem_size")                \
    SPECIAL(AGGR_SMEM, "%aggr_smem_size")                  \
    SPECIAL(DYNAMIC_SMEM, "%dynamic_smem_size")            \
    SPECIAL(CURRENT_GRAPH, "%current_graph_exec")          \
    SPECIAL(CLOCK_HI, "%clock_hi")                         \
    SPECIAL(GLOBALTIMER, "%globaltimer")                   \
    SPECIAL(GLOBALTIMER_HI, "%globaltimer_hi")

typedef enum SpecialKind {
    SPECIAL_OTHER, /* clocks, counters, where it runs: not known */
#define SPECIAL(id, name) SPECIAL_##id,
    SPECIALS(SPECIAL)
#undef SPECIAL
} SpecialKind;

uint8_t *special_kinds(Arena *arena) {
    static const char *const names[] = {"",
#define SPECIAL(id, name) name,
                                        SPECIALS(SPECIAL)
#undef SPECIAL
    };
    uint8_t *kinds = ARENA_ARRAY(arena, uint8_t, 256);
    for (unsigned i = 1; i < sizeof names / sizeof *names; i++) {
        unsigned number;
        const PtxSpecial *special = ptx_special(str_of(strcmp(names[i], "%envreg") ? names[i] : "%envreg1"), &number);
        if (special)
            kinds[ptx_special_index(special)] = (uint8_t)i;
    }
    return kinds;
}

static uint32_t or_one(uint32_t number) {
    return number ? number : 1;
}

/* x, y or z of something that has three; w is 0, or 1 of sizes. */
static uint64_t part_of(const uint32_t *sizes, unsigned axis, uint64_t fourth) {
    return axis < 3 ? sizes[axis] : fourth;
}

static void thread_parts(const PtxMachine *machine, const PtxWarp *warp, unsigned axis, Lanes *values) {
    uint32_t x = machine->launch->block[0], y = machine->launch->block[1];
    for (unsigned i = 0; i < PTX_LANES; i++) {
        uint32_t thread = warp->index * PTX_LANES + i;
        values->at[i] = axis == 0 ? thread % x : axis == 1 ? thread / x % y : axis == 2 ? thread / x / y : 0;
    }
}

static void lane_masks(SpecialKind kind, Lanes *values) {
    for (unsigned i = 0; i < PTX_LANES; i++) {
        uint64_t own = UINT64_C(1) << i, lower = own - 1;
        values->at[i] = kind == SPECIAL_LANEMASK_EQ   ? own
                        : kind == SPECIAL_LANEMASK_LE ? lower | own
                        : kind == SPECIAL_LANEMASK_LT ? lower
                        : kind == SPECIAL_LANEMASK_GE ? UINT32_MAX & ~lower
                        : kind == SPECIAL_LANEMASK_GT ? UINT32_MAX & ~(lower | own)
                                                      : i;
    }
}

static uint64_t cluster_value(const PtxMachine *machine, const PtxCta *cta, SpecialKind kind, unsigned axis) {
    const PtxLaunch *launch = machine->launch;
    uint32_t own[3], clusters[3], sizes[3];
    for (unsigned i = 0; i < 3; i++) {
        sizes[i] = or_one(launch->cluster[i]);
        own[i] = cta->id[i] % sizes[i];
        clusters[i] = kind == SPECIAL_CLUSTERID ? cta->id[i] / sizes[i] : launch->grid[i] / sizes[i];
    }
    switch (kind) {
    case SPECIAL_CLUSTERID:
        return part_of(clusters, axis, 0);
    case SPECIAL_NCLUSTERID:
        return part_of(clusters, axis, 1);
    case SPECIAL_CLUSTER_CTAID:
        return part_of(own, axis, 0);
    default:
        return part_of(sizes, axis, 1);
    }
}

/* %envreg1 and 2 are the halves of an address that the driver gives (see memory.c); the others are not known. */
static uint64_t environment(PtxMachine *machine, uint32_t number, uint32_t *unknown) {
    uint64_t workspace = pools_of(machine)->workspace;
    if (number == 1)
        return workspace >> 32;
    if (number == 2)
        return (uint32_t)workspace;
    *unknown = UINT32_MAX;
    return 0;
}

/* It goes on from one CTA to the next. In a run that is made for its results, threads that only wait for it wait for as
 * long as they say: from some number of reads on, as much time again passes at each as has passed since the first. */
static uint64_t clock_of(PtxMachine *machine) {
    enum { READS_MOST = 256 };
    static const uint64_t apart_most = UINT64_C(1) << 40;
    Pools *pools = pools_of(machine);
    ptx_ordered(machine);
    if (!pools->clock_reads++ || pools->clock_changes != machine->changes) {
        pools->clock_changes = machine->changes;
        pools->clock_first = machine->clock;
        pools->clock_reads = 1;
    }
    uint64_t apart = machine->clock - pools->clock_first;
    if (machine->results && pools->clock_reads > READS_MOST)
        machine->clock += apart < apart_most ? apart : apart_most;
    return machine->clock;
}

static bool is_clock(SpecialKind kind) {
    return kind == SPECIAL_CLOCK_HI || kind == SPECIAL_GLOBALTIMER || kind == SPECIAL_GLOBALTIMER_HI ||
           kind == SPECIAL_OTHER;
}

static uint64_t uniform_value(PtxMachine *machine, const PtxCta *cta, SpecialKind kind, unsigned axis, uint32_t number,
                              uint32_t *unknown) {
    const PtxLaunch *launch = machine->launch;
    switch (kind) {
    case SPECIAL_NTID:
        return part_of(launch->block, axis, 1);
    case SPECIAL_CTAID:
        return part_of(cta->id, axis, 0);
    case SPECIAL_NCTAID:
        return part_of(launch->grid, axis, 1);
    case SPECIAL_NWARPID:
        return 64;
    case SPECIAL_GRIDID:
        return 1;
    case SPECIAL_IS_EXPLICIT_CLUSTER:
        return machine->program->explicit_cluster || machine->program->cluster[0] || machine->cluster_size > 1;
    case SPECIAL_CLUSTERID:
    case SPECIAL_NCLUSTERID:
    case SPECIAL_CLUSTER_CTAID:
    case SPECIAL_CLUSTER_NCTAID:
        return cluster_value(machine, cta, kind, axis);
    case SPECIAL_CLUSTER_CTARANK:
        return cta->rank;
    case SPECIAL_CLUSTER_NCTARANK:
        return machine->cluster_size;
    case SPECIAL_ENVREG:
        return environment(machine, number, unknown);
    case SPECIAL_RESERVED_BEGIN:
    case SPECIAL_CURRENT_GRAPH:
        return 0;
    case SPECIAL_RESERVED_END:
    case SPECIAL_RESERVED_CAP:
        return machine->program->module->capability >= 90 ? PTX_SHARED_FIRST : 0;
    case SPECIAL_TOTAL_SMEM:
    case SPECIAL_AGGR_SMEM:
        return cta->shared.size;
    case SPECIAL_DYNAMIC_SMEM:
        return launch->dynamic_bytes;
    case SPECIAL_CLOCK_HI:
    case SPECIAL_GLOBALTIMER_HI:
        *unknown = UINT32_MAX;
        return clock_of(machine) >> 32;
    case SPECIAL_GLOBALTIMER:
        *unknown = machine->timed ? 0 : UINT32_MAX;
        return clock_of(machine) * (machine->timed ? 1000 : 1);
    default:
        *unknown = UINT32_MAX;
        return clock_of(machine);
    }
}

void ptx_special_values(PtxMachine *machine, PtxGroup *group, uint32_t special, uint32_t number, unsigned part,
                        Lanes *values, uint32_t *unknown) {
    SpecialKind kind = machine->program->specials[special];
    unsigned axis = part >= PTX_X && part <= PTX_W ? part - PTX_X : 0;
    const PtxWarp *warp = group->warp;
    static const uint8_t scouted[] = {[SPECIAL_TID] = SCOUT_THREAD,
                                      [SPECIAL_NTID] = SCOUT_BLOCK,
                                      [SPECIAL_CTAID] = SCOUT_CTA,
                                      [SPECIAL_NCTAID] = SCOUT_GRID};
    if (machine->scout &&
        (kind == SPECIAL_TID || kind == SPECIAL_NTID || kind == SPECIAL_CTAID || kind == SPECIAL_NCTAID)) {
        ptx_scout_special(machine, scouted[kind], axis, values);
    } else if (kind == SPECIAL_TID) {
        thread_parts(machine, warp, axis, values);
    } else if (kind == SPECIAL_LANEID || (kind >= SPECIAL_LANEMASK_EQ && kind <= SPECIAL_LANEMASK_GT)) {
        lane_masks(kind, values);
    } else {
        if ((kind == SPECIAL_GLOBALTIMER && machine->timed) || (is_clock(kind) && machine->results))
            spin_forget(group); /* time passes */
        uint64_t value =
            kind == SPECIAL_WARPID ? warp->index : uniform_value(machine, warp->cta, kind, axis, number, unknown);
        if (ptx_special_at(special)->bits <= 32)
            value = (uint32_t)value;
        for (unsigned i = 0; i < PTX_LANES; i++)
            values->at[i] = value;
    }
}
