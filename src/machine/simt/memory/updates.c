/* Atomics: read, change, write. Lanes of one instruction that have the same address do so one after the other, the
 * lowest first. */
#include "base/number.h"
#include "machine/simt/core/internal.h"

#include <math.h>

typedef enum Action {
    ACTION_NONE,
    ACTION_ADD,
    ACTION_MIN,
    ACTION_MAX,
    ACTION_INC,
    ACTION_DEC,
    ACTION_AND,
    ACTION_OR,
    ACTION_XOR,
    ACTION_EXCHANGE,
    ACTION_CAS,
} Action;

typedef enum UpdateKind { KIND_UNSIGNED, KIND_SIGNED, KIND_F16, KIND_BF16, KIND_F32, KIND_F64 } UpdateKind;

/* Of a type's name: what its numbers are, and the bytes of one (f16x2: 2). */
typedef struct UpdateNumbers {
    UpdateKind kind;
    unsigned bytes;
    bool flushes; /* subnormal numbers are zeros */
} UpdateNumbers;

typedef struct Update {
    CoreAccess access;
    Action action;
    UpdateNumbers numbers;
} Update;

/* ---- Reals ---- */

/* The nearest number with so many bits behind its first, and exponents from `least` on; ties to even. */
static double rounded(double value, int bits, int least, double most) {
    int exponent;
    if (value == 0 || isnan(value) || isinf(value))
        return value;
    frexp(value, &exponent);
    int unit = (exponent - 1 < least ? least : exponent - 1) - bits;
    double scaled = ldexp(value, -unit), whole = rint(scaled), result = ldexp(whole, unit);
    return fabs(result) > most ? copysign(INFINITY, value) : result;
}

static double half_value(uint32_t bits) {
    int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    double size = exponent == 31 ? fraction ? NAN : INFINITY
                  : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                 : ldexp(fraction, -24);
    return bits & 0x8000 ? -size : size;
}

static uint32_t half_bits(double value) {
    uint32_t sign = signbit(value) ? 0x8000 : 0;
    if (isnan(value))
        return 0x7fff;
    value = fabs(rounded(value, 10, -14, 65504));
    if (isinf(value))
        return sign | 0x7c00;
    if (value < ldexp(1, -14))
        return sign | (uint32_t)ldexp(value, 24);
    int exponent;
    double fraction = frexp(value, &exponent);
    return sign | (uint32_t)(exponent + 14) << 10 | ((uint32_t)ldexp(fraction, 11) & 1023);
}

static uint32_t float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? 0x7fffffff : bits;
}

static double real_of(UpdateNumbers numbers, uint64_t bits) {
    double value;
    switch (numbers.kind) {
    case KIND_F16:
        return half_value((uint32_t)bits);
    case KIND_BF16:
        return (double)as_single(bits << 16);
    case KIND_F32:
        if (numbers.flushes && !(bits & 0x7f800000))
            bits &= 0x80000000;
        return (double)as_single(bits);
    default:
        memcpy(&value, &bits, sizeof value);
        return value;
    }
}

static uint64_t bits_of_real(UpdateNumbers numbers, double value) {
    uint64_t bits;
    switch (numbers.kind) {
    case KIND_F16:
        return half_bits(value);
    case KIND_BF16:
        return isnan(value) ? 0x7fff : float_bits((float)rounded(value, 7, -126, 0x1.fep127)) >> 16;
    case KIND_F32:
        bits = float_bits((float)value);
        return numbers.flushes && !(bits & 0x7f800000) ? bits & 0x80000000 : bits;
    default:
        memcpy(&bits, &value, sizeof bits);
        return isnan(value) ? UINT64_C(0x7fffffffffffffff) : bits;
    }
}

/* A sum of two numbers of 11 or 24 bits is exact in a double, or so nearly that it rounds as the sum itself does. */
static uint64_t act_on_reals(Action action, UpdateNumbers numbers, uint64_t old, uint64_t operand) {
    double a = real_of(numbers, old), b = real_of(numbers, operand), result;
    if (action == ACTION_ADD)
        result = numbers.kind == KIND_F32 ? (double)((float)a + (float)b) : a + b;
    else if (isnan(a) || isnan(b))
        result = isnan(a) ? b : a;
    else if (a == b)
        result = (signbit(a) != 0) == (action == ACTION_MIN) ? a : b;
    else
        result = (a < b) == (action == ACTION_MIN) ? a : b;
    return bits_of_real(numbers, result);
}

