/* Any bytes as inline assembly. Whatever they are, reading them ends without a fault: with effects on the operands of
 * the op, or with the instruction that is not known. What stands behind a text that is known is not passed over: the
 * same text with an unknown instruction at its end is not known. */
#include "mlir/reader.h"
#include "model/effect/inline_ptx.h"
#include "model/effect/unknown.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 16 << 10 };

static const char head[] = "tt.func @k(%a: !tt.ptr<i32>, %n: i32, %p: i1, %m: tensor<8xi1>, %t: tensor<8xi64>) {\n"
                           "  %r:2 = tt.elementwise_inline_asm \"",
                  tail[] = "\" {constraints = \"=r,=l,l,r,b,b,1,~{memory}\", packed_element = 1 : i32, pure = false} "
                           "%a, %n, %p, %m, %t : !tt.ptr<i32>, i32, i1, tensor<8xi1>, tensor<8xi64> -> i32, i64\n"
                           "  tt.return\n}\n",
                  /* ends a comment and a name that are open, and is no instruction */
    unknown[] = "\n*/};foo.bar;";

static void give_up(const char *why, Str text) {
    fprintf(stderr, "%s\n%.*s\n", why, (int)text.size, text.data);
    abort();
}

/* As the reader wants it between quotes. */
static void add_escaped(Text *text, const char *data, size_t size) {
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)data[i];
        if (c < ' ' || c > '~' || c == '"' || c == '\\')
            text_addf(text, "\\%02X", c);
        else
            text_char(text, (char)c);
    }
}

static bool is_operand(const Op *op, const Value *value) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (op->operands[i] == value)
            return true;
    return !value;
}

static void check_effects(Module *module, const Op *op, const Effect *effects, unsigned count, Str all) {
    Effect again[EFFECTS_MOST];
    Text words = {0};
    InlineAccess access;
    if (count > EFFECTS_MOST || effects_of(module, op, again) != count)
        give_up("the op has other effects than its text", all);
    for (unsigned i = 0; i < count; i++) {
        bool reaches = effects[i].verb <= EFFECT_UPDATE;
        if (!is_operand(op, effects[i].on) || !is_operand(op, effects[i].mask) || !is_operand(op, effects[i].predicate))
            give_up("an effect is on a value that the op is not handed", all);
        if (reaches && (!effects[i].on || effects[i].space != SPACE_GLOBAL))
            give_up("an access is to nothing", all);
        if (inline_ptx_access(module, op, i, &access) != reaches)
            give_up("an access is not told", all);
        effect_print(&effects[i], &words);
    }
    if (inline_ptx_load(module, op) >= 0 && count != 1)
        give_up("a load does more", all);
    text_free(&words);
}

/* Whether it is known what the text does. */
static bool try(const char *data, size_t size, Str end) {
    Text text = {0};
    text_str(&text, str_of(head));
    add_escaped(&text, data, size);
    add_escaped(&text, end.data, end.size);
    text_str(&text, str_of(tail));
    Source *source = text.failed ? NULL : source_copy("fuzz", text.data, text.size);
    if (!source)
        abort();
    Module module = {0};
    Diagnostics diagnostics = {0};
    Unit unit = {.begin = 0, .end = source->size};
    if (!read_unit(&module, source, &unit, (ReadOptions){0}, &diagnostics))
        give_up("the op is not read", (Str){text.data, text.size});
    const Op *op = module.first->op->regions[0].first->first;
    Effect effects[EFFECTS_MOST];
    unsigned count;
    Str what, whole = op_attr(op, "asm_string")->text;
    bool known = inline_ptx_effects(&module, op, effects, EFFECTS_MOST, &count, &what);
    if (known)
        check_effects(&module, op, effects, count, (Str){text.data, text.size});
    else if (!op_is_unknown(&module, op))
        give_up("the op has effects, though its text is not known", (Str){text.data, text.size});
    else if (what.data < whole.data || what.data + what.size > whole.data + whole.size)
        give_up("the instruction is not in the text", (Str){text.data, text.size});
    module_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
    text_free(&text);
    return known;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > LARGEST_INPUT)
        return 0;
    const char *text = (const char *)data;
    if (try(text, size, STR("")) && try(text, size, str_of(unknown)))
        give_up("what stands at the end is passed over", (Str){text, size});
    return 0;
}
