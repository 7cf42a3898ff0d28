/* Modules that the program loads, and which function is of which: handles of modules, libraries, kernels and functions
 * all lead to the image that they came from. */
#include "base/array.h"
#include "runtime/capture/capture.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_TEXT = 1 << 28, LARGEST_SECTION = 1 << 28 };

typedef struct CaptureModuleKnown {
    Handle handle;
    CaptureModule *module;
} CaptureModuleKnown;

static CaptureModuleKnown *known;
static size_t known_count, known_capacity;
static CaptureModule **built_in; /* fatbins of the program and its libraries */
static size_t built_in_count;

/* ---- Handles ------------------------------------------------------------------------------------- */

static void remember(Handle handle, CaptureModule *module) {
    for (size_t i = 0; i < known_count; i++)
        if (known[i].handle == handle) { /* unloaded since */
            known[i].module = module;
            return;
        }
    if (ARRAY_ROOM(known, known_count, known_capacity, 64))
        known[known_count++] = (CaptureModuleKnown){handle, module};
}

CaptureModule *module_of(Handle function) {
    for (size_t i = 0; i < known_count; i++)
        if (known[i].handle == function)
            return known[i].module;
    return NULL;
}

void module_same(Handle of, Handle from) {
    CaptureModule *module = module_of(from);
    if (module)
        remember(of, module);
}

/* ---- Images -------------------------------------------------------------------------------------- */

static CaptureModule *make_module(const void *image, size_t bytes, const char *ending) {
    CaptureModule *module = calloc(1, sizeof *module);
    void *copy = malloc(bytes ? bytes : 1);
    if (!module || !copy) {
        free(module);
        free(copy);
        return NULL;
    }
    memcpy(copy, image, bytes);
    *module = (CaptureModule){.image = copy, .bytes = bytes, .ending = ending};
    return module;
}

/* As many bytes as an ELF file says that it has: up to the end of its headers or of its last section. */
static size_t elf_bytes(const Elf64_Ehdr *header) {
    size_t end = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    size_t program = header->e_phoff + (size_t)header->e_phnum * header->e_phentsize;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)((const char *)header + header->e_shoff);
    end = end > program ? end : program;
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_type != SHT_NOBITS && sections[i].sh_offset + sections[i].sh_size > end)
            end = sections[i].sh_offset + sections[i].sh_size;
    return end;
}

/* What the driver is given to load tells by its first bytes what it is, and how long. */
const void *module_image(const void *image, size_t *bytes, const char **ending) {
    uint32_t magic;
    memcpy(&magic, image, sizeof magic);
    if (magic == FATBIN_WRAPPER) {
        image = ((const FatbinWrapper *)image)->data;
        memcpy(&magic, image, sizeof magic);
    }
    if (magic == FATBIN_HEADER) {
        const FatbinHeader *header = image;
        *bytes = header->header_bytes + header->bytes;
        *ending = ".fatbin";
    } else if (memcmp(image, ELFMAG, SELFMAG) == 0) {
        *bytes = elf_bytes(image);
        *ending = ".cubin";
    } else {
        *bytes = strnlen(image, LARGEST_TEXT);
        *ending = ".ptx";
    }
    return image;
}

/* The kind of an image in a fatbin, the bytes of its header and of itself. */
typedef struct FatbinImage {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes;
} FatbinImage;
enum { IMAGE_PTX = 1 };

/* Of a fatbin the PTX alone: the cubins beside it have the same kernels once more. */
static bool write_ptx_images(FILE *to, const CaptureModule *module) {
    const char *image = module->image;
    FatbinHeader header;
    FatbinImage entry;
    memcpy(&header, image, sizeof header);
    uint64_t all = 0;
    for (int writing = 0; writing < 2; writing++) {
        header.bytes = all;
        bool good = !writing || (fwrite(&header, 1, sizeof header, to) == sizeof header &&
                                 fwrite(image + sizeof header, 1, header.header_bytes - sizeof header, to) ==
                                     header.header_bytes - sizeof header);
        for (size_t at = header.header_bytes; good && at + sizeof entry <= module->bytes;) {
            memcpy(&entry, image + at, sizeof entry);
            size_t bytes = entry.header_bytes + entry.bytes;
            if (!entry.header_bytes || bytes > module->bytes - at)
                break;
            if (entry.kind == IMAGE_PTX && !writing)
                all += bytes;
            else if (entry.kind == IMAGE_PTX)
                good = fwrite(image + at, 1, bytes, to) == bytes;
            at += bytes;
        }
        if (!good || !all)
            return false;
    }
    return true;
}

bool module_write(FILE *to, const CaptureModule *module) {
    if (strcmp(module->ending, ".fatbin") == 0)
        return write_ptx_images(to, module);
    return fwrite(module->image, 1, module->bytes, to) == module->bytes;
}