/* ---- Whole numbers ---- */

static uint64_t widened(UpdateNumbers numbers, uint64_t value) {
    unsigned bits = numbers.bytes * 8;
    if (numbers.kind != KIND_SIGNED || bits >= 64)
        return value;
    return (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
}

static bool is_less(UpdateNumbers numbers, uint64_t a, uint64_t b) {
    return numbers.kind == KIND_SIGNED ? (int64_t)widened(numbers, a) < (int64_t)widened(numbers, b) : a < b;
}

static uint64_t act(Action action, UpdateNumbers numbers, uint64_t old, uint64_t operand) {
    if (numbers.kind >= KIND_F16 && action <= ACTION_MAX)
        return act_on_reals(action, numbers, old, operand);
    switch (action) {
    case ACTION_ADD:
        return old + operand;
    case ACTION_MIN:
        return is_less(numbers, operand, old) ? operand : old;
    case ACTION_MAX:
        return is_less(numbers, old, operand) ? operand : old;
    case ACTION_INC:
        return old >= operand ? 0 : old + 1;
    case ACTION_DEC:
        return !old || old > operand ? operand : old - 1;
    case ACTION_AND:
        return old & operand;
    case ACTION_OR:
        return old | operand;
    case ACTION_XOR:
        return old ^ operand;
    default:
        return operand;
    }
}

/* ---- Bytes of a lane ---- */

enum { MOST_BYTES = 32 };

typedef struct UpdateBytes {
    uint8_t data[MOST_BYTES], states[MOST_BYTES];
} UpdateBytes;

/* One number after the other; a number whose operands are not known is not. */
static void change_numbers(const Update *update, const UpdateBytes *old, const UpdateBytes *operand,
                           UpdateBytes *made) {
    unsigned each = update->numbers.bytes;
    for (unsigned at = 0; at < update->access.align; at += each) {
        uint64_t a = 0, b = 0;
        memcpy(&a, old->data + at, each);
        memcpy(&b, operand->data + at, each);
        uint64_t value = act(update->action, update->numbers, a, b);
        bool known = bytes_known(operand->states + at, each) &&
                     (update->action == ACTION_EXCHANGE || bytes_known(old->states + at, each));
        memcpy(made->data + at, &value, each);
        memset(made->states + at, known ? BYTE_KNOWN : BYTE_UNKNOWN, each);
    }
}

/* Whether the lane stores: all but a comparison that fails do. */
static bool change(const Update *update, const UpdateBytes *old, const UpdateBytes *operand, const UpdateBytes *compare,
                   UpdateBytes *made) {
    unsigned bytes = update->access.align;
    if (update->action != ACTION_CAS && update->numbers.bytes <= 8) {
        change_numbers(update, old, operand, made);
        return true;
    }
    *made = *operand;
    if (update->action == ACTION_EXCHANGE)
        return true;
    if (!bytes_known(old->states, bytes) || !bytes_known(compare->states, bytes)) {
        memset(made->states, BYTE_UNKNOWN, bytes);
        return true;
    }
    bool equal = !memcmp(old->data, compare->data, bytes);
    if (!equal)
        *made = *old;
    return equal;
}

/* ---- A row of lanes ---- */

typedef struct UpdateRow {
    UpdateBytes operand[PTX_LANES], compare[PTX_LANES], old[PTX_LANES], made[PTX_LANES];
} UpdateRow;

static void fetch_bytes(PtxMachine *machine, PtxGroup *group, const CoreAccess *access, const PtxArgument *data,
                        uint32_t lanes, UpdateBytes to[PTX_LANES]) {
    unsigned halves = access->element > 8 ? 2 : 1, each = access->element > 8 ? 8 : access->element;
    for (unsigned i = 0; i < access->members * halves; i++) {
        Lanes scratch;
        uint32_t unknown = 0;
        const PtxArgument *member = access_member(machine->program, data, i / halves);
        const Lanes *values = ptx_fetch(machine, group, member, i % halves, &scratch, &unknown);
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            memcpy(to[lane].data + i * each, &values->at[lane], each);
            memset(to[lane].states + i * each, unknown >> lane & 1 ? BYTE_UNKNOWN : BYTE_KNOWN, each);
        }
    }
}

