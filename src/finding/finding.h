/* What Weir found: a rule, what happened, where, why it is wrong, what would fix it, and a witness.
 *
 * Findings are plain data: they hold texts and numbers, not ops, so that they outlive the module. Everything in them is
 * in the arena of the verdict that holds them. */
#ifndef FINDING_FINDING_H
#define FINDING_FINDING_H

#include "base/arena.h"
#include "base/diagnostics.h"

typedef struct Rule {
    const char *id; /* "deadlock.no-producer"; stable */
    Severity severity;
    const char *summary; /* one line */
    const char *text;    /* what it means and what to do, for docs/rules */
} Rule;

typedef enum RuleId {
#define RULE(id, ...) RULE_##id,
#include "finding/rules.def"
#undef RULE
    RULE_COUNT
} RuleId;

const Rule *rule_of(RuleId id);

/* A place of a finding. `file`, `line` and `column` are the kernel's own source (from the IR's locations; file is ""
 * if there is none), `ir_line` the line of the IR file, which is that of the finding's kernel unless `ir_file` says
 * another one. */
typedef struct FindingPlace {
    const char *role;  /* "waits", "arrives", "expects" */
    const char *agent; /* "default", "partition0", "partition0.tma"; with clusters "cta1.partition0" */
    const char *op;    /* "ttng.wait_barrier" */
    const char *note;  /* "slot 1 of %full, parity 0, phase 2, 1 of 1 arrivals pending"; "" if nothing */
    const char *file;
    uint32_t line, column, ir_line, ir_column;
    const char *ir_file; /* of another kernel than the verdict's; NULL: it is in that one's */
} FindingPlace;

/* Why a finding does not count, though it is there (src/config). */
typedef enum SuppressionKind {
    SUPPRESSED_NOT,      /* it counts */
    SUPPRESSED_CONFIG,   /* its rule is off, or was not asked for */
    SUPPRESSED_SOURCE,   /* by a comment in the kernel's own source */
    SUPPRESSED_BASELINE, /* it is in the baseline */
    SUPPRESSION_KINDS
} SuppressionKind;

typedef struct Finding {
    RuleId rule;
    const char *space;   /* "barrier", "shared", "tensor", "global" */
    const char *message; /* one sentence: what happens */
    const char *why;     /* one or a few sentences, with the numbers */
    const char *fix;
    const char *launch;      /* of the launch that shows it, in words; behind it others that do (verdict_join) */
    const char *witness;     /* the trail's text; "" if there is none */
    const char *fingerprint; /* 16 hex digits (fingerprint.h); "": it has none yet */
    const char *schedule;    /* in words: "in every schedule", "if partition1 is slow at line 34" */
    FindingPlace *places;    /* the first is where it is reported */
    size_t place_count;
    FindingPlace
        *steps; /* what led to it, in the order of the run: of a race from the earlier access to the later one, of
                 * other runs that end badly the last steps. None: they are too far apart, or it is a grid's */
    size_t step_count;
    const struct ReportBlocked *blocked; /* deadlocks: everyone who waits forever (report.h); else NULL */
    size_t blocked_count;
    size_t times; /* how often the same was found (other launches, CTAs) */
    size_t also;  /* further launches that show it; of those in `launch` by name, bytes with the first one's: */
    size_t also_size;
    bool elsewhere; /* not at the launch that was given, but at another one: no more than a warning */
    bool graded;    /* how grave it is does not follow from its rule, but: */
    Severity grade;
    bool lowered; /* a note by the user's word; it would be an error or a warning */
    SuppressionKind suppressed;
    const char *reason; /* of a suppression, in words; else NULL */
} Finding;

typedef struct Incomplete {
    const char *reason; /* one sentence */
    const char *op;     /* "" if none */
    uint32_t ir_line;   /* 0 if none */
    const char *file;   /* of PTX, the kernel's own source, where the line is known there; NULL */
    uint32_t line, column;
    bool follows; /* where something is wrong, that may be why, and this is not told */
} Incomplete;

typedef enum VerdictKind { VERDICT_CLEAN, VERDICT_FINDINGS, VERDICT_INCOMPLETE, VERDICT_ERROR } VerdictKind;

/* What a clean verdict covers, the weakest first (docs/checking.md, "Scopes"). */
typedef enum VerdictScope {
    COVERS_NONE, /* the verdict is not clean, or no launch was run: IR that is only read, a run that is replayed */
    COVERS_TRIED_LAUNCHES, /* no launch was given; those that Weir chose are clean */
    COVERS_GIVEN_LAUNCH,   /* the launch that was given is, in all schedules that matter */
    COVERS_EVERY_LAUNCH,   /* every launch is: nothing that a launch gives decides anything that matters */
    COVERS_COUNT
} VerdictScope;

