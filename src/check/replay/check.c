/* A recording to a verdict: the play, what came of it, and what was not recorded. */
#include "base/deadline.h"
#include "check/replay/concurrent.h"
#include "check/replay/internal.h"

#include "ptx/effects.h"

#include <stdlib.h>

/* Of a check while it plays. */
typedef struct Playing {
    ThreadsCheck check;
    const Recording *recording;
    const Recording *given; /* the same, as the file has it */
    RecordingSeen *seen;
    bool alone, again; /* by one thread; something is to be reported that several have found (cores.c) */
    bool hangs;        /* and the cause is reported */
    uint64_t unseen;   /* chunks that no thread came to */
    Recording unpacked;
    PlaySites sites;
    Player player;
    ModificationOrders turns;
} Playing;

/* ---- What was not recorded ------------------------------------------------------------------------ */

/* Kernels that have no PTX, "LAUNCHES NAME" each; and one sentence for all of them. */
static void report_libraries(Str libraries, Verdict *verdict) {
    enum { NAMES_MOST = 8 };
    uint64_t launches = 0;
    Text names = {0};
    for (size_t at = 0; at < libraries.size; at += strlen(libraries.data + at) + 1) {
        char *name;
        UnseenKernel kernel = {.launches = strtoull(libraries.data + at, &name, 10)};
        kernel.name = verdict_text(verdict, "%s", *name ? name + 1 : "?");
        launches += kernel.launches;
        if (verdict->unseen_count < NAMES_MOST)
            text_addf(&names, "%s%.*s", names.size ? ", " : "", STR_ARG(symbol_plain(kernel.name)));
        *ARENA_PUSH(verdict->arena, verdict->unseen, verdict->unseen_count, verdict->unseen_capacity) = kernel;
    }
    size_t count = verdict->unseen_count;
    if (count > NAMES_MOST)
        text_addf(&names, " and %zu more", count - NAMES_MOST);
    verdict_incomplete(verdict, "", 0, "%llu launch%s of %zu kernel%s without PTX %s not checked: %s",
                       (unsigned long long)launches, launches == 1 ? "" : "es", count, count == 1 ? "" : "s",
                       launches == 1 ? "was" : "were", verdict_keep(verdict, &names));
}

void recording_unseen(const Recording *recording, Verdict *verdict) {
    const Str unseen = recording->unseen;
    for (size_t at = 0; at < unseen.size; at += strlen(unseen.data + at) + 1)
        verdict_incomplete(verdict, "", 0, "%s", unseen.data + at);
    verdict->aside = recording->libraries.size && !unseen.size;
    if (recording->libraries.size)
        report_libraries(recording->libraries, verdict);
    else if (!recording->unseen.size && !recording->ptx.size)
        verdict_incomplete(verdict, "", 0, "the kernel was not recorded");
}

