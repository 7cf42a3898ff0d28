/* Memory that the program maps itself, in mode shadow: its cells, and what they say of a launch that is over. The
 * driver is not there: addresses, memory and copies are the host's. The device's calls are compiled for the host, a
 * warp of one lane. */
#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* for another compiler */
#include "device/compact.c"

#include "runtime/shadow/gpu_handed.c"
#include "runtime/shadow/gpu_lent.c"
#include "runtime/shadow/gpu_map.c"
#include "runtime/shadow/gpu_shadow.c"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 1 << 21, RANGE = 16 * PAGE };

/* ---- The driver ---- */

static unsigned created;

static int reserve_addresses(uint64_t *at, size_t bytes, size_t alignment, uint64_t wished, unsigned long long flags) {
    (void)wished, (void)flags;
    void *got = mmap(NULL, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *at = ((uintptr_t)got + alignment - 1) / alignment * alignment;
    return got == MAP_FAILED;
}
static int nothing(void) {
    return 0;
}
static int create(GpuMapped *handle, size_t bytes, const void *prop, unsigned long long flags) {
    (void)prop, (void)flags;
    int file = memfd_create("memory", 0);
    *handle = (GpuMapped)file;
    created++;
    return file < 0 || ftruncate(file, (off_t)bytes);
}
static int export_memory(void *to, GpuMapped handle, int kind, unsigned long long flags) {
    (void)flags;
    *(int *)to = dup((int)handle);
    return kind != 1;
}
static int import_memory(GpuMapped *to, void *file, int kind) {
    int copy = dup((int)(uintptr_t)file);
    *to = (GpuMapped)copy;
    created++;
    return kind != 1 || copy < 0;
}
static int release_memory(GpuMapped handle) {
    created--;
    return close((int)handle);
}
static int map(uint64_t at, size_t bytes, size_t offset, GpuMapped handle, unsigned long long flags) {
    (void)flags;
    return mmap((void *)(uintptr_t)at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, (int)handle,
                (off_t)offset) == MAP_FAILED;
}
static int unmap(uint64_t at, size_t bytes) {
    return mmap((void *)(uintptr_t)at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
                0) == MAP_FAILED;
}
static int granularity(size_t *page, const void *prop, int which) {
    (void)prop, (void)which;
    *page = PAGE;
    return 0;
}
static int allocate(uint64_t *at, size_t bytes) {
    *at = (uintptr_t)calloc(1, bytes);
    return !*at;
}
static int free_memory(uint64_t at) {
    free((void *)(uintptr_t)at);
    return 0;
}
static int set(uint64_t at, unsigned char value, size_t bytes, void *stream) {
    (void)stream;
    memset((void *)(uintptr_t)at, value, bytes);
    return 0;
}
static int copy_in(uint64_t to, const void *from, size_t bytes, void *stream) {
    (void)stream;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}
static int copy_out(void *to, uint64_t from, size_t bytes, void *stream) {
    (void)stream;
    memcpy(to, (void *)(uintptr_t)from, bytes);
    return 0;
}
static int total(size_t *bytes, int device) {
    (void)device;
    *bytes = RANGE;
    return 0;
}

static void *fake(const char *name) {
    static const struct {
        const char *name;
        void *function;
    } all[] = {{"cuMemAddressReserve", reserve_addresses},
               {"cuMemCreate", create},
               {"cuMemRelease", release_memory},
               {"cuMemExportToShareableHandle", export_memory},
               {"cuMemImportFromShareableHandle", import_memory},
               {"cuMemMap", map},
               {"cuMemUnmap", unmap},
               {"cuMemGetAllocationGranularity", granularity},
               {"cuMemAlloc_v2", allocate},
               {"cuMemFree_v2", free_memory},
               {"cuMemsetD8Async", set},
               {"cuMemcpyHtoDAsync_v2", copy_in},
               {"cuMemcpyDtoHAsync_v2", copy_out},
               {"cuDeviceTotalMem_v2", total}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].function;
    return nothing;
}

/* ---- A program ---- */

typedef struct Program {
    GpuShadow *shadow;
    uint64_t at;
    GpuMapped memory;
    ShadowLaunch launch;
    RecordingTouched touched[64];
    uint32_t count;
} Program;

/* Two pages of memory, mapped by the program. */
static void begin(Program *program) {
    const GpuShadowOptions options = {.range = RANGE};
    const char *problem;
    *program = (Program){.shadow = gpu_shadow_open(fake, 0, &options, &problem)};
    assert_non_null(program->shadow);
    program->at = gpu_shadow_reserve(program->shadow, 2 * PAGE, 0);
    assert_true(program->at && gpu_shadow_lends(program->shadow, program->at + PAGE));
    assert_int_equal(create(&program->memory, 2 * PAGE, NULL, 0), 0);
    assert_int_equal(map(program->at, 2 * PAGE, 0, program->memory, 0), 0);
    assert_int_equal(gpu_shadow_map(program->shadow, program->at, 2 * PAGE), 0);
}
static void end(Program *program) {
    gpu_shadow_close(program->shadow);
    release_memory(program->memory);
    assert_int_equal(created, 0);
}

static void launch(Program *program) {
    const GpuShadowMark mark = {.abi = SHADOW_ABI, .sites = 4};
    const GpuShadowShape shape = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}, .resident = 2};
    const char *problem = NULL;
    if (!gpu_shadow_prepare(program->shadow, &mark, &shape, &program->launch, &problem))
        fail_msg("%s", problem);
}
static uint32_t races(Program *program) {
    static GpuShadowResult result;
    assert_int_equal(gpu_shadow_collect(program->shadow, NULL, &result), 0);
    return (uint32_t)result.state.races;
}
#define GIVEN(cta)                                                                                               \
    program->launch.real, program->launch.bytes, program->launch.cells, program->launch.state, 0, 0, 0, 0, 0, 0, \
        (cta) + 1, program->launch.form
