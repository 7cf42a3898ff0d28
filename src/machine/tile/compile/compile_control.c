/* Control flow, calls and partitions as jumps. */
#include "machine/tile/compile/block_loops.h"
#include "machine/tile/compile/program_internal.h"

#include "model/flow/forwarded.h"
#include "model/flow/symbol.h"

/* ---- Structure ------------------------------------------------------------------------------------ */

/* The only block of a region that has one, with these arguments at least and a terminator; else NULL. */
static const Block *body_of(const Op *op, uint32_t region, uint32_t arguments) {
    const Block *block =
        region < op->region_count && op->regions[region].block_count == 1 ? op->regions[region].first : NULL;
    return block && op_is_terminator(block->last) && block->arg_count >= arguments ? block : NULL;
}

bool structure_is_sound(const Op *op) {
    switch (op_control(op)) {
    case CONTROL_LOOP: {
        Bounds bounds;
        return op->region_count == 1 && body_of(op, 0, 1) && loop_bounds(op, &bounds);
    }
    case CONTROL_WHILE:
        return op->region_count == 2 && body_of(op, 0, 0) && op_is_control(region_end(op, 0), CONTROL_CONDITION) &&
               body_of(op, 1, 0);
    case CONTROL_BRANCH:
        return op->region_count == 1 || op->region_count == 2;
    case CONTROL_GUARD:
    case CONTROL_ONCE:
    case CONTROL_TILES:
        return op->region_count == 1;
    case CONTROL_FORK:
        return op->region_count == 1 ||
               (op->region_count == 2 && body_of(op, 1, 0) && op_is_control(region_end(op, 1), CONTROL_PARTITIONS));
    default:
        return true;
    }
}

/* ---- Control flow --------------------------------------------------------------------------------- */

static void compile_loop(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    const Block *body = op->regions[0].first;
    Bounds bounds = {0};
    loop_bounds(op, &bounds);
    uint32_t lower = value_register(compiler, bounds.from), upper = value_register(compiler, bounds.to);
    uint32_t step = value_register(compiler, bounds.step), carried;
    Value **first = op_operands_of(op, op->row->control.carries, &carried);
    /* The bounds are read once: a body may hand its own values to registers of the same names. */
    *ARENA_PUSH(&compiler->module->arena, program->loops, program->loop_count, program->loop_capacity) =
        (Loop){.op = op,
               .strand = compiler->strand,
               .depth = compiler->loop_depth,
               .closed = value_made(bounds.from, EVALUATE_CONSTANT) && value_made(bounds.to, EVALUATE_CONSTANT) &&
                         value_made(bounds.step, EVALUATE_CONSTANT)};
    emit_hand_values(compiler, op, body->args + 1, body->arg_count - 1, first, carried);
    uint32_t counter =
        is_wanted(compiler, &body->args[0]) ? value_register(compiler, &body->args[0]) : compiler->next_register++;
    uint8_t width = (uint8_t)type_bits(compiler->module, body->args[0].type);
    Instruction *enter = emit_value(compiler, CODE_LOOP, op, counter, lower, program->loop_count - 1);
    enter->b = upper;
    enter->c = step;
    enter->width = width;
    uint32_t head = emit_here(compiler);
    Instruction *test = emit_value(compiler, CODE_FOR, op, counter, NO_REGISTER, 0);
    test->b = upper;
    test->c = step;
    test->width = width;
    test->operand_width = op_attr(op, "unsignedCmp") != NULL;
    compiler->loop_depth++;
    compile_block(compiler, body);
    compiler->loop_depth--;
    const Op *yield = body->last;
    emit_hand_values(compiler, op, body->args + 1, body->arg_count - 1, yield->operands, yield->operand_count);
    Instruction *next = emit_value(compiler, CODE_NEXT, op, counter, NO_REGISTER, head);
    next->c = step;
    next->width = width;
    emit_aim(compiler, head, emit_here(compiler));
    Value **final = ARENA_ARRAY(&compiler->module->arena, Value *, body->arg_count);
    for (uint32_t i = 1; i < body->arg_count; i++)
        final[i - 1] = &body->args[i];
    emit_hand_values(compiler, op, op->results, op->result_count, final, body->arg_count - 1);
}

