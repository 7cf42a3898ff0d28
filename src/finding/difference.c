/* The names of the levels at which two reports can differ. */
#include "finding/difference.h"

const char *difference_level_name(DifferenceLevel level) {
    static const char *const names[] = {
#define LEVEL(id, name, text) [LEVEL_##id] = name,
        DIFFERENCE_LEVELS(LEVEL)
#undef LEVEL
    };
    return names[level];
}

const char *difference_level_text(DifferenceLevel level) {
    static const char *const texts[] = {
#define LEVEL(id, name, text) [LEVEL_##id] = text,
        DIFFERENCE_LEVELS(LEVEL)
#undef LEVEL
    };
    return texts[level];
}
