/* Which launches of a PTX kernel are run, where none is given, and what is made of what goes wrong at them. */
#include "check/simt/executions.h"

#include "base/deadline.h"
#include "machine/simt/core/scout.h"
#include "machine/simt/decode/slice.h"

enum { MOST_LAUNCHES = 16 };
static const size_t scope_budget = (size_t)2 << 30;

/* ---- Launches that callers may not make ----------------------------------------------------------- */

/* What was reported before a launch was tried. */
typedef struct LaunchReported {
    size_t findings, incomplete, notes, launches;
    SimtDoubt doubts[DOUBTED_KINDS];
} LaunchReported;

static LaunchReported reported_so_far(const ThreadsCheck *check) {
    const Verdict *verdict = check->verdict;
    LaunchReported reported = {.findings = verdict->finding_count,
                               .incomplete = verdict->incomplete_count,
                               .notes = verdict->note_count,
                               .launches = verdict->launch_count};
    memcpy(reported.doubts, check->doubts, sizeof reported.doubts);
    return reported;
}

/* Findings, doubts and what is incomplete are those from before; notes stay. */
static void take_back(ThreadsCheck *check, const LaunchReported *reported) {
    check->verdict->finding_count = reported->findings;
    check->verdict->incomplete_count = reported->incomplete;
    memcpy(check->doubts, reported->doubts, sizeof reported->doubts);
}

/* The first finding that counts of those that are new; NULL. */
static const Finding *first_new(const ThreadsCheck *check, const LaunchReported *reported) {
    for (size_t i = reported->findings; i < check->verdict->finding_count; i++)
        if (finding_severity(&check->verdict->findings[i]) != SEVERITY_NOTE)
            return &check->verdict->findings[i];
    return NULL;
}

static uint32_t line_of(const Finding *finding) {
    return finding->place_count ? finding->places[0].ir_line : 0;
}

/* They are no findings: whether there are such launches is not known. */
static void doubt_findings(ThreadsCheck *check, const LaunchReported *reported) {
    const Finding *first = first_new(check, reported);
    SimtDoubt *doubt = &check->doubts[DOUBTED_LAUNCH];
    if (first && !doubt->count++) {
        doubt->line = line_of(first);
        doubt->text = verdict_text(check->verdict,
                                   "at a launch that Weir chose, %s (%s): whether callers make such launches is not "
                                   "known; give one with --launch",
                                   first->message, first->launch);
    }
    check->verdict->finding_count = reported->findings;
}

/* Sizes of zero: callers do not launch such kernels, and what happens then is reported as a note. */
static void note_findings(ThreadsCheck *check, const LaunchReported *reported, const PtxLaunch *launch) {
    const Finding *first = first_new(check, reported);
    const SimtDoubt *before = &reported->doubts[DOUBTED_LAUNCH], *now = &check->doubts[DOUBTED_LAUNCH];
    const char *what = first ? first->message : now->count > before->count ? "accesses to global memory race" : NULL;
    take_back(check, reported);
    if (what)
        verdict_note(check->verdict,
                     "with a size of 0 or less, %s (%s): Weir assumes that no caller makes such "
                     "launches",
                     what, launch->text);
}

void runs_try(ThreadsCheck *check, PtxLaunch *launch, TriedKind kind) {
    /* Where many runs are made of each launch, these have to be short. */
    uint64_t most_instructions = UINT64_C(1) << (check->open ? 14 : 18), least_share = 4 * most_instructions;
    LaunchReported reported = reported_so_far(check);
    size_t completed = check->completed, codes = check->program->code_count;
    uint64_t before = check->spent, usual = check->spent - check->odd_spent;
    if (check->odd_spent > (usual / 2 > least_share ? usual / 2 : least_share))
        return;
    uint8_t *ran = ARENA_ARRAY(&check->arena, uint8_t, codes + 1),
            *went = ARENA_ARRAY(&check->arena, uint8_t, codes + 1);
    memcpy(ran, check->ran, codes);
    memcpy(went, check->went, codes);
    check->odd_budget = most_instructions;
    check->stopped = false;
    check->once = kind == TRIED_LARGE;
    runs_launch(check, launch);
    check->once = false;
    check->odd_budget = 0;
    check->odd_spent += check->spent - before;
    if (check->stopped || check->completed == completed ||
        (kind == TRIED_LARGE && check->open)) { /* it was not looked at to its end */
        memcpy(check->ran, ran, codes);
        memcpy(check->went, went, codes);
    }
    if (kind == TRIED_EMPTY)
        note_findings(check, &reported, launch);
    else
        doubt_findings(check, &reported);
    check->completed = completed;
}

