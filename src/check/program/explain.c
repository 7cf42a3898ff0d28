/* What was found, in words: which two operations, where the program does them, what would order them. */
#include "check/program/internal.h"

#include "model/effect/effect.h"

#include <stdlib.h>

/* ---- Places ------------------------------------------------------------------------------------------ */

/* "app.py:14", as a file and a line; false: it is no place of a source. */
static bool set_place(const ProgramCheck *check, Str where, FindingPlace *place) {
    size_t colon = where.size;
    uint32_t line = 0;
    while (colon && where.data[colon - 1] != ':')
        colon--;
    for (size_t i = colon; i < where.size && where.data[i] >= '0' && where.data[i] <= '9' && line < 100000000; i++)
        line = line * 10 + (uint32_t)(where.data[i] - '0');
    if (colon < 2 || !line)
        return false;
    place->file = arena_copy(check->arena, where.data, colon - 1);
    place->line = line;
    place->column = 1;
    return true;
}

static bool is_host(const ProgramCheck *check, const ProgramSite *site) {
    return site->stream >= check->stream_count;
}

/* "stream 2 (made at app.py:11)", "the default stream", "the host" */
const char *program_stream_name(const ProgramCheck *check, uint32_t index) {
    if (index >= check->stream_count)
        return "the host";
    const ProgramStream *stream = &check->streams[index];
    Text text = {0};
    if (stream->id && !stream->legacy)
        text_addf(&text, "stream %llu", (unsigned long long)stream->id);
    else
        text_addf(&text, "the default stream");
    if (check->several_devices)
        text_addf(&text, " of device %llu", (unsigned long long)stream->context);
    if (check->process_count > 1)
        text_addf(&text, " of %s", program_process_name(check, stream->process));
    if (stream->where.size && stream->id)
        text_addf(&text, " (made at %.*s)", STR_ARG(stream->where));
    return verdict_keep(check->verdict, &text);
}

static const char *stream_name(const ProgramCheck *check, const ProgramSite *site) {
    return program_stream_name(check, site->stream);
}

static const char *agent_of(const ProgramCheck *check, const ProgramSite *site) {
    if (is_host(check, site))
        return "host";
    const ProgramStream *stream = &check->streams[site->stream];
    bool several = check->process_count > 1;
    const char *of = several ? " of " : "", *process = several ? program_process_name(check, stream->process) : "";
    return stream->id && !stream->legacy
               ? verdict_text(check->verdict, "stream %llu%s%s", (unsigned long long)stream->id, of, process)
               : verdict_text(check->verdict, "default stream%s%s", of, process);
}

static const char *verb_of(const ProgramSite *site, uint8_t how) {
    if (site->lifetime)
        return site->lifetime == ORDER_FREES ? "frees" : "allocates";
    return how & (TOUCH_WRITE | TOUCH_STRONG_WRITE) ? "writes" : "reads";
}

static const char *noun_of(const ProgramSite *site, uint8_t how) {
    if (site->lifetime)
        return site->lifetime == ORDER_FREES ? "free" : "allocation";
    return how & (TOUCH_WRITE | TOUCH_STRONG_WRITE) ? "write" : "read";
}

void program_place(const ProgramCheck *check, const ProgramSite *site, const char *role, const char *note,
                   FindingPlace *place) {
    place->role = role;
    place->agent = agent_of(check, site);
    place->op = arena_copy(check->arena, site->name.data, site->name.size);
    place->note = note;
    place->file = "";
    if (!set_place(check, site->where, place))
        place->ir_line = site->line;
}

/* Where the kernel does it. */
static void place_step(const ProgramCheck *check, const ProgramSite *site, Str where, const char *role,
                       FindingPlace *place) {
    place->role = role;
    place->agent = agent_of(check, site);
    place->op = arena_copy(check->arena, site->name.data, site->name.size);
    place->note = "in the kernel";
    place->file = "";
    set_place(check, where, place);
}

/* Where the program does it, or which of its operations it is. */
static const char *where_of(const ProgramCheck *check, const ProgramSite *site, uint64_t number) {
    if (site->where.size)
        return verdict_text(check->verdict, "%.*s", STR_ARG(site->where));
    return verdict_text(check->verdict, "operation %llu", (unsigned long long)number + 1);
}

