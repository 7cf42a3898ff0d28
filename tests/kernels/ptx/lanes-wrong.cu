// Masks that name lanes which go another way.
#define ALL 0xffffffffu
extern "C" __global__ void halves(int *data, int n) {
    int value = data[threadIdx.x];
    if (threadIdx.x < 16)
        value += __shfl_down_sync(ALL, value, 8);
    data[threadIdx.x] = value;
}

extern "C" __global__ void loop(int *data, int n) {
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        sum += __any_sync(ALL, data[i] > 3);
    data[threadIdx.x] = sum;
}

extern "C" __global__ void twice(int *data, int n) {
    int value = data[threadIdx.x];
    if (threadIdx.x < 16)
        value += __shfl_down_sync(ALL, value, 8);
    value += __shfl_down_sync(ALL, value, 4);
    data[threadIdx.x] = value;
}
