// Cooperative groups: grids, clusters, tiles, coalesced and labeled groups; their reductions, scans and copies.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

extern "C" __global__ void grids(int *data, int *total, int n) {
    auto grid = cg::this_grid();
    for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size())
        data[i] = 2 * data[i] + (int)grid.block_rank();
    grid.sync();
    if (grid.thread_rank() == 0)
        for (int i = 0; i < n; i++)
            *total += data[i];
    auto token = grid.barrier_arrive();
    data[n + threadIdx.x] = 1;
    grid.barrier_wait(std::move(token));
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) clusters(int *out) {
    __shared__ int mine[128];
    auto cluster = cg::this_cluster();
    mine[threadIdx.x] = (int)cluster.block_rank();
    auto token = cluster.barrier_arrive();
    int before = (int)cluster.num_threads() + (int)cluster.query_shared_rank(mine);
    cluster.barrier_wait(std::move(token));
    int sum = 0;
    for (unsigned rank = 0; rank < cluster.num_blocks(); rank++)
        sum += cluster.map_shared_rank(mine, rank)[threadIdx.x];
    cluster.sync();
    out[threadIdx.x] = sum + before;
}

template <unsigned SIZE> __device__ int tiles(int value) {
    auto tile = cg::tiled_partition<SIZE>(cg::this_thread_block());
    value += cg::reduce(tile, value, cg::bit_xor<int>()) + cg::inclusive_scan(tile, value) +
             cg::exclusive_scan(tile, value, cg::greater<int>());
    value += tile.shfl_down(value, 1) + tile.any(value > 3) + (int)tile.ballot(value & 1) + tile.shfl_xor(value, SIZE / 2);
    tile.sync();
    return value;
}

extern "C" __global__ void parts(int *out, const int *in, const float *weights) {
    __shared__ int tile[512];
    auto block = cg::this_thread_block();
    int value = tiles<4>(in[threadIdx.x]) + tiles<16>(in[threadIdx.x]) + tiles<32>(in[threadIdx.x]);
    cg::memcpy_async(block, tile, in, sizeof tile);
    cg::wait(block);
    if (in[threadIdx.x] > 7) {
        auto active = cg::coalesced_threads();
        auto labeled = cg::labeled_partition(active, value % 5);
        auto binary = cg::binary_partition(active, value > 100);
        value += (int)labeled.size() + cg::reduce(binary, value, cg::plus<int>());
        if (active.thread_rank() == 0)
            atomicAdd(out, (int)active.size());
    }
    float weight = cg::reduce(cg::tiled_partition<8>(block), weights[threadIdx.x], cg::less<float>());
    out[block.thread_rank()] = value + tile[threadIdx.x ^ 1] + (int)weight;
}
