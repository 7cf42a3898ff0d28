/* Operands in the lanes of a group: what they are, and writing them. */
#include "internal.h"

#include <stdlib.h>

/* ---- Special registers ---- */

static uint32_t part_of(const uint32_t values[3], unsigned part) {
    return part >= PTX_X && part <= PTX_Z ? values[part - PTX_X] : 0;
}

static uint32_t thread_part(const Context *c, unsigned lane, unsigned part) {
    const uint32_t *block = c->machine->launch->block;
    uint32_t at = c->warp->first + lane;
    uint32_t values[3] = {at % block[0], at / block[0] % block[1], at / block[0] / block[1]};
    return part_of(values, part);
}

static uint32_t cluster_part(const Context *c, const char *name, unsigned part) {
    const Launch *l = c->machine->launch;
    const uint32_t *at = c->warp->cta->at;
    uint32_t values[3];
    for (unsigned i = 0; i < 3; i++)
        values[i] = !strcmp(name, "%clusterid")       ? at[i] / l->cluster[i]
                    : !strcmp(name, "%nclusterid")    ? l->grid[i] / l->cluster[i]
                    : !strcmp(name, "%cluster_ctaid") ? at[i] % l->cluster[i]
                                                      : l->cluster[i];
    return part_of(values, part);
}

static uint64_t lane_mask(const char *name, unsigned lane) {
    uint32_t own = UINT32_C(1) << lane;
    return !strcmp(name, "%lanemask_eq")   ? own
           : !strcmp(name, "%lanemask_lt") ? own - 1
           : !strcmp(name, "%lanemask_le") ? own | (own - 1)
           : !strcmp(name, "%lanemask_ge") ? ~(own - 1)
                                           : ~(own | (own - 1));
}

/* Those of the launch and of the place in it. False: it is none of them. */
static bool place_value(const Context *c, const char *name, unsigned part, unsigned lane, uint64_t *value) {
    const Launch *l = c->machine->launch;
    const Cta *cta = c->warp->cta;
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    if (!strcmp(name, "%tid"))
        *value = thread_part(c, lane, part);
    else if (!strcmp(name, "%ntid"))
        *value = part_of(l->block, part);
    else if (!strcmp(name, "%ctaid"))
        *value = part_of(cta->at, part);
    else if (!strcmp(name, "%nctaid"))
        *value = part_of(l->grid, part);
    else if (!strcmp(name, "%laneid"))
        *value = lane;
    else if (!strcmp(name, "%warpid"))
        *value = c->warp->first / LANES;
    else if (!strcmp(name, "%nwarpid"))
        *value = (threads + LANES - 1) / LANES;
    else if (!strncmp(name, "%lanemask", 9))
        *value = lane_mask(name, lane);
    else if (!strcmp(name, "%cluster_ctarank"))
        *value = cta->rank;
    else if (!strcmp(name, "%cluster_nctarank"))
        *value = l->cluster[0] * l->cluster[1] * l->cluster[2];
    else if (!strcmp(name, "%is_explicit_cluster"))
        *value = l->cluster[0] * l->cluster[1] * l->cluster[2] > 1;
    else if (strstr(name, "cluster"))
        *value = cluster_part(c, name, part);
    else
        return false;
    return true;
}

/* The others are made up: the same for all of the CTA, except clocks and counters, which are different every time. */
static uint64_t special_value(const Context *c, const Arg *arg, unsigned lane) {
    const PtxSpecial *special = ptx_special_at(arg->what);
    uint64_t value;
    if (place_value(c, special->name, arg->part, lane, &value))
        return value;
    uint64_t seed = mixed(c->machine->launch->seed, arg->what * 64 + arg->value);
    if (!strncmp(special->name, "%clock", 6) || !strncmp(special->name, "%globaltimer", 12) ||
        !strncmp(special->name, "%pm", 3))
        return mixed(seed, c->machine->end.steps * LANES + lane);
    if (!strcmp(special->name, "%smid"))
        return mixed(seed, c->warp->cta->number) % 132;
    if (strstr(special->name, "smem"))
        return seed % 256 * 1024;
    return cut(seed, 32);
}

/* ---- Reading ---- */

static uint32_t fetch_register(Context *c, const Arg *arg, uint64_t values[LANES]) {
    const Frame *frame = c->top->frame;
    memcpy(values, frame->registers + (size_t)arg->what * LANES, LANES * sizeof *values);
    for (unsigned lane = 0; arg->negated && lane < LANES; lane++)
        values[lane] = !values[lane];
    if (arg->part >= PTX_B0) {
        unsigned half = arg->part >= PTX_H0;
        for (unsigned lane = 0; lane < LANES; lane++)
            values[lane] = half ? values[lane] >> 16 * (arg->part - PTX_H0) & 0xffff
                                : values[lane] >> 8 * (arg->part - PTX_B0) & 0xff;
    }
    return frame->defined[arg->what];
}

