/* The dataflow: what is pending before each op, on some way to it, until nothing changes any more.
 *
 * A run either puts barriers where conflicts are, or leaves them as they are and notes what each of them is good for.
 * For that a barrier does not end an access but tags it; the second barrier ends it. A conflict with an access that has
 * a tag is one that this barrier alone parts. */
#include "base/deadline.h"
#include "check/membar/internal.h"

const char membar_too_late[] = "timed out (raise --timeout)";
static const uint64_t most_work = 100 * 1000 * 1000;
enum { MOST_VISITS_A_PIECE = 2000, MOST_NOTED = 64 /* conflicts of one access in one place */ };

typedef struct MembarRun {
    Membar *membar;
    unsigned passes;
    RunMode mode;
    Notes *notes; /* NULL: not noting now */
    MembarWork work;
    bool *in_entry; /* by access: it is in the summary */
    const MembarState **outputs;
} MembarRun;

static uint64_t limit_of(const Membar *membar) {
    return membar->work_limit ? membar->work_limit : most_work;
}

/* Whether it takes too long. What was found until then stays, and a problem says that it is not all. */
static bool is_exhausted(Membar *membar) {
    bool late = deadline_passed();
    if (membar->work <= limit_of(membar) && !late)
        return false;
    membar->gave_up = membar->improving;
    if (!membar->improving)
        membar_problem(membar, membar->function, late ? membar_too_late : "it is too large to be checked in full");
    return true;
}

/* ---- Barriers -------------------------------------------------------------------------------------------------- */

static bool keep_flying(Entry *entry, void *context) {
    (void)context;
    return entry->flying;
}

/* Every thread is here. What is in flight stays so: a barrier completes no copy. */
static void synchronize(MembarRun *run) {
    if (run->work.entry_count)
        membar_work_filter(&run->work, keep_flying, NULL);
    run->work.synced = true;
}

static bool tag_entry(Entry *entry, void *context) {
    uint32_t tag = *(const uint32_t *)context;
    if (entry->flying || entry->tag == tag) /* the same barrier again is not another one */
        return true;
    if (entry->tag)
        return false;
    entry->tag = tag;
    return true;
}

static void note_crossing(MembarRun *run, uint32_t barrier) {
    Notes *notes = run->notes;
    MembarBarrier *here = &notes->barriers[barrier];
    for (uint32_t i = 0; i < run->work.entry_count; i++) {
        const Entry *entry = &run->work.entries[i];
        if (entry->flying)
            continue;
        if (!entry->tag) {
            here->untagged = true;
            continue;
        }
        if (entry->tag == barrier + 1)
            continue;
        here->before = entry->tag;
        MembarBarrier *before = &notes->barriers[entry->tag - 1];
        if (before->next == barrier + 1)
            continue;
        before->next = barrier + 1;
        *ARENA_PUSH(run->membar->run, notes->pairs, notes->pair_count, notes->pair_capacity) =
            (NextPair){entry->tag - 1, barrier};
    }
}

/* A barrier that could be somewhere else, or nowhere: 2 * node, or 2 * node + 1 for the one after it. */
static void cross(MembarRun *run, uint32_t barrier) {
    if (run->mode == RUN_INSERT) {
        synchronize(run);
        return;
    }
    if (run->notes)
        note_crossing(run, barrier);
    uint32_t tag = barrier + 1;
    membar_work_filter(&run->work, tag_entry, &tag);
    run->work.synced = true;
}

/* ---- Conflicts ------------------------------------------------------------------------------------------------- */

/* The loop farthest out that holds the node but not what the hazard starts with, and that has a place before it;
 * FLOW_NONE: none. */
static uint32_t hoist_limit(const Membar *membar, uint32_t node, uint32_t since) {
    const Flow *flow = &membar->flow;
    uint32_t found = FLOW_NONE;
    if (since == SINCE_UNKNOWN)
        return found;
    for (uint32_t loop = flow->loop_of[membar->nodes[node].number]; loop != FLOW_NONE;
         loop = flow->loops[loop].parent) {
        if (flow_loop_holds(flow, loop, membar->nodes[since].number))
            break;
        if (!flow->loops[loop].first_block)
            found = loop;
    }
    return found;
}

