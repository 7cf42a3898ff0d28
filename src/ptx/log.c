/* Finds where PTX begins and ends among other lines. */
#include "ptx/log.h"

#include "base/array.h"

#include <ctype.h>
#include <stdlib.h>

/* A line without blanks at its ends, from *at on, which moves to the next. */
static Str next_line(const char **at, const char *end) {
    const char *start = *at, *stop = memchr(start, '\n', (size_t)(end - start));
    *at = stop ? stop + 1 : end;
    stop = stop ? stop : end;
    while (start < stop && isspace((unsigned char)*start))
        start++;
    while (stop > start && isspace((unsigned char)stop[-1]))
        stop--;
    return str_between(start, stop);
}

static bool is_comment(Str line) {
    return str_starts(line, STR("//"));
}

/* What Triton and MLIR write above a dump. */
static bool is_header(Str line) {
    return str_starts(line, STR("// -----"));
}

/* ".version 8.7", and behind comments ".target". */
static bool starts_module(Str line, const char *rest, const char *end) {
    size_t at = sizeof ".version" - 1;
    if (!str_starts(line, STR(".version")) || line.size <= at + 1 || !isblank((unsigned char)line.data[at]))
        return false;
    while (at < line.size && isblank((unsigned char)line.data[at]))
        at++;
    if (at == line.size || !isdigit((unsigned char)line.data[at]))
        return false;
    while (rest < end) {
        Str next = next_line(&rest, end);
        if (next.size && !is_comment(next))
            return str_starts(next, STR(".target"));
    }
    return false;
}

/* ---- Where it ends ------------------------------------------------------------------------------------------- */

typedef struct LogWalk {
    const char *at, *end;
    unsigned depth; /* of brackets */
    char last;      /* the last character that is no blank and in no comment */
    bool comment;   /* in one of several lines */
} LogWalk;

/* Behind the end of a comment or a string, or of the line. */
static const char *skip_text(LogWalk *walk, const char *at, const char *stop) {
    if (walk->comment) {
        const char *over = memmem(at, (size_t)(stop - at), "*/", 2);
        walk->comment = !over;
        return over ? over + 2 : stop;
    }
    const char *quote = memchr(at + 1, '"', (size_t)(stop - at - 1));
    return quote ? quote + 1 : stop;
}

static void walk_line(LogWalk *walk) {
    const char *stop = memchr(walk->at, '\n', (size_t)(walk->end - walk->at));
    stop = stop ? stop : walk->end;
    for (const char *at = walk->at; at < stop;) {
        bool pair = at + 1 < stop && *at == '/';
        if (walk->comment || *at == '"') {
            walk->last = walk->comment ? walk->last : '"';
            at = skip_text(walk, at, stop);
            continue;
        }
        if (pair && at[1] == '/')
            break;
        if (pair && at[1] == '*') {
            walk->comment = true;
            at += 2;
            continue;
        }
        walk->depth += *at == '{' || *at == '(' || *at == '[';
        walk->depth -= walk->depth && (*at == '}' || *at == ')' || *at == ']');
        walk->last = isspace((unsigned char)*at) ? walk->last : *at;
        at++;
    }
    walk->at = stop < walk->end ? stop + 1 : walk->end;
}

/* Whether a line outside of all brackets goes on with PTX: a directive, a comment, a bracket, or in the middle of a
 * statement anything that does not begin with a letter. */
static bool goes_on(const LogWalk *walk, Str line) {
    if (!line.size || walk->depth || walk->comment)
        return true;
    if (is_header(line))
        return false;
    char c = line.data[0];
    bool over = walk->last == ';' || walk->last == '}';
    if (c == '.' || c == '{' || c == '}')
        return true;
    if (c == '/')
        return line.size > 1 && (line.data[1] == '/' || line.data[1] == '*');
    return c == ';' || c == '@' || (!over && strchr("()=,\"$%_", c));
}

static size_t find_end(const Source *source, size_t begin) {
    LogWalk walk = {.at = source->data + begin, .end = source->data + source->size};
    const char *over = walk.at;
    bool first = true;
    while (walk.at < walk.end) {
        const char *next = walk.at;
        Str line = next_line(&next, walk.end);
        bool starts = starts_module(line, next, walk.end);
        if ((starts && !first) || !goes_on(&walk, line))
            break;
        first &= !starts;
        walk_line(&walk);
        if (line.size)
            over = walk.at;
    }
    return (size_t)(over - source->data);
}

bool ptx_log_find(const Source *source, PtxTexts *texts) {
    const char *at = source->data, *end = at + source->size, *comments = NULL;
    if (!memmem(at, source->size, ".version", 8))
        return true;
    while (at < end) {
        const char *line_start = at;
        Str line = next_line(&at, end);
        if (!starts_module(line, at, end)) {
            bool above = (is_comment(line) && !is_header(line)) || (comments && !line.size);
            comments = !above ? NULL : comments ? comments : line_start;
            continue;
        }
        if (!ARRAY_ROOM(texts->items, texts->count, texts->capacity, 8))
            return false;
        size_t begin = (size_t)((comments ? comments : line_start) - source->data);
        texts->items[texts->count++] = (PtxText){begin, find_end(source, begin)};
        at = source->data + texts->items[texts->count - 1].end;
        comments = NULL;
    }
    return true;
}
