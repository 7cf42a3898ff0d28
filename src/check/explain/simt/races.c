/* From a race that the engine found to a finding: who, what, why nothing orders the two, what would. */
#include "check/explain/explain.h"
#include "check/simt/internal.h"

static const char every_schedule[] = "in every schedule";

/* ---- Sides --------------------------------------------------------------------------------------- */

/* "thread 5 (warp 0)", "an operation of thread 5". */
static const char *agent_of(const ThreadsCheck *check, const RaceSide *side) {
    const char *thread = thread_words(check, side->cta, side->thread);
    if (side->asynchronous)
        return verdict_text(check->verdict, "the asynchronous operation of %s", thread);
    return thread;
}

static bool is_shared(const PtxRace *race) {
    return race->location.block &&
           (race->location.block->space == PTX_SPACE_SHARED || race->location.block->space == PTX_SPACE_CLUSTER);
}

/* ---- Which rule ---------------------------------------------------------------------------------- */

/* Copies out of shared memory, which a kernel must wait for; not an MMA, which reads its operands there. */
static bool copies_out(const ThreadsCheck *check, const PtxRace *race) {
    PtxEffect effect = {0};
    return code_effect(check, race->first.code, (EffectVerb)race->first.access.kind, &effect) &&
           (effect.effect.done == DONE_TX ||
            (effect.effect.done == DONE_GROUP && effect.effect.group == GROUP_TMA_STORE));
}

/* What a missing proxy fence is called: a write through one proxy that the other one reads, or memory that an
 * asynchronous operation writes again after threads have read it. */
RuleId threads_race_rule(const ThreadsCheck *check, const PtxRace *race) {
    bool reuse = race->first.access.kind == KIND_READ && race->first.access.proxy == PROXY_GENERIC;
    if (race->reason == REASON_MIXED_SIZE)
        return RULE_RACE_MIXED_SIZE;
    if (race->reason == REASON_TENSOR_FENCE)
        return RULE_FENCE_TENSOR;
    if (race->reason == REASON_START)
        return RULE_CLUSTER_START;
    if (race->reason == REASON_LATE)
        return RULE_FENCE_LATE;
    if (race->reason == REASON_PROXY && race->second.access.proxy == PROXY_TENSORMAP)
        return RULE_FENCE_TENSORMAP;
    if (race->reason == REASON_PROXY && is_shared(race) && threads_is_omitted(check, race))
        return RULE_FENCE_COMPILER;
    if (race->reason == REASON_PROXY)
        return reuse ? RULE_FENCE_REUSE : is_shared(race) ? RULE_FENCE_MISSING : RULE_FENCE_GLOBAL;
    if (race->rule == RULE_RACE_EXIT_STORE && !copies_out(check, race))
        return RULE_RACE_EXIT;
    return race->rule == RULE_RACE_WAW && race->same_value ? RULE_RACE_SAME_VALUE : race->rule;
}

/* ---- Why, and what to do ------------------------------------------------------------------------- */

static const char *why_same_value(const PtxRace *race) {
    if (race->first.access.kind == KIND_READ || race->second.access.kind == KIND_READ)
        return "The write leaves the bytes as they were, so the read gives the same whichever of them comes first.";
    return "Both write the same value, so the result does not depend on which of them comes last.";
}

static const char *const why_by_lanes = "The two are ordered if lanes that come together at match.sync, or at a "
                                        "shuffle or a vote, are ordered by that. PTX "
                                        "does not say so, but cuda::pipeline ends its mbarriers this way.";

static const char tensor_fences[] =
    "Put tcgen05.fence::before_thread_sync before the first thread arrives at the barrier between the two, and "
    "tcgen05.fence::after_thread_sync after the second one has waited for it.";

