/* Patterns matched by keeping all places of the pattern where the path so far may have led. */
#include "config/glob.h"

/* The end of a set, "[...]", that begins at `at`; past the end of the pattern if it does not end. A bracket that comes
 * first is one of the set. */
static size_t set_end(Str pattern, size_t at) {
    size_t i = at + 1;
    if (i < pattern.size && (pattern.data[i] == '!' || pattern.data[i] == '^'))
        i++;
    for (i++; i < pattern.size; i++)
        if (pattern.data[i] == ']')
            return i + 1;
    return pattern.size + 1;
}

static bool set_has(Str set, char c) {
    bool negated = set.data[1] == '!' || set.data[1] == '^', found = false;
    for (size_t i = negated ? 2 : 1; i < set.size - 1; i++) {
        unsigned char low = (unsigned char)set.data[i], high = low;
        if (i + 2 < set.size - 1 && set.data[i + 1] == '-') {
            high = (unsigned char)set.data[i + 2];
            i += 2;
        }
        found |= (unsigned char)c >= low && (unsigned char)c <= high;
    }
    return found != negated && c != '/';
}

const char *glob_problem(Str pattern) {
    if (!pattern.size)
        return "a pattern must not be empty";
    if (pattern.size > GLOB_LONGEST)
        return "a pattern has at most 512 characters";
    for (size_t i = 0; i < pattern.size; i++) {
        if (pattern.data[i] == '[') {
            i = set_end(pattern, i) - 1;
            if (i >= pattern.size)
                return "a '[' in a pattern must be closed by ']'";
        }
    }
    return NULL;
}

/* "**" followed by a slash, or at the end: folders, none or many. */
static size_t folders_at(Str pattern, size_t at) {
    bool stars = at + 1 < pattern.size && pattern.data[at] == '*' && pattern.data[at + 1] == '*';
    bool starts = at == 0 || pattern.data[at - 1] == '/';
    if (!stars || !starts)
        return 0;
    return at + 2 == pattern.size ? 2 : pattern.data[at + 2] == '/' ? 3 : 0;
}

/* Adds the place, and those that nothing leads to from it. */
static void reach(Str pattern, bool *places, size_t at) {
    for (; at <= pattern.size && !places[at]; at++) {
        places[at] = true;
        size_t folders = at < pattern.size ? folders_at(pattern, at) : 0;
        if (folders)
            at += folders - 1; /* none of them */
        else if (at == pattern.size || pattern.data[at] != '*')
            return;
    }
}

/* Where one character leads from a place. */
static void step(Str pattern, size_t at, char c, bool *next) {
    size_t folders = folders_at(pattern, at);
    char wanted = pattern.data[at];
    if (folders) {
        next[at] = true;
        if (c == '/' || folders == 2)
            reach(pattern, next, at + folders);
    } else if (wanted == '*') {
        if (c != '/')
            reach(pattern, next, at);
    } else if (wanted == '[') {
        size_t end = set_end(pattern, at);
        if (set_has((Str){pattern.data + at, end - at}, c))
            reach(pattern, next, end);
    } else if (wanted == c || (wanted == '?' && c != '/')) {
        reach(pattern, next, at + 1);
    }
}

static bool match(Str pattern, Str path) {
    bool places[GLOB_LONGEST + 2] = {false}, next[GLOB_LONGEST + 2];
    reach(pattern, places, 0);
    for (size_t i = 0; i < path.size; i++) {
        memset(next, 0, sizeof next);
        for (size_t at = 0; at < pattern.size; at++)
            if (places[at])
                step(pattern, at, path.data[i], next);
        memcpy(places, next, sizeof places);
    }
    return places[pattern.size];
}

bool glob_matches(Str pattern, Str path) {
    char below[GLOB_LONGEST + 2]; /* and "**" */
    if (!memchr(pattern.data, '/', pattern.size)) {
        const char *slash = memrchr(path.data, '/', path.size);
        return match(pattern, slash ? str_between(slash + 1, path.data + path.size) : path);
    }
    if (pattern.data[0] == '/') /* from the project's folder on, as all are */
        pattern = (Str){pattern.data + 1, pattern.size - 1};
    if (!pattern.size || pattern.data[pattern.size - 1] != '/')
        return match(pattern, path);
    memcpy(below, pattern.data, pattern.size);
    memcpy(below + pattern.size, "**", 2);
    return pattern.size + 2 <= GLOB_LONGEST && match((Str){below, pattern.size + 2}, path);
}
