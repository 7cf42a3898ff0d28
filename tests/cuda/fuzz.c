/* Calls each entry point of src/cuda/runtime.def and src/cuda/driver.def with arguments that make no sense: fuzz ROUNDS
 * [SEED]. What comes back has to be success or an error that CUDA has; a crash is the failure. Results go to memory or
 * NULL; handles are those of things that live, that are gone, and others; of copies both sides are in memory of the
 * device, so that any size can be asked for. */
#include "../exec/fatbin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void **__cudaRegisterFatBinary(const void *fatbin);
void __cudaRegisterFunction(void **handle, const char *function, char *device, const char *name, int threads, void *tid,
                            void *bid, void *block, void *grid, int *warp);
void __cudaRegisterVar(void **handle, char *variable, char *device, const char *name, int external, size_t size,
                       int constant, int global);
const char *cudaGetErrorName(int error);
int cudaMalloc(void **to, size_t bytes), cudaStreamCreateWithFlags(void **to, unsigned flags);
int cudaEventCreate(void **to), cudaGraphCreate(void **to, unsigned flags);
int cudaGraphAddEmptyNode(void **to, void *graph, void *const *from, size_t count);
int cudaGraphInstantiateWithFlags(void **to, void *graph, unsigned long long flags);
int cuDevicePrimaryCtxRetain(void **to, int device), cuCtxSetCurrent(void *context);
int cuModuleLoadData(void **to, const void *image), cuModuleGetFunction(void **to, void *module, const char *name);

typedef uintptr_t Word;
typedef long Words(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);
typedef struct Entry {
    const char *name, *parameters;
} Entry;

static const Entry entries[] = {
#define CALL(name, parameters, given)                             {#name, #parameters},
#define STREAM_CALL(name, suffix, parameters, given)              {#name, #parameters}, {#name #suffix, #parameters},
#define VERSIONED(name, parameters, given, parameters12, given12) {#name, #parameters},
#define HARMLESS(name)                                            {#name, "()"},
#define MISSING(name)                                             {#name, "()"},
#include "../../src/cuda/runtime.def"
#define QUERY(name, parameters, what) {#name, #parameters},
#define OWN(name)
#define SINCE(name, release)
#include "../../src/cuda/driver.def"
};
enum { ENTRIES = sizeof entries / sizeof *entries, HANDLES = 64, MOST = 16 };

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 4 .u32 variable = 5;\n"
    ".visible .entry kernel(.param .u64 a)\n{\n\t.reg .b32 %r<3>;\n\tld.global.u32 %r1, [variable];\n\tret;\n}\n";
static char kernel, variable[4];
static uint64_t state;
static void *handles[HANDLES], *memory, *argument, *arguments[1] = {&argument};
static char room[1 << 16]; /* for results, and structures of zeros */

