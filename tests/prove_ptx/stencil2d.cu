__global__ void stencil2d(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1)
        out[y * width + x] = in[y * width + x - 1] + in[y * width + x + 1] + in[(y - 1) * width + x] + in[(y + 1) * width + x];
}
