/* The word that may have been meant: for messages about names that do not exist. */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#include "base/text.h"

/* How many letters have to be added, taken away, replaced, or swapped with their neighbor, to make one of the other;
 * more than `most` is told as most + 1. Words of more than 64 letters are far from all others. */
unsigned near_distance(Str a, Str b, unsigned most);

/* Of words that NULL ends, the nearest, if it is near enough to be a slip of the finger; else NULL. */
const char *near_word(Str given, const char *const *words);

#endif
