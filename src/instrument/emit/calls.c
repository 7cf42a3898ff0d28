/* Functions that are called and record something: where their caller was is handed to them, and back.
 *
 * A kernel has, in local memory, { the next place: u64, the launch: u64, the count: u32, the tag: u32 }. Its address is
 * one more parameter, the last, of each function that needs it, and of each whose address is taken, since a caller
 * by an address cannot know. What is called is run by lanes of which nothing is known: they lead apart. */
#include "instrument/internal.h"

#include "ptx/print.h"

#include <stdlib.h>

enum { STATE_PTR = 0, STATE_LAUNCH = 8, STATE_COUNT = 16, STATE_TAG = 20, STATE_BYTES = 32 };

/* The operand of a call that is what is called; the index of it in the module. */
static uint32_t callee_of(const PtxModule *module, const PtxStatement *statement) {
    uint32_t count;
    const PtxOperand *operands = ptx_operands(module, statement, &count);
    if (module->forms[statement->what].evaluator != PTX_EVALUATE_CALL)
        return PTX_NONE;
    for (uint32_t i = 0; i < count; i += ptx_extent(&operands[i]))
        if (operands[i].kind != PTX_LIST)
            return (uint32_t)(&operands[i] - module->operands);
    return PTX_NONE;
}

static bool is_call(const PtxModule *module, uint32_t statement) {
    return module->statements[statement].kind == PTX_INSTRUCTION &&
           callee_of(module, &module->statements[statement]) != PTX_NONE;
}

/* The function with a body that a call names; PTX_NONE: there is none, or it is called by its address. */
static uint32_t called_by(const Calls *calls, uint32_t statement) {
    const PtxModule *module = calls->module;
    const PtxOperand *callee = &module->operands[callee_of(module, &module->statements[statement])];
    return callee->kind == PTX_CALLEE ? calls->definitions[module->functions[callee->a].name] : PTX_NONE;
}

static bool calls_address(const PtxModule *module, uint32_t statement) {
    return module->operands[callee_of(module, &module->statements[statement])].kind == PTX_REGISTER;
}

bool call_hands(const Calls *calls, uint32_t statement) {
    if (!is_call(calls->module, statement))
        return false;
    uint32_t to = called_by(calls, statement);
    return to == PTX_NONE ? calls_address(calls->module, statement) : calls->hands[to];
}

/* False: it is no call of a function without a body; *name: empty, if it has none. */
static bool calls_out(const Calls *calls, uint32_t statement, Str *name) {
    if (!is_call(calls->module, statement) || calls_address(calls->module, statement) ||
        called_by(calls, statement) != PTX_NONE)
        return false;
    const PtxModule *module = calls->module;
    const PtxOperand *callee = &module->operands[callee_of(module, &module->statements[statement])];
    *name = callee->kind == PTX_CALLEE ? ptx_name(module, module->functions[callee->a].name) : (Str){"", 0};
    return true;
}

bool call_leaves(const Calls *calls, uint32_t statement) {
    Str name;
    return calls_out(calls, statement, &name) && !ptx_of_driver(name);
}

bool call_stops(const Calls *calls, uint32_t statement) {
    Str name;
    return calls_out(calls, statement, &name) && ptx_callee(name) == PTX_EVALUATE_STOP;
}

/* ---- Who needs it ------------------------------------------------------------------------------------------ */

/* Functions whose address is taken: all that are named, but not where they are called. */
static void find_taken(Calls *calls, Arena *arena) {
    PtxModule *module = calls->module;
    bool *called = ARENA_ARRAY(arena, bool, module->operands_count + 1);
    for (uint32_t i = 0; i < module->statements_count; i++)
        if (is_call(module, i))
            called[callee_of(module, &module->statements[i])] = true;
    for (uint32_t i = 0; i < module->operands_count; i++) {
        if (module->operands[i].kind != PTX_CALLEE || called[i])
            continue;
        const PtxFunction *function = &module->functions[module->operands[i].a];
        uint32_t definition = calls->definitions[function->name];
        if (definition != PTX_NONE)
            calls->taken[definition] = true;
    }
}

static uint32_t function_at(const PtxModule *module, uint32_t statement, uint32_t from) {
    for (uint32_t i = from; i < module->functions_count; i++)
        if (module->functions[i].body && statement >= module->functions[i].begin &&
            statement < module->functions[i].end)
            return i;
    return PTX_NONE;
}

/* Those that call one that needs it need it themselves. */
static bool spread(Calls *calls) {
    bool changed = false;
    uint32_t in = 0;
    for (uint32_t i = 0; i < calls->module->statements_count; i++) {
        if (!call_hands(calls, i))
            continue;
        in = function_at(calls->module, i, in == PTX_NONE ? 0 : in);
        if (in == PTX_NONE || calls->module->functions[in].entry || calls->hands[in])
            continue;
        calls->hands[in] = changed = true;
    }
    return changed;
}

