/* Launches at which branches, predicates, phases and slots go every way, and loops run on for it to show. */
#include "machine/tile/compile/block_loops.h"
#include "machine/tile/compile/slice.h"
#include "machine/tile/launch/choose_internal.h"
#include "machine/tile/launch/pairs.h"
#include "machine/tile/launch/rings.h"
#include "machine/tile/launch/shifts.h"
#include "model/flow/forwarded.h"
#include "model/memory/views.h"

enum {
    MOST_TRIED = 64, /* programs of a launch that are asked whether they have something already */
    MOST_LOOPS = 64,
    MOST_SLOTS = 16, /* of a ring, to each of which something is wanted to go */
};

/* That an op is come to, and does what it is there for; with a value, that this is in a range there, or less than
 * another by more than `least`; or that two conditions come out so. */
typedef struct ChooseWayWish {
    const Op *op;
    const Value *value;
    int64_t least, most;
    const Value *less_than;
    int64_t most_turns; /* 0: MOST_TURNS */
    const Pair *pair;
} ChooseWayWish;

static bool solve_wish(Solver *solver, const ChooseWayWish *wish) {
    if (wish->pair)
        return solve_both(solver, wish->pair->ops, wish->pair->values,
                          (const int64_t[]){wish->pair->outcomes[0], wish->pair->outcomes[1]});
    if (wish->less_than)
        return solve_less(solver, wish->op, wish->value, wish->less_than, wish->least);
    return wish->value ? solve_value(solver, wish->op, wish->value, wish->least, wish->most)
                       : solve_happens(solver, wish->op);
}

/* Whether it is so under the solver's setting, in whichever turn. */
static bool comes_true(Solver *solver, const ChooseWayWish *wish) {
    Setting before = *solver_setting(solver);
    bool same = solve_wish(solver, wish) && memcmp(&before, solver_setting(solver), offsetof(Setting, turns)) == 0;
    *solver_setting(solver) = before;
    solver_changed(solver);
    return same;
}

/* ---- What shows only later -------------------------------------------------------------------------- */

/* How often a loop is to run for what is wrong in turn `turn` to show: once round its ring, or twice more. */
static int64_t enough_trips(const Chooser *chooser, const Loop *loop, int64_t turn) {
    return turn + (is_innermost(chooser->program, loop) ? chooser->depth + 1 : 3);
}

/* Of each open loop: how often it runs, as far as that matters. */
static void count_trips(Chooser *chooser, const ChooseWayWish *wish, int64_t *trips) {
    const Program *program = chooser->program;
    for (uint32_t i = 0; i < program->loop_count && i < MOST_LOOPS; i++) {
        const Loop *loop = &program->loops[i];
        int64_t *turn = is_around(loop->op, wish->op) ? solver_turn(chooser->solver, loop->op) : NULL;
        int64_t enough = enough_trips(chooser, loop, turn ? *turn : 0);
        trips[i] = 0;
        if (!loop->closed && solver_trips(chooser->solver, loop->op, &trips[i]) && trips[i] > enough)
            trips[i] = enough;
    }
}

/* Makes loops run on behind what is wanted, as long as that stays so: an arrival too few is missed turns later. */
static void lengthen(Chooser *chooser, const ChooseWayWish *wish) {
    const Program *program = chooser->program;
    Solver *solver = chooser->solver;
    for (uint32_t i = 0; i < program->loop_count && i < MOST_LOOPS; i++) {
        const Loop *loop = &program->loops[i];
        int64_t *turn = is_around(loop->op, wish->op) ? solver_turn(solver, loop->op) : NULL;
        int64_t enough = enough_trips(chooser, loop, turn ? *turn : 0), now;
        if (loop->closed || !solver_trips(solver, loop->op, &now) || now >= enough)
            continue;
        Setting before = *solver_setting(solver);
        bool longer = solve_trips(solver, loop->op, enough, INT64_MAX) && solver_trips(solver, loop->op, &now);
        if (longer && is_innermost(program, loop))
            keep_in_step(chooser, loop, now);
        if (!longer || !comes_true(solver, wish) || turns_of(chooser) > SOME_TURNS) {
            *solver_setting(solver) = before;
            solver_changed(solver);
        }
    }
}

