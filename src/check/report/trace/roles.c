/* Roles: warps that run the same, and what they are for. */
#include "check/report/trace/internal.h"

/* How exactly warps are distinguished: by all that they run, by what synchronizes or flies, not at all. */
typedef enum Exactness { BY_ALL, BY_BARRIER_INSTANCES, BY_NOTHING } Exactness;

/* Warps that run the same, but for what an elected one does for the others: the most of it is both's, and all of what
 * one of them runs. */
static bool is_same(const TraceReport *trace_report, const Actor *a, const Actor *b, Exactness exactness) {
    uint32_t both = 0, only[2] = {0, 0};
    for (uint32_t i = 0; i < trace_report->check->program->code_count; i++) {
        if (exactness != BY_ALL && !(trace_report->does[i] & (DOES_SYNCHRONIZE | DOES_FLY)))
            continue;
        both += a->times[i] && b->times[i];
        only[0] += a->times[i] && !b->times[i];
        only[1] += b->times[i] && !a->times[i];
    }
    return (!only[0] || !only[1]) && only[0] + only[1] <= both;
}

static bool find(TraceReport *trace_report, Exactness exactness) {
    trace_report->role_count = 0;
    for (uint32_t i = 0; i < trace_report->actor_count; i++) {
        Actor *actor = &trace_report->actors[i];
        uint32_t role = 0;
        while (role < trace_report->role_count && exactness != BY_NOTHING &&
               !is_same(trace_report, actor, &trace_report->actors[trace_report->roles[role].first], exactness))
            role++;
        if (role == MOST_ROLES)
            return false;
        if (role == trace_report->role_count)
            trace_report->roles[trace_report->role_count++] = (Role){.first = i};
        actor->role = role;
        trace_report->roles[role].warps++;
    }
    return true;
}

/* Whether warps of that number have other roles in other CTAs. */
static bool differs(const TraceReport *trace_report, uint32_t role) {
    for (uint32_t i = 0; i < trace_report->actor_count; i++)
        for (uint32_t k = 0; k < trace_report->actor_count; k++)
            if (trace_report->actors[i].role == role && trace_report->actors[k].role != role &&
                trace_report->actors[i].warp == trace_report->actors[k].warp)
                return true;
    return false;
}

static bool has(const TraceReport *trace_report, uint32_t role, uint32_t rank, uint32_t warp) {
    return rank < trace_report->actor_count / trace_report->warps && warp < trace_report->warps &&
           trace_report->actors[rank * trace_report->warps + warp].role == role;
}

/* "warps 0-3", "warp 4 of CTA 1" */
static const char *name_of(const TraceReport *trace_report, uint32_t role) {
    Text text = {0};
    uint32_t rank = trace_report->actors[trace_report->roles[role].first].rank, count = 0;
    for (uint32_t i = 0; i < trace_report->warps; i++)
        count += has(trace_report, role, rank, i);
    text_addf(&text, count == 1 ? "warp " : "warps ");
    for (uint32_t i = 0, end; i < trace_report->warps; i = end) {
        for (end = i + 1; has(trace_report, role, rank, i) && has(trace_report, role, rank, end);)
            end++;
        if (!has(trace_report, role, rank, i))
            continue;
        text_addf(&text, text.data[text.size - 1] == ' ' ? "%u" : ",%u", i);
        if (end - i > 1)
            text_addf(&text, "-%u", end - 1);
    }
    if (differs(trace_report, role))
        text_addf(&text, " of CTA rank %u", rank);
    return verdict_keep(trace_report->check->verdict, &text);
}

void trace_report_find_roles(TraceReport *trace_report) {
    trace_report->roles = ARENA_ARRAY(trace_report->arena, Role, MOST_ROLES + 1);
    for (Exactness exactness = BY_ALL; !find(trace_report, exactness); exactness++)
        memset(trace_report->roles, 0, MOST_ROLES * sizeof *trace_report->roles);
    for (uint32_t i = 0; i < trace_report->role_count; i++)
        trace_report->roles[i].name = name_of(trace_report, i);
}