static void writes(const Program *program, uint32_t cta, uint64_t offset, uint32_t bytes) {
    weir_flat_write(program->at + offset, bytes << WHAT_BYTES, GIVEN(cta));
}
static void reads(const Program *program, uint32_t cta, uint64_t offset, uint32_t bytes) {
    weir_flat_read(program->at + offset, bytes << WHAT_BYTES, GIVEN(cta));
}
static void adds(const Program *program, uint32_t cta, uint64_t offset, uint32_t scope) {
    weir_flat_strong(program->at + offset, 4 << WHAT_BYTES, KIND_UPDATE | scope << HOW_SCOPE, GIVEN(cta));
}
static void copies(const Program *program, uint32_t cta, uint64_t offset, uint64_t bytes, uint32_t kind) {
    weir_flat_range(1, program->at + offset, bytes, 0, kind, GIVEN(cta));
}

static void expect(const Program *program, uint32_t tag, const RecordingTouched *wanted, uint32_t count,
                   bool is_lost) {
    RecordingTouched got[16];
    uint32_t all = 0;
    bool lost = false;
    assert_true(gpu_shadow_touched(program->shadow, tag, program->at, 2 * PAGE, got, 16, &all, &lost));
    assert_int_equal(lost, is_lost);
    assert_int_equal(all, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(got[i].begin - program->at, wanted[i].begin);
        assert_int_equal(got[i].bytes, wanted[i].bytes);
        assert_int_equal(got[i].how, wanted[i].how);
    }
}

/* ---- Tests ---- */

static void memory_of_the_program_is_checked(void **state) {
    (void)state;
    Program made, *program = &made;
    begin(program);
    launch(program);
    writes(program, 0, 0, 4);
    writes(program, 0, PAGE + 64, 4);
    reads(program, 1, 4, 4);
    assert_int_equal(races(program), 0);
    launch(program);
    writes(program, 0, PAGE + 64, 4);
    reads(program, 1, PAGE + 64, 4);
    assert_int_equal(races(program), 1);
    end(program);
}

static void cells_say_what_was_touched(void **state) {
    (void)state;
    enum { GPU = 3, CTA = 1 };
    Program made, *program = &made;
    begin(program);
    launch(program);
    uint32_t tag = program->launch.form & 255;
    writes(program, 0, 0, 4);
    writes(program, 0, 4, 4);
    writes(program, 1, 14, 2);
    reads(program, 0, 16, 16);
    reads(program, 0, 32, 4);
    adds(program, 0, 64, GPU);
    adds(program, 0, 80, CTA);
    copies(program, 0, 1024, 512, KIND_WRITE);
    copies(program, 1, PAGE - 128, 256, KIND_READ);
    assert_int_equal(races(program), 0);
    static const RecordingTouched lines_first[] = {
        {1024, 512, RECORDING_WRITTEN, 0}, {PAGE - 128, 256, RECORDING_READ, 0},   {14, 2, RECORDING_WRITTEN, 0},
        {16, 20, RECORDING_READ, 0},       {64, 4, RECORDING_STRONGLY_WRITTEN, 0}, {80, 4, RECORDING_WRITTEN, 0}};
    expect(program, tag, lines_first, 6, false); /* of a granule the last writer is known */
    launch(program);
    writes(program, 0, 64, 4);
    races(program);
    static const RecordingTouched later[] = {{64, 4, RECORDING_WRITTEN, 0}};
    expect(program, program->launch.form & 255, later, 1, false);
    static const RecordingTouched rest[] = {
        {1024, 512, RECORDING_WRITTEN, 0}, {PAGE - 128, 256, RECORDING_READ, 0}, {14, 2, RECORDING_WRITTEN, 0},
        {16, 20, RECORDING_READ, 0},       {80, 4, RECORDING_WRITTEN, 0}};
    expect(program, tag, rest, 5, true); /* the later launch has some of it */
    expect(program, tag + 2, NULL, 0, false);
    RecordingTouched got[2];
    uint32_t count = 0;
    bool lost = false;
    assert_false(gpu_shadow_touched(program->shadow, tag, program->at, 2 * PAGE, got, 2, &count, &lost));
    count = 0;
    assert_false(gpu_shadow_touched(program->shadow, tag, 4096, 64, got, 2, &count, &lost)); /* it has no cells */
    end(program);
}

