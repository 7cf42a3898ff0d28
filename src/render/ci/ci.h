/* Verdicts for what reads them in continuous integration: SARIF, GitHub's workflow commands, GitLab's code quality,
 * JUnit, Checkstyle.
 *
 * One walk over verdicts (ci.c), a format each (sarif.c, github.c, gitlab.c, junit.c, checkstyle.c): a format makes an
 * item of each finding, of each reason why something was not looked at, of each input that cannot be read, or of each
 * kernel; the walk puts the items together, in the order of the inputs, no matter which was made first. What is
 * incomplete is in every format: nothing that was not looked at may look clean there. docs/ci.md tells what each system
 * makes of it. */
#ifndef RENDER_CI_CI_H
#define RENDER_CI_CI_H

#include "base/json.h"
#include "finding/finding.h"
#include "render/unseen.h"

typedef struct CiOptions {
    const char *version;
    const char *root;         /* the folder that paths are relative to; NULL: the current one */
    unsigned shard, shards;   /* of which all this is one, from 1; 0: it is all of them */
    size_t inputs;            /* of all shards together */
    size_t launches, covered; /* as in JsonLaunches */
} CiOptions;

/* What it comes to. */
typedef struct CiCounts {
    size_t kernels[VERDICT_ERROR + 1]; /* by verdict; of errors: inputs and modules */
    size_t scopes[COVERS_COUNT];       /* clean ones by scope */
    size_t where; /* of them, proved for every launch that fulfills something, which theirs need not */
    size_t findings, notes, suppressed; /* that count; that do not, since they are no more than notes, or suppressed */
    double seconds;
} CiCounts;

typedef struct Ci Ci;

/* A kernel that was looked at. */
typedef struct CiInput {
    const char *file; /* the IR's */
    Source *source;   /* its text */
    const Verdict *verdict;
    const char *const *witnesses; /* the file of each finding's witness, or NULL; NULL: of none */
} CiInput;

/* One format. Of a function that is NULL, it has no item. */
typedef struct CiFormat {
    void (*begin)(Ci *ci); /* and `end` write what stands around the items */
    void (*finding)(Ci *ci, const CiInput *input, const Finding *finding, const char *witness);
    void (*incomplete)(Ci *ci, const CiInput *input, const Incomplete *incomplete);
    void (*kernel)(Ci *ci, const CiInput *input);
    void (*error)(Ci *ci, const char *file, const char *sentence);
    void (*end)(Ci *ci);
    bool suppressed;     /* it tells of findings that do not count, too, but for those of rules that are off */
    const char *between; /* two items */
    size_t most;         /* items; 0: any number */
} CiFormat;

extern const CiFormat ci_sarif, ci_github, ci_gitlab, ci_junit, ci_checkstyle;

struct Ci {
    const CiFormat *format;
    CiOptions options;
    Text *to;
    Text held;              /* what is written at the end, each of it ended by a zero byte */
    bool part;              /* then `to` has its items, each ended by a zero byte */
    size_t items, left_out; /* written; and not, since there are too many */
    CiCounts counts;
    VerdictKind verdict;  /* on all so far */
    const Unseen *unseen; /* kernels without PTX; NULL: none */
};

void ci_begin(Ci *ci, const CiFormat *format, const CiOptions *options, Text *to);
/* One that is joined to another later, which frees what it holds. */
void ci_begin_part(Ci *ci, const CiFormat *format, const CiOptions *options, Text *to);
void ci_join(Ci *ci, Ci *part);
/* Frees what a part holds that is joined to nothing. */
void ci_drop(Ci *part);
void ci_add(Ci *ci, const CiInput *input);
void ci_error(Ci *ci, const char *file, const char *sentence);
void ci_end(Ci *ci);
/* Of all so far; COVERS_NONE unless that is clean. */
VerdictScope ci_scope(const Ci *ci);
/* "clean (tried launches)", "findings". */
void ci_describe(const Ci *ci, Text *to);

/* ---- For the formats ---- */

/* An item that is complete, and is then freed; one for `held`. */
void ci_item(Ci *ci, Text *item);
void ci_hold(Ci *ci, Text *item);
/* The next of those held, from `*at` on; no data at the end. */
Str ci_held(const Ci *ci, size_t *at);

/* Where something is, for a system that knows the files below the root: the kernel's own source if that is there, else
 * the IR if that is, else whichever is known. Lines and columns are 1 at least; a column counts characters. */
typedef struct CiPlace {
    char *path; /* below the root, relative to it */
    bool below;
    uint32_t line, column;
} CiPlace;
CiPlace ci_place(const Ci *ci, const CiInput *input, const FindingPlace *place);
CiPlace ci_incomplete_place(const Ci *ci, const CiInput *input, const Incomplete *incomplete);
CiPlace ci_ir_place(const Ci *ci, const char *file, Source *source, uint32_t line, uint32_t column);
/* That of the first place of a finding. */
CiPlace ci_finding_place(const Ci *ci, const CiInput *input, const Finding *finding);

/* What is said of a finding in full: the message, why, the fix, and when it happens; lines. */
void ci_say(const Finding *finding, Text *to);
/* "partition1 waits (ttng.wait_barrier): slot 1 of %full" */
void ci_say_place(const FindingPlace *place, Text *to);
/* "not all of @kernel was looked at: reason (op)" */
void ci_say_incomplete(const CiInput *input, const Incomplete *incomplete, Text *to);

/* 16 hex digits of a text. */
void ci_hash(Str text, Text *to);
/* A text in XML, and ` name="value"`. Characters that XML 1.0 has not, and bytes that are none, become U+FFFD. */
void ci_xml(Text *to, Str text, bool attribute);
void ci_attribute(Text *to, const char *name, Str value);

#endif