/* ---- Where lanes meet --------------------------------------------------------------------------------------- */

bool call_meets(const Calls *calls, uint32_t statement) {
    if (!is_call(calls->module, statement))
        return false;
    uint32_t to = called_by(calls, statement);
    return to == PTX_NONE ? calls_address(calls->module, statement) && calls->taken_meets : calls->meets[to];
}

static bool waits_for_lanes(const PtxModule *module, uint32_t statement) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    const PtxStatement *of = &module->statements[statement];
    unsigned count =
        of->kind == PTX_INSTRUCTION && module->forms[of->what].effect_count ? ptx_effects_of(module, of, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].effect.verb == EFFECT_WARP_SYNC)
            return true;
    return false;
}

/* Functions in which lanes wait for each other by a mask, or in those that they call. */
static void find_meets(Calls *calls) {
    const PtxModule *module = calls->module;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t f = 0; f < module->functions_count; f++)
            for (uint32_t i = module->functions[f].begin;
                 module->functions[f].body && !calls->meets[f] && i < module->functions[f].end; i++)
                if (waits_for_lanes(module, i) || call_meets(calls, i)) {
                    calls->meets[f] = changed = true;
                    calls->taken_meets |= calls->taken[f];
                }
    }
}

void calls_find(Calls *calls, PtxModule *module, const Sites *sites, Arena *arena) {
    *calls = (Calls){.module = module};
    calls->definitions = ARENA_ARRAY(arena, uint32_t, module->names_count + 1);
    calls->hands = ARENA_ARRAY(arena, bool, module->functions_count + 1);
    calls->taken = ARENA_ARRAY(arena, bool, module->functions_count + 1);
    calls->meets = ARENA_ARRAY(arena, bool, module->functions_count + 1);
    memset(calls->definitions, 0xff, sizeof *calls->definitions * module->names_count);
    for (uint32_t i = 0; i < module->functions_count; i++)
        if (module->functions[i].body && module->functions[i].name != PTX_NONE)
            calls->definitions[module->functions[i].name] = i;
    for (uint32_t i = 0; i < module->functions_count; i++) /* its other names have its parameters, too */
        if (module->functions[i].alias && module->functions[ptx_function_behind(module, i)].body)
            calls->definitions[module->functions[i].name] = ptx_function_behind(module, i);
    find_taken(calls, arena);
    find_meets(calls);
    for (uint32_t i = 0; i < module->functions_count; i++)
        calls->hands[i] = calls->taken[i] && !module->functions[i].entry;
    for (uint32_t i = 0; i < sites->count; i++)
        calls->hands[sites->items[i].function] |= !module->functions[sites->items[i].function].entry;
    while (spread(calls))
        ;
}

uint32_t calls_taken_kernel(const Calls *calls) {
    for (uint32_t i = 0; i < calls->module->functions_count; i++)
        if (calls->taken[i] && calls->module->functions[i].entry)
            return i;
    return PTX_NONE;
}

bool calls_addresses(const PtxModule *module) {
    bool *called = calloc(module->operands_count + 1, sizeof *called), found = !called;
    for (uint32_t i = 0; i < module->statements_count && !found; i++)
        if (is_call(module, i)) {
            called[callee_of(module, &module->statements[i])] = true;
            found = calls_address(module, i);
        }
    for (uint32_t i = 0; i < module->operands_count && !found; i++)
        found = module->operands[i].kind == PTX_CALLEE && !called[i];
    free(called);
    return found;
}

bool calls_any(const Calls *calls, uint32_t function) {
    const PtxFunction *of = &calls->module->functions[function];
    for (uint32_t i = of->begin; i < of->end; i++)
        if (call_hands(calls, i))
            return true;
    return false;
}

/* ---- Declarations ------------------------------------------------------------------------------------------ */

/* A prototype with one more parameter: its list is the last thing in parentheses. */
static void edit_prototype(PtxEdits *edits, uint32_t index) {
    const PtxModule *module = edits->module;
    const PtxStatement *statement = &module->statements[index];
    Str text = {module->source->data + statement->begin, statement->end - statement->begin};
    size_t close = text.size;
    while (close && text.data[close - 1] != ')')
        close--;
    if (!close)
        return;
    Text to = {0};
    text_add(&to, text.data, close - 1);
    text_str(&to, module->functions[statement->what].parameter_count ? STR(", ") : STR(""));
    text_str(&to, STR(".param .b64 _"));
    text_add(&to, text.data + close - 1, text.size - close + 1);
    ptx_edit_replace(edits, index, (Str){to.data, to.size});
    text_free(&to);
}