static void report_spaces(Verdict *verdict, uint32_t spaces) {
    static const struct {
        uint32_t bit;
        const char *name;
    } names[] = {{RECORDING_GLOBAL, "global"}, {RECORDING_SHARED, "shared"}, {RECORDING_TENSOR, "tensor"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!(spaces & names[i].bit))
            verdict_incomplete(verdict, "", 0, "accesses to %s memory were not recorded", names[i].name);
}

/* Whether some of what was recorded had no place. Of a kernel that was stopped nothing came behind what is missing. */
static bool has_lost(const Playing *playing) {
    const RecordingLaunch *launch = &playing->recording->launch;
    bool stopped = launch->flags & (RECORDING_CUT | RECORDING_HUNG);
    return launch->dropped & RECORD_DROPPED_PLACE || (playing->player.reader.missing && !stopped);
}

/* Whether the records of some thread may have a gap, behind which there are others: then it is not known what orders
 * these. Else a warp's records end where one of its lanes lost some. */
static bool has_gaps(const Playing *playing) {
    const RecordReader *reader = &playing->player.reader;
    return playing->recording->launch.dropped & RECORD_DROPPED_FIRST || playing->unseen || reader->damaged ||
           reader->problem;
}

/* Pairs of accesses that what is missing may order. */
static const char *not_judged(const ThreadsCheck *check) {
    if (!check->unordered_count)
        return "";
    return verdict_text(check->verdict, "; %u pair%s of accesses that missing records may order %s not decided",
                        check->unordered_count, check->unordered_count == 1 ? "" : "s",
                        check->unordered_count == 1 ? "is" : "are");
}

/* 400,000 */
static const char *with_commas(Verdict *verdict, uint64_t number) {
    if (number < 1000)
        return verdict_text(verdict, "%u", (unsigned)number);
    return verdict_text(verdict, "%s,%03u", with_commas(verdict, number / 1000), (unsigned)(number % 1000));
}

/* CTAs that were not recorded, and those whose records end early: one line, with what depends on it. */
static void report_gaps(Playing *playing) {
    const RecordingLaunch *launch = &playing->recording->launch;
    Verdict *verdict = playing->check.verdict;
    const char *rest = not_judged(&playing->check);
    const char *recorded = with_commas(verdict, sample_ctas(launch));
    if (is_sampled(launch)) {
        verdict->sampled_ctas = sample_ctas(launch);
        verdict->sampled_of = launch_ctas(launch);
        verdict_incomplete(verdict, "", 0, "%s of %s CTAs recorded%s", recorded,
                           with_commas(verdict, launch_ctas(launch)), has_lost(playing) ? "" : rest);
    }
    bool read = playing->player.reader.recording != NULL; /* else there was no time for it */
    if (has_lost(playing) && (sample_ctas(launch) == 1 || !read))
        verdict_incomplete(verdict, "", 0, "the records end early: their memory was full (raise --record-memory)%s",
                           rest);
    else if (has_lost(playing))
        verdict_incomplete(
            verdict, "", 0,
            "%s%s of %s CTAs were recorded in full; the records of the others end early: their memory was full "
            "(raise --record-memory)%s",
            launch->dropped & RECORD_DROPPED_FIRST ? "at most " : "",
            with_commas(verdict, record_whole_ctas(&playing->player.reader)), recorded, rest);
    else if (playing->unseen && !playing->player.reader.problem)
        verdict_incomplete(verdict, "", 0, "%s chunks of the recording belong to no thread's records%s",
                           with_commas(verdict, playing->unseen), rest);
    else if (has_gaps(playing) && *rest)
        verdict_incomplete(verdict, "", 0, "some records cannot be read%s", rest);
}

static void report_missing(const Playing *playing) {
    const RecordingLaunch *launch = &playing->recording->launch;
    const RecordReader *reader = &playing->player.reader;
    Verdict *verdict = playing->check.verdict;
    recording_unseen(playing->recording, verdict);
    report_spaces(verdict, launch->spaces);
    if (launch->flags & RECORDING_CUT && !playing->hangs && !has_lost(playing))
        verdict_incomplete(verdict, "", 0, "the recording was taken while the kernel ran: it did not end by itself");
    if (launch->dropped & RECORD_DROPPED_WRAP)
        verdict_incomplete(
            verdict, "", 0,
            "a 32-bit index may have wrapped within a warp: some addresses of its threads may be recorded wrongly");
    if (launch->dropped & ~(uint32_t)(RECORD_DROPPED_PLACE | RECORD_DROPPED_WRAP | RECORD_DROPPED_FIRST))
        verdict_incomplete(verdict, "", 0,
                           "the kernel marked its records as not complete, for a reason that is not known");
    if (reader->problem)
        verdict_incomplete(verdict, "", 0, "%s", reader->problem);
}

static void report_lapped(const Playing *playing) {
    Verdict *verdict = playing->check.verdict;
    const PtxCode *lapped = playing->player.lapped;
    if (lapped)
        verdict_incomplete(verdict, verdict_text(verdict, "%.*s", STR_ARG(lapped->form->text)),
                           code_line(playing->check.program, lapped),
                           "a wait that no other thread makes was replayed later than it ran: races across it may "
                           "have been missed");
}

void report_order(Verdict *verdict, const ModificationOrders *turns) {
    if (turns->doubts.late) /* that the time was up is reported */
        return;
    uint32_t doubted = turns->doubts.unfit ? turns->doubts.unfit : turns->doubts.unsure;
    if (turns->split)
        verdict_incomplete(verdict, "", 0,
                           "the order of strong accesses is not known: %u of %u access only a part of a word that "
                           "others access as a whole",
                           turns->split, turns->count - turns->doubled);
    if (doubted)
        verdict_incomplete(verdict, "", 0,
                           turns->doubts.unfit
                               ? "the values do not determine the order of strong accesses: %u of %u"
                               : "the order of strong accesses is not known: %u of %u are behind atomics "
                                 "whose result is not known",
                           doubted, turns->count - turns->doubled);
}

static bool is_textured(const ThreadsCheck *check, const PtxCode *code) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = ptx_effects_of(check->module, &check->module->statements[code->statement], effects);
    for (unsigned i = 0; i < count; i++)
        if (effects[i].effect.proxy == PROXY_TEXTURE || effects[i].effect.proxy == PROXY_SURFACE)
            return true;
    return false;
}

