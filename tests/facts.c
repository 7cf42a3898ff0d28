/* Holds JSON reports against facts that were worked out by hand: facts WEIR FACTS.tsv FOLDER
 *
 * A line of the list is FILE, a path, a value, with tabs between; FILE is relative to FOLDER, may be followed by `#N`,
 * the module of it, and stands for the FILE of the line before if it is empty. `weir report --format json` is run once
 * for each. A path is made of keys with dots between; after a key may come [N], an item of the list from 0, or
 * [key=value,key=value], the first item that has these, or [*] and [*key=value,...], all items, or all that have
 * these: what follows is then looked for in each, and lists that are found there are one list. At the end of a path, #
 * is the number of items, and #[key=value] that of those items that have it. A value that is a text is compared as it
 * is; numbers, true, false and null as JSON writes them. Lines that start with a hash sign, and empty ones, are passed
 * over.
 *
 * Prints what differs, and at last `N passed, N failed`. */
#include <jansson.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LINE = 1 << 16, LONGEST_PATH = 4096 };

static json_t *read_report(const char *weir, const char *folder, const char *file) {
    char command[3 * LONGEST_PATH], name[LONGEST_PATH], module[64] = "";
    snprintf(name, sizeof name, "%s", file);
    char *number = strchr(name, '#');
    if (number) {
        snprintf(module, sizeof module, "--module %d", atoi(number + 1));
        *number = 0;
    }
    snprintf(command, sizeof command, "'%s' report --prove-time 0 --format json %s '%s/%s' 2>/dev/null", weir, module, folder, name);
    FILE *out = popen(command, "r");
    json_t *report = out ? json_loadf(out, 0, NULL) : NULL;
    if (out)
        pclose(out);
    return report;
}

static bool equals(const json_t *value, const char *text) {
    if (json_is_string(value))
        return strcmp(json_string_value(value), text) == 0;
    char *written = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    bool same = written && strcmp(written, text) == 0;
    free(written);
    return same;
}

/* Whether an item has every key=value of a list, which it takes apart. */
static bool matches(const json_t *item, const char *conditions) {
    char copy[LONGEST_PATH], *rest = copy;
    snprintf(copy, sizeof copy, "%s", conditions);
    for (char *one; (one = strsep(&rest, ","));) {
        char *value = strchr(one, '=');
        if (!value)
            return false;
        *value++ = 0;
        const json_t *have = json_object_get(item, one);
        if (!have || !equals(have, value))
            return false;
    }
    return true;
}

/* Lists that were put together, which are forgotten with the path. */
static json_t *new_list(json_t *made) {
    json_t *list = json_array();
    json_array_append_new(made, list);
    return list;
}

static const json_t *pick_all(const json_t *list, const char *conditions, json_t *made) {
    json_t *found = new_list(made);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!*conditions || matches(json_array_get(list, i), conditions))
            json_array_append(found, json_array_get(list, i));
    return found;
}

/* What an object has under a key; what all of a list have, as one list. */
static const json_t *get(const json_t *of, const char *key, json_t *made) {
    if (!json_is_array(of))
        return json_object_get(of, key);
    json_t *found = new_list(made);
    for (size_t i = 0; i < json_array_size(of); i++) {
        json_t *value = json_object_get(json_array_get(of, i), key);
        if (json_is_array(value))
            json_array_extend(found, value);
        else if (value)
            json_array_append(found, value);
    }
    return found;
}

static const json_t *pick(const json_t *list, const char *selector, json_t *made) {
    char *end;
    if (*selector == '*')
        return pick_all(list, selector + 1, made);
    long index = strtol(selector, &end, 10);
    if (!*end)
        return json_array_get(list, (size_t)index);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (matches(json_array_get(list, i), selector))
            return json_array_get(list, i);
    return NULL;
}

static size_t count_items(const json_t *list, const char *selector) {
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        count += !selector || matches(json_array_get(list, i), selector);
    return count;
}

/* The next key of a path and what stands in brackets after it (NULL if nothing does); the path goes on behind it. */
static char *next_key(char **path, char **selector) {
    char *key = *path, *at = key;
    *selector = NULL;
    while (*at && *at != '.' && *at != '[')
        at++;
    if (*at == '[') {
        *at++ = 0;
        *selector = at;
        while (*at && *at != ']')
            at++;
        if (*at)
            *at++ = 0;
    }
    if (*at)
        *at++ = 0;
    *path = at;
    return key;
}

/* Whether the report says so; what it says instead is left in `found`. */
static bool says(const json_t *report, const char *fact, const char *expected, char *found, size_t size, json_t *made) {
    char copy[LONGEST_PATH], *path = copy;
    const json_t *at = report;
    snprintf(copy, sizeof copy, "%s", fact);
    snprintf(found, size, "nothing");
    while (*path) {
        char *selector, *key = next_key(&path, &selector);
        if (strcmp(key, "#") == 0) {
            snprintf(found, size, "%zu", count_items(at, selector));
            return json_is_array(at) && strcmp(found, expected) == 0;
        }
        at = get(at, key, made);
        if (selector)
            at = pick(at, selector, made);
        if (!at)
            return strcmp(expected, "nothing") == 0;
    }
    char *written = json_is_string(at) ? strdup(json_string_value(at)) : json_dumps(at, JSON_ENCODE_ANY | JSON_COMPACT);
    snprintf(found, size, "%s", written ? written : "");
    free(written);
    return equals(at, expected);
}

static bool check(const json_t *report, const char *fact, const char *expected, char *found, size_t size) {
    json_t *made = json_array();
    bool good = says(report, fact, expected, found, size, made);
    json_decref(made);
    return good;
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: facts WEIR FACTS.tsv FOLDER\n");
        return 2;
    }
    FILE *facts = fopen(arguments[2], "r");
    if (!facts) {
        perror(arguments[2]);
        return 2;
    }
    static char line[LONGEST_LINE], file[LONGEST_PATH], found[LONGEST_LINE];
    json_t *report = NULL;
    unsigned passed = 0, failed = 0, number = 0;
    while (fgets(line, sizeof line, facts)) {
        char *rest = line;
        number++;
        line[strcspn(line, "\n")] = 0;
        if (!*line || *line == '#')
            continue;
        const char *name = strsep(&rest, "\t"), *path = strsep(&rest, "\t"), *value = rest ? rest : "";
        if (*name) {
            json_decref(report);
            snprintf(file, sizeof file, "%s", name);
            report = read_report(arguments[1], arguments[3], file);
        }
        if (path && report && check(report, path, value, found, sizeof found)) {
            passed++;
            continue;
        }
        failed++;
        printf("%s:%u: %s: %s is %s, not %s\n", arguments[2], number, file, path ? path : "",
               report ? found : "no report", value);
    }
    json_decref(report);
    fclose(facts);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
