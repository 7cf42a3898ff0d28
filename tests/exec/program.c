/* A CUDA program without CUDA, for the capturing library: it loads a module, allocates, and launches, and gets at the
 * driver as it is told: `linked`, `dlsym` or `asked` (cuGetProcAddress, as the CUDA runtime does). Ends with 0 if every
 * launch has reached the driver. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int Result;
typedef void *Handle;

Result cuMemAlloc_v2(uint64_t *, size_t);
Result cuMemFree_v2(uint64_t);
Result cuMemcpyHtoD_v2(uint64_t, const void *, size_t);
Result cuModuleLoadData(Handle *, const void *);
Result cuModuleGetFunction(Handle *, Handle, const char *);
Result cuTensorMapEncodeTiled(void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const uint32_t *,
                              const uint32_t *, int, int, int, int);
Result cuLaunchKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **,
                      void **);
Result cuLaunchKernelEx(const void *, Handle, void **, void **);
int standin_launches(void);

static const char *way;

static void *look_up(const char *name, const char *exported) {
    static void *driver;
    if (!driver)
        driver = dlopen("libcuda.so.1", RTLD_NOW);
    void *asked = dlsym(driver, "cuGetProcAddress_v2"), *found = NULL;
    Result (*ask)(const char *, void **, int, uint64_t, int *) =
        *(Result(**)(const char *, void **, int, uint64_t, int *)) & asked;
    if (strcmp(way, "dlsym") == 0)
        return dlsym(driver, exported);
    return ask(name, &found, 13000, 0, NULL) == 0 ? found : NULL;
}

/* An entry point, by the way that was asked for. */
#define GET(function, name, exported)                                                        \
    do {                                                                                     \
        void *found = look_up(name, #exported);                                              \
        function = strcmp(way, "linked") == 0 ? exported : *(__typeof__(&exported) *)&found; \
    } while (0)

static const char text[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry scale(.param .u64 a, .param .u64 b, .param .u32 n, .param .f32 by) { ret; }\n"
    ".visible .entry gather(.param .align 8 .b8 a[24], .param .u8 c) { ret; }\n"
    ".visible .entry tile(.param .align 64 .b8 m[128], .param .u64 p) { ret; }\n"
    ".visible .entry nothing() { ret; }\n";

typedef struct Config {
    uint32_t grid[3], block[3], shared;
    Handle stream;
    void *attributes;
    unsigned count;
} Config;
typedef struct Attribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        uint32_t cluster[3];
    } value;
} Attribute;

int main(int count, char **words) {
    way = count > 1 ? words[1] : "linked";
    __typeof__(&cuMemAlloc_v2) allocate;
    __typeof__(&cuMemcpyHtoD_v2) copy;
    __typeof__(&cuModuleLoadData) load;
    __typeof__(&cuModuleGetFunction) find;
    __typeof__(&cuTensorMapEncodeTiled) encode;
    __typeof__(&cuLaunchKernel) launch;
    __typeof__(&cuLaunchKernelEx) launch_ex;
    GET(allocate, "cuMemAlloc", cuMemAlloc_v2);
    GET(copy, "cuMemcpyHtoD", cuMemcpyHtoD_v2);
    GET(load, "cuModuleLoadData", cuModuleLoadData);
    GET(find, "cuModuleGetFunction", cuModuleGetFunction);
    GET(encode, "cuTensorMapEncodeTiled", cuTensorMapEncodeTiled);
    GET(launch, "cuLaunchKernel", cuLaunchKernel);
    GET(launch_ex, "cuLaunchKernelEx", cuLaunchKernelEx);

    Handle module, scale, gather, tile, nothing;
    uint64_t a, b;
    int values[4] = {1, 2, 3, -1}, length = 3;
    float by = 1.5f;
    if (load(&module, text) || find(&scale, module, "scale") || find(&gather, module, "gather") ||
        find(&tile, module, "tile") || find(&nothing, module, "nothing") || allocate(&a, 64) || allocate(&b, 4096) ||
        copy(b, values, sizeof values))
        return 2;

    /* Twice with the same numbers, once with others, once into the middle of memory. */
    uint64_t middle = b + 16;
    void *first[] = {&a, &b, &length, &by}, *second[] = {&a, &middle, &length, &by};
    int longer = 4;
    void *third[] = {&a, &middle, &longer, &by};
    launch(scale, 2, 1, 1, 32, 1, 1, 16, NULL, first, NULL);
    launch(scale, 2, 1, 1, 32, 1, 1, 16, NULL, second, NULL);
    launch(scale, 2, 1, 1, 32, 1, 1, 16, NULL, third, NULL);

    /* A struct with two pointers, in one block of parameters. */
    struct {
        uint64_t to, from;
        int number;
        char pad[4], flag;
    } block = {a, b, 7, {0}, 'x'};
    size_t bytes = 25;
    void *extra[] = {(void *)1, &block, (void *)2, &bytes, (void *)0};
    Attribute cluster = {.id = 4, .value.cluster = {2, 1, 1}};
    Config config = {{4, 1, 1}, {64, 2, 1}, 0, NULL, &cluster, 1};
    launch_ex(&config, gather, NULL, extra);

    /* A tensor map of 4 by 8 words with rows of 64 bytes; memory that holds an address. */
    _Alignas(64) char map[128];
    uint64_t sizes[] = {8, 4}, strides[] = {64};
    uint32_t box[] = {8, 2}, steps[] = {1, 1};
    encode(map, 2, 2, (void *)(uintptr_t)b, sizes, strides, box, steps, 0, 3, 0, 0);
    copy(a, &b, sizeof b);
    void *both[] = {map, &a};
    launch(tile, 1, 1, 1, 128, 1, 1, 0, NULL, both, NULL);
    launch(nothing, 1, 1, 1, 1, 1, 1, 0, (Handle)1, NULL, NULL);
    return standin_launches() == 6 ? 0 : 1;
}
