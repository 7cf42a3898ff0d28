/* Holds Weir's emulator against the reference: random barrier programs, and whether the two agree on every way in which
 * each of them can end, and whether the verdict that Weir reaches without trying every schedule is the right one.
 *
 *     compare [--seed N] [--count N]   programs from number N (0) on, as many as that (2000)
 *     compare --print N                program number N and its ends by the reference alone
 *
 * Exit status: 0 if they agree, 1 at the first program where they do not, 2 if the command line is wrong. A program
 * that is too large for the reference is passed over. */
#include "../unit/ends.h"
#include "reference.h"

#include "check/tile/run/check.h"
#include "mlir/reader.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

/* Weir may cut a step into several; a search so much larger than the reference's is a failure. */
enum { WEIR_BUDGET = 200 * REFERENCE_STATES };

typedef enum Fate { FATE_CLEAN, FATE_DEADLOCK, FATE_ERROR, FATE_MIXED, FATE_COUNT } Fate;

static Fate fate_of_line(Str line) {
    return str_starts(line, STR("error "))     ? FATE_ERROR
           : memchr(line.data, '@', line.size) ? FATE_DEADLOCK
                                               : FATE_CLEAN;
}

/* Of all ends together. */
static Fate fate_of(const Text *ends) {
    Fate fate = FATE_COUNT;
    for (const char *line = ends->data, *end = line + ends->size; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        Fate one = fate_of_line(str_between(line, stop));
        fate = fate == FATE_COUNT || fate == one ? one : FATE_MIXED;
        line = stop + 1;
    }
    return fate;
}

/* Whether some end is one to be reported: a deadlock, an error, or bytes left on a barrier. */
static bool deserves_a_finding(const Text *ends) {
    for (const char *line = ends->data, *end = line + ends->size; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (fate_of_line(str_between(line, stop)) != FATE_CLEAN)
            return true;
        /* of "phase:pending:bytes" the last number */
        unsigned colons = 0;
        for (const char *at = memchr(line, '|', (size_t)(stop - line)); at && at < stop; at++) {
            colons = *at == ' ' ? 0 : colons + (*at == ':');
            if (*at == ':' && colons == 2 && at[1] != '0')
                return true;
        }
        line = stop + 1;
    }
    return false;
}

static Str str_of_text(const Text *text) {
    return (Str){text->data, text->size};
}

/* What Weir says of barriers and deadlocks; VERDICT_INCOMPLETE where the reference has no opinion: it knows no memory,
 * does not keep the bytes of a barrier that was invalidated, and does not ask whether something saw each phase. */
static VerdictKind verdict_on_barriers(Verdict *verdict, const Text *ends) {
    bool dead = ends->size && memmem(ends->data, ends->size, "dead", 4), unsure = false;
    verdict_close(verdict);
    if (verdict->kind != VERDICT_FINDINGS)
        return verdict->kind;
    for (size_t i = 0; i < verdict->finding_count; i++) {
        RuleId rule = verdict->findings[i].rule;
        if (rule >= RULE_RACE_RAW && rule <= RULE_RACE_EXIT)
            continue;
        if (rule != RULE_BARRIER_OVERRUN && !(rule == RULE_BARRIER_BYTES && dead))
            return VERDICT_FINDINGS;
        unsure = true;
    }
    return unsure ? VERDICT_INCOMPLETE : VERDICT_CLEAN;
}

/* Weir's opinion: the ends, and its verdict. False, with the reason in `ends`, if it has none. */
static bool weir_ends(const Text *text, Text *ends, VerdictKind *kind) {
    Module module;
    Diagnostics diagnostics = {0};
    Source *source = source_copy("program.ttgir", text->data, text->size);
    if (!source) {
        text_addf(ends, "there is no memory\n");
        return false;
    }
    Unit unit = {.end = source->size};
    bool good = read_unit(&module, source, &unit, (ReadOptions){.strict = true}, &diagnostics);
    for (size_t i = 0; i < diagnostics.count; i++)
        diagnostic_render(&diagnostics.items[i], source->name, false, ends);
    if (good && !explore_ends(&module, WEIR_BUDGET, ends)) {
        text_addf(ends, "the budget was too small\n");
        good = false;
    }
    const Op *function;
    jmp_buf out_of_memory;
    module.arena.exhausted = &out_of_memory;
    if (good && setjmp(out_of_memory) == 0 && program_kernels(&module, &function, 1) == 1) {
        Verdict verdict = {.arena = &module.arena};
        Launch launch = {.grid = {1, 1, 1}};
        check_runs(&module, function, &(CheckOptions){.launch = &launch}, &verdict);
        *kind = verdict_on_barriers(&verdict, ends);
    }
    module_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
    return good;
}

