/* Parts of allocations that have names of their own: columns packed into a larger accumulator, a staging buffer laid
 * over an operand's. */
#include "base/order.h"
#include "check/report/coverage/coverage_internal.h"

#include <stdlib.h>

enum { MOST_PARTS = 128 };

/* What the text calls a part: by the view next to an access that has a name, or the first of its views that has one. */
static const char *base_of(Builder *builder, CoverageBuffer *part) {
    if (part->base)
        return part->base;
    part->base = part->label ? given_name_of(builder->names, part->label) : "";
    bool backings = strcmp(part->base, given_name_of(builder->names, part->backing->op)) == 0;
    for (uint32_t i = 0; i < part->view_count && (backings || !*part->base); i++) {
        part->base = given_name_of(builder->names, part->views[i]);
        backings = false;
    }
    return part->base;
}

static const char *extent_of(Builder *builder, const CoverageBuffer *part) {
    int64_t from = part->backing->box.begin;
    return builder_extent(builder, part->backing->allocation->space, part->box.begin - from, part->box.end - from);
}

/* Whether something else of the report has the name, or could have: other parts of that name come later. */
static bool is_shared_name(const Coverage *coverage, Builder *builder, CoverageBuffer *part, const char *name) {
    for (size_t i = 0; i < builder->buffer_count; i++)
        if (strcmp(builder->buffers[i].name, name) == 0)
            return true;
    for (CoverageBuffer *other = coverage->buffers; other; other = other->next)
        if (other != part && buffer_is_part(other) && strcmp(base_of(builder, other), name) == 0)
            return true;
    return false;
}

/* What all that is stored there is called; "" if it has no name, or several. */
static const char *name_from_stores(const Coverage *coverage, Builder *builder, const CoverageBuffer *part) {
    const char *found = "";
    for (const CoverageTouch *touch = coverage->listed; touch; touch = touch->next) {
        const Effect *effect = &touch->effect->effect;
        if (touch->area->buffer != part || effect->verb != EFFECT_WRITE || !effect->value)
            continue;
        const char *name = stored_name(builder->names, effect->value);
        if (*found && strcmp(found, name) != 0)
            return "";
        found = name;
    }
    return found;
}

static bool is_taken(const Coverage *coverage, const char *name) {
    for (const CoverageBuffer *other = coverage->buffers; other; other = other->next)
        if (other->name && strcmp(other->name, name) == 0)
            return true;
    return false;
}

static const char *name_part(const Coverage *coverage, Builder *builder, CoverageBuffer *part) {
    const char *owner = name_of(builder->names, part->backing->allocation->op);
    const char *name = base_of(builder, part), *extent = extent_of(builder, part);
    bool shared = *name && is_shared_name(coverage, builder, part, name);
    if (!*name || strcmp(name, owner) == 0 || shared) {
        const char *stored = name_from_stores(coverage, builder, part);
        if (*stored && !is_shared_name(coverage, builder, part, stored) && !is_taken(coverage, stored))
            return stored;
        name = shared ? verdict_text(builder->verdict, "%s (%s, %s)", name, owner, extent)
                      : verdict_text(builder->verdict, "%s[%s]", owner, extent);
    }
    return is_taken(coverage, name)
               ? verdict_text(builder->verdict, "%s, IR line %u", name, op_line(builder->module, part->views[0]))
               : name;
}

const char *coverage_buffer_name(Coverage *coverage, Builder *builder, CoverageBuffer *buffer) {
    if (!buffer_is_part(buffer))
        return name_of(builder->names, buffer->backing->op);
    if (!buffer->name)
        buffer->name = name_part(coverage, builder, buffer);
    return buffer->name;
}

static void add_user(const Coverage *coverage, Builder *builder, const CoverageTouch *touch, bool writes,
                     ReportBuffer *buffer) {
    if (agent_cta(coverage->machine, touch->agent))
        return;
    ReportPlace place = builder_place(builder, coverage->machine->program->ops[touch->pc]);
    place.partition = builder_agent(builder, touch->agent);
    builder_add_place(builder, writes ? &buffer->writers : &buffer->readers,
                      writes ? &buffer->writer_count : &buffer->reader_count, place);
}