/* How the operation that is in flight can be waited for. */
static const char *fix_in_flight(const ThreadsCheck *check, const PtxRace *race) {
    const RaceSide *side = race->first.asynchronous ? &race->first : &race->second;
    PtxEffect effect = {0};
    bool found = code_effect(check, side->code, (EffectVerb)side->access.kind, &effect);
    bool tensor = race->location.block && race->location.block->space == PTX_SPACE_TENSOR;
    if (race->waited && race->reason == REASON_IN_FLIGHT)
        return tensor
                   ? tensor_fences
                   : "Synchronize between the wait for the operation and the access: __syncthreads() (bar.sync) after "
                     "the wait, or an arrive on an mbarrier after it that the other thread waits on.";
    switch (found ? effect.effect.done : DONE_NOW) {
    case DONE_TX:
        return "Wait on the mbarrier of the copy (mbarrier.try_wait in a loop, cuda::barrier::wait) before the access.";
    case DONE_GROUP:
        switch (effect.effect.group) {
        case GROUP_CP_ASYNC:
            return "Wait for the copy (cp.async.wait_group, __pipeline_wait_prior) in the thread that started it, then "
                   "synchronize (__syncthreads()) before other threads access the memory.";
        case GROUP_WGMMA:
            return race->first.thread / PTX_LANES == race->second.thread / PTX_LANES
                       ? "Wait for the MMA (wgmma.wait_group) before the access."
                       : "Wait for the MMA (wgmma.wait_group) in the warps that started it, and put a barrier behind "
                         "that "
                         "(bar.sync, or an arrival on an mbarrier that the other warps wait for) before other warps "
                         "make the access.";
        case GROUP_TENSOR_STORE:
            return "Wait for the store (tcgen05.wait::st.sync.aligned) in the warp that made it; before other warps "
                   "make "
                   "the access, synchronize behind that, with tcgen05.fence::before_thread_sync and "
                   "::after_thread_sync.";
        case GROUP_TENSOR_LOAD:
            return "Wait for the load (tcgen05.wait::ld.sync.aligned) in the warp that made it; before other warps "
                   "make "
                   "the access, synchronize behind that, with tcgen05.fence::before_thread_sync and "
                   "::after_thread_sync.";
        default:
            return "Commit and wait for the copy (cp.async.bulk.commit_group and cp.async.bulk.wait_group; with .read "
                   "if only its source is reused) in the thread that started it, then synchronize.";
        }
    case DONE_COMMIT:
        return "Commit the MMA to an mbarrier (tcgen05.commit), and wait on that before the access.";
    default:
        return "Wait for the operation, then synchronize, before the access.";
    }
}

static Facts facts_of(const ThreadsCheck *check, const PtxRace *race) {
    return (Facts){.ptx = true,
                   .agent = agent_of(check, &race->second),
                   .verb = effect_access_verb(race->second.access.kind),
                   .noun = effect_access_noun(race->second.access.kind),
                   .object = location_words(check, race->location, race->bytes),
                   .other = agent_of(check, &race->first),
                   .other_verb = effect_access_verb(race->first.access.kind),
                   .other_noun = effect_access_noun(race->first.access.kind),
                   .place = code_words(check, race->first.code),
                   .first = race->first.access.element,
                   .second = race->second.access.element,
                   .last = "unordered accesses to"};
}

/* Why nothing orders the two, and what would. */
static void explain_reason(const ThreadsCheck *check, const PtxRace *race, Facts facts, Finding *finding) {
    static const CauseId causes[] = {[REASON_SAME_INSTRUCTION] = CAUSE_SAME_INSTRUCTION,
                                     [REASON_SAME_WARP] = CAUSE_SAME_WARP,
                                     [REASON_SCOPE] = CAUSE_SCOPE,
                                     [REASON_PROXY] = CAUSE_PROXY,
                                     [REASON_IN_FLIGHT] = CAUSE_IN_FLIGHT,
                                     [REASON_MIXED_SIZE] = CAUSE_MIXED_SIZE,
                                     [REASON_EXIT] = CAUSE_EXITS_IN_FLIGHT,
                                     [REASON_TENSOR_FENCE] = CAUSE_TENSOR_FENCE,
                                     [REASON_LATE] = CAUSE_PROXY_LATE,
                                     [REASON_READ_ONLY] = CAUSE_READ_ONLY};
    CauseId cause = causes[race->reason];
    const RaceSide *started = race->first.asynchronous ? &race->first : &race->second,
                   *other = started == &race->first ? &race->second : &race->first;
    if (threads_side_missing(check, race, &finding->why, &finding->fix))
        return;
    switch (race->reason) {
    case REASON_UNORDERED:
        cause = race->first.cta == race->second.cta ? CAUSE_UNORDERED_CTA
                : is_shared(race)                   ? CAUSE_UNORDERED_CLUSTER
                                                    : CAUSE_UNORDERED_GRID;
        break;
    case REASON_SAME_WARP:
        facts.detail = "The lanes of a warp need not run in lockstep.";
        break;
    case REASON_PROXY:
        facts.detail = race->first.access.proxy == PROXY_TENSORMAP || race->second.access.proxy == PROXY_TENSORMAP
                           ? "tensormap"
                           : "async";
        break;
    case REASON_IN_FLIGHT:
        cause = race->waited ? CAUSE_IN_FLIGHT_WAITED : cause;
        started = race->waited ? &race->first : started;
        other = race->waited ? &race->second : other;
        facts.other = thread_words(check, started->cta, started->thread);
        facts.agent = thread_words(check, other->cta, other->thread);
        /* fall through */
    case REASON_EXIT:
        facts.fix = fix_in_flight(check, race);
        break;
    case REASON_TENSOR_FENCE:
        facts.fix = tensor_fences;
        break;
    default:
        break;
    }
    explain(check->verdict, finding, cause, &facts);
}

