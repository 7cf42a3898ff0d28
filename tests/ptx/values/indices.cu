// Indices of one, two and three dimensions; strided loops over a grid; padded and swizzled shared memory.
extern "C" __global__ void copy(float *to, const float *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

extern "C" __global__ void saxpy(float *y, const float *x, float a, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        y[i] += a * x[i];
}

extern "C" __global__ void transpose(float *to, const float *from, int width, int height) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += blockDim.y)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = from[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += blockDim.y)
        if (x < height && y + j < width)
            to[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void swizzle(int4 *to, const int4 *from) {
    extern __shared__ int4 rows[];
    unsigned t = threadIdx.x, row = t >> 3, column = t & 7;
    rows[row * 8 + (column ^ (row & 7))] = from[blockIdx.x * blockDim.x + t];
    __syncthreads();
    to[blockIdx.x * blockDim.x + t] = rows[(t & 7) * 8 + ((t >> 3) & 7)];
}

extern "C" __global__ void stencil(float *to, const float *from, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
        return;
    size_t i = (size_t)(z * ny + y) * nx + x;
    to[i] = from[i - 1] + from[i + 1] + from[i - nx] + from[i + nx] + from[i - nx * ny] + from[i + nx * ny];
}
