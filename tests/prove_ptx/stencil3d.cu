// Planes, one after the other.
__global__ void stencil3d(const float *in, float *out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny)
        for (int z = 1; z < nz - 1; z++)
            out[(z * ny + y) * nx + x] = in[((z - 1) * ny + y) * nx + x] + in[((z + 1) * ny + y) * nx + x];
}
