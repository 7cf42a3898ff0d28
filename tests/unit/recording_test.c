/* Recordings: files, and the records of a warp in order; what is damaged is refused, and never followed. */
#include "machine/simt/async/tensormap.h"
#include "trace/pack.h"
#include "trace/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CHUNK = 256, TAG = 3, WARPS = 2, MORE = 4 };

/* ---- A recording by hand ---- */

typedef struct Made {
    Recording recording;
    uint8_t first[WARPS * CHUNK], more[MORE * CHUNK];
    Arena arena;
    RecordShape shapes[8];
    RecordReader reader;
} Made;

static void unit(uint8_t *chunk, unsigned index, RecordKind kind, uint32_t site, uint32_t lanes, uint64_t value) {
    uint32_t words[2] = {record_word(TAG, kind, site), lanes};
    memcpy(chunk + (size_t)index * RECORD_UNIT, words, sizeof words);
    memcpy(chunk + (size_t)index * RECORD_UNIT + 8, &value, sizeof value);
}

static void head(uint8_t *chunk, bool first, uint32_t warp, uint32_t lane, uint32_t count) {
    unit(chunk, 0, RECORD_CHUNK, first, warp, lane | (uint64_t)count << 32);
}

static void make(Made *made) {
    memset(made, 0, sizeof *made);
    arena_init(&made->arena, 1 << 20);
    made->recording = (Recording){.launch = {.abi = RECORDING_ABI,
                                             .grid = {1, 1, 1},
                                             .block = {64, 1, 1},
                                             .cluster = {1, 1, 1},
                                             .chunk = CHUNK,
                                             .tag = TAG},
                                  .kernel = "k",
                                  .device = "none",
                                  .ptx = STR(".version 8.0"),
                                  .first = made->first,
                                  .first_count = WARPS,
                                  .more = made->more,
                                  .more_count = MORE};
    made->shapes[1] = (RecordShape){.parts = 1, .wide = 1};
    made->shapes[2] = (RecordShape){.parts = 2, .wide = 1};
    made->shapes[3] = (RecordShape){.parts = 1, .wide = 1, .strong = true};
    made->shapes[4] = (RecordShape){.parts = 1, .wide = 1, .strong = true, .polls = true};
    head(made->first, true, 0, 0, 0);
}

static bool open_reader(Made *made) {
    return record_reader(&made->reader, &made->recording, made->shapes, 8, &made->arena);
}

/* The sites of the warp's records in order, as text: "1 2". */
static const char *sites_of(Made *made, uint32_t warp) {
    static char text[256];
    RecordCursor room[RECORD_LANES + 1];
    RecordStream stream;
    Record record;
    text[0] = 0;
    record_reader_restart(&made->reader);
    record_stream(&stream, &made->reader, warp, room);
    while (record_next(&stream, &record))
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", *text ? " " : "",
                 record.kind == RECORD_EXIT ? 99 : record.site);
    return text;
}

/* ---- Order ---- */

static void test_chunks_follow_each_other(void **state) {
    (void)state;
    Made made;
    make(&made);
    unit(made.first, 1, RECORD_PLAIN, 0, UINT32_MAX, 0);
    unit(made.first, 2, RECORD_WARP, 1, UINT32_MAX, 64);
    unit(made.first, 3, RECORD_NEXT, 0, 2, 0);
    head(made.more + 2 * CHUNK, false, 0, 0, 2);
    unit(made.more + 2 * CHUNK, 1, RECORD_UNIFORM, 2, 1, 5);
    unit(made.more + 2 * CHUNK, 2, RECORD_UNIFORM, 2, 1, 6);
    unit(made.more + 2 * CHUNK, 3, RECORD_WARP, 1, 0, 0); /* its guard held in no lane */
    unit(made.more + 2 * CHUNK, 4, RECORD_EXIT, 0, UINT32_MAX, 0);
    assert_true(open_reader(&made));
    assert_string_equal(sites_of(&made, 0), "0 1 2 99");
    assert_string_equal(sites_of(&made, 1), "");
    assert_null(made.reader.problem);
    assert_int_equal(record_reader_unseen(&made.reader), 1); /* of the pass over warp 1 alone */
    arena_free(&made.arena);
}

/* A chunk of which the first word alone was written, over what an earlier launch has left there: it is lane 0's, of the
 * warp that goes on in it. */
