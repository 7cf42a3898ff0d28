/* The GPU that the CPU stands for: its properties and attributes, and how many CTAs fit on a multiprocessor. Numbers
 * are those that CUDA's documentation gives for the GPU of that name; an H200 was asked for its own. */
#include "cuda/cuda.h"

#include "base/host/resources.h"

#include <stdio.h>
#include <string.h>

#define GIB ((size_t)1 << 30)

static const CudaTarget targets[] = {
    {"sm_75", "Tesla T4", 75, 16 * GIB, 40, 4 << 20, 65536, 65536, 1590000, 5001000, 256, 1024, 16},
    {"sm_80", "NVIDIA A100-SXM4-80GB", 80, 80 * GIB, 108, 40 << 20, 167936, 166912, 1410000, 1593000, 5120, 2048, 32},
    {"sm_86", "NVIDIA A40", 86, 48 * GIB, 84, 6 << 20, 102400, 101376, 1740000, 7251000, 384, 1536, 16},
    {"sm_89", "NVIDIA L40S", 89, 48 * GIB, 142, 96 << 20, 102400, 101376, 2520000, 9001000, 384, 1536, 24},
    {"sm_90", "NVIDIA H200", 90, 150109880320, 132, 60 << 20, 233472, 232448, 1980000, 3201000, 6144, 2048, 32},
    {"sm_100", "NVIDIA B200", 100, 180 * GIB, 148, 126 << 20, 233472, 232448, 1965000, 3996000, 7680, 2048, 32},
    {"sm_103", "NVIDIA B300", 103, 270 * GIB, 148, 126 << 20, 233472, 232448, 1920000, 3996000, 8192, 2048, 32},
    {"sm_120", "NVIDIA RTX PRO 6000 Blackwell Server Edition", 120, 96 * GIB, 188, 128 << 20, 102400, 101376, 2430000,
     14001000, 512, 1536, 24},
};

const char gpu_uuid[GPU_UUID_BYTES + 1] = "weir standin GPU";

const CudaTarget *gpu_named(const char *name) {
    size_t length = strcspn(name, "af");
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strlen(targets[i].name) == length && strncmp(name, targets[i].name, length) == 0)
            return &targets[i];
    return NULL;
}

bool gpu_attribute(int attribute, int *value) {
    const CudaTarget *of = cuda.target;
    switch (attribute) {
#define ATTRIBUTE(number, what) \
    case number:                \
        *value = (what);        \
        return true;
#include "cuda/attributes.def"
#undef ATTRIBUTE
    default:
        *value = 0;
        return attribute > 0 && attribute <= 147;
    }
}

static int attribute(int number) {
    int value = 0;
    gpu_attribute(number, &value);
    return value;
}

size_t gpu_free(size_t *total) {
    size_t there = (size_t)resources_memory(), used = memory_used();
    *total = cuda.target->memory;
    size_t rest = *total > used ? *total - used : 0;
    return there < rest ? there : rest;
}

int gpu_occupancy(int threads, size_t shared) {
    enum { RESERVED = 1024, UNIT = 128 };
    const CudaTarget *of = cuda.target;
    if (threads <= 0 || threads > 1024 || shared > (size_t)of->shared_block)
        return 0;
    int warps = (threads + 31) / 32, most = of->threads / 32 / warps;
    size_t bytes = (shared + UNIT - 1) / UNIT * UNIT + (of->capability >= 80 ? RESERVED : 0);
    most = most < of->ctas ? most : of->ctas;
    int fit = bytes ? (int)((size_t)of->shared_most / bytes) : most;
    return fit < most ? fit : most;
}

/* ---- cudaDeviceProp ---- */

