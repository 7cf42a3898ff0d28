/* Blocks of a function, its loops, and an order of the blocks.
 *
 * A loop is a strongly connected part of the graph; its heads are the blocks at which it is entered. A turn more of it
 * begins whenever a head is reached from inside. Without the edges to the heads, the parts that are still strongly
 * connected are the loops in it. The order has the blocks of a loop beside each other, and each block behind those that
 * it is reached from without a turn more: so that of two threads the one with fewer turns of the loops that both are
 * in, or else the one whose block comes first, is behind the other, and can still come to where that is, while the
 * other can not come back. */
#include "internal.h"

#include <stdlib.h>

static bool ends_block(const Instruction *instruction) {
    Does does = instruction->form->does;
    return does == DOES_BRANCH || does == DOES_TABLE || does == DOES_RETURN || does == DOES_EXIT || does == DOES_TRAP;
}

/* The list is a label with a directive behind it. */
void table_targets(const Machine *machine, const Function *f, const Instruction *instruction, uint32_t *first,
                   uint32_t *count) {
    const PtxStatement *list = &machine->module->statements[f->args[instruction->args + 1].what + 1];
    *first = list->first;
    *count = list->count;
}

static void add_edge(Function *f, Block *block, uint32_t pc, uint32_t *count) {
    if (pc >= f->count)
        return;
    f->edges[(*count)++] = f->code[pc].block;
    block->successor_count++;
}

static void connect(Machine *machine, Function *f, uint32_t b, uint32_t *edges) {
    Block *block = &f->blocks[b];
    const Instruction *last = &f->code[block->end - 1];
    block->successors = *edges;
    bool guarded = last->guard != PTX_NONE;
    switch (last->form->does) {
    case DOES_BRANCH:
        add_edge(f, block, instruction_at(f, f->args[last->args].what), edges);
        if (guarded)
            add_edge(f, block, block->end, edges);
        return;
    case DOES_TABLE: {
        uint32_t first, count;
        table_targets(machine, f, last, &first, &count);
        for (uint32_t i = 0; i < count; i++)
            if (machine->module->operands[first + i].kind == PTX_TARGET)
                add_edge(f, block, instruction_at(f, machine->module->operands[first + i].a), edges);
        if (guarded)
            add_edge(f, block, block->end, edges);
        return;
    }
    case DOES_RETURN:
    case DOES_EXIT:
    case DOES_TRAP:
        if (guarded)
            add_edge(f, block, block->end, edges);
        return;
    default:
        add_edge(f, block, block->end, edges);
    }
}

static void make_blocks(Machine *machine, Function *f) {
    bool *leads = calloc(f->count + 1, 1);
    uint32_t targets = 0;
    leads[0] = true;
    for (uint32_t s = f->ptx->begin; s < f->ptx->end; s++)
        if (machine->module->statements[s].kind == PTX_LABEL)
            leads[instruction_at(f, s)] = true;
    for (uint32_t i = 0; i < f->count; i++) {
        if (ends_block(&f->code[i]))
            leads[i + 1] = true;
        uint32_t first, count = 0;
        if (f->code[i].form->does == DOES_TABLE)
            table_targets(machine, f, &f->code[i], &first, &count);
        targets += count;
    }
    for (uint32_t i = 0; i < f->count; i++)
        f->block_count += leads[i];
    f->blocks = ARENA_ARRAY(&machine->arena, Block, f->block_count);
    uint32_t b = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        if (leads[i])
            f->blocks[b++].begin = i;
        f->code[i].block = b - 1;
        f->blocks[b - 1].end = i + 1;
        f->blocks[b - 1].heads = PTX_NONE;
    }
    free(leads);
    f->edges = ARENA_ARRAY(&machine->arena, uint32_t, 2 * f->block_count + targets);
    uint32_t edges = 0;
    for (b = 0; b < f->block_count; b++)
        connect(machine, f, b, &edges);
}

/* Tarjan's algorithm over the blocks whose `inside` is the part at hand, without a stack of calls. */
typedef struct Search {
    Function *f;
    uint32_t *inside;              /* the part that each block is in; parts get new numbers as they are split */
    bool *head;                    /* edges to it are gone */
    uint32_t *index, *low, *stack; /* index 0: not seen */
    bool *open;
    uint32_t *path, *edge; /* of the walk: the block, and its next edge */
    uint32_t parts, loops, order;
} Search;

/* A strongly connected part found: `blocks` of them, in `from`. */
typedef struct Part {
    uint32_t begin, count;
} Part;

static void split(Search *s, uint32_t *blocks, uint32_t count, unsigned depth);

static bool loops_on_itself(const Search *s, uint32_t block) {
    const Block *b = &s->f->blocks[block];
    for (uint32_t e = 0; e < b->successor_count; e++)
        if (s->f->edges[b->successors + e] == block && !s->head[block])
            return true;
    return false;
}

