/* explore/symmetry, explore/footprint: boxes and closed forms at random, beside a look at every CTA. */
#include "boxes.h"

#include "explore/footprint.h"

static Symmetry any_box(void) {
    Symmetry box = {.low = {0}};
    for (unsigned axis = 0; axis < AXES; axis++) {
        box.low[axis] = box.at[axis] = roll(0, 3);
        box.high[axis] = box.low[axis] + roll(0, 7);
    }
    return box;
}

static AffineForm any_form(int64_t most) {
    return (AffineForm){.by = {roll(-most, most), roll(0, 2) ? roll(-most, most) : 0, roll(0, 3) ? 0 : roll(-3, 3)}};
}

static int64_t size_of(const Symmetry *box) {
    int64_t size = 1;
    for (unsigned axis = 0; axis < AXES; axis++)
        size *= box->high[axis] - box->low[axis] + 1;
    return size;
}

static void bounds_hold_in_the_whole_box(void **state) {
    (void)state;
    int64_t kept = 0, all = 0;
    for (unsigned round = 0; round < 20000; round++) {
        Symmetry box = any_box(), before = box;
        AffineForm form = any_form(9);
        int64_t value = roll(-20, 20), least = value - roll(0, 60), most = value + roll(0, 60), at[AXES];
        symmetry_keep(&box, &form, value, least, most);
        for (unsigned axis = 0; axis < AXES; axis++) {
            assert_in_range(box.at[axis], box.low[axis], box.high[axis]);
            assert_true(box.low[axis] >= before.low[axis] && box.high[axis] <= before.high[axis]);
        }
        EACH_CTA(&box, at)
        assert_in_range(value_at(&box, &form, value, at) - least, 0, most - least);
        EACH_CTA(&before, at)
        kept += value_at(&before, &form, value, at) >= least && value_at(&before, &form, value, at) <= most;
        all += size_of(&box);
    }
    assert_true(all * 2 > kept); /* boxes are not much smaller than what they are cut from */
}

static void bounds_of_rows_leave_whole_rows(void **state) {
    (void)state;
    Symmetry box = {.high = {99, 99, 0}};
    symmetry_keep(&box, &(AffineForm){.by = {1, 100}}, 0, 0, 9950);
    assert_int_equal(box.high[0], 99);
    assert_int_equal(box.high[1], 98);
}

static void quotients_have_their_form(void **state) {
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        Symmetry box = any_box();
        AffineForm form = any_form(40), rest;
        int64_t by = roll(1, 12), value = roll(0, 500), at[AXES];
        AffineForm quotient = symmetry_quotient(&box, &form, by, value % by, value % by, &rest);
        EACH_CTA(&box, at) {
            int64_t here = value_at(&box, &form, value, at);
            int64_t part = here / by - (here % by < 0), left = here - part * by;
            assert_int_equal(value_at(&box, &quotient, value / by, at), part);
            assert_int_equal(value_at(&box, &rest, value % by, at), left);
        }
    }
}

/* ---- Footprints ----------------------------------------------------------------------------------- */

typedef struct Touched {
    bool writes;
    uint32_t atomic;
    int64_t begin, end;
    AffineForm form;
} Touched;

static bool touch(const Touched *one, const Symmetry *box, const int64_t at[AXES], const Touched *two,
                  const Symmetry *other_box, const int64_t other[AXES]) {
    int64_t a = value_at(box, &one->form, 0, at), b = value_at(other_box, &two->form, 0, other);
    return (one->writes || two->writes) && !(one->atomic && one->atomic == two->atomic) &&
           one->begin + a < two->end + b && two->begin + b < one->end + a;
}

enum { TOUCHES = 3, CLASSES = 2 };

/* Whether two CTAs conflict, of all of them. */
static bool conflicts(const Symmetry *boxes, Touched touched[CLASSES][TOUCHES]) {
    int64_t at[AXES], other[AXES];
    for (unsigned i = 0; i < CLASSES; i++)
        EACH_CTA(&boxes[i], at)
    for (unsigned k = 0; k < CLASSES; k++)
        EACH_CTA(&boxes[k], other)
    for (unsigned pair = 0; pair < TOUCHES * TOUCHES && (i != k || memcmp(at, other, sizeof at) != 0); pair++)
        if (touch(&touched[i][pair % TOUCHES], &boxes[i], at, &touched[k][pair / TOUCHES], &boxes[k], other))
            return true;
    return false;
}

static void classes_overlap_where_their_ctas_do(void **state) {
    (void)state;
    unsigned found = 0, undecided = 0;
    for (unsigned round = 0; round < 1500; round++) {
        Arena arena;
        arena_init(&arena, SIZE_MAX);
        Footprints footprints = {.arena = &arena};
        Symmetry boxes[CLASSES];
        Touched touched[CLASSES][TOUCHES];
        for (unsigned i = 0; i < CLASSES; i++) {
            boxes[i] = any_box();
            boxes[i].low[2] = boxes[i].high[2] = boxes[i].at[2] = i; /* other CTAs than those of the other class */
            footprints_begin(&footprints);
            for (unsigned k = 0; k < TOUCHES; k++) {
                Touched *one = &touched[i][k];
                bool atomic = !roll(0, 3);
                *one = (Touched){.writes = roll(0, 1), .atomic = atomic ? 4 : 0, .begin = 4 * roll(0, 400)};
                one->end = one->begin + (atomic ? 4 : roll(1, 12));
                one->form = any_form(12);
                for (unsigned axis = 0; axis < AXES; axis++)
                    one->form.by[axis] *= 4;
                footprints_add(&footprints,
                               &(Footprint){.writes = one->writes, .atomic = one->atomic, .form = one->form},
                               &(Piece){.begin = one->begin, .bytes = one->end - one->begin}, 1);
            }
            CtaBox box;
            memcpy(box.low, boxes[i].low, sizeof box.low);
            memcpy(box.high, boxes[i].high, sizeof box.high);
            footprints_end(&footprints, &box);
        }
        bool any = false, open = false;
        for (uint32_t i = 0; i < footprints.count; i++)
            for (uint32_t k = i; k < footprints.count; k++) {
                int64_t at[AXES], other[AXES];
                if (!footprints_conflict(&footprints.all[i], &footprints.all[k]))
                    continue;
                Overlap overlap = footprints_overlap(&footprints, &footprints.all[i], &footprints.all[k], at, other);
                open |= overlap == OVERLAP_UNDECIDED;
                any |= overlap == OVERLAP_FOUND;
            }
        bool is = conflicts(boxes, touched);
        assert_true(any ? is : open || !is);
        found += any;
        undecided += !any && open;
        arena_free(&arena);
    }
    assert_in_range(found, 200, 1450);
    assert_in_range(undecided, 0, 150);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold_in_the_whole_box),
        cmocka_unit_test(bounds_of_rows_leave_whole_rows),
        cmocka_unit_test(quotients_have_their_form),
        cmocka_unit_test(classes_overlap_where_their_ctas_do),
    };
    return cmocka_run_group_tests_name("symmetry", tests, NULL, NULL);
}
