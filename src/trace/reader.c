/* What is known before records are read: which chunks lanes begin in, and where things are in runs. */
#include "trace/chunks.h"

bool record_begun(const Recording *recording, uint32_t warp) {
    size_t number = first_number(recording, launch_warps(&recording->launch), warp);
    if (number == recording->first_count)
        return false;
    Head head = head_at(first_chunk(recording, number));
    return record_tag(head.word) == recording->launch.tag && record_kind(head.word) == RECORD_CHUNK;
}

/* Whether a further chunk is of a warp that is not recorded: one of its waits gave up. */
static bool is_unrecorded(const RecordReader *reader, Head head) {
    const RecordingLaunch *launch = &reader->recording->launch;
    return is_sampled(launch) && head.lanes < launch_ctas(launch) * reader->warps &&
           !sample_has(launch, head.lanes / reader->warps);
}

/* First chunks of other lanes than 0, by their warps. False: one is of no warp or lane. */
static bool count_leaders(RecordReader *reader) {
    const Recording *recording = reader->recording;
    for (uint32_t i = 0; i < recording->more_count; i++) {
        Head head = head_at(further_chunk(reader, i));
        if (!is_written(reader, head) || record_site(head.word) & RECORD_CHUNK_OF_LINK || is_unrecorded(reader, head))
            continue;
        size_t number = first_number(recording, reader->warps, head.lanes);
        if (number == recording->first_count || (uint32_t)head.value >= RECORD_LANES)
            return refuse(reader, "the recording is damaged: a chunk is of a thread that there is none of");
        reader->leaders[number + 1] += record_site(head.word) & RECORD_CHUNK_FIRST;
    }
    for (size_t i = 0; i < recording->first_count; i++)
        reader->leaders[i + 1] += reader->leaders[i];
    return true;
}

static bool list_leaders(RecordReader *reader, Arena *arena) {
    const Recording *recording = reader->recording;
    uint32_t all = reader->leaders[recording->first_count];
    reader->chunks = ARENA_ARRAY(arena, uint32_t, all + 1);
    for (uint32_t i = 0; i < recording->more_count; i++) {
        Head head = head_at(further_chunk(reader, i));
        if (is_written(reader, head) && record_site(head.word) & RECORD_CHUNK_FIRST && !is_unrecorded(reader, head))
            reader->chunks[reader->leaders[first_number(recording, reader->warps, head.lanes)]++] = i;
    }
    for (size_t i = recording->first_count; i > 0; i--) /* each is where the next begins now */
        reader->leaders[i] = reader->leaders[i - 1];
    reader->leaders[0] = 0;
    for (size_t i = 0; i < recording->first_count; i++)
        if (reader->leaders[i + 1] - reader->leaders[i] >= RECORD_LEADERS)
            return refuse(reader, "the recording is damaged: a warp has more chunks than lanes");
    return true;
}

/* Bytes that a site tells in its run, its lanes not counted. */
static uint8_t reported_bytes(const RecordShape *shape) {
    uint32_t reported = shape->reported & ((1U << shape->parts) - 1) & ~(uint32_t)(shape->corners | shape->every);
    return (uint8_t)(4 * (__builtin_popcount(reported) + __builtin_popcount(reported & shape->wide)));
}

static RecordRun run_of(const RecordShape *shape) {
    size_t words = shape->run_words, head_words = shape->bare ? 3 : 2;
    size_t more = words > head_words ? ((words - head_words) * 4 + RECORD_UNIT - 1) / RECORD_UNIT * RECORD_UNIT : 0;
    RecordRun run = {.reported = reported_bytes(shape), .words = (uint8_t)(RECORD_UNIT - 4 * head_words)};
    run.kind = (uint8_t)(shape->ends ? RECORD_EXIT : shape->parts ? RECORD_WARP : RECORD_PLAIN);
    run.corners = (uint32_t)(RECORD_UNIT + more);
    run.every = run.corners + shape->run_corners * RECORD_CORNER_LANES * 8;
    run.bytes = run.every + shape->run_every * RECORD_EVERY_BYTES;
    run.plain = shape->run == 1 && run.bytes == RECORD_UNIT && !shape->parts && shape->all && !shape->masked &&
                !shape->ends && !shape->only_emits && !shape->advance_count;
    run.masked = shape->masked;
    run.wide = shape->wide & 1;
    if (shape->parts == 1 && shape->from && shape->from[0].source == RECORD_FROM_WORDS && !shape->ends &&
        (shape->all || shape->masked))
        run.word = &shape->from[0];
    return run;
}

