/* T6: may a bulk load overwrite what ordinary loads have yet to read, when only a barrier stands between them?
 *
 * A ring of slots: a producer loads a tile, readers read it, arrive on the slot's empty barrier, and the producer loads
 * the next tile. By the text a proxy fence belongs between the reads and the arrive; common pipelines leave it out. A
 * word of a later round is one that was overwritten too early. The reads of some variants all hit the same banks, which
 * keeps them under way for long. In the last variants the readers arrive before they read, to show that the test can
 * see it. */
#include "common.cuh"

enum class Release { fence_and_arrive, arrive, arrive_before_reading, arrive_long_before_reading };

struct Variant {
    const char *name;
    Release release;
    bool conflicts; /* the reads of a warp fall into the same banks */
    uint32_t slots;
};

static const Variant variants[] = {
    {"1 slot, fence, then arrive", Release::fence_and_arrive, false, 1},
    {"1 slot, arrive without a fence", Release::arrive, false, 1},
    {"1 slot, arrive without a fence, bank conflicts", Release::arrive, true, 1},
    {"2 slots, arrive without a fence", Release::arrive, false, 2},
    {"2 slots, arrive without a fence, bank conflicts", Release::arrive, true, 2},
    {"1 slot, arrive BEFORE reading, bank conflicts", Release::arrive_before_reading, true, 1},
    {"1 slot, arrive LONG BEFORE reading", Release::arrive_long_before_reading, false, 1},
};

constexpr uint32_t blocks = 132;
constexpr uint32_t rounds = 20000;
constexpr uint32_t readers = 128;
constexpr uint32_t reads = 8; /* of 16 bytes, per reader and round */
constexpr uint32_t tile_bytes = readers * reads * 16;
constexpr uint32_t tiles = 64;
constexpr uint32_t most_slots = 2;

struct Result {
    unsigned long long early; /* words that belong to another round */
    uint32_t hung;
};

struct Ring {
    uint32_t data, full, empty, slots;
};

__device__ static void produce(const Ring &ring, const uint32_t *source, Result *result) {
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t slot = round % ring.slots, turn = round / ring.slots;
        if (!barrier_wait(ring.empty + 8 * slot, (turn & 1) ^ 1)) {
            result->hung = 1;
            return;
        }
        barrier_arrive_expecting(ring.full + 8 * slot, tile_bytes);
        bulk_load(ring.data + slot * tile_bytes, source + (round % tiles) * (tile_bytes / 4), tile_bytes,
                  ring.full + 8 * slot);
    }
}

template <bool conflicts> __device__ static void read_slot(uint32_t data, uint4 (&words)[reads]) {
    for (uint32_t i = 0; i < reads; i++)
        words[i] = load_shared_16(data + 16 * (conflicts ? threadIdx.x * reads + i : i * readers + threadIdx.x));
}

template <Release release, bool conflicts> __device__ static void consume(const Ring &ring, Result *result) {
    constexpr bool too_early =
        release == Release::arrive_before_reading || release == Release::arrive_long_before_reading;
    unsigned long long early = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t slot = round % ring.slots, turn = round / ring.slots;
        if (!barrier_wait(ring.full + 8 * slot, turn & 1)) {
            result->hung = 1;
            break;
        }
        uint4 words[reads];
        if constexpr (too_early)
            barrier_arrive(ring.empty + 8 * slot);
        if constexpr (release == Release::arrive_long_before_reading)
            spin(3000);
        read_slot<conflicts>(ring.data + slot * tile_bytes, words);
        if constexpr (release == Release::fence_and_arrive)
            fence_async();
        if constexpr (!too_early)
            barrier_arrive(ring.empty + 8 * slot);
        for (uint4 word : words)
            early += differing(word, 1 + round % tiles);
    }
    atomicAdd(&result->early, early);
}

template <Release release, bool conflicts>
__global__ static void run_ring(uint32_t slots, const uint32_t *source, Result *result) {
    __shared__ alignas(128) uint8_t data[most_slots * tile_bytes];
    __shared__ uint64_t full[most_slots], empty[most_slots];
    Ring ring = {shared_address(data), shared_address(full), shared_address(empty), slots};
    if (threadIdx.x < slots) {
        barrier_init(ring.full + 8 * threadIdx.x, 1);
        barrier_init(ring.empty + 8 * threadIdx.x, readers);
    }
    barriers_ready();
    if (threadIdx.x < readers)
        consume<release, conflicts>(ring, result);
    else if (threadIdx.x == readers)
        produce(ring, source, result);
    __syncthreads();
}

template <Release release> static void launch(const Variant &variant, const uint32_t *source, Result *result) {
    if (variant.conflicts)
        run_ring<release, true><<<blocks, readers + 32>>>(variant.slots, source, result);
    else
        run_ring<release, false><<<blocks, readers + 32>>>(variant.slots, source, result);
    finish_kernel();
}

static void run(const Variant &variant) {
    constexpr uint32_t tile_words = tile_bytes / 4;
    std::vector<uint32_t> source(tiles * tile_words);
    for (uint32_t i = 0; i < source.size(); i++)
        source[i] = 1 + i / tile_words;
    uint32_t *memory = device_array<uint32_t>(source.size());
    to_device(memory, source);
    Result *result = device_array<Result>(1);
    if (variant.release == Release::fence_and_arrive)
        launch<Release::fence_and_arrive>(variant, memory, result);
    else if (variant.release == Release::arrive)
        launch<Release::arrive>(variant, memory, result);
    else if (variant.release == Release::arrive_before_reading)
        launch<Release::arrive_before_reading>(variant, memory, result);
    else
        launch<Release::arrive_long_before_reading>(variant, memory, result);
    Result seen = from_device(result, 1)[0];
    if (seen.hung)
        saw("HANG: a wait did not end; %llu words belong to another round", seen.early);
    saw("%s: %llu of %llu words belong to another round", seen.early ? "OVERWRITTEN" : "none seen", seen.early,
        static_cast<unsigned long long>(blocks) * rounds * tile_words);
}

int main() {
    return run_each("T6", "may a bulk load overtake ordinary loads that only a barrier holds before it?", variants,
                    run);
}
