/* Sums of bounded multiples: largest first, each only as far as the smaller ones can make up for it. */
#include "explore/overlap.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 1 << 16 };

/* ---- Sums ----------------------------------------------------------------------------------------- */

/* Terms of the same size count as one. */
typedef struct OverlapGroup {
    int64_t by, count; /* by > 0 */
    int64_t value;
    __int128 rest; /* what those after it can add up to */
    int64_t unit;  /* the greatest common divisor of it and those after it */
} OverlapGroup;

typedef struct OverlapSearch {
    OverlapGroup groups[OVERLAP_TERMS];
    unsigned count, kept; /* kept: those that are searched; the others fill in */
    unsigned steps;
} OverlapSearch;

static int64_t divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static __int128 floor_divide(__int128 a, int64_t by) {
    return a / by - (a % by < 0);
}

static int by_size(const void *a, const void *b) {
    const OverlapGroup *x = a, *y = b;
    return x->by < y->by ? 1 : x->by > y->by ? -1 : 0;
}

static void make_groups(OverlapSearch *search, const OverlapTerm *terms, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        int64_t by = terms[i].by < 0 ? -terms[i].by : terms[i].by;
        unsigned k = 0;
        if (!by || terms[i].count < 2)
            continue;
        while (k < search->count && search->groups[k].by != by)
            k++;
        if (k == search->count)
            search->groups[search->count++] = (OverlapGroup){.by = by, .count = 1};
        search->groups[k].count += terms[i].count - 1;
    }
    qsort(search->groups, search->count, sizeof *search->groups, by_size);
}

/* The search from group `at` on; low and high are what is left to reach. */
static Overlap search_from(OverlapSearch *search, unsigned at, __int128 low, __int128 high) {
    OverlapGroup *group = &search->groups[at];
    if (at == search->kept)
        return low <= 0 && high >= 0 ? OVERLAP_FOUND : OVERLAP_NEVER;
    if (++search->steps > MOST_STEPS)
        return OVERLAP_UNDECIDED;
    if (floor_divide(high, group->unit) * group->unit < low)
        return OVERLAP_NEVER;
    __int128 from = -floor_divide(group->rest - low, group->by), to = floor_divide(high, group->by);
    from = from < 0 ? 0 : from;
    to = to >= group->count ? group->count - 1 : to;
    for (__int128 value = from; value <= to; value++) {
        group->value = (int64_t)value;
        Overlap found = search_from(search, at + 1, low - value * group->by, high - value * group->by);
        if (found != OVERLAP_NEVER)
            return found;
    }
    return OVERLAP_NEVER;
}

/* Groups whose steps are no larger than what may be reached is wide leave no gap: they only make it wider. */
static __int128 absorb(OverlapSearch *search, __int128 low, __int128 high) {
    search->kept = search->count;
    while (search->kept && high - low + 1 >= search->groups[search->kept - 1].by) {
        const OverlapGroup *group = &search->groups[--search->kept];
        low -= (__int128)group->by * (group->count - 1);
    }
    __int128 rest = 0;
    int64_t unit = 0;
    for (unsigned i = search->kept; i-- > 0;) {
        search->groups[i].rest = rest;
        rest += (__int128)search->groups[i].by * (search->groups[i].count - 1);
        search->groups[i].unit = unit = divisor(search->groups[i].by, unit);
    }
    return low;
}

/* Those that were absorbed, the largest first, each as little as leaves the others enough. */
static void fill_in(OverlapSearch *search, __int128 low) {
    __int128 sum = 0, rest = 0;
    for (unsigned i = 0; i < search->kept; i++)
        sum += (__int128)search->groups[i].by * search->groups[i].value;
    for (unsigned i = search->kept; i < search->count; i++)
        rest += (__int128)search->groups[i].by * (search->groups[i].count - 1);
    for (unsigned i = search->kept; i < search->count; i++) {
        OverlapGroup *group = &search->groups[i];
        rest -= (__int128)group->by * (group->count - 1);
        __int128 missing = low - rest - sum, times = missing > 0 ? -floor_divide(-missing, group->by) : 0;
        group->value = (int64_t)times;
        sum += times * group->by;
    }
}

/* The values of the terms, from those of their groups. */
static void give_values(OverlapSearch *search, OverlapTerm *terms, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        int64_t by = terms[i].by < 0 ? -terms[i].by : terms[i].by, value = 0;
        for (unsigned k = 0; k < search->count && by && terms[i].count > 1; k++) {
            OverlapGroup *group = &search->groups[k];
            if (group->by != by)
                continue;
            value = group->value < terms[i].count ? group->value : terms[i].count - 1;
            group->value -= value;
        }
        terms[i].value = terms[i].by < 0 ? terms[i].count - 1 - value : value;
    }
}

