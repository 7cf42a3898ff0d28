/* Between the files of this room: a function with all that is known of it, and how its sites are recorded. */
#ifndef INSTRUMENT_INTERNAL_H
#define INSTRUMENT_INTERNAL_H

#include "instrument/instrument.h"
#include "ptx/edit.h"
#include "ptx/effects.h"
#include "trace/record.h"

/* Who calls whom (calls.c). */
typedef struct Calls {
    PtxModule *module;
    uint32_t *definitions; /* of each name: the function with a body; PTX_NONE */
    bool *hands;           /* of each function with a body that is no kernel: it is handed where its caller was */
    bool *taken;           /* of each function: its address is taken */
    bool *meets;      /* of each function with a body: lanes wait for each other by a mask in it, or in what it calls */
    bool taken_meets; /* in one whose address is taken */
} Calls;
/* Of functions whose sites are known. */
void calls_find(Calls *calls, PtxModule *module, const Sites *sites, Arena *arena);
/* Whether a statement is a call that hands it on. */
bool call_hands(const Calls *calls, uint32_t statement);
/* Whether a statement is a call of a function in which lanes wait for each other by a mask. */
bool call_meets(const Calls *calls, uint32_t statement);
/* Whether a statement is a call of what is in another module. */
bool call_leaves(const Calls *calls, uint32_t statement);
/* Whether a statement is a call with which the grid is over: a failed assertion. */
bool call_stops(const Calls *calls, uint32_t statement);
/* Whether there is such a call in a function. */
bool calls_any(const Calls *calls, uint32_t function);
/* A kernel whose address is taken: it is launched from elsewhere than the host; PTX_NONE: there is none. */
uint32_t calls_taken_kernel(const Calls *calls);
/* Whether a module calls a function by its address, or takes one's address. */
bool calls_addresses(const PtxModule *module);
/* One more parameter where it is needed. */
void calls_edit_declarations(PtxEdits *edits, const Calls *calls);
/* INSTRUMENT_MARK, as text. `chunk`, `fingerprint`: 0 of kernels that do not record. */
void instrument_mark(const PtxModule *module, uint32_t chunk, uint64_t fingerprint, const InstrumentOptions *options,
                     Text *to);

/* A texture, a sampler or a surface by reference (places.c). */
bool variable_opaque(const PtxModule *module, const PtxVariable *variable);

/* One function, looked at. */
typedef struct FunctionAnalysis {
    PtxModule *module;
    const Calls *calls; /* NULL: not known yet */
    uint32_t function;
    bool shaped; /* how many threads a CTA has is known: what is told of threads by their number holds */
    /* It is not, but launches that instrument_fits does not take are not looked at: what is told of the lanes of a warp
     * holds in the others. Which lanes come together does so in all: nothing waits for one that does not come. */
    bool rows;
    /* Of each block: it may be run by a part of a warp's threads, as a branch parts them, or as some wait elsewhere for
     * others by a mask. Of a function that is called: once all of a warp have called it together. */
    const bool *divergent;
    /* Where forms take it for granted that no index wraps between the lanes of a warp, that can be looked at: all
     * instructions that extend one are such as write_wrap_check can. */
    bool wraps_checked;
    PtxFlow flow;
    PtxValues values;
    Arena arena;
} FunctionAnalysis;
/* The looks at a module's functions, which is gone through three times: those of the first functions are kept. */
typedef struct FunctionAnalyses {
    PtxModule *module;
    FunctionAnalysis **kept; /* of each function; NULL */
    uint32_t statements;     /* of those that are kept */
    Arena arena;
} FunctionAnalyses;
void analyses_open(FunctionAnalyses *analyses, PtxModule *module);
void analyses_close(FunctionAnalyses *analyses);
/* A look at a function, for analysis_give; NULL, with one sentence. */
FunctionAnalysis *analysis_take(FunctionAnalyses *analyses, uint32_t function, const Calls *calls,
                                const char **problem);
