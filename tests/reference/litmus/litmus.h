/* An evaluator of PTX's memory model that is exact for small programs, written from the ISA (chapter 8) alone: it
 * shares no code with what it is held against.
 *
 * A litmus test in Dat3M's format is read (parse.c). Each thread is run by itself with every value that its reads might
 * give (traces.c); traces of all threads are put together, each read is given each write that fits (evaluate.c), and
 * the axioms decide (model.c). What remains are the executions that the model allows: whether the test's condition
 * holds in one, in none, or in all, whether some thread can be stuck forever, and whether two accesses race. */
#ifndef REFERENCE_LITMUS_H
#define REFERENCE_LITMUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_THREADS = 8, MAX_CODE = 64, MAX_REGISTERS = 32, MAX_PLACES = 16, MAX_EVENTS = 64, MAX_TRACE = 40 };

/* ---- A test ---- */

typedef enum Proxy { PROXY_GENERIC, PROXY_SURFACE, PROXY_TEXTURE, PROXY_CONSTANT, PROXY_NONE } Proxy;
typedef enum Order { ORDER_WEAK, ORDER_RELAXED, ORDER_ACQUIRE, ORDER_RELEASE, ORDER_ACQ_REL, ORDER_SC } Order;
typedef enum Scope { SCOPE_NONE, SCOPE_CTA, SCOPE_GPU, SCOPE_SYS } Scope;
typedef enum Code {
    CODE_LABEL,
    CODE_LOAD,
    CODE_STORE,
    CODE_ATOM, /* value = operator(old, operand); exchange and compare-and-swap, too */
    CODE_RED,
    CODE_FENCE,
    CODE_FENCE_PROXY,
    CODE_FENCE_ALIAS,
    CODE_BARRIER,
    CODE_BRANCH,
    CODE_MOVE, /* register = operator(a, b) */
} Code;
typedef enum Operator {
    OPERATOR_FIRST, /* a alone */
    OPERATOR_ADD,
    OPERATOR_SUB,
    OPERATOR_MUL,
    OPERATOR_DIV,
    OPERATOR_AND,
    OPERATOR_OR,
    OPERATOR_XOR,
    OPERATOR_EXCHANGE,
    OPERATOR_CAS,
    OPERATOR_EQ,
    OPERATOR_NE,
    OPERATOR_LT,
    OPERATOR_GT,
    OPERATOR_LE,
    OPERATOR_GE,
    OPERATOR_ALWAYS,
} Operator;

typedef struct Operand {
    bool is_register;
    int64_t value; /* or the register */
} Operand;

typedef struct Instruction {
    Code code;
    Order order;
    Scope scope;
    Proxy proxy;
    Operator operator;
    int place;  /* memory; -1: none */
    int target; /* register; -1: none */
    int label;  /* of a label or branch */
    Operand a, b;
    bool arrive;        /* bar.cta.arrive */
    int instance;       /* of a barrier */
    bool named, quorum; /* it has an id (a), and a number of threads (b) */
    int line;           /* of the file */
} Instruction;

typedef struct Thread {
    int cta, gpu;
    Instruction code[MAX_CODE];
    int count;
    int64_t initial[MAX_REGISTERS];
} Thread;

/* A name of memory. Names that alias have the same location; those that alias by another proxy have the same virtual
 * address, too, and those that alias in the generic proxy have another. */
typedef struct Place {
    char name[32];
    int virtual, location;
    Proxy proxy; /* PROXY_GENERIC: of no other */
    int64_t initial;
} Place;

typedef enum Quantifier { QUANTIFIER_EXISTS, QUANTIFIER_NOT_EXISTS, QUANTIFIER_FORALL } Quantifier;
typedef enum ConditionKind { CONDITION_AND, CONDITION_OR, CONDITION_NOT, CONDITION_COMPARE } ConditionKind;
typedef enum ValueKind { VALUE_CONSTANT, VALUE_REGISTER, VALUE_PLACE } ValueKind;
typedef struct Value {
    ValueKind kind;
    int64_t number; /* constant, register, place */
    int thread;
} Value;
typedef struct Condition {
    ConditionKind kind;
    Operator operator;
    Value left, right;
    int first, second; /* conditions of the test */
} Condition;

