/* What the files that play a recording share. */
#ifndef CHECK_REPLAY_INTERNAL_H
#define CHECK_REPLAY_INTERNAL_H

#include "base/table.h"
#include "check/replay/footprint.h"
#include "check/replay/order/order.h"
#include "check/replay/recording.h"
#include "check/simt/executions.h"
#include "engine/hb/threads.h"
#include "machine/simt/core/play.h"
#include "trace/sample.h"
#include "trace/shapes.h"
#include "trace/stream.h"

/* ---- launch.c ---- */

/* The launch that a recording is of. */
PtxLaunch *recording_launch(ThreadsCheck *check, const Recording *recording);
/* Variables lie where the recording says. */
void launch_seat(ThreadsCheck *check, const Recording *recording, const Sites *sites);
/* Where variables of shared memory lie has to be told, if there are several: those that are not, too many of them or
 * declared in a block or named by a function that the kernel calls, may lie anywhere. */
void launch_report_shared(const ThreadsCheck *check, const Recording *recording, const Sites *sites);
/* Whether there are variables in global memory: of these a list of allocations says nothing. */
bool launch_has_globals(const ThreadsCheck *check);

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
    bool awaits;                              /* launches before this one */
    uint8_t global;                           /* it may read (1) or write (2) global memory */
    uint8_t global_part;                      /* ... if that is where the address in this part is, + 1; 0: it does */
    bool for_system;                          /* a strong access whose scope has the host */
    bool sequential;                          /* a fence that is in one order with all others of its kind */
    bool meets;                               /* all threads of the CTA, at this barrier: */
    bool at_named;                            /* every thread that comes to it is at some named barrier */
    uint32_t barrier;
    const PtxArgument *mask;           /* bar.warp.sync and the like: of the lanes that meet; NULL: it is another one */
    const PtxForm *hands;              /* ... that hand registers to each other, which orders no memory; else NULL */
    const PtxArgument *state, *object; /* a wait: its token, if it has one, and the mbarrier; else NULL */
    uint8_t state_part;                /* ... the part that has the token, + 1: what it is says nothing (tokens.c) */
    const PtxArgument *tested;         /* a wait before it is known how it ends: the mbarrier; else NULL */
    const PtxArgument *address;        /* strong: of the access */
    PtxSpace space;                    /* ... and in which memory */
    uint8_t strong_kind;               /* ... and StrongKind */
    uint8_t strong_bytes, strong_count; /* ... and bytes of the place, of which a vector has several */
    bool for_device;                    /* ... and all threads of the device are in its scope; it is not volatile */
    bool finds;                         /* ... and it gives what it found */
    bool goes_on;                       /* ... an atomic by which all threads of the device go on */
    uint8_t data;                       /* the part that says what it stores, + 1; 0: none */
    bool constant;                      /* it stores numbers that the instruction has: */
    uint32_t stored;                    /* as a record says it */
    bool plain;                         /* a weak load or store, by the address in part 0: */
    bool symbol;                        /* the same, by the address of a variable in shared memory */
    PlayAccess access;                  /* of any load or store; bytes 0: it is none */
    ThreadsAccess reported;
    bool again;  /* plain: other instructions access memory by the same register, and one of all of them writes */
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
    bool any_data;       /* it is told what some of them store */
    bool any_sequential; /* some are fences that all are in one order */
    bool any_order;      /* something in the kernel acquires, releases or is a fence, or waits for what others write */
    bool strong_alike;   /* no two strong accesses to global memory race: they are of one size, for the whole device */
} PlaySites;
/* The code of each statement that is an instruction of the kernel, or of what it may call; NULL of others. */
const PtxCode **play_codes(ThreadsCheck *check);
/* Reads the recording's table of them; then prepares them, when parameters and variables have their places. False, with
 * a sentence. */
bool play_sites_read(PlaySites *sites, ThreadsCheck *check, const Recording *recording, const char **problem);
bool play_sites(PlaySites *sites, ThreadsCheck *check, const Recording *recording, const char **problem);

/* ---- stored.c: what is in shared memory, as far as it was recorded ---- */

/* What is known of each code without it; and of sites that store numbers, these. */
const PtxStores *play_stored(ThreadsCheck *check, PlaySites *sites);
typedef struct PlayCtaBytes {
    uint8_t *bytes, *known; /* of its shared memory; NULL: nothing is known */
    uint64_t begin, end;    /* where something is */
} PlayCtaBytes;
struct Player;
/* Lanes store `count` bytes each at these offsets in a CTA's shared memory: what the record of the site says. Lanes
 * that change nothing. */
