/* Blocks of one region: which branch decides how one of them is come to; and loops that are made of them: a branch goes
 * back to a block that comes earlier in the text, the head. */
#ifndef MACHINE_TILE_COMPILE_BLOCK_LOOPS_H
#define MACHINE_TILE_COMPILE_BLOCK_LOOPS_H

#include "model/flow/forwarded.h"

/* Whether a branch goes back to it. */
bool block_is_head(const Block *block);
/* Whether the block is in the loop of that head. */
bool block_loop_has(const Block *head, const Block *block);
/* The head of the innermost loop of blocks around the op, in its own region; NULL: there is none. */
const Block *block_loop_around(const Op *op);
/* Of an argument of a head: what it is at first, and in the next turn; `loop` is the head's first op. False if it is
 * none, or if several values are handed over. */
bool block_carried(const Value *value, Carried *carried);
/* Which way of a branch in the loop goes on in it: 1 if its condition holds, 0 if it does not; -1: both, or neither. */
int block_loop_stays(const Block *head, const Op *branch);

/* Whether the block may be come to by either way of a branch with two. */
bool block_is_by_either(const Block *block, const Op *branch);

#endif
