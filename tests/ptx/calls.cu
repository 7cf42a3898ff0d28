// Calls of every kind: by name, by pointer, of itself, of what the runtime has; a switch that becomes a table of labels;
// tables with initial values, among them addresses.
#include <cstdio>
#include <cassert>

__device__ int square(int x) { return x * x; }
__device__ int twice(int x) { return 2 * x; }
typedef int (*Function)(int);
__device__ Function table[2] = {square, twice};
__constant__ float weights[3][2] = {{1.0f, 2.5f}, {-3.0f}};
__device__ const char *words[2] = {"one", "two"};

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

struct Pair {
    double first;
    short second[3];
};

__device__ __noinline__ Pair swap(Pair pair) {
    pair.second[0] = pair.second[1];
    pair.first = -pair.first;
    return pair;
}

extern "C" __global__ void calls(int *out, int n, Pair pair, int which) {
    int local[16];
    for (int i = 0; i < 16; i++)
        local[i] = out[i] + n;
    switch (n) {
    case 0: local[which] += 7; break;
    case 1: local[which] ^= 31; break;
    case 2: local[which] -= n * which; break;
    case 3: local[which] = __popc(local[which]); break;
    case 4: local[which] = __clz(local[which]); break;
    case 5: local[which] = __brev(local[which]); break;
    default: printf("%s %d %f\n", words[n & 1], n, weights[which % 3][1]);
    }
    pair = swap(pair);
    assert(which < 16);
    out[threadIdx.x] = local[which] + fibonacci(n) + table[which & 1](n) + pair.second[0] + (int)pair.first;
}