void analysis_give(FunctionAnalyses *analyses, FunctionAnalysis *analysis);
/* instrument_sites with looks that others use, too. */
/* What the reader of its records has to know of its instruction. */
void describe_site(const PtxModule *module, Site *site);
/* A sum without roots, kept; NULL: it is 0. */
const SiteSum *sum_kept(Arena *arena, const PtxSum *sum);
bool find_sites(Sites *sites, FunctionAnalyses *analyses, const InstrumentOptions *options, const char **problem);
/* Whether an instruction has effects: most have none, which is known by their form. */
bool look_acts(const FunctionAnalysis *analysis, uint32_t instruction);
/* Whether it is known what instructions take for granted of values of a form, or is looked at. */
static inline bool look_granted(const FunctionAnalysis *analysis, const Form *form) {
    return !(form->assumes & ~(analysis->wraps_checked ? FORM_NO_WRAP : 0));
}
static inline const PtxStatement *look_statement(const FunctionAnalysis *analysis, uint32_t instruction) {
    return &analysis->module->statements[analysis->flow.instructions[instruction]];
}
static inline const PtxForm *look_form(const FunctionAnalysis *analysis, uint32_t instruction) {
    return &analysis->module->forms[look_statement(analysis, instruction)->what];
}

/* ---- Sites ---- */

/* Fills in `site` if an instruction is one; number, function and statement are filled in by the caller. */
bool site_of(const FunctionAnalysis *analysis, uint32_t instruction, const InstrumentOptions *options, Site *site,
             Arena *arena);
/* The memory that an access is to. */
PtxSpace look_space(const FunctionAnalysis *analysis, uint32_t instruction, const PtxEffect *effect);
/* Its parts, for a record that is made in that block; false if there are too many. */
bool gather_parts(const FunctionAnalysis *analysis, uint32_t instruction, uint32_t block, const PtxEffect *effects,
                  unsigned count, Site *site, Arena *arena);
/* Bytes of an element of what an instruction moves; 0: it does not say, as those that store matrices. */
unsigned element_bytes(const FunctionAnalysis *analysis, uint32_t instruction);
/* Whether it is known of its guard that at most one lane of each warp makes it (stored.c). */
bool made_alone(const FunctionAnalysis *analysis, uint32_t instruction);
/* The lanes of each warp of a CTA for which its guard holds, so many; NULL: the guard is not known by the thread's
 * number alone (stored.c). */
const uint32_t *known_lanes(const FunctionAnalysis *analysis, uint32_t instruction, uint32_t *count, Arena *arena);
/* One more part, if what it stores has to be told (stored.c): the last. */
void gather_data(const FunctionAnalysis *analysis, uint32_t instruction, uint32_t block, const PtxEffect *effects,
                 unsigned count, Site *site);
/* When a strong access lets the loop end that it is in (spin_loops.c). */
void find_poll(const FunctionAnalysis *analysis, uint32_t instruction, Site *site);
/* What a load or an atomic gives: the operand that is its register; PTX_NONE: there is none. */
uint32_t looked_at(const FunctionAnalysis *analysis, uint32_t instruction);
/* Whether it gives what a loop may wait for (spin_timeout.c). */
bool look_waits(const FunctionAnalysis *analysis, uint32_t instruction);
/* Whether a block is in a loop, or in one in it. */
static inline bool flow_in_loop(const PtxFlow *flow, uint32_t block, uint32_t loop) {
    uint32_t at = flow->blocks[block].loop;
    while (at != PTX_NONE && at != loop)
        at = flow->loops[at].outer;
    return at == loop;
}
/* Whether all lanes of a warp are known to come to a block, in the same turns of the loops around it. */
static inline bool look_together(const FunctionAnalysis *analysis, uint32_t block) {
    return (analysis->shaped || analysis->rows) && analysis->module->functions[analysis->function].entry &&
           !analysis->divergent[block];
}
/* Whether all warps have as many lanes as there can be. */
static inline bool look_full(const FunctionAnalysis *analysis) {
    const PtxBlockShape *shape = &analysis->values.shape;
    return analysis->shaped && (uint64_t)shape->x * shape->y * shape->z % RECORD_LANES == 0;
}
/* Whether a part of a warp's lanes may come to an instruction. */
bool look_for_some(const FunctionAnalysis *analysis, uint32_t instruction);
/* A wait that is repeated until it succeeds, by a loop that does nothing else: the block that is behind the loop, where
 * the wait is over for all who come, and its place in the text. PTX_NONE: it is no such wait. */
