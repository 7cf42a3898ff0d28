/* What a flow says, found again the slow way: edges from the words of the text, dominance by taking a block out and
 * looking what is still reached, loops by strongly connected parts of what is left without their headers, values by
 * going back from each read to all writes that it can see, and by random walks with a number for each write. */
#ifndef TESTS_UNIT_PTX_FLOW_BRUTE_H
#define TESTS_UNIT_PTX_FLOW_BRUTE_H

#include "ptx/flow/flow.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Brute {
    const PtxFlow *flow;
    const PtxModule *module;
    uint32_t blocks;
    bool *leaves;    /* of each block: a thread may be over at its end, and others are not */
    uint64_t *names; /* registers, sorted: variable and index */
    uint32_t name_count;
    uint32_t wrong;
    uint32_t most; /* blocks, and reads, that are looked at when there are many; 0: all */
    uint64_t random;
} Brute;

static void complain_of(Brute *b, const char *what, uint32_t where, uint32_t other) {
    if (b->wrong++ < 5)
        printf("%.*s: %s: %u, %u\n", STR_ARG(ptx_name(b->module, b->module->functions[b->flow->function].name)), what,
               where, other);
}

static uint32_t next_random(Brute *b, uint32_t below) {
    b->random ^= b->random << 13;
    b->random ^= b->random >> 7;
    b->random ^= b->random << 17;
    return below ? (uint32_t)(b->random >> 20) % below : 0;
}

static const PtxStatement *statement_of(const Brute *b, uint32_t instruction) {
    return &b->module->statements[b->flow->instructions[instruction]];
}

static bool opcode_is(const Brute *b, const PtxStatement *statement, const char *opcode) {
    Str form = b->module->forms[statement->what].text;
    size_t size = strlen(opcode);
    return form.size >= size && memcmp(form.data, opcode, size) == 0 && (form.size == size || form.data[size] == '.');
}

/* ---- Edges ------------------------------------------------------------------------------------------------------- */