/* The smaller of two loops that are inside each other. */
static uint32_t inner_loop(const Membar *membar, uint32_t a, uint32_t b) {
    if (a == FLOW_NONE || b == FLOW_NONE)
        return FLOW_NONE;
    return flow_loop_has(&membar->flow, a, b) ? b : a;
}

static bool same_hazard(const MembarHazard *a, const MembarHazard *b) {
    return a->first == b->first && a->second == b->second && a->kind == b->kind && a->loop == b->loop &&
           a->first_buffer == b->first_buffer && a->second_buffer == b->second_buffer;
}

static void note_hazard(MembarRun *run, const Entry *entry, const Access *second, uint32_t node) {
    Membar *membar = run->membar;
    bool of_caller = entry->access == membar->callers; /* which has to part it itself, if nothing does here */
    if (!entry->tag) {
        run->notes->open += !of_caller;
        return;
    }
    MembarBarrier *barrier = &run->notes->barriers[entry->tag - 1];
    barrier->for_callers |= of_caller;
    if (of_caller)
        return;
    MembarHazard hazard = membar_hazard(membar, entry, second, membar->nodes[node].number);
    uint32_t limit = hoist_limit(membar, (entry->tag - 1) / 2, entry->since);
    barrier->hoist = barrier->hoist_known ? inner_loop(membar, barrier->hoist, limit) : limit;
    barrier->hoist_known = true;
    for (uint32_t i = 0; i < barrier->kept; i++)
        if (same_hazard(&barrier->hazards[i], &hazard))
            return;
    if (!barrier->hazards)
        barrier->hazards = ARENA_ARRAY(membar->run, MembarHazard, MEMBAR_MOST_HAZARDS);
    barrier->tensor_only = (barrier->tensor_only || !barrier->alone) && hazard.space == SPACE_TENSOR;
    barrier->alone++;
    if (barrier->kept < MEMBAR_MOST_HAZARDS)
        barrier->hazards[barrier->kept++] = hazard;
}

/* Looks at the entries of a list; with RUN_INSERT, gives back the first that conflicts. */
static const Entry *check_list(MembarRun *run, uint32_t list, const Access *access, uint32_t node) {
    Membar *membar = run->membar;
    int noted = 0;
    for (uint32_t i = list; i && noted < MOST_NOTED; i = run->work.links[i - 1].in_list) {
        const Entry *entry = &run->work.entries[i - 1];
        membar->work++;
        if (membar_overlap(membar, entry, access, membar->nodes[node].number, run->passes, run->notes != NULL) !=
            OVERLAP_CONFLICT)
            continue;
        if (run->mode == RUN_INSERT)
            return entry;
        note_hazard(run, entry, access, node);
        noted++;
    }
    return NULL;
}

static const Entry *check(MembarRun *run, const Access *access, uint32_t node) {
    if ((run->mode == RUN_NOTE && !run->notes) || is_exhausted(run->membar))
        return NULL;
    uint32_t neighborhood = run->membar->buffers[access->buffer].neighborhood;
    const Entry *found = check_list(run, run->work.writes[neighborhood], access, node);
    if (!found && (access->kind & ACCESS_WRITE))
        found = check_list(run, run->work.reads[neighborhood], access, node);
    return found;
}

/* A barrier before the node, if one of its accesses conflicts with what is pending. */
static void part(MembarRun *run, uint32_t node, uint32_t first, uint32_t count) {
    Membar *membar = run->membar;
    for (uint32_t i = first; i < first + count; i++) {
        const Access *access = &membar->accesses[i];
        if (!membar_takes_part(membar, access, run->passes))
            continue;
        const Entry *entry = check(run, access, node);
        if (!entry)
            continue;
        if (!membar->nodes[node].placing.before) {
            *MEMBAR_PUSH(membar, reasons, reason) = membar_hazard(membar, entry, access, membar->nodes[node].number);
            membar->nodes[node].placing.reason = membar->reason_count;
        }
        membar->nodes[node].placing.before |= (uint8_t)run->passes;
        synchronize(run);
        return;
    }
}

/* ---- Accesses -------------------------------------------------------------------------------------------------- */