/* What the machine left out, as it does not know where it is. CUDA arrays that nothing writes race with nothing. */
static void report_left_out(const Player *player) {
    const ThreadsCheck *check = player->check;
    bool still = player->recording->launch.flags & RECORDING_ARRAYS && copies_spare_arrays(player);
    for (uint32_t i = 0; i < check->machine->havoc_count; i++) {
        const PtxCode *code = check->machine->havocs[i].code;
        if (still && is_textured(check, code))
            continue;
        verdict_incomplete(check->verdict, verdict_text(check->verdict, "%.*s", STR_ARG(code->form->text)),
                           code_line(check->program, code), "%s",
                           is_textured(check, code)
                               ? "the memory of a texture was not recorded: its races were not checked"
                               : "its accesses were not recorded, and were not checked");
    }
}

/* Whether some access has it as its address. */
static bool variable_is_accessed(const ThreadsCheck *check, uint32_t variable) {
    const PtxProgram *program = check->program;
    for (uint32_t i = 0; i < program->argument_count; i++) {
        const PtxArgument *address = &program->arguments[i];
        if (address->kind != ARGUMENT_ADDRESS || !address->count)
            continue;
        const PtxArgument *base = argument_member(program, address, 0);
        if (base->kind == ARGUMENT_SYMBOL && base->slot == variable)
            return true;
    }
    return false;
}

/* A variable that is accessed by its name in some places, and by its address in others, is two different ones here. */
static void report_variables(const ThreadsCheck *check) {
    for (uint32_t i = 0; i < check->module->variables_count; i++) {
        bool apart = play_is_apart(&check->program->seats[i]);
        Str name = ptx_name(check->module, check->module->variables[i].name);
        if (apart && (check->program->used[i] & PTX_ADDRESSED) && variable_is_accessed(check, i))
            verdict_incomplete(check->verdict, "", 0,
                               "%.*s is accessed by its name and by its address, and its address was not recorded",
                               STR_ARG(name));
    }
}

/* The last finding, which is why the launch failed, comes before all others. */
static void report_first(Verdict *verdict) {
    size_t last = verdict->finding_count - 1;
    Finding finding = verdict->findings[last];
    memmove(verdict->findings + 1, verdict->findings, last * sizeof *verdict->findings);
    verdict->findings[0] = finding;
}

/* ---- The play ------------------------------------------------------------------------------------- */

/* Whether an asynchronous operation accesses global memory that nothing can race for. */
static bool is_quiet(const Player *player, const PtxEvent *event) {
    if (!player->footprint || event->kind != PTX_EVENT_ACCESS || !event->outstanding ||
        event->outstanding->group == GROUP_CP_ASYNC)
        return false;
    for (uint32_t i = 0; i < event->location_count; i++) {
        const PtxLocation *location = &event->locations[i];
        uint64_t first = location->block->base + location->offset;
        uint32_t bytes = event->sizes ? event->sizes[i] : event->access.bytes;
        if (location->block->space != PTX_SPACE_GLOBAL || !footprint_is_quiet(player->footprint, first, first + bytes))
            return false;
    }
    return event->location_count;
}

void playing_observe(void *observer, const PtxEvent *event) {
    Player *player = observer;
    PtxEvent known;
    if (player->stored) {
        known = *event;
        stored_see(player, &known);
        event = &known;
    }
    if (event->sequential && player->loose) {
        known = *event;
        known.sequential = false;
        event = &known;
    }
    player->check->events++;
    history_see(player->check->history, event);
    if (player->sites->any_state)
        tokens_see(player, event);
    if (player->seen && player->seen->see)
        player->seen->see(player->seen->observer, event);
    if (player->together && event->kind == PTX_EVENT_AWAIT_LAUNCHES)
        together_waited(player, event);
    if (player->copies && event->kind == PTX_EVENT_ACCESS)
        copies_see(player, event);
    if (is_quiet(player, event))
        return;
    ptx_watch_observe(player->watch, event);
    if (player->apart)
        ptx_watch_observe(player->apart, event);
}

