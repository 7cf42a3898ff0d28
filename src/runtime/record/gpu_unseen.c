/* What was launched and not looked at: each kernel with the reasons, and how often. It becomes a recording that has
 * nothing else in it, so that a check of the folder knows of it. */
#include "runtime/record/gpu.h"
#include "runtime/record/gpu_named.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct RecordUnseen {
    struct RecordUnseen *next;
    char *kernel, *why;
    uint64_t launches;
    bool library, written; /* library: it has no PTX */
} RecordUnseen;

static RecordUnseen *first;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void add(const char *kernel, uint64_t launches, const char *why, va_list arguments) {
    char *sentence = NULL;
    if (vasprintf(&sentence, why, arguments) < 0)
        return;
    RecordUnseen *unseen = first;
    while (unseen && (strcmp(unseen->kernel, kernel) != 0 || strcmp(unseen->why, sentence) != 0))
        unseen = unseen->next;
    if (unseen) {
        free(sentence);
    } else if ((unseen = calloc(1, sizeof *unseen))) {
        *unseen = (RecordUnseen){
            .next = first, .kernel = strdup(kernel), .why = sentence, .library = strcmp(sentence, NO_PTX) == 0};
        first = unseen;
    }
    if (unseen)
        unseen->launches += launches;
}

void gpu_unseen_times(uint64_t times, const char *kernel, const char *why, ...) {
    va_list arguments;
    va_start(arguments, why);
    pthread_mutex_lock(&mutex);
    add(kernel, times, why, arguments);
    pthread_mutex_unlock(&mutex);
    va_end(arguments);
}

void gpu_unseen_program(const char *why, ...) {
    va_list arguments;
    va_start(arguments, why);
    pthread_mutex_lock(&mutex);
    add("program", 0, why, arguments);
    pthread_mutex_unlock(&mutex);
    va_end(arguments);
}

/* The mutex is held. */
__attribute__((format(printf, 3, 4))) static void add_more(const char *kernel, uint64_t launches, const char *why,
                                                           ...) {
    va_list arguments;
    va_start(arguments, why);
    add(kernel, launches, why, arguments);
    va_end(arguments);
}

static void add_missed(const char *kernel, const char *other, uint64_t launches) {
    add_more(kernel, launches,
             "it could run at the same time as %s, and the two were not recorded together with these arguments", other);
}

static void write_texts(const char *kernel, Text *sentences, Text *libraries) {
    Recording recording = {.launch.abi = RECORDING_ABI,
                           .kernel = kernel,
                           .device = "",
                           .unseen = {sentences->data, sentences->size},
                           .libraries = {libraries->data, libraries->size}};
    drain_write(&recording, 0);
    text_free(sentences);
    text_free(libraries);
}

/* All that is said of one kernel. */
static void write_kernel(const RecordUnseen *of) {
    Text sentences = {0}, none = {0};
    for (RecordUnseen *unseen = first; unseen; unseen = unseen->next) {
        if (strcmp(unseen->kernel, of->kernel) != 0 || unseen->written)
            continue;
        text_addf(&sentences, "%s", unseen->why);
        if (unseen->launches)
            text_addf(&sentences, ": %llu launch%s not checked", (unsigned long long)unseen->launches,
                      unseen->launches == 1 ? " was" : "es were");
        text_char(&sentences, 0);
        unseen->written = true;
    }
    write_texts(of->kernel, &sentences, &none);
}

/* Kernels of libraries, with how often each was launched. They are no gap in what was looked at if each of their
 * launches is ordered with all that was. */
static uint64_t write_libraries(void) {
    uint64_t launches = 0, beside = order_on() ? order_library_beside() : 0;
    Text names = {0}, sentence = {0};
    for (RecordUnseen *unseen = first; unseen; unseen = unseen->next) {
        if (!unseen->library)
            continue;
        launches += unseen->launches;
        unseen->written = true;
        text_addf(&names, "%llu %s", (unsigned long long)unseen->launches, unseen->kernel);
        text_char(&names, 0);
    }
    if (!names.size)
        return 0;
    if (beside) {
        text_addf(&sentence,
                  "%llu launch%s of kernels that have no PTX could run at the same time as launches that were "
                  "checked: races between them were not checked",
                  (unsigned long long)beside, beside == 1 ? "" : "es");
        text_char(&sentence, 0);
    }
    write_texts("kernels_without_ptx", &sentence, &names);
    return launches;
}

uint64_t gpu_unseen_write(void) {
    OrderDoubts doubts = order_doubts();
    pthread_mutex_lock(&mutex);
    if (!named_on()) /* else the order log has where they may access memory */
        order_each_missed(add_missed);
    if (doubts.late)
        add_more("program", 0,
                 "launches were checked and dropped when one thread of the host knew them to be over, and another one "
                 "made launches or copies then: races between these were not checked");
    if (doubts.domains)
        add_more(
            "program", 0,
            "launches are in two memory synchronization domains (CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN) and can run at "
            "the same time: that operations of scope .gpu do not order these was not checked");
    if (doubts.crowded)
        add_more("program", 0, "there are more than %d streams at once: races between launches were not all checked",
                 ORDER_STREAMS);
    uint64_t libraries = write_libraries();
    for (RecordUnseen *unseen = first; unseen; unseen = unseen->next)
        if (!unseen->written)
            write_kernel(unseen);
    pthread_mutex_unlock(&mutex);
    return libraries;
}
