/* Rules of lint_limit.def: how much of everything a target has, and which ops it has at all. */
#include "check/lint/tile/signals.h"

#include "model/memory/placement.h"

#include <stdio.h>

/* The first target that has the ops of a class. */
static const struct {
    OpClass class;
    unsigned number;
    const char *what;
} needs[] = {
    {CLASS_CLUSTER, 90, "clusters"},
    {CLASS_OVERLAP, 90, "programmatic dependent launch"},
    {CLASS_CLUSTER_REQUEST, 100, "cluster launch control"},
};

static void check_op(Lint *lint, const Op *op) {
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (op_is(op, needs[i].class) && lint->target->number < needs[i].number)
            lint_find(lint, RULE_LIMIT_TARGET, op, "%s has no %s", lint->target->name, needs[i].what);
    if (op_is_control(op, CONTROL_FORK) && op_attr(op, "actualRegisters") && lint->target->number < 90)
        lint_find(lint, RULE_LIMIT_TARGET, op, "%s has no setmaxnreg", lint->target->name);
}

/* ---- Vendors -------------------------------------------------------------------------------------- */

/* What the module is for does not have the ops of another vendor, nor warps of another size. */
static void check_vendor(Lint *lint) {
    static const char *const vendors[] = {[VENDOR_NVIDIA] = "NVIDIA", [VENDOR_AMD] = "AMD"};
    const Target *target = lint->target;
    Vendor vendor;
    unsigned threads = module_warp_threads(lint->function, target->warp_threads);
    if (threads != target->warp_threads)
        lint_find(lint, RULE_LIMIT_TARGET, lint->function,
                  "the module has %u threads in a warp, and a warp of %s has %u", threads, target->name,
                  target->warp_threads);
    const Op *first = NULL;
    size_t more = 0;
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function))
        if (op_vendor(op, &vendor) && vendor != target->vendor) {
            more += first != NULL;
            first = first ? first : op;
        }
    if (!first)
        return;
    char others[64] = "";
    if (more)
        snprintf(others, sizeof others, "; the kernel has %zu more of them", more);
    lint_find(lint, RULE_LIMIT_TARGET, first, "%s has no %.*s, which is an operation of %s GPUs%s", target->name,
              STR_ARG(first->row->name), vendors[target->vendor == VENDOR_AMD ? VENDOR_NVIDIA : VENDOR_AMD], others);
}

/* ---- Shared memory -------------------------------------------------------------------------------- */

static const Allocation *largest(const Allocations *allocations) {
    const Allocation *found = NULL;
    for (uint32_t i = 0; i < allocations->count; i++)
        if (allocations->items[i].space == SPACE_SHARED && (!found || allocations->items[i].size > found->size))
            found = &allocations->items[i];
    return found;
}

static void check_shared(Lint *lint) {
    int64_t limit = lint->target->shared_bytes, used = lint_module_integer(lint, "ttg.shared", -1);
    const char *name = lint->target->name;
    if (used > limit)
        lint_find(lint, RULE_LIMIT_SHARED, lint->function, "a CTA needs %lld bytes of shared memory, and %s has %lld",
                  (long long)used, name, (long long)limit);
    if (used >= 0)
        return;
    Allocations allocations = allocations_of(lint->module, lint->function);
    const Allocation *most = largest(&allocations);
    if (most && most->size > limit) {
        lint_find(lint, RULE_LIMIT_SHARED, most->op, "it needs %lld bytes of shared memory, and a CTA of %s has %lld",
                  (long long)most->size, name, (long long)limit);
        return;
    }
    Placements placements = placements_of(lint->module, lint->function);
    if (!placements.problem && placements.size > limit)
        lint_find(lint, RULE_LIMIT_SHARED_ESTIMATE, lint->function,
                  "review: placed as the compiler would place it, a CTA needs %lld bytes of shared memory, and %s "
                  "has %lld",
                  (long long)placements.size, name, (long long)limit);
}

/* ---- Clusters ------------------------------------------------------------------------------------- */

static void check_cluster(Lint *lint) {
    uint32_t ctas = lint_ctas(lint);
    const Target *target = lint->target;
    if (ctas < 2)
        return;
    if (!target->bulk)
        lint_find(lint, RULE_LIMIT_CLUSTER, lint->function, "the cluster has %u CTAs, and %s has no clusters", ctas,
                  target->name);
    else if (target->most_ctas < 2) /* sources disagree on consumer chips */
        lint_find(lint, RULE_LIMIT_CLUSTER_UNKNOWN, lint->function,
                  "review: the cluster has %u CTAs, and documents disagree on whether %s has clusters", ctas,
                  target->name);
    else if (ctas > target->most_ctas)
        lint_find(lint, RULE_LIMIT_CLUSTER, lint->function, "the cluster has %u CTAs, and %s supports at most %u", ctas,
                  target->name, target->most_ctas);
    else if (ctas > target->portable_ctas)
        lint_find(lint, RULE_LIMIT_CLUSTER_PORTABLE, lint->function,
                  "the cluster has %u CTAs, and the portable "
                  "maximum is %u",
                  ctas, target->portable_ctas);
}

static void check_target(Lint *lint) {
    check_shared(lint);
    check_cluster(lint);
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function))
        check_op(lint, op);
}

void lint_limits(Lint *lint) {
    if (lint->target)
        check_vendor(lint);
    if (lint_is_amd(lint)) { /* the rest of what it has of this is in lint_amd */
        check_shared(lint);
        return;
    }
    if (lint->target)
        check_target(lint);
    lint_partitions(lint);
    lint_conditions(lint);
    lint_cluster(lint);
    lint_grid(lint);
}