/* "4,096 bytes at byte 0 of the memory allocated at app.py:10" */
static const char *bytes_of(const ProgramCheck *check, const RaceMemory *memory, uint64_t offset, uint64_t bytes) {
    Str where = memory->site < check->site_count ? check->sites[memory->site].where : STR("");
    Text text = {0};
    text_number_of(&text, bytes, "byte");
    text_addf(&text, " at offset %llu of the %llu bytes", (unsigned long long)offset,
              (unsigned long long)memory->bytes);
    if (where.size)
        text_addf(&text, " allocated at %.*s", STR_ARG(where));
    return verdict_keep(check->verdict, &text);
}

/* ---- Races ------------------------------------------------------------------------------------------- */

/* The first site that is the same line of the program, in whatever stream. */
static uint32_t line_of(ProgramCheck *check, uint32_t index) {
    ProgramSite *site = &check->sites[index];
    for (uint32_t i = 0; i < index && !site->line_of && site->where.size; i++) {
        const ProgramSite *other = &check->sites[i];
        if (other->process == site->process && str_equal(other->name, site->name) &&
            str_equal(other->where, site->where))
            site->line_of = i + 1;
    }
    site->line_of = site->line_of ? site->line_of : index + 1;
    return site->line_of - 1;
}

/* Whether the pair of lines was not reported yet; else it is counted. */
static bool is_new(ProgramCheck *check, const char *what, uint32_t one, uint32_t other) {
    const char *key = verdict_text(check->verdict, "%s %u %u", what, line_of(check, one), line_of(check, other));
    void **seat = map_put(&check->pair_map, str_of(key));
    if (!seat) {
        check->races.failed = true;
        return false;
    }
    if (*seat && (uintptr_t)*seat <= check->verdict->finding_count)
        check->verdict->findings[(uintptr_t)*seat - 1].times++;
    bool first = !*seat;
    if (first)
        *seat = (void *)(uintptr_t)(check->verdict->finding_count + 1);
    return first;
}

static Finding *begin_finding(ProgramCheck *check, RuleId rule) {
    Finding *finding = verdict_finding(check->verdict);
    finding->rule = rule;
    finding->space = "global";
    finding->launch =
        verdict_text(check->verdict, "operation %llu of the program", (unsigned long long)check->number + 1);
    finding->witness = "";
    finding->fingerprint = "";
    finding->schedule = "in every schedule";
    finding->times = 1;
    return finding;
}

static bool is_open(const ProgramCheck *check, const ProgramSite *site) {
    const OrderLane *lane = site->stream < check->stream_count ? check->streams[site->stream].lane : NULL;
    return lane && lane->now.open;
}

static bool between_processes(const ProgramSite *one, const ProgramSite *other) {
    return one->process != other->process;
}

static void say_open(ProgramCheck *check, const ProgramSite *earlier, const ProgramSite *later, uint64_t number,
                     const OrderRace *race) {
    const char *one = where_of(check, earlier, race->earlier.number), *other = where_of(check, later, number);
    if (race->communicates)
        verdict_incomplete(check->verdict, "", 0,
                           "%.*s (%s) and %.*s (%s) can run at the same time and communicate through atomics: Weir "
                           "did not check whether that orders their other accesses",
                           STR_ARG(earlier->name), one, STR_ARG(later->name), other);
    else if (race->unseen)
        verdict_incomplete(check->verdict, "", 0,
                           "%.*s (%s) and %.*s (%s) have the same memory at the same time: Weir does not see what "
                           "the host does with it",
                           STR_ARG(earlier->name), one, STR_ARG(later->name), other);
    else if (race->may)
        verdict_incomplete(
            check->verdict, "", 0,
            "%.*s (%s) and %.*s (%s) are unordered and have the same memory: whether they access the same bytes of "
            "it is not known",
            STR_ARG(earlier->name), one, STR_ARG(later->name), other);
    else
        verdict_incomplete(
            check->verdict, "", 0, "%.*s (%s) and %.*s (%s) access the same memory, and only %s",
            STR_ARG(earlier->name), one, STR_ARG(later->name), other,
            is_open(check, later)
                ? "operations that Weir does not see could order them: a stream or kernel that waits for memory, or "
                  "events of others"
            : between_processes(earlier, later)
                ? "a wait of a host thread could order them: Weir does not see how the processes signal each other"
                : "a wait of another host thread could order them: Weir does not see how the threads signal each "
                  "other");
}

