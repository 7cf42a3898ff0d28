/* A program that compiles its kernel while it runs, by nvrtc, and launches it by the CUDA driver; without headers of
 * CUDA: nvrtc LIBRARY right|race|cubin */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned flags), cuDevicePrimaryCtxRetain(void **to, int device), cuCtxSetCurrent(void *context);
int cuModuleLoadDataEx(void **to, const void *image, unsigned count, int *options, void **values);
int cuModuleGetFunction(void **to, void *module, const char *name), cuMemAlloc_v2(uint64_t *to, size_t bytes);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes), cuMemcpyDtoH_v2(void *to, uint64_t at, size_t bytes);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra);

/* clang-format off */
static const char source[] =
    "extern \"C\" __global__ void saxpy(float *y, const float *x, float a, int n) {\n"
    "    __shared__ float last[128];\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    last[threadIdx.x] = i < n ? x[i] : 0;\n"
    "    BARRIER;\n"
    "    if (i < n)\n"
    "        y[i] += a * last[blockDim.x - 1 - threadIdx.x];\n"
    "}\n";
/* clang-format on */

typedef int Create(void **program, const char *text, const char *name, int count, const char **headers,
                   const char **names);
typedef int Compile(void *program, int count, const char **options);
typedef int Size(void *program, size_t *size);
typedef int Get(void *program, char *to);

static int failed(int line, int error) {
    if (error)
        printf("line %d: error %d\n", line, error);
    return error;
}
#define TRY(call)                 \
    if (failed(__LINE__, (call))) \
    return 1

int main(int argc, char **argv) {
    enum { COUNT = 1024 };
    void *nvrtc = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL, *program, *context, *module, *kernel;
    if (!nvrtc)
        return 2;
    int machine = strcmp(argv[2], "cubin") == 0;
    const char *options[] = {machine ? "--gpu-architecture=sm_80" : "--gpu-architecture=compute_80",
                             machine ? "-DMACHINE" : "-lineinfo",
                             strcmp(argv[2], "race") == 0 ? "-DBARRIER=" : "-DBARRIER=__syncthreads()"};
    float host[COUNT], a = 2;
    uint64_t x, y;
    size_t size;
    int n = COUNT;
    TRY(((Create *)dlsym(nvrtc, "nvrtcCreateProgram"))(&program, source, "saxpy.cu", 0, NULL, NULL));
    TRY(((Compile *)dlsym(nvrtc, "nvrtcCompileProgram"))(program, 3, options));
    TRY(((Size *)dlsym(nvrtc, machine ? "nvrtcGetCUBINSize" : "nvrtcGetPTXSize"))(program, &size));
    char *ptx = malloc(size);
    TRY(((Get *)dlsym(nvrtc, machine ? "nvrtcGetCUBIN" : "nvrtcGetPTX"))(program, ptx));
    TRY(cuInit(0));
    TRY(cuDevicePrimaryCtxRetain(&context, 0));
    TRY(cuCtxSetCurrent(context));
    TRY(cuModuleLoadDataEx(&module, ptx, 0, NULL, NULL));
    free(ptx);
    TRY(cuModuleGetFunction(&kernel, module, "saxpy"));
    for (int i = 0; i < COUNT; i++)
        host[i] = (float)i;
    TRY(cuMemAlloc_v2(&x, sizeof host));
    TRY(cuMemAlloc_v2(&y, sizeof host));
    TRY(cuMemcpyHtoD_v2(x, host, sizeof host));
    TRY(cuMemcpyHtoD_v2(y, host, sizeof host));
    void *parameters[] = {&y, &x, &a, &n};
    TRY(cuLaunchKernel(kernel, COUNT / 128, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL));
    TRY(cuMemcpyDtoH_v2(host, y, sizeof host));
    puts(host[0] == 2 * 127 && host[1000] == 1000 + 2 * 919 ? "PASS" : "FAIL");
    return 0;
}