uint32_t wait_exit(const FunctionAnalysis *analysis, uint32_t instruction, uint32_t *behind);

/* ---- Steps: where and how a site is recorded ---- */

typedef enum StepHow {
    STEP_STATIC, /* lane 0 leads, and its place is so many units behind the pointer */
    STEP_EACH,   /* lanes write their own */
    STEP_APART,  /* the lanes that are there find a leader */
} StepHow;

typedef struct InstrumentStep {
    Site *site;
    uint32_t instruction, block; /* of the flow; block: that in which it is recorded */
    uint32_t at;                 /* statement */
    bool behind;                 /* recorded behind that statement */
    bool settled;                /* a wait that is over for all who come there */
    uint32_t given;              /* of another wait: the operand that says whether it is over; else PTX_NONE */
    bool exits;                  /* an exit that is recorded where blocks lead to it */
    bool branch;                 /* ... before the branch at `at`, for those who take it, or the other way */
    bool other_way;
    StepHow how;
    bool first;   /* STEP_STATIC: in its block, or behind a step that is none */
    uint32_t run; /* STEP_STATIC: steps of the run that begins here; 0: it is none, or it began before */
    bool in_run;
    bool last;        /* of its run */
    uint32_t units;   /* STEP_STATIC: at least; of a run its first step has them all */
    uint32_t corners; /* the first of a run: its units before those of corners */
    uint32_t every;   /* ... and before those of every lane */
    uint32_t lists;   /* STEP_STATIC: units for lists of values, which are looked at without a branch; 0: with one */
    uint32_t check;   /* units that have to be there behind it; 0: no check */
    uint32_t calls;   /* calls that hand on before it, in its block: they record, too */
    uint32_t label;   /* STEP_EACH: behind it */
    bool alone;       /* STEP_EACH: no two lanes of a warp make it */
    bool headed;      /* STEP_APART: who is there and who leads was found by the step before it */
    uint32_t room;    /* STEP_APART that is not: units of it and of those that are behind it */
    bool grouped;     /* STEP_APART: a call makes its records; it looks for room itself */
    bool joined;      /* ... together with those of the next step */
} InstrumentStep;

typedef struct InstrumentPlan {
    const FunctionAnalysis *analysis;
    Arena *arena;
    Arena *keep;    /* of the sites */
    Site **reports; /* sites that only tell, numbered from report_base on */
    uint32_t report_count, report_capacity, report_base;
    uint32_t slots;
    InstrumentStep *steps;
    uint32_t count, capacity;
    bool called;          /* it is handed where its caller was, and is no kernel */
    bool calls;           /* it calls such functions */
    bool together;        /* lane 0 leads everywhere: lanes have one pointer, and nothing is counted */
    bool lone;            /* ... and lane 0 alone writes, always: other lanes need no pointer */
    bool narrow;          /* ... and the pointer never leaves its chunk: it goes on in 32 bits */
    bool parameters;      /* some address is one of a parameter */
    bool windows;         /* some may be in shared or local memory, and it does not say so */
    bool corners;         /* some values have corners */
    bool every;           /* some are told of every lane */
    bool bodies;          /* bodies are called */
    bool wraps;           /* of some values it is taken for granted that no index wraps */
    bool dynamic;         /* some steps take room of their own */
    bool loops;           /* some are in loops */
    bool once;            /* what is run again is not recorded */
    uint32_t most;        /* units that any check asks for */
    uint32_t *needs;      /* of each block: units that have to be there when it begins; 0: no check */
    uint32_t *call_needs; /* of each instruction: behind it, being a call that hands on */
    uint32_t *ahead;      /* of each block: units from the pointer to the next place where it begins */
    uint32_t *left;       /* ... and where it ends */
    uint32_t start;       /* ... and where the function begins, and it is looked for room */
    uint32_t chunk;       /* bytes that it would have */
} InstrumentPlan;
/* The steps of a function whose sites are these. */
void plan_function(InstrumentPlan *plan, const FunctionAnalysis *analysis, Sites *sites, uint32_t first, uint32_t count,
                   Arena *arena);
