// All threads set a flag, to the same value or not.
extern "C" __global__ void set(int *out, int step) {
    __shared__ int flag;
    flag = 7 + threadIdx.x * step;
    __syncthreads();
    out[threadIdx.x] = flag;
}