static void prepare_reported(Player *player) {
    for (uint32_t i = 0; i < player->sites->sites.count; i++) {
        PlaySite *site = &player->sites->items[i];
        if (site->plain || site->symbol)
            ptx_watch_reported(player->watch, site->code, &site->access.access, &site->reported);
        if (site->copies) {
            ptx_watch_reported(player->watch, site->code, &site->copy.from.access, &site->reads);
            ptx_watch_reported(player->watch, site->code, &site->copy.to.access, &site->writes);
            site->reads.element = site->writes.element = 0;
        }
    }
}

/* Whether all that the threads did is in the recording, and was played: where they get stuck then, they do. */
static bool is_whole(const Playing *playing) {
    const Player *player = &playing->player;
    const RecordingLaunch *launch = &playing->recording->launch;
    const RecordReader *reader = &player->reader;
    uint64_t unknown = 0;
    for (uint32_t i = 0; i < playing->check.program->code_count; i++)
        unknown += player->unknown_codes[i];
    return !(launch->flags & (RECORDING_CUT | RECORDING_HUNG)) && !launch->dropped && !is_sampled(launch) &&
           !reader->missing && !reader->damaged && !reader->problem && !unknown && !player->turns->doubts.unfit &&
           !player->turns->doubts.unsure && !player->turns->split && !playing->unseen;
}

/* Whether CTAs that were not recorded may order those that were, or let them go on. */
static bool waits_for_unrecorded(const Playing *playing) {
    return is_sampled(&playing->recording->launch) && playing->turns.count;
}

/* A wait that was over on the GPU is not over here. Where records are missing, that is the reason, and the only one
 * reported; where some cannot be read, what was waited for need not be this. */
static void report_lost(Playing *playing) {
    const PtxMachine *machine = playing->check.machine;
    if (has_lost(playing) || waits_for_unrecorded(playing))
        return;
    for (uint32_t i = 0; i < machine->cta_count && !has_gaps(playing); i++)
        for (uint32_t k = 0; machine->ctas[i] && k < machine->ctas[i]->warp_count; k++)
            for (const PtxGroup *group = machine->ctas[i]->warps[k].groups; group; group = group->next) {
                const PtxCode *code = &machine->program->code[group->pc];
                verdict_incomplete(
                    playing->check.verdict, verdict_text(playing->check.verdict, "%.*s", STR_ARG(code->form->text)),
                    code_line(playing->check.program, code),
                    "the recording cannot be replayed beyond this point: the signal that %s waits for does not come",
                    thread_words(&playing->check, i, k * PTX_LANES + (uint32_t)__builtin_ctz(group->lanes)));
                return;
            }
    verdict_incomplete(playing->check.verdict, "", 0,
                       "the recording cannot be replayed to its end: records of some threads are missing");
}

/* What was recorded is what came before a wait that gave up: what would have followed it is not known. */
static void report_given_up(const Playing *playing) {
    verdict_incomplete(playing->check.verdict, "", 0,
                       "a wait took longer than %g s, and was ended: the recording does not show its cause",
                       (double)playing->recording->launch.hang_after / 1e9);
}

/* Waits that go on for too long are a deadlock if nothing runs any more. CTAs that had not begun never will: there is
 * no room for them while the others wait. */
static void judge_hang(Playing *playing, const ThreadsRun *run) {
    ThreadsCheck *check = &playing->check;
    Verdict *verdict = check->verdict;
    uint32_t lane = 0;
    const PtxWarp *running = play_running(&playing->player, &lane);
    uint32_t size = check->machine->cluster_size,
             *ctas = ARENA_ARRAY(&check->arena, uint32_t, check->machine->cta_count);
    uint32_t later = play_not_begun(&playing->player, ctas);
    double seconds = (double)playing->recording->launch.hang_after / 1e9;
    if (running) {
        verdict_incomplete(
            verdict, "", 0,
            "a wait took longer than %g s, and was ended while %s still ran: the kernel may hang, or may "
            "be slow (raise --hang-after)",
            seconds, thread_words(check, running->cta->number, running->index * PTX_LANES + lane));
        return;
    }
    const PtxWarp *served = play_served(&playing->player, &lane);
    if (served) {
        verdict_incomplete(verdict, "", 0,
                           "a wait took longer than %g s, and was ended, but the value that %s polls changed after "
                           "its last read: the kernel is slow, or other processes use the GPU (raise --hang-after)",
                           seconds, thread_words(check, served->cta->number, served->index * PTX_LANES + lane));
        return;
    }
    bool unsure = has_lost(playing) || waits_for_unrecorded(playing);
    Finding *finding = unsure ? NULL : threads_blocked(check, &run->schedule, run->havoc_choice);
    if (!finding) {
        report_given_up(playing);
        return;
    }
    playing->hangs = true;
    runs_report_stop(check, NULL);
    for (uint32_t i = later * size; i-- > 0;) /* clusters, made CTAs */
        ctas[i] = ctas[i / size] * size + i % size;
    if (later)
        finding->why = verdict_text(verdict,
                                    "%s %u CTA%s of the grid had not begun (%s): there is no room for them while "
                                    "the others wait.",
                                    finding->why, later * size, later * size == 1 ? "" : "s",
                                    ctas_words(check, ctas, later * size));
}

