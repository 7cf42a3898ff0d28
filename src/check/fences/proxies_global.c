/* Global memory and descriptors: what threads write and copies read, what copies write and threads read.
 *
 * Bytes are known where the program was compiled for global memory (machine/tile/memory/access.h): then two accesses
 * either have bytes in common or they do not, since every argument of the kernel has memory of its own. */
#include "check/fences/internal.h"

#include "machine/tile/memory/access.h"

enum { MOST_GLOBALS = 1 << 13, MOST_RUNS = 1 << 12 };

struct GlobalAccess {
    GlobalAccess *next;
    uint64_t cluster;
    uint32_t agent, pc;
    Bytes bytes;
    Epoch stamp;
    bool async;
    bool fenced;    /* by its own threads, for copies that read global memory */
    Bridge *bridge; /* [agent] */
};

/* A descriptor that the kernel wrote to memory. */
struct MadeDescriptor {
    MadeDescriptor *next;
    int64_t address;
    uint32_t agent, pc;
    Epoch stamp;
    Bridge *acquired; /* [agent] */
    bool read;        /* by a copy since it was made: */
    Epoch read_stamp;
    uint32_t read_agent, read_pc;
};

/* What other clusters of the launch wrote is kept. */
void proxies_global_start(Proxies *proxies, bool same_launch) {
    GlobalAccess **place = &proxies->globals;
    proxies->made = NULL;
    while (*place)
        if (same_launch && (*place)->cluster != proxies->cluster) {
            place = &(*place)->next;
        } else {
            *place = (*place)->next;
            proxies->global_count--;
        }
}

/* ---- Accesses ------------------------------------------------------------------------------------- */

static bool same_bytes(const Bytes *a, const Bytes *b) {
    return a->count == b->count && memcmp(a->runs, b->runs, a->count * sizeof *a->runs) == 0;
}

/* Keeps a write; the same again takes the place of the one before. */
static void keep(Proxies *proxies, const Event *event, const Bytes *bytes, bool async) {
    GlobalAccess *access = proxies->globals;
    uint32_t agents = proxies->machine->agent_count;
    while (access && (access->pc != event->pc || access->agent != event->agent || access->cluster != proxies->cluster ||
                      !same_bytes(&access->bytes, bytes)))
        access = access->next;
    proxies->work += proxies->global_count;
    if (!access && proxies->global_count == MOST_GLOBALS) {
        proxies_give_up(proxies, "there are more writes to global memory than are kept", NULL);
        return;
    }
    if (!access && bytes->count) {
        Run *hull = &proxies->global_hull, all = {bytes->runs[0].begin, bytes->runs[bytes->count - 1].end};
        bool none = hull->begin == hull->end;
        hull->begin = none || all.begin < hull->begin ? all.begin : hull->begin;
        hull->end = none || all.end > hull->end ? all.end : hull->end;
    }
    if (!access) {
        access = ARENA_NEW(proxies->arena, GlobalAccess);
        *access = (GlobalAccess){.next = proxies->globals, .bytes = *bytes};
        access->bytes.runs = ARENA_ARRAY(proxies->arena, Run, bytes->count);
        memcpy(access->bytes.runs, bytes->runs, bytes->count * sizeof *bytes->runs);
        access->bridge = ARENA_ARRAY(proxies->arena, Bridge, agents);
        proxies->globals = access;
        proxies->global_count++;
    }
    access->cluster = proxies->cluster;
    access->agent = event->agent;
    access->pc = event->pc;
    access->async = async;
    access->fenced = false;
    access->stamp = clocks_epoch(proxies->clocks, event);
    memset(access->bridge, 0, agents * sizeof *access->bridge);
}

static bool is_bridged(const Proxies *proxies, const Bridge *bridges, uint32_t agent) {
    for (uint32_t by = 0; by < proxies->machine->agent_count; by++)
        if (bridges[by].there && clocks_know(proxies->clocks, agent, bridges[by].stamp))
            return true;
    return false;
}