/* ---- The finding --------------------------------------------------------------------------------- */

/* At a launch that Weir chose, numbers may not fit each other: whether threads share what they access in global memory
 * depends on them. */
static bool is_doubtful(const ThreadsCheck *check, const PtxRace *race) {
    bool tensor = race->location.block && race->location.block->space == PTX_SPACE_TENSOR;
    return check->launch->chosen && !is_shared(race) && !tensor &&
           rule_of(threads_race_rule(check, race))->severity != SEVERITY_NOTE;
}

void threads_grade(const ThreadsCheck *check, Finding *finding) {
    if (check->launch->chosen && check->launch->chosen_block && !check->program->required[0] &&
        finding_severity(finding) == SEVERITY_ERROR) {
        finding->graded = true;
        finding->grade = SEVERITY_WARNING;
    }
}

/* What was stored to tensor memory is used: the one case of a missing tcgen05.fence that is more than a note. */
static bool is_stored_there(const ThreadsCheck *check, const PtxRace *race) {
    PtxEffect effect;
    return code_effect(check, race->first.code, EFFECT_WRITE, &effect) && effect.effect.done == DONE_GROUP &&
           !ptx_is_tiled(check->module, check->program->entry);
}

bool threads_fence_is_note(const ThreadsCheck *check, const PtxRace *race) {
    RuleId rule = threads_race_rule(check, race);
    return rule == RULE_FENCE_COMPILER || (rule == RULE_FENCE_TENSOR && !is_stored_there(check, race));
}

/* Of those that are notes, one stands for all: a kernel that leaves these fences out does so everywhere. */
static bool is_one_more(const ThreadsCheck *check, const PtxRace *race, RuleId rule) {
    if (!threads_fence_is_note(check, race))
        return false;
    for (size_t i = 0; i < check->verdict->finding_count; i++)
        if (check->verdict->findings[i].rule == rule) {
            check->verdict->findings[i].times++;
            return true;
        }
    return false;
}

/* Whether a proxy fence stands behind a copy, before a thread waits for it and before anything else is written that it
 * could be for: it is meant for what was accessed before, and comes too late. */
static bool is_fenced_behind(const ThreadsCheck *check, const PtxCode *copy) {
    const PtxProgram *program = check->program;
    for (const PtxCode *code = copy + 1; code < program->code + program->code_count; code++)
        for (unsigned i = 0; i < code->form->effect_count; i++) {
            const Effect *effect = &code->form->effects[i].effect;
            if (effect->verb == EFFECT_FENCE_PROXY && effect->proxy == PROXY_ASYNC)
                return true;
            if (effect->verb == EFFECT_WAIT || effect->verb == EFFECT_INIT || effect->verb == EFFECT_NAMED_SYNC ||
                effect->verb == EFFECT_CLUSTER_WAIT || effect->verb == EFFECT_ANYTHING ||
                (effect->verb != EFFECT_READ && effect_is_access(effect) && effect->proxy == PROXY_GENERIC &&
                 effect->space == SPACE_SHARED))
                return false;
        }
    return false;
}

