/* Ways to choose what is not known (WORLD_... of machine/simt/core/machine.h): plain ones, ones that make a condition
 * go the way that it has not gone, and ones in which threads go different ways. Where it goes wrong in some of them
 * only, that is said. */
#include "check/simt/executions.h"

#include "base/deadline.h"
#include "ptx/effects.h"

enum {
    FEW_HAVOC_CHOICES = 4, /* are enough for two conditions */
    MOST_CHOSEN = 24,      /* havoc choices for conditions that have gone one way only */
    MIXED_CTAS = 8,        /* CTAs of a grid by classes that are run in a mixed havoc choice */
};
static const uint64_t most_instructions = UINT64_C(1) << 24; /* of all havoc choices together */

void havoc_choices_doubt_races(ThreadsCheck *check, const PtxRace *races, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        SimtDoubt *doubt = &check->doubts[DOUBTED_DATA];
        if (rule_of(threads_race_rule(check, &races[i]))->severity == SEVERITY_NOTE || doubt->count++)
            continue;
        doubt->line = code_line(check->program, races[i].second.code);
        doubt->text =
            verdict_text(check->verdict,
                         "for some choices of unknown data, this access races with the one at PTX line %u: give the "
                         "data in the launch file",
                         code_line(check->program, races[i].first.code));
    }
}

/* ---- Races of every run -------------------------------------------------------------------------- */

static bool races_with(const PtxRace *races, uint32_t count, const PtxRace *race) {
    for (uint32_t i = 0; i < count; i++)
        if (!races[i].same_value &&
            ((races[i].first.code == race->first.code && races[i].second.code == race->second.code) ||
             (races[i].first.code == race->second.code && races[i].second.code == race->first.code)))
            return true;
    return false;
}

/* Of the races of the first run, those that this one has, too. */
static void keep_always(ThreadsCheck *check, const PtxRace *races, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < check->always_count; i++)
        if (races_with(races, count, &check->always[i]))
            check->always[kept++] = check->always[i];
    check->always_count = kept;
}

/* Whether something that may order others was left out, as its address is not known. */
static bool leaves_out_order(const ThreadsCheck *check) {
    for (uint32_t i = 0; i < check->machine->havoc_count; i++) {
        const PtxHavoc *havoc = &check->machine->havocs[i];
        PtxEffect effect;
        bool weak = (code_effect(check, havoc->code, EFFECT_READ, &effect) ||
                     code_effect(check, havoc->code, EFFECT_WRITE, &effect)) &&
                    effect.effect.order == ORDER_WEAK;
        if (havoc->left_out && (!weak || code_role(check, havoc->code) != ROLE_ACCESSES))
            return true;
    }
    return false;
}

/* What no run orders, whichever way its conditions went, no data orders. */
static void report_always(ThreadsCheck *check) {
    uint32_t count = leaves_out_order(check) ? 0 : check->always_count;
    for (uint32_t i = 0; i < 2 * count; i++) { /* what is read too early first */
        const PtxRace *race = &check->always[i % count];
        if ((i < count) == (race->rule == RULE_RACE_RAW) && threads_race(check, race, &(PtxSchedule){0}, 0))
            check->doubts[DOUBTED_DATA].count = 0;
    }
}

void havoc_choices_first_races(ThreadsCheck *check, const PtxRace *races, uint32_t count) {
    check->always = ARENA_ARRAY(&check->arena, PtxRace, count + 1);
    check->always_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (rule_of(threads_race_rule(check, &races[i]))->severity != SEVERITY_NOTE)
            check->always[check->always_count++] = races[i];
}

/* A havoc choice that goes as this run did up to the condition, and the other way there. */
static unsigned other_way(const PtxMachine *machine, uint32_t index) {
    unsigned havoc_choice = HAVOC_CHOICE_CHOSEN;
    if (index >= HAVOC_CHOICE_CHOICES || machine->havoc_choice & HAVOC_CHOICE_MIXED)
        return 0;
    for (uint32_t i = 0; i < index; i++)
        havoc_choice |= machine->havocs[i].first ? 1u << i : 0;
    return havoc_choice | (machine->havocs[index].first ? 0 : 1u << index);
}

void havoc_choices_note(ThreadsCheck *check) {
    const PtxMachine *machine = check->machine;
    for (uint32_t i = 0; i < machine->havoc_count; i++) {
        const PtxHavoc *havoc = &machine->havocs[i];
        uint32_t at = (uint32_t)(havoc->code - check->program->code);
        if (havoc->left_out)
            continue;
        check->went[at] |= havoc->went;
        if (check->went[at] != (PTX_RAN_YES | PTX_RAN_NO) && !check->ways[at])
            check->ways[at] = other_way(machine, i);
    }
}

/* ---- Over which threads a condition is the same -------------------------------------------------- */

static FormSpan wider(FormSpan a, FormSpan b) {
    return a > b ? a : b;
}

static FormSpan form_reach(const PtxValues *values, const Form *form) {
    return form_is_uniform(values->tables, form) ? form_span(form) : SPAN_NONE;
}

