/* Options of programs that were compiled with an older header than the library's, or a newer one. */
#include "api/internal.h"

#include <string.h>

void options_take(void *own, size_t size, const void *given) {
    static const size_t most = 4096; /* beyond is no size of a header's */
    size_t there = 0;
    memset(own, 0, size);
    if (given)
        memcpy(&there, given, sizeof there);
    if (given && !there)
        there = size;
    bool known = there <= most;
    for (size_t i = size; known && i < there; i++)
        known = !((const char *)given)[i];
    if (known && given)
        memcpy(own, given, there < size ? there : size);
    there = known ? size : OPTIONS_UNKNOWN;
    memcpy(own, &there, sizeof there);
}