/* Memory that was read and is then filled again: on an H200 it was never seen to fail, on later GPUs it was. */
static bool corrupts(const ThreadsCheck *check, const PtxRace *race) {
    return race->reason == REASON_PROXY && threads_race_rule(check, race) == RULE_FENCE_REUSE &&
           race->second.asynchronous && !ptx_is_tiled(check->module, check->program->entry) &&
           (check->module->capability >= 100 || is_fenced_behind(check, race->second.code));
}

static void grade(const ThreadsCheck *check, const PtxRace *race, Finding *finding) {
    if (race->by_lanes || (race->reason == REASON_TENSOR_FENCE && !is_stored_there(check, race))) {
        finding->graded = true;
        finding->grade = SEVERITY_NOTE;
    } else if (corrupts(check, race)) {
        finding->graded = true;
        finding->grade = SEVERITY_WARNING;
    }
    threads_grade(check, finding);
}

/* The second place of a finding: behind those that the first one was inlined at. NULL: it is of another kernel. */
static const FindingPlace *other_place(const Finding *finding) {
    size_t second = 1;
    while (second < finding->place_count && !finding->places[second].ir_line)
        second++;
    return second < finding->place_count && !finding->places[second].ir_file ? &finding->places[second] : NULL;
}

/* Whether a place is that of an instruction: the same, or one of the same source line, as a loop that was unrolled has
 * many. */
static bool is_at(const FindingPlace *place, const FindingPlace *other) {
    if (place->ir_line == other->ir_line)
        return true;
    return *place->file && place->line == other->line && place->column == other->column &&
           strcmp(place->file, other->file) == 0;
}

/* The same two instructions again, in whatever order, at another launch or in another run. */
static bool is_reported(const ThreadsCheck *check, const PtxRace *race, RuleId rule) {
    enum { MOST_INLINED = 8 };
    FindingPlace here[1 + MOST_INLINED] = {{.file = ""}}, there[1 + MOST_INLINED] = {{.file = ""}};
    const char *family = rule_of(rule)->id;
    code_place(check, race->second.code, &here[0], &here[1]);
    code_place(check, race->first.code, &there[0], &there[1]);
    for (size_t i = 0; i < check->verdict->finding_count; i++) {
        Finding *finding = &check->verdict->findings[i];
        const FindingPlace *other = other_place(finding);
        size_t size = strcspn(family, ".") + 1;
        if (!other || strncmp(rule_of(finding->rule)->id, family, size) != 0 ||
            rule_of(finding->rule)->severity > rule_of(rule)->severity)
            continue;
        bool same_map =
            rule == RULE_FENCE_TENSORMAP && finding->rule == rule; /* of many changes of it, one is reported */
        if ((is_at(&finding->places[0], here) && (same_map || is_at(other, there))) ||
            (is_at(&finding->places[0], there) && is_at(other, here))) {
            finding->times += race->reason != REASON_LATE;
            return true;
        }
    }
    return false;
}

static const char *message_of(const ThreadsCheck *check, const PtxRace *race, RuleId rule) {
    Facts facts = facts_of(check, race);
    if (race->reason == REASON_EXIT)
        return explain_message(check->verdict, CAUSE_EXITS_IN_FLIGHT, &facts);
    if (rule == RULE_FENCE_COMPILER)
        facts.last = "the compiler inserted no proxy fence between accesses to";
    else if (rule == RULE_FENCE_MISSING || rule == RULE_FENCE_GLOBAL || rule == RULE_FENCE_REUSE ||
             rule == RULE_FENCE_TENSORMAP)
        facts.last = "no proxy fence between accesses to";
    else if (rule == RULE_FENCE_LATE)
        facts.last = "the proxy fence comes too late between accesses to";
    else if (rule == RULE_FENCE_TENSOR)
        facts.last = "no tcgen05.fence between accesses to";
    else if (race->reason == REASON_READ_ONLY)
        facts.last = "ld.global.nc in a launch that writes the same memory:";
    return explain_message(check->verdict, CAUSE_RACE, &facts);
}

