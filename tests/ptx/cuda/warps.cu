// What the threads of a warp do together: shuffles, votes, matches, reductions, elections, masks, named barriers.
__device__ int elected() {
    int leader;
    asm volatile("{ .reg .pred P; .reg .b32 lane; elect.sync lane|P, 0xffffffff; selp.s32 %0, 1, 0, P; }" : "=r"(leader));
    return leader;
}

extern "C" __global__ void shuffles(int *out, const double *wide, long long *longs, unsigned mask) {
    int lane = threadIdx.x & 31, value = out[threadIdx.x];
    for (int step = 16; step; step >>= 1)
        value += __shfl_down_sync(mask, value, step);
    value += __shfl_up_sync(~0u, value, 1, 8) + __shfl_sync(~0u, value, lane ^ 3, 16) + __shfl_xor_sync(~0u, value, 2);
    double other = __shfl_sync(~0u, wide[threadIdx.x], 5);
    longs[threadIdx.x] = __shfl_xor_sync(mask, longs[threadIdx.x], 1);
    out[threadIdx.x] = value + (int)other + elected();
}

extern "C" __global__ void votes(unsigned *out, const int *in) {
    int value = in[threadIdx.x];
    unsigned active = __activemask();
    int all;
    unsigned got = __ballot_sync(active, value > 2) + __any_sync(active, value > 4) + __all_sync(active, value) +
                   __uni_sync(active, value & 1) + __match_any_sync(active, value) +
                   __match_all_sync(active, (unsigned long long)value, &all);
    got += __reduce_add_sync(~0u, (unsigned)value) + __reduce_min_sync(~0u, value) + __reduce_max_sync(~0u, value) +
           __reduce_and_sync(~0u, (unsigned)value) + __reduce_or_sync(~0u, (unsigned)value) +
           __reduce_xor_sync(~0u, (unsigned)value);
    unsigned less, equal, lane, warp, sm, grid;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(less));
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(equal));
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm("mov.u32 %0, %%nctaid.y;" : "=r"(grid));
    if (value > 3)
        __syncwarp(active);
    __nanosleep(20);
    out[threadIdx.x] = got + __popc(less) + equal + lane + warp + sm + grid + (unsigned)all;
}

extern "C" __global__ void blocks(int *out, int count) {
    __shared__ int tile[512];
    tile[threadIdx.x] = out[threadIdx.x];
    int found = __syncthreads_count(tile[threadIdx.x] > 1) + __syncthreads_and(tile[threadIdx.x] & 1);
    if (threadIdx.x < 128) {
        asm volatile("barrier.sync.aligned 3, 256;" ::: "memory");
        found += tile[threadIdx.x + 128];
        asm volatile("bar.arrive 4, %0;" ::"r"(count) : "memory");
    } else {
        tile[threadIdx.x] = found;
        asm volatile("barrier.cta.arrive 3, 256;" ::: "memory");
        asm volatile("bar.sync 4, %0;" ::"r"(count) : "memory");
    }
    int any;
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; barrier.cta.red.popc.aligned.u32 %0, 5, p; "
                 "bar.red.or.pred q, 6, !p; @q bra GO; trap; GO: }"
                 : "=r"(any)
                 : "r"(found)
                 : "memory");
    out[threadIdx.x] = found + any + tile[(threadIdx.x + 1) & 511];
}