/* As the form says; or more: what threads load from one address is the same for all of them as long as nothing changes
 * it, which is taken for granted here. */
static FormSpan value_span(const PtxValues *values, uint32_t value, unsigned depth) {
    enum { DEEPEST = 16 };
    const PtxFlow *flow = values->flow;
    const PtxModule *module = flow->module;
    const FlowValue *at = &flow->values[value];
    FormSpan span = form_reach(values, &values->forms[value]), all = SPAN_GRID;
    if (span < SPAN_WARP || at->kind != VALUE_RESULT || at->before != PTX_NONE || depth == DEEPEST)
        return span;
    const PtxStatement *statement = &module->statements[flow->instructions[at->instruction]];
    PtxEffect effects[PTX_EFFECTS_MOST];
    if (module->forms[statement->what].evaluator != PTX_EVALUATE_LOAD &&
        (span == SPAN_NONE || ptx_effects_of(module, statement, effects)))
        return span;
    for (uint32_t i = statement->first; i < statement->first + statement->count; i++) {
        uint32_t read = flow_value(flow, i);
        Form form = ptx_operand_form(values, i);
        if (read != PTX_NONE && read != value)
            all = wider(all, value_span(values, read, depth + 1));
        else if (module->operands[i].kind == PTX_SPECIAL)
            all = wider(all, form_reach(values, &form));
    }
    PtxSpace space = ptx_space_of_form(module->forms[statement->what].text, 0);
    if (space == PTX_SPACE_LOCAL)
        return span;
    if (space == PTX_SPACE_SHARED)
        all = wider(all, SPAN_CTA);
    return all < span ? all : span;
}

/* Of the guard, or of the index of a table. */
static FormSpan span_of(const PtxValues *values, const PtxStatement *statement) {
    uint32_t value = statement->count ? flow_value(values->flow, statement->first) : PTX_NONE;
    return value == PTX_NONE ? SPAN_NONE : value_span(values, value, 0);
}

static void find_spans(ThreadsCheck *check, const PtxRoutine *routine) {
    const uint32_t *block = check->launch->block;
    PtxBlockShape shape = {.x = block[0], .y = block[1], .z = block[2]};
    PtxFlow flow;
    PtxValues values;
    const char *problem;
    memset(check->spans + routine->begin, SPAN_NONE, routine->end - routine->begin);
    if (!ptx_flow_values(&flow, &values, check->module, routine->function, &shape, 0, &problem))
        return;
    for (uint32_t i = 0; i < flow.instruction_count; i++)
        if (check->went[routine->begin + i])
            check->spans[routine->begin + i] =
                (uint8_t)span_of(&values, &check->module->statements[flow.instructions[i]]);
    ptx_flow_values_free(&flow, &values);
}

/* Of those that were come to so far; of a function it is that of a call, so that nothing is known. */
static void find_all_spans(ThreadsCheck *check) {
    const PtxProgram *program = check->program;
    check->spans = ARENA_ARRAY(&check->arena, uint8_t, program->code_count + 1);
    memset(check->spans, SPAN_NONE, program->code_count);
    find_spans(check, &program->routines[program->entry]);
    check->machine->spans = check->spans;
}

/* ---- Runs ---------------------------------------------------------------------------------------- */

typedef struct HavocChoices {
    bool single;                /* no run had more than one guess */
    bool over;                  /* nothing more comes of them */
    uint32_t most;              /* guesses of a run */
    uint64_t spent, most_spent; /* instructions */
} HavocChoices;

/* Ends badly, in a havoc choice that need not be. */
static void doubt_end(ThreadsCheck *check, PtxEnd end) {
    const PtxFault *fault = &check->machine->fault;
    const PtxCode *code = end == PTX_END_FAULT ? fault->code : NULL;
    verdict_incomplete(check->verdict, "", code ? code_line(check->program, code) : 0,
                       "it %s%s%s for some choices of unknown data: give the data in the launch file",
                       code ? "fails (" : "hangs", code ? rule_of(fault->rule)->id : "", code ? ")" : "");
}

/* `sure`: what goes wrong is a finding, where there is only one thing that is not known. */
static void run_havoc_choice(ThreadsCheck *check, HavocChoices *havoc_choices, ThreadsRun *run, bool sure) {
    PtxWatch *watch = runs_watch(check, false);
    PtxEnd end = runs_make(check, run, watch);
    bool wrong = end == PTX_END_STUCK || end == PTX_END_FAULT;
    uint32_t count = 0;
    const PtxRace *races = watch ? ptx_watch_races(watch, &count) : NULL;
    havoc_choices->single &= check->machine->havoc_count <= 1;
    havoc_choices->most =
        check->machine->havoc_count > havoc_choices->most ? check->machine->havoc_count : havoc_choices->most;
    havoc_choices->spent += check->machine->used;
    if (sure)
        keep_always(check, races, count);
    sure &= havoc_choices->single;
    if (sure)
        (void)runs_report_races(check, run, watch, 0);
    else
        havoc_choices_doubt_races(check, races, count);
    /* It cannot get better once an end is in doubt; but loops on made-up data need not end. */
    if (wrong && !sure) {
        doubt_end(check, end);
        havoc_choices->over = true;
    } else if (end != PTX_END_BUDGET && !runs_judge(check, run, end)) {
        havoc_choices->over = true;
    }
    threads_unset(check, run);
    threads_havocs(check);
    havoc_choices->over |= deadline_passed();
}