static void add_pending(MembarRun *run, uint32_t access, uint32_t node) {
    Membar *membar = run->membar;
    const Access *made = &membar->accesses[access];
    if (!membar_takes_part(membar, made, run->passes))
        return;
    if (run->notes && !run->work.synced && !run->in_entry[access]) {
        run->in_entry[access] = true;
        membar->summary.entry[membar->summary.entry_count++] = access;
    }
    if (!membar->called && !(made->kind & ACCESS_WRITE) && !membar->written[membar->buffers[made->buffer].neighborhood])
        return; /* nothing writes there */
    if (made->tensor_core || (made->copy && membar->model == MEMBAR_NEAR && !(run->passes & PASS_CLUSTER)))
        return;
    bool flies =
        made->outstanding != OUTSTANDING_NONE && membar->model == MEMBAR_ASYNC && !(run->passes & PASS_CLUSTER);
    Entry entry = {.access = access, .since = node, .flying = flies};
    if (flies)
        entry.young = entry.old = membar_work_keep(&run->work, &entry, 0);
    membar_work_add(&run->work, entry);
}

static void add_all(MembarRun *run, uint32_t first, uint32_t count, uint32_t node) {
    for (uint32_t i = first; i < first + count; i++)
        add_pending(run, i, node);
}

/* ---- Flight ---------------------------------------------------------------------------------------------------- */

/* What is in flight when a step comes. */
typedef struct StepContext {
    const MembarWork *work;
    const OutstandingStep *step;
} StepContext;

static bool is_in_group(const Membar *membar, const Entry *entry, GroupKind group) {
    const Access *access = &membar->accesses[entry->access];
    return entry->flying && access->outstanding == OUTSTANDING_GROUP && access->group == group;
}

/* Whether the wait leaves it in flight, on some way. Its age is then at most what the wait leaves. */
static bool stays(const MembarWork *work, Entry *entry, const OutstandingStep *step) {
    if (step->uncertain || step->count >= AGE_MOST)
        return true;
    if (membar_work_age(work, entry, entry->young) > (int32_t)step->count)
        return false;
    if (membar_work_age(work, entry, entry->old) > (int32_t)step->count)
        entry->old = membar_work_keep(work, entry, (int32_t)step->count);
    return true;
}

static bool sets_overlap(const OriginSet *a, const OriginSet *b) {
    if (!a || !b || a->anything || b->anything)
        return true;
    for (uint32_t i = 0, k = 0; i < a->count && k < b->count;) {
        if (a->items[i] == b->items[k])
            return true;
        if (a->items[i] < b->items[k])
            i++;
        else
            k++;
    }
    return false;
}

static bool fly_on(Entry *entry, void *context) {
    const StepContext *at = context;
    const Membar *membar = at->work->membar;
    const Access *access = &membar->accesses[entry->access];
    if (!entry->flying)
        return true;
    if (at->step->kind == STEP_MBARRIER)
        return access->outstanding != OUTSTANDING_MBARRIER || !sets_overlap(access->through, at->step->through);
    return !is_in_group(membar, entry, at->step->group) || stays(at->work, entry, at->step);
}

/* A copy that was in flight is over. */
static void add_landed(MembarRun *run, Entry entry, uint32_t node) {
    entry.flying = false;
    entry.young = entry.old = 0;
    entry.tag = 0;
    entry.since = node;
    membar_work_add(&run->work, entry);
}

/* What the wait may have seen the end of becomes pending: the thread that waited knows, the others do not. */
static void promote(MembarRun *run, const OutstandingStep *step, uint32_t node) {
    for (uint32_t i = 0, count = run->work.entry_count; i < count; i++) {
        Entry entry = run->work.entries[i];
        if (!is_in_group(run->membar, &entry, step->group))
            continue;
        int32_t age = membar_work_age(&run->work, &entry, entry.old);
        if (step->uncertain || age > (int32_t)step->count || age == run->membar->age_most)
            add_landed(run, entry, node);
    }
}

static void take_steps(MembarRun *run, const MembarNode *node, uint32_t index) {
    const Membar *membar = run->membar;
    if (run->passes & PASS_CLUSTER)
        return;
    for (uint32_t i = node->first_step; i < node->first_step + node->step_count; i++) {
        StepContext context = {&run->work, &membar->steps[i]};
        if (context.step->kind == STEP_COMMIT) {
            run->work.closed[context.step->group]++;
            continue;
        }
        if (context.step->kind == STEP_AWAIT)
            promote(run, context.step, index);
        membar_work_filter(&run->work, fly_on, &context);
    }
}