static void addresses_come_back(void **state) {
    (void)state;
    Program made, *program = &made;
    begin(program);
    uint64_t base, bytes, other, first = program->at;
    assert_false(gpu_shadow_holds(program->shadow, first, &base, &bytes));
    assert_int_not_equal(gpu_shadow_release(program->shadow, first), 0);
    assert_int_equal(gpu_shadow_allocate(program->shadow, 100, &other), 0);
    assert_int_equal(other, first + 2 * PAGE);
    assert_false(gpu_shadow_unreserve(program->shadow, other));
    unsigned before = created;
    gpu_shadow_unmap(program->shadow, first, 2 * PAGE);
    assert_int_equal(created, before - 1);
    assert_int_equal(gpu_shadow_map(program->shadow, first, 4096), 0); /* a part of a page */
    assert_int_equal(gpu_shadow_map(program->shadow, first + 4096, 2 * PAGE - 4096), 0);
    assert_int_equal(created, before + 1);
    gpu_shadow_unmap(program->shadow, first + 4096, 4096);
    assert_int_equal(created, before + 1);
    assert_true(gpu_shadow_unreserve(program->shadow, first));
    assert_int_equal(created, before - 1);
    assert_int_equal(gpu_shadow_reserve(program->shadow, PAGE, PAGE), first);
    assert_int_equal(gpu_shadow_reserve(program->shadow, RANGE, 0), 0);
    assert_int_equal(gpu_shadow_reserve(program->shadow, PAGE, 2 * PAGE), 0);
    end(program);
}

/* A child has what is mapped here as a copy, and takes what its parent hands over. */
static void memory_is_handed_over(void **state) {
    (void)state;
    Program made, *program = &made;
    uint64_t at, taken, again, bytes;
    GpuShadowHandle handle, same;
    begin(program);
    assert_false(gpu_shadow_hand_over(program->shadow, program->at, &handle));
    assert_int_equal(gpu_shadow_allocate(program->shadow, 100, &at), 0);
    assert_true(gpu_shadow_hand_over(program->shadow, at, &handle));
    assert_true(gpu_shadow_hand_over(program->shadow, at + 64, &same));
    assert_memory_equal(&handle, &same, sizeof handle);
    assert_true(gpu_shadow_is_handle(&handle));
    *(uint32_t *)(uintptr_t)at = 7;
    pid_t child = fork();
    if (!child) {
        const GpuShadowOptions options = {.range = RANGE};
        const char *problem;
        GpuShadow *other = gpu_shadow_open(fake, 0, &options, &problem);
        int result = gpu_shadow_take_over(other, &handle, &taken, &bytes);
        bool good = !result && bytes == 100 && *(uint32_t *)(uintptr_t)taken == 7 &&
                    !gpu_shadow_take_over(other, &handle, &again, &bytes) && again == taken;
        if (good)
            *(uint32_t *)(uintptr_t)taken = 8;
        good &= gpu_shadow_hand_back(other, taken, &result) && !result;
        good &= gpu_shadow_hand_back(other, taken, &result) && !result;
        good &= !gpu_shadow_hand_back(other, taken, &result);
        _exit(!good);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(*(uint32_t *)(uintptr_t)at, 8);
    assert_false(gpu_shadow_hand_back(program->shadow, at, &status));
    assert_int_equal(gpu_shadow_release(program->shadow, at), 0);
    assert_int_not_equal(gpu_shadow_take_over(program->shadow, &handle, &taken, &bytes), 0);
    end(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_the_program_is_checked),
        cmocka_unit_test(cells_say_what_was_touched),
        cmocka_unit_test(addresses_come_back),
        cmocka_unit_test(memory_is_handed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