/* Where the pointer has to go on (ahead.c); when it is known where it is looked for room. */
void plan_ahead(InstrumentPlan *plan);
/* Whether a step may be one of a run. */
bool step_may_run(const InstrumentStep *step);
/* Whether nothing between two steps may hold a thread, the first of them included, and they stand in a row (runs.c). */
bool step_goes_on(const FunctionAnalysis *analysis, const InstrumentStep *step, const InstrumentStep *next);
/* Takes the roots out of a sum that need not be told; what they add, NULL: there were none (known.c). */
const SitePlaced *know_roots(const FunctionAnalysis *analysis, PtxSum *sum, Arena *arena);
/* What is recorded where (redundant_records.c): the sources of parts, and steps that only record. */
void plan_reported(InstrumentPlan *plan);
/* Whether an instruction extends an index of 32 bits, which is assumed not to wrap, in such a way that it can be looked
 * at; and the code for it, which goes before it. */
bool can_check_wrap(const FunctionAnalysis *analysis, uint32_t instruction);
/* Whether it extends nothing that differs between the lanes of a warp: what differs between warps may wrap. */
bool cannot_wrap_apart(const FunctionAnalysis *analysis, uint32_t instruction);
/* Which static steps look at values without a branch, with lists of at most so many units (static.c). */
void plan_flat(InstrumentPlan *plan, uint32_t most);
/* Which static steps are told of together (runs.c): fills in the steps' and the sites' part of it. */
void plan_runs(InstrumentPlan *plan);
/* Straight segments of STEP_APART (segments.c): which static steps become such, being calls; and the segments, of at
 * most so many units where records are made in place. */
void segments_call(InstrumentPlan *plan);
void segments_find(InstrumentPlan *plan, uint32_t most);
/* Units of the record of one lane. */
static inline uint32_t lane_units(const Site *site) {
    return 2 + site->large;
}
/* Units that a step may take of its own, beside those of the plan. */
uint32_t step_most_units(const InstrumentStep *step);

/* ---- Code ---- */

