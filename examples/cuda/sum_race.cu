// The sum of 1000 numbers: the barrier between two rounds is missing.
//     nvcc -cudart shared -lineinfo -o sum sum_race.cu && weir exec -- ./sum
#include <cstdio>

__global__ void sum(int *total, const int *numbers, int count) {
    __shared__ int part[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < count ? numbers[i] : 0;
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        atomicAdd(total, part[0]);
}

int main() {
    const int count = 1000;
    int host[count], *numbers, *total, result;
    for (int i = 0; i < count; i++)
        host[i] = i;
    cudaMalloc(&numbers, sizeof host);
    cudaMalloc(&total, sizeof *total);
    cudaMemcpy(numbers, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(total, 0, sizeof *total);
    sum<<<(count + 127) / 128, 128>>>(total, numbers, count);
    cudaMemcpy(&result, total, sizeof result, cudaMemcpyDeviceToHost);
    printf("the sum is %d\n", result);
    cudaFree(numbers);
    cudaFree(total);
    return cudaGetLastError();
}
