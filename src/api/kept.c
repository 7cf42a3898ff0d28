/* Results that are kept in a folder, a file each: what they depend on, what writers wrote of them, and what the caller
 * adds.
 *
 * A file is named by the digest of the build, of what the caller says that results depend on, and of the input's path;
 * in it stand the files that the result was made from, as base/dependencies.h collects them. It is read only by the
 * build that wrote it, so that structures lie in it as they are; but it may be cut off or changed, so its own digest
 * stands in front, and all that is read is held against its size. */
#include "api/writer.h"
#include "base/map.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAME_SIZE = 2 * sizeof(Digest), LARGEST = 64 << 20, UNUSED_DAYS = 30, DAY = 24 * 60 * 60 };

/* A file that results depend on, looked at once: kernels of one program share their sources. */
typedef struct KeptState {
    struct KeptState *next;
    DependencyState state;
    char path[];
} KeptState;

struct weir_kept {
    char *folder;
    Digest key;
    pthread_mutex_t lock; /* of what follows */
    Map states;           /* by path, to a KeptState */
    KeptState *first;
};

/* ---- What all of them depend on ------------------------------------------------------------------- */

typedef struct Build {
    uintptr_t address; /* in the object that is meant */
    Digesting *digesting;
    bool found;
} Build;

static bool holds(const struct dl_phdr_info *object, uintptr_t address) {
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && address >= begin && address - begin < part->p_memsz)
            return true;
    }
    return false;
}

/* Its build id: a digest by the linker of all that is in it. */
static int find_build(struct dl_phdr_info *object, size_t size, void *context) {
    Build *build = context;
    (void)size;
    if (!holds(object, build->address))
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const char *at = (const char *)(object->dlpi_addr + part->p_vaddr), *end = at + part->p_memsz;
        ElfW(Nhdr) note;
        for (; part->p_type == PT_NOTE && (size_t)(end - at) >= sizeof note;) {
            memcpy(&note, at, sizeof note);
            size_t name = (note.n_namesz + 3u) & ~3u, about = (note.n_descsz + 3u) & ~3u;
            if ((size_t)(end - at) - sizeof note < name + about)
                break;
            at += sizeof note;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(at, "GNU", 4) == 0) {
                digest_add(build->digesting, at + name, note.n_descsz);
                build->found = true;
            }
            at += name + about;
        }
    }
    return 1;
}

static bool add_build(Digesting *to) {
    Build build = {(uintptr_t)&add_build, to, false};
    dl_iterate_phdr(find_build, &build);
    return build.found;
}

static void add_dependencies(Digesting *to, const Dependencies *files) {
    for (size_t i = 0; i < files->count; i++) {
        digest_add_text(to, files->items[i].path);
        digest_add(to, &files->items[i].digest, sizeof(Digest));
    }
}

static bool make_folder(const char *path) {
    char *part = strdup(path);
    bool good = part != NULL;
    for (char *at = part; good && at; *at = '/') {
        at = strchr(at + 1, '/');
        if (at)
            *at = 0;
        good = mkdir(part, 0700) == 0 || errno == EEXIST;
        if (!at)
            break;
    }
    free(part);
    return good;
}

weir_kept *weir_kept_open(const char *folder, const weir_project *project, const void *key, size_t size) {
    Digesting digesting;
    char *here = realpath(".", NULL);
    weir_kept *kept = calloc(1, sizeof *kept);
    digest_start(&digesting);
    bool good = kept && here && add_build(&digesting);
    digest_add_text(&digesting, here);
    if (project)
        add_dependencies(&digesting, &project->files);
    good = good && !(project && (project->files.spoiled || project->project.updates));
    digest_add(&digesting, key, size);
    free(here);
    if (good && (kept->folder = strdup(folder)) && make_folder(folder) && pthread_mutex_init(&kept->lock, NULL) == 0) {
        kept->key = digest_end(&digesting);
        return kept;
    }
    if (kept)
        free(kept->folder);
    free(kept);
    return NULL;
}

/* ---- What is of no use any more ------------------------------------------------------------------- */

static void prune_folder(const char *path, time_t now) {
    DIR *directory = opendir(path);
    struct stat status;
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (entry->d_name[0] != '.' && fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode) && now - status.st_mtime > (time_t)UNUSED_DAYS * DAY)
            unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        closedir(directory);
}

static void prune(const weir_kept *kept) {
    struct stat status;
    time_t now = time(NULL);
    char *mark = NULL, *path = NULL;
    if (asprintf(&mark, "%s/pruned", kept->folder) < 0)
        return;
    if (stat(mark, &status) != 0 || now - status.st_mtime > DAY) {
        int fd = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0) {
            futimens(fd, NULL);
            close(fd);
        }
        for (unsigned i = 0; i < 256; i++)
            if (asprintf(&path, "%s/%02x", kept->folder, i) >= 0) {
                prune_folder(path, now);
                free(path);
            }
    }
    free(mark);
}

