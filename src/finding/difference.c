/* The names of the levels at which two reports can differ. */
#include "finding/difference.h"

static const struct {
    const char *name, *text;
} levels[] = {
#define LEVEL(id, name, text) {name, text},
    DIFFERENCE_LEVELS(LEVEL)
#undef LEVEL
};

const char *difference_level_name(DifferenceLevel level) {
    return levels[level].name;
}

const char *difference_level_text(DifferenceLevel level) {
    return levels[level].text;
}
