/* Instructions that compute: lane by lane, from all lanes of a warp, or out of nowhere. */
#include "internal.h"

static Type written_type(const Verb *form) {
    Type type = form->type_count ? form->types[0] : (Type){NO_TYPE, 0};
    switch (form->does) {
    case DOES_mul:
    case DOES_mad:
        return has(form, W_wide) ? (Type){type.class, type.bits * 2} : type;
    case DOES_popc:
    case DOES_clz:
    case DOES_bfind:
        return (Type){UNSIGNED, 32};
    case DOES_setp:
    case DOES_testp:
        return (Type){PREDICATE, 1};
    default:
        return type;
    }
}

/* Destinations: the first operand, or the two of a pair. */
static void put_results(Context *c, uint64_t results[2][LANES], uint32_t defined) {
    const Arg *to = &c->args[0];
    Type type = written_type(c->form);
    if (to->kind != ARG_MEMBERS) {
        put(c, to, results[0], defined, type);
        return;
    }
    put(c, &members(c, to)[0], results[0], defined, type);
    if (to->count > 1)
        put(c, &members(c, to)[1], results[1], defined, (Type){PREDICATE, 1});
}

void run_lanewise(Context *c) {
    uint64_t in[5][LANES], out[2][LANES] = {{0}};
    unsigned inputs = c->instruction->arg_count ? c->instruction->arg_count - 1 : 0;
    uint32_t defined = UINT32_MAX;
    if (inputs > 5)
        machine_stop(c->machine, c->form->text, c->instruction->statement);
    for (unsigned i = 0; i < inputs; i++)
        defined &= fetch(c, &c->args[1 + i], in[i]);
    for (uint32_t left = c->run; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint64_t own[6] = {0}, got[2] = {0};
        bool carry = c->warp->carry >> lane & 1;
        for (unsigned i = 0; i < inputs; i++)
            own[i] = in[i][lane];
        evaluate(c->form, own, inputs, &carry, got);
        out[0][lane] = got[0], out[1][lane] = got[1];
        c->warp->carry = (c->warp->carry & ~(UINT32_C(1) << lane)) | (uint32_t)carry << lane;
    }
    put_results(c, out, defined);
}

static void put_everywhere(Context *c, const Arg *arg, uint64_t seed, const uint64_t bits[LANES], uint32_t defined) {
    if (arg->kind == ARG_MEMBERS) {
        for (uint32_t i = 0; i < arg->count; i++)
            put_everywhere(c, &members(c, arg)[i], mixed(seed, i), bits, defined);
        return;
    }
    uint64_t values[LANES];
    for (unsigned lane = 0; lane < LANES; lane++)
        values[lane] = mixed(bits[lane], seed);
    put(c, arg, values, defined, (Type){NO_TYPE, 0});
    put_high(c, arg, values, defined);
}

void run_pure(Context *c) {
    uint64_t bits[LANES], one[LANES];
    uint32_t defined = UINT32_MAX;
    for (unsigned lane = 0; lane < LANES; lane++)
        bits[lane] = c->form->words;
    for (uint32_t i = 1; i < c->instruction->arg_count; i++) {
        defined &= fetch(c, &c->args[i], one);
        for (unsigned lane = 0; lane < LANES; lane++)
            bits[lane] = mixed(bits[lane], one[lane]);
    }
    put_everywhere(c, &c->args[0], (uint64_t)c->form->does, bits, defined);
}

/* Each lane something else, every time; a wait on a barrier succeeds seven times of eight, for each lane by itself. */
void run_havoc(Context *c) {
    uint64_t bits[LANES];
    if (!c->instruction->arg_count || c->args[0].kind == ARG_ADDRESS)
        return;
    for (unsigned lane = 0; lane < LANES; lane++) {
        unsigned own = c->form->does == DOES_WAIT && c->machine->together ? 0 : lane;
        bits[lane] = mixed(c->machine->launch->seed, (c->machine->end.steps * 4096 + c->warp->number) * LANES + own);
        if (c->form->does == DOES_WAIT)
            bits[lane] = (bits[lane] & 7) != 0;
    }
    if (c->form->does == DOES_WAIT)
        put(c, &c->args[0], bits, UINT32_MAX, (Type){PREDICATE, 1});
    else
        put_everywhere(c, &c->args[0], c->instruction->statement, bits, UINT32_MAX);
}

/* ---- Moves and addresses ---- */

static void take_apart(Context *c, const Arg *to, const Arg *from, Type type) {
    uint64_t values[LANES], high[LANES], part[LANES];
    uint32_t defined = fetch(c, from, values);
    unsigned bits = type.bits / to->count;
    if (type.bits == 128)
        defined &= fetch_high(c, from, high);
    for (uint32_t i = 0; i < to->count; i++) {
        for (unsigned lane = 0; lane < LANES; lane++)
            part[lane] = cut(bits * i >= 64 ? high[lane] >> (bits * i - 64) : values[lane] >> bits * i, bits);
        put(c, &members(c, to)[i], part, defined, (Type){BITS, (uint8_t)bits});
    }
}

