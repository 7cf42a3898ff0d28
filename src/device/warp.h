/* Memory that others change, and the lanes of a warp: what the device's code is made of. Compiled natively it is one
 * lane, alone. */
#ifndef DEVICE_WARP_H
#define DEVICE_WARP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Wide {
    uint64_t low, high;
} Wide;

static inline bool wide_equal(Wide a, Wide b) {
    return a.low == b.low && a.high == b.high;
}

#ifdef __NVPTX__

#define DEVICE_CALL __attribute__((used))

static inline Wide wide_load(uint64_t at) {
    Wide w;
    __asm__ volatile("{ .reg .b128 w; ld.relaxed.gpu.global.b128 w, [%2]; mov.b128 {%0, %1}, w; }"
                     : "=l"(w.low), "=l"(w.high)
                     : "l"(at)
                     : "memory");
    return w;
}
static inline Wide wide_exchange(uint64_t at, Wide value) {
    Wide w;
    __asm__ volatile("{ .reg .b128 w, v; mov.b128 v, {%3, %4}; atom.relaxed.gpu.global.exch.b128 w, [%2], v;"
                     " mov.b128 {%0, %1}, w; }"
                     : "=l"(w.low), "=l"(w.high)
                     : "l"(at), "l"(value.low), "l"(value.high)
                     : "memory");
    return w;
}
static inline Wide wide_cas(uint64_t at, Wide expected, Wide value) {
    Wide w;
    __asm__ volatile("{ .reg .b128 w, e, v; mov.b128 e, {%3, %4}; mov.b128 v, {%5, %6};"
                     " atom.relaxed.gpu.global.cas.b128 w, [%2], e, v; mov.b128 {%0, %1}, w; }"
                     : "=l"(w.low), "=l"(w.high)
                     : "l"(at), "l"(expected.low), "l"(expected.high), "l"(value.low), "l"(value.high)
                     : "memory");
    return w;
}
static inline uint16_t load16(uint64_t at) {
    uint16_t value;
    __asm__ volatile("ld.relaxed.gpu.global.u16 %0, [%1];" : "=h"(value) : "l"(at) : "memory");
    return value;
}
static inline uint32_t load32(uint64_t at) {
    uint32_t value;
    __asm__ volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}
static inline uint64_t load64(uint64_t at) {
    uint64_t value;
    __asm__ volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
}
/* Fields that the host wrote before the launch. */
static inline uint32_t constant32(uint64_t at) {
    uint32_t value;
    __asm__("ld.global.nc.u32 %0, [%1];" : "=r"(value) : "l"(at));
    return value;
}
static inline uint64_t constant64(uint64_t at) {
    uint64_t value;
    __asm__("ld.global.nc.u64 %0, [%1];" : "=l"(value) : "l"(at));
    return value;
}
/* The same, where they stand: the address may be none before. */
static inline uint32_t fixed32(uint64_t at) {
    uint32_t value;
    __asm__ volatile("ld.global.nc.u32 %0, [%1];" : "=r"(value) : "l"(at));
    return value;
}
static inline uint64_t fixed64(uint64_t at) {
    uint64_t value;
    __asm__ volatile("ld.global.nc.u64 %0, [%1];" : "=l"(value) : "l"(at));
    return value;
}
static inline void store16(uint64_t at, uint16_t value) {
    __asm__ volatile("st.relaxed.gpu.global.u16 [%0], %1;" : : "l"(at), "h"(value) : "memory");
}
static inline void store32(uint64_t at, uint32_t value) {
    __asm__ volatile("st.relaxed.gpu.global.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
}
static inline void store64(uint64_t at, uint64_t value) {
    __asm__ volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(at), "l"(value) : "memory");
}
/* What they give is what was there. */
#define ATOMIC(type, kind, name, operation)                                    \
    static inline type name(uint64_t at, type value) {                         \
        type old;                                                              \
        __asm__ volatile("atom.relaxed.gpu.global." operation " %0, [%1], %2;" \
                         : "=" kind(old)                                       \
                         : "l"(at), kind(value)                                \
                         : "memory");                                          \
        return old;                                                            \
    }
