// Each thread in strides of the grid.
__global__ void saxpy_stride(float a, const float *x, float *y, int n) {
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += blockDim.x * gridDim.x)
        y[at] = a * x[at] + y[at];
}
