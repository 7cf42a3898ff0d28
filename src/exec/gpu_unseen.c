/* What was launched and not looked at: each kernel with the reasons, and how often. It becomes a recording that has
 * nothing else in it, so that whoever checks the folder comes to know of it. */
#include "exec/gpu.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Unseen {
    struct Unseen *next;
    char *kernel, *why;
    uint64_t launches;
    bool library, written; /* library: it has no PTX */
} Unseen;

enum { NAMES_MOST = 8 };

static Unseen *first;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void gpu_unseen(const char *kernel, const char *why, ...) {
    va_list arguments;
    char *sentence = NULL;
    va_start(arguments, why);
    if (vasprintf(&sentence, why, arguments) < 0)
        sentence = NULL;
    va_end(arguments);
    if (!sentence)
        return;
    pthread_mutex_lock(&mutex);
    Unseen *unseen = first;
    while (unseen && (strcmp(unseen->kernel, kernel) != 0 || strcmp(unseen->why, sentence) != 0))
        unseen = unseen->next;
    if (!unseen && (unseen = calloc(1, sizeof *unseen))) {
        *unseen = (Unseen){
            .next = first, .kernel = strdup(kernel), .why = sentence, .library = strcmp(sentence, NO_PTX) == 0};
        sentence = NULL;
        first = unseen;
    }
    if (unseen)
        unseen->launches++;
    pthread_mutex_unlock(&mutex);
    free(sentence);
}

static void write_sentences(const char *kernel, Text *sentences) {
    text_char(sentences, 0);
    Recording recording = {
        .launch.abi = RECORDING_ABI, .kernel = kernel, .device = "", .unseen = {sentences->data, sentences->size}};
    drain_write(&recording);
    text_free(sentences);
}

/* All that is said of one kernel. */
static void write_kernel(const Unseen *of) {
    Text sentences = {0};
    for (Unseen *unseen = first; unseen; unseen = unseen->next) {
        if (strcmp(unseen->kernel, of->kernel) != 0 || unseen->written)
            continue;
        if (sentences.size)
            text_char(&sentences, 0);
        text_addf(&sentences, "%s: %llu launch%s not looked at", unseen->why, (unsigned long long)unseen->launches,
                  unseen->launches == 1 ? " was" : "es were");
        unseen->written = true;
    }
    write_sentences(of->kernel, &sentences);
}

/* Whether one before it in the list has the same plain name. */
static bool is_named(const Unseen *of) {
    for (const Unseen *unseen = first; unseen != of; unseen = unseen->next)
        if (unseen->library && str_equal(symbol_plain(unseen->kernel), symbol_plain(of->kernel)))
            return true;
    return false;
}

/* Kernels of libraries, in one sentence; all of their names are in the log. */
static void write_libraries(void) {
    uint64_t kernels = 0, launches = 0, named = 0;
    Text sentence = {0}, names = {0};
    for (Unseen *unseen = first; unseen; unseen = unseen->next) {
        if (!unseen->library)
            continue;
        kernels++;
        launches += unseen->launches;
        unseen->written = true;
        folder_log("machine-code %s, launches: %llu", unseen->kernel, (unsigned long long)unseen->launches);
        if (is_named(unseen) || ++named > NAMES_MOST)
            continue;
        text_addf(&names, "%s%.*s", named > 1 ? ", " : "", STR_ARG(symbol_plain(unseen->kernel)));
    }
    if (!kernels)
        return;
    text_addf(&sentence, "%llu launch%s of %llu kernel%s that ha%s no PTX, only machine code, %s not looked at: %.*s",
              (unsigned long long)launches, launches == 1 ? "" : "es", (unsigned long long)kernels,
              kernels == 1 ? "" : "s", kernels == 1 ? "s" : "ve", launches == 1 ? "was" : "were", (int)names.size,
              names.data ? names.data : "");
    if (named > NAMES_MOST)
        text_addf(&sentence, " and %llu more", (unsigned long long)(named - NAMES_MOST));
    text_free(&names);
    write_sentences("kernels_without_ptx", &sentence);
}

void gpu_unseen_write(void) {
    pthread_mutex_lock(&mutex);
    write_libraries();
    for (Unseen *unseen = first; unseen; unseen = unseen->next)
        if (!unseen->written)
            write_kernel(unseen);
    pthread_mutex_unlock(&mutex);
}
