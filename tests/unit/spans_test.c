/* Spans, as regions of memory appear and cut each other. */
#include "reading.h"

#include "check/explain/tile/spans.h"

enum { MOST_SPANS = 1024, CTAS = 2, SIZES = 8, BYTES = 256, REGIONS = 40 };

static const char text[] =
    "#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
    "#m = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"
    "#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>\n"
    "#smem = #ttg.shared_memory\n"
    "tt.func @f(%a: !ttg.memdesc<1xi8, #s, #smem, mutable>, %b: !ttg.memdesc<2xi8, #s, #smem, mutable>,\n"
    "    %c: !ttg.memdesc<4xi8, #s, #smem, mutable>, %d: !ttg.memdesc<8xi8, #s, #smem, mutable>,\n"
    "    %e: !ttg.memdesc<16xi8, #s, #smem, mutable>, %f: !ttg.memdesc<32xi8, #s, #smem, mutable>,\n"
    "    %g: !ttg.memdesc<64xi8, #s, #smem, mutable>, %h: !ttg.memdesc<4x8xi8, #m, #smem, mutable, 4x32>,\n"
    "    %i: !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable>) {\n"
    "  tt.return\n"
    "}\n";
enum { STRIPES = 7, COLUMNS = 8 }; /* of the types: the one with gaps, the one of tensor memory */

typedef struct Fixture {
    Reading *reading;
    Consan engine;
    Spans *spans;
    const Type *types[SIZES + 1];
} Fixture;

static void *take(void *context, size_t size) {
    return arena_zalloc(context, size);
}

static void start(Fixture *fixture, uint32_t most) {
    fixture->reading = read_good(text);
    Module *module = &fixture->reading->module;
    const Op *function = first_op(fixture->reading);
    (void)allocations_of(module, function);
    for (uint32_t i = 0; i <= SIZES; i++)
        fixture->types[i] = type_resolve(module, function->regions[0].first->args[i].type);
    ConsanSize size = {.agents = 1, .homes = CTAS, .spans = most / CTAS, .barriers = 1};
    assert_true(consan_create(&fixture->engine, &size, take, &module->arena));
    fixture->spans = spans_create(&module->arena, module, &fixture->engine);
}

static Word view_at(uint32_t storage, uint32_t cta, uint32_t byte) {
    return (Word){.bits = byte, .meta = storage, .cta = (uint16_t)cta, .kind = WORD_VIEW};
}

static const SpanSet *at(Fixture *fixture, uint32_t type, uint32_t byte) {
    const char *problem = NULL;
    const SpanSet *set = spans_of(fixture->spans, view_at(0, 0, byte), fixture->types[type], &problem);
    assert_null(problem);
    assert_non_null(set);
    return set;
}

static bool has_span(const SpanSet *set, uint32_t span) {
    for (uint32_t i = 0; i < set->count; i++)
        if (set->spans[i] == span)
            return true;
    return false;
}

static bool share_a_span(const SpanSet *a, const SpanSet *b) {
    for (uint32_t i = 0; i < a->count; i++)
        if (has_span(b, a->spans[i]))
            return true;
    return false;
}

static void a_region_has_a_span_of_its_own(void **state) {
    Fixture fixture;
    (void)state;
    start(&fixture, MOST_SPANS);
    const SpanSet *one = at(&fixture, 4, 0), *next = at(&fixture, 4, 16);
    assert_int_equal(one->count, 1);
    assert_int_equal(next->count, 1);
    assert_int_not_equal(one->spans[0], next->spans[0]);
    assert_ptr_equal(at(&fixture, 4, 0), one);
    assert_int_equal(fixture.engine.spans, 2);
    done(fixture.reading);
}

static void a_region_with_gaps_is_one_span(void **state) {
    Fixture fixture;
    (void)state;
    start(&fixture, MOST_SPANS);
    const SpanSet *stripes = at(&fixture, STRIPES, 0), *gap = at(&fixture, 4, 8);
    assert_int_equal(stripes->count, 1);
    assert_int_equal(gap->count, 1);
    assert_false(share_a_span(stripes, gap));
    done(fixture.reading);
}

