/* The records of a recording, warp by warp, in an order in which each lane's own are in its program order: chunks one
 * after the other, the leaders of a warp merged by the numbers of their records (record.h).
 *
 * A site's parts are one record here, and have one number; so have an exit and a wait that gave up. What stands there
 * may be anything: a stream ends at what cannot be, and the reader keeps a sentence of the first such place. */
#ifndef TRACE_STREAM_H
#define TRACE_STREAM_H

#include "trace/file.h"

#include <stddef.h>
#include <string.h>

/* Lanes may have one chunk more to begin with: for a wait that gave up. */
enum { RECORD_PARTS = 16, RECORD_MAP_BYTES = 128, RECORD_LEADERS = 2 * RECORD_LANES + 1 };

/* How threads that come to a site meet others there. */
typedef enum RecordSyncs {
    RECORD_SYNCS_NONE,
    RECORD_SYNCS_NAMED,        /* at a barrier of the CTA */
    RECORD_SYNCS_NAMED_ARRIVE, /* ... without waiting there */
    RECORD_SYNCS_CLUSTER_ARRIVE,
    RECORD_SYNCS_CLUSTER_WAIT,
    RECORD_SYNCS_LANES, /* of the warp, those of a mask */
} RecordSyncs;
/* A number that an instruction is given. */
typedef struct RecordNumber {
    bool given;
    uint8_t part; /* its records have it in this part, + 1; 0: the instruction has it */
    bool uniform; /* ... where lanes that come together have the same */
    uint32_t value;
} RecordNumber;

/* What has to be known of a site to read its records. */
typedef struct RecordShape {
    uint8_t parts;
    bool strong; /* an access with its time, and what it found and wrote */
    bool large;  /* ... of more than 4 bytes */
    bool polls;  /* ... and it reads alone: of those that read the same again and again, the last counts */
    RecordSyncs meets;
    RecordNumber meets_at;    /* ... the barrier's number, or the mask of the lanes */
    RecordNumber meets_count; /* ... how many threads the barrier is for; not given: those of the CTA */
    uint32_t meets_by;        /* lanes meet those alone that come by an instruction of the same words */
    uint16_t wide;            /* parts of 64 bits: a mask */
    uint16_t corners;         /* parts that have corners: a mask */
    uint16_t every;           /* parts that are told of every lane: a mask */
    uint16_t reported;        /* RECORD_RUN: parts that are recorded there, and not by others: a mask */
    bool ends;                /* a thread ends there */
    bool always;              /* every lane that comes there does it: it is never of no lanes */
    bool masked;              /* RECORD_RUN: its lanes are told; else they are those told last, the head's first */
    bool all;                 /* ... or all */
    const uint32_t *of;       /* ... or these, of each warp of the CTA; NULL */
    bool bare;                /* RECORD_RUN: its head has no lanes */
    bool only_emits;          /* RECORD_RUN: slots are recorded, and nothing happens */
    uint32_t run;             /* sites of a RECORD_RUN of it */
    uint32_t run_words, run_corners, run_every; /* of that */
    uint32_t report_count, advance_count;
    const struct RecordEmit *reports;
    struct RecordAdvance *advances;
    struct RecordFrom *from; /* of each part, in a run */
} RecordShape;

