/* A project: what its file (weir.toml) and the command line say about rules, paths, launches and options, and what is
 * remembered of it while kernels are checked: which comments and which entries of the baseline were of use.
 *
 * It is set up by one thread; then any number may apply it to verdicts. docs/config.md has the keys of the file. */
#ifndef CONFIG_PROJECT_H
#define CONFIG_PROJECT_H

#include "base/digest.h"
#include "base/map.h"
#include "base/requirement.h"
#include "config/comments.h"
#include "config/toml.h"
#include "finding/finding.h"

#include <pthread.h>

/* A value of the file that others have to check, and where it stands. */
typedef struct ProjectSetting {
    const char *text; /* NULL: it is not there */
    size_t offset;
} ProjectSetting;

typedef struct SeverityChange {
    const char *name; /* of a rule or a family */
    Severity severity;
} SeverityChange;

/* What one place says about rules. */
typedef struct RuleLayer {
    const char *select, *ignore; /* lists of rules and families; NULL: it says nothing */
    SeverityChange *changes;
    uint32_t change_count, change_capacity;
} RuleLayer;

/* The launch file of inputs that a pattern means. */
typedef struct ProjectLaunch {
    Str pattern;
    const char *file;
} ProjectLaunch;

/* What callers of kernels whose names a pattern means promise. */
typedef struct ProjectKernel {
    Str pattern;
    Requirement *requires;
    uint32_t count, capacity;
} ProjectKernel;

typedef struct Patterns {
    Str *items;
    uint32_t count, capacity;
} Patterns;

/* A source of kernels that was looked at. */
typedef struct KernelSource {
    const char *path; /* of the system */
    const char *name; /* for people: as the IR has it */
    Digest digest;
    SuppressionList suppressions;
} KernelSource;

struct Baseline;

/* ORDER project_layers */
enum { LAYER_FILE, LAYER_COMMAND, LAYER_COUNT };

typedef struct Project Project;
struct Project {
    Arena arena;
    pthread_mutex_t lock; /* of the arena, and of what kernels add, below */
    /* The file. */
    const char *file;   /* as it is opened; NULL: there is none */
    const char *folder; /* that paths in it are relative to: the file's, else the current one */
    Source *source;
    Diagnostics diagnostics;
    const char *problem; /* with what is said outside of the file, one sentence; NULL if nothing is wrong */
    RuleLayer layers[LAYER_COUNT];
    Patterns include, exclude;
    ProjectLaunch *launches;
    uint32_t launch_count, launch_capacity;
    ProjectKernel *kernels;
    uint32_t kernel_count, kernel_capacity;
    const char *source_root;   /* below which kernels' own sources are opened */
    const char *baseline_file; /* NULL: there is none */
    ProjectSetting triton, target, gsan, mma_order, require;
    int64_t timeout, budget; /* -1: it does not say */
    /* What kernels add. */
    struct Baseline *baseline; /* NULL until it is read */
    bool updates;              /* what is found goes into it */
    Map names;                 /* of IR, to a KernelSource; one that is not to be had is `nowhere` */
    KernelSource **sources;
    uint32_t source_count, source_capacity;
};

/* False: there is no memory. */
bool project_init(Project *project);
void project_free(Project *project);

/* Runs `work` with the memory of the project, alone; false: there is not enough of it. */
typedef void ProjectTask(void *context);
bool project_attempt(Project *project, ProjectTask *work, void *context);

/* ---- find.c ---- */
/* The file that holds for the current folder: weir.toml, .weir, or a pyproject.toml with [tool.weir], there or in a folder
 * above it up to the repository's root. NULL if there is none; with *problem, if there are two in one folder. To be
 * freed. */
char *project_find(const char **problem);

/* ---- pyproject.c ---- */
/* A pyproject.toml with blanks in the place of what is not Weir's; NULL: it has nothing for Weir. To be freed. */
Source *pyproject_part(const Source *source);

/* ---- read.c ---- */
/* Reads the file. False: something is wrong with it, in `diagnostics`, or it cannot be read, in `problem`. */
bool project_read(Project *project, const char *path);
/* The same of a text, which is the project's from then on. */
bool project_read_text(Project *project, Source *source);
/* What the command line says: "select", "ignore", "severity" (RULE=error), "source-root", "baseline". Lists add up.
 * False, with `problem`. */
bool project_set(Project *project, const char *key, const char *value);
/* Says what is wrong with a setting of the file. */
void project_refuse(Project *project, ProjectSetting setting, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- paths.c ---- */
/* Whether a file that was found in a folder is meant, by include and exclude; its launch file, or NULL. */
bool project_means(const Project *project, const char *path);
const char *project_launch(const Project *project, const char *path);
/* What callers of the kernel promise: adds to the list, which is in the arena, and has that many. */
Requirement *project_requires(const Project *project, Str kernel, Arena *arena, size_t *count);

#endif
