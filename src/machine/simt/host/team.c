/* A launch whose CTAs run at the same time, where that cannot make a difference.
 *
 * The first CTAs run one after the other: most launches are over before threads would have helped. Then threads take
 * pieces of the grid, each with a machine of its own. What a CTA accesses is claimed (memory/claims.c): if it turns out
 * that CTAs of one thread access what those of another one write, or that one waits for another, all that was done is
 * undone, and CTAs run in their order. So it is with every launch that does not end well: what is reported of it is
 * what is met first in that order. */
#include "base/deadline.h"
#include "base/host/resources.h"
#include "machine/simt/core/machine.h"
#include "machine/simt/host/host.h"

#include <stdlib.h>

enum { LEAST_PIECES = 8, NEIGHBORS = 16, MOST_DOUBLED = 10 };

typedef struct HostTeam HostTeam;

typedef struct HostMember {
    HostTeam *team;
    PtxMachine *machine;
    Touched *touched; /* by its CTAs; NULL: that is not wanted */
    uint32_t at, end; /* clusters of its piece that have not begun */
    pthread_t thread;
    PtxEnd how;
} HostMember;

struct HostTeam {
    PtxTeam team;
    HostRun *run;
    double begun; /* when the launch did */
    unsigned jobs, member_count;
    unsigned seconds;   /* that a member has; 0: no bound */
    bool alone;         /* CTAs run one after the other to the end */
    uint32_t clusters;  /* of the grid */
    uint32_t first;     /* that did not run before the members began */
    uint32_t piece;     /* clusters of one */
    uint32_t taken;     /* pieces that members took; atomic */
    Text *printed;      /* of each piece; NULL */
    uint32_t piece_end; /* pieces are below that number */
    HostMember members[PTX_TEAM_MEMBERS];
};

/* ---- Pieces ---- */

/* Neighbors often write to one word: pieces are cut where that is not likely. */
static void cut_pieces(HostTeam *team) {
    uint32_t rest = team->clusters - team->first, piece = rest / (team->jobs * LEAST_PIECES);
    if (rest >= NEIGHBORS * team->jobs)
        piece = (piece + NEIGHBORS - 1) / NEIGHBORS * NEIGHBORS;
    team->piece = piece ? piece : 1;
    team->taken = team->first / team->piece;
    team->piece_end = (team->clusters - 1) / team->piece + 1;
}

static bool take_piece(HostMember *member) {
    HostTeam *team = member->team;
    uint32_t number = __atomic_fetch_add(&team->taken, 1, __ATOMIC_RELAXED);
    if (number >= team->piece_end || __atomic_load_n(&team->team.stop, __ATOMIC_RELAXED))
        return false;
    uint64_t begin = (uint64_t)number * team->piece, end = begin + team->piece;
    member->at = begin < team->first ? team->first : (uint32_t)begin;
    member->end = end < team->clusters ? (uint32_t)end : team->clusters;
    member->machine->printed = team->printed ? &team->printed[number] : NULL;
    return true;
}

static bool next_of_team(void *context, bool stuck, uint32_t *cluster) {
    HostMember *member = context;
    if (stuck) {
        __atomic_store_n(&member->team->team.stop, true, __ATOMIC_RELAXED);
        return false;
    }
    if (member->at == member->end && !take_piece(member))
        return false;
    *cluster = member->at++;
    return true;
}

/* ---- Members ---- */

static int has_stopped(void *team) {
    return __atomic_load_n(&((PtxTeam *)team)->stop, __ATOMIC_RELAXED);
}

static void *work(void *context) {
    HostMember *member = context;
    PtxSchedule schedule = {.kind = SCHEDULE_EAGER, .next = next_of_team, .context = member};
    deadline_start(member->team->seconds, has_stopped, &member->team->team);
    member->how = ptx_schedule_run(member->machine, &schedule);
    deadline_end();
    if (member->how != PTX_END_COMPLETE)
        __atomic_store_n(&member->team->team.stop, true, __ATOMIC_RELAXED);
    return NULL;
}

static bool add_member(HostTeam *team, const pthread_attr_t *attributes) {
    const char *problem;
    HostMember *member = &team->members[team->member_count];
    *member = (HostMember){.team = team};
    member->machine = ptx_machine(team->run->kernel->program, team->run->launch, COMPUTES_ALL, &problem);
    if (!member->machine)
        return false;
    member->machine->results = true;
    member->machine->team = &team->team;
    member->machine->member = (uint8_t)team->member_count;
    if (team->run->touched && !(member->touched = touched_new(member->machine, team->run->dependent))) {
        ptx_machine_free(member->machine);
        return false;
    }
    host_watch(member->machine, member->touched);
    if (pthread_create(&member->thread, attributes, work, member) == 0) {
        team->member_count++;
        return true;
    }
    touched_free(member->touched);
    ptx_machine_free(member->machine);
    return false;
}

