/* Boxes of CTAs that nothing has spoken for, and the next one to run. */
#include "explore/classes.h"

#include "base/deadline.h"

#include <string.h>

/* After so many classes that hold hardly more than a CTA each, CTAs are taken one by one. */
enum { FEW_CLASSES = 32 };

struct CtaClasses {
    Arena *arena;
    Symmetry symmetry;
    int64_t sizes[AXES];
    ClassOrder order;
    CtaBox *open;
    uint32_t open_count, open_capacity;
    uint64_t count, covered, all;
    CtaBox last;
    int64_t first[FEW_CLASSES]; /* sizes of the first ones */
    bool singly;                /* nothing is gained by looking */
    RunClass *run;
    void *context;
};

static void push(CtaClasses *classes, CtaBox box) {
    for (unsigned axis = 0; axis < AXES; axis++)
        if (box.low[axis] > box.high[axis])
            return;
    *ARENA_PUSH(classes->arena, classes->open, classes->open_count, classes->open_capacity) = box;
}

static uint64_t size_of(const CtaBox *box) {
    uint64_t size = 1;
    for (unsigned axis = 0; axis < AXES; axis++)
        size *= (uint64_t)(box->high[axis] - box->low[axis] + 1);
    return size;
}

CtaClasses *classes_new(Arena *arena, const int64_t sizes[AXES], ClassOrder order, bool singly, RunClass *run,
                        void *context) {
    CtaClasses *classes = ARENA_NEW(arena, CtaClasses);
    CtaBox all = {.low = {0}};
    *classes = (CtaClasses){.arena = arena, .order = order, .singly = singly, .run = run, .context = context};
    memcpy(classes->sizes, sizes, sizeof classes->sizes);
    for (unsigned axis = 0; axis < AXES; axis++)
        all.high[axis] = sizes[axis] - 1;
    push(classes, all);
    classes->all = classes->open_count ? size_of(&all) : 0;
    return classes;
}

/* The part of the box for which its first CTA speaks. */
static CtaBox represented(CtaClasses *classes, const CtaBox *box, uint64_t cta) {
    Symmetry *symmetry = &classes->symmetry;
    CtaBox one;
    memcpy(symmetry->at, box->low, sizeof symmetry->at);
    memcpy(symmetry->low, box->low, sizeof symmetry->low);
    memcpy(symmetry->high, box->high, sizeof symmetry->high);
    memset(symmetry->periods, 0, sizeof symmetry->periods);
    memcpy(one.low, box->low, sizeof one.low);
    bool others = classes->run(classes->context, symmetry, cta);
    memcpy(one.high, others ? symmetry->high : box->low, sizeof one.high);
    return one;
}

/* All CTAs as boxes: those that fill the last axis, and of its last step those that fill the one before it, ... */
static void push_programs(CtaClasses *classes, int64_t programs) {
    CtaBox box = {.low = {0}};
    classes->open_count = 0;
    for (unsigned axis = 0; axis < AXES; axis++)
        box.high[axis] = classes->sizes[axis] - 1;
    for (unsigned axis = AXES; axis-- > 0;) {
        int64_t steps = programs / classes->symmetry.weights[axis];
        box.high[axis] = steps - 1;
        push(classes, box);
        box.low[axis] = box.high[axis] = steps;
        programs %= classes->symmetry.weights[axis];
    }
}

int64_t classes_period(const CtaClasses *classes) {
    unsigned count = classes->count < FEW_CLASSES ? (unsigned)classes->count : FEW_CLASSES;
    int64_t sum = 0;
    for (unsigned length = 1; 2 * length < count; length++) {
        unsigned same = 1; /* the first CTA may do something of its own */
        sum += classes->first[length];
        while (same + length < count && classes->first[same] == classes->first[same + length])
            same++;
        if (same + length == count)
            return sum;
    }
    return 0;
}