/* A jump that is taken unless the op's condition holds. */
static uint32_t compile_condition(Compiler *compiler, const Op *op) {
    const Value *condition = op_operand_of(op, op->row->control.condition);
    return emit_jump(compiler, op, CODE_BRANCH, value_register(compiler, condition));
}

static void compile_while(Compiler *compiler, const Op *op) {
    const Block *before = op->regions[0].first, *after = op->regions[1].first;
    emit_hand_values(compiler, op, before->args, before->arg_count, op->operands, op->operand_count);
    uint32_t head = emit_here(compiler);
    Program *program = compiler->program;
    *ARENA_PUSH(&compiler->module->arena, program->loops, program->loop_count, program->loop_capacity) =
        (Loop){.op = op, .strand = compiler->strand, .depth = compiler->loop_depth};
    emit_code(compiler, CODE_AGAIN, op)->aux = program->loop_count;
    compiler->loop_depth++;
    compile_block(compiler, before);
    const Op *condition = before->last;
    uint32_t out = compile_condition(compiler, condition);
    emit_hand_values(compiler, condition, after->args, after->arg_count, condition->operands + 1,
                     condition->operand_count - 1);
    compile_block(compiler, after);
    emit_hand_values(compiler, op, before->args, before->arg_count, after->last->operands, after->last->operand_count);
    compiler->loop_depth--;
    emit_aim(compiler, emit_jump(compiler, op, CODE_JUMP, NO_REGISTER), head);
    emit_aim(compiler, out, emit_here(compiler));
    emit_hand_values(compiler, condition, op->results, op->result_count, condition->operands + 1,
                     condition->operand_count - 1);
}

/* A region that stands for a value: what it hands over at its end becomes the op's results. */
static void compile_yielding(Compiler *compiler, const Op *op, const Region *region) {
    if (!region->first)
        return;
    if (region->block_count > 1) { /* only what runs it once may */
        compile_region(compiler, region);
        return;
    }
    compile_block(compiler, region->first);
    const Op *yield = region->first->last;
    if (op_is_terminator(yield))
        emit_hand_values(compiler, op, op->results, op->result_count, yield->operands, yield->operand_count);
}

static void compile_branch(Compiler *compiler, const Op *op) {
    uint32_t otherwise = compile_condition(compiler, op);
    compile_yielding(compiler, op, &op->regions[0]);
    if (op->region_count < 2 || !op->regions[1].first) {
        emit_aim(compiler, otherwise, emit_here(compiler));
        return;
    }
    uint32_t end = emit_jump(compiler, op, CODE_JUMP, NO_REGISTER);
    emit_aim(compiler, otherwise, emit_here(compiler));
    compile_yielding(compiler, op, &op->regions[1]);
    emit_aim(compiler, end, emit_here(compiler));
}

static uint32_t compile_case(Compiler *compiler, const Op *op, uint32_t value, int64_t number) {
    Program *program = compiler->program;
    *ARENA_PUSH(&compiler->module->arena, program->cases, program->case_count, program->case_capacity) = number;
    Instruction *test = emit_code(compiler, CODE_SWITCH, op);
    test->a = value;
    test->b = program->case_count - 1;
    return emit_here(compiler) - 1;
}

static void compile_switch(Compiler *compiler, const Op *op) {
    const Attr *cases = op_attr(op, "cases");
    uint32_t value = value_register(compiler, op_operand_of(op, op->row->control.number));
    uint32_t count = cases && cases->kind == ATTR_INTS ? cases->count : 0;
    if (count + 1 != op->region_count) {
        compile_unknown(compiler, op, "its cases do not match its regions");
        return;
    }
    uint32_t *tests = ARENA_ARRAY(&compiler->module->arena, uint32_t, 2 * count + 1);
    for (uint32_t i = 0; i < count; i++)
        tests[i] = compile_case(compiler, op, value, cases->ints[i]);
    compile_yielding(compiler, op, &op->regions[0]);
    uint32_t end = emit_jump(compiler, op, CODE_JUMP, NO_REGISTER);
    for (uint32_t i = 0; i < count; i++) {
        emit_aim(compiler, tests[i], emit_here(compiler));
        compile_yielding(compiler, op, &op->regions[i + 1]);
        tests[count + i] = emit_jump(compiler, op, CODE_JUMP, NO_REGISTER);
    }
    for (uint32_t i = 0; i < count; i++)
        emit_aim(compiler, tests[count + i], emit_here(compiler));
    emit_aim(compiler, end, emit_here(compiler));
}

