/* A state, handed out piece by piece: for who compares the states that a run went through. Observers of a run count
 * from its beginning, so that no two states of theirs are equal as they are; what they do next depends on less. */
#ifndef BASE_VISIT_H
#define BASE_VISIT_H

#include <stdint.h>

/* Epochs of one component that differ by this much or more may differ by any such number: what comes next is the same.
 */
enum { VISIT_NEAR = 4 };

typedef struct StateVisit {
    void *context;
    void (*number)(void *context, uint64_t number);
    /* A number that only counts: it is compared with others of its component, and nothing else is done with it. */
    void (*epoch)(void *context, uint32_t component, uint64_t value);
} StateVisit;

static inline void visit_number(const StateVisit *visit, uint64_t number) {
    visit->number(visit->context, number);
}

static inline void visit_epoch(const StateVisit *visit, uint32_t component, uint64_t value) {
    visit->epoch(visit->context, component, value);
}

#endif