/* Whether it is so for the program that is meant, and loops run on as long. */
static bool is_met_here(Chooser *chooser, const ChooseWayWish *wish, const int64_t *trips) {
    int64_t now[MOST_LOOPS];
    if (!comes_true(chooser->solver, wish))
        return false;
    count_trips(chooser, wish, now);
    for (uint32_t i = 0; i < chooser->program->loop_count && i < MOST_LOOPS; i++)
        if (now[i] < trips[i])
            return false;
    return true;
}

/* Whether it is for some program of a launch. */
static bool is_met(Chooser *chooser, const ChooseWayWish *wish, const int64_t *trips) {
    Setting *setting = solver_setting(chooser->solver);
    for (size_t i = 0; i < chooser->count; i++) {
        int64_t programs = 0;
        *setting = chooser->settings[i];
        const int64_t *grid = chooser->settings[i].grid;
        for (int64_t z = 0; z < grid[2] && programs < MOST_TRIED; z++)
            for (int64_t y = 0; y < grid[1] && programs < MOST_TRIED; y++)
                for (int64_t x = 0; x < grid[0] && programs < MOST_TRIED; x++, programs++) {
                    setting->program[0] = x, setting->program[1] = y, setting->program[2] = z;
                    solver_changed(chooser->solver);
                    if (is_met_here(chooser, wish, trips))
                        return true;
                }
    }
    return false;
}

/* With round numbers, or, where none of them will do, with what is no multiple of a tile. */
static bool solve_anyhow(Chooser *chooser, const ChooseWayWish *wish) {
    start_over(chooser);
    if (solve_wish(chooser->solver, wish))
        return true;
    start_over(chooser);
    solver_prefer(chooser->solver, 1, true);
    bool solved = solve_wish(chooser->solver, wish);
    solver_prefer(chooser->solver, chooser->unit, false);
    return solved;
}

static bool want_by_call(Chooser *chooser, ChooseWayWish wish) {
    int64_t trips[MOST_LOOPS];
    if (!solve_anyhow(chooser, &wish))
        return false;
    if (turns_of(chooser) > (double)(wish.most_turns ? wish.most_turns : MOST_TURNS))
        return false;
    lengthen(chooser, &wish);
    count_trips(chooser, &wish, trips);
    Setting solved = *solver_setting(chooser->solver);
    if (is_met(chooser, &wish, trips))
        return true;
    *solver_setting(chooser->solver) = solved;
    solver_changed(chooser->solver);
    add_launch(chooser, DOUBT_NONE);
    return true;
}

/* In a function that is called from several places: for each of them. */
static bool want(Chooser *chooser, ChooseWayWish wish) {
    const Op *function = wish.op;
    while (function && !op_is_control(function, CONTROL_FUNCTION))
        function = op_parent(function);
    bool wanted = false;
    for (uint32_t call = 0; call == 0 || solver_come_by(chooser->solver, function, call); call++)
        wanted |= want_by_call(chooser, wish);
    solver_come_by(chooser->solver, function, 0);
    return wanted;
}

static void want_either(Chooser *chooser, const Op *op, const Value *condition) {
    if (!condition)
        return;
    want(chooser, (ChooseWayWish){.op = op, .value = condition, .least = 1, .most = 1});
    want(chooser, (ChooseWayWish){.op = op, .value = condition});
}

/* ---- What goes on for a while ------------------------------------------------------------------------ */

/* The innermost loop around it that can run more or less often; of one made of blocks, its first op. */
static const Op *open_loop_around(const Program *program, const Op *op) {
    for (const Op *around = op; around; around = op_parent(around)) {
        const Block *head = block_loop_around(around);
        for (uint32_t i = 0; op_is_loop(around) && around != op && i < program->loop_count; i++)
            if (program->loops[i].op == around && !program->loops[i].closed)
                return around;
        if (head)
            return head->first;
    }
    return NULL;
}

