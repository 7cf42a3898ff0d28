/* Results of several processes made one: what merge.c reads, and what it and merge_sarif.c make of that.
 *
 * A document is what `--format json` or `--format sarif` has written. What two of them say of the same is said once:
 * of each document, things with the same key are numbered, and the n-th of one is the n-th of another. A document that
 * was made of a part of the inputs says which; a part that is not there leaves the whole incomplete.
 *
 * Documents are read one after the other. What is to be written again waits in a temporary file, so that memory holds
 * one document, and of each input or result its key. */
#ifndef API_MERGE_H
#define API_MERGE_H

#include "api/internal.h"
#include "render/json.h"
#include "render/unseen.h"

#include <jansson.h>
#include <stdio.h>

typedef struct Document {
    const char *path;
    json_t *root; /* NULL once it was read, but of the first one */
    json_t *body; /* of JSON the root, of SARIF its one run */
    json_t *shard;
} Document;

/* An input, or a result of SARIF, in the temporary file. Parts are written by file; those of one stay in their order,
 * which numbers tell. */
typedef struct MergePart {
    char *file;
    size_t number, at, size;
} MergePart;

typedef struct MergeParts {
    MergePart *items;
    size_t count, capacity;
    FILE *kept;
    size_t end;
    bool reading; /* what was last done to the file: a seek stands between reading and writing */
} MergeParts;

/* What a run of SARIF has beside its results. */
typedef struct MergeRun {
    json_t *rules, *rule_index; /* a list; and where in it an id is */
    json_t *notifications, *notification_table;
    bool same_root;
    size_t where; /* kernels that are proved for every launch that fulfills something */
} MergeRun;

typedef struct Merge {
    Document *documents;
    size_t count;
    bool sarif;
    Text problem; /* one sentence; nothing if all is well */
    bool failed;  /* there was no memory */
    Text *to;
    VerdictKind verdict;
    VerdictScope required; /* of clean kernels; a weaker one is incomplete */
    weir_merged merged;
    MergeParts parts;
    json_t *table;         /* where in `parts` a key is */
    MergeRun run;          /* of SARIF */
    Unseen unseen;         /* of JSON: kernels without PTX of all documents */
    JsonLaunches launches; /* of JSON: those of all programs */
    Text lacking;          /* "2 kernels are clean for less: ..."; nothing if none is */
    Text missing;          /* "shards 3 and 7 of 16 are missing: ..."; nothing if none is */
} Merge;

/* Says what is wrong, if nothing was so far. Returns false. */
bool merge_fail(Merge *merge, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A member that is a text or a number; "" and 0 if there is none such. */
const char *merge_text(const json_t *object, const char *key);
size_t merge_number(const json_t *object, const char *key);

/* How often each key came up in one document. */
typedef struct Numbering {
    json_t *seen;
} Numbering;
/* Whether all documents together, `table`, have that key: then `at` is where; else it is there now, with `at`. `mine`
 * numbers the keys of this document. */
bool merge_known(Merge *merge, json_t *table, Numbering *mine, const char *key, size_t *at);

/* One more part. */
void merge_add_part(Merge *merge, const char *file, const json_t *value);
/* The first parts, separated by a comma and a newline each. */
void merge_write_parts(Merge *merge, size_t most);
void merge_write(Merge *merge, const json_t *value);
/* Sets the verdict to the worse; false if there is no such. */
bool merge_worse(Merge *merge, const Document *document, const char *verdict);

/* That kernels are clean for less than what is required makes all incomplete, and is said. */
void merge_lacks(Merge *merge, size_t kernels);
/* The weakest scope of what is clean; COVERS_NONE unless all is. */
VerdictScope merge_scope(const Merge *merge);

/* merge_sarif.c: adds a document to the one run (false: something is wrong with it), and writes it. */
bool merge_sarif(Merge *merge, const Document *document);
void merge_write_sarif(Merge *merge);

#endif