/* The kernel ended, but does not in the order that was played, which was as good as that of the GPU. False: who knows.
 */
static bool judge_stuck(Playing *playing, const ThreadsRun *run) {
    const Player *player = &playing->player;
    if (playing->recording->launch.flags & RECORDING_CUT)
        return true; /* it ends where the kernel was stopped, and that is told */
    for (uint32_t i = 0; i < player->cluster_count; i++)
        if (player->clusters[i] && play_takes_turns(player, player->clusters[i]))
            return false;
    if (player->lapped || !is_whole(playing))
        return false;
    Finding *finding = threads_blocked(&playing->check, &run->schedule, run->havoc_choice);
    if (finding)
        finding->schedule = "another order of the recorded operations";
    playing->hangs |= finding != NULL;
    return finding;
}

static void judge(Playing *playing, const ThreadsRun *run, PtxEnd end) {
    ThreadsCheck *check = &playing->check;
    bool hung = playing->recording->launch.flags & RECORDING_HUNG;
    if (end == PTX_END_FAULT && has_gaps(playing)) {
        report_lost(playing);
    } else if (end == PTX_END_FAULT) {
        if (threads_fault(check, &run->schedule, run->havoc_choice))
            runs_report_stop(check, check->machine->fault.code);
    } else if (end == PTX_END_STUCK && hung) {
        judge_hang(playing, run);
    } else if (end == PTX_END_COMPLETE && hung) {
        report_given_up(playing);
    } else if (end == PTX_END_STUCK && !judge_stuck(playing, run)) {
        report_lost(playing);
    } else if (end == PTX_END_BUDGET) {
        verdict_incomplete(check->verdict, "", 0, "the recording needs more memory than the limit");
    }
}

bool playing_start(Player *player) {
    ptx_machine_start(player->machine);
    player->clusters = ARENA_ARRAY(&player->arena, PlayCluster *, player->cluster_count);
    player->queue_end = &player->queue;
    if (player->sites->any_data)
        player->stored = ARENA_ARRAY(&player->arena, PlayCtaBytes, player->machine->cta_count);
    return record_reader(&player->reader, player->recording, player->sites->shapes, player->sites->sites.count,
                         &player->arena);
}

/* Whether threads that wait for each other's turns do so by no fault of the kernel, nor of what is missing. */
static bool may_overrule(const Playing *playing) {
    const RecordingLaunch *launch = &playing->recording->launch;
    return playing->turns.kept_in_order && !(launch->flags & (RECORDING_CUT | RECORDING_HUNG)) && !launch->dropped &&
           !playing->player.reader.missing;
}

/* The order of sequential fences is that in which they are played, which need not be that of the GPU: what they alone
 * order, are not known to be ordered. */
static void open_apart(Playing *playing) {
    ThreadsCheck *check = &playing->check;
    Player *player = &playing->player;
    const char *problem = "";
    PtxWatchOptions options = {.volatile_races = check->options->volatile_races, .apart_fences = true};
    if (!player->sites->any_sequential || check->machine->cta_count < 2)
        return;
    player->apart = ptx_watch(&check->arena, check->machine, &options, &problem);
    if (!player->apart) {
        verdict_incomplete(check->verdict, "", 0, "races that fences may hide were not checked: %s", problem);
        return;
    }
    *ARENA_PUSH(&check->arena, check->watches, check->watch_count, check->watch_capacity) = player->apart;
    ptx_watch_values(player->apart, play_stored(check, player->sites));
    ptx_watch_start(player->apart);
}

/* Whether the kernel takes locks: what becomes of these depends on the order of strong accesses. */
static bool takes_locks(const PlaySites *sites) {
    for (uint32_t i = 0; i < sites->sites.count; i++) {
        const PlaySite *site = &sites->items[i];
        if (site->code && site->site->strong && site->site->poll.bits && site->strong_kind != STRONG_READ)
            return true;
    }
    return false;
}