bool record_reader(RecordReader *reader, const Recording *recording, const RecordShape *shapes, uint32_t site_count,
                   Arena *arena) {
    const RecordingLaunch *launch = &recording->launch;
    *reader = (RecordReader){.recording = recording, .shapes = shapes, .site_count = site_count};
    reader->warps = launch_warps(launch);
    reader->leaders = ARENA_ARRAY(arena, uint32_t, recording->first_count + 1);
    reader->seen = ARENA_ARRAY(arena, uint8_t, recording->more_count + 1);
    reader->early = ARENA_ARRAY(arena, uint8_t, recording->first_count + 1);
    reader->arena = arena;
    reader->cuts = launch->dropped & RECORD_DROPPED_PLACE && !(launch->flags & (RECORDING_CUT | RECORDING_HUNG));
    reader->run_word = record_word(launch->tag, RECORD_RUN, 0);
    reader->tears = (launch->flags & (RECORDING_CUT | RECORDING_HUNG)) == RECORDING_CUT;
    reader->runs = ARENA_ARRAY(arena, RecordRun, site_count + 1);
    for (uint32_t i = 0; i < site_count; i++)
        reader->runs[i] = run_of(&shapes[i]);
    for (uint32_t i = 0; i < site_count; i++) {
        for (uint32_t k = 0; k < shapes[i].report_count; k++)
            if (shapes[i].reports[k].slot >= reader->slot_count)
                reader->slot_count = shapes[i].reports[k].slot + 1;
        for (uint32_t k = 0; k < shapes[i].advance_count; k++)
            if (shapes[i].advances[k].slot >= reader->slot_count)
                reader->slot_count = shapes[i].advances[k].slot + 1;
    }
    reader->slots = ARENA_ARRAY(arena, RecordSlot *, recording->first_count + 1);
    return count_leaders(reader) && list_leaders(reader, arena);
}

void record_reader_restart(RecordReader *reader) {
    memset(reader->seen, 0, reader->recording->more_count);
    memset(reader->early, 0, reader->recording->first_count);
    reader->damaged = reader->missing = 0;
}

uint64_t record_reader_unseen(const RecordReader *reader) {
    uint64_t unseen = 0;
    for (uint32_t i = 0; i < reader->recording->more_count; i++) {
        Head head = head_at(further_chunk(reader, i));
        bool link = record_site(head.word) & RECORD_CHUNK_OF_LINK;
        if (!reader->seen[i] && is_written(reader, head) && (link || !is_unrecorded(reader, head)))
            unseen++;
    }
    return unseen;
}

uint64_t record_whole_ctas(RecordReader *reader) {
    const RecordingLaunch *launch = &reader->recording->launch;
    RecordCursor *room = ARENA_ARRAY(reader->arena, RecordCursor, RECORD_LEADERS);
    RecordStream stream;
    Record record;
    uint64_t whole = 0;
    record_reader_restart(reader);
    for (uint32_t cta = 0; cta < launch_ctas(launch); cta++) {
        uint64_t before = reader->missing + reader->damaged;
        for (uint32_t i = 0; i < reader->warps && sample_has(launch, cta); i++) {
            record_stream(&stream, reader, cta * reader->warps + i, room);
            while (record_next(&stream, &record))
                continue;
        }
        whole += sample_has(launch, cta) && reader->missing + reader->damaged == before;
    }
    return whole;
}

uint32_t record_reader_leaders(const RecordReader *reader, uint32_t warp) {
    size_t number = first_number(reader->recording, reader->warps, warp);
    return number < reader->recording->first_count ? reader->leaders[number + 1] - reader->leaders[number] + 1 : 1;
}