uint32_t stored_put(struct Player *player, uint32_t cta, uint32_t lanes, const uint64_t *offsets, uint32_t count,
                    const PlaySite *site, const Record *record, uint32_t warp_in_cta);
/* An event of the machine, before it is told: who changes nothing is taken out. */
void stored_see(struct Player *player, PtxEvent *event);
/* The CTA is over. */
void stored_over(struct Player *player, uint32_t cta);

/* ---- turns.c: in which order strong accesses are played ---- */

/* A strong access. */
typedef struct ModificationOrder {
    uint64_t key;    /* of the bytes that it is to */
    uint32_t number; /* of its turn there */
    uint32_t waiter; /* the cluster that waits for its turn, + 1; of all players */
    uint32_t other;  /* of an access that has two: the number of the one in reserve */
    uint8_t state;   /* TurnState */
} ModificationOrder;
typedef enum TurnState {
    TURN_ONLY,
    TURN_EARLY,   /* there is another one behind it: */
    TURN_RESERVE, /* which nothing waits for, */
    TURN_LEFT,    /* unless the first one cannot be waited for */
    TURN_ANY,     /* nothing writes there: it need not be waited for */
} TurnState;
/* The turns at one place, in order. */
typedef struct StrongPlace {
    uint64_t key;
    uint32_t begin, next, end; /* end 0: free */
} StrongPlace;
typedef TABLE_OF(StrongPlace) StrongPlaces;
/* A poll that is played earlier than it was made. */
typedef struct EarlyPoll {
    const PlaySite *site;
    uint64_t found, value; /* and what it ends on there */
} EarlyPoll;
typedef struct ModificationOrders {
    bool kept_in_order; /* else it orders nothing else in which order strong accesses are made: they have no turns */
    ModificationOrder *items; /* sorted by key and number */
    uint32_t count;
    uint32_t *numbers; /* of each strong access, warp by warp */
    StrongUncertain doubts;
    const Strong *read; /* all of them, by place and time */
    uint32_t read_count;
    uint32_t split; /* that are to a part of what others access as a whole, or as a vector */
    StrongPlaces places;
    const PlaySite *kept; /* takes a lock, which is left taken by the last to do so (locks.c); NULL: none is */
    EarlyPoll early;      /* one of those; no site: there are none */
    uint32_t doubled;     /* accesses with two turns */
    uint32_t skipped_at;  /* the place where one was left last */
} ModificationOrders;

/* ---- play.c ---- */

/* A record that waits. */
typedef struct ReplayPending {
    struct ReplayPending *next;
    Record record;
    PtxGroup *group; /* it stands in the machine; NULL: not yet */
    bool ready;      /* none before it has a lane in common */
} ReplayPending;

typedef struct PlayWarp {
    PtxWarp *warp;
    RecordStream stream;
    RecordCursor *room;     /* of the stream, if it has several leaders */
    ReplayPending *pending; /* in the order of the stream */
    uint32_t gave_up;       /* lanes whose wait went on for too long */
    uint32_t strong_count;  /* strong accesses that were read */
    bool drained;
    const PlaySite *met; /* it stands at a barrier that the machine has not heard of (meet.c); NULL */
    uint32_t met_as;     /* ... as which of those that do */
    bool parts;          /* the machine is being told of that */
} PlayWarp;

/* Warps of a CTA that stand at a barrier which the machine has not heard of. */
typedef struct PlayMeeting {
    uint32_t count, barrier;
} PlayMeeting;

typedef struct PlayCluster {
    uint32_t number;
    bool queued, over;
    PlayWarp *warps;          /* of all of its CTAs */
    PlayMeeting *meetings;    /* of each of them */
    struct PlayCluster *next; /* of the queue */
} PlayCluster;

/* In which phase of an mbarrier the lanes of a warp last arrived. */
typedef struct Token {
    uint64_t place;
    uint32_t warp; /* + 1; 0: free */
    uint32_t lanes;
    uint32_t phases[PTX_LANES];
} Token;
typedef TABLE_OF(Token) TokenTable;