static const char *fix_of(const ProgramCheck *check, const ProgramSite *earlier, const ProgramSite *later,
                          const OrderRace *race) {
    Verdict *verdict = check->verdict;
    if (race->early)
        return verdict_text(verdict,
                            "Call `gdc_wait()` (griddepcontrol.wait) in %.*s before its first access to this memory, "
                            "in every warp that accesses it; or launch it without the dependent-launch attribute.",
                            STR_ARG(later->name));
    if (between_processes(earlier, later))
        return verdict_text(verdict,
                            "Order the two processes: after %.*s, %s synchronizes with %s and then signals the "
                            "other process (a message, a barrier), before %.*s starts; or have the kernels signal "
                            "each other in shared memory of the processes, with release and acquire of system scope.",
                            STR_ARG(earlier->name), program_process_name(check, earlier->process),
                            is_host(check, earlier) ? "its thread" : stream_name(check, earlier), STR_ARG(later->name));
    if (is_host(check, later))
        return verdict_text(verdict,
                            "Wait for %.*s before the host accesses the memory: `stream.synchronize()`, or record an "
                            "event after it and call `event.synchronize()`.",
                            STR_ARG(earlier->name));
    if (is_host(check, earlier))
        return "Access the memory on the host before the call that starts this operation, or after the operation "
               "has finished.";
    return verdict_text(verdict,
                        "Before this operation, make its stream wait for the other one: `s2.wait_stream(s1)`, or in "
                        "CUDA `cudaStreamWaitEvent(s2, e)`, where s2 is %s, s1 is %s, and e is an event that s1 "
                        "records after %.*s; or use one stream.",
                        stream_name(check, later), stream_name(check, earlier), STR_ARG(earlier->name));
}

/* ---- Memory that processes share ---------------------------------------------------------------------- */

/* What nearly orders the two. */
static const char *why_shared(const ProgramCheck *check, const SharedRace *shared, const char *bytes) {
    const GsanRace *race = shared->race;
    const ProgramSite *earlier = &check->sites[shared->earlier], *later = &check->sites[shared->later];
    Text text = {0};
    text_addf(&text, "%.*s is in %s, %.*s %s%s; both access %s.", STR_ARG(earlier->name), stream_name(check, earlier),
              STR_ARG(later->name), is_host(check, later) ? "is done by " : "in ", stream_name(check, later), bytes);
    if (race->reason == GSAN_NARROW && race->earlier.order != ORDER_WEAK && race->later.order != ORDER_WEAK)
        text_addf(&text,
                  " Both accesses are atomic, but with the scopes %s and %s. One of these does not include the "
                  "other launch, which needs scope %s.",
                  effect_scope_name(race->earlier.scope), effect_scope_name(race->later.scope),
                  effect_scope_name(race->needed));
    else if (shared->released_where.size && shared->acquired_where.size)
        text_addf(
            &text,
            " After its access, the first one writes a signal at %.*s, which the second one reads at %.*s. This "
            "orders the two accesses only if the signal is a release and its read an acquire, both with scope %s or "
            "wider.",
            STR_ARG(shared->released_where), STR_ARG(shared->acquired_where), effect_scope_name(race->needed));
    else
        text_addf(&text, " There is no event, message or synchronization between them, and no signal in memory that "
                         "the first one writes and the second one then reads.");
    return verdict_keep(check->verdict, &text);
}

static const char *fix_shared(const ProgramCheck *check, const SharedRace *shared) {
    const GsanRace *race = shared->race;
    const ProgramSite *earlier = &check->sites[shared->earlier], *later = &check->sites[shared->later];
    bool narrow = race->reason == GSAN_NARROW || race->missing == GSAN_TOO_NARROW;
    if (narrow)
        return verdict_text(check->verdict, "For the %s, use scope %s on both sides (`scope=\"%s\"`).",
                            race->missing == GSAN_TOO_NARROW ? "signal" : "atomic accesses",
                            effect_scope_name(race->needed), effect_scope_name(race->needed));
    if (race->missing != GSAN_NO_PAIR && shared->released_where.size)
        return verdict_text(check->verdict, "Make the signal %s, with scope %s.",
                            race->missing == GSAN_NO_RELEASE   ? "a release (`sem=\"release\"`)"
                            : race->missing == GSAN_NO_ACQUIRE ? "read with an acquire (`sem=\"acquire\"`)"
                                                               : "a release, and read it with an acquire",
                            effect_scope_name(race->needed));
    return fix_of(check, earlier, later, &(OrderRace){0});
}

