/* What all hardware tests share on the host's side: a program runs its variants, and each prints one line with what was
 * seen.
 *
 * A fault spoils everything that a process does on the GPU afterwards, so each variant runs in a process of its own;
 * the parent never touches the GPU, and ends a child that takes too long. Nothing is asserted: a line says what
 * happened, and docs/hardware-notes.md says what follows from it. */
#pragma once

#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "ptx.cuh"

constexpr int kernel_seconds = 10;
constexpr int variant_seconds = 40;

static const char *test_name = "";
static const char *variant_name = "";

/* Prints the variant's one line and ends its process. */
[[noreturn]] [[gnu::format(printf, 1, 2)]] inline void saw(const char *format, ...) {
    printf("%-4s| %-56s | ", test_name, variant_name);
    va_list values;
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    printf("\n");
    fflush(stdout);
    _exit(0);
}

/* For calls that set a test up: their failure says nothing about the question. */
inline void must(cudaError_t error, const char *doing) {
    if (error != cudaSuccess)
        saw("not run: %s: %s", doing, cudaGetErrorName(error));
}

/* Waits for the kernel that was launched last, but not forever. */
inline void finish_kernel() {
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        saw("not run: launch: %s", cudaGetErrorName(error));
    auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(kernel_seconds);
    while ((error = cudaStreamQuery(0)) == cudaErrorNotReady) {
        if (std::chrono::steady_clock::now() > limit)
            saw("HANG: the kernel still runs after %d s", kernel_seconds);
        usleep(200);
    }
    if (error != cudaSuccess)
        saw("FAULT: %s (%d, %s)", cudaGetErrorName(error), static_cast<int>(error), cudaGetErrorString(error));
}

/* ---- memory ---- */

template <typename Item> Item *device_array(size_t count) {
    void *memory = nullptr;
    must(cudaMalloc(&memory, count * sizeof(Item)), "cudaMalloc");
    must(cudaMemset(memory, 0, count * sizeof(Item)), "cudaMemset");
    return static_cast<Item *>(memory);
}

template <typename Item> void to_device(Item *to, const std::vector<Item> &from) {
    must(cudaMemcpy(to, from.data(), from.size() * sizeof(Item), cudaMemcpyHostToDevice), "cudaMemcpy");
}

template <typename Item> std::vector<Item> from_device(const Item *from, size_t count) {
    std::vector<Item> to(count);
    must(cudaMemcpy(to.data(), from, count * sizeof(Item), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return to;
}

/* ---- tensor maps ---- */

/* A tensor of 4-byte elements in rows that are pitch bytes apart, and a box of it. */
struct MapShape {
    uint64_t columns, rows, pitch;
    uint32_t box_columns, box_rows;
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
    CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
};

inline CUtensorMap encode_map(void *memory, const MapShape &shape) {
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    must(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found),
         "cudaGetDriverEntryPointByVersion");
    if (found != cudaDriverEntryPointSuccess)
        saw("not run: the driver has no cuTensorMapEncodeTiled");
    auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
    CUtensorMap map;
    cuuint64_t sizes[] = {shape.columns, shape.rows};
    cuuint64_t strides[] = {shape.pitch};
    cuuint32_t box[] = {shape.box_columns, shape.box_rows};
    cuuint32_t steps[] = {1, 1};
    CUresult result = encode(&map, shape.type, 2, memory, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                             shape.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, shape.fill);
    if (result != CUDA_SUCCESS)
        saw("REFUSED: cuTensorMapEncodeTiled gives error %d", static_cast<int>(result));
    return map;
}

/* ---- running the variants ---- */

/* Waits for a child, and ends it when its time is up. */
inline void await_child(pid_t child, const char *test, const char *variant) {
    int status = 0;
    auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(variant_seconds);
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > limit) {
            kill(child, SIGKILL);
            printf("%-4s| %-56s | HANG: the process was ended after %d s\n", test, variant, variant_seconds);
            return;
        }
        usleep(2000);
    }
    if (WIFSIGNALED(status))
        printf("%-4s| %-56s | the process ended by signal %d\n", test, variant, WTERMSIG(status));
}

/* Prints the question, then a line per variant. Variant has a `name`. */
template <typename Variant, size_t count>
int run_each(const char *test, const char *question, const Variant (&variants)[count], void (*run)(const Variant &)) {
    printf("%s: %s\n", test, question);
    fflush(stdout);
    for (const Variant &variant : variants) {
        pid_t child = fork();
        if (child == 0) {
            test_name = test;
            variant_name = variant.name;
            run(variant);
            saw("nothing was reported");
        }
        if (child > 0)
            await_child(child, test, variant.name);
        fflush(stdout);
    }
    return 0;
}
