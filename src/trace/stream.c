/* Chunks are followed, and leaders merged. */
#include "trace/chunks.h"

/* Bytes of a chunk, and first chunks, that will be asked for soon. */
enum { AHEAD = 128, CHUNKS_AHEAD = 16 };

/* ---- A leader ------------------------------------------------------------------------------------- */

/* `number`: the chunk's, of all of them. */
static void enter(const RecordReader *reader, RecordCursor *cursor, size_t number, const uint8_t *chunk,
                  uint32_t count) {
    const Recording *recording = reader->recording;
    uint32_t whole = recording->launch.chunk;
    uint32_t bytes = recording->chunks ? recording->chunks[number].units * RECORD_UNIT : whole;
    cursor->at = chunk + RECORD_UNIT;
    cursor->last = chunk + bytes - RECORD_UNIT;
    cursor->lacks = whole - bytes;
    if (count > cursor->number)
        cursor->number = count;
}

/* Whether a chunk may be one in which the cursor's lane goes on. */
static bool is_of(const RecordCursor *cursor, Head head) {
    if (record_site(head.word) & RECORD_CHUNK_OF_LINK)
        return !cursor->lane;
    return !(record_site(head.word) & RECORD_CHUNK_FIRST) && head.lanes == cursor->warp &&
           (uint32_t)head.value == cursor->lane;
}

/* What the lane did next was not recorded. */
static bool ends_early(RecordReader *reader, const RecordCursor *cursor) {
    reader->missing++;
    reader->early[first_number(reader->recording, reader->warps, cursor->warp)] = 1;
    return false;
}

static bool follow(RecordReader *reader, RecordCursor *cursor, uint32_t next) {
    if (next >= reader->recording->more_count)
        return ends_early(reader, cursor);
    const uint8_t *chunk = further_chunk(reader, next);
    Head head = head_at(chunk);
    if (!is_written(reader, head)) /* asked for, and the kernel was stopped before it was begun */
        return ends_early(reader, cursor);
    if (reader->seen[next] || !is_of(cursor, head))
        return refuse(reader, "the recording is damaged: a chunk goes on in one that is another thread's");
    reader->seen[next] = 1;
    enter(reader, cursor, reader->recording->first_count + next, chunk,
          record_site(head.word) & RECORD_CHUNK_OF_LINK ? 0 : (uint32_t)(head.value >> 32));
    return true;
}

static size_t list_bytes(uint32_t lanes, bool wide) {
    size_t bytes = (size_t)__builtin_popcount(lanes) * (wide ? 8 : 4);
    return (bytes + RECORD_UNIT - 1) / RECORD_UNIT * RECORD_UNIT;
}

/* Whether a record of so many bytes, which the cursor is behind, lacks some of them: the kernel was stopped, not by its
 * own waits, this was the last that the lane wrote, and a unit of it is as it was before. */
static bool is_torn(const RecordReader *reader, const RecordCursor *cursor, size_t bytes) {
    static const uint8_t empty[RECORD_UNIT];
    if (!reader->tears || bytes <= RECORD_UNIT || record_tag(head_at(cursor->at).word) == reader->recording->launch.tag)
        return false;
    for (size_t i = RECORD_UNIT; i < bytes; i += RECORD_UNIT)
        if (memcmp(cursor->at - i, empty, RECORD_UNIT) == 0)
            return true;
    return false;
}

/* Its number is the next one, but of lanes that came together, and have a record each. */
static void advance_number(RecordCursor *cursor, Head head) {
    bool lane = record_kind(head.word) == RECORD_LANE;
    if (!lane || cursor->site != record_site(head.word) || !cursor->together || head.lanes & cursor->together) {
        cursor->number++;
        cursor->together = 0;
    }
    cursor->together |= lane ? head.lanes : 0;
    cursor->site = record_site(head.word);
}

/* ---- Runs ----------------------------------------------------------------------------------------- */

static RecordSlot *slots_of(RecordReader *reader, const RecordCursor *cursor) {
    RecordSlot **slots = &reader->slots[first_number(reader->recording, reader->warps, cursor->warp)];
    if (!*slots)
        *slots = ARENA_ARRAY(reader->arena, RecordSlot, reader->slot_count + 1);
    return *slots;
}

