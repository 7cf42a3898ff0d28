/* Everything but global memory: that the runs speak for all launches.
 *
 * What a run showed, and how far it speaks for others, is the machine's word, and taken on trust. Checked is that the
 * trip counts are those of the kernel's loops, that the runs cover each of them with each outcome of conditions, and
 * that a launch is asked about those that they leave out. */
#include "check/certificate/reader.h"

#include "ir/op.h"

#include <stdlib.h>

/* ---- Trip counts ---------------------------------------------------------------------------------- */

/* Whether nothing is done in it but that threads access global memory, and that memory is named. */
static bool is_silent(CertificateChecker *checker, const Op *loop) {
    for (const Op *op = op_next_in_walk(loop, loop); op; op = op_next_in_walk(op, loop)) {
        Effect effects[EFFECTS_MOST];
        unsigned count = effects_of(checker->module, op, effects);
        for (unsigned i = 0; i < count; i++)
            if (effects[i].verb != EFFECT_VIEW && (effects[i].space != SPACE_GLOBAL || !effect_is_access(&effects[i]) ||
                                                   effects[i].done != DONE_NOW || effects[i].proxy == PROXY_TENSORMAP))
                return false;
        if (op_is_control(op, CONTROL_CALL) || op_is_control(op, CONTROL_UNKNOWN) || op_is_control(op, CONTROL_WHILE))
            return false;
    }
    return true;
}

/* number = some factor * of + a constant. */
static bool is_multiple_and_more(NumberTable *numbers, const Number *number, const Number *of) {
    const NumberTerm *last = of && of->count ? &of->terms[of->count - 1] : NULL;
    int64_t rest;
    for (uint32_t i = 0; last && last->count && number && i < number->count; i++) {
        const NumberTerm *term = &number->terms[i];
        if (term->count == last->count && memcmp(term->atoms, last->atoms, term->count * sizeof *term->atoms) == 0 &&
            term->factor % last->factor == 0)
            return number_is_constant(number_add(numbers, number, of, -(term->factor / last->factor)), &rest);
    }
    return false;
}

/* Whether what varies of it is a multiple of something: then that decides, and not the number. */
static bool is_multiple(const Number *number) {
    int64_t divisor = 0;
    for (uint32_t i = 0; i < number->count; i++)
        for (int64_t next = number->terms[i].count ? number->terms[i].factor : 0, rest; next; next = rest) {
            rest = divisor % next;
            divisor = next;
        }
    return divisor > 1 || divisor < -1;
}

static const char *look_at_count(CertificateChecker *checker, CertificateText *reading, TripNumber *count) {
    NumberTable *numbers = checker->numbers;
    const Op *loop = checker->ops[count->op];
    const Number *from;
    int64_t by;
    if (!loop_counts(checker, loop, &from, &count->span, &count->by))
        return "it is no loop that counts";
    if (count->factor < 1 || count->step < 1 || count->period < 1)
        return "a factor, a step or a period is not positive";
    if (count->factor * count->from + count->more > 0 || count->factor * (count->from + 1) + count->more <= 0)
        return "it is not the largest number with which the loop is not entered";
    if (count->turns && (count->factor != 1 || count->more != 0 || count->step != 1))
        return "turns are counted one by one";
    if (!count->turns && (!number_is_constant(count->by, &by) || by != count->step))
        return "the loop has another step";
    const Number *more = number_add(numbers, count->span, number_constant(numbers, count->more), -1);
    count->number = count->turns ? count->span : number_shrink(numbers, more, count->factor);
    if (!count->number || (!count->turns && is_multiple(count->number)))
        return "the loop counts to a multiple of something else";
    const Number *trips = loop_trips(checker, loop);
    if (count->fastest) {
        const Number *grown = number_multiply(numbers, trips, number_constant(numbers, count->fastest));
        if (number_has_data(numbers, grown) || number_range(numbers, NULL, grown).most <= count->limit)
            return "a bound on what grows with it is not needed, or cannot be asked for";
        number_need(numbers, grown, INT32_MIN, count->limit);
    } else if (count->limit) {
        return "a bound is of nothing that grows";
    }
    if (count->least <= count->from) /* none is left out */
        return count->asked == UINT32_MAX ? NULL : "nothing is left out, and need not be asked";
    int64_t span = count->factor * (count->least - 1) + count->more, least;
    least = (span > 0 ? (span + count->step - 1) / count->step : 0) + 1;
    Precondition *asked = count->asked == UINT32_MAX ? NULL : &reading->asked[count->asked];
    if (!asked || asked->kind != ASKED_LEAST || !number_same(asked->a, trips) ||
        !number_same(asked->b, number_constant(numbers, least)))
        return "smaller trip counts are left out, and no launch is asked about them";
    asked->used = true;
    return NULL;
}