/* One launch that was run, in words and numbers. */
typedef struct LaunchRun {
    const char *text; /* "grid 32x1x1, N_CTX = 1024" */
    bool chosen;      /* by Weir, not given */
    bool covered;     /* it was not run: a proof covers it, and its PTX, which ran with its data, is clean */
    bool proved;      /* a proof covers it, beside what was run: it has no race, no deadlock and no misused barrier */
    size_t ctas, schedules;
    size_t classes; /* of CTAs that do the same, of each of which one was run; 0: there was one run alone */
    uint64_t events;
} LaunchRun;

/* How much of a kernel was run, over all runs that were checked. What no launch can come to is in none of it. */
typedef struct RunCoverage {
    uint32_t barrier_ops, barrier_ops_run; /* ops that synchronize */
    uint32_t accesses, accesses_run;       /* ops that only touch memory */
    uint32_t branches, branches_taken;     /* outcomes of branches */
    uint32_t rings, rings_turned;          /* loops with a ring in them; those that went round it more than once */
    uint32_t unreachable;                  /* ops that are never run, at any launch */
} RunCoverage;

/* "12 of 14 barrier ops, 8 of 8 accesses, 3 of 4 branch outcomes; 1 of 2 rings wrapped"; nothing if there is
 * nothing to count. */
void coverage_print(const RunCoverage *coverage, Text *to);

/* A line of a proof, and where it comes from; file: of the kernel's own source, "" if there is none. */
typedef struct ProofLine {
    const char *text, *file;
    uint32_t line, ir_line;
    bool promised; /* of `where`: it follows from what callers promise */
} ProofLine;

/* Whether a kernel is clean at every launch, by a proof (check/prove), in texts. */
typedef struct ProofSummary {
    bool proved;    /* nothing is open */
    bool narrow;    /* but `where` leaves one grid, or one value of an argument */
    bool alike;     /* of several programs, some write the same to one place: race.same-value, a note */
    bool fulfilled; /* the launches that were given are covered, and there is one */
    bool outside;   /* one is not, for another reason than `where`: its numbers wrap around, pointers share memory */
    bool promised;  /* all of `where` is */
    bool vain;      /* no launch keeps what is promised, so that nothing is */
    ProofLine *where, *open;
    const char **assumes;
    size_t where_count, open_count, assume_count;
    double seconds;
} ProofSummary;

/* A kernel that was launched, and has no PTX that could be looked at. */
typedef struct UnseenKernel {
    const char *name;
    uint64_t launches;
} UnseenKernel;

/* About one kernel. */
typedef struct Verdict {
    Arena *arena;
    const char *kernel;
    const char *shown, *demangled; /* in short, and whole, where it is a mangled name of C++; NULL */
    VerdictKind kind;
    Finding *findings;
    size_t finding_count;
    Incomplete *incomplete;
    size_t incomplete_count;
    LaunchRun *launches;
    size_t launch_count;
    RunCoverage coverage;
    uint64_t sampled_ctas, sampled_of; /* of a recording of a part of the grid: CTAs that were recorded; 0: of all */
    double seconds;                    /* that it took to look at it */
    bool only_launch;                  /* nothing is said of other launches than the one that was given */
    bool program;                      /* it is about the operations of a program that ran, and their order */
    bool replayed;                     /* one run was made, that of a trail, and nothing is said of others */
    bool closed;                       /* nothing is left open that a launch gives; else: */
    const char *open;                  /* what is, the first of it: "argument n"; NULL: that was not looked into */
    ProofSummary *proof;               /* for every launch; NULL: none was tried */
    VerdictScope scope;                /* verdict_close sets it */
    const char **notes;                /* "loads from memory at line 12 were given 3 values each" */
    size_t note_count;
    UnseenKernel *unseen; /* kernels without PTX of a program: the verdict is about them, and about no other */
    size_t unseen_count;
    bool aside; /* nothing else is said of them: if other kernels were looked at, these need not count */
    uint32_t finding_capacity, incomplete_capacity, launch_capacity, note_capacity, unseen_capacity;
} Verdict;

/* The kernel as people call it: `shown`, or `kernel`. */
const char *verdict_name(const Verdict *verdict);

/* How grave it is: what its rule, or the project, says, unless it is about another launch than the one that was given.
 */
