/* Any bytes as an order log. Whatever they are, reading them ends without a fault: with an error, or with a log that
 * has a verdict, which is the same at the second time. */
#include "check/program/check.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 64 << 10, BUDGET = 64 << 20 };

static Verdict check(Source *source, Arena *arena, bool good) {
    jmp_buf here;
    Diagnostics diagnostics = {0};
    arena_init(arena, BUDGET);
    arena->exhausted = &here;
    Verdict *verdict = calloc(1, sizeof *verdict), made;
    if (!verdict)
        abort();
    *verdict = (Verdict){.arena = arena, .kernel = "program"};
    if (setjmp(here) == 0) {
        Trace trace;
        program_check(source, &(ProgramRecordings){0}, verdict, &trace, &diagnostics);
        if (good != !diagnostics.errors)
            abort();
        verdict_close(verdict);
    }
    diagnostics_free(&diagnostics);
    made = *verdict;
    free(verdict);
    return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Diagnostics diagnostics = {0};
    Source *source = size <= LARGEST_INPUT ? source_copy("fuzz.weirlog", (const char *)data, size) : NULL;
    if (!source)
        return 0;
    Arena once, twice;
    bool good = program_log_read(source, &diagnostics);
    Verdict first = check(source, &once, good);
    if (good) {
        Verdict second = check(source, &twice, good);
        if (first.kind != second.kind || first.finding_count != second.finding_count)
            abort();
        arena_free(&twice);
    } else if (!diagnostics.errors) {
        abort();
    }
    arena_free(&once);
    diagnostics_free(&diagnostics);
    source_free(source);
    return 0;
}