static void a_region_inside_another_cuts_it_in_two(void **state) {
    Fixture fixture;
    (void)state;
    start(&fixture, MOST_SPANS);
    const SpanSet *whole = at(&fixture, 6, 0), *inside = at(&fixture, 4, 16);
    assert_int_equal(inside->count, 1);
    assert_int_equal(whole->count, 2); /* what is before and after it is still one */
    assert_true(has_span(whole, inside->spans[0]));
    done(fixture.reading);
}

static void two_regions_that_overlap_share_what_both_have(void **state) {
    Fixture fixture;
    (void)state;
    start(&fixture, MOST_SPANS);
    const SpanSet *left = at(&fixture, 5, 0), *right = at(&fixture, 5, 16);
    assert_int_equal(left->count, 2);
    assert_int_equal(right->count, 2);
    assert_int_equal(fixture.engine.spans, 3);
    assert_true(share_a_span(left, right));
    done(fixture.reading);
}

static void a_region_around_others_is_made_of_them_and_what_is_between(void **state) {
    Fixture fixture;
    (void)state;
    start(&fixture, MOST_SPANS);
    const SpanSet *first = at(&fixture, 3, 8), *second = at(&fixture, 3, 40), *whole = at(&fixture, 6, 0);
    assert_int_equal(whole->count, 3);
    assert_true(has_span(whole, first->spans[0]));
    assert_true(has_span(whole, second->spans[0]));
    done(fixture.reading);
}

static void other_storages_and_ctas_are_other_memory(void **state) {
    Fixture fixture;
    const char *problem;
    (void)state;
    start(&fixture, MOST_SPANS);
    const Type *type = fixture.types[4];
    const SpanSet *here = at(&fixture, 4, 0);
    const SpanSet *storage = spans_of(fixture.spans, view_at(1, 0, 0), type, &problem);
    const SpanSet *cta = spans_of(fixture.spans, view_at(0, 1, 0), type, &problem);
    assert_false(share_a_span(here, storage));
    assert_false(share_a_span(here, cta));
    assert_false(share_a_span(storage, cta));
    done(fixture.reading);
}

static void a_span_has_the_space_of_its_memory(void **state) {
    Fixture fixture;
    const char *problem;
    (void)state;
    start(&fixture, MOST_SPANS);
    const SpanSet *columns = spans_of(fixture.spans, view_at(1, 0, 0), fixture.types[COLUMNS], &problem);
    assert_int_equal(spans_space(fixture.spans, at(&fixture, 4, 0)->spans[0]), SPACE_SHARED);
    assert_int_equal(spans_space(fixture.spans, columns->spans[0]), SPACE_TENSOR);
    done(fixture.reading);
}

static void a_cut_keeps_the_past_of_both_pieces(void **state) {
    Fixture fixture;
    (void)state;
    start(&fixture, MOST_SPANS);
    const SpanSet *whole = at(&fixture, 6, 0);
    consan_set_write(&fixture.engine, 1, whole->spans, whole->count, 0);
    const SpanSet *inside = at(&fixture, 4, 16), *outside = at(&fixture, 4, 64);
    assert_int_equal(consan_verify_read(&fixture.engine, 2, inside->spans, inside->count).kind,
                     CONSAN_OUTSTANDING_WRITE);
    assert_int_equal(consan_verify_read(&fixture.engine, 2, outside->spans, outside->count).kind, CONSAN_CLEAN);
    done(fixture.reading);
}

static void a_reset_keeps_regions_and_forgets_what_happened(void **state) {
    Fixture fixture;
    (void)state;
    start(&fixture, MOST_SPANS);
    const SpanSet *set = at(&fixture, 4, 0);
    consan_set_write(&fixture.engine, 1, set->spans, set->count, 0);
    spans_reset(fixture.spans);
    assert_ptr_equal(at(&fixture, 4, 0), set);
    assert_int_equal(consan_verify_read(&fixture.engine, 2, set->spans, set->count).kind, CONSAN_CLEAN);
    done(fixture.reading);
}