/* What both sides of it do. */
static void add_sides(const ThreadsCheck *check, const PtxRace *race, Finding *finding) {
    const PtxCode *codes[] = {race->second.code, race->first.code};
    const RaceSide *sides[] = {&race->second, &race->first};
    FindingPlace **places = code_places(check, finding, codes, 2);
    for (unsigned i = 0; i < 2; i++) {
        places[i]->agent = agent_of(check, sides[i]);
        places[i]->role = effect_access_verb(sides[i]->access.kind);
        places[i]->note = location_words(check, race->location, race->bytes);
    }
}

/* ---- CTAs that need not have started ------------------------------------------------------------- */

static Finding *unstarted(const ThreadsCheck *check, const PtxRace *race, const PtxSchedule *schedule,
                          unsigned havoc_choice) {
    Verdict *verdict = check->verdict;
    const RaceSide *side = race->first.access.kind == KIND_READ ? &race->first : &race->second;
    uint32_t line = code_line(check->program, side->code);
    for (size_t i = 0; i < verdict->finding_count; i++)
        if (verdict->findings[i].rule == RULE_CLUSTER_START && verdict->findings[i].place_count &&
            verdict->findings[i].places[0].ir_line == line) {
            verdict->findings[i].times++;
            return NULL;
        }
    Finding *finding = threads_finding(check, RULE_CLUSTER_START, "shared", schedule, havoc_choice, race->times);
    Facts facts = {.agent = agent_of(check, side), .first = race->location.block->cta};
    explain(verdict, finding, CAUSE_UNSTARTED, &facts);
    finding->schedule = "in every schedule";
    FindingPlace **places = code_places(check, finding, &side->code, 1);
    places[0]->agent = facts.agent;
    places[0]->role = "reaches into another CTA";
    threads_grade(check, finding);
    return finding;
}

/* Whether something that is not known may order the two. */
static bool may_be_ordered(const ThreadsCheck *check, const PtxRace *race) {
    bool may = race->first.cta != race->second.cta || check->unordered_within;
    for (uint32_t i = 0; i < check->unordered_cta_count && !may; i++)
        may = check->unordered_ctas[i] == race->first.cta;
    return may;
}