/* Each loop that matters runs as often as one of the numbers says. */
static void look_at_loops(CertificateChecker *checker, CertificateText *reading) {
    int64_t ignored;
    for (uint32_t i = 0; i < checker->op_count; i++) {
        const Op *loop = checker->ops[i];
        const Number *from, *span, *by;
        bool silent = is_silent(checker, loop);
        if (op_is_control(loop, CONTROL_WHILE) && !silent)
            certificate_refuse(reading, reading->runs_line, "the kernel has a loop that does not count");
        if (!op_is_control(loop, CONTROL_LOOP) || (silent && !reading->count_count))
            continue;
        (void)loop_trips(checker, loop);
        if (silent || !loop_counts(checker, loop, &from, &span, &by))
            continue;
        bool found = number_is_constant(span, &ignored) && number_is_constant(by, &ignored);
        for (uint32_t k = 0; k < reading->count_count && !found; k++) {
            const TripNumber *count = &reading->counts[k];
            found = count->turns ? number_same(count->span, span) && number_same(count->by, by)
                                 : number_is_constant(by, &ignored) &&
                                       is_multiple_and_more(checker->numbers, span, count->number);
        }
        if (!found)
            certificate_refuse(reading, reading->runs_line, "a loop's trip count is none of those of the runs");
    }
}

/* ---- Coverage ------------------------------------------------------------------------------------- */

/* Runs with the same conditions, and the same values of the counts before `at`: they are beside each other. */
typedef struct RunRow {
    const MadeRun *runs;
    uint32_t count;
} RunRow;

static bool same_value(const MadeRun *a, const MadeRun *b, uint32_t at) {
    return a->of[at].value == b->of[at].value && a->of[at].down == b->of[at].down;
}

/* How far the values of the counts before go, of which these runs speak for all values of the others. */
typedef struct Spoken {
    int64_t reach[MOST_COUNTS];
    bool speaks[MOST_COUNTS];
} Spoken;

static const char *cover(const CertificateText *reading, RunRow row, uint32_t at, Spoken *spoken) {
    const TripNumber *count = &reading->counts[at];
    int64_t next = INT64_MIN, together = 0;
    if (at == reading->count_count) {
        for (uint32_t k = 0; k < at; k++) {
            spoken->reach[k] = row.runs->of[k].reach;
            spoken->speaks[k] = row.runs->of[k].speaks;
        }
        return row.count == 1 ? NULL : "a run is there twice";
    }
    for (uint32_t first = 0, end; first < row.count; first = end) {
        Spoken one;
        for (end = first + 1; end < row.count && same_value(&row.runs[first], &row.runs[end], at);)
            end++;
        const char *wrong = cover(reading, (RunRow){row.runs + first, end - first}, at + 1, &one);
        int64_t value = row.runs[first].of[at].value;
        bool down = row.runs[first].of[at].down, all = one.reach[at] == INT64_MAX;
        if (wrong)
            return wrong;
        bool begins_down = !count->turns && count->least <= count->from;
        if (first ? down || value != next : down != begins_down || (!down && value != count->least))
            return "a trip count is left out";
        if (down && (count->turns || value != count->from || !one.speaks[at]))
            return "the run does not speak for all smaller ones";
        int64_t step = all ? count->period : (one.reach[at] < INT32_MAX ? one.reach[at] : INT32_MAX) + 1;
        if (together >= count->period)
            return "shorter runs speak for this one";
        if (!down) {
            int64_t before = together;
            together = all ? count->period : one.speaks[at] ? together + step : 0;
            if (together > count->period || (before && (all || !together)) || (all && !one.speaks[at]))
                return "runs speak for more than is needed";
        } else if (at + 1 == reading->count_count && one.reach[at]) {
            return "a run for all that are less speaks for no more";
        }
        next = value + (down ? 1 : step);
        for (uint32_t k = 0; k < at; k++) {
            if (first && (one.reach[k] != spoken->reach[k] || one.speaks[k] != spoken->speaks[k]))
                return "runs beside each other speak for others";
            spoken->reach[k] = one.reach[k];
            spoken->speaks[k] = one.speaks[k];
        }
    }
    return together >= count->period ? NULL : "the longest runs do not speak for all longer ones";
}

void certificate_runs(CertificateChecker *checker, CertificateText *reading) {
    for (uint32_t i = 0; i < reading->count_count; i++) {
        const char *wrong = look_at_count(checker, reading, &reading->counts[i]);
        if (wrong)
            certificate_refuse(reading, reading->counts[i].line, wrong);
    }
    if (!reading->wrong)
        look_at_loops(checker, reading);
    uint32_t at = 0;
    for (uint32_t conditions = 0; conditions < 1u << reading->condition_count && !reading->wrong; conditions++) {
        RunRow row = {reading->runs + at, 0};
        Spoken ignored;
        while (at < reading->run_count && reading->runs[at].conditions == conditions) {
            at++;
            row.count++;
        }
        const char *wrong = row.count ? cover(reading, row, 0, &ignored) : "an outcome of conditions is left out";
        if (wrong)
            certificate_refuse(reading, row.count ? row.runs->line : reading->runs_line, wrong);
    }
    if (at < reading->run_count)
        certificate_refuse(reading, reading->runs[at].line, "a run is not where it belongs");
}
