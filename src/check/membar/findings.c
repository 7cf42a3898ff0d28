/* Thread barriers as findings of `weir check`: what is missing and what is needless, where the IR claims to have them.
 */
#include "check/membar/reporting.h"

#include "check/explain/place.h"
#include "model/effect/unknown.h"

#include <inttypes.h>

static const char *quoted(Verdict *verdict, const char *buffer) {
    return *buffer ? verdict_text(verdict, " of %s", buffer) : "";
}

/* What can go wrong without the barrier. */
static const char *danger(Verdict *verdict, const MembarConflict *conflict) {
    const char *buffer = quoted(verdict, conflict->second_buffer);
    uint32_t line = conflict->first.ir_line;
    return verdict_text(verdict, "this %s%s may happen before another thread's %s at IR line %u",
                        strcmp(conflict->kind, "RAW") == 0 ? "read" : "write", buffer,
                        strcmp(conflict->kind, "WAR") == 0 ? "read" : "write", line);
}

static const char *reason(Verdict *verdict, const MembarNeeded *needed) {
    const MembarConflict *conflict = &needed->conflicts[0];
    Text text = {0};
    text_addf(&text, "%s: both touch ", conflict->kind);
    if (conflict->begin < conflict->end)
        text_addf(&text, "%s %" PRId64 " to %" PRId64 " of ",
                  strcmp(conflict->space, "tensor") == 0 ? "columns" : "bytes", conflict->begin, conflict->end - 1);
    text_addf(&text, "%s memory, and no thread barrier is between them", conflict->space);
    if (conflict->loop.ir_line)
        text_addf(&text, " around the back edge of the loop at IR line %u", conflict->loop.ir_line);
    text_addf(&text, ".");
    if (needed->all_conflicts > 1)
        text_addf(&text, " The same barrier would separate %zu pairs of accesses.", needed->all_conflicts);
    return verdict_keep(verdict, &text);
}

/* An op between the two accesses, or around the loop from the one to the other, of which it is not known whether it is
 * the barrier; NULL: there is none. */
static const Op *unknown_between(Module *module, const Op *function, const MembarConflict *conflict) {
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        uint32_t line = op_line(module, op);
        bool after = line > conflict->first.ir_line, before = line < conflict->second.ir_line;
        bool between = conflict->loop.ir_line ? line > conflict->loop.ir_line && (after || before) : after && before;
        if (between && op_is_unknown(module, op))
            return op;
    }
    return NULL;
}

/* Whether such an op may be the barrier: then nothing is missing for certain. */
static bool is_in_doubt(Module *module, const Op *function, const MembarNeeded *needed, Verdict *verdict) {
    const MembarConflict *conflict = needed->conflict_count ? &needed->conflicts[0] : NULL;
    const Op *unknown = conflict ? unknown_between(module, function, conflict) : NULL;
    if (!unknown)
        return false;
    op_incomplete(module, unknown,
                  verdict_text(verdict,
                               "its effects are not known; it may be the thread barrier that is missing before IR "
                               "line %u: %s",
                               conflict->second.ir_line, danger(verdict, conflict)),
                  verdict);
    return true;
}

static void add_missing(Verdict *verdict, const MembarNeeded *needed) {
    const MembarConflict *conflict = needed->conflict_count ? &needed->conflicts[0] : NULL;
    const char *where = needed->after ? "after" : "before";
    Finding *finding = verdict_finding(verdict);
    finding->rule = RULE_MEMBAR_MISSING;
    finding->space = conflict ? conflict->space : "shared";
    finding->message = verdict_text(verdict, "there is no thread barrier %s %s%s%s", where, needed->at.op,
                                    conflict ? ": " : "", conflict ? danger(verdict, conflict) : "");
    finding->fix = verdict_text(verdict, "Insert `%s` %s IR line %u; `weir membar --emit` prints the IR with it.",
                                strcmp(needed->kind, "cluster") == 0 ? "ttng.cluster_barrier" : "ttg.barrier local",
                                where, needed->at.ir_line);
    FindingPlace *places = finding_places(verdict, finding, conflict ? 2 : 1);
    places[0] = conflict ? conflict->second : needed->at;
    if (!conflict)
        return;
    finding->why = reason(verdict, needed);
    places[0].role = strcmp(conflict->kind, "RAW") == 0 ? "reads" : "writes";
    places[1] = conflict->first;
    places[1].role = strcmp(conflict->kind, "WAR") == 0 ? "reads" : "writes";
    places[0].note = conflict->second_buffer;
    places[1].note = conflict->first_buffer;
}

static void add_needless(Verdict *verdict, const MembarThere *there) {
    Finding *finding = verdict_finding(verdict);
    finding->rule = RULE_MEMBAR_NEEDLESS;
    finding->space = "shared";
    finding->message = "this thread barrier is redundant";
    finding->why = there->why;
    finding->fix = "Remove it; `weir membar --emit --prune` prints the IR without it.";
    FindingPlace *places = finding_places(verdict, finding, there->covered_by.ir_line ? 2 : 1);
    places[0] = there->at;
    if (there->covered_by.ir_line) {
        places[1] = there->covered_by;
        places[1].role = "separates the same accesses";
    }
}

/* What is still to come for a cluster is no fault of the kernel, as with fences. */
static void note_meetings(const Module *module, Verdict *verdict) {
    if (module->completed)
        verdict_note(verdict,
                     "cluster: the compiler has yet to insert cluster barriers (after mbarrier initialization, at "
                     "the end, before two-CTA MMAs in Triton 3.6); the kernel was run as if they were there");
}

void membar_findings(Module *module, const Op *function, ReleaseSet releases, bool summary, Verdict *verdict) {
    const MembarResult *result = membar_analyze(module, function, MEMBAR_ASYNC, releases);
    const char *plural = result->need_count == 1 ? "" : "s";
    note_meetings(module, verdict);
    if (result->inserted == PAST_NOT && summary && result->need_count)
        verdict_note(verdict, "membar: %zu thread barrier%s needed, inserted later by the compiler", result->need_count,
                     plural);
    if (result->inserted == PAST_UNKNOWN && result->need_count)
        verdict_incomplete(
            verdict, verdict_text(verdict, "%.*s", STR_ARG(result->needs[0].op->name)),
            op_line(module, result->needs[0].op),
            "memory is allocated, and nothing says whether the compiler's thread barriers are in: if so, "
            "%zu are missing; `weir membar --assume inserted` lists them",
            result->need_count);
    if (result->inserted != PAST_YES)
        return;
    if (result->problem)
        verdict_incomplete(verdict, "", 0, "not all thread barriers could be checked: %s", result->problem);
    MembarReport report = membar_report(verdict->arena, module, result, (MembarQuestion){0});
    for (size_t i = 0; i < report.needed_count; i++)
        if (report.needed[i].missing && strncmp(report.needed[i].kind, "init", 4) != 0 && /* lint tells of those */
            !is_in_doubt(module, function, &report.needed[i], verdict))
            add_missing(verdict, &report.needed[i]);
    for (size_t i = 0; i < report.present_count; i++)
        if (report.present[i].needless)
            add_needless(verdict, &report.present[i]);
}
