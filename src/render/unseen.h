/* Kernels without PTX that programs launched, of all recordings together: "unseen_kernels" of JSON and SARIF. */
#ifndef RENDER_UNSEEN_H
#define RENDER_UNSEEN_H

#include "base/json.h"
#include "finding/finding.h"

typedef struct Unseen {
    UnseenKernel *items; /* of each name one; the names are its own */
    size_t count, capacity;
    bool recorded; /* an input is a recording: the list is written, empty or not */
    bool failed;
} Unseen;

void unseen_add(Unseen *unseen, const UnseenKernel *kernel);
/* Adds those of a part, which are freed. */
void unseen_join(Unseen *unseen, Unseen *part);
/* Those that are launched most often first. */
void unseen_sort(Unseen *unseen);
void unseen_json(const Unseen *unseen, Json *json);
void unseen_free(Unseen *unseen);

#endif
