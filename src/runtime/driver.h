/* The few entry points of the CUDA driver that are stood in front of or asked, as its documentation has them: handles
 * are pointers, enumerations are ints. */
#ifndef RUNTIME_DRIVER_H
#define RUNTIME_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int Result; /* CUresult; 0: success */
typedef uint64_t DevicePointer;
typedef void *Handle; /* CUfunction, CUkernel, CUmodule, CUlibrary, CUstream, CUmemoryPool, CUgraph */

/* An event or memory of another process. */
typedef struct IpcHandle {
    char bytes[64];
} IpcHandle;
enum { HANDLE_FILE = 1 }; /* CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR */

/* CUlaunchAttributeID. The last two have an event, which comes while the kernel runs. */
enum {
    ATTRIBUTE_COOPERATIVE = 2,
    ATTRIBUTE_CLUSTER = 4,
    ATTRIBUTE_PROGRAMMATIC = 6,
    ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
    ATTRIBUTE_DOMAIN = 10,
    ATTRIBUTE_LAUNCHED_EVENT = 12
};
enum { PER_THREAD_STREAM = 2 }; /* CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */
/* CU_LAUNCH_PARAM_*: how `extra` gives the parameters as one block. */
enum { EXTRA_END = 0, EXTRA_POINTER = 1, EXTRA_SIZE = 2 };
enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2 }; /* CUDA_ERROR_... */
enum { LIMIT_STACK = 0 };                      /* CU_LIMIT_STACK_SIZE */
enum { NODE_KERNEL = 0 };                      /* CU_GRAPH_NODE_TYPE_KERNEL */
enum { TENSOR_MAP_BYTES = 128, TENSOR_MAP_DIMS = 5 };

typedef struct LaunchAttribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        uint32_t cluster[3];
        int number;
        Handle event;
    } value;
} LaunchAttribute;

typedef struct LaunchConfig { /* CUlaunchConfig */
    uint32_t grid[3], block[3], shared;
    Handle stream;
    const LaunchAttribute *attributes;
    unsigned attribute_count;
} LaunchConfig;

typedef struct KernelNode { /* CUDA_KERNEL_NODE_PARAMS_v2 */
    Handle function;
    uint32_t grid[3], block[3], shared;
    void **parameters, **extra;
    Handle kernel, context;
} KernelNode;

typedef struct AllocateNode { /* CUDA_MEM_ALLOC_NODE_PARAMS_v2 */
    char pool[88];
    const void *access;
    size_t access_count, bytes;
    DevicePointer to;
} AllocateNode;

enum { CONDITION_WHILE = 1 }; /* of CUgraphConditionalNodeType */
typedef struct GraphNode {    /* CUgraphNodeParams */
    int type, reserved[3];
    union {
        long long bytes[29];
        KernelNode kernel;
        struct { /* CUDA_CONDITIONAL_NODE_PARAMS */
            uint64_t handle;
            int type;
            uint32_t count;
            Handle *graphs;
        } conditional;
        AllocateNode memory;
    };
    long long rest;
} GraphNode;

/* Where a wrapper of a fatbin points to it: what cudart hands to the driver (version 1 and 2). */
typedef struct FatbinWrapper {
    uint32_t magic, version;
    const void *data;
    const void *rest;
} FatbinWrapper;
typedef struct FatbinHeader {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
} FatbinHeader;
#define FATBIN_WRAPPER 0x466243B1u
#define FATBIN_HEADER  0xBA55ED50u

#endif
