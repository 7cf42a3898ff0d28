/* T4: what does a wait by parity say when its phase is not the current or the last one?
 *
 * The first variant completes phases one by one and tests both parities each time. The others are a ring of one slot
 * with two readers, one of which is slow now and then: in the right one both readers free the slot, in the wrong one
 * the fast reader frees it alone, so that the slow one can fall two phases behind and then mistakes one phase for
 * another. */
#include "common.cuh"

constexpr uint32_t rounds = 512;
constexpr uint32_t slow_every = 64;

enum class Ring { none, freed_by_both, freed_by_fast };

struct Variant {
    const char *name;
    Ring ring;
};

static const Variant variants[] = {
    {.name = "both parities after 0, 1, 2 and 3 completed phases", .ring = Ring::none},
    {.name = "ring, both readers free the slot", .ring = Ring::freed_by_both},
    {.name = "ring, only the fast reader frees the slot", .ring = Ring::freed_by_fast},
};

/* ---- both parities ---- */

__global__ static void test_parities(uint32_t *answers) {
    __shared__ uint64_t barriers[1];
    uint32_t barrier = shared_address(barriers);
    barrier_init(barrier, 1);
    barriers_ready();
    for (uint32_t phase = 0; phase < 4; phase++) {
        answers[2 * phase] = barrier_test(barrier, 0);
        answers[2 * phase + 1] = barrier_test(barrier, 1);
        barrier_arrive(barrier);
    }
}

static void run_parities() {
    uint32_t *memory = device_array<uint32_t>(8);
    test_parities<<<1, 1>>>(memory);
    finish_kernel();
    std::vector<uint32_t> answers = from_device(memory, 8);
    saw("(parity 0, parity 1) succeed: (%u, %u), (%u, %u), (%u, %u), (%u, %u)", answers[0], answers[1], answers[2],
        answers[3], answers[4], answers[5], answers[6], answers[7]);
}

/* ---- the ring ---- */

struct Result {
    uint32_t wrong[2];  /* per reader: rounds in which it read another round's value */
    uint32_t rounds[2]; /* per reader: rounds it got through before a wait hung */
};

__device__ static void write_rounds(uint32_t slot, uint32_t full, uint32_t empty) {
    for (uint32_t round = 0; round < rounds; round++) {
        if (!barrier_wait(empty, (round & 1) ^ 1))
            return;
        store_shared(slot, round);
        barrier_arrive(full);
    }
}

__device__ static void read_rounds(uint32_t reader, bool frees, uint32_t slot, uint32_t full, uint32_t empty,
                                   Result *result) {
    for (uint32_t round = 0; round < rounds; round++) {
        if (reader == 1 && round % slow_every == slow_every - 1)
            spin(20'000);
        if (!barrier_wait(full, round & 1))
            return;
        result->wrong[reader] += load_shared(slot) != round;
        if (frees)
            barrier_arrive(empty);
        result->rounds[reader]++;
    }
}

/* One lane of each of three warps: a writer and two readers. */
__global__ static void run_ring(Ring ring, Result *result) {
    __shared__ uint64_t barriers[2];
    __shared__ uint32_t slots[1];
    uint32_t full = shared_address(&barriers[0]), empty = shared_address(&barriers[1]), slot = shared_address(slots);
    if (threadIdx.x == 0) {
        barrier_init(full, 1);
        barrier_init(empty, ring == Ring::freed_by_both ? 2 : 1);
    }
    barriers_ready();
    if (threadIdx.x % 32 != 0)
        return;
    uint32_t warp = threadIdx.x / 32;
    if (warp == 2)
        write_rounds(slot, full, empty);
    else
        read_rounds(warp, warp == 0 || ring == Ring::freed_by_both, slot, full, empty, result);
}

static void run(const Variant &variant) {
    if (variant.ring == Ring::none)
        run_parities();
    Result *result = device_array<Result>(1);
    run_ring<<<1, 96>>>(variant.ring, result);
    finish_kernel();
    Result seen = from_device(result, 1)[0];
    bool hung = seen.rounds[1] < rounds;
    saw("%s: fast reader %u of %u rounds, %u wrong; slow reader %u rounds%s, %u wrong",
        hung || seen.wrong[1] ? "WRONG" : "fine", seen.rounds[0], rounds, seen.wrong[0], seen.rounds[1],
        hung ? " and then HANGS" : "", seen.wrong[1]);
}

int main() {
    return run_each("T4", "what does a wait by parity say about a phase that is not the current or last?", variants,
                    run);
}
