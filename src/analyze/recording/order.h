/* In which order strong accesses to one place were made, from when each began, and what it found there and left.
 *
 * Time is near, and not exact: an access is made some time after it began. What is found says more: an atomic that
 * found 5 came directly behind what left 5. An order is sought in which everything was found as it was recorded, and
 * which is as near to the times as that lets it be. */
#ifndef ANALYZE_RECORDING_ORDER_H
#define ANALYZE_RECORDING_ORDER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum StrongKind {
    STRONG_READ,
    STRONG_WRITE, /* or an exchange */
    STRONG_CAS,
    STRONG_ADD,
    STRONG_AND,
    STRONG_OR,
    STRONG_XOR,
    STRONG_OTHER, /* nobody knows what it leaves */
} StrongKind;

typedef struct Strong {
    uint64_t key;   /* the place */
    uint32_t time;  /* nanoseconds; may wrap */
    uint32_t index; /* the caller's: its own accesses are in the order of a thread's program */
    uint32_t thread;
    uint32_t found, written, compared; /* the low 32 bits */
    uint8_t kind;
    bool finds; /* what it found is known */
} Strong;

/* numbers[index] is the place of each in the order of its key. Returns how many found something else than what was
 * there by that order. The items are sorted by key and time. */
uint32_t strong_order(Strong *items, uint32_t count, uint32_t *numbers);

#endif