static void test_a_chunk_is_of_who_links_it(void **state) {
    (void)state;
    Made made;
    make(&made);
    unit(made.first, 1, RECORD_PLAIN, 0, UINT32_MAX, 0);
    unit(made.first, 2, RECORD_NEXT, 0, 1, 0);
    unit(made.more + CHUNK, 0, RECORD_CHUNK, RECORD_CHUNK_OF_LINK, 0x12345678, UINT64_C(0x9abcdef012345678));
    unit(made.more + CHUNK, 1, RECORD_EXIT, 0, UINT32_MAX, 0);
    assert_true(open_reader(&made));
    assert_string_equal(sites_of(&made, 0), "0 99");
    assert_null(made.reader.problem);
    assert_int_equal(record_reader_unseen(&made.reader), 0);
    arena_free(&made.arena);
}

/* Lane 0 does site 1 twice, lane 16 site 0, and then both do site 2: by their numbers. */
static void test_leaders_are_merged(void **state) {
    (void)state;
    Made made;
    make(&made);
    unit(made.first, 1, RECORD_UNIFORM, 1, 1, 1);
    unit(made.first, 2, RECORD_UNIFORM, 1, 1, 1);
    unit(made.first, 3, RECORD_STAMP, 0, 0, 5);
    unit(made.first, 4, RECORD_UNIFORM, 2, 0x10001, 1);
    unit(made.first, 5, RECORD_UNIFORM, 2, 0x10001, 1);
    head(made.more, true, 0, 16, 2);
    unit(made.more, 1, RECORD_PLAIN, 0, 0x10000, 0);
    unit(made.more, 2, RECORD_STAMP, 0, 0, 6);
    unit(made.more, 3, RECORD_EXIT, 0, 0x10000, 0);
    assert_true(open_reader(&made));
    assert_string_equal(sites_of(&made, 0), "1 1 0 2 99");
    assert_int_equal(record_reader_leaders(&made.reader, 0), 2);
    arena_free(&made.arena);
}

/* Where runs are left out, the rest is in the same order: lane 0 has a run, what other runs go by, a strong access, and
 * all of that again; that of lane 16 comes between the last two. */
static void test_runs_are_left_out(void **state) {
    (void)state;
    Made made;
    RecordCursor room[RECORD_LANES + 1];
    RecordStream stream;
    Record record;
    uint32_t lanes[4] = {0}, count = 0;
    make(&made);
    made.shapes[5] = (RecordShape){.run = 2};
    made.shapes[7] = (RecordShape){.run = 1, .only_emits = true};
    for (unsigned i = 0; i < 2; i++) {
        unit(made.first, 1 + 4 * i, RECORD_RUN, 5, UINT32_MAX, 0);
        unit(made.first, 2 + 4 * i, RECORD_RUN, 7, UINT32_MAX, 0);
        unit(made.first, 3 + 4 * i, RECORD_LANE, 3, 1, 64);
        unit(made.first, 4 + 4 * i, (RecordKind)0, 0, 0, 0);
    }
    head(made.more, true, 0, 16, 2);
    unit(made.more, 1, RECORD_LANE, 3, 0x10000, 64);
    assert_true(open_reader(&made));
    assert_string_equal(sites_of(&made, 0), "5 6 3 3 5 6 3");
    made.reader.skims = true;
    record_reader_restart(&made.reader);
    record_stream(&stream, &made.reader, 0, room);
    for (; count < 4 && record_next(&stream, &record); count++)
        lanes[count] = record.lanes;
    assert_int_equal(count, 3);
    assert_int_equal(lanes[0], 1);
    assert_int_equal(lanes[1], 0x10000);
    assert_int_equal(lanes[2], 1);
    assert_null(made.reader.problem);
    arena_free(&made.arena);
}

