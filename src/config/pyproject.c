/* The part of a pyproject.toml that is Weir's: [tool.weir] and the tables below it. The rest is for others, and may
 * have what is not read here. */
#include "config/project.h"

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* The word is next, and blanks; the place behind them, or NULL. */
static const char *skip_word(const char *at, const char *end, const char *word) {
    size_t size = strlen(word);
    if (!at || (size_t)(end - at) < size || memcmp(at, word, size) != 0)
        return NULL;
    return skip_blanks(at + size, end);
}

/* Whether a line is the header of a table; `*ours`: of one that is Weir's. */
static bool is_header(const char *at, const char *end, bool *ours) {
    at = skip_blanks(at, end);
    if (at == end || *at != '[')
        return false;
    at = skip_blanks(at + 1, end);
    if (at < end && *at == '[')
        at = skip_blanks(at + 1, end);
    const char *behind = skip_word(skip_word(skip_word(at, end, "tool"), end, "."), end, "weir");
    *ours = behind && behind < end && (*behind == '.' || *behind == ']');
    return true;
}

Source *pyproject_part(const Source *source) {
    Source *part = source_copy(source->name, source->data, source->size);
    bool ours = false, any = false;
    for (char *line = part ? (char *)part->data : NULL, *end = line ? line + part->size : NULL, *next; line < end;
         line = next) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        next = stop ? stop + 1 : end;
        stop = stop ? stop : end;
        bool header = is_header(line, stop, &ours);
        any |= header && ours;
        if (!ours) /* lines keep their places */
            memset(line, ' ', (size_t)(stop - line));
    }
    if (any)
        return part;
    source_free(part);
    return NULL;
}