/* What strong accesses order need not matter: threads may be ordered by barriers alone, wherever they share memory.
 * That is tried first, as no order of strong accesses has to be known for it, and clusters need not wait for each
 * other. Waits for mbarriers are played in other orders, too, for which all have to be known. */
static bool may_be_loose(const Playing *playing) {
    const PlaySites *sites = &playing->sites;
    for (uint32_t i = 0; i < sites->sites.count; i++)
        if (sites->items[i].object || sites->items[i].tested)
            return false;
    return !playing->alone && !playing->seen && !playing->recording->launch.dropped && !takes_locks(sites);
}

/* Strong accesses to shared memory, which one CTA makes, are most often counters and sums: that they order nothing is
 * tried first, too. */
static bool may_be_loose_shared(const Playing *playing) {
    const PlaySites *sites = &playing->sites;
    bool any = false;
    for (uint32_t i = 0; i < sites->sites.count; i++) {
        const PlaySite *site = &sites->items[i];
        if (!site->code || !site->site->strong || site->space != PTX_SPACE_SHARED)
            continue;
        if (site->site->poll.bits)
            return false;
        any = true;
    }
    return any && sites->any_order && playing->check.machine->cluster_size == 1;
}

/* Whether what was played without the order of strong accesses is to be played with it: something is to be reported, or
 * volatile accesses that nothing orders may be ordered by these. */
static bool is_to_be_ordered(const Playing *playing, PtxEnd end, size_t reasons) {
    const Player *player = &playing->player;
    uint32_t apart = 0, loose = 0;
    if (end == PTX_END_TIME || (!play_is_blind(player) && !player->loose_shared))
        return false;
    if (player->apart)
        (void)ptx_watch_races(player->apart, &apart);
    if (ptx_watch_blind_missed(player->watch))
        (void)ptx_watch_loose(player->watch, &player->check->arena, &loose);
    return apart || loose || play_is_odd(player, end, reasons);
}

static PtxEnd play_all(Playing *playing) {
    enum { MOST_OVERRULED = 4096 };
    Player *player = &playing->player;
    PtxMachine *machine = player->machine;
    jmp_buf *before = machine->arena.exhausted, here;
    machine->arena.exhausted = player->arena.exhausted = &here;
    if (setjmp(here)) {
        machine->arena.exhausted = before;
        player->arena.exhausted = playing->check.arena.exhausted;
        return deadline.missed ? PTX_END_TIME : PTX_END_BUDGET;
    }
    PtxEnd end = PTX_END_BUDGET;
    if (playing_start(player)) {
        quick_find(player);
        player->may_be_loose = may_be_loose(playing);
        player->loose_shared = player->may_be_loose && may_be_loose_shared(playing);
        prepass_make(player, playing->given);
        ptx_watch_blind(player->watch, play_is_blind(player));
        player->turns = &playing->turns;
        player->loose_shared &= !player->loose;
        if (!play_is_blind(player)) {
            open_apart(playing);
            player->quick = player->apart ? NULL : player->quick;
            turns_read(&playing->turns, &player, 1);
        }
        size_t reasons = playing->check.verdict->incomplete_count;
        player->overrules = may_overrule(playing) ? MOST_OVERRULED : 0;
        if (playing->turns.doubts.late)
            end = PTX_END_TIME;
        else if (!playing->alone && cores_can(player))
            end = cores_play(player, playing->given, &playing->again);
        else
            end = play(player);
        player->overrules = 0;
        prepass_end(player);
        playing->again |= is_to_be_ordered(playing, end, reasons);
    }
    machine->arena.exhausted = before;
    player->arena.exhausted = playing->check.arena.exhausted;
    return end;
}

/* Why CTAs may have synchronized without that being seen: those of a part of the grid, by others. */
static const char *why_unordered(const Playing *playing) {
    const ModificationOrders *turns = &playing->turns;
    if (waits_for_unrecorded(playing))
        return "CTAs that were not recorded may order them";
    if (has_gaps(playing) || (has_lost(playing) && turns->count))
        return "records that are missing may order them";
    if (turns->doubts.unfit || turns->doubts.unsure || turns->split)
        return "the order of strong accesses, which may order them, is not known";
    return NULL;
}

