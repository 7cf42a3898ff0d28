// Adds one to each value.
extern "C" __global__ void add_one(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        x[i] += 1;
}
