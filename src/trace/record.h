/* What an instrumented kernel leaves behind: records in chunks, and the block that it is launched with. One header for
 * those who write the code (instrument/), who launch it (exec/), and who read what came of it (check/replay/).
 *
 * A site is an instruction that others may notice, or that notices them (instrument/instrument.h). Where a warp comes
 * to one, its leader, which is the lowest of the lanes that come to it together, writes a record: which site, which
 * lanes, and the values of the registers that say what it does (a part each): addresses, counts, descriptors. Nothing
 * else is needed: a reader that has the PTX and these values can do what the instruction does to memory and to
 * barriers. Of values that are moved those are kept that say whether two threads write the same: of stores to shared
 * memory that may meet, what is stored, or a hash of it (record_hash).
 *
 * Every lane that leads has a chunk of its own, of which the next place is in its registers: no atomics for a record,
 * one for a further chunk. A chunk begins with RECORD_CHUNK, and ends with RECORD_NEXT, which stands where the next
 * record would, or at the first head whose tag is not that of the launch: nothing has to be cleared but when the tags
 * have all been used. The first chunk of a warp (of its lane 0) is known by the warp's number. Units have 16 bytes and
 * are aligned to them, numbers are little-endian.
 *
 * Order. The records of a lane's chunks are in its program order. A warp whose lanes may lead apart from each other
 * counts what it comes to: the records of a site, those of all its parts and maps, have one number, which is the
 * largest of those that its lanes took part in before, + 1. In a lane's chunks numbers go up by one, but where
 * RECORD_STAMP says otherwise. Sorted by number (then by leader) the records of a warp are in an order in which each
 * lane's own are in its program order. A warp of which only lane 0 has chunks need not be sorted. Where all lanes of a
 * warp are known to come, lane 0 leads, also for lanes whose guard holds when its own does not; the mask may then be
 * 0: the guard of no lane held. Between warps nothing but synchronization has an
 * order: strong accesses and atomics record, lane by lane (RECORD_LANE), when they were made, and what they found and
 * wrote, from which the order of those to one place can be told. Barriers need nothing: a wait that succeeded is
 * recorded behind it, everything else before. */
#ifndef TRACE_RECORD_H
#define TRACE_RECORD_H

#include <stdint.h>

enum { RECORD_UNIT = 16, RECORD_SITES = 1 << 20, RECORD_LANES = 32 };

/* Bits 20 to 23 of the first word of a unit that is a head; 0 to 19 are the site, 24 to 31 the tag (never 0). The
 * second word is the mask of lanes; the other two are the first value. */
typedef enum RecordKind {
    RECORD_CHUNK = 1, /* site bits: RECORD_CHUNK_...; second word: warp; third: lane; fourth: its count */
    RECORD_NEXT,      /* second word: number of the chunk in which the lane goes on; there may be none of it */
    RECORD_STAMP,     /* value: the count is this before the record that follows */
    RECORD_PLAIN,     /* the site has no parts: no value */
    RECORD_WARP,      /* value: of lane 0, or what it would be there; that of others is site_offset more */
    RECORD_UNIFORM,   /* value: of all lanes */
    RECORD_LIST, /* the values of the lanes follow, the lowest first, 4 or 8 bytes as the part has, padded to units */
    RECORD_LANE, /* one lane: value 0 here, further ones behind it, 8 bytes each, padded to units. Of several lanes, one
                    directly after the other in the chunks of one: they come together */
    RECORD_MAP,  /* value: address of a tensor map that the next record uses; its 128 bytes follow */
    RECORD_EXIT, /* lanes end */
    RECORD_GIVES_UP, /* a wait went on for too long: value as that of the wait's first part; the site is the wait's */
    /* This site and those behind it, as many as are told of together (Site.run). Of each its lanes, if they are not
     * known, nor those that were told last (Site.masked), then its parts as of a RECORD_WARP, in words of 32 bits, low
     * ones first: two of them are the value here, or three, the first of which is the second word, if the head has no
     * lanes (Site.bare); the others follow, padded to units. What may hold a thread is the last of a run. Each has a
     * number of its own. */
    RECORD_RUN,
    /* Of a part of a run, behind the words of all parts, with 8 bytes for each: the values of lanes 0, 1, 2, 4, 8
     * and 16. Those of others are sums: what each bit of the lane's number adds to that of lane 0. No unit begins so.
     */
    RECORD_CORNERS,
    /* Of a part of a run, behind all corners: 4 bytes for each of the 32 lanes, whether they take part or not. No unit
     * begins so. */
    RECORD_EVERY,
    /* Of a part of a run of which one bit is not known before: one of its words, with that bit of each lane, whether it
     * takes part or not. No unit begins so. */
    RECORD_BITS,
} RecordKind;
/* Of a chunk: it is the lane's first. The first word is all that it has: the one before it is of the same lane, 0,
 * which counts nothing. */
enum { RECORD_CHUNK_FIRST = 1, RECORD_CHUNK_OF_LINK = 2 };
enum { RECORD_CORNER_LANES = 6, RECORD_EVERY_BYTES = 4 * RECORD_LANES };

/* A site with several parts has a record for each, one directly after the other (but for RECORD_NEXT, after which the
 * next chunk has the others), unless it is a RECORD_LANE, which has
 * all of them: the parts in order. A strong access has one part at most, and a unit behind it: { %globaltimer before
 * it, what it found, what it writes or adds, what it compares with (or what the loop that it is in compares it with:
 * SitePoll) }, the low 32 bits of each, 0 where there is none.
 * One of more than 4 bytes has another unit behind that, with what is above them (the first word of it is 0): the upper
 * 32 bits of 8 bytes, a hash (record_hash) of the other three words of 16.
 */