static void distinguish(Playing *playing, const ThreadsRun *run, bool complete) {
    ThreadsCheck *check = &playing->check;
    Player *player = &playing->player;
    const char *before = check->unordered;
    uint32_t count = 0, known = 0, left = 0;
    const PtxRace *races = player->apart ? ptx_watch_races(player->apart, &count) : NULL;
    const PtxRace *others = ptx_watch_races(player->watch, &known);
    PtxRace *hidden = ARENA_ARRAY(&check->arena, PtxRace, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        bool reported = races[i].first.cta == races[i].second.cta;
        for (uint32_t k = 0; k < known && !reported; k++)
            reported = others[k].rule == races[i].rule && others[k].first.code == races[i].first.code &&
                       others[k].second.code == races[i].second.code;
        if (!reported)
            hidden[left++] = races[i];
    }
    if (complete && !before && left && is_whole(playing))
        left = fences_report(player, hidden, left);
    check->unordered = "only sequential fences (membar, fence.sc) order them, and their order was not recorded";
    for (uint32_t i = 0; i < left; i++)
        threads_race(check, &hidden[i], &run->schedule, run->havoc_choice);
    check->unordered = before;
}

void playing_open(Player *player, ThreadsCheck *check, const Recording *recording, PlaySites *sites, PtxWatch *watch) {
    static const size_t budget = (size_t)4 << 30;
    PtxMachine *machine = check->machine;
    *player = (Player){.check = check,
                       .recording = recording,
                       .sites = sites,
                       .machine = machine,
                       .watch = watch,
                       .cluster_count = machine->cta_count / machine->cluster_size};
    arena_init(&player->arena, budget);
    player->unknown_codes = ARENA_ARRAY(&check->arena, uint32_t, check->program->code_count + 1);
    /* A program may have memory that nothing saw being allocated: then only a launch that failed is looked at for it.
     */
    uint32_t flags = recording->launch.flags;
    bool failed = (flags & (RECORDING_CUT | RECORDING_HUNG)) == RECORDING_CUT;
    machine->unlisted =
        !recording->memory_count || launch_has_globals(check) || (flags & RECORDING_AS_PASSED && !failed);
    play_prepare(machine, check->program);
    prepare_reported(player);
    ptx_watch_values(watch, play_stored(check, sites));
    machine->observe = playing_observe;
    machine->observer = player;
    history_clear(check->history);
    ptx_watch_start(watch);
}

/* Chunks that are of no thread. Who got stuck has not read all of his. */
static uint64_t count_unseen(Playing *playing, PtxEnd end) {
    RecordReader *reader = &playing->player.reader;
    if (deadline_passed() || end == PTX_END_BUDGET || has_lost(playing) || !record_reader_unseen(reader))
        return 0;
    if (end != PTX_END_COMPLETE)
        (void)record_whole_ctas(reader);
    return record_reader_unseen(reader);
}

static void play_machine(Playing *playing, PtxWatch *watch) {
    ThreadsCheck *check = &playing->check;
    Player *player = &playing->player;
    ThreadsRun run = {0};
    playing_open(player, check, playing->recording, &playing->sites, watch);
    copies_find(player);
    player->seen = playing->seen;
    if (playing->seen && playing->seen->begin)
        playing->seen->begin(playing->seen, check);
    PtxEnd end = play_all(playing);
    if (playing->again)
        return;
    ptx_watch_end(watch);
    if (player->apart)
        ptx_watch_end(player->apart);
    if (playing->seen && playing->seen->end)
        playing->seen->end(playing->seen, check);
    if (playing->seen)
        playing->seen->cluster = runs_found_in(check, watch, end);
    check->runs = 1;
    playing->unseen = count_unseen(playing, end);
    bool gaps = has_lost(playing) || has_gaps(playing) || waits_for_unrecorded(playing);
    if (check->options->together != TOGETHER_PLAYED && !gaps) { /* others may have written between */
        report_order(check->verdict, &playing->turns);
        if (end == PTX_END_COMPLETE)
            locks_report(player, check->verdict);
    }
    check->unordered = why_unordered(playing);
    check->unordered_within = check->unordered && (playing->turns.doubts.within || has_gaps(playing));
    check->unordered_ctas = playing->turns.doubts.ctas;
    check->unordered_cta_count = playing->turns.doubts.cta_count;
    check->unordered_counts = gaps;
    bool hung = playing->recording->launch.flags & RECORDING_HUNG; /* then that is told first */
    if (hung)
        judge(playing, &run, end);
    size_t races = check->verdict->finding_count;
    threads_volatile(check, watch, &run.schedule, run.havoc_choice); /* of which races may be a consequence */
    runs_report_races(check, &run, watch, 0);
    polls_report(player, check->verdict, races);
    copies_report(player);
    threads_overwrite(check, &run);
    if (!hung)
        judge(playing, &run, end);
    distinguish(playing, &run, end == PTX_END_COMPLETE);
    report_gaps(playing);
    report_missing(playing);
    report_left_out(player);
    if (!hung && (end == PTX_END_COMPLETE || end == PTX_END_STUCK) && !playing->hangs) {
        playing->hangs = play_alternatives(player, is_whole(playing));
        if (playing->hangs && playing->recording->launch.flags & RECORDING_CUT)
            report_first(check->verdict);
    }
    if (!playing->hangs)
        report_lapped(playing);
    check->machine->observe = NULL;
}

