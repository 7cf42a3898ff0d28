/* Files below one folder, and no others: for names that an input makes up.
 *
 * The IR says in which file of which machine a kernel was written, and anybody may have written the IR. What it names
 * is opened only if it lies below a root, links and ".." resolved, is a regular file, and is not large. */
#ifndef BASE_ROOTED_H
#define BASE_ROOTED_H

#include "base/source.h"

enum { ROOTED_LARGEST = 10 << 20 };

/* Where a named file is below the root, as an absolute path without links, to be freed; NULL: nowhere. A relative name
 * is looked for below the root, then below `beside` (NULL: no such folder), which has to be below the root itself. An
 * absolute name that does not exist here was written on another machine: then the longest end of it that the root has
 * is the file. */
char *rooted_find(const char *root, const char *beside, const char *name);

/* The file at such a path, if it still lies below the root; NULL if not, or if it is no regular file or is too large.
 * Never blocks. */
Source *rooted_read(const char *root, const char *path);

#endif
