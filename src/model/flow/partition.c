/* Which partition an op belongs to: by the region it is in, else by what is written on it or around it. */
#include "model/flow/partition.h"

#include "ir/op.h"
#include "model/target/target.h"

static uint64_t bit(int64_t partition) {
    return partition >= 0 && partition < 64 ? UINT64_C(1) << partition : 0;
}

/* The partitions that an attribute lists: array<i32: 0, 1>, dense<[0, 1]> : vector<2xi32>, 1 : i32. */
static uint64_t listed(const Attr *attr) {
    enum { MOST = 64 };
    int64_t partitions[MOST];
    uint64_t mask = 0;
    uint32_t count = attr ? attr_numbers(attr, partitions, MOST) : 0;
    for (uint32_t i = 0; i < count && i < MOST; i++)
        mask |= bit(partitions[i]);
    return mask;
}

static uint32_t region_index(const Op *op) {
    return (uint32_t)(op->block->region - op_parent(op)->regions);
}

/* The partition of the region of a specialized op around `op`, if there is one; *inside is then the op that stands
 * right in it. Such a region says who runs it, whatever attributes an earlier pass left behind. */
static Partitions by_region(const Op *op, const Op **inside) {
    for (const Op *parent; (parent = op_parent(op)); op = parent) {
        *inside = op;
        if (op_is_control(parent, CONTROL_PARTITIONS))
            return (Partitions){PARTITION_REGIONS, bit((int64_t)region_index(op) + 1)};
        if (op_is_control(parent, CONTROL_FORK) && region_index(op) == 0)
            return (Partitions){PARTITION_REGIONS, bit(0)};
        if (op_is_control(parent, CONTROL_GROUPS))
            return (Partitions){PARTITION_GROUPS, bit(region_index(op))};
    }
    *inside = NULL;
    return (Partitions){PARTITION_NONE, 0};
}

Partitions partitions_of(const Op *op) {
    const Op *inside;
    Partitions found = by_region(op, &inside);
    for (; found.form == PARTITION_NONE && op; op = op_parent(op)) {
        uint64_t mask = listed(op_attr(op, "async_task_id"));
        if (mask)
            return (Partitions){PARTITION_TASKS, mask};
        mask = listed(op_attr(op, "ttg.partition"));
        if (mask)
            return (Partitions){PARTITION_SCHEDULED, mask};
    }
    return found;
}

void partition_print(Partitions partitions, Text *to) {
    static const char *const words[] = {
        [PARTITION_NONE] = "",       [PARTITION_REGIONS] = "partition",    [PARTITION_GROUPS] = "group ",
        [PARTITION_TASKS] = "task ", [PARTITION_SCHEDULED] = "partition ",
    };
    bool regions = partitions.form == PARTITION_REGIONS, first = true;
    for (unsigned k = 0; k < 64; k++) {
        if (!(partitions.mask >> k & 1))
            continue;
        if (regions && k == 0)
            text_str(to, STR("default"));
        else if (first)
            text_addf(to, "%s%u", words[partitions.form], k - regions);
        else
            text_addf(to, ", %u", k);
        first = false;
    }
}

static unsigned warps_at(const Op *op, const char *name, uint32_t index) {
    const Attr *warps = op_attr(op, name);
    bool there = warps && warps->kind == ATTR_INTS && index < warps->count;
    return there && warps->ints[index] > 0 && warps->ints[index] <= 64 ? (unsigned)warps->ints[index] : 0;
}

unsigned partition_warps(const Op *op) {
    const Op *inside;
    Partitions found = by_region(op, &inside);
    const Op *holder = inside ? op_parent(inside) : NULL;
    unsigned warps = 0;
    if (found.form == PARTITION_GROUPS)
        warps = warps_at(holder, "numWarps", region_index(inside));
    else if (found.form == PARTITION_REGIONS && found.mask != bit(0) && op_parent(holder))
        warps = warps_at(op_parent(holder), "partitionNumWarps", region_index(inside));
    return warps ? warps : module_warps(op);
}
