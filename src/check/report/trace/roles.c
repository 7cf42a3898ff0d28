/* Roles: warps that run the same, and what they are for. */
#include "check/report/trace/internal.h"

/* How exactly warps are told apart: by all that they run, by what synchronizes or flies, not at all. */
typedef enum Exactness { BY_ALL, BY_MEETINGS, BY_NOTHING } Exactness;

/* Warps that run the same, but for what an elected one does for the others: the most of it is both's, and all of what
 * one of them runs. */
static bool is_same(const Portrait *portrait, const Actor *a, const Actor *b, Exactness exactness) {
    uint32_t both = 0, only[2] = {0, 0};
    for (uint32_t i = 0; i < portrait->check->program->code_count; i++) {
        if (exactness != BY_ALL && !(portrait->does[i] & (DOES_SYNCHRONIZE | DOES_FLY)))
            continue;
        both += a->times[i] && b->times[i];
        only[0] += a->times[i] && !b->times[i];
        only[1] += b->times[i] && !a->times[i];
    }
    return (!only[0] || !only[1]) && only[0] + only[1] <= both;
}

static bool find(Portrait *portrait, Exactness exactness) {
    portrait->role_count = 0;
    for (uint32_t i = 0; i < portrait->actor_count; i++) {
        Actor *actor = &portrait->actors[i];
        uint32_t role = 0;
        while (role < portrait->role_count && exactness != BY_NOTHING &&
               !is_same(portrait, actor, &portrait->actors[portrait->roles[role].first], exactness))
            role++;
        if (role == MOST_ROLES)
            return false;
        if (role == portrait->role_count)
            portrait->roles[portrait->role_count++] = (Role){.first = i};
        actor->role = role;
        portrait->roles[role].warps++;
    }
    return true;
}

/* Whether warps of that number have other roles in other CTAs. */
static bool differs(const Portrait *portrait, uint32_t role) {
    for (uint32_t i = 0; i < portrait->actor_count; i++)
        for (uint32_t k = 0; k < portrait->actor_count; k++)
            if (portrait->actors[i].role == role && portrait->actors[k].role != role &&
                portrait->actors[i].warp == portrait->actors[k].warp)
                return true;
    return false;
}

static bool has(const Portrait *portrait, uint32_t role, uint32_t rank, uint32_t warp) {
    return rank < portrait->actor_count / portrait->warps && warp < portrait->warps &&
           portrait->actors[rank * portrait->warps + warp].role == role;
}

/* "warps 0-3", "warp 4 of CTA 1" */
static const char *name_of(const Portrait *portrait, uint32_t role) {
    Text text = {0};
    uint32_t rank = portrait->actors[portrait->roles[role].first].rank, count = 0;
    for (uint32_t i = 0; i < portrait->warps; i++)
        count += has(portrait, role, rank, i);
    text_addf(&text, count == 1 ? "warp " : "warps ");
    for (uint32_t i = 0, end; i < portrait->warps; i = end) {
        for (end = i + 1; has(portrait, role, rank, i) && has(portrait, role, rank, end);)
            end++;
        if (!has(portrait, role, rank, i))
            continue;
        text_addf(&text, text.data[text.size - 1] == ' ' ? "%u" : ",%u", i);
        if (end - i > 1)
            text_addf(&text, "-%u", end - 1);
    }
    if (differs(portrait, role))
        text_addf(&text, " of CTA rank %u", rank);
    return verdict_keep(portrait->check->verdict, &text);
}

void portrait_find_roles(Portrait *portrait) {
    portrait->roles = ARENA_ARRAY(portrait->arena, Role, MOST_ROLES + 1);
    for (Exactness exactness = BY_ALL; !find(portrait, exactness); exactness++)
        memset(portrait->roles, 0, MOST_ROLES * sizeof *portrait->roles);
    for (uint32_t i = 0; i < portrait->role_count; i++)
        portrait->roles[i].name = name_of(portrait, i);
}

/* ---- What they are for --------------------------------------------------------------------------- */

static bool uses(const Portrait *portrait, uint32_t role, const Piece *piece, bool writes, uint8_t does,
                 uint8_t does_not) {
    const PtxCode *code = portrait->check->program->code;
    for (uint32_t i = 0; i < piece->user_count; i++) {
        const User *user = &piece->users[i];
        if (user->writes == writes && portrait->does[user->code] & does && !(portrait->does[user->code] & does_not) &&
            portrait_times(portrait, role, &code[user->code]))
            return true;
    }
    return false;
}

/* "TMA load of a, b": memory that code of the role reads or writes that does this, and does not do that. */
static void add_work(const Portrait *portrait, uint32_t role, const char *word, bool writes, uint8_t does,
                     uint8_t does_not, Text *to) {
    enum { MOST = 3 };
    size_t count = 0;
    for (uint32_t i = 0; i < portrait->piece_count; i++) {
        if (!uses(portrait, role, &portrait->pieces[i], writes, does, does_not))
            continue;
        if (!count)
            text_addf(to, "%s%s ", to->size ? "; " : "", word);
        if (count++ < MOST)
            text_addf(to, "%s%s", count > 1 ? ", " : "", portrait->pieces[i].name);
    }
    if (count > MOST)
        text_addf(to, " and %zu more", count - MOST);
}

/* What is asynchronous first, then what its threads read and write themselves. */
static const char *role_text(const Portrait *portrait, uint32_t role) {
    Text text = {0};
    add_work(portrait, role, "async copy to", true, DOES_COPY_IN, 0, &text);
    add_work(portrait, role, "MMA of", false, DOES_MULTIPLY, 0, &text);
    add_work(portrait, role, "async copy from", false, DOES_COPY_OUT, 0, &text);
    add_work(portrait, role, "reads", false, DOES_READ, DOES_FLY, &text);
    add_work(portrait, role, "writes", true, DOES_WRITE, DOES_FLY, &text);
    return verdict_keep(portrait->check->verdict, &text);
}

static void add_key_ops(const Portrait *portrait, uint32_t role, ReportPartition *partition) {
    enum { MOST = 8 };
    const PtxProgram *program = portrait->check->program;
    ReportCount *counts = ARENA_ARRAY(portrait->check->verdict->arena, ReportCount, MOST);
    for (uint32_t i = 0; i < program->code_count; i++) {
        uint64_t times = portrait->does[i] & DOES_SYNCHRONIZE ? portrait_times(portrait, role, &program->code[i]) : 0;
        Str form = program->code[i].form->text;
        size_t at = 0;
        if (!times)
            continue;
        while (at < partition->key_op_count && !str_is(form, counts[at].name))
            at++;
        if (at == MOST)
            continue;
        if (at == partition->key_op_count)
            counts[partition->key_op_count++].name = arena_copy(portrait->check->verdict->arena, form.data, form.size);
        counts[at].count += times;
    }
    partition->key_ops = counts;
}

void portrait_tell_roles(Portrait *portrait, Report *report) {
    ReportPartition *partitions =
        ARENA_ARRAY(portrait->check->verdict->arena, ReportPartition, portrait->role_count + 1);
    for (uint32_t i = 0; i < portrait->role_count; i++) {
        partitions[i] = (ReportPartition){.name = portrait->roles[i].name,
                                          .role = role_text(portrait, i),
                                          .type = "",
                                          .warps = (int)portrait->roles[i].warps,
                                          .registers = -1,
                                          .stage = -1};
        add_key_ops(portrait, i, &partitions[i]);
    }
    report->partitions = partitions;
    report->partition_count = portrait->role_count;
}
