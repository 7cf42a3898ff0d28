/* T7: does a remote arrive of block scope guard data that another block of the cluster reads?
 *
 * A cluster of two blocks: the threads of the first write a tile and arrive on a barrier of the second, which waits,
 * reads the tile and arrives on a barrier of the first. By the text both sides need cluster scope; Triton leaves the
 * scope out, which means block scope. The tile lies in the reader's shared memory, in the writer's, or in global
 * memory. A word that is not of the round is an old one, or one of the next round that came too early. */
#include "common.cuh"

enum class Place { reader, writer, global };
enum class Order { unnamed, cluster, relaxed };
enum class Arrive { each, one }; /* each thread, or one after a barrier of the block */

struct Variant {
    const char *name;
    Place place;
    Order order;
    Arrive arrive;
};

static const Variant variants[] = {
    {"reader's shared, .cluster", Place::reader, Order::cluster, Arrive::each},
    {"reader's shared, no scope (= .cta)", Place::reader, Order::unnamed, Arrive::each},
    {"reader's shared, no scope (= .cta), one thread arrives", Place::reader, Order::unnamed, Arrive::one},
    {"reader's shared, .relaxed.cluster", Place::reader, Order::relaxed, Arrive::each},
    {"writer's shared, .cluster", Place::writer, Order::cluster, Arrive::each},
    {"writer's shared, no scope (= .cta)", Place::writer, Order::unnamed, Arrive::each},
    {"writer's shared, no scope (= .cta), one thread arrives", Place::writer, Order::unnamed, Arrive::one},
    {"writer's shared, .relaxed.cluster", Place::writer, Order::relaxed, Arrive::each},
    {"global, .cluster", Place::global, Order::cluster, Arrive::each},
    {"global, no scope (= .cta)", Place::global, Order::unnamed, Arrive::each},
    {"global, no scope (= .cta), one thread arrives", Place::global, Order::unnamed, Arrive::one},
    {"global, .relaxed.cluster", Place::global, Order::relaxed, Arrive::each},
};

constexpr uint32_t clusters = 66;
constexpr uint32_t rounds = 20000;
constexpr uint32_t threads = 128;
constexpr uint32_t words_each = 4;
constexpr uint32_t tile_words = threads * words_each;

struct Result {
    unsigned long long wrong;
    uint32_t hung;
};

/* ---- the instructions under test ---- */

/* The address of the same variable in another block of the cluster. */
__device__ static uint32_t address_in(uint32_t address, uint32_t block) {
    uint32_t remote;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(block));
    return remote;
}

template <Order order> __device__ static void arrive_remote(uint32_t barrier) {
    if constexpr (order == Order::unnamed)
        asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
    if constexpr (order == Order::cluster)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
    if constexpr (order == Order::relaxed)
        asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

#define TRY_WAIT(qualifiers)                                                                \
    asm volatile("{\n"                                                                      \
                 ".reg .pred done;\n"                                                       \
                 "mbarrier.try_wait.parity" qualifiers ".shared::cta.b64 done, [%1], %2;\n" \
                 "selp.u32 %0, 1, 0, done;\n"                                               \
                 "}"                                                                        \
                 : "=r"(done)                                                               \
                 : "r"(barrier), "r"(parity)                                                \
                 : "memory")

template <Order order> __device__ static bool wait_for(uint32_t barrier, uint32_t parity) {
    long long start = clock64();
    uint32_t done = 0;
    while (!done && clock64() - start < wait_limit) {
        if constexpr (order == Order::unnamed)
            TRY_WAIT("");
        if constexpr (order == Order::cluster)
            TRY_WAIT(".acquire.cluster");
        if constexpr (order == Order::relaxed)
            TRY_WAIT(".relaxed.cluster");
    }
    return done;
}

__device__ static void synchronize_cluster() {
    asm volatile("barrier.cluster.arrive.release;\n"
                 "barrier.cluster.wait.acquire;" ::
                     : "memory");
}

/* ---- the tile ---- */

struct Tile {
    uint32_t shared; /* as the block that asks sees it */
    uint32_t *global;
};

template <Place place> __device__ static void write_word(const Tile &tile, uint32_t word, uint32_t value) {
    if constexpr (place == Place::global)
        asm volatile("st.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(tile.global + word)), "r"(value)
                     : "memory");
    else if constexpr (place == Place::reader)
        asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(tile.shared + 4 * word), "r"(value) : "memory");
    else
        store_shared(tile.shared + 4 * word, value);
}

template <Place place> __device__ static uint32_t read_word(const Tile &tile, uint32_t word) {
    uint32_t value;
    if constexpr (place == Place::global)
        asm volatile("ld.global.u32 %0, [%1];"
                     : "=r"(value)
                     : "l"(__cvta_generic_to_global(tile.global + word))
                     : "memory");
    else if constexpr (place == Place::writer)
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(tile.shared + 4 * word) : "memory");
    else
        value = load_shared(tile.shared + 4 * word);
    return value;
}

