/* Images of the stand-in for the CUDA driver (gpu.c): what is linked from PTX is an ELF file with the text in it, and
 * with the mark of instrumented text where a cubin has it. */
#include "gpu.h"

#include "ptx/reader.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An ELF file with a text, the symbols of marks: 32 and 16 bytes, and the registers of its first kernel. */
typedef struct Image {
    Elf64_Ehdr header;
    Elf64_Shdr sections[6]; /* none, symbols, names, the marks, registers, the text */
    Elf64_Sym symbols[4];
    char names[256];
    uint32_t marks[12];
    uint32_t registers[3];
    char text[];
} Image;

/* 80 registers with what records it, else 40; with a limit, no more than that. */
unsigned image_registers(const char *text) {
    const char *limit = strstr(text, ".maxnreg");
    unsigned most = limit ? (unsigned)strtoul(limit + strlen(".maxnreg"), NULL, 10) : 0;
    unsigned needed = strstr(text, "weir_launch") ? 80 : 40;
    return most && most < needed ? most : needed;
}

typedef struct Linking {
    Text text;
    Image *image;
} Linking;

/* The numbers between braces behind a mark's name. */
static bool find_mark(const char *text, const char *name, unsigned count, uint32_t *mark) {
    const char *at = strstr(text, name), *numbers = at ? strchr(at, '{') : NULL;
    for (unsigned i = 0; numbers && i < count; i++) {
        char *end;
        mark[i] = (uint32_t)strtoul(numbers + 1, &end, 0);
        numbers = *end == ',' || *end == '}' || *end == 'U' ? strpbrk(end, ",}") : NULL;
    }
    return numbers != NULL;
}

static Image *make_image(const char *text, size_t bytes) {
    Image *image = calloc(1, sizeof *image + bytes + 1);
    if (!image)
        return NULL;
    memcpy(image->header.e_ident, ELFMAG, SELFMAG);
    image->header.e_ident[EI_CLASS] = ELFCLASS64;
    image->header.e_shoff = offsetof(Image, sections);
    image->header.e_shentsize = sizeof(Elf64_Shdr);
    image->header.e_shnum = 6;
    image->header.e_shstrndx = 2;
    image->sections[1] = (Elf64_Shdr){
        .sh_type = SHT_SYMTAB, .sh_offset = offsetof(Image, symbols), .sh_size = sizeof image->symbols, .sh_link = 2};
    image->sections[2] =
        (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = offsetof(Image, names), .sh_size = sizeof image->names};
    image->sections[3] =
        (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_offset = offsetof(Image, marks), .sh_size = sizeof image->marks};
    const char *entry = strstr(text, ".entry ");
    int length = entry ? (int)strcspn(entry + 7, "( \n") : 0;
    const char *name = entry ? entry + 7 : "";
    snprintf(image->names + 1, sizeof image->names - 1, "weir_instrumented%cweir_shadow%c.nv.info%c%.*s%c.text.%.*s", 0,
             0, 0, length, name, 0, length, name);
    if (find_mark(text, "weir_instrumented", 8, image->marks))
        image->symbols[1] = (Elf64_Sym){.st_name = 1, .st_shndx = 3};
    if (find_mark(text, "weir_shadow", 4, image->marks + 8))
        image->symbols[3] = (Elf64_Sym){.st_name = 19, .st_shndx = 3, .st_value = 8 * sizeof *image->marks};
    image->symbols[2] = (Elf64_Sym){.st_name = 40};
    image->sections[4] = (Elf64_Shdr){.sh_name = 31,
                                      .sh_type = 0x70000000,
                                      .sh_offset = offsetof(Image, registers),
                                      .sh_size = sizeof image->registers};
    image->sections[5] = (Elf64_Shdr){.sh_name = 41 + (unsigned)length,
                                      .sh_type = SHT_PROGBITS,
                                      .sh_offset = offsetof(Image, text),
                                      .sh_size = bytes};
    memcpy(image->registers, (uint32_t[]){4 | 0x2f << 8 | 8 << 16, 2, image_registers(text)}, sizeof image->registers);
    memcpy(image->text, text, bytes);
    return image;
}

EXPORTED Result cuLinkCreate_v2(unsigned count, int *options, void **values, Handle *state) {
    (void)count, (void)options, (void)values;
    *state = calloc(1, sizeof(Linking));
    return *state ? SUCCESS : NO_MEMORY;
}

static bool reads(const char *text) {
    PtxModule module;
    Diagnostics diagnostics = {0};
    Source *source = source_copy("linked", text, strlen(text));
    bool good = ptx_read(&module, source, true, &diagnostics);
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
    return good;
}

EXPORTED Result cuLinkAddData_v2(Handle state, int type, void *data, size_t bytes, const char *name, unsigned count,
                                 int *options, void **values) {
    (void)name, (void)count, (void)options, (void)values;
    Linking *linking = state;
    if (type != 1 || strlen(data) + 1 != bytes || strstr(data, "not for this driver") || !reads(data))
        return BAD_PTX;
    linking->image = make_image(data, bytes);
    return linking->image ? SUCCESS : NO_MEMORY;
}

EXPORTED Result cuLinkComplete(Handle state, void **image, size_t *bytes) {
    Linking *linking = state;
    *image = linking->image;
    *bytes = offsetof(Image, text) + strlen(linking->image->text) + 1;
    return SUCCESS;
}

EXPORTED Result cuLinkDestroy(Handle state) {
    Linking *linking = state;
    free(linking->image);
    free(linking);
    return SUCCESS;
}

/* A fatbin with one image: PTX as it is, or what is machine code here, PTX with its bits turned over. */
static const char *text_in(const char *fatbin) {
    enum { ENTRY = 16, KIND_PTX = 1 };
    uint16_t kind;
    uint32_t header;
    uint64_t bytes;
    memcpy(&kind, fatbin + ENTRY, sizeof kind);
    memcpy(&header, fatbin + ENTRY + 4, sizeof header);
    memcpy(&bytes, fatbin + ENTRY + 8, sizeof bytes);
    char *text = calloc(1, bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        text[i] = (char)(fatbin[ENTRY + header + i] ^ (kind == KIND_PTX ? 0 : 0xff));
    return text;
}

const char *image_text(const void *image) {
    uint32_t magic;
    memcpy(&magic, image, sizeof magic);
    if (magic == 0x466243B1) /* a wrapper */
        memcpy(&image, (const char *)image + 8, sizeof image);
    memcpy(&magic, image, sizeof magic);
    bool elf = memcmp(image, ELFMAG, SELFMAG) == 0;
    return elf ? ((const Image *)image)->text : magic == 0xBA55ED50 ? text_in(image) : image;
}