Severity finding_severity(const Finding *finding);
/* "", "config", "inSource", "baseline": as results for programs have it; and "ignored", "suppressed", "baselined". */
const char *suppression_kind_name(SuppressionKind kind);
const char *suppression_kind_word(SuppressionKind kind);
/* How many findings are suppressed that way, notes not counted; SUPPRESSED_NOT: how many are not. */
size_t verdict_suppressed(const Verdict *verdict, SuppressionKind kind);
/* Whether any is suppressed that else would count. */
bool verdict_excepts(const Verdict *verdict);
/* "1 suppressed, 2 baselined"; nothing if none is. */
void suppressions_print(const Verdict *verdict, Text *to);

/* How many findings are more than a note, of one family ("race") or of all (NULL). */
size_t verdict_faults(const Verdict *verdict, const char *family);

/* Adds an empty one at the end; the pointer is good until the next call. */
Finding *verdict_finding(Verdict *verdict); /* time to fill it in is granted (base/deadline.h) */
LaunchRun *verdict_launch(Verdict *verdict);
/* A reason, or a note, that is there already is not added again. */
void verdict_incomplete(Verdict *verdict, const char *op, uint32_t ir_line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same of what was not come to. */
void verdict_unreached(Verdict *verdict, const char *op, uint32_t ir_line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void verdict_note(Verdict *verdict, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The launch that was given is clean by another check, `by`: what this one could not decide is noted, and does not
 * count. */
void verdict_decided(Verdict *verdict, const char *by);
/* Sets `kind` from what was added: error findings or warnings that are not suppressed make it findings; else any
 * incomplete makes it incomplete; and `scope` from what was run. */
void verdict_close(Verdict *verdict);
/* To be called then: a clean verdict whose scope is weaker than what is required becomes incomplete, and says so. */
void verdict_require(Verdict *verdict, VerdictScope required);
/* A finding that memory or time did not suffice to fill in is none, but something that was not looked at. */
void verdict_drop_halves(Verdict *verdict);
/* Adds what other launches of the same kernel have shown. A finding that is there already is told once, with those
 * launches; if either shows it at a launch that was given, it is that one's. What is added is not copied: `other` lives
 * as long. Coverage stays that of the first. */
void verdict_join(Verdict *verdict, const Verdict *other);
/* printf into the verdict's arena. */
const char *verdict_text(Verdict *verdict, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A text that was built up, in the verdict's arena; frees it. */
const char *verdict_keep(Verdict *verdict, Text *text);

/* The name that a rule or family has now, where `name` is one that it had before (renamed.def); else `name`. */
Str rule_name(Str name);
/* Whether a list of rules and families, "race,deadlock.lapped", has the rule. */
bool rule_listed(const char *list, const char *id);
/* The first of them that is neither; no data if all are. */
Str rule_list_unknown(const char *list);
/* The longest name in the list that is the rule or one of its families; 0 if none is. */
size_t rule_list_match(const char *list, const char *id);
/* The rule or family whose name is nearest to one that there is not; no data if none is near. */
Str rule_near(Str name);

/* Gives a finding `count` places, all of whose texts are "". */
FindingPlace *finding_places(Verdict *verdict, Finding *finding, size_t count);

/* "clean", "findings", "incomplete", "error"; the exit status that says it: 0, 1, 3, 2. */
const char *verdict_kind_name(VerdictKind kind);
int verdict_status(VerdictKind kind);
/* Of two inputs together: error before findings before incomplete before clean. */
VerdictKind verdict_worse(VerdictKind a, VerdictKind b);

/* "every-launch", and NULL of none; the scope of that name, or COVERS_NONE; "every launch", for people. */
const char *verdict_scope_name(VerdictScope scope);
VerdictScope verdict_scope_named(const char *name);
const char *verdict_scope_words(VerdictScope scope);
/* The weakest of some, by how many there are of each; COVERS_NONE, too, if there are none. */
VerdictScope verdict_scope_weakest(const size_t counts[COVERS_COUNT]);
/* "every launch", "this launch", "these 2 launches", "6 tried launches". */
void verdict_scope_print(VerdictScope scope, size_t given, size_t tried, Text *to);
/* " (1 every launch, 2 tried launches)"; nothing if there is none. */
void verdict_scopes_print(const size_t counts[COVERS_COUNT], Text *to);
/* Why a scope is not enough, and what to do: one sentence. `open`: as in a verdict. */
void verdict_scope_lacking(VerdictScope scope, VerdictScope required, size_t tried, const char *open, Text *to);
/* Whether a clean verdict is one for every launch that fulfills the preconditions of its proof, of which there are
 * some, and that neither its launches nor promises are known to fulfill. Its scope is what holds without that. */
bool verdict_holds_where(const Verdict *verdict);
/* "clean (this launch)", "findings": a verdict in a few words; and " (this launch)" alone, or nothing. */
void verdict_print(const Verdict *verdict, Text *to);
void verdict_print_scope(const Verdict *verdict, Text *to);

#endif