struct PtxScout *runs_scout(ThreadsCheck *check, const PtxLaunch *like) {
    static const uint64_t usual = UINT64_C(1) << 22, least = UINT64_C(1) << 12;
    uint64_t budget = check->options->budget && check->options->budget < usual ? check->options->budget + least : usual;
    return ptx_scout(&check->arena, check->program, like, check->options->fixed, budget);
}

/* ---- Blocks ---------------------------------------------------------------------------------------- */

/* The launches that Weir chooses, with that block. */
static uint32_t choose_with(ThreadsCheck *check, const uint32_t block[3], PtxLaunch *launches, const char **problem) {
    Launch launch = check->options->fixed ? *check->options->fixed : (Launch){.kernel = STR("")};
    for (unsigned i = 0; i < 3; i++)
        launch.block[i] = block[i];
    uint32_t count = ptx_launch_choose(&check->arena, check->program, &launch, launches, MOST_LAUNCHES, problem);
    for (uint32_t i = 0; i < count; i++)
        launches[i].chosen_block = true;
    return count;
}

/* Whether a launch indexes shared memory behind its end. */
static bool is_too_large(ThreadsCheck *check, PtxLaunch *launch) {
    ThreadsRun run = {0};
    if (!runs_open(check, launch))
        return false;
    bool large =
        runs_make(check, &run, NULL) == PTX_END_FAULT && check->machine->fault.rule == RULE_SHARED_OUT_OF_RANGE;
    runs_close(check);
    return large;
}

/* The block that arrays in shared memory seem to be made for. */
static bool find_block(ThreadsCheck *check, const PtxLaunch *launch, uint32_t block[3]) {
    enum { MOST_IN_A_ROW = 256 }; /* of others the usual block will do */
    check->scout = runs_scout(check, launch);
    bool found = check->scout && ptx_scout_block(check->scout, block);
    ptx_scout_free(check->scout);
    check->scout = NULL;
    return found && (block[1] > 1 || block[0] <= MOST_IN_A_ROW) && memcmp(block, launch->block, 3 * sizeof *block) != 0;
}

/* Launches that Weir chooses: with the block that the kernel seems to be made for, and smaller ones where shared memory
 * is too small for that. */
static uint32_t choose(ThreadsCheck *check, PtxLaunch *launches, const char **problem) {
    uint32_t count =
        ptx_launch_choose(&check->arena, check->program, check->options->fixed, launches, MOST_LAUNCHES, problem);
    uint32_t block[3];
    if (!count || !launches[0].chosen_block || check->program->required[0])
        return count;
    if (find_block(check, &launches[0], block) && !(count = choose_with(check, block, launches, problem)))
        count =
            ptx_launch_choose(&check->arena, check->program, check->options->fixed, launches, MOST_LAUNCHES, problem);
    while (count && is_too_large(check, &launches[0])) {
        memcpy(block, launches[0].block, sizeof block);
        unsigned axis = block[2] > 1 ? 2 : block[1] > 1 ? 1 : 0;
        if (block[0] * block[1] * block[2] <= PTX_LANES)
            break;
        block[axis] /= 2;
        count = choose_with(check, block, launches, problem);
    }
    return count;
}

/* A launch with the same numbers, and that grid and block; NULL: there is none. */
static PtxLaunch *launch_like(ThreadsCheck *check, const PtxLaunch *like, const uint32_t grid[3],
                              const uint32_t block[3]) {
    uint32_t parameters = check->module->functions[check->entry].parameter_count;
    int64_t *numbers = ARENA_ARRAY(&check->arena, int64_t, parameters + 1);
    PtxLaunch *launch = ARENA_NEW(&check->arena, PtxLaunch);
    const char *problem;
    for (uint32_t i = 0; i < parameters; i++)
        (void)ptx_launch_number(check->program, like, i, &numbers[i]);
    return ptx_launch_with(&check->arena, check->program, check->options->fixed, numbers, grid, block, launch, &problem)
               ? launch
               : NULL;
}

/* ---- Blocks that the kernel may not be made for --------------------------------------------------- */

/* Whether threads of several warps meet at barriers: then it is made for several. */
static bool meets_warps(const ThreadsCheck *check) {
    PtxEffect effect;
    for (uint32_t i = 0; i < check->program->code_count; i++)
        if (code_effect(check, &check->program->code[i], EFFECT_NAMED_SYNC, &effect))
            return true;
    return false;
}

