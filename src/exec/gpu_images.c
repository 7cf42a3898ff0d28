/* An image that the program loads, to one that records: the PTX in it is instrumented and compiled by the driver. One
 * that was instrumented before, by the wrapper of Triton's ptxas (cli/ptxas.c), says so by its mark, and its text lies
 * in a folder. */
#include "base/hash.h"
#include "exec/gpu.h"
#include "ptx/images.h"
#include "ptx/reader.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { INPUT_PTX = 1, ERROR_LOG = 5, ERROR_LOG_BYTES = 6 };

/* As INSTRUMENT_MARK has it. */
typedef struct Mark {
    uint32_t abi, chunk, spaces, options;
    uint64_t hash, fingerprint;
    GpuShadowMark shadow; /* of a module whose kernels check themselves, from another variable */
    bool checks;
} Mark;
#define SHADOW_MARK "weir_shadow"

static GpuModule *modules;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

__attribute__((format(printf, 2, 3))) static bool because(GpuModule *module, const char *format, ...) {
    va_list arguments;
    char *sentence = NULL;
    va_start(arguments, format);
    if (vasprintf(&sentence, format, arguments) < 0)
        sentence = NULL;
    va_end(arguments);
    for (char *at = sentence; at && *at; at++)
        if ((unsigned char)*at < ' ')
            *at = ' ';
    module->why = sentence ? sentence : "there was no memory to instrument it";
    return false;
}

/* ---- The mark ------------------------------------------------------------------------------------ */

/* A range of the file, or NULL. */
static const char *part(const char *file, size_t bytes, uint64_t offset, uint64_t size) {
    return offset <= bytes && size <= bytes - offset ? file + offset : NULL;
}

/* The first bytes of a variable, by the tables of an ELF file. */
static bool symbol_in(const char *file, size_t bytes, const Elf64_Shdr *sections, unsigned count, unsigned table,
                      const char *name, void *to, size_t size) {
    const Elf64_Shdr *symbols = &sections[table], *strings = &sections[symbols->sh_link];
    const char *names = part(file, bytes, strings->sh_offset, strings->sh_size);
    const Elf64_Sym *first = (const Elf64_Sym *)part(file, bytes, symbols->sh_offset, symbols->sh_size);
    for (size_t i = 0; names && first && i < symbols->sh_size / sizeof *first; i++) {
        const Elf64_Sym *symbol = &first[i];
        if (symbol->st_name >= strings->sh_size || symbol->st_shndx >= count ||
            strncmp(names + symbol->st_name, name, strings->sh_size - symbol->st_name) != 0)
            continue;
        const Elf64_Shdr *section = &sections[symbol->st_shndx];
        const char *data = section->sh_type == SHT_NOBITS || symbol->st_value > section->sh_size
                               ? NULL
                               : part(file, bytes, section->sh_offset + symbol->st_value, size);
        if (data)
            memcpy(to, data, size);
        return data;
    }
    return false;
}

