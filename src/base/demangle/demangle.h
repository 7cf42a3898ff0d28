/* Names of C++ as people read them, from the names that compilers write into PTX (Itanium C++ ABI, "Mangling").
 *
 * The whole name is spelled as c++filt spells it. What is not understood is no mangled name: nothing is printed, and
 * the caller shows the name as it is. Time and memory are bounded, whatever the name. */
#ifndef BASE_DEMANGLE_DEMANGLE_H
#define BASE_DEMANGLE_DEMANGLE_H

#include "base/text.h"

/* "void scale<float, 64>(float*, float)" of _Z5scaleIfLi64EEvPT_S0_. False, and nothing is added, if it is none. */
bool demangle(Str name, Text *to);
/* "scale<float, 64>" of the same: no parameters, nothing before the name, long template arguments left out. A name that
 * is not mangled as it is, with what text_add_plain does to it. */
void name_shown(Str name, Text *to);
/* "scale" of the same: its last part alone. False, and nothing is added, if it is not mangled. */
bool name_last(Str name, Text *to);
/* The same as name_shown in an arena; and all of it, NULL if it is not mangled. */
const char *name_kept(const char *name, Arena *arena);
const char *name_whole(const char *name, Arena *arena);
/* Whether a user means this name by `wanted`: the name as compilers write it; else, however blanks are set, as c++filt
 * prints it, that without what it returns, without parameters, without template arguments, or without what encloses
 * it. */
bool name_meant(Str name, Str wanted);

#endif