typedef struct Player {
    ThreadsCheck *check;
    const Recording *recording;
    PlaySites *sites;
    PtxMachine *machine;
    PtxWatch *watch;
    PtxWatch *apart; /* sees the same, and takes nothing for ordered by sequential fences alone; NULL: there are none */
    RecordReader reader;
    ModificationOrders *turns;
    struct StrongReading *read; /* its strong accesses, all of them; NULL: they were not read yet */
    uint32_t *first_strong;     /* of each warp: its first in turns->numbers; NULL: there are none */
    Arena arena;
    PlayCluster **clusters; /* of the grid; NULL: not begun, or over */
    uint32_t cluster_count, begun, live;
    PlayCluster *queue, **queue_end;
    ReplayPending *free_pending;
    PlayCluster *free_clusters;
    uint32_t *unknown_codes; /* of each code: it could not be played */
    TokenTable tokens;
    uint64_t records, passes; /* passes: through the warps of some cluster */
    PlayCtaBytes *stored;     /* of each CTA; NULL: values are not told */
    PlayCtaBytes *spare;      /* of CTAs that are over */
    uint32_t spare_count, spare_capacity;
    const Record *record; /* that is run, and its site */
    const PlaySite *site;
    struct Prepass *prepass;       /* prepass.c; NULL: none was made */
    const Footprint *footprint;    /* ... and what accesses to global memory need no look; NULL: it is not known */
    const struct PlayQuick *quick; /* quick.c, of each site; NULL: all records are looked at one by one */
    struct RecordingSeen *seen;    /* something else sees what is played; NULL: none */
    bool loose;                    /* strong accesses order nothing: they have no turns, and where a word of memory has
                                      no others they need no look */
    bool may_be_loose;             /* that is tried, though some could (PlaySites.any_order): then nothing that is found
                                      is reported, and all is played again */
    bool loose_shared;             /* the same of those to shared memory alone */
    bool stops;                    /* a fault */
    bool other;            /* another order than that of the recording (alternatives.c): plain accesses are left out */
    PlayWarp *held;        /* ... in which this one waits for mbarriers only when it is let; NULL: none does */
    bool lets;             /* ... now, for one of them; or for one of the fences of `late` */
    uint32_t late;         /* a cluster whose sequential fences come when nothing else can go on, + 1; 0: none */
    uint32_t overrules;    /* how often turns may still be overruled; 0: they may not */
    const PtxCode *lapped; /* a wait that was passed though its phase had gone by; NULL: none was */
    struct PlayCopies *copies; /* that may have run at the same time; NULL: none */
    /* Where several launches are played together: */
    struct ReplayTogether *together;      /* NULL: it is alone */
    uint32_t member;                      /* its number there */
    uint32_t first_cluster, first_thread; /* clusters and threads count on from these */
    uint64_t variables;                   /* a part of the keys of the module's variables */
    const struct TogetherSteps *across;   /* where its memory is for all processes; NULL: they are of one */
} Player;

/* The records from first to last. How it ended: complete, stuck, with a fault, or out of memory or time. */
PtxEnd play(Player *player);
/* As far as it goes without others. False: the time is up. */
bool play_on(Player *player);
/* An access that no thread comes to, as it waits for others that wait for it, is made later. Whether there was one. */
bool play_skip(Player *player);
/* A wait whose phase has gone by is over. Whether there was one. */
bool play_pass(Player *player);
/* Clusters that wait look again. */
void play_wake_all(Player *player);
/* One of them. */
void play_wake(Player *player, uint32_t cluster);
/* Whether all of its threads have ended. */
bool play_is_over(const Player *player);
/* The cluster `begun` of the grid begins. */
PlayCluster *play_begin(Player *player);
/* As far as the warp comes; whether it did anything. */
bool play_turn(Player *player, PlayWarp *warp);
/* Whether all of its records were played, and its threads have ended. */
bool play_ended(const Player *player, const PlayCluster *cluster);
/* Whether a thread waits for its turn at a strong access. */
bool play_takes_turns(const Player *player, const PlayCluster *cluster);
/* What the record says is done, if it need not wait: if it has to, it is kept with what it waits for. */
bool play_try(Player *player, PlayWarp *warp, Record *record, PtxGroup **group);
void play_wait(Player *player, PlayWarp *warp, const Record *record, PtxGroup *group);

/* Lanes that have not ended. */
uint32_t play_live(const PtxWarp *warp);
/* Of lanes that meet by a mask (PlaySite.mask): those that they wait for. */
uint32_t play_mask(const Player *player, const PlayWarp *warp, const PlaySite *site, const Record *record);
/* What the record had told of registers is not known any more. */
void play_forget_parts(PtxGroup *group, const PlaySite *site);

