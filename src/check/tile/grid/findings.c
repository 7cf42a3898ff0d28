/* What is said of races in global memory, of grids that hang, and of accesses that touch what they should not. */
#include "check/tile/grid/internal.h"

#include "check/explain/explain.h"
#include "check/explain/place.h"

enum { MOST_SLEEPERS = 64, MOST_REPORTED_SLEEPERS = 4 };

/* ---- Names ---------------------------------------------------------------------------------------- */

void cta_name(const GlobalCheck *run, uint32_t launch, uint32_t cta, Text *to) {
    const GridLaunch *which = &run->launch_sequence.launches[launch];
    const Program *program = which->program;
    bool split = program->ctas > 1 && !program->ranks_are_programs;
    uint32_t index = split ? cta / program->ctas : cta;
    const int64_t *grid = which->launch->grid;
    if (split)
        text_addf(to, "CTA %u of program %u", cta % program->ctas, index);
    else
        text_addf(to, "CTA %u", index);
    if (grid[1] * grid[2] > 1)
        text_addf(to, " (%lld, %lld, %lld)", (long long)(index % grid[0]), (long long)(index / grid[0] % grid[1]),
                  (long long)(index / grid[0] / grid[1]));
    if (run->count > 1) {
        text_addf(to, " of ");
        text_add_plain(to, str_of(program->name));
    }
    if (run->options->devices > 1)
        text_addf(to, " on device %u", which->device);
}

static const char *cta_text(const GlobalCheck *run, uint32_t launch, uint32_t cta, Verdict *verdict) {
    Text text = {0};
    cta_name(run, launch, cta, &text);
    return verdict_keep(verdict, &text);
}

static const Op *site_op(const GlobalCheck *run, uint32_t site) {
    return run->programs[site_kernel(run, site)]->ops[site_pc(run, site)];
}

/* A machine that knows its program, which is all that placing an instruction takes. */
static Machine machine_of(const GlobalCheck *run, uint32_t site) {
    return (Machine){.program = run->programs[site_kernel(run, site)]};
}

void site_name(const GlobalCheck *run, uint32_t site, Text *to) {
    Machine machine = machine_of(run, site);
    op_place(&machine, site_op(run, site), to);
}

static uint32_t site_line(const GlobalCheck *run, uint32_t site) {
    const Program *program = run->programs[site_kernel(run, site)];
    return op_line(program->module, site_op(run, site));
}

void site_incomplete(const GlobalCheck *run, uint32_t site, const char *reason) {
    Verdict *verdict = run->kernels[site_kernel(run, site)].verdict;
    verdict_incomplete(verdict, verdict_text(verdict, "%.*s", STR_ARG(site_op(run, site)->name)), site_line(run, site),
                       "%s", reason);
}

/* "IR line 41", "IR line 41 of producer": seen from a place in kernel `from`. */
static const char *line_text(const GlobalCheck *run, uint32_t site, size_t from, Verdict *verdict) {
    size_t kernel = site_kernel(run, site);
    if (kernel == from)
        return verdict_text(verdict, "IR line %u", site_line(run, site));
    return verdict_text(verdict, "IR line %u of %s", site_line(run, site), run->programs[kernel]->name);
}

static const char *address_text(const GlobalCheck *run, uint64_t address, Verdict *verdict) {
    Text text = {0};
    area_name(run, (int64_t)address, &text);
    return verdict_keep(verdict, &text);
}

static void set_place(const GlobalCheck *run, FindingPlace *place, const char *role, uint32_t launch, uint32_t cta,
                      uint32_t site, Verdict *verdict) {
    Machine machine = machine_of(run, site);
    const GlobalKernel *kernel = &run->kernels[site_kernel(run, site)];
    place_set(&machine, place, role, cta_text(run, launch, cta, verdict), site_pc(run, site), verdict);
    if (kernel->verdict != verdict)
        place->ir_file = verdict_text(verdict, "%s", kernel->module->source->name);
}