/* The tensor map of a copy is before it, up to the very end of a chunk; and no further. */
static void test_a_map_before_its_copy(void **state) {
    (void)state;
    enum { MAP_UNITS = 1 + RECORD_MAP_BYTES / RECORD_UNIT, UNITS = CHUNK / RECORD_UNIT };
    for (unsigned late = 0; late < 2; late++) {
        Made made;
        RecordStream stream;
        Record record;
        make(&made);
        for (unsigned i = 1; i < UNITS - 1 - MAP_UNITS + late; i++)
            unit(made.first, i, RECORD_PLAIN, 0, 1, 0);
        unit(made.first, UNITS - 1 - MAP_UNITS + late, RECORD_MAP, 0, 0, 0x1000);
        if (!late)
            unit(made.first, UNITS - 1, RECORD_NEXT, 0, 0, 0);
        head(made.more, false, 0, 0, 0);
        unit(made.more, 1, RECORD_UNIFORM, 1, 1, 64);
        assert_true(open_reader(&made));
        record_stream(&stream, &made.reader, 0, NULL);
        for (unsigned i = 1; i < UNITS - 1 - MAP_UNITS + late; i++)
            assert_true(record_next(&stream, &record) && !record.map);
        assert_int_equal(record_next(&stream, &record), !late);
        assert_true(late ? made.reader.damaged > 0 : record.map && record.map_address == 0x1000);
        arena_free(&made.arena);
    }
}

/* Of a chunk what is told of it is there, and zeros behind that: a run that goes on behind those has them, too, up to
 * the chunk's own end. */
static void test_chunks_that_lie_apart(void **state) {
    static const RecordFrom last = {.source = RECORD_FROM_WORDS, .place = 40};
    (void)state;
    Made made;
    PackChunk chunks[WARPS + MORE];
    RecordStream stream;
    Record record;
    make(&made);
    unit(made.first, 1, RECORD_PLAIN, 0, UINT32_MAX, 0);
    unit(made.first, 2, RECORD_RUN, 5, UINT32_MAX, 0);
    for (size_t i = 0; i < WARPS + MORE; i++)
        chunks[i] = (PackChunk){i < WARPS ? made.first + i * CHUNK : made.more + (i - WARPS) * CHUNK, 4};
    memset(made.first + 4 * RECORD_UNIT, 0xFF, CHUNK - 4 * RECORD_UNIT); /* another chunk's */
    made.recording.first = made.recording.more = NULL;
    made.recording.chunks = chunks;
    made.shapes[5] = (RecordShape){.run = 1,
                                   .parts = 1,
                                   .reported = 1,
                                   .all = true,
                                   .run_words = CHUNK / 4 - 14,
                                   .from = (RecordFrom *)(uintptr_t)&last};
    assert_true(open_reader(&made));
    assert_string_equal(sites_of(&made, 0), "0 5");
    record_reader_restart(&made.reader);
    record_stream(&stream, &made.reader, 0, NULL);
    assert_true(record_next(&stream, &record) && record_next(&stream, &record));
    assert_int_equal(record.parts[0].value, 0);
    assert_false(record_next(&stream, &record));
    assert_null(made.reader.problem);
    made.shapes[5].run_words = CHUNK / 4;
    assert_true(open_reader(&made));
    assert_string_equal(sites_of(&made, 0), "0");
    assert_non_null(made.reader.problem);
    arena_free(&made.arena);
}

/* Strong accesses: when, and what they found; of polls that read the same, the last counts. */
static void test_strong(void **state) {
    (void)state;
    Made made;
    make(&made);
    uint32_t site[] = {3, 4, 4, 4}, time[] = {7, 9, 11, 12}, found[] = {1, 0, 0, 1};
    for (unsigned i = 0; i < 4; i++) {
        uint32_t words[4] = {time[i], found[i], 0, 0};
        unit(made.first, 1 + 2 * i, RECORD_LANE, site[i], 1, 64);
        memcpy(made.first + (size_t)(2 + 2 * i) * RECORD_UNIT, words, sizeof words);
    }
    assert_true(open_reader(&made));
    RecordStream stream;
    Record record;
    uint32_t want[] = {7, 11, 12};
    record_stream(&stream, &made.reader, 0, NULL);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(record_next(&stream, &record));
        assert_int_equal(record.time, want[i]);
        assert_int_equal(record.parts[0].value, 64);
    }
    assert_false(record_next(&stream, &record));
    arena_free(&made.arena);
}

/* ---- Damage ---- */

/* Whether some record of warp 0 is torn. */
static bool is_torn(Made *made) {
    RecordCursor room[RECORD_LANES + 1];
    RecordStream stream;
    Record record;
    bool torn = false;
    assert_true(open_reader(made));
    record_stream(&stream, &made->reader, 0, room);
    while (record_next(&stream, &record))
        torn |= record.torn;
    return torn;
}

