/* weir exec without a GPU: what stands in for CUDA's libraries goes in front of the program; and of a program that
 * does not ask for these as it would have to, what is to be done. */
#include "cli/cli.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

char *standin_make(const char *scratch) {
    static const char *const names[] = {"libcudart.so.12", "libcudart.so.13", "libcuda.so.1"};
    char library[PATH_MAX], *folder = NULL, *name;
    if (!find_beside(library, sizeof library, "libweir-cuda.so"))
        return NULL;
    bool good = asprintf(&folder, "%s/cuda", scratch) >= 0 && mkdir(folder, 0755) == 0;
    for (size_t i = 0; good && i < sizeof names / sizeof *names; i++) {
        good = asprintf(&name, "%s/%s", folder, names[i]) >= 0 && symlink(library, name) == 0;
        free(name);
    }
    if (good)
        return folder;
    complain("%s: %s", scratch, strerror(errno));
    return NULL;
}

/* ---- Programs that do not ask for it ---- */

/* The program's file, where PATH leads to it. */
static bool find_program(const char *name, char path[PATH_MAX]) {
    if (strchr(name, '/'))
        return realpath(name, path);
    for (const char *at = getenv("PATH"); at && *at;) {
        char file[PATH_MAX];
        size_t length = strcspn(at, ":");
        if (snprintf(file, sizeof file, "%.*s/%s", (int)length, at, name) < (int)sizeof file && access(file, X_OK) == 0)
            return realpath(file, path);
        at += length + (at[length] == ':');
    }
    return false;
}

/* An ELF file; what it says of itself is not believed. */
typedef struct StandinElf {
    const char *bytes;
    size_t size;
} StandinElf;

static const void *part(const StandinElf *file, uint64_t at, uint64_t size) {
    return at <= file->size && size <= file->size - at ? file->bytes + at : NULL;
}

static const Elf64_Shdr *section(const StandinElf *file, unsigned index) {
    const Elf64_Ehdr *head = part(file, 0, sizeof *head);
    return part(file, head->e_shoff + (uint64_t)index * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
}

static bool text_is(const StandinElf *file, const Elf64_Shdr *strings, uint64_t at, const char *wanted, bool begins) {
    size_t size = strlen(wanted) + !begins;
    const char *text = strings && at < strings->sh_size ? part(file, strings->sh_offset + at, size) : NULL;
    return text && memcmp(text, wanted, size) == 0;
}

/* What the program has in it, and whether it asks for one of these libraries. */
typedef struct StandinUse {
    bool kernels, asks;
} StandinUse;

static void look_at_libraries(const StandinElf *file, const Elf64_Shdr *dynamic, StandinUse *use) {
    const Elf64_Shdr *strings = section(file, dynamic->sh_link);
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic->sh_size; at += sizeof(Elf64_Dyn)) {
        const Elf64_Dyn *entry = part(file, dynamic->sh_offset + at, sizeof *entry);
        if (!entry || entry->d_tag != DT_NEEDED)
            continue;
        use->asks |= text_is(file, strings, entry->d_un.d_val, "libcudart.so.", true) ||
                     text_is(file, strings, entry->d_un.d_val, "libcuda.so.1", false);
    }
}

static StandinUse look_at(const StandinElf *file) {
    StandinUse use = {0};
    const Elf64_Ehdr *head = part(file, 0, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64)
        return use;
    const Elf64_Shdr *names = section(file, head->e_shstrndx);
    for (unsigned i = 0; i < head->e_shnum; i++) {
        const Elf64_Shdr *one = section(file, i);
        if (!one)
            break;
        use.kernels |= text_is(file, names, one->sh_name, ".nv_fatbin", false);
        if (one->sh_type == SHT_DYNAMIC)
            look_at_libraries(file, one, &use);
    }
    return use;
}

static StandinUse use_of(const char *path) {
    StandinUse use = {0};
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            use = look_at(&(StandinElf){bytes, size});
            munmap(bytes, size);
        }
    }
    if (file >= 0)
        close(file);
    return use;
}

/* Whether there is such a file in a folder of the program, or in one above it. */
static bool is_above(const char *path, const char *name) {
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%s", path);
    for (char *slash; (slash = strrchr(file, '/')) && slash > file;) {
        size_t rest = sizeof file - (size_t)(slash - file);
        if (snprintf(slash, rest, "/%s", name) < (int)rest && access(file, F_OK) == 0)
            return true;
        *slash = 0;
    }
    return false;
}

bool standin_say(const char *program, const char *linked_in) {
    char path[PATH_MAX];
    bool found = find_program(program, path);
    StandinUse use = found ? use_of(path) : (StandinUse){0};
    bool is_static = linked_in || (use.kernels && !use.asks);
    if (linked_in && (!found || strcmp(path, linked_in) != 0)) {
        program = linked_in; /* the program has started it */
        snprintf(path, sizeof path, "%s", linked_in);
    }
    if (is_static && is_above(path, "CMakeCache.txt"))
        complain("%s has the CUDA runtime linked in, and runs on a GPU alone: configure it with "
                 "-DCMAKE_CUDA_RUNTIME_LIBRARY=Shared, and build it again",
                 program);
    else if (is_static && is_above(path, "MODULE.bazel"))
        complain("%s has the CUDA runtime linked in, and runs on a GPU alone: link it with "
                 "@rules_cuda//cuda:runtime_shared, or whatever gives nvcc -cudart shared",
                 program);
    else if (is_static)
        complain("%s has the CUDA runtime linked in, and runs on a GPU alone: build it with nvcc -cudart shared%s",
                 program,
                 is_above(path, "Makefile") ? " (the Makefile beside it: add that to the line that links)" : "");
    return is_static;
}

char *standin_refused(const char *library) {
    const char *slash = strrchr(library, '/');
    char *sentence = NULL;
    bool is_runtime = strncmp(slash ? slash + 1 : library, "libcudart.so", 12) == 0;
    if (!is_runtime && !use_of(library).kernels)
        return NULL;
    if (asprintf(&sentence, "%s %s, and runs on a GPU alone: what it would have done is not checked", library,
                 is_runtime ? "was loaded by its path, in front of what stands in for it"
                            : "has the CUDA runtime linked in") < 0)
        exit(STATUS_ERROR);
    return sentence;
}