/* Whether all instructions of the findings were run. */
static bool ran_all(const ThreadsCheck *check, const Finding *findings, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < findings[i].place_count; k++)
            for (uint32_t at = 0; findings[i].places[k].ir_line && at < check->program->code_count; at++)
                if (code_line(check->program, &check->program->code[at]) == findings[i].places[k].ir_line &&
                    !(check->ran[at] & PTX_RAN_YES))
                    return false;
    return true;
}

/* Whether the same launch with another block runs the same instructions, and nothing goes wrong. */
static bool is_right_with(ThreadsCheck *check, const PtxLaunch *like, const uint32_t block[3]) {
    Verdict *verdict = check->verdict;
    size_t codes = check->program->code_count, completed = check->completed;
    LaunchReported before = reported_so_far(check);
    Finding *findings = ARENA_ARRAY(&check->arena, Finding, before.findings + 1);
    uint8_t *ran = ARENA_ARRAY(&check->arena, uint8_t, codes + 1);
    PtxLaunch *launch = launch_like(check, like, like->grid, block);
    if (!launch)
        return false;
    memcpy(findings, verdict->findings, before.findings * sizeof *findings);
    memcpy(ran, check->ran, codes);
    memset(check->ran, 0, codes);
    verdict->finding_count = 0;
    check->odd_budget = UINT64_C(1) << 16;
    check->stopped = false;
    runs_launch(check, launch);
    check->odd_budget = 0;
    bool right = !check->stopped && check->completed > completed && !verdict->finding_count &&
                 ran_all(check, findings, before.findings);
    memcpy(verdict->findings, findings, before.findings * sizeof *findings);
    memcpy(check->ran, ran, codes);
    take_back(check, &before);
    verdict->note_count = before.notes;
    verdict->launch_count = before.launches;
    check->completed = completed;
    return right;
}

/* What goes wrong with a block that Weir chose, and does not with another, is no finding: callers may know better. */
static void doubt_block(ThreadsCheck *check, const PtxLaunch *launch) {
    static const uint32_t rows[][3] = {{32, 1, 1}, {64, 1, 1}, {128, 1, 1}, {256, 1, 1}, {512, 1, 1}, {1024, 1, 1}},
                          squares[][3] = {{8, 8, 1}, {16, 8, 1}, {16, 16, 1}, {32, 8, 1}, {32, 32, 1}};
    enum { ROWS = sizeof rows / sizeof *rows, SQUARES = sizeof squares / sizeof *squares };
    static const uint64_t most_instructions = UINT64_C(1) << 18;
    uint64_t before = check->spent;
    bool square = launch->block[1] > 1;
    if (launch->block[2] > 1)
        return;
    for (unsigned i = square || !meets_warps(check) ? 0 : 1; i < (square ? SQUARES : ROWS); i++) {
        const uint32_t *block = square ? squares[i] : rows[i];
        if (memcmp(block, launch->block, 3 * sizeof *block) == 0 || check->spent - before > most_instructions ||
            deadline_passed())
            continue;
        if (is_right_with(check, launch, block)) {
            doubt_findings(check, &(LaunchReported){0});
            return;
        }
    }
}

/* ---- A kernel ------------------------------------------------------------------------------------- */

/* That some launches do not fit the kernel matters only if no other one does. */
static void report_doubts(ThreadsCheck *check) {
    for (int i = 0; i < DOUBTED_KINDS; i++) {
        const SimtDoubt *doubt = &check->doubts[i];
        const char *more = doubt->count > 1 ? verdict_text(check->verdict, " (and %u more)", doubt->count - 1) : "";
        if (!doubt->count)
            continue;
        if (i == DOUBTED_FIT && check->completed)
            verdict_note(check->verdict, "%u of the launches that Weir chose do not fit the kernel: at line %u, %s",
                         doubt->count, doubt->line, doubt->text);
        else if (i == DOUBTED_FIT)
            verdict_incomplete(check->verdict, "", doubt->line,
                               "no launch that Weir chose fits the kernel: %s: give one with --launch", doubt->text);
        else
            verdict_incomplete(check->verdict, "", doubt->line, "%s%s", doubt->text, more);
        check->doubted_launches += i == DOUBTED_LAUNCH;
    }
}

/* A kernel that does not read the number of its CTA may be launched with several all the same. */
static void try_pair(ThreadsCheck *check, const PtxLaunch *like) {
    uint32_t grid[3];
    for (unsigned i = 0; i < 3; i++) {
        grid[i] = like->grid[i] * (i == 0 ? 2 : 1);
        if (!like->chosen_grid || like->grid[i] > like->cluster[i])
            return; /* there are several */
    }
    PtxLaunch *launch = launch_like(check, like, grid, like->block);
    if (launch)
        runs_try(check, launch, TRIED_ODD);
}