void calls_edit_declarations(PtxEdits *edits, const Calls *calls) {
    const PtxModule *module = calls->module;
    for (uint32_t i = 0; i < module->functions_count; i++) {
        const PtxFunction *function = &module->functions[i];
        uint32_t definition = function->name == PTX_NONE ? PTX_NONE : calls->definitions[function->name];
        if (definition != PTX_NONE && calls->hands[definition])
            ptx_edit_parameter(edits, i, STR(".param .b64 weir_state"));
    }
    for (uint32_t i = 0; i < module->statements_count; i++)
        if (module->statements[i].kind == PTX_PROTOTYPE)
            edit_prototype(edits, i);
}

/* ---- Code -------------------------------------------------------------------------------------------------- */

void write_launch(InstrumentCode *code, const char *to) {
    bool entry = !code->body && code->analysis->module->functions[code->analysis->function].entry;
    code_say(code, entry ? "ld.param.b64 %s, [weir_launch]" : "mov.b64 %s, ~launch", to);
}

void write_state_start(InstrumentCode *code) {
    code_say(code, "ld.param.b64 ~state, [weir_state]");
    code_say(code, "ld.b64 ~launch, [~state+%u]", STATE_LAUNCH);
    code_say(code, "ld.b32 ~tag, [~state+%u]", STATE_TAG);
    code_say(code, "mov.b32 ~zero, 0");
    write_state_back(code);
}

void write_state(InstrumentCode *code) {
    code_say(code, "st.b64 [~state+%u], ~ptr", STATE_PTR);
    code_say(code, "st.b32 [~state+%u], ~count", STATE_COUNT);
}

void write_state_back(InstrumentCode *code) {
    code_say(code, "ld.b64 ~ptr, [~state+%u]", STATE_PTR);
    code_say(code, "ld.b32 ~count, [~state+%u]", STATE_COUNT);
}

void write_state_made(InstrumentCode *code) {
    code_say(code, ".local .align 16 .b8 weir_state[%u]", STATE_BYTES);
    code_say(code, "mov.u64 ~state, weir_state");
    code_say(code, "cvta.local.u64 ~state, ~state");
    write_launch(code, "~e0");
    code_say(code, "st.b64 [~state+%u], ~e0", STATE_LAUNCH);
    code_say(code, "st.b32 [~state+%u], ~tag", STATE_TAG);
}

/* The call, with one more argument. */
static void write_call(InstrumentCode *code, uint32_t index) {
    const PtxModule *module = code->analysis->module;
    const PtxStatement *statement = &module->statements[index];
    uint32_t count, callee = callee_of(module, statement);
    const PtxOperand *operands = ptx_operands(module, statement, &count);
    Text to = {0};
    if (statement->flags & PTX_GUARDED)
        text_addf(&to, "@%s%s ", statement->flags & PTX_NEGATED ? "!" : "", operand_text(code, statement->first));
    text_str(&to, module->forms[statement->what].text);
    bool listed = false;
    for (uint32_t i = 0; i < count; i += ptx_extent(&operands[i])) {
        bool arguments = operands[i].kind == PTX_LIST && &operands[i] > &module->operands[callee];
        bool behind = &operands[i] > &module->operands[callee];
        if (behind && !arguments && !listed) { /* a prototype, and no arguments */
            text_str(&to, STR(", (~state)"));
            listed = true;
        }
        text_str(&to, i ? STR(", ") : STR(" "));
        ptx_print_operand(module, &operands[i], &to);
        if (arguments) {
            to.size--;
            text_str(&to, operands[i].a ? STR(", ~state)") : STR("~state)"));
            listed = true;
        }
    }
    if (!listed)
        text_str(&to, STR(", (~state)"));
    code_say(code, "%.*s", (int)to.size, to.data);
    text_free(&to);
}

/* What the call has to leave room for. */
static uint32_t needs_behind(const InstrumentCode *code, uint32_t statement) {
    const PtxFlow *flow = &code->analysis->flow;
    for (uint32_t i = 0; i < flow->instruction_count; i++)
        if (flow->instructions[i] == statement)
            return code->plan->call_needs[i];
    return 0;
}

void write_calls(InstrumentCode *code) {
    const PtxFunction *function = &code->analysis->module->functions[code->analysis->function];
    for (uint32_t i = function->begin; i < function->end; i++) {
        const PtxStatement *statement = &code->analysis->module->statements[i];
        bool returns = !function->entry && statement->kind == PTX_INSTRUCTION &&
                       code->analysis->module->forms[statement->what].evaluator == PTX_EVALUATE_RETURN;
        if (returns) {
            write_state(code);
            code_put(code, i, false);
        }
        if (!call_hands(code->analysis->calls, i))
            continue;
        code_stand(code, i);
        write_state(code);
        code_put(code, i, false);
        write_call(code, i);
        ptx_edit_replace(code->edits, i, (Str){code->text.data, code->text.size});
        code->text.size = 0;
        write_state_back(code);
        if (needs_behind(code, i))
            write_room(code, needs_behind(code, i));
        code_put(code, i, true);
    }
}
