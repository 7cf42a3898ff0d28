/* A proof as plain data for verdicts, and as lines for people. */
#include "check/prove/summary.h"

#include "ir/location.h"
#include "ir/op.h"

static ProofLine line_of(Module *module, const Op *op, const char *text, Arena *arena) {
    const Attr *location = op ? kernel_location(module, op->location) : NULL;
    Str file = location ? location_text(location) : (Str){"", 0};
    return (ProofLine){.text = arena_copy(arena, text, strlen(text)),
                       .file = arena_copy(arena, file.data, file.size),
                       .line = location ? location->line : 0,
                       .ir_line = op ? op_line(module, op) : 0};
}

/* Preconditions that are written alike are one: promised if all of them are. */
static void add_where(Module *module, const Condition *condition, bool promised, ProofSummary *summary, Arena *arena) {
    size_t at = 0;
    while (at < summary->where_count && strcmp(summary->where[at].text, condition->text) != 0)
        at++;
    if (at == summary->where_count) {
        summary->where[summary->where_count++] = line_of(module, condition->op, condition->text, arena);
        summary->where[at].promised = true;
    }
    summary->where[at].promised &= promised;
    summary->promised &= promised;
}

ProofSummary *proof_summary(Module *module, const Proof *proof, Promises promises, const Launch *launch, Arena *arena) {
    ProofSummary *summary = ARENA_NEW(arena, ProofSummary);
    bool *promised = ARENA_ARRAY(arena, bool, proof->where_count + 1);
    const char *lacks = NULL;
    *summary = (ProofSummary){.proved = proof->proved,
                              .narrow = proof->narrow,
                              .alike = proof->alike,
                              .fulfilled = launch && proof_covers(proof, launch, &lacks),
                              .promised = true,
                              .where = ARENA_ARRAY(arena, ProofLine, proof->where_count + 1),
                              .open = ARENA_ARRAY(arena, ProofLine, proof->open_count + 1),
                              .assumes = ARENA_ARRAY(arena, const char *, proof->assume_count + 1),
                              .open_count = proof->open_count,
                              .assume_count = proof->assume_count,
                              .seconds = proof->seconds};
    summary->outside = lacks && proof->proved;
    for (uint32_t i = 0; i < proof->where_count; i++)
        summary->outside &= lacks != proof->where[i].text;
    if (proof->proved)
        summary->vain = !proof_promised(proof, promises.all, promises.count, arena, promised);
    for (uint32_t i = 0; i < proof->where_count; i++)
        add_where(module, &proof->where[i], promised[i], summary, arena);
    for (uint32_t i = 0; i < proof->open_count; i++)
        summary->open[i] = line_of(module, proof->open[i].op, proof->open[i].text, arena);
    for (uint32_t i = 0; i < proof->assume_count; i++)
        summary->assumes[i] = arena_copy(arena, proof->assumes[i], strlen(proof->assumes[i]));
    return summary;
}

static void print_list(const char *head, const ProofLine *lines, size_t count, Text *to) {
    for (size_t i = 0; i < count; i++) {
        text_plainf(to, "  %s%s%s", head, lines[i].text, lines[i].promised ? ", which is promised" : "");
        if (lines[i].ir_line)
            text_addf(to, " (IR line %u)", lines[i].ir_line);
        text_char(to, '\n');
    }
}

void proof_print(Module *module, const Proof *proof, const char *kernel, Promises promises, const Launch *launch,
                 Arena *arena, Text *to) {
    const ProofSummary *summary = proof_summary(module, proof, promises, launch, arena);
    const char *lacks;
    text_plainf(to, "@%s: ", kernel);
    text_addf(to, !proof->proved       ? "not proved\n"
                  : proof->narrow      ? "proved, for one grid or one value of an argument\n"
                  : proof->where_count ? "proved for every launch that fulfills what is asked\n"
                                       : "proved for every launch\n");
    for (size_t i = 0; i < summary->open_count; i++)
        text_plainf(to, "  open: %s\n", summary->open[i].text);
    print_list("where ", summary->where, summary->where_count, to);
    for (uint32_t i = 0; i < proof->step_count; i++)
        text_plainf(to, "  %s\n", proof->steps[i]);
    for (size_t i = 0; i < summary->assume_count; i++)
        text_plainf(to, "  assumed: %s\n", summary->assumes[i]);
    if (proof->proved)
        text_addf(
            to,
            "  not part of it, and decided by weir check: thread barriers, lint, what a release of Triton inserts\n");
    if (summary->vain)
        text_addf(to, "  " PROMISED_IN_VAIN "\n");
    if (launch && proof->proved) {
        bool covers = proof_covers(proof, launch, &lacks);
        text_plainf(to, covers ? "  the launch is covered\n" : "  the launch is not covered: %s\n", lacks);
    }
}
