/* What a target has and how much of it: one row each. Facts about hardware stand here and nowhere else. */
#ifndef MODEL_TARGET_TARGET_H
#define MODEL_TARGET_TARGET_H

#include "ir/ir.h"

typedef enum Vendor { VENDOR_NVIDIA, VENDOR_AMD } Vendor;

typedef struct Target {
    const char *name; /* "sm_90a", "gfx942" */
    Vendor vendor;
    unsigned number; /* 90; 942 */
    unsigned warp_threads;
    unsigned processors; /* streaming multiprocessors, or compute units, of the usual chip */
    int64_t shared_bytes;              /* that a CTA can have */
    int64_t tensor_columns;            /* of tensor memory; 0: there is none */
    unsigned portable_ctas, most_ctas; /* of a cluster; 1: there are no clusters */
    bool bulk;                         /* TMA, transaction bytes on mbarriers */
    bool wgmma;
    bool gather; /* rows by index, cta pairs, launch control: Blackwell's TMA */
    /* AMD: the largest count of each wait counter; 0: the target does not have it. Without a store counter stores count
     * on the load counter. */
    unsigned load_counter, store_counter, ds_counter, async_counter, tensor_counter;
    bool named_barriers, split_barriers, lds_barriers;
} Target;

/* By name; an "a" or "f" at the end may be left out or given. NULL if it is not known. */
const Target *target_named(Str name);
/* What the module of the op says it is for (ttg.target = "cuda:90"); else what its ops show; NULL: neither. */
const Target *target_of(const Op *op);
/* What the module says itself, in the table or not: "cuda:90", "hip:gfx942"; empty if it does not say. */
Str target_text(const Op *op);
/* Its vendor and its number; false if it does not say, or says something else. */
bool target_said(const Op *op, Vendor *vendor, unsigned *number);

/* What the module of the op says of a launch, up to MODULE_MOST; what Triton takes where it says nothing. */
enum { MODULE_MOST = 1 << 16 };
unsigned module_warps(const Op *op);
unsigned module_ctas(const Op *op);    /* that have one program between them */
unsigned module_cluster(const Op *op); /* programs that are in one cluster */
void module_cluster_dims(const Op *op, uint32_t dims[3]);
/* The threads of a warp, and the warps of all partitions; `otherwise` where it says nothing. */
unsigned module_warp_threads(const Op *op, unsigned otherwise);
unsigned module_total_warps(const Op *op, unsigned otherwise);
/* The name of one of these attributes that the module has, and that no launch can have; NULL: there is none. */
const Attr *module_problem(const Op *op, const char **name);

/* Whose hardware the dialect of an op is for; false: any, or it is not known. */
bool op_vendor(const Op *op, Vendor *vendor);

/* The names of all, for messages: "sm_80, sm_86, ...". */
void targets_list(Text *to);

#endif
