/* Packed chunks: what runtime/record/pack.ptx makes of an array of units, run in the machine of PTX, is that array when
 * it is opened; what is damaged is refused or opened as something else, and nothing is read or written beside it. */
#include "trace/pack.h"

#include "machine/simt/schedule/schedule.h"
#include "ptx/reader.h"
#include "trace/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_UNITS = 2048, ROOM = 128 + MOST_UNITS * 20, BLOCK_AT = MOST_UNITS * RECORD_UNIT, TAG = 5 };
#define BASE UINT64_C(0x300000000)

/* Memory of the device: the units, the block behind them, and then what is written. */
typedef struct Packing {
    uint8_t memory[BLOCK_AT + sizeof(RecordLaunch) + ROOM];
    uint32_t chunk, in_cta; /* units */
    uint32_t first, more_count, asked;
    uint64_t room;
    uint32_t ctas;
    Arena arena;
} Packing;

static void begin(Packing *p, uint32_t chunk, uint32_t warps, uint32_t first) {
    memset(p, 0, sizeof *p);
    arena_init(&p->arena, (size_t)1 << 28);
    p->chunk = chunk;
    p->in_cta = chunk * warps;
    p->first = first * chunk;
    p->room = ROOM;
    p->ctas = 2;
}

static uint32_t *unit_at(Packing *p, uint32_t index) {
    return (uint32_t *)(void *)(p->memory + (size_t)index * RECORD_UNIT);
}

static RecordLaunch *block_of(Packing *p) {
    return (RecordLaunch *)(void *)(p->memory + BLOCK_AT);
}

static uint32_t units_of(const Packing *p) {
    uint32_t more = p->asked < p->more_count ? p->asked : p->more_count;
    return p->first + more * p->chunk;
}

/* ---- The machine ---- */

static Source *packer_text(void) {
    FILE *file = fopen("src/runtime/record/pack.ptx", "r");
    char text[1 << 16];
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    assert_true(size < sizeof text);
    return source_copy("pack.ptx", text, size);
}

static void give_parameters(const Packing *p, const PtxProgram *program, uint8_t *to) {
    const PtxFunction *kernel = &program->module->functions[program->entry];
    uint64_t values[] = {BASE,   p->first, p->chunk, p->in_cta, BASE + BLOCK_AT, BASE + BLOCK_AT + sizeof(RecordLaunch),
                         p->room};
    assert_int_equal(kernel->parameter_count, 7);
    for (uint32_t i = 0; i < 7; i++) {
        const PtxSymbolSlot *seat = &program->seats[kernel->parameters + i];
        memcpy(to + seat->at, &values[i], seat->bytes);
    }
}

static void run(Packing *p) {
    Source *source = packer_text();
    PtxModule module;
    Diagnostics diagnostics = {0};
    const char *problem = NULL;
    uint8_t parameters[256] = {0}, known[256], *before = malloc(sizeof p->memory);
    RecordLaunch *block = block_of(p);
    *block = (RecordLaunch){.more_count = p->more_count, .next = p->asked, .tag = TAG << 24, .local_window = 77};
    memcpy(before, p->memory, sizeof p->memory);
    memset(known, BYTE_KNOWN, sizeof known);
    assert_true(ptx_read(&module, source, true, &diagnostics));
    PtxProgram *program = ptx_program(&p->arena, &module, 0, (size_t)1 << 28, &problem);
    assert_non_null(program);
    give_parameters(p, program, parameters);
    PtxBuffer buffer = {.name = "memory",
                        .parameter = PTX_NONE,
                        .address = BASE,
                        .bytes = sizeof p->memory,
                        .data = before,
                        .data_bytes = sizeof p->memory};
    PtxLaunch launch = {.grid = {p->ctas, 1, 1},
                        .block = {256, 1, 1},
                        .cluster = {1, 1, 1},
                        .parameters = parameters,
                        .known = known,
                        .buffers = &buffer,
                        .buffer_count = 1};
    PtxMachine *machine = ptx_machine(program, &launch, COMPUTES_ALL, &problem);
    PtxSchedule schedule = {.kind = SCHEDULE_ROUND_ROBIN};
    assert_non_null(machine);
    assert_int_equal(ptx_schedule_run(machine, &schedule), PTX_END_COMPLETE);
    const PtxBlock *held = machine->blocks;
    while (held->base != BASE)
        held++;
    memcpy(p->memory, held->bytes, sizeof p->memory);
    assert_memory_equal(p->memory, before, BLOCK_AT); /* units stay as they are */
    ptx_machine_free(machine);
    ptx_free(&module);
    source_free(source);
    diagnostics_free(&diagnostics);
    free(before);
}

