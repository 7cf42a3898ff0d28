/* All that is written into one function: the start, the records of each block, and what seldom happens at the end. */
#include "instrument/internal.h"

/* How many blocks are around each statement of the function, the body not counted. */
static uint32_t *find_depths(const FunctionAnalysis *analysis, Arena *arena) {
    const PtxFunction *function = &analysis->module->functions[analysis->function];
    uint32_t *depths = ARENA_ARRAY(arena, uint32_t, function->end - function->begin + 1), depth = 0;
    for (uint32_t i = function->begin; i < function->end; i++) {
        uint8_t kind = analysis->module->statements[i].kind;
        depth -= kind == PTX_CLOSE && depth;
        depths[i - function->begin] = depth ? depth - 1 : 0;
        depth += kind == PTX_OPEN;
    }
    return depths;
}

/* Records at fixed places behind the pointer that stand one after the other. */
typedef struct FunctionSegment {
    uint32_t units; /* from the pointer to the next place */
} FunctionSegment;

/* The pointer goes on, up to so many units before the next place. A chunk is aligned to its size, so the upper half of
 * the pointer stays as it is. */
static void go_on(InstrumentCode *code, FunctionSegment *segment, uint32_t left) {
    int bytes = ((int)segment->units - (int)left) * RECORD_UNIT;
    if (bytes && code->plan->narrow) {
        code_say(code, "mov.b64 {~r0, ~r1}, ~ptr");
        code_say(code, "add.u32 ~r0, ~r0, %d", bytes);
        code_say(code, "mov.b64 ~ptr, {~r0, ~r1}");
    } else if (bytes) {
        code_say(code, code->plan->together ? "add.s64 ~ptr, ~ptr, %d" : "@~lead add.s64 ~ptr, ~ptr, %d", bytes);
    }
    segment->units = left;
}

/* Behind a step: the next one is at no fixed place, or there has to be room for others. */
static void end_step(InstrumentCode *code, uint32_t index, FunctionSegment *segment) {
    const InstrumentPlan *plan = code->plan;
    const InstrumentStep *step = &plan->steps[index], *next = step + 1;
    bool last = index + 1 == plan->count || next->block != step->block;
    if (step->check || (!last && (next->how != STEP_STATIC || next->calls != step->calls)))
        go_on(code, segment, plan->start);
    if (step->check)
        write_room(code, step->check);
    const FlowBlock *block = &code->analysis->flow.blocks[step->block];
    if (last && block->begin == block->end)
        go_on(code, segment, plan->left[step->block]);
}

static void write_step(InstrumentCode *code, uint32_t index, FunctionSegment *segment) {
    InstrumentStep step = code->plan->steps[index];
    code_stand(code, step.at);
    if (step.how == STEP_STATIC) {
        if (step.in_run)
            write_run(code, &code->plan->steps[index], step.run ? segment->units : 0);
        else
            write_static(code, &step, segment->units);
        segment->units += step.units + (step.first && !code->plan->together);
        if (!step.in_run || step.last)
            end_step(code, index, segment);
        code_put(code, step.at, step.behind);
        return;
    }
    if (step.how == STEP_APART) {
        write_apart(code, &step);
        if (step.check)
            write_room(code, step.check);
        code_put(code, step.at, step.behind);
        return;
    }
    step.label = new_label(code);
    write_each_before(code, &step);
    code_put(code, step.at, false);
    write_each_fetch(code, &step);
    write_each_behind(code, &step);
    if (step.check)
        write_room(code, step.check);
    code_put(code, step.at, true);
}

/* The pointer goes on as late as it can: ptxas copies it for stores that it may move behind that. */
static void end_block(InstrumentCode *code, uint32_t b, FunctionSegment *segment) {
    const FlowBlock *block = &code->analysis->flow.blocks[b];
    uint32_t at = code->analysis->flow.instructions[block->end - 1];
    code_stand(code, at);
    go_on(code, segment, code->plan->left[b]);
    code_put(code, at, block->ends == FLOW_NEXT);
}

static void write_blocks(InstrumentCode *code) {
    const InstrumentPlan *plan = code->plan;
    const PtxFlow *flow = &code->analysis->flow;
    uint32_t index = 0;
    for (uint32_t b = 0; b < flow->block_count; b++) {
        FunctionSegment segment = {plan->ahead[b]};
        bool empty = flow->blocks[b].end == flow->blocks[b].begin;
        if (plan->needs[b] && !empty) {
            uint32_t at = flow->instructions[flow->blocks[b].begin];
            code_stand(code, at);
            write_room(code, plan->needs[b]);
            code_put(code, at, false);
        }
        for (; index < plan->count && plan->steps[index].block == b; index++)
            write_step(code, index, &segment);
        if (!empty)
            end_block(code, b, &segment);
    }
}

/* What seldom happens stands before the last brace, where no thread falls into it. */
static void write_end(InstrumentCode *code) {
    const PtxFunction *function = &code->analysis->module->functions[code->analysis->function];
    if (code->plan->called) /* it may end without a ret */
        write_state(code);
    code_put(code, function->end - 1, false);
    if (!code->cold.size)
        return;
    Text text = {0};
    text_str(&text, STR("ret;\n\t"));
    text_add(&text, code->cold.data, code->cold.size);
    ptx_edit_before(code->edits, function->end - 1, (Str){text.data, text.size});
    text_free(&text);
}

void instrument_function(PtxEdits *edits, const InstrumentPlan *plan, uint32_t chunk, uint32_t *labels, Str prefix,
                         bool *bodies) {
    InstrumentCode code = {
        .plan = plan, .analysis = plan->analysis, .edits = edits, .chunk = chunk, .labels = labels, .prefix = prefix};
    code.bodies = plan->bodies ? bodies : NULL;
    code.to = &code.text;
    code.depths = find_depths(plan->analysis, &edits->arena);
    if (!plan->called)
        ptx_edit_parameter(edits, plan->analysis->function, STR(".param .u64 weir_launch"));
    write_prologue(&code);
    code_put(&code, instrument_start(plan->analysis->module, plan->analysis->function), false);
    write_wrap_checks(&code);
    write_blocks(&code);
    if (plan->called || plan->calls)
        write_calls(&code);
    write_spin_timeout(&code, &edits->arena);
    write_end(&code);
    text_free(&code.text);
    text_free(&code.cold);
}
