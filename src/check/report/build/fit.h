/* From the slots and parities that an op was seen to use to the count that it follows.
 *
 * A ring of depth D is gone through by a count c: slot c % D, parity (c / D) & 1, or the opposite of that where the
 * first wait is meant to pass on a fresh barrier. One op of the ring sees every stride-th value of the count, from
 * `start` on, and a wait may look again at the phase that the wait before it was for. Nothing is guessed: a fit holds
 * for everything that was seen, or there is none; where a few at the end stray, that is said. */
#ifndef CHECK_REPORT_BUILD_FIT_H
#define CHECK_REPORT_BUILD_FIT_H

#include "base/text.h"

typedef struct Sighting {
    uint32_t slot;
    uint8_t parity;
} Sighting;

typedef struct Fit {
    bool found;
    bool constant;  /* the same slot and parity each time, or seen once only */
    bool inverted;  /* parity is NOT ((count / depth) & 1) */
    bool parities;  /* false: only slots were looked at */
    int64_t start;  /* of the count: less than the depth */
    int64_t stride; /* from one time to the next: less than twice the depth */
    uint32_t slot;  /* the first */
    uint8_t parity;
    uint32_t depth;
    uint32_t restarts; /* how often the count began again */
    uint32_t repeats;  /* waits for the phase that the one before was for: the count stood still */
    uint32_t left;     /* not found: how many at the end do not fit, where that is a small part; else 0 */
} Fit;

/* `parities`: whether they mean something (arrives have none). depth > 0. */
Fit fit_sequence(const Sighting *seen, size_t count, uint32_t depth, bool parities);
/* The same of a ring that was initialized again up to `most` times, each time with the count at its start. */
Fit fit_restarting(const Sighting *seen, size_t count, uint32_t depth, bool parities, uint64_t most);

/* "accumCnt % 3", "(accumCnt + 1) % 3", "0"; `counter` is what the count is called. */
void fit_print_index(const Fit *fit, const char *counter, Text *to);
/* "(accumCnt / 3) & 1", "NOT ((accumCnt / 3) & 1)", "accumCnt & 1", "1". */
void fit_print_phase(const Fit *fit, const char *counter, Text *to);
/* "0, 1, 2, 0, 1, ...": what was seen, for where nothing fits. */
void fit_print_seen(const Sighting *seen, size_t count, bool parities, Text *to);

#endif