/* The first instruction behind a statement; the number of instructions if there is none. */
static uint32_t instruction_behind(const Brute *b, uint32_t statement) {
    uint32_t low = 0, high = b->flow->instruction_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (b->flow->instructions[middle] < statement)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool callee_never_returns(const Brute *b, const PtxStatement *statement) {
    for (uint32_t i = 0; i < statement->count; i++) {
        const PtxOperand *operand = &b->module->operands[statement->first + i];
        const PtxStatement *behind = operand->kind == PTX_TARGET ? &b->module->statements[operand->a + 1] : NULL;
        for (uint32_t k = 0; behind && behind->kind == PTX_PROTOTYPE && k < behind->count; k++)
            if (str_is(ptx_name(b->module, b->module->operands[behind->first + k].a), ".noreturn"))
                return true;
        if (operand->kind != PTX_CALLEE)
            continue;
        const PtxFunction *function = &b->module->functions[operand->a];
        for (uint32_t k = function->begin; k < b->module->statements_count; k++) {
            const PtxStatement *at = &b->module->statements[k];
            if (at->kind == PTX_OPEN || at->kind == PTX_END)
                return false;
            if (at->kind == PTX_DIRECTIVE && str_is(ptx_name(b->module, at->what), ".noreturn"))
                return true;
        }
    }
    return false;
}

static bool calls(const Brute *b, const PtxStatement *statement, const char *name) {
    bool found = false;
    for (uint32_t i = 0; i < statement->count; i++) {
        const PtxOperand *operand = &b->module->operands[statement->first + i];
        found |= operand->kind == PTX_CALLEE && !b->module->functions[operand->a].body &&
                 str_is(ptx_name(b->module, b->module->functions[operand->a].name), name);
    }
    return found;
}

/* Instructions that may come behind one, at most `most` of them; `over` if the thread may end there, and others not. */
static uint32_t brute_next(const Brute *b, uint32_t instruction, uint32_t *to, uint32_t most, bool *over) {
    const PtxStatement *statement = statement_of(b, instruction);
    uint32_t count = 0;
    bool on = (statement->flags & PTX_GUARDED) != 0;
    *over = false;
    if (opcode_is(b, statement, "bra")) {
        const PtxOperand *last = &b->module->operands[statement->first + statement->count - 1];
        to[count++] = instruction_behind(b, last->a);
    } else if (opcode_is(b, statement, "brx")) {
        const PtxOperand *last = &b->module->operands[statement->first + statement->count - 1];
        const PtxStatement *list = &b->module->statements[last->a + 1];
        for (uint32_t i = 0; i < list->count && count < most; i++)
            to[count++] = instruction_behind(b, b->module->operands[list->first + i].a);
    } else if (opcode_is(b, statement, "ret") || opcode_is(b, statement, "exit")) {
        *over = true;
    } else if (opcode_is(b, statement, "call") && callee_never_returns(b, statement)) {
        *over = !calls(b, statement, "__assertfail");
    } else {
        on |= !opcode_is(b, statement, "trap");
    }
    if (on && count < most)
        to[count++] = instruction + 1;
    return count;
}

static int compare_numbers(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* Where a block begins, empty ones being stepped over. */
static uint32_t begin_of(const Brute *b, uint32_t block) {
    while (block + 1 < b->blocks && b->flow->blocks[block].begin == b->flow->blocks[block].end)
        block++;
    return b->flow->blocks[block].begin;
}

enum { MOST_EDGES = 4096 };

static void check_block_edges(Brute *b, uint32_t index) {
    static uint32_t expected[MOST_EDGES], found[MOST_EDGES];
    const FlowBlock *block = &b->flow->blocks[index];
    bool over = false, last = index + 1 == b->blocks;
    uint32_t count = 0, own = block->successor_count;
    for (uint32_t i = block->begin; i + 1 < block->end; i++)
        if (brute_next(b, i, expected, MOST_EDGES, &over) != 1 || expected[0] != i + 1)
            complain_of(b, "an instruction ends a block, and stands inside of one", index, i);
    if (block->end > block->begin)
        count = brute_next(b, block->end - 1, expected, MOST_EDGES, &over);
    else
        expected[count++] = block->end;
    if (last && count && expected[count - 1] == block->end) { /* off the end, where there is no block */
        over = true;
        count--;
    }
    b->leaves[index] = over;
    for (uint32_t i = 0; i < own && i < MOST_EDGES; i++)
        found[i] = begin_of(b, b->flow->edges[block->successors + i]);
    qsort(expected, count, sizeof *expected, compare_numbers);
    qsort(found, own < MOST_EDGES ? own : MOST_EDGES, sizeof *found, compare_numbers);
    if (count != own || memcmp(expected, found, count * sizeof *found) != 0)
        complain_of(b, "successors", index, own);
}

static void check_edges(Brute *b) {
    const PtxFlow *flow = b->flow;
    uint32_t *came = calloc(b->blocks, sizeof *came);
    for (uint32_t i = 0; i < b->blocks; i++) {
        const FlowBlock *block = &flow->blocks[i];
        if (block->begin != (i ? flow->blocks[i - 1].end : 0))
            complain_of(b, "begin of a block", i, block->begin);
        for (uint32_t k = block->begin; k < block->end; k++)
            if (flow->block_of[k] != i)
                complain_of(b, "block_of", k, i);
        check_block_edges(b, i);
        for (uint32_t k = 0; block->reached && k < block->successor_count; k++)
            came[flow->edges[block->successors + k]]++;
    }
    for (uint32_t i = 0; i < b->blocks; i++) {
        const FlowBlock *block = &flow->blocks[i];
        if (came[i] != block->predecessor_count)
            complain_of(b, "predecessors", i, came[i]);
        for (uint32_t k = 0; k < block->predecessor_count; k++) {
            const FlowBlock *from = &flow->blocks[flow->edges[block->predecessors + k]];
            bool found = false;
            for (uint32_t j = 0; j < from->successor_count; j++)
                found |= flow->edges[from->successors + j] == i;
            if (!found || !from->reached)
                complain_of(b, "a predecessor", i, k);
        }
    }
    if (flow->blocks[0].predecessor_count)
        complain_of(b, "the first block has predecessors", 0, 0);
    free(came);
}

/* ---- What is reached ------------------------------------------------------------------------------------------------
 */

/* Marks what is reached from a block without passing `without`, and only in `within` where that is given. */
static void spread(const Brute *b, uint32_t from, uint32_t without, const bool *within, bool back, bool *seen) {
    uint32_t *work = malloc(b->blocks * sizeof *work), count = 0;
    if (from != without && !seen[from]) {
        work[count++] = from;
        seen[from] = true;
    }
    while (count) {
        const FlowBlock *block = &b->flow->blocks[work[--count]];
        uint32_t edges = back ? block->predecessor_count : block->successor_count;
        for (uint32_t k = 0; k < edges; k++) {
            uint32_t to = b->flow->edges[(back ? block->predecessors : block->successors) + k];
            if (to == without || seen[to] || (within && !within[to]))
                continue;
            seen[to] = true;
            work[count++] = to;
        }
    }
    free(work);
}

static bool look_at(Brute *b, uint32_t of) {
    return !b->most || of <= b->most || next_random(b, of) < b->most;
}

static void check_dominance(Brute *b) {
    bool *reached = calloc(b->blocks, 1), *seen = malloc(b->blocks);
    uint32_t *above = calloc(b->blocks, sizeof *above);
    spread(b, 0, PTX_NONE, NULL, false, reached);
    bool whole = !b->most || b->blocks <= b->most;
    for (uint32_t i = 0; i < b->blocks; i++) {
        if (reached[i] != b->flow->blocks[i].reached)
            complain_of(b, "reached", i, reached[i]);
        if (!look_at(b, b->blocks))
            continue;
        memset(seen, 0, b->blocks);
        spread(b, 0, i, NULL, false, seen);
        for (uint32_t k = 0; k < b->blocks; k++) {
            bool dominates = reached[i] && reached[k] && !seen[k];
            above[k] += dominates;
            if (dominates != flow_dominates(b->flow, i, k))
                complain_of(b, "dominance", i, k);
        }
    }
    for (uint32_t i = 0; whole && i < b->blocks; i++) {
        uint32_t dominator = b->flow->blocks[i].dominator;
        if ((dominator == PTX_NONE) != (i == 0 || !reached[i]))
            complain_of(b, "dominator", i, dominator);
        else if (dominator != PTX_NONE && (!flow_dominates(b->flow, dominator, i) || above[i] != above[dominator] + 1))
            complain_of(b, "immediate dominator", i, dominator);
    }
    free(reached);
    free(seen);
    free(above);
}

/* ---- Strongly connected parts
 * ------------------------------------------------------------------------------------------ */

/* Of the blocks in `within`: of each the least block that reaches it and is reached by it; PTX_NONE where it is alone,
 * without an edge to itself. */
static uint32_t *find_parts(const Brute *b, const bool *within) {
    uint32_t *part = malloc(b->blocks * sizeof *part);
    bool *to = malloc(b->blocks), *from = malloc(b->blocks);
    memset(part, 0xff, b->blocks * sizeof *part);
    for (uint32_t i = 0; i < b->blocks; i++) {
        if (!within[i] || part[i] != PTX_NONE)
            continue;
        memset(to, 0, b->blocks);
        memset(from, 0, b->blocks);
        spread(b, i, PTX_NONE, within, false, to);
        spread(b, i, PTX_NONE, within, true, from);
        uint32_t size = 0;
        for (uint32_t k = 0; k < b->blocks; k++)
            size += to[k] && from[k];
        bool self = false;
        for (uint32_t k = 0; k < b->flow->blocks[i].successor_count; k++)
            self |= b->flow->edges[b->flow->blocks[i].successors + k] == i;
        for (uint32_t k = 0; (size > 1 || self) && k < b->blocks; k++)
            if (to[k] && from[k])
                part[k] = i;
    }
    free(to);
    free(from);
    return part;
}

static bool loop_holds(const PtxFlow *flow, uint32_t loop, uint32_t block) {
    uint32_t at = flow->blocks[block].loop;
    while (at != PTX_NONE && at != loop)
        at = flow->loops[at].outer;
    return at == loop;
}

/* The loops in `within` are its strongly connected parts: those whose outer loop is `outer`. */
static void check_level(Brute *b, uint32_t outer, const bool *within) {
    const PtxFlow *flow = b->flow;
    uint32_t *part = find_parts(b, within), *loop_of = malloc(b->blocks * sizeof *loop_of);
    for (uint32_t i = 0; i < b->blocks; i++) {
        uint32_t at = flow->blocks[i].loop;
        while (at != PTX_NONE && flow->loops[at].outer != outer)
            at = flow->loops[at].outer;
        loop_of[i] = within[i] ? at : PTX_NONE;
    }
    for (uint32_t i = 0; i < b->blocks; i++) {
        if (!within[i])
            continue;
        if ((part[i] == PTX_NONE) != (loop_of[i] == PTX_NONE))
            complain_of(b, "a loop", i, loop_of[i]);
        else if (part[i] != PTX_NONE && loop_of[i] != loop_of[part[i]])
            complain_of(b, "one loop is two", i, part[i]);
        else if (part[i] != PTX_NONE && part[flow->loops[loop_of[i]].header] != part[i])
            complain_of(b, "two loops are one", i, part[i]);
    }
    free(part);
    free(loop_of);
}

static void check_loop(Brute *b, uint32_t loop) {
    const PtxFlow *flow = b->flow;
    bool *within = calloc(b->blocks, 1), entered = false, elsewhere = false;
    for (uint32_t i = 0; i < b->blocks; i++)
        within[i] = flow->blocks[i].reached && loop_holds(flow, loop, i);
    for (uint32_t i = 0; i < b->blocks; i++)
        for (uint32_t k = 0; within[i] && k < flow->blocks[i].predecessor_count; k++) {
            bool outside = !within[flow->edges[flow->blocks[i].predecessors + k]];
            entered |= outside && i == flow->loops[loop].header;
            elsewhere |= outside && i != flow->loops[loop].header;
        }
    if (!entered || elsewhere != flow->loops[loop].irreducible)
        complain_of(b, "how a loop is entered", loop, elsewhere);
    within[flow->loops[loop].header] = false;
    check_level(b, loop, within);
    free(within);
}

static void check_loops(Brute *b) {
    bool *within = calloc(b->blocks, 1);
    for (uint32_t i = 0; i < b->blocks; i++)
        within[i] = b->flow->blocks[i].reached;
    check_level(b, PTX_NONE, within);
    for (uint32_t i = 0; i < b->flow->loop_count; i++) {
        uint32_t header = b->flow->loops[i].header;
        if (b->flow->blocks[header].loop != i)
            complain_of(b, "a header is not in its loop", i, header);
        if (b->flow->loops[i].outer != PTX_NONE && b->flow->loops[i].outer >= i)
            complain_of(b, "an inner loop comes first", i, header);
        if (look_at(b, b->flow->loop_count))
            check_loop(b, i);
    }
    free(within);
}

/* ---- Meetings
 * --------------------------------------------------------------------------------------------------------- */

/* What can come to the end without passing `without`. */
static void spread_back(const Brute *b, uint32_t without, bool *seen) {
    memset(seen, 0, b->blocks);
    for (uint32_t i = 0; i < b->blocks; i++)
        if (b->leaves[i])
            spread(b, i, without, NULL, true, seen);
}

/* Parts from which no end and no other part can be reached are left at the header of their loop. */
static void end_the_endless(Brute *b) {
    bool *within = calloc(b->blocks, 1), *seen = malloc(b->blocks), *ends = malloc(b->blocks);
    for (uint32_t i = 0; i < b->blocks; i++)
        within[i] = b->flow->blocks[i].reached;
    uint32_t *part = find_parts(b, within);
    spread_back(b, PTX_NONE, ends);
    for (uint32_t i = 0; i < b->blocks; i++) {
        if (part[i] != i || ends[i])
            continue;
        memset(seen, 0, b->blocks);
        spread(b, i, PTX_NONE, NULL, false, seen);
        bool last = true;
        for (uint32_t k = 0; k < b->blocks; k++)
            last &= !seen[k] || part[k] == PTX_NONE || part[k] == i;
        uint32_t loop = b->flow->blocks[i].loop;
        while (b->flow->loops[loop].outer != PTX_NONE)
            loop = b->flow->loops[loop].outer;
        if (last)
            b->leaves[b->flow->loops[loop].header] = true;
    }
    free(part);
    free(within);
    free(seen);
    free(ends);
}

static void check_meetings(Brute *b) {
    bool *can = malloc(b->blocks), *seen = malloc(b->blocks);
    uint32_t *behind = calloc(b->blocks, sizeof *behind);
    for (uint32_t i = 0; i < b->blocks; i++)
        b->leaves[i] &= b->flow->blocks[i].reached;
    end_the_endless(b);
    spread_back(b, PTX_NONE, can);
    bool whole = !b->most || b->blocks <= b->most;
    for (uint32_t i = 0; i < b->blocks; i++) {
        uint32_t meets = b->flow->blocks[i].meets;
        if (meets != PTX_NONE && look_at(b, b->blocks)) { /* it is a post-dominator */
            spread_back(b, meets, seen);
            if (!can[i] || seen[i] || meets == i)
                complain_of(b, "meets", i, meets);
        }
        if (!whole)
            continue;
        spread_back(b, i, seen);
        for (uint32_t k = 0; k < b->blocks; k++)
            behind[k] += can[k] && !seen[k];
    }
    for (uint32_t i = 0; whole && i < b->blocks; i++) {
        uint32_t meets = b->flow->blocks[i].meets;
        if (behind[i] != (can[i] ? 1 + (meets == PTX_NONE ? 0 : behind[meets]) : 0))
            complain_of(b, "meets is not the nearest", i, meets);
    }
    free(can);
    free(seen);
    free(behind);
}

/* ---- Values
 * ---------------------------------------------------------------------------------------------------------------- */

static uint64_t register_name(const PtxOperand *operand) {
    return (uint64_t)operand->a << 32 | (uint32_t)operand->value;
}

static int compare_names(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Whether an operand of a statement is written: the first behind the guard, where the row starts so. */
static bool is_written(const Brute *b, const PtxStatement *statement, uint32_t index) {
    uint32_t count;
    const PtxOperand *operands = ptx_operands(b->module, statement, &count);
    const PtxRow *row = b->module->forms[statement->what].row;
    uint32_t at = index - (statement->flags & PTX_GUARDED ? 1 : 0);
    if (!row)
        return at < count;
    bool writes = opcode_is(b, statement, "call") ? operands[0].kind == PTX_LIST : row->operands[0] == '=';
    return writes && at < count && operands[0].kind != PTX_ADDRESS && at < ptx_extent(operands);
}

/* ... and whether something of what was there may stay. */
static bool is_kept(const Brute *b, const PtxStatement *statement, uint32_t index) {
    return (statement->flags & PTX_GUARDED) || !b->module->forms[statement->what].row ||
           opcode_is(b, statement, "wgmma.mma_async") ||
           b->module->operands[statement->first + index].part != PTX_WHOLE;
}

static bool has_value(const Brute *b, uint32_t operand) {
    return flow_value(b->flow, operand) != PTX_NONE;
}

static void check_operands(Brute *b) {
    const PtxFlow *flow = b->flow;
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < flow->instruction_count; i++) {
        const PtxStatement *statement = statement_of(b, i);
        for (uint32_t k = 0; k < statement->count; k++) {
            const PtxOperand *operand = &b->module->operands[statement->first + k];
            bool own = operand->kind == PTX_REGISTER && b->module->variables[operand->a].scope != PTX_NONE;
            if (own != has_value(b, statement->first + k)) {
                complain_of(b, "an operand has no value", i, k);
                continue;
            }
            capacity += own;
            if (!own)
                continue;
            const FlowValue *value = &flow->values[flow_value(flow, statement->first + k)];
            bool writes = value->kind == VALUE_RESULT && value->operand == statement->first + k;
            if (writes != is_written(b, statement, k))
                complain_of(b, "an operand is written", i, k);
            if (value->variable != operand->a || value->index != (uint32_t)operand->value)
                complain_of(b, "the value of another register", i, k);
            if (writes && (value->instruction != i || (value->before != PTX_NONE) != is_kept(b, statement, k)))
                complain_of(b, "a result", i, k);
        }
    }
    b->names = malloc((capacity + 1) * sizeof *b->names);
    for (uint32_t i = 0; i < flow->instruction_count; i++)
        for (uint32_t k = 0; k < statement_of(b, i)->count; k++)
            if (has_value(b, statement_of(b, i)->first + k))
                b->names[b->name_count++] = register_name(&b->module->operands[statement_of(b, i)->first + k]);
    qsort(b->names, b->name_count, sizeof *b->names, compare_names);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < b->name_count; i++)
        if (!kept || b->names[kept - 1] != b->names[i])
            b->names[kept++] = b->names[i];
    b->name_count = kept;
}

static uint32_t number_of(const Brute *b, const PtxOperand *operand) {
    uint64_t name = register_name(operand);
    const uint64_t *found = bsearch(&name, b->names, b->name_count, sizeof name, compare_names);
    return (uint32_t)(found - b->names);
}

/* The last write of a register before instruction `end` of a block; PTX_NONE. */
static uint32_t last_write(const Brute *b, uint32_t block, uint32_t end, uint64_t name) {
    for (uint32_t i = end; i-- > b->flow->blocks[block].begin;) {
        const PtxStatement *statement = statement_of(b, i);
        for (uint32_t k = statement->count; k-- > 0;) {
            const PtxOperand *operand = &b->module->operands[statement->first + k];
            if (operand->kind == PTX_REGISTER && register_name(operand) == name && is_written(b, statement, k))
                return statement->first + k;
        }
    }
    return PTX_NONE;
}

/* Writes that a read sees, as a sorted list of operands; 0 stands for what was there at the start. */
static uint32_t writes_seen(const Brute *b, uint32_t block, uint32_t end, uint64_t name, uint32_t *to) {
    uint32_t count = 0, work_count = 0;
    uint32_t write = last_write(b, block, end, name);
    if (write != PTX_NONE) {
        to[0] = write;
        return 1;
    }
    bool *seen = calloc(b->blocks, 1);
    uint32_t *work = malloc((b->blocks + 1) * sizeof *work);
    work[work_count++] = block;
    for (bool first = true; work_count; first = false) {
        uint32_t at = work[--work_count];
        const FlowBlock *from = &b->flow->blocks[at];
        write = first ? PTX_NONE : last_write(b, at, from->end, name);
        if (write != PTX_NONE) {
            to[count++] = write;
            continue;
        }
        if (at == 0 || !from->reached)
            to[count++] = 0;
        for (uint32_t k = 0; k < from->predecessor_count; k++) {
            uint32_t next = b->flow->edges[from->predecessors + k];
            if (!seen[next])
                work[work_count++] = next;
            seen[next] = true;
        }
    }
    free(seen);
    free(work);
    qsort(to, count, sizeof *to, compare_numbers);
    return count;
}

/* The same from the phis that a value comes from. */
static uint32_t writes_said(const Brute *b, uint32_t value, uint32_t *to) {
    uint32_t count = 0, work_count = 0, *work = malloc((b->flow->value_count + 1) * sizeof *work);
    bool *seen = calloc(b->flow->value_count, 1), start = false;
    work[work_count++] = value;
    seen[value] = true;
    while (work_count) {
        const FlowValue *at = &b->flow->values[work[--work_count]];
        if (at->kind == VALUE_RESULT)
            to[count++] = at->operand;
        else if (at->kind != VALUE_PHI)
            start = true;
        for (uint32_t k = 0; at->kind == VALUE_PHI && k < b->flow->blocks[at->block].predecessor_count; k++) {
            uint32_t next = b->flow->inputs[at->inputs + k];
            if (!seen[next])
                work[work_count++] = next;
            seen[next] = true;
        }
    }
    if (start)
        to[count++] = 0;
    free(work);
    free(seen);
    qsort(to, count, sizeof *to, compare_numbers);
    return count;
}

static void check_read(Brute *b, uint32_t instruction, uint32_t end, uint32_t operand, uint32_t value) {
    uint32_t *seen = malloc((b->blocks + 2) * sizeof *seen), *said = malloc((b->flow->value_count + 2) * sizeof *said);
    uint32_t seen_count =
        writes_seen(b, b->flow->block_of[instruction], end, register_name(&b->module->operands[operand]), seen);
    uint32_t said_count = writes_said(b, value, said);
    if (seen_count != said_count || memcmp(seen, said, said_count * sizeof *said) != 0)
        complain_of(b, "writes that a read sees", instruction, operand);
    free(seen);
    free(said);
}

static void check_reads(Brute *b) {
    const PtxFlow *flow = b->flow;
    for (uint32_t i = 0; i < flow->instruction_count; i++) {
        const PtxStatement *statement = statement_of(b, i);
        for (uint32_t k = 0; k < statement->count; k++) {
            uint32_t operand = statement->first + k;
            if (!has_value(b, operand) || !look_at(b, flow->instruction_count))
                continue;
            const FlowValue *value = &flow->values[flow_value(flow, operand)];
            if (!is_written(b, statement, k))
                check_read(b, i, i, operand, flow_value(flow, operand));
            else if (value->before != PTX_NONE &&
                     last_write(b, flow->block_of[i], i + 1, register_name(&b->module->operands[operand])) == operand)
                check_read(b, i, i, operand, value->before);
        }
    }
}

/* ---- Walks
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct Stroll {
    uint32_t *registers; /* of each the number of the write that it has; 0 at the start */
    uint32_t *values;    /* of each value likewise */
    uint32_t writes;
} Stroll;

