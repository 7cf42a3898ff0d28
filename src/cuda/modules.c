/* Modules: images that the program has in it, or loads; kernels and variables of them. Of an image the PTX is read that
 * the target takes and that is newest, when something of it is asked for. */
#include "cuda/cuda.h"
#include "weir/ptx.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char *Demangle(const char *name, char *to, size_t *size, int *status);

static CudaModule *modules;

CudaModule *module_first(void) {
    return modules;
}

/* ---- Images ---- */

enum { FATBIN_WRAPPER_MAGIC = 0x466243b1, FATBIN_MAGIC = (int)0xba55ed50, LARGEST_TEXT = 1 << 28 };

typedef struct FatbinHead {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
} FatbinHead;

static size_t elf_size(const Elf64_Ehdr *header) {
    size_t end = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)((const char *)header + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_type != SHT_NOBITS && sections[i].sh_offset + sections[i].sh_size > end)
            end = sections[i].sh_offset + sections[i].sh_size;
    return end;
}

/* Its first byte, how many it has by its own word, and a name for it. */
static const void *find_image(const CudaModule *module, size_t *bytes, const char **name) {
    const void *image = module->image;
    size_t known = module->image_bytes;
    uint32_t magic;
    if (known && known < sizeof magic)
        return NULL;
    memcpy(&magic, image, sizeof magic);
    if (magic == FATBIN_WRAPPER_MAGIC) {
        if (!known)
            memcpy(&image, (const char *)image + 8, sizeof image);
        if (known || !image)
            return NULL;
        memcpy(&magic, image, sizeof magic);
    }
    if (magic == (uint32_t)FATBIN_MAGIC) {
        FatbinHead head = {0};
        if (!known)
            memcpy(&head, image, sizeof head);
        *bytes = known ? known : head.header_bytes + head.bytes;
        *name = "program.fatbin";
    } else if (memcmp(image, ELFMAG, SELFMAG) == 0) {
        *bytes = known ? known : elf_size(image);
        *name = "program.cubin";
    } else {
        *bytes = strnlen(image, known ? known : LARGEST_TEXT);
        *name = "program.ptx";
        return memmem(image, *bytes, ".version", 8) ? image : NULL;
    }
    return image;
}

CudaModule *module_of_image(const void *image) {
    CudaModule *module = calloc(1, sizeof *module);
    if (!module)
        return NULL;
    *module = (CudaModule){.image = image, .next = modules, .context = context_number()};
    return modules = module;
}

/* Whether the target takes PTX for that one: all for older ones, and what is for one family alone for that. */
static bool is_taken(const char *target, size_t size, unsigned *capability) {
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)(size < 31 ? size : 31), target);
    if (strncmp(text, "sm_", 3) != 0)
        return false;
    char *end;
    *capability = (unsigned)strtoul(text + 3, &end, 10);
    if (*end == 'a')
        return *capability == cuda.target->capability;
    if (*end == 'f')
        return *capability / 10 == cuda.target->capability / 10 && *capability <= cuda.target->capability;
    return *capability <= cuda.target->capability;
}

/* Of all PTX in the file the newest that the target takes; at the same age that which is for it alone. */
static Error pick(CudaModule *module, unsigned *other) {
    unsigned best = 0;
    Error error = CUDA_NO_IMAGE;
    for (size_t i = 0; i < weir_module_count(module->file); i++) {
        weir_module *one = weir_parse(module->file, i, 0);
        unsigned capability = 0;
        weir_string target = one && weir_module_ok(one) ? weir_ptx_of(one).target : (weir_string){"", 0};
        bool taken = target.size && is_taken(target.data, target.size, &capability);
        *other = capability > *other ? capability : *other;
        if (!taken || capability < best) {
            if (one && !weir_module_ok(one))
                error = error == CUDA_NO_IMAGE ? CUDA_INVALID_PTX : error;
            weir_module_free(one);
            continue;
        }
        weir_module_free(module->module);
        module->module = one;
        best = capability;
    }
    return module->module ? 0 : error;
}

/* What it has in global memory gets a place there. */
static Error place(CudaModule *module) {
    size_t room;
    if (!weir_kernel_count(module->module))
        return 0;
    void *at = memory_room(&room);
    size_t bytes = at ? weir_device_place(cuda.device, module->module, at, room) : SIZE_MAX;
    if (bytes == SIZE_MAX) {
        cuda_note("a module cannot be loaded: %s", weir_device_error(cuda.device));
        return CUDA_INVALID_PTX;
    }
    if (bytes)
        memory_take(bytes);
    if (bytes)
        memory_variables(module, at, bytes);
    module->variables = at;
    module->variable_bytes = bytes;
    return 0;
}

