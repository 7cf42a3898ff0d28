/* Images that the program loads, and the PTX in them; and the images of their kernels that record, which are compiled
 * by the driver when they are needed. Of what Triton compiles both the text and that image lie in a folder, by the hash
 * of the program's image: the wrapper of ptxas (cli/ptxas.c) has made them. */
#include "base/hash.h"
#include "instrument/emit/shadow.h"
#include "ptx/images.h"
#include "ptx/reader.h"
#include "runtime/record/gpu.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { INPUT_PTX = 1, ERROR_LOG = 5, ERROR_LOG_BYTES = 6 };
enum { SHAPES_MOST = 16 }; /* of a kernel: each is compiled by itself */

/* PTX, compiled by the driver. */
typedef struct GpuLinked {
    char *cubin; /* for free(); NULL: it was not taken */
    size_t bytes;
    Result result;
    char log[4096]; /* the first line of what the driver says of it */
} GpuLinked;

/* As INSTRUMENT_MARK has it. */
typedef struct GpuImageMark {
    uint32_t abi, chunk, spaces, options;
    uint64_t hash, fingerprint;
    GpuShadowMark shadow; /* of a module whose kernels check themselves, from another variable */
    bool checks;
} GpuImageMark;

static GpuModule *modules;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

__attribute__((format(printf, 2, 3))) static bool because(const char **why, const char *format, ...) {
    va_list arguments;
    char *sentence = NULL;
    va_start(arguments, format);
    if (vasprintf(&sentence, format, arguments) < 0)
        sentence = NULL;
    va_end(arguments);
    for (char *at = sentence; at && *at; at++)
        if ((unsigned char)*at < ' ')
            *at = ' ';
    *why = sentence ? sentence : "there was no memory to instrument it";
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

/* The sections of an ELF file; NULL: it is none. */
static const Elf64_Shdr *sections_of(const char *file, size_t bytes, unsigned *count) {
    const Elf64_Ehdr *header = (const void *)file;
    if (bytes < sizeof *header || memcmp(file, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
        return NULL;
    *count = header->e_shnum;
    return (const Elf64_Shdr *)part(file, bytes, header->e_shoff, (uint64_t)*count * sizeof(Elf64_Shdr));
}

static bool read_symbol(const char *file, size_t bytes, const char *name, void *to, size_t size) {
    unsigned count = 0;
    const Elf64_Shdr *sections = sections_of(file, bytes, &count);
    for (unsigned i = 0; sections && i < count; i++)
        if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < count &&
            symbol_in(file, bytes, sections, count, i, name, to, size))
            return true;
    return false;
}

bool gpu_section(const void *file, size_t bytes, unsigned number, const char **name) {
    unsigned count = 0;
    const Elf64_Shdr *sections = sections_of(file, bytes, &count);
    unsigned names = sections && count ? ((const Elf64_Ehdr *)file)->e_shstrndx : 0;
    if (number >= count || names >= count || !sections)
        return false;
    const Elf64_Shdr *strings = &sections[names];
    const char *text = part(file, bytes, strings->sh_offset, strings->sh_size);
    bool ends = text && strings->sh_size && !text[strings->sh_size - 1];
    *name = ends && sections[number].sh_name < strings->sh_size ? text + sections[number].sh_name : "";
    return true;
}

/* What kind of image it is; false: it was not instrumented, or not as this library has it. */
static bool read_mark(const char *file, size_t bytes, GpuImageMark *mark) {
    *mark = (GpuImageMark){0};
    if (!read_symbol(file, bytes, INSTRUMENT_MARK, mark, offsetof(GpuImageMark, shadow)) || mark->abi != INSTRUMENT_ABI)
        return false;
    mark->checks = instrument_options_of(mark->spaces, mark->options).mode == INSTRUMENT_SHADOW;
    return mark->checks ? read_symbol(file, bytes, SHADOW_MARK, &mark->shadow, sizeof mark->shadow)
                        : mark->chunk && mark->chunk <= GPU_ALIGN;
}

static void take_mark(GpuModule *module, const GpuImageMark *mark) {
    module->chunk = mark->chunk;
    module->spaces = mark->spaces;
    module->options = mark->options;
    module->fingerprint = mark->fingerprint;
    module->shadow = mark->shadow;
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
typedef struct GpuImageCandidate {
    const Image *image;
    Source *text;
    Str target;
} GpuImageCandidate;

static int compare(const GpuImageCandidate *a, const GpuImageCandidate *b) {
    if (a->image->kept != b->image->kept)
        return a->image->kept ? -1 : 1;
    if (a->image->capability != b->image->capability)
        return a->image->capability < b->image->capability ? -1 : 1;
    return a->target.size < b->target.size ? -1 : a->target.size > b->target.size;
}

/* The PTX that the driver would compile. NULL, with the reason. */
static Source *best_text(GpuModule *module, const Source *file, const Images *images, unsigned capability) {
    GpuImageCandidate best = {0};
    bool several = false;
    const char *problem = NULL;
    for (uint32_t i = 0; i < images->count; i++) {
        GpuImageCandidate other = {.image = &images->items[i]};
        if (other.image->kind != IMAGE_PTX || other.image->capability > capability ||
            !(other.text = image_text(file, other.image, &problem)))
            continue;
        other.target = ptx_target_of(other.text);
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
        because(&module->why, "it is linked from several texts of PTX");
    else if (!best.text && problem)
        because(&module->why, "its PTX cannot be unpacked: %s", problem);
    else if (!best.text)
        because(&module->why, NO_PTX);
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
        because(&module->why, "there was no memory to look for its PTX");
    }
    source_free(file);
    return text;
}

/* ---- Compiling ----------------------------------------------------------------------------------- */

static bool link_text(const char *text, size_t size, GpuLinked *linked) {
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

/* ---- The instrumented text ----------------------------------------------------------------------- */

static PtxModule *read_text(const char *text, size_t bytes, const char **why) {
    PtxModule *ptx = calloc(1, sizeof *ptx);
    Source *source = ptx ? source_copy("module.ptx", text, bytes) : NULL;
    Diagnostics diagnostics = {0};
    *why = "there was no memory to instrument it";
    if (!source || !ptx_read(ptx, source, false, &diagnostics)) {
        if (source)
            because(why, "its PTX cannot be read%s%s", diagnostics.count ? ": " : "",
                    diagnostics.count ? diagnostics.items[0].message : "");
        if (source)
            ptx_free(ptx);
        source_free(source);
        free(ptx);
        ptx = NULL;
    }
    diagnostics_free(&diagnostics);
    return ptx;
}

/* As PTX; it is busy. */
static bool is_read(GpuModule *module) {
    if (!module->plain)
        module->plain = read_text(module->ptx, module->ptx_bytes, &module->problem);
    return module->plain != NULL;
}

static void instrument_text(GpuModule *module) {
    InstrumentOptions options = gpu_options()->instrument;
    Text text = {0};
    const char *problem = NULL;
    options.keep_registers = !module->frees_registers;
    options.once = module->once;
    if (!is_read(module))
        return;
    if (instrument(module->plain, &options, &text, &problem) && !text.failed)
        module->with = read_text(text.data, text.size, &module->problem);
    else
        because(&module->problem, "it could not be instrumented: %s", problem ? problem : "there was no memory");
    text_free(&text);
}

/* Its text is there as PTX, before and after it was instrumented; false, with the reason. */
static bool is_instrumented(GpuModule *module) {
    pthread_mutex_lock(&module->busy);
    if (!module->tried)
        instrument_text(module);
    module->tried = true;
    pthread_mutex_unlock(&module->busy);
    return module->with != NULL;
}

/* The same module, instrumented in another way. */
static GpuModule *other_form(GpuModule *module, GpuModule **form, bool frees_registers, bool once) {
    pthread_mutex_lock(&module->busy);
    if (!*form && (*form = calloc(1, sizeof **form))) {
        **form = (GpuModule){.key = module->key,
                             .ptx = module->ptx,
                             .ptx_bytes = module->ptx_bytes,
                             .frees_registers = frees_registers,
                             .once = once};
        pthread_mutex_init(&(*form)->busy, NULL);
    }
    pthread_mutex_unlock(&module->busy);
    return *form;
}

/* The same module without limits on registers. */
static GpuModule *freed(GpuModule *module) {
    return other_form(module, &module->freed, true, module->once);
}

GpuModule *gpu_once(GpuModule *module) {
    return other_form(module, &module->first, module->frees_registers, true);
}

/* ---- An image that records ----------------------------------------------------------------------- */

static bool compile(GpuModule *module, const char *kernel, unsigned registers, GpuLinked *linked, const char **why) {
    Text text = {0};
    GpuImageMark mark;
    const char *problem = NULL;
    bool good = false;
    if (!is_instrumented(module)) {
        *why = module->problem;
        return false;
    }
    if (!instrument_beside(module->plain, module->with, str_of(kernel), &text, &problem) ||
        (registers && !gpu_limit(&text, kernel, registers)))
        because(why, "it could not be instrumented beside the program's own: %s",
                problem ? problem : "there was no memory");
    else {
        text_char(&text, 0);
        good = !text.failed && link_text(text.data, text.size - 1, linked);
        if (!good)
            because(why, "the driver did not compile it with what records it (error %d%s%s)", linked->result,
                    *linked->log ? ": " : "", linked->log);
    }
    text_free(&text);
    if (good && !read_mark(linked->cubin, linked->bytes, &mark)) {
        free(linked->cubin);
        good = because(why, "what the driver compiled of it has no mark");
    }
    if (good)
        take_mark(module, &mark);
    return good;
}

/* With its own limits on registers where it can be, else without. */
bool gpu_image(GpuKernel *kernel, GpuModule *module, unsigned registers, GpuImage *image) {
    GpuLinked linked = {0};
    *image = (GpuImage){.module = module, .registers = registers, .bytes = module->cubin};
    if (module->cubin && !registers)
        return true;
    gpu_busy(true);
    image->bytes = NULL;
    if (compile(module, kernel->name, registers, &linked, &image->why)) {
        image->bytes = linked.cubin;
    } else {
        const char *why = NULL;
        image->module = freed(module);
        if (image->module && compile(image->module, kernel->name, registers, &linked, &why))
            image->bytes = linked.cubin;
    }
    gpu_busy(false);
    return image->bytes != NULL;
}

/* ---- CTAs of one shape --------------------------------------------------------------------------- */

static bool says_its_size(const PtxModule *ptx, const PtxFunction *kernel) {
    for (uint32_t i = kernel->begin; i < kernel->end && ptx->statements[i].kind != PTX_OPEN; i++)
        if (ptx->statements[i].kind == PTX_DIRECTIVE && str_is(ptx_name(ptx, ptx->statements[i].what), ".reqntid"))
            return true;
    return false;
}

/* The kernel, if a launch has to say how large its CTAs are; PTX_NONE. It is busy. */
static uint32_t shapeless(GpuModule *module, const char *kernel) {
    const PtxModule *ptx = gpu_checks() || module->cubin || !is_read(module) ? NULL : module->plain;
    for (uint32_t i = 0; ptx && i < ptx->functions_count; i++)
        if (ptx->functions[i].entry && ptx->functions[i].body && str_is(ptx_name(ptx, ptx->functions[i].name), kernel))
            return says_its_size(ptx, &ptx->functions[i]) ? PTX_NONE : i;
    return PTX_NONE;
}

bool gpu_waits_for_shape(GpuKernel *kernel) {
    pthread_mutex_lock(&kernel->home->busy);
    bool waits = shapeless(kernel->home, kernel->name) != PTX_NONE;
    pthread_mutex_unlock(&kernel->home->busy);
    return waits;
}

static GpuModule *make_shaped(GpuKernel *kernel, uint32_t function, const uint32_t block[3]) {
    GpuModule *home = kernel->home, *shaped = calloc(1, sizeof *shaped);
    Text text = {0};
    if (!shaped)
        return home;
    *shaped = (GpuModule){.key = home->key, .of = kernel, .beside = home->shaped};
    memcpy(shaped->block, block, sizeof shaped->block);
    pthread_mutex_init(&shaped->busy, NULL);
    instrument_launched(home->plain, function, block, &text);
    shaped->ptx_bytes = text.size;
    text_char(&text, 0);
    if (text.failed) {
        text_free(&text);
        free(shaped);
        return home;
    }
    shaped->ptx = text.data;
    return home->shaped = shaped;
}

GpuModule *gpu_shaped(GpuKernel *kernel, const uint32_t block[3]) {
    GpuModule *home = kernel->home, *shaped;
    unsigned count = 0;
    pthread_mutex_lock(&home->busy);
    for (shaped = home->shaped; shaped; shaped = shaped->beside) {
        count += shaped->of == kernel;
        if (shaped->of == kernel && memcmp(shaped->block, block, sizeof shaped->block) == 0)
            break;
    }
    if (!shaped && count < SHAPES_MOST) {
        uint32_t function = shapeless(home, kernel->name);
        if (function != PTX_NONE)
            shaped = make_shaped(kernel, function, block);
    }
    pthread_mutex_unlock(&home->busy);
    return shaped ? shaped : home;
}

bool gpu_each_variable(GpuModule *module, void (*work)(void *of, const char *name, bool literal), void *of) {
    pthread_mutex_lock(&module->busy);
    bool good = is_read(module);
    pthread_mutex_unlock(&module->busy);
    const PtxModule *ptx = module->plain;
    for (uint32_t i = 0; good && i < ptx->variables_count; i++) {
        Str name = ptx_name(ptx, ptx->variables[i].name);
        if (!instrument_in_common(ptx, i))
            continue;
        char *copy = strndup(name.data, name.size);
        good = copy != NULL;
        if (copy)
            work(of, copy, instrument_literal(ptx, i));
        free(copy);
    }
    return good;
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

/* What the wrapper has left of an image that came through it; false: it did not. */
static bool take_kept(GpuModule *module, const void *image, size_t bytes) {
    char path[4096];
    GpuImageMark mark;
    uint64_t hash = instrument_hash((Str){image, bytes});
    snprintf(path, sizeof path, "%s/%016llx.ptx", gpu_options()->texts, (unsigned long long)hash);
    module->ptx = module_read(path);
    module->ptx_bytes = module->ptx ? strlen(module->ptx) : 0;
    snprintf(path, sizeof path, "%s/%016llx.cubin", gpu_options()->texts, (unsigned long long)hash);
    char *cubin = module->ptx ? module_read(path) : NULL;
    size_t cubin_bytes;
    const char *ending;
    if (cubin && module_image(cubin, &cubin_bytes, &ending) && read_mark(cubin, cubin_bytes, &mark)) {
        take_mark(module, &mark);
        module->cubin = cubin;
    } else {
        free(cubin);
    }
    return module->ptx != NULL;
}

static void make_module(GpuModule *module, const void *image, size_t bytes, const char *ending) {
    const char *missing;
    if (!gpu_driver(&missing)) {
        because(&module->why, "this driver has no %s: CUDA 12.4 or later is required", missing);
        return;
    }
    bool cubin = *gpu_options()->texts && strcmp(ending, ".cubin") == 0;
    if (cubin && take_kept(module, image, bytes))
        return;
    if (cubin && (module->ptx = gpu_cached_text(image, bytes, &module->why)))
        module->ptx_bytes = strlen(module->ptx);
    if (module->ptx || module->why)
        return;
    Source *text = text_of(module, image, bytes, ending);
    if (text && (module->ptx = malloc(text->size + 1))) {
        memcpy(module->ptx, text->data, text->size);
        module->ptx[text->size] = 0;
        module->ptx_bytes = text->size;
    }
    source_free(text);
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
        pthread_mutex_init(&module->busy, NULL);
        make_module(module, image, bytes, ending);
        module->next = modules;
        modules = module;
    }
    pthread_mutex_unlock(&making);
    return module;
}

void gpu_each_kernel(void (*work)(GpuKernel *kernel)) {
    for (GpuModule *module = modules; module; module = module->next)
        for (GpuKernel *kernel = module->kernels; kernel; kernel = kernel->next)
            work(kernel);
}
