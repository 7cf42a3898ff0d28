/* What a call does, as accesses of the caller: the callee's summary, moved to where its frame lies in the caller's, and
 * with the memory that the call hands over in place of the callee's arguments. */
#include "check/membar/internal.h"

typedef struct Translation {
    Membar *caller;
    const Membar *callee;
    const Op *call;
    int64_t frame;
    bool placed;
    uint32_t *buffers; /* by buffer of the callee: of the caller, plus 1 */
} Translation;

/* A buffer of the callee's frame. Tensor memory has no frames: it may be anywhere. */
static uint32_t translate_buffer(Translation *translation, uint32_t index) {
    if (translation->buffers[index])
        return translation->buffers[index] - 1;
    MembarBuffer buffer = translation->callee->buffers[index];
    uint32_t found;
    if (buffer.space == SPACE_TENSOR || buffer.everywhere || !translation->placed) {
        found = membar_somewhere(translation->caller, buffer.space);
    } else {
        buffer.begin += translation->frame;
        buffer.end += translation->frame;
        found = membar_add_buffer(translation->caller, buffer);
    }
    translation->buffers[index] = found + 1;
    return found;
}

static void add_access(Translation *translation, Access access, uint32_t buffer) {
    access.buffer = buffer;
    membar_add_access(translation->caller, access);
}

/* Indices and barriers are the callee's: they say nothing to the caller. */
static uint32_t translate(Translation *translation, uint32_t index) {
    Membar *caller = translation->caller;
    Access access = translation->callee->accesses[index];
    const MembarBuffer *buffer = &translation->callee->buffers[access.buffer];
    uint32_t before = caller->access_count;
    access.slot = NULL;
    access.ring = NULL;
    access.through = NULL;
    if (!buffer->of_caller) {
        add_access(translation, access, translate_buffer(translation, access.buffer));
        return caller->access_count - before;
    }
    access.offsets = NULL;
    const Op *call = translation->call;
    OriginSet set = {.anything = true};
    if (buffer->argument < call->operand_count)
        set = origins_find(&caller->origins, call->operands[buffer->argument]);
    if (set.anything)
        add_access(translation, access, membar_somewhere(caller, buffer->space));
    for (uint32_t i = 0; i < set.count && !set.anything; i++)
        add_access(translation, access, caller->buffer_of[set.items[i]]);
    return caller->access_count - before;
}

static void translate_exit(Translation *translation, const MembarState *exit, CallEffect *effect) {
    const Access *accesses = translation->callee->accesses;
    effect->first_exit = translation->caller->access_count;
    for (uint32_t i = 0; i < exit->count; i++) {
        const Entry *entry = &exit->entries[i];
        const Access *access = &accesses[entry->access];
        if (access->foreign && !entry->flying)
            effect->promotes[access->group] = true;
        else if (!entry->flying)
            effect->exit_count += translate(translation, entry->access);
    }
}

static void translate_outstanding_ops(Translation *translation, const MembarState *exit, CallEffect *effect) {
    const Membar *callee = translation->callee;
    for (int group = 0; group < GROUP_KINDS; group++)
        effect->awaits[group] = callee->foreign[group] != 0;
    uint8_t(*ages)[2] = arena_alloc(translation->caller->arena, (exit->count * (ORIGINS_MOST + 1) + 1) * sizeof *ages);
    effect->first_outstanding = translation->caller->access_count;
    effect->ages = (const uint8_t(*)[2])ages;
    for (uint32_t i = 0; i < exit->count; i++) {
        const Entry *entry = &exit->entries[i];
        const Access *access = &callee->accesses[entry->access];
        if (entry->flying && access->foreign)
            effect->awaits[access->group] = false;
        if (!entry->flying || access->foreign)
            continue;
        for (uint32_t left = translate(translation, entry->access); left; left--) {
            ages[effect->outstanding_count][0] = (uint8_t)entry->young;
            ages[effect->outstanding_count++][1] =
                (uint8_t)(entry->old < callee->age_most ? entry->old : (int32_t)AGE_MOST);
        }
    }
}

const CallEffect *membar_call(Membar *caller, const Op *call, const Membar *callee) {
    uint32_t placed = pointers_get(&caller->framed, call);
    Translation translation = {.caller = caller,
                               .callee = callee,
                               .call = call,
                               .frame = placed == NO_NUMBER ? 0 : caller->placements.items[placed].begin,
                               .placed = placed != NO_NUMBER,
                               .buffers = ARENA_ARRAY(caller->arena, uint32_t, callee->buffer_count + 1)};
    CallEffect *effect = ARENA_NEW(caller->arena, CallEffect);
    const MembarState *exit = callee->summary.exit;
    effect->first_entry = caller->access_count;
    for (uint32_t i = 0; i < callee->summary.entry_count; i++)
        effect->entry_count += translate(&translation, callee->summary.entry[i]);
    effect->synced = !exit || exit->synced;
    if (exit) {
        translate_exit(&translation, exit, effect);
        translate_outstanding_ops(&translation, exit, effect);
    }
    return effect;
}