/* Where the cursor's warp is in the grid. */
static void place_cursor(const RecordReader *reader, RecordCursor *cursor) {
    const RecordingLaunch *launch = &reader->recording->launch;
    uint32_t cta = cursor->warp / reader->warps, size = 1;
    cursor->rank = 0;
    for (unsigned i = 0; i < 3; i++) {
        uint32_t grid = launch->grid[i] ? launch->grid[i] : 1, cluster = launch->cluster[i] ? launch->cluster[i] : 1;
        cursor->ctaid[i] = cta % grid;
        cursor->rank += cursor->ctaid[i] % cluster * size;
        size *= cluster;
        cta /= grid;
    }
    cursor->warp_in_cta = cursor->warp % reader->warps;
}

/* What is added to a value of the cursor's warp. */
static inline uint64_t placed_at(const RecordCursor *cursor, const RecordPlaced *placed) {
    uint64_t sum = cursor->rank * placed->rank;
    for (unsigned i = 0; i < 3; i++)
        sum += (uint64_t)cursor->ctaid[i] * placed->ctaid[i];
    return sum + (cursor->warp_in_cta < placed->warps ? placed->of_warp[cursor->warp_in_cta] : 0);
}

/* Slots that go on from turn to turn do so when the run begins. */
static void advance_slots(RecordReader *reader, const RecordCursor *cursor, const RecordShape *shape) {
    RecordSlot *slots = shape->advance_count ? slots_of(reader, cursor) : NULL;
    for (uint32_t i = 0; i < shape->advance_count; i++) {
        const RecordAdvance *advance = &shape->advances[i];
        RecordSlot *slot = &slots[advance->slot];
        if (advance->starts) {
            uint64_t placed = advance->placed ? placed_at(cursor, advance->placed) : 0;
            *slot = (RecordSlot){.value = advance->plus + placed, .fresh = true, .reported = true};
            continue;
        }
        if (!slot->fresh)
            slot->value += advance->plus + (advance->by == UINT32_MAX ? 0 : slots[advance->by].value);
        slot->fresh = false;
    }
}

/* Of a size that is known, so that no function is called for it. */
static inline uint64_t run_value(const uint8_t *at, bool wide) {
    uint64_t value;
    uint32_t low;
    memcpy(&low, at, sizeof low);
    if (!wide)
        return low;
    memcpy(&value, at, sizeof value);
    return value;
}

static void report_slots(RecordReader *reader, const RecordCursor *cursor, const RecordShape *shape) {
    RecordSlot *slots = slots_of(reader, cursor);
    const uint8_t *word = cursor->words, *corners = cursor->corners;
    for (uint32_t i = 0; i < shape->report_count; i++) {
        const RecordEmit *report = &shape->reports[i];
        RecordSlot *slot = &slots[report->slot];
        *slot = (RecordSlot){
            .value = run_value(report->corners ? corners : word, report->wide), .fresh = true, .reported = true};
        slot->corners = report->corners ? corners : NULL;
        corners += report->corners ? RECORD_CORNER_LANES * 8 : 0;
        word += report->corners ? 0 : report->wide ? 8 : 4;
    }
}

/* So many bytes from where the cursor is on are there, in any case: those that lie nowhere get a place. False: they are
 * past the end of the chunk. */
static bool make_bytes(const RecordReader *reader, RecordCursor *cursor, size_t bytes) {
    size_t there = (size_t)(cursor->last - cursor->at), whole = there + cursor->lacks;
    if (whole < bytes)
        return false;
    uint8_t *to = arena_zalloc(reader->arena, whole + RECORD_UNIT);
    memcpy(to, cursor->at, there + RECORD_UNIT);
    cursor->at = to;
    cursor->last = to + whole;
    cursor->lacks = 0;
    return true;
}

static bool has_bytes(const RecordReader *reader, RecordCursor *cursor, size_t bytes) {
    return (size_t)(cursor->last - cursor->at) >= bytes || make_bytes(reader, cursor, bytes);
}