void program_report_shared(ProgramCheck *check, const SharedRace *shared) {
    Verdict *verdict = check->verdict;
    const GsanRace *race = shared->race;
    const ProgramSite *earlier = &check->sites[shared->earlier], *later = &check->sites[shared->later];
    uint32_t one = shared->earlier < shared->later ? shared->earlier : shared->later;
    uint32_t other = shared->earlier + shared->later - one;
    if (shared->open || shared->communicates) {
        if (is_new(check, "open", one, other))
            say_open(check, earlier, later, shared->number,
                     &(OrderRace){.earlier.number = shared->earlier_number, .communicates = shared->communicates});
        return;
    }
    if (!is_new(check, "race", one, other))
        return;
    const char *bytes =
        shared->memory ? bytes_of(check, shared->memory, shared->offset, race->end - race->begin) : "the same memory";
    Finding *finding = begin_finding(check, RULE_PROGRAM_RACE);
    finding->message =
        verdict_text(verdict, "unordered accesses to the same memory: %s by %.*s, %s by %.*s (%s)",
                     effect_access_noun(race->later.kind), STR_ARG(later->name), effect_access_noun(race->earlier.kind),
                     STR_ARG(earlier->name), where_of(check, earlier, shared->earlier_number));
    finding->why = why_shared(check, shared, bytes);
    finding->fix = fix_shared(check, shared);
    finding->launch = verdict_text(verdict, "operation %llu of the program", (unsigned long long)shared->number + 1);
    program_timeline_race(check->timeline, shared->earlier_number, shared->number, finding->message);
    unsigned count = 2 + (shared->later_where.size != 0) + (shared->earlier_where.size != 0);
    FindingPlace *places = finding_places(verdict, finding, count);
    program_place(check, later, effect_access_verb(race->later.kind), bytes, &places[0]);
    program_place(check, earlier, effect_access_verb(race->earlier.kind), "", &places[1]);
    if (shared->later_where.size)
        place_step(check, later, shared->later_where, effect_access_verb(race->later.kind), &places[2]);
    if (shared->earlier_where.size)
        place_step(check, earlier, shared->earlier_where, effect_access_verb(race->earlier.kind), &places[count - 1]);
}

/* ---- Others -------------------------------------------------------------------------------------------- */

void program_report_race(void *context, const OrderRace *race) {
    ProgramCheck *check = context;
    Verdict *verdict = check->verdict;
    bool before = race->earlier.number < race->memory->shared_from; /* others had it */
    if (race->memory->shared && !before && !race->early && !race->unseen && !race->may && !race->earlier.freed)
        return; /* together.c */
    bool signals = race->communicates || (race->memory->shared && !race->early && program_together_signals(check));
    const ProgramSite *earlier = &check->sites[race->earlier.site], *later = &check->sites[check->site];
    if (race->may) {
        program_wants(check, race->earlier.number);
        program_wants(check, check->number);
    }
    if (race->open || signals) {
        OrderRace open = *race;
        open.communicates = signals;
        if (is_new(check, "open", race->earlier.site, check->site))
            say_open(check, earlier, later, check->number, &open);
        return;
    }
    if (!is_new(check, race->early ? "early" : "race", race->earlier.site, check->site))
        return;
    const char *bytes = bytes_of(check, race->memory, race->offset, race->bytes);
    Finding *finding = begin_finding(check, race->early ? RULE_PROGRAM_EARLY : RULE_PROGRAM_RACE);
    bool freed = race->earlier.freed;
    finding->message =
        race->early ? verdict_text(verdict, "%.*s %s memory that %.*s (%s) %s, before it waits for that launch",
                                   STR_ARG(later->name), verb_of(later, race->how), STR_ARG(earlier->name),
                                   where_of(check, earlier, race->earlier.number), verb_of(earlier, race->earlier.how))
                    : verdict_text(verdict, "unordered accesses to the same memory: %s by %.*s, %s%s by %.*s (%s)",
                                   noun_of(later, race->how), STR_ARG(later->name), noun_of(earlier, race->earlier.how),
                                   freed ? " of another tensor, now freed," : "", STR_ARG(earlier->name),
                                   where_of(check, earlier, race->earlier.number));
    finding->why =
        race->early
            ? verdict_text(verdict,
                           "%.*s is a dependent launch, which may begin while %.*s runs, and it accesses %s before "
                           "griddepcontrol.wait.",
                           STR_ARG(later->name), STR_ARG(earlier->name), bytes)
            : verdict_text(verdict,
                           "%.*s is in %s, %.*s %s%s. There is no event, wait or synchronization between them, so "
                           "they can run at the same time, or in either order. Both access %s.%s",
                           STR_ARG(earlier->name), stream_name(check, earlier), STR_ARG(later->name),
                           is_host(check, later) ? "does not wait for it" : "in ",
                           is_host(check, later) ? "" : stream_name(check, later), bytes,
                           freed ? " The allocator gives the bytes of a freed tensor to the next tensor of its stream "
                                   "at once, which is only safe within that stream."
                                 : "");
    finding->fix = fix_of(check, earlier, later, race);
    program_timeline_race(check->timeline, race->earlier.number, check->number, finding->message);
    FindingPlace *places = finding_places(verdict, finding, 2);
    program_place(check, later, verb_of(later, race->how), bytes, &places[0]);
    program_place(check, earlier, verb_of(earlier, race->earlier.how), "", &places[1]);
}

