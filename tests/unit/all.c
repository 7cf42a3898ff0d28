/* One program of all unit tests: each tests/unit/NAME_test.c is compiled with its main under the name main_of_NAME_test, and
 * the program is linked to all these names. all.def has a row UNIT(NAME_test) for each. */
#include <stdio.h>
#include <string.h>

#define UNIT(name) int main_of_##name(int count, char **arguments);
#include "all.def"
#undef UNIT

static const struct {
    const char *name;
    int (*run)(int count, char **arguments); /* as of main, those that take no arguments do not look at them */
} units[] = {
#define UNIT(name) {#name, main_of_##name},
#include "all.def"
#undef UNIT
};

int main(int count, char **arguments) {
    const char *slash = strrchr(arguments[0], '/'), *name = slash ? slash + 1 : arguments[0];
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].name, name) == 0)
            return units[i].run(count, arguments);
    fprintf(stderr, "%s: there are no unit tests of this name\n", name);
    return 2;
}
