/* Who makes an access, and what is before it: the clocks of a launch in global memory (trace/shadow.h). */
#ifndef DEVICE_VIEW_H
#define DEVICE_VIEW_H

#include "device/warp.h"
#include "trace/shadow.h"

#include <stddef.h>

/* What every call of a snippet hands over: the launch block, and who calls. */
typedef struct Here {
    uint64_t real, bytes, cells, state;
    uint64_t actors, vectors, rows, flags; /* clocked, as the next two */
    uint32_t stride, slot_shift;
    uint32_t who; /* flat: number of the CTA + 1; clocked: its slot */
    uint32_t form;
} Here;

#define HERE                                                                                                         \
    uint64_t real, uint64_t bytes, uint64_t cells, uint64_t state, uint64_t actors, uint64_t vectors, uint64_t rows, \
        uint64_t flags, uint32_t stride, uint32_t slot_shift, uint32_t who, uint32_t form
#define HERE_IS \
    { real, bytes, cells, state, actors, vectors, rows, flags, stride, slot_shift, who, form }

/* Functions that are called rarely find the rest in the state: the fewer registers they need, the more threads run. */
#define HERE_FEW             uint64_t state, uint32_t who, uint32_t form
#define HERE_FEW_IS          here_again(state, who, form)
#define HERE_FEW_GIVEN(here) (here)->state, (here)->who, (here)->form

typedef struct View {
    const Here *here;
    uint32_t stamp; /* that its accesses have, the site included */
    uint32_t time;  /* the same without the site: actor and epoch */
    uint32_t epoch; /* from 1 on */
    uint32_t site_bits, epoch_bits, slot_shift;
    uint32_t scope;
    bool is_flat;
    bool of_groups; /* what the CTA's copies do, and not its threads */
    bool late;      /* the access was made before: others may know of it */
    uint64_t actor; /* clocked */
    Wide words;     /* of the actor: epoch, begun, groups, old_groups */
} View;

static inline uint32_t here_tag(const Here *here) {
    return here->form & 255;
}

static inline uint64_t state_at(const Here *here, size_t offset) {
    return constant64(here->state + offset);
}
#define STATE64(here, field) state_at(here, offsetof(ShadowState, field))
#define STATE32(here, field) constant32((here)->state + offsetof(ShadowState, field))
#define ACTOR(actor, field)  ((actor) + offsetof(ShadowActor, field))

static inline Here here_again(uint64_t state, uint32_t who, uint32_t form) {
    Here here = {.state = state, .who = who, .form = form};
    here.real = STATE64(&here, real);
    here.bytes = STATE64(&here, bytes);
    here.cells = STATE64(&here, cells);
    here.actors = STATE64(&here, actors);
    here.vectors = STATE64(&here, vectors);
    here.rows = STATE64(&here, rows);
    here.flags = STATE64(&here, flags);
    here.stride = STATE32(&here, stride);
    here.slot_shift = STATE32(&here, slot_shift);
    return here;
}

static inline uint64_t actor_of(const Here *here, uint32_t slot) {
    return here->actors + (uint64_t)slot * sizeof(ShadowActor);
}

enum { VECTOR_KNOWS, VECTOR_FENCE, VECTOR_OBSERVED };

/* Entries of vectors: 32 bits; with the cells of the seed 16, as the CPU's engine has them. */
static inline uint32_t vector_entry(uint64_t vector, uint32_t actor) {
    return CELLS_COMPACT ? load32(vector + 4 * (uint64_t)actor) : load16(vector + 2 * (uint64_t)actor);
}
static inline void vector_raise(uint64_t vector, uint32_t actor, uint32_t epoch) {
    if (CELLS_COMPACT) {
        raise32(vector + 4 * (uint64_t)actor, epoch);
        return;
    }
    uint64_t at = vector + 2 * (uint64_t)(actor & ~1u);
    uint32_t shift = (actor & 1) * 16, old = load32(at);
    while ((old >> shift & 0xffff) < epoch) {
        uint32_t seen = cas32(at, old, (old & ~(0xffffu << shift)) | epoch << shift);
        if (seen == old)
            return;
        old = seen;
    }
}

static inline uint64_t vector_of(const Here *here, uint32_t slot, uint32_t which) {
    return here->vectors + ((uint64_t)slot * SHADOW_VECTORS + which) * here->stride;
}

/* Sites that have no room in a stamp are 0, not known. */
static inline uint32_t site_in(uint32_t site, uint32_t site_bits) {
    return site + 1 < 1u << site_bits ? site + 1 : 0;
}