static bool read_symbol(const char *file, size_t bytes, const char *name, void *to, size_t size) {
    const Elf64_Ehdr *header = (const void *)file;
    if (bytes < sizeof *header || memcmp(file, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    const Elf64_Shdr *sections =
        (const Elf64_Shdr *)part(file, bytes, header->e_shoff, (uint64_t)header->e_shnum * sizeof *sections);
    for (unsigned i = 0; sections && i < header->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < header->e_shnum &&
            symbol_in(file, bytes, sections, header->e_shnum, i, name, to, size))
            return true;
    return false;
}

/* What kind of image it is; false: it was not instrumented, or not as this library has it. */
static bool read_mark(const char *file, size_t bytes, Mark *mark) {
    *mark = (Mark){0};
    if (!read_symbol(file, bytes, INSTRUMENT_MARK, mark, offsetof(Mark, shadow)) || mark->abi != INSTRUMENT_ABI)
        return false;
    mark->checks = instrument_options_of(mark->spaces, mark->options).mode == INSTRUMENT_SHADOW;
    return mark->checks ? read_symbol(file, bytes, SHADOW_MARK, &mark->shadow, sizeof mark->shadow)
                        : mark->chunk && mark->chunk <= GPU_ALIGN;
}

static void take_mark(GpuModule *module, const Mark *mark) {
    module->chunk = mark->chunk;
    module->spaces = mark->spaces;
    module->options = mark->options;
    module->fingerprint = mark->fingerprint;
    module->checks = mark->checks;
    module->shadow = mark->shadow;
}

/* Of an image that the wrapper made. */
static bool take_marked(GpuModule *module, const Mark *mark) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%016llx.ptx", gpu_options()->texts, (unsigned long long)mark->hash);
    char *text = module_read(path);
    if (!text) {
        module->marked = !mark->checks;
        return because(module, "it was instrumented in another run, whose PTX is not there");
    }
    module->ptx = text;
    module->ptx_bytes = strlen(text);
    take_mark(module, mark);
    return true;
}

/* ---- The text ------------------------------------------------------------------------------------ */

static unsigned device_capability(void) {
    const GpuDriver *driver = gpu_driver(NULL);
    int device = 0, major = 0, minor = 0;
    driver->context_device(&device);
    driver->device_attribute(&major, DEVICE_MAJOR, device);
    driver->device_attribute(&minor, DEVICE_MINOR, device);
    return (unsigned)(major * 10 + minor);
}

/* The first word behind ".target": "sm_90a". */
static Str target_of(const Source *text) {
    static const char directive[] = ".target";
    const char *at = memmem(text->data, text->size, directive, strlen(directive));
    at = at ? at + strlen(directive) : text->data;
    at += strspn(at, " \t");
    return (Str){at, strcspn(at, " ,\t\r\n")};
}

/* Whether code for that target runs on the device: sm_90a and sm_90f do not on others. */
static bool fits(Str target, unsigned capability) {
    int64_t number = 0;
    bool special = target.size > 4 && (str_ends(target, STR("a")) || str_ends(target, STR("f")));
    Str digits = {target.data + 3, target.size - 3 - special};
    if (!str_starts(target, STR("sm_")) || !str_to_int(digits, &number))
        return false;
    return special ? (uint64_t)number == capability : (uint64_t)number <= capability;
}

/* Whether a text is to be taken rather than another: what ptxas has kept in a cubin comes last, then the highest target
 * counts, and of two for the same GPU the one that is for it alone. */
typedef struct Candidate {
    const Image *image;
    Source *text;
    Str target;
} Candidate;

static int compare(const Candidate *a, const Candidate *b) {
    if (a->image->kept != b->image->kept)
        return a->image->kept ? -1 : 1;
    if (a->image->capability != b->image->capability)
        return a->image->capability < b->image->capability ? -1 : 1;
    return a->target.size < b->target.size ? -1 : a->target.size > b->target.size;
}

/* The PTX that the driver would compile. NULL, with the reason. */
static Source *best_text(GpuModule *module, const Source *file, const Images *images, unsigned capability) {
    Candidate best = {0};
    bool several = false;
    const char *problem = NULL;
    for (uint32_t i = 0; i < images->count; i++) {
        Candidate other = {.image = &images->items[i]};
        if (other.image->kind != IMAGE_PTX || other.image->capability > capability ||
            !(other.text = image_text(file, other.image, &problem)))
            continue;
        other.target = target_of(other.text);
        int order = best.text ? compare(&other, &best) : 1;
        if (order < 0 || !fits(other.target, capability)) {
            source_free(other.text);
            continue;
        }
        several = order == 0;
        source_free(best.text);
        best = other;
    }
    if (several)
        because(module, "it is linked from several texts of PTX");
    else if (!best.text && problem)
        because(module, "its PTX cannot be unpacked: %s", problem);
    else if (!best.text)
        because(module, NO_PTX);
    if (!several)
        return best.text;
    source_free(best.text);
    return NULL;
}

static Source *text_of(GpuModule *module, const void *image, size_t bytes, const char *ending) {
    if (strcmp(ending, ".ptx") == 0)
        return source_copy("module.ptx", image, bytes);
    Source *file = source_copy("module", image, bytes), *text = NULL;
    Images images;
    if (file && images_find(file, &images)) {
        text = best_text(module, file, &images, device_capability());
        images_free(&images);
    } else {
        because(module, "there was no memory to look for its PTX");
    }
    source_free(file);
    return text;
}

/* ---- The instrumented image ---------------------------------------------------------------------- */

/* The driver's linker needs a context; a program that loads a library before it has one gets the device's own. */
static Handle own_context(void) {
    const GpuDriver *driver = gpu_driver(NULL);
    Handle current = NULL;
    if (driver->context_current(&current) == 0 && current)
        return NULL;
    if (driver->primary_retain(&current, 0) != 0 || driver->context_push(current) != 0)
        return NULL;
    return current;
}

bool gpu_link(const char *text, size_t size, GpuLinked *linked) {
    const GpuDriver *driver = gpu_driver(NULL);
    int options[] = {ERROR_LOG, ERROR_LOG_BYTES};
    void *values[] = {linked->log, (void *)(uintptr_t)sizeof linked->log}, *cubin = NULL;
    Handle state = NULL;
    *linked->log = 0;
    linked->cubin = NULL;
    linked->result = driver->link_create(2, options, values, &state);
    if (!linked->result) /* the size counts the zero behind it */
        linked->result = driver->link_add(state, INPUT_PTX, (void *)(uintptr_t)text, size + 1, "weir", 0, NULL, NULL);
    if (!linked->result)
        linked->result = driver->link_complete(state, &cubin, &linked->bytes);
    if (!linked->result && (linked->cubin = malloc(linked->bytes)))
        memcpy(linked->cubin, cubin, linked->bytes);
    if (state)
        driver->link_destroy(state);
    linked->log[strcspn(linked->log, "\n")] = 0;
    return linked->cubin != NULL;
}

static bool link_text(GpuModule *module, const Text *text, const PtxModule *plain) {
    GpuLinked linked = {0}, again = {0};
    Text bounded = {0};
    Mark mark;
    if (!gpu_link(text->data, text->size, &linked))
        return because(module, "the driver did not compile it with what records it (error %d%s%s)", linked.result,
                       *linked.log ? ": " : "", linked.log);
    if (gpu_bound(text, &linked, plain, &bounded)) {
        text_char(&bounded, 0);
        if (!bounded.failed && gpu_link(bounded.data, bounded.size - 1, &again)) {
            free(linked.cubin);
            linked = again;
        }
    }
    text_free(&bounded);
    if (!read_mark(linked.cubin, linked.bytes, &mark)) {
        free(linked.cubin);
        return because(module, "what the driver compiled of it has no mark");
    }
    take_mark(module, &mark);
    module->image = linked.cubin;
    return true;
}

/* With its own limits on registers where it can be, else without. */
static bool make_image(GpuModule *module, PtxModule *ptx) {
    InstrumentOptions options = gpu_options()->instrument;
    for (int keep = 1; keep >= 0 && !module->image; keep--) {
        Text text = {0};
        const char *problem = NULL;
        options.keep_registers = keep;
        bool good = instrument(ptx, &options, &text, &problem);
        text_char(&text, 0);
        if (good && !text.failed) {
            text.size--;
            link_text(module, &text, ptx);
        } else {
            because(module, "it could not be instrumented: %s", problem ? problem : "there was no memory");
        }
        text_free(&text);
    }
    return module->image != NULL;
}

static bool wants_any(const PtxModule *ptx) {
    for (uint32_t i = 0; i < ptx->functions_count; i++) {
        Str name = ptx_name(ptx, ptx->functions[i].name);
        char *copy = ptx->functions[i].entry && ptx->functions[i].body ? strndup(name.data, name.size) : NULL;
        bool wanted = copy && gpu_wants(copy);
        free(copy);
        if (wanted)
            return true;
    }
    return false;
}

static void instrument_text(GpuModule *module, Source *text) {
    PtxModule ptx;
    Diagnostics diagnostics = {0};
    bool good = ptx_read(&ptx, text, false, &diagnostics);
    if (!good)
        because(module, "its PTX cannot be read%s%s", diagnostics.count ? ": " : "",
                diagnostics.count ? diagnostics.items[0].message : "");
    else if (!wants_any(&ptx))
        module->excluded = true;
    else if (make_image(module, &ptx) && (module->ptx = malloc(text->size + 1))) {
        memcpy(module->ptx, text->data, text->size);
        module->ptx[text->size] = 0;
        module->ptx_bytes = text->size;
        module->why = NULL; /* of a first try */
    }
    ptx_free(&ptx);
    diagnostics_free(&diagnostics);
}

static void make_module(GpuModule *module, const void *image, size_t bytes, const char *ending) {
    Mark mark;
    const char *missing;
    if (!gpu_driver(&missing)) {
        because(module, "this driver has no %s", missing);
        return;
    }
    if (strcmp(ending, ".cubin") == 0 && read_mark(image, bytes, &mark)) {
        take_marked(module, &mark);
        return;
    }
    if (strcmp(ending, ".cubin") == 0 && mark.abi && mark.abi != INSTRUMENT_ABI) {
        module->marked = true;
        because(module, "it was instrumented by another version of Weir: remove it from the cache that it comes from");
        return;
    }
    int mode = gpu_relax();
    Handle context = own_context();
    Source *text = text_of(module, image, bytes, ending);
    if (text)
        instrument_text(module, text);
    source_free(text);
    if (context)
        gpu_driver(NULL)->context_pop(&context);
    gpu_relaxed(mode);
}

/* ---- Known images -------------------------------------------------------------------------------- */

static uint64_t key_of(const char *bytes, size_t count) {
    uint64_t key = HASH_START ^ count, word;
    for (; count >= 8; bytes += 8, count -= 8) {
        memcpy(&word, bytes, 8);
        key = (key ^ word) * 0x9e3779b97f4a7c15u;
        key ^= key >> 32;
    }
    return hash_bytes(key, bytes, count);
}

GpuModule *gpu_module(const void *image) {
    size_t bytes;
    const char *ending;
    image = module_image(image, &bytes, &ending);
    uint64_t key = key_of(image, bytes);
    pthread_mutex_lock(&making);
    GpuModule *module = modules;
    while (module && module->key != key)
        module = module->next;
    if (!module && (module = calloc(1, sizeof *module))) {
        module->key = key;
        make_module(module, image, bytes, ending);
        module->next = modules;
        modules = module;
    }
    pthread_mutex_unlock(&making);
    return module;
}

GpuModule *gpu_refused(const GpuModule *module, Result result) {
    GpuModule *plain = calloc(1, sizeof *plain);
    if (!plain)
        return NULL;
    because(plain, "the driver did not load it with what records it (error %d)", result);
    pthread_mutex_lock(&making);
    plain->key = module->key; /* the next one that loads it gets this */
    plain->next = modules;
    modules = plain;
    pthread_mutex_unlock(&making);
    return plain;
}

void gpu_each_kernel(void (*work)(GpuKernel *kernel)) {
    for (GpuModule *module = modules; module; module = module->next)
        for (GpuKernel *kernel = module->kernels; kernel; kernel = kernel->next)
            work(kernel);
}
