/* Entry points of the driver that order launches, or give memory to others, in ways that are not modeled: each calls
 * the driver's own, and the first call that succeeds is reported. */
#include "runtime/hooks.h"
#include "runtime/record/gpu.h"

typedef enum UnmodeledWhy { WHY_LAUNCHES, WHY_COPIES, WHY_ORDERS, WHY_SHARES, WHY_ALIASES } UnmodeledWhy;

/* What is not looked at because of it. */
static const char *const whys[] = {
    [WHY_LAUNCHES] = "what it launches was not checked",
    [WHY_COPIES] = "races with what it reads and writes were not checked",
    [WHY_ORDERS] = "what it orders is not known, and races between launches were not all checked",
    [WHY_SHARES] = "races with others that share memory or events by it were not checked",
    [WHY_ALIASES] =
        "memory has more than one address by it, and races between accesses at two of them were not checked"};

static bool reported[HOOK_COUNT - HOOKS_MODELED];

/* In mode capture launches are checked one by one. */
static Result called(Result result, unsigned hook, const char *name, UnmodeledWhy why) {
    int length = (int)strcspn(name, "_");
    if (result || __atomic_exchange_n(&reported[hook - HOOKS_MODELED], true, __ATOMIC_RELAXED))
        return result;
    if (gpu_on())
        gpu_unseen_program("the program calls %.*s, which is not modeled: %s", length, name, whys[why]);
    else if (why == WHY_LAUNCHES)
        folder_log("note the program calls %.*s, which is not modeled: %s", length, name, whys[why]);
    if (order_on() && why <= WHY_ORDERS)
        order_unknown();
    return result;
}

#define INCOMPLETE(exported, why, words)                                                                      \
    EXPORTED Result exported(WORDS_##words);                                                                  \
    EXPORTED Result exported(WORDS_##words) {                                                                 \
        return called(NEXT(exported, (WORDS_##words), GIVEN_##words), HOOK_##exported, #exported, WHY_##why); \
    }
#include "runtime/entry_points.def"
