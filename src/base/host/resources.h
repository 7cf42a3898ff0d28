/* What of the machine programs can have. */
#ifndef BASE_HOST_RESOURCES_H
#define BASE_HOST_RESOURCES_H

#include <stddef.h>
#include <stdint.h>

/* Cores that this process may run on; at least one. */
size_t resources_cores(void);
/* Bytes of memory that programs can have, without others being swapped out. */
uint64_t resources_memory(void);

#endif
