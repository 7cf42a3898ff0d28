/* prove [--seconds S] FILE...: what a proof of each kernel says, a line each, for scripts/tests/prove: whether it is
 * proved for every launch, with which preconditions, whether the launch beside the file fulfills them, what is open,
 * and how long it took. */
#include "check/prove/prove.h"
#include "base/deadline.h"
#include "base/diagnostics.h"
#include "ir/op.h"
#include "machine/tile/compile/program.h"
#include "mlir/reader.h"

#include <stdio.h>
#include <stdlib.h>

static const char *launch_name(const char *path, char *room, size_t size) {
    size_t stem = strlen(path);
    const char *dot = strrchr(path, '.');
    stem = dot ? (size_t)(dot - path) : stem;
    snprintf(room, size, "%.*s.launch.json", (int)stem, path);
    return room;
}

/* "covered", "not covered: ...", or "no launch". */
static void print_cover(const Proof *proof, const char *path, Arena *arena) {
    char name[4096];
    Launch launch = {0};
    const char *lacks;
    Diagnostics diagnostics = {0};
    const char *problem;
    Source *source = source_read(launch_name(path, name, sizeof name), &problem);
    if (!source || !launch_read(arena, source, &launch, &diagnostics))
        printf("no launch");
    else if (proof_covers(proof, &launch, &lacks))
        printf("covered");
    else
        printf("not covered: %s", lacks);
    if (source)
        source_free(source);
    diagnostics_free(&diagnostics);
}

static void print_proof(const char *path, Module *module, const Op *function, double seconds, bool steps) {
    Proof *proof = prove_kernel(module, function, seconds);
    printf("%s\t%s\t%s\t%.2f\t", path, program_name(module, function),
           !proof->proved  ? "open"
           : proof->narrow ? "narrow"
                           : "proved",
           1000 * proof->seconds);
    print_cover(proof, path, &module->arena);
    printf("\t");
    for (uint32_t i = 0; i < proof->where_count; i++)
        printf("%s%s", i ? "; " : "", proof->where[i].text);
    printf("\t");
    for (uint32_t i = 0; i < proof->open_count; i++)
        printf("%s%s", i ? "; " : "", proof->open[i].reason);
    printf("\t%s\n", proof->open_count ? proof->open[0].text : "");
    for (uint32_t i = 0; steps && i < proof->step_count; i++)
        printf("    %s\n", proof->steps[i]);
    for (uint32_t i = 0; steps && i < proof->open_count; i++)
        printf("    open: %s\n", proof->open[i].text);
}

static void prove_file(const char *path, double seconds, bool steps) {
    Module module;
    Diagnostics diagnostics = {0};
    const char *problem;
    Source *source = source_read(path, &problem);
    const Op *kernels[64];
    if (!source)
        return;
    Unit unit = {.begin = 0, .end = source->size};
    if (read_unit(&module, source, &unit, (ReadOptions){0}, &diagnostics)) {
        jmp_buf out;
        size_t count = program_kernels(&module, kernels, 64);
        module.arena.budget = module.arena.held + ((size_t)1 << 30);
        module.arena.exhausted = &out;
        if (!setjmp(out))
            for (size_t i = 0; i < count && i < 64; i++)
                print_proof(path, &module, kernels[i], seconds, steps);
        else
            printf("%s\t?\topen\t0\tno memory\t\tmemory\t\n", path);
    } else {
        printf("%s\t?\terror\t0\t\t\t\t\n", path);
    }
    module_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
}

int main(int count, char **arguments) {
    double seconds = 2;
    bool steps = false;
    for (int i = 1; i < count; i++)
        if (strcmp(arguments[i], "--seconds") == 0 && i + 1 < count)
            seconds = strtod(arguments[++i], NULL);
        else if (strcmp(arguments[i], "--steps") == 0)
            steps = true;
        else
            prove_file(arguments[i], seconds, steps);
    return 0;
}
