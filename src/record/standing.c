/* The last record of each lane. */
#include "record/standing.h"

typedef enum Last { LAST_ELSEWHERE, LAST_HELD, LAST_GAVE_UP, LAST_ENDED } Last;

static Last last_of(const Record *record, const RecordShape *shapes) {
    switch (record->kind) {
    case RECORD_EXIT:
        return LAST_ENDED;
    case RECORD_GIVES_UP:
        return LAST_GAVE_UP;
    default:
        return shapes[record->site].holds ? LAST_HELD : LAST_ELSEWHERE;
    }
}

static void count_warp(RecordStanding *standing, RecordReader *reader, uint32_t warp, uint32_t lanes,
                       RecordCursor *room) {
    Last last[RECORD_LANES] = {LAST_ELSEWHERE};
    RecordStream stream;
    Record record;
    record_stream(&stream, reader, warp, room);
    while (record_next(&stream, &record)) {
        Last is = last_of(&record, reader->shapes);
        for (uint32_t left = record.lanes; left; left &= left - 1)
            last[__builtin_ctz(left)] = is;
    }
    for (uint32_t lane = 0; lane < lanes; lane++) {
        standing->ended += last[lane] == LAST_ENDED;
        standing->gave_up += last[lane] == LAST_GAVE_UP;
        standing->held += last[lane] == LAST_HELD;
        standing->elsewhere += last[lane] == LAST_ELSEWHERE;
    }
}

bool record_standing(RecordStanding *standing, const Recording *recording, const RecordShape *shapes,
                     uint32_t site_count) {
    const RecordingLaunch *launch = &recording->launch;
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    RecordCursor room[RECORD_LEADERS];
    RecordReader reader;
    Arena arena;
    jmp_buf exhausted;
    *standing = (RecordStanding){0};
    arena_init(&arena, SIZE_MAX);
    arena.exhausted = &exhausted;
    if (setjmp(exhausted)) {
        arena_free(&arena);
        return false;
    }
    bool tells = !launch->dropped && launch->asked <= recording->more_count && !launch->sample_mask &&
                 !launch->sample_value && record_reader(&reader, recording, shapes, site_count, &arena);
    for (uint32_t warp = 0; tells && warp < recording->first_count; warp++) {
        uint32_t first = warp % reader.warps * RECORD_LANES;
        uint32_t lanes = threads - first < RECORD_LANES ? threads - first : RECORD_LANES;
        if (record_begun(recording, warp))
            count_warp(standing, &reader, warp, lanes, room);
    }
    tells = tells && !reader.damaged && !reader.missing;
    arena_free(&arena);
    return tells;
}