/* Where a part of a run has its value from. */
typedef enum RecordSource {
    RECORD_FROM_WORDS,
    RECORD_FROM_CORNERS,
    RECORD_FROM_SLOT,
    RECORD_FROM_LAUNCH,
    RECORD_FROM_EVERY,
    RECORD_FROM_BITS
} RecordSource;
/* What is added to a value by where its warp is. */
typedef struct RecordPlaced {
    uint64_t rank;     /* for each CTA of the cluster before its own */
    uint32_t ctaid[3]; /* times its CTA's place in the grid */
    uint32_t warps;
    const uint64_t *of_warp; /* by its number in the CTA; NULL: nothing */
} RecordPlaced;
typedef struct RecordFrom {
    RecordSource source;
    uint32_t place;             /* word of the run, corners or lists of it, or slot */
    uint32_t also;              /* of a slot, another one, + 1; 0: none */
    uint64_t plus;              /* what is added to it; it depends on the launch */
    const RecordPlaced *placed; /* of a slot, or of the launch: and this; NULL: nothing */
} RecordFrom;
/* A slot of a warp that is told. */
typedef struct RecordEmit {
    uint32_t slot;
    bool wide, corners;
} RecordEmit;
/* A slot that goes on when a run begins: by what is in another slot (UINT32_MAX: none), and so much. `starts`: it is
 * told by that. */
typedef struct RecordAdvance {
    uint32_t slot, by;
    uint64_t plus;
    const RecordPlaced *placed; /* NULL: nothing */
    bool starts;
} RecordAdvance;
typedef struct RecordSlot {
    uint64_t value;         /* of lane 0 */
    const uint8_t *corners; /* NULL: it has none */
    bool fresh;             /* just told: it does not go on yet */
    bool reported;
} RecordSlot;

/* Where things are in a run that begins at a site, from its head on. */
typedef struct RecordRun {
    uint32_t bytes; /* of all of it */
    uint32_t corners, every;
    uint8_t words;
    uint8_t reported; /* bytes that some run tells of the site itself, but for its lanes */
    uint8_t kind;     /* of the site's records in a run */
    bool plain;       /* the run is this site alone, of all lanes, without parts, and one unit */
    bool masked;      /* as RecordShape */
    bool wide;
    const RecordFrom *word; /* of the one part that it has, a word of the run; NULL: it is another one */
} RecordRun;

typedef struct RecordReader {
    const Recording *recording;
    const RecordShape *shapes;
    uint32_t site_count;
    uint32_t warps;    /* of a CTA */
    uint32_t *leaders; /* of each warp that was recorded, and behind the last: where its first chunks of other lanes
                          begin */
    uint32_t *chunks;  /* these: numbers of further chunks */
    uint8_t *seen;     /* of each further chunk: it was read in this pass */
    uint8_t *early;    /* of each first chunk: there was no place for some of what its warp did, in this pass */
    struct RecordRun *runs; /* of each site */
    uint32_t run_word;      /* that a run begins with, but for the site */
    bool cuts;              /* records had no place, and a warp's end where those of one of its lanes do */
    bool tears;             /* the kernel was stopped, not by its own waits: records may lack some of their units */
    bool skims;             /* runs are left out: nothing in them is strong */
    uint32_t slot_count;
    RecordSlot **slots; /* of each warp; made when used */
    Arena *arena;
    const char *problem; /* a sentence; NULL */
    uint64_t damaged;    /* streams that ended at what cannot be */
    uint64_t missing;    /* chunks that a stream should go on in, and that there were none for */
} RecordReader;

typedef struct RecordPart {
    RecordKind kind; /* RECORD_WARP, RECORD_UNIFORM, RECORD_LIST, RECORD_LANE, RECORD_CORNERS, RECORD_EVERY,
                        RECORD_BITS */
    uint64_t value;  /* RECORD_BITS: without the bit; from bit 32 on, of each lane whether it has it */
    /* RECORD_CORNERS: 8 bytes each, which say how the others differ from lane 0, some of them in
     * the second list. RECORD_LIST: a value for each of the
     * lanes, 4 or 8 bytes, not aligned. RECORD_EVERY: 4 bytes of each lane */
    const uint8_t *list, *also; /* also: RECORD_CORNERS, NULL: no more */
} RecordPart;