/* ---- stuck.c: when nothing goes on any more ---- */
/* Lanes that wait are put where they do, to explain why. */
void play_stand(Player *player);
/* A warp that had begun, had not ended, and stands nowhere: it ran. NULL: there is none. */
const PtxWarp *play_running(const Player *player, uint32_t *lane);
/* Clusters of which no warp had begun. */
/* A thread that gave up though what it polls was changed behind its last look: it was slow, or others were. NULL: there
 * is none. */
const PtxWarp *play_served(const Player *player, uint32_t *lane);
uint32_t play_not_begun(const Player *player, uint32_t *clusters);

/* ---- fences.c: sequential fences in another order ---- */
/* Races that nothing but sequential fences orders: those that there are in another order of the fences are told, and
 * taken out. How many are left. */
uint32_t fences_report(const Player *player, PtxRace *races, uint32_t count);

/* ---- meet.c: barriers of whole CTAs ---- */
/* The warp has come to where all threads of its CTA meet: it stands there, or all go on. False: the machine has to do
 * it. */
bool meet_comes(Player *player, PlayWarp *warp, const PlaySite *site, const Record *record);
/* The machine is told of those who stand; whether there were any. */
bool overlap_part(Player *player, const PtxCta *cta);
bool overlap_part_all(Player *player);

/* ---- values.c ---- */

/* The values of a part in the lanes of the record. Generic addresses are the machine's. */
void play_values(const Player *player, const PlaySite *site, const Record *record, unsigned part, uint32_t warp_in_cta,
                 Lanes *values);
/* The parameters as PTX counts their offsets, if the recording has them otherwise. False: they are not those of the
 * kernel. */
bool play_unpack(const PtxProgram *program, Recording *recording, Arena *arena);
/* An address as the machine has it. */
uint64_t play_generic(const Player *player, uint64_t address);
/* Whether a variable of global memory lies apart from all addresses, as where it was on the device is not known. */
bool play_is_apart(const PtxSymbolSlot *seat);
/* The place that a strong access of one lane is to: of a vector, its first element's. */
uint64_t play_strong_key(const Player *player, const PlaySite *site, const Record *record, uint32_t cta);
/* The address of its one lane, by a register of 64 bits; false: it is another one. */
bool play_strong_address(const Player *player, const PlaySite *site, const Record *record, uint64_t *address);
/* What a key is of: global memory at that address, a variable of the module in it, which is known by its name alone, or
 * other memory. */
typedef enum PlayPlace { PLACE_GLOBAL, PLACE_NAMED, PLACE_SHARED } PlayPlace;
PlayPlace play_key_place(uint64_t key, uint64_t *address);
/* The first byte of a key's place, in an order in which all memory is, and how many there are. */
uint64_t play_key_first(uint64_t key, uint32_t *bytes);
/* Of a plain store: the first byte that each lane of the record writes, in that order, and how many; 0: it is none. */
uint32_t play_stored_places(const Player *player, const PlaySite *site, const Record *record, uint32_t cta,
                            uint32_t warp_in_cta, Lanes *places);

/* ---- stores.c ---- */
/* How often plain stores write the places of strong accesses, which are sorted by key. */
void stores_count(Strong *items, uint32_t count, Player *const *players, uint32_t player_count, Arena *arena);

/* ---- turns.c ---- */
/* Strong accesses as they are read, CTA by CTA and warp by warp; NULL: there are none that need an order. */
typedef struct StrongReading StrongReading;
StrongReading *turns_reading(Player *player);
/* The warp, by its number in the grid, begins; and each of its records. */
void turns_begin(const StrongReading *reading, Player *player, uint32_t warp);
void turns_see(StrongReading *reading, Player *player, uint32_t warp, uint32_t cta, const Record *record);
/* The strong accesses of the recordings are ordered, those of all players together: turns are theirs. Those that
 * were not read on the way (Player.read) are read first. */