/* The registers of ours in a function, with their types. */
#define CODE_REGISTERS(REGISTER)                                                                       \
    REGISTER(ptr, b64)   /* the next place; of lanes without a chunk one that is full, in no memory */ \
    REGISTER(tag, b32)   /* of the launch */                                                           \
    REGISTER(lead, pred) /* lane 0, in CTAs that are recorded */                                       \
    REGISTER(full, b32)  /* the lanes of the warp */                                                   \
    REGISTER(count, b32) /* where lanes lead apart: of what the lane came to */                        \
    REGISTER(zero, b32)                                                                                \
    REGISTER(half, b16)                                                                                \
    REGISTER(word, b32)                                                                                \
    REGISTER(mask, b32)                                                                                \
    REGISTER(lo, b32) /* a value */                                                                    \
    REGISTER(hi, b32)                                                                                  \
    REGISTER(value, b64)                                                                               \
    REGISTER(w0, b32) /* words of a run that are not written yet */                                    \
    REGISTER(w1, b32)                                                                                  \
    REGISTER(w2, b32)                                                                                  \
    REGISTER(w3, b32)                                                                                  \
    REGISTER(corner, pred)  /* lanes 0, 1, 2, 4, 8 and 16, in CTAs that are recorded */                \
    REGISTER(cornerat, b32) /* 8 times which of them it is */                                          \
    REGISTER(cornerptr, b64)                                                                           \
    REGISTER(everyat, b32) /* 4 times the lane */                                                      \
    REGISTER(everyptr, b64)                                                                            \
    REGISTER(inside, pred) /* lanes of CTAs that are recorded */                                       \
    REGISTER(lane, b32)                                                                                \
    REGISTER(first, pred) /* the leader where lanes lead apart */                                      \
    REGISTER(t0, b32)                                                                                  \
    REGISTER(t1, b32)                                                                                  \
    REGISTER(t2, b32)                                                                                  \
    REGISTER(t3, b32)                                                                                  \
    REGISTER(t4, b32)                                                                                  \
    REGISTER(d0, b64)                                                                                  \
    REGISTER(d1, b64)                                                                                  \
    REGISTER(d2, b64)                                                                                  \
    REGISTER(p0, pred)                                                                                 \
    REGISTER(p1, pred)                                                                                 \
    REGISTER(p2, pred)                                                                                 \
    /* of bodies */                                                                                    \
    REGISTER(limit, b32)                                                                               \
    REGISTER(what, b32)                                                                                \
    REGISTER(rest, b32)                                                                                \
    REGISTER(size, b32)                                                                                \
    REGISTER(g0, b64) /* values of a group */                                                          \
    REGISTER(g1, b64)                                                                                  \
    REGISTER(g2, b64)                                                                                  \
    REGISTER(g3, b64)                                                                                  \
    /* of write_refill and write_warp alone */                                                         \
    REGISTER(r0, b32)                                                                                  \
    REGISTER(r1, b32)                                                                                  \
    REGISTER(r2, b32)                                                                                  \
    REGISTER(r3, b32)                                                                                  \
    REGISTER(r4, b32)                                                                                  \
    REGISTER(e0, b64)                                                                                  \
    REGISTER(e1, b64)                                                                                  \
    REGISTER(e2, b64)                                                                                  \
    REGISTER(e3, b64)                                                                                  \
    REGISTER(e4, b64)                                                                                  \
    REGISTER(q0, pred)                                                                                 \
    REGISTER(q1, pred)                                                                                 \
    REGISTER(q2, pred)                                                                                 \
    /* of a strong access, across it */                                                                \
    REGISTER(written, b64) /* what it writes and compares with */                                      \
    REGISTER(upper, b64)   /* ... and what is above that */                                            \
    REGISTER(launch, b64)  /* of functions that are called: what weir_launch is in kernels */          \
    REGISTER(state, b64)   /* where it is kept what calls hand on */                                   \
    REGISTER(time, b32)                                                                                \
    /* of waits: when the first look in vain was (-1: there was none), what it saw, and the site */    \
    REGISTER(since, b32)                                                                               \
    REGISTER(polled, b32)                                                                              \
    REGISTER(looked, b32)                                                                              \
    REGISTER(gives, b32)
typedef enum CodeRegister {
#define REGISTER(name, type) REG_##name,
    CODE_REGISTERS(REGISTER)
#undef REGISTER
        CODE_REGISTER_COUNT
} CodeRegister;

/* Code that many places need, as functions of the module (bodies.c). */
typedef enum Body {
    BODY_CHUNK, /* a further chunk; those below call it */
    BODY_FOUR,  /* the records of up to four parts (group.c) */
    BODY_LANE,  /* that of a lane's strong access (each.c) */
    BODY_LANE_LARGE,
    BODY_COUNT
} Body;

/* Parts whose records the next call makes. */
enum { GROUP_MOST = 4 };
typedef struct InstrumentGroup {
    uint32_t count, site, units; /* site: of the first */
    uint32_t what[GROUP_MOST];   /* GROUP_... */
} InstrumentGroup;