Finding *threads_race(ThreadsCheck *check, const PtxRace *race, const PtxSchedule *schedule, unsigned havoc_choice) {
    RuleId rule = threads_race_rule(check, race);
    if (race->reason == REASON_START)
        return unstarted(check, race, schedule, havoc_choice);
    const PtxCode *over = history_overwrite(check->history).code; /* which is reported as that */
    if (race->first.code == over || race->second.code == over || is_reported(check, race, rule) ||
        is_one_more(check, race, rule))
        return NULL;
    if (is_doubtful(check, race)) {
        SimtDoubt *doubt = &check->doubts[DOUBTED_LAUNCH];
        if (!doubt->count++) {
            doubt->line = code_line(check->program, race->second.code);
            doubt->text =
                verdict_text(check->verdict,
                             "at a launch that Weir chose, %s (%s): whether callers make such launches is not "
                             "known; give one with --launch",
                             message_of(check, race, rule), check->launch->text);
        }
        return NULL;
    }
    if (race->unknown && !race->same_value) {
        verdict_incomplete(check->verdict, verdict_text(check->verdict, "%.*s", STR_ARG(race->second.code->form->text)),
                           code_line(check->program, race->second.code),
                           "%s: whether both write the same value was not recorded", message_of(check, race, rule));
        return NULL;
    }
    if (threads_may_be_same(check, race)) {
        SimtDoubt *doubt = &check->doubts[DOUBTED_VALUES];
        if (!doubt->count++) {
            doubt->line = code_line(check->program, race->second.code);
            doubt->text = verdict_text(check->verdict,
                                       "%s: whether both write the same value depends on unknown data; give it with "
                                       "--launch",
                                       message_of(check, race, rule));
        }
        return NULL;
    }
    /* Strong accesses whose scopes lack each other order nothing, in whatever order they were made. */
    if (check->unordered && race->reason != REASON_SCOPE && may_be_ordered(check, race) &&
        rule_of(rule)->severity != SEVERITY_NOTE) {
        check->unordered_count++;
        if (check->unordered_counts)
            return NULL;
        verdict_incomplete(check->verdict, verdict_text(check->verdict, "%.*s", STR_ARG(race->second.code->form->text)),
                           code_line(check->program, race->second.code), "%s, as far as is known: %s",
                           message_of(check, race, rule), check->unordered);
        return NULL;
    }
    Finding *finding =
        threads_finding(check, rule, is_shared(race) ? "shared" : "global", schedule, havoc_choice, race->times);
    explain_reason(check, race, facts_of(check, race), finding);
    finding->message = message_of(check, race, rule);
    if (rule == RULE_RACE_SAME_VALUE)
        finding->why = why_same_value(race);
    else if (rule == RULE_FENCE_COMPILER)
        explain(check->verdict, finding, CAUSE_PROXY_OMITTED, &(Facts){0});
    else if (race->by_chance) /* this run does not show it in memory */
        finding->why = verdict_text(check->verdict,
                                    "%s With the data of this launch, the write does not change the bytes (zeros, "
                                    "padding, equal elements); with other data, it does.",
                                    finding->why);
    else if (race->unset)
        finding->why = verdict_text(check->verdict,
                                    "%s The value comes from a register or memory that nothing has written. It is "
                                    "indeterminate, and may differ between the threads.",
                                    finding->why);
    else if (race->by_lanes)
        finding->why = why_by_lanes;
    bool ordered = race->reason == REASON_PROXY || race->reason == REASON_TENSOR_FENCE || race->reason == REASON_LATE;
    finding->schedule = ordered ? "in every schedule"
                        : schedule->kind == SCHEDULE_EAGER && !schedule->mirrored && !schedule->gives_up
                            ? every_schedule
                            : verdict_text(check->verdict, "in some schedules, such as %s", finding->schedule);
    add_sides(check, race, finding);
    grade(check, race, finding);
    return finding;
}

/* ---- Volatile accesses --------------------------------------------------------------------------- */

/* Lanes of one warp that pass values through shared memory, as if they ran in lockstep. */
static bool is_warp_synchronous(const PtxRace *race) {
    return race->reason == REASON_SAME_WARP && is_shared(race);
}

void threads_volatile(ThreadsCheck *check, const PtxWatch *watch, const PtxSchedule *schedule, unsigned havoc_choice) {
    uint32_t count = 0;
    uint64_t times = 0;
    const PtxRace *races = watch ? ptx_watch_loose(watch, &check->arena, &count) : NULL, *race = races;
    if (!count || check->machine->havoc_count > 1)
        return;
    for (uint32_t i = 0; i < count; i++) {
        bool better = is_warp_synchronous(&races[i]) && races[i].rule == RULE_RACE_RAW;
        if (better ? !is_warp_synchronous(race) || race->rule != RULE_RACE_RAW
                   : is_warp_synchronous(&races[i]) && !is_warp_synchronous(race))
            race = &races[i];
        times += races[i].times;
    }
    if (is_reported(check, race, RULE_RACE_VOLATILE))
        return;
    bool lockstep = is_warp_synchronous(race);
    ThreadsOptions options = *check->options;
    ThreadsCheck as_races = *check;
    options.volatile_races = true; /* with which the witness shows it */
    as_races.options = &options;
    Finding *finding = threads_finding(&as_races, RULE_RACE_VOLATILE, is_shared(race) ? "shared" : "global", schedule,
                                       havoc_choice, times);
    Facts facts = {.detail = "`volatile` makes each access go to memory, but does not keep the lanes of a warp in "
                             "lockstep. So the read may come before or after the write."};
    explain(check->verdict, finding, lockstep ? CAUSE_SAME_WARP : CAUSE_VOLATILE, &facts);
    finding->message =
        verdict_text(check->verdict, "%s (both are volatile)", message_of(check, race, RULE_RACE_VOLATILE));
    finding->schedule = every_schedule;
    add_sides(check, race, finding);
    threads_grade(check, finding);
}

/* ---- Between launches ---------------------------------------------------------------------------- */