/* A kernel that was stopped may not have written all of its last record; what hangs has, and so has what goes on. */
static void test_torn(void **state) {
    (void)state;
    Made made;
    make(&made);
    unit(made.first, 1, RECORD_LANE, 3, 1, 0x1000); /* and nothing behind it, where its time would be */
    assert_false(is_torn(&made));
    made.recording.launch.flags = RECORDING_CUT;
    assert_true(is_torn(&made));
    made.recording.launch.flags = RECORDING_CUT | RECORDING_HUNG;
    assert_false(is_torn(&made));
    made.recording.launch.flags = RECORDING_CUT;
    made.first[2 * RECORD_UNIT] = 7;
    assert_false(is_torn(&made));
    made.first[2 * RECORD_UNIT] = 0;
    unit(made.first, 3, RECORD_EXIT, 0, UINT32_MAX, 0);
    assert_false(is_torn(&made));
    arena_free(&made.arena);
}

static void expect_refused(Made *made, const char *sites) {
    if (open_reader(made))
        assert_string_equal(sites_of(made, 0), sites);
    assert_non_null(made->reader.problem);
    assert_true(made->reader.damaged > 0);
    arena_free(&made->arena);
}

static void test_damage_is_refused(void **state) {
    (void)state;
    Made made;
    make(&made); /* a chunk that goes on in itself */
    unit(made.first, 1, RECORD_NEXT, 0, 0, 0);
    head(made.more, false, 0, 0, 0);
    unit(made.more, 1, RECORD_PLAIN, 0, 1, 0);
    unit(made.more, 2, RECORD_NEXT, 0, 0, 0);
    expect_refused(&made, "0");
    make(&made); /* in another warp's */
    unit(made.first, 1, RECORD_NEXT, 0, 1, 0);
    head(made.more + CHUNK, false, 1, 0, 0);
    expect_refused(&made, "");
    make(&made); /* in one that does not say whose it is, which lanes other than 0 do not have */
    head(made.more, true, 0, 16, 0);
    unit(made.more, 1, RECORD_NEXT, 0, 1, 0);
    unit(made.more + CHUNK, 0, RECORD_CHUNK, RECORD_CHUNK_OF_LINK, 0, 0);
    expect_refused(&made, "");
    make(&made); /* a site that there is none of */
    unit(made.first, 1, RECORD_UNIFORM, 4000, 1, 0);
    expect_refused(&made, "");
    make(&made); /* a list past the end */
    for (unsigned i = 1; i < 14; i++)
        unit(made.first, i, RECORD_PLAIN, 0, 1, 0);
    unit(made.first, 14, RECORD_LIST, 1, UINT32_MAX, 0);
    expect_refused(&made, "0 0 0 0 0 0 0 0 0 0 0 0 0");
    make(&made); /* a thread that there is none of */
    head(made.more, true, 77, 0, 0);
    expect_refused(&made, "");
    make(&made); /* values that the site does not have */
    unit(made.first, 1, RECORD_UNIFORM, 0, 1, 0);
    expect_refused(&made, "");
}

/* A chunk that there was none of: everything before it is there. */
static void test_missing_chunk(void **state) {
    (void)state;
    Made made;
    make(&made);
    unit(made.first, 1, RECORD_PLAIN, 0, 1, 0);
    unit(made.first, 2, RECORD_NEXT, 0, 100, 0);
    assert_true(open_reader(&made));
    assert_string_equal(sites_of(&made, 0), "0");
    assert_null(made.reader.problem);
    assert_int_equal(made.reader.missing, 1);
    arena_free(&made.arena);
}

/* ---- Files ---- */

static uint8_t *written(const Recording *recording, size_t *count) {
    char *bytes = NULL;
    FILE *file = open_memstream(&bytes, count);
    assert_true(recording_write(file, recording));
    fclose(file);
    return (uint8_t *)bytes;
}

