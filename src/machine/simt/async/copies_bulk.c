/* Bulk copies and reductions of bytes that lie beside each other: global to shared memory of one CTA or of several,
 * shared memory to that of another CTA, shared to global. */
#include "machine/simt/async/copies.h"
#include "machine/simt/core/play.h"

enum { BULK_STEP = 16 };

typedef struct BulkDetail {
    const PtxArgument *to, *from, *size, *bar, *ctas;
    const PtxArgument *left, *right; /* .ignore_oob: bytes at the ends that are not read */
    const PtxArgument *mask;         /* .cp_mask: bytes of each 16 that are written */
    PtxSpace to_space, from_space, bar_space;
    uint8_t group; /* GroupKind */
    ReduceAction action;
    ReduceType type;
    PtxAccess read, write;
} BulkDetail;

typedef struct BulkCopy {
    PtxLocation from, to;
    uint32_t bytes, left, right;
    uint32_t mask; /* of each 16 bytes */
} BulkCopy;

/* ---- Landing ------------------------------------------------------------------------------------ */

static void add_written(PtxMachine *machine, Pieces *pieces, const BulkCopy *copy) {
    if (copy->mask == 0xffff) {
        pieces_add(machine, pieces, copy->to, copy->bytes);
        return;
    }
    for (uint32_t i = 0; i < copy->bytes; i++)
        if (copy->mask >> i % BULK_STEP & 1)
            pieces_add(machine, pieces, (PtxLocation){copy->to.block, copy->to.offset + i}, 1);
}

static void store_written(PtxMachine *machine, const BulkCopy *copy, const CopyScratch *scratch) {
    for (uint32_t i = 0, at = 0; i < scratch->writes.count; i++) {
        at = (uint32_t)(scratch->writes.locations[i].offset - copy->to.offset);
        ptx_store_bytes(machine, scratch->writes.locations[i], scratch->writes.sizes[i], scratch->bytes + at,
                        scratch->states + at);
    }
}

static void move(PtxMachine *machine, PtxOutstanding *outstanding, const BulkCopy *copy) {
    const BulkDetail *detail = outstanding->code->detail;
    CopyScratch *scratch = copy_scratch(machine, copy->bytes);
    uint32_t read = copy->bytes - copy->left - copy->right;
    PtxLocation from = {copy->from.block, copy->from.offset + copy->left};
    memset(scratch->states, BYTE_UNKNOWN, copy->bytes);
    if (read < copy->bytes) /* the rest is not known */
        ptx_unknown_bytes(copy->to.block, copy->to.offset, copy->bytes, scratch->bytes);
    copy_load(machine, outstanding->code, from, read, scratch->bytes + copy->left, scratch->states + copy->left);
    copy_note_unset(machine, outstanding, outstanding->lane, from, read, scratch->states + copy->left);
    pieces_add(machine, &scratch->reads, from, read);
    add_written(machine, &scratch->writes, copy);
    report_pieces(machine, outstanding, &detail->read, &scratch->reads);
    report_pieces(machine, outstanding, &detail->write, &scratch->writes);
    if (detail->action)
        reduce_memory(machine, detail->action, detail->type, copy->to, copy->bytes, scratch->bytes, scratch->states);
    store_written(machine, copy, scratch);
}

static void land_bulk(PtxMachine *machine, PtxOutstanding *outstanding) {
    BulkCopy *copy = outstanding->detail;
    if (location_is_there(machine, outstanding, copy->to) && location_is_there(machine, outstanding, copy->from)) {
        if (copy->bytes)
            move(machine, outstanding, copy);
        if (outstanding->place != PTX_NO_PLACE)
            copy_completes(machine, outstanding, outstanding->place, copy->bytes);
    }
    pool_give(machine, copy, sizeof *copy);
}

/* ---- Issue -------------------------------------------------------------------------------------- */

