// A TMA copy of a box, through a tensor map, and an mbarrier that expects its bytes.
struct alignas(64) Map { char bytes[128]; };
extern "C" __global__ void load(const __grid_constant__ Map map, float *out, int bytes) {
    __shared__ alignas(128) float tile[8 * 16];
    __shared__ alignas(8) unsigned long long full;
    unsigned bar = __cvta_generic_to_shared(&full), to = __cvta_generic_to_shared(tile);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
                     "r"(to), "l"(&map), "r"(16), "r"(8), "r"(bar) : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
                 "@!p bra again; }" ::"r"(bar) : "memory");
    out[threadIdx.x] = tile[threadIdx.x];
}