static void test_file_comes_back(void **state) {
    (void)state;
    Made made;
    Recording back;
    const char *problem;
    size_t count;
    static const RecordingMemory memory[] = {{0x1000, 64}, {0x8000, 4096}};
    static const RecordPlaces places = {.shared_at = {0x481, 0x401}, .global_at = {0, 0x7000}};
    make(&made);
    made.recording.places = &places;
    made.recording.memory = memory;
    made.recording.memory_count = 2;
    made.recording.unseen = (Str){"one\0two", 8};
    uint8_t *bytes = written(&made.recording, &count);
    assert_true(recording_is(bytes, count));
    assert_true(recording_read(&back, bytes, count, &made.arena, &problem) &&
                recording_open(&back, &made.arena, &problem));
    assert_string_equal(back.kernel, "k");
    assert_int_equal(back.memory[1].bytes, 4096);
    assert_memory_equal(back.places, &places, sizeof places);
    assert_int_equal(back.first_count, WARPS);
    assert_int_equal(back.more_count, MORE);
    assert_int_equal(back.unseen.size, 8);
    assert_memory_equal(back.first, made.first, sizeof made.first);
    for (size_t cut = 0; cut < count; cut++)
        assert_false(recording_read(&back, bytes, cut, &made.arena, &problem) &&
                     recording_open(&back, &made.arena, &problem));
    free(bytes);
    made.recording.launch.grid[0] = 5; /* more warps than chunks */
    bytes = written(&made.recording, &count);
    assert_false(recording_read(&back, bytes, count, &made.arena, &problem) &&
                 recording_open(&back, &made.arena, &problem));
    assert_string_equal(problem, "the recording does not have a chunk for each warp");
    free(bytes);
    arena_free(&made.arena);
}

/* Of a kernel that could not be recorded: its name, and why. */
static void test_file_of_nothing(void **state) {
    (void)state;
    Arena arena;
    Recording back, made = {.launch.abi = RECORDING_ABI, .kernel = "k", .device = "", .unseen = {"it has no PTX", 14}};
    const char *problem;
    size_t count;
    arena_init(&arena, 1 << 20);
    uint8_t *bytes = written(&made, &count);
    assert_true(recording_read(&back, bytes, count, &arena, &problem) && recording_open(&back, &arena, &problem));
    assert_int_equal(back.ptx.size, 0);
    assert_string_equal(back.unseen.data, "it has no PTX");
    free(bytes);
    made.launch.abi = RECORDING_ABI - 1;
    bytes = written(&made, &count);
    assert_false(recording_read(&back, bytes, count, &arena, &problem));
    assert_non_null(strstr(problem, "a Weir before 0.2"));
    free(bytes);
    made.launch.abi = RECORDING_ABI + 1;
    bytes = written(&made, &count);
    assert_false(recording_read(&back, bytes, count, &arena, &problem));
    assert_non_null(strstr(problem, "a newer Weir"));
    free(bytes);
    arena_free(&arena);
}

/* ---- Tensor maps ---- */

/* What cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col have given on a machine with an H200; zeros at the end are
 * left out. */