/* ---- Calls ----------------------------------------------------------------------------------------------------- */

typedef struct CallContext {
    const MembarWork *work;
    const CallEffect *call;
} CallContext;

static bool fly_through(Entry *entry, void *context) {
    const CallContext *at = context;
    const Access *access = &at->work->membar->accesses[entry->access];
    if (!entry->flying || access->outstanding != OUTSTANDING_GROUP)
        return true;
    entry->old = membar_work_keep(at->work, entry, AGE_MOST); /* how many groups it closes is not looked at */
    return !at->call->awaits[access->group];
}

/* What the caller has in flight, after the call. */
static void fly_call(MembarRun *run, const CallEffect *call, uint32_t node) {
    for (uint32_t i = 0, count = run->work.entry_count; i < count; i++) {
        Entry entry = run->work.entries[i];
        const Access *access = &run->membar->accesses[entry.access];
        if (entry.flying && access->outstanding == OUTSTANDING_GROUP && call->promotes[access->group])
            add_landed(run, entry, node);
    }
    CallContext context = {&run->work, call};
    membar_work_filter(&run->work, fly_through, &context);
}

static void visit_call(MembarRun *run, const MembarNode *node, uint32_t index) {
    const CallEffect *call = node->call;
    part(run, index, call->first_entry, call->entry_count);
    for (uint32_t i = call->first_entry; i < call->first_entry + call->entry_count; i++)
        if (run->notes && !run->work.synced && !run->in_entry[i]) {
            run->in_entry[i] = true;
            run->membar->summary.entry[run->membar->summary.entry_count++] = i;
        }
    if (call->synced)
        synchronize(run);
    fly_call(run, call, index);
    for (uint32_t i = call->first_exit; i < call->first_exit + call->exit_count; i++)
        if (membar_takes_part(run->membar, &run->membar->accesses[i], run->passes))
            membar_work_add(&run->work, (Entry){.access = i, .since = index});
    for (uint32_t i = 0; i < call->outstanding_count; i++) {
        Entry entry = {.access = call->first_outstanding + i, .flying = true};
        entry.young = membar_work_keep(&run->work, &entry, call->ages[i][0]);
        entry.old = membar_work_keep(&run->work, &entry, call->ages[i][1]);
        membar_work_add(&run->work, entry);
    }
}

/* ---- One op ---------------------------------------------------------------------------------------------------- */

/* Memory that an op takes for itself: it is written, then, behind a barrier inside the op unless no value crosses
 * warps, read. */
static void visit_scratch(MembarRun *run, const MembarNode *node, uint32_t index) {
    bool counts = membar_takes_part(run->membar, &run->membar->accesses[node->scratch], run->passes);
    part(run, index, node->scratch, 1);
    part(run, index, node->first, node->count);
    add_pending(run, node->scratch, index);
    add_all(run, node->first, node->count, index);
    if ((run->passes & PASS_CLUSTER) ? node->is.cluster : counts && (node->is.stages & STAGE_BETWEEN))
        synchronize(run);
    add_pending(run, node->scratch + 1, index);
}

/* Whether the op is a barrier at that stage, for what is looked at. */
static bool acts(const MembarRun *run, const MembarNode *node, uint8_t stage) {
    if (run->passes & PASS_CLUSTER)
        return stage == STAGE_BEFORE && node->is.cluster && !node->scratch;
    if (!(run->passes & PASS_SHARED))
        return stage == STAGE_BEFORE ? node->is.stages & STAGE_BEFORE || node->is.atomic
                                     : node->is.stages & stage && node->is.atomic;
    return node->is.stages & stage;
}