/* How the two judge one program. */
static bool agree(uint64_t seed, const Text *text, const Text *ends) {
    Text other = {0};
    VerdictKind kind = VERDICT_ERROR, right = deserves_a_finding(ends) ? VERDICT_FINDINGS : VERDICT_CLEAN;
    bool same = weir_ends(text, &other, &kind) && str_equal(str_of_text(ends), str_of_text(&other));
    if (same && kind != right && kind != VERDICT_INCOMPLETE) {
        text_addf(&other, "verdict: %s, but it should be %s\n", verdict_kind_name(kind), verdict_kind_name(right));
        same = false;
    }
    if (!same)
        printf("program %llu\n%.*s\nthe reference:\n%.*s\nWeir:\n%.*s", (unsigned long long)seed, (int)text->size,
               text->data, (int)ends->size, ends->data, (int)other.size, other.data);
    text_free(&other);
    return same;
}

static int print_one(uint64_t seed) {
    ReferenceProgram program;
    Text text = {0}, ends = {0};
    size_t states;
    reference_generate(seed, &program);
    reference_print(&program, &text);
    bool small = reference_explore(&program, &ends, &states);
    printf("%.*s// %zu states%s\n", (int)text.size, text.data, states, small ? "" : ": too large");
    for (size_t i = 0, start = 0; i < ends.size; i++)
        if (ends.data[i] == '\n') {
            printf("// %.*s\n", (int)(i - start), ends.data + start);
            start = i + 1;
        }
    text_free(&text);
    text_free(&ends);
    return 0;
}

static int compare(uint64_t seed, uint64_t count) {
    uint64_t fates[FATE_COUNT] = {0};
    for (uint64_t compared = 0; compared < count; seed++) {
        ReferenceProgram program;
        Text text = {0}, ends = {0};
        size_t states;
        reference_generate(seed, &program);
        reference_print(&program, &text);
        bool small = reference_explore(&program, &ends, &states), same = true;
        if (small) {
            compared++;
            fates[fate_of(&ends)]++;
            same = agree(seed, &text, &ends);
        }
        text_free(&text);
        text_free(&ends);
        if (!same)
            return 1;
    }
    printf("%llu programs agree: %llu clean, %llu deadlock, %llu error, %llu mixed\n", (unsigned long long)count,
           (unsigned long long)fates[FATE_CLEAN], (unsigned long long)fates[FATE_DEADLOCK],
           (unsigned long long)fates[FATE_ERROR], (unsigned long long)fates[FATE_MIXED]);
    return 0;
}

int main(int count, char **arguments) {
    uint64_t seed = 0, programs = 2000;
    bool print = false;
    for (int i = 1; i < count; i += 2) {
        int64_t number;
        if (i + 1 == count || !str_to_int(str_of(arguments[i + 1]), &number) || number < 0) {
            fprintf(stderr, "compare: %s needs a number\n", arguments[i]);
            return 2;
        }
        if (strcmp(arguments[i], "--count") == 0) {
            programs = (uint64_t)number;
        } else if (strcmp(arguments[i], "--seed") == 0 || strcmp(arguments[i], "--print") == 0) {
            seed = (uint64_t)number;
            print = strcmp(arguments[i], "--print") == 0;
        } else {
            fprintf(stderr, "Usage: compare [--seed N] [--count N] | --print N\n");
            return 2;
        }
    }
    return print ? print_one(seed) : compare(seed, programs);
}
