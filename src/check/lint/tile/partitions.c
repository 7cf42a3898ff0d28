/* Rules about partitions: named barriers, which are 16 for a CTA, and registers, which its warps share. */
#include "check/lint/tile/signals.h"

#include "model/flow/partition.h"

enum {
    RESERVED_BARRIERS = 2, /* of the default partition, and for starting the others */
    WARP_THREADS = 32,
    GROUP_WARPS = 4,
    MOST_WARPS = 32,
    FEWEST_REGISTERS = 24,
    MOST_REGISTERS = 256,
    REGISTERS_STEP = 8,
    REGISTER_FILE = 65536,
};

static const Attr *integers(const Op *op, const char *name) {
    const Attr *attr = op_attr(op, name);
    return attr && attr->kind == ATTR_INTS && attr->exact ? attr : NULL;
}

/* Warps of the whole CTA, as far as is known: more than these there may be. */
static int64_t cta_warps(const Lint *lint) {
    return module_total_warps(lint->function, module_warps(lint->function));
}

/* ---- Named barriers ------------------------------------------------------------------------------- */

/* The largest number of partitions that start at once: each has a barrier of its own. */
static int64_t most_partitions(const Lint *lint) {
    int64_t most = 0;
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        const Attr *warps = op_is_control(op, CONTROL_FORK) ? integers(op, "partitionNumWarps") : NULL;
        if (warps && warps->count > most)
            most = warps->count;
    }
    return most;
}

/* A number of the text of assembly, or a value. */
static IntDomain number_known(Lint *lint, const Value *value, int64_t number) {
    return value ? known_of(lint->facts, value) : known_exact(number);
}

static void check_id(Lint *lint, const Op *op, IntDomain known, int64_t partitions) {
    if (known.least > NAMED_BARRIERS - 1 || known.most < 0)
        lint_find(lint, RULE_NAMED_ID, op, "the barrier id is %lld",
                  (long long)(known.most < 0 ? known.most : known.least));
    else if (known.least < 0 || known.most > NAMED_BARRIERS - 1)
        lint_find(lint, RULE_NAMED_UNKNOWN, op, "review: the barrier id is not known");
    else if (partitions && known.exact && known.least < RESERVED_BARRIERS + partitions)
        lint_find(lint, RULE_NAMED_RESERVED, op,
                  "review: the barrier id is %lld, and with %lld partitions the compiler uses 0 to %lld itself",
                  (long long)known.least, (long long)partitions, (long long)(RESERVED_BARRIERS + partitions - 1));
}

static void check_threads(Lint *lint, const Op *op, IntDomain known) {
    int64_t there = WARP_THREADS * cta_warps(lint);
    bool counted = module_total_warps(lint->function, 0) > 0;
    if (known.exact && (known.least <= 0 || known.least > MOST_WARPS * WARP_THREADS))
        lint_find(lint, RULE_NAMED_THREADS, op, "the barrier is for %lld threads", (long long)known.least);
    else if (known.exact && known.least % WARP_THREADS != 0)
        lint_find(lint, RULE_NAMED_THREADS, op,
                  "the barrier is for %lld threads, which is not a multiple of the "
                  "warp size",
                  (long long)known.least);
    else if (known_is_multiple(&known, WARP_THREADS) == TRIBOOL_FALSE)
        lint_find(lint, RULE_NAMED_THREADS, op, "the barrier's thread count is never a multiple of the warp size");
    else if (known.exact && counted && known.least > there)
        lint_find(lint, RULE_NAMED_THREADS, op, "the barrier is for %lld threads, and the CTA has %lld",
                  (long long)known.least, (long long)there);
    else if (!known.exact)
        lint_find(lint, RULE_NAMED_UNKNOWN, op, "review: the barrier's thread count is not known");
}

static void check_named(Lint *lint, const Op *op, int64_t partitions) {
    Effects effects = lint_effects(lint, op);
    for (const Effect *effect = effects.items; effect < effects.end; effect++) {
        if (effect->verb != EFFECT_NAMED_ARRIVE && effect->verb != EFFECT_NAMED_SYNC)
            continue;
        check_id(lint, op, number_known(lint, effect->on, effect->number), partitions);
        if (effect->amount || effect->count)
            check_threads(lint, op, number_known(lint, effect->amount, effect->count));
    }
}

/* ---- Partitions ----------------------------------------------------------------------------------- */

static void check_count(Lint *lint, const Op *op) {
    const Attr *warps = integers(op, "partitionNumWarps");
    if (warps && warps->count > NAMED_BARRIERS - RESERVED_BARRIERS)
        lint_find(lint, RULE_NAMED_PARTITIONS, op, "there are %u partitions besides the default one", warps->count);
}

/* What Triton writes beyond the most it cuts off when it lowers the op: a default partition gets all that is left. */
static bool is_count(int64_t registers) {
    return registers >= FEWEST_REGISTERS && registers % REGISTERS_STEP == 0;
}

