/* The IR of a module with the fewest proxy fences that suffice. */
#include "api/internal.h"

#include "analyze/fences/fences.h"

typedef struct Emission {
    weir_outcome *outcome;
    Text *out;
    bool settled;
} Emission;

static void emit(void *context) {
    Emission *emission = context;
    weir_outcome *outcome = emission->outcome;
    Module *module = &outcome->module->module;
    FencePlan *plans = ARENA_ARRAY(&outcome->arena, FencePlan, outcome->kernel_count + 1);
    Verdict nobody = {.arena = &outcome->arena, .kernel = ""};
    for (size_t i = 0; i < outcome->kernel_count; i++) {
        plans[i] = fences_plan(module, outcome->kernels[i], outcome_given_launch(outcome, i), &nobody);
        emission->settled &= plans[i].settled;
    }
    fences_emit(module, plans, outcome->kernel_count, emission->out);
}

int weir_fences_emit(weir_outcome *outcome, weir_write *write, void *to) {
    Sink sink = {write, to};
    Text out = {.sink = sink_pass, .to = &sink};
    Emission emission = {outcome, &out, true};
    if (outcome->kind == VERDICT_ERROR)
        return -1;
    if (!attempt(outcome->module, &outcome->arena, emit, &emission))
        out.failed = true;
    int status = sink_finish(&out);
    return status || emission.settled ? status : 1;
}
