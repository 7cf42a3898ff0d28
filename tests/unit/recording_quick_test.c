/* Records that are passed without being made (record_skip, record_peek, record_peek_value) are those that record_next
 * makes, whatever comes between them. */
#include "trace/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CHUNK = 1024, MORE = 2, TAG = 3, SITES = 8, MOST = 4096, ROUNDS = 2000 };

/* Sites 0 and 1 are runs of their own, of all lanes; 2 is one of the head's; 3 to 6 are a run of seven words: */
static RecordFrom words[3] = {{.source = RECORD_FROM_WORDS, .place = 1, .plus = 1000},
                              {.source = RECORD_FROM_WORDS, .place = 3},
                              {.source = RECORD_FROM_WORDS, .place = 5, .plus = 7}};
static const RecordShape shapes[SITES] = {
    {.run = 1, .all = true},
    {.run = 1, .all = true},
    {.run = 1},
    {.run = 4, .run_words = 7, .parts = 1, .wide = 1, .reported = 1, .masked = true, .from = &words[0]},
    {.parts = 1, .reported = 1, .all = true, .from = &words[1]},
    {.all = true},
    {.parts = 1, .wide = 1, .reported = 1, .masked = true, .from = &words[2]},
    {.parts = 1, .wide = 1, .strong = true},
};

typedef struct Made {
    Recording recording;
    uint8_t first[CHUNK], more[MORE * CHUNK];
    Arena arena;
    RecordReader reader;
} Made;

static uint32_t next(uint32_t *seed, uint32_t below) {
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % below;
}

static void unit(uint8_t *at, RecordKind kind, uint32_t site, uint32_t lanes, uint64_t value) {
    uint32_t head[2] = {record_word(TAG, kind, site), lanes};
    memcpy(at, head, sizeof head);
    memcpy(at + 8, &value, sizeof value);
}

static uint32_t some_lanes(uint32_t *seed) {
    return next(seed, 3) ? UINT32_MAX : next(seed, 2) ? 0 : 5;
}

/* One record, or a run, at a place that has room for it: its bytes. */
static size_t put(uint8_t *at, uint32_t *seed) {
    uint32_t run[7] = {some_lanes(seed), *seed, 1, *seed >> 3, some_lanes(seed), 9, 0};
    switch (next(seed, 8)) {
    default:
        unit(at, RECORD_RUN, next(seed, 2), next(seed, 2) ? UINT32_MAX : 0, 0);
        return RECORD_UNIT;
    case 3:
        unit(at, RECORD_PLAIN, 0, some_lanes(seed), 0);
        return RECORD_UNIT;
    case 4:
        unit(at, RECORD_RUN, 2, some_lanes(seed), 0);
        return RECORD_UNIT;
    case 5:
    case 6:
        unit(at, RECORD_RUN, 3, UINT32_MAX, 0);
        memcpy(at + 8, run, sizeof run);
        return 3 * (size_t)RECORD_UNIT;
    case 7:
        unit(at, RECORD_STAMP, 0, 0, next(seed, 1000));
        unit(at + RECORD_UNIT, RECORD_LANE, 7, 1, 64);
        memset(at + 2 * (size_t)RECORD_UNIT, 1, RECORD_UNIT);
        return 3 * (size_t)RECORD_UNIT;
    }
}

/* Records up to somewhere in the last chunk, which may be damaged there. */
static void make(Made *made, uint32_t *seed) {
    memset(made, 0, sizeof *made);
    arena_init(&made->arena, 1 << 20);
    made->recording = (Recording){.launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}, .tag = TAG},
                                  .first = made->first,
                                  .first_count = 1,
                                  .more = made->more,
                                  .more_count = MORE};
    made->recording.launch.chunk = CHUNK;
    for (uint32_t i = 0; i <= MORE; i++) {
        uint8_t *chunk = i ? made->more + (size_t)(i - 1) * CHUNK : made->first;
        size_t at = RECORD_UNIT, end = i == MORE ? next(seed, CHUNK) : CHUNK;
        unit(chunk, RECORD_CHUNK, i ? RECORD_CHUNK_OF_LINK : RECORD_CHUNK_FIRST, 0, 0);
        while (at + 4 * (size_t)RECORD_UNIT < end)
            at += put(chunk + at, seed);
        if (i < MORE)
            unit(chunk + at, RECORD_NEXT, 0, i, 0);
        else if (next(seed, 2))
            unit(chunk + at, RECORD_RUN, next(seed, 2) ? SITES - 1 : 4, UINT32_MAX, 0); /* no run begins there */
    }
    assert_true(record_reader(&made->reader, &made->recording, shapes, SITES, &made->arena));
}

typedef struct Seen {
    uint32_t site, lanes, number;
    uint64_t value;
} Seen;

static uint32_t read_all(Made *made, Seen *seen) {
    RecordStream stream;
    Record record;
    uint32_t count = 0;
    record_reader_restart(&made->reader);
    record_stream(&stream, &made->reader, 0, NULL);
    for (; count < MOST && record_next(&stream, &record); count++)
        seen[count] = (Seen){record.site, record.lanes, record.number, record.part_count ? record.parts[0].value : 0};
    return count;
}

/* One record or several, in some way; false: there are none any more. */
static bool pass_some(RecordStream *stream, const Seen *seen, uint32_t *count, uint32_t *seed, uint32_t ways[4]) {
    static const bool both[SITES] = {true, true}, one[SITES] = {true};
    uint32_t way = next(seed, 4), site;
    uint64_t value;
    Record record;
    if (way == 0) {
        const bool *sites = next(seed, 2) ? both : one;
        uint32_t skipped = record_skip(stream, sites);
        ways[0] += skipped;
        for (; skipped; skipped--, ++*count)
            assert_true(sites[seen[*count].site] && seen[*count].lanes == UINT32_MAX);
    } else if (way == 1 && (site = record_peek(stream)) != UINT32_MAX) {
        assert_int_equal(site, seen[*count].site);
        assert_int_equal(seen[*count].lanes, UINT32_MAX);
        record_pass(stream);
        ++*count;
        ways[1]++;
    } else if (way == 2 && record_peek_value(stream, &site, &value)) {
        assert_int_equal(site, seen[*count].site);
        assert_int_equal(seen[*count].lanes, UINT32_MAX);
        assert_true(value == seen[*count].value);
        record_pass_value(stream);
        ++*count;
        ways[2]++;
    } else {
        if (!record_next(stream, &record))
            return false;
        assert_int_equal(record.site, seen[*count].site);
        assert_int_equal(record.lanes, seen[*count].lanes);
        assert_int_equal(record.number, seen[*count].number);
        assert_true(!record.part_count || record.parts[0].value == seen[*count].value);
        ++*count;
        ways[3]++;
    }
    return true;
}

static void test_passed_as_read(void **state) {
    (void)state;
    static Seen seen[MOST];
    static Made made;
    uint32_t seed = 1, ways[4] = {0};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        make(&made, &seed);
        uint32_t all = read_all(&made, seen), count = 0;
        uint64_t damaged = made.reader.damaged;
        RecordStream stream;
        record_reader_restart(&made.reader);
        record_stream(&stream, &made.reader, 0, NULL);
        while (pass_some(&stream, seen, &count, &seed, ways))
            assert_true(count <= all);
        assert_int_equal(count, all);
        assert_int_equal(made.reader.damaged, damaged);
        arena_free(&made.arena);
    }
    for (unsigned i = 0; i < 4; i++)
        assert_true(ways[i] > ROUNDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_passed_as_read)};
    return cmocka_run_group_tests_name("recording_quick", tests, NULL, NULL);
}
