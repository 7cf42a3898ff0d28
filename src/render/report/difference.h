/* The difference of two barrier reports. As text:
 *
 *     protocol: full: phase; barrier spare added
 *     old.ttgir @matmul and new.ttgir @matmul: 2 differences, the first in channels
 *     Partitions, by what they do:
 *       MMA: partition0, now partition1
 *       TMA load (a, b): partition1, now partition0
 *
 *     channels: edges between partitions; barriers, their slots and phases
 *       barrier full: phase
 *         old: (accumCnt / 3) & 1
 *         new: 1
 *       barrier spare
 *         old: not there
 *         new: mbarrier, arrivals of none, waits of none
 *
 * or one line that ends in "no difference". As JSON:
 *
 *     {"tool": "weir", "version": "...", "old": {"file", "kernel"}, "new": {"file", "kernel"}, "same": true|false,
 *      "first": "channels", "protocol": "protocol: ...", "partitions": [{"role", "old", "new"}],
 *      "differences": [{"level", "what", "old", "new"}]}
 *
 * where "first" is the first level that differs, "protocol" the first line of the text, and what is not there is "". */
#ifndef RENDER_REPORT_DIFFERENCE_H
#define RENDER_REPORT_DIFFERENCE_H

#include "finding/difference.h"

/* `width` 0: lines are as long as they are. */
void render_difference_text(const Difference *difference, bool color, unsigned width, Text *to);
void render_difference_markdown(const Difference *difference, Text *to);
void render_difference_json(const Difference *difference, const char *version, Text *to);

#endif
