/* What this machine's processor can do beyond the least that its kind can. (__builtin_cpu_supports is a function of the
 * compiler's own library, which not each has: zig.) */
#ifndef MACHINE_SIMT_CORE_PROCESSOR_H
#define MACHINE_SIMT_CORE_PROCESSOR_H

#include <stdbool.h>

typedef enum ProcessorFeature {
    PROCESSOR_FMA = 1,
    PROCESSOR_AVX2 = 2,
    PROCESSOR_AVX512 = 4, /* F, VL, DQ and BW */
} ProcessorFeature;

bool processor_has(ProcessorFeature feature);

#endif