static unsigned roll(unsigned below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

static Word any_number(const char *name) {
    static const Word numbers[] = {0, 1, 2, 3, 4, 7, 8, 16, 64, 512, 4096, SIZE_MAX, SIZE_MAX / 2, (Word)1 << 40};
    return numbers[roll(strcmp(name, "count") == 0 ? 9 : 14)];
}

static Word any_handle(void) {
    return roll(8) ? (Word)handles[roll(HANDLES)] : (Word)roll(4);
}

/* By its type and name, as in "const void *from". */
static Word any_word(const char *type, const char *name, int copies) {
    int is_const = strncmp(type, "const ", 6) == 0;
    if (!strchr(type, '*'))
        return any_number(name);
    if (!roll(6))
        return 0;
    if (strcmp(name, "arguments") == 0)
        return (Word)arguments;
    if (strcmp(name, "image") == 0)
        return (Word)(roll(4) ? ptx : room);
    if (strcmp(name, "function") == 0 || strcmp(name, "symbol") == 0)
        return *name == 'f' ? (Word)&kernel : (Word)variable;
    if (strstr(type, "*const *"))
        return (Word)handles;
    if (strncmp(type, "const char *", 12) == 0 && type[12] != '*')
        return (Word)(roll(2) ? "0000:00:00.0" : roll(2) ? "kernel" : "variable");
    int memory_name = !strcmp(name, "memory") || !strcmp(name, "to") || !strcmp(name, "from") || !strcmp(name, "at") ||
                      !strcmp(name, "target") || !strcmp(name, "source");
    if (strncmp(type, "void *", 6) == 0 && !strchr(type + 6, '*'))
        return memory_name ? copies || roll(2) ? (Word)memory + roll(2) * 4 : (Word)room
               : !strcmp(name, "properties") || !strcmp(name, "attributes") || !strcmp(name, "value") ||
                       !strcmp(name, "data") || !strcmp(name, "result") || !strcmp(name, "parameters") ||
                       !strcmp(name, "location")
                   ? (Word)room
                   : any_handle();
    if (is_const && strncmp(type, "const void *", 12) == 0 && memory_name)
        return (Word)memory;
    memset(room, 0, 4096);
    return (Word)room; /* a structure of zeros, or somewhere for results */
}

/* False: a structure by value, of which nothing is known here. */
static int make_words(const Entry *entry, Word words[MOST]) {
    char text[512];
    unsigned count = 0;
    int copies = strstr(entry->name, "Memcpy") || strstr(entry->name, "Memset");
    snprintf(text, sizeof text, "%.*s", (int)strlen(entry->parameters) - 2, entry->parameters + 1);
    for (char *rest = text, *one; (one = strsep(&rest, ",")) && count < MOST - 1;) {
        one += strspn(one, " ");
        char *name = one + strlen(one);
        while (name > one && (name[-1] == '_' || ((name[-1] | 32) >= 'a' && (name[-1] | 32) <= 'z')))
            name--;
        if (strncmp(one, "Extent", 6) == 0 || strncmp(one, "Pitched to", 10) == 0)
            return 0;
        if (strncmp(one, "Dim3", 4) == 0) {
            words[count++] = 1 | (Word)1 << 32;
            words[count++] = roll(4);
        } else {
            words[count++] = any_word(one, name, copies);
        }
    }
    return 1;
}

static void make_handles(void) {
    for (unsigned i = 0; i < HANDLES; i += 8) {
        cudaStreamCreateWithFlags(&handles[i], 1);
        cudaEventCreate(&handles[i + 1]);
        cudaGraphCreate(&handles[i + 2], 0);
        cudaGraphAddEmptyNode(&handles[i + 3], handles[i + 2], NULL, 0);
        cudaGraphInstantiateWithFlags(&handles[i + 4], handles[i + 2], 0);
        handles[i + 5] = roll(2) ? memory : (void *)room;
        cuModuleLoadData(&handles[i + 6], ptx);
        cuModuleGetFunction(&handles[i + 7], handles[i + 6], "kernel");
    }
}

int main(int argc, char **argv) {
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1, calls = 0, good = 0;
    state = argc > 2 ? (uint64_t)atoi(argv[2]) : 1;
    void **handle = __cudaRegisterFatBinary(fatbin_of(ptx, 1));
    __cudaRegisterFunction(handle, &kernel, &kernel, "kernel", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(handle, variable, variable, "variable", 0, 4, 0, 0);
    cudaMalloc(&memory, 4096);
    for (unsigned round = 0; round < rounds; round++) {
        if (round % 16 == 0)
            make_handles();
        for (unsigned i = 0; i < ENTRIES; i++) {
            Word words[MOST] = {0};
            void *found = dlsym(RTLD_DEFAULT, entries[i].name);
            int calls_out = strstr(entries[i].name, "HostFunc") || strstr(entries[i].name, "Callback") ||
                            strstr(entries[i].name, "PotentialBlockSize");
            int ends = strstr(entries[i].name, "Reset") || strstr(entries[i].name, "Exit") ||
                       strstr(entries[i].name, "CtxRelease");
            if (!found || calls_out || (ends && roll(8)) || !make_words(&entries[i], words))
                continue;
            void *primary;
            cuDevicePrimaryCtxRetain(&primary, 0);
            cuCtxSetCurrent(primary);
            if (argc > 3)
                fprintf(stderr, "%s\n", entries[i].name);
            int error = (int)(*(Words **)&found)(words[0], words[1], words[2], words[3], words[4], words[5], words[6],
                                                 words[7], words[8], words[9], words[10], words[11], words[12],
                                                 words[13], words[14], words[15]);
            if (strcmp(cudaGetErrorName(error), "unrecognized error code") == 0) {
                printf("%s gave %d, which is no error of CUDA\n", entries[i].name, error);
                return 1;
            }
            calls++;
            good += !error;
        }
        void *again;
        if (cudaMalloc(&again, 4096) == 0)
            memory = again;
    }
    printf("%u calls of %d entry points, %u of which succeeded\n", calls, (int)ENTRIES, good);
    return 0;
}
