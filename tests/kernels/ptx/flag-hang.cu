// One CTA passes a value to the next through global memory.
extern "C" __global__ void pass(int *data, int *flag, int *out) {
    if (blockIdx.x == 0) {
        data[0] = 42;
        __threadfence();
        atomicExch(flag, 0);
    } else {
        while (atomicAdd(flag, 0) == 0)
            ;
        __threadfence();
        out[0] = data[0];
    }
}
