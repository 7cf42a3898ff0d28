/* The AMD column read for one target, and the names and sizes of its counters. */
#include "model/target/amd.h"

#include "ir/optable.h"

enum { FIRST_WITH_BARRIER_OBJECTS = 1250 };

/* ---- Forms ---------------------------------------------------------------------------------------- */

/* The text up to the next "; ", which is taken off `rest`. */
static Str next_part(Str *rest) {
    const char *at = rest->data, *end = rest->data + rest->size;
    while (at < end && !(at[0] == ';' && at + 1 < end && at[1] == ' '))
        at++;
    Str part = str_between(rest->data, at);
    *rest = at < end ? str_between(at + 2, end) : (Str){end, 0};
    return part;
}

static bool take(Str *text, Str prefix) {
    if (!str_starts(*text, prefix))
        return false;
    *text = (Str){text->data + prefix.size, text->size - prefix.size};
    return true;
}

/* Of "x, from gfx1250 on y", what the target has. */
static Str form_for(Str text, bool new_target) {
    static const char since[] = ", from gfx1250 on ";
    const char *at = memmem(text.data, text.size, since, sizeof since - 1);
    if (!at)
        return text;
    return new_target ? str_between(at + sizeof since - 1, text.data + text.size) : str_between(text.data, at);
}

/* Reads "exact on gfx1250: form"; false if the target has none of it. */
static bool read_class(Str head, bool new_target, AmdForm *form) {
    form->class = take(&head, STR("exact")) ? AMD_EXACT : take(&head, STR("stage")) ? AMD_STAGE : AMD_NONE;
    bool there = form->class != AMD_NONE;
    if (take(&head, STR(" on gfx1250")))
        there = new_target;
    else if (take(&head, STR(" before gfx1250")))
        there = !new_target;
    if (there && take(&head, STR(": ")))
        form->form = form_for(head, new_target);
    else
        form->class = AMD_NONE;
    return there;
}

AmdForm amd_form_of(const Op *op, const Target *target) {
    AmdForm form = {.class = AMD_NOTHING};
    if (!op->row || !*op->row->amd)
        return form;
    Str rest = str_of(op->row->amd);
    bool new_target = target->number >= FIRST_WITH_BARRIER_OBJECTS;
    bool there = read_class(next_part(&rest), new_target, &form);
    while (rest.size) {
        Str part = next_part(&rest);
        bool why = take(&part, STR("before: ")) || take(&part, STR("since: "));
        if (why ? !there : there || !form.remark.size)
            form.remark = part;
    }
    return form;
}

const char *amd_class_name(AmdClass class) {
    static const char *const names[] = {"", "exact", "stage-level", "none"}; /* ORDER AmdClass */
    return names[class];
}

/* ---- Counters ------------------------------------------------------------------------------------- */

const char *amd_counter_name(AmdQueue queue, const Target *target) {
    switch (queue) {
    case QUEUE_LOAD:
        return target->store_counter ? "loadcnt" : "vmcnt";
    case QUEUE_ASYNC:
        return "asynccnt";
    case QUEUE_TENSOR:
    case QUEUE_MOVES:
        return "tensorcnt";
    case QUEUE_GROUPS:
        return "asyncmark";
    default:
        return "";
    }
}

unsigned amd_counter_limit(AmdQueue queue, const Target *target) {
    switch (queue) {
    case QUEUE_LOAD:
        return target->load_counter;
    case QUEUE_ASYNC:
        return target->async_counter;
    case QUEUE_TENSOR:
        return target->tensor_counter;
    default:
        return 0;
    }
}

AmdQueue amd_copy_queue(const Target *target) {
    return target->async_counter ? QUEUE_ASYNC : QUEUE_LOAD;
}