void turns_read(ModificationOrders *turns, Player *const *players, uint32_t count);
/* Those of a part of the grid, in the order that they have: items are sorted. */
void turns_alone(ModificationOrders *turns, ModificationOrder *items, uint32_t count, Arena *arena);
/* The number of a RECORD_LANE, if it is a strong access; in the order of the warp's stream. */
void turns_take(Player *player, PlayWarp *warp, Record *record);
/* What comes at the place behind a turn that is over: the cluster that waits for it, + 1. */
uint32_t turns_on(ModificationOrders *turns, StrongPlace *place);
/* Where its turn is, if it is a strong access by a thread of the CTA. */
StrongPlace *turns_place(const Player *player, const PlaySite *site, Record *record, uint32_t cta);
/* Whether it is the record's turn. If not, the cluster is woken when it is. */
bool turn_has_come(Player *player, const StrongPlace *place, uint32_t number, uint32_t cluster);
/* The turn of that number is the next, whatever comes before it: their order is not known. */
void turns_overrule(ModificationOrders *turns, StrongPlace *place, uint32_t number);
/* It had its turn: returns the cluster that waits for the next one, + 1. */
uint32_t turns_pass(Player *player, StrongPlace *place);

/* ---- locks.c: locks that are not given back ---- */
/* Of accesses that are sorted by key and have numbers. */
void locks_find(ModificationOrders *turns, const Strong *items, uint32_t count, Arena *arena);
void locks_report(const Player *player, Verdict *verdict);

/* ---- spin_loops.c: polls that could have ended earlier ---- */
/* Whether a poll (Strong.poll) ends its loop if it finds that. */
bool poll_ends(const Strong *item, uint64_t value);
/* The turns of accesses that are sorted by key and have numbers. */
void polls_turns(ModificationOrders *turns, const Strong *items, uint32_t count, Arena *arena);
/* Of races that were found with them, from that finding on: in which order. */
void polls_report(const Player *player, Verdict *verdict, size_t first);
/* The number of the turn that counts. */
uint32_t polls_number(const ModificationOrders *turns, const StrongPlace *place, uint32_t number);
/* Nothing can go on: an early turn that others wait for, and no thread comes to, is left. The cluster that waits for
 * the next one, + 1; 0: there is none. False: there is no such turn. */
bool polls_skip(ModificationOrders *turns, uint32_t *woken);
/* ---- tokens.c: waits by a token ---- */
/* The tokens of the lanes: of the phase in which each of them last arrived at the mbarrier. */
void tokens_set(Player *player, PtxGroup *group, const PlaySite *site, const Record *record);
void tokens_see(Player *player, const PtxEvent *event);

/* ---- alternatives.c: in which other orders it could have happened ---- */
/* Behind play(). `whole`: everything that the threads did was recorded, so that what gets stuck is a deadlock. Whether
 * something was found. */
bool play_alternatives(Player *player, bool whole);

/* ---- prepass.c: what all threads access, and which clusters do the same ---- */
/* Before anything is played; of the recording as it was given. Strong accesses are read on the way. */
void prepass_make(Player *player, const Recording *recording);
/* Whether the next cluster that would begin need not: it is counted as if it had been played. */
bool prepass_passes(Player *player);
/* The cluster was played to its end. */
void prepass_over(Player *player, const PlayCluster *cluster);
/* Whether what the cluster's copies (cp.async) do in shared memory was played for another one (prepass_fetches.c); if
 * not, one of them is played. */
bool fetches_known(Player *player, uint32_t cluster);
void fetches_reported(Player *player, uint32_t cluster);
/* All is played: what was not has been read all the same. */
void prepass_end(Player *player);

/* ---- cores.c: several threads ---- */
/* Whether there is anything to report, but for how much was played; `reasons`: of an incomplete verdict, before. */
bool play_is_odd(const Player *player, PtxEnd end, size_t reasons);
/* Whether the site's accesses have turns. */
static inline bool play_has_turns(const Player *player, const PlaySite *site) {
    return !player->loose && !(player->loose_shared && site->space == PTX_SPACE_SHARED);
}
/* Whether it is played as if strong accesses ordered nothing, though they may. */
static inline bool play_is_blind(const Player *player) {
    return player->loose && player->sites->any_order;
}
/* All clusters are read for the prepass, by as many as there are cores for. False: as prepass_read. */
bool cores_read(struct Prepass *prepass, const Recording *recording);
/* Whether the clusters can be played by several; behind prepass_make. */
bool cores_can(const Player *player);
/* play(), by as many as there are cores for (ThreadsOptions.core); of the recording as it was given. *again: something
 * is to be reported, and all has to be played by one thread alone. */
PtxEnd cores_play(Player *player, const Recording *recording, bool *again);