static bool find_size(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane, BulkCopy *copy,
                      PtxStep *step) {
    const BulkDetail *detail = code->detail;
    uint64_t size, left = 0, right = 0, mask = 0xffff;
    if (!lane_value(machine, group, code, detail->size, lane, &size, step) ||
        (detail->left && !lane_value(machine, group, code, detail->left, lane, &left, step)) ||
        (detail->right && !lane_value(machine, group, code, detail->right, lane, &right, step)) ||
        (detail->mask && !lane_value(machine, group, code, detail->mask, lane, &mask, step)))
        return false;
    size = (uint32_t)size;
    if (size % BULK_STEP || size >= 1 << 20) {
        *step = fault_with(machine, size % BULK_STEP ? RULE_TMA_BULK_SIZE : RULE_TMA_BULK_RANGE, code, group->warp,
                           1u << lane, 0, (int64_t)size,
                           machine_sentence(machine, "it copies %llu bytes", (unsigned long long)size));
        return false;
    }
    if (left >= BULK_STEP || right >= BULK_STEP || left + right > size) {
        *step = fault_with(machine, RULE_TMA_BULK_RANGE, code, group->warp, 1u << lane, 0, (int64_t)size,
                           "more than 15 bytes at an end are left out");
        return false;
    }
    *copy = (BulkCopy){
        .bytes = (uint32_t)size, .left = (uint32_t)left, .right = (uint32_t)right, .mask = (uint32_t)mask & 0xffff};
    return true;
}

static bool find_source(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane, BulkCopy *copy) {
    const BulkDetail *detail = code->detail;
    if (!copy->left && !copy->right)
        return find_location(machine, group, code, detail->from, detail->from_space, lane, copy->bytes, BULK_STEP,
                             RULE_TMA_BULK_ADDRESS, &copy->from);
    Lanes scratch;
    uint32_t unknown = 0;
    const Lanes *addresses = ptx_fetch_address(machine, group, detail->from, &scratch, &unknown);
    PtxLocation inner;
    if (unknown >> lane & 1) {
        ptx_stop(machine, code, "an address of its copy is not known");
        return false;
    }
    if (!ptx_resolve_one(machine, code, group->warp, lane, detail->from_space, addresses->at[lane] + copy->left,
                         copy->bytes - copy->left - copy->right, 1, &inner))
        return false;
    copy->from = (PtxLocation){inner.block, inner.offset - copy->left};
    return true;
}

static bool issue(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane, const BulkCopy *copy,
                  uint64_t place) {
    const BulkDetail *detail = code->detail;
    BulkCopy *kept = pool_take(machine, sizeof *kept);
    *kept = *copy;
    return ptx_fly(machine, &(PtxOutstanding){.code = code,
                                              .warp = group->warp,
                                              .lane = lane,
                                              .group = detail->group,
                                              .place = place,
                                              .land = land_bulk,
                                              .detail = kept});
}

/* The same place in each CTA of the mask. */
static PtxStep multicast(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane, BulkCopy *copy,
                         PtxLocation bar) {
    const BulkDetail *detail = code->detail;
    PtxStep step = PTX_STEP_NEXT;
    PtxLocation to = copy->to, there;
    uint64_t ctas;
    if (!lane_value(machine, group, code, detail->ctas, lane, &ctas, &step))
        return step;
    for (uint32_t left = (uint32_t)ctas & 0xffff; left; left &= left - 1) {
        uint32_t rank = (uint32_t)__builtin_ctz(left);
        if (!location_in_cta(machine, code, group->warp, lane, to, rank, &copy->to) ||
            !location_in_cta(machine, code, group->warp, lane, bar, rank, &there) ||
            !issue(machine, group, code, lane, copy, ptx_place(there)))
            return PTX_STEP_FAULT;
    }
    return step;
}

