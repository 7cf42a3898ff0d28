/* A run of a grid for people: what its CTAs do to global memory and what orders it, one line a step, in columns that
 * are as wide as the run needs.
 *
 *     @kernel, grid 2x1x1, data = tensor 128, schedule: when the last CTAs run first
 *       step  CTA    op                             what it does
 *          1  CTA 0  tt.store @19 (kernel.py:8)     writes data[0], 512 bytes
 *          2  CTA 0  tt.atomic_rmw @20 (...)        updates flag[0], 4 bytes (relaxed, gpu)
 *          5  CTA 1  tt.load @30 (kernel.py:20)     reads data[0], 512 bytes: races with step 1
 *
 * What is kept of a step is small, and its text is made when the run is over. */
#include "check/tile/grid/internal.h"

enum { MOST_STEPS = 1 << 20, WIDEST_OP = 64 };

/* ---- Keeping -------------------------------------------------------------------------------------- */

static GlobalStep *step_add(GlobalCheck *run, const GridEvent *event, StepKind kind) {
    run->access = ++run->moments;
    if (!run->options->steps || run->step_count == MOST_STEPS)
        return NULL;
    GlobalStep *step = ARENA_PUSH(run->arena, run->steps, run->step_count, run->step_capacity);
    *step = (GlobalStep){.kind = kind,
                         .launch = event->launch,
                         .cta = event->cta,
                         .site = site_of(run, event),
                         .effect = event->event->effect ? &event->event->effect->effect : NULL};
    return step;
}

void step_access(GlobalCheck *run, const GridEvent *event, const Bytes *bytes) {
    GlobalStep *step = step_add(run, event, STEP_ACCESS);
    if (!step)
        return;
    step->stored = event->event->stored;
    step->pieces = bytes->count;
    for (uint32_t i = 0; i < bytes->count; i++)
        step->bytes += (uint64_t)(bytes->runs[i].end - bytes->runs[i].begin);
    step->begin = bytes->count ? bytes->runs[0].begin : 0;
    step->end = bytes->count ? bytes->runs[bytes->count - 1].end : 0;
}

void step_order(GlobalCheck *run, const GridEvent *event, StepKind kind, uint64_t of) {
    GlobalStep *step = step_add(run, event, kind);
    if (step)
        step->of = of;
}

static GlobalStep *step_at(const GlobalCheck *run, uint64_t number) {
    return number && number <= run->step_count ? &run->steps[number - 1] : NULL;
}

void step_races(GlobalCheck *run, const GsanRace *race) {
    GlobalStep *later = step_at(run, run->access);
    if (!later || later->races_with)
        return;
    for (uint64_t number = run->access; number-- > 1;) {
        const GlobalStep *step = step_at(run, number);
        if (step->kind == STEP_ACCESS && step->launch == race->earlier.launch && step->cta == race->earlier.cta &&
            step->site == race->earlier.site && (uint64_t)step->begin < race->end &&
            race->begin < (uint64_t)step->end) {
            later->races_with = number;
            return;
        }
    }
}

void step_is_wrong(GlobalCheck *run, RuleId rule) {
    GlobalStep *step = step_at(run, run->access);
    if (step)
        step->wrong = rule == RULE_GLOBAL_OUT_OF_RANGE ? "out of range of the tensor" : "nothing has written it";
}

/* ---- Telling -------------------------------------------------------------------------------------- */

static void report_order(const Effect *effect, Text *to) {
    if (effect->order != ORDER_WEAK)
        text_addf(to, " (%s, %s)", effect_order_name(effect->order), effect_scope_name(effect->scope));
}

static void report_access(const GlobalCheck *run, const GlobalStep *step, Text *to) {
    const Effect *effect = step->effect;
    text_addf(to, "%s ", effect_access_verb(effect->verb));
    if (!step->pieces) {
        text_addf(to, "nothing");
        return;
    }
    area_name(run, step->begin, to);
    if (step->pieces > 1)
        text_addf(to, " and %u more piece%s", step->pieces - 1, step->pieces > 2 ? "s" : "");
    text_addf(to, ", %llu byte%s", (unsigned long long)step->bytes, plural((int64_t)step->bytes));
    report_order(effect, to);
    if (effect->verb == EFFECT_UPDATE && !step->stored)
        text_addf(to, ", without storing");
    if (effect->done != DONE_NOW)
        text_addf(to, ", asynchronously");
    if (step->races_with)
        text_addf(to, ": races with step %llu", (unsigned long long)step->races_with);
    else if (step->wrong)
        text_addf(to, ": %s", step->wrong);
}