void run_move(Context *c) {
    const Arg *to = &c->args[0], *from = &c->args[1];
    Type type = c->form->types[0];
    uint64_t values[LANES];
    if (to->kind == ARG_MEMBERS && from->kind == ARG_MEMBERS) {
        for (uint32_t i = 0; i < to->count && i < from->count; i++) {
            uint32_t defined = fetch(c, &members(c, from)[i], values);
            put(c, &members(c, to)[i], values, defined, type);
        }
    } else if (to->kind == ARG_MEMBERS) {
        take_apart(c, to, from, type);
    } else {
        bool halves = type.bits == 128 && from->kind == ARG_MEMBERS;
        uint32_t defined = fetch(c, halves ? members(c, from) : from, values);
        put(c, to, values, defined, type.bits > 64 ? (Type){NO_TYPE, 0} : type);
        if (type.bits == 128) {
            defined = fetch_high(c, from, values);
            put_high(c, to, values, defined);
        }
    }
}

static uint64_t address_result(Context *c, unsigned lane, uint64_t a, uint64_t b) {
    Machine *m = c->machine;
    Space space = c->form->space, own;
    switch (c->form->does) {
    case DOES_CVTA:
        if (!has(c->form, W_to))
            return generic_address(m, space, a);
        return space == IN_GLOBAL ? a : (uint32_t)a;
    case DOES_ISSPACEP: {
        Location location = location_of(c, lane, GENERIC, a);
        if (space == IN_CLUSTER)
            return location.region == REGION_SHARED || location.region == REGION_PEER;
        if (space == IN_SHARED)
            return location.region == REGION_SHARED;
        window_space(m, a, &own);
        return own == space;
    }
    case DOES_MAPA: {
        uint64_t mapped = (b % m->cta_count + 1) << 24 | (a & 0xffffff);
        return space == IN_CLUSTER ? mapped : m->windows[0] | mapped;
    }
    default: /* getctarank */
        return (uint32_t)a >> 24 ? ((uint32_t)a >> 24) - 1 : c->warp->cta->rank;
    }
}

void run_addresses(Context *c) {
    uint64_t a[LANES], b[LANES] = {0}, out[LANES];
    uint32_t defined = fetch(c, &c->args[1], a);
    if (c->instruction->arg_count > 2)
        defined &= fetch(c, &c->args[2], b);
    for (unsigned lane = 0; lane < LANES; lane++)
        out[lane] = address_result(c, lane, a[lane], b[lane]);
    put(c, &c->args[0], out, defined, (Type){NO_TYPE, 0});
}

/* Local memory behind the frame's own; what stackrestore gives back is not used again. */
void run_allocate(Context *c) {
    Frame *frame = c->top->frame;
    uint64_t sizes[LANES], out[LANES], most = 0;
    uint32_t defined = fetch(c, &c->args[1], sizes);
    for (uint32_t left = c->run; left; left &= left - 1)
        most = sizes[__builtin_ctz(left)] > most ? sizes[__builtin_ctz(left)] : most;
    for (unsigned lane = 0; lane < LANES; lane++)
        out[lane] = (frame->local + frame->function->local_bytes + 15u) / 16 * 16 + frame->allocated;
    if (most > 1 << 20)
        machine_stop(c->machine, STR("an alloca of over 1 MiB"), c->instruction->statement);
    frame->allocated += ((uint32_t)most + 31) / 32 * 32;
    put(c, &c->args[0], out, defined, (Type){NO_TYPE, 0});
}

/* ---- From all lanes ---- */

/* The lane that shfl reads; whether it is in range. */
static unsigned other_lane(const Verb *form, unsigned lane, uint32_t b, uint32_t c, bool *there) {
    int own = (int)lane, by = b & 31, segment = c >> 8 & 31;
    int last = (own & segment) | ((int)(c & 31) & ~segment), j;
    if (has(form, W_up)) {
        j = own - by;
        *there = j >= last;
    } else {
        j = has(form, W_down) ? own + by : has(form, W_bfly) ? own ^ by : (own & segment) | (by & ~segment);
        *there = j <= last;
    }
    return *there ? (unsigned)j : lane;
}

/* A lane that runs it and is not in its own mask gets nothing that PTX defines. */
static uint32_t in_own_mask(const Context *c, const uint64_t masks[LANES]) {
    uint32_t in = 0;
    for (uint32_t left = c->run; left; left &= left - 1)
        in |= (uint32_t)masks[__builtin_ctz(left)] & left & -left;
    return in;
}

