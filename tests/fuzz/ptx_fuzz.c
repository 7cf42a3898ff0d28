/* Any bytes as PTX. Whatever they are, reading them ends without a fault; and of a module without errors holds:
 *
 *   - printed without edits it is the input, byte for byte
 *   - printed from its structure it reads again without errors, with as many statements and operands, and prints the
 * same
 *   - a register, and an instruction before and behind each one, are inserted without anything else changing
 */
#include "ptx/edit.h"
#include "ptx/print.h"
#include "ptx/reader.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 64 << 10 };

typedef struct Read {
    Source *source;
    PtxModule module;
    Diagnostics diagnostics;
    bool good;
} Read;

static Read read_text(const char *data, size_t size) {
    Read read = {.source = source_copy("fuzz", data, size)};
    if (!read.source)
        abort();
    ptx_is(read.source);
    read.good = ptx_read(&read.module, read.source, false, &read.diagnostics);
    return read;
}

static void done(Read *read) {
    ptx_free(&read->module);
    diagnostics_free(&read->diagnostics);
    source_free(read->source);
}

static void give_up(const char *why, const Read *before, const Text *after) {
    fprintf(stderr, "%s\n---- before\n%.*s\n---- after\n%.*s\n", why, (int)before->source->size, before->source->data,
            (int)after->size, after->data ? after->data : "");
    abort();
}

static void check_structure(const Read *read) {
    Text once = {0}, twice = {0};
    ptx_print(&read->module, &once);
    Read again = read_text(once.data ? once.data : "", once.size);
    if (!again.good) {
        for (size_t i = 0; i < again.diagnostics.count; i++)
            fprintf(stderr, "%u: %s\n", again.diagnostics.items[i].place.line, again.diagnostics.items[i].message);
        give_up("what is printed is not read", read, &once);
    }
    ptx_print(&again.module, &twice);
    if (again.module.statements_count != read->module.statements_count ||
        again.module.operands_count != read->module.operands_count || once.size != twice.size ||
        memcmp(once.data, twice.data, once.size) != 0)
        give_up("what is printed reads as something else", read, &once);
    done(&again);
    text_free(&once);
    text_free(&twice);
}

static void check_edits(const Read *read) {
    const PtxModule *module = &read->module;
    PtxEdits edits;
    Text out = {0};
    ptx_edits_init(&edits, module);
    ptx_edit_print(&edits, &out);
    if (out.size != read->source->size || (out.size && memcmp(out.data, read->source->data, out.size) != 0))
        give_up("without edits the text is another one", read, &out);
    out.size = 0;
    uint32_t instructions = 0;
    for (uint32_t i = 0; i < module->statements_count; i++) {
        if (module->statements[i].kind != PTX_INSTRUCTION)
            continue;
        instructions++;
        ptx_edit_before(&edits, i, STR("membar.gl;"));
        ptx_edit_after(&edits, i, STR("membar.sys;"));
    }
    for (uint32_t i = 0; i < module->functions_count; i++)
        ptx_edit_register(&edits, i, ".b32");
    ptx_edit_print(&edits, &out);
    Read again = read_text(out.data ? out.data : "", out.size);
    if (!again.good || again.module.instructions != 3 * instructions)
        give_up("with edits it is not read", read, &out);
    done(&again);
    text_free(&out);
    ptx_edits_free(&edits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > LARGEST_INPUT)
        return 0;
    Read read = read_text((const char *)data, size);
    if (read.good) {
        check_structure(&read);
        check_edits(&read);
        PtxPlace places[4];
        for (uint32_t i = 0; i < read.module.statements_count && i < 64; i++)
            ptx_places(&read.module, i, places, 4);
    }
    done(&read);
    return 0;
}
