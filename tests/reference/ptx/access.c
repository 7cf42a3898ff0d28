/* Loads, stores and atomics. */
#include "internal.h"

static const Arg *destination(Context *c, const Arg *arg, uint32_t i) {
    return arg->kind == ARG_MEMBERS ? &members(c, arg)[i] : arg;
}

static void run_load(Context *c) {
    Type type = c->form->types[0];
    unsigned bytes = type.bits / 8u, count = c->args[0].kind == ARG_MEMBERS ? c->args[0].count : 1;
    uint64_t addresses[LANES], values[LANES], high[LANES];
    uint32_t defined = fetch_address(c, &c->args[1], addresses);
    uint64_t got[8][LANES];
    if (count > 8)
        machine_stop(c->machine, c->form->text, c->instruction->statement);
    /* all of it is read before anything is written: the address may be among what is */
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t left = c->run; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctz(left);
            Location location = location_of(c, lane, c->form->space, addresses[lane] + (uint64_t)bytes * i);
            got[i][lane] = location_read(c, &location, bytes > 8 ? 8 : bytes);
            if (bytes == 16) {
                location = location_of(c, lane, c->form->space, addresses[lane] + 16u * i + 8);
                high[lane] = location_read(c, &location, 8);
            }
        }
    for (uint32_t i = 0; i < count; i++) {
        memcpy(values, got[i], sizeof values);
        put(c, destination(c, &c->args[0], i), values, defined, bytes == 16 ? (Type){NO_TYPE, 0} : type);
        if (bytes == 16)
            put_high(c, destination(c, &c->args[0], i), high, defined);
    }
}

static void run_store(Context *c) {
    unsigned bytes = c->form->types[0].bits / 8u, count = c->args[1].kind == ARG_MEMBERS ? c->args[1].count : 1;
    uint64_t addresses[LANES], values[LANES], high[LANES];
    fetch_address(c, &c->args[0], addresses);
    for (uint32_t i = 0; i < count; i++) {
        const Arg *from = destination(c, &c->args[1], i);
        fetch(c, from, values);
        if (bytes == 16)
            fetch_high(c, from, high);
        for (uint32_t left = c->run; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctz(left);
            Location location = location_of(c, lane, c->form->space, addresses[lane] + (uint64_t)bytes * i);
            location_write(c, &location, bytes > 8 ? 8 : bytes, values[lane]);
            if (bytes == 16) {
                location = location_of(c, lane, c->form->space, addresses[lane] + 16u * i + 8);
                location_write(c, &location, 8, high[lane]);
            }
        }
    }
}

/* What an atomic leaves where `old` was. Floats that C does not have: some bits. */
static uint64_t updated(const Verb *form, uint64_t old, uint64_t b, uint64_t c) {
    Type type = form->types[form->type_count - 1];
    Verb as = *form;
    bool carry = false;
    uint64_t in[6] = {old, b, c}, out[2] = {0};
    if (has(form, W_cas))
        return old == cut(b, type.bits) ? c : old;
    if (has(form, W_exch))
        return b;
    if (has(form, W_inc))
        return (uint32_t)old >= (uint32_t)b ? 0 : old + 1;
    if (has(form, W_dec))
        return old == 0 || (uint32_t)old > (uint32_t)b ? b : old - 1;
    as.does = has(form, W_add)   ? DOES_add
              : has(form, W_and) ? DOES_and
              : has(form, W_or)  ? DOES_or
              : has(form, W_xor) ? DOES_xor
              : has(form, W_min) ? DOES_min
                                 : DOES_max;
    as.words &= ~(UINT64_C(1) << W_cc | UINT64_C(1) << W_sat);
    evaluate(&as, in, 2, &carry, out);
    return out[0];
}

/* One lane after the other. */
static void run_atom(Context *c) {
    Type type = c->form->types[c->form->type_count - 1];
    bool returns = c->args[0].kind != ARG_ADDRESS;
    const Arg *address = &c->args[returns], *operand = address + 1;
    unsigned bytes = type.bits / 8u, count = operand->kind == ARG_MEMBERS ? operand->count : 1;
    uint64_t addresses[LANES], b[LANES], swap[LANES] = {0}, old[8][LANES];
    if (bytes > 8 || count > 8)
        machine_stop(c->machine, c->form->text, c->instruction->statement);
    uint32_t defined = fetch_address(c, address, addresses);
    if (has(c->form, W_cas))
        fetch(c, operand + 1, swap);
    for (uint32_t i = 0; i < count; i++) {
        fetch(c, destination(c, operand, i), b);
        for (uint32_t left = c->run; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctz(left);
            Location location = location_of(c, lane, c->form->space, addresses[lane] + (uint64_t)bytes * i);
            old[i][lane] = location_read(c, &location, bytes);
            location_write(c, &location, bytes, updated(c->form, old[i][lane], b[lane], swap[lane]));
        }
    }
    for (uint32_t i = 0; returns && i < count; i++)
        put(c, destination(c, &c->args[0], i), old[i], defined, type);
}

void run_access(Context *c) {
    if (c->form->does == DOES_LOAD)
        run_load(c);
    else if (c->form->does == DOES_STORE)
        run_store(c);
    else
        run_atom(c);
}
