/* Under the address sanitizer a program takes several times as long: a fifth of the random ones, of the sizes and of
 * the repetitions is enough there, and all of them with COMPLETE=1 (`make complete`). */
#ifndef UNIT_SHARE_H
#define UNIT_SHARE_H

#include <stdlib.h>

static inline unsigned share_of(unsigned all) {
#ifdef __SANITIZE_ADDRESS__
    const char *complete = getenv("COMPLETE"); /* scripts/test sets it always, to nothing if it is not asked for */
    return complete && *complete ? all : (all + 4) / 5;
#else
    return all;
#endif
}

#endif