static const char *schedule_text(const Reporting *reporting, Verdict *verdict) {
    static const char *const texts[] = {[GRID_FORWARD] = "when CTAs run one after another, each until it blocks",
                                        [GRID_BACKWARD] = "when the last CTAs run first",
                                        [GRID_ROUND_ROBIN] = "when all CTAs run side by side",
                                        [GRID_REPLAY] = "the schedule of the trail"};
    if (reporting->cancels)
        return "when a CTA takes over the work of clusters that have not started";
    if (!reporting->communicates)
        return "in every schedule";
    if (reporting->kind == GRID_RANDOM)
        return verdict_text(verdict, "in the random schedule with seed %llu", (unsigned long long)reporting->seed);
    return texts[reporting->kind];
}

/* Findings of one verdict that have a witness in common have the same text. */
static const char *witness_of(const GlobalCheck *run, size_t kernel, const Reporting *reporting) {
    const char **kept = &reporting->witnesses[kernel];
    if (!*kept)
        *kept = arena_copy(run->kernels[kernel].verdict->arena, reporting->witness, strlen(reporting->witness));
    return *kept;
}

static Finding *finding_in(const GlobalCheck *run, size_t kernel, RuleId rule, const Reporting *reporting) {
    Finding *finding = verdict_finding(run->kernels[kernel].verdict);
    finding->rule = rule;
    finding->times = 1;
    finding->space = "global";
    finding->launch = run->launch_texts[kernel];
    finding->schedule = schedule_text(reporting, run->kernels[kernel].verdict);
    finding->witness = witness_of(run, kernel, reporting);
    return finding;
}

/* ---- Races ---------------------------------------------------------------------------------------- */

static RuleId race_rule(const GsanRace *race) {
    if (race->earlier.kind == KIND_READ)
        return RULE_RACE_WAR;
    return race->later.kind == KIND_WRITE ? RULE_RACE_WAW : RULE_RACE_RAW;
}

static bool is_atomic(const GsanActor *actor) {
    return actor->order != ORDER_WEAK;
}

/* "relaxed, scope cta": how the op at a site orders; *order and *scope. */
static const char *site_order(const GlobalCheck *run, uint32_t site, Order *order, Scope *scope, Verdict *verdict) {
    Effect effects[EFFECTS_MOST];
    const Program *program = run->programs[site_kernel(run, site)];
    unsigned count = effects_of(program->module, site_op(run, site), effects);
    *order = ORDER_WEAK;
    *scope = SCOPE_NONE;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].order != ORDER_WEAK) {
            *order = effects[i].order;
            *scope = effects[i].scope;
        }
    return *order == ORDER_WEAK
               ? "a plain access"
               : verdict_text(verdict, "%s, scope %s", effect_order_name(*order), effect_scope_name(*scope));
}

/* What the missing edge would be, where there is half of one: the earlier access is released. */
static CauseId explain_half(const GlobalCheck *run, const GsanRace *race, size_t kernel, Facts *facts,
                            Verdict *verdict) {
    facts->arrive = line_text(run, race->released_site, kernel, verdict);
    if (race->acquired_site == UINT32_MAX)
        return CAUSE_NOT_ACQUIRED;
    Order order[2];
    Scope reach[2];
    facts->wait = line_text(run, race->acquired_site, kernel, verdict);
    facts->more = site_order(run, race->released_site, &order[0], &reach[0], verdict);
    facts->detail = site_order(run, race->acquired_site, &order[1], &reach[1], verdict);
    bool weak[2] = {order[0] < ORDER_RELEASE || reach[0] < race->needed,
                    !order_acquires(order[1]) || reach[1] < race->needed};
    facts->fix = explain_text(
        verdict,
        weak[0] && !weak[1]   ? "Make the access of {arrive} a release with scope {scope}."
        : weak[1] && !weak[0] ? "Make the access of {wait} an acquire with scope {scope}."
                              : "Make the access of {arrive} a release and that of {wait} an acquire, both with scope "
                                "{scope}.",
        facts);
    return CAUSE_HALF_ORDERED;
}

