/* The targets as a table, and which one a module is for. */
#include "model/target/target.h"

#include "ir/op.h"

/* What several have in common. Shared memory of a CTA is what it can opt in to, the KiB that the system keeps taken
 * off.
 */
#define NO_CLUSTERS .portable_ctas = 1, .most_ctas = 1
#define NVIDIA      .vendor = VENDOR_NVIDIA, .warp_threads = 32
#define HOPPER      NVIDIA, .shared_bytes = 227 << 10, .portable_ctas = 8, .bulk = true
#define BLACKWELL   HOPPER, .tensor_columns = 512, .gather = true
#define CDNA        .vendor = VENDOR_AMD, .warp_threads = 64, NO_CLUSTERS, .load_counter = 63, .ds_counter = 15

static const Target targets[] = {
    {.name = "sm_80", .processors = 108, .number = 80, NVIDIA, .shared_bytes = 163 << 10, NO_CLUSTERS},
    {.name = "sm_86", .processors = 84, .number = 86, NVIDIA, .shared_bytes = 99 << 10, NO_CLUSTERS},
    {.name = "sm_89", .processors = 142, .number = 89, NVIDIA, .shared_bytes = 99 << 10, NO_CLUSTERS},
    {.name = "sm_90a", .processors = 132, .number = 90, HOPPER, .most_ctas = 16, .wgmma = true},
    {.name = "sm_100a", .processors = 148, .number = 100, BLACKWELL, .most_ctas = 16},
    {.name = "sm_103a", .processors = 148, .number = 103, BLACKWELL, .most_ctas = 16},
    {.name = "sm_110a", .processors = 20, .number = 110, BLACKWELL, .most_ctas = 8},
    {.name = "sm_120a", .processors = 188, .number = 120, NVIDIA, .shared_bytes = 99 << 10, NO_CLUSTERS, .bulk = true},
    {.name = "gfx942", .processors = 304, .number = 942, CDNA, .shared_bytes = 64 << 10},
    {.name = "gfx950", .processors = 256, .number = 950, CDNA, .shared_bytes = 160 << 10},
    {.name = "gfx1250",
     .vendor = VENDOR_AMD,
     .number = 1250,
     .processors = 256,
     .warp_threads = 32,
     .shared_bytes = 320 << 10,
     .portable_ctas = 16,
     .most_ctas = 16,
     .load_counter = 63,
     .store_counter = 63,
     .ds_counter = 63,
     .async_counter = 63,
     .tensor_counter = 63,
     .named_barriers = true,
     .split_barriers = true,
     .lds_barriers = true},
};

enum { TARGET_COUNT = sizeof targets / sizeof *targets };

/* "sm_90", "sm_90a", "sm_100f": the letter at the end says what else may be used, and here all may. */
static Str without_letter(Str name) {
    bool letter = name.size && (name.data[name.size - 1] == 'a' || name.data[name.size - 1] == 'f');
    return letter && str_starts(name, STR("sm_")) ? (Str){name.data, name.size - 1} : name;
}

const Target *target_named(Str name) {
    for (size_t i = 0; i < TARGET_COUNT; i++)
        if (str_equal(without_letter(str_of(targets[i].name)), without_letter(name)))
            return &targets[i];
    return NULL;
}

static const Target *target_written(Str text) {
    char name[32] = "sm_";
    if (str_starts(text, STR("hip:")))
        return target_named((Str){text.data + 4, text.size - 4});
    if (!str_starts(text, STR("cuda:")) || text.size - 5 > sizeof name - 4)
        return NULL;
    memcpy(name + 3, text.data + 5, text.size - 5);
    return target_named(str_of(name));
}

bool op_vendor(const Op *op, Vendor *vendor) {
    static const struct {
        const char *dialect;
        Vendor vendor;
    } dialects[] = {{"ttng.", VENDOR_NVIDIA}, {"nvg.", VENDOR_NVIDIA},  {"nvws.", VENDOR_NVIDIA},
                    {"nvvm.", VENDOR_NVIDIA}, {"amdg.", VENDOR_AMD}, {"rocdl.", VENDOR_AMD}};
    for (size_t i = 0; op->row && i < sizeof dialects / sizeof *dialects; i++)
        if (str_starts(op->row->name, str_of(dialects[i].dialect))) {
            *vendor = dialects[i].vendor;
            return true;
        }
    return false;
}

