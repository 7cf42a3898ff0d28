/* A second opinion on thread barriers: random small kernels, and whether threads of one CTA race in them, found by
 * walking every path. Slow, simple, and without a line of code in common with Weir's own analysis, so that `compare`
 * can hold the two against each other.
 *
 * A kernel is text, one op a line, of the ops in the table of read.c. The rules, for THREADS threads that all walk the
 * same path of it:
 *
 *   values     are concrete. A tt.load of a pointer whose name ends in the digit N is any number from 0 to N - 1, each
 *              time again: that is where paths part.
 *   bytes      an allocation lies at its `allocation.offset`, or, without one, where nothing else lies. A slot is one
 *              tile of a ring. What touches a slot touches all of it.
 *   access     a local_store, local_load, local_alloc with a source or copy is made by every thread, each its own part;
 *              which part of the slot that is, is not known. So two accesses conflict if different ops, or one op at
 *              different times, make them, if they touch the same bytes and at least one of them writes.
 *   order      a thread makes its accesses in the order of the path. `ttg.barrier` with local (or all), gpu.barrier:
 *              what any thread did before it comes before what any thread does after it. ttng.barrier_expect is such a
 *              barrier, and then one thread's expect. Nothing else orders threads.
 *   copy       begins after what its thread did before it, and goes on beside the thread. A cp.async copy belongs to
 *              the group that the next async_commit_group closes; each TDM copy (either way) and each TMA store is a
 *              group of its own. A wait for groups of that kind down to N ends, for the thread that waits, its own
 *              copies of all groups but the N last. Others know of that after a barrier that follows the wait.
 *   TMA load   is spread over the threads, as all copies are, and ends for each thread that waits on its mbarrier: no
 *              barrier is needed after that.
 *   mbarrier   init and inval are plain writes of its bytes by the first thread. Expects, waits and the arrival of a
 *              copy's bytes are accesses that do not conflict with each other.
 *   race       two accesses that conflict and are not ordered. If the earlier is a copy that is still under way, then
 *              what is missing is a wait, no barrier can help, and it is not counted.
 *
 * Fences between proxies, which the hardware wants besides, are not a barrier's business either. */
#ifndef TESTS_MEMBAR_SOUND_H
#define TESTS_MEMBAR_SOUND_H

#include "base/text.h"

enum {
    SOUND_THREADS = 2, /* each thread does the same, so a third could do nothing that one of two cannot */
    SOUND_LINES = 400,
    SOUND_VALUES = 400,
    SOUND_MOVES = 4, /* values handed to one block or loop */
    SOUND_TILE = 8192,
    SOUND_PATHS = 1500, /* the most of one kernel */
};

typedef enum SoundKind {
    SOUND_NOTHING,
    SOUND_CONSTANT, /* number */
    SOUND_ANY,      /* below number */
    SOUND_ADD,
    SOUND_REMAINDER,
    SOUND_LESS,
    SOUND_NOT_LESS,
    SOUND_SELECT,   /* operands: condition, if it is true, if not */
    SOUND_ALLOCATE, /* number: where */
    SOUND_INDEX,    /* number: of slots */
    SOUND_READ,
    SOUND_WRITE,
    SOUND_COPY_CP_ASYNC,
    SOUND_COMMIT_CP_ASYNC,
    SOUND_AWAIT_CP_ASYNC, /* number: of groups that may be left */
    SOUND_COPY_TDM,
    SOUND_STORE_TDM,
    SOUND_AWAIT_TDM,
    SOUND_STORE_TMA,
    SOUND_AWAIT_TMA,
    SOUND_COPY_TMA, /* operands: the view, the mbarrier */
    SOUND_INIT,
    SOUND_INVALIDATE,
    SOUND_EXPECT,
    SOUND_WAIT,
    SOUND_BARRIER,
    SOUND_IF,    /* targets: where to go on; an `else` is a jump to the end */
    SOUND_FOR,   /* operands: variable, first, end, step */
    SOUND_YIELD, /* and the end of a loop without one; `owner` is the line of what it ends */
    SOUND_JUMP,
    SOUND_CHOOSE, /* cf.cond_br */
    SOUND_RETURN,
} SoundKind;

/* Values handed over all at once. */
typedef struct SoundMoves {
    uint16_t count, to[SOUND_MOVES], from[SOUND_MOVES];
} SoundMoves;

typedef struct SoundLine {
    SoundKind kind;
    uint16_t result, operands[4];
    int32_t number;
    uint16_t targets[2]; /* lines: taken if it holds, and if not */
    SoundMoves moves[2]; /* on the way there; of a loop: first on entry, second into the results */
    uint16_t owner;
    uint16_t end; /* the line on which an op with regions ends; of others their own */
    SoundMoves yields;
} SoundLine;

typedef struct SoundProgram {
    SoundLine lines[SOUND_LINES]; /* by their number, from 1 */
    unsigned line_count, value_count;
    const char *problem; /* a sentence, if the text is none of these kernels; `line_count` is where */
} SoundProgram;

/* Where barriers are beside those of the text. */
enum { SOUND_BEFORE = 1, SOUND_AFTER = 2, SOUND_LEFT_OUT = 4 /* a barrier of the text is not there */ };
typedef struct SoundPlacement {
    uint8_t marks[SOUND_LINES];
} SoundPlacement;

typedef enum SoundVerdict {
    SOUND_CLEAN,
    SOUND_RACE,
    SOUND_TOO_LARGE, /* too many paths, or too long */
    SOUND_UNDEFINED, /* a slot that does not exist: the kernel is wrong */
} SoundVerdict;

typedef struct SoundResult {
    SoundVerdict verdict;
    unsigned path_count;
    unsigned first, second;         /* the lines that race */
    uint16_t barriers[SOUND_PATHS]; /* met on each path; complete if the verdict is SOUND_CLEAN */
    bool passed_by[SOUND_PATHS];    /* on that path some scf.for does not run once */
} SoundResult;

typedef struct SoundTraits {
    bool offsets;       /* it says where its allocations lie */
    bool constant_ends; /* and, for all we know, how often its loops run */
} SoundTraits;

/* The kernel number `seed`. */
SoundTraits sound_generate(uint64_t seed, Text *to);
/* False, and a problem, if the text is not one of these kernels. */
bool sound_read(Str text, SoundProgram *program);
void sound_check(const SoundProgram *program, const SoundPlacement *placement, SoundResult *result);

#endif
