__global__ void vadd(const float *a, const float *b, float *c, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n)
        c[at] = a[at] + b[at];
}
