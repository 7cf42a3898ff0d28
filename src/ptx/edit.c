/* Edits of a PTX module, printed between and in place of the text that was kept. */
#include "ptx/edit.h"

#include "base/order.h"
#include "ptx/internal.h"

#include <stdlib.h>

void ptx_edits_init(PtxEdits *edits, const PtxModule *module) {
    *edits = (PtxEdits){.module = module};
    arena_init(&edits->arena, SIZE_MAX);
}

void ptx_edits_free(PtxEdits *edits) {
    arena_free(&edits->arena);
}

static void add(PtxEdits *edits, uint32_t statement, PtxEditKind kind, Str text) {
    uint32_t order = edits->count;
    *ARENA_PUSH(&edits->arena, edits->items, edits->count, edits->capacity) =
        (PtxEdit){statement, kind, order, {arena_copy(&edits->arena, text.data, text.size), text.size}};
}

void ptx_edit_before(PtxEdits *edits, uint32_t statement, Str text) {
    add(edits, statement, PTX_EDIT_BEFORE, text);
}

void ptx_edit_after(PtxEdits *edits, uint32_t statement, Str text) {
    add(edits, statement, PTX_EDIT_AFTER, text);
}

void ptx_edit_replace(PtxEdits *edits, uint32_t statement, Str text) {
    add(edits, statement, PTX_EDIT_REPLACE, text);
}

/* Behind the directives that a module starts with. */
void ptx_edit_take_out(PtxEdits *edits, uint32_t statement) {
    const PtxModule *module = edits->module;
    Text ends = {0};
    for (uint32_t at = module->statements[statement].begin; at < module->statements[statement].end; at++)
        if (module->source->data[at] == '\n')
            text_char(&ends, '\n');
    ptx_edit_replace(edits, statement, (Str){ends.data, ends.size});
    text_free(&ends);
}

void ptx_edit_top(PtxEdits *edits, Str text) {
    const PtxModule *module = edits->module;
    uint32_t at = 0;
    while (at + 1 < module->statements_count && module->statements[at + 1].kind == PTX_DIRECTIVE &&
           (module->statements[at + 1].what == WORD_target || module->statements[at + 1].what == WORD_address_size))
        at++;
    ptx_edit_after(edits, at, text);
}

/* The brace that starts the body; PTX_NONE: it has none. */
static uint32_t body_of(const PtxModule *module, uint32_t function) {
    const PtxFunction *described = &module->functions[function];
    for (uint32_t i = described->begin; described->body && i < described->end; i++)
        if (module->statements[i].kind == PTX_OPEN)
            return i;
    return PTX_NONE;
}

static bool name_taken(const PtxModule *module, Str name) {
    for (uint32_t i = 0; i < module->names_count; i++)
        if (str_starts(module->names[i].text, name))
            return true;
    return false;
}

/* What the names of new registers start with: something that no name of the module does. */
static Str fresh_prefix(PtxEdits *edits) {
    for (unsigned i = 0; !edits->prefix.size; i++) {
        Text text = {0};
        text_addf(&text, i ? "%%weir%u_" : "%%weir_", i);
        if (!name_taken(edits->module, (Str){text.data, text.size}))
            edits->prefix = (Str){arena_copy(&edits->arena, text.data, text.size), text.size};
        text_free(&text);
    }
    return edits->prefix;
}

Str ptx_edit_register(PtxEdits *edits, uint32_t function, const char *type) {
    uint32_t body = body_of(edits->module, function);
    if (body == PTX_NONE)
        return (Str){"", 0};
    Text name = {0}, declaration = {0};
    text_str(&name, fresh_prefix(edits));
    text_addf(&name, "%u", edits->registers++);
    Str kept = {arena_copy(&edits->arena, name.data, name.size), name.size};
    text_addf(&declaration, ".reg %s %.*s;", type, (int)kept.size, kept.data);
    ptx_edit_after(edits, body, (Str){declaration.data, declaration.size});
    text_free(&name);
    text_free(&declaration);
    return kept;
}

void ptx_edit_parameter(PtxEdits *edits, uint32_t function, Str text) {
    const PtxFunction *described = &edits->module->functions[function];
    const PtxStatement *header = &edits->module->statements[described->begin];
    Text replaced = {0};
    const PtxEdit *earlier = NULL;
    for (uint32_t i = 0; i < edits->count; i++)
        if (edits->items[i].statement == described->begin && edits->items[i].kind == PTX_EDIT_REPLACE)
            earlier = &edits->items[i];
    Str before =
        earlier ? earlier->text : (Str){edits->module->source->data + header->begin, header->end - header->begin};
    /* The header ends with the parenthesis that closes the list, if there is one. */
    bool listed = described->listed || earlier;
    text_add(&replaced, before.data, before.size - listed);
    text_str(&replaced, described->parameter_count || earlier ? STR(",\n\t") : listed ? STR("\n\t") : STR("(\n\t"));
    text_str(&replaced, text);
    text_str(&replaced, STR("\n)"));
    ptx_edit_replace(edits, described->begin, (Str){replaced.data, replaced.size});
    text_free(&replaced);
}

/* ---- Printing ------------------------------------------------------------------------------------------------ */

ORDER(in_order, PtxEdit, BY(statement) BY(kind) BY(order))

static void print_line(Str text, Text *to) {
    text_str(to, STR("\n\t"));
    text_str(to, text);
}

/* The next edit, if it is one of that statement. */
static const PtxEdit *edit_of(const PtxEdits *edits, uint32_t index, uint32_t next) {
    return next < edits->count && edits->items[next].statement == index ? &edits->items[next] : NULL;
}

/* What is new does not grow together with what stands before it: `.loc 1 7 48@%p bra L;` has no blank there. */
static void print_apart(Str text, Text *to) {
    if (to->size && text.size && is_class(to->data[to->size - 1], CLASS_IDENTIFIER))
        text_str(to, STR("\n\t"));
    text_str(to, text);
}

/* One statement, with the edits from *next on that are its own. */
static void print_edited(const PtxEdits *edits, uint32_t index, uint32_t *next, uint32_t gap, Text *to) {
    const char *source = edits->module->source->data;
    const PtxStatement *statement = &edits->module->statements[index];
    const PtxEdit *replacement = NULL, *item;
    text_add(to, source + gap, statement->begin - gap);
    for (; (item = edit_of(edits, index, *next)) && item->kind != PTX_EDIT_AFTER; ++*next) {
        if (item->kind == PTX_EDIT_REPLACE) {
            replacement = item; /* the last one holds */
            continue;
        }
        print_apart(item->text, to);
        text_str(to, STR("\n\t"));
    }
    if (replacement)
        print_apart(replacement->text, to);
    else
        text_add(to, source + statement->begin, statement->end - statement->begin);
    for (; (item = edit_of(edits, index, *next)); ++*next)
        print_line(item->text, to);
}

void ptx_edit_print(PtxEdits *edits, Text *to) {
    const PtxModule *module = edits->module;
    uint32_t next = 0, gap = 0;
    if (edits->count)
        qsort(edits->items, edits->count, sizeof *edits->items, in_order);
    for (uint32_t i = 0; i < module->statements_count; i++) {
        print_edited(edits, i, &next, gap, to);
        gap = module->statements[i].end;
    }
    text_add(to, module->source->data + gap, module->source->size - gap);
}
