/* Whether a proof for every launch covers the one that a recording is of. A program has many recordings of a kernel,
 * which is proved once. */
#include "check/pipeline/internal.h"

#include "base/hash.h"
#include "check/intervals/intervals.h"

#include <pthread.h>

enum { PROOFS_KEPT = 64 };

typedef struct KeptProof {
    uint64_t key; /* of the text, the kernel and the time for the proof */
    Arena arena;
    const Proof *proof; /* NULL: there was no memory for it */
    bool wrong;         /* a recording disagrees with it */
} KeptProof;

/* Of this process: the oldest one makes room. */
static struct {
    pthread_mutex_t lock;
    KeptProof all[PROOFS_KEPT];
    size_t made;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t key_of(const PipelineResult *result, size_t kernel) {
    Str text = result->recording->ptx, name = result_name(result, kernel);
    uint64_t key = hash_bytes(HASH_START, text.data, text.size);
    key = hash_bytes(key, name.data, name.size);
    return hash_bytes(key, &result->question.prove_seconds, sizeof result->question.prove_seconds);
}

/* A proof that runs out of memory comes back here, since others wait for the lock. */
static void make(KeptProof *one, PipelineResult *result, size_t kernel) {
    static const size_t budget = (size_t)512 << 20;
    Arena *of_module = &result->module->arena;
    jmp_buf here, *outer = of_module->exhausted;
    arena_init(&one->arena, budget);
    one->arena.exhausted = of_module->exhausted = &here;
    if (!setjmp(here))
        one->proof = prove_threads(result->ptx, result->entries[kernel], &one->arena, result->question.prove_seconds);
    one->arena.exhausted = NULL;
    of_module->exhausted = outer;
}

static KeptProof *proof_kept(PipelineResult *result, size_t kernel) {
    uint64_t key = key_of(result, kernel);
    for (size_t i = 0; i < kept.made && i < PROOFS_KEPT; i++)
        if (kept.all[i].key == key)
            return &kept.all[i];
    KeptProof *one = &kept.all[kept.made % PROOFS_KEPT];
    if (kept.made++ >= PROOFS_KEPT)
        arena_free(&one->arena);
    *one = (KeptProof){.key = key};
    make(one, result, kernel);
    return one;
}

/* Whether what was found is what a proof says that there is not. */
static bool disagrees(const Verdict *verdict) {
    for (size_t i = 0; i < verdict->finding_count; i++) {
        Str rule = str_of(rule_of(verdict->findings[i].rule)->id);
        if (finding_severity(&verdict->findings[i]) != SEVERITY_NOTE &&
            (str_starts(rule, STR("race.")) || str_starts(rule, STR("deadlock.")) || str_starts(rule, STR("barrier."))))
            return true;
    }
    return false;
}

/* Whether the kernel is proved, and its proof covers the launch; NULL: any. */
static bool covers(PipelineResult *result, size_t kernel, const Launch *given) {
    pthread_mutex_lock(&kept.lock);
    KeptProof *one = proof_kept(result, kernel);
    one->wrong |= disagrees(&result->verdicts[kernel]);
    bool covered = one->proof && one->proof->proved && !one->wrong && (!given || proof_covers(one->proof, given, NULL));
    pthread_mutex_unlock(&kept.lock);
    return covered;
}

void step_recorded_proof(void *context) {
    const Look *look = context;
    PipelineResult *result = look->result;
    const Question *question = &result->question;
    Verdict *verdict = &result->verdicts[look->at];
    if (question->prove_seconds <= 0 || question->lint_only || result->threads_trail || !result->recording->ptx.size ||
        verdict->launch_count != 1 || !covers(result, look->at, NULL))
        return;
    const Launch *given = recording_given(result->ptx, result->entries[look->at], result->recording, &result->arena);
    bool covered = verdict->launches[0].proved = given && covers(result, look->at, given);
    if (covered && (verdict->incomplete_count || verdict->kind == VERDICT_INCOMPLETE))
        verdict_note(verdict, "a proof for every launch covers this one: its threads have no race among each other, no "
                              "deadlock and no misused barrier, also in CTAs that were not recorded, if each pointer's "
                              "accesses stay in its memory and nothing else writes that meanwhile; accesses outside of "
                              "memory, and reads of what nothing has written, were looked for only in what was recorded");
}
