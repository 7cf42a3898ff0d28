/* T12: what becomes of a copy that is in flight when its CTA ends?
 *
 * Every CTA takes nearly all shared memory of its SM, so that the next one gets the very same bytes when it ends. A CTA
 * first fills them with a sentinel, waits, and looks for words that are not the sentinel: those were written by a copy
 * of the CTA before. Then it issues copies of its own and leaves, with or without waiting for them. Stores are looked
 * at from the other side: words in global memory that are the sentinel of the next CTA were read from shared memory
 * after their CTA had ended. The clocks of an SM tell whether it holds a CTA back: the line gives the clocks between
 * the issue of the last copy and the first instruction of the next CTA, the shortest and the median. */
#include "common.cuh"

#include <algorithm>

enum class Copy { none, bulk_load, tensor_load, thread_load, bulk_store };
enum class Leave { at_once, after_wait };

struct Variant {
    const char *name;
    Copy copy;
    Leave leave;
};

static const Variant variants[] = {
    {"no copy", Copy::none, Leave::at_once},
    {"bulk loads, waited for", Copy::bulk_load, Leave::after_wait},
    {"bulk loads, NOT waited for", Copy::bulk_load, Leave::at_once},
    {"tensor loads, waited for", Copy::tensor_load, Leave::after_wait},
    {"tensor loads, NOT waited for", Copy::tensor_load, Leave::at_once},
    {"cp.async, waited for", Copy::thread_load, Leave::after_wait},
    {"cp.async, NOT waited for", Copy::thread_load, Leave::at_once},
    {"bulk stores, waited for", Copy::bulk_store, Leave::after_wait},
    {"bulk stores, NOT waited for", Copy::bulk_store, Leave::at_once},
};

constexpr uint32_t sms = 132;
constexpr uint32_t blocks = sms * 200;
constexpr uint32_t threads = 256;
constexpr uint32_t box_rows = 64, box_words = 64; /* 16 KiB */
constexpr uint32_t box_bytes = box_rows * box_words * 4;
constexpr uint32_t boxes = 12;
constexpr uint32_t shared_bytes = boxes * box_bytes + 1024; /* the barrier is behind the boxes */
constexpr uint32_t shared_words = shared_bytes / 4;
constexpr uint64_t source_boxes = boxes * 5461; /* nearly 1 GiB: more than a cache holds */

struct Times {
    long long started, issued, left;
    uint32_t sm;
};

struct Result {
    unsigned long long foreign; /* words of a CTA's shared memory that it did not write */
    unsigned long long ctas;    /* that saw any */
};

__device__ static uint32_t sm_number() {
    uint32_t number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

__device__ static void thread_load(uint32_t to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(__cvta_generic_to_global(from)) : "memory");
}

/* Fills shared memory with what only this CTA writes, and looks for a while whether it stays. */
__device__ static void watch(uint32_t base, uint32_t sentinel, Result *result) {
    for (uint32_t i = threadIdx.x; i < shared_words; i += threads)
        store_shared(base + 4 * i, sentinel);
    __syncthreads();
    spin(20000);
    __syncthreads();
    unsigned foreign = 0;
    for (uint32_t i = threadIdx.x; i < shared_words; i += threads)
        foreign += load_shared(base + 4 * i) != sentinel;
    if (foreign)
        atomicAdd(&result->foreign, foreign);
    if (__syncthreads_or(foreign) && threadIdx.x == 0)
        atomicAdd(&result->ctas, 1ull);
}

template <Copy copy>
__device__ static void issue(const CUtensorMap *map, uint32_t base, uint32_t barrier, uint32_t *memory) {
    uint64_t first = static_cast<uint64_t>(blockIdx.x) * boxes;
    if (copy == Copy::thread_load) {
        const char *source = reinterpret_cast<const char *>(memory) + first % source_boxes * box_bytes;
        for (uint32_t i = threadIdx.x; i < boxes * box_bytes / 16; i += threads)
            thread_load(base + 16 * i, source + 16ull * i);
        return;
    }
    if (threadIdx.x != 0)
        return;
    if (copy == Copy::bulk_load || copy == Copy::tensor_load)
        barrier_arrive_expecting(barrier, boxes * box_bytes);
    for (uint32_t i = 0; i < boxes; i++) {
        uint32_t *place = memory + (first + i) % source_boxes * (box_bytes / 4);
        if (copy == Copy::bulk_load)
            bulk_load(base + i * box_bytes, place, box_bytes, barrier);
        else if (copy == Copy::tensor_load)
            tensor_load(base + i * box_bytes, map, 0, static_cast<int>((first + i) % source_boxes * box_rows), barrier);
        else if (copy == Copy::bulk_store)
            bulk_store(place, base + i * box_bytes, box_bytes);
    }
    if (copy == Copy::bulk_store)
        bulk_commit();
}

template <Copy copy> __device__ static void await(uint32_t barrier) {
    if (copy == Copy::thread_load)
        asm volatile("cp.async.wait_all;" ::: "memory");
    if (copy == Copy::bulk_store && threadIdx.x == 0)
        bulk_wait_read();
    if (copy == Copy::bulk_load || copy == Copy::tensor_load)
        barrier_wait(barrier, 0);
    __syncthreads();
}

