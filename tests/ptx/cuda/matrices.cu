// Matrices: wmma of the runtime, mma, ldmatrix and stmatrix by hand, wgmma with its descriptors and groups.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void fragments(float *c, const half *a, const half *b, const signed char *i, int *sum, double *d) {
    __shared__ half tile[16 * 16];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> total;
    wmma::fill_fragment(total, 0.0f);
    wmma::load_matrix_sync(left, a, 16);
    tile[threadIdx.x] = b[threadIdx.x];
    __syncwarp();
    wmma::load_matrix_sync(right, tile, 16);
    wmma::mma_sync(total, left, right, total);
    wmma::store_matrix_sync(c, total, 16, wmma::mem_row_major);
    wmma::fragment<wmma::matrix_a, 32, 8, 16, signed char, wmma::col_major> bytes;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, signed char, wmma::row_major> others;
    wmma::fragment<wmma::accumulator, 32, 8, 16, int> ints;
    wmma::load_matrix_sync(bytes, i, 32);
    wmma::load_matrix_sync(others, i + 512, 16);
    wmma::fill_fragment(ints, 1);
    wmma::mma_sync(ints, bytes, others, ints, true);
    wmma::store_matrix_sync(sum, ints, 32, wmma::mem_col_major);
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> doubles;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> more;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> wide;
    wmma::load_matrix_sync(doubles, d, 4);
    wmma::load_matrix_sync(more, d, 4);
    wmma::fill_fragment(wide, 0.0);
    wmma::mma_sync(wide, doubles, more, wide);
    wmma::store_matrix_sync(d, wide, 8, wmma::mem_row_major);
}

extern "C" __global__ void lanes(float *out, const unsigned *sparse) {
    __shared__ alignas(128) half tile[64 * 64];
    unsigned at = (unsigned)__cvta_generic_to_shared(tile) + 16 * (threadIdx.x & 31), a[4], b[2];
    float c[4] = {};
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2 + 512];" : "=r"(b[0]), "=r"(b[1]) : "r"(at));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, "
                 "{%6, %7}, {%0, %1, %2, %3}, %8, 0x1;"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(sparse[threadIdx.x]));
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(a[3]), "r"(a[2]),
                 "r"(a[1]), "r"(a[0])
                 : "memory");
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(b[0]) : "r"(a[0]));
    for (int i = 0; i < 4; i++)
        out[4 * threadIdx.x + i] = c[i] + (float)b[0];
}

extern "C" __global__ void __launch_bounds__(128, 1) warpgroups(float *out, const half *in) {
    __shared__ alignas(1024) half left[64 * 64], right[64 * 64];
    for (int i = threadIdx.x; i < 64 * 64; i += 128) {
        left[i] = in[i];
        right[i] = in[4096 + i];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    unsigned long long a = ((unsigned long long)__cvta_generic_to_shared(left) & 0x3ffff) >> 4 | 1ull << 62 | 64ull << 32;
    unsigned long long b = ((unsigned long long)__cvta_generic_to_shared(right) & 0x3ffff) >> 4 | 1ull << 62 | 64ull << 32;
    float d[8] = {};
    unsigned registers[4] = {1, 2, 3, 4};
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < 4; k++)
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %10, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1, 0, 0; }"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                     : "l"(a + 2 * k), "l"(b + 2 * k), "r"(k));
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, %12, "
                 "1, -1, 1, 1;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                 : "r"(registers[0]), "r"(registers[1]), "r"(registers[2]), "r"(registers[3]), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 8; i++)
        out[8 * threadIdx.x + i] = d[i];
}
