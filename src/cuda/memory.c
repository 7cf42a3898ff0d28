/* Memory of the device, of the host for the device, and of both: pieces of one large mapping, with space between them
 * that belongs to none. */
#include "cuda/cuda.h"

#include "base/array.h"
#include "base/bisect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGN = 512, GUARD = 4096, PAGE = 4096 };

static struct {
    char *base;
    size_t size, used; /* used: from the base on */
    Allocation **all;  /* sorted; none overlaps another */
    uint32_t count, capacity;
    uint64_t made;
    size_t bytes; /* of the device, that live */
} pool;

/* Address space; memory is there once it is touched. */
static bool map_pool(void) {
    for (size_t size = (size_t)1 << 40; !pool.base && size >= (size_t)1 << 28; size >>= 1) {
        void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at != MAP_FAILED) {
            pool.base = at;
            pool.size = size;
            madvise(at, size, MADV_DONTDUMP);
        }
    }
    return pool.base;
}

static uint32_t first_behind(uintptr_t address) {
    uint32_t low;
    BISECT(low, 0, pool.count, pool.all[low]->at <= address);
    return low;
}

Allocation *memory_of(const void *at) {
    uint32_t index = first_behind((uintptr_t)at);
    Allocation *one = index ? pool.all[index - 1] : NULL;
    return one && (uintptr_t)at - one->at < (one->bytes ? one->bytes : 1) ? one : NULL;
}

bool memory_was(const void *at) {
    return pool.base && (uintptr_t)at - (uintptr_t)pool.base < pool.size;
}

void memory_each(void (*work)(Allocation *allocation)) {
    for (uint32_t i = 0; i < pool.count; i++)
        work(pool.all[i]);
}

static size_t round_up(size_t bytes, size_t to) {
    return (bytes + to - 1) / to * to;
}

/* A hole between two allocations, where there is no room behind the last any more. */
static char *find_hole(size_t bytes) {
    uintptr_t at = (uintptr_t)pool.base + GUARD;
    for (uint32_t i = 0; i < pool.count; i++) {
        const Allocation *one = pool.all[i];
        if (one->at < (uintptr_t)pool.base || one->at >= (uintptr_t)pool.base + pool.size)
            continue;
        if (one->at > at && one->at - at >= bytes + GUARD)
            return (char *)at;
        at = round_up(one->at + one->bytes + GUARD, ALIGN);
    }
    return (uintptr_t)pool.base + pool.size - at > bytes + GUARD && at > (uintptr_t)pool.base ? (char *)at : NULL;
}

static char *take(size_t bytes) {
    size_t at = round_up(pool.used + GUARD, bytes >= PAGE ? PAGE : ALIGN);
    if (!pool.base && !map_pool())
        return NULL;
    if (bytes > pool.size || at > pool.size - bytes)
        return find_hole(bytes);
    pool.used = at + bytes;
    return pool.base + at;
}

/* NULL: there is not enough memory. */
static Allocation *keep(Allocation allocation) {
    Allocation *one = ARRAY_ROOM(pool.all, pool.count, pool.capacity, 64) ? malloc(sizeof *one) : NULL;
    if (!one)
        return NULL;
    uint32_t at = first_behind(allocation.at);
    *one = allocation;
    one->number = ++pool.made;
    one->context = context_number();
    memmove(&pool.all[at + 1], &pool.all[at], (pool.count++ - at) * sizeof *pool.all);
    pool.all[at] = one;
    return one;
}

static bool name_for_device(const Allocation *one) {
    static const char *const kinds[] = {"memory",       "managed memory", "host memory", "registered host memory",
                                        "array memory", "texture object", "variables"};
    char name[64];
    snprintf(name, sizeof name, "%s %llu", kinds[one->kind], (unsigned long long)one->number);
    bool written = one->kind != MEMORY_DEVICE && one->kind != MEMORY_ARRAY;
    return weir_device_memory(cuda.device, (void *)one->at, one->bytes, name, written) == 0;
}

static void drop(uint32_t index) {
    Allocation *one = pool.all[index];
    weir_device_remove(cuda.device, (void *)one->at);
    pool.bytes -=
        one->kind == MEMORY_DEVICE || one->kind == MEMORY_MANAGED || one->kind == MEMORY_ARRAY ? one->bytes : 0;
    memmove(&pool.all[index], &pool.all[index + 1], (--pool.count - index) * sizeof *pool.all);
    free(one);
}

