/* Registers: an instrumented kernel has more of them, and must be launchable with as many threads as it is without.
 * Kernels that say how many threads they have (.reqntid, .maxntid) are compiled for that; of others the linked images
 * tell. */
#include "exec/gpu.h"
#include "ptx/edit.h"
#include "ptx/reader.h"

#include <elf.h>
#include <stdlib.h>

enum { REGISTERS = 65536, PARTS = 4, GRANULE = 256, MOST_THREADS = 1024, ENOUGH = 64 };

/* Threads that a block may have with so many registers each: warps go to the four parts of an SM. */
static unsigned threads_with(unsigned registers) {
    unsigned warp = (registers * RECORD_LANES + GRANULE - 1) / GRANULE * GRANULE;
    unsigned threads = warp ? REGISTERS / PARTS / warp * PARTS * RECORD_LANES : MOST_THREADS;
    return threads < MOST_THREADS ? threads : MOST_THREADS;
}

/* ---- What an image says -------------------------------------------------------------------------- */

/* Entries of the section .nv.info: how, what, and a value or a number of bytes that follow. */
typedef struct Info {
    uint8_t how, what;
    uint16_t size;
} Info;
enum { INFO_BYTES = 4, INFO_REGISTERS = 0x2f }; /* how: bytes follow; what: { symbol, registers }, 32 bits each */

static const char *section_name(const char *cubin, size_t bytes, const Elf64_Shdr *names, const Elf64_Shdr *section) {
    uint64_t at = names->sh_offset + section->sh_name;
    return at < bytes && memchr(cubin + at, 0, bytes - at) ? cubin + at : "";
}

static bool is_symbol(const char *cubin, size_t bytes, const Elf64_Shdr *sections, unsigned count, uint32_t number,
                      Str name) {
    for (unsigned i = 0; i < count; i++) {
        const Elf64_Shdr *table = &sections[i];
        Elf64_Sym symbol;
        uint64_t at = table->sh_offset + (uint64_t)number * sizeof symbol;
        if (table->sh_type != SHT_SYMTAB || table->sh_link >= count || at + sizeof symbol > bytes)
            continue;
        memcpy(&symbol, cubin + at, sizeof symbol);
        uint64_t text = sections[table->sh_link].sh_offset + symbol.st_name;
        return text < bytes && name.size < bytes - text && memcmp(cubin + text, name.data, name.size) == 0 &&
               !cubin[text + name.size];
    }
    return false;
}

/* Of a kernel; 0: it is not said. */
static unsigned registers_of(const char *cubin, size_t bytes, Str kernel) {
    const Elf64_Ehdr *header = (const void *)cubin;
    const Elf64_Shdr *sections = (const void *)(cubin + header->e_shoff);
    unsigned count = header->e_shnum;
    if (header->e_shoff > bytes || count > (bytes - header->e_shoff) / sizeof *sections || header->e_shstrndx >= count)
        return 0;
    for (unsigned i = 0; i < count; i++) {
        const Elf64_Shdr *section = &sections[i];
        if (strcmp(section_name(cubin, bytes, &sections[header->e_shstrndx], section), ".nv.info") != 0 ||
            section->sh_offset > bytes || section->sh_size > bytes - section->sh_offset)
            continue;
        const char *at = cubin + section->sh_offset, *end = at + section->sh_size;
        for (Info info; (size_t)(end - at) >= sizeof info; at += info.how == INFO_BYTES ? info.size : 0) {
            uint32_t values[2];
            memcpy(&info, at, sizeof info);
            at += sizeof info;
            if (info.how == INFO_BYTES && info.size > end - at)
                return 0;
            if (info.how != INFO_BYTES || info.what != INFO_REGISTERS || info.size != sizeof values)
                continue;
            memcpy(values, at, sizeof values);
            if (is_symbol(cubin, bytes, sections, count, values[0], kernel))
                return values[1];
        }
    }
    return 0;
}

/* ---- Bounds -------------------------------------------------------------------------------------- */

/* Whether a kernel's header has a directive that decides on its registers. */
static bool is_bounded(const PtxModule *ptx, const PtxFunction *kernel) {
    static const char *const words[] = {".reqntid", ".maxntid", ".maxnreg"};
    for (uint32_t i = kernel->begin; i < kernel->end && ptx->statements[i].kind != PTX_OPEN; i++)
        for (size_t k = 0; ptx->statements[i].kind == PTX_DIRECTIVE && k < sizeof words / sizeof *words; k++)
            if (str_is(ptx_name(ptx, ptx->statements[i].what), words[k]))
                return true;
    return false;
}

/* Adds a bound to kernels that would not be launchable as before; how many. */
static unsigned bound(PtxEdits *edits, const PtxModule *ptx, const GpuLinked *with, const GpuLinked *without) {
    unsigned changed = 0;
    for (uint32_t i = 0; i < ptx->functions_count; i++) {
        const PtxFunction *kernel = &ptx->functions[i];
        Str name = ptx_name(ptx, kernel->name);
        if (!kernel->entry || !kernel->body || is_bounded(ptx, kernel))
            continue;
        unsigned before = threads_with(registers_of(without->cubin, without->bytes, name));
        if (threads_with(registers_of(with->cubin, with->bytes, name)) >= before)
            continue;
        Text line = {0};
        text_addf(&line, ".maxntid %u, 1, 1", before);
        ptx_edit_after(edits, kernel->begin, (Str){line.data, line.size});
        text_free(&line);
        changed++;
    }
    return changed;
}

static bool is_heavy(const PtxModule *ptx, const GpuLinked *with) {
    for (uint32_t i = 0; i < ptx->functions_count; i++)
        if (ptx->functions[i].entry && ptx->functions[i].body && !is_bounded(ptx, &ptx->functions[i]) &&
            registers_of(with->cubin, with->bytes, ptx_name(ptx, ptx->functions[i].name)) > ENOUGH)
            return true;
    return false;
}

bool gpu_bound(const Text *text, const GpuLinked *with, const PtxModule *plain, Text *bounded) {
    PtxModule ptx;
    PtxEdits edits;
    Diagnostics diagnostics = {0};
    GpuLinked without = {0};
    if (!is_heavy(plain, with) || !gpu_link(plain->source->data, plain->source->size, &without))
        return false;
    Source *source = source_copy("module.ptx", text->data, text->size);
    bool changed = false;
    if (source && ptx_read(&ptx, source, false, &diagnostics)) {
        ptx_edits_init(&edits, &ptx);
        changed = bound(&edits, &ptx, with, &without) > 0;
        if (changed)
            ptx_edit_print(&edits, bounded);
        ptx_edits_free(&edits);
    }
    ptx_free(&ptx);
    diagnostics_free(&diagnostics);
    source_free(source);
    free(without.cubin);
    return changed && !bounded->failed;
}