template <Copy copy, Leave leave>
__global__ static void come_and_go(const __grid_constant__ CUtensorMap map, uint32_t *memory, Times *times,
                                   Result *result) {
    extern __shared__ __align__(1024) uint8_t shared[];
    long long started = clock64();
    uint32_t base = shared_address(shared), barrier = base + boxes * box_bytes;
    watch(base, blockIdx.x + 1, result);
    __syncthreads();
    if (threadIdx.x == 0)
        barrier_init(barrier, 1);
    fence_async();
    barriers_ready();
    issue<copy>(&map, base, barrier, memory);
    long long issued = clock64();
    if (leave == Leave::after_wait)
        await<copy>(barrier);
    if (threadIdx.x == 0)
        times[blockIdx.x] = {started, issued, clock64(), sm_number()};
}

/* The clocks from `left` or `issued` of a CTA to the start of the next one on its SM. */
static void gaps(std::vector<Times> times, bool since_issue, long long &shortest, long long &median) {
    std::sort(times.begin(), times.end(),
              [](const Times &a, const Times &b) { return a.sm != b.sm ? a.sm < b.sm : a.started < b.started; });
    std::vector<long long> seen;
    for (size_t i = 1; i < times.size(); i++)
        if (times[i].sm == times[i - 1].sm)
            seen.push_back(times[i].started - (since_issue ? times[i - 1].issued : times[i - 1].left));
    std::sort(seen.begin(), seen.end());
    shortest = seen.empty() ? 0 : seen.front();
    median = seen.empty() ? 0 : seen[seen.size() / 2];
}

/* Words that a CTA's store took from the bytes of the CTA after it. */
static unsigned long long wrong_words(const uint32_t *memory) {
    size_t words = source_boxes * (box_bytes / 4);
    std::vector<uint32_t> host = from_device(memory, words);
    unsigned long long wrong = 0;
    for (uint64_t box = 0; box < source_boxes; box++) {
        /* the last CTA that stores to this box: it alone decides what is right */
        uint64_t total = static_cast<uint64_t>(blocks) * boxes;
        uint64_t last = total > box ? box + (total - 1 - box) / source_boxes * source_boxes : total;
        if (last >= total)
            continue;
        /* CTAs that share a box run in an order that nobody knows: any of theirs is right */
        for (size_t i = 0; i < box_bytes / 4; i++) {
            uint32_t word = host[box * (box_bytes / 4) + i];
            bool right = false;
            for (uint64_t writer = box; writer < total && !right; writer += source_boxes)
                right = word == writer / boxes + 1;
            wrong += !right;
        }
    }
    return wrong;
}

template <Copy copy, Leave leave>
static void launch(const CUtensorMap &map, uint32_t *memory, Times *times, Result *result) {
    must(cudaFuncSetAttribute(come_and_go<copy, leave>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
         "cudaFuncSetAttribute");
    come_and_go<copy, leave><<<blocks, threads, shared_bytes>>>(map, memory, times, result);
    finish_kernel();
}

template <Copy copy>
static void launch(Leave leave, const CUtensorMap &map, uint32_t *memory, Times *times, Result *result) {
    if (leave == Leave::at_once)
        launch<copy, Leave::at_once>(map, memory, times, result);
    else
        launch<copy, Leave::after_wait>(map, memory, times, result);
}

static void run(const Variant &variant) {
    size_t words = source_boxes * (box_bytes / 4);
    uint32_t *memory = device_array<uint32_t>(words);
    must(cudaMemset(memory, 0xc0, words * 4), "cudaMemset");
    Times *times = device_array<Times>(blocks);
    Result *result = device_array<Result>(1);
    CUtensorMap map = encode_map(memory, {box_words, source_boxes * box_rows, box_words * 4, box_words, box_rows});
    switch (variant.copy) {
    case Copy::none:
        launch<Copy::none>(variant.leave, map, memory, times, result);
        break;
    case Copy::bulk_load:
        launch<Copy::bulk_load>(variant.leave, map, memory, times, result);
        break;
    case Copy::tensor_load:
        launch<Copy::tensor_load>(variant.leave, map, memory, times, result);
        break;
    case Copy::thread_load:
        launch<Copy::thread_load>(variant.leave, map, memory, times, result);
        break;
    case Copy::bulk_store:
        launch<Copy::bulk_store>(variant.leave, map, memory, times, result);
        break;
    }
    Result seen = from_device(result, 1)[0];
    long long shortest, median, shortest_left, median_left;
    std::vector<Times> all = from_device(times, blocks);
    gaps(all, true, shortest, median);
    gaps(all, false, shortest_left, median_left);
    unsigned long long wrong = variant.copy == Copy::bulk_store ? wrong_words(memory) : seen.foreign;
    saw("%s: %llu words, %llu of %u CTAs; next CTA %lld/%lld clocks after the issue, %lld/%lld after leaving",
        wrong ? "LATE" : "none seen", wrong, seen.ctas, blocks, shortest, median, shortest_left, median_left);
}

int main() {
    return run_each("T12", "what becomes of a copy that is in flight when its CTA ends?", variants, run);
}