/* ---- There and back ---- */

static const uint8_t *stream_of(const Packing *p) {
    return p->memory + BLOCK_AT + 2 * sizeof(RecordLaunch);
}

static size_t stream_bytes(Packing *p) {
    return (size_t)block_of(p)->packed * RECORD_UNIT;
}

/* The chunks that lie apart are those of the array, and zeros behind what is there of them. */
static void compare_chunks(const Packing *p, const PackChunk *chunks, const uint8_t *units) {
    static const uint8_t none[RECORD_UNIT];
    for (uint32_t i = 0; i < units_of(p); i++) {
        const PackChunk *chunk = &chunks[i / p->chunk];
        bool there = i % p->chunk < chunk->units;
        const uint8_t *unit = there ? chunk->at + (size_t)(i % p->chunk) * RECORD_UNIT : none;
        assert_memory_equal(unit, units + (size_t)i * RECORD_UNIT, RECORD_UNIT);
    }
}

static const char *opened(Packing *p, const uint8_t *stream, size_t bytes, uint8_t **to) {
    PackHead head = {units_of(p), p->chunk, p->in_cta};
    PackChunk *chunks = NULL;
    *to = calloc(units_of(p) + 1, RECORD_UNIT);
    const char *problem = pack_open(&head, stream, bytes, *to, &p->arena);
    assert_int_equal(pack_has_chunks(&head, p->chunk), p->chunk % PACK_WINDOW == 0);
    if (p->chunk % PACK_WINDOW == 0) {
        assert_ptr_equal(pack_open_chunks(&head, stream, bytes, p->chunk, &chunks, &p->arena), problem);
        if (!problem)
            compare_chunks(p, chunks, *to);
    }
    return problem;
}

static size_t comes_back(Packing *p) {
    uint8_t *to;
    run(p);
    const RecordLaunch *reported = (const RecordLaunch *)(const void *)(p->memory + BLOCK_AT + sizeof *reported);
    assert_memory_equal(reported, block_of(p), sizeof *reported); /* the block comes with it */
    assert_int_equal(reported->local_window, 77);
    assert_int_equal(reported->packers, p->ctas);
    assert_true(sizeof *reported + stream_bytes(p) <= p->room);
    assert_null(opened(p, stream_of(p), stream_bytes(p), &to));
    assert_memory_equal(to, p->memory, (size_t)units_of(p) * RECORD_UNIT);
    free(to);
    return stream_bytes(p);
}

static void end(Packing *p) {
    arena_free(&p->arena);
    free(p);
}

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 3 ^ *seed << 20;
}

/* As kernels leave them: a head, addresses that go by the warp, few of them used. */
static void fill_like_records(Packing *p, uint32_t chunks) {
    for (uint32_t chunk = 0; chunk < chunks; chunk++)
        for (uint32_t i = 0; i < p->chunk - chunk % 3; i++) {
            uint32_t *unit = unit_at(p, chunk * p->chunk + i);
            unit[0] = record_word(TAG, i ? RECORD_RUN : RECORD_CHUNK, i ? i * 2 : 1);
            unit[1] = i ? UINT32_MAX : chunk;
            unit[2] = i ? 0x1c00000 + chunk * 512 + i * 16384 : 0;
            unit[3] = i ? 0x7faf : 0;
        }
}

