/* What the files that find the forms of values share. */
#ifndef PTX_VALUE_INTERNAL_H
#define PTX_VALUE_INTERNAL_H

#include "ptx/value/operation.h"
#include "ptx/value/value.h"

/* Where an instruction's form loads from. */
typedef struct Load {
    PtxSpace space;
    bool fixed; /* nothing writes there while the kernel runs: .const, .nc */
    bool weak;
} Load;

/* What the solver reads of an instruction's form: once a form that is used. */
typedef struct Meaning {
    bool known; /* it was looked at */
    Operation operation;
    Load load;
    PtxSpace space;     /* that the form names first; PTX_SPACE_UNKNOWN: none */
    uint8_t load_width; /* of each member */
    bool load_signed, all /* match.all */, uniform /* .uni */;
} Meaning;

/* An edge that leaves a loop. */
typedef struct LoopExit {
    uint32_t from, to, next; /* next: of the same loop; PTX_NONE */
} LoopExit;

/* Over which threads blocks are come to by the same way; and what is needed to find that. */
typedef struct ValueControl {
    uint8_t *joins;    /* of each block, FormSpan: over which threads all come in by the same edge */
    uint32_t *place;   /* of each block: in flow->order */
    uint32_t *exits;   /* of each loop: the first in `leaving`; PTX_NONE */
    LoopExit *leaving; /* edges */
    uint32_t *labels;  /* of each block, while one branch is looked at: where its way began */
    uint32_t *heap;    /* places of blocks to be looked at, the least first */
    uint32_t *touched; /* blocks with labels */
    uint32_t heap_count, touched_count;
} ValueControl;

typedef struct ValueSolver {
    PtxValues *values;
    const PtxFlow *flow;
    const PtxModule *module;
    FormTables *tables;
    Arena scratch;
    uint32_t *users_at, *users; /* of each value: instructions, and behind those, phis (their values) */
    bool *waiting;              /* of each instruction, and each phi: it has to be looked at */
    bool any_waiting;
    uint8_t *changes; /* of each value: how often its form changed */
    ValueControl control;
} ValueSolver;

/* ---- operand.c ---- */
unsigned register_width(const PtxModule *module, uint32_t variable);
/* Whether it is a texture, a sampler or a surface. */
bool is_opaque(const PtxModule *module, uint32_t variable);
Form value_form(const PtxValues *values, uint32_t value, uint32_t block);
/* An operand that is read in a block; `width` is that of a number that has none. */
Form operand_form(const PtxValues *values, const PtxOperand *operand, unsigned width, uint32_t block);
Form address_form(const PtxValues *values, const PtxOperand *address, uint32_t block);

/* ---- special.c ---- */
Form special_form(const PtxValues *values, const PtxOperand *operand);
/* How many threads it has; 0: that is not known. */
unsigned shape_threads(const PtxBlockShape *shape);
PtxBlockShape block_shape(const PtxFlow *flow, const PtxBlockShape *given);

/* ---- meaning.c ---- */
Meaning meaning_of(const PtxForm *form);

/* ---- transfer.c ---- */
/* Looks at an instruction; changed values are noted. */
void solve_instruction(ValueSolver *s, uint32_t instruction);
/* ---- lanes.c ---- */
/* What other lanes give: the first result, and the second of a pair. */
void lanes_results(ValueSolver *s, const Meaning *meaning, const Form *arguments, unsigned count, Form results[2]);

/* ---- origin.c ---- */
PtxOrigin operand_origin(const PtxValues *values, const PtxOperand *operand);
/* `space` is what the form says of it. */
PtxOrigin address_origin(const PtxValues *values, PtxSpace space, const PtxOperand *address);
PtxOrigin result_origin(const PtxValues *values, const Meaning *meaning, const PtxStatement *statement);
PtxOrigin join_origins(PtxOrigin a, PtxOrigin b);
PtxOrigin unknown_origin(void);
bool is_kernel_parameter(const PtxFlow *flow, uint32_t variable);

/* ---- value.c ---- */
void set_form(ValueSolver *s, uint32_t value, Form form, PtxOrigin origin);
void note_users(ValueSolver *s, uint32_t value);

/* ---- control.c ---- */
void control_start(ValueSolver *s);
/* The end of a block goes the same way over `span` only. */
void control_note(ValueSolver *s, uint32_t block, FormSpan span);
/* Which blocks a part of a warp may run. */
void control_finish(ValueSolver *s);
bool loop_has(const PtxFlow *flow, uint32_t loop, uint32_t block);

#endif
