/* The targets as a table, and which one a module is for. */
#include "model/target/target.h"

/* Shared memory of a CTA is what it can opt in to, the KiB that the system keeps taken off. */
static const Target targets[] = {
    {.name = "sm_80", .number = 80, .warp_threads = 32, .shared_bytes = 163 << 10, .portable_ctas = 1, .most_ctas = 1},
    {.name = "sm_86", .number = 86, .warp_threads = 32, .shared_bytes = 99 << 10, .portable_ctas = 1, .most_ctas = 1},
    {.name = "sm_89", .number = 89, .warp_threads = 32, .shared_bytes = 99 << 10, .portable_ctas = 1, .most_ctas = 1},
    {.name = "sm_90a",
     .number = 90,
     .warp_threads = 32,
     .shared_bytes = 227 << 10,
     .portable_ctas = 8,
     .most_ctas = 16,
     .bulk = true,
     .wgmma = true},
    {.name = "sm_100a",
     .number = 100,
     .warp_threads = 32,
     .shared_bytes = 227 << 10,
     .tensor_columns = 512,
     .portable_ctas = 8,
     .most_ctas = 16,
     .bulk = true,
     .gather = true},
    {.name = "sm_103a",
     .number = 103,
     .warp_threads = 32,
     .shared_bytes = 227 << 10,
     .tensor_columns = 512,
     .portable_ctas = 8,
     .most_ctas = 16,
     .bulk = true,
     .gather = true},
    {.name = "sm_110a",
     .number = 110,
     .warp_threads = 32,
     .shared_bytes = 227 << 10,
     .tensor_columns = 512,
     .portable_ctas = 8,
     .most_ctas = 8,
     .bulk = true,
     .gather = true},
    {.name = "sm_120a",
     .number = 120,
     .warp_threads = 32,
     .shared_bytes = 99 << 10,
     .portable_ctas = 1,
     .most_ctas = 1,
     .bulk = true},
    {.name = "gfx942",
     .vendor = VENDOR_AMD,
     .number = 942,
     .warp_threads = 64,
     .shared_bytes = 64 << 10,
     .portable_ctas = 1,
     .most_ctas = 1,
     .load_counter = 63,
     .ds_counter = 15},
    {.name = "gfx950",
     .vendor = VENDOR_AMD,
     .number = 950,
     .warp_threads = 64,
     .shared_bytes = 160 << 10,
     .portable_ctas = 1,
     .most_ctas = 1,
     .load_counter = 63,
     .ds_counter = 15},
    {.name = "gfx1250",
     .vendor = VENDOR_AMD,
     .number = 1250,
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

/* "cuda:90" or "hip:gfx942", with its quotes. */
static const Target *target_written(Str text) {
    char name[32] = "sm_";
    if (text.size > 1 && text.data[0] == '"')
        text = (Str){text.data + 1, text.size - 2};
    if (str_starts(text, STR("hip:")))
        return target_named((Str){text.data + 4, text.size - 4});
    if (!str_starts(text, STR("cuda:")) || text.size - 5 > sizeof name - 4)
        return NULL;
    memcpy(name + 3, text.data + 5, text.size - 5);
    return target_named(str_of(name));
}

const Target *target_of(const Op *op) {
    const Op *outermost = op;
    for (const Op *at = op; at; at = op_parent(at)) {
        const Attr *attr = op_attr(at, "ttg.target");
        attr = attr ? attr : op_attr(at, "triton_gpu.target");
        if (attr)
            return target_written(attr->text);
        outermost = at;
    }
    for (const Op *at = outermost; at; at = op_next_in_walk((Op *)at, (Op *)outermost)) {
        if (str_starts(at->name, STR("amdg.")) || str_starts(at->name, STR("amdgpu.")))
            return target_named(STR("gfx1250"));
        if (str_starts(at->name, STR("ttng.tmem_")) || str_starts(at->name, STR("ttng.tc_gen5")))
            return target_named(STR("sm_100a"));
    }
    return NULL;
}

void targets_list(Text *to) {
    for (size_t i = 0; i < TARGET_COUNT; i++)
        text_addf(to, "%s%s", i ? ", " : "", targets[i].name);
}