/* Goes into a run, whose words are all there. False: it cannot be. */
static bool begin_run(RecordReader *reader, RecordCursor *cursor) {
    Head head = head_at(cursor->at);
    uint32_t first = record_site(head.word), count = first < reader->site_count ? reader->shapes[first].run : 0;
    if (!count || count > reader->site_count - first)
        return refuse(reader, "the recording is damaged: a run is of a site that begins none");
    const RecordShape *shape = &reader->shapes[first];
    const RecordRun *run = &reader->runs[first];
    if (!has_bytes(reader, cursor, run->bytes))
        return refuse(reader, "the recording is damaged: a run is past the end of its chunk");
    cursor->words = cursor->next = cursor->at + run->words;
    cursor->corners = cursor->at + run->corners;
    cursor->every = cursor->at + run->every;
    cursor->begins = cursor->at;
    cursor->at += run->bytes;
    cursor->torn = reader->tears && is_torn(reader, cursor, run->bytes);
    if (reader->skims) {
        cursor->number += shape->only_emits ? 0 : count;
        cursor->together = shape->only_emits ? cursor->together : 0;
        cursor->site = shape->only_emits ? cursor->site : first + count - 1;
        return true;
    }
    if (shape->only_emits) {
        report_slots(reader, cursor, shape);
        return true;
    }
    advance_slots(reader, cursor, shape);
    cursor->run = count;
    cursor->run_lanes = head.lanes;
    cursor->site = first - 1;
    return true;
}

/* Adds what is in a slot. False: it was never told. */
static bool add_slot(RecordReader *reader, const RecordCursor *cursor, uint32_t place, bool corners, RecordPart *part) {
    const RecordSlot *slot = &slots_of(reader, cursor)[place];
    part->value += slot->value;
    if (corners)
        *(part->list ? &part->also : &part->list) = slot->corners;
    return slot->reported;
}

/* False: it is of a slot that was never told. */
static inline bool read_from(RecordReader *reader, const RecordCursor *cursor, const RecordFrom *from, bool wide,
                             bool corners, RecordPart *part) {
    bool reported = true;
    part->kind = RECORD_WARP;
    part->value = from->plus;
    part->list = part->also = NULL;
    if (from->source == RECORD_FROM_WORDS) { /* as most are */
        part->value += run_value(cursor->words + (size_t)from->place * 4, wide);
        return true;
    }
    switch (from->source) {
    case RECORD_FROM_CORNERS:
        part->list = cursor->corners + (size_t)from->place * RECORD_CORNER_LANES * 8;
        part->value += run_value(part->list, true);
        break;
    case RECORD_FROM_SLOT:
        reported = add_slot(reader, cursor, from->place, corners, part);
        if (from->also)
            reported &= add_slot(reader, cursor, from->also - 1, corners, part);
        break;
    case RECORD_FROM_EVERY:
        part->kind = RECORD_EVERY;
        part->list = cursor->every + (size_t)from->place * RECORD_EVERY_BYTES;
        return true;
    case RECORD_FROM_BITS:
        part->kind = RECORD_BITS;
        part->value |= run_value(cursor->words + (size_t)from->place * 4, false) << 32;
        return true;
    case RECORD_FROM_WORDS:
    case RECORD_FROM_LAUNCH:
        break;
    }
    if (from->placed)
        part->value += placed_at(cursor, from->placed);
    if (part->list)
        part->kind = RECORD_CORNERS;
    return reported;
}

/* The next site of the run that the cursor is in. False: it cannot be. */
static inline bool read_run(RecordReader *reader, RecordCursor *cursor, Record *record) {
    uint32_t site = ++cursor->site;
    const RecordShape *shape = &reader->shapes[site];
    const RecordRun *run = &reader->runs[site];
    unsigned parts = shape->parts;
    bool reported = true;
    cursor->run--;
    record->site = site;
    record->number = cursor->number;
    record->torn = cursor->torn;
    record->kind = run->kind;
    if (shape->masked) {
        cursor->run_lanes = (uint32_t)run_value(cursor->next, false);
        cursor->next += 4;
    }
    record->lanes = shape->all ? UINT32_MAX : shape->of ? shape->of[cursor->warp_in_cta] : cursor->run_lanes;
    cursor->next += run->reported;
    record->time = record->turn = record->place = 0;
    record->found = record->written = record->compared = 0;
    record->map = NULL;
    record->part_count = (uint8_t)parts;
    for (unsigned i = 0; i < parts; i++)
        reported &= read_from(reader, cursor, &shape->from[i], shape->wide >> i & 1, shape->corners >> i & 1,
                              &record->parts[i]);
    return (reported && (record->lanes || !shape->always)) ||
           refuse(reader, "the recording is damaged: it lacks what threads have to have done");
}

