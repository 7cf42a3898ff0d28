// Programs that need room for records in different ways, to be run under `weir exec` (tests/gpu/room/run):
//   room wave N       few CTAs, many launches that all differ and are not waited for (Needleman-Wunsch by diagonals)
//   room path CTAS    very many CTAs, each with a loop and shared memory (a path through a grid of costs)
//   room sort CTAS    a sorting network in shared memory: a barrier for each of its stages
//   room fill SHARE   a launch, and then an allocation of SHARE percent of the device's memory
// With "race" behind it a barrier is missing. Each prints "right" or "wrong", and exits with 0 or 1.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call) check((call), __LINE__)
static void check(cudaError_t error, int line) {
    if (error != cudaSuccess) {
        printf("wrong: line %d: %s\n", line, cudaGetErrorString(error));
        exit(1);
    }
}

enum { TILE = 16 };

// One tile of the matrix of scores on each CTA; tiles of a diagonal at once.
template <bool RACE> __global__ void wave(int *scores, const int *costs, int width, int diagonal, int first) {
    __shared__ int tile[TILE + 1][TILE + 1];
    int by = first + blockIdx.x, bx = diagonal - by, x = threadIdx.x;
    int *at = scores + (by * TILE) * width + bx * TILE;
    if (x == 0)
        tile[0][0] = at[0];
    tile[0][x + 1] = at[x + 1];
    tile[x + 1][0] = at[(x + 1) * width];
    if (!RACE)
        __syncthreads();
    for (int step = 0; step < 2 * TILE - 1; step++) {
        int y = step - x;
        if (y >= 0 && y < TILE) {
            int cost = costs[(by * TILE + y + 1) * width + bx * TILE + x + 1];
            int best = tile[y][x] + cost;
            best = max(best, tile[y][x + 1] - 1);
            best = max(best, tile[y + 1][x] - 1);
            tile[y + 1][x + 1] = best;
        }
        __syncthreads();
    }
    for (int y = 0; y < TILE; y++)
        at[(y + 1) * width + x + 1] = tile[y + 1][x + 1];
}