Error module_read(CudaModule *module) {
    size_t bytes = 0;
    const char *name = "";
    unsigned other = 0;
    if (module->tried)
        return module->error;
    module->tried = true;
    const void *image = module->image ? find_image(module, &bytes, &name) : NULL;
    module->file = image ? weir_open_buffer(cuda.weir, name, image, bytes) : NULL;
    module->error = module->file ? pick(module, &other) : CUDA_INVALID_IMAGE;
    if (module->error == CUDA_INVALID_PTX && strcmp(name, "program.cubin") == 0)
        module->error = CUDA_NO_IMAGE;
    if (module->error == CUDA_NO_IMAGE && other)
        cuda_note("a module has PTX for sm_%u alone, and the program runs as on a GPU of %s: --target sm_%u", other,
                  cuda.target->name, other);
    else if (module->error == CUDA_NO_IMAGE)
        cuda_note("a module has no PTX, only machine code: compile it with nvcc -arch=%s, or with -gencode "
                  "arch=compute_%u,code=compute_%u; of nvrtc, take what nvrtcGetPTX gives, or let it have -lineinfo",
                  cuda.target->name, cuda.target->capability, cuda.target->capability);
    else if (module->error)
        cuda_note("a module is nothing that can be read as PTX");
    if (!module->error)
        module->error = place(module);
    return module->error;
}

static void free_kernel(Kernel *kernel) {
    free(kernel->name);
    free(kernel->plain);
    free(kernel->sizes);
    free(kernel->offsets);
    free(kernel);
}

CudaModule *module_of(const void *handle) {
    for (CudaModule *module = modules; module; module = module->next)
        if (module == handle)
            return module->loaded && !module->gone ? module : NULL;
    return NULL;
}

/* Graphs may still have its kernels. */
void module_unload(CudaModule *module) {
    for (Kernel *kernel = module->kernels; kernel; kernel = kernel->next)
        check_forget(kernel);
    memory_drop_variables(module);
    if (module->module) {
        weir_device_forget(cuda.device, module->module);
        weir_module_free(module->module);
    }
    if (module->file)
        weir_close(module->file);
    module->module = NULL;
    module->file = NULL;
    module->gone = true;
}

/* ---- Kernels and variables ---- */

/* As C++ writes it, if the program has what says so. */
static char *demangled(const char *name) {
    static Demangle *demangle;
    static bool looked;
    int status = -1;
    if (!looked) {
        void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
        demangle = *(Demangle **)&found;
        looked = true;
    }
    char *made = demangle ? demangle(name, NULL, NULL, &status) : NULL;
    return made && status == 0 ? made : strdup(name);
}

static Kernel *make_kernel(CudaModule *module, const char *name) {
    Kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel)
        return NULL;
    kernel->module = module;
    kernel->name = strdup(name);
    kernel->plain = demangled(name);
    kernel->dynamic_most = 49152;
    kernel->carveout = -1;
    if (weir_device_kernel_of(cuda.device, module->module, name, &kernel->about) != 0) {
        free_kernel(kernel);
        return NULL;
    }
    kernel->sizes = calloc(kernel->about.parameters + 1, sizeof *kernel->sizes);
    kernel->offsets = calloc(kernel->about.parameters + 1, sizeof *kernel->offsets);
    if (!kernel->sizes || !kernel->offsets) {
        free_kernel(kernel);
        return NULL;
    }
    weir_device_layout(cuda.device, module->module, name, kernel->offsets, kernel->sizes, kernel->about.parameters);
    kernel->next = module->kernels;
    return module->kernels = kernel;
}

Error module_kernel(CudaModule *module, const char *name, Kernel **kernel) {
    Error error = module_read(module);
    if (error)
        return error;
    for (*kernel = module->kernels; *kernel; *kernel = (*kernel)->next)
        if (strcmp((*kernel)->name, name) == 0)
            return 0;
    *kernel = make_kernel(module, name);
    return *kernel ? 0 : CUDA_NOT_FOUND;
}

Error module_variable(CudaModule *module, const char *name, weir_device_variable *variable) {
    Error error = module_read(module);
    if (error)
        return error;
    if (weir_device_variable_of(cuda.device, module->module, name, variable) != 0) {
        if (!weir_kernel_count(module->module))
            cuda_note("variables of a module without kernels are not there without a GPU: the program got error %d",
                      CUDA_NOT_FOUND);
        return CUDA_NOT_FOUND;
    }
    if (variable->constant && !memory_of(variable->bytes))
        memory_variables(module, variable->bytes, variable->size);
    return 0;
}

bool kernel_is(const void *pointer) {
    for (CudaModule *module = modules; module; module = module->next)
        for (Kernel *kernel = module->kernels; kernel; kernel = kernel->next)
            if (kernel == pointer)
                return !module->gone;
    return false;
}
