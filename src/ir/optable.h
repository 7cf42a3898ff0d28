/* The op table: what Weir knows about each operation, one row an op. The rows are in ops/DIALECT.def;
 * docs/op-table.md explains their columns and the format language. */
#ifndef IR_OPTABLE_H
#define IR_OPTABLE_H

#include "base/text.h"
#include "ir/amd_forms.h"
#include "ir/control.h"
#include "ir/describe.h"
#include "ir/evaluator.h"
#include "ir/format.h"
#include "ir/waits.h"

/* What its members have in common is in classes.def. */
typedef enum OpClass {
#define CLASS(id, word, what) CLASS_##id,
#include "ir/classes.def"
#undef CLASS
    CLASS_COUNT
} OpClass;

enum {
    ISOLATED = 1 << 0,
    TERMINATOR = 1 << 1,
    GRAPH = 1 << 2,
#define YIELDS(id) ((OP_##id + 1) << 8)
};

/* Columns that few rows have; they stand after the formats. CONTROL says what the op does to the flow of control
 * (control.h), DESCRIBES which descriptor it makes (describe.h), EVALUATE how the result of a pure op comes from its
 * operands (evaluator.h), IS in which classes it is (classes.def), EFFECTS what it does to memory and to time, PTX what
 * it becomes on NVIDIA, AMD what AMD has for it (amd_forms.h), WAITS for which counters of AMD it waits
 * (waits.h), PYTHON which call of Gluon or Triton people write for it. */
#define CONTROL(text)   NULL, "control", text
#define DESCRIBES(text) NULL, "describes", text
#define IS(text)        NULL, "is", text
#define EVALUATE(text)  NULL, "evaluate", text
#define EFFECTS(text)   NULL, "effects", text
#define PTX(text)       NULL, "ptx", text
#define AMD(text)       NULL, "amd", text
#define WAITS(text)     NULL, "waits", text
#define PYTHON(text)    NULL, "python", text

enum { MAX_OPERAND_SLOTS = 32, MAX_RESULT_SLOTS = 16, MAX_FIXED_TYPES = 32, MAX_EVALUATORS = 4, OP_MOST = 1024 };

/* One entry of an operand, attribute or result column. */
typedef struct Slot {
    Str name;
    enum { SLOT_ONE, SLOT_OPTIONAL, SLOT_MANY } arity;
    bool uncommon; /* some releases do not have it */
    enum {
        TYPE_ANY,
        TYPE_FIXED, /* `text` names it */
        TYPE_CLASS, /* `text` is the dialect type's name: ttg.memdesc ... */
        TYPE_TENSOR_ANY,
        TYPE_SAME, /* as slot `of` */
        TYPE_I1_OF,
        TYPE_I32_OF,
        TYPE_POINTEE_OF,
        TYPE_ELEMENT_OF,
        TYPE_YIELDED, /* of the values that the op's first region hands over at its end */
    } rule;
    Str text;
    uint8_t fixed; /* nonzero: the same for every slot with this fixed type */
    SlotRef of;
    /* attributes */
    AttrSyntax syntax;
    const char *int_type; /* i32 ... for SYNTAX_INT, f32 for SYNTAX_REAL, i32/i64 for SYNTAX_INTS */
    const struct EnumRow *enumeration;
} Slot;

typedef struct OpRow OpRow;

typedef struct EnumRow {
    const char *name;
    const char *generic; /* an integer type, or the prefix of an attribute */
    const char *words;   /* "none=1 ca cg" */
} EnumRow;

struct OpRow {
    uint16_t id; /* ir/op_ids.h */
    Str name;
    uint32_t traits;
    /* as written in the table */
    const char *operand_column, *attr_column, *result_column;
    const char *const *format_column; /* ended by NULL */
    /* "" where the row has none */
    const char *control_column, *describes_column, *evaluate, *is, *effects, *ptx, *amd, *waits_column, *python;
    uint8_t column_size; /* of format_column with what follows it */
    /* the same, taken apart */
    const Slot *operands, *attrs, *results;
    uint8_t operand_count, attr_count, result_count, format_count;
    uint8_t varying;  /* entries of the operand column that are not exactly one */
    bool constrained; /* the columns say something about types */
    const Format *formats;
    ControlColumn control;
    DescribeColumn describes;
    uint8_t evaluators[MAX_EVALUATORS]; /* of each result; the last is for those behind it, too */
    WaitEntry waits[MAX_WAITS];         /* the first with WAITS_NOTHING ends them */
    uint64_t classes[2];                /* a bit for each OpClass */
};
_Static_assert(CLASS_COUNT <= 128, "OpRow.classes has a bit for each");

/* The row of an op, by its name as written (old dialect names included); NULL if there is none. */
const OpRow *op_row(Str name);
/* The same for an op in the generic form, where a name without a dialect is a placeholder's. */
const OpRow *op_row_generic(Str name);
const OpRow *op_row_by_id(unsigned id);
/* How many there are; ids are below OP_MOST. */
unsigned op_row_count(void);
/* The slot of that name, or -1. */
int op_slot(const Slot *slots, unsigned count, Str name);
/* The operand, result or attribute of that name, in this order; REF_NONE if the row has none. */
SlotRef op_slot_ref(const OpRow *row, Str name);

/* The number of an enumeration's word; false if it is not one. */
bool enum_value(const EnumRow *row, Str word, int64_t *value);

/* NULL if every row is well-formed, else a sentence about the first that is not. For tests. */
const char *op_table_problem(void);

static inline int row_yields(const OpRow *row) { /* the id of the implicit terminator, or -1 */
    return (int)(row->traits >> 8) - 1;
}

#endif
