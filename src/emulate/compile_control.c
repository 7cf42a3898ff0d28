/* Control flow, calls and partitions as jumps. */
#include "emulate/program_internal.h"

#include "model/flow/handed.h"

/* ---- Structure ------------------------------------------------------------------------------------ */

/* The only block of a region that has one, with these arguments at least and a terminator; else NULL. */
static const Block *body_of(const Op *op, uint32_t region, uint32_t arguments) {
    const Block *block =
        region < op->region_count && op->regions[region].block_count == 1 ? op->regions[region].first : NULL;
    bool ends = block && block->last && block->last->row && (block->last->row->traits & TERMINATOR);
    return ends && block->arg_count >= arguments ? block : NULL;
}

bool structure_is_sound(const Op *op) {
    switch (op->row ? op->row->id : OP_COUNT) {
    case OP_scf_for:
        return op->region_count == 1 && body_of(op, 0, 1);
    case OP_scf_while:
        return op->region_count == 2 && body_of(op, 0, 0) && op_has_id(op->regions[0].first->last, OP_scf_condition) &&
               body_of(op, 1, 0);
    case OP_scf_if:
        return op->region_count == 1 || op->region_count == 2;
    case OP_ttg_mask:
    case OP_scf_execute_region:
    case OP_ttng_subtiled_region:
        return op->region_count == 1;
    case OP_ttg_warp_specialize:
        return op->region_count == 1 || (op->region_count == 2 && body_of(op, 1, 0) &&
                                         op_has_id(op->regions[1].first->last, OP_ttg_warp_specialize_partitions));
    default:
        return true;
    }
}

/* ---- Control flow --------------------------------------------------------------------------------- */

static bool is_constant(const Value *value) {
    return value->is_result && op_has_id(value->owner, OP_arith_constant);
}

void compile_for(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    const Block *body = op->regions[0].first;
    uint32_t lower = value_register(compiler, op->operands[0]), upper = value_register(compiler, op->operands[1]);
    uint32_t step = value_register(compiler, op->operands[2]);
    /* The bounds are read once: a body may hand its own values to registers of the same names. */
    *ARENA_PUSH(&compiler->module->arena, program->loops, program->loop_count, program->loop_capacity) =
        (Loop){.op = op,
               .strand = compiler->strand,
               .depth = compiler->loop_depth,
               .closed = is_constant(op->operands[0]) && is_constant(op->operands[1]) && is_constant(op->operands[2])};
    uint32_t loop = program->loop_count - 1;
    emit_hand_values(compiler, op, body->args + 1, body->arg_count - 1, op->operands + 3, op->operand_count - 3);
    uint32_t counter =
        is_wanted(compiler, &body->args[0]) ? value_register(compiler, &body->args[0]) : compiler->next_register++;
    Instruction *enter = emit_code(compiler, CODE_LOOP, op);
    enter->dst = counter;
    enter->a = lower;
    enter->b = upper;
    enter->c = step;
    enter->aux = loop;
    enter->width = (uint8_t)type_bits(compiler->module, body->args[0].type);
    uint32_t head = emit_here(compiler);
    Instruction *test = emit_code(compiler, CODE_FOR, op);
    test->dst = counter;
    test->b = upper;
    test->c = step;
    test->width = enter->width;
    const Attr *is_unsigned = op_attr(op, "unsignedCmp");
    test->operand_width = is_unsigned != NULL;
    compiler->loop_depth++;
    compile_block(compiler, body);
    compiler->loop_depth--;
    const Op *yield = body->last;
    emit_hand_values(compiler, op, body->args + 1, body->arg_count - 1, yield->operands, yield->operand_count);
    Instruction *next = emit_code(compiler, CODE_NEXT, op);
    next->dst = counter;
    next->c = step;
    next->width = test->width = enter->width;
    next->aux = head;
    emit_aim(compiler, head, emit_here(compiler));
    Value **final = ARENA_ARRAY(&compiler->module->arena, Value *, body->arg_count);
    for (uint32_t i = 1; i < body->arg_count; i++)
        final[i - 1] = &body->args[i];
    emit_hand_values(compiler, op, op->results, op->result_count, final, body->arg_count - 1);
}