bool playing_prepare(ThreadsCheck *check, Recording *recording, PlaySites *sites, const char **problem) {
    if (!runs_prepare(check, problem))
        return false;
    if (!play_sites_read(sites, check, recording, problem))
        return false;
    launch_seat(check, recording, &sites->sites);
    if (!play_unpack(check->program, recording, &check->arena)) {
        *problem = "the recording's parameters do not have the size of the kernel's: their values are not known";
        return false;
    }
    return play_sites(sites, check, recording, problem);
}

/* With its own memory; what the check has is given back by who made it. */
static void close_playing(Playing *playing) {
    arena_free(&playing->player.arena);
}

static void play_recording(Playing *playing) {
    ThreadsCheck *check = &playing->check;
    const char *problem = "";
    if (!playing_prepare(check, &playing->unpacked, &playing->sites, &problem)) {
        verdict_incomplete(check->verdict, "", 0, "%s", problem);
        return;
    }
    PtxLaunch *launch = recording_launch(check, playing->recording);
    if (runs_open(check, launch)) {
        PtxWatch *watch = runs_watch(check, false);
        if (watch)
            play_machine(playing, watch);
        report_variables(check);
        launch_report_shared(check, playing->recording, &playing->sites.sites);
    }
    if (!playing->again)
        runs_add_launch(check, launch);
    runs_close(check);
    check->verdict->only_launch = true;
}

static void check_recording(ThreadsCheck *check) {
    Playing *playing = (Playing *)check;
    if (!playing->recording->ptx.size) {
        recording_unseen(playing->recording, check->verdict);
        return;
    }
    playing->given = playing->recording;
    playing->unpacked = *playing->given;
    playing->recording = &playing->unpacked;
    jmp_buf here, *outer = check->arena.exhausted;
    if (setjmp(here)) {
        close_playing(playing);
        check->arena.exhausted = check->verdict->arena->exhausted = outer;
        longjmp(*outer, 1);
    }
    check->arena.exhausted = check->verdict->arena->exhausted = &here;
    play_recording(playing);
    if (playing->again) {
        close_playing(playing);
        playing->unpacked = *playing->given;
        playing->again = false;
        playing->alone = true;
        play_recording(playing);
    }
    check->arena.exhausted = check->verdict->arena->exhausted = outer;
    close_playing(playing);
}

void recording_check_seen(PtxModule *module, uint32_t entry, const Recording *recording, const ThreadsOptions *options,
                          Verdict *verdict, RecordingSeen *seen) {
    Playing playing = {
        .check = {.module = module, .entry = entry, .options = options, .verdict = verdict, .recorded = true},
        .recording = recording,
        .seen = seen};
    runs_with_arena(&playing.check, check_recording);
    bool waits = recording->order && !recording_depends_on(recording); /* as any other does */
    if (recording->launch.flags & RECORDING_DEPENDENT && !options->together && !waits &&
        recording_touches_early(module, entry, recording, options, verdict->arena))
        verdict_incomplete(verdict, "", 0,
                           "as a dependent launch, it may begin before the preceding launch ends: races between the "
                           "two were not checked");
}

void recording_check(PtxModule *module, uint32_t entry, const Recording *recording, const ThreadsOptions *options,
                     Verdict *verdict) {
    if (recording->shadow.size)
        recording_check_shadow(module, entry, recording, options, verdict);
    else
        recording_check_seen(module, entry, recording, options, verdict, NULL);
}

uint32_t recording_entry(const PtxModule *module, const Recording *recording) {
    for (uint32_t i = 0; i < module->functions_count; i++)
        if (module->functions[i].entry && module->functions[i].body &&
            str_is(ptx_name(module, module->functions[i].name), recording->kernel))
            return i;
    return PTX_NONE;
}
