/* Paths of inputs as the patterns of a project file see them, from the folder of that file on; and names of kernels. */
#include "config/glob.h"
#include "config/project.h"

#include <stdlib.h>

/* The path from the project's folder on, if it is below that, else as it is; to be freed. */
static char *from_folder(const Project *project, const char *path) {
    char *root = realpath(project->folder, NULL), *real = root ? realpath(path, NULL) : NULL, *below = NULL;
    size_t size = root ? strlen(root) : 0;
    if (real && strcmp(root, "/") == 0)
        below = strdup(real + 1);
    else if (real && strncmp(root, real, size) == 0 && real[size] == '/')
        below = strdup(real + size + 1);
    free(root);
    free(real);
    return below ? below : strdup(path);
}

static bool any_matches(const Patterns *patterns, Str path) {
    for (uint32_t i = 0; i < patterns->count; i++)
        if (glob_matches(patterns->items[i], path))
            return true;
    return false;
}

bool project_means(const Project *project, const char *path) {
    if (!project->include.count && !project->exclude.count)
        return true;
    char *below = from_folder(project, path);
    Str name = str_of(below ? below : path);
    bool meant =
        (!project->include.count || any_matches(&project->include, name)) && !any_matches(&project->exclude, name);
    free(below);
    return meant;
}

const char *project_launch(const Project *project, const char *path) {
    const char *file = NULL;
    char *below = project->launch_count ? from_folder(project, path) : NULL;
    for (uint32_t i = 0; below && i < project->launch_count && !file; i++)
        if (glob_matches(project->launches[i].pattern, str_of(below)))
            file = project->launches[i].file;
    free(below);
    return file;
}

Requirement *project_requires(const Project *project, Str kernel, Arena *arena, size_t *count) {
    size_t most = 0;
    *count = 0;
    for (uint32_t i = 0; i < project->kernel_count; i++)
        most += project->kernels[i].count;
    Requirement *found = ARENA_ARRAY(arena, Requirement, most + 1);
    for (uint32_t i = 0; i < project->kernel_count; i++)
        for (uint32_t k = 0; glob_matches(project->kernels[i].pattern, kernel) && k < project->kernels[i].count; k++)
    found[(*count)++] = project->kernels[i].requires[k];
    return found;
}
