/* Races are not looked for yet: so nothing is clean. Gone when they are. */
#include "analyze/threads/watch.h"

#define WEAK __attribute__((weak))
WEAK PtxWatch *ptx_watch(Arena *arena, PtxMachine *machine, const PtxWatchOptions *options, const char **problem) {
    (void)arena, (void)machine, (void)options;
    *problem = "that is not there yet";
    return NULL;
}
WEAK void ptx_watch_start(PtxWatch *watch) {
    (void)watch;
}
WEAK void ptx_watch_observe(void *watch, const PtxEvent *event) {
    (void)watch, (void)event;
}
WEAK void ptx_watch_end(PtxWatch *watch) {
    (void)watch;
}
WEAK const PtxRace *ptx_watch_races(const PtxWatch *watch, uint32_t *count) {
    (void)watch;
    *count = 0;
    return NULL;
}
WEAK const PtxCode *ptx_watch_order_matters(const PtxWatch *watch) {
    (void)watch;
    return NULL;
}
