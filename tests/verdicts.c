/* Holds what `weir run --format json` said of a folder against what is expected of it:
 *
 *     verdicts EXPECTED.tsv DIR/ <REPORT.json
 *
 * A line of EXPECTED.tsv is a file, with DIR in front, and what it deserves: `clean`, or the family of rules (`race`,
 * `deadlock`) of which at least one must be found in it. Files without a line are passed over. Prints each file whose
 * verdict differs, and each that no verdict was given on, then
 *
 *     N as expected, N differ, N incomplete
 *
 * Exit status: 0 if none differs, 1 if some do, 2 if an input cannot be read. */
#include <jansson.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Line {
    char *file, *wanted;
    bool seen;
} Line;

typedef struct Lines {
    Line *items;
    size_t count;
} Lines;

static void give_up(const char *what, const char *why) {
    fprintf(stderr, "verdicts: %s: %s\n", what, why);
    exit(2);
}

static Lines read_lines(const char *path) {
    Lines lines = {0};
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    if (!file)
        give_up(path, "cannot be opened");
    while (getline(&text, &size, file) > 0) {
        char *tab = strchr(text, '\t');
        if (!tab || strncmp(text, "file\t", strlen("file\t")) == 0)
            continue;
        *tab = 0;
        tab[1 + strcspn(tab + 1, "\t\r\n")] = 0;
        lines.items = realloc(lines.items, (lines.count + 1) * sizeof *lines.items);
        if (!lines.items)
            give_up(path, "there is no memory");
        lines.items[lines.count++] = (Line){.file = strdup(text), .wanted = strdup(tab + 1)};
    }
    free(text);
    fclose(file);
    return lines;
}

static Line *find_line(const Lines *lines, const char *file) {
    for (size_t i = 0; i < lines->count; i++)
        if (strcmp(lines->items[i].file, file) == 0)
            return &lines->items[i];
    return NULL;
}

static bool is_as_wanted(const json_t *input, const char *wanted) {
    const char *verdict = json_string_value(json_object_get(input, "verdict"));
    if (strcmp(wanted, "clean") == 0)
        return verdict && strcmp(verdict, "clean") == 0;
    const json_t *finding;
    size_t i, family = strlen(wanted);
    json_array_foreach(json_object_get(input, "findings"), i, finding) {
        const char *rule = json_string_value(json_object_get(finding, "rule"));
        if (rule && strncmp(rule, wanted, family) == 0 && rule[family] == '.')
            return true;
    }
    return false;
}

/* The verdict, and the rules, or the first reason, that made it. */
static void print_difference(const json_t *input, const Line *line) {
    printf("verdict differs: %s: expected %s, found %s", line->file, line->wanted,
           json_string_value(json_object_get(input, "verdict")));
    const json_t *item;
    size_t i;
    json_array_foreach(json_object_get(input, "findings"), i, item)
        printf("%s%s", i ? ", " : ": ", json_string_value(json_object_get(item, "rule")));
    const json_t *reason = json_array_get(json_object_get(input, "incomplete"), 0);
    if (!i && reason)
        printf(": %s", json_string_value(json_object_get(reason, "reason")));
    printf("\n");
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "Usage: verdicts EXPECTED.tsv DIR/ <REPORT.json\n");
        return 2;
    }
    Lines lines = read_lines(arguments[1]);
    const char *folder = arguments[2];
    json_error_t error;
    json_t *report = json_loadf(stdin, 0, &error);
    if (!report)
        give_up("the report", error.text);
    size_t same = 0, different = 0, incomplete = 0, i;
    const json_t *input;
    json_array_foreach(json_object_get(report, "inputs"), i, input) {
        const char *file = json_string_value(json_object_get(input, "file"));
        const char *verdict = json_string_value(json_object_get(input, "verdict"));
        if (!file || !verdict || strncmp(file, folder, strlen(folder)) != 0)
            continue;
        Line *line = find_line(&lines, file + strlen(folder));
        if (!line)
            continue;
        line->seen = true;
        incomplete += strcmp(verdict, "incomplete") == 0;
        if (is_as_wanted(input, line->wanted)) {
            same++;
            continue;
        }
        different++;
        print_difference(input, line);
    }
    for (i = 0; i < lines.count; i++) {
        if (!lines.items[i].seen) {
            different++;
            printf("no verdict: %s: expected %s\n", lines.items[i].file, lines.items[i].wanted);
        }
        free(lines.items[i].file);
        free(lines.items[i].wanted);
    }
    free(lines.items);
    json_decref(report);
    printf("%zu as expected, %zu differ, %zu incomplete\n", same, different, incomplete);
    return different > 0;
}
