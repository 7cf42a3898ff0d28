// A tiled matrix multiplication, as in every CUDA course: what is checked for `make bench`.
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float left[32][32], right[32][32];
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    float total = 0;
    for (int k = 0; k < n; k += 32) {
        left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 32; i++)
            total += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = total;
}

// Whole numbers in registers: how many thread-instructions a second.
extern "C" __global__ void mix(unsigned *out, int turns) {
    unsigned a = blockIdx.x * blockDim.x + threadIdx.x, b = a * 2654435761u, c = ~a, d = a ^ 0x9E3779B9u;
    for (int i = 0; i < turns; i++) {
        a += b;
        d = (d ^ a) << 7 | (d ^ a) >> 25;
        c += d;
        b = (b ^ c) << 13 | (b ^ c) >> 19;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a ^ b ^ c ^ d;
}

// The same of f32.
extern "C" __global__ void reals(float *out, int turns) {
    float a = threadIdx.x, b = a * 0.5f, c = 1.0f;
    for (int i = 0; i < turns; i++) {
        a = a * 0.99f + b;
        b = b * c - 0.25f;
        c = c + a * 0.001f;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c;
}

// Addresses and shared memory: what decides is affine in the lane.
extern "C" __global__ void rows(const float *in, float *out, int n, int turns) {
    __shared__ float tile[1024];
    float total = 0;
    for (int i = 0; i < turns; i++) {
        tile[threadIdx.x] = in[(i * blockDim.x + threadIdx.x) % n];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            total += tile[(threadIdx.x + j * 32) % 256];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

// Which block of the output a CTA writes is in memory: none speaks for another.
extern "C" __global__ void taken(const int *order, float *out, int turns) {
    __shared__ float tile[256];
    int block = order[blockIdx.x];
    float total = 0;
    for (int i = 0; i < turns; i++) {
        tile[threadIdx.x] = total + i;
        __syncthreads();
        total += tile[(threadIdx.x + i) % 256];
        __syncthreads();
    }
    out[block * 256 + threadIdx.x] = total;
}