static PtxStep bulk_lane(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane) {
    const BulkDetail *detail = code->detail;
    BulkCopy copy;
    PtxLocation bar = {0};
    PtxStep step = PTX_STEP_NEXT;
    if (!find_size(machine, group, code, lane, &copy, &step))
        return step;
    if (!find_source(machine, group, code, lane, &copy) ||
        !find_location(machine, group, code, detail->to, detail->to_space, lane, copy.bytes, BULK_STEP,
                       RULE_TMA_BULK_ADDRESS, &copy.to) ||
        (detail->bar && !find_location(machine, group, code, detail->bar, detail->bar_space, lane, 8, 8,
                                       RULE_MBARRIER_ALIGNMENT, &bar)))
        return failed(machine);
    if (detail->ctas)
        return multicast(machine, group, code, lane, &copy, bar);
    if (detail->from_space != PTX_SPACE_GLOBAL && copy.to.block == copy.from.block)
        return ptx_fault(machine, group, RULE_CLUSTER_STORE_ALONE, code, 1u << lane,
                         "it copies to its own CTA, and has to copy to another one of the cluster");
    if (detail->bar && bar.block != copy.to.block)
        return ptx_fault(machine, group, RULE_TMA_BARRIER_CTA, code, 1u << lane,
                         "its mbarrier is not in the CTA that it copies to");
    return issue(machine, group, code, lane, &copy, detail->bar ? ptx_place(bar) : PTX_NO_PLACE) ? PTX_STEP_NEXT
                                                                                                 : PTX_STEP_FAULT;
}

static PtxStep bulk_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    return ptx_lane_by_lane(machine, group, code, lanes, bulk_lane);
}

bool play_bulk(const PtxProgram *program, const PtxCode *code, PlayBulk *bulk) {
    const BulkDetail *detail = code->detail;
    if (code->run != bulk_run || detail->action || detail->left || detail->right || detail->mask)
        return false;
    bool loads = detail->from_space == PTX_SPACE_GLOBAL;
    *bulk = (PlayBulk){.global = {.access = loads ? detail->read : detail->write,
                                  .space = loads ? detail->from_space : detail->to_space,
                                  .align = BULK_STEP},
                       .size = detail->size,
                       .loads = loads};
    return bulk->global.space == PTX_SPACE_GLOBAL &&
           play_address(program, loads ? detail->from : detail->to, &bulk->global);
}

/* ---- Preparing ---------------------------------------------------------------------------------- */

bool bulk_prepare(const PtxPrepare *about, PtxCode *code) {
    const PtxEffect *read = effect_with(about, EFFECT_READ), *write = effect_with(about, EFFECT_WRITE),
                    *update = effect_with(about, EFFECT_UPDATE), *complete = effect_with(about, EFFECT_COMPLETE);
    const PtxEffect *to = write ? write : update;
    if (!read || !to || to->effect.helper != HELPER_TMA || read->effect.on_descriptor || !to->count.size)
        return false;
    BulkDetail detail = {.to = named_argument(about, code, to->on),
                         .from = named_argument(about, code, read->on),
                         .size = named_argument(about, code, to->count),
                         .bar = complete ? named_argument(about, code, complete->on) : NULL,
                         .ctas = to->effect.multicast ? named_argument(about, code, to->ctas) : NULL,
                         .to_space = effect_space(to),
                         .from_space = effect_space(read),
                         .bar_space = complete ? effect_space(complete) : PTX_SPACE_UNKNOWN,
                         .group = (uint8_t)to->effect.group,
                         .action = update ? reduce_action(code) : REDUCE_NONE};
    if (!detail.to || !detail.from || !detail.size || (complete && !detail.bar))
        return false;
    if (update && (detail.type = reduce_type(code_modifier(code, STR("t")))) == REDUCE_TYPES)
        return false;
    if (code_has(code, STR("ignore_oob"))) {
        detail.left = code_argument(about->program, code, 4);
        detail.right = code_argument(about->program, code, 5);
    }
    if (code_has(code, STR("cp_mask")))
        detail.mask = code_argument(about->program, code, code->count - 1);
    detail.read = (PtxAccess){.kind = KIND_READ,
                              .proxy = (uint8_t)read->effect.proxy,
                              .element = update ? reduce_bytes(detail.type) : BULK_STEP,
                              .used = ~0u};
    detail.write = detail.read;
    detail.write.kind = (uint8_t)to->effect.verb;
    detail.write.order = (uint8_t)to->effect.order;
    detail.write.scope = (uint8_t)to->effect.scope;
    detail.write.strong = to->effect.order != ORDER_WEAK;
    return take_code(about, code, bulk_run, &detail, sizeof detail);
}
