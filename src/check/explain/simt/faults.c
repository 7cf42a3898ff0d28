/* Runs that stop: accesses that must not be, traps, instructions that cannot be run, values that are not known. */
#include "check/simt/internal.h"

#include <inttypes.h>

/* ---- Faults -------------------------------------------------------------------------------------- */

static uint32_t first_thread(const PtxFault *fault) {
    uint32_t lane = fault->lanes ? (uint32_t)__builtin_ctz(fault->lanes) : 0;
    return fault->warp ? fault->warp->index * PTX_LANES + lane : 0;
}

static bool is_out_of_range(RuleId rule) {
    return rule == RULE_GLOBAL_OUT_OF_RANGE || rule == RULE_ACCESS_INVALID;
}

/* At a launch that Weir chose it says nothing of the kernel: memory is not as large as numbers say, and what is
 * asserted is what callers have to see to. */
static bool is_havoc_dependent(const ThreadsCheck *check, const PtxFault *fault) {
    if (fault->rule == RULE_KERNEL_TRAP)
        return check->launch->chosen;
    if (fault->rule == RULE_SHARED_OUT_OF_RANGE) /* of more threads than there are elements, perhaps */
        return check->launch->chosen_shared || (check->launch->chosen_block && !check->program->required[0]);
    bool misaligned = fault->rule == RULE_ACCESS_ALIGNMENT && /* by a stride, perhaps, that callers never give */
                      (!fault->block || fault->block->space == PTX_SPACE_GLOBAL);
    if (!is_out_of_range(fault->rule) && !misaligned)
        return false;
    bool chosen = check->launch->chosen;
    for (uint32_t i = 0; fault->block && i < check->launch->buffer_count; i++)
        chosen |= check->launch->buffers[i].address == fault->block->base && check->launch->buffers[i].chosen;
    return chosen;
}

static void say_havoc_dependent(ThreadsCheck *check, const PtxFault *fault) {
    uint32_t line = code_line(check->program, fault->code);
    const char *what = fault->what ? fault->what : rule_of(fault->rule)->summary;
    SimtDoubt *doubt = &check->doubts[DOUBTED_FIT];
    if (!check->launch->chosen) {
        verdict_incomplete(check->verdict, "", line,
                           "an access is out of range of memory that the launch file does not give: %s", what);
        return;
    }
    if (!doubt->count++) {
        doubt->line = line;
        doubt->text = verdict_text(check->verdict, "%s (%s)", what, check->launch->text);
    }
}

static const char *fix_of(const PtxFault *fault) {
    if (fault->within && fault->within->bytes)
        return "Correct the index, or make the array larger. The access reaches padding or another variable.";
    switch (fault->rule) {
    case RULE_BARRIER_TOKEN:
        return "Wait with the state that an arrive on the same mbarrier returned in this phase or the one before, "
               "or wait by parity.";
    case RULE_GLOBAL_OUT_OF_RANGE:
        return "Check the index against the size before the access, or make the buffer in the launch as large as the "
               "real one.";
    case RULE_SHARED_OUT_OF_RANGE:
        return "Correct the index, or launch with more dynamic shared memory (\"shared\" in the launch file).";
    case RULE_LOCAL_OUT_OF_RANGE:
        return "Correct the index, or make the array larger.";
    case RULE_ACCESS_INVALID:
        return fault->block && fault->block->freed
                   ? "Free the memory after its last use."
                   : "Give the pointer memory in the launch; convert addresses between spaces with cvta.";
    case RULE_ACCESS_ALIGNMENT:
        return "Align the address to the size of the access, or use narrower accesses.";
    case RULE_CLUSTER_EXIT:
        return "Make sure that no CTA of the cluster exits while others use its shared memory: end with a cluster "
               "barrier (cluster.sync()).";
    case RULE_KERNEL_TRAP:
        return "Check the condition at this place.";
    case RULE_BARRIER_UNINITIALIZED:
        return "Initialize the mbarrier (mbarrier.init) in one thread, and synchronize before others use it.";
    case RULE_BARRIER_UNDERFLOW:
        return "Initialize the mbarrier with the number of arrivals per phase.";
    case RULE_BARRIER_INVALIDATED:
        return "Invalidate the mbarrier after its last use only, with a barrier in between.";
    case RULE_NAMED_COUNT:
        return "Use the same thread count in all threads that use the barrier.";
    case RULE_THREADS_MASK:
        return "Use a mask of exactly the lanes that get there (__ballot_sync of the same condition).";
    case RULE_THREADS_DIVERGENT_WARP:
        return "Move the instruction out of the condition, so that all threads of the warp execute it together.";
    default:
        return "";
    }
}

static const char *space_of(const PtxFault *fault) {
    const char *family = rule_of(fault->rule)->id;
    bool shared = fault->block && (fault->block->space == PTX_SPACE_SHARED || fault->block->space == PTX_SPACE_CLUSTER);
    if (fault->rule == RULE_SHARED_OUT_OF_RANGE || fault->rule == RULE_CLUSTER_EXIT || shared)
        return "shared";
    return strncmp(family, "global", 6) == 0 || strncmp(family, "access", 6) == 0 || strncmp(family, "local", 5) == 0 ||
                   strncmp(family, "kernel", 6) == 0
               ? "global"
               : "barrier";
}

