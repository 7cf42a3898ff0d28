/* Patterns of paths: `*` and `?` within one folder's name, `**` across folders, `[a-z]` and `[!a-z]`.
 *
 * A pattern without a slash is about the last part of a path, whatever the folder; one that ends in a slash, about
 * everything below such a folder. Takes time in proportion to the pattern times the path. */
#ifndef CONFIG_GLOB_H
#define CONFIG_GLOB_H

#include "base/text.h"

enum { GLOB_LONGEST = 512 };

/* One sentence on what is wrong with a pattern; NULL if nothing is. */
const char *glob_problem(Str pattern);
/* Whether a pattern that is right means the path. */
bool glob_matches(Str pattern, Str path);

#endif