/* What memory has for a lane, or what a lower one with the same address made of it. */
static void find_old(PtxMachine *machine, const PtxCode *code, const PtxGroup *group, const CoreAccess *access,
                     uint32_t lanes, const PtxLocation *locations, unsigned lane, UpdateRow *row) {
    for (uint32_t before = lanes & ((UINT32_C(1) << lane) - 1); before;) {
        unsigned other = 31 - (unsigned)__builtin_clz(before);
        if (locations[other].block == locations[lane].block && locations[other].offset == locations[lane].offset) {
            row->old[lane] = row->made[other];
            return;
        }
        before &= ~(UINT32_C(1) << other);
    }
    ptx_load_bytes(machine, locations[lane], access->align, row->old[lane].data, row->old[lane].states);
    const Update *update = code->detail; /* atomicExch() is how memory is initialized, too */
    if (update->action != ACTION_EXCHANGE && memchr(row->old[lane].states, BYTE_NEVER, access->align))
        ptx_note_unset(machine, code, group->warp, lane, locations[lane]);
}

/* Lanes that store. */
static uint32_t change_row(PtxMachine *machine, const PtxCode *code, PtxGroup *group, uint32_t lanes,
                           const PtxLocation *locations, UpdateRow *row) {
    const Update *update = code->detail;
    const CoreAccess *access = &update->access;
    uint32_t stores = 0;
    fetch_bytes(machine, group, access, access->data, lanes, row->operand);
    if (update->action == ACTION_CAS)
        fetch_bytes(machine, group, access, access->compare, lanes, row->compare);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        find_old(machine, code, group, access, lanes, locations, lane, row);
        bool stored = change(update, &row->old[lane], &row->operand[lane], &row->compare[lane], &row->made[lane]);
        stores |= (uint32_t)stored << lane;
    }
    return stores;
}

static void give_old(PtxMachine *machine, PtxGroup *group, const CoreAccess *access, uint32_t lanes,
                     const UpdateRow *row) {
    unsigned halves = access->element > 8 ? 2 : 1, each = access->element > 8 ? 8 : access->element;
    for (unsigned i = 0; access->gives && i < access->members * halves; i++) {
        Lanes values;
        uint32_t unknown = 0;
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            values.at[lane] = 0;
            memcpy(&values.at[lane], row->old[lane].data + i * each, each);
            unknown |= (uint32_t)!bytes_known(row->old[lane].states + i * each, each) << lane;
        }
        ptx_put(machine, group, access_member(machine->program, access->gives, i / halves), i % halves, &values, lanes,
                unknown);
    }
}

/* Lanes whose address is not known, and all of them where values do not matter. */
static void give_nothing(PtxMachine *machine, PtxGroup *group, const CoreAccess *access, uint32_t lanes) {
    static const Lanes zeros;
    for (unsigned i = 0; access->gives && lanes && i < access->members; i++) {
        const PtxArgument *to = access_member(machine->program, access->gives, i);
        ptx_put(machine, group, to, 0, &zeros, lanes, lanes);
        ptx_put(machine, group, to, 1, &zeros, lanes, lanes);
    }
}

/* Known words in one block: without copies. False: it is not so. Which lanes of a comparison store is known only when
 * it is made; so not where something is to be reported before. */
static bool update_words(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                         const PtxLocation *locations, const Span *span) {
    const Update *update = code->detail;
    const CoreAccess *access = &update->access;
    bool compares = update->action == ACTION_CAS, reported = machine->observe || machine->symmetry, changed = false;
    Lanes scratch, compare_scratch, old = {{0}};
    uint32_t unknown = 0;
    unsigned bytes = update->numbers.bytes;
    if (access->members > 1 || bytes != access->align || bytes > 8 || (compares && reported) || !span_known(span))
        return false;
    const Lanes *values = ptx_fetch(machine, group, access->data, 0, &scratch, &unknown), *wanted = NULL;
    if (compares)
        wanted = ptx_fetch(machine, group, access->compare, 0, &compare_scratch, &unknown);
    if (unknown & lanes)
        return false;
    if (reported)
        access_emit(machine, group, code, access, lanes, locations, lanes);
    uint64_t mask = bytes < 8 ? (UINT64_C(1) << bytes * 8) - 1 : UINT64_MAX;
    span_written(machine, span, lanes, locations, bytes);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint8_t *at = span->block->bytes + locations[lane].offset;
        uint64_t was = 0, value = values->at[lane] & mask;
        memcpy(&was, at, bytes);
        old.at[lane] = was;
        if (compares && was != (wanted->at[lane] & mask))
            continue;
        value = compares ? value : act(update->action, update->numbers, was, value) & mask;
        memcpy(at, &value, bytes);
        changed |= value != was;
    }
    if (changed)
        memory_changed(machine, span->block);
    if (access->gives)
        ptx_put(machine, group, access->gives, 0, &old, lanes, 0);
    return true;
}