static const struct {
    const char *hex;
    TensorMap map;
} maps[] = {
    {"00705634127f0000a003000010000000000200000000000000000000000000003f0000001f0000000f0000000000000000000000000000070"
     "301000000000000000100000000000010",
     {.kind = TENSORMAP_TILED,
      .rank = 3,
      .type = 7,
      .address = UINT64_C(139716164218880),
      .size = {64u, 32u, 16u, 0u, 0u},
      .stride = {4ull, 256ull, 8192ull, 0ull, 0ull},
      .box = {8, 4, 2, 0, 0},
      .element_stride = {1, 1, 1, 0, 0}}},
    {"00705634127f0000c003000010000000000200000020000000000100000000003f0000001f000000ffff07000700000003000000000000070"
     "301010100000000000400000000000010",
     {.kind = TENSORMAP_TILED,
      .rank = 5,
      .type = 7,
      .address = UINT64_C(139716164218880),
      .size = {64u, 32u, 524288u, 8u, 4u},
      .stride = {4ull, 256ull, 8192ull, 131072ull, 1048576ull},
      .box = {8, 4, 2, 2, 2},
      .element_stride = {1, 1, 1, 1, 1}}},
    {"00705634127f0000c003000010000000000200000020000000000100000000003f000000030000000f0000000700000003000000000000070"
     "301010100000000000400000000000010",
     {.kind = TENSORMAP_TILED,
      .rank = 5,
      .type = 7,
      .address = UINT64_C(139716164218880),
      .size = {64u, 4u, 16u, 8u, 4u},
      .stride = {4ull, 256ull, 8192ull, 131072ull, 1048576ull},
      .box = {8, 4, 2, 2, 2},
      .element_stride = {1, 1, 1, 1, 1}}},
    {"00705634127f0000c003000002000000000200000020000000000100000000000100000001000000010000000100000001000000000000030"
     "000000000000000100000000000000010",
     {.kind = TENSORMAP_TILED,
      .rank = 5,
      .type = 7,
      .address = UINT64_C(139716164218880),
      .size = {2u, 2u, 2u, 2u, 2u},
      .stride = {4ull, 32ull, 8192ull, 131072ull, 1048576ull},
      .box = {4, 1, 1, 1, 1},
      .element_stride = {1, 1, 1, 1, 1}}},
    {"00705634127f0000c003000010000000000200000020000000000100000000003f0000001f0000001f0000000700000003000000000000070"
     "301010100000000000400000000000010",
     {.kind = TENSORMAP_TILED,
      .rank = 5,
      .type = 7,
      .address = UINT64_C(139716164218880),
      .size = {64u, 32u, 32u, 8u, 4u},
      .stride = {4ull, 256ull, 8192ull, 131072ull, 1048576ull},
      .box = {8, 4, 2, 2, 2},
      .element_stride = {1, 1, 1, 1, 1}}},
    {"800d48154839000020420200d2000000020000000000000000000000000000008189cb06253d6e214d9e8c01000000000000000040000001b"
     "a4000000000000000760100000000000002",
     {.kind = TENSORMAP_TILED,
      .rank = 3,
      .type = 4,
      .swizzle = 2,
      .address = UINT64_C(62981757472128),
      .size = {114002306u, 560872742u, 25992782u, 0u, 0u},
      .stride = {8ull, 3360ull, 32ull, 0ull, 0ull},
      .box = {2, 187, 65, 0, 0},
      .element_stride = {1, 1, 2, 0, 0}}},
    {"00705634127f0000a003010010000000000200000000000000000000000000003f0000001f0000000f0000000000000000000000000000070"
     "301000000000000000100000000000010",
     {.kind = TENSORMAP_TILED,
      .rank = 3,
      .type = 11,
      .address = UINT64_C(139716164218880),
      .size = {64u, 32u, 16u, 0u, 0u},
      .stride = {4ull, 256ull, 8192ull, 0ull, 0ull},
      .box = {8, 4, 2, 0, 0},
      .element_stride = {1, 1, 1, 0, 0}}},
    {"00705634127f00002004010010000000000200000000000000000000000000003f0000001f0000000f0000000000000000000000000000070"
     "301000000000000000100000000000010",
     {.kind = TENSORMAP_TILED,
      .rank = 3,
      .type = 12,
      .address = UINT64_C(139716164218880),
      .size = {64u, 32u, 16u, 0u, 0u},
      .stride = {4ull, 256ull, 8192ull, 0ull, 0ull},
      .box = {8, 4, 2, 0, 0},
      .element_stride = {1, 1, 1, 0, 0}}},
    {"00705634127f00004163000008000000000100000010000000800000000000003f0000001f0000000f00000007000000030000000000001f0"
     "07c00003f00000000100000000000000004",
     {.kind = TENSORMAP_IM2COL,
      .rank = 5,
      .type = 6,
      .swizzle = 3,
      .address = UINT64_C(139716164218880),
      .size = {64u, 32u, 16u, 8u, 4u},
      .stride = {2ull, 128ull, 4096ull, 65536ull, 524288ull},
      .box = {0, 0, 0, 0, 0},
      .element_stride = {1, 1, 1, 1, 1},
      .lower = {0, 0, -1},
      .channels = 32,
      .pixels = 64}},
    {"00705634127f00003163000008000000000100000010000000000000000000003f0000001f0000000f00000007000000000000000000001f0"
     "00000ff3f00000000100000000000000004",
     {.kind = TENSORMAP_IM2COL,
      .rank = 4,
      .type = 6,
      .swizzle = 3,
      .address = UINT64_C(139716164218880),
      .size = {64u, 32u, 16u, 8u, 0u},
      .stride = {2ull, 128ull, 4096ull, 65536ull, 0ull},
      .box = {0, 0, 0, 0, 0},
      .element_stride = {1, 1, 1, 1, 0},
      .upper = {0, -1, 0},
      .channels = 32,
      .pixels = 64}},
};

