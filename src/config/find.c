/* Which project file holds here. */
#include "config/project.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool exists(const char *folder, const char *name, bool file) {
    char path[PATH_MAX];
    struct stat status;
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && stat(path, &status) == 0 &&
           (!file || S_ISREG(status.st_mode));
}

/* "weir.toml", or two folders up "../../weir.toml"; to be freed. */
static char *upwards(unsigned up, const char *name) {
    char *path = malloc(3 * (size_t)up + strlen(name) + 1);
    if (!path)
        return NULL;
    for (unsigned i = 0; i < up; i++)
        memcpy(path + 3 * (size_t)i, "../", 3);
    strcpy(path + 3 * (size_t)up, name);
    return path;
}

/* Whether there is a pyproject.toml with something for Weir. */
static bool has_part(const char *folder) {
    char path[PATH_MAX];
    const char *problem;
    if (!exists(folder, "pyproject.toml", true) ||
        snprintf(path, sizeof path, "%s/pyproject.toml", folder) >= (int)sizeof path)
        return false;
    Source *source = source_read(path, &problem), *part = source ? pyproject_part(source) : NULL;
    bool has = part != NULL;
    source_free(part);
    source_free(source);
    return has;
}

/* The file in one folder, NULL if there is none. */
static const char *file_in(const char *folder, const char **problem) {
    bool toml = exists(folder, "weir.toml", true), dot = exists(folder, ".weir", true);
    bool part = has_part(folder);
    if (toml + dot + part > 1)
        *problem = !part  ? "there are both weir.toml and .weir; keep only one"
                   : toml ? "there are both weir.toml and [tool.weir] in pyproject.toml; keep only one"
                          : "there are both .weir and [tool.weir] in pyproject.toml; keep only one";
    return toml ? "weir.toml" : dot ? ".weir" : part ? "pyproject.toml" : NULL;
}

char *project_find(const char **problem) {
    char *folder = getcwd(NULL, 0), *found = NULL;
    bool repository = false;
    *problem = NULL;
    unsigned up = 0, found_up = 0;
    for (; folder && !repository; up++) {
        const char *name = found ? NULL : file_in(folder, problem);
        if (name) {
            found = upwards(up, name);
            found_up = up;
        }
        repository = exists(folder, ".git", false);
        char *slash = strrchr(folder, '/');
        if (!slash || !slash[1])
            break; /* the root of all */
        slash[slash == folder] = 0;
    }
    free(folder);
    if (found && found_up &&
        !repository) { /* it belongs to another project: nothing says that it is about this folder */
        free(found);
        found = NULL;
        *problem = NULL;
    }
    return found;
}
