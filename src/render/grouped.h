/* Findings of recordings, put together: launches of one kernel show the same findings. Each is reported once, in full
 * as its first recording has it, with how many recordings show it. They are grouped by kernel, and in it by rule and
 * lines of the source; those without source lines, by lines of the PTX.
 *
 *     norm-10.weirrec and 364 more: @norm: findings
 *     norm.py:107:31: error: thread 96 of CTA 16 reads bytes 768-771 of argument 6, ... [race.raw]
 *       ...
 *       launch: grid 512x1x1, block 128x1x1, as recorded
 *       recordings: 365, also norm-11.weirrec, norm-12.weirrec and 362 more; 2,978 findings at these lines
 *     2,978 errors; 365 launches, 186,880 CTAs, 12,345,678 events
 *
 * A kernel of one recording is reported as if there were no groups. Reasons why something is incomplete are grouped by
 * their words; numbers in them may differ. */
#ifndef RENDER_GROUPED_H
#define RENDER_GROUPED_H

#include "base/map.h"
#include "finding/finding.h"

typedef enum GroupedKind {
    GROUPED_ERROR,
    GROUPED_WARNING,
    GROUPED_REMARK,
    GROUPED_INCOMPLETE,
    GROUPED_NOTE,
    GROUPED_KINDS
} GroupedKind;

/* Something that is said of a recording: where it is in the text about it, and what it is known again by. */
typedef struct GroupedItem {
    GroupedKind kind;
    size_t begin, end;
    char *key;
} GroupedItem;

/* A recording, and the text about it. */
typedef struct GroupedFile {
    struct GroupedFile *next;
    char *file, *kernel;
    Text text;
    GroupedItem *items;
    size_t count, capacity;
    VerdictKind verdict;
    size_t launches;
    uint64_t ctas, events;
} GroupedFile;

typedef struct Grouped {
    GroupedFile *first, *last;
    bool color, failed;
    size_t most; /* findings of a kernel that are written; 0: all */
} Grouped;

/* A text about the verdict on a recording begins, and is noted: what is between two places of it. */
void grouped_begin(Grouped *grouped, const Verdict *verdict, const Source *source);
void grouped_finding(Grouped *grouped, const Finding *finding, const Source *source, size_t begin, size_t end);
void grouped_other(Grouped *grouped, GroupedKind kind, const char *words, size_t begin, size_t end);
/* What `text` has from `begin` on is taken: it is that text. */
void grouped_end(Grouped *grouped, Text *text, size_t begin);
/* Adds those of a part, which has none then. */
void grouped_join(Grouped *grouped, Grouped *part);
/* All of it, by kernels. */
void grouped_write(const Grouped *grouped, Text *to);
void grouped_free(Grouped *grouped);
/* Which findings of a kernel are written, if no more than `most` are (0: all): of `left`, how many there are of each
 * severity, the worst first; it is how many of each are written then. How many are not. */
size_t grouped_choose(size_t left[GROUPED_REMARK + 1], size_t most);
/* The line that says so, if there are such. */
void grouped_left_out(Text *to, size_t count);

#endif
