/* Whether a launch fits a kernel, before anything is run. */
#include "check/simt/internal.h"

const char *threads_launch_problem(PtxModule *module, uint32_t entry, const ThreadsOptions *options, Arena *arena) {
    const Launch *launch = options->trail ? &options->trail->launch : options->launch;
    static const size_t budget = (size_t)2 << 30;
    Arena scratch;
    PtxLaunch bound;
    const char *problem = NULL;
    jmp_buf here;
    if (!launch && !options->fixed)
        return NULL;
    arena_init(&scratch, budget);
    scratch.exhausted = &here;
    if (setjmp(here)) {
        arena_free(&scratch);
        return NULL; /* the check says so */
    }
    const PtxProgram *program = ptx_program(&scratch, module, entry, budget, &problem);
    bool good = true;
    if (program && launch)
        good = ptx_launch_bind(&scratch, program, launch, &bound, &problem);
    else if (program && options->fixed)
        good = ptx_launch_choose(&scratch, program, options->fixed, &bound, 1, &problem) > 0;
    const char *sentence = good || !problem ? NULL : arena_copy(arena, problem, strlen(problem));
    arena_free(&scratch);
    return sentence;
}
