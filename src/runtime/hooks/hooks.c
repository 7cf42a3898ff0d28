/* How programs get at the driver: LD_PRELOAD puts the entry points of this library in front of the driver's, whichever
 * way a program gets at those: linked, by dlsym, or by cuGetProcAddress, which is how the CUDA runtime does it. Each
 * calls the driver's own and remembers what it needs. */
#include "runtime/hooks.h"

#include "runtime/capture/capture.h"

#include <string.h>
#include <unistd.h>

pthread_mutex_t hook_mutex = PTHREAD_MUTEX_INITIALIZER;

/* ---- The table ----------------------------------------------------------------------------------- */

typedef enum Streams { STREAMS_ANY, STREAMS_LEGACY, STREAMS_PER_THREAD } Streams;
typedef struct Hook {
    const char *name;     /* as cuGetProcAddress is asked for it; NULL: as `exported` without its endings */
    const char *exported; /* as the linker has it */
    Streams streams;
    HookFunction *hook;
    HookFunction *next; /* the driver's; NULL: not asked for yet */
} Hook;

#define HOOK_ROW(name, exported, streams) extern HookFunction hook_##exported __asm__(#exported);
ALL_HOOKS
#undef HOOK_ROW
#define INCOMPLETE(exported, why, words) extern HookFunction hook_##exported __asm__(#exported);
#include "runtime/entry_points.def"
#undef INCOMPLETE

static Hook hooks[HOOK_COUNT] = {
#define HOOK_ROW(name, exported, streams) {#name, #exported, STREAMS_##streams, hook_##exported, NULL},
    ALL_HOOKS
#undef HOOK_ROW
#define INCOMPLETE(exported, why, words) {NULL, #exported, STREAMS_ANY, hook_##exported, NULL},
#include "runtime/entry_points.def"
#undef INCOMPLETE
};

/* The table of entry points calls those modeled that have a hook, and no others: else it does not compile. */
#undef MODELED
#define MODELED(exported) is_modeled_##exported = HOOK_##exported,
#define INCOMPLETE(exported, why, words)
enum {
#include "runtime/entry_points.def"
};
#undef MODELED
#undef INCOMPLETE
#define HOOK_ROW(name, exported, streams) is_in_the_table_##exported = is_modeled_##exported,
enum { ALL_HOOKS };
#undef HOOK_ROW

HookFunction *hook_next(unsigned number) {
    Hook *hook = &hooks[number];
    if (!hook->next) {
        void *symbol = driver_symbol(hook->exported);
        hook->next = *(HookFunction **)&symbol;
    }
    return hook->next;
}

/* ---- Ways to the driver -------------------------------------------------------------------------- */

/* The hook in front of what was found, if there is one; it goes on to that from now on. */
static void *in_front(Hook *hook, void *found) {
    HookFunction *function = *(HookFunction **)&found;
    if (function != hook->hook)
        hook->next = function;
    return *(void **)&hook->hook;
}

/* Whether it is a form of what is asked for: cuX, cuX_v2, cuX_ptsz, cuX_v2_ptsz. */
static bool is_form(const Hook *hook, const char *name) {
    size_t length = strlen(name);
    if (strcmp(hook->exported, name) == 0 || (hook->name && strcmp(hook->name, name) == 0))
        return true;
    const char *rest = hook->exported + length;
    return !hook->name && strncmp(hook->exported, name, length) == 0 &&
           (strncmp(rest, "_v", 2) == 0 || strncmp(rest, "_pt", 3) == 0);
}

/* Of an entry point with several forms (_v2) the driver gives one by the version that is asked for: the hook is that of
 * the same form. */
static void *place_in_front(const char *name, uint64_t flags, void *found) {
    Streams streams = flags & PER_THREAD_STREAM ? STREAMS_PER_THREAD : STREAMS_LEGACY;
    Hook *best = NULL;
    HookFunction *own = *(HookFunction **)&found; /* it may be this library's */
    for (unsigned i = 0; found && i < HOOK_COUNT; i++) {
        if ((hooks[i].streams != STREAMS_ANY && hooks[i].streams != streams) || !is_form(&hooks[i], name))
            continue;
        bool same = hooks[i].hook == own || driver_symbol(hooks[i].exported) == found;
        if (same || !best || i < HOOKS_MODELED)
            best = &hooks[i]; /* the last is the newest form */
        if (same)
            break;
    }
    return best ? in_front(best, found) : found;
}

EXPORTED Result cuGetProcAddress_v2(const char *name, void **to, int version, uint64_t flags, int *status) {
    Result result =
        NEXT(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, int *), name, to, version, flags, status);
    if (!result && to)
        *to = place_in_front(name, flags, *to);
    return result;
}

/* The form before CUDA 12. */
EXPORTED Result cuGetProcAddress(const char *name, void **to, int version, uint64_t flags) {
    Result result = NEXT(cuGetProcAddress, (const char *, void **, int, uint64_t), name, to, version, flags);
    if (!result && to)
        *to = place_in_front(name, flags, *to);
    return result;
}

EXPORTED void *dlsym(void *handle, const char *name) {
    if (strncmp(name, "cu", 2) != 0)
        JUMP next_dlsym(handle, name);
    void *found = next_dlsym(handle, name);
    for (unsigned i = 0; found && i < HOOK_COUNT; i++)
        if (strcmp(hooks[i].exported, name) == 0)
            return hook_next(i) ? in_front(&hooks[i], found) : NULL; /* it may be this library's own */
    return found;
}

__attribute__((constructor)) static void say_process(void) {
    folder_log("process %ld", (long)getpid());
}