static void stroll_instruction(Brute *b, Stroll *s, uint32_t instruction) {
    const PtxStatement *statement = statement_of(b, instruction);
    bool holds = !(statement->flags & PTX_GUARDED) || next_random(b, 2);
    for (uint32_t k = 0; k < statement->count; k++) {
        uint32_t operand = statement->first + k, value = flow_value(b->flow, operand);
        if (value == PTX_NONE || is_written(b, statement, k))
            continue;
        if (s->values[value] != s->registers[number_of(b, &b->module->operands[operand])])
            complain_of(b, "a value on a walk", instruction, k);
    }
    for (uint32_t k = 0; k < statement->count; k++) {
        uint32_t operand = statement->first + k, value = flow_value(b->flow, operand);
        if (value == PTX_NONE || !is_written(b, statement, k))
            continue;
        uint32_t *now = &s->registers[number_of(b, &b->module->operands[operand])];
        uint32_t before = b->flow->values[value].before;
        if (before != PTX_NONE && s->values[before] != *now)
            complain_of(b, "the value before on a walk", instruction, k);
        s->values[value] = *now = holds ? ++s->writes : *now;
    }
}

static void stroll_edge(Brute *b, Stroll *s, uint32_t from, uint32_t to) {
    const FlowBlock *block = &b->flow->blocks[to];
    uint32_t *next = malloc((block->phi_count + 1) * sizeof *next), place = 0;
    while (b->flow->edges[block->predecessors + place] != from)
        place++;
    for (uint32_t i = 0; i < block->phi_count; i++)
        next[i] = s->values[b->flow->inputs[b->flow->values[block->phis + i].inputs + place]];
    for (uint32_t i = 0; i < block->phi_count; i++) {
        s->values[block->phis + i] = next[i];
        if (b->flow->values[block->phis + i].kind != VALUE_PHI || b->flow->values[block->phis + i].block != to)
            complain_of(b, "a phi", to, i);
    }
    free(next);
}