static void records_come_back(void **state) {
    static const uint32_t sizes[][3] = {{4, 4, 100}, {8, 1, 33}, {16, 8, 64}, {32, 2, 12}, {256, 4, 5}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Packing *p = malloc(sizeof *p);
        begin(p, sizes[i][0], sizes[i][1], sizes[i][2]);
        fill_like_records(p, sizes[i][2]);
        size_t bytes = comes_back(p);
        assert_true(bytes * 2 < (size_t)p->first * RECORD_UNIT);
        end(p);
    }
}

static void anything_comes_back(void **state) {
    uint32_t seed = 7;
    (void)state;
    for (int round = 0; round < 12; round++) {
        Packing *p = malloc(sizeof *p);
        begin(p, 4u << round % 4, 1 + (uint32_t)round % 5, 20);
        p->more_count = 10;
        p->asked = (uint32_t)round * 2; /* more than there are, too */
        for (uint32_t i = 0; i < units_of(p) * 4; i++) {
            uint32_t value = next_random(&seed), bits = next_random(&seed) % (round == 11 ? 33 : 40);
            ((uint32_t *)(void *)p->memory)[i] = bits > 31 ? 0 : value >> (31 - bits);
        }
        comes_back(p);
        end(p);
    }
}

static void nothing_takes_nothing(void **state) {
    (void)state;
    Packing *p = malloc(sizeof *p);
    begin(p, 64, 2, 20);
    assert_int_equal(comes_back(p), 0);
    unit_at(p, 1279)[3] = 1;
    assert_int_equal(comes_back(p), PACK_ALIGN);
    end(p);
}

/* Chunks have no memory for what they do not have. */
static void chunks_lie_apart(void **state) {
    (void)state;
    Packing *p = malloc(sizeof *p);
    begin(p, 256, 2, 8);
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t k = 0; k < 1 + i * 36; k++)
            unit_at(p, i * 256 + k)[1] = 1 + i * k;
    comes_back(p);
    PackHead head = {units_of(p), p->chunk, p->in_cta};
    PackChunk *chunks;
    assert_null(pack_open_chunks(&head, stream_of(p), stream_bytes(p), 256, &chunks, &p->arena));
    for (uint32_t i = 0; i < 8; i++)
        assert_in_range(chunks[i].units, 1 + i * 36, 1 + i * 36 + PACK_WINDOW + PACK_BEHIND);
    end(p);
}

/* It says how much room it needs, and writes none of what has no place. */
static void room_is_kept(void **state) {
    (void)state;
    Packing *p = malloc(sizeof *p);
    begin(p, 64, 2, 20);
    fill_like_records(p, 20);
    size_t bytes = comes_back(p), at = BLOCK_AT + 2 * sizeof(RecordLaunch);
    for (size_t room = 0; room < bytes; room += bytes / 3) {
        memset(p->memory + at, 0xee, sizeof p->memory - at);
        p->room = sizeof(RecordLaunch) + room;
        run(p);
        assert_int_equal(stream_bytes(p), bytes);
        for (size_t i = at + room; i < sizeof p->memory; i++)
            assert_int_equal(p->memory[i], 0xee);
    }
    end(p);
}

/* ---- Damaged ---- */

static void damage_is_harmless(void **state) {
    uint32_t seed = 3, refused = 0;
    (void)state;
    Packing *p = malloc(sizeof *p);
    begin(p, 8, 2, 60);
    fill_like_records(p, 60);
    size_t bytes = comes_back(p);
    uint8_t *stream = malloc(bytes), *to;
    for (size_t cut = 0; cut < bytes; cut++) {
        memcpy(stream, stream_of(p), cut);
        refused += opened(p, stream, cut, &to) != NULL;
        free(to);
    }
    assert_int_equal(refused, bytes - 2); /* it has two blocks: nothing, and the first one, can be opened */
    for (int i = 0; i < 4000; i++) {
        memcpy(stream, stream_of(p), bytes);
        stream[next_random(&seed) % bytes] ^= (uint8_t)(1 << next_random(&seed) % 8);
        refused += opened(p, stream, bytes, &to) != NULL;
        free(to);
    }
    assert_true(refused > bytes);
    free(stream);
    end(p);
    p = malloc(sizeof *p);
    begin(p, 64, 2, 20); /* of chunks that lie apart, too */
    fill_like_records(p, 20);
    bytes = comes_back(p);
    stream = malloc(bytes);
    for (int i = 0; i < 4000; i++) {
        memcpy(stream, stream_of(p), bytes);
        stream[next_random(&seed) % bytes] ^= (uint8_t)(1 << next_random(&seed) % 8);
        opened(p, stream, bytes, &to);
        free(to);
    }
    free(stream);
    end(p);
}

