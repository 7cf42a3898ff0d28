// Threads that part: loops that lanes leave in different turns, switches, early returns, searches.
extern "C" __global__ void collatz(int *steps, const unsigned *start, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = start[i] & 1023;
    int count = 0;
    while (x > 1 && count < 200) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        count++;
    }
    steps[i] = count;
}

extern "C" __global__ void rows_of_csr(float *y, const int *begin, const int *columns, const float *values, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = begin[row] + lane, end = begin[row] + (begin[row + 1] & 63); i < end; i += 32)
        sum += values[i] * columns[i];
    for (int by = 16; by; by /= 2)
        sum += __shfl_down_sync(~0u, sum, by);
    if (!lane)
        y[row] = sum;
}

extern "C" __global__ void switched(int *to, const int *kinds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i;
    switch (kinds[i] & 7) {
    case 0: x = i * 3; break;
    case 1: x = i ^ 5; break;
    case 2: x = to[i]; break;
    case 3: x = i / 3; break;
    case 4: x = blockDim.x; // and on
    case 5: x += 7; break;
    default: x = -1;
    }
    to[i] = x;
}

extern "C" __global__ void search(int *found, const int *sorted, const int *keys, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x, low = 0, high = n & 0xffff, last = 0;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < keys[i])
            low = middle + 1;
        else
            high = middle;
        last = middle;
    }
    found[i] = low + last;
}

extern "C" __global__ void turns(int *to, int limit) {
    int last = 0;
    for (int i = 0; i < 40; i++) { // how far it came is different in each lane, and used behind it
        last = i * limit;
        if (i > (int)(threadIdx.x & 15))
            break;
        to[last & 255] = i;
    }
    to[threadIdx.x] = last;
    for (int i = 0; i < (limit & 7); i++)
        for (int j = 0; j <= i; j++) {
            if (((threadIdx.x + j) & 3) == 0)
                continue;
            to[i * 64 + j] += last;
        }
}
