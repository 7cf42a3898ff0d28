/* Parts of allocations that have names of their own: columns packed into a larger accumulator, a staging buffer laid
 * over an operand's. */
#include "analyze/coverage_internal.h"

enum { MOST_PARTS = 128 };

static bool is_named_part(const Buffer *buffer) {
    return !buffer->whole && buffer->view_count;
}

const char *coverage_buffer_name(Builder *builder, const Buffer *buffer) {
    const char *name = "";
    for (uint32_t i = 0; i < buffer->view_count && !buffer->whole; i++) {
        const char *other = name_of(builder->names, buffer->views[i]);
        if (!*name || (*name == '%' && *other && *other != '%'))
            name = other;
    }
    return *name ? name : name_of(builder->names, buffer->carrier->op);
}

bool coverage_is_part(const Coverage *coverage, const Op *op, const Value *on) {
    if (!coverage)
        return false;
    for (const Touch *touch = coverage->listed; touch; touch = touch->next)
        if (touch->effect->effect.on == on && coverage->machine->program->ops[touch->pc] == op)
            return is_named_part(touch->area->buffer);
    return false;
}

static void add_users(const Coverage *coverage, Builder *builder, const Buffer *part, ReportBuffer *buffer) {
    for (const Touch *touch = coverage->listed; touch; touch = touch->next) {
        if (touch->area->buffer != part || agent_cta(coverage->machine, touch->agent))
            continue;
        ReportPlace place = builder_place(builder, coverage->machine->program->ops[touch->pc]);
        place.partition = builder_agent(builder, touch->agent);
        if (touch->effect->effect.verb != EFFECT_READ)
            builder_add_place(builder, &buffer->writers, &buffer->writer_count, place);
        if (touch->effect->effect.verb != EFFECT_WRITE)
            builder_add_place(builder, &buffer->readers, &buffer->reader_count, place);
    }
}

static void add_part(const Coverage *coverage, Builder *builder, const Buffer *part) {
    const Op *view = part->views[0];
    const Carrier *carrier = part->carrier;
    bool tensor = carrier->allocation->space == SPACE_TENSOR;
    size_t whole = builder_find_buffer(builder, carrier->allocation->op);
    const char *owner = name_of(builder->names, carrier->allocation->op);
    const char *extent = verdict_text(builder->verdict, "%s %lld-%lld", tensor ? "columns" : "bytes",
                                      (long long)(part->box.begin - carrier->box.begin),
                                      (long long)(part->box.end - carrier->box.begin - 1));
    const char *name = coverage_buffer_name(builder, part);
    if (*name == '%' || strcmp(name, owner) == 0)
        name = verdict_text(builder->verdict, "%s[%s]", owner, extent);
    ReportBuffer *buffer = builder_buffer(builder, (Thing){.root = view});
    buffer->name = name;
    buffer->value = view->result_count ? value_text(builder->arena, &view->results[0]) : "";
    buffer->space = tensor ? "tensor" : "shared";
    buffer->storage = view->result_count && view->results[0].type
                          ? verdict_text(builder->verdict, "%.*s", STR_ARG(view->results[0].type->text))
                          : "";
    buffer->size = tensor ? part->box.end - part->box.begin : part->size;
    buffer->id = whole == SIZE_MAX ? -1 : builder->buffers[whole].id;
    buffer->depth = whole == SIZE_MAX ? 1 : builder->buffers[whole].depth;
    builder_add_text(builder, &buffer->notes, &buffer->note_count,
                     verdict_text(builder->verdict, "is %s of %s: the same memory under another name", extent, owner));
    add_users(coverage, builder, part, buffer);
}

void coverage_parts(const Coverage *coverage, Builder *builder) {
    const Buffer *parts[MOST_PARTS];
    size_t count = 0;
    for (const Buffer *buffer = coverage ? coverage->buffers : NULL; buffer && count < MOST_PARTS;
         buffer = buffer->next)
        if (is_named_part(buffer))
            parts[count++] = buffer;
    while (count) /* the first that was met stands last */
        add_part(coverage, builder, parts[--count]);
}