static void sizes_are_looked_at(void **state) {
    (void)state;
    Packing *p = malloc(sizeof *p);
    begin(p, 8, 2, 60);
    uint8_t to[RECORD_UNIT * 64] = {0};
    uint32_t block[16] = {0, 64, 1, 0, 1u << 31, 0x03}; /* of 64 units, the last of its window */
    PackHead head = {64, 8, 16};
    assert_null(pack_open(&head, (uint8_t *)block, 64, to, &p->arena));
    head.units = 31;
    assert_non_null(pack_open(&head, (uint8_t *)block, 64, to, &p->arena)); /* there is no such unit */
    head.units = 64;
    head.near = 0;
    assert_non_null(pack_open(&head, (uint8_t *)block, 64, to, &p->arena));
    head.near = 8;
    block[0] = 1;
    assert_non_null(pack_open(&head, (uint8_t *)block, 64, to, &p->arena)); /* no such block */
    block[0] = 0;
    block[2] = 4;
    assert_non_null(pack_open(&head, (uint8_t *)block, 64, to, &p->arena)); /* no such window */
    block[2] = 1;
    block[1] = 32;
    block[8] = 0;
    block[9] = 32;
    assert_non_null(pack_open(&head, (uint8_t *)block, 64, to, &p->arena)); /* twice */
    end(p);
}

/* ---- Files ---- */

static void files_have_them(void **state) {
    (void)state;
    Packing *p = malloc(sizeof *p);
    begin(p, 8, 2, 20);
    p->more_count = 9;
    p->asked = 3;
    fill_like_records(p, 23);
    comes_back(p);
    Recording recording = {.launch = {.abi = RECORDING_ABI,
                                      .grid = {10, 1, 1},
                                      .block = {64, 1, 1},
                                      .cluster = {1, 1, 1},
                                      .chunk = 8 * RECORD_UNIT,
                                      .tag = TAG},
                           .kernel = "k",
                           .device = "none",
                           .ptx = STR(".version 8.0"),
                           .first_count = 20,
                           .more_count = 3,
                           .packed = {(const char *)stream_of(p), stream_bytes(p)},
                           .near = p->chunk,
                           .far = p->in_cta};
    char *bytes = NULL;
    size_t size = 0;
    const char *problem = NULL;
    FILE *file = open_memstream(&bytes, &size);
    assert_true(recording_write(file, &recording));
    fclose(file);
    Recording back;
    assert_true(recording_read(&back, (uint8_t *)bytes, size, &p->arena, &problem) &&
                recording_open(&back, &p->arena, &problem));
    assert_int_equal(back.first_count, 20);
    assert_int_equal(back.more_count, 3);
    assert_memory_equal(back.first, p->memory, 20 * 8 * RECORD_UNIT);
    assert_memory_equal(back.more, p->memory + 20 * 8 * RECORD_UNIT, 3 * 8 * RECORD_UNIT);
    for (size_t cut = 0; cut < size; cut += 7)
        assert_false(recording_read(&back, (uint8_t *)bytes, cut, &p->arena, &problem) &&
                     recording_open(&back, &p->arena, &problem));
    free(bytes);
    end(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_back),     cmocka_unit_test(anything_comes_back),
        cmocka_unit_test(nothing_takes_nothing), cmocka_unit_test(room_is_kept),
        cmocka_unit_test(damage_is_harmless),    cmocka_unit_test(sizes_are_looked_at),
        cmocka_unit_test(files_have_them),       cmocka_unit_test(chunks_lie_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