/* "thread 5 of CTA 2: 16 bytes behind the end of x" */
static const char *message_of(const ThreadsCheck *check, const PtxFault *fault) {
    const char *thread = thread_words(check, fault->warp ? fault->warp->cta->number : 0, first_thread(fault));
    if (fault->rule == RULE_CLUSTER_EXIT)
        return verdict_text(check->verdict, "%s accesses the shared memory of a CTA that has exited", thread);
    if (fault->within)
        return verdict_text(check->verdict, "%s: %" PRId64 " bytes %s of %s, which has %" PRIu64 " bytes", thread,
                            fault->amount < 0 ? -fault->amount : fault->amount,
                            fault->amount < 0 ? "before the begin" : "past the end",
                            shared_name(check, fault->within->at),
                            fault->within->bytes ? fault->within->bytes : fault->block->size - fault->within->at);
    if (fault->what)
        return verdict_text(check->verdict, "%s: %s", thread, fault->what);
    return verdict_text(check->verdict, "%s: %s", thread, rule_of(fault->rule)->summary);
}

/* Faults that are no access have no address. */
static const char *why_of_fault(Verdict *verdict, const PtxFault *fault, unsigned lanes) {
    if (fault->rule == RULE_THREADS_MASK && fault->amount)
        return "All lanes that the mask names and that have not exited must execute it, with the same mask. The "
               "other lanes wait for them, and values from their registers are undefined.";
    if (fault->rule == RULE_THREADS_MASK)
        return "An instruction with .sync is undefined for a lane that its mask does not name.";
    if (!fault->block && !fault->address && !is_out_of_range(fault->rule))
        return lanes > 1 ? verdict_text(verdict, "So do %u other lanes of its warp.", lanes - 1) : "";
    if (lanes > 1)
        return verdict_text(verdict, "So do %u other lanes of its warp. The address of the first is 0x%" PRIx64 ".",
                            lanes - 1, fault->address);
    return verdict_text(verdict, "The address is 0x%" PRIx64 ".", fault->address);
}

Finding *threads_fault(ThreadsCheck *check, const PtxSchedule *schedule, unsigned havoc_choice) {
    const PtxFault *fault = &check->machine->fault;
    Verdict *verdict = check->verdict;
    uint32_t line = code_line(check->program, fault->code);
    if (is_havoc_dependent(check, fault)) {
        say_havoc_dependent(check, fault);
        return NULL;
    }
    for (size_t i = 0; i < verdict->finding_count; i++)
        if (verdict->findings[i].rule == fault->rule && verdict->findings[i].places[0].ir_line == line) {
            verdict->findings[i].times++;
            return NULL;
        }
    Finding *finding = threads_finding(check, fault->rule, space_of(fault), schedule, havoc_choice, 1);
    finding->message = message_of(check, fault);
    unsigned lanes = (unsigned)__builtin_popcount(fault->lanes);
    finding->why = why_of_fault(verdict, fault, lanes);
    finding->fix = fix_of(fault);
    FindingPlace *place = code_places(check, finding, &fault->code, 1)[0];
    place->agent = thread_words(check, fault->warp ? fault->warp->cta->number : 0, first_thread(fault));
    place->role = "is here";
    threads_grade(check, finding);
    return finding;
}

/* ---- What is not known --------------------------------------------------------------------------- */

void threads_unmodeled(ThreadsCheck *check) {
    const PtxMachine *machine = check->machine;
    const PtxCode *code = machine->unknown;
    Str form = code ? code->form->text : STR("");
    verdict_incomplete(check->verdict, verdict_text(check->verdict, "%.*s", STR_ARG(form)),
                       code ? code_line(check->program, code) : 0, "%s%s",
                       machine->unknown_why ? machine->unknown_why
                                            : "Weir cannot run this instruction: later instructions were not checked",
                       machine->unknown_why && check->launch->chosen ? ": give a launch with --launch" : "");
}

static bool through(const ThreadsCheck *check, const PtxCode *code, Proxy proxy) {
    PtxEffect effect;
    return (code_effect(check, code, EFFECT_READ, &effect) || code_effect(check, code, EFFECT_WRITE, &effect)) &&
           effect.effect.proxy == proxy;
}

/* A branch whose condition is not known was run in several ways; an access whose address is not known was not made. */
void threads_havocs(ThreadsCheck *check) {
    const PtxMachine *machine = check->machine;
    for (uint32_t i = 0; i < machine->havoc_count; i++) {
        const PtxHavoc *havoc = &machine->havocs[i];
        uint32_t line = code_line(check->program, havoc->code);
        const char *source =
            havoc->source ? verdict_text(check->verdict, ", loaded at %s", code_words(check, havoc->source)) : "";
        if (havoc->left_out && !havoc->code->visible)
            continue; /* of memory that nothing writes (ld.global.nc): what it gives is not known, and that is all */
        if (havoc->left_out && through(check, havoc->code, PROXY_TEXTURE))
            verdict_incomplete(check->verdict, "", line,
                               "the memory of a texture is not known: its races were not checked");
        else if (havoc->left_out && through(check, havoc->code, PROXY_SURFACE))
            verdict_incomplete(check->verdict, "", line,
                               "the value read from a surface is not known: the launch does not give its memory, or "
                               "the kernel also writes surfaces, and a read after a write is undefined");
        else if (havoc->left_out)
            verdict_incomplete(check->verdict, "", line,
                               "an address depends on unknown memory contents%s: add that buffer's \"data\" to the "
                               "launch file",
                               source);
        else
            verdict_note(check->verdict,
                         "the condition at PTX line %u depends on unknown memory contents%s: several outcomes were "
                         "tried",
                         line, source);
    }
}
