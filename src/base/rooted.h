/* Files below one folder, and no others: for names that an input makes up.
 *
 * The IR says in which file of which machine a kernel was written, and anyone may have written the IR. code.h finds
 * where such a file lies below a root; here it is opened, if what is opened lies there. */
#ifndef BASE_ROOTED_H
#define BASE_ROOTED_H

#include "base/source.h"

enum { ROOTED_LARGEST = 10 << 20 };

/* A file below the root by its path from there, which has no links in it. NULL if it cannot be read, if it is no
 * regular file, is larger than the above, or does not lie below the root after all. Never blocks. */
Source *rooted_read(const char *root, const char *below);

#endif
