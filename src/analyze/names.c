/* Placeholder until the real one lands. */
#include "analyze/names.h"
struct Names {
    Arena *arena;
};
Names *names_create(Arena *arena, Module *module, const Op *function) {
    (void)module;
    (void)function;
    Names *n = ARENA_NEW(arena, Names);
    n->arena = arena;
    return n;
}
const char *value_text(Arena *arena, const Value *value) {
    Text t = {0};
    text_addf(&t, "%%");
    if (value->name)
        text_str(&t, value->name->text);
    const char *kept = arena_copy(arena, t.data ? t.data : "", t.size);
    text_free(&t);
    return kept;
}
const char *name_of(Names *names, const Op *op) {
    return op->result_count ? value_text(names->arena, &op->results[0]) + 1 : "";
}
const char *operand_name(Names *names, const Value *value) {
    return value_text(names->arena, value) + 1;
}
