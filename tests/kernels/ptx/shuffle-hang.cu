// A shuffle in a branch.
extern "C" __global__ void shuffle(int *out, int n) {
    int lane = threadIdx.x, value = lane;
    if (lane < n)
        value = __shfl_down_sync(0xffffffffu, value, 1);
    out[lane] = value;
    __syncwarp();
    out[lane] += 1;
}