/* The barrier that an asynchronous access completes on, "%full"; NULL if it completes on none. */
static const char *completed_on(const GlobalCheck *run, uint32_t site, Verdict *verdict) {
    Machine machine = machine_of(run, site);
    const Program *program = machine.program;
    const Instruction *instruction = &program->code[site_pc(run, site)];
    for (uint32_t i = 0; instruction->code == CODE_EFFECTS && i < instruction->a; i++) {
        const Effect *effect = &program->effects[instruction->aux + i].effect;
        const Allocation *allocation =
            effect->verb == EFFECT_COMPLETE ? allocation_of(&program->allocations, program->module, effect->on) : NULL;
        if (allocation && allocation->op->result_count)
            return name_text(program->module, allocation->op, verdict);
    }
    return NULL;
}

/* An asynchronous access that was not waited for. */
static CauseId explain_unfinished(const GlobalCheck *run, const GsanRace *race, bool same, Facts *facts,
                                  Verdict *verdict) {
    facts->barrier = completed_on(run, race->earlier.site, verdict);
    facts->detail = same ? explain_text(verdict, "this {noun}", facts) : "telling others";
    facts->more = same ? "" : explain_text(verdict, ", then release with scope {scope}", facts);
    facts->fix = explain_text(verdict,
                              facts->barrier ? "Wait for {barrier} (the slot and phase that it completes) after "
                                               "{place}{more}."
                                             : "Wait for it after {place} (for a TMA store: until it is written, not "
                                               "only until its source is read){more}.",
                              facts);
    return CAUSE_UNFINISHED;
}

static void explain_race(const GlobalCheck *run, const FoundRace *found, size_t kernel, Finding *finding,
                         Verdict *verdict) {
    const GsanRace *race = &found->race;
    const GsanActor *earlier = &race->earlier, *later = &race->later;
    bool same = earlier->thread == later->thread;
    Facts facts = {.agent = cta_text(run, later->launch, later->cta, verdict),
                   .verb = effect_access_verb(later->kind),
                   .noun = effect_access_noun(later->kind),
                   .object = address_text(run, race->begin, verdict),
                   .issuer = cta_text(run, earlier->launch, earlier->cta, verdict),
                   .other_verb = effect_access_verb(earlier->kind),
                   .other_noun = effect_access_noun(earlier->kind),
                   .place = line_text(run, earlier->site, kernel, verdict),
                   .last = "unordered accesses to",
                   .scope = effect_scope_name(race->needed)};
    facts.other = same ? "the same CTA" : facts.issuer;
    CauseId cause = CAUSE_UNRELEASED;
    if (found->earlier) { /* two accesses of one CTA */
        facts.issuer = found->later;
        facts.other = found->earlier;
        cause = found->partitions ? CAUSE_INSIDE_PARTITIONS : CAUSE_INSIDE_THREADS;
    } else if (race->reason == GSAN_UNFINISHED || earlier->in_flight) {
        cause = explain_unfinished(run, race, same, &facts, verdict);
    } else if (race->reason == GSAN_NARROW && is_atomic(earlier) && is_atomic(later)) {
        const GsanActor *narrow = earlier->scope < race->needed ? earlier : later;
        facts.more = effect_scope_name(narrow->scope);
        facts.arrive = line_text(run, narrow->site, kernel, verdict);
        facts.detail = effect_order_name(narrow->order);
        cause = CAUSE_NARROW;
    } else if (race->released_site != UINT32_MAX) {
        cause = explain_half(run, race, kernel, &facts, verdict);
    } else if (earlier->launch != later->launch) {
        facts.other = facts.issuer;
        cause = CAUSE_UNORDERED_LAUNCHES;
    }
    explain(verdict, finding, CAUSE_RACE, &facts);
    explain(verdict, finding, cause, &facts);
}

/* Whether the write never changes anything, and nothing of the launch does where it races with the read: that may be a
 * write before it, which is not ordered with the read either. */
static bool leaves_alone(const GlobalCheck *run, const GsanRace *race, uint32_t site) {
    const Run *of_launch = &run->loud[(size_t)race->later.launch * run->site_count];
    for (uint32_t i = 0; i < run->launch_sequence.count; i++) {
        const Run *changed = &run->loud[(size_t)i * run->site_count + site];
        if (changed->begin < changed->end)
            return false;
    }
    for (uint32_t i = 0; i < run->site_count; i++)
        if (of_launch[i].begin < (int64_t)race->end && (int64_t)race->begin < of_launch[i].end)
            return false;
    return true;
}