typedef struct Test {
    char name[128];
    Thread threads[MAX_THREADS];
    int thread_count;
    Place places[MAX_PLACES];
    int place_count;
    Quantifier quantifier;
    Condition conditions[64];
    int condition_count, condition; /* the top one */
} Test;

/* False: it is not understood; *problem says why. */
bool litmus_parse(const char *text, Test *test, const char **problem);

/* ---- A thread by itself ---- */

typedef enum EventKind { EVENT_READ, EVENT_WRITE, EVENT_FENCE, EVENT_BARRIER, EVENT_INIT } EventKind;

typedef struct Event {
    EventKind kind;
    int thread, instruction;
    Order order;
    Scope scope;
    Proxy proxy;
    bool alias;    /* fence.proxy.alias */
    bool memory;   /* fence: of memory, not of proxies */
    int place;     /* reads, writes */
    int64_t value; /* read or written; barrier: its id */
    int64_t quorum;
    int partner;      /* of an atomic one: the other event; -1 */
    uint64_t depends; /* events of the thread before it whose values decide it, or whether it is there */
    uint64_t data;    /* those that its value comes from */
} Event;

typedef enum End { END_DONE, END_BLOCKED, END_SPINS } End;

typedef struct Trace {
    Event events[MAX_TRACE];
    int count;
    End end;
    int spin; /* END_SPINS: first event of the part that comes again and again */
    int64_t registers[MAX_REGISTERS];
} Trace;

typedef struct Traces {
    Trace *all;
    int count, capacity;
    bool cut; /* some were longer than is looked at */
} Traces;

/* The values that each location may hold, with how many writes to it are needed for it. */
typedef struct Domain {
    int64_t values[48];
    int depth[48];
    int count;
} Domain;

/* All traces of each thread, with the values of `domains` for reads; both are grown until nothing is new. */
void litmus_traces(const Test *test, Traces traces[MAX_THREADS], Domain domains[MAX_PLACES]);

/* ---- Executions ---- */

typedef struct Execution {
    const Test *test;
    const Trace *traces[MAX_THREADS];
    Event events[MAX_EVENTS];
    int first[MAX_THREADS]; /* event of each thread */
    int count;
    int from[MAX_EVENTS];   /* reads: the write */
    uint64_t synced;        /* barriers that all of their instance waits for */
    int fences[MAX_EVENTS]; /* fence.sc, in the order that is looked at */
    int fence_count;
} Execution;

/* Bit b of row a: a is before b. */
typedef struct Relation {
    uint64_t rows[MAX_EVENTS];
} Relation;

/* What the axioms leave open: coherence of morally strong writes. */
typedef struct Coherence {
    Relation order;
} Coherence;

/* Calls `found` with each coherence order, as small as it can be, with which the execution is consistent, until it
 * returns true. `races`: accesses that race, whatever the coherence order; NULL: it is not asked for. */
typedef bool ModelFound(void *context, const Execution *execution, const Coherence *coherence);
bool model_check(const Execution *execution, ModelFound *found, void *context, Relation *races);

/* ---- Verdicts ---- */

typedef struct Race {
    int thread[2], instruction[2];
} Race;

typedef struct Verdict {
    bool holds;    /* the condition */
    bool finishes; /* no execution has a thread that is stuck forever */
    bool race;     /* some execution has one */
    bool in_order; /* ... one whose program order, reads-from, coherence and fence-SC order have no cycle */
    Race example;
    bool cut; /* loops were cut before their end: `holds` and `finishes` speak for what was looked at */
    uint64_t executions;
} Verdict;

void litmus_evaluate(const Test *test, Verdict *verdict);

/* What threads have left: registers, and memory by location. */
typedef struct Final {
    int64_t registers[MAX_THREADS][MAX_REGISTERS];
    int64_t memory[MAX_PLACES];
} Final;
/* Whether the condition, without its `exists` or `forall`, holds of it. */
bool litmus_condition(const Test *test, const Final *final);

#endif