static void test_tensor_maps_of_the_driver(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        uint8_t bytes[TENSORMAP_BYTES] = {0};
        TensorMap map;
        for (size_t k = 0; maps[i].hex[2 * k]; k++) {
            char digits[3] = {maps[i].hex[2 * k], maps[i].hex[2 * k + 1], 0};
            bytes[k] = (uint8_t)strtoul(digits, NULL, 16);
        }
        assert_true(tensormap_decode_driver(bytes, &map));
        assert_int_equal(map.kind, maps[i].map.kind);
        assert_int_equal(map.rank, maps[i].map.rank);
        assert_int_equal(map.type, maps[i].map.type);
        assert_int_equal(map.interleave, maps[i].map.interleave);
        assert_int_equal(map.swizzle, maps[i].map.swizzle);
        assert_int_equal(map.fill, maps[i].map.fill);
        assert_int_equal(map.address, maps[i].map.address);
        assert_memory_equal(map.size, maps[i].map.size, sizeof map.size);
        assert_memory_equal(map.stride, maps[i].map.stride, sizeof map.stride);
        assert_memory_equal(map.box, maps[i].map.box, sizeof map.box);
        assert_memory_equal(map.element_stride, maps[i].map.element_stride, sizeof map.element_stride);
        assert_memory_equal(map.lower, maps[i].map.lower, sizeof map.lower);
        assert_memory_equal(map.upper, maps[i].map.upper, sizeof map.upper);
        assert_int_equal(map.channels, maps[i].map.channels);
        assert_int_equal(map.pixels, maps[i].map.pixels);
    }
    uint8_t zeros[TENSORMAP_BYTES] = {0};
    TensorMap map;
    assert_false(tensormap_decode_driver(zeros, &map));
}

static void test_order_comes_back(void **state) {
    (void)state;
    Made made;
    Recording back;
    const char *problem;
    size_t count;
    RecordingOrder order = {.process = 77, .device = 1, .stream = 3, .known_count = 2};
    static const RecordingKnown known[] = {{.stream = 0, .begun = 5, .waited = 6, .maybe = 7}, {.stream = 3}};
    make(&made);
    made.recording.launch.number = 9;
    made.recording.order = &order;
    made.recording.known = known;
    uint8_t *bytes = written(&made.recording, &count);
    assert_true(recording_read(&back, bytes, count, &made.arena, &problem) &&
                recording_open(&back, &made.arena, &problem));
    assert_memory_equal(back.order, &order, sizeof order);
    assert_memory_equal(back.known, known, sizeof known);
    FILE *file = fmemopen(bytes, count, "rb"); /* without the rest of it */
    assert_true(recording_read_order(&back, file, &made.arena));
    fclose(file);
    assert_string_equal(back.kernel, "k");
    assert_int_equal(back.launch.number, 9);
    assert_int_equal(back.known[0].waited, 6);
    file = fmemopen(bytes, 200, "rb");
    assert_false(recording_read_order(&back, file, &made.arena));
    fclose(file);
    free(bytes);
    order.known_count = 1; /* less than there is in the section */
    bytes = written(&made.recording, &count);
    uint32_t *number = memmem(bytes, count, &order, sizeof order);
    number[5] = 1 << 30;
    assert_false(recording_read(&back, bytes, count, &made.arena, &problem) &&
                 recording_open(&back, &made.arena, &problem));
    assert_string_equal(problem, "the recording's order among launches is cut off");
    free(bytes);
    made.recording.order = NULL;
    bytes = written(&made.recording, &count);
    file = fmemopen(bytes, count, "rb");
    assert_true(recording_read_order(&back, file, &made.arena));
    assert_null(back.order);
    fclose(file);
    free(bytes);
    arena_free(&made.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks_follow_each_other),
        cmocka_unit_test(test_a_chunk_is_of_who_links_it),
        cmocka_unit_test(test_leaders_are_merged),
        cmocka_unit_test(test_runs_are_left_out),
        cmocka_unit_test(test_a_map_before_its_copy),
        cmocka_unit_test(test_chunks_that_lie_apart),
        cmocka_unit_test(test_strong),
        cmocka_unit_test(test_torn),
        cmocka_unit_test(test_damage_is_refused),
        cmocka_unit_test(test_missing_chunk),
        cmocka_unit_test(test_file_comes_back),
        cmocka_unit_test(test_file_of_nothing),
        cmocka_unit_test(test_order_comes_back),
        cmocka_unit_test(test_tensor_maps_of_the_driver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
