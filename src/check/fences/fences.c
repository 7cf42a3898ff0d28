/* Fences inserted one by one until nothing is missing, then taken out one by one as long as nothing is. */
#include "check/fences/fences.h"

#include "ir/edit.h"
#include "ir/op.h"
#include "ir/op_ids.h"

enum { MOST_POINTS = 64 };
static const uint64_t most_steps = 20 * 1000 * 1000;

/* How much is missing. Whether a read needs a fence is disputed, and counted apart. */
typedef struct FenceLack {
    uint32_t writes, reads;
} FenceLack;

typedef struct FenceSearch {
    Module *module;
    const Op *function;
    FenceRuns *runs;
    Proxies *proxies;
    FencePoint points[MOST_POINTS];
    size_t point_count;
    const Op **without;
    size_t without_count;
    size_t present; /* fences of the kernel */
    FenceLack lack; /* that there may be */
    bool sure;      /* runs end, and have seen every access */
    bool settled;
} FenceSearch;

/* ---- Trying --------------------------------------------------------------------------------------- */

static FenceLack lack_of(const Proxies *proxies) {
    static const uint32_t weights[] = {[BREACH_LATE] = 1, [BREACH_NARROW] = 2, [BREACH_MISSING] = 3};
    FenceLack lack = {0};
    uint32_t count;
    const Breach *found = proxies_found(proxies, &count);
    for (uint32_t i = 0; i < count; i++)
        if (found[i].kind <= BREACH_LATE)
            *(found[i].reads ? &lack.reads : &lack.writes) += weights[found[i].kind];
    return lack;
}

static bool lacks_more(void *context) {
    const FenceSearch *search = context;
    FenceLack lack = lack_of(search->proxies);
    return lack.writes > search->lack.writes || lack.reads > search->lack.reads;
}

/* Whether with what is planned no more is missing than may be. */
static bool suffices(FenceSearch *search) {
    proxies_edit(search->proxies, search->points, search->point_count, search->without, search->without_count);
    fence_runs_until(search->runs, lacks_more, search);
    return !lacks_more(search);
}

/* ---- Inserting ----------------------------------------------------------------------------------- */

static bool is_inside(const Op *op, const Op *outer) {
    while (op && op != outer)
        op = op_parent(op);
    return op != NULL;
}

/* Whether the op is in a loop that the other is not in: a fence there would be executed again and again. */
static bool is_deeper(const Op *op, const Op *than) {
    for (const Op *outer = op_parent(op); outer; outer = op_parent(outer))
        if (op_is_loop(outer) && !is_inside(than, outer))
            return true;
    return false;
}

static FencePoint point_for(const FenceSearch *search, const Breach *breach) {
    const Op *const *ops = fence_runs_machine(search->runs)->program->ops;
    const Op *access = ops[breach->other_pc];
    bool forwarded = breach->agent != breach->other_agent;
    const Op *before = !forwarded ? ops[breach->pc] : breach->arrive_pc != NO_PC ? ops[breach->arrive_pc] : access;
    bool after = before == access || (!breach->delayed && is_deeper(before, access));
    return (FencePoint){after ? access : before, after, breach->wide};
}

/* False: it is there already, and is not enough. */
static bool add_point(FenceSearch *search, FencePoint point) {
    for (size_t i = 0; i < search->point_count; i++) {
        FencePoint *known = &search->points[i];
        if (known->op != point.op || known->after != point.after)
            continue;
        bool wider = point.wide && !known->wide;
        known->wide |= point.wide;
        return wider;
    }
    if (search->point_count == MOST_POINTS)
        return false;
    search->points[search->point_count++] = point;
    return true;
}

static const Breach *first_missing(FenceSearch *search) {
    uint32_t count;
    proxies_edit(search->proxies, search->points, search->point_count, search->without, search->without_count);
    fence_runs_again(search->runs);
    const Breach *found = proxies_found(search->proxies, &count);
    for (uint32_t i = 0; i < count; i++)
        if (found[i].kind <= BREACH_LATE && !found[i].reads)
            return &found[i];
    return NULL;
}

static bool insert_all(FenceSearch *search) {
    const Breach *breach;
    while ((breach = first_missing(search))) {
        FencePoint point = point_for(search, breach);
        FencePoint behind = {fence_runs_machine(search->runs)->program->ops[breach->other_pc], true, breach->wide};
        if (!add_point(search, point) && !add_point(search, behind))
            return false;
    }
    return true;
}

/* ---- Taking out ----------------------------------------------------------------------------------- */

