/* Named barriers: which partitions come to each, with how many threads, and whether that is what its ops say. */
#include "check/report/build/internal.h"

/* Threads of a partition; 0 if it is not known. */
static int64_t threads_of(const Builder *builder, const char *name) {
    const Report *report = builder->report;
    for (size_t i = 0; i < report->partition_count; i++)
        if (strcmp(report->partitions[i].name, name) == 0 && report->partitions[i].warps > 0)
            return (int64_t)report->partitions[i].warps * builder->machine->program->warp_threads;
    return 0;
}

/* Partitions that come to a barrier. */
typedef struct Comers {
    const char *names[MOST_PARTITIONS];
    int64_t threads[MOST_PARTITIONS];
    bool waits[MOST_PARTITIONS];
    size_t count;
    int64_t sum;
} Comers;

static void come(const Builder *builder, Comers *comers, const ReportSite *sites, size_t count, bool waits) {
    for (size_t i = 0; i < count; i++) {
        const char *name = sites[i].place.partition;
        size_t k = 0;
        while (k < comers->count && strcmp(comers->names[k], name) != 0)
            k++;
        if (k == MOST_PARTITIONS)
            continue;
        if (k == comers->count) {
            int64_t threads = threads_of(builder, name);
            comers->names[comers->count] = name;
            comers->threads[comers->count++] = threads;
            comers->sum += threads;
        }
        comers->waits[k] |= waits;
    }
}

/* Ops that say another number of threads than come; each number once. */
static void check_sites(Builder *builder, ReportBarrier *barrier, const Comers *comers) {
    size_t count = barrier->arrive_count + barrier->wait_count;
    int64_t said = comers->sum;
    for (size_t i = 0; i < count; i++) {
        const ReportSite *site =
            i < barrier->arrive_count ? &barrier->arrives[i] : &barrier->waits[i - barrier->arrive_count];
        if (site->amount <= 0 || site->amount == comers->sum || site->amount == said)
            continue;
        said = site->amount;
        builder_issue(builder, barrier,
                      verdict_text(builder->verdict,
                                   "IR line %u says %lld threads, and partitions with %lld reach "
                                   "it%s",
                                   site->place.ir_line, (long long)said, (long long)comers->sum,
                                   said < comers->sum ? ": it may be shared by two unrelated uses" : ""));
    }
}

void report_named(Builder *builder) {
    for (size_t i = 0; builder->machine && i < builder->barrier_count; i++) {
        ReportBarrier *barrier = &builder->barriers[i];
        Comers comers = {.count = 0};
        if (strcmp(barrier->kind, "named") != 0)
            continue;
        come(builder, &comers, barrier->waits, barrier->wait_count, true);
        come(builder, &comers, barrier->arrives, barrier->arrive_count, false);
        Text text = {0};
        for (size_t k = 0; k < comers.count; k++)
            text_addf(&text, "%s%s (%lld, %s)", k ? " + " : "", comers.names[k], (long long)comers.threads[k],
                      comers.waits[k] ? "waiting" : "arriving");
        text_addf(&text, " = %lld", (long long)comers.sum);
        barrier->participants = verdict_keep(builder->verdict, &text);
        check_sites(builder, barrier, &comers);
    }
}
