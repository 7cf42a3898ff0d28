/* Arrays of malloc that double when they are full; those with one life are an arena's (arena.h). */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdlib.h>

/* Whether there is room for one more, with `first` places to begin with; else there is no memory, and all is as it
 * was. */
#define ARRAY_ROOM(items, count, capacity, first)                                 \
    ((count) < (capacity) || ({                                                   \
         size_t wanted_ = (capacity) ? 2 * (size_t)(capacity) : (first);          \
         __typeof__(items) larger_ = realloc((items), wanted_ * sizeof *larger_); \
         (items) = larger_ ? larger_ : (items);                                   \
         (capacity) = larger_ ? wanted_ : (capacity);                             \
         larger_ != NULL;                                                         \
     }))

#endif
