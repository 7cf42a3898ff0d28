/* What Weir has to say about an input: errors, warnings and notes, each at a place.
 *
 * This is the one way to fail: report here, and return a value that says so. */
#ifndef BASE_DIAGNOSTICS_H
#define BASE_DIAGNOSTICS_H

#include "base/source.h"

typedef enum Severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE } Severity;

typedef struct Diagnostic {
    Severity severity;
    Place place;   /* line 0: it is about the file as a whole */
    char *message; /* one sentence, without the final stop */
    char *excerpt; /* the source line and a caret line, each ended by '\n' */
} Diagnostic;

typedef struct Diagnostics {
    Diagnostic *items;
    size_t count, capacity;
    size_t errors, notes; /* reported, kept or not; a warning counts as a note */
} Diagnostics;

/* At most this many errors, and this many notes, are kept; the rest are counted. */
enum { DIAGNOSTICS_KEPT = 50 };

/* `source` NULL: about the file as a whole. */
void diagnostics_add(Diagnostics *diagnostics, Severity severity, Source *source, size_t offset, const char *format,
                     ...) __attribute__((format(printf, 5, 6)));
void diagnostics_vadd(Diagnostics *diagnostics, Severity severity, Source *source, size_t offset, const char *format,
                      va_list arguments);
void diagnostics_free(Diagnostics *diagnostics);

/* The line of a place, cut if it is long, and a caret line. */
void source_excerpt(Source *source, Place place, Text *to);

/* "file:line:column: error: message" and the excerpt, in color if asked. */
void diagnostic_render(const Diagnostic *diagnostic, const char *file, bool color, Text *to);

#endif