/* Whether no order of the two changes what any agent finds, in a launch whose CTAs do not talk to each other: the write
 * never changes anything, or all write the same. */
static bool is_harmless(const GlobalCheck *run, const FoundRace *found, const Reporting *reporting) {
    const GsanActor *earlier = &found->race.earlier, *later = &found->race.later;
    if (reporting->communicates || earlier->launch != later->launch)
        return false;
    if (earlier->kind == KIND_READ || later->kind == KIND_READ)
        return leaves_alone(run, &found->race, earlier->kind == KIND_READ ? later->site : earlier->site);
    return found->silent && earlier->site == later->site;
}

/* The kernel's last finding is none: a barrier may be there that orders the two. */
static void take_back_unsure(const GlobalCheck *run, size_t kernel, const FoundRace *found) {
    Verdict *verdict = run->kernels[kernel].verdict;
    const Finding *finding = &verdict->findings[--verdict->finding_count];
    if (!found->harmless)
        site_incomplete(run, found->race.later.site,
                        verdict_text(verdict,
                                     "whether a barrier orders two accesses of one CTA is not known: %s; "
                                     "`tl.debug_barrier()` between the two orders them",
                                     finding->message));
}

void report_races(GlobalCheck *run, const Reporting *reporting) {
    for (uint32_t i = 0; i < run->found.race_count; i++) {
        FoundRace *found = &run->found.races[i];
        const GsanRace *race = &found->race;
        if (found->reported)
            continue;
        found->reported = true;
        size_t kernel = site_kernel(run, race->later.site);
        Verdict *verdict = run->kernels[kernel].verdict;
        bool harmless = found->harmless = is_harmless(run, found, reporting);
        found->finding = verdict->finding_count;
        Finding *finding = finding_in(run, kernel, harmless ? RULE_RACE_SAME_VALUE : race_rule(race), reporting);
        explain_race(run, found, kernel, finding, verdict);
        if (harmless)
            finding->why =
                verdict_text(verdict, "%s The race is benign here: the write does not change the value.", finding->why);
        finding->times = found->times;
        FindingPlace *places = finding_places(verdict, finding, 2);
        set_place(run, &places[0], effect_access_verb(race->later.kind), race->later.launch, race->later.cta,
                  race->later.site, verdict);
        set_place(run, &places[1], effect_access_verb(race->earlier.kind), race->earlier.launch, race->earlier.cta,
                  race->earlier.site, verdict);
        if (found->earlier) {
            places[0].agent = verdict_text(verdict, "%s of %s", found->later, places[0].agent);
            places[1].agent = verdict_text(verdict, "%s of %s", found->earlier, places[1].agent);
        }
        places[0].note = places[1].note = address_text(run, race->begin, verdict);
        found->doubted = found->havoc_dependent || (found->earlier ? found->unsure : grid_may_order_race(run, race));
        if (found->havoc_dependent)
            havoc_dependent_take_back(run, kernel, reporting->havoc_dependent);
        else if (found->doubted && found->earlier)
            take_back_unsure(run, kernel, found);
        else if (found->doubted)
            grid_may_order_take_back(run, kernel);
    }
}

/* ---- Bounds and data ------------------------------------------------------------------------------ */

static void describe_area(const Area *area, Text *to) {
    text_add_plain(to, str_of(area->name));
    text_addf(to, " has ");
    for (unsigned i = 0; i < area->rank; i++)
        text_addf(to, "%s%lld", i ? "x" : "", (long long)area->shape[i]);
    text_addf(to, "%s of %u bits", area->rank ? " elements" : "one element", area->element_bits);
    if (area->storage)
        text_addf(to, ", in a storage of %lld bytes", (long long)(area->before + area->bytes));
    else if (area->bytes >= 0)
        text_addf(to, ", %lld bytes", (long long)area->bytes);
}

