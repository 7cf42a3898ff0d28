/* All but global memory: deadlocks, barriers, shared and tensor memory, for all trip counts.
 *
 * The kernel is run with trip counts from the least on, until runs speak for all larger ones (family.h). Each of these
 * runs decides for all schedules, since nothing in it depends on luck (machine/tile/schedule/happens_before.h), and
 * shows the races of shared and tensor memory (check/tile/run/races.h). What a run finds wrong at the smallest trip
 * counts becomes a precondition; anything else is open. Thread barriers are looked at over all paths elsewhere
 * (check/membar). */
#include "check/prove/sync_internal.h"

#include "ir/op.h"
#include "machine/tile/compile/slice.h"
#include "model/effect/inline_ptx.h"

enum {
    CLOCK_PADDING = 8,
    MOST_RUNS = 8192,
    MOST_FORKS = 4,
    MOST_POINTS = 96,
    FEW_TRIPS = 3,
    MOST_LEAST = 4,
    MOST_TRIES = 6
};
static const uint64_t run_budget = 200 * 1000;
static const size_t scratch_budget = (size_t)1 << 28;

/* ---- One run -------------------------------------------------------------------------------------- */

static void observe(void *observer, const Event *event) {
    SyncProof *sync = observer;
    happens_before_observe(sync->happens_before, event);
    races_observe(sync->races, event);
    if (sync->proxies)
        proxies_observe(sync->proxies, event);
}

/* Epochs of fences have components of their own, behind those of the order of causes. */
typedef struct FenceVisit {
    const StateVisit *visit;
    uint32_t first;
} FenceVisit;

static void visit_fence_epoch(void *context, uint32_t component, uint64_t value) {
    const FenceVisit *of = context;
    visit_epoch(of->visit, of->first + component, value);
}

static void visit_fence_number(void *context, uint64_t number) {
    const FenceVisit *of = context;
    visit_number(of->visit, number);
}

static void visit_observers(void *context, const StateVisit *visit) {
    const SyncProof *sync = context;
    FenceVisit behind = {visit, sync->machine->agent_count + sync->machine->slot_count + CLOCK_PADDING};
    const StateVisit of_fences = {&behind, visit_fence_number, visit_fence_epoch};
    happens_before_visit(sync->happens_before, visit);
    races_visit(sync->races, visit);
    if (sync->proxies)
        proxies_visit(sync->proxies, &of_fences);
}

void sync_open(SyncProof *sync, const Op *op, const char *reason, const char *text) {
    if (!sync->open)
        proof_open(sync->prover, op, reason, "%s", text);
    sync->open = true;
}

static bool has_leftover(const Machine *machine) {
    for (uint32_t i = 0; i < machine->slot_count; i++)
        if (machine->state->barriers[i].life != BARRIER_NEVER && machine->state->barriers[i].bytes)
            return true;
    return machine->state->unread != 0;
}

/* Where the first agent is that waits for a barrier; NULL: none does. */
static const Op *first_that_waits(const SyncProof *sync) {
    const State *state = sync->machine->state;
    for (uint32_t i = 0; i < sync->machine->agent_count; i++)
        if (state->agents[i].status >= AGENT_WAITS && state->agents[i].status <= AGENT_CLUSTER)
            return sync->program->ops[state->agents[i].pc];
    return NULL;
}

/* What is wrong with the run that was made; races that are notes are none. */
static const char *judge(SyncProof *sync, RunEnd end, const Op **op) {
    uint32_t count, barrier;
    *op = NULL;
    if (end == RUN_STUCK) {
        *op = first_that_waits(sync);
        return "in a run, this waits forever";
    }
    if (end == RUN_FAULT) {
        *op = sync->program->ops[sync->machine->fault.pc];
        return "a run misuses its barrier";
    }
    if (has_leftover(sync->machine))
        return "a run leaves bytes over on a barrier";
    if (happens_before_overrun(sync->happens_before, &barrier))
        return "in a run, a phase completes that nothing has waited for";
    const Race *races = races_found(sync->races, &count);
    for (uint32_t i = 0; i < count; i++)
        if (races[i].kind != RACE_EXIT && races[i].kind != RACE_APART) {
            *op = sync->program->ops[races[i].pc];
            return "in a run, nothing orders it and an access before it";
        }
    return NULL;
}