void *memory_allocate(MemoryKind kind, size_t bytes, bool of_graph) {
    enum { SMALL = 1 << 24 };
    size_t total, page;
    bool fits = bytes <= SMALL ? pool.bytes + bytes <= cuda.target->memory : bytes <= gpu_free(&total);
    char *at = fits ? take(bytes) : NULL;
    Allocation *one = at ? keep((Allocation){.at = (uintptr_t)at, .bytes = bytes, .kind = kind}) : NULL;
    if (one)
        one->of_graph = of_graph;
    if (!one || !name_for_device(one))
        return NULL;
    page = round_up((uintptr_t)at, PAGE) - (uintptr_t)at; /* a hole may have been used */
    if (bytes > page + PAGE)
        madvise(at + page, (bytes - page) / PAGE * PAGE, MADV_DONTNEED);
    pool.bytes += kind == MEMORY_HOST || kind == MEMORY_HANDLE ? 0 : bytes;
    log_allocated(one);
    return at;
}

bool memory_again(void *at, size_t bytes) {
    uint32_t behind = first_behind((uintptr_t)at + bytes - 1);
    if (!memory_was(at) || (behind && pool.all[behind - 1]->at + pool.all[behind - 1]->bytes > (uintptr_t)at))
        return false;
    Allocation *one = keep((Allocation){.at = (uintptr_t)at, .bytes = bytes, .kind = MEMORY_DEVICE, .of_graph = true});
    if (!one || !name_for_device(one))
        return false;
    pool.bytes += bytes;
    log_allocated(one);
    return true;
}

Error memory_register(void *at, size_t bytes, unsigned flags) {
    uint32_t behind = first_behind((uintptr_t)at + (bytes ? bytes - 1 : 0));
    if (!at || !bytes || (uintptr_t)at + bytes < (uintptr_t)at)
        return CUDA_INVALID_VALUE;
    if (behind && pool.all[behind - 1]->at + pool.all[behind - 1]->bytes > (uintptr_t)at)
        return CUDA_REGISTERED;
    Allocation *one =
        keep((Allocation){.at = (uintptr_t)at, .bytes = bytes, .kind = MEMORY_REGISTERED, .flags = flags});
    if (!one || !name_for_device(one))
        return CUDA_NO_MEMORY;
    log_allocated(one);
    return 0;
}

void memory_variables(const struct CudaModule *module, void *at, size_t bytes) {
    if (bytes && !memory_of(at))
        keep((Allocation){.at = (uintptr_t)at, .bytes = bytes, .kind = MEMORY_VARIABLES, .module = module});
    const Allocation *one = memory_of(at);
    if (one)
        log_allocated(one);
}

Error memory_free(void *at, unsigned kinds) {
    uint32_t index = first_behind((uintptr_t)at);
    Allocation *one = index ? pool.all[index - 1] : NULL;
    if (!one || one->at != (uintptr_t)at || !(kinds >> one->kind & 1))
        return CUDA_INVALID_VALUE;
    size_t page = round_up(one->at, PAGE), end = (one->at + one->bytes) / PAGE * PAGE;
    log_freed(one);
    if (one->kind != MEMORY_REGISTERED && end > page && end - page >= 1 << 16)
        madvise((void *)page, end - page, MADV_DONTNEED);
    drop(index - 1);
    if (!pool.count)
        pool.used = pool.used > pool.size / 2 ? 0 : pool.used;
    return 0;
}

void memory_drop_variables(const struct CudaModule *module) {
    for (uint32_t i = pool.count; i--;)
        if (pool.all[i]->module == module) {
            log_freed(pool.all[i]);
            drop(i);
        }
}

void memory_reset(uint64_t context) {
    for (uint32_t i = pool.count; i--;)
        if (pool.all[i]->kind != MEMORY_VARIABLES && pool.all[i]->context == context) {
            log_left(pool.all[i]);
            log_freed(pool.all[i]);
            drop(i);
        }
}

void *memory_room(size_t *room) {
    size_t at = round_up(pool.used + GUARD, PAGE);
    *room = 0;
    if (!pool.base && !map_pool())
        return NULL;
    *room = at < pool.size ? pool.size - at : 0;
    return pool.base + at;
}

void memory_take(size_t bytes) {
    size_t at = round_up(pool.used + GUARD, PAGE);
    pool.used = at + bytes;
}

size_t memory_used(void) {
    return pool.bytes;
}