/* The blocks at which a part is entered from elsewhere, or, if nothing ever leads there, any one of them. */
static void mark_heads(Search *s, const uint32_t *blocks, uint32_t count, uint32_t part, uint32_t loop) {
    Function *f = s->f;
    bool any = s->inside[0] == part;
    if (any)
        f->blocks[0].heads = loop;
    for (uint32_t b = 0; b < f->block_count; b++)
        for (uint32_t e = 0; s->inside[b] != part && e < f->blocks[b].successor_count; e++) {
            uint32_t to = f->edges[f->blocks[b].successors + e];
            if (s->inside[to] == part)
                f->blocks[to].heads = loop, any = true;
        }
    if (!any)
        f->blocks[blocks[0]].heads = loop;
    for (uint32_t i = 0; i < count; i++)
        s->head[blocks[i]] = s->head[blocks[i]] || f->blocks[blocks[i]].heads == loop;
}

/* A part with a cycle is a loop: goes on inside, without the edges to its heads. */
static void make_loop(Search *s, uint32_t *blocks, uint32_t count, unsigned depth) {
    if (depth >= LOOPS_DEEP) {
        s->f->too_deep = true;
        return;
    }
    uint32_t loop = s->loops++, part = ++s->parts;
    for (uint32_t i = 0; i < count; i++) {
        s->inside[blocks[i]] = part;
        s->f->blocks[blocks[i]].loops[depth] = loop;
        s->f->blocks[blocks[i]].loop_count = depth + 1;
    }
    mark_heads(s, blocks, count, part, loop);
    split(s, blocks, count, depth + 1);
}

static void close_part(Search *s, Part *parts, uint32_t *part_count, uint32_t *found, uint32_t *found_count,
                       uint32_t block, uint32_t *stack_count) {
    parts[*part_count] = (Part){*found_count, 0};
    uint32_t popped;
    do {
        popped = s->stack[--*stack_count];
        s->open[popped] = false;
        found[(*found_count)++] = popped;
        parts[*part_count].count++;
    } while (popped != block);
    ++*part_count;
}

/* The strongly connected parts of some blocks, the last first. */
static uint32_t connected(Search *s, const uint32_t *blocks, uint32_t count, Part *parts, uint32_t *found) {
    Function *f = s->f;
    uint32_t part = s->inside[blocks[0]], seen = 0, stack = 0, part_count = 0, found_count = 0;
    for (uint32_t i = 0; i < count; i++)
        s->index[blocks[i]] = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (s->index[blocks[i]])
            continue;
        uint32_t deep = 0;
        s->path[0] = blocks[i], s->edge[0] = 0;
        while (true) {
            uint32_t at = s->path[deep];
            const Block *b = &f->blocks[at];
            if (s->edge[deep] == 0) {
                s->index[at] = s->low[at] = ++seen;
                s->stack[stack++] = at;
                s->open[at] = true;
            }
            if (s->edge[deep] < b->successor_count) {
                uint32_t to = f->edges[b->successors + s->edge[deep]++];
                if (s->inside[to] != part || s->head[to])
                    continue;
                if (!s->index[to])
                    s->path[++deep] = to, s->edge[deep] = 0;
                else if (s->open[to] && s->index[to] < s->low[at])
                    s->low[at] = s->index[to];
                continue;
            }
            if (s->low[at] == s->index[at])
                close_part(s, parts, &part_count, found, &found_count, at, &stack);
            if (!deep)
                break;
            uint32_t above = s->path[--deep];
            if (s->low[at] < s->low[above])
                s->low[above] = s->low[at];
        }
    }
    return part_count;
}

static void split(Search *s, uint32_t *blocks, uint32_t count, unsigned depth) {
    Part *parts = malloc(count * sizeof *parts);
    uint32_t *found = malloc(count * sizeof *found);
    uint32_t part_count = connected(s, blocks, count, parts, found);
    for (uint32_t p = part_count; p-- > 0;) {
        uint32_t *own = found + parts[p].begin;
        if (parts[p].count == 1 && !loops_on_itself(s, own[0]))
            s->f->blocks[own[0]].order = s->order++;
        else
            make_loop(s, own, parts[p].count, depth);
    }
    free(found);
    free(parts);
}

void find_loops(Machine *machine, Function *f) {
    make_blocks(machine, f);
    uint32_t n = f->block_count;
    if (!n)
        return;
    Arena scratch;
    arena_init(&scratch, SIZE_MAX);
    Search s = {.f = f};
    s.inside = ARENA_ARRAY(&scratch, uint32_t, n);
    s.head = ARENA_ARRAY(&scratch, bool, n);
    s.index = ARENA_ARRAY(&scratch, uint32_t, n);
    s.low = ARENA_ARRAY(&scratch, uint32_t, n);
    s.stack = ARENA_ARRAY(&scratch, uint32_t, n);
    s.open = ARENA_ARRAY(&scratch, bool, n);
    s.path = ARENA_ARRAY(&scratch, uint32_t, n + 1);
    s.edge = ARENA_ARRAY(&scratch, uint32_t, n + 1);
    uint32_t *all = ARENA_ARRAY(&scratch, uint32_t, n);
    for (uint32_t b = 0; b < n; b++)
        all[b] = b;
    split(&s, all, n, 0);
    arena_free(&scratch);
}
