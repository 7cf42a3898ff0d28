/* The PTX instructions that the hardware tests use, each behind a function of one name and one meaning.
 *
 * Every statement is volatile and clobbers memory, so that the compiler keeps them and the plain accesses around them
 * in the order in which they are written: what is then out of order was put there by the hardware. */
#pragma once

#include <cstdint>
#include <cuda.h>

/* About a twentieth of a second: a wait that takes longer is called a hang. */
constexpr long long wait_limit = 100'000'000;

__device__ inline uint32_t shared_address(const void *pointer) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ inline void spin(long long clocks) {
    long long start = clock64();
    while (clock64() - start < clocks) {
    }
}

/* ---- barriers in shared memory ---- */

__device__ inline void barrier_init(uint32_t barrier, uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ inline void barrier_arrive(uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ inline void barrier_arrive_expecting(uint32_t barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ inline bool barrier_test(uint32_t barrier, uint32_t parity) {
    uint32_t done;
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, done;\n"
                 "}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    return done;
}

/* False: the time limit passed. */
__device__ inline bool barrier_wait(uint32_t barrier, uint32_t parity) {
    long long start = clock64();
    for (;;) {
        uint32_t done;
        asm volatile("{\n"
                     ".reg .pred done;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, done;\n"
                     "}"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
        if (done)
            return true;
        if (clock64() - start > wait_limit)
            return false;
    }
}

/* Makes barriers that were just set up known to the threads that use them. */
__device__ inline void barriers_ready() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    __syncthreads();
}

/* ---- bulk copies ---- */

__device__ inline void fence_async() {
    asm volatile("fence.proxy.async;" ::: "memory");
}

__device__ inline void bulk_load(uint32_t to, const void *from, uint32_t bytes, uint32_t barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
                 : "memory");
}

__device__ inline void bulk_store(void *to, uint32_t from, uint32_t bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
                 "r"(from), "r"(bytes)
                 : "memory");
}

__device__ inline void tensor_load(uint32_t to, const CUtensorMap *map, int column, int row, uint32_t barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(column), "r"(row), "r"(barrier)
                 : "memory");
}

__device__ inline void tensor_store(const CUtensorMap *map, int column, int row, uint32_t from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
                 "r"(column), "r"(row), "r"(from)
                 : "memory");
}

__device__ inline void tensor_add(const CUtensorMap *map, int column, int row, uint32_t from) {
    asm volatile(
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
        "r"(column), "r"(row), "r"(from)
        : "memory");
}

__device__ inline void bulk_commit() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Every committed copy of this thread has been written. */
__device__ inline void bulk_wait() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/* Every committed copy of this thread has read its source. */
__device__ inline void bulk_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

/* ---- plain accesses that the compiler keeps where they are ---- */

__device__ inline uint32_t load_shared(uint32_t address) {
    uint32_t value;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
    return value;
}

__device__ inline uint4 load_shared_16(uint32_t address) {
    uint4 value;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "r"(address)
                 : "memory");
    return value;
}

__device__ inline void store_shared(uint32_t address, uint32_t value) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

__device__ inline void store_shared_16(uint32_t address, uint32_t value) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(address), "r"(value) : "memory");
}

/* How many of the four words differ from the value. */
__device__ inline unsigned differing(uint4 words, uint32_t value) {
    return (words.x != value) + (words.y != value) + (words.z != value) + (words.w != value);
}