/* ---- What they are for --------------------------------------------------------------------------- */

static bool uses(const TraceReport *trace_report, uint32_t role, const TracePiece *piece, bool writes, uint8_t does,
                 uint8_t does_not) {
    const PtxCode *code = trace_report->check->program->code;
    for (uint32_t i = 0; i < piece->user_count; i++) {
        const User *user = &piece->users[i];
        if (user->writes == writes && trace_report->does[user->code] & does &&
            !(trace_report->does[user->code] & does_not) && trace_report_times(trace_report, role, &code[user->code]))
            return true;
    }
    return false;
}

/* "TMA load of a, b": memory that code of the role reads or writes that does this, and does not do that. */
static void add_work(const TraceReport *trace_report, uint32_t role, const char *word, bool writes, uint8_t does,
                     uint8_t does_not, Text *to) {
    enum { MOST = 3 };
    size_t count = 0;
    for (uint32_t i = 0; i < trace_report->piece_count; i++) {
        if (!uses(trace_report, role, &trace_report->pieces[i], writes, does, does_not))
            continue;
        if (!count)
            text_addf(to, "%s%s ", to->size ? "; " : "", word);
        if (count++ < MOST)
            text_addf(to, "%s%s", count > 1 ? ", " : "", trace_report->pieces[i].name);
    }
    if (count > MOST)
        text_addf(to, " and %zu more", count - MOST);
}

/* What is asynchronous first, then what its threads read and write themselves. */
static const char *role_text(const TraceReport *trace_report, uint32_t role) {
    Text text = {0};
    add_work(trace_report, role, "async copy to", true, DOES_COPY_IN, 0, &text);
    add_work(trace_report, role, "MMA of", false, DOES_MULTIPLY, 0, &text);
    add_work(trace_report, role, "async copy from", false, DOES_COPY_OUT, 0, &text);
    add_work(trace_report, role, "reads", false, DOES_READ, DOES_FLY, &text);
    add_work(trace_report, role, "writes", true, DOES_WRITE, DOES_FLY, &text);
    return verdict_keep(trace_report->check->verdict, &text);
}

static void add_key_ops(const TraceReport *trace_report, uint32_t role, ReportPartition *partition) {
    enum { MOST = 8 };
    const PtxProgram *program = trace_report->check->program;
    ReportCount *counts = ARENA_ARRAY(trace_report->check->verdict->arena, ReportCount, MOST);
    for (uint32_t i = 0; i < program->code_count; i++) {
        uint64_t times =
            trace_report->does[i] & DOES_SYNCHRONIZE ? trace_report_times(trace_report, role, &program->code[i]) : 0;
        Str form = program->code[i].form->text;
        size_t at = 0;
        if (!times)
            continue;
        while (at < partition->key_op_count && !str_is(form, counts[at].name))
            at++;
        if (at == MOST)
            continue;
        if (at == partition->key_op_count)
            counts[partition->key_op_count++].name =
                arena_copy(trace_report->check->verdict->arena, form.data, form.size);
        counts[at].count += times;
    }
    partition->key_ops = counts;
}

void trace_report_add_roles(TraceReport *trace_report, Report *report) {
    ReportPartition *partitions =
        ARENA_ARRAY(trace_report->check->verdict->arena, ReportPartition, trace_report->role_count + 1);
    for (uint32_t i = 0; i < trace_report->role_count; i++) {
        partitions[i] = (ReportPartition){.name = trace_report->roles[i].name,
                                          .role = role_text(trace_report, i),
                                          .type = "",
                                          .warps = (int)trace_report->roles[i].warps,
                                          .registers = -1,
                                          .stage = -1};
        add_key_ops(trace_report, i, &partitions[i]);
    }
    report->partitions = partitions;
    report->partition_count = trace_report->role_count;
}