/* What is written into one function. */
typedef struct InstrumentCode {
    const InstrumentPlan *plan;
    const FunctionAnalysis *analysis;
    PtxEdits *edits;
    Str names[CODE_REGISTER_COUNT]; /* of those that are used */
    uint32_t chunk;
    uint32_t *labels; /* made so far, in the module */
    Str prefix;       /* of labels */
    bool *bodies;     /* those that are called, of the module; NULL: code stands wherever it is needed */
    bool headed;      /* who is there is in ~mask, up to the next step that is not headed */
    InstrumentGroup group;
    bool body;        /* what is written is one of them: there is no look and no plan */
    uint32_t *depths; /* of the function's statements: blocks around them, the body not counted */
    Text text, cold;  /* of the next edit; of the end of the function */
    Text *to;         /* one of them */
    /* Of the run that is being written: words held back, those of its units that are written, and its place in units.
     */
    uint32_t held, written, place, reported, corners, every;
    const char *words[4]; /* those that are held back: registers */
    /* The place is in a block of its own: the end of the function does not see its registers and labels. */
    bool inner;
    uint32_t gives_up; /* label */
} InstrumentCode;

/* Lines of PTX, the ';' left out. ~ptr is that register of ours, ~L%u a label. */
void code_say(InstrumentCode *code, const char *format, ...) __attribute__((format(printf, 2, 3)));
void code_close(InstrumentCode *code); /* a block */
uint32_t new_label(InstrumentCode *code);
void code_label(InstrumentCode *code, uint32_t label);
/* What is said next is for a place at that statement. */
void code_stand(InstrumentCode *code, uint32_t statement);
/* Declarations of the registers that were used in a body. */
void code_declare(const InstrumentCode *code, Text *to);
/* What was said goes before or behind a statement. */
void code_put(InstrumentCode *code, uint32_t statement, bool behind);
/* From here on for those of a predicate ("~p1") alone, who seldom are any; `uni`: all lanes of the warp agree. What it
 * gives is for cold_end. */
typedef struct Cold {
    uint32_t label;
    bool here; /* it stands where it is needed, and is jumped over */
} Cold;
Cold cold_begin(InstrumentCode *code, const char *predicate, bool uni);
void cold_end(InstrumentCode *code, Cold cold);

