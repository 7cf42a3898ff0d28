/* The source code that a kernel was written in, found by the name that the IR has for it.
 *
 * That name was recorded where the IR was made, often as a path of another machine, and anyone may have written it: of
 * what it may name, only source code is read, and code_below tells where a file lies only if that is below the root. */
#ifndef BASE_CODE_H
#define BASE_CODE_H

#include "base/source.h"

/* Reads the file. It is looked for beside the IR (a path), under its recorded name and under its last part; below
 * `root` (a folder; NULL: none), under the longest end of its recorded name that is there; then where it was when the
 * IR was made. NULL if it is at none of these. */
Source *code_find(const char *ir, const char *root, const char *file);

/* Where it lies below the root, such as "kernels/rings.py", links followed; to be freed. NULL if it is at none of the
 * places above, or not below the root. */
char *code_below(const char *ir, const char *root, const char *file);
/* The same of any path as it is, such as that of the IR; it need not be there. */
char *path_below(const char *root, const char *path);

/* A regular file that is not too large; NULL else. Never blocks: a name may be that of a pipe. */
Source *code_read(const char *path);

/* Whether its name says that it is C or C++, as CUDA is. */
bool code_is_cpp(const char *path);

/* The last part of a path. */
const char *path_name(const char *path);

/* What a line of code says, however it is indented and whatever its comment: words with one blank between them.
 * Python's comments; of others only the blanks are made one. */
void code_line_plain(Str line, bool python, Text *to);

#endif
