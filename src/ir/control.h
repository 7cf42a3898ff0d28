/* CONTROL: what an op does to the flow of control, read off its row.
 *
 *     CONTROL("loop from lowerBound to upperBound step step carries initArgs")
 *
 * A kind of the list below, then words in any order, each followed by the operand that it is about (of a list, all of
 * it):
 *
 *   from to step   the bounds of a loop that counts; its counter is the first argument of its region
 *   carries        the first values of what goes around a loop; what its region hands over comes next
 *   if             what is true or false: into which region, or to which block, it goes
 *   on             the number that chooses one
 *   captures       what every region gets as arguments
 *   calls          attribute: the function that is called
 *   tiles          attribute: how often the region runs, each time on the next of the operands */
#ifndef IR_CONTROL_H
#define IR_CONTROL_H

#include "ir/format.h"

/* id, the word, what it means. The first ten go into their regions (ORDER: flow_branches of model/flow relies on it).
 */
#define CONTROL_KINDS(M)                                                                                          \
    M(LOOP, "loop", "runs its region from a number to another; hands out what the last turn handed over")         \
    M(WHILE, "while", "runs its first region, which says whether the second is run and the first again")          \
    M(BRANCH, "branch", "runs its first region, or the second if there is one")                                   \
    M(SWITCH, "switch", "runs the region of a number; the last is for all other numbers")                         \
    M(ONCE, "once", "runs its region")                                                                            \
    M(GUARD, "guard", "runs its region, or does not")                                                             \
    M(TILES, "tiles", "runs its region once for each tile")                                                       \
    M(FORK, "fork", "runs its first region while partitions run those of the op at the end of the second")        \
    M(PARTITIONS, "partitions", "holds the regions of partitions, each run by warps of its own")                  \
    M(GROUPS, "groups", "each region is run by a group of warps; the first hands over")                           \
    M(COMBINE, "combine", "its region is a function of two elements, or of one: no flow of control goes into it") \
    M(JUMP, "jump", "the end of a block: to one of its successors")                                               \
    M(CALL, "call", "runs a function")                                                                            \
    M(FUNCTION, "function", "a function")                                                                         \
    M(MODULE, "module", "holds functions")                                                                        \
    M(YIELD, "yield", "the end of a region: hands its operands over")                                             \
    M(CONDITION, "condition", "the end of a while's first region: whether the second is run, and with what")      \
    M(RETURN, "return", "the end of a function")                                                                  \
    M(END, "end", "the end of what a partition or a group of warps runs")

typedef enum Control {
    CONTROL_NONE,    /* the next op follows */
    CONTROL_UNKNOWN, /* an op without a row: it may do anything with its regions */
#define KIND(id, word, what) CONTROL_##id,
    CONTROL_KINDS(KIND)
#undef KIND
        CONTROL_COUNT
} Control;

/* The column, taken apart; REF_NONE where the row does not say. */
typedef struct ControlColumn {
    Control kind;
    SlotRef from, to, step, carries, condition, number, captures, callee, tiles;
} ControlColumn;

#endif