void program_report_reuse(void *context, const RaceMemory *memory, uint32_t freed_at, const TouchMark *user,
                          bool open) {
    ProgramCheck *check = context;
    Verdict *verdict = check->verdict;
    const ProgramSite *used = &check->sites[user->site], *freed = &check->sites[freed_at];
    if (user->how & TOUCH_MAY)
        program_wants(check, user->number);
    if (!is_new(check, open ? "open reuse" : "reuse", user->site, memory->site))
        return;
    if (open && user->how & TOUCH_MAY) {
        verdict_incomplete(verdict, "", 0,
                           "memory of %.*s (%.*s) was freed and is allocated again, and the two are unordered: "
                           "whether it accesses that memory is not known",
                           STR_ARG(used->name), STR_ARG(used->where));
        return;
    }
    if (open) {
        verdict_incomplete(verdict, "", 0,
                           "memory that %.*s (%.*s) uses was freed and is allocated again, and only a wait of "
                           "another host thread could order the two",
                           STR_ARG(used->name), STR_ARG(used->where));
        return;
    }
    Str made = memory->site < check->site_count ? check->sites[memory->site].where : STR("");
    Finding *finding = begin_finding(check, RULE_PROGRAM_REUSE);
    finding->message = verdict_text(verdict, "memory that %.*s (%.*s) may still use was freed and is allocated again",
                                    STR_ARG(used->name), STR_ARG(used->where));
    finding->why = verdict_text(
        verdict,
        "The tensor allocated at %.*s was freed%s%.*s while %.*s in %s may still run. Its own stream does not wait for "
        "that one, so the next allocation there gets the same bytes and overwrites them.",
        STR_ARG(made), freed->where.size ? " at " : "", STR_ARG(freed->where), STR_ARG(used->name),
        stream_name(check, used));
    finding->fix = verdict_text(verdict,
                                "Call `tensor.record_stream(s)` after its use in %s, where s is that stream; or "
                                "make the tensor's own stream wait for that stream (`wait_stream`) before the "
                                "tensor is freed.",
                                stream_name(check, used));
    FindingPlace *places = finding_places(verdict, finding, 2);
    program_place(check, used, "uses", bytes_of(check, memory, 0, memory->bytes), &places[0]);
    places[1].role = "allocates";
    places[1].agent = places[1].op = places[1].note = "";
    set_place(check, made, &places[1]);
}

void program_report_no_wait(ProgramCheck *check) {
    const ProgramSite *site = &check->sites[check->site];
    if (!is_new(check, "no wait", check->site, check->site))
        return;
    Finding *finding = begin_finding(check, RULE_GLOBAL_DEPENDENCY_WAIT);
    finding->message = verdict_text(check->verdict,
                                    "%.*s is a dependent launch and finishes without waiting for the preceding "
                                    "launch",
                                    STR_ARG(site->name));
    finding->why = "The preceding launch may still run when this one has finished. A third launch that does not "
                   "wait, either, can then begin before the first one has finished.";
    finding->fix = "Call `gdc_wait()` (griddepcontrol.wait) on every path.";
    finding->schedule = "in every schedule";
    program_place(check, site, "ends", "", finding_places(check->verdict, finding, 1));
}