/* What both have, up to which they are the same but for five numbers: cudaDeviceProp of CUDA 13. */
typedef struct Properties {
    char name[256], uuid[16], luid[8];
    unsigned luid_mask;
    size_t memory, shared_block;
    int registers, warp;
    size_t pitch;
    int threads_block, threads_dim[3], grid[3];
    size_t constant;
    int major, minor;
    size_t texture_alignment, texture_pitch_alignment;
    int processors, integrated, maps_host;
    int texture_1d, texture_1d_mipmap, texture_2d[2], texture_2d_mipmap[2], texture_2d_linear[3], texture_2d_gather[2];
    int texture_3d[3], texture_3d_other[3], texture_cube, texture_1d_layered[2], texture_2d_layered[3],
        texture_cube_layered[2];
    int surface_1d, surface_2d[2], surface_3d[3], surface_1d_layered[2], surface_2d_layered[3], surface_cube,
        surface_cube_layered[2];
    size_t surface_alignment;
    int concurrent, ecc, bus_id, device_id, domain_id, tcc, engines, unified;
    int bus, cache, persisting, threads_processor, priorities, global_l1, local_l1;
    size_t shared_processor;
    int registers_processor, managed, multi_board, board_group, host_atomics, pageable, concurrent_managed, preemption,
        host_pointer, cooperative;
    size_t shared_optin;
    int host_tables, direct_managed, ctas_processor, window;
    size_t reserved_shared;
    int host_register, sparse, host_register_read_only, semaphores, pools, rdma;
    unsigned rdma_flush;
    int rdma_order;
    unsigned pool_handles;
    int deferred, ipc_event, cluster, unified_functions, numa_config, numa_id, mps, host_numa;
    unsigned pci_device, pci_subsystem;
    int numa_ipc, reserved[56];
} Properties;

/* Of CUDA 12: with what CUDA 13 dropped. */
typedef struct Properties12 {
    char name[256], uuid[16], luid[8];
    unsigned luid_mask;
    size_t memory, shared_block;
    int registers, warp;
    size_t pitch;
    int threads_block, threads_dim[3], grid[3];
    int clock;
    size_t constant;
    int major, minor;
    size_t texture_alignment, texture_pitch_alignment;
    int overlap;
    int processors;
    int timeout;
    int integrated, maps_host;
    int compute_mode;
    int texture_1d, texture_1d_mipmap;
    int texture_1d_linear;
    int texture_2d[2], texture_2d_mipmap[2], texture_2d_linear[3], texture_2d_gather[2];
    int texture_3d[3], texture_3d_other[3], texture_cube, texture_1d_layered[2], texture_2d_layered[3],
        texture_cube_layered[2];
    int surface_1d, surface_2d[2], surface_3d[3], surface_1d_layered[2], surface_2d_layered[3], surface_cube,
        surface_cube_layered[2];
    size_t surface_alignment;
    int concurrent, ecc, bus_id, device_id, domain_id, tcc, engines, unified;
    int memory_clock;
    int bus, cache, persisting, threads_processor, priorities, global_l1, local_l1;
    size_t shared_processor;
    int registers_processor, managed, multi_board, board_group, host_atomics;
    int double_ratio;
    int pageable, concurrent_managed, preemption, host_pointer, cooperative;
    int cooperative_several;
    size_t shared_optin;
    int host_tables, direct_managed, ctas_processor, window;
    size_t reserved_shared;
    int host_register, sparse, host_register_read_only, semaphores, pools, rdma;
    unsigned rdma_flush;
    int rdma_order;
    unsigned pool_handles;
    int deferred, ipc_event, cluster, unified_functions, reserved[63];
} Properties12;

static void set_several(int *to, unsigned count, const int *numbers) {
    for (unsigned i = 0; i < count; i++)
        to[i] = attribute(numbers[i]);
}
#define SEVERAL(to, ...) set_several(to, sizeof(to) / sizeof *(to), (const int[]){__VA_ARGS__})