/* Whether all bytes of the one lie before all of the other, as those of two tensors do. Intervals are in order. */
static bool are_apart(const Bytes *a, const Bytes *b) {
    return !a->count || !b->count || a->runs[a->count - 1].end <= b->runs[0].begin ||
           b->runs[b->count - 1].end <= a->runs[0].begin;
}

/* A read of bytes that may have been written in the same launch, or an update: those of copies do not mind each other.
 */
static void check_read(Proxies *proxies, const Event *event, const Bytes *bytes, bool async) {
    bool updates = event->effect->effect.verb == EFFECT_UPDATE;
    if (are_apart(&(Bytes){.runs = &proxies->global_hull, .count = 1}, bytes))
        return;
    for (const GlobalAccess *access = proxies->globals; access; access = access->next) {
        bool here = access->cluster == proxies->cluster;
        proxies->work++;
        if (are_apart(&access->bytes, bytes))
            continue;
        proxies->work += access->bytes.count + bytes->count;
        if (!bytes_overlap(&access->bytes, bytes))
            continue;
        BreachKind kind;
        bool known = here && clocks_know(proxies->clocks, event->agent, access->stamp);
        if (access->async && here && !known && !updates)
            kind = BREACH_IN_FLIGHT;
        else if (!access->async && async && here && known && !is_bridged(proxies, access->bridge, event->agent))
            kind = BREACH_GLOBAL;
        else if (!access->async && async && !here && !access->fenced)
            kind = BREACH_ELSEWHERE;
        else
            continue;
        proxies_breach(proxies, breach_at(kind, event, access->pc, access->agent));
    }
}

/* Others are let go on: have this agent's copies written what they are let go on for? */
static void check_flag(Proxies *proxies, const Event *event) {
    const Effect *effect = &event->effect->effect;
    bool releases = order_releases(effect->order);
    if (effect->verb != EFFECT_UPDATE || effect->proxy != PROXY_GENERIC || !releases || effect->scope < SCOPE_GPU)
        return;
    for (const GlobalAccess *access = proxies->globals; access; access = access->next)
        if (access->async && access->agent == event->agent && access->cluster == proxies->cluster &&
            !clocks_know(proxies->clocks, event->agent, access->stamp))
            proxies_breach(proxies, breach_at(BREACH_FLAG, event, access->pc, access->agent));
}

/* ---- Descriptors ---------------------------------------------------------------------------------- */

static MadeDescriptor *made_at(const Proxies *proxies, int64_t address) {
    MadeDescriptor *made = proxies->made;
    while (made && made->address != address)
        made = made->next;
    return made;
}

/* A copy reads the descriptor. */
static void check_descriptor(Proxies *proxies, const Event *event, const Bytes *bytes) {
    MadeDescriptor *made = bytes->count ? made_at(proxies, bytes->runs[0].begin) : NULL;
    if (!made)
        return;
    if (clocks_know(proxies->clocks, event->agent, made->stamp) && !is_bridged(proxies, made->acquired, event->agent))
        proxies_breach(proxies, breach_at(BREACH_TENSORMAP, event, made->pc, made->agent));
    made->read = true;
    made->read_stamp = clocks_epoch(proxies->clocks, event);
    made->read_agent = event->agent;
    made->read_pc = event->pc;
}

static void descriptor_made(Proxies *proxies, const Event *event, int64_t address) {
    MadeDescriptor *made = made_at(proxies, address);
    uint32_t agents = proxies->machine->agent_count;
    if (made && made->read && !clocks_know(proxies->clocks, event->agent, made->read_stamp))
        proxies_breach(proxies, breach_at(BREACH_REWRITTEN, event, made->read_pc, made->read_agent));
    if (!made) {
        made = ARENA_NEW(proxies->arena, MadeDescriptor);
        made->next = proxies->made;
        made->acquired = ARENA_ARRAY(proxies->arena, Bridge, agents);
        proxies->made = made;
    }
    memset(made->acquired, 0, agents * sizeof *made->acquired);
    made->address = address;
    made->agent = event->agent;
    made->pc = event->pc;
    made->read = false;
    made->stamp = clocks_now(proxies->clocks, event->agent);
}