void report_accesses(GlobalCheck *run, const Reporting *reporting) {
    for (uint32_t i = 0; i < run->found.access_count; i++) {
        FoundAccess *found = &run->found.accesses[i];
        if (found->reported)
            continue;
        found->reported = true;
        size_t kernel = site_kernel(run, found->site);
        Verdict *verdict = run->kernels[kernel].verdict;
        Finding *finding = finding_in(run, kernel, found->rule, reporting);
        bool outside = found->rule == RULE_GLOBAL_OUT_OF_RANGE;
        const char *address = address_text(run, (uint64_t)found->from, verdict);
        int64_t offset = 0, begin = 0;
        const Area *area = global_area(run->launch_sequence.memory, found->from, &offset);
        (void)global_area(run->launch_sequence.memory, found->begin, &begin);
        Text text = {0};
        if (area)
            describe_area(area, &text);
        finding->message =
            verdict_text(verdict, "%s %s %s, which %s", cta_text(run, found->launch, found->cta, verdict),
                         effect_access_verb(found->kind), address,
                         !outside                ? "nothing has written"
                         : area && area->storage ? "is out of range of the tensor's storage"
                                                 : "is out of range of the tensor");
        finding->why = verdict_text(verdict, "%s; this access touches its bytes %lld to %lld.",
                                    area ? verdict_keep(verdict, &text) : "", (long long)begin,
                                    (long long)(begin + (found->end - found->begin) - 1));
        finding->fix = outside ? "Mask off the elements that are out of range, or correct the shape in the launch "
                                 "file."
                               : "Write it first, in this launch or an earlier one, or mark it as an input in the "
                                 "launch file.";
        FindingPlace *places = finding_places(verdict, finding, 1);
        set_place(run, &places[0], effect_access_verb(found->kind), found->launch, found->cta, found->site, verdict);
        places[0].note = address;
        if (found->havoc_dependent)
            havoc_dependent_take_back(run, kernel, reporting->havoc_dependent);
        else if (!outside && run->unknown_ran != UINT32_MAX)
            grid_may_order_take_back(run, kernel);
    }
}

void report_unfenced(GlobalCheck *run, const Reporting *reporting) {
    if (run->writes_left_out)
        verdict_incomplete(run->kernels[0].verdict, "", 0,
                           "fences for global memory were checked only in part: there are more stores to memory "
                           "that TMA copies read than are kept");
    for (uint32_t i = 0; i < run->found.unfenced_count; i++) {
        FoundUnfenced *found = &run->found.unfenced[i];
        if (found->reported || proxies_raced(run, found))
            continue;
        found->reported = true;
        size_t kernel = site_kernel(run, found->site);
        Verdict *verdict = run->kernels[kernel].verdict;
        Finding *finding = finding_in(run, kernel, RULE_FENCE_GLOBAL, reporting);
        bool same = found->cta == found->write_cta;
        Facts facts = {.agent = cta_text(run, found->launch, found->cta, verdict),
                       .object = address_text(run, (uint64_t)found->address, verdict),
                       .other = same ? "it" : cta_text(run, found->launch, found->write_cta, verdict),
                       .place = line_text(run, found->write_site, kernel, verdict),
                       .more = same ? "barrier" : "flag is set"};
        finding->times = found->times;
        explain(verdict, finding, CAUSE_UNFENCED_COPY, &facts);
        FindingPlace *places = finding_places(verdict, finding, 2);
        set_place(run, &places[0], "copies", found->launch, found->cta, found->site, verdict);
        set_place(run, &places[1], "writes", found->launch, found->write_cta, found->write_site, verdict);
    }
}

/* ---- Hangs ---------------------------------------------------------------------------------------- */

/* The agents that wait for memory; of each place the first one. Returns how many. */
static size_t pick_sleepers(const GlobalCheck *run, const Sleeper *all, size_t count, const Sleeper **picked) {
    size_t kept = 0;
    for (size_t i = 0; i < count && kept < MOST_REPORTED_SLEEPERS; i++) {
        bool again = !all[i].address;
        for (size_t k = 0; k < kept; k++)
            again |= sleeper_site(run, picked[k]) == sleeper_site(run, &all[i]);
        if (!again)
            picked[kept++] = &all[i];
    }
    return kept;
}

