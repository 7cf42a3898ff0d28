// CUB within a block and a warp: scans, sorts, reductions, exchanges, histograms, loads and stores.
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

extern "C" __global__ void scans(int *out, const int *in) {
    typedef cub::BlockScan<int, 128, cub::BLOCK_SCAN_RAKING> Raking;
    typedef cub::BlockScan<int, 128, cub::BLOCK_SCAN_WARP_SCANS> Warps;
    typedef cub::BlockReduce<int, 128> Reduce;
    typedef cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_TRANSPOSE> Load;
    typedef cub::BlockStore<int, 128, 4, cub::BLOCK_STORE_WARP_TRANSPOSE> Store;
    __shared__ union {
        Raking::TempStorage raking;
        Warps::TempStorage warps;
        Reduce::TempStorage reduce;
        Load::TempStorage load;
        Store::TempStorage store;
    } room;
    int items[4], sum;
    Load(room.load).Load(in, items);
    __syncthreads();
    Raking(room.raking).InclusiveSum(items, items);
    __syncthreads();
    Warps(room.warps).ExclusiveSum(items, items, sum);
    __syncthreads();
    sum += Reduce(room.reduce).Reduce(items[0], [](int a, int b) { return a > b ? a : b; });
    items[0] += sum;
    __syncthreads();
    Store(room.store).Store(out, items);
}

extern "C" __global__ void sorts(unsigned *keys, float *values, unsigned long long *pairs) {
    typedef cub::BlockRadixSort<unsigned, 128, 4, float> Sort;
    typedef cub::WarpMergeSort<unsigned long long, 2, 32> Merge;
    __shared__ Sort::TempStorage room;
    __shared__ Merge::TempStorage warps[4];
    unsigned key[4];
    float value[4];
    for (int i = 0; i < 4; i++) {
        key[i] = keys[4 * threadIdx.x + i];
        value[i] = values[4 * threadIdx.x + i];
    }
    Sort(room).SortDescendingBlockedToStriped(key, value);
    unsigned long long pair[2] = {pairs[threadIdx.x], pairs[128 + threadIdx.x]};
    Merge(warps[threadIdx.x / 32]).Sort(pair, [](unsigned long long a, unsigned long long b) { return a < b; });
    for (int i = 0; i < 4; i++) {
        keys[128 * i + threadIdx.x] = key[i];
        values[128 * i + threadIdx.x] = value[i];
    }
    pairs[threadIdx.x] = pair[0] + pair[1];
}

extern "C" __global__ void counts(int *out, const unsigned char *in) {
    typedef cub::BlockHistogram<unsigned char, 128, 4, 256, cub::BLOCK_HISTO_ATOMIC> Histogram;
    typedef cub::WarpReduce<double> Sum;
    typedef cub::WarpScan<int, 16> Scan;
    __shared__ Histogram::TempStorage room;
    __shared__ Sum::TempStorage sums[4];
    __shared__ Scan::TempStorage scans[8];
    __shared__ int bins[256];
    unsigned char items[4];
    for (int i = 0; i < 4; i++)
        items[i] = in[4 * threadIdx.x + i];
    Histogram(room).Histogram(items, bins);
    __syncthreads();
    double sum = Sum(sums[threadIdx.x / 32]).HeadSegmentedSum((double)items[0], threadIdx.x % 8 == 0);
    int scanned;
    Scan(scans[threadIdx.x / 16]).InclusiveSum(bins[threadIdx.x], scanned);
    out[threadIdx.x] = scanned + (int)sum;
}