static void descriptor_acquired(Proxies *proxies, const Event *event, int64_t address) {
    MadeDescriptor *made = made_at(proxies, address);
    if (made && clocks_know(proxies->clocks, event->agent, made->stamp))
        made->acquired[event->agent] = (Bridge){true, clocks_now(proxies->clocks, event->agent), event->pc};
}

/* ---- Events --------------------------------------------------------------------------------------- */

/* An address that is no argument's comes from memory, or is a number that was chosen for one that is not known: two of
 * these may be the same though the tensors that they stand for are not. */
static bool is_argument(const Proxies *proxies, const Bytes *bytes) {
    uint32_t argument;
    int64_t offset;
    return address_argument(proxies->machine, bytes->runs[0].begin, &argument, &offset);
}

void proxies_global_access(Proxies *proxies, const Event *event) {
    const Effect *effect = &event->effect->effect;
    const char *reason;
    Bytes bytes;
    if (!proxies->machine->program->global)
        return;
    check_flag(proxies, event);
    if (!access_ranges(proxies->machine, event, proxies->machine->arena, &bytes, &reason) || !bytes.count ||
        bytes.count > MOST_RUNS)
        return;
    bool async = effect->proxy == PROXY_ASYNC;
    if (effect->proxy == PROXY_TENSORMAP)
        check_descriptor(proxies, event, &bytes);
    else if (!is_argument(proxies, &bytes))
        return;
    else if (effect->verb == EFFECT_READ || (effect->verb == EFFECT_UPDATE && async))
        check_read(proxies, event, &bytes, async);
    if (effect->proxy != PROXY_TENSORMAP && effect->verb != EFFECT_READ)
        keep(proxies, event, &bytes, async);
}

void proxies_global_fence(Proxies *proxies, const Event *event) {
    const Effect *effect = &event->effect->effect;
    const Program *program = proxies->machine->program;
    if (effect->proxy == PROXY_ASYNC && effect->space != SPACE_SHARED) {
        for (GlobalAccess *access = proxies->globals; access; access = access->next) {
            Bridge *bridge = &access->bridge[event->agent];
            if (access->cluster != proxies->cluster || bridge->there ||
                !clocks_know(proxies->clocks, event->agent, access->stamp))
                continue;
            *bridge = (Bridge){true, clocks_now(proxies->clocks, event->agent), event->pc};
            access->fenced |= access->agent == event->agent;
        }
        return;
    }
    if (effect->proxy != PROXY_TENSORMAP || event->effect->on == NO_REGISTER)
        return;
    Word address = event->state->words[(size_t)event->agent * program->most_registers + event->effect->on];
    if (!word_is(address, WORD_INTEGER))
        return;
    if (effect->order == ORDER_RELEASE)
        descriptor_made(proxies, event, address.bits);
    else
        descriptor_acquired(proxies, event, address.bits);
}

void proxies_global_visit(const Proxies *proxies, const StateVisit *visit) {
    for (const MadeDescriptor *made = proxies->made; made; made = made->next) {
        visit_number(visit, (uint64_t)made->address);
        visit_number(visit, (uint64_t)made->agent << 32 | made->pc);
        proxies_visit_stamp(visit, made->stamp);
        visit_number(visit, made->read);
        if (made->read)
            proxies_visit_stamp(visit, made->read_stamp);
        for (uint32_t i = 0; i < proxies->machine->agent_count; i++) {
            visit_number(visit, made->acquired[i].there);
            if (made->acquired[i].there)
                proxies_visit_stamp(visit, made->acquired[i].stamp);
        }
    }
}