Overlap overlap_sum(OverlapTerm *terms, unsigned count, __int128 low, __int128 high) {
    OverlapSearch search = {.count = 0};
    for (unsigned i = 0; i < count; i++) {
        if (terms[i].count < 1)
            return OVERLAP_NEVER;
        if (terms[i].by == INT64_MIN || terms[i].count > INT64_MAX / OVERLAP_TERMS)
            return OVERLAP_UNDECIDED;
        if (terms[i].by < 0) { /* counted from its other end */
            low -= (__int128)terms[i].by * (terms[i].count - 1);
            high -= (__int128)terms[i].by * (terms[i].count - 1);
        }
    }
    if (low > high)
        return OVERLAP_NEVER;
    make_groups(&search, terms, count);
    __int128 wide = absorb(&search, low, high);
    Overlap found = search_from(&search, 0, wide, high);
    if (found == OVERLAP_FOUND) {
        fill_in(&search, low);
        give_values(&search, terms, count);
    }
    return found;
}

/* ---- Pieces --------------------------------------------------------------------------------------- */

static bool same_shape(const Piece *a, const Piece *b) {
    return a->bytes == b->bytes && a->levels == b->levels &&
           memcmp(a->strides, b->strides, a->levels * sizeof *a->strides) == 0 &&
           memcmp(a->counts, b->counts, a->levels * sizeof *a->counts) == 0;
}

static uint32_t fold_once(Piece *pieces, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count;) {
        Piece piece = pieces[i];
        uint32_t more = i + 1;
        int64_t stride = 0;
        while (more < count && same_shape(&pieces[more], &pieces[i]) &&
               !__builtin_sub_overflow(pieces[more].begin, pieces[more - 1].begin, &stride) &&
               stride == pieces[i + 1].begin - pieces[i].begin)
            more++;
        if (more > i + 1) {
            stride = pieces[i + 1].begin - pieces[i].begin;
            piece.strides[piece.levels] = stride;
            piece.counts[piece.levels] = more - i;
            piece.levels += stride != 0;
        }
        pieces[kept++] = piece;
        i = more;
    }
    return kept;
}

uint32_t overlap_fold(Piece *pieces, uint32_t count) {
    for (;;) {
        for (uint32_t i = 0; i < count; i++)
            if (pieces[i].levels == OVERLAP_LEVELS)
                return count;
        uint32_t left = fold_once(pieces, count);
        if (left == count)
            return count;
        count = left;
    }
}

Piece *overlap_pieces(Arena *arena, const Bytes *bytes, uint32_t *count) {
    Piece *pieces = ARENA_ARRAY(arena, Piece, bytes->count + 1);
    for (uint32_t i = 0; i < bytes->count; i++)
        pieces[i] = (Piece){.begin = bytes->runs[i].begin, .bytes = bytes->runs[i].end - bytes->runs[i].begin};
    *count = overlap_fold(pieces, bytes->count);
    return pieces;
}

Run overlap_hull(const Piece *piece) {
    Run hull = {piece->begin, piece->begin + piece->bytes};
    for (unsigned i = 0; i < piece->levels; i++)
        *(piece->strides[i] < 0 ? &hull.begin : &hull.end) += piece->strides[i] * (piece->counts[i] - 1);
    return hull;
}

/* ---- Families ------------------------------------------------------------------------------------- */

typedef struct OverlapQuestion {
    OverlapTerm terms[OVERLAP_TERMS];
    unsigned count;
    __int128 shift; /* of the left one beyond its terms, less that of the right one */
} OverlapQuestion;

static OverlapTerm *ask(OverlapQuestion *question, __int128 by, int64_t count, bool *fits) {
    OverlapTerm *term = &question->terms[question->count++];
    *term = (OverlapTerm){.by = (int64_t)by, .count = count};
    *fits &= by == (int64_t)by;
    return term;
}

static bool ask_levels(OverlapQuestion *question, const Family *left, const Family *right) {
    bool fits = true;
    for (unsigned i = 0; i < left->piece->levels; i++)
        ask(question, left->piece->strides[i], left->piece->counts[i], &fits);
    for (unsigned i = 0; i < right->piece->levels; i++)
        ask(question, -(__int128)right->piece->strides[i], right->piece->counts[i], &fits);
    question->shift = (__int128)left->piece->begin - right->piece->begin;
    return fits;
}

