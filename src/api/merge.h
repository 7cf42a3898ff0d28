/* Results of several processes made one: what merge.c reads, and what it and merge_sarif.c make of that.
 *
 * A document is what `--format json` or `--format sarif` has written. What two of them say of the same is said once:
 * of each document, things with the same key are numbered, and the n-th of one is the n-th of another. A document that
 * was made of a part of the inputs says which; a part that is not there leaves the whole incomplete. */
#ifndef API_MERGE_H
#define API_MERGE_H

#include "api/internal.h"

#include <jansson.h>

typedef struct Document {
    const char *path;
    json_t *root;
    json_t *body; /* of JSON the root, of SARIF its one run */
} Document;

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
    size_t where; /* of SARIF: kernels that are proved for every launch that fulfills something */
    Text lacking; /* "2 kernels are clean for less: ..."; nothing if none is */
    Text missing; /* "shards 3 and 7 of 16 are missing: ..."; nothing if none is */
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
/* What has that key in all documents together, `table`; `mine` numbers those of this one. NULL if it is the first: then
 * it is there now. */
json_t *merge_known(Merge *merge, json_t *table, Numbering *mine, const char *key, json_t *what);

/* Lists of values, separated by a comma and a newline each. */
void merge_write_list(Merge *merge, json_t *const *items, size_t count);
void merge_write(Merge *merge, const json_t *value);
/* Sets the verdict to the worse; false if there is no such. */
bool merge_worse(Merge *merge, const Document *document, const char *verdict);

/* That kernels are clean for less than what is required makes all incomplete, and is said. */
void merge_lacks(Merge *merge, size_t kernels);
/* The weakest scope of what is clean; COVERS_NONE unless all is. */
VerdictScope merge_scope(const Merge *merge);

/* merge_sarif.c: writes the one run. False: something is wrong with a document. */
bool merge_sarif(Merge *merge);

#endif
