/* Where an op stands, what a view means, and which step an event belongs to, for people. */
#include "check/explain/place.h"

#include "machine/tile/compile/roots.h"

#include "model/memory/stage.h"
#include "model/names/names.h"

void op_place_set(Module *module, const Op *op, FindingPlace *place, Verdict *verdict) {
    Place at = source_place(module->source, op->offset);
    place->op = arena_copy(verdict->arena, op->name.data, op->name.size);
    place->ir_line = at.line;
    place->ir_column = at.column;
    const Attr *location = kernel_location(module, op->location);
    if (!location)
        return;
    Str file = location_text(location);
    place->file = arena_copy(verdict->arena, file.data, file.size);
    place->line = location->line;
    place->column = location->column + !stage_columns_from_one(module);
}

void place_set(const Machine *machine, FindingPlace *place, const char *role, const char *agent, uint32_t pc,
               Verdict *verdict) {
    op_place_set(machine->program->module, machine->program->ops[pc], place, verdict);
    place->role = role;
    place->agent = agent;
}

void op_incomplete(Module *module, const Op *op, const char *reason, Verdict *verdict) {
    verdict_incomplete(verdict, verdict_text(verdict, "%.*s", STR_ARG(op->name)), op_line(module, op), "%s", reason);
}

void op_may_prevent(Module *module, const Op *op, const Finding *finding, Verdict *verdict) {
    op_incomplete(module, op,
                  verdict_text(verdict, "its effects are not known, and may prevent this: %s (IR line %u)",
                               finding->message, finding->place_count ? finding->places[0].ir_line : 0),
                  verdict);
}

/* " of lens", the tensors that the op loads from; "" if it is not an argument's. */
static const char *loaded_from(const Program *program, const Op *op, Verdict *verdict) {
    Text text = {0};
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(program->module, op, effects), names = 0;
    for (unsigned i = 0; i < count; i++) {
        Roots roots = effects[i].space == SPACE_GLOBAL ? address_roots(program, effects[i].on) : (Roots){0};
        for (uint32_t k = 0; k < program->parameter_count && k < MOST_ROOTS; k++)
            if (roots.parameters >> k & 1)
                text_addf(&text, "%s%s", names++ ? ", " : " of ", program->parameters[k].name);
    }
    return verdict_keep(verdict, &text);
}

void op_havoc_dependent(const Program *program, const Op *op, const Finding *finding, Verdict *verdict) {
    verdict_incomplete(verdict, verdict_text(verdict, "%.*s", STR_ARG(op->name)), op_line(program->module, op),
                       "it fails with made-up data%s: %s; a launch file that gives the data decides it",
                       loaded_from(program, op, verdict), finding->message);
}

const char *name_text(Module *module, const Op *allocation, Verdict *verdict) {
    Text text = {0};
    name_print(module, allocation, &text);
    return verdict_keep(verdict, &text);
}

uint32_t line_at(const Machine *machine, uint32_t pc) {
    return op_line(machine->program->module, machine->program->ops[pc]);
}

const char *ir_line_text(const Machine *machine, uint32_t pc, Verdict *verdict) {
    return verdict_text(verdict, "IR line %u", line_at(machine, pc));
}

void op_place(const Machine *machine, const Op *op, Text *to) {
    Module *module = machine->program->module;
    text_add_plain(to, op->name);
    text_addf(to, " @%u", op_line(module, op));
    const Attr *location = kernel_location(module, op->location);
    if (!location)
        return;
    Str file = location_text(location);
    for (size_t i = file.size; i-- > 0;)
        if (file.data[i] == '/') {
            file = (Str){file.data + i + 1, file.size - i - 1};
            break;
        }
    text_addf(to, " (");
    text_add_plain(to, file);
    text_addf(to, ":%u)", location->line);
}

void wait_name(const Machine *machine, const Agent *agent, Text *to) {
    switch ((AgentStatus)agent->status) {
    case AGENT_WAITS:
        barrier_name(machine, agent->barrier, to);
        text_addf(to, ", parity %u", agent->parity);
        break;
    case AGENT_NAMED:
        text_addf(to, "named barrier %u", agent->barrier % NAMED_BARRIERS);
        break;
    case AGENT_CLUSTER:
        text_addf(to, "the cluster barrier");
        break;
    default:
        text_addf(to, "the partitions");
        break;
    }
}

const Allocation *allocation_at(const Allocations *allocations, uint32_t storage, int64_t place) {
    const Allocation *best = NULL;
    for (uint32_t i = 0; i < allocations->count; i++) {
        const Allocation *allocation = &allocations->items[i];
        if (allocation->storage == storage && allocation->offset.base <= place &&
            (!best || allocation->offset.base > best->offset.base))
            best = allocation;
    }
    return best;
}

void access_name(const Machine *machine, const CompiledEffect *effect, Word view, Text *to) {
    static const char *const spaces[] = {"memory", "shared memory", "tensor memory", "global memory"}; /* ORDER Space */
    if (!word_is(view, WORD_VIEW)) {
        text_addf(to, "%s", spaces[effect->effect.space]);
        return;
    }
    int64_t base = (int32_t)(view.bits & UINT32_MAX), flip = (int32_t)(view.bits >> 32);
    const Allocation *allocation = allocation_at(&machine->program->allocations, view.meta, base);
    if (allocation && allocation->op->result_count) {
        name_print(machine->program->module, allocation->op, to);
        base -= allocation->offset.base;
    } else {
        text_addf(to, "%s", spaces[effect->effect.space]);
    }
    if (effect->effect.space == SPACE_TENSOR)
        text_addf(to, " at row %lld, column %lld", (long long)(base >> 16), (long long)(base & UINT16_MAX));
    else
        text_addf(to, " at byte %lld", (long long)(base + flip));
    if (machine->program->ctas > 1)
        text_addf(to, " of cta%u", view.cta);
}

Helper event_helper(const Event *event) {
    if (event->kind == EVENT_ACCESS)
        return event->effect->effect.helper;
    return event->outstanding && event->kind != EVENT_ISSUE ? (Helper)event->outstanding->helper : HELPER_BASE;
}

uint64_t step_of(StepCount *count, const Machine *machine, const Event *event) {
    bool ends_outstanding = event->kind == EVENT_DELIVER || event->kind == EVENT_SIGNAL || event->kind == EVENT_FINISH;
    count->completions += ends_outstanding && event->outstanding && !machine->immediate;
    uint64_t steps = count->completions;
    for (uint32_t i = 0; i < machine->agent_count; i++)
        steps += event->state->agents[i].ticks;
    return steps;
}
