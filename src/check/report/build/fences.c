/* Proxy fences beside the buffers that they are for: the first one that a partition executes after an ordinary write to
 * memory that asynchronous ops reach, too. Whether it is enough, weir lint decides; a missing one is a finding. */
#include "check/report/build/internal.h"

/* Ordinary writes that no fence has come after yet. */
typedef struct FencePending {
    const Op **writes; /* by buffer; NULL: none */
    bool *async;       /* by buffer: asynchronous ops reach it */
    size_t *buffers;   /* those that have a write */
    size_t count;
} FencePending;

static size_t buffer_of(Builder *builder, const Effect *effect) {
    const Op *root =
        effect_is_local(effect) && effect->space == SPACE_SHARED ? data_root(builder->module, effect->on) : NULL;
    return root ? builder_find_buffer(builder, root) : SIZE_MAX;
}

static void find_async(Builder *builder, FencePending *pending) {
    Effect effects[EFFECTS_MOST];
    for (const Op *op = builder->function; op; op = op_next_in_walk(op, builder->function)) {
        unsigned count = effects_of(builder->module, op, effects);
        for (unsigned i = 0; i < count; i++) {
            size_t index = effects[i].proxy == PROXY_ASYNC ? buffer_of(builder, &effects[i]) : SIZE_MAX;
            if (index != SIZE_MAX)
                pending->async[index] = true;
        }
    }
}

static void note_write(Builder *builder, FencePending *pending, const Op *op, const Effect *effect) {
    bool ordinary = effect->verb != EFFECT_READ && effect->proxy == PROXY_GENERIC;
    size_t index = ordinary ? buffer_of(builder, effect) : SIZE_MAX;
    if (index == SIZE_MAX || !pending->async[index])
        return;
    if (!pending->writes[index])
        pending->buffers[pending->count++] = index;
    pending->writes[index] = op;
}

/* "proxy fence after the write at IR line 355: partition2, IR line 356 (softmax.py:164): ttng.fence_async_shared" */
static void report_fence(Builder *builder, ReportBuffer *buffer, const Op *fence, const Op *write) {
    ReportPlace at = builder_place(builder, fence), written = builder_place(builder, write);
    Text text = {0};
    text_addf(&text, "proxy fence after the write at IR line %u: %s, IR line %u", written.ir_line, at.partition,
              at.ir_line);
    if (*at.file && at.line) {
        const char *slash = strrchr(at.file, '/');
        text_addf(&text, " (%s:%u)", slash ? slash + 1 : at.file, at.line);
    }
    text_addf(&text, ": %s", at.op);
    builder_note(builder, buffer, verdict_keep(builder->verdict, &text));
}

static void note_fence(Builder *builder, FencePending *pending, const Op *fence) {
    size_t kept = 0;
    for (size_t i = 0; i < pending->count; i++) {
        size_t index = pending->buffers[i];
        const Op *write = pending->writes[index];
        if (builder_runners(builder, write) != builder_runners(builder, fence)) {
            pending->buffers[kept++] = index;
            continue;
        }
        report_fence(builder, &builder->buffers[index], fence, write);
        pending->writes[index] = NULL;
    }
    pending->count = kept;
}

void report_fences(Builder *builder) {
    Arena *arena = builder->verdict->arena;
    FencePending pending = {.writes = ARENA_ARRAY(arena, const Op *, builder->buffer_count + 1),
                            .async = ARENA_ARRAY(arena, bool, builder->buffer_count + 1),
                            .buffers = ARENA_ARRAY(arena, size_t, builder->buffer_count + 1)};
    Effect effects[EFFECTS_MOST];
    find_async(builder, &pending);
    for (const Op *op = builder->function; op; op = op_next_in_walk(op, builder->function)) {
        unsigned count = effects_of(builder->module, op, effects);
        for (unsigned i = 0; i < count; i++) {
            if (effects[i].verb == EFFECT_FENCE_PROXY && effects[i].proxy == PROXY_ASYNC)
                note_fence(builder, &pending, op);
            else
                note_write(builder, &pending, op, &effects[i]);
        }
    }
}