/* Conditions that went one way only: the other way, from a run that came there. What it comes to may have others. */
static void run_chosen(ThreadsCheck *check, HavocChoices *havoc_choices) {
    uint32_t made = 0;
    for (uint32_t i = 0; i < check->program->code_count && !havoc_choices->over; i++) {
        unsigned way = check->ways[i];
        if (!way || way == UINT32_MAX || check->went[i] == (PTX_RAN_YES | PTX_RAN_NO))
            continue;
        if (made++ == MOST_CHOSEN || havoc_choices->spent > havoc_choices->most_spent)
            return;
        check->ways[i] = UINT32_MAX; /* once */
        run_havoc_choice(check, havoc_choices, &(ThreadsRun){.havoc_choice = way}, true);
        i = UINT32_MAX; /* from the first on again */
    }
}

static void run_mix(ThreadsCheck *check, HavocChoices *havoc_choices, unsigned bit, const PtxSchedule *schedule) {
    for (unsigned way = 0; way < 2 && !havoc_choices->over; way++) {
        if (havoc_choices->spent > havoc_choices->most_spent) {
            check->stopped = true;
            if (!check->odd_budget)
                verdict_incomplete(check->verdict, "", 0,
                                   "a condition on unknown data may differ between threads, and not all "
                                   "combinations were tried: give the data in the launch file");
            havoc_choices->over = true;
            return;
        }
        run_havoc_choice(check, havoc_choices,
                         &(ThreadsRun){.schedule = *schedule, .havoc_choice = HAVOC_CHOICE_MIXED | (2 * bit + way)},
                         false);
    }
}

/* By each bit of the numbers of lanes, warps and CTAs, as far as conditions may differ between them. Of a grid that
 * falls into classes one CTA speaks for others, and they would all go its way: so a few of them. */
static void run_mixed(ThreadsCheck *check, HavocChoices *havoc_choices) {
    const PtxMachine *machine = check->machine;
    uint32_t *only = ARENA_ARRAY(&check->arena, uint32_t, MIXED_CTAS), ctas = machine->cta_count;
    PtxSchedule schedule = {0};
    FormSpan most = SPAN_GRID;
    find_all_spans(check);
    for (uint32_t i = 0; i < check->program->code_count; i++)
        most = check->went[i] ? wider(most, (FormSpan)check->spans[i]) : most;
    if (check->classes) {
        ctas = ctas < MIXED_CTAS ? ctas : MIXED_CTAS;
        for (uint32_t i = 0; i < ctas; i++)
            only[i] = i;
        schedule = (PtxSchedule){.only = only, .only_count = ctas};
    }
    uint32_t threads = machine->threads_per_cta < PTX_LANES ? machine->threads_per_cta : PTX_LANES;
    run_mix(check, havoc_choices, HAVOC_CHOICE_RANDOM, &schedule);
    if (most == SPAN_GRID)
        run_mix(check, havoc_choices, 0, &schedule);
    for (unsigned bit = 0; most == SPAN_NONE && (threads - 1) >> bit; bit++)
        run_mix(check, havoc_choices, bit, &schedule);
    for (unsigned bit = 0; most >= SPAN_WARP && (machine->threads_per_cta - 1) / PTX_LANES >> bit; bit++)
        run_mix(check, havoc_choices, HAVOC_CHOICE_WARP_BIT + bit, &schedule);
    for (unsigned bit = 0; most >= SPAN_CLUSTER && (ctas - 1) >> bit; bit++)
        run_mix(check, havoc_choices, HAVOC_CHOICE_CTA_BIT + bit, &schedule);
}

void havoc_choices_run(ThreadsCheck *check) {
    HavocChoices havoc_choices = {.single = check->machine->havoc_count == 1, .most = check->machine->havoc_count};
    size_t classes = check->classes;
    havoc_choices.most_spent = check->odd_budget ? check->odd_budget : most_instructions;
    for (unsigned havoc_choice = 1; havoc_choice < HAVOC_CHOICE_PLAIN && !havoc_choices.over; havoc_choice++)
        if (havoc_choice < FEW_HAVOC_CHOICES ||
            (havoc_choices.most > 2 && havoc_choices.spent < havoc_choices.most_spent))
            run_havoc_choice(check, &havoc_choices, &(ThreadsRun){.havoc_choice = havoc_choice}, true);
    run_chosen(check, &havoc_choices);
    check->classes = classes;
    if (!havoc_choices.single)
        report_always(check);
    if (!havoc_choices.over && !check->verdict->incomplete_count && !check->doubts[DOUBTED_DATA].count &&
        !verdict_faults(check->verdict, NULL))
        run_mixed(check, &havoc_choices); /* else it is not clean as it is */
    check->classes = classes;
}
