/* One machine and those who watch it. */
#ifndef CHECK_SIMT_EXECUTIONS_H
#define CHECK_SIMT_EXECUTIONS_H

#include "check/simt/internal.h"

/* How a run is made. */
typedef struct ThreadsRun {
    PtxSchedule schedule;
    unsigned havoc_choice;
} ThreadsRun;

/* The machine for a launch; false, with a line in the verdict, if there is none. */
bool runs_open(ThreadsCheck *check, PtxLaunch *launch);
void runs_close(ThreadsCheck *check);
/* Makes a run that `watch` sees, or nothing if it is NULL. An eager run of many CTAs is one of each class (classes.h)
 * where that says all; if something is wrong then, the run's schedule gets those CTAs alone. */
PtxEnd runs_make(ThreadsCheck *check, ThreadsRun *run, PtxWatch *watch);

/* ---- check.c: what is made of a run ---- */
/* Something that watches the machine's runs for races, until runs_close; NULL, with a line in the verdict. */
PtxWatch *runs_watch(ThreadsCheck *check, bool history);
/* Says how the run that was just made ended. False: this launch needs no other run. */
bool runs_judge(ThreadsCheck *check, const ThreadsRun *run, PtxEnd end);
/* Tells the races that the watch has beyond the first `reported`. Returns how many it has. */
uint32_t runs_report_races(ThreadsCheck *check, const ThreadsRun *run, PtxWatch *watch, uint32_t reported);
/* The kernel as the machine takes it; false, with a sentence. */
bool runs_prepare(ThreadsCheck *check, const char **problem);
/* Calls `work` with an arena for the check, and frees what it holds if that is exhausted. */
void runs_with_arena(ThreadsCheck *check, void (*work)(ThreadsCheck *check));
/* What the verdict says of the launch. */
void runs_add_launch(ThreadsCheck *check, const PtxLaunch *launch);
/* A run that stopped: what comes after it was not looked at. `code`: where; NULL: it hangs. */
void runs_report_stop(ThreadsCheck *check, const PtxCode *code);

/* The cluster that something is wrong in: the later side of the first race, or the first that is stuck. */
uint32_t runs_found_in(const ThreadsCheck *check, const PtxWatch *watch, PtxEnd end);

/* ---- show.c ---- */
/* The run that is shown of a kernel with that verdict, as threads_show says; the program is there. False, with a
 * sentence: there is none. */
bool runs_shown(ThreadsCheck *check, const Verdict *verdict, ThreadsTrail *trail, const char **problem);

/* ---- havoc_choices.c: ways to choose what is not known ---- */
/* Behind each run: which ways unknown conditions went. */
void havoc_choices_note(ThreadsCheck *check);
/* The other ways than that of the first run. */
void havoc_choices_run(ThreadsCheck *check);
/* Races of the first run, in which several things are not known: havoc_choices_run then reports those of every run. */
void havoc_choices_first_races(ThreadsCheck *check, const PtxRace *races, uint32_t count);
/* A value that is not known decides the way: where several such things hang together, a race in one havoc choice may be
 * none.
 */
void havoc_choices_doubt_races(ThreadsCheck *check, const PtxRace *races, uint32_t count);

/* ---- same_value.c ---- */
/* Of races of a run. In which a write changes nothing: where that is so by chance, as the data is zero or padded, they
 * are none of those any more. In which an mbarrier is ended: whether lanes that come together are why it may be. */
void threads_run_again(ThreadsCheck *check, const ThreadsRun *run, PtxRace *races, uint32_t count);

/* ---- unset.c: what the run that was just made shows beside races ---- */
void threads_unset(ThreadsCheck *check, const ThreadsRun *run);
void threads_overwrite(ThreadsCheck *check, const ThreadsRun *run);

/* Every run of a launch that it takes, and what they show. */
void runs_launch(ThreadsCheck *check, PtxLaunch *launch);

/* ---- launches.c ---- */

/* The launch that was given, or those that Weir chooses. */
void launches_check(ThreadsCheck *check);
/* One that callers may not make: what goes wrong is no finding. */
typedef enum TriedKind {
    TRIED_ODD,   /* it is in doubt */
    TRIED_LARGE, /* the same, and it is run once */
    TRIED_EMPTY, /* a size is 0 or less: it is noted */
} TriedKind;
void runs_try(ThreadsCheck *check, PtxLaunch *launch, TriedKind kind);
/* Looks for others like that one (check->scout). */
struct PtxScout *runs_scout(ThreadsCheck *check, const PtxLaunch *like);

/* ---- outcomes.c ---- */

/* Launches for outcomes of conditions that those did not have. */
void outcomes_run(ThreadsCheck *check, PtxLaunch *launches, uint32_t count);
/* Those that still no launch had. */
void outcomes_say(ThreadsCheck *check);

#endif
