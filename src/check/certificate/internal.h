/* What the files of the checker share: numbers of values (values.c), accesses with their addresses (accesses.c), the
 * text of a certificate (reader.c), its steps (steps.c). */
#ifndef CHECK_CERTIFICATE_INTERNAL_H
#define CHECK_CERTIFICATE_INTERNAL_H

#include "check/certificate/certificate.h"
#include "check/certificate/number.h"
#include "machine/tile/compile/program.h"
#include "model/effect/effect.h"
#include "model/number/evaluate.h"

/* The coordinates of an element of a tensor. */
typedef struct ElementLanes {
    uint32_t rank;
    const Number *at[TENSOR_MOST_DIMS];
} ElementLanes;

/* What the certificate says of a value that a loop carries, at the start of each turn. */
typedef struct Claim {
    const Value *argument;
    uint32_t lanes;
    const Number *number;
} Claim;

typedef struct Noted {
    const Value *value;
    uint32_t lanes;
    const Number *number;
} Noted;

/* `least` and `most` of what holds where an access is made: number <= 0. */
enum { MOST_HELD = 24 };
typedef struct Held {
    const Number *all[MOST_HELD];
    uint32_t count;
} Held;

enum { ANY_ROOT = -1, OWN_ROOT = -2 };

typedef struct GlobalTouch {
    const Op *op;
    Effect effect;
    int32_t root;
    bool writes, strong, async, copies;
    int64_t bytes;
    const Number *offset; /* NULL: not known */
    Held held;
    const Type *mapping;
    uint32_t lanes, number; /* number: of its op's, from 0 on */
} GlobalTouch;

typedef struct CertificateChecker {
    Module *module;
    const Op *function;
    Arena *arena;
    NumberTable *numbers;
    const Op **ops; /* in the order of the text */
    uint32_t op_count, op_capacity;
    const Parameter *parameters;
    uint32_t parameter_count;
    ElementLanes *lanes;
    uint32_t lanes_count, lanes_capacity;
    TABLE_OF(Noted) noted;
    Claim *claims;
    uint32_t claim_count, claim_capacity;
    unsigned depth;
    GlobalTouch *touches;
    uint32_t touch_count, touch_capacity;
    struct Twins *twins; /* twins.c */
} CertificateChecker;

/* ---- values.c ---- */
enum { NO_LANES = 0 };
uint32_t lanes_number(CertificateChecker *checker, const ElementLanes *lanes);
/* The coordinates themselves, of a tensor; else NO_LANES. */
uint32_t lanes_of_type(CertificateChecker *checker, const Type *type);
/* The value's element there. NULL: too long. */
const Number *value_at(CertificateChecker *checker, const Value *value, uint32_t lanes);
/* A scalar integer in the range of its word. */
const Number *value_number(CertificateChecker *checker, const Value *value);
/* What is known of the value is nothing but its width. */
const Number *value_data(CertificateChecker *checker, const Value *value, uint32_t lanes);
bool loop_counts(CertificateChecker *checker, const Op *loop, const Number **from, const Number **span,
                 const Number **step);
const Number *loop_trip(CertificateChecker *checker, const Op *loop);
/* How often it runs. */
const Number *loop_trips(CertificateChecker *checker, const Op *loop);
/* NULL: each claim holds at the start of the first turn, and of the next one if of this one; else why not. */
const char *claim_fails(CertificateChecker *checker, const Claim *claim);
void held_where(CertificateChecker *checker, const Value *condition, bool wanted, Held *held);

/* ---- accesses.c ---- */
void find_touches(CertificateChecker *checker);

/* ---- alike.c ---- */
/* NULL: each element that is written gets the same in every program; else why not. */
const char *write_differs(CertificateChecker *checker, const GlobalTouch *touch);

/* ---- twins.c ---- */
/* NULL: the op writes the same in each program, and all read no global memory but what none writes; else why not. */
const char *programs_differ(CertificateChecker *checker, const Op *write);

#endif
