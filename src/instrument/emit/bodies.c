/* Code that many places of a module need, as functions that they call.
 *
 * ptxas takes about as long for each instruction, and longer the more blocks a kernel has; a call is few, and one
 * block. Of a function that is called it makes a copy for each kernel, whose registers are those that the kernel leaves
 * free: nothing is saved on a stack. */
#include "instrument/internal.h"

enum { MOST_TAKEN = 12, MOST_IN_PLACE = 64 };

void write_tag(InstrumentCode *code) {
    code_say(code, "and.b32 ~tag, ~t4, 0x%x", ~record_word(0, 15, RECORD_SITES - 1));
}

static void write_chunk_body(InstrumentCode *code) {
    write_refill_alone(code, 0);
}

static void write_small_body(InstrumentCode *code) {
    write_tag(code);
    write_lane_body(code, false);
}

static void write_large_body(InstrumentCode *code) {
    write_tag(code);
    write_lane_body(code, true);
}

/* All give ~ptr; those of groups ~count, too. */
typedef struct BodyRow {
    const char *name;
    const char *takes[MOST_TAKEN]; /* parameters: type and register */
    bool counts;
    void (*write)(InstrumentCode *code);
} BodyRow;
#define GROUP_TAKES "b64 ~ptr", "b64 ~launch", "b32 ~t4", "b32 ~count", "b32 ~mask", "b32 ~limit"
#define LANE_TAKES \
    "b64 ~ptr", "b64 ~launch", "b32 ~t4", "b32 ~count", "b32 ~limit", "b64 ~d1", "b32 ~time", "b32 ~lo", "b64 ~written"
static const BodyRow rows[BODY_COUNT] = {
    [BODY_CHUNK] = {"weir_chunk", {"b64 ~ptr", "b64 ~launch", "b32 ~tag", "b32 ~count"}, false, write_chunk_body},
    [BODY_FOUR] = {"weir_four",
                   {GROUP_TAKES, "b32 ~what", "b32 ~rest", "b64 ~g0", "b64 ~g1", "b64 ~g2", "b64 ~g3"},
                   true,
                   write_group_body},
    [BODY_LANE] = {"weir_lane", {LANE_TAKES}, false, write_small_body},
    [BODY_LANE_LARGE] = {"weir_lane_large", {LANE_TAKES, "b32 ~hi", "b64 ~upper"}, false, write_large_body},
};
/* Bytes of what those give that count. */
enum { GIVES_COUNT = 8, GIVES_BYTES = 16 };

/* How many values are recorded where a part of a warp may come: in place each is some 40 instructions. */
static uint32_t values_apart(const InstrumentPlan *plan) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->count; i++)
        count += plan->steps[i].how == STEP_APART ? plan->steps[i].site->part_count + 1U : 0;
    return count;
}

/* Kernels run faster with code in place. In kernels with calls ptxas serializes wgmmas, and where a thread's registers
 * are counted, it saves some on a stack. */
bool bodies_fit(const InstrumentPlan *plan) {
    const FunctionAnalysis *analysis = plan->analysis;
    PtxEffect effects[PTX_EFFECTS_MOST];
    if (values_apart(plan) <= MOST_IN_PLACE)
        return false;
    for (uint32_t i = 0; i < analysis->flow.instruction_count; i++) {
        unsigned count =
            look_acts(analysis, i) ? ptx_effects_of(analysis->module, look_statement(analysis, i), effects) : 0;
        for (unsigned k = 0; k < count; k++)
            if (effects[k].effect.verb == EFFECT_REGISTERS || effects[k].effect.verb == EFFECT_FENCE_REGISTERS)
                return false;
    }
    return true;
}

void write_body_call(InstrumentCode *code, Body body, const char *format, ...) {
    Text taken = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vaddf(&taken, format, arguments);
    va_end(arguments);
    if (!rows[body].counts) {
        code_say(code, "call (~ptr), %s, (%.*s)", rows[body].name, (int)taken.size, taken.data);
    } else {
        code_say(code, "{ .param .align 8 .b8 weir_to[%u]", GIVES_BYTES);
        code_say(code, "call (weir_to), %s, (%.*s)", rows[body].name, (int)taken.size, taken.data);
        code_say(code, "ld.param.b64 ~ptr, [weir_to]");
        code_say(code, "ld.param.b32 ~count, [weir_to+%u]", GIVES_COUNT);
        code_close(code);
    }
    text_free(&taken);
    code->bodies[body] = true;
}

void write_chunk_call(InstrumentCode *code) {
    write_launch(code, "~e0");
    write_body_call(code, BODY_CHUNK, "~ptr, ~e0, ~tag, ~count");
}

void write_body_room(InstrumentCode *code, const char *predicate) {
    code_say(code, "cvt.u32.u64 ~t1, ~ptr");
    code_say(code, "and.b32 ~t1, ~t1, %u", code->chunk - 1);
    code_say(code, "setp.gt%s.u32 ~p2, ~t1, ~limit%s%s", *predicate ? ".and" : "", *predicate ? ", " : "", predicate);
    Cold cold = cold_begin(code, "~p2", false);
    write_chunk_call(code);
    cold_end(code, cold);
}

static void write_body(InstrumentCode *code, const BodyRow *row, Text *to) {
    if (row->counts)
        text_addf(to, ".func (.param .align 8 .b8 weir_gives[%u]) %s(", GIVES_BYTES, row->name);
    else
        text_addf(to, ".func (.param .b64 weir_gives) %s(", row->name);
    for (unsigned i = 0; i < MOST_TAKEN && row->takes[i]; i++) {
        text_addf(to, "%s.param .%.3s weir_%u", i ? ", " : "", row->takes[i], i);
        code_say(code, "ld.param.%.3s %s, [weir_%u]", row->takes[i], row->takes[i] + 4, i);
    }
    row->write(code);
    code_say(code, "st.param.b64 [weir_gives], ~ptr");
    if (row->counts) {
        code_say(code, "st.param.b32 [weir_gives+%u], ~count", GIVES_COUNT);
    }
    code_say(code, "ret");
    text_str(to, STR(")\n{\n"));
    code_declare(code, to);
    text_addf(to, "\t%.*s\n}\n", (int)code->text.size, code->text.data);
}

void write_bodies(PtxEdits *edits, bool *bodies, uint32_t chunk, uint32_t *labels, Str prefix) {
    Text text = {0};
    for (unsigned i = 0; i < BODY_COUNT; i++)
        bodies[BODY_CHUNK] |= bodies[i];
    for (unsigned i = 0; i < BODY_COUNT; i++) {
        InstrumentCode code = {
            .edits = edits, .chunk = chunk, .labels = labels, .prefix = prefix, .body = true, .inner = true};
        code.bodies = bodies;
        code.to = &code.text;
        if (bodies[i])
            write_body(&code, &rows[i], &text);
        text_free(&code.text);
    }
    if (text.size)
        ptx_edit_top(edits, (Str){text.data, text.size});
    text_free(&text);
}
