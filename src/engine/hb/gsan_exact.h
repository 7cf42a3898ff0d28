/* What the exact mode knows of a byte: its state. Cells that have seen the same share one.
 *
 * A state has four lists of accesses, newest first, which share their tails with the lists of older states, and what a
 * strong read can acquire. An access leaves its list only when a newer one stands for it: what would race with the
 * old one races with the new one, too. NULL is a state that nothing has touched.
 *
 * A fifth list has observations (gsan_observed.c): who has read which strong writes. */
#ifndef ENGINE_HB_GSAN_EXACT_H
#define ENGINE_HB_GSAN_EXACT_H

#include "engine/hb/gsan_internal.h"

typedef enum ListKind { WEAK_READS, STRONG_READS, WEAK_WRITES, STRONG_WRITES, OBSERVATIONS, LISTS } ListKind;

typedef struct GsanExactRecord {
    const Thread *thread;
    Ticket *ticket; /* NULL: not asynchronous, or its own thread has waited for it */
    uint64_t place; /* place, bytes: of a strong one, as in Access */
    /* Of a strong write: the number of the write that its chain begins with, and its own. Of an observation: those of
     * the first and the last write that were observed. */
    uint64_t since, number;
    uint32_t bytes, epoch, site;
    uint8_t kind, order, scope;
} GsanExactRecord;

typedef struct Node {
    uint32_t references, length;
    uint32_t limit; /* the length from which on the list is to be looked through */
    /* Of this node and all below it: */
    uint32_t device;   /* UINT32_MAX: of several */
    uint8_t narrowest; /* scope */
    bool is_one_place; /* the same bytes */
    struct Node *next;
    GsanExactRecord record;
} Node;

typedef struct GsanExactState {
    uint64_t references;
    Node *lists[LISTS];
    GsanRelease *release;
    bool is_last_strong; /* the last write is the newest one of STRONG_WRITES */
} GsanExactState;

/* ---- gsan_state.c: states and lists ---- */

GsanExactState *gsan_state_new(Gsan *gsan);
void gsan_state_take(GsanExactState *state, uint64_t count);
void gsan_state_give(Gsan *gsan, GsanExactState *state, uint64_t count);
/* Memory of cells, which is counted apart. */
void *gsan_shadow_take(Gsan *gsan, size_t size);
void gsan_shadow_give(Gsan *gsan, void *memory, size_t size);
void gsan_ticket_drop(Gsan *gsan, Ticket *ticket);

/* One reference of the result is the caller's; `next` loses none. */
Node *gsan_list_add(Gsan *gsan, const GsanExactRecord *record, Node *next);
/* `list` is given away. */
Node *gsan_list_put(Gsan *gsan, const GsanExactRecord *record, Node *list);
Node *gsan_list_share(Node *list);
void gsan_list_drop(Gsan *gsan, Node *list);
/* Without the records that `is_needless` holds for, nor those that a newer one of the same thread stands for; both are
 * asked newest first. */
typedef bool RecordTest(void *context, const GsanExactRecord *record);
typedef bool RecordPairTest(void *context, const GsanExactRecord *newer, const GsanExactRecord *older);
Node *gsan_list_compact(Gsan *gsan, const Node *list, RecordTest *is_needless, RecordPairTest *stands_for,
                        void *context);
/* From the length of a list that was looked through, the one from which on it is to be looked through again. */
uint32_t gsan_list_limit(uint32_t length);
/* Whether the newer record of a list stands for the older one: weak ones; strong ones, if nothing has observed them. */
bool gsan_weak_stands_for(void *context, const GsanExactRecord *newer, const GsanExactRecord *older);
bool gsan_strong_stands_for(void *context, const GsanExactRecord *newer, const GsanExactRecord *older);
/* Whether what comes after one of them comes after the other one, too. */
bool gsan_is_same_time(const GsanExactRecord *a, const GsanExactRecord *b);
/* Room for a mark for each thread, in gsan->marks. */
void gsan_make_marks(Gsan *gsan);

/* ---- gsan_observed.c: who has read which strong writes ---- */

/* Both lists of a state, shorter. `goes_on`: there may be more observations of the newest chain. */
Node *gsan_compact_writes(Gsan *gsan, const GsanExactState *state, bool goes_on);
Node *gsan_compact_observations(Gsan *gsan, const GsanExactState *state);

#endif
