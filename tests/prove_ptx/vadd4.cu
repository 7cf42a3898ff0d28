// Four elements at a time.
__global__ void vadd4(const float4 *a, float4 *b, unsigned n) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) {
        float4 x = a[at], y = b[at];
        b[at] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
}