/* Whether a partition does nothing: it is there to fill a group of warps. */
static bool is_padding(const Op *op, uint32_t partition) {
    const Op *holder = op->region_count > 1 && op->regions[1].first ? op->regions[1].first->first : NULL;
    const Block *body = holder && partition < holder->region_count ? holder->regions[partition].first : NULL;
    return body && body->first == body->last;
}

static void check_requests(Lint *lint, const Op *op) {
    const Attr *asked = integers(op, "requestedRegisters");
    for (uint32_t i = 0; asked && i < asked->count; i++) {
        int64_t registers = asked->ints[i];
        if (registers <= 0 || is_padding(op, i) || (registers >= FEWEST_REGISTERS && registers <= MOST_REGISTERS))
            continue;
        lint_find(lint, RULE_REGISTERS_REQUEST, op, "partition%u requests %lld registers per thread", i,
                  (long long)registers);
    }
}

static void check_actual(Lint *lint, const Op *op, const Attr *actual) {
    for (uint32_t i = 0; i < actual->count; i++)
        if (!is_count(actual->ints[i]) && !(i && is_padding(op, i - 1)))
            lint_find(lint, RULE_REGISTERS_COUNT, op, "%s gets %lld registers per thread",
                      i ? verdict_text(lint->verdict, "partition%u", i - 1) : "the default partition",
                      (long long)actual->ints[i]);
}

/* Warps of one group change their registers together. */
static void check_groups(Lint *lint, const Op *op, const Attr *actual) {
    const Attr *starts = integers(op, "warpGroupStartIds");
    int64_t warps = module_warps(lint->function);
    if (warps % GROUP_WARPS != 0)
        lint_find(lint, RULE_REGISTERS_GROUP, op,
                  "the default partition has %lld warps, which is not a multiple of "
                  "a warpgroup",
                  (long long)warps);
    uint32_t count = starts && starts->count < actual->count ? starts->count : 0;
    for (uint32_t i = 1; i < count && i < MOST_WARPS; i++) {
        int64_t group = starts->ints[i] / GROUP_WARPS;
        for (uint32_t k = 0; k < i; k++)
            if (starts->ints[k] / GROUP_WARPS == group && actual->ints[k + 1] != actual->ints[i + 1])
                lint_find(lint, RULE_REGISTERS_GROUP, op,
                          "partition%u and partition%u are in one warpgroup, with %lld and %lld registers per thread",
                          k, i, (long long)actual->ints[k + 1], (long long)actual->ints[i + 1]);
    }
}

static void check_sum(Lint *lint, const Op *op, const Attr *actual) {
    const Attr *warps = integers(op, "partitionNumWarps");
    int64_t sum = 0, own = module_warps(lint->function);
    for (uint32_t i = 0; i < actual->count && warps && i <= warps->count; i++) {
        int64_t held = i ? warps->ints[i - 1] : own;
        if (held < 0 || held > 64 || actual->ints[i] < 0 || actual->ints[i] > 4096)
            return;
        int64_t registers = actual->ints[i] < MOST_REGISTERS ? actual->ints[i] : MOST_REGISTERS;
        sum += registers * held * WARP_THREADS;
    }
    if (sum > REGISTER_FILE)
        lint_find(lint, RULE_REGISTERS_SUM, op, "the partitions get %lld registers in total", (long long)sum);
}

static void check_partitions(Lint *lint, const Op *op) {
    const Attr *actual = integers(op, "actualRegisters");
    check_count(lint, op);
    check_requests(lint, op);
    if (!actual)
        return;
    check_actual(lint, op, actual);
    check_groups(lint, op, actual);
    check_sum(lint, op, actual);
}

/* ---- The kernel ----------------------------------------------------------------------------------- */

static void check_kernel(Lint *lint) {
    int64_t warps = cta_warps(lint), limit = lint_module_integer(lint, "ttg.maxnreg", 0);
    if (warps > MOST_WARPS)
        lint_find(lint, RULE_LIMIT_THREADS, lint->function, "a CTA has %lld warps, %lld threads", (long long)warps,
                  (long long)(warps > INT32_MAX ? INT32_MAX : warps * WARP_THREADS));
    else if (limit > 0 && limit <= MOST_REGISTERS && limit * warps * WARP_THREADS > REGISTER_FILE)
        lint_find(lint, RULE_REGISTERS_SUM, lint->function,
                  "%lld warps with %lld registers per thread need %lld in total", (long long)warps, (long long)limit,
                  (long long)(limit * warps * WARP_THREADS));
}

void lint_partitions(Lint *lint) {
    int64_t partitions = most_partitions(lint);
    check_kernel(lint);
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        check_named(lint, op, partitions);
        if (op_is_control(op, CONTROL_FORK))
            check_partitions(lint, op);
    }
}