/* The unit is a run of one site that is of all lanes, and has no parts. *site: which. */
static inline bool is_plain(const RecordReader *reader, const RecordCursor *cursor, uint32_t *site) {
    uint32_t word;
    memcpy(&word, cursor->at, sizeof word);
    *site = record_site(word);
    return word - *site == reader->run_word && *site < reader->site_count && reader->runs[*site].plain &&
           cursor->at != cursor->last;
}

/* Goes into that. */
static inline void enter_plain(RecordCursor *cursor, uint32_t site) {
    cursor->at += RECORD_UNIT;
    cursor->number++;
    cursor->site = site - 1;
    cursor->run = 1;
    cursor->begins = NULL;
    cursor->together = 0;
    cursor->torn = cursor->stamped = false;
}

/* ---- Records -------------------------------------------------------------------------------------- */

/* To the next head that is a record's, behind a run or another record. */
static bool go_on(RecordReader *reader, RecordCursor *cursor) {
    unsigned tag = reader->recording->launch.tag;
    __builtin_prefetch(cursor->at + AHEAD);
    for (;;) {
        Head head = head_at(cursor->at);
        if (record_tag(head.word) != tag)
            return false;
        RecordKind kind = record_kind(head.word);
        if (kind == RECORD_NEXT) {
            if (!follow(reader, cursor, head.lanes))
                return false;
        } else if (cursor->at == cursor->last) {
            return refuse(reader, "the recording is damaged: a record is at the end of a chunk");
        } else if (kind == RECORD_STAMP) {
            if (cursor->stamped)
                return refuse(reader, "the recording is damaged: there is a count of no record");
            cursor->stamped = true;
            cursor->number = (uint32_t)head.value;
            cursor->together = 0;
            cursor->at += RECORD_UNIT;
        } else if (kind == RECORD_MAP) {
            if ((size_t)(cursor->last - cursor->at) < RECORD_UNIT + RECORD_MAP_BYTES)
                return refuse(reader, "the recording is damaged: a tensor map is past the end of its chunk");
            cursor->map = cursor->at + RECORD_UNIT;
            cursor->map_address = head.value;
            cursor->at += RECORD_UNIT + RECORD_MAP_BYTES;
        } else if (kind == RECORD_RUN) {
            if (!begin_run(reader, cursor))
                return false;
            cursor->stamped = false;
            if (!cursor->run) /* slots were told, and nothing happened */
                continue;
            cursor->number++;
            cursor->together = 0;
            return true;
        } else {
            advance_number(cursor, head);
            return true;
        }
    }
}

/* To the next record; false: there is none. cursor->number is its number then. */
static inline bool settle(RecordReader *reader, RecordCursor *cursor) {
    cursor->map = NULL;
    cursor->stamped = false;
    if (!cursor->run)
        return go_on(reader, cursor);
    cursor->number++;
    return true;
}

static bool read_part(RecordReader *reader, RecordCursor *cursor, Head head, const RecordShape *shape, Record *record,
                      unsigned index) {
    RecordKind kind = record_kind(head.word);
    RecordPart *part = &record->parts[index];
    size_t bytes = kind == RECORD_LIST ? list_bytes(head.lanes, shape->wide >> index & 1) : 0;
    if (kind != RECORD_WARP && kind != RECORD_UNIFORM && kind != RECORD_LIST)
        return refuse(reader, "the recording is damaged: a site's values are of no kind");
    if ((size_t)(cursor->last - cursor->at) < RECORD_UNIT + bytes)
        return refuse(reader, "the recording is damaged: a record is past the end of its chunk");
    part->kind = kind;
    part->value = head.value;
    part->list = cursor->at + RECORD_UNIT;
    cursor->at += RECORD_UNIT + bytes;
    record->torn |= is_torn(reader, cursor, RECORD_UNIT + bytes);
    return true;
}

/* The next head of the same record, for its next part. */
static bool next_part(RecordReader *reader, RecordCursor *cursor, Head *head, const Record *record) {
    unsigned tag = reader->recording->launch.tag;
    *head = head_at(cursor->at);
    if (record_tag(head->word) == tag && record_kind(head->word) == RECORD_NEXT) {
        if (!follow(reader, cursor, head->lanes))
            return false;
        *head = head_at(cursor->at);
    }
    if (record_tag(head->word) != tag) /* the kernel was stopped in the middle of it */
        return false;
    if (record_site(head->word) != record->site || head->lanes != record->lanes)
        return refuse(reader, "the recording is damaged: a site lacks some of its values");
    return true;
}

