/* Findings that were told before. Launches of one kernel that are checked one after the other show the same ones: from
 * the second time on, places, reason and fix are left out, and what differs from launch to launch stays.
 *
 *     norm.py:107:31: error: thread 96 of CTA 16 reads bytes 768-771 of argument 6, ... [race.raw]
 *       same as: norm-10.weirrec
 *       launch: grid 512x1x1, block 128x1x1, as recorded
 *       seen: 2,031,616 times
 *
 * Two are the same if they are of the same text of IR, have the same fingerprint, and are reported at the same line. */
#ifndef RENDER_TOLD_H
#define RENDER_TOLD_H

#include "base/map.h"
#include "finding/finding.h"

/* Where the text about a finding goes on behind its first line, and with what is of the launch. */
typedef struct ToldFinding {
    size_t rest, launch;
    char key[64];
} ToldFinding;

/* Findings of a text about one file; or of all that were joined to it. */
typedef struct Told {
    char *file;
    uint64_t hash; /* of its IR */
    ToldFinding *items;
    size_t count, capacity;
    Map seen;          /* files by keys */
    struct Told *next; /* whose keys and files those are */
} Told;

/* Notes a finding. Where memory is short it is told in full, whatever was told before. */
void told_add(Told *told, const Finding *finding, const Source *source, ToldFinding at);
/* Adds a text with findings to another one, in short where they were told. What `part` has is taken. */
void told_join(Told *told, Told *part, const Text *text, Text *to);
void told_free(Told *told);

#endif
