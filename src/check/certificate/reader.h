/* The text of a certificate, read into numbers and steps. */
#ifndef CHECK_CERTIFICATE_READER_H
#define CHECK_CERTIFICATE_READER_H

#include "check/certificate/internal.h"

/* factor * (value[0] - value[1]); `least` and `most` of each value, NULL: there is none. */
typedef struct NestingLevel {
    const Number *factor, *value[2], *least[2], *most[2];
} NestingLevel;

enum { MOST_LEVELS_OF_NEST = 16 };
typedef struct Precondition {
    enum { ASKED_NEST, ASKED_EQUAL, ASKED_LEAST } kind;
    bool free, used; /* it holds at every launch; a step needs it */
    uint32_t line, count;
    NestingLevel levels[MOST_LEVELS_OF_NEST];
    const Number *a, *b;
} Precondition;

typedef enum CertificateStepKind {
    STEP_PAIR,
    STEP_BY,
    STEP_APART,
    STEP_JOIN,
    STEP_AXIS,
    STEP_ALIKE,
    STEP_SAME,
    STEP_ORDERED
} CertificateStepKind;

typedef struct CertificateStep {
    CertificateStepKind kind;
    uint32_t line, a, b;
    enum { AXIS_KNOWN, AXIS_PINNED, AXIS_ONE } how;
    const Number *joined[2]; /* a quotient, and a remainder */
} CertificateStep;

typedef struct Listed {
    uint32_t line, op, effect;
    int64_t root, bytes;
    const Number *offset;
    Held held;
} Listed;

typedef struct AskedBound {
    uint32_t line;
    const Number *what;
    NumberRange range;
} AskedBound;

/* A number on which trip counts depend: `loop` counts up to factor * number + more by step. `turns`: the number is how
 * often it runs. */
enum { MOST_COUNTS = 2, MOST_OPEN_CONDITIONS = 4 };
typedef struct TripNumber {
    uint32_t line, op, asked; /* asked: the condition that excludes numbers below `least`; UINT32_MAX: none does */
    bool turns;
    int64_t factor, more, step, from, period, least, fastest, limit;
    const Number *number, *span, *by; /* as the kernel has them */
} TripNumber;

/* A run, by number: with the value T it speaks for T, up to `reach` more, for all below (down), and with `speaks` for
 * what is n periods more, too. */
typedef struct MadeRun {
    uint32_t line, conditions;
    struct {
        int64_t value, reach;
        bool down, speaks;
    } of[MOST_COUNTS];
} MadeRun;

typedef struct GivenArgument {
    int64_t value;
    uint32_t rank;
    int64_t shape[8], strides[8];
} GivenArgument;

typedef struct CertificateText {
    CertificateChecker *checker;
    Str text;
    const char *at, *end; /* what is left of the line */
    uint32_t line;
    const char *wrong; /* NULL: nothing is */
    const Number **atoms;
    uint32_t atom_count, atom_capacity;
    Precondition *asked;
    uint32_t asked_count, asked_capacity;
    AskedBound *bounds;
    uint32_t bound_count, bound_capacity;
    Listed *listed;
    uint32_t listed_count, listed_capacity;
    CertificateStep *steps;
    uint32_t step_count, step_capacity;
    uint32_t *claim_lines;
    uint32_t claim_line_count, claim_line_capacity;
    TripNumber counts[MOST_COUNTS];
    uint32_t count_count, condition_count, runs_line; /* runs_line: 0: nothing is said of runs */
    MadeRun *runs;
    uint32_t run_count, run_capacity;
    int64_t grid[3]; /* of the launch that is given as an example */
    GivenArgument *given;
    uint32_t given_count, given_capacity, given_line;
} CertificateText;

/* The part about the kernel of that name. False: `wrong`, at `line`; with `wrong` NULL there is no such part. */
bool certificate_read(CertificateText *reading, Str kernel);

/* Something is wrong: the first that is found counts. */
void certificate_refuse(CertificateText *reading, uint32_t line, const char *why);
/* The half about everything but global memory (runs.c). */
void certificate_runs(CertificateChecker *checker, CertificateText *reading);

#endif
