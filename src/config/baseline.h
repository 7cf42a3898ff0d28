/* The baseline: findings that are known, in a file, and do not count.
 *
 *     {"weir-baseline": 1, "findings": [
 *     {"file": "kernels/rings.py", "kernel": "ring", "rule": "race.war", "fingerprint": "0123456789abcdef", "text":
 * "..."},
 *     ...
 *     ]}
 *
 * One finding a line, sorted, so that a change of it can be read. A finding is known by its rule and its fingerprint
 * (finding/fingerprint.h), which stays when lines move; the rest is for people. */
#ifndef CONFIG_BASELINE_H
#define CONFIG_BASELINE_H

#include "config/project.h"

typedef struct BaselineEntry {
    const char *file, *kernel, *rule, *fingerprint, *text;
    uint32_t line; /* in the file; 0: it is not there yet */
    bool seen;
} BaselineEntry;

typedef struct Baseline {
    BaselineEntry **items;
    uint32_t count, capacity;
    Map entries; /* by fingerprint; of equal ones, the first */
    Map kernels; /* that were looked at to the end */
} Baseline;

/* Reads the project's baseline file, if it has one. With `update` all findings are put into it from now on, and it need
 * not be there. False: something is wrong with it, as with project_read. */
bool project_read_baseline(Project *project, bool update);
/* The same of a text, which is freed. */
bool project_read_baseline_text(Project *project, Source *source);

/* What follows is called by those who have the project's lock. */

/* The entry of a finding, which is then seen; NULL: there is none. */
const BaselineEntry *baseline_find(Baseline *baseline, const Finding *finding);
/* A finding that there is no entry of. Texts are in the project's arena. */
BaselineEntry *baseline_add(Project *project, const BaselineEntry *entry);
/* All that may be wrong with the kernel was looked for: its entries that were not seen are gone. Whether it has any, or
 * may get some. */
bool baseline_looked_at(Project *project, const char *kernel);
/* Whether that is so of the entry. */
bool baseline_is_gone(const Baseline *baseline, const BaselineEntry *entry);

/* Writes the file: what was found, and what is of kernels that were not looked at. It is replaced as a whole. False,
 * with `problem`. */
bool project_write_baseline(Project *project);

#endif
