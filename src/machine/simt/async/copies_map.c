/* Tensor maps that a kernel makes itself: tensormap.replace, and the copy of one to global memory with its proxy fence.
 */
#include "machine/simt/async/copies.h"

enum { MAP_ALIGN = 64 };

typedef struct ReplaceDetail {
    const PtxArgument *map, *ordinal, *value;
    PtxSpace space;
    TensorMapField field;
} ReplaceDetail;

static PtxStep replace_lane(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane) {
    const ReplaceDetail *detail = code->detail;
    uint8_t bytes[TENSORMAP_BYTES], states[TENSORMAP_BYTES];
    PtxLocation locations[PTX_LANES] = {0};
    PtxStep step = PTX_STEP_NEXT;
    uint64_t ordinal = 0, value = 0;
    bool keeps = !machine->plays;
    if ((keeps && detail->ordinal && !lane_value(machine, group, code, detail->ordinal, lane, &ordinal, &step)) ||
        (keeps && !lane_value(machine, group, code, detail->value, lane, &value, &step)))
        return step;
    if (!find_location(machine, group, code, detail->map, detail->space, lane, TENSORMAP_BYTES, MAP_ALIGN,
                       RULE_TMA_MAP_MEMORY, &locations[lane]))
        return failed(machine);
    ptx_emit(
        machine,
        &(PtxEvent){.kind = PTX_EVENT_ACCESS,
                    .code = code,
                    .warp = group->warp,
                    .lanes = 1u << lane,
                    .access = {.kind = KIND_WRITE, .element = TENSORMAP_BYTES, .bytes = TENSORMAP_BYTES, .used = ~0u},
                    .locations = locations,
                    .location_count = PTX_LANES,
                    .changes = 1u << lane});
    if (!keeps)
        return step;
    ptx_load_bytes(machine, locations[lane], TENSORMAP_BYTES, bytes, states);
    for (unsigned i = 0; i < TENSORMAP_BYTES; i++)
        if (states[i] != BYTE_KNOWN)
            return ptx_stop(machine, code, "the tensor map that it changes is not known");
    if (!tensormap_replace(bytes, detail->field, (unsigned)ordinal, value))
        return ptx_fault(machine, group, RULE_TMA_MAP_MEMORY, code, 1u << lane,
                         machine_sentence(machine, "what it changes is no tensor map, or its field cannot be %llu",
                                          (unsigned long long)value));
    ptx_store_bytes(machine, locations[lane], TENSORMAP_BYTES, bytes, states);
    return step;
}

static PtxStep replace_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    return ptx_lane_by_lane(machine, group, code, lanes, replace_lane);
}

static bool replace_prepare(const PtxPrepare *about, PtxCode *code) {
    static const struct {
        const char *name;
        bool ordinal;
    } fields[] = {[TENSORMAP_ADDRESS] = {"global_address", false},
                  [TENSORMAP_RANK] = {"rank", false},
                  [TENSORMAP_BOX] = {"box_dim", true},
                  [TENSORMAP_SIZE] = {"global_dim", true},
                  [TENSORMAP_STRIDE] = {"global_stride", true},
                  [TENSORMAP_ELEMENT_STRIDE] = {"element_stride", true},
                  [TENSORMAP_TYPE] = {"elemtype", false},
                  [TENSORMAP_INTERLEAVE] = {"interleave_layout", false},
                  [TENSORMAP_SWIZZLE] = {"swizzle_mode", false},
                  [TENSORMAP_ATOMICITY] = {"swizzle_atomicity", false},
                  [TENSORMAP_FILL] = {"fill_mode", false}};
    ReplaceDetail detail = {.map = code_argument(about->program, code, 0), .space = space_of(code)};
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++)
        if (code_has(code, str_of(fields[i].name))) {
            detail.field = (TensorMapField)i;
            detail.ordinal = fields[i].ordinal ? code_argument(about->program, code, 1) : NULL;
            detail.value = code_argument(about->program, code, fields[i].ordinal ? 2 : 1);
            return take_code(about, code, replace_run, &detail, sizeof detail);
        }
    return false;
}

/* ---- To global memory --------------------------------------------------------------------------- */

typedef struct PublishDetail {
    const PtxArgument *to, *from, *size;
    PtxSpace from_space;
    uint8_t order, scope;
} PublishDetail;

/* The warp copies one map together; its addresses are the same in all lanes. */
static PtxStep publish_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const PublishDetail *detail = code->detail;
    uint8_t bytes[TENSORMAP_BYTES], states[TENSORMAP_BYTES];
    uint32_t lane = (uint32_t)__builtin_ctz(lanes);
    PtxLocation from[PTX_LANES] = {0}, to[PTX_LANES] = {0};
    PtxStep step = PTX_STEP_NEXT;
    if (!runs_together(machine, group, code, lanes, &step))
        return step;
    if (!find_location(machine, group, code, detail->from, detail->from_space, lane, TENSORMAP_BYTES, 128,
                       RULE_TMA_MAP_MEMORY, &from[lane]) ||
        !find_location(machine, group, code, detail->to, PTX_SPACE_GLOBAL, lane, TENSORMAP_BYTES, 128,
                       RULE_TMA_MAP_MEMORY, &to[lane]))
        return failed(machine);
    PtxEvent event = {.kind = PTX_EVENT_ACCESS,
                      .code = code,
                      .warp = group->warp,
                      .lanes = 1u << lane,
                      .access = {.kind = KIND_READ, .element = 16, .bytes = TENSORMAP_BYTES, .used = ~0u},
                      .locations = from,
                      .location_count = PTX_LANES,
                      .changes = 1u << lane};
    ptx_emit(machine, &event);
    event.access.kind = KIND_WRITE;
    event.locations = to;
    ptx_emit(machine, &event);
    copy_load(machine, code, from[lane], TENSORMAP_BYTES, bytes, states);
    for (unsigned i = 0; i < TENSORMAP_BYTES; i++)
        states[i] = states[i] == BYTE_NEVER ? BYTE_UNKNOWN : states[i];
    ptx_store_bytes(machine, to[lane], TENSORMAP_BYTES, bytes, states);
    ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_FENCE,
                                  .code = code,
                                  .warp = group->warp,
                                  .lanes = lanes,
                                  .order = detail->order,
                                  .scope = detail->scope,
                                  .proxy = PROXY_TENSORMAP,
                                  .space = PTX_SPACE_GLOBAL});
    return PTX_STEP_NEXT;
}

bool map_prepare(const PtxPrepare *about, PtxCode *code) {
    const PtxEffect *read = effect_with(about, EFFECT_READ), *write = effect_with(about, EFFECT_WRITE),
                    *fence = effect_with(about, EFFECT_FENCE_PROXY), *update = effect_with(about, EFFECT_UPDATE);
    if (update && update->effect.count == TENSORMAP_BYTES && code_has(code, STR("b1024")))
        return replace_prepare(about, code);
    if (!read || !write || !fence || fence->effect.proxy != PROXY_TENSORMAP)
        return false;
    PublishDetail detail = {.to = named_argument(about, code, write->on),
                            .from = named_argument(about, code, read->on),
                            .from_space = effect_space(read),
                            .order = (uint8_t)fence->effect.order,
                            .scope = (uint8_t)fence->effect.scope};
    return detail.to && detail.from && take_code(about, code, publish_run, &detail, sizeof detail);
}