typedef struct Record {
    RecordKind kind; /* of the first part; RECORD_PLAIN, RECORD_EXIT, RECORD_GIVES_UP: there is none, or one value */
    uint32_t site, lanes;
    uint32_t number;
    /* of a strong access: when, and what was there, is written, and compared with (of 16 bytes some, and a hash) */
    uint32_t time;
    uint64_t found, written, compared;
    uint32_t turn;      /* the caller's: the turn that it has among those to one place, */
    uint32_t place;     /* ... and which that is, + 1; 0: it was not asked for yet */
    bool torn;          /* the kernel was stopped, and some of it may be missing: that is 0 */
    const uint8_t *map; /* the tensor map that it uses; NULL: none was told */
    uint64_t map_address;
    uint8_t part_count;
    RecordPart parts[RECORD_PARTS]; /* the first is there also where there is none of the site's */
} Record;
/* Without the room of parts that there are not. */
static inline void record_copy(Record *to, const Record *from) {
    memcpy(to, from, offsetof(Record, parts) + (from->part_count ? from->part_count : 1) * sizeof from->parts[0]);
}

/* One leader. */
typedef struct RecordCursor {
    const uint8_t *at, *last; /* last: the unit of the chunk that is kept for RECORD_NEXT */
    const uint8_t *map;       /* before the next record */
    uint64_t map_address;
    uint32_t number;         /* of the next record, if it goes on */
    uint32_t site, together; /* the last record's; of records of single lanes, those that have come */
    uint32_t run, run_lanes; /* sites of a run that are still to come, behind `site`, and the lanes told last */
    const uint8_t *words;    /* of the run, and the next of them that is lanes */
    const uint8_t *next;
    const uint8_t *corners, *every; /* of the run */
    const uint8_t *begins;          /* its head; NULL: it is one unit, of one site */
    uint32_t warp;
    uint32_t warp_in_cta, ctaid[3], rank; /* where that is */
    uint32_t lacks; /* bytes that the chunk has behind `last`, and that lie nowhere: they are zero */
    uint8_t lane;
    bool torn;    /* the run is */
    bool stamped; /* a count stands before the next record */
} RecordCursor;

typedef struct RecordStream {
    RecordReader *reader;
    uint32_t warp;
    uint32_t count;        /* cursors that go on: a heap by number and lane */
    uint64_t missing;      /* of the reader, before the record that is read */
    RecordCursor one;      /* if there is one alone */
    RecordCursor *cursors; /* &one, or the room */
} RecordStream;

/* False, with a sentence in reader->problem: chunks say of themselves what cannot be. Memory is the arena's. */
bool record_reader(RecordReader *reader, const Recording *recording, const RecordShape *shapes, uint32_t site_count,
                   Arena *arena);
/* Whether a warp of the grid had begun. */
bool record_begun(const Recording *recording, uint32_t warp);
/* All streams can be opened once in a pass. */
void record_reader_restart(RecordReader *reader);
/* Further chunks of the recording that no stream of this pass came to. */
uint64_t record_reader_unseen(const RecordReader *reader);
/* CTAs of which all was recorded: a pass of its own, behind which `seen` is what that came to. */
uint64_t record_whole_ctas(RecordReader *reader);

/* The most leaders that the warp can have; its number in the grid is by %ctaid. */
uint32_t record_reader_leaders(const RecordReader *reader, uint32_t warp);
/* `room`: for as many cursors; NULL if that is one. The stream must not be moved. */
void record_stream(RecordStream *stream, RecordReader *reader, uint32_t warp, RecordCursor *room);
/* False: there is none any more. What it points to is the recording's. */
bool record_next(RecordStream *stream, Record *record);
/* The site of the next one, if it is a RECORD_PLAIN of all lanes, and easy to see; else UINT32_MAX. */
uint32_t record_peek(const RecordStream *stream);
/* That one is over. */
void record_pass(RecordStream *stream);
/* Records that come next, are easy to see (RecordRun.plain), and of these sites, are over: how many. */
uint32_t record_skip(RecordStream *stream, const bool *sites);

