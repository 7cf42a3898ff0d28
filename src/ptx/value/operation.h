/* What an instruction's form computes: its evaluator with the types and modifiers that say how; and that computed, for
 * numbers (operation_evaluate) and for forms (operation_apply). */
#ifndef PTX_VALUE_OPERATION_H
#define PTX_VALUE_OPERATION_H

#include "ir/ptx_rows.h"
#include "ptx/value/form.h"

typedef enum Compare { COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE } Compare;
/* What is done with the result and a predicate that is one more operand. */
typedef enum Combine { COMBINE_NOTHING, COMBINE_AND, COMBINE_OR, COMBINE_XOR } Combine;
typedef enum Shuffle { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_ACROSS, SHUFFLE_INDEX } Shuffle;

typedef struct Operation {
    uint8_t evaluator; /* PtxEvaluator */
    bool numbers;      /* operation_evaluate knows it: whole numbers, no modifier that is not said here */
    uint8_t width;     /* of the operands that have the form's type; of cvt, the source */
    uint8_t result;    /* width of the result */
    bool is_signed, result_signed;
    bool high, wide, saturates, to_zero /* .relu */, shift_amount, left, wraps;
    uint8_t compare, combine, shuffle;
} Operation;

enum { MOST_ARGUMENTS = 4 };

/* Of a form that has a row. */
Operation operation_of(const PtxRow *row, Str form);
/* How many operands it reads, when it is one for operation_evaluate. */
unsigned operation_arguments(const Operation *operation);
/* The width of one of them. */
unsigned operation_argument_width(const Operation *operation, unsigned index);

/* The result for numbers; false: it is not specified (x / 0). */
bool operation_evaluate(const Operation *operation, const uint64_t *arguments, uint64_t *result);
/* The result for forms. *assumed: it is what it is only if nothing wraps in a warp, which was not proven. */
Form operation_apply(FormTables *tables, const Operation *operation, const Form *arguments, unsigned count,
                     bool *assumed);

/* Parts of operation_apply. */
Form operation_enumerate(FormTables *tables, const Operation *operation, const Form *arguments, unsigned count,
                         bool *done);
Form form_sum(FormTables *tables, const Form *a, const Form *b);
Form form_not(FormTables *tables, const Form *a);
Form form_negate(FormTables *tables, const Form *a);
/* Of equal width. */
Form form_multiply(FormTables *tables, const Form *a, const Form *b);
/* Cut or extended; *assumed as above. */
Form form_extend(FormTables *tables, const Form *a, unsigned width, bool is_signed, bool *assumed);
/* Two numbers side by side, the lower first. */
Form form_pack(FormTables *tables, const Form *parts, unsigned count, unsigned width);
Form form_part(FormTables *tables, const Form *whole, unsigned shift, unsigned width);
/* Each lane's choice of two. */
Form form_select(FormTables *tables, const Form *chooser, const Form *a, const Form *b);
/* Bit by bit, as a table of eight says, of which a is bit 2 of the place, b bit 1 and c bit 0. */
enum { LOGIC_AND = 0xc0, LOGIC_OR = 0xfc, LOGIC_XOR = 0x3c };
Form form_logic(FormTables *tables, const Form *arguments, unsigned count, unsigned logic);
/* What a function gives of which nothing is known but that equal operands make equal results. */
Form form_pure(const FormTables *tables, const Form *arguments, unsigned count, unsigned width);

#endif