static void too_many_pieces_are_said(void **state) {
    Fixture fixture;
    const char *problem = NULL;
    (void)state;
    start(&fixture, 2);
    at(&fixture, 6, 0);
    at(&fixture, 4, 0);
    assert_null(spans_of(fixture.spans, view_at(0, 0, 32), fixture.types[3], &problem));
    assert_string_equal(problem, "memory is accessed in more pieces than the race engine keeps");
    done(fixture.reading);
}

/* ---- Random regions ------------------------------------------------------------------------------- */

typedef struct Memory {
    const SpanSet *set;
    bool bytes[2 * BYTES];
} Memory;

static uint32_t choose(uint64_t *random, uint32_t count) { /* xorshift64* */
    *random ^= *random >> 12;
    *random ^= *random << 25;
    *random ^= *random >> 27;
    return (uint32_t)(*random * 0x2545f4914f6cdd1du >> 33) % count;
}

static void mark(Memory *region, uint32_t type, uint32_t byte) {
    memset(region->bytes, 0, sizeof region->bytes);
    if (type == STRIPES)
        for (uint32_t row = 0; row < 4; row++)
            memset(region->bytes + byte + 32 * row, true, 8);
    else
        memset(region->bytes + byte, true, (size_t)1 << type);
}

static bool meet(const Memory *a, const Memory *b) {
    for (uint32_t i = 0; i < 2 * BYTES; i++)
        if (a->bytes[i] && b->bytes[i])
            return true;
    return false;
}

static void check_distinct(const SpanSet *set) {
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t k = 0; k < i; k++)
            assert_int_not_equal(set->spans[i], set->spans[k]);
}

/* Bytes become spans of their own here, and the lists of all regions before have to follow. */
static void check_bytes(Fixture *fixture, const Memory *regions) {
    const SpanSet *bytes[2 * BYTES];
    for (uint32_t i = 0; i < 2 * BYTES; i++) {
        bytes[i] = at(fixture, 0, i);
        assert_int_equal(bytes[i]->count, 1);
    }
    for (uint32_t r = 0; r < REGIONS; r++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < 2 * BYTES; i++) {
            assert_int_equal(has_span(regions[r].set, bytes[i]->spans[0]), regions[r].bytes[i]);
            count += regions[r].bytes[i];
        }
        assert_int_equal(regions[r].set->count, count);
        check_distinct(regions[r].set);
    }
}

static void regions_share_a_span_iff_their_bytes_meet_and_are_exactly_their_spans(void **state) {
    static Memory regions[REGIONS];
    (void)state;
    for (uint64_t round = 1; round <= 60; round++) {
        Fixture fixture;
        uint64_t random = round * 0x9e3779b97f4a7c15u;
        start(&fixture, MOST_SPANS);
        for (uint32_t r = 0; r < REGIONS; r++) {
            uint32_t type = choose(&random, SIZES), byte = choose(&random, BYTES);
            regions[r].set = at(&fixture, type, byte);
            mark(&regions[r], type, byte);
            for (uint32_t k = 0; k <= r; k++) {
                assert_int_equal(share_a_span(regions[r].set, regions[k].set), meet(&regions[r], &regions[k]));
                check_distinct(regions[k].set);
            }
        }
        check_bytes(&fixture, regions);
        done(fixture.reading);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region_has_a_span_of_its_own),
        cmocka_unit_test(a_region_with_gaps_is_one_span),
        cmocka_unit_test(a_region_inside_another_cuts_it_in_two),
        cmocka_unit_test(two_regions_that_overlap_share_what_both_have),
        cmocka_unit_test(a_region_around_others_is_made_of_them_and_what_is_between),
        cmocka_unit_test(other_storages_and_ctas_are_other_memory),
        cmocka_unit_test(a_span_has_the_space_of_its_memory),
        cmocka_unit_test(a_cut_keeps_the_past_of_both_pieces),
        cmocka_unit_test(a_reset_keeps_regions_and_forgets_what_happened),
        cmocka_unit_test(too_many_pieces_are_said),
        cmocka_unit_test(regions_share_a_span_iff_their_bytes_meet_and_are_exactly_their_spans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