/* A run, all of whose records come next: its sites, and its bytes. Its records follow from these, and by what
 * record_run_value gives for their parts that are RECORD_FROM_SLOT or RECORD_FROM_LAUNCH. */
typedef struct RecordRunBytes {
    uint32_t first, count;
    const uint8_t *bytes;
    uint32_t size;
} RecordRunBytes;
/* Whether such a run comes next. */
bool record_peek_run(const RecordStream *stream, RecordRunBytes *run);
/* What is in the slot `from->place`, and what is added by where the warp is. False: the slot was never recorded. */
bool record_run_value(const RecordStream *stream, const RecordFrom *from, uint64_t *value, const uint8_t **corners);
/* All records of that run are over. */
void record_pass_run(RecordStream *stream);

/* Whether the next one is in a run, and its site has one part, a word of the run: it can be asked for alone. */
static inline bool record_has_value(const RecordStream *stream) {
    const RecordCursor *cursor = stream->cursors;
    return stream->count == 1 && cursor->run && stream->reader->runs[cursor->site + 1].word;
}
/* Whether that is so, and it is of all lanes: which site, and the value of a RECORD_WARP. Sooner told than by
 * record_next. */
static inline bool record_peek_value(const RecordStream *stream, uint32_t *site, uint64_t *value) {
    const RecordCursor *cursor = stream->cursors;
    if (!record_has_value(stream) || cursor->torn)
        return false;
    const RecordRun *run = &stream->reader->runs[cursor->site + 1];
    uint32_t low, lanes;
    memcpy(&lanes, cursor->next, sizeof lanes);
    if (run->masked && lanes != UINT32_MAX)
        return false;
    const uint8_t *at = cursor->words + (size_t)run->word->place * 4;
    memcpy(&low, at, sizeof low);
    *value = low;
    if (run->wide)
        memcpy(value, at, sizeof *value);
    *value += run->word->plus;
    *site = cursor->site + 1;
    return true;
}
/* That one is over. */
static inline void record_pass_value(RecordStream *stream) {
    RecordCursor *cursor = stream->cursors;
    const RecordRun *run = &stream->reader->runs[cursor->site + 1];
    cursor->next += run->reported + (run->masked ? 4 : 0);
    cursor->run_lanes = run->masked ? UINT32_MAX : cursor->run_lanes;
    if (cursor->run == 1) {
        record_pass(stream);
        return;
    }
    cursor->site++;
    cursor->run--;
    cursor->number++;
}

/* What each bit of a lane's number adds to the value of lane 0, by the corners. */
static inline void record_corners(const RecordPart *part, uint64_t adds[RECORD_CORNER_LANES - 1]) {
    const uint8_t *lists[2] = {part->list, part->also};
    uint64_t values[RECORD_CORNER_LANES];
    memset(adds, 0, (RECORD_CORNER_LANES - 1) * sizeof *adds);
    for (unsigned k = 0; k < 2 && lists[k]; k++) {
        memcpy(values, lists[k], sizeof values);
        for (unsigned i = 0; i + 1 < RECORD_CORNER_LANES; i++)
            adds[i] += values[i + 1] - values[0];
    }
}
/* The value of a lane by its corners. */
static inline uint64_t record_cornered(const RecordPart *part, unsigned lane) {
    uint64_t adds[RECORD_CORNER_LANES - 1], sum = part->value;
    record_corners(part, adds);
    for (unsigned i = 0; i + 1 < RECORD_CORNER_LANES; i++)
        sum += lane >> i & 1 ? adds[i] : 0;
    return sum;
}
/* The value of the i-th lane of a mask in a list. */
static inline uint64_t record_listed(const RecordPart *part, bool wide, unsigned index) {
    uint64_t value;
    uint32_t low;
    memcpy(&low, part->list + (size_t)index * (wide ? 8 : 4), sizeof low);
    if (!wide)
        return low;
    memcpy(&value, part->list + (size_t)index * 8, sizeof value);
    return value;
}

#endif