ATOMIC(uint32_t, "r", add32, "add.u32")
ATOMIC(uint64_t, "l", add64, "add.u64")
ATOMIC(uint32_t, "r", or32, "or.b32")
ATOMIC(uint32_t, "r", and32, "and.b32")
ATOMIC(uint32_t, "r", max32, "max.u32")
#undef ATOMIC
/* Nothing waits for what these give. */
static inline void raise32(uint64_t at, uint32_t value) {
    __asm__ volatile("red.relaxed.gpu.global.max.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
}
static inline void raise_version(uint64_t at) {
    __asm__ volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" : : "l"(at) : "memory");
}
/* Where it holds, without a jump around it: several of them are on their way together. Else 0. */
#define LOAD_IF(name, load)                                                                             \
    static inline uint32_t name(bool holds, uint64_t at) {                                              \
        uint32_t value;                                                                                 \
        __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; mov.u32 %0, 0; @p " load " %0, [%1]; }" \
                         : "=&r"(value)                                                                 \
                         : "l"(at), "r"((uint32_t)holds)                                                \
                         : "memory");                                                                   \
        return value;                                                                                   \
    }
LOAD_IF(load32_if, "ld.relaxed.gpu.global.u32")
/* Of what the own CTA alone has written: an earlier value at worst, and that from the nearest cache. */
LOAD_IF(own32_if, "ld.global.u32")
#undef LOAD_IF
static inline void raise32_if(bool holds, uint64_t at, uint32_t value) {
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p red.relaxed.gpu.global.max.u32 [%0], %1; }"
                     :
                     : "l"(at), "r"(value), "r"((uint32_t)holds)
                     : "memory");
}
static inline uint32_t cas32(uint64_t at, uint32_t expected, uint32_t value) {
    uint32_t old;
    __asm__ volatile("atom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;"
                     : "=r"(old)
                     : "l"(at), "r"(expected), "r"(value)
                     : "memory");
    return old;
}
static inline uint64_t cas64(uint64_t at, uint64_t expected, uint64_t value) {
    uint64_t old;
    __asm__ volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
                     : "=l"(old)
                     : "l"(at), "l"(expected), "l"(value)
                     : "memory");
    return old;
}
static inline void fence(void) {
    __asm__ volatile("fence.acq_rel.gpu;" : : : "memory");
}
/* In nanoseconds: one clock for all of a device. */
static inline uint64_t device_time(void) {
    uint64_t time;
    __asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(time) : : "memory");
    return time;
}
static inline uint32_t active_lanes(void) {
    uint32_t mask;
    __asm__ volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}
static inline uint32_t lane(void) {
    uint32_t number;
    __asm__("mov.u32 %0, %%laneid;" : "=r"(number));
    return number;
}
static inline uint32_t lanes_with(uint32_t lanes, uint64_t value) {
    uint32_t same;
    __asm__ volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(same) : "l"(value), "r"(lanes) : "memory");
    return same;
}
static inline uint32_t or_of(uint32_t lanes, uint32_t value) {
    uint32_t all;
    __asm__ volatile("redux.sync.or.b32 %0, %1, %2;" : "=r"(all) : "r"(value), "r"(lanes) : "memory");
    return all;
}
static inline uint32_t ballot(uint32_t lanes, bool is) {
    uint32_t all;
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
                     : "=r"(all)
                     : "r"((uint32_t)is), "r"(lanes)
                     : "memory");
    return all;
}
static inline uint32_t from_lane(uint32_t lanes, uint32_t value, uint32_t source) {
    uint32_t got;
    __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;"
                     : "=r"(got)
                     : "r"(value), "r"(source), "r"(lanes)
                     : "memory");
    return got;
}
static inline void meet(uint32_t lanes) {
    __asm__ volatile("bar.warp.sync %0;" : : "r"(lanes) : "memory");
}
static inline uint32_t lowest(uint32_t mask) {
    uint32_t reversed, number;
    __asm__("brev.b32 %0, %1;" : "=r"(reversed) : "r"(mask));
    __asm__("bfind.shiftamt.u32 %0, %1;" : "=r"(number) : "r"(reversed));
    return number;
}
static inline uint32_t ones(uint32_t mask) {
    uint32_t count;
    __asm__("popc.b32 %0, %1;" : "=r"(count) : "r"(mask));
    return count;
}

#else

#define DEVICE_CALL