/* Whether a function may call bodies. */
bool bodies_fit(const InstrumentPlan *plan);
/* A call of one; what it takes, as text. */
void write_body_call(InstrumentCode *code, Body body, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A further chunk for who leads apart; and in a body, for those of a predicate whose place is behind ~limit. */
void write_chunk_call(InstrumentCode *code);
void write_body_room(InstrumentCode *code, const char *predicate);
/* Of a word of a record in a body: the tag, in ~tag. */
void write_tag(InstrumentCode *code);
/* All that are called, as text of the module. */
void write_bodies(PtxEdits *edits, bool *bodies, uint32_t chunk, uint32_t *labels, Str prefix);

/* An operand as it is written. */
const char *operand_text(InstrumentCode *code, uint32_t operand);
/* The predicate under which a step is recorded; "": none. It may be made of two, in ~p0. */
const char *step_predicate(InstrumentCode *code, const InstrumentStep *step);

/* The number of the warp in the grid in ~r3, and of the CTA in ~r2. */
void write_warp(InstrumentCode *code);
/* The bits of the second word of a record of the step, in ~mask or ~full. */
const char *write_mask(InstrumentCode *code, const InstrumentStep *step);
/* The address of the launch's block in that register. */
void write_launch(InstrumentCode *code, const char *to);
/* What is handed on: made in a kernel; taken at the start of a function; put there; and taken back. */
void write_state_made(InstrumentCode *code);
void write_state_start(InstrumentCode *code);
void write_state(InstrumentCode *code);
void write_state_back(InstrumentCode *code);
/* Around the calls and returns of a function. */
void write_calls(InstrumentCode *code);
void write_prologue(InstrumentCode *code);
/* A further chunk: afterwards the pointer is so many units before its first place. It is for all lanes, where they are
 * together, else for those that come. */
void write_refill(InstrumentCode *code, uint32_t offset);
void write_refill_alone(InstrumentCode *code, uint32_t offset);
/* Not all is as it was recorded: RECORD_DROPPED_..., which sets a register to 1. */
void write_dropped(InstrumentCode *code, const char *predicate, const char *launch, const char *free, unsigned what);
/* Looks whether there is room for so many units. */
void write_room(InstrumentCode *code, uint32_t units);
/* A register of so many bits in ~lo and ~hi, and, if it has 64, in ~value; and that of a part. */
void write_register(InstrumentCode *code, const char *text, unsigned width);
void write_value(InstrumentCode *code, const SitePart *part);
/* What the step's statement stores, in ~hi: itself, or a hash of it. */
void write_data(InstrumentCode *code, const SitePart *part, const InstrumentStep *step);
/* rows.c: whether rows that one warp stores may be at the same place; and a hash of each, in ~hi. */
bool rows_meet(const FunctionAnalysis *analysis, uint32_t instruction, const PtxOperand *address, unsigned registers);
void write_rows(InstrumentCode *code, const InstrumentStep *step, const PtxOperand *elements, unsigned count);
/* One or the other, in ~lo and ~hi. */
void write_part_value(InstrumentCode *code, const InstrumentStep *step, const SitePart *part);
/* A unit so many behind the pointer, by who is meant with "~lead" or "~first". */
void write_unit(InstrumentCode *code, const char *leader, uint32_t offset, uint32_t word, const char *mask,
                const char *lo, const char *hi);

/* Whether a record by itself has one value of it, without a look. */
static inline bool part_is_one(const SitePart *part) {
    return part->proven && part->shape != PART_CORNERS && part->shape != PART_EVERY && part->shape != PART_BIT;
}
/* The first word of a record in which lanes differ as it is thought. */
uint32_t part_word(const Site *site, const SitePart *part);
/* What is left of a value when what the lane adds is taken away: in ~d0, or, with 32 bits, in ~t0. */
void write_base(InstrumentCode *code, const SitePart *part);
/* Where a lane starts to count: with the most that one of the mask has counted. */
void write_count(InstrumentCode *code, const char *mask);
/* The bytes of a tensor map that is in memory: by the leader, and only where the copy is made. */
void write_map(InstrumentCode *code, const InstrumentStep *step, const char *leader, const char *mask, uint32_t offset);

/* A step by itself. */
void write_wrap_checks(InstrumentCode *code);
void write_static(InstrumentCode *code, const InstrumentStep *step, uint32_t offset);
/* Where lane 0 writes, for all lanes, which have the same place, or none: ~ptr, or ~d1. */
const char *write_leader_place(InstrumentCode *code);
/* A step of a run, of the plan. */
void write_run(InstrumentCode *code, const InstrumentStep *step, uint32_t offset);
void write_apart(InstrumentCode *code, const InstrumentStep *step);
/* Steps whose records one call makes (group.c): whether it may be one of them, and the code. */
bool step_may_group(const FunctionAnalysis *analysis, const InstrumentStep *step);
uint32_t group_most_units(void); /* that a call may take */
void write_grouped(InstrumentCode *code, const InstrumentStep *step);
/* Whether the lanes that come to it together wait for each other behind its record, which has to be written by then. */
static inline bool site_settles(const Site *site) {
    return site->hands || site->aligned || site->stops;
}
void write_group_body(InstrumentCode *code);
/* Who leads those of ~mask, in ~first; in ~t0 those before the lane. */
void write_first(InstrumentCode *code);
/* Around the instruction. */
void write_each_before(InstrumentCode *code, const InstrumentStep *step);
void write_each_fetch(InstrumentCode *code, const InstrumentStep *step);
void write_each_behind(InstrumentCode *code, const InstrumentStep *step);
void write_lane_body(InstrumentCode *code, bool large);

/* Checks of the clock in loops that wait. After all records of the function. */
void write_spin_timeout(InstrumentCode *code, Arena *arena);

/* All of a function; `chunk` is that of the module. */
void instrument_function(PtxEdits *edits, const InstrumentPlan *plan, uint32_t chunk, uint32_t *labels, Str prefix,
                         bool *bodies);

#endif
