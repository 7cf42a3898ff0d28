// CTAs of a cluster read each other's shared memory.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 1, 1) peers(int *out) {
    __shared__ int tile[32];
    cg::cluster_group cluster = cg::this_cluster();
    tile[threadIdx.x] = threadIdx.x + cluster.block_rank() * 100;
    cluster.sync();
    int *other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
    out[blockIdx.x * 32 + threadIdx.x] = other[threadIdx.x];
    // does not wait for the other CTA
}