/* Whether the lane does the same again, and nothing in between, in any chunks: a poll that reads what the one
 * before has read. */
static bool polls_again(const RecordReader *reader, const RecordCursor *cursor, size_t bytes) {
    const uint8_t *at = cursor->at + bytes;
    Head head = head_at(cursor->at);
    if (at >= cursor->last)
        return false;
    Head next = head_at(at);
    if (record_tag(next.word) == reader->recording->launch.tag && record_kind(next.word) == RECORD_STAMP) {
        at += RECORD_UNIT;
        if (at >= cursor->last || (uint32_t)next.value != cursor->number)
            return false;
        next = head_at(at);
    }
    if ((size_t)(cursor->last - at) < bytes || next.word != head.word || next.lanes != head.lanes)
        return false;
    bool same = next.value == head.value;
    for (size_t i = RECORD_UNIT + 4; i < bytes; i += RECORD_UNIT) /* what it found */
        same &= memcmp(cursor->at + i, at + i, 4) == 0;
    return same;
}

/* The last of such polls. */
static void skip_polls(const RecordReader *reader, RecordCursor *cursor, size_t bytes) {
    while (polls_again(reader, cursor, bytes)) {
        cursor->at += bytes;
        Head head = head_at(cursor->at);
        if (record_kind(head.word) == RECORD_STAMP)
            cursor->at += RECORD_UNIT;
        cursor->number++;
    }
}

static bool read_lane(RecordReader *reader, RecordCursor *cursor, Head head, const RecordShape *shape, Record *record) {
    unsigned words = shape->strong ? 3 + 2 * shape->large : shape->parts; /* 1, or none, and those of the access */
    size_t bytes = words > 1 ? (size_t)(words - 1) * 8 : 0;
    bytes = (bytes + RECORD_UNIT - 1) / RECORD_UNIT * RECORD_UNIT;
    if ((size_t)(cursor->last - cursor->at) < RECORD_UNIT + bytes)
        return refuse(reader, "the recording is damaged: a record is past the end of its chunk");
    if (!head.lanes || head.lanes & (head.lanes - 1))
        return refuse(reader, "the recording is damaged: a record of one lane has several");
    if (shape->polls && shape->parts <= 1) {
        skip_polls(reader, cursor, RECORD_UNIT + bytes);
        head = head_at(cursor->at);
        record->number = cursor->number;
    }
    for (unsigned i = 0; i < words; i++) {
        uint64_t value = head.value;
        if (i)
            memcpy(&value, cursor->at + RECORD_UNIT + (size_t)(i - 1) * 8, sizeof value);
        if (i < shape->parts)
            record->parts[i] = (RecordPart){.kind = RECORD_LANE, .value = value};
    }
    if (shape->strong) {
        memcpy(&record->time, cursor->at + RECORD_UNIT, 4);
        uint64_t *to[] = {&record->found, &record->written, &record->compared};
        for (unsigned i = 0; i < 3; i++) {
            uint32_t low, high = 0;
            memcpy(&low, cursor->at + RECORD_UNIT + 4 * (i + 1), 4);
            if (shape->large)
                memcpy(&high, cursor->at + 2 * RECORD_UNIT + 4 * (i + 1), 4);
            *to[i] = (uint64_t)high << 32 | low;
        }
    }
    record->part_count = shape->parts;
    cursor->at += RECORD_UNIT + bytes;
    record->torn = is_torn(reader, cursor, RECORD_UNIT + bytes);
    return true;
}

