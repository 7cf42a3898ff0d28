// A sum over a warp, in shared memory.
extern "C" __global__ void warp_sum(int *out, const int *in) {
    __shared__ int sum[32];
    int lane = threadIdx.x;
    sum[lane] = in[lane];
    for (int step = 16; step > 0; step /= 2) {
        // the lanes of a warp need not run in lockstep
        int other = lane < step ? sum[lane + step] : 0;
        //
        if (lane < step)
            sum[lane] += other;
    }
    if (lane == 0)
        out[0] = sum[0];
}