static void compile_call(Compiler *compiler, const Op *op) {
    const Op *target = call_target(compiler->module, op);
    if (!target || compiler->call_depth >= MOST_CALL_DEPTH) {
        compile_unknown(compiler, op,
                        target ? "calls are nested too deeply" : "the function that it calls has no body here");
        return;
    }
    if (++compiler->call_count > MOST_CALLS) {
        compile_too_large(compiler, op);
        return;
    }
    Pointers *caller = compiler->frame, *callee = frame_new(compiler);
    const Block *entry = target->regions[0].first;
    uint32_t count = entry->arg_count < op->operand_count ? entry->arg_count : op->operand_count;
    uint32_t *registers = ARENA_ARRAY(&compiler->module->arena, uint32_t, 2 * count + 1);
    for (uint32_t i = 0; i < count; i++)
        registers[count + i] =
            is_wanted(compiler, &entry->args[i]) ? value_register(compiler, op->operands[i]) : NO_REGISTER;
    const Value **returned = ARENA_ARRAY(&compiler->module->arena, const Value *, op->result_count + 1);
    for (uint32_t i = 0; i < op->result_count; i++) {
        uint32_t result = value_register(compiler, &op->results[i]);
        if (result != NO_REGISTER)
            pointers_set(callee, &op->results[i], result);
        returned[i] = &op->results[i];
    }
    const Value *const *outer_returned = compiler->returned;
    uint32_t outer_returns[64], outer_count = compiler->return_count, outer_results = compiler->returned_count;
    memcpy(outer_returns, compiler->returns, sizeof outer_returns);

    compiler->frame = callee;
    for (uint32_t i = 0; i < count; i++)
        registers[i] = value_register(compiler, &entry->args[i]);
    emit_hand_over(compiler, op, registers, registers + count, count);
    compiler->returned = returned;
    compiler->returned_count = op->result_count;
    compiler->return_count = 0;
    compiler->call_depth++;
    compile_region(compiler, &target->regions[0]);
    compiler->call_depth--;
    for (uint32_t i = 0; i < compiler->return_count; i++)
        emit_aim(compiler, compiler->returns[i], emit_here(compiler));
    compiler->returned = outer_returned;
    compiler->returned_count = outer_results;
    memcpy(compiler->returns, outer_returns, sizeof outer_returns);
    compiler->return_count = outer_count;
    compiler->frame = caller;
}

/* A region that runs once for each tile, with arguments of its own: per tile j * tiles + tile, then the shared ones,
 * then the tile. */
static void compile_tiles(Compiler *compiler, const Op *op) {
    int64_t tiles = 0;
    uint32_t per_tile, shared;
    op_integer(op, "numTiles", &tiles);
    Value **first = op_operands_named(op, "perTileArgs", &per_tile),
          **others = op_operands_named(op, "sharedArgs", &shared);
    const Block *body = op->region_count ? op->regions[0].first : NULL;
    if (!body || tiles < 1 || tiles > 256 || per_tile % tiles || body->arg_count != per_tile / tiles + shared + 1) {
        compile_unknown(compiler, op, "its arguments do not match its tiles");
        return;
    }
    Pointers *outer = compiler->frame;
    for (int64_t tile = 0; tile < tiles; tile++) {
        uint32_t *from = ARENA_ARRAY(&compiler->module->arena, uint32_t, body->arg_count);
        for (uint32_t i = 0; i + 1 < body->arg_count; i++) {
            const Value *value = i < per_tile / tiles ? first[i * tiles + tile] : others[i - per_tile / tiles];
            from[i] = is_wanted(compiler, &body->args[i]) ? value_register(compiler, value) : NO_REGISTER;
        }
        compiler->frame = frame_new(compiler);
        for (uint32_t i = 0; i + 1 < body->arg_count; i++)
            emit_move(compiler, op, value_register(compiler, &body->args[i]), from[i]);
        uint32_t number = value_register(compiler, &body->args[body->arg_count - 1]);
        if (number != NO_REGISTER)
            emit_constant(compiler, number, word_integer(tile));
        compile_block(compiler, body);
        compiler->frame = outer;
    }
}