bool module_has_ptx(const CaptureModule *module) {
    const char *image = module->image;
    if (strcmp(module->ending, ".ptx") == 0)
        return true;
    if (strcmp(module->ending, ".cubin") == 0) /* ptxas keeps it there if it is asked for lines */
        return memmem(image, module->bytes, ".nv_debug_ptx_txt", strlen(".nv_debug_ptx_txt"));
    FatbinImage entry;
    for (size_t at = ((const FatbinHeader *)image)->header_bytes; at + sizeof entry <= module->bytes;
         at += entry.header_bytes + entry.bytes) {
        memcpy(&entry, image + at, sizeof entry);
        if (entry.kind == IMAGE_PTX)
            return true;
        if (!entry.header_bytes || entry.bytes > module->bytes - at)
            break;
    }
    return false;
}

void module_loaded(Handle handle, const void *image) {
    size_t bytes;
    const char *ending;
    const void *itself = image ? module_image(image, &bytes, &ending) : NULL;
    CaptureModule *module = itself ? make_module(itself, bytes, ending) : NULL;
    if (module)
        remember(handle, module);
}

char *module_read(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    char *text = NULL;
    if (file < 0)
        return NULL;
    if (fstat(file, &status) == 0 && status.st_size > 4 && status.st_size < LARGEST_TEXT) {
        size_t bytes = (size_t)status.st_size;
        text = calloc(1, bytes + 1); /* text ends with a zero */
        if (text && read(file, text, bytes) != (ssize_t)bytes) {
            free(text);
            text = NULL;
        }
    }
    close(file);
    return text;
}

void module_loaded_from(Handle handle, const char *path) {
    char *image = module_read(path);
    if (image)
        module_loaded(handle, image);
    free(image);
}

/* ---- What is built into the program -------------------------------------------------------------- */

static void add_built_in(const void *image, size_t bytes) {
    CaptureModule **more = realloc(built_in, (built_in_count + 1) * sizeof *more);
    CaptureModule *module = more ? make_module(image, bytes, ".fatbin") : NULL;
    if (more)
        built_in = more;
    if (module)
        built_in[built_in_count++] = module;
}

/* A section of fatbins, one behind the other with zeros between. */
static void take_section(const char *section, size_t bytes) {
    for (size_t at = 0; at + sizeof(FatbinHeader) <= bytes;) {
        FatbinHeader header;
        memcpy(&header, section + at, sizeof header);
        size_t size = header.header_bytes + header.bytes;
        if (header.magic != FATBIN_HEADER || size > bytes - at) {
            at += 8;
            continue;
        }
        add_built_in(section + at, size);
        at += (size + 7) / 8 * 8;
    }
}

static void take_sections(const char *file, size_t bytes) {
    const Elf64_Ehdr *header = (const void *)file;
    if (bytes < sizeof *header || memcmp(file, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_shstrndx >= header->e_shnum || header->e_shoff + (size_t)header->e_shnum * sizeof(Elf64_Shdr) > bytes)
        return;
    const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);
    const Elf64_Shdr *names = &sections[header->e_shstrndx];
    for (unsigned i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr *section = &sections[i];
        if (names->sh_offset + section->sh_name + sizeof ".nv_fatbin" > bytes || section->sh_size > LARGEST_SECTION ||
            section->sh_offset + section->sh_size > bytes)
            continue;
        if (strcmp(file + names->sh_offset + section->sh_name, ".nv_fatbin") == 0)
            take_section(file + section->sh_offset, section->sh_size);
    }
}

static int take_object(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size;
    (void)unused;
    const char *path = *object->dlpi_name ? object->dlpi_name : "/proc/self/exe";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0)
        return 0;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            take_sections(bytes, (size_t)status.st_size);
            munmap(bytes, (size_t)status.st_size);
        }
    }
    close(file);
    return 0;
}

/* The name of the kernel is in the cubin beside the PTX, which is not compressed as a rule; where no fatbin shows it,
 * the only fatbin there is must have it. */
CaptureModule *module_with(const char *kernel) {
    if (!built_in)
        dl_iterate_phdr(take_object, NULL);
    for (size_t i = 0; i < built_in_count; i++)
        if (memmem(built_in[i]->image, built_in[i]->bytes, kernel, strlen(kernel)))
            return built_in[i];
    return built_in_count == 1 ? built_in[0] : NULL;
}

/* ---- What the driver says of a function ---------------------------------------------------------- */

/* A launch may name a CUkernel where a CUfunction is meant; each has its own questions. */
const char *function_name(Handle function) {
    static const char *const questions[] = {"cuFuncGetName", "cuKernelGetName"};
    for (size_t i = 0; i < 2; i++) {
        void *symbol = driver_symbol(questions[i]);
        Result (*ask)(const char **, Handle) = *(Result(**)(const char **, Handle)) & symbol;
        const char *name = NULL;
        if (ask && ask(&name, function) == 0 && name)
            return name;
    }
    return NULL;
}

bool function_parameter(Handle function, size_t index, size_t *offset, size_t *bytes) {
    static const char *const questions[] = {"cuFuncGetParamInfo", "cuKernelGetParamInfo"};
    for (size_t i = 0; i < 2; i++) {
        void *symbol = driver_symbol(questions[i]);
        Result (*ask)(Handle, size_t, size_t *, size_t *) = *(Result(**)(Handle, size_t, size_t *, size_t *)) & symbol;
        if (ask && ask(function, index, offset, bytes) == 0)
            return true;
    }
    return false;
}