/* A kernel that reads the size of its block is made for several: the largest with which it stays in its shared memory. A
 * barrier that is left out from some size on is left out there. */
static void try_large_block(ThreadsCheck *check, const PtxLaunch *like) {
    enum { LARGEST = 1024 };
    if (!like->chosen_block || check->program->required[0] || like->block[1] > 1 || like->block[2] > 1 ||
        !meets_warps(check))
        return;
    struct PtxScout *scout = runs_scout(check, like);
    bool reads = scout && ptx_scout_is_open(scout, SCOUT_BLOCK);
    ptx_scout_free(scout);
    for (uint32_t block[3] = {LARGEST, 1, 1}; reads && block[0] > like->block[0]; block[0] /= 2) {
        PtxLaunch *launch = launch_like(check, like, like->grid, block);
        if (launch && !is_too_large(check, launch)) {
            runs_try(check, launch, TRIED_ODD);
            return;
        }
    }
}

/* Numbers that differ, and then whatever makes conditions go as they have not gone; last, numbers that are 0. */
static void try_others(ThreadsCheck *check, PtxLaunch *launches, uint32_t count) {
    static const PtxNumbers kinds[] = {PTX_NUMBERS_UP, PTX_NUMBERS_DOWN, PTX_NUMBERS_LARGE, PTX_NUMBERS_NONE};
    static const TriedKind tried[] = {TRIED_ODD, TRIED_ODD, TRIED_LARGE, TRIED_EMPTY};
    try_pair(check, &launches[0]);
    try_large_block(check, &launches[0]);
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds && !deadline_passed(); i++) {
        PtxLaunch *launch = ARENA_NEW(&check->arena, PtxLaunch);
        if (kinds[i] == PTX_NUMBERS_NONE)
            outcomes_run(check, launches, count);
        if (tried[i] == TRIED_LARGE && check->open)
            continue; /* it would say little, and take long */
        if (ptx_launch_numbers(&check->arena, check->program, check->options->fixed, kinds[i], &launches[0], launch))
            runs_try(check, launch, tried[i]);
    }
}

/* Whether every launch does the same. CTAs that do meet in global memory, which two of them show as well as more. */
static void find_scope(ThreadsCheck *check) {
    Verdict *verdict = check->verdict;
    const PtxProgram *program = check->program;
    uint32_t line = 0, cluster = 1;
    bool several = false;
    if (verdict->only_launch || verdict->incomplete_count || verdict_faults(verdict, NULL))
        return;
    for (int i = 0; i < 3; i++)
        cluster *= program->cluster[i] ? program->cluster[i] : 1;
    for (size_t i = 0; i < verdict->launch_count; i++)
        several |= verdict->launches[i].ctas > cluster;
    verdict->closed = !ptx_open(program, scope_budget, several, &line);
    verdict->open = verdict->closed ? NULL
                    : line          ? verdict_text(verdict, "what line %u does", line)
                                    : "the size of the CTA or of its memory, or a call,";
}

void launches_check(ThreadsCheck *check) {
    const ThreadsOptions *options = check->options;
    PtxLaunch *launches = ARENA_ARRAY(&check->arena, PtxLaunch, MOST_LAUNCHES);
    const char *problem = "";
    uint32_t count = 1;
    bool chosen = !options->launch && !options->placed;
    if (chosen)
        count = choose(check, launches, &problem);
    else if (options->placed)
        launches[0] = *options->placed;
    else
        count = ptx_launch_bind(&check->arena, check->program, options->launch, launches, &problem);
    if (!count) {
        verdict_incomplete(check->verdict, "", 0, "there is no launch to run: %s", problem);
        return;
    }
    for (uint32_t i = 0; i < count && !deadline_passed(); i++) {
        runs_launch(check, &launches[i]);
        if (verdict_faults(check->verdict, NULL)) {
            if (chosen && launches[i].chosen_block && !check->program->required[0])
                doubt_block(check, &launches[i]);
            break; /* what other launches show is mostly the same */
        }
    }
    if (chosen && !verdict_faults(check->verdict, NULL))
        try_others(check, launches, count);
    report_doubts(check);
    threads_coverage(check, !verdict_faults(check->verdict, NULL));
    outcomes_say(check);
    check->verdict->only_launch = !chosen;
    find_scope(check);
}