/* False: something is open, or trip counts were found that were not there before. */
static bool run(SyncProof *sync) {
    Machine *machine = sync->machine;
    jmp_buf *exhausted = sync->scratch.exhausted;
    const Op *op;
    if (sync->open || prover_is_late(sync->prover))
        return false;
    if (sync->scratch.held) {
        arena_free(&sync->scratch);
        arena_init(&sync->scratch, scratch_budget);
    }
    sync->scratch.exhausted = exhausted;
    machine->budget = run_budget;
    machine->atomic_capacity = 0;
    races_clear(sync->races);
    happens_before_start(sync->happens_before);
    races_start(sync->races, 0, 0, false);
    if (sync->proxies)
        proxies_start(sync->proxies, 0, false);
    family_start(sync->family, &sync->run);
    RunEnd end = schedule_run(machine, 0, &(Schedule){.kind = SCHEDULE_EAGER});
    sync->runs += !sync->run.guesses;
    if (family_is_new(sync->family) || sync->run.guesses)
        return false;
    const char *problem = family_problem(sync->family, &op), *unknown = races_problem(sync->races, &op);
    if (problem) {
        (void)family_problem(sync->family, &op);
        sync_open(sync, op, "depends", problem);
    } else if (end == RUN_UNKNOWN) {
        sync_open(sync, machine->unknown_op, "unknown", machine->unknown);
    } else if (end != RUN_COMPLETE && end != RUN_STUCK && end != RUN_FAULT) {
        sync_open(sync, NULL, "budget", "a run takes more steps than a proof makes");
    } else if (machine->choices || machine->loads_chosen || machine->counted) {
        sync_open(sync, machine->first_choice, "depends", "what it does depends on data");
    } else if (unknown || (sync->proxies && (unknown = proxies_problem(sync->proxies, &op)))) {
        sync_open(sync, op, "unknown", unknown);
    }
    sync->wrong = judge(sync, end, &sync->wrong_op);
    uint32_t sensitive;
    (void)happens_before_sensitive(sync->happens_before, &sensitive);
    sync->sensitive |= sensitive != 0;
    return !sync->open;
}

/* ---- Trip counts ---------------------------------------------------------------------------------- */

/* The number with which the loop makes so many trips, or a few more. */
static int64_t trips_at(const TripCount *count, int64_t trips) {
    return count->from + (trips * count->step + count->factor - 1) / count->factor;
}

/* The number of trips that the first loop makes in the run. */
static int64_t trips_of(const SyncProof *sync, uint32_t count) {
    const TripCount *of = &sync->counts[count];
    int64_t span = of->factor * sync->run.trips[count] + of->more;
    return span > 0 ? (span + of->step - 1) / of->step : 0;
}

static void say_wrong(SyncProof *sync) {
    Text text = {0};
    text_addf(&text, "%s", sync->wrong);
    for (uint32_t i = 0; i < sync->count; i++)
        text_addf(&text, "%s %lld trip%s of the loop at IR line %u", i ? " and" : ", with",
                  (long long)trips_of(sync, i), trips_of(sync, i) == 1 ? "" : "s",
                  op_line(sync->prover->module, sync->counts[i].loop));
    sync_open(sync, sync->wrong_op, "wrong", text_keep(&text, sync->prover->arena));
}

/* Runs until no more trip counts and conditions come up. */
static bool discover(SyncProof *sync) {
    for (;;) {
        uint32_t before = sync->count;
        for (uint32_t i = 0; i < sync->count; i++)
            sync->run.trips[i] = trips_at(&sync->counts[i], FEW_TRIPS);
        sync->run.guesses = true; /* a slot may hang on what is a trip count of a loop that comes later */
        bool done = run(sync) || family_is_new(sync->family);
        sync->run.guesses = false;
        done = !done && run(sync);
        sync->count = family_trip_counts(sync->family, &sync->counts);
        for (uint32_t i = before; i < sync->count; i++)
            sync->least[i] = sync->counts[i].from;
        if (sync->open || prover_is_late(sync->prover))
            return false;
        if (done)
            return true;
        if (sync->runs > MOST_POINTS)
            return false;
    }
}

