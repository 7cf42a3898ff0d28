/* Any bytes as an order log. Whatever they are, reading them ends without a fault: with an error, or with a log that
 * has a verdict, which is the same at the second time. */
#include "check/program/check.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 64 << 10, BUDGET = 64 << 20 };

static Verdict check(const Source *source, Arena *arena) {
    jmp_buf here;
    arena_init(arena, BUDGET);
    arena->exhausted = &here;
    Verdict *verdict = calloc(1, sizeof *verdict), made;
    if (!verdict)
        abort();
    *verdict = (Verdict){.arena = arena, .kernel = "program"};
    if (setjmp(here) == 0) {
        Trace trace;
        program_check(source, &(ProgramRecordings){0}, verdict, &trace);
        verdict_close(verdict);
    }
    made = *verdict;
    free(verdict);
    return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Diagnostics diagnostics = {0};
    Source *source = size <= LARGEST_INPUT ? source_copy("fuzz.weirlog", (const char *)data, size) : NULL;
    if (!source)
        return 0;
    if (program_log_read(source, &diagnostics)) {
        Arena once, twice;
        Verdict first = check(source, &once), second = check(source, &twice);
        if (first.kind != second.kind || first.finding_count != second.finding_count)
            abort();
        arena_free(&once);
        arena_free(&twice);
    } else if (!diagnostics.errors) {
        abort();
    }
    diagnostics_free(&diagnostics);
    source_free(source);
    return 0;
}