/* The record that the cursor stands at. */
static bool read_record(RecordReader *reader, RecordCursor *cursor, Record *record) {
    if (cursor->run)
        return read_run(reader, cursor, record);
    Head head = head_at(cursor->at);
    RecordKind kind = record_kind(head.word);
    record->kind = kind;
    record->site = record_site(head.word);
    record->lanes = head.lanes;
    record->number = cursor->number;
    record->time = record->turn = record->place = 0;
    record->found = record->written = record->compared = 0;
    record->map = cursor->map;
    record->map_address = cursor->map_address;
    record->part_count = 0;
    record->torn = false;
    if (kind == RECORD_EXIT || kind == RECORD_PLAIN || kind == RECORD_GIVES_UP) {
        record->parts[0] = (RecordPart){.kind = RECORD_UNIFORM, .value = head.value};
        cursor->at += RECORD_UNIT;
        if (kind != RECORD_EXIT && record->site >= reader->site_count)
            return refuse(reader, "the recording is damaged: it has a site that the PTX does not have");
        return kind != RECORD_PLAIN || !reader->shapes[record->site].parts ||
               refuse(reader, "the recording is damaged: a site lacks its values");
    }
    if (record->site >= reader->site_count)
        return refuse(reader, "the recording is damaged: it has a site that the PTX does not have");
    const RecordShape *shape = &reader->shapes[record->site];
    if (shape->always && !record->lanes)
        return refuse(reader, "the recording is damaged: no thread does what all do that come there");
    if (kind == RECORD_LANE)
        return read_lane(reader, cursor, head, shape, record);
    if (shape->strong || !shape->parts)
        return refuse(reader, "the recording is damaged: a site has values that it cannot have");
    for (unsigned i = 0; i < shape->parts; i++)
        if ((i && !next_part(reader, cursor, &head, record)) || !read_part(reader, cursor, head, shape, record, i))
            return false;
    record->part_count = shape->parts;
    return true;
}

/* ---- A warp: its leaders, the one with the lowest number first ------------------------------------ */

static uint64_t key_of(const RecordCursor *cursor) {
    return (uint64_t)cursor->number << 8 | cursor->lane;
}

static void sink(RecordStream *stream, uint32_t at) {
    RecordCursor *cursors = stream->cursors;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < stream->count && key_of(&cursors[child + 1]) < key_of(&cursors[child]))
            child++;
        if (child >= stream->count || key_of(&cursors[at]) <= key_of(&cursors[child]))
            return;
        RecordCursor moved = cursors[at];
        cursors[at] = cursors[child];
        cursors[child] = moved;
        at = child;
    }
}

static void open_leader(RecordStream *stream, size_t number, const uint8_t *chunk, uint32_t lane) {
    RecordReader *reader = stream->reader;
    RecordCursor *cursor = &stream->cursors[stream->count];
    Head head = head_at(chunk);
    if (!is_written(reader, head))
        return;
    if (head.lanes != stream->warp || (uint32_t)head.value != lane) {
        refuse(reader, "the recording is damaged: a warp's chunk is another's");
        return;
    }
    *cursor = (RecordCursor){.warp = stream->warp, .lane = (uint8_t)lane};
    place_cursor(reader, cursor);
    enter(reader, cursor, number, chunk, (uint32_t)(head.value >> 32));
    stream->count += settle(reader, cursor);
}

void record_stream(RecordStream *stream, RecordReader *reader, uint32_t warp, RecordCursor *room) {
    const Recording *recording = reader->recording;
    size_t number = first_number(recording, reader->warps, warp);
    stream->reader = reader;
    stream->warp = warp;
    stream->count = 0;
    stream->cursors = &stream->one;
    if (number == recording->first_count)
        return;
    uint32_t begin = reader->leaders[number], end = reader->leaders[number + 1];
    if (end > begin)
        stream->cursors = room;
    if (number + CHUNKS_AHEAD < recording->first_count)
        __builtin_prefetch(first_chunk(recording, number + CHUNKS_AHEAD));
    open_leader(stream, number, first_chunk(recording, number), 0);
    for (uint32_t i = begin; i < end; i++) {
        const uint8_t *chunk = further_chunk(reader, reader->chunks[i]);
        uint32_t lane = (uint32_t)head_at(chunk).value;
        if (reader->seen[reader->chunks[i]])
            continue;
        reader->seen[reader->chunks[i]] = 1;
        open_leader(stream, recording->first_count + reader->chunks[i], chunk, lane);
    }
    if (reader->cuts && reader->early[number])
        stream->count = 0;
    for (uint32_t i = stream->count / 2; i-- > 0;)
        sink(stream, i);
}

/* The first leader has a record read; it goes on, if it was, and others may come before it. Where there was no place
 * for what a lane did, the records of its warp end: lanes that have more may have been ordered by what is missing. */