/* A run with so many trips of one loop, and `others` of the rest. */
static bool measure_one(SyncProof *sync, uint32_t count, int64_t trips, int64_t others, int32_t streak) {
    for (uint32_t k = 0; k < sync->count; k++)
        sync->run.trips[k] = trips_at(&sync->counts[k], k == count ? trips : others);
    sync->run.watches = streak;
    sync->run.measures = !streak;
    bool done = run(sync);
    sync->run.watches = 0;
    sync->run.measures = false;
    return done;
}

/* Runs with so many trips show which registers count, and after how many trips the state is the same: whether the
 * others make an even number of trips or an odd one. */
static bool measure_with(SyncProof *sync, int64_t trips, int32_t streak) {
    bool all = true;
    family_forget(sync->family);
    for (uint32_t i = 0; i < sync->count; i++) {
        if (!measure_one(sync, i, trips, FEW_TRIPS, streak) || !measure_one(sync, i, trips, FEW_TRIPS, 0))
            return false;
        int64_t period = sync->counts[i].period;
        if (period && sync->count > 1) {
            sync->counts[i].period = 0;
            if (!measure_one(sync, i, trips, FEW_TRIPS + 1, 0))
                return false;
            int64_t other = sync->counts[i].period;
            sync->counts[i].period = other ? period / shift_divisor(period, other) * other : 0;
        }
    }
    for (uint32_t i = 0; i < sync->count; i++)
        all &= sync->counts[i].period != 0;
    return all;
}

static bool measure(SyncProof *sync) {
    if (measure_with(sync, 44, 12) || (!sync->open && measure_with(sync, 150, 16)))
        return true;
    if (sync->wrong && !sync->open)
        say_wrong(sync);
    for (uint32_t i = 0; i < sync->count; i++)
        if (!sync->counts[i].period)
            sync_open(sync, sync->counts[i].loop, "recurrence", "no state of it recurs");
    return false;
}

/* ---- All of them ---------------------------------------------------------------------------------- */

/* How far the runs with one more trip count go, and whether they speak for the rest. */
typedef struct SyncReach {
    int64_t reach[MOST_TRIP_COUNTS]; /* the least of all runs */
    bool speaks[MOST_TRIP_COUNTS];
} SyncReach;

/* Something is wrong: a precondition excludes it, if that is about few trips; else it is open. False: it is open. */
static bool exclude(SyncProof *sync) {
    for (uint32_t i = 0; i < sync->count; i++) {
        const TripCount *count = &sync->counts[i];
        int64_t most = trips_at(count, MOST_LEAST), first = sync->run.trips[i], step = trips_at(count, 1) - count->from;
        int64_t reach = family_reach(sync->family, i);
        if (sync->run.down[i] || (first >= sync->least[i] && first < most && first < sync->least[i] + step)) {
            sync->least[i] = first + 1 + (!sync->run.down[i] && reach < step ? reach : 0);
            return true;
        }
    }
    say_wrong(sync);
    return false;
}

static bool sweep(SyncProof *sync, uint32_t at, SyncReach *of, bool *again);

/* The runs with that value. False: stop, and begin again if *again. */
static bool take_point(SyncProof *sync, uint32_t at, SyncReach *of, bool *again) {
    SyncReach inner = {.reach = {0}};
    if (at + 1 < sync->count) {
        if (!sweep(sync, at + 1, &inner, again))
            return false;
    } else {
        if (sync->runs > MOST_RUNS) {
            sync_open(sync, NULL, "budget", "more runs would be needed than a proof makes");
            return false;
        }
        unsigned tries = 0;
        do {
            if (!run(sync))
                return false;
            if (sync->wrong) {
                *again = exclude(sync);
                return false;
            }
        } while (family_learned(sync->family) && ++tries < MOST_TRIES);
        Proof *proof = sync->prover->proof;
        ProofRun *made = ARENA_PUSH(sync->prover->arena, proof->runs, proof->run_count, proof->run_capacity);
        *made = (ProofRun){.conditions = sync->run.conditions};
        for (uint32_t i = 0; i < sync->count; i++) {
            made->trips[i] = sync->run.trips[i];
            made->down[i] = sync->run.down[i];
            made->reach[i] = inner.reach[i] = family_reach(sync->family, i);
            made->speaks[i] = inner.speaks[i] = family_speaks(sync->family, i);
        }
    }
    for (uint32_t i = 0; i < sync->count; i++) {
        of->reach[i] = inner.reach[i] < of->reach[i] ? inner.reach[i] : of->reach[i];
        of->speaks[i] &= inner.speaks[i];
    }
    return true;
}

