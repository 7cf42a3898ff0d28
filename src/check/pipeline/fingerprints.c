/* By what findings are known again: what the line of the kernel's source says, or which op of the IR it is. */
#include "check/pipeline/internal.h"

#include "base/code.h"
#include "finding/fingerprint.h"
#include "ir/op.h"

/* The source that was read last: most findings of a kernel are about one file. */
typedef struct FingerprintReader {
    PipelineResult *result;
    Verdict *verdict;
    const char *file;
    Source *source;
} FingerprintReader;

static Source *read_code(FingerprintReader *reader, const char *file) {
    if (!reader->file || strcmp(reader->file, file) != 0) {
        source_free(reader->source);
        reader->file = file;
        reader->source = code_find(reader->result->module->source->name, reader->result->question.root, file);
    }
    return reader->source;
}

/* What the line says; nothing if it cannot be read, or says nothing. */
static void add_line(FingerprintReader *reader, const FindingPlace *place, Text *to) {
    Source *source = *place->file && place->line ? read_code(reader, place->file) : NULL;
    if (!source)
        return;
    source_place(source, 0); /* makes the index of lines */
    if (place->line <= source->line_count)
        code_line_plain(source_line(source, place->line), str_ends(str_of(place->file), STR(".py")), to);
}

/* That a line of the IR is in. */
static const Op *function_at(Module *module, uint32_t line) {
    const Op *found = NULL;
    for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL))
        if (op_symbol(op).size && op_line(module, op) <= line)
            found = op;
    return found;
}

/* "ttng.wait_barrier 3": it is the third of the function. */
static void add_op(Module *module, const FindingPlace *place, Text *to) {
    size_t number = 0;
    const Op *function = place->ir_line && !place->ir_file ? function_at(module, place->ir_line) : NULL;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        Place at = source_place(module->source, op->offset);
        bool upto = at.line < place->ir_line || (at.line == place->ir_line && at.column <= place->ir_column);
        number += upto && str_is(op->name, place->op);
    }
    text_addf(to, "%s %zu", place->op, number);
}

/* "mbarrier.init.shared::cta.b64 3": the same of PTX. */
static void add_instruction(const PtxModule *ptx, const FindingPlace *place, Text *to) {
    size_t number = 0;
    for (uint32_t i = 0; i < ptx->statements_count; i++) {
        const PtxStatement *statement = &ptx->statements[i];
        Place at = {0};
        if (statement->kind == PTX_FUNCTION)
            number = 0;
        if (statement->kind != PTX_INSTRUCTION || !str_is(ptx->forms[statement->what].text, place->op))
            continue;
        number++;
        at = source_place(ptx->source, statement->begin);
        if (at.line > place->ir_line || (at.line == place->ir_line && at.column >= place->ir_column))
            break;
    }
    text_addf(to, "%s %zu", place->op, number);
}

static const char *anchor_of(FingerprintReader *reader, const Finding *finding, Arena *arena) {
    Text anchor = {0};
    if (finding->place_count) {
        add_line(reader, &finding->places[0], &anchor);
        if (!anchor.size && reader->result->ptx)
            add_instruction(reader->result->ptx, &finding->places[0], &anchor);
        else if (!anchor.size)
            add_op(reader->result->module, &finding->places[0], &anchor);
    }
    return text_keep(&anchor, arena);
}

static void fill_in(void *context) {
    FingerprintReader *reader = context;
    Verdict *verdict = reader->verdict;
    const char **anchors = ARENA_ARRAY(verdict->arena, const char *, verdict->finding_count + 1);
    for (size_t i = 0; i < verdict->finding_count; i++)
        anchors[i] = anchor_of(reader, &verdict->findings[i], verdict->arena);
    verdict_fingerprints(verdict, reader->result->module->source->name, anchors);
}

void step_fingerprints(PipelineResult *result, size_t kernel) {
    FingerprintReader reader = {.result = result, .verdict = &result->verdicts[kernel]};
    result_attempt(result, fill_in, &reader);
    source_free(reader.source);
}

void add_fingerprints(PipelineResult *result, size_t kernel) {
    FingerprintReader reader = {.result = result, .verdict = &result->verdicts[kernel]};
    fill_in(&reader);
    source_free(reader.source);
}
