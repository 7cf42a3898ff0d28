/* A compiled kernel for people: the values that are computed, and the instructions, in registers and jumps. */
#include "ir/op.h"
#include "ir/print.h"
#include "machine/tile/compile/program.h"
#include "machine/tile/compile/slice.h"

#include <inttypes.h>

/* ---- The slice ------------------------------------------------------------------------------------ */

/* Those of some values beside each other that are in the slice; returns how many. */
static uint32_t print_values(const Slice *slice, const Value *values, uint32_t count, Text *to) {
    uint32_t printed = 0;
    for (uint32_t i = 0; i < count; i++)
        if (slice_has(slice, &values[i])) {
            text_addf(to, printed++ ? ", " : "");
            print_value_name(&values[i], to);
        }
    return printed;
}

/* A line `LINE: VALUES = OP`, or `LINE: VALUES of OP`. */
static void print_line(const Program *program, const Op *op, const char *between, const Value *values, uint32_t count,
                       Text *to) {
    Text names = {0};
    if (print_values(program->slice, values, count, &names))
        text_addf(to, "  %u: %.*s%s%.*s\n", op_line(program->module, op), (int)names.size, names.data, between,
                  STR_ARG(op->name));
    text_free(&names);
}

void program_print_slice(const Program *program, Text *to) {
    for (const Op *op = program->function; op; op = op_next_in_walk(op, program->function)) {
        print_line(program, op, " = ", op->results, op->result_count, to);
        for (uint32_t i = 0; i < op->region_count; i++)
            for (const Block *block = op->regions[i].first; block; block = block->next)
                print_line(program, op, ", of ", block->args, block->arg_count, to);
    }
}

/* ---- Instructions --------------------------------------------------------------------------------- */

/* What an instruction does. $d, $a, $b and $c are its registers, $x its number `aux`; $n is an axis, $e an evaluation,
 * with operands $i, or those of a list $l, $k a case, $v a view, $m memory that is allocated, $s the strands of a fork.
 */
static const char *const formats[] = {
    [CODE_INTEGER] = "$d = $e $i",
    [CODE_EVALUATE] = "$d = $e $l",
    [CODE_MOVE] = "$d = $a",
    [CODE_JUMP] = "jump $x",
    [CODE_BRANCH] = "unless $a: jump $x",
    [CODE_SWITCH] = "if $a is $k: jump $x",
    [CODE_LOOP] = "$d = $a, loop $x below $b by $c",
    [CODE_FOR] = "unless $d < $b: jump $x",
    [CODE_NEXT] = "$d += $c: jump $x",
    [CODE_AGAIN] = "again",
    [CODE_PROGRAM_ID] = "$d = program id $n",
    [CODE_PROGRAMS] = "$d = programs $n",
    [CODE_RANK] = "$d = rank",
    [CODE_RANKS] = "$d = ranks",
    [CODE_VIEW] = "$d = view $a$v, CTA $c",
    [CODE_KEEP_BUFFER] = "buffer $x of aref $b = $a",
    [CODE_BUFFER] = "$d = buffer of aref $a$v",
    [CODE_ALLOCATE] = "$d = allocation $x: $m",
    [CODE_DESCRIPTOR] = "$d = descriptor $x",
    [CODE_LOAD] = "$d = load $a, $b, $c",
    [CODE_ASSUME] = "assume $a",
    [CODE_EFFECTS] = "effects",
    [CODE_FORK] = "fork $s",
    [CODE_JOIN] = "join",
    [CODE_END] = "end",
    [CODE_CLC] = "$d = cluster launch $x of $a",
    [CODE_CELL] = "$d = integers at $a",
    [CODE_SEQUENCE] = "$d = number of the MMA",
    [CODE_FINISHED] = "MMA $a is waited for",
    [CODE_KEEP] = "integers at $b = $a",
    [CODE_SCRATCH] = "$d = scratch $x",
    [CODE_FROM_POINTER] = "$d = descriptor at $a",
};

static void print_register(uint32_t reg, Text *to) {
    if (reg == NO_REGISTER)
        text_char(to, '-');
    else
        text_addf(to, "r%u", reg);
}

static void print_list(const Program *program, uint32_t first, uint32_t count, Text *to) {
    for (uint32_t i = 0; i < count; i++) {
        text_addf(to, i ? ", " : "");
        print_register(program->lists[first + i], to);
    }
}

static void print_evaluation(const Evaluation *how, Text *to) {
    static const char *const comparisons[] = {"eq",  "ne",  "slt", "sle", "sgt",
                                              "sge", "ult", "ule", "ugt", "uge"}; /* ORDER Comparison */
    text_addf(to, "%s", how->code == EVALUATE_NONE ? "unknown" : evaluators[how->code].name);
    if (how->code == EVALUATE_COMPARE && how->a >= 0 && how->a <= COMPARE_UGE)
        text_addf(to, " %s", comparisons[how->a]);
    text_addf(to, how->tensor ? " tensor" : " i%u", how->width);
}

