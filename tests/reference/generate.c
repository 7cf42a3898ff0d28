/* Random barrier programs, of three makes: rings of producers and consumers as real kernels have them, handshakes (some
 * agents signal a barrier, others wait for just that phase), and noise. Rings and handshakes are right when they are
 * made, as far as the way they are made can be; then most get a mistake or two, of the kind that people make. */
#include "reference.h"

typedef struct Random {
    uint64_t state;
} Random;

/* splitmix64 */
static uint64_t draw(Random *random) {
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
static unsigned below(Random *random, unsigned limit) {
    return (unsigned)(draw(random) >> 32) % limit;
}
static bool chance(Random *random, unsigned percent) {
    return below(random, 100) < percent;
}

/* A program being made. */
typedef struct Maker {
    Random random;
    ReferenceProgram *program;
    unsigned counts[REFERENCE_BARRIERS][REFERENCE_BARRIERS]; /* what array i, slot k is to be initialized with */
} Maker;

/* What does not fit is left out. */
static void add(ReferenceSequence *sequence, ReferenceOperation operation) {
    if (sequence->count < REFERENCE_OPERATIONS)
        sequence->operations[sequence->count++] = operation;
}

static bool has_room(const ReferenceSequence *sequence, unsigned operations) {
    return sequence->count + operations <= REFERENCE_OPERATIONS;
}

static void make_agents(Maker *maker, unsigned count) {
    ReferenceProgram *program = maker->program;
    program->agent_count = count;
    program->specialized = count > 1 || chance(&maker->random, 50);
    program->warps[0] = REFERENCE_WARPS;
    for (unsigned i = 1; i < count; i++)
        program->warps[i] = chance(&maker->random, 50) ? 1 : 4;
}

/* Deals `count` barriers out to arrays. */
static void make_arrays(Maker *maker, unsigned count) {
    ReferenceProgram *program = maker->program;
    while (count) {
        unsigned depth = 1 + below(&maker->random, count);
        program->depths[program->array_count++] = depth;
        count -= depth;
    }
}

static unsigned barrier_count(const ReferenceProgram *program) {
    unsigned count = 0;
    for (unsigned i = 0; i < program->array_count; i++)
        count += program->depths[i];
    return count;
}

/* An operation on barrier number `barrier`, counted over all arrays. */
static ReferenceOperation on(const ReferenceProgram *program, ReferenceKind kind, unsigned barrier) {
    ReferenceOperation operation = {.kind = kind, .slot = barrier, .amount = 1};
    while (operation.slot >= program->depths[operation.array])
        operation.slot -= program->depths[operation.array++];
    return operation;
}

/* One arrival at the barrier of `where`, of any kind: at once, when earlier work is done, or with the bytes of a copy.
 */
static void add_signal(Maker *maker, ReferenceSequence *sequence, ReferenceOperation where) {
    where.kind = REFERENCE_ARRIVE;
    where.parity = REFERENCE_PARITY_ZERO;
    where.amount = 1;
    ReferenceOperation expect = where, copy = where;
    expect.kind = REFERENCE_EXPECT;
    expect.amount = REFERENCE_TILE_BYTES;
    copy.kind = REFERENCE_COPY;
    unsigned way = below(&maker->random, 100);
    if (way < 30 || !has_room(sequence, 2)) {
        if (chance(&maker->random, 5))
            where.predicate = REFERENCE_PREDICATE_TRUE;
        add(sequence, where);
    } else if (way < 45) {
        where.kind = REFERENCE_COMMIT;
        add(sequence, where);
    } else if (way < 60) {
        where.kind = REFERENCE_MMA;
        add(sequence, where);
    } else if (way < 90) {
        add(sequence, expect);
        add(sequence, copy);
    } else { /* the bytes may come before they are expected */
        add(sequence, copy);
        add(sequence, expect);
    }
}

static ReferencePredicate wait_predicate(Maker *maker) {
    return chance(&maker->random, 25) ? REFERENCE_PREDICATE_TRUE : REFERENCE_PREDICATE_NONE;
}

/* The agents in `agents` meet at a named barrier; one of them may not wait for the others. */
static void add_meeting(Maker *maker, unsigned agents) {
    ReferenceProgram *program = maker->program;
    ReferenceOperation meet = {.kind = REFERENCE_NAMED_SYNC, .named = below(&maker->random, REFERENCE_NAMED)};
    unsigned passing = below(&maker->random, 2 * REFERENCE_AGENTS);
    for (unsigned i = 0; i < program->agent_count; i++)
        if (agents & 1u << i) {
            if (!has_room(&program->bodies[i], 1))
                return;
            meet.amount += 32 * program->warps[i];
        }
    for (unsigned i = 0; i < program->agent_count; i++)
        if (agents & 1u << i) {
            meet.kind = i == passing ? REFERENCE_NAMED_ARRIVE : REFERENCE_NAMED_SYNC;
            add(&program->bodies[i], meet);
        }
}

/* ---- Rings ------------------------------------------------------------------------------------------------------- */

/* Producers wait until a slot is empty and signal that it is full; consumers the other way round. */
typedef struct Ring {
    ReferenceOperation full, empty; /* where, and the parity of the first round */
    unsigned producers, consumers;  /* sets of agents */
} Ring;

static unsigned set_size(unsigned set) {
    unsigned size = 0;
    for (; set; set &= set - 1)
        size++;
    return size;
}

static void ring_counts(Maker *maker, const Ring *ring) {
    for (unsigned slot = 0; slot < maker->program->depths[ring->full.array]; slot++)
        if (ring->full.rotating || ring->full.slot == slot)
            maker->counts[ring->full.array][slot] = set_size(ring->producers);
    for (unsigned slot = 0; slot < maker->program->depths[ring->empty.array]; slot++)
        if (ring->empty.rotating || ring->empty.slot == slot)
            maker->counts[ring->empty.array][slot] = set_size(ring->consumers);
}

static void add_wait(Maker *maker, ReferenceSequence *sequence, ReferenceOperation where, bool flipped) {
    where.kind = REFERENCE_WAIT;
    where.flipped = flipped;
    where.predicate = wait_predicate(maker);
    add(sequence, where);
}

static void make_rings(Maker *maker) {
    Random *random = &maker->random;
    ReferenceProgram *program = maker->program;
    make_agents(maker, 2 + below(random, 3));
    unsigned trips = chance(random, 20) ? 0 : 1 + below(random, REFERENCE_TRIPS);
    unsigned ring_count = 1;
    Ring rings[2] = {0};
    if (trips && chance(random, 30)) { /* two slots, taken in turn */
        program->array_count = 2;
        program->depths[0] = program->depths[1] = 2;
        rings[0].full = (ReferenceOperation){.array = 0, .rotating = true, .parity = REFERENCE_PARITY_ROUND};
        rings[0].empty = (ReferenceOperation){.array = 1, .rotating = true, .parity = REFERENCE_PARITY_ROUND};
    } else {
        ring_count = 1 + chance(random, 40);
        make_arrays(maker, 2 * ring_count);
        for (unsigned i = 0; i < ring_count; i++) {
            rings[i].full = on(program, REFERENCE_WAIT, 2 * i);
            rings[i].empty = on(program, REFERENCE_WAIT, 2 * i + 1);
            rings[i].full.parity = rings[i].empty.parity = trips ? REFERENCE_PARITY_ITERATION : REFERENCE_PARITY_ZERO;
        }
    }
    unsigned first = below(random, program->agent_count);
    unsigned second = (first + 1 + below(random, program->agent_count - 1)) % program->agent_count;
    rings[0].producers = 1u << first;
    rings[0].consumers = 1u << second;
    for (unsigned i = 0; i < program->agent_count; i++)
        if (i != first && i != second && chance(random, 40))
            *(chance(random, 60) ? &rings[0].consumers : &rings[0].producers) |= 1u << i;
    rings[1].producers = 1u << second;
    rings[1].consumers = 1u << (second + 1 + below(random, program->agent_count - 1)) % program->agent_count;
    for (unsigned i = 0; i < ring_count; i++)
        ring_counts(maker, &rings[i]);
    unsigned busy = 0;
    for (unsigned agent = 0; agent < program->agent_count; agent++) {
        ReferenceSequence *body = &program->bodies[agent];
        for (unsigned i = 0; i < ring_count; i++)
            if (rings[i].consumers & 1u << agent)
                add_wait(maker, body, rings[i].full, false);
        for (unsigned i = 0; i < ring_count; i++)
            if (rings[i].producers & 1u << agent) {
                add_wait(maker, body, rings[i].empty, true);
                add_signal(maker, body, rings[i].full);
            }
        if (chance(random, 8))
            add(body, (ReferenceOperation){.kind = REFERENCE_CTA_BARRIER});
        for (unsigned i = 0; i < ring_count; i++)
            if (rings[i].consumers & 1u << agent)
                add_signal(maker, body, rings[i].empty);
        if (body->count)
            busy |= 1u << agent;
        body->trips = body->count ? trips : 0;
    }
    if (chance(random, 12))
        add_meeting(maker, busy);
}

/* ---- Handshakes -------------------------------------------------------------------------------------------------- */

static void make_handshakes(Maker *maker) {
    Random *random = &maker->random;
    ReferenceProgram *program = maker->program;
    make_agents(maker, chance(random, 8) ? 1 : 2 + below(random, 3));
    unsigned barriers = 1 + below(random, REFERENCE_BARRIERS);
    make_arrays(maker, barriers);
    unsigned phases[REFERENCE_BARRIERS] = {0};
    for (unsigned i = 0; i < barriers; i++) {
        ReferenceOperation where = on(program, REFERENCE_INIT, i);
        unsigned drawn = below(random, 10);
        maker->counts[where.array][where.slot] = drawn < 6 ? 1 : drawn < 9 ? 2 : 3;
    }
    for (unsigned round = 2 + below(random, 5); round; round--) {
        if (chance(random, 15)) {
            add_meeting(maker, 1 + below(random, (1u << program->agent_count) - 1));
            continue;
        }
        unsigned barrier = below(random, barriers);
        ReferenceOperation where = on(program, REFERENCE_WAIT, barrier);
        unsigned signals = maker->counts[where.array][where.slot], signallers[3];
        unsigned waiter = below(random, program->agent_count);
        unsigned planned[REFERENCE_AGENTS] = {[0] = 0};
        planned[waiter]++;
        bool fits = true;
        for (unsigned i = 0; i < signals; i++) {
            signallers[i] = below(random, program->agent_count);
            planned[signallers[i]] += 2;
        }
        for (unsigned i = 0; i < program->agent_count; i++)
            fits = fits && has_room(&program->bodies[i], planned[i]);
        if (!fits)
            continue;
        for (unsigned i = 0; i < signals; i++)
            add_signal(maker, &program->bodies[signallers[i]], where);
        bool parity = phases[barrier]++ & 1;
        add_wait(maker, &program->bodies[waiter], where, parity);
        unsigned other = below(random, program->agent_count);
        if (chance(random, 30) && has_room(&program->bodies[other], 1))
            add_wait(maker, &program->bodies[other], where, parity);
    }
    if (chance(random, 70))
        return;
    /* In a loop a barrier that flips an odd number of times is at the other parity every second time. */
    unsigned trips = 1 + below(random, REFERENCE_TRIPS);
    for (unsigned agent = 0; agent < program->agent_count; agent++) {
        ReferenceSequence *body = &program->bodies[agent];
        body->trips = body->count ? trips : 0;
        for (unsigned i = 0; i < body->count; i++)
            for (unsigned barrier = 0; barrier < barriers; barrier++) {
                ReferenceOperation where = on(program, REFERENCE_WAIT, barrier), *wait = &body->operations[i];
                if (wait->kind == REFERENCE_WAIT && wait->array == where.array && wait->slot == where.slot &&
                    phases[barrier] & 1)
                    wait->parity = REFERENCE_PARITY_ITERATION;
            }
    }
}

/* ---- Noise ------------------------------------------------------------------------------------------------------- */

static ReferenceOperation any_operation(Maker *maker, const ReferenceSequence *sequence) {
    static const ReferenceKind kinds[] = {
        REFERENCE_WAIT,   REFERENCE_WAIT,         REFERENCE_WAIT,       REFERENCE_WAIT,        REFERENCE_ARRIVE,
        REFERENCE_ARRIVE, REFERENCE_ARRIVE,       REFERENCE_EXPECT,     REFERENCE_COPY,        REFERENCE_COMMIT,
        REFERENCE_MMA,    REFERENCE_NAMED_ARRIVE, REFERENCE_NAMED_SYNC, REFERENCE_CTA_BARRIER,
    };
    Random *random = &maker->random;
    const ReferenceProgram *program = maker->program;
    ReferenceOperation operation =
        on(program, kinds[below(random, sizeof kinds / sizeof *kinds)], below(random, barrier_count(program)));
    operation.rotating = sequence->trips && chance(random, 40);
    switch (operation.kind) {
    case REFERENCE_WAIT:
        operation.parity = sequence->trips ? (ReferenceParity)below(random, 3) : REFERENCE_PARITY_ZERO;
        operation.flipped = chance(random, 50);
        operation.predicate = chance(random, 8) ? REFERENCE_PREDICATE_FALSE : wait_predicate(maker);
        break;
    case REFERENCE_ARRIVE:
        operation.amount = chance(random, 80) ? 1 : 2;
        operation.predicate = chance(random, 5) ? REFERENCE_PREDICATE_FALSE : REFERENCE_PREDICATE_NONE;
        break;
    case REFERENCE_EXPECT:
        operation.amount = REFERENCE_TILE_BYTES * (chance(random, 80) ? 1 : 2);
        operation.predicate = chance(random, 3) ? REFERENCE_PREDICATE_FALSE : REFERENCE_PREDICATE_NONE;
        break;
    case REFERENCE_COPY:
    case REFERENCE_COMMIT:
        operation.predicate = chance(random, 3) ? REFERENCE_PREDICATE_FALSE : REFERENCE_PREDICATE_NONE;
        break;
    case REFERENCE_NAMED_ARRIVE:
    case REFERENCE_NAMED_SYNC:
        operation = (ReferenceOperation){.kind = operation.kind, .named = below(random, REFERENCE_NAMED)};
        operation.amount = 32u << below(random, 4);
        break;
    default:
        break;
    }
    return operation;
}

static void make_noise(Maker *maker) {
    Random *random = &maker->random;
    ReferenceProgram *program = maker->program;
    make_agents(maker, 1 + below(random, REFERENCE_AGENTS));
    make_arrays(maker, 1 + below(random, REFERENCE_BARRIERS));
    for (unsigned i = 0; i < program->array_count; i++)
        for (unsigned slot = 0; slot < program->depths[i]; slot++)
            maker->counts[i][slot] = 1 + below(random, 3);
    for (unsigned agent = 0; agent < program->agent_count; agent++) {
        ReferenceSequence *body = &program->bodies[agent];
        body->trips = chance(random, 25) ? 1 + below(random, REFERENCE_TRIPS) : 0;
        for (unsigned count = below(random, 5); count; count--)
            add(body, any_operation(maker, body));
    }
}

/* ---- Mistakes ---------------------------------------------------------------------------------------------------- */

static void remove_operation(ReferenceSequence *sequence, unsigned at) {
    memmove(&sequence->operations[at], &sequence->operations[at + 1],
            (--sequence->count - at) * sizeof *sequence->operations);
}

/* Makes one mistake, if it can be made where it was drawn. */
static bool mistake(Maker *maker) {
    Random *random = &maker->random;
    ReferenceProgram *program = maker->program;
    ReferenceSequence *body = &program->bodies[below(random, program->agent_count)];
    if (!body->count)
        return false;
    unsigned at = below(random, body->count), *count;
    ReferenceOperation *operation = &body->operations[at], held = *operation;
    ReferenceSequence *other = &program->bodies[below(random, program->agent_count)];
    bool on_barrier = operation->kind < REFERENCE_NAMED_ARRIVE;
    switch (below(random, 13)) {
    case 0:
    case 1:
        remove_operation(body, at);
        return true;
    case 2:
    case 3:
        if (operation->kind != REFERENCE_WAIT)
            return false;
        operation->flipped = !operation->flipped;
        return true;
    case 4: /* the barrier beside it */
        held = on(program, held.kind, below(random, barrier_count(program)));
        if (!on_barrier || (!operation->rotating && held.array == operation->array && held.slot == operation->slot))
            return false;
        operation->rotating = false;
        operation->array = held.array;
        operation->slot = held.slot;
        return true;
    case 5: /* one more, or bytes of two tiles, or of half a one */
        if (operation->kind == REFERENCE_ARRIVE)
            operation->amount++;
        else if (operation->kind == REFERENCE_EXPECT)
            operation->amount = chance(random, 50) ? operation->amount * 2 : operation->amount / 2;
        else if (operation->kind == REFERENCE_NAMED_ARRIVE || operation->kind == REFERENCE_NAMED_SYNC)
            operation->amount =
                chance(random, 50) || operation->amount <= 32 ? operation->amount + 32 : operation->amount - 32;
        else
            return false;
        return true;
    case 6: /* the count of a barrier */
        if (!on_barrier)
            return false;
        count = &maker->counts[operation->array][operation->rotating ? 0 : operation->slot];
        *count = *count == 3 || (*count == 2 && chance(random, 50)) ? *count - 1 : *count + 1;
        return true;
    case 7:
        add(body, held);
        return true;
    case 8:
        if (at + 1 == body->count)
            return false;
        *operation = operation[1];
        operation[1] = held;
        return true;
    case 9:
        if (!body->trips)
            return false;
        body->trips = body->trips == 1 ? 2 : body->trips - 1;
        return true;
    case 10: /* a counter that is of no use for this depth */
        if (operation->kind != REFERENCE_WAIT || !body->trips)
            return false;
        operation->parity = (ReferenceParity)((operation->parity + 1 + below(random, 2)) % 3);
        return true;
    case 11: /* a condition that never holds */
        if (operation->kind < REFERENCE_WAIT || operation->kind > REFERENCE_COMMIT)
            return false;
        operation->predicate = REFERENCE_PREDICATE_FALSE;
        return true;
    default: /* in another agent, if it can stand there */
        if (other == body || !has_room(other, 1) || (!other->trips && body->trips))
            return false;
        remove_operation(body, at);
        add(other, held);
        return true;
    }
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static void make_before(Maker *maker) {
    Random *random = &maker->random;
    ReferenceProgram *program = maker->program;
    unsigned barriers = barrier_count(program);
    for (unsigned i = 0; i < barriers; i++) {
        ReferenceOperation init = on(program, REFERENCE_INIT, i);
        init.amount = maker->counts[init.array][init.slot];
        if (!init.amount)
            init.amount = 1;
        add(&program->before, init);
    }
    if (chance(random, 2)) /* one is forgotten */
        remove_operation(&program->before, below(random, barriers));
    else if (chance(random, 1)) /* one is done twice */
        add(&program->before, program->before.operations[below(random, barriers)]);
    if (chance(random, 4))
        add(&program->before, on(program, REFERENCE_ARRIVE, below(random, barriers)));
    if (chance(random, 50))
        add(&program->before, (ReferenceOperation){.kind = REFERENCE_CTA_BARRIER});
}

static void make_after(Maker *maker) {
    Random *random = &maker->random;
    ReferenceProgram *program = maker->program;
    unsigned barriers = barrier_count(program);
    unsigned way = below(random, 100);
    if (way < 10) { /* a last wait, as a kernel has for its last stores */
        ReferenceOperation wait = on(program, REFERENCE_WAIT, below(random, barriers));
        wait.flipped = chance(random, 50);
        add(&program->after, wait);
    }
    if (way >= 5 && way < 20)
        for (unsigned i = 0; i < barriers; i++)
            add(&program->after, on(program, REFERENCE_INVALIDATE, i));
    else if (way >= 20 && way < 23) { /* storage used again */
        ReferenceOperation again = on(program, REFERENCE_INVALIDATE, below(random, barriers));
        if (chance(random, 80))
            add(&program->after, again);
        again.kind = REFERENCE_INIT;
        if (chance(random, 80))
            add(&program->after, again);
        again.kind = REFERENCE_ARRIVE;
        add(&program->after, again);
        again.kind = REFERENCE_WAIT;
        add(&program->after, again);
    }
}

void reference_generate(uint64_t seed, ReferenceProgram *program) {
    Maker maker = {.random = {seed}, .program = program};
    Random *random = &maker.random;
    *program = (ReferenceProgram){0};
    unsigned make = below(random, 100);
    if (make < 45)
        make_rings(&maker);
    else if (make < 85)
        make_handshakes(&maker);
    else
        make_noise(&maker);
    if (make < 85) {
        unsigned drawn = below(random, 100);
        for (unsigned mistakes = drawn < 30 ? 0 : drawn < 85 ? 1 : 2; mistakes; mistakes--)
            for (unsigned tries = 0; tries < 20 && !mistake(&maker); tries++)
                ;
    }
    make_before(&maker);
    make_after(&maker);
}
