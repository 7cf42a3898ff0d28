/* A verdict for a person at a terminal, in the manner of a compiler's messages.
 *
 *     attention.ttgir: @attention: findings
 *     attention.py:41:8: error: partition1 waits forever for slot 1 of %full [deadlock.lapped]
 *             bar.wait(phase)
 *             ^
 *     attention.ttgir:120:5: note: partition1 waits (ttng.wait_barrier): parity 0, phase 2, 1 arrival pending
 *         ttng.wait_barrier %12, %phase : ...
 *         ^
 *     attention.py:33:4: note: default arrives (ttng.arrive_barrier): slot 1, completes phase 2
 *     attention.ttgir:88:5: note: the same in the IR
 *         ttng.arrive_barrier %9, 1 : ...
 *         ^
 *       why: ...
 *       fix: ...
 *       schedule: ...
 *       launch: ...
 *       witness: trails/attention-1.trail
 *     1 error; 3 launches, 96 CTAs, 12,345 events; run: 12 of 12 barrier ops
 *
 * Findings that do not count are counted, "1 error (2 suppressed)", or "clean (this launch) except 2 suppressed".
 *
 * A line with a place starts with that place, so that editors find it; the IR's line is always shown, the kernel's own
 * if the IR has a location, with an excerpt if that file can be read here. A verdict with nothing else to say is one
 * line: `attention.ttgir: @attention: clean (3 tried launches): 3 launches, 96 CTAs, 12,345 events`. */
#ifndef RENDER_TEXT_H
#define RENDER_TEXT_H

#include "render/grouped.h"

typedef struct TextOptions {
    bool color;
    bool launches;   /* list the launches that were run */
    bool suppressed; /* a line for each finding that does not count */
    bool brief;      /* the last line alone, which says what it comes to */
    bool open;       /* of clean kernels, what is open in the proof for every launch, and what it assumes */
    bool lines;      /* of a finding the line with its place and message alone */
    size_t most;     /* findings that are written, if there are no groups, which leave out their own; 0: all */
    const char *const *witnesses; /* the file of each finding's witness, or NULL; NULL: of none */
    const char *root;             /* below which the kernel's own source is looked for, too; or NULL */
    const char *witness_hint;     /* how to get a witness file; shown where there is a witness but no file; or NULL */
    Grouped *grouped;             /* findings are noted there; or NULL */
} TextOptions;

/* `source` is the IR's text, whose name is shown, and from whose folder the kernel's own source is looked for. */
void render_text(const Verdict *verdict, Source *source, TextOptions options, Text *to);

/* A line of a source and a caret below its column, as under a diagnostic; nothing if there is no such line. */
void render_excerpt(Source *source, uint32_t line, uint32_t column, Text *to);

#endif