static void check_strolls(Brute *b, uint32_t strolls, uint32_t steps) {
    Stroll s = {calloc(b->name_count + 1, sizeof(uint32_t)), calloc(b->flow->value_count + 1, sizeof(uint32_t)), 0};
    for (uint32_t i = 0; i < strolls; i++) {
        memset(s.registers, 0, b->name_count * sizeof *s.registers);
        memset(s.values, 0, b->flow->value_count * sizeof *s.values);
        uint32_t at = 0;
        for (uint32_t k = 0; k < steps; k++) {
            const FlowBlock *block = &b->flow->blocks[at];
            for (uint32_t j = block->begin; j < block->end; j++)
                stroll_instruction(b, &s, j);
            if (!block->successor_count)
                break;
            uint32_t to = b->flow->edges[block->successors + next_random(b, block->successor_count)];
            stroll_edge(b, &s, at, to);
            at = to;
        }
    }
    free(s.registers);
    free(s.values);
}

/* Everything; how much of it was wrong. With `most`, only so many blocks and reads of a large function. */
static uint32_t check_flow(const PtxFlow *flow, uint32_t most) {
    Brute b = {
        .flow = flow, .module = flow->module, .blocks = flow->block_count, .most = most, .random = 88172645463325252u};
    b.leaves = calloc(b.blocks, 1);
    check_edges(&b);
    check_dominance(&b);
    check_loops(&b);
    check_meetings(&b);
    check_operands(&b);
    check_reads(&b);
    check_strolls(&b, 20, 200);
    free(b.leaves);
    free(b.names);
    return b.wrong;
}

#endif