static void go_behind(RecordStream *stream, bool read) {
    RecordCursor *first = &stream->cursors[0];
    uint64_t missing = stream->missing;
    bool goes_on = read && settle(stream->reader, first);
    if (!goes_on && stream->reader->missing != missing && stream->reader->cuts)
        stream->count = 0;
    else if (!goes_on)
        *first = stream->cursors[--stream->count];
    if (stream->count > 1)
        sink(stream, 0);
}

bool record_next(RecordStream *stream, Record *record) {
    RecordCursor *first = &stream->cursors[0];
    while (stream->count) {
        stream->missing = stream->reader->missing;
        bool inside = first->run > 1 && stream->count == 1; /* it stays in its run */
        bool read = inside ? read_run(stream->reader, first, record) : read_record(stream->reader, first, record);
        if (inside && read)
            first->number++;
        else
            go_behind(stream, read);
        if (read && record->lanes) /* of none, its guard did not hold */
            return true;
    }
    return false;
}

bool record_peek_run(const RecordStream *stream, RecordRunBytes *run) {
    const RecordCursor *cursor = &stream->cursors[0];
    const RecordReader *reader = stream->reader;
    if (stream->count != 1 || !cursor->run || !cursor->begins || cursor->torn || cursor->map)
        return false;
    run->first = record_site(head_at(cursor->begins).word);
    run->count = cursor->run;
    run->bytes = cursor->begins;
    run->size = reader->runs[run->first].bytes;
    return cursor->site + 1 == run->first;
}

bool record_run_value(const RecordStream *stream, const RecordFrom *from, uint64_t *value, const uint8_t **corners) {
    RecordReader *reader = stream->reader;
    const RecordCursor *cursor = &stream->cursors[0];
    const RecordSlot *slot = from->source == RECORD_FROM_SLOT ? &slots_of(reader, cursor)[from->place] : NULL;
    *value = (slot ? slot->value : 0) + (from->placed ? placed_at(cursor, from->placed) : 0);
    *corners = slot ? slot->corners : NULL;
    return !slot || slot->reported;
}

void record_pass_run(RecordStream *stream) {
    RecordCursor *cursor = &stream->cursors[0];
    cursor->site += cursor->run;
    cursor->number += cursor->run - 1;
    cursor->run = 0;
    stream->missing = stream->reader->missing;
    go_behind(stream, true);
}

uint32_t record_peek(const RecordStream *stream) {
    const RecordCursor *cursor = &stream->cursors[0];
    const RecordReader *reader = stream->reader;
    if (stream->count != 1 || cursor->map)
        return UINT32_MAX;
    if (cursor->run) {
        if (reader->runs[cursor->site + 1].plain)
            return cursor->site + 1;
        const RecordShape *shape = &reader->shapes[cursor->site + 1];
        bool plain = !shape->parts && !shape->ends && !shape->masked && !cursor->torn;
        bool all = shape->all || (!shape->of && cursor->run_lanes == UINT32_MAX);
        return plain && all ? cursor->site + 1 : UINT32_MAX;
    }
    Head head = head_at(cursor->at);
    uint32_t site = record_site(head.word);
    bool plain = record_kind(head.word) == RECORD_PLAIN && head.lanes == UINT32_MAX && site < reader->site_count;
    return plain && !reader->shapes[site].parts ? site : UINT32_MAX;
}

void record_pass(RecordStream *stream) {
    RecordCursor *cursor = &stream->cursors[0];
    uint32_t site;
    if (cursor->run) {
        cursor->site++;
        cursor->run--;
    } else {
        cursor->at += RECORD_UNIT;
    }
    __builtin_prefetch(cursor->at + AHEAD);
    if (!cursor->run && is_plain(stream->reader, cursor, &site))
        enter_plain(cursor, site);
    else
        stream->count = settle(stream->reader, cursor);
}

uint32_t record_skip(RecordStream *stream, const bool *sites) {
    RecordCursor *cursor = &stream->cursors[0];
    const RecordReader *reader = stream->reader;
    uint32_t count = 0;
    while (stream->count == 1 && cursor->run == 1 && reader->runs[cursor->site + 1].plain && sites[cursor->site + 1]) {
        uint32_t site;
        count++;
        while (is_plain(reader, cursor, &site) && sites[site]) {
            enter_plain(cursor, site);
            count++;
        }
        record_pass(stream);
    }
    return count;
}
