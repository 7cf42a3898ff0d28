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
    bool written;
} Unseen;

static Unseen *first;
static uint64_t count;
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
        *unseen = (Unseen){.next = first, .kernel = strdup(kernel), .why = sentence};
        sentence = NULL;
        first = unseen;
    }
    if (unseen)
        unseen->launches++;
    count++;
    pthread_mutex_unlock(&mutex);
    free(sentence);
}

/* All that is said of one kernel. */
static void write_kernel(const Unseen *of) {
    Text sentences = {0};
    for (Unseen *unseen = first; unseen; unseen = unseen->next) {
        if (strcmp(unseen->kernel, of->kernel) != 0)
            continue;
        text_addf(&sentences, "%s: %llu launch%s not looked at", unseen->why, (unsigned long long)unseen->launches,
                  unseen->launches == 1 ? " was" : "es were");
        text_char(&sentences, 0);
        unseen->written = true;
    }
    Recording recording = {.launch.abi = 1,
                           .kernel = of->kernel,
                           .device = "",
                           .unseen = {sentences.data, sentences.size}};
    drain_write(&recording);
    text_free(&sentences);
}

void gpu_unseen_write(void) {
    pthread_mutex_lock(&mutex);
    for (Unseen *unseen = first; unseen; unseen = unseen->next)
        if (!unseen->written)
            write_kernel(unseen);
    pthread_mutex_unlock(&mutex);
}

uint64_t gpu_unseen_count(void) {
    return count;
}
