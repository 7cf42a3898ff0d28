/* One explanation for all that runs kernels: a driver fills in what it knows of a hang or a race (Facts), and a row of
 * causes.def makes the sentence, the reason and the fix of it. */
#ifndef CHECK_EXPLAIN_EXPLAIN_H
#define CHECK_EXPLAIN_EXPLAIN_H

#include "finding/finding.h"

/* What a row can name. Agent and object: who waits for what, or makes the later access to what, and verb and noun of
 * that
 * ("reads", "read"); `waits` and `its` are of that agent ("waits" or "wait", "its" or "their"). Other: who would
 * arrive, or made the earlier access; next: what that one waits for. Waiter and issuer: the agents themselves, where
 * agent and other are units that work for them. Place, here, arrive, wait: where the other is, where the agent is,
 * where something arrives or releases, and where that is waited for, in the words of the driver's language ("IR line
 * 41", "k.cu:9 (PTX line 41)"). Detail, more, last, fix: what a row says of them. Phases: how many are complete, which
 * is the number of the one that is not, too; count, arrived, pending: arrivals or threads of it; first, second: two
 * numbers that do not fit each other. A row can also name {access} and {other_access}, which are made of noun and
 * agent, other_noun and other: "TMA write by partition0". */
// clang-format off
#define EXPLAIN_TEXTS(X) X(agent) X(waits) X(its) X(object) X(verb) X(noun) X(other) X(other_verb) X(other_noun) X(next) \
    X(waiter) X(issuer) X(barrier) X(place) X(here) X(arrive) X(wait) X(scope) X(asked) X(detail) X(more) X(last) X(fix)
#define EXPLAIN_NUMBERS(X) X(phases) X(parity) X(count) X(arrived) X(pending) X(bytes) X(first) X(second)
// clang-format on

typedef struct Facts {
#define X(name) const char *name;
    EXPLAIN_TEXTS(X)
#undef X
#define X(name) int64_t name;
    EXPLAIN_NUMBERS(X)
#undef X
    bool ptx; /* fixes are those for PTX and C++, not for IR */
} Facts;

typedef enum CauseId {
#define CAUSE(id, ...) CAUSE_##id,
#include "check/explain/causes.def"
#undef CAUSE
    CAUSE_COUNT
} CauseId;

/* Message, reason and fix of the finding; what the row does not have stays. */
void explain(Verdict *verdict, Finding *finding, CauseId cause, const Facts *facts);
/* The message alone. */
const char *explain_message(Verdict *verdict, CauseId cause, const Facts *facts);
/* A text with facts: `{name}`, and `{name:one|many}` for what depends on a number. A text that is not given is "". */
const char *explain_text(Verdict *verdict, const char *pattern, const Facts *facts);

/* NULL if every row names facts that there are, else the first text that does not. For tests. */
const char *explain_table_problem(void);

/* Of a wait that is lapped, where nothing more is known. */
extern const char explain_unheld[];
/* The name of an agent in a sentence: "partition 'default'". */
const char *explain_agent(Verdict *verdict, const char *agent);
/* "phase 2 is not complete (1 of 1 arrival pending, 16384 bytes outstanding)" */
const char *explain_phase(Verdict *verdict, const Facts *facts);

/* A wait in a row of waits, each of which is for what the next one holds back. */
typedef struct WaitLink {
    const char *agent, *place; /* who would complete what is waited for, and where */
    const char *object, *wait; /* its own wait, and where; NULL: it does not wait */
    const char *its;           /* "its", of several "their" */
    bool closes;               /* it is the first one again */
} WaitLink;
/* Who waits for whom: "Phase 1 of %empty[0] would be completed at IR line 60, by default, after its wait for %full[1]
 * at IR line 54; that would be completed at IR line 109, by partition0, after this wait." */
const char *explain_circle(Verdict *verdict, const Facts *facts, const WaitLink *links, uint32_t count);

#endif
