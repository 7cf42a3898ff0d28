/* Which partition an op belongs to, in every form in which warp-specialized IR says so. */
#ifndef MODEL_FLOW_PARTITION_H
#define MODEL_FLOW_PARTITION_H

#include "ir/ir.h"

typedef enum PartitionForm {
    PARTITION_NONE,      /* not specialized */
    PARTITION_REGIONS,   /* ttg.warp_specialize: default = 0, partitionK = K + 1 */
    PARTITION_GROUPS,    /* nvws.warpgroup: region K */
    PARTITION_TASKS,     /* async_task_id */
    PARTITION_SCHEDULED, /* ttg.partition */
} PartitionForm;

typedef struct Partitions {
    PartitionForm form;
    uint64_t mask; /* bit k: partition k runs it; 0: not said (outside of all) */
} Partitions;

/* Of one op: the nearest that says. Sets have more than one bit where an op is to be cloned. */
Partitions partitions_of(const Op *op);
/* "default", "partition0", "task 1", "group 0"; "" for none. */
void partition_print(Partitions partitions, Text *to);
/* Warps of the partition that runs `op`: num_warps of its region, else the module's. */
unsigned partition_warps(const Op *op);

#endif