static void compile_return(Compiler *compiler, const Op *op) {
    if (!compiler->returned) {
        emit_code(compiler, CODE_END, op);
        return;
    }
    for (uint32_t i = 0; i < op->operand_count && i < compiler->returned_count; i++) {
        uint32_t to = value_register(compiler, compiler->returned[i]);
        emit_move(compiler, op, to, to == NO_REGISTER ? NO_REGISTER : value_register(compiler, op->operands[i]));
    }
    if (compiler->return_count == sizeof compiler->returns / sizeof *compiler->returns) {
        compile_unknown(compiler, op, "the function returns in too many places");
        return;
    }
    compiler->returns[compiler->return_count++] = emit_jump(compiler, op, CODE_JUMP, NO_REGISTER);
}

static void compile_fork(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    const Op *holder = region_end(op, 1);
    if (!holder || compiler->strand != 0 || compiler->call_depth) {
        if (holder)
            compile_unknown(compiler, op, "a warp_specialize inside a called function or a partition is not emulated");
        compile_yielding(compiler, op, &op->regions[0]);
        return;
    }
    const Op *captured = captures_of(holder);
    uint32_t captures = emit_list(compiler, captured->operands, captured->operand_count);
    Fork *fork = ARENA_PUSH(&compiler->module->arena, program->forks, program->fork_count, program->fork_capacity);
    *fork = (Fork){
        .op = op, .captures = captures, .capture_count = captured->operand_count, .strand_count = holder->region_count};
    uint32_t index = program->fork_count - 1;
    *ARENA_PUSH(&compiler->module->arena, compiler->pending, compiler->pending_count, compiler->pending_capacity) =
        (Pending){.op = holder, .fork = index};
    if (holder->region_count > MOST_PARTITIONS)
        compile_cannot(compiler, op, "there are more than 31 partitions");
    emit_code(compiler, CODE_FORK, op)->aux = index;
    compile_yielding(compiler, op, &op->regions[0]);
    emit_code(compiler, CODE_JOIN, op)->aux = index;
}

static bool is_inside(const Value *value, const Op *op) {
    const Op *at = value->is_result ? op_parent(value->owner) : ((const Block *)value->owner)->region->op;
    while (at && at != op)
        at = op_parent(at);
    return at != NULL;
}

/* Regions that see the values around them: the first is the default agent's, the others are partitions, which capture
 * what they use. */
static void compile_groups(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    if (compiler->strand != 0 || compiler->call_depth || compiler->tasks || op->region_count > MOST_PARTITIONS) {
        compile_unknown(compiler, op, "nested warp specialization, or more than 31 partitions, is not emulated");
        return;
    }
    Value **captured = NULL;
    uint32_t count = 0, capacity = 0;
    Pointers *seen = frame_new(compiler);
    for (const Op *user = op; user; user = op_next_in_walk(user, op))
        for (uint32_t i = 0; user != op && i < user->operand_count; i++) {
            Value *value = user->operands[i];
            if (!is_wanted(compiler, value) || is_inside(value, op) || pointers_get(seen, value) != NO_NUMBER)
                continue;
            pointers_set(seen, value, 0);
            *ARENA_PUSH(&compiler->module->arena, captured, count, capacity) = value;
        }
    uint32_t captures = emit_list(compiler, captured, count);
    *ARENA_PUSH(&compiler->module->arena, program->forks, program->fork_count, program->fork_capacity) =
        (Fork){.op = op,
               .captures = captures,
               .capture_count = count,
               .strand_count = op->region_count ? op->region_count - 1 : 0};
    uint32_t index = program->fork_count - 1;
    *ARENA_PUSH(&compiler->module->arena, compiler->pending, compiler->pending_count, compiler->pending_capacity) =
        (Pending){.op = op, .fork = index, .captured = captured, .captured_count = count};
    emit_code(compiler, CODE_FORK, op)->aux = index;
    if (op->region_count)
        compile_yielding(compiler, op, &op->regions[0]);
    emit_code(compiler, CODE_JOIN, op)->aux = index;
}

/* A jump whose target's address is not known yet. */
typedef struct Patch {
    const Block *to;
    uint32_t at;
} Patch;

typedef struct Patches {
    Patch *items;
    uint32_t count, capacity;
} Patches;

