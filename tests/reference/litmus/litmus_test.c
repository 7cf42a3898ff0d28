/* Holds the evaluator against expected values.
 *
 *   litmus_test TABLE...   lines `FILE,1` as in Dat3M's dartagnan/src/test/resources/PTXv7_5-expected.csv, files
 * relative to the folder given by --root; of a table with "Liveness" in its name the value says whether all threads
 * end. Or lines `FILE holds finishes race`, separated by tabs, of a table *.tsv, files relative to it. Prints what
 * differs, and `N passed, N failed`. */
#include "litmus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Counts {
    int passed, failed;
} Counts;

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    enum { MOST = 1 << 20 };
    char *text = calloc(1, MOST + 1);
    if (text != NULL) {
        text[fread(text, 1, MOST, file)] = '\0';
    }
    fclose(file);
    return text;
}

static bool evaluate(const char *path, Verdict *verdict) {
    static Test test;
    char *text = read_text(path);
    const char *problem = "it cannot be read";
    bool fine = text != NULL && litmus_parse(text, &test, &problem);
    free(text);
    if (!fine) {
        printf("%s: %s\n", path, problem);
        return false;
    }
    litmus_evaluate(&test, verdict);
    return true;
}

static void count(Counts *counts, const char *path, const char *what, int expected, int found) {
    if (expected == found) {
        counts->passed++;
        return;
    }
    counts->failed++;
    printf("%s: %s is %d, expected %d\n", path, what, found, expected);
}

static void csv_line(Counts *counts, const char *root, char *line, bool liveness) {
    char *comma = strrchr(line, ',');
    if (comma == NULL) {
        return;
    }
    *comma = '\0';
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", root, line);
    Verdict verdict;
    if (!evaluate(path, &verdict)) {
        counts->failed++;
        return;
    }
    count(counts, path, liveness ? "all threads end" : "condition", atoi(comma + 1),
          liveness ? verdict.finishes : verdict.holds);
}

static void tsv_line(Counts *counts, const char *folder, const char *line) {
    char name[256], path[8192];
    int holds, finishes, race;
    if (line[0] == '#' || sscanf(line, "%255s %d %d %d", name, &holds, &finishes, &race) != 4) {
        return;
    }
    snprintf(path, sizeof path, "%s/%s.litmus", folder, name);
    Verdict verdict;
    if (!evaluate(path, &verdict)) {
        counts->failed++;
        return;
    }
    count(counts, path, "condition", holds, verdict.holds);
    count(counts, path, "all threads end", finishes, verdict.finishes);
    count(counts, path, "race", race, verdict.race);
}

static void table(Counts *counts, const char *root, const char *path) {
    char *text = read_text(path);
    if (text == NULL) {
        printf("%s: it cannot be read\n", path);
        counts->failed++;
        return;
    }
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    *(slash == NULL ? folder : slash) = '\0';
    bool tsv = strstr(path, ".tsv") != NULL, liveness = strstr(path, "Liveness") != NULL;
    char *rest = text;
    for (char *line = strsep(&rest, "\r\n"); line != NULL; line = strsep(&rest, "\r\n")) {
        if (tsv) {
            tsv_line(counts, folder, line);
        } else {
            csv_line(counts, root, line, liveness);
        }
    }
    free(text);
}

int main(int argc, char **argv) {
    Counts counts = {0, 0};
    const char *root = ".";
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--root") == 0 && i + 1 < argc) {
            root = argv[++i];
        } else {
            table(&counts, root, argv[i]);
        }
    }
    printf("%d passed, %d failed\n", counts.passed, counts.failed);
    return counts.failed > 0 || counts.passed == 0;
}