static inline Wide wide_load(uint64_t at) {
    return *(Wide *)(uintptr_t)at;
}
static inline Wide wide_exchange(uint64_t at, Wide value) {
    Wide old = wide_load(at);
    *(Wide *)(uintptr_t)at = value;
    return old;
}
static inline Wide wide_cas(uint64_t at, Wide expected, Wide value) {
    Wide old = wide_load(at);
    if (wide_equal(old, expected))
        *(Wide *)(uintptr_t)at = value;
    return old;
}
#define NATIVE_MEMORY(bits)                                             \
    static inline uint##bits##_t load##bits(uint64_t at) {              \
        return *(uint##bits##_t *)(uintptr_t)at;                        \
    }                                                                   \
    static inline void store##bits(uint64_t at, uint##bits##_t value) { \
        *(uint##bits##_t *)(uintptr_t)at = value;                       \
    }
NATIVE_MEMORY(16)
NATIVE_MEMORY(32)
NATIVE_MEMORY(64)
#undef NATIVE_MEMORY
#define NATIVE_UPDATE(name, bits, value_of)                                        \
    static inline uint##bits##_t name##bits(uint64_t at, uint##bits##_t operand) { \
        uint##bits##_t old = load##bits(at);                                       \
        store##bits(at, (uint##bits##_t)(value_of));                               \
        return old;                                                                \
    }
NATIVE_UPDATE(add, 32, old + operand)
NATIVE_UPDATE(add, 64, old + operand)
NATIVE_UPDATE(or, 32, old | operand)
NATIVE_UPDATE(and, 32, old &operand)
NATIVE_UPDATE(max, 32, old > operand ? old : operand)
#undef NATIVE_UPDATE
static inline uint32_t constant32(uint64_t at) {
    return load32(at);
}
static inline uint64_t constant64(uint64_t at) {
    return load64(at);
}
static inline uint32_t fixed32(uint64_t at) {
    return load32(at);
}
static inline uint64_t fixed64(uint64_t at) {
    return load64(at);
}
static inline uint32_t cas32(uint64_t at, uint32_t expected, uint32_t value) {
    uint32_t old = load32(at);
    if (old == expected)
        store32(at, value);
    return old;
}
static inline uint64_t cas64(uint64_t at, uint64_t expected, uint64_t value) {
    uint64_t old = load64(at);
    if (old == expected)
        store64(at, value);
    return old;
}
static inline void raise32(uint64_t at, uint32_t value) {
    max32(at, value);
}
static inline void raise_version(uint64_t at) {
    add32(at, 1);
}
static inline uint32_t load32_if(bool holds, uint64_t at) {
    return holds ? load32(at) : 0;
}
static inline uint32_t own32_if(bool holds, uint64_t at) {
    return holds ? load32(at) : 0;
}
static inline void raise32_if(bool holds, uint64_t at, uint32_t value) {
    if (holds)
        max32(at, value);
}
static inline void fence(void) {}
static inline uint64_t device_time(void) {
    return 0;
}
static inline uint32_t active_lanes(void) {
    return 1;
}
static inline uint32_t lane(void) {
    return 0;
}
static inline uint32_t lanes_with(uint32_t lanes, uint64_t value) {
    (void)value;
    return lanes;
}
static inline uint32_t or_of(uint32_t lanes, uint32_t value) {
    (void)lanes;
    return value;
}
static inline uint32_t ballot(uint32_t lanes, bool is) {
    return is ? lanes : 0;
}
static inline uint32_t from_lane(uint32_t lanes, uint32_t value, uint32_t source) {
    (void)lanes, (void)source;
    return value;
}
static inline void meet(uint32_t lanes) {
    (void)lanes;
}
static inline uint32_t lowest(uint32_t mask) {
    return (uint32_t)__builtin_ctz(mask);
}
static inline uint32_t ones(uint32_t mask) {
    return (uint32_t)__builtin_popcount(mask);
}

#endif

static inline uint64_t from_lane64(uint32_t lanes, uint64_t value, uint32_t source) {
    return (uint64_t)from_lane(lanes, (uint32_t)(value >> 32), source) << 32 |
           from_lane(lanes, (uint32_t)value, source);
}
/* Which of the lanes this one is, from 0 on. */
static inline uint32_t rank_in(uint32_t lanes) {
    return ones(lanes & ((1u << lane()) - 1));
}

#endif