static void print_view(const ViewStep *step, uint32_t index, Text *to) {
    if (index != NO_REGISTER) {
        text_addf(to, " + ");
        print_register(index, to);
        text_addf(to, " * %" PRId64, step->stride);
    }
    if (step->add)
        text_addf(to, " + %" PRId64, step->add);
    if (step->flip)
        text_addf(to, " ^ %" PRId64, step->flip);
}

static void print_allocation(const Allocation *allocation, Text *to) {
    text_addf(to, allocation->space == SPACE_TENSOR ? "%" PRId64 " columns" : "%" PRId64 " bytes", allocation->size);
}

static void print_strands(const Program *program, const Fork *fork, Text *to) {
    for (uint32_t i = 0; i < fork->strand_count; i++)
        text_addf(to, "%s%s", i ? ", " : "", program->strands[fork->first_strand + i].name);
}

static void print_item(const Program *program, const Instruction *at, char item, Text *to) {
    const uint32_t registers[] = {at->a, at->b, at->c, at->dst};
    switch (item) {
    case 'a':
    case 'b':
    case 'c':
    case 'd':
        print_register(registers[item - 'a'], to);
        break;
    case 'e':
        print_evaluation(&program->evaluations[at->aux], to);
        break;
    case 'i':
        for (int i = 0; i < evaluators[program->evaluations[at->aux].code].operands; i++) {
            text_addf(to, i ? ", " : "");
            print_register(registers[i], to);
        }
        break;
    case 'l':
        print_list(program, at->a, at->b, to);
        break;
    case 'k':
        text_addf(to, "%" PRId64, program->cases[at->b]);
        break;
    case 'm':
        print_allocation(&program->allocations.items[at->aux], to);
        break;
    case 'n':
        text_char(to, "xyz"[at->aux]);
        break;
    case 's':
        print_strands(program, &program->forks[at->aux], to);
        break;
    case 'v':
        print_view(&program->views[at->aux], at->b, to);
        break;
    default:
        text_addf(to, "%u", at->aux);
        break;
    }
}

/* An operand that there is none of, at the end of a list, is left out. */
static bool ends_here(const Instruction *at, const char *rest) {
    bool none = true;
    for (; *rest; rest++)
        if (*rest == '$')
            none &= (rest[1] == 'b' && at->b == NO_REGISTER) || (rest[1] == 'c' && at->c == NO_REGISTER);
    return none;
}

static void print_instruction(const Program *program, uint32_t pc, Text *to) {
    const Instruction *at = &program->code[pc];
    text_addf(to, "  %5u  ", pc);
    for (const char *format = formats[at->code]; *format; format++) {
        if (*format == ',' && ends_here(at, format))
            break;
        if (*format == '$')
            print_item(program, at, *++format, to);
        else
            text_char(to, *format);
    }
    text_addf(to, "  ; %u: %.*s\n", op_line(program->module, program->ops[pc]), STR_ARG(program->ops[pc]->name));
    for (uint32_t i = 0; at->code == CODE_EFFECTS && i < at->a; i++) {
        text_addf(to, "           ");
        effect_print(&program->effects[at->aux + i].effect, to);
        text_char(to, '\n');
    }
}

/* ---- Strands -------------------------------------------------------------------------------------- */

static void print_constants(const Program *program, const Strand *strand, Text *to) {
    for (uint32_t i = 0; i < strand->constant_count; i++) {
        const uint32_t *pair = &program->lists[strand->constants + i * 2];
        Word word = program->constants[pair[1]];
        text_addf(to, "         ");
        print_register(pair[0], to);
        text_addf(to, word_is(word, WORD_INTEGER) ? " = %" PRId64 "\n" : " = a tensor\n", word.bits);
    }
}

static uint32_t strand_end(const Program *program, const Strand *strand) {
    uint32_t end = program->code_count;
    for (uint32_t i = 0; i < program->strand_count; i++)
        if (program->strands[i].entry > strand->entry && program->strands[i].entry < end)
            end = program->strands[i].entry;
    return end;
}

void program_print(const Program *program, Text *to) {
    for (uint32_t i = 0; i < program->parameter_count; i++) {
        const Parameter *parameter = &program->parameters[i];
        text_addf(to, "  %s: ", parameter->name);
        print_register(parameter->reg, to);
        text_addf(to, parameter->steers ? ", steers\n" : "\n");
    }
    for (uint32_t i = 0; i < program->strand_count; i++) {
        const Strand *strand = &program->strands[i];
        text_addf(to, "  %s: %u warp%s, %u register%s\n", strand->name, strand->warps, strand->warps == 1 ? "" : "s",
                  strand->register_count, strand->register_count == 1 ? "" : "s");
        print_constants(program, strand, to);
        for (uint32_t pc = strand->entry; pc < strand_end(program, strand); pc++)
            print_instruction(program, pc, to);
    }
}