void compile_while(Compiler *compiler, const Op *op) {
    const Block *before = op->regions[0].first, *after = op->regions[1].first;
    emit_hand_values(compiler, op, before->args, before->arg_count, op->operands, op->operand_count);
    uint32_t head = emit_here(compiler);
    emit_code(compiler, CODE_AGAIN, op);
    compiler->loop_depth++;
    compile_block(compiler, before);
    const Op *condition = before->last;
    uint32_t out = emit_jump(compiler, condition, CODE_BRANCH, value_register(compiler, condition->operands[0]));
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
void compile_yielding(Compiler *compiler, const Op *op, const Region *region) {
    if (!region->first)
        return;
    if (region->block_count > 1) { /* only scf.execute_region may */
        compile_region(compiler, region);
        return;
    }
    compile_block(compiler, region->first);
    const Op *yield = region->first->last;
    if (yield && yield->row && (yield->row->traits & TERMINATOR))
        emit_hand_values(compiler, op, op->results, op->result_count, yield->operands, yield->operand_count);
}

void compile_if(Compiler *compiler, const Op *op) {
    uint32_t otherwise = emit_jump(compiler, op, CODE_BRANCH, value_register(compiler, op->operands[0]));
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

void compile_index_switch(Compiler *compiler, const Op *op) {
    const Attr *cases = op_attr(op, "cases");
    uint32_t value = value_register(compiler, op->operands[0]);
    uint32_t count = cases && cases->kind == ATTR_INTS ? cases->count : 0;
    if (count + 1 != op->region_count) {
        compile_cannot(compiler, op, "its cases do not match its regions");
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

void compile_call(Compiler *compiler, const Op *op) {
    const Op *target = call_target(compiler->module, op);
    if (!target || compiler->call_depth >= MOST_CALL_DEPTH) {
        compile_cannot(compiler, op,
                       target ? "calls are nested too deeply" : "the function that it calls has no body here");
        return;
    }
    if (++compiler->call_count > MOST_CALLS) {
        compile_too_large(compiler, op);
        return;
    }
    Frame *caller = compiler->frame, *callee = frame_new(compiler);
    const Block *entry = target->regions[0].first;
    uint32_t count = entry->arg_count < op->operand_count ? entry->arg_count : op->operand_count;
    uint32_t *registers = ARENA_ARRAY(&compiler->module->arena, uint32_t, 2 * count + 1);
    for (uint32_t i = 0; i < count; i++)
        registers[count + i] =
            is_wanted(compiler, &entry->args[i]) ? value_register(compiler, op->operands[i]) : NO_REGISTER;
    uint32_t *results = ARENA_ARRAY(&compiler->module->arena, uint32_t, op->result_count + 1);
    for (uint32_t i = 0; i < op->result_count; i++)
        results[i] = value_register(compiler, &op->results[i]);

    const Value **returned = ARENA_ARRAY(&compiler->module->arena, const Value *, op->result_count + 1);
    for (uint32_t i = 0; i < op->result_count; i++)
        returned[i] = &op->results[i];
    const Value *const *outer_returned = compiler->returned;
    uint32_t outer_returns[64], outer_count = compiler->return_count, outer_results = compiler->returned_count;
    memcpy(outer_returns, compiler->returns, sizeof outer_returns);

    compiler->frame = callee;
    for (uint32_t i = 0; i < count; i++)
        registers[i] = value_register(compiler, &entry->args[i]);
    for (uint32_t i = 0; i < op->result_count; i++)
        if (results[i] != NO_REGISTER)
            frame_set(compiler, callee, &op->results[i], results[i]);
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
void compile_subtiles(Compiler *compiler, const Op *op) {
    const Attr *attr = op_attr(op, "numTiles");
    int64_t tiles = attr && attr->kind == ATTR_INTEGER ? attr->integer : 0;
    uint32_t per_tile, shared;
    Value **first = op_operands_named(op, "perTileArgs", &per_tile),
          **others = op_operands_named(op, "sharedArgs", &shared);
    const Block *body = op->region_count ? op->regions[0].first : NULL;
    if (!body || tiles < 1 || tiles > 256 || per_tile % tiles || body->arg_count != per_tile / tiles + shared + 1) {
        compile_cannot(compiler, op, "its arguments do not match its tiles");
        return;
    }
    Frame *outer = compiler->frame;
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

void compile_return(Compiler *compiler, const Op *op) {
    if (!compiler->returned) {
        emit_code(compiler, CODE_END, op);
        return;
    }
    for (uint32_t i = 0; i < op->operand_count && i < compiler->returned_count; i++) {
        uint32_t to = value_register(compiler, compiler->returned[i]);
        emit_move(compiler, op, to, to == NO_REGISTER ? NO_REGISTER : value_register(compiler, op->operands[i]));
    }
    if (compiler->return_count == sizeof compiler->returns / sizeof *compiler->returns) {
        compile_cannot(compiler, op, "the function returns in too many places");
        return;
    }
    compiler->returns[compiler->return_count++] = emit_jump(compiler, op, CODE_JUMP, NO_REGISTER);
}

static const Op *partitions_op(const Op *specialize) {
    return region_end(specialize, 1);
}

void compile_specialize(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    const Op *holder = partitions_op(op);
    if (!holder || compiler->strand != 0 || compiler->call_depth) {
        if (holder)
            compile_cannot(compiler, op, "a warp_specialize inside a called function or a partition is not emulated");
        compile_yielding(compiler, op, &op->regions[0]);
        return;
    }
    const Op *captured = holder->operand_count ? holder : op;
    uint32_t captures = emit_list(compiler, captured->operands, captured->operand_count);
    Fork *fork = ARENA_PUSH(&compiler->module->arena, program->forks, program->fork_count, program->fork_capacity);
    *fork = (Fork){
        .op = op, .captures = captures, .capture_count = captured->operand_count, .strand_count = holder->region_count};
    uint32_t index = program->fork_count - 1;
    *ARENA_PUSH(&compiler->module->arena, compiler->pending, compiler->pending_count, compiler->pending_capacity) =
        (Pending){.op = holder, .fork = index};
    if (holder->region_count > MOST_PARTITIONS)
        compile_cannot(compiler, op, "there are more than 15 partitions");
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
void compile_group(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    if (compiler->strand != 0 || compiler->call_depth || compiler->tasks || op->region_count > MOST_PARTITIONS) {
        compile_cannot(compiler, op, "a warp group inside another, or of more than 15 partitions, is not emulated");
        return;
    }
    Value **captured = NULL;
    uint32_t count = 0, capacity = 0;
    Frame *seen = frame_new(compiler);
    for (const Op *user = op; user; user = op_next_in_walk(user, op))
        for (uint32_t i = 0; user != op && i < user->operand_count; i++) {
            Value *value = user->operands[i];
            if (!is_wanted(compiler, value) || is_inside(value, op) || seen->keys[frame_place(seen, value)])
                continue;
            frame_set(compiler, seen, value, 0);
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

/* The successors' arguments, then the jump. */
static void compile_edge(Compiler *compiler, const Op *op, const Block *to, Value *const *values, Patch **patches,
                         uint32_t *count, uint32_t *capacity) {
    emit_hand_values(compiler, op, to->args, to->arg_count, values, to->arg_count);
    Patch *patch = ARENA_PUSH(&compiler->module->arena, *patches, *count, *capacity);
    *patch = (Patch){to, emit_jump(compiler, op, CODE_JUMP, NO_REGISTER)};
}

/* Blocks that branch to each other: each in its order, then the jumps are aimed. */
void compile_region(Compiler *compiler, const Region *region) {
    Patch *patches = NULL;
    uint32_t patch_count = 0, patch_capacity = 0;
    uint32_t *starts = ARENA_ARRAY(&compiler->module->arena, uint32_t, region->block_count + 1);
    const Op *holder = region->op;
    bool yields = holder && !op_function(holder) && !op_has_id(holder, OP_ttg_warp_specialize_partitions) &&
                  !op_has_id(holder, OP_nvws_warp_group);
    uint32_t *ends = ARENA_ARRAY(&compiler->module->arena, uint32_t, region->block_count + 1);
    uint32_t end_count = 0, order = 0;
    for (const Block *block = region->first; block; block = block->next, order++) {
        starts[order] = emit_here(compiler);
        if (region->block_count > 1)
            emit_code(compiler, CODE_AGAIN, block->first ? block->first : holder);
        compile_block(compiler, block);
        const Op *end = block->last;
        uint32_t successors = end ? op_successor_count(end) : 0;
        if (op_has_id(end, OP_cf_br) && successors == 1 && end->operand_count == end->extra->successors[0]->arg_count) {
            compile_edge(compiler, end, end->extra->successors[0], end->operands, &patches, &patch_count,
                         &patch_capacity);
        } else if (op_has_id(end, OP_cf_cond_br) && successors == 2) {
            const Block *yes = end->extra->successors[0], *no = end->extra->successors[1];
            if (end->operand_count != 1 + yes->arg_count + no->arg_count) {
                compile_cannot(compiler, end, "its operands do not match its successors");
                continue;
            }
            uint32_t otherwise = emit_jump(compiler, end, CODE_BRANCH, value_register(compiler, end->operands[0]));
            compile_edge(compiler, end, yes, end->operands + 1, &patches, &patch_count, &patch_capacity);
            emit_aim(compiler, otherwise, emit_here(compiler));
            compile_edge(compiler, end, no, end->operands + 1 + yes->arg_count, &patches, &patch_count,
                         &patch_capacity);
        } else if (successors) {
            compile_cannot(compiler, end, "this way of branching is not emulated");
        } else if (end && yields) { /* the end of an scf.execute_region */
            emit_hand_values(compiler, end, holder->results, holder->result_count, end->operands, end->operand_count);
            ends[end_count++] = emit_jump(compiler, end, CODE_JUMP, NO_REGISTER);
        }
    }
    for (uint32_t i = 0; i < end_count; i++)
        emit_aim(compiler, ends[i], emit_here(compiler));
    for (uint32_t i = 0; i < patch_count; i++) {
        const Block *to = patches[i].to;
        uint32_t k = 0;
        for (const Block *block = region->first; block && block != to; block = block->next)
            k++;
        emit_aim(compiler, patches[i].at, starts[k]);
    }
}
