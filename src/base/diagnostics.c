/* Keeping diagnostics, with the excerpt of the source, and rendering them for a person. */
#include "base/diagnostics.h"

#include "base/array.h"

#include <stdlib.h>

/* Longest part of a source line that is shown; generated IR has lines of many thousand characters. */
enum { EXCERPT_WIDTH = 120, EXCERPT_BEFORE = 80 };

void source_excerpt(Source *source, Place place, Text *to) {
    Str line = source_line(source, place.line);
    size_t column = place.column - 1;
    if (column > line.size)
        column = line.size;
    size_t start = column > EXCERPT_BEFORE ? column - EXCERPT_BEFORE : 0;
    size_t end = line.size - start > EXCERPT_WIDTH ? start + EXCERPT_WIDTH : line.size;
    const char *before = start > 0 ? "..." : "", *after = end < line.size ? "..." : "";
    text_addf(to, "    %s", before);
    text_add_plain(to, (Str){line.data + start, end - start});
    text_addf(to, "%s\n    %*s", after, (int)strlen(before), "");
    for (size_t i = start; i < column; i++) /* a tab stays a tab, so that the caret stands right */
        if (!utf8_continues(line.data[i]))  /* one column a character */
            text_char(to, line.data[i] == '\t' ? '\t' : ' ');
    text_str(to, STR("^\n"));
}

/* All that was put together, ended by a zero byte; NULL if there was no memory for it. */
static char *owned(Text *text) {
    text_char(text, 0);
    if (text->failed)
        text_free(text);
    return text->data;
}

void diagnostics_vadd(Diagnostics *diagnostics, Severity severity, Source *source, size_t offset, const char *format,
                      va_list arguments) {
    size_t *seen = severity == SEVERITY_ERROR ? &diagnostics->errors : &diagnostics->notes;
    if ((*seen)++ >= DIAGNOSTICS_KEPT)
        return;
    if (!ARRAY_ROOM(diagnostics->items, diagnostics->count, diagnostics->capacity, 8))
        return; /* the count above still says that something was wrong */
    Text raw = {0}, message = {0}, excerpt = {0};
    text_vaddf(&raw, format, arguments);
    text_add_plain(&message, (Str){raw.data, raw.size});
    text_free(&raw);
    Place place = source ? source_place(source, offset) : (Place){0};
    if (source)
        source_excerpt(source, place, &excerpt);
    diagnostics->items[diagnostics->count++] = (Diagnostic){severity, place, owned(&message), owned(&excerpt)};
}

void diagnostics_add(Diagnostics *diagnostics, Severity severity, Source *source, size_t offset, const char *format,
                     ...) {
    va_list arguments;
    va_start(arguments, format);
    diagnostics_vadd(diagnostics, severity, source, offset, format, arguments);
    va_end(arguments);
}

void diagnostics_free(Diagnostics *diagnostics) {
    for (size_t i = 0; i < diagnostics->count; i++) {
        free(diagnostics->items[i].message);
        free(diagnostics->items[i].excerpt);
    }
    free(diagnostics->items);
    *diagnostics = (Diagnostics){0};
}

void diagnostic_render(const Diagnostic *diagnostic, const char *file, bool color, Text *to) {
    static const char *const words[] = {"error", "warning", "note"};
    static const char *const colors[] = {"\033[1;31m", "\033[1;35m", "\033[1;36m"};
    Severity severity = diagnostic->severity;
    text_add_plain(to, str_of(file));
    if (diagnostic->place.line)
        text_addf(to, ":%u:%u", diagnostic->place.line, diagnostic->place.column);
    text_addf(to, ": %s%s:%s %s\n%s", color ? colors[severity] : "", words[severity], color ? "\033[0m" : "",
              diagnostic->message ? diagnostic->message : "(no memory for the message)",
              diagnostic->excerpt ? diagnostic->excerpt : "");
}