static bool sweep(SyncProof *sync, uint32_t at, SyncReach *of, bool *again) {
    const TripCount *count = &sync->counts[at];
    int64_t value = sync->least[at], covered = 0;
    uint32_t points = 0;
    for (uint32_t i = 0; i < sync->count; i++) {
        of->reach[i] = SHIFT_NO_LIMIT;
        of->speaks[i] = true;
    }
    if (!count->counts && value <= count->from) { /* those with which the loop is not entered, however small */
        SyncReach down = {.reach = {SHIFT_NO_LIMIT, SHIFT_NO_LIMIT}, .speaks = {true, true}};
        sync->run.trips[at] = count->from;
        sync->run.down[at] = true;
        bool good = take_point(sync, at, &down, again);
        sync->run.down[at] = false;
        if (!good)
            return false;
        if (!down.speaks[at]) {
            sync->least[at] = count->from + 1;
            *again = true;
            return false;
        }
        for (uint32_t i = 0; i < sync->count; i++)
            if (i != at) {
                of->reach[i] = down.reach[i] < of->reach[i] ? down.reach[i] : of->reach[i];
                of->speaks[i] &= down.speaks[i];
            }
        value = count->from + 1;
    }
    while (covered < count->period) {
        SyncReach one = {.reach = {SHIFT_NO_LIMIT, SHIFT_NO_LIMIT}, .speaks = {true, true}};
        if (points++ > MOST_POINTS) {
            sync_open(sync, count->loop, "recurrence",
                      "runs with more trips are not shown to do the same as those with fewer");
            return false;
        }
        sync->run.trips[at] = value;
        if (!take_point(sync, at, &one, again))
            return false;
        bool all = one.reach[at] == SHIFT_NO_LIMIT; /* it is compared with nothing that is larger */
        int64_t step = all ? count->period : (one.reach[at] < INT32_MAX ? one.reach[at] : INT32_MAX) + 1;
        if (!covered && value > sync->steady[at])
            sync->steady[at] = value;
        covered = one.speaks[at] || all ? covered + step : 0;
        value += step;
        for (uint32_t i = 0; i < sync->count; i++)
            if (i != at) {
                of->reach[i] = one.reach[i] < of->reach[i] ? one.reach[i] : of->reach[i];
                of->speaks[i] &= one.speaks[i];
            }
    }
    of->speaks[at] = true;
    return true;
}

/* Preconditions for the trip counts that the runs leave out. */
static void require_trips(SyncProof *sync) {
    for (uint32_t i = 0; i < sync->count; i++) {
        const TripCount *count = &sync->counts[i];
        if (sync->least[i] <= count->from)
            continue;
        Quantity trips = prover_trips(sync->prover, count->loop);
        if (trips == QUANTITY_NONE || quantity_varies(&sync->prover->proof->quantities, trips)) {
            sync_open(sync, count->loop, "wrong",
                      "something goes wrong with few trips, and a launch does not say how many there are");
            return;
        }
        /* more trips than with any number below the least */
        int64_t span = count->factor * (sync->least[i] - 1) + count->more;
        int64_t least = (span > 0 ? (span + count->step - 1) / count->step : 0) + 1;
        Condition condition = {.kind = CONDITION_AT_LEAST,
                               .a = trips,
                               .b = quantity_constant(&sync->prover->proof->quantities, least),
                               .op = count->loop};
        proof_require(sync->prover, &condition, NULL);
    }
}

static bool cover(SyncProof *sync) {
    bool again = true;
    Proof *proof = sync->prover->proof;
    uint32_t before = proof->run_count;
    for (uint32_t tries = 0; again && tries < 2 * MOST_LEAST * MOST_TRIP_COUNTS; tries++) {
        SyncReach reach;
        again = false;
        proof->run_count = before; /* runs that something less speaks for are of no use */
        if (!sync->count) {
            if (!run(sync))
                return false;
            *ARENA_PUSH(sync->prover->arena, proof->runs, proof->run_count, proof->run_capacity) =
                (ProofRun){.conditions = sync->run.conditions};
            if (sync->wrong)
                say_wrong(sync);
            return !sync->open;
        }
        if (sweep(sync, 0, &reach, &again))
            return true;
    }
    return false;
}