/* To each of the successors: its arguments, then the jump. */
static void compile_jump(Compiler *compiler, const Op *op, Patches *patches) {
    uint32_t successors = op_successor_count(op), chosen = successors == 2, count = chosen, otherwise = 0;
    bool conditional = op->row && op->row->control.condition.column != REF_NONE;
    if (!op_is_control(op, CONTROL_JUMP) || successors > 2 || chosen != conditional) {
        compile_unknown(compiler, op, "this kind of branch is not emulated");
        return;
    }
    for (uint32_t i = 0; i < successors; i++)
        count += op->extra->successors[i]->arg_count;
    if (count != op->operand_count) {
        compile_unknown(compiler, op, "its operands do not match its successors");
        return;
    }
    if (conditional)
        otherwise = compile_condition(compiler, op);
    uint32_t next = chosen; /* operand */
    for (uint32_t i = 0; i < successors; i++) {
        const Block *to = op->extra->successors[i];
        if (i)
            emit_aim(compiler, otherwise, emit_here(compiler));
        emit_hand_values(compiler, op, to->args, to->arg_count, to->arg_count ? &op->operands[next] : NULL,
                         to->arg_count);
        *ARENA_PUSH(&compiler->module->arena, patches->items, patches->count, patches->capacity) =
            (Patch){to, emit_jump(compiler, op, CODE_JUMP, NO_REGISTER)};
        next += to->arg_count;
    }
}

/* One that branches go back to counts turns. */
static void compile_block_start(Compiler *compiler, const Block *block, const Op *holder) {
    Program *program = compiler->program;
    uint32_t loop = 0;
    if (block_is_head(block)) {
        *ARENA_PUSH(&compiler->module->arena, program->loops, program->loop_count, program->loop_capacity) =
            (Loop){.op = block->first, .head = block, .strand = compiler->strand, .depth = compiler->loop_depth};
        loop = program->loop_count;
    }
    emit_code(compiler, CODE_AGAIN, block->first ? block->first : holder)->aux = loop;
}

/* Blocks that branch to each other: each in its order, then the jumps are aimed. */
void compile_region(Compiler *compiler, const Region *region) {
    Patches patches = {0};
    Pointers starts = {.arena = &compiler->module->arena};
    const Op *holder = region->op;
    bool yields = holder && !op_function(holder) && !op_is_control(holder, CONTROL_PARTITIONS) &&
                  !op_is_control(holder, CONTROL_GROUPS);
    uint32_t *ends = ARENA_ARRAY(&compiler->module->arena, uint32_t, region->block_count + 1);
    uint32_t end_count = 0;
    for (const Block *block = region->first; block; block = block->next) {
        pointers_set(&starts, block, emit_here(compiler));
        if (region->block_count > 1)
            compile_block_start(compiler, block, holder);
        compile_block(compiler, block);
        const Op *end = block->last;
        if (end && op_successor_count(end)) {
            compile_jump(compiler, end, &patches);
        } else if (end && yields) { /* of what is run once */
            emit_hand_values(compiler, end, holder->results, holder->result_count, end->operands, end->operand_count);
            ends[end_count++] = emit_jump(compiler, end, CODE_JUMP, NO_REGISTER);
        }
    }
    for (uint32_t i = 0; i < end_count; i++)
        emit_aim(compiler, ends[i], emit_here(compiler));
    for (uint32_t i = 0; i < patches.count; i++)
        emit_aim(compiler, patches.items[i].at, pointers_get(&starts, patches.items[i].to));
}

static void compile_once(Compiler *compiler, const Op *op) {
    compile_yielding(compiler, op, &op->regions[0]);
}

static void compile_end(Compiler *compiler, const Op *op) {
    emit_code(compiler, CODE_END, op);
}

bool compile_control(Compiler *compiler, const Op *op) {
    static void (*const by_kind[CONTROL_COUNT])(Compiler * compiler, const Op *op) = {
        [CONTROL_LOOP] = compile_loop,    [CONTROL_WHILE] = compile_while,   [CONTROL_BRANCH] = compile_branch,
        [CONTROL_GUARD] = compile_branch, [CONTROL_SWITCH] = compile_switch, [CONTROL_ONCE] = compile_once,
        [CONTROL_TILES] = compile_tiles,  [CONTROL_FORK] = compile_fork,     [CONTROL_GROUPS] = compile_groups,
        [CONTROL_CALL] = compile_call,    [CONTROL_RETURN] = compile_return, [CONTROL_END] = compile_end,
    };
    if (!by_kind[op_control(op)])
        return false;
    by_kind[op_control(op)](compiler, op);
    return true;
}
