/* Which releases of Triton IR may be from, by the marks that they leave in it. What two marks say differently was
 * written by another author; the first counts. */
#include "check/lint/tile/internal.h"

#include "check/explain/place.h"

/* Up to 3.7 a descriptor's type names a tensor, `tensordesc<tensor<64x64xf16, ...>>`; from 3.8 on its shape. */
static ReleaseSet by_type(const Type *type) {
    if (!type || !type_is(type, STR("tt.tensordesc")) || !type->param_count)
        return RELEASES_ALL;
    ReleaseSet later = releases_from(RELEASE_3_8);
    return str_starts(type->params[0], STR("tensor<")) ? RELEASES_ALL & ~later : later;
}

static ReleaseSet by_types(Module *module, const Op *function) {
    ReleaseSet set = RELEASES_ALL;
    const Block *entry = function->region_count ? function->regions[0].first : NULL;
    for (uint32_t i = 0; entry && i < entry->arg_count; i++)
        set &= by_type(type_resolve(module, entry->args[i].type));
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        for (uint32_t i = 0; i < op->result_count; i++)
            if (op->results[i].type)
                set &= by_type(type_resolve(module, op->results[i].type));
    return set;
}

/* Columns of Python functions are counted from 0 up to 3.7, where that of a function is always 0, and then from 1. */
static ReleaseSet by_column(Module *module, const Op *function) {
    const Attr *location = kernel_location(module, function->location);
    Str file = location ? location_text(location) : STR(""), python = STR(".py");
    if (file.size < python.size || memcmp(file.data + file.size - python.size, python.data, python.size) != 0)
        return RELEASES_ALL;
    ReleaseSet later = releases_from(RELEASE_3_8);
    return location->column ? later : RELEASES_ALL & ~later;
}

/* Before memory is laid out only 3.9 says whether products are of two CTAs. */
static ReleaseSet by_attributes(const Op *function) {
    bool early = op_attr_around(function, "ttng.two-ctas") && !op_attr_around(function, "ttg.shared");
    return early ? releases_from(RELEASE_3_9) : RELEASES_ALL;
}

ReleaseSet releases_of(Module *module, const Op *function) {
    const ReleaseSet marks[] = {by_attributes(function), by_column(module, function), by_types(module, function)};
    ReleaseSet set = RELEASES_ALL;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (set & marks[i])
            set &= marks[i];
    return set;
}