void weir_kept_close(weir_kept *kept) {
    if (!kept)
        return;
    prune(kept);
    for (KeptState *state = kept->first, *next; state; state = next) {
        next = state->next;
        free(state);
    }
    map_free(&kept->states);
    pthread_mutex_destroy(&kept->lock);
    free(kept->folder);
    free(kept);
}

/* FOLDER/ab/cdef...; to be freed. */
static char *file_of(const weir_kept *kept, const weir_kept_input *input) {
    static const char digits[] = "0123456789abcdef";
    char name[NAME_SIZE + 1] = "", *path = NULL;
    Digesting digesting;
    digest_start(&digesting);
    digest_add(&digesting, &kept->key, sizeof kept->key);
    digest_add_text(&digesting, input->path);
    digest_add(&digesting, &input->launches, sizeof input->launches);
    Digest digest = digest_end(&digesting);
    for (size_t i = 0; i < NAME_SIZE; i++)
        name[i] = digits[digest.bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
    if (asprintf(&path, "%s/%.2s/%s", kept->folder, name, name + 2) < 0)
        return NULL;
    return path;
}

/* ---- What is written ------------------------------------------------------------------------------ */

static void add_sized(Text *to, const void *data, size_t size) {
    uint64_t as = size;
    text_add(to, (const char *)&as, sizeof as);
    text_add(to, data, size);
}

/* What a part has beside texts. */
typedef struct KeptPart {
    size_t count, inputs, items, left_out;
    bool failed, more;
    VerdictKind json_verdict, ci_verdict;
    size_t scopes[COVERS_COUNT];
    CiCounts counts;
} KeptPart;

/* Of recordings nothing is kept: those of one kernel are put together in the end. */
static bool can_keep(const weir_writer *part) {
    return !part->sink.write && !part->failed && !part->out.failed && !part->aside && !part->unseen.count &&
           !part->unseen.recorded && !part->grouped.first;
}

static void add_part(Text *to, const weir_writer *part) {
    KeptPart plain;
    memset(&plain, 0, sizeof plain); /* with what lies between its members: a file is the same each time */
    plain.count = part->count;
    plain.inputs = part->inputs;
    plain.items = part->ci.items;
    plain.left_out = part->ci.left_out;
    plain.more = part->json.json.more;
    plain.json_verdict = part->json.verdict;
    plain.ci_verdict = part->ci.verdict;
    memcpy(plain.scopes, part->json.scopes, sizeof plain.scopes);
    plain.counts = part->ci.counts;
    add_sized(to, &plain, sizeof plain);
    add_sized(to, part->out.data ? part->out.data : "", part->out.size);
    add_sized(to, part->ci.held.data ? part->ci.held.data : "", part->ci.held.size);
}

static void add_files(Text *to, const Dependencies *files) {
    add_sized(to, &files->count, sizeof files->count);
    for (size_t i = 0; i < files->count; i++) {
        add_sized(to, &files->items[i].kind, sizeof files->items[i].kind);
        add_sized(to, &files->items[i].digest, sizeof(Digest));
        add_sized(to, files->items[i].path, strlen(files->items[i].path));
    }
}

/* A file appears whole, or not at all. */
static bool write_whole(const char *path, const Text *text) {
    Digest digest = digest_of(text->data, text->size);
    char *fresh = NULL, *folder = strndup(path, (size_t)(strrchr(path, '/') - path));
    int fd = -1;
    bool good = folder && (mkdir(folder, 0700) == 0 || errno == EEXIST) && asprintf(&fresh, "%s.XXXXXX", path) >= 0 &&
                (fd = mkstemp(fresh)) >= 0;
    free(folder);
    FILE *file = good ? fdopen(fd, "wb") : NULL;
    if (good && !file)
        close(fd);
    good =
        file && fwrite(&digest, sizeof digest, 1, file) == 1 && fwrite(text->data, 1, text->size, file) == text->size;
    good = file && fclose(file) == 0 && good && rename(fresh, path) == 0;
    if (!good && fd >= 0)
        unlink(fresh);
    free(fresh);
    return good;
}

void weir_kept_begin(void) {
    if (!dependencies)
        dependencies = calloc(1, sizeof *dependencies);
}

int weir_kept_end(weir_kept *kept, const weir_kept_input *input, weir_writer *const *parts, size_t count,
                  const void *data, size_t size) {
    Dependencies *files = dependencies;
    Text text = {0};
    bool good = kept && files && !files->spoiled;
    dependencies = NULL;
    for (size_t i = 0; i < count && good; i++)
        good = can_keep(parts[i]);
    if (good) {
        add_files(&text, files);
        add_sized(&text, &count, sizeof count);
        for (size_t i = 0; i < count; i++)
            add_part(&text, parts[i]);
        add_sized(&text, data, size);
        char *path = text.failed || text.size > LARGEST ? NULL : file_of(kept, input);
        good = path && write_whole(path, &text);
        free(path);
    }
    text_free(&text);
    if (files)
        dependencies_free(files);
    free(files);
    return good ? 0 : -1;
}

/* ---- What is read --------------------------------------------------------------------------------- */

/* What is left of a file, and whether it was as expected so far. */
typedef struct Rest {
    const char *at;
    size_t left;
    bool good;
} Rest;

static Str take_sized(Rest *rest) {
    uint64_t size = 0;
    if (rest->left < sizeof size)
        rest->good = false;
    else
        memcpy(&size, rest->at, sizeof size);
    if (!rest->good || size > rest->left - sizeof size) {
        rest->good = false;
        return (Str){"", 0};
    }
    Str taken = {rest->at + sizeof size, size};
    rest->at += sizeof size + size;
    rest->left -= sizeof size + size;
    return taken;
}

static void take(Rest *rest, void *to, size_t size) {
    Str taken = take_sized(rest);
    rest->good &= taken.size == size;
    if (rest->good)
        memcpy(to, taken.data, size);
    else
        memset(to, 0, size);
}

/* What is at the path now. */
static DependencyState state_of(weir_kept *kept, Str path) {
    pthread_mutex_lock(&kept->lock);
    const KeptState *known = map_get(&kept->states, path);
    pthread_mutex_unlock(&kept->lock);
    if (known)
        return known->state;
    KeptState *state = malloc(sizeof *state + path.size + 1);
    if (!state)
        return (DependencyState){.there = false};
    memcpy(state->path, path.data, path.size);
    state->path[path.size] = 0;
    state->state = dependency_state(state->path);
    DependencyState found = state->state;
    pthread_mutex_lock(&kept->lock);
    void **place = map_put(&kept->states, (Str){state->path, path.size});
    if (place && !*place) {
        *place = state;
        state->next = kept->first;
        kept->first = state;
        state = NULL;
    }
    pthread_mutex_unlock(&kept->lock);
    free(state); /* another thread was first */
    return found;
}

/* Whether all files are as they were. */
static bool files_hold(weir_kept *kept, Rest *rest) {
    size_t count;
    bool holds = true;
    take(rest, &count, sizeof count);
    for (size_t i = 0; i < count && rest->good && holds; i++) {
        Dependency file;
        take(rest, &file.kind, sizeof file.kind);
        take(rest, &file.digest, sizeof file.digest);
        DependencyState state = state_of(kept, take_sized(rest));
        holds = rest->good && (unsigned)file.kind < DEPENDS_KINDS && dependency_holds(&file, &state);
    }
    return holds && rest->good;
}

static void take_part(Rest *rest, weir_writer *part) {
    KeptPart plain;
    take(rest, &plain, sizeof plain);
    Str out = take_sized(rest), held = take_sized(rest);
    if (!rest->good)
        return;
    part->count = plain.count;
    part->inputs = plain.inputs;
    part->ci.items = plain.items;
    part->ci.left_out = plain.left_out;
    part->json.json.more = plain.more;
    part->json.verdict = plain.json_verdict;
    part->ci.verdict = plain.ci_verdict;
    memcpy(part->json.scopes, plain.scopes, sizeof plain.scopes);
    part->ci.counts = plain.counts;
    text_str(&part->out, out);
    text_str(&part->ci.held, held);
}

/* The file, behind its digest, which fits; to be freed with its digest. NULL: there is none. */
static char *read_whole(const char *path, Rest *rest) {
    struct stat status;
    Digest digest;
    char *data = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    bool good = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > (off_t)sizeof digest &&
                status.st_size <= (off_t)(LARGEST + sizeof digest) && (data = malloc((size_t)status.st_size)) &&
                read(fd, data, (size_t)status.st_size) == (ssize_t)status.st_size;
    if (good) {
        memcpy(&digest, data, sizeof digest);
        *rest = (Rest){data + sizeof digest, (size_t)status.st_size - sizeof digest, true};
        good = digest_equal(digest, digest_of(rest->at, rest->left));
    }
    if (good && time(NULL) - status.st_mtime > DAY)
        futimens(fd, NULL); /* it is of use: weir_kept_prune leaves it */
    close(fd);
    if (good)
        return data;
    free(data);
    return NULL;
}

int weir_kept_take(weir_kept *kept, const weir_kept_input *input, weir_writer *const *parts, size_t count, void *data,
                   size_t size, weir_write *more, void *to) {
    Rest rest;
    size_t there = 0;
    char *path = kept ? file_of(kept, input) : NULL, *whole = path ? read_whole(path, &rest) : NULL;
    bool found = whole && files_hold(kept, &rest);
    if (found) {
        take(&rest, &there, sizeof there);
        rest.good &= there == count;
        for (size_t i = 0; i < count && rest.good; i++)
            take_part(&rest, parts[i]);
        Str own = take_sized(&rest);
        found = rest.good && !rest.left && own.size >= size;
        if (found) {
            memcpy(data, own.data, size);
            found = more(to, own.data + size, own.size - size) == 0;
        }
    }
    free(whole);
    free(path);
    return found;
}