static bool run_wave(int tiles, bool race) {
    int width = tiles * TILE + 1, count = width * width;
    std::vector<int> costs(count), scores(count, 0), expected;
    for (int i = 0; i < count; i++)
        costs[i] = (i * 7919) % 11 - 5;
    for (int i = 0; i < width; i++)
        scores[i] = scores[i * width] = -i;
    expected = scores;
    for (int y = 1; y < width; y++)
        for (int x = 1; x < width; x++) {
            int best = expected[(y - 1) * width + x - 1] + costs[y * width + x];
            best = std::max(best, std::max(expected[(y - 1) * width + x], expected[y * width + x - 1]) - 1);
            expected[y * width + x] = best;
        }
    int *device, *device_costs;
    CHECK(cudaMalloc(&device, count * sizeof(int)));
    CHECK(cudaMalloc(&device_costs, count * sizeof(int)));
    CHECK(cudaMemcpy(device, scores.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_costs, costs.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    for (int diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        int first = diagonal < tiles ? 0 : diagonal - tiles + 1, ctas = (diagonal < tiles ? diagonal : 2 * tiles - 2 - diagonal) + 1;
        if (race)
            wave<true><<<ctas, TILE>>>(device, device_costs, width, diagonal, first);
        else
            wave<false><<<ctas, TILE>>>(device, device_costs, width, diagonal, first);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(scores.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost));
    return race || scores == expected;
}

enum { ROW = 256, STEPS = 8 };

template <bool RACE> __global__ void path(const int *costs, int *sums, int columns) {
    __shared__ int before[ROW], now[ROW];
    int x = threadIdx.x, column = blockIdx.x * (ROW - 2 * STEPS) + x - STEPS;
    bool inside = column >= 0 && column < columns;
    before[x] = inside ? costs[column] : 1 << 20;
    __syncthreads();
    for (int step = 1; step < STEPS; step++) {
        if (x >= step && x < ROW - step)
            now[x] = min(before[x], min(before[x - 1], before[x + 1])) + (inside ? costs[column] : 1 << 20);
        if (!RACE)
            __syncthreads();
        if (x >= step && x < ROW - step)
            before[x] = now[x];
        __syncthreads();
    }
    if (x >= STEPS && x < ROW - STEPS && inside)
        sums[column] = before[x];
}

static bool run_path(int ctas, bool race) {
    int columns = ctas * (ROW - 2 * STEPS), *costs, *sums;
    std::vector<int> host(columns, 3);
    CHECK(cudaMalloc(&costs, (size_t)columns * sizeof(int)));
    CHECK(cudaMalloc(&sums, (size_t)columns * sizeof(int)));
    CHECK(cudaMemcpy(costs, host.data(), (size_t)columns * sizeof(int), cudaMemcpyHostToDevice));
    for (int i = 0; i < 2; i++) {
        if (race)
            path<true><<<ctas, ROW>>>(costs, sums, columns);
        else
            path<false><<<ctas, ROW>>>(costs, sums, columns);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(host.data(), sums, (size_t)columns * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; !race && i < columns; i++)
        if (host[i] != 3 * STEPS)
            return false;
    return true;
}

enum { KEYS = 1024 };

template <bool RACE> __global__ void sort(unsigned *keys) {
    __shared__ unsigned shared[KEYS];
    unsigned x = threadIdx.x;
    shared[x] = keys[blockIdx.x * KEYS + x];
    shared[x + KEYS / 2] = keys[blockIdx.x * KEYS + x + KEYS / 2];
    for (unsigned size = 2; size <= KEYS; size *= 2)
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            if (!RACE || stride != 64)
                __syncthreads();
            unsigned at = 2 * x - (x & (stride - 1));
            bool up = (x & (size / 2)) == 0;
            unsigned a = shared[at], b = shared[at + stride];
            if ((a > b) == up) {
                shared[at] = b;
                shared[at + stride] = a;
            }
        }
    __syncthreads();
    keys[blockIdx.x * KEYS + x] = shared[x];
    keys[blockIdx.x * KEYS + x + KEYS / 2] = shared[x + KEYS / 2];
}

static bool run_sort(int ctas, bool race) {
    std::vector<unsigned> host((size_t)ctas * KEYS);
    for (size_t i = 0; i < host.size(); i++)
        host[i] = (unsigned)(i * 2654435761u);
    unsigned *keys;
    CHECK(cudaMalloc(&keys, host.size() * sizeof(unsigned)));
    CHECK(cudaMemcpy(keys, host.data(), host.size() * sizeof(unsigned), cudaMemcpyHostToDevice));
    if (race)
        sort<true><<<ctas, KEYS / 2>>>(keys);
    else
        sort<false><<<ctas, KEYS / 2>>>(keys);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host.data(), keys, host.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (size_t i = 1; !race && i < host.size(); i++)
        if (i % KEYS && host[i - 1] > host[i])
            return false;
    return true;
}

static bool run_fill(int share) {
    size_t unused = 0, all = 0;
    void *memory;
    bool good = run_sort(64, false);
    CHECK(cudaMemGetInfo(&unused, &all));
    CHECK(cudaMalloc(&memory, all / 100 * share));
    return good && run_sort(65, false);
}

int main(int count, char **arguments) {
    const char *what = count > 2 ? arguments[1] : "";
    int size = count > 2 ? atoi(arguments[2]) : 0;
    bool race = count > 3 && strcmp(arguments[3], "race") == 0;
    bool good = strcmp(what, "wave") == 0   ? run_wave(size, race)
                : strcmp(what, "path") == 0 ? run_path(size, race)
                : strcmp(what, "sort") == 0 ? run_sort(size, race)
                : strcmp(what, "fill") == 0 ? run_fill(size)
                                            : false;
    puts(good ? "right" : "wrong");
    return good ? 0 : 1;
}
