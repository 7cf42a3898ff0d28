/* The barrier of a cluster: barrier.cluster.arrive and .wait, by all threads of it that have not ended. */
#include "machine/simt/sync/barriers.h"

typedef struct ClusterDetail {
    bool waits, together;
    uint8_t order;
} ClusterDetail;

/* CTAs of a cluster begin one after the other. */
void cluster_begin(PtxMachine *machine, PtxCta *cta) {
    GridSync *grid = grid_sync(machine);
    ClusterBarrier *barrier = grid->latest;
    if (!barrier || barrier->cluster != cta->cluster) {
        barrier = pool_take(machine, sizeof *barrier);
        *barrier = (ClusterBarrier){.cluster = cta->cluster};
        grid->latest = barrier;
    }
    barrier->missing += cta->threads;
    barrier->ctas++;
    cta_sync(cta)->cluster = barrier;
}

void cluster_end(PtxMachine *machine, PtxCta *cta) {
    GridSync *grid = grid_sync(machine);
    ClusterBarrier *barrier = cta_sync(cta)->cluster;
    if (--barrier->ctas)
        return;
    if (grid->latest == barrier)
        grid->latest = NULL;
    pool_give(machine, barrier, sizeof *barrier);
}

/* The CTAs of a cluster that are still there, one after the other; NULL at the end. */
static PtxCta *next_cta(const PtxMachine *machine, uint32_t cluster, uint32_t *rank) {
    while (*rank < machine->cluster_size) {
        PtxCta *cta = machine->ctas[cluster * machine->cluster_size + (*rank)++];
        if (cta)
            return cta;
    }
    return NULL;
}

static void settle(PtxMachine *machine, ClusterBarrier *barrier, const PtxEvent *by) {
    PtxEvent event = *by;
    uint32_t rank = 0;
    if (barrier->missing)
        return;
    event.kind = PTX_EVENT_CLUSTER_COMPLETE;
    ptx_emit(machine, &event);
    for (PtxCta *cta; (cta = next_cta(machine, barrier->cluster, &rank));)
        for (uint32_t i = 0; i < cta->warp_count; i++) {
            WarpSync *sync = warp_sync(&cta->warps[i]);
            sync->completed |= sync->arrived;
            sync->arrived = 0;
            barrier->missing += (uint32_t)__builtin_popcount(live_lanes(&cta->warps[i]));
        }
    machine->meetings++;
}

void cluster_exit(PtxMachine *machine, PtxWarp *warp, uint32_t lanes) {
    ClusterBarrier *barrier = cta_sync(warp->cta)->cluster;
    uint32_t missed = lanes & ~warp_sync(warp)->arrived;
    barrier->missing -= (uint32_t)__builtin_popcount(missed);
    if (missed)
        settle(machine, barrier, &(PtxEvent){.warp = warp, .lanes = lanes});
}

static PtxStep out_of_order(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                            const char *what) {
    return fault_with(machine, RULE_CLUSTER_BARRIER_ORDER, code, group->warp, lanes, 0, 0, what);
}

static PtxStep cluster_arrive(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const ClusterDetail *detail = code->detail;
    WarpSync *sync = warp_sync(group->warp);
    ClusterBarrier *barrier = cta_sync(group->warp->cta)->cluster;
    PtxEvent event = {.kind = PTX_EVENT_CLUSTER_ARRIVE,
                      .code = code,
                      .warp = group->warp,
                      .lanes = lanes,
                      .order = detail->order,
                      .scope = SCOPE_CLUSTER};
    uint32_t again = lanes & (sync->arrived | sync->completed);
    if (again)
        return out_of_order(machine, group, code, again,
                            "it arrives at the cluster barrier a second time without a wait in between");
    ptx_emit(machine, &event);
    sync->arrived |= lanes;
    barrier->missing -= (uint32_t)__builtin_popcount(lanes);
    machine->meetings++;
    settle(machine, barrier, &event);
    return PTX_STEP_NEXT;
}

static PtxStep cluster_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const ClusterDetail *detail = code->detail;
    WarpSync *sync = warp_sync(group->warp);
    PtxStep step = PTX_STEP_NEXT;
    if (detail->together && !runs_together(machine, group, code, lanes, &step))
        return step;
    if (!detail->waits)
        return cluster_arrive(machine, group, code, lanes);
    uint32_t without = lanes & ~(sync->arrived | sync->completed);
    if (without)
        return out_of_order(machine, group, code, without,
                            "it waits at the cluster barrier without having arrived there");
    if (lanes & sync->arrived) {
        group->status = PTX_IS_CLUSTER;
        return PTX_STEP_WAITS;
    }
    sync->completed &= ~lanes;
    ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_CLUSTER_WAIT,
                                  .code = code,
                                  .warp = group->warp,
                                  .lanes = lanes,
                                  .order = detail->order,
                                  .scope = SCOPE_CLUSTER});
    return PTX_STEP_NEXT;
}

bool cluster_prepare(const PtxPrepare *about, PtxCode *code) {
    const PtxEffect *wait = effect_with(about, EFFECT_CLUSTER_WAIT),
                    *arrive = effect_with(about, EFFECT_CLUSTER_ARRIVE);
    if (!wait && !arrive)
        return false;
    ClusterDetail detail = {.waits = wait != NULL, .together = effect_with(about, EFFECT_CONVERGED) != NULL};
    detail.order = wait ? ORDER_ACQUIRE : arrive->effect.relaxed ? ORDER_RELAXED : ORDER_RELEASE;
    code->blocks = detail.waits && !detail.together;
    return take_code(about, code, cluster_run, &detail, sizeof detail);
}
