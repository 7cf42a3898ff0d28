/* What x86_64 processors can do: by the cpuid instruction, and by xgetbv, which says which registers the operating
 * system keeps. */
#include "machine/simt/core/processor.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

static unsigned asked(void) {
    unsigned a, b, c, d, registers, high, found = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return 0;
    __asm__("xgetbv" : "=a"(registers), "=d"(high) : "c"(0));
    if ((registers & 0x06) != 0x06) /* xmm, ymm */
        return 0;
    found |= c & bit_FMA ? PROCESSOR_FMA : 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return found;
    found |= b & bit_AVX2 ? PROCESSOR_AVX2 : 0;
    bool wide = b & bit_AVX512F && b & bit_AVX512VL && b & bit_AVX512DQ && b & bit_AVX512BW;
    return wide && (registers & 0xe0) == 0xe0 ? found | PROCESSOR_AVX512 : found; /* masks, zmm */
}

bool processor_has(ProcessorFeature feature) {
    static unsigned known; /* cpuid takes long in a virtual machine */
    unsigned features = __atomic_load_n(&known, __ATOMIC_RELAXED), was_asked = 1u << 31;
    if (!features) {
        features = asked() | was_asked;
        __atomic_store_n(&known, features, __ATOMIC_RELAXED);
    }
    return features & feature;
}
#else
bool processor_has(ProcessorFeature feature) {
    (void)feature;
    return false;
}
#endif
