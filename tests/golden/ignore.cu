__global__ void reduce(const float *input, float *output) {
    __shared__ float part[256];
    part[threadIdx.x] = input[threadIdx.x];
    // weir: ignore[race.raw] the lanes of a warp agree here
    output[threadIdx.x] = part[threadIdx.x ^ 1];
    output[threadIdx.x + 256] = part[threadIdx.x ^ 2];
} // weir: ignore[race.waw] of no use
