// What needs the runtime: virtual functions, lambdas by pointer, memory from the heap, printf and assert, deep recursion,
// stacks of a size known late, variadic arguments, managed and constant variables, exceptions to control flow.
#include <cassert>
#include <cstdio>
#include <new>

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    float side;
    __device__ explicit Square(float side) : side(side) {}
    __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
    float radius;
    __device__ explicit Circle(float radius) : radius(radius) {}
    __device__ float area() const override { return 3.14159f * radius * radius; }
};

__device__ int counter = 3;
__managed__ int shared_with_host = 17;
__constant__ double factors[4] = {1.0, 0.5, 0.25};
__device__ struct {
    int *pointer;
    const char *name;
    short numbers[3];
} described = {&counter, "described", {1, -2, 3}};
__device__ __shared__ int *slots[4];

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__device__ __noinline__ bool odd(int n);
__device__ __noinline__ bool even(int n) { return n == 0 || odd(n - 1); }
__device__ __noinline__ bool odd(int n) { return n != 0 && even(n - 1); }

extern "C" __global__ void objects(float *out, int kind) {
    Shape *shape = kind ? static_cast<Shape *>(new Square(out[0])) : new Circle(out[1]);
    int *numbers = static_cast<int *>(malloc(4 * (size_t)kind));
    if (!shape || !numbers) {
        printf("block %d thread %d: no memory (%s, %lld, %f)\n", blockIdx.x, threadIdx.x, described.name, (long long)kind,
               factors[kind & 3]);
        __trap();
    }
    for (int i = 0; i < kind; i++)
        numbers[i] = i * described.numbers[i % 3];
    slots[threadIdx.x & 3] = numbers;
    __syncthreads();
    assert(*slots[(threadIdx.x + 1) & 3] == 0 && "the first is zero");
    out[threadIdx.x] = shape->area() + (float)(ackermann(2, kind) + even(kind) + shared_with_host + *described.pointer);
    free(numbers);
    delete shape;
}

extern "C" __global__ void stacks(int *out, int n) {
    int *room = static_cast<int *>(alloca(sizeof(int) * (size_t)n));
    auto choose = [](int a, int b) { return a < b ? a : b; };
    auto other = [](int a, int b) { return a ^ b; };
    int (*function)(int, int) = n & 1 ? +choose : +other;
    for (int i = 0; i < n; i++)
        room[i] = function(out[i], i);
    for (int i = 0; i < n; i++) {
        if (room[i] == 3)
            continue;
        if (room[i] == 5)
            goto done;
        if (room[i] == 7)
            return;
        out[i] = room[n - 1 - i];
    }
done:
    __brkpt();
    out[0] = n;
}