/* Both structures have these by the same names. */
#define SET_PROPERTIES(p)                                             \
    do {                                                              \
        snprintf((p)->name, sizeof(p)->name, "%s", cuda.target->gpu); \
        memcpy((p)->uuid, gpu_uuid, sizeof(p)->uuid);                 \
        (p)->memory = cuda.target->memory;                            \
        (p)->shared_block = (size_t)attribute(8);                     \
        (p)->registers = attribute(12);                               \
        (p)->warp = attribute(10);                                    \
        (p)->pitch = (size_t)attribute(11);                           \
        (p)->threads_block = attribute(1);                            \
        SEVERAL((p)->threads_dim, 2, 3, 4);                           \
        SEVERAL((p)->grid, 5, 6, 7);                                  \
        (p)->constant = (size_t)attribute(9);                         \
        (p)->major = attribute(75);                                   \
        (p)->minor = attribute(76);                                   \
        (p)->texture_alignment = (size_t)attribute(14);               \
        (p)->texture_pitch_alignment = (size_t)attribute(51);         \
        (p)->processors = attribute(16);                              \
        (p)->maps_host = attribute(19);                               \
        (p)->texture_1d = attribute(21);                              \
        (p)->texture_1d_mipmap = attribute(77);                       \
        SEVERAL((p)->texture_2d, 22, 23);                             \
        SEVERAL((p)->texture_2d_mipmap, 73, 74);                      \
        SEVERAL((p)->texture_2d_linear, 70, 71, 72);                  \
        SEVERAL((p)->texture_2d_gather, 45, 46);                      \
        SEVERAL((p)->texture_3d, 24, 25, 26);                         \
        SEVERAL((p)->texture_3d_other, 47, 48, 49);                   \
        (p)->texture_cube = attribute(52);                            \
        SEVERAL((p)->texture_1d_layered, 42, 43);                     \
        SEVERAL((p)->texture_2d_layered, 27, 28, 29);                 \
        SEVERAL((p)->texture_cube_layered, 53, 54);                   \
        (p)->surface_1d = attribute(55);                              \
        SEVERAL((p)->surface_2d, 56, 57);                             \
        SEVERAL((p)->surface_3d, 58, 59, 60);                         \
        SEVERAL((p)->surface_1d_layered, 61, 62);                     \
        SEVERAL((p)->surface_2d_layered, 63, 64, 65);                 \
        (p)->surface_cube = attribute(66);                            \
        SEVERAL((p)->surface_cube_layered, 67, 68);                   \
        (p)->surface_alignment = (size_t)attribute(30);               \
        (p)->concurrent = attribute(31);                              \
        (p)->ecc = attribute(32);                                     \
        (p)->engines = attribute(40);                                 \
        (p)->unified = attribute(41);                                 \
        (p)->bus = attribute(37);                                     \
        (p)->cache = attribute(38);                                   \
        (p)->persisting = attribute(108);                             \
        (p)->threads_processor = attribute(39);                       \
        (p)->priorities = attribute(78);                              \
        (p)->global_l1 = attribute(79);                               \
        (p)->local_l1 = attribute(80);                                \
        (p)->shared_processor = (size_t)attribute(81);                \
        (p)->registers_processor = attribute(82);                     \
        (p)->managed = attribute(83);                                 \
        (p)->concurrent_managed = attribute(89);                      \
        (p)->preemption = attribute(90);                              \
        (p)->host_pointer = attribute(91);                            \
        (p)->cooperative = attribute(95);                             \
        (p)->shared_optin = (size_t)attribute(97);                    \
        (p)->ctas_processor = attribute(106);                         \
        (p)->window = attribute(109);                                 \
        (p)->reserved_shared = (size_t)attribute(111);                \
        (p)->host_register = attribute(99);                           \
        (p)->pools = attribute(115);                                  \
        (p)->cluster = attribute(120);                                \
    } while (0)

void gpu_properties(void *properties) {
    Properties *to = properties;
    _Static_assert(sizeof *to == 1008, "cudaDeviceProp of CUDA 13");
    memset(to, 0, sizeof *to);
    SET_PROPERTIES(to);
    to->host_numa = to->numa_id = -1;
}

void gpu_properties_12(void *properties) {
    Properties12 *to = properties;
    _Static_assert(sizeof *to == 1032, "cudaDeviceProp of CUDA 12");
    memset(to, 0, sizeof *to);
    SET_PROPERTIES(to);
    to->clock = attribute(13);
    to->overlap = 1;
    to->texture_1d_linear = attribute(69);
    to->memory_clock = attribute(36);
    to->double_ratio = attribute(87);
    to->cooperative_several = attribute(96);
}
