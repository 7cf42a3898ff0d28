/* The text that is being read, and places in it. */
#ifndef BASE_SOURCE_H
#define BASE_SOURCE_H

#include "base/text.h"

/* Offsets into a source are 32 bits wide, which is why a source may have at most 4 GiB - 64. */
#define SOURCE_LARGEST ((size_t)UINT32_MAX - 64)

typedef struct Source {
    char *name;
    char *data; /* followed by 16 zero bytes */
    size_t size;
    uint32_t *line_starts; /* made when a line is first asked for */
    uint32_t line_count;
    uint32_t lines_before; /* of the file, if this is a part of it */
} Source;

/* 1-based; a column counts bytes. */
typedef struct Place {
    uint32_t line, column;
} Place;

/* Read a file, or standard input for "-". On failure returns NULL and sets *problem to one sentence. */
Source *source_read(const char *path, const char **problem);
Source *source_copy(const char *name, const char *data, size_t size);
void source_free(Source *source);

Place source_place(Source *source, size_t offset);
/* The line of a place, without its end. */
Str source_line(Source *source, uint32_t line);

#endif