bool sync_cover_all(SyncProof *sync) {
    uint32_t conditions;
    sync->run.conditions = 0;
    if (!discover(sync))
        return false;
    do {
        conditions = family_conditions(sync->family);
        sync->prover->proof->run_count = 0;
        if (conditions > MOST_FORKS) {
            sync_open(sync, NULL, "depends", "synchronization depends on more conditions than are checked together");
            return false;
        }
        for (uint32_t mask = 0; mask < 1u << conditions && !sync->open; mask++) {
            sync->run.conditions = mask;
            if (!discover(sync) || (sync->count && !measure(sync)))
                return false;
            if (!cover(sync)) {
                sync_open(sync, NULL, "recurrence",
                          "runs with more trips are not shown to do the same as those with fewer");
                return false;
            }
        }
    } while (family_conditions(sync->family) > conditions && !sync->open);
    return !sync->open;
}

/* Bounds of loops, and numbers that grow with them, are not to wrap around: that is asked of a launch. */
static void bound_numbers(SyncProof *sync) {
    Prover *prover = sync->prover;
    Quantities *quantities = &prover->proof->quantities;
    for (const Op *op = prover->function; op; op = op_next_in_walk(op, prover->function))
        if (op_is_control(op, CONTROL_LOOP))
            (void)prover_trips(prover, op);
    for (uint32_t i = 0; i < sync->count; i++) {
        const TripCount *count = &sync->counts[i];
        FamilyGrowth growth = family_growth(sync->family, i);
        Quantity trips = prover_trips(prover, count->loop);
        int64_t each;
        if (!growth.fastest || trips == QUANTITY_NONE || quantity_has_data(quantities, trips))
            continue;
        if (__builtin_mul_overflow(growth.fastest, count->step, &each) || growth.largest > INT32_MAX) {
            sync_open(sync, count->loop, "recurrence", "numbers wrap around after few trips");
            return;
        }
        prover->proof->counts[i].fastest = (each - 1) / count->factor + 1;
        prover->proof->counts[i].trips = trips;
        prover->proof->counts[i].limit = INT32_MAX - growth.largest;
        trips = quantity_multiply(quantities, trips, quantity_constant(quantities, (each - 1) / count->factor + 1));
        quantity_bound(quantities, trips, INT32_MIN, INT32_MAX - growth.largest);
    }
}

/* What was run, for the certificate. */
static void keep_counts(SyncProof *sync) {
    Proof *proof = sync->prover->proof;
    _Static_assert((int)PROOF_COUNTS == (int)MOST_TRIP_COUNTS, "runs have as many trip counts");
    proof->count_count = sync->count;
    proof->condition_count = family_conditions(sync->family);
    for (uint32_t i = 0; i < sync->count; i++) {
        const TripCount *count = &sync->counts[i];
        proof->counts[i] = (ProofCount){.loop = count->loop,
                                        .factor = count->factor,
                                        .more = count->more,
                                        .step = count->step,
                                        .from = count->from,
                                        .period = count->period,
                                        .least = sync->least[i],
                                        .counts = count->counts};
    }
}

static void prove_runs(SyncProof *sync) {
    if (!sync_cover_all(sync))
        return;
    if (sync->sensitive)
        sync_open(sync, NULL, "order", "barriers alone do not decide the order of arrivals");
    if (sync->proxies && (sync->count || family_conditions(sync->family)))
        sync_fences(sync);
    keep_counts(sync);
    if (sync->count)
        bound_numbers(sync);
    if (sync->count)
        proof_assume(sync->prover, "integers do not wrap around, and sizes and divisors are positive");
    if (!sync->open)
        require_trips(sync);
}

/* ---- The kernel ----------------------------------------------------------------------------------- */

