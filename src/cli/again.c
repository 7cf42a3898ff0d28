/* A launch that failed: the command with which its records outlive that, and the access or arrival that caused it is
 * named. */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So that all are recorded. */
#define ALL_LAUNCHES "1000000"

/* Options that another run takes from this one are all but these. */
static const struct {
    const char *name;
    bool takes; /* a word */
} left_out[] = {{"--only", true},         {"--exclude", true},           {"--keep", true}, {"--record-launches", true},
                {"--record-host", false}, {"--rerun-on-failure", false}, {"--", false},    {0}};

/* How many words that option is, if it is to be left out; else 0. */
static size_t left_out_words(const char *word) {
    for (size_t i = 0; left_out[i].name; i++) {
        size_t length = strlen(left_out[i].name);
        if (strcmp(word, left_out[i].name) == 0)
            return left_out[i].takes ? 2 : 1;
        if (left_out[i].takes && strncmp(word, left_out[i].name, length) == 0 && word[length] == '=')
            return 1;
    }
    return 0;
}

/* As a shell takes it for one word. */
static void print_word(FILE *to, const char *word) {
    bool plain = *word;
    for (const char *at = word; *at; at++)
        plain &= isalnum((unsigned char)*at) || strchr("_-+=./,:@%^", *at);
    if (plain) {
        fprintf(to, " %s", word);
        return;
    }
    fputs(" '", to);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", to);
        else
            fputc(*word, to);
    fputc('\'', to);
}

/* The words that this command was started with; NULL: they cannot be read. */
static Paths own_words(void) {
    Paths words = {0};
    char *word = NULL;
    size_t size = 0;
    FILE *from = fopen("/proc/self/cmdline", "r");
    while (from && getdelim(&word, &size, 0, from) > 0)
        if (!paths_append(&words, word))
            break;
    if (from)
        fclose(from);
    free(word);
    return words;
}

static void print_options(FILE *to, const Paths *words, size_t end) {
    for (size_t i = 2; i < end;) {
        size_t skipped = left_out_words(words->items[i]);
        if (!skipped)
            print_word(to, words->items[i]);
        i += skipped ? skipped : 1;
    }
}

void again_say(const Recorded *recorded, const Options *options) {
    Paths words = own_words();
    if (recorded->failed_kernel)
        complain(
            "a launch of %s failed with CUDA error %d, and its records were lost with the device's memory. To find "
            "what caused it:",
            recorded->failed_kernel, recorded->failed);
    else
        complain("a launch that was not recorded failed with CUDA error %d. To find what caused it:", recorded->failed);
    fputs("   ", stderr);
    print_word(stderr, words.count ? words.items[0] : "weir");
    fputs(" exec --record-host", stderr);
    if (recorded->failed_kernel) {
        fputs(" --only", stderr);
        print_word(stderr, recorded->failed_kernel);
    } else {
        fputs(" --record-launches " ALL_LAUNCHES, stderr);
    }
    if (words.count > options->operands.count + 2)
        print_options(stderr, &words, words.count - options->operands.count);
    fputs(" --", stderr);
    for (size_t i = 0; i < options->operands.count; i++)
        print_word(stderr, options->operands.items[i]);
    fputc('\n', stderr);
    paths_free(&words);
}

/* Then where a launch traps is recorded, too: all memory, and that. */
bool record_on_host(void) {
    return setenv("WEIR_RECORD_HOST", "1", 1) == 0 && setenv("WEIR_RECORD_SPACES", "15", 0) == 0;
}

bool again_environment(const Recorded *recorded) {
    return record_on_host() && (recorded->failed_kernel ? setenv("WEIR_RECORD_ONLY", recorded->failed_kernel, 1) == 0 &&
                                                              setenv("WEIR_RECORD_EXCLUDE", "", 1) == 0
                                                        : setenv("WEIR_RECORD_LAUNCHES", ALL_LAUNCHES, 1) == 0);
}