static const char *word_text(Word value, Verdict *verdict) {
    return word_is(value, WORD_INTEGER) ? verdict_text(verdict, "%lld", (long long)value.bits) : "something unknown";
}

/* Whether the atomic leaves what it finds there as it is: it adds 0, as a load would. */
static bool changes_nothing(const Program *program, const CompiledEffect *effect) {
    const Transfer *how = effect->transfer == NO_TRANSFER ? NULL : &program->transfers[effect->transfer];
    int64_t number;
    return how && (how->atomic == ATOMIC_ADD || how->atomic == ATOMIC_OR || how->atomic == ATOMIC_XOR) &&
           effect->effect.value && value_constant(effect->effect.value, &number) && !number;
}

/* Whether some op of the launch may write to that area of memory, but for those that wait there. */
static bool may_write(const GlobalCheck *run, uint32_t launch, uint32_t area, const Sleeper *all, size_t total) {
    const GridLaunch *which = &run->launch_sequence.launches[launch];
    const Program *program = which->program;
    for (uint32_t pc = 0; pc < program->code_count; pc++) {
        bool waits = false;
        for (size_t i = 0; i < total && !waits; i++)
            waits = all[i].launch == launch && all[i].op == program->ops[pc];
        for (uint32_t k = 0; !waits && program->code[pc].code == CODE_EFFECTS && k < program->code[pc].a; k++) {
            const CompiledEffect *effect = &program->effects[program->code[pc].aux + k];
            if (effect->effect.space != SPACE_GLOBAL || !effect_is_access(&effect->effect) ||
                effect->effect.verb == EFFECT_READ || changes_nothing(program, effect))
                continue;
            Roots roots = address_roots(program, effect->effect.on);
            if (roots.elsewhere)
                return true;
            for (uint32_t p = 0; p < program->parameter_count && p < MOST_ROOTS; p++) {
                const Argument *argument = launch_find(which->launch, str_of(program->parameters[p].name));
                if ((roots.parameters >> p & 1) && argument && global_area_number(argument->address) == area)
                    return true;
            }
        }
    }
    return false;
}

static bool is_of(const Argument *argument, uint32_t area) {
    return argument->kind != ARGUMENT_INTEGER && argument->address && global_area_number(argument->address) == area;
}

/* Whether other processes write what is waited for. */
static bool has_peers(const GlobalCheck *run, const Sleeper *sleeper) {
    const Launch *launch = run->launch_sequence.launches[sleeper->launch].launch;
    for (uint32_t i = 0; sleeper->address && i < launch->count; i++)
        if (launch->arguments[i].peers && is_of(&launch->arguments[i], global_area_number(sleeper->address)))
            return true;
    return false;
}

/* What is waited for is written by no launch here, and a launch that is not here may: its memory has a name by which
 * launches share it, or it is not said what it holds; or other processes write it. */
static bool waits_for_others(const GlobalCheck *run, const Sleeper *all, size_t total, const Sleeper *sleeper) {
    const GridLaunch *which = &run->launch_sequence.launches[sleeper->launch];
    uint32_t area = global_area_number(sleeper->address);
    bool shared = false;
    if (!sleeper->address)
        return false;
    if (has_peers(run, sleeper))
        return true;
    for (uint32_t i = 0; i < which->launch->count; i++) {
        const Argument *argument = &which->launch->arguments[i];
        shared |= is_of(argument, area) && (argument->buffer.size || !(argument->data || argument->zero));
    }
    for (uint32_t i = 0; i < run->launch_sequence.count && shared; i++)
        shared = !may_write(run, i, area, all, total);
    return shared;
}

static void report_others_missing(const GlobalCheck *run, const Sleeper *sleeper, const Op *op) {
    size_t kernel = run->launch_sequence.inputs[sleeper->launch];
    Verdict *verdict = run->kernels[kernel].verdict;
    verdict_incomplete(verdict, verdict_text(verdict, "%.*s", STR_ARG(op->name)),
                       op_line(run->programs[kernel]->module, op),
                       "it waits for %s, which %s; run it together with the launch that writes it (weir run A B), "
                       "or give data that ends the wait",
                       address_text(run, (uint64_t)sleeper->address, verdict),
                       has_peers(run, sleeper) ? "other processes write" : "nothing in this launch writes");
}

