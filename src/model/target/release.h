/* Releases of Triton, as far as they differ in what their passes still put into IR: which of them IR may be from.
 *
 * A release is told by name, or in part by what the IR looks like; where neither decides, several are possible. */
#ifndef MODEL_TARGET_RELEASE_H
#define MODEL_TARGET_RELEASE_H

#include "base/text.h"

typedef enum TargetRelease {
    RELEASE_3_5,
    RELEASE_3_6,
    RELEASE_3_7_0, /* prints the same IR as 3.7.1, and inserts fewer fences */
    RELEASE_3_7_1,
    RELEASE_3_8,
    RELEASE_3_9, /* and later */
    RELEASES
} TargetRelease;

/* A bit for each. */
typedef uint8_t ReleaseSet;
enum { RELEASES_ALL = (1 << RELEASES) - 1 };

static inline ReleaseSet releases_from(TargetRelease first) {
    return (ReleaseSet)(RELEASES_ALL & ~((1u << first) - 1));
}
static inline bool release_in(ReleaseSet set, TargetRelease release) {
    return set >> release & 1;
}

/* "3.6", "3.6.0", "3.7" (which is two), "v3.7.1", "3.10"; none if it is no release, or one before 3.5. */
ReleaseSet releases_named(Str name);
/* "3.5 to 3.7.0", "3.7.1 and later", "3.6". Of a set that is not empty. */
void releases_describe(ReleaseSet set, Text *to);

#endif