static void run_shuffle(Context *c) {
    uint64_t a[LANES], b[LANES], clamp[LANES], masks[LANES], out[2][LANES] = {{0}};
    uint32_t from = fetch(c, &c->args[1], a), defined = fetch(c, &c->args[2], b) & fetch(c, &c->args[3], clamp),
             good = 0;
    if (c->instruction->arg_count > 4)
        defined &= fetch(c, &c->args[4], masks) & in_own_mask(c, masks);
    for (uint32_t left = c->run; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        bool there;
        unsigned source = other_lane(c->form, lane, (uint32_t)b[lane], (uint32_t)clamp[lane], &there);
        out[0][lane] = a[source];
        out[1][lane] = there;
        /* a lane that does not run this has nothing to give */
        good |= (from & c->run & defined) >> source & defined >> lane & 1 ? UINT32_C(1) << lane : 0;
    }
    const Arg *to = &c->args[0];
    put(c, to->kind == ARG_MEMBERS ? &members(c, to)[0] : to, out[0], good, (Type){BITS, 32});
    if (to->kind == ARG_MEMBERS && to->count > 1)
        put(c, &members(c, to)[1], out[1], defined, (Type){PREDICATE, 1});
}

/* Lanes that take part with this one: those of its mask that run. */
static uint32_t partners(Context *c, const uint64_t masks[LANES], unsigned lane) {
    return (uint32_t)masks[lane] & c->run;
}

static uint64_t vote_of(const Verb *form, uint32_t ones, uint32_t all) {
    return has(form, W_ballot) ? ones
           : has(form, W_all)  ? ones == all
           : has(form, W_any)  ? ones != 0
                               : ones == all || ones == 0;
}

static uint64_t reduced(const Verb *form, const uint64_t a[LANES], uint32_t lanes) {
    bool sign = form->types[0].class == SIGNED;
    uint64_t total = a[__builtin_ctz(lanes)];
    for (lanes &= lanes - 1; lanes; lanes &= lanes - 1) {
        uint64_t next = a[__builtin_ctz(lanes)];
        bool less = sign ? (int32_t)next < (int32_t)total : (uint32_t)next < (uint32_t)total;
        total = has(form, W_add)   ? cut(total + next, 32)
                : has(form, W_and) ? total & next
                : has(form, W_or)  ? total | next
                : has(form, W_xor) ? total ^ next
                : has(form, W_min) ? (less ? next : total)
                                   : (less || next == total ? total : next);
    }
    return cut(total, 32);
}

static void match_lane(Context *c, const uint64_t a[LANES], uint32_t all, unsigned lane, uint64_t *mask,
                       uint64_t *equal) {
    uint32_t same = 0;
    for (uint32_t left = all; left; left &= left - 1)
        if (a[__builtin_ctz(left)] == a[lane])
            same |= left & -left;
    *equal = same == all;
    *mask = has(c->form, W_all) ? (*equal ? all : 0) : same;
}

/* PTX says that the same mask elects the same lane, and not which. */
static unsigned elected(const Context *c, uint32_t mask) {
    unsigned nth = (unsigned)(mixed(c->machine->launch->seed ^ 0xe1ec7, mask) % (unsigned)__builtin_popcount(mask));
    while (nth--)
        mask &= mask - 1;
    return (unsigned)__builtin_ctz(mask);
}

static void from_partners(Context *c, const uint64_t a[LANES], uint32_t all, unsigned lane, uint64_t out[2]) {
    uint32_t ones = 0;
    switch (c->form->does) {
    case DOES_VOTE:
        for (uint32_t left = all; left; left &= left - 1)
            ones |= a[__builtin_ctz(left)] & 1 ? left & -left : 0;
        out[0] = vote_of(c->form, ones, all);
        return;
    case DOES_MATCH:
        match_lane(c, a, all, lane, &out[0], &out[1]);
        return;
    case DOES_REDUX:
        out[0] =
            c->form->types[0].class == REAL ? mixed(all, a[__builtin_ctz(all)]) & UINT32_MAX : reduced(c->form, a, all);
        return;
    default: /* elect */
        out[0] = elected(c, all);
        out[1] = out[0] == lane;
    }
}

void run_warp_wide(Context *c) {
    if (c->form->does == DOES_SHUFFLE) {
        run_shuffle(c);
        return;
    }
    uint64_t a[LANES], masks[LANES], out[2][LANES] = {{0}};
    uint32_t inputs = c->instruction->arg_count - 1, defined = 0, masked = UINT32_MAX;
    uint32_t of_a = inputs ? fetch(c, &c->args[1], a) : UINT32_MAX;
    for (unsigned lane = 0; lane < LANES; lane++)
        masks[lane] = UINT32_MAX;
    /* the mask is the last; elect.sync has nothing else, activemask not even that */
    if (c->form->does == DOES_ELECT || inputs == 2)
        masked = fetch(c, &c->args[inputs], masks);
    for (uint32_t left = c->run; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint32_t all = partners(c, masks, lane) | (left & -left);
        uint64_t got[2] = {c->run, 0};
        if (c->form->does != DOES_ACTIVEMASK)
            from_partners(c, a, all, lane, got);
        out[0][lane] = got[0], out[1][lane] = got[1];
        defined |= (of_a & all) == all ? left & -left : 0;
    }
    uint32_t taking_part = in_own_mask(c, masks) & masked;
    put_results(c, out, c->form->does == DOES_ELECT ? taking_part : defined & taking_part);
}
