/* What the files that play a recording share. */
#ifndef ANALYZE_RECORDING_INTERNAL_H
#define ANALYZE_RECORDING_INTERNAL_H

#include "analyze/recording/recording.h"
#include "analyze/threads/runs.h"
#include "emulate/ptx/play.h"
#include "engine/threads.h"
#include "instrument/instrument.h"
#include "instrument/shapes.h"
#include "record/stream.h"

/* ---- check.c ---- */

/* The launch that a recording is of. */
PtxLaunch *recording_launch(ThreadsCheck *check, const Recording *recording);

/* ---- shadow.c: of a kernel that checked itself ---- */

void recording_check_shadow(PtxModule *module, uint32_t entry, const Recording *recording,
                            const ThreadsOptions *options, Verdict *verdict);

/* ---- sites.c ---- */

/* A site as it is played. */
typedef struct PlaySite {
    const PtxCode *code; /* NULL: the kernel cannot come to it */
    const Site *site;
    const PtxArgument *arguments[SITE_PARTS]; /* registers of the parts */
    uint16_t generic;                         /* parts that are generic addresses: a mask */
    bool gathers;                             /* all lanes of the warp run it together */
    const PtxArgument *mask;                  /* bar.warp.sync: of the lanes that meet; NULL: it is another one */
    const PtxArgument *state, *object;        /* a wait: its token, if it has one, and the mbarrier; else NULL */
    const PtxArgument *address;               /* strong: of the access */
    PtxSpace space;                           /* ... and in which memory */
    uint8_t strong_kind;                      /* ... and StrongKind */
    bool finds;                               /* ... and it gives what it found */
    bool plain;                               /* a weak load or store, by the address in part 0: */
    PlayAccess access;
    ThreadsAccess told;
    bool copies; /* a cp.async, by the addresses in parts: */
    PlayCopy copy;
    uint8_t from_part, to_part, limit_part; /* the last: if it has one */
    ThreadsAccess reads, writes;
} PlaySite;

typedef struct PlaySites {
    Sites sites;
    PlaySite *items;
    RecordShape *shapes;
    bool any_strong, any_state;
} PlaySites;
/* False, with a sentence. */
bool play_sites(PlaySites *sites, ThreadsCheck *check, const Recording *recording, const char **problem);
void play_sites_free(PlaySites *sites);
/* Of each code: STORES_... of watch.h. */
const uint8_t *play_stored(ThreadsCheck *check);

/* ---- tickets.c: in which order strong accesses are played ---- */

/* A strong access. */
typedef struct Ticket {
    uint64_t key;    /* of the 4 bytes that it begins in */
    uint32_t number; /* of its turn there */
    uint32_t waiter; /* the cluster that waits for its turn, + 1 */
} Ticket;
/* The tickets of one key, in order. */
typedef struct TicketEntry {
    uint64_t key;
    uint32_t next, end; /* end 0: free */
} TicketEntry;
typedef struct Tickets {
    Ticket *items; /* sorted by key and number */
    uint32_t count;
    uint32_t *numbers;    /* of each strong access, warp by warp */
    uint32_t *first;      /* of each warp: its first there */
    uint32_t unfit;       /* that found something else than what was there in that order */
    TicketEntry *entries; /* hashed; a power of two */
    uint32_t entry_capacity;
} Tickets;

/* ---- play.c ---- */

/* A record that waits. */
typedef struct Pending {
    struct Pending *next;
    Record record;
    PtxGroup *group; /* it stands in the machine; NULL: not yet */
    bool ready;      /* none before it has a lane in common */
} Pending;

typedef struct PlayWarp {
    PtxWarp *warp;
    RecordStream stream;
    RecordCursor *room;    /* of the stream, if it has several leaders */
    Pending *pending;      /* in the order of the stream */
    uint32_t gave_up;      /* lanes whose wait went on for too long */
    uint32_t strong_count; /* strong accesses that were read */
    bool drained;
} PlayWarp;

typedef struct PlayCluster {
    uint32_t number;
    bool queued, over;
    PlayWarp *warps;          /* of all of its CTAs */
    struct PlayCluster *next; /* of the queue */
} PlayCluster;