/* Inline assembly that does more than compute data; NULL: there is none. */
static const Op *assembly_that_counts(const SyncProof *sync) {
    const Op *root = proxies_scope(sync->prover->function);
    Effect effects[EFFECTS_MOST];
    for (const Op *op = root; op; op = op_next_in_walk(op, root)) {
        bool wanted = is_inline_ptx(op) && effects_of(sync->prover->module, op, effects);
        for (uint32_t i = 0; is_inline_ptx(op) && i < op->result_count; i++)
            wanted |= slice_has(sync->program->slice, &op->results[i]);
        if (wanted)
            return op;
    }
    return NULL;
}

static void prepare(SyncProof *sync) {
    Prover *prover = sync->prover;
    Verdict ignored = {.arena = prover->arena};
    const char *problem = NULL;
    bool matter = proxies_matter(prover->module, prover->function);
    unsigned flags = matter && sync_makes_descriptors(prover) ? COMPILE_GLOBAL : 0;
    sync->program = program_compile(prover->module, prover->function, flags, &ignored);
    if (!sync->program || ignored.incomplete_count || sync->program->unknowns || sync->program->planned) {
        sync_open(sync, NULL, "unknown",
                  ignored.incomplete_count ? ignored.incomplete[0].reason : "it has ops that are not known");
        return;
    }
    const Op *assembly = assembly_that_counts(sync);
    if (assembly) {
        sync_open(sync, assembly, "assembly", "what it reads, and what it does to the order of things, is not checked");
        return;
    }
    sync->family = family_create(&sync->work, sync->program);
    sync->machine = machine_create(&sync->work, family_program(sync->family), &problem);
    sync->races = sync->machine ? races_create(&sync->work, sync->machine, false, &problem) : NULL;
    if (!sync->races) {
        sync_open(sync, NULL, "unknown", problem);
        return;
    }
    if (matter && !(sync->proxies = proxies_create(&sync->work, sync->machine, &problem))) {
        sync_open(sync, NULL, "unknown", problem);
        return;
    }
    sync->happens_before = happens_before_create(&sync->work, sync->machine);
    sync->machine->arena = &sync->scratch;
    sync->machine->observe = observe;
    sync->machine->observer = sync;
    sync->launch = (Launch){.grid = {1, 1, 1}, .chosen = true};
    for (int axis = 0; axis < 3; axis++)
        if (sync->program->ranks_are_programs && sync->program->cluster[axis])
            sync->launch.grid[axis] = sync->program->cluster[axis];
    machine_launch(sync->machine, &sync->launch);
    family_follow(sync->family, sync->machine, visit_observers, sync);
    prove_runs(sync);
}

/* What was shown, for people. */
static void describe(SyncProof *sync) {
    Prover *prover = sync->prover;
    for (uint32_t i = 0; i < sync->count && !sync->open; i++) {
        const TripCount *count = &sync->counts[i];
        int64_t trips = (count->factor * sync->steady[i] + count->more + count->step - 1) / count->step;
        proof_step(prover, "loop at line %u: with %lld trips and more, its state recurs after %lld trips",
                   op_line(prover->module, count->loop), (long long)(trips > 0 ? trips : 0),
                   (long long)((count->factor * count->period + count->step - 1) / count->step));
    }
    if (!sync->open)
        proof_step(prover, "barriers, shared and tensor memory: %u run%s for all trip counts, in every schedule",
                   sync->runs, sync->runs == 1 ? "" : "s");
}

void prove_sync(Prover *prover) {
    jmp_buf out_of_memory, *outer = prover->module->arena.exhausted;
    SyncProof *const sync = ARENA_NEW(prover->arena, SyncProof);
    sync->prover = prover;
    sync->run.end = prover->end;
    arena_init(&sync->work, scratch_budget);
    arena_init(&sync->scratch, scratch_budget);
    sync->work.exhausted = sync->scratch.exhausted = prover->module->arena.exhausted = &out_of_memory;
    if (setjmp(out_of_memory) == 0) {
        prepare(sync);
        prover->module->arena.exhausted = outer;
    } else {
        prover->module->arena.exhausted = outer;
        sync->open = false;
        sync_open(sync, NULL, "budget", "it takes more memory than a proof has");
    }
    describe(sync);
    arena_free(&sync->work);
    arena_free(&sync->scratch);
}
