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
#ifndef RENDER_TOLD_H
#define RENDER_TOLD_H

#include "base/map.h"
#include "finding/finding.h"

typedef enum ToldKind { TOLD_ERROR, TOLD_WARNING, TOLD_REMARK, TOLD_INCOMPLETE, TOLD_NOTE, TOLD_KINDS } ToldKind;

/* Something that is said of a recording: where it is in the text about it, and what it is known again by. */
typedef struct ToldItem {
    ToldKind kind;
    size_t begin, end;
    char *key;
} ToldItem;

/* A recording, and the text about it. */
typedef struct ToldFile {
    struct ToldFile *next;
    char *file, *kernel;
    Text text;
    ToldItem *items;
    size_t count, capacity;
    VerdictKind verdict;
    size_t launches;
    uint64_t ctas, events;
} ToldFile;

typedef struct Told {
    ToldFile *first, *last;
    bool color, failed;
} Told;

/* A text about the verdict on a recording begins, and is noted: what is between two places of it. */
void told_begin(Told *told, const Verdict *verdict, const Source *source);
void told_finding(Told *told, const Finding *finding, const Source *source, size_t begin, size_t end);
void told_other(Told *told, ToldKind kind, const char *words, size_t begin, size_t end);
/* What `text` has from `begin` on is taken: it is that text. */
void told_end(Told *told, Text *text, size_t begin);
/* Adds those of a part, which has none then. */
void told_join(Told *told, Told *part);
/* All of it, by kernels. */
void told_write(const Told *told, Text *to);
void told_free(Told *told);

#endif
