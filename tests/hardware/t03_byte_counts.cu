/* T3: what happens when a barrier expects more or fewer bytes than its copies deliver?
 *
 * Each variant runs two phases. In the first, the copies deliver what the variant says; the threads look at the data as
 * soon as their wait succeeds, so that a phase that completes early shows as words that are not there yet. The second
 * phase delivers the whole buffer once more, and shows what the first left behind. */
#include "common.cuh"

constexpr uint32_t buffer_bytes = 32768;
constexpr uint32_t buffer_words = buffer_bytes / 4;
constexpr int threads = 256;

struct Plan {
    uint32_t expected;
    uint32_t copies;
    uint32_t copy_bytes;
    uint32_t expected_next = buffer_bytes;
    bool copy_first = false; /* the copies are done before the barrier is told what to expect */
};

struct Variant {
    const char *name;
    Plan plan;
};

static const Variant variants[] = {
    {.name = "expects 32768, two copies of 16384", .plan = {.expected = 32768, .copies = 2, .copy_bytes = 16384}},
    {.name = "as above, the copies are done before the expect",
     .plan = {.expected = 32768, .copies = 2, .copy_bytes = 16384, .copy_first = true}},
    {.name = "expects 32768, one copy of 16384", .plan = {.expected = 32768, .copies = 1, .copy_bytes = 16384}},
    {.name = "expects 16384, two copies of 16384", .plan = {.expected = 16384, .copies = 2, .copy_bytes = 16384}},
    {.name = "as above, next phase expects 16384 more",
     .plan = {.expected = 16384, .copies = 2, .copy_bytes = 16384, .expected_next = 49152}},
    {.name = "expects 16384, one copy of 32768", .plan = {.expected = 16384, .copies = 1, .copy_bytes = 32768}},
    {.name = "expects 16400, one copy of 32768", .plan = {.expected = 16400, .copies = 1, .copy_bytes = 32768}},
    {.name = "expects 16383, one copy of 32768", .plan = {.expected = 16383, .copies = 1, .copy_bytes = 32768}},
    {.name = "expects nothing, one copy of 32768", .plan = {.expected = 0, .copies = 1, .copy_bytes = 32768}},
    {.name = "expects 2^20 + 32768, one copy of 32768",
     .plan = {.expected = (1 << 20) + 32768, .copies = 1, .copy_bytes = 32768}},
};

struct Result {
    uint32_t completed[2]; /* per phase */
    uint32_t not_there[2]; /* words that had not arrived when the wait succeeded */
    uint32_t never_there;  /* words that had not arrived after a pause */
};

__device__ static void issue_copies(uint32_t buffer, const uint32_t *source, uint32_t copies, uint32_t bytes,
                                    uint32_t barrier) {
    for (uint32_t i = 0; i < copies; i++)
        bulk_load(buffer + i * bytes, source + i * (bytes / 4), bytes, barrier);
}

__device__ static void run_phase(const Plan &plan, uint32_t buffer, const uint32_t *source, uint32_t barrier) {
    if (plan.copy_first) {
        issue_copies(buffer, source, plan.copies, plan.copy_bytes, barrier);
        spin(100'000);
    }
    barrier_arrive_expecting(barrier, plan.expected);
    if (!plan.copy_first)
        issue_copies(buffer, source, plan.copies, plan.copy_bytes, barrier);
}

/* Looks from the end, since a copy fills the buffer from its start. */
__device__ static unsigned words_missing(uint32_t buffer, uint32_t base, uint32_t words) {
    unsigned missing = 0;
    for (uint32_t i = threadIdx.x; i < words; i += threads) {
        uint32_t word = words - 1 - i;
        missing += load_shared(buffer + 4 * word) != base + word;
    }
    return missing;
}

__global__ static void run_phases(Plan plan, const uint32_t *first, const uint32_t *second, Result *result) {
    __shared__ alignas(128) uint32_t words[buffer_words];
    __shared__ uint64_t barriers[1];
    uint32_t buffer = shared_address(words), barrier = shared_address(barriers);
    for (uint32_t i = threadIdx.x; i < buffer_words; i += threads)
        words[i] = 0;
    if (threadIdx.x == 0)
        barrier_init(barrier, 1);
    fence_async();
    barriers_ready();
    if (threadIdx.x == 0)
        run_phase(plan, buffer, first, barrier);
    uint32_t delivered = plan.copies * plan.copy_bytes / 4;
    bool completed = barrier_wait(barrier, 0);
    atomicAdd(&result->not_there[0], words_missing(buffer, 1, delivered));
    spin(2'000'000);
    atomicAdd(&result->never_there, words_missing(buffer, 1, delivered));
    if (threadIdx.x == 0)
        result->completed[0] = completed;
    if (!__syncthreads_and(completed))
        return;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0)
        run_phase({.expected = plan.expected_next, .copies = 1, .copy_bytes = buffer_bytes}, buffer, second, barrier);
    completed = barrier_wait(barrier, 1);
    atomicAdd(&result->not_there[1], words_missing(buffer, 1 + buffer_words, buffer_words));
    spin(2'000'000);
    if (threadIdx.x == 0)
        result->completed[1] = completed;
    __syncthreads();
}

static void run(const Variant &variant) {
    std::vector<uint32_t> source(2 * buffer_words);
    for (uint32_t i = 0; i < source.size(); i++)
        source[i] = 1 + i;
    uint32_t *memory = device_array<uint32_t>(source.size());
    to_device(memory, source);
    Result *result = device_array<Result>(1);
    run_phases<<<1, threads>>>(variant.plan, memory, memory + buffer_words, result);
    finish_kernel();
    Result seen = from_device(result, 1)[0];
    unsigned delivered = variant.plan.copies * variant.plan.copy_bytes / 4;
    if (!seen.completed[0])
        saw("HANG: the phase does not complete (%u of %u words never came)", seen.never_there, delivered);
    saw("%s: completes with %u of %u words missing, later %u; next phase expecting %u %s with %u of %u missing",
        seen.not_there[0] == 0 ? "completes" : "EARLY", seen.not_there[0], delivered, seen.never_there,
        variant.plan.expected_next, seen.completed[1] ? "completes" : "HANGS", seen.not_there[1], buffer_words);
}

int main() {
    return run_each("T3", "what happens when a barrier expects more or fewer bytes than are delivered?", variants, run);
}