/* That a condition is so in each of the first turns of a loop; of a loop of blocks also that it
 * goes on so long. */
typedef struct Lasting {
    const Op *loop, *op;
    const Value *condition;
    int64_t holds, turns;
} Lasting;

/* The branch that decides it, the first of them, which goes on if its condition is *goes_on; NULL: there is none. */
static const Op *staying_branch(const Op *loop, int64_t *goes_on) {
    for (const Block *block = op_is_loop(loop) ? NULL : loop->block; block; block = block->next) {
        int way = block_loop_has(loop->block, block) ? block_loop_stays(loop->block, block->last) : -1;
        *goes_on = way;
        if (way >= 0)
            return block->last;
    }
    return NULL;
}

static bool is_so_throughout(Solver *solver, const Lasting *lasting, const Value *value, int64_t number) {
    int64_t now;
    for (int64_t at = 0; at < lasting->turns; at++) {
        *solver_turn(solver, lasting->loop) = at;
        solver_changed(solver);
        if (!solver_value(solver, value, &now) || now != number)
            return false;
    }
    return true;
}

/* Whether it is so under the solver's setting. */
static bool lasts(Solver *solver, const Lasting *lasting) {
    int64_t trips = INT64_MAX, goes_on;
    const Op *stays = staying_branch(lasting->loop, &goes_on);
    if (op_is_loop(lasting->loop) && (!solver_trips(solver, lasting->loop, &trips) || trips < lasting->turns))
        return false;
    return is_so_throughout(solver, lasting, lasting->condition, lasting->holds) &&
           (!stays || is_so_throughout(solver, lasting, condition_of(stays), goes_on));
}

static void want_lasting(Chooser *chooser, const Lasting *lasting) {
    Solver *solver = chooser->solver;
    for (size_t i = 0; i < chooser->count; i++) {
        *solver_setting(solver) = chooser->settings[i];
        solver_changed(solver);
        if (lasts(solver, lasting))
            return;
    }
    int64_t goes_on;
    const Op *stays = staying_branch(lasting->loop, &goes_on);
    start_over(chooser);
    if (!solve_throughout(solver, lasting->loop, lasting->turns, lasting->op, lasting->condition, lasting->holds))
        return;
    if (stays && stays != lasting->op &&
        (!solve_throughout(solver, lasting->loop, lasting->turns, stays, condition_of(stays), goes_on) ||
         !solve_throughout(solver, lasting->loop, lasting->turns, lasting->op, lasting->condition, lasting->holds)))
        return;
    Setting solved = *solver_setting(solver);
    if (op_is_loop(lasting->loop) && lasting->turns <= chooser->depth &&
        (!solve_trips(solver, lasting->loop, chooser->depth + 1, INT64_MAX) || !lasts(solver, lasting))) {
        *solver_setting(solver) = solved;
        solver_changed(solver);
    }
    if (turns_of(chooser) <= SOME_TURNS)
        add_launch(chooser, DOUBT_NONE);
}

/* A condition in a loop, that more than its turns decide, holds for as many turns in a row as it takes to go around the
 * ring, and does not for as many: a phase that flips too often, or not often enough, may come out right where it comes
 * now to one way and now to the other. Where blocks make the loop, that is also how often it runs; then with sizes that
 * are no multiple of a tile, too. */