/* Packed members: the first is the lowest. */
static uint32_t fetch_members(Context *c, const Arg *arg, uint64_t values[LANES]) {
    const Arg *member = members(c, arg);
    uint32_t defined = UINT32_MAX;
    uint64_t own[LANES];
    memset(values, 0, LANES * sizeof *values);
    unsigned bits = c->form->type_count && c->form->types[0].bits <= 64 ? c->form->types[0].bits / arg->count : 32;
    for (uint32_t i = 0; i < arg->count; i++) {
        defined &= fetch(c, &member[i], own);
        for (unsigned lane = 0; lane < LANES && bits * i < 64; lane++)
            values[lane] |= cut(own[lane], bits) << bits * i;
    }
    return defined;
}

uint32_t fetch(Context *c, const Arg *arg, uint64_t values[LANES]) {
    uint64_t one = arg->value;
    switch ((ArgKind)arg->kind) {
    case ARG_REGISTER:
        return fetch_register(c, arg, values);
    case ARG_SPECIAL:
        for (unsigned lane = 0; lane < LANES; lane++)
            values[lane] = special_value(c, arg, lane);
        return UINT32_MAX;
    case ARG_VARIABLE:
        one += variable_address(c, arg->what);
        break;
    case ARG_FUNCTION:
        one = (UINT64_C(0xf) << 44) + arg->what * 16;
        break;
    case ARG_CONSTANT:
        if (arg->negated)
            one = !one;
        break;
    case ARG_ADDRESS:
        return fetch_address(c, arg, values);
    case ARG_MEMBERS:
        return fetch_members(c, arg, values);
    default:
        one = 0;
    }
    for (unsigned lane = 0; lane < LANES; lane++)
        values[lane] = one;
    return UINT32_MAX;
}

/* The upper half of 128 bits. */
uint32_t fetch_high(Context *c, const Arg *arg, uint64_t values[LANES]) {
    Arg high = *arg;
    if (arg->kind == ARG_REGISTER && arg->bits == 128) {
        high.what++;
        return fetch_register(c, &high, values);
    }
    if (arg->kind == ARG_MEMBERS && arg->count == 2)
        return fetch(c, &members(c, arg)[1], values);
    memset(values, 0, LANES * sizeof *values);
    return UINT32_MAX;
}

/* The first that stands in the brackets, and what is added to it. */
uint32_t fetch_address(Context *c, const Arg *arg, uint64_t values[LANES]) {
    if (!arg->count) {
        memset(values, 0, LANES * sizeof *values);
        return 0;
    }
    const Arg *base = members(c, arg);
    uint32_t defined = fetch(c, base, values);
    for (unsigned lane = 0; lane < LANES; lane++) {
        values[lane] += arg->value;
        if (base->kind == ARG_REGISTER && base->bits <= 32)
            values[lane] = cut(values[lane], 32);
    }
    return defined;
}

/* ---- Writing ---- */

static void note_written(Context *c, uint32_t operand) {
    Machine *m = c->machine;
    if (m->written_count < sizeof m->written / sizeof *m->written)
        m->written[m->written_count++] = operand;
}

static void put_slot(Context *c, uint32_t slot, const uint64_t values[LANES], uint32_t defined) {
    Frame *frame = c->top->frame;
    uint64_t *to = frame->registers + (size_t)slot * LANES;
    for (uint32_t left = c->run; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        to[lane] = values[lane];
    }
    frame->defined[slot] = (frame->defined[slot] & ~c->run) | (defined & c->run);
}

void put(Context *c, const Arg *arg, const uint64_t values[LANES], uint32_t defined, Type type) {
    if (arg->kind != ARG_REGISTER)
        return;
    uint64_t fitting[LANES];
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint64_t value = values[lane];
        if (type.class == SIGNED && type.bits < arg->bits)
            value = (uint64_t)extended(value, type.bits);
        else if (type.class != NO_TYPE && type.bits < arg->bits)
            value = cut(value, type.bits);
        fitting[lane] = cut(value, arg->bits);
    }
    put_slot(c, arg->what, fitting, defined);
    note_written(c, arg->operand);
}

void put_high(Context *c, const Arg *arg, const uint64_t values[LANES], uint32_t defined) {
    if (arg->kind == ARG_REGISTER && arg->bits == 128)
        put_slot(c, arg->what + 1, values, defined);
}