ORDER(compare_places, ReportPlace, BY(ir_line) BY_TEXT(partition))

static void sort_places(Builder *builder, const ReportPlace **places, size_t count) {
    ReportPlace *sorted = ARENA_ARRAY(builder->arena, ReportPlace, count + 1);
    if (count)
        memcpy(sorted, *places, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_places);
    *places = sorted;
}

/* Who writes and reads the part; and who writes, or reads, under another name what is read, or written, under this. */
static void add_users(const Coverage *coverage, Builder *builder, const CoverageBuffer *part, ReportBuffer *buffer) {
    for (const CoverageTouch *touch = coverage->listed; touch; touch = touch->next) {
        if (touch->area->buffer != part)
            continue;
        if (touch->effect->effect.verb != EFFECT_READ)
            add_user(coverage, builder, touch, true, buffer);
        if (touch->effect->effect.verb != EFFECT_WRITE)
            add_user(coverage, builder, touch, false, buffer);
    }
    for (uint32_t i = 0; i < coverage->pairs.capacity; i++) {
        const CoveragePair *pair = &coverage->pairs.items[i];
        if (pair->flows && pair->read->area->buffer == part)
            add_user(coverage, builder, pair->write, true, buffer);
        if (pair->flows && pair->write->area->buffer == part)
            add_user(coverage, builder, pair->read, false, buffer);
    }
    sort_places(builder, &buffer->writers, buffer->writer_count);
    sort_places(builder, &buffer->readers, buffer->reader_count);
}

static void note_other_names(Builder *builder, CoverageBuffer *part, ReportBuffer *buffer) {
    const char *base = base_of(builder, part);
    for (uint32_t i = 0; i < part->view_count; i++) {
        const char *other = given_name_of(builder->names, part->views[i]);
        bool again = !*other || strcmp(other, base) == 0;
        for (uint32_t k = 0; k < i && !again; k++)
            again = strcmp(other, given_name_of(builder->names, part->views[k])) == 0;
        if (!again)
            builder_note(builder, buffer, verdict_text(builder->verdict, "also called %s", other));
    }
}

static void add_part(Coverage *coverage, Builder *builder, CoverageBuffer *part) {
    const Op *view = part->views[0];
    const Backing *backing = part->backing;
    Space space = backing->allocation->space;
    size_t whole = builder_find_buffer(builder, backing->allocation->op);
    ReportBuffer *buffer = builder_buffer(builder, view, view->result_count ? &view->results[0] : NULL,
                                          coverage_buffer_name(coverage, builder, part), space);
    buffer->size = space == SPACE_TENSOR ? part->box.end - part->box.begin : part->size;
    buffer->id = whole == SIZE_MAX ? -1 : builder->buffers[whole].id;
    buffer->depth = whole == SIZE_MAX ? 1 : builder->buffers[whole].depth;
    builder_note(builder, buffer,
                 verdict_text(builder->verdict, "is %s of %s: the same memory under another name",
                              extent_of(builder, part), name_of(builder->names, backing->allocation->op)));
    note_other_names(builder, part, buffer);
    add_users(coverage, builder, part, buffer);
}

void coverage_parts(Coverage *coverage, Builder *builder) {
    CoverageBuffer *parts[MOST_PARTS];
    size_t count = 0;
    for (CoverageBuffer *buffer = coverage ? coverage->buffers : NULL; buffer && count < MOST_PARTS;
         buffer = buffer->next)
        if (buffer_is_part(buffer))
            parts[count++] = buffer;
    for (size_t i = count; i-- > 0;) /* before any of them is in the report: it is asked for those names too */
        (void)coverage_buffer_name(coverage, builder, parts[i]);
    while (count) /* the first that was met stands last */
        add_part(coverage, builder, parts[--count]);
}