static Overlap answer(OverlapQuestion *question, const Family *left, const Family *right) {
    return overlap_sum(question->terms, question->count, 1 - left->piece->bytes - question->shift,
                       right->piece->bytes - 1 - question->shift);
}

/* The coordinates of both along one axis, in any way. */
typedef struct OverlapAxis {
    const OverlapTerm *left, *right;
} OverlapAxis;

static bool ask_freely(OverlapQuestion *question, const Family *left, const Family *right, unsigned axis,
                       OverlapAxis *asked) {
    bool fits = true;
    asked->left = ask(question, left->by[axis], left->high[axis] - left->low[axis] + 1, &fits);
    asked->right = ask(question, -(__int128)right->by[axis], right->high[axis] - right->low[axis] + 1, &fits);
    return fits;
}

/* The one is `1 + further` before the other; which is the right one if `forward`. Both ends may be too far apart. */
static bool ask_apart(OverlapQuestion *question, const Family *left, const Family *right, unsigned axis, bool forward,
                      OverlapAxis *asked) {
    bool fits = true;
    int64_t size = left->high[axis] - left->low[axis];
    __int128 back = forward ? -(__int128)right->by[axis] : left->by[axis];
    asked->left = ask(question, (__int128)left->by[axis] - right->by[axis], size, &fits); /* that of the first */
    asked->right = ask(question, back, size, &fits);
    question->shift += back;
    return fits;
}

/* CTAs of one box that differ along `axis`, the right one further if `forward`. */
static Overlap overlap_disjoint(const Family *left, const Family *right, unsigned axis, bool forward,
                                int64_t at[OVERLAP_AXES], int64_t other[OVERLAP_AXES]) {
    OverlapQuestion question = {.count = 0};
    OverlapAxis axes[OVERLAP_AXES];
    int64_t size = left->high[axis] - left->low[axis];
    bool fits = ask_levels(&question, left, right);
    for (unsigned i = 0; i < OVERLAP_AXES; i++)
        fits &= i == axis ? ask_apart(&question, left, right, i, forward, &axes[i])
                          : ask_freely(&question, left, right, i, &axes[i]);
    Overlap found = fits ? answer(&question, left, right) : OVERLAP_UNDECIDED;
    if (found != OVERLAP_FOUND)
        return found;
    for (unsigned i = 0; i < OVERLAP_AXES; i++) {
        at[i] = left->low[i] + axes[i].left->value;
        other[i] = right->low[i] + axes[i].right->value;
    }
    int64_t first = axes[axis].left->value, apart = 1 + axes[axis].right->value;
    if (left->by[axis] == right->by[axis])
        first = 0; /* it does not matter */
    if (first + apart > size)
        return OVERLAP_UNDECIDED;
    at[axis] = left->low[axis] + first + (forward ? 0 : apart);
    other[axis] = left->low[axis] + first + (forward ? apart : 0);
    return OVERLAP_FOUND;
}

Overlap overlap_families(const Family *left, const Family *right, bool same, int64_t at[OVERLAP_AXES],
                         int64_t other[OVERLAP_AXES]) {
    if (same) {
        Overlap worst = OVERLAP_NEVER;
        for (unsigned i = 0; i < 2 * OVERLAP_AXES; i++) {
            Overlap found = overlap_disjoint(left, right, i / 2, i % 2, at, other);
            if (found == OVERLAP_FOUND)
                return found;
            worst = found == OVERLAP_UNDECIDED ? found : worst;
        }
        return worst;
    }
    OverlapQuestion question = {.count = 0};
    OverlapAxis axes[OVERLAP_AXES];
    bool fits = ask_levels(&question, left, right);
    for (unsigned i = 0; i < OVERLAP_AXES; i++)
        fits &= ask_freely(&question, left, right, i, &axes[i]);
    Overlap found = fits ? answer(&question, left, right) : OVERLAP_UNDECIDED;
    for (unsigned i = 0; i < OVERLAP_AXES && found == OVERLAP_FOUND; i++) {
        at[i] = left->low[i] + axes[i].left->value;
        other[i] = right->low[i] + axes[i].right->value;
    }
    return found;
}

Overlap overlap_within(const Family *left, const Family *right) {
    OverlapQuestion question = {.count = 0};
    bool fits = ask_levels(&question, left, right);
    for (unsigned i = 0; i < OVERLAP_AXES; i++)
        ask(&question, (__int128)left->by[i] - right->by[i], left->high[i] - left->low[i] + 1, &fits);
    return fits ? answer(&question, left, right) : OVERLAP_UNDECIDED;
}
