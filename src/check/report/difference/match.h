/* Which partitions, buffers and barriers of two reports are the same, and texts about them that can be compared. */
#ifndef CHECK_REPORT_DIFFERENCE_MATCH_H
#define CHECK_REPORT_DIFFERENCE_MATCH_H

#include "finding/report.h"

typedef struct NameIndex {
    const char *name;
    size_t index;
} NameIndex;

/* What things of one kind are called. Where a label is the same on both sides, so is what it stands for. */
typedef struct Labels {
    const char **texts;
    bool *both; /* whether there is a counterpart at all */
    size_t count;
} Labels;

/* One of the two reports. */
typedef struct MatchSide {
    const Report *report;
    Labels partitions, buffers, barriers;
    NameIndex *buffer_names; /* by name */
    uint32_t *loops;         /* lines of the loops that the report speaks of, in their order */
    size_t loop_count;
} MatchSide;

typedef struct Match {
    Verdict texts; /* for verdict_text and verdict_keep */
    MatchSide old, new;
    bool loops;              /* both speak of as many loops: the first is taken for the first, and so on */
    size_t *partition_pairs; /* the new partition of each old one; SIZE_MAX: none */
} Match;

/* Everything is in `arena`. */
Match *match_reports(Arena *arena, const Report *old, const Report *new);

/* A text, or the name of a partition or of an agent of it, with labels for partitions and without lines and numbered
 * values. */
const char *match_plain(Match *match, const MatchSide *side, const char *text);
/* The labels of those who run these places, each once and sorted: "MMA, softmax". */
const char *match_places(Match *match, const MatchSide *side, const ReportPlace *places, size_t count);
const char *match_sites(Match *match, const MatchSide *side, const ReportSite *sites, size_t count);
/* The labels of the buffers of these names, sorted. */
const char *match_buffers(Match *match, const MatchSide *side, const char *const *names, size_t count);

#endif
