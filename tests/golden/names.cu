namespace tools {
template <typename T> __device__ __forceinline__ T pick(T *from, int i) {
    return from[i + 1];
}
__global__ void reduce(const float *input, float *output, int n) {
    __shared__ float part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? input[i] : 0;
    output[i] = pick(part, threadIdx.x & 127);
}
} // namespace tools
template <typename T, int N> __global__ void scale(T *data, T factor) {
    data[blockIdx.x * N + threadIdx.x] *= factor;
}
template __global__ void scale<float, 64>(float *data, float factor);