static void take_out_points(FenceSearch *search) {
    for (size_t i = 0; i < search->point_count;) {
        FencePoint left_out = search->points[i];
        size_t rest = search->point_count - i - 1;
        memmove(&search->points[i], &search->points[i + 1], rest * sizeof left_out);
        search->point_count--;
        if (suffices(search))
            continue;
        memmove(&search->points[i + 1], &search->points[i], rest * sizeof left_out);
        search->points[i++] = left_out;
        search->point_count++;
    }
}

bool op_is_fence(const Op *op) {
    return op->row && op->row->id == OP_ttng_fence_async_shared;
}

static void take_out_present(FenceSearch *search) {
    for (const Op *op = search->function; op; op = op_next_in_walk(op, search->function)) {
        if (!op_is_fence(op))
            continue;
        search->without[search->without_count++] = op;
        if (!suffices(search))
            search->without_count--;
    }
}

/* ---- All of it ------------------------------------------------------------------------------------ */

/* Notes what is missing in the kernel as it is, which was run just now. */
static void begin(FenceSearch *search, FenceRuns *runs, Proxies *proxies) {
    const Op *unknown;
    for (const Op *op = search->function; op; op = op_next_in_walk(op, search->function))
        search->present += op_is_fence(op);
    search->without = ARENA_ARRAY(&search->module->arena, const Op *, search->present + 1);
    search->runs = runs;
    search->proxies = proxies;
    search->sure = fence_runs_complete(runs) && proxies_saw_all(proxies) && !proxies_problem(proxies, &unknown);
    search->lack = lack_of(proxies);
}

static void plan(FenceRuns *runs, Proxies *proxies, void *context) {
    FenceSearch *search = context;
    *search = (FenceSearch){.module = search->module, .function = search->function};
    fence_runs_again(runs);
    begin(search, runs, proxies);
    search->settled = insert_all(search);
    if (!search->settled)
        return;
    search->lack.writes = 0;
    take_out_points(search);
    if (search->sure)
        take_out_present(search);
}

const Op *const *fences_needless(Module *module, const Op *function, FenceRuns *runs, Proxies *proxies, size_t *count) {
    FenceSearch *search = ARENA_NEW(&module->arena, FenceSearch);
    search->module = module;
    search->function = function;
    begin(search, runs, proxies);
    if (search->sure && (fence_runs_steps(runs) + 1) * (search->present + 1) < most_steps)
        take_out_present(search);
    *count = search->without_count;
    return search->without;
}

FencePlan fences_plan(Module *module, const Op *function, const Launch *launch, Verdict *verdict) {
    FenceSearch *search = ARENA_NEW(&module->arena, FenceSearch);
    search->module = module;
    search->function = function;
    search->settled = true;
    if (proxies_matter(module, function))
        fence_runs(module, function, (FenceLaunch){.launch = launch}, verdict, plan, search);
    return (FencePlan){search->points, search->point_count, search->without, search->without_count, search->settled};
}

static Op *make_fence(Module *module, const FencePoint *point) {
    Op *op = edit_new_op(module, OP_ttng_fence_async_shared, point->op);
    NamedAttr *entry = ARENA_NEW(&module->arena, NamedAttr);
    Attr *value = ARENA_NEW(&module->arena, Attr), *dict = ARENA_NEW(&module->arena, Attr);
    *value = (Attr){
        .text = point->wide ? STR("true") : STR("false"), .kind = ATTR_BOOL, .exact = true, .integer = point->wide};
    *entry = (NamedAttr){STR("bCluster"), value};
    *dict = (Attr){.text = point->wide ? STR("{bCluster = true}") : STR("{bCluster = false}"),
                   .kind = ATTR_DICT,
                   .count = 1,
                   .entries = entry};
    op->dict = dict;
    return op;
}

void fences_emit(Module *module, const FencePlan *plans, size_t count, Text *to) {
    size_t most = 0, made = 0;
    for (size_t i = 0; i < count; i++)
        most += plans[i].point_count + plans[i].without_count;
    Edit *edits = ARENA_ARRAY(&module->arena, Edit, most + 1);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < plans[i].point_count; k++) {
            const FencePoint *point = &plans[i].points[k];
            edits[made++] = (Edit){make_fence(module, point), point->op, point->after};
        }
        for (size_t k = 0; k < plans[i].without_count; k++)
            edits[made++] = (Edit){.op = (Op *)plans[i].without[k]};
    }
    edits_print(module, edits, made, to);
}
