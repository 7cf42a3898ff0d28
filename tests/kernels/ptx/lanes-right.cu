// Masks of the lanes that come; lanes that have ended need not.
#define ALL 0xffffffffu
extern "C" __global__ void ended(int *data, int n) {
    if (threadIdx.x >= n - 20)
        return;
    int value = data[threadIdx.x];
    data[threadIdx.x] = value + __shfl_xor_sync(ALL, value, 1);
}

extern "C" __global__ void some(int *data, int n) {
    int value = data[threadIdx.x];
    unsigned mask = __ballot_sync(ALL, value > 7);
    if (value > 7)
        value = __reduce_add_sync(mask, value);
    if (threadIdx.x % 3 == 0)
        value += __popc(__ballot_sync(__activemask(), value > n));
    data[threadIdx.x] = value;
}

extern "C" __global__ void loop(int *data, int n) {
    int sum = 0;
    for (int i = threadIdx.x; __any_sync(ALL, i < n); i += 32)
        sum += i < n ? data[i] : 0;
    data[threadIdx.x] = sum;
}