static inline View view_flat(const Here *here, uint32_t site, uint32_t scope) {
    uint32_t site_bits = here->form >> 8 & 255;
    return (View){.here = here,
                  .stamp = here->who << site_bits | site_in(site, site_bits),
                  .time = here->who,
                  .site_bits = site_bits,
                  .scope = scope,
                  .is_flat = true};
}

/* Of an actor; clocks of the engine have 16 bits. */
static inline uint32_t most_epoch(uint32_t epoch_bits) {
    return epoch_bits < 16 ? (1u << epoch_bits) - 1 : UINT16_MAX;
}

/* At another epoch of its actor. */
static inline void view_at(View *view, uint32_t epoch, uint32_t site) {
    view->epoch = epoch;
    view->time = (view->here->who << view->slot_shift | (view->of_groups ? 1 : 0)) << view->epoch_bits | epoch;
    view->stamp = view->time << view->site_bits | site_in(site, view->site_bits);
}

/* With `groups` it is what the CTA's copies do, and not its threads. What the actor says is on its way: other loads can
 * be, too, before it is waited for (view_settle). */
static inline View view_begin(const Here *here, uint32_t scope, bool groups) {
    uint32_t site_bits = here->form >> 8 & 255, epoch_bits = here->form >> 16 & 255;
    View view = {.here = here, .site_bits = site_bits, .epoch_bits = epoch_bits, .scope = scope, .of_groups = groups};
    view.actor = actor_of(here, here->who);
    view.words = wide_load(ACTOR(view.actor, epoch));
    view.slot_shift = here->slot_shift;
    return view;
}
static inline void view_settle(View *view, uint32_t site) {
    uint32_t most = most_epoch(view->epoch_bits);
    uint32_t epoch = 1 + (uint32_t)(view->of_groups ? view->words.high : view->words.low);
    if (view->is_flat)
        view->stamp = view->time << view->site_bits | site_in(site, view->site_bits);
    else
        view_at(view, epoch < most ? epoch : most, site);
}
static inline View view_clocked(const Here *here, uint32_t site, uint32_t scope, bool groups) {
    View view = view_begin(here, scope, groups);
    view_settle(&view, site);
    return view;
}
/* The first epoch, less 1, and the groups, of the CTA that has the slot now. */
static inline uint32_t view_begun(const View *view) {
    return (uint32_t)(view->words.low >> 32);
}
static inline uint32_t view_old_groups(const View *view) {
    return (uint32_t)(view->words.high >> 32);
}

static inline uint32_t stamp_time(const View *view, uint32_t stamp) {
    return stamp >> view->site_bits;
}
static inline uint32_t stamp_actor(const View *view, uint32_t stamp) {
    return stamp >> (view->site_bits + view->epoch_bits);
}
static inline uint32_t stamp_epoch(const View *view, uint32_t stamp) {
    return stamp >> view->site_bits & ((1u << view->epoch_bits) - 1);
}

/* Whether it is an access of the CTA that the view is of. */
static inline bool is_own(const View *view, uint32_t stamp) {
    if (view->is_flat)
        return stamp_time(view, stamp) == view->time;
    uint32_t actor = stamp_actor(view, stamp);
    if (actor >> view->slot_shift != view->here->who)
        return false;
    bool of_group = view->slot_shift && (actor & 1);
    return stamp_epoch(view, stamp) > (of_group ? view_old_groups(view) : view_begun(view));
}

static inline uint32_t knows_of(const View *view, uint32_t actor) {
    return vector_entry(vector_of(view->here, view->here->who, VECTOR_KNOWS), actor);
}

static inline bool is_before(const View *view, uint32_t stamp) {
    if (is_own(view, stamp))
        return true;
    return !view->is_flat && stamp_epoch(view, stamp) <= knows_of(view, stamp_actor(view, stamp));
}

/* Whether the CTA of an access knows of what the view is of by now. */
static inline bool is_after(const View *view, uint32_t stamp) {
    uint64_t knows = vector_of(view->here, stamp_actor(view, stamp) >> view->slot_shift, VECTOR_KNOWS);
    return !view->is_flat && vector_entry(knows, view->here->who << view->slot_shift) >= view->epoch;
}

/* Both are strong, and each scope has the other one: CTA, or device. */
static inline bool scopes_link(const View *view, uint32_t stamp, uint32_t scope) {
    uint32_t needed = is_own(view, stamp) ? 1 : 3;
    return view->scope >= needed && scope >= needed;
}

#endif
