/* Locations: through names, call sites and aliases to a file. */
#include "ir/location.h"

enum { DEEPEST_LOCATION = 64 };

/* What a location is about: what `#loc12` stands for, or what stands in it. */
static const Attr *inner_location(Module *module, const Attr *location) {
    if (location->location != LOC_ALIAS)
        return location->inner;
    Str name = {location->name.data - 1, location->name.size + 1}; /* the number sign stands before it */
    const Item *item = map_get(&module->aliases, name);
    return item && item->kind == ITEM_ATTR_ALIAS ? item->attr : NULL;
}

const Attr *location_of_kind(Module *module, const Attr *location, LocationKind kind) {
    for (int depth = 0; location && depth < DEEPEST_LOCATION; depth++) {
        location = attr_resolve(module, location);
        if (!location || location->kind != ATTR_LOCATION || location->location == LOC_UNKNOWN)
            return NULL;
        if (location->location == kind || location->location == LOC_FILE)
            return location->location == kind ? location : NULL;
        location = inner_location(module, location);
    }
    return NULL;
}

const Attr *kernel_location(Module *module, const Attr *location) {
    return location_of_kind(module, location, LOC_FILE);
}

Str location_text(const Attr *location) {
    Str name = location->name;
    if (name.size > 1 && name.data[0] == '"')
        name = (Str){name.data + 1, name.size - 2};
    return name;
}
