/* Any bytes as the certificate of a kernel. Whatever they are, the checker ends without a fault, and says why they
 * prove nothing; those that it accepts are about that kernel. */
#include "../unit/certified.h"
#include "check/certificate/certificate.h"
#include "machine/tile/compile/program.h"
#include "mlir/reader.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 64 << 10 };
static const size_t reading_budget = (size_t)64 << 20, checking_budget = (size_t)256 << 20;

static void check(const char *text, Str certificate) {
    Module module;
    Diagnostics diagnostics = {0};
    Source *source = source_copy("kernel", text, strlen(text));
    jmp_buf exhausted;
    const Op *kernel;
    Arena arena;
    if (!source)
        abort();
    Unit unit = {.end = source->size};
    if (!read_unit(&module, source, &unit, (ReadOptions){.budget = reading_budget}, &diagnostics))
        abort();
    arena_init(&arena, checking_budget);
    module.arena.exhausted = arena.exhausted = &exhausted;
    if (!setjmp(exhausted) && program_kernels(&module, &kernel, 1) == 1) {
        CertificateVerdict verdict = certificate_check(&module, kernel, certificate, true, &arena);
        if ((verdict.answer == CERTIFICATE_HOLDS) != (verdict.why == NULL))
            abort();
        if (verdict.answer == CERTIFICATE_HOLDS && (verdict.accesses != 1 || !verdict.steps || !verdict.runs))
            abort();
    }
    arena_free(&arena);
    diagnostics_free(&diagnostics);
    module_free(&module);
    source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > LARGEST_INPUT)
        return 0;
    check(KERNEL, (Str){(const char *)data, size});
    check(GROUPED, (Str){(const char *)data, size});
    return 0;
}