static void report_step(const GlobalCheck *run, const GlobalStep *step, Text *to) {
    switch (step->kind) {
    case STEP_ACCESS:
        report_access(run, step, to);
        break;
    case STEP_FENCE:
        text_addf(to, "a fence");
        report_order(step->effect, to);
        break;
    case STEP_COMPLETES:
        text_addf(to, "continues: step %llu is complete", (unsigned long long)step->of);
        break;
    case STEP_LAUNCHES:
        text_addf(to, "continues: the preceding launches have finished");
        break;
    }
}

/* The widths of the columns of CTAs and ops. */
typedef struct StepWidths {
    int cta, op;
} StepWidths;

static int width_of(Text *text, int least, int most) {
    int size = text->size > (size_t)most ? most : (int)text->size;
    text->size = 0;
    return size > least ? size : least;
}

static StepWidths measure(const GlobalCheck *run) {
    StepWidths widths = {.cta = (int)strlen("CTA"), .op = (int)strlen("op")};
    Text text = {0};
    for (uint32_t i = 0; i < run->step_count; i++) {
        const GlobalStep *step = &run->steps[i];
        cta_name(run, step->launch, step->cta, &text);
        widths.cta = width_of(&text, widths.cta, WIDEST_OP);
        site_name(run, step->site, &text);
        widths.op = width_of(&text, widths.op, WIDEST_OP);
    }
    text_free(&text);
    return widths;
}

static void pad(Text *text, size_t start, int width) {
    while (text->size - start < (size_t)width)
        text_char(text, ' ');
    text_addf(text, "  ");
}

/* The columns before what it does; `number` 0: it is no step. */
static void start_line(const GlobalCheck *run, StepWidths widths, uint64_t number, const GlobalStep *step, Text *to) {
    Text line = {0};
    text_addf(&line, number ? "%6llu  " : "%6.0llu  ", (unsigned long long)number);
    size_t start = line.size;
    cta_name(run, step->launch, step->cta, &line);
    pad(&line, start, widths.cta);
    start = line.size;
    site_name(run, step->site, &line);
    pad(&line, start, widths.op);
    text_add(to, line.data ? line.data : "", line.size);
    text_free(&line);
}

static void report_head(const GlobalCheck *run, Text *to) {
    const GlobalOptions *options = run->options;
    for (size_t i = 0; i < run->count; i++) {
        text_char(to, '@');
        text_add_plain(to, str_of(run->programs[i]->name));
        text_addf(to, ", %s", run->launch_texts[i]);
        text_addf(to, i + 1 < run->count ? "\n" : "");
    }
    if (options->devices > 1)
        text_addf(to, ", %u devices", options->devices);
    text_addf(to, ", schedule: %s\n", options->schedule ? options->schedule : "the first one");
}

static void report_sleepers(const GlobalCheck *run, StepWidths widths, Text *to) {
    enum { MOST = 64 };
    Sleeper *sleepers = ARENA_ARRAY(run->arena, Sleeper, MOST);
    size_t count = grid_sleepers(run->grid, sleepers, MOST);
    for (size_t i = 0; i < count && i < MOST; i++) {
        const Sleeper *sleeper = &sleepers[i];
        GlobalStep place = {.launch = sleeper->launch, .cta = sleeper->cta, .site = sleeper_site(run, sleeper)};
        start_line(run, widths, 0, &place, to);
        text_addf(to, "waits forever");
        if (sleeper->address) {
            text_addf(to, " for ");
            global_name(run->launch_sequence.memory, sleeper->address, to);
            if (word_is(sleeper->value, WORD_INTEGER))
                text_addf(to, ", which holds %lld", (long long)sleeper->value.bits);
        }
        text_char(to, '\n');
    }
}

void global_steps_write(const GlobalCheck *run, RunEnd end) {
    static const char *const ends[] = {
        "every CTA has finished",
        "no CTA can make progress",
        "a barrier was misused",
        "control flow depends on an unknown value",
        "the budget is exhausted",
        "the launch breaks an assumption of the kernel",
        "the next step of the trail is not possible",
    }; /* ORDER RunEnd */
    Text *to = run->options->steps;
    StepWidths widths = measure(run);
    report_head(run, to);
    text_addf(to, "%6s  %-*s  %-*s  %s\n", "step", widths.cta, "CTA", widths.op, "op", "what it does");
    for (uint32_t i = 0; i < run->step_count; i++) {
        start_line(run, widths, i + 1, &run->steps[i], to);
        report_step(run, &run->steps[i], to);
        text_char(to, '\n');
    }
    if (end == RUN_STUCK)
        report_sleepers(run, widths, to);
    if (run->moments > run->step_count)
        text_addf(to, "only the first %u are shown\n", run->step_count);
    text_addf(to, "%llu step%s; %s\n", (unsigned long long)run->moments, plural((int64_t)run->moments), ends[end]);
}