/* In which phase of an mbarrier the lanes of a warp last arrived. */
typedef struct Token {
    uint64_t place;
    uint32_t warp; /* + 1; 0: free */
    uint32_t lanes;
    uint32_t phases[PTX_LANES];
} Token;

typedef struct Player {
    ThreadsCheck *check;
    const Recording *recording;
    PlaySites *sites;
    PtxMachine *machine;
    PtxWatch *watch;
    RecordReader reader;
    Tickets tickets;
    Arena arena;
    PlayCluster **clusters; /* of the grid; NULL: not begun, or over */
    uint32_t cluster_count, begun, live;
    PlayCluster *queue, **queue_end;
    Pending *free_pending;
    PlayCluster *free_clusters;
    uint32_t *unknown_codes; /* of each code: it could not be played */
    Token *tokens;           /* hashed; a power of two */
    uint32_t token_count, token_capacity;
    uint64_t records;
    PtxObserve *also; /* somebody else sees all events, plain accesses among them; NULL: nobody */
    void *also_observer;
    bool stops;            /* a fault */
    const PtxCode *lapped; /* a wait that was passed though its phase had gone by; NULL: none was */
} Player;

/* The records from first to last. How it ended: complete, stuck, with a fault, or out of memory or time. */
PtxEnd play(Player *player);
/* When it is stuck: a warp that had begun, had not ended, and stands nowhere: it ran. NULL: there is none. */
const PtxWarp *play_running(const Player *player);
/* Clusters of which no warp had begun. */
uint32_t play_not_begun(const Player *player);

/* ---- values.c ---- */

/* The values of a part in the lanes of the record. Generic addresses are the machine's. */
void play_values(const Player *player, const PlaySite *site, const Record *record, unsigned part, uint32_t warp_in_cta,
                 Lanes *values);
/* The parameters as PTX counts their offsets, if the recording has them otherwise. */
void play_unpack(const PtxProgram *program, Recording *recording, Arena *arena);
/* An address as the machine has it. */
uint64_t play_generic(const Player *player, uint64_t address);
/* The 4 bytes that a strong access of one lane begins in. */
uint64_t play_strong_key(const Player *player, const PlaySite *site, const Record *record, uint32_t cta);

/* ---- tickets.c ---- */
/* The strong accesses of the recording are put in order. */
void tickets_read(Player *player);
/* The record's number, if it is a strong access; in the order of the warp's stream. */
void tickets_take(Player *player, PlayWarp *warp, Record *record);
/* Whether it is the record's turn. If not, the cluster is woken when it is. */
bool tickets_turn(Player *player, uint64_t key, uint32_t ticket, uint32_t cluster);
/* It had its turn: returns the cluster that waits for the next one, + 1. */
uint32_t tickets_pass(Player *player, uint64_t key);

/* ---- tokens.c: waits by a token ---- */
/* The tokens of the lanes: of the phase in which each of them last arrived at the mbarrier. */
void tokens_set(Player *player, PtxGroup *group, const PlaySite *site, const Record *record);
void tokens_see(Player *player, const PtxEvent *event);

/* ---- access.c ---- */
/* Lanes of an atomic that store: all, but for a comparison that is known to fail. */
uint32_t play_stores(const PlaySite *site, const Record *record);
/* A plain access, told to the engine alone. False: it has to be run by the machine. */
bool play_plain(Player *player, PtxWarp *warp, const PlaySite *site, const Record *record);
/* The same of a cp.async. */
bool play_copies(Player *player, PtxWarp *warp, const PlaySite *site, const Record *record);

/* ---- check.c ---- */
/* recording_check, with all events told to somebody. For tests. */
void recording_check_seen(PtxModule *module, uint32_t entry, const Recording *recording, const ThreadsOptions *options,
                          Verdict *verdict, PtxObserve *also, void *observer);

/* CTA numbers: recordings count by %ctaid, the machine by cluster. */
uint32_t play_cta_id(const Player *player, uint32_t number);

#endif