static const char *agent_in(const ThreadsCheck *check, const RaceSide *side, const char *name) {
    return verdict_text(check->verdict, "%s of %s", agent_of(check, side), name);
}

static void add_places(const ThreadsCheck *check, const ThreadsCheck *other, const PtxRace *race,
                       const RaceNames *names, Finding *finding) {
    enum { MOST_PLACES = 16 };
    const ThreadsCheck *checks[] = {check, other};
    const RaceSide *sides[] = {&race->second, &race->first};
    const char *called[] = {names->second, names->first};
    FindingPlace *places = finding_places(check->verdict, finding, 2 * MOST_PLACES);
    finding->place_count = 0;
    for (unsigned i = 0; i < 2; i++) {
        FindingPlace *place = &places[finding->place_count++];
        finding->place_count += code_place(checks[i], sides[i]->code, place, place + 1);
        place->agent = agent_in(checks[i], sides[i], called[i]);
        place->role = effect_access_verb(sides[i]->access.kind);
        place->note = location_words(check, race->location, race->bytes);
        place->ir_file = i && names->file ? verdict_text(check->verdict, "%s", names->file) : NULL;
    }
}

Finding *threads_race_between(const ThreadsCheck *check, const ThreadsCheck *other, const PtxRace *race,
                              const RaceNames *names) {
    RuleId rule = threads_race_rule(check, race);
    Finding *finding = threads_finding(check, rule, "global", &(PtxSchedule){0}, 0, race->times);
    Facts facts = facts_of(check, race);
    facts.other = agent_in(other, &race->first, names->first);
    facts.agent = agent_in(check, &race->second, names->second);
    facts.place = code_words(other, race->first.code);
    if (race->reason == REASON_SCOPE || race->reason == REASON_PROXY || race->reason == REASON_MIXED_SIZE)
        explain_reason(check, race, facts, finding);
    else
        explain(check->verdict, finding, CAUSE_UNORDERED_LAUNCHES, &facts);
    explain(check->verdict, finding, CAUSE_RACE, &facts);
    if (rule == RULE_RACE_SAME_VALUE)
        finding->why = why_same_value(race);
    finding->schedule = every_schedule;
    finding->witness = witness_between(check, names->number);
    add_places(check, other, race, names, finding);
    return finding;
}

/* ---- With what is no kernel ---------------------------------------------------------------------- */

/* What is wrong with it is not the order. */
static void explain_freed(const ThreadsCheck *check, const OutsideRace *race, Finding *finding, const Facts *facts) {
    finding->message = verdict_text(check->verdict, "%s %s %s, which %s has freed", facts->agent, facts->verb,
                                    facts->object, race->what);
    finding->why = "The memory was freed before the launch, in the order of its streams, and nothing has allocated it "
                   "again since.";
    finding->fix = "Free the memory after its last use.";
}

Finding *threads_race_outside(const ThreadsCheck *check, const OutsideRace *race) {
    bool reads = race->side.access.kind == KIND_READ;
    RuleId rule = race->freed              ? RULE_ACCESS_INVALID
                  : !reads && race->writes ? RULE_RACE_WAW
                  : reads == race->later ? RULE_RACE_WAR /* what was read is written later */
                                         : RULE_RACE_RAW;
    Finding *finding = threads_finding(check, rule, "global", &(PtxSchedule){0}, 0, race->times);
    Facts facts = {.agent = agent_of(check, &race->side),
                   .verb = effect_access_verb(race->side.access.kind),
                   .object = location_words(check, race->location, race->bytes),
                   .noun = effect_access_noun(race->side.access.kind),
                   .other = race->what,
                   .other_noun = race->noun     ? race->noun
                                 : race->writes ? "write"
                                                : "read"};
    if (race->freed)
        explain_freed(check, race, finding, &facts);
    else
        explain(check->verdict, finding,
                race->returned && !race->later ? CAUSE_UNORDERED_COPY : CAUSE_UNORDERED_STREAMS, &facts);
    finding->schedule = every_schedule;
    FindingPlace **places = code_places(check, finding, &race->side.code, 1);
    places[0]->agent = facts.agent;
    places[0]->role = facts.verb;
    places[0]->note = facts.object;
    return finding;
}