static PtxStep run_update(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Update *update = code->detail;
    const CoreAccess *access = &update->access;
    Lanes scratch;
    PtxLocation locations[PTX_LANES];
    Span span;
    UpdateRow row;
    uint32_t unknown = 0, there = lanes;
    const Lanes *addresses = ptx_fetch_address(machine, group, access->address, &scratch, &unknown);
    if (!memory_resolve(machine, group, code, access->space, addresses, unknown, access->align, access->align, &there,
                        locations, &span))
        return PTX_STEP_FAULT;
    give_nothing(machine, group, access, code->data ? lanes : lanes & ~there);
    if (!there)
        return PTX_STEP_NEXT;
    if (access->space == PTX_SPACE_UNKNOWN && !memory_writable(machine, group, code, there, locations))
        return PTX_STEP_FAULT;
    if (code->data) {
        access_emit(machine, group, code, access, there, locations, machine->plays ? there & machine->stores : there);
        return PTX_STEP_NEXT;
    }
    if (update_words(machine, group, code, there, locations, &span))
        return PTX_STEP_NEXT;
    uint32_t stores = change_row(machine, code, group, there, locations, &row);
    access_emit(machine, group, code, access, there, locations, stores);
    for (uint32_t rest = stores; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        ptx_store_bytes(machine, locations[lane], access->align, row.made[lane].data, row.made[lane].states);
    }
    give_old(machine, group, access, there, &row);
    return PTX_STEP_NEXT;
}

const CoreAccess *access_update(const PtxCode *code) {
    return code->run == run_update ? &((const Update *)code->detail)->access : NULL;
}

/* ---- Which there are ---- */

static Action action_of(const PtxCode *code) {
    static const struct {
        const char *name;
        Action action;
    } actions[] = {{"add", ACTION_ADD}, {"min", ACTION_MIN},      {"max", ACTION_MAX}, {"inc", ACTION_INC},
                   {"dec", ACTION_DEC}, {"and", ACTION_AND},      {"or", ACTION_OR},   {"xor", ACTION_XOR},
                   {"cas", ACTION_CAS}, {"exch", ACTION_EXCHANGE}};
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (code_has(code, str_of(actions[i].name)))
            return actions[i].action;
    return ACTION_NONE;
}

static UpdateNumbers numbers_of(Str type, PtxSpace space) {
    UpdateNumbers numbers = {.bytes = ptx_bits_of_type(type) / 8, .kind = KIND_UNSIGNED};
    if (str_ends(type, STR("x2")))
        numbers.bytes /= 2;
    if (type.size && type.data[0] == 's')
        numbers.kind = KIND_SIGNED;
    if (str_starts(type, STR("f16")))
        numbers.kind = KIND_F16;
    if (str_starts(type, STR("bf16")))
        numbers.kind = KIND_BF16;
    if (str_is(type, "f32"))
        numbers.kind = KIND_F32;
    if (str_is(type, "f64"))
        numbers.kind = KIND_F64;
    numbers.flushes = numbers.kind == KIND_F32 && space != PTX_SPACE_SHARED && space != PTX_SPACE_CLUSTER;
    return numbers;
}

bool updates_prepare(const PtxPrepare *about, PtxCode *code) {
    if (about->effect_count != 1 || about->effects[0].effect.verb != EFFECT_UPDATE ||
        about->effects[0].effect.done != DONE_NOW)
        return false;
    Update *update = ARENA_NEW(about->program->arena, Update);
    CoreAccess *access = &update->access;
    if (!access_describe(about, code, access))
        return false;
    update->action = action_of(code);
    update->numbers = numbers_of(code_modifier(code, STR("t")), access->space);
    access->gives = code_named(about->program, code, STR("d"));
    access->data = code_named(about->program, code, STR("b"));
    if (update->action == ACTION_CAS) {
        access->compare = access->data;
        access->data = code_named(about->program, code, STR("c"));
    }
    access->access.kind = KIND_UPDATE;
    access->access.used = (UINT32_C(1) << access->members) - 1;
    code->run = run_update;
    code->detail = update;
    code->visible = true;
    return access->data && update->action && access->align <= MOST_BYTES;
}