/* ---- the two blocks ---- */

/* Signals the other block. False: this thread, or with one arrive any thread, gave up its wait. */
template <Order order, Arrive arrive> __device__ static bool signal_other(uint32_t barrier, bool completed) {
    if constexpr (arrive == Arrive::one)
        completed = __syncthreads_and(completed);
    if (arrive == Arrive::each || threadIdx.x == 0)
        arrive_remote<order>(barrier);
    return completed;
}

template <Place place, Order order, Arrive arrive>
__device__ static bool write_rounds(const Tile &tile, uint32_t full, uint32_t empty) {
    for (uint32_t round = 0; round < rounds; round++) {
        bool completed = wait_for<order>(empty, (round & 1) ^ 1);
        for (uint32_t i = 0; i < words_each; i++)
            write_word<place>(tile, i * threads + threadIdx.x, round + 1);
        if (!signal_other<order, arrive>(full, completed))
            return false;
    }
    return true;
}

/* A thread reads words that other threads wrote. */
template <Place place, Order order, Arrive arrive>
__device__ static bool read_rounds(const Tile &tile, uint32_t full, uint32_t empty, unsigned long long *wrong) {
    for (uint32_t round = 0; round < rounds; round++) {
        bool completed = wait_for<order>(full, round & 1);
        uint32_t words[words_each];
        for (uint32_t i = 0; i < words_each; i++)
            words[i] = read_word<place>(tile, i * threads + (threadIdx.x + 37) % threads);
        if (!signal_other<order, arrive>(empty, completed))
            return false;
        for (uint32_t word : words)
            *wrong += word != round + 1;
    }
    return true;
}

template <Place place, Order order, Arrive arrive>
__global__ __cluster_dims__(2, 1, 1) static void run_cluster(uint32_t *scratch, Result *result) {
    __shared__ alignas(128) uint32_t words[tile_words];
    __shared__ uint64_t barriers[1]; /* the reader's is full, the writer's is empty */
    uint32_t rank = blockIdx.x % 2, own = shared_address(barriers), other = address_in(own, 1 - rank);
    uint32_t holder = place == Place::writer ? 0 : 1;
    Tile tile = {rank == holder ? shared_address(words) : address_in(shared_address(words), holder),
                 scratch + blockIdx.x / 2 * tile_words};
    if (threadIdx.x == 0)
        barrier_init(own, arrive == Arrive::each ? threads : 1);
    barriers_ready();
    synchronize_cluster();
    unsigned long long wrong = 0;
    bool ended = rank == 0 ? write_rounds<place, order, arrive>(tile, other, own)
                           : read_rounds<place, order, arrive>(tile, own, other, &wrong);
    if (!ended)
        result->hung = 1;
    atomicAdd(&result->wrong, wrong);
    synchronize_cluster(); /* the other block may still use this one's shared memory */
}

template <Place place> static void launch(const Variant &variant, uint32_t *scratch, Result *result) {
    if (variant.arrive == Arrive::one)
        run_cluster<place, Order::unnamed, Arrive::one><<<2 * clusters, threads>>>(scratch, result);
    else if (variant.order == Order::unnamed)
        run_cluster<place, Order::unnamed, Arrive::each><<<2 * clusters, threads>>>(scratch, result);
    else if (variant.order == Order::cluster)
        run_cluster<place, Order::cluster, Arrive::each><<<2 * clusters, threads>>>(scratch, result);
    else
        run_cluster<place, Order::relaxed, Arrive::each><<<2 * clusters, threads>>>(scratch, result);
    finish_kernel();
}

static void run(const Variant &variant) {
    uint32_t *scratch = device_array<uint32_t>(clusters * tile_words);
    Result *result = device_array<Result>(1);
    auto start = std::chrono::steady_clock::now();
    if (variant.place == Place::reader)
        launch<Place::reader>(variant, scratch, result);
    else if (variant.place == Place::writer)
        launch<Place::writer>(variant, scratch, result);
    else
        launch<Place::global>(variant, scratch, result);
    std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
    Result seen = from_device(result, 1)[0];
    if (seen.hung)
        saw("HANG: a wait did not end; %llu words are of another round", seen.wrong);
    saw("%s: %llu of %llu words are of another round; about %.1f us a round", seen.wrong ? "WRONG" : "none seen",
        seen.wrong, static_cast<unsigned long long>(clusters) * rounds * tile_words, taken.count() / rounds);
}

int main() {
    return run_each("T7", "does a remote arrive of block scope guard data that another block reads?", variants, run);
}