static void want_throughout(Chooser *chooser, const Op *op, const Value *condition) {
    Solver *solver = chooser->solver;
    const Op *loop = condition ? open_loop_around(chooser->program, op) : NULL;
    if (!loop || !solver_turn(solver, loop) || solver_closed(solver, condition) || solver_turned(solver, condition) ||
        !solver_counted(solver, condition))
        return;
    bool blocks = !op_is_loop(loop);
    int stays = blocks && op->block->region == loop->block->region ? block_loop_stays(loop->block, op) : -1;
    Lasting lasting = {.loop = loop, .op = op, .condition = condition, .turns = chooser->depth + 2};
    for (lasting.holds = 0; lasting.holds < 2; lasting.holds++)
        if (stays != !lasting.holds)
            want_lasting(chooser, &lasting);
    if (stays < 0)
        return;
    lasting.holds = stays;
    lasting.turns = 2;
    start_over(chooser);
    solver_prefer(solver, 1, true);
    if (solve_throughout(solver, loop, lasting.turns, op, condition, stays) && turns_of(chooser) <= SOME_TURNS)
        add_launch(chooser, DOUBT_NONE);
    solver_prefer(solver, chooser->unit, false);
}

static bool has_predicate(const Effect *effects, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (effects[i].predicate || effects[i].second_predicate)
            return true;
    return false;
}

void want_ways(Chooser *chooser) {
    Module *module = chooser->program->module;
    Effect effects[EFFECTS_MOST];
    for (const Op *op = module_first_op(module); op && chooser->count < MOST_CHOSEN; op = op_next_in_walk(op, NULL)) {
        bool splits = op_is_control(op, CONTROL_BRANCH) || op_is_control(op, CONTROL_GUARD);
        if ((splits && op->region_count) || op_is_control(op, CONTROL_JUMP)) {
            want_either(chooser, op, op_operand_of(op, op->row->control.condition));
            want_throughout(chooser, op, op_operand_of(op, op->row->control.condition));
        } else if (op->row && *op->row->effects && has_predicate(effects, effects_of(module, op, effects))) {
            want(chooser, (ChooseWayWish){.op = op});
        } else if (op_is_control(op, CONTROL_WHILE) || op_is_control(op, CONTROL_SWITCH)) {
            for (uint32_t i = 0; i < op->region_count; i++)
                if (op->regions[i].first && op->regions[i].first->first)
                    want(chooser, (ChooseWayWish){.op = op->regions[i].first->first});
        }
    }
}

/* Which barrier it is, or which phase; those that a loop counts are gone through by going round. */
static void want_numbers(Chooser *chooser, const Op *op, const Value *value, int64_t count) {
    if (!value || solver_counted(chooser->solver, value))
        return;
    for (int64_t i = 0; i < count; i++)
        want(chooser, (ChooseWayWish){.op = op, .value = value, .least = i, .most = i});
}

static void want_left_out(Chooser *chooser, const Op *op, const Value *predicate) {
    if (predicate)
        want(chooser, (ChooseWayWish){.op = op, .value = predicate});
    want_throughout(chooser, op, predicate);
}

static void want_choices_of(Chooser *chooser, const Op *op) {
    Module *module = chooser->program->module;
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(module, op, effects);
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i];
        if (effect->space == SPACE_GLOBAL)
            continue;
        want_left_out(chooser, op, effect->predicate);
        want_left_out(chooser, op, effect->second_predicate);
        if (effect->verb == EFFECT_WAIT)
            want_numbers(chooser, op, effect->amount, 2);
        uint32_t slots = effect->verb == EFFECT_VIEW ? slots_viewed(module, op, effect) : 0;
        if (slots && slots <= MOST_SLOTS)
            want_numbers(chooser, op, view_step_of_result(module, op, effect->on->index).index, slots);
    }
}

/* From which number on the op no longer gives its operand back; 0: it is no such op. */
static int64_t wraps_from(Module *module, const Op *op) {
    int64_t number;
    unsigned width;
    switch (op_evaluator(op)) {
    case EVALUATE_WRAP:
        width = number_width(module, type_resolve(module, op->results[0].type));
        return width > 1 && width <= MOST_WIDTH ? INT64_C(1) << width : 0;
    case EVALUATE_AND:
        return value_constant(op->operands[1], &number) && number > 1 && !(number & (number + 1)) ? number + 1 : 0;
    case EVALUATE_REMAINDER_SIGNED:
    case EVALUATE_REMAINDER_UNSIGNED:
        return value_constant(op->operands[1], &number) && number > 1 ? number : 0;
    default:
        return 0;
    }
}

