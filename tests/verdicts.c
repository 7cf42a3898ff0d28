/* Holds what `weir run --format json` said of a folder against what is expected of it:
 *
 *     verdicts EXPECTED.tsv DIR/ <REPORT.json
 *     verdicts --space SPACE EXPECTED.tsv DIR/ <REPORT.json
 *
 * A line of EXPECTED.tsv is a file, with DIR in front, and what it deserves: `clean`, `incomplete`, or the family of
 * rules (`race`, `deadlock`) of which at least one must be found in it. Files without a line are passed over. Prints
 * each file whose verdict differs, and each that no verdict was given on (where clean is deserved, incomplete is
 * neither right nor wrong), then
 *
 *     N as expected, N differ, N incomplete
 *
 * With --space a line is a file and a rule, one of those found in it about that space (`global`), notes included: all
 * have a line, and all lines are found, of those files that were run. What follows on the line is for people, as is a
 * line that begins with a number sign.
 *
 * Exit status: 0 if none differs, 1 if some do, 2 if an input cannot be read. */
#include <jansson.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Line {
    char *file, *wanted;
    bool run, seen; /* its file was; what is wanted of it was */
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
        if (!tab || *text == '#' || strncmp(text, "file\t", strlen("file\t")) == 0)
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
    if (strcmp(wanted, "clean") == 0 || strcmp(wanted, "incomplete") == 0)
        return verdict && strcmp(verdict, wanted) == 0;
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

/* The file's name below the folder; NULL: it is elsewhere. */
static const char *file_of(const json_t *input, const char *folder) {
    const char *file = json_string_value(json_object_get(input, "file"));
    return file && strncmp(file, folder, strlen(folder)) == 0 ? file + strlen(folder) : NULL;
}

/* Returns how many differ. */
static size_t judge_verdicts(const json_t *inputs, Lines *lines, const char *folder) {
    size_t same = 0, different = 0, incomplete = 0, i;
    const json_t *input;
    json_array_foreach(inputs, i, input) {
        const char *file = file_of(input, folder);
        const char *verdict = json_string_value(json_object_get(input, "verdict"));
        Line *line = file && verdict ? find_line(lines, file) : NULL;
        if (!line)
            continue;
        line->seen = true;
        bool open = strcmp(verdict, "incomplete") == 0 && strcmp(line->wanted, "clean") == 0;
        bool right = !open && is_as_wanted(input, line->wanted);
        incomplete += open;
        same += right;
        different += !open && !right;
        if (!open && !right)
            print_difference(input, line);
    }
    for (i = 0; i < lines->count; i++)
        if (!lines->items[i].seen) {
            different++;
            printf("no verdict: %s: expected %s\n", lines->items[i].file, lines->items[i].wanted);
        }
    printf("%zu as expected, %zu differ, %zu incomplete\n", same, different, incomplete);
    return different;
}

/* The line of a rule that was found in a file. */
static Line *find_rule(const Lines *lines, const char *file, const char *rule) {
    for (size_t i = 0; i < lines->count; i++)
        if (strcmp(lines->items[i].file, file) == 0 && strcmp(lines->items[i].wanted, rule) == 0)
            return &lines->items[i];
    return NULL;
}

/* Of one file; returns how many of its findings have no line. */
static size_t judge_findings(const json_t *input, const Lines *lines, const char *file, const char *space) {
    size_t unlisted = 0, i;
    const json_t *finding;
    json_array_foreach(json_object_get(input, "findings"), i, finding) {
        const char *about = json_string_value(json_object_get(finding, "space"));
        const char *rule = json_string_value(json_object_get(finding, "rule"));
        if (!about || !rule || strcmp(about, space) != 0)
            continue;
        Line *line = find_rule(lines, file, rule);
        if (line) {
            line->seen = true;
            continue;
        }
        unlisted++;
        printf("not expected: %s: %s: %s\n", file, rule, json_string_value(json_object_get(finding, "message")));
    }
    return unlisted;
}

/* Returns how many differ. */
static size_t judge_space(const json_t *inputs, Lines *lines, const char *folder, const char *space) {
    size_t same = 0, different = 0, i;
    const json_t *input;
    json_array_foreach(inputs, i, input) {
        const char *file = file_of(input, folder);
        for (size_t k = 0; file && k < lines->count; k++)
            lines->items[k].run |= strcmp(lines->items[k].file, file) == 0;
        different += file ? judge_findings(input, lines, file, space) : 0;
    }
    for (i = 0; i < lines->count; i++) {
        const Line *line = &lines->items[i];
        same += line->seen;
        if (line->run && !line->seen) {
            different++;
            printf("not found: %s: expected %s\n", line->file, line->wanted);
        }
    }
    printf("%zu as expected, %zu differ\n", same, different);
    return different;
}

int main(int count, char **arguments) {
    const char *space = count == 5 && strcmp(arguments[1], "--space") == 0 ? arguments[2] : NULL;
    if (!space && count != 3) {
        fprintf(stderr, "Usage: verdicts [--space SPACE] EXPECTED.tsv DIR/ <REPORT.json\n");
        return 2;
    }
    const char *expected = arguments[count - 2], *folder = arguments[count - 1];
    Lines lines = read_lines(expected);
    json_error_t error;
    json_t *report = json_loadf(stdin, 0, &error);
    if (!report)
        give_up("the report", error.text);
    const json_t *inputs = json_object_get(report, "inputs");
    size_t different = space ? judge_space(inputs, &lines, folder, space) : judge_verdicts(inputs, &lines, folder);
    for (size_t i = 0; i < lines.count; i++) {
        free(lines.items[i].file);
        free(lines.items[i].wanted);
    }
    free(lines.items);
    json_decref(report);
    return different > 0;
}