bool report_hang(GlobalCheck *run, const Reporting *reporting) {
    Sleeper *all = ARENA_ARRAY(run->arena, Sleeper, MOST_SLEEPERS);
    const Sleeper *picked[MOST_REPORTED_SLEEPERS];
    size_t total = grid_sleepers(run->grid, all, MOST_SLEEPERS);
    size_t seen = total < MOST_SLEEPERS ? total : MOST_SLEEPERS, count = pick_sleepers(run, all, seen, picked);
    if (!count)
        return false;
    if (waits_for_others(run, all, seen, picked[0])) {
        report_others_missing(run, picked[0], picked[0]->op);
        return true;
    }
    size_t kernel = run->launch_sequence.inputs[picked[0]->launch];
    Verdict *verdict = run->kernels[kernel].verdict;
    uint64_t left = grid_never_begun(run->grid);
    Finding *finding = finding_in(run, kernel, RULE_DEADLOCK_GRID, reporting);
    Facts facts = {.agent = cta_text(run, picked[0]->launch, picked[0]->cta, verdict),
                   .object = address_text(run, (uint64_t)picked[0]->address, verdict),
                   .more = word_text(picked[0]->value, verdict),
                   .count = (int64_t)total,
                   .first = (int64_t)left,
                   .second = run->options->resident};
    explain(verdict, finding, left ? CAUSE_GRID_RESIDENT : CAUSE_GRID_FLAG, &facts);
    FindingPlace *places = finding_places(verdict, finding, count);
    for (size_t i = 0; i < count; i++) {
        set_place(run, &places[i], "waits", picked[i]->launch, picked[i]->cta, sleeper_site(run, picked[i]), verdict);
        places[i].note = verdict_text(verdict, "%s holds %s", address_text(run, (uint64_t)picked[i]->address, verdict),
                                      word_text(picked[i]->value, verdict));
    }
    if (reporting->hang_havoc_dependent)
        havoc_dependent_take_back(run, kernel, reporting->havoc_dependent);
    else if (run->unknown_ran != UINT32_MAX)
        grid_may_order_take_back(run, kernel);
    return true;
}

/* ---- Dependent launches --------------------------------------------------------------------------- */

void report_forgotten_waits(GlobalCheck *run, const Reporting *reporting) {
    for (uint32_t i = 0; i < run->launch_sequence.count; i++) {
        if (!run->launches[i].forgot_wait)
            continue;
        size_t kernel = run->launch_sequence.inputs[i];
        Verdict *verdict = run->kernels[kernel].verdict;
        bool reported = false;
        for (size_t k = 0; k < verdict->finding_count; k++)
            reported |= verdict->findings[k].rule == RULE_GLOBAL_DEPENDENCY_WAIT;
        if (reported)
            continue;
        Finding *finding = finding_in(run, kernel, RULE_GLOBAL_DEPENDENCY_WAIT, reporting);
        finding->message = verdict_text(verdict,
                                        "%s is a dependent launch and finishes without waiting for the preceding "
                                        "launch",
                                        run->programs[kernel]->name);
        finding->why =
            "The preceding launch may still run when this one has finished. A third launch that does not wait, "
            "either, can then begin before the first one has finished.";
        finding->fix = "Execute `tt.grid_dependency_wait` on every path.";
        FindingPlace *places = finding_places(verdict, finding, 1);
        Machine machine = {.program = run->programs[kernel]};
        place_set(&machine, &places[0], "ends", run->programs[kernel]->name, run->programs[kernel]->code_count - 1,
                  verdict);
        if (run->unknown_ran != UINT32_MAX)
            grid_may_order_take_back(run, kernel);
    }
}

void report_early(const GlobalCheck *run) {
    for (uint32_t i = 0; i < run->launch_sequence.count; i++)
        if (run->launches[i].early && !run->launches[i].forgot_wait)
            site_incomplete(run, run->launches[i].early - 1,
                            "the launch is dependent, and this access comes before the wait for the preceding "
                            "launch, which was not given: whether that one accesses the same memory is not known "
                            "(weir run A B runs both)");
}