/* ---- What a module says ---------------------------------------------------------------------------- */

/* An attribute of the nearest op around that has it, under the name of today or the older one. */
static const Attr *around(const Op *op, const char *name, const char *older, bool (*fits)(const Attr *attr)) {
    for (; op; op = op_parent(op)) {
        const Attr *attr = op_attr(op, name);
        attr = attr ? attr : op_attr(op, older);
        if (attr && fits(attr))
            return attr;
    }
    return NULL;
}

static bool is_any(const Attr *attr) {
    (void)attr;
    return true;
}

static bool is_number(const Attr *attr) {
    return attr->kind == ATTR_INTEGER && attr->exact && attr->integer > 0 && attr->integer <= MODULE_MOST;
}

Str target_text(const Op *op) {
    const Attr *attr = around(op, "ttg.target", "triton_gpu.target", is_any);
    Str text = attr ? attr->text : (Str){"", 0};
    return text.size > 1 && text.data[0] == '"' ? (Str){text.data + 1, text.size - 2} : text;
}

bool target_said(const Op *op, Vendor *vendor, unsigned *number) {
    Str text = target_text(op);
    bool amd = str_starts(text, STR("hip:gfx"));
    if (!amd && !str_starts(text, STR("cuda:")))
        return false;
    *vendor = amd ? VENDOR_AMD : VENDOR_NVIDIA;
    *number = 0;
    for (size_t i = amd ? 7 : 5; i < text.size && text.data[i] >= '0' && text.data[i] <= '9' && *number < 10000; i++)
        *number = *number * 10 + (unsigned)(text.data[i] - '0');
    return true;
}

static unsigned number_around(const Op *op, const char *name, const char *older, unsigned otherwise) {
    const Attr *attr = around(op, name, older, is_number);
    return attr ? (unsigned)attr->integer : otherwise;
}

const Attr *module_problem(const Op *op, const char **name) {
    static const char *const names[] = {"ttg.num-warps", "ttg.num-ctas", "ttg.threads-per-warp", "ttg.total-num-warps"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const Attr *attr = op_attr_around(op, names[i]);
        *name = names[i];
        if (attr && !is_number(attr))
            return attr;
    }
    return NULL;
}

unsigned module_warps(const Op *op) {
    return number_around(op, "ttg.num-warps", "triton_gpu.num-warps", 4);
}

unsigned module_ctas(const Op *op) {
    return number_around(op, "ttg.num-ctas", "triton_gpu.num-ctas", 1);
}

void module_cluster_dims(const Op *op, uint32_t dims[3]) {
    dims[0] = number_around(op, "ttg.cluster-dim-x", "triton_gpu.cluster-dim-x", 1);
    dims[1] = number_around(op, "ttg.cluster-dim-y", "triton_gpu.cluster-dim-y", 1);
    dims[2] = number_around(op, "ttg.cluster-dim-z", "triton_gpu.cluster-dim-z", 1);
}

unsigned module_cluster(const Op *op) {
    uint32_t dims[3];
    module_cluster_dims(op, dims);
    uint64_t size = (uint64_t)dims[0] * dims[1] * dims[2];
    return size < MODULE_MOST ? (unsigned)size : MODULE_MOST;
}

unsigned module_warp_threads(const Op *op, unsigned otherwise) {
    return number_around(op, "ttg.threads-per-warp", "triton_gpu.threads-per-warp", otherwise);
}

unsigned module_total_warps(const Op *op, unsigned otherwise) {
    return number_around(op, "ttg.total-num-warps", "triton_gpu.total-num-warps", otherwise);
}

const Target *target_of(const Op *op) {
    if (around(op, "ttg.target", "triton_gpu.target", is_any))
        return target_written(target_text(op));
    const Op *outermost = op;
    while (outermost && op_parent(outermost))
        outermost = op_parent(outermost);
    for (const Op *at = outermost; at; at = op_next_in_walk(at, outermost)) {
        if (str_is(op_dialect(at), "amdg"))
            return target_named(STR("gfx1250"));
        if (op_is(at, CLASS_TENSOR_MEMORY))
            return target_named(STR("sm_100a"));
    }
    return NULL;
}

void targets_list(Text *to) {
    for (size_t i = 0; i < TARGET_COUNT; i++)
        text_addf(to, "%s%s", i ? ", " : "", targets[i].name);
}