/* ---- access.c ---- */
/* What the addresses of a record's lanes are made of. */
typedef struct PlayReach {
    Lanes at;
    uint64_t least, most; /* of the lanes' */
    uint64_t bits;        /* that some of them have */
} PlayReach;
/* Of a part of the record, and what is added to it. */
void play_reach(const Player *player, const PlaySite *site, const Record *record, uint32_t warp, unsigned part,
                int64_t plus, PlayReach *reach);
/* Whether all lanes of the record access memory one beside the other, from *first on. */
bool play_is_beside(const PlaySite *site, const Record *record, uint64_t *first);
/* Lanes of an atomic that store: all, but for a comparison that is known to fail. */
uint32_t play_stores(const PlaySite *site, const Record *record);
/* A plain access, told to the engine alone. False: it has to be run by the machine. */
bool play_plain(Player *player, PtxWarp *warp, const PlaySite *site, const Record *record);
/* Whether a strong access needs no look: it orders nothing, and is to memory that has no other accesses. */
bool play_is_left_out(const Player *player, const PlaySite *site, const Record *record, uint32_t cta);
/* A strong load or atomic of one lane, to global memory; false: the machine has to run it. */
bool play_strong(Player *player, PtxWarp *warp, const PlaySite *site, const Record *record);
/* The same of a cp.async. */
bool play_copies(Player *player, PtxWarp *warp, const PlaySite *site, const Record *record);

/* ---- quick.c: plain accesses of all lanes, one beside the other ---- */
/* Before anything is read. */
void quick_find(Player *player);
/* Those that come next are added to what the warp (of the grid) accesses; whether there were any. */
bool quick_read(const Player *player, Footprint *footprint, uint32_t warp, RecordStream *stream);
/* Those that come next, and not more than `most`, are played: how many there were. */
uint32_t quick_play(Player *player, PlayWarp *warp, uint32_t most);

/* ---- copies.c: copies and memsets of the program ---- */
/* Those that may have run at the same time as the launch. */
void copies_find(Player *player);
/* Whether accesses from `least` on, before `end`, may be to their memory: then they are to be seen. */
bool copies_near(const Player *player, uint64_t least, uint64_t end);
void copies_see(Player *player, const PtxEvent *event);
void copies_report(const Player *player);
/* Whether it is known that no copy writes a CUDA array at the same time. */
bool copies_spare_arrays(const Player *player);

/* ---- together.c ---- */
/* Threads of a CTA begin: they know which launches have ended. */
void together_begins(const Player *player, const PtxCta *cta);
/* Whether lanes may go on behind griddepcontrol.wait; and they do. */
bool together_may_go_on(const Player *player);
void together_waited(const Player *player, const PtxEvent *event);
/* The player of a cluster, and its number there. */
Player *together_player(const Player *player, uint32_t *cluster);

/* ---- check.c ---- */
/* A recording as it is played; and everything that is needed for it. False, with a sentence. */
bool playing_prepare(ThreadsCheck *check, Recording *recording, PlaySites *sites, const char **problem);
/* In which order strong accesses were made, if it cannot be told. */
void report_order(Verdict *verdict, const ModificationOrders *turns);
/* The player of a machine that was opened. */
void playing_open(Player *player, ThreadsCheck *check, const Recording *recording, PlaySites *sites, PtxWatch *watch);
bool playing_start(Player *player);
void playing_observe(void *player, const PtxEvent *event);
/* An observer of what is played: all events, but for plain accesses of other clusters than his. */
typedef struct RecordingSeen {
    PtxObserve *see; /* NULL: nothing is seen */
    void *observer;
    bool all;         /* clusters are his, or: */
    uint32_t cluster; /* this one alone; behind it: one that something was found in, else that */
    /* Called when the machine is there, and when it stands still at the end; may be NULL. */
    void (*begin)(struct RecordingSeen *seen, ThreadsCheck *check);
    void (*end)(struct RecordingSeen *seen, ThreadsCheck *check);
} RecordingSeen;
/* recording_check of one that has records, seen by an observer. */
void recording_check_seen(PtxModule *module, uint32_t entry, const Recording *recording, const ThreadsOptions *options,
                          Verdict *verdict, RecordingSeen *seen);

/* CTA numbers: recordings count by %ctaid, the machine by cluster. */
uint32_t play_cta_id(const Player *player, uint32_t number);

#endif