/* The thread that began the launch is a member, too; it goes on where it is. */
static void begin_team(HostTeam *team) {
    enum { STACK_BYTES = 8 << 20, NANOSECONDS = 1000000000 };
    HostRun *run = team->run;
    pthread_attr_t attributes;
    cut_pieces(team);
    if (deadline.end)
        team->seconds = deadline_look() ? 1 : (unsigned)((deadline.end - deadline_now()) / NANOSECONDS) + 1;
    if (run->printed && !(team->printed = calloc(team->piece_end, sizeof *team->printed)))
        return;
    if (pthread_mutex_init(&team->team.lock, NULL) != 0)
        return;
    team->members[0] = (HostMember){.team = team, .machine = run->machine};
    team->member_count = 1;
    if (pthread_attr_init(&attributes) == 0) {
        pthread_attr_setstacksize(&attributes, STACK_BYTES);
        while (team->member_count < team->jobs && add_member(team, &attributes))
            continue;
        pthread_attr_destroy(&attributes);
    }
    run->machine->team = &team->team;
    run->machine->member = 0;
}

/* Once the launch takes its time, and the rest of it is worth it, others help. */
static bool is_worth_it(const HostTeam *team) {
    uint32_t rest = team->clusters - team->first;
    double alone_for = team->run->device->alone_for, passed = rest > 1 ? clock_seconds() - team->begun : 0;
    return rest > 1 && passed >= alone_for && passed / (team->first ? team->first : 1) * rest >= alone_for;
}

static bool next_of_lead(void *context, bool stuck, uint32_t *cluster) {
    HostTeam *team = context;
    if (team->member_count)
        return next_of_team(&team->members[0], stuck, cluster);
    team->alone |= stuck || team->run->machine->ordered;
    if (!team->alone && is_worth_it(team)) {
        begin_team(team);
        team->alone = !team->member_count;
        if (!team->alone)
            return next_of_team(&team->members[0], stuck, cluster);
    }
    if (team->first == team->clusters)
        return false;
    *cluster = team->first++;
    return true;
}

/* ---- All of it ---- */

/* Whether all members did what they should; none works any more. */
static bool end_team(HostTeam *team, PtxEnd end) {
    HostRun *run = team->run;
    bool good = end == PTX_END_COMPLETE;
    if (!good)
        __atomic_store_n(&team->team.stop, true, __ATOMIC_RELAXED);
    for (unsigned i = 1; i < team->member_count; i++) {
        pthread_join(team->members[i].thread, NULL);
        good &= team->members[i].how == PTX_END_COMPLETE;
        if (team->members[i].touched)
            touched_join(run->touched, team->members[i].touched);
        touched_free(team->members[i].touched);
        ptx_machine_free(team->members[i].machine);
    }
    good &= !team->team.stop;
    pthread_mutex_destroy(&team->team.lock);
    for (uint32_t i = 0; team->printed && i < team->piece_end; i++) {
        if (good)
            text_add(run->printed, team->printed[i].data, team->printed[i].size);
        text_free(&team->printed[i]);
    }
    free(team->printed);
    for (uint32_t i = 0; i < run->launch->buffer_count; i++)
        ptx_host_unclaim(run->launch->buffers[i].host);
    run->machine->team = NULL;
    run->machine->printed = run->printed;
    return good;
}

static unsigned jobs_of(const PtxDevice *device) {
    unsigned jobs = device->jobs ? device->jobs : (unsigned)resources_cores();
    return jobs < PTX_TEAM_MEMBERS ? jobs : PTX_TEAM_MEMBERS;
}

bool team_run(HostRun *run, PtxEnd *end) {
    HostKernel *kernel = run->kernel;
    HostTeam team = {
        .run = run, .jobs = jobs_of(run->device), .clusters = run->machine->cta_count / run->machine->cluster_size};
    PtxSchedule schedule = {.kind = SCHEDULE_EAGER, .next = next_of_lead, .context = &team};
    size_t printed = run->printed ? run->printed->size : 0;
    bool good = true;
    team.alone = team.jobs < 2 || team.clusters < 2 || kernel->skipped;
    team.begun = team.alone ? 0 : clock_seconds();
    kernel->skipped -= kernel->skipped != 0;
    *end = ptx_schedule_run(run->machine, &schedule);
    if (team.member_count) {
        run->threads = team.member_count;
        good = end_team(&team, *end);
        kernel->ordered = good ? 0 : kernel->ordered + 1;
        unsigned skipped = kernel->ordered < MOST_DOUBLED ? 1u << kernel->ordered : 1u << MOST_DOUBLED;
        kernel->skipped = good ? 0 : skipped;
    }
    if (!good && run->printed)
        run->printed->size = printed;
    return good;
}