/* A number that wraps, or the other one of two: what follows need not be as it is for small numbers. */
static void want_bends(Chooser *chooser, const Op *op) {
    int64_t from = wraps_from(chooser->program->module, op);
    int64_t far = 2 * chooser->depth;                         /* more than once round, and not to where it began */
    if (from > 2 * chooser->depth && from <= 1 << MOST_WIDTH) /* else going round the ring has it */
        want(chooser, (ChooseWayWish){.op = op,
                                      .value = op->operands[0],
                                      .least = from + far,
                                      .most = INT64_MAX,
                                      .most_turns = op_evaluator(op) == EVALUATE_WRAP ? MOST_TURNS : SOME_TURNS});
    switch (op_evaluator(op)) {
    case EVALUATE_MINIMUM_SIGNED:
    case EVALUATE_MINIMUM_UNSIGNED:
    case EVALUATE_MAXIMUM_SIGNED:
    case EVALUATE_MAXIMUM_UNSIGNED:
        for (int i = 0; i < 2; i++) {
            ChooseWayWish wish = {op, op->operands[i], far, 0, op->operands[1 - i], SOME_TURNS, NULL};
            if (!want(chooser, wish)) {
                wish.least = 0;
                want(chooser, wish);
            }
        }
        break;
    default:
        break;
    }
}

static void want_steered(Chooser *chooser, const Op *select) {
    want_either(chooser, select, select->operands[0]);
    want_throughout(chooser, select, select->operands[0]);
}

void want_choices(Chooser *chooser) {
    Module *module = chooser->program->module;
    for (const Op *op = module_first_op(module); op && chooser->count < MOST_CHOSEN; op = op_next_in_walk(op, NULL)) {
        if (op->row && *op->row->effects)
            want_choices_of(chooser, op);
        else if (!op->result_count || !slice_has(chooser->program->steering, &op->results[0]))
            continue;
        else if (chooses_whole(op))
            want_steered(chooser, op);
        else if (extended_condition(module, chooser->program->steering, op))
            want_either(chooser, op, op->operands[0]);
        else
            want_bends(chooser, op);
    }
}

/* Slots and phases that more than a loop's turns decide: each of them in the first turn, and the same in all turns. */
void want_shifts(Chooser *chooser) {
    start_over(chooser);
    const Shifts *shifts = shifts_create(chooser->arena, chooser->solver, chooser->program);
    const Shift *shift;
    for (uint32_t i = 0; (shift = shifts_item(shifts, i)) && chooser->count < MOST_CHOSEN; i++) {
        Lasting lasting = {.loop = shift->loop, .op = shift->op, .condition = shift->value};
        int64_t most = shift->numbers < MOST_SLOTS ? shift->numbers : MOST_SLOTS;
        for (lasting.holds = 0; lasting.loop && lasting.holds < most; lasting.holds++)
            for (int whole = 0; whole < 2; whole++) {
                lasting.turns = whole ? chooser->depth + 2 : 1;
                want_lasting(chooser, &lasting);
            }
    }
}

void want_pairs(Chooser *chooser) {
    Solver *solver = chooser->solver;
    start_over(chooser);
    Pairs *pairs = pairs_create(chooser->arena, solver, chooser->program);
    Pair pair;
    uint32_t at = 0;
    size_t seen = 0;
    for (bool more = true; more;) {
        for (; seen < chooser->count; seen++) {
            *solver_setting(solver) = chooser->settings[seen];
            memset(solver_setting(solver)->turns, 0, sizeof solver_setting(solver)->turns);
            pairs_see(pairs, solver);
        }
        more = chooser->count < MOST_CHOSEN && pairs_next(pairs, &at, &pair);
        if (more)
            want(chooser, (ChooseWayWish){.op = pair.ops[0], .pair = &pair, .most_turns = SOME_TURNS});
    }
}