static void visit_node(MembarRun *run, uint32_t index) {
    Membar *membar = run->membar;
    MembarNode *node = &membar->nodes[index];
    bool threads = !(run->passes & PASS_CLUSTER);
    if (threads ? node->placing.before : node->placing.before & PASS_CLUSTER)
        cross(run, 2 * index);
    if (threads && node->is.present && !node->removed)
        cross(run, 2 * index);
    bool group_wait = op_is(node->op, CLASS_WGMMA_WAIT); /* its barrier is behind the wait */
    if (group_wait)
        take_steps(run, node, index);
    if (acts(run, node, STAGE_BEFORE))
        synchronize(run);
    if (node->is.waits && !node->deferred && membar->model != MEMBAR_ASYNC && run->mode == RUN_INSERT &&
        (run->passes & PASS_SHARED)) {
        node->placing.after |= (uint8_t)run->passes;
        node->automatic = true;
    }
    if (node->call) {
        visit_call(run, node, index);
    } else if (node->scratch) {
        visit_scratch(run, node, index);
    } else {
        part(run, index, node->first, node->count);
        add_all(run, node->first, node->count, index);
    }
    if (!group_wait)
        take_steps(run, node, index);
    if (acts(run, node, STAGE_AFTER))
        synchronize(run);
    if (threads && node->placing.after)
        cross(run, 2 * index + 1);
}

/* ---- Pieces ---------------------------------------------------------------------------------------------------- */

static const MembarState *visit_piece(MembarRun *run, uint32_t piece) {
    const Membar *membar = run->membar;
    const MembarState *input = membar->inputs[piece];
    uint32_t first = membar->piece_nodes[piece], end = membar->piece_nodes[piece + 1];
    if (first == end)
        return input;
    membar_work_load(&run->work, input);
    for (uint32_t i = first; i < end && !is_exhausted(run->membar); i++)
        visit_node(run, i);
    const MembarState *output = membar_work_freeze(&run->work);
    return membar_state_equal(input, output) ? input : output;
}

static const MembarState *nothing_pending(Membar *membar, bool synced) {
    MembarState *state = arena_alloc(membar->run, sizeof *state);
    *state = (MembarState){.synced = synced};
    return state;
}

static const MembarState *over_edge(Membar *membar, const MembarState *state, const FlowEdge *edge) {
    if (edge->all_meet)
        return nothing_pending(membar, true);
    return membar_state_over(membar, state, edge);
}

/* What a function starts with: nothing, or what its callers did and may have in flight. */
static const MembarState *starting_state(MembarRun *run) {
    Membar *membar = run->membar;
    membar_work_load(&run->work, nothing_pending(membar, false));
    for (int group = 0; group < GROUP_KINDS; group++)
        if (membar->foreign[group] && !(run->passes & PASS_CLUSTER))
            membar_work_add(&run->work, (Entry){.access = membar->foreign[group],
                                                .flying = true,
                                                .young = group != GROUP_CP_ASYNC,
                                                .old = AGE_MOST});
    if (membar->callers && run->mode == RUN_NOTE)
        membar_work_add(&run->work, (Entry){.access = membar->callers});
    return membar_work_freeze(&run->work);
}

/* Pieces that have to be looked at again. Triton takes them in the order in which they were found; where the result
 * does not depend on that, the order of the text settles sooner. */
typedef struct RunQueue {
    uint32_t *pieces, head, count, capacity;
    bool *waiting;
    bool in_text_order;
} RunQueue;

static void queue_add(RunQueue *queue, uint32_t piece) {
    if (queue->waiting[piece])
        return;
    queue->waiting[piece] = true;
    if (!queue->in_text_order)
        queue->pieces[(queue->head + queue->count) % queue->capacity] = piece;
    queue->count++;
}

static uint32_t queue_take(RunQueue *queue) {
    uint32_t piece = queue->pieces[queue->head];
    if (queue->in_text_order) {
        for (piece = queue->head; !queue->waiting[piece];)
            piece = (piece + 1) % queue->capacity;
        queue->head = piece;
    } else {
        queue->head = (queue->head + 1) % queue->capacity;
    }
    queue->waiting[piece] = false;
    queue->count--;
    return piece;
}