static inline uint32_t record_word(unsigned tag, RecordKind kind, uint32_t site) {
    return (uint32_t)tag << 24 | (uint32_t)kind << 20 | site;
}
static inline RecordKind record_kind(uint32_t word) {
    return (RecordKind)(word >> 20 & 15);
}
static inline uint32_t record_site(uint32_t word) {
    return word & (RECORD_SITES - 1);
}
static inline unsigned record_tag(uint32_t word) {
    return word >> 24;
}

/* What a store of more than 4 bytes is told by: a hash of its words, the lowest first. One of up to 4 bytes is told by
 * itself. As instrumented code makes it. */
#define RECORD_HASH_FACTOR UINT32_C(0x9E3779B1)
enum { RECORD_HASH_SHIFT = 15 };
static inline uint32_t record_hash(uint32_t hash, uint32_t word) {
    hash *= RECORD_HASH_FACTOR;
    return (hash ^ hash >> RECORD_HASH_SHIFT) ^ word;
}

enum { RECORD_VARIABLES = 20 };

/* Some record found no place; an index wrapped between the lanes of a warp, where it was taken that none does. */
enum {
    RECORD_DROPPED_PLACE = 1,
    RECORD_DROPPED_WRAP = 1 << 8,   /* this and the next are stored, as bytes */
    RECORD_DROPPED_FIRST = 1 << 16, /* a lane that led found no place for its first record: nothing says which */
};

/* Where variables are, by the kernel that names them; 0: not told. Which they are: instrument/instrument.h. */
enum { RECORD_GLOBALS = 8 };
typedef struct RecordPlaces {
    uint16_t shared_at[RECORD_VARIABLES]; /* of shared memory, if it names several, + 1 */
    uint64_t global_at[RECORD_GLOBALS];   /* of global memory */
} RecordPlaces;

/* Which CTAs are recorded (trace/sample.h), in warps: warp w of the grid, w / stride being w * factor >> shift, is
 * recorded if its rest is less than `run`, and has the first chunk (w / stride) * run + rest. */
typedef struct RecordSample {
    uint32_t factor, shift; /* 0 and 0: the quotient is 0 */
    uint32_t stride, run;   /* run UINT32_MAX: all are recorded; 0: none is */
} RecordSample;

/* The last parameter of an instrumented kernel: the address of this block, in global memory, 16-byte aligned. `.param
 * .u64 weir_launch`. Fields that say so are written by the kernel. The offsets are part of what is written into code.
 */
typedef struct RecordLaunch {
    uint64_t first; /*  0: first chunks, one for each warp that is recorded, in the order of their numbers: number =
                           CTA * warps + warp, the CTA by %ctaid, x fastest */
    uint64_t more;  /*  8: further chunks, aligned to their size as the first ones are, and one more behind them, for
                           what found no place or is not to be recorded */
    uint32_t more_count; /* 16: without that one */
    uint32_t next;       /* 20: by the kernel: further chunks that were asked for; more than there are: some got none */
    uint32_t dropped;    /* 24: by the kernel: RECORD_DROPPED_WRAP, _FIRST; record_dropped has the rest */
    uint32_t tag;        /* 28: of this launch, shifted to bit 24 */
    uint32_t packed;     /* 32: by what packs the chunks, behind the kernel: units that that takes (trace/pack.h) */
    uint32_t packers;    /* 36: its CTAs that are done */
    uint32_t spin_timeout; /* 40: record_spin_timeout of the time after which a wait gives up; by the kernel: less, once
                          one gave up */
    uint32_t hurries;      /* 44: by the kernel: not 0 once it made it less */
    uint64_t host;         /* 48: address of a RecordHost in memory of the host that the device can reach; 0: none */
    uint64_t shared_window; /* 56: by the kernel: generic address of shared memory's first byte */
    uint64_t local_window;  /* 64: by the kernel: of local memory's */
    uint64_t param_window;  /* 72: by the kernel, if some tensor map is a parameter: generic address of the first one */
    RecordSample sample;    /* 80 */
    RecordPlaces places;    /* 96: by the kernel */
    uint64_t reserved[3];
} RecordLaunch;
_Static_assert(sizeof(RecordLaunch) == 224, "it is written into code, and src/runtime/record/pack.ptx copies it");

/* How long a wait may take, in units of 65,536 ns; 0 ns: any time, which no clock of 32 bits comes to. */
enum { RECORD_SPIN_TIMEOUT_SHIFT = 16 };
static inline uint32_t record_spin_timeout(uint64_t nanoseconds) {
    uint64_t units = nanoseconds >> RECORD_SPIN_TIMEOUT_SHIFT;
    return !nanoseconds || units > UINT32_MAX ? UINT32_MAX : units ? (uint32_t)units : 1;
}

/* Of a launch that has ended: RECORD_DROPPED_...; not 0: not all is as it was recorded. */
static inline uint32_t record_dropped(const RecordLaunch *launch) {
    return launch->dropped | (launch->next > launch->more_count ? RECORD_DROPPED_PLACE : 0);
}

/* How a kernel that hangs and the host talk. */
typedef struct RecordHost {
    uint32_t hang;    /* by the kernel: not 0 once a wait gave up */
    uint32_t drained; /* by the host, when it has what it needs: 1: who gave up ends; 2: traps */
    uint32_t gave_up; /* by the kernel: warps that gave up */
    uint32_t reserved[13];
} RecordHost;

#endif
