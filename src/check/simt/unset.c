/* Memory that is not what a kernel takes it for: shared memory that nothing has written, mbarriers that data lies over.
 */
#include "check/simt/executions.h"

static bool is_unset(const PtxMachine *machine, const PtxCode *source) {
    for (uint32_t i = 0; i < machine->unset_count; i++)
        if (machine->unset[i].code == source && machine->unset[i].space != PTX_SPACE_GLOBAL)
            return true;
    return false;
}

/* Whether something that was read from shared memory before it was written decides what is run; *alone: and nothing
 * else does that is not known, which could be why nothing was written. */
static bool decides(const PtxMachine *machine, const PtxCode *source, bool *alone) {
    bool found = false;
    *alone = true;
    for (uint32_t i = 0; i < machine->havoc_count; i++) {
        const PtxHavoc *havoc = &machine->havocs[i];
        found |= havoc->source == source;
        *alone &= is_unset(machine, havoc->source);
    }
    return found;
}

/* Where it was read; of shared memory, of a CTA that may be over. */
static PtxLocation unset_location(const ThreadsCheck *check, const PtxUnset *unset, PtxBlock *over) {
    const PtxMachine *machine = check->machine;
    const PtxCta *cta = machine->ctas[unset->cta];
    *over = (PtxBlock){.space = unset->space, .name = unset->name};
    if (unset->space != PTX_SPACE_GLOBAL)
        return (PtxLocation){cta ? (PtxBlock *)&cta->shared : over, unset->offset};
    for (uint32_t i = 0; i < machine->block_count; i++)
        if (machine->blocks[i].name == unset->name)
            return (PtxLocation){&machine->blocks[i], unset->offset};
    return (PtxLocation){over, unset->offset};
}

/* It decides what is run, and so does other data that is not known: with that data it might not be read. */
static void doubt_unset(ThreadsCheck *check, const PtxUnset *unset) {
    verdict_incomplete(check->verdict, "", code_line(check->program, unset->code),
                       "for some choices of unknown data, this reads shared memory that nothing has written, and "
                       "control flow depends on the value: give the data in the launch file");
}

void threads_unset(ThreadsCheck *check, const ThreadsRun *run) {
    Verdict *verdict = check->verdict;
    for (uint32_t i = 0; i < check->machine->unset_count; i++) {
        const PtxUnset *unset = &check->machine->unset[i];
        uint32_t line = code_line(check->program, unset->code);
        bool global = unset->space == PTX_SPACE_GLOBAL;
        bool reported = !global && unset->space != PTX_SPACE_SHARED && unset->space != PTX_SPACE_CLUSTER;
        bool alone = true, grave = !global && !reported && decides(check->machine, unset->code, &alone);
        if (grave && !alone)
            doubt_unset(check, unset);
        reported |= run->havoc_choice != 0;                              /* of other havoc choices that is all */
        for (size_t k = 0; k < verdict->finding_count && !reported; k++) /* as this, or as a race with who writes it */
            reported = verdict->findings[k].places[0].ir_line == line;
        if (reported)
            continue;
        PtxBlock over;
        PtxLocation location = unset_location(check, unset, &over);
        const char *thread = thread_words(check, unset->cta, unset->thread),
                   *bytes = location_words(check, location, 1);
        Finding *finding =
            threads_finding(check, global ? RULE_GLOBAL_UNINITIALIZED : RULE_SHARED_UNINITIALIZED,
                            global ? "global" : "shared", &run->schedule, run->havoc_choice, unset->times);
        finding->message = verdict_text(verdict, "%s reads %s, which nothing has written", thread, bytes);
        finding->why = global ? "The launch file marks it as an output, and nothing has written it before this read."
                              : "No thread of the CTA has written it since the CTA started.";
        finding->fix = global ? "Write it first, or initialize it before the launch (cudaMemset, cudaMemcpy)."
                              : "Write it first, and insert __syncthreads() between the write and the read.";
        if (!global && (!grave || !alone)) {
            finding->graded = true;
            finding->grade = SEVERITY_NOTE;
        }
        FindingPlace *place = code_places(check, finding, &unset->code, 1)[0];
        place->agent = thread;
        place->role = "reads";
        place->note = bytes;
    }
}

/* Data over an mbarrier: what its phases are then is not defined. */
void threads_overwrite(ThreadsCheck *check, const ThreadsRun *run) {
    Overwrite over = history_overwrite(check->history);
    Verdict *verdict = check->verdict;
    const MbarrierHistory *history = over.code ? history_of(check->history, over.place) : NULL;
    for (size_t i = 0; i < verdict->finding_count; i++)
        if (verdict->findings[i].rule == RULE_BARRIER_OVERWRITTEN)
            return;
    if (!history)
        return;
    const PtxCode *codes[] = {over.code, history->init ? history->init : over.code};
    const char *thread = thread_words(check, over.cta, over.thread);
    PtxBlock shared = {.space = PTX_SPACE_SHARED};
    const char *bytes = location_words(check, (PtxLocation){&shared, (uint32_t)over.place}, 8);
    Finding *finding =
        threads_finding(check, RULE_BARRIER_OVERWRITTEN, "barrier", &run->schedule, run->havoc_choice, 1);
    finding->message = verdict_text(verdict, "%s writes data over the mbarrier at %s, which is in use", thread, bytes);
    finding->why =
        "The hardware keeps its state in an mbarrier until it is invalidated. After the write, its phases are "
        "undefined.";
    finding->fix = "Use separate memory for the mbarrier, or invalidate it (mbarrier.inval) and synchronize before "
                   "the memory is reused.";
    FindingPlace **places = code_places(check, finding, codes, 2);
    places[0]->agent = thread;
    places[0]->role = "writes";
    places[1]->role = "initialized here";
}