static void settle(MembarRun *run) {
    Membar *membar = run->membar;
    const Flow *flow = &membar->flow;
    RunQueue queue = {.pieces = ARENA_ARRAY(membar->run, uint32_t, flow->piece_count + 1),
                      .waiting = ARENA_ARRAY(membar->run, bool, flow->piece_count + 1),
                      .capacity = flow->piece_count,
                      .in_text_order = membar->model == MEMBAR_ASYNC || run->mode == RUN_NOTE};
    const MembarState *start = starting_state(run);
    for (uint32_t i = 0; i < flow->piece_count; i++)
        if (flow->pieces[i].entry) {
            membar->inputs[i] = start;
            queue_add(&queue, i);
        }
    uint64_t visits = 0, most_visits = (uint64_t)MOST_VISITS_A_PIECE * (flow->piece_count + 1);
    while (queue.count) {
        uint32_t piece = queue_take(&queue);
        const MembarState *output = visit_piece(run, piece);
        if (++visits > most_visits)
            membar->work = limit_of(membar) + 1;
        if (is_exhausted(membar))
            return;
        if (run->outputs[piece] && membar_state_equal(run->outputs[piece], output))
            continue;
        run->outputs[piece] = output;
        for (uint32_t e = 0; e < flow->pieces[piece].edge_count; e++) {
            const FlowEdge *edge = &flow->edges[flow->pieces[piece].first_edge + e];
            const MembarState *old = membar->inputs[edge->to];
            membar->inputs[edge->to] = membar_state_join(membar, old, over_edge(membar, output, edge));
            if (membar->inputs[edge->to] != old || !run->outputs[edge->to])
                queue_add(&queue, edge->to);
        }
    }
}

/* ---- Notes ----------------------------------------------------------------------------------------------------- */

/* What is left for callers to part. Barriers that are the last before a return are there for them. */
static bool keep_for_callers(Entry *entry, void *context) {
    const MembarRun *run = context;
    if (entry->tag && run->membar->callers)
        run->notes->barriers[entry->tag - 1].for_callers = true;
    return entry->flying || (!entry->tag && entry->access != run->membar->callers);
}

/* Once more over all that was reached, with what is known to come there. */
static void note_all(MembarRun *run, Notes *notes) {
    Membar *membar = run->membar;
    *notes = (Notes){.barriers = ARENA_ARRAY(membar->run, MembarBarrier, 2 * (size_t)membar->node_count + 1)};
    for (uint32_t i = 0; i < 2 * membar->node_count; i++)
        notes->barriers[i].pinned = membar->pinned[i];
    membar->summary = (Summary){.entry = ARENA_ARRAY(membar->run, uint32_t, membar->access_count + 1)};
    membar->proof_count = 0;
    run->in_entry = ARENA_ARRAY(membar->run, bool, membar->access_count + 1);
    run->notes = notes;
    for (uint32_t i = 0; i < membar->flow.piece_count; i++) {
        if (!membar->inputs[i])
            continue;
        const MembarState *output = visit_piece(run, i);
        if (!membar->flow.pieces[i].returns)
            continue;
        membar_work_load(&run->work, output);
        membar_work_filter(&run->work, keep_for_callers, run);
        membar->summary.exit = membar_state_join(membar, membar->summary.exit, membar_work_freeze(&run->work));
    }
    run->notes = NULL;
}

static void empty(Arena *arena) {
    jmp_buf *exhausted = arena->exhausted;
    arena_free(arena);
    arena->exhausted = exhausted;
}

void membar_run(Membar *membar, unsigned passes, RunMode mode, Notes *notes) {
    empty(membar->run);
    MembarRun run = {.membar = membar, .passes = passes, .mode = mode, .work = membar_work_new(membar)};
    membar->inputs = ARENA_ARRAY(membar->run, const MembarState *, membar->flow.piece_count + 1);
    run.outputs = ARENA_ARRAY(membar->run, const MembarState *, membar->flow.piece_count + 1);
    membar->pinned = mode == RUN_NOTE ? ARENA_ARRAY(membar->run, bool, 2 * (size_t)membar->node_count + 1) : NULL;
    settle(&run);
    if (mode == RUN_NOTE)
        note_all(&run, notes);
}

const MembarState *membar_state_at(Membar *membar, unsigned passes, uint32_t piece, uint32_t number) {
    MembarRun run = {.membar = membar, .passes = passes, .mode = RUN_NOTE, .work = membar_work_new(membar)};
    if (!membar->inputs[piece])
        return NULL;
    membar_work_load(&run.work, membar->inputs[piece]);
    for (uint32_t i = membar->piece_nodes[piece]; i < membar->piece_nodes[piece + 1]; i++)
        if (membar->nodes[i].number < number)
            visit_node(&run, i);
    return membar_work_freeze(&run.work);
}