bool classes_split(CtaClasses *classes, int64_t period) {
    int64_t *sizes = classes->sizes, *weights = classes->symmetry.weights, programs = sizes[0];
    unsigned axis = 0;
    if (classes->singly || sizes[1] != 1 || sizes[2] != 1)
        return false;
    weights[0] = 1;
    for (; axis + 1 < AXES; axis++) {
        CtaBox all = {.high = {sizes[0] - 1, sizes[1] - 1, sizes[2] - 1}};
        int64_t width = represented(classes, &all, 0).high[axis] + 1;
        if (axis == 0 && period > width)
            width = period;
        if (width < 2) /* CTAs that go by a remainder alone */
            width = classes->symmetry.periods[axis];
        if (width < 2 || width >= sizes[axis])
            break;
        sizes[axis + 1] = (sizes[axis] + width - 1) / width;
        sizes[axis] = width;
        weights[axis + 1] = weights[axis] * width;
    }
    for (unsigned rest = axis + 1; rest < AXES; rest++)
        weights[rest] = weights[axis] * sizes[axis];
    push_programs(classes, programs);
    return axis > 0;
}

void classes_sizes(const CtaClasses *classes, int64_t sizes[AXES]) {
    memcpy(sizes, classes->sizes, sizeof classes->sizes);
}

uint64_t classes_number(const int64_t sizes[AXES], const int64_t at[AXES]) {
    return (uint64_t)at[0] + (uint64_t)sizes[0] * ((uint64_t)at[1] + (uint64_t)sizes[1] * (uint64_t)at[2]);
}

/* What is left of a box without the part that begins where it does. */
static void cut(CtaClasses *classes, CtaBox box, const CtaBox *part) {
    for (unsigned axis = AXES; axis-- > 0;) {
        CtaBox rest = box;
        rest.low[axis] = part->high[axis] + 1;
        push(classes, rest);
        box.high[axis] = part->high[axis];
    }
}

static bool comes_before(const CtaClasses *classes, const CtaBox *left, const CtaBox *right) {
    if (classes->order == CLASSES_LARGEST)
        return size_of(left) > size_of(right);
    return classes->order == CLASSES_LOWEST &&
           classes_number(classes->sizes, left->low) < classes_number(classes->sizes, right->low);
}

static CtaBox take(CtaClasses *classes) {
    uint32_t which = classes->open_count - 1;
    for (uint32_t i = which; classes->order != CLASSES_ANY && i-- > 0;)
        if (comes_before(classes, &classes->open[i], &classes->open[which]))
            which = i;
    CtaBox box = classes->open[which];
    classes->open[which] = classes->open[--classes->open_count];
    return box;
}

bool classes_next(CtaClasses *classes, uint64_t *cta) {
    if (!classes->open_count || classes->count == MOST_CLASSES || deadline_look())
        return false;
    CtaBox box = take(classes), part = {.low = {0}};
    *cta = classes_number(classes->sizes, box.low);
    memcpy(part.low, box.low, sizeof part.low);
    memcpy(part.high, box.low, sizeof part.high);
    bool alone = memcmp(box.low, box.high, sizeof box.low) == 0;
    if (classes->order != CLASSES_ANY || (!classes->singly && !alone))
        part = represented(classes, &box, *cta);
    if (classes->count < FEW_CLASSES)
        classes->first[classes->count] = (int64_t)size_of(&part);
    classes->count++;
    classes->last = part;
    classes->covered += size_of(&part);
    classes->singly |= classes->count >= FEW_CLASSES && classes->covered < 2 * classes->count;
    cut(classes, box, &part);
    return true;
}

CtaBox classes_last(const CtaClasses *classes) {
    return classes->last;
}

uint64_t classes_count(const CtaClasses *classes) {
    return classes->count;
}

uint64_t classes_covered(const CtaClasses *classes) {
    return classes->covered;
}

bool classes_too_many(const CtaClasses *classes, uint64_t most) {
    uint64_t count = classes->count, covered = classes->covered;
    return count >= FEW_CLASSES &&
           (covered < 2 * count || (double)classes->all * (double)count > (double)covered * (double)most);
}
