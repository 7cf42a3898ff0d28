/* check/tile/run: races, hangs and faults of random small kernels, of which one run does not decide for all, against a
 * model that tries every order of their steps and keeps vector clocks: partitions in any order, barriers of count 1 and
 * 2, several who arrive on one, copies that land when they like. */
#include "running.h"
#include "share.h"

#include "check/tile/run/check.h"

#include <stdio.h>

enum { MEMBERS = 3, MOST_STEPS = 6, BARRIERS = 2, TILES = 2, COPIES = 6, CLOCK = MEMBERS + COPIES, STATES = 30000 };

typedef enum StepKind { STEP_NONE, ARRIVE_ON, EXPECT_ON, WAIT_FOR, READ_TILE, WRITE_TILE, COPY_TO } StepKind;

typedef struct Step {
    uint8_t kind, on, parity, tile, copy; /* copy: its number */
} Step;

typedef struct Kernel {
    Step steps[MEMBERS][MOST_STEPS];
    uint8_t lengths[MEMBERS];
    uint8_t counts[BARRIERS];
    uint8_t copies;
} Kernel;

/* ---- The model ---------------------------------------------------------------------------------------- */

typedef struct Model {
    uint8_t at[MEMBERS];
    uint8_t clocks[MEMBERS][CLOCK];
    struct {
        uint8_t phase, pending;
        int8_t copies; /* expected and not landed */
        uint8_t now[CLOCK], done[CLOCK];
    } barriers[BARRIERS];
    uint8_t reads[TILES][MEMBERS], writes[TILES][CLOCK]; /* when each last did, by its own clock */
    uint8_t flies[COPIES], to[COPIES];
} Model;

typedef struct Search {
    const Kernel *kernel;
    Model *seen;
    uint32_t count;
    bool race, wrong, large;
} Search;

static void join(uint8_t *to, const uint8_t *from) {
    for (int i = 0; i < CLOCK; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

static void settle(Model *model, unsigned on, const Kernel *kernel) {
    if (model->barriers[on].pending || model->barriers[on].copies)
        return;
    model->barriers[on].phase ^= 1;
    model->barriers[on].pending = kernel->counts[on];
    memcpy(model->barriers[on].done, model->barriers[on].now, CLOCK);
    memset(model->barriers[on].now, 0, CLOCK);
}

/* Whether everything that `clock` must know before it reads or writes the tile, it knows. */
static bool knows(const Model *model, const uint8_t *clock, unsigned tile, bool writes) {
    for (int i = 0; i < CLOCK; i++)
        if (model->writes[tile][i] > clock[i] || (writes && i < MEMBERS && model->reads[tile][i] > clock[i]))
            return false;
    return true;
}

/* The one that comes after this write comes after all that this one had to come after. */
static void replace_writes(Model *model, unsigned tile, unsigned who, uint8_t when) {
    memset(model->writes[tile], 0, CLOCK);
    memset(model->reads[tile], 0, MEMBERS);
    model->writes[tile][who] = when;
}

static void explore_model(Search *search, const Model *from);

static void take_step(Search *search, const Model *from, unsigned member) {
    const Step *step = &search->kernel->steps[member][from->at[member]];
    Model model = *from;
    uint8_t *clock = model.clocks[member];
    switch (step->kind) {
    case ARRIVE_ON:
    case EXPECT_ON:
        if (!model.barriers[step->on].pending) { /* one too many */
            search->wrong = true;
            return;
        }
        model.barriers[step->on].pending--;
        model.barriers[step->on].copies += step->kind == EXPECT_ON;
        join(model.barriers[step->on].now, clock);
        settle(&model, step->on, search->kernel);
        break;
    case WAIT_FOR:
        if (model.barriers[step->on].phase == step->parity)
            return;
        join(clock, model.barriers[step->on].done);
        break;
    case COPY_TO:
        search->race |= !knows(&model, clock, step->tile, true);
        replace_writes(&model, step->tile, MEMBERS + step->copy, 1);
        model.flies[step->copy] = 1;
        model.to[step->copy] = step->on;
        break;
    default:
        search->race |= !knows(&model, clock, step->tile, step->kind == WRITE_TILE);
        clock[member]++;
        if (step->kind == WRITE_TILE)
            replace_writes(&model, step->tile, member, clock[member]);
        else
            model.reads[step->tile][member] = clock[member];
        break;
    }
    model.at[member]++;
    explore_model(search, &model);
}

static void land_copy(Search *search, const Model *from, unsigned copy) {
    Model model = *from;
    unsigned on = model.to[copy];
    model.flies[copy] = 0;
    model.barriers[on].copies--;
    model.barriers[on].now[MEMBERS + copy] = 1;
    settle(&model, on, search->kernel);
    explore_model(search, &model);
}

static void explore_model(Search *search, const Model *from) {
    for (uint32_t i = 0; i < search->count; i++)
        if (memcmp(&search->seen[i], from, sizeof *from) == 0)
            return;
    if (search->count == STATES) {
        search->large = true;
        return;
    }
    search->seen[search->count++] = *from;
    bool ended = true, moved = false;
    for (unsigned i = 0; i < MEMBERS && !search->large; i++) {
        if (from->at[i] == search->kernel->lengths[i])
            continue;
        const Step *step = &search->kernel->steps[i][from->at[i]];
        ended = false;
        if (step->kind == WAIT_FOR && from->barriers[step->on].phase == step->parity)
            continue;
        moved = true;
        take_step(search, from, i);
    }
    for (unsigned i = 0; i < COPIES && !search->large; i++)
        if (from->flies[i]) {
            moved = true;
            land_copy(search, from, i);
        }
    if (moved)
        return;
    search->wrong |= !ended;
    for (unsigned i = 0; i < BARRIERS; i++)
        search->wrong |= from->barriers[i].copies != 0;
}

static Search search_model(const Kernel *kernel, Model *seen) {
    Search search = {.kernel = kernel, .seen = seen};
    Model model = {0};
    for (unsigned i = 0; i < BARRIERS; i++)
        model.barriers[i].pending = kernel->counts[i];
    explore_model(&search, &model);
    return search;
}

/* ---- Random kernels ----------------------------------------------------------------------------------- */

static uint32_t below(uint64_t *random, uint32_t limit) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 33) % limit;
}

static void add_step(Kernel *kernel, unsigned member, unsigned at, Step step) {
    if (kernel->lengths[member] == MOST_STEPS || (step.kind == COPY_TO && kernel->copies == COPIES))
        return;
    memmove(&kernel->steps[member][at + 1], &kernel->steps[member][at], (kernel->lengths[member] - at) * sizeof step);
    if (step.kind == COPY_TO)
        step.copy = kernel->copies++;
    kernel->steps[member][at] = step;
    kernel->lengths[member]++;
}

static void push(Kernel *kernel, unsigned member, StepKind kind, unsigned on, unsigned parity, unsigned tile) {
    add_step(kernel, member, kernel->lengths[member],
             (Step){.kind = (uint8_t)kind, .on = (uint8_t)on, .parity = (uint8_t)parity, .tile = (uint8_t)tile});
}

static void random_step(Kernel *kernel, uint64_t *random) {
    unsigned member = below(random, MEMBERS), at = below(random, kernel->lengths[member] + 1u);
    add_step(kernel, member, at,
             (Step){.kind = (uint8_t)(1 + below(random, COPY_TO)),
                    .on = (uint8_t)below(random, BARRIERS),
                    .parity = (uint8_t)below(random, 2),
                    .tile = (uint8_t)below(random, TILES)});
}

/* A tile is handed to two readers and back; the first barrier says that it is full, the second that it is empty. */
static void right_kernel(Kernel *kernel, uint64_t *random, const unsigned *order) {
    bool copied = below(random, 2), both = below(random, 2);
    kernel->counts[0] = 1;
    kernel->counts[1] = 2;
    if (copied) {
        push(kernel, order[0], EXPECT_ON, 0, 0, 0);
        push(kernel, order[0], COPY_TO, 0, 0, 0);
    } else {
        push(kernel, order[0], WRITE_TILE, 0, 0, 0);
        push(kernel, order[0], ARRIVE_ON, 0, 0, 0);
    }
    push(kernel, order[0], WAIT_FOR, 1, 0, 0);
    push(kernel, order[0], WRITE_TILE, 0, 0, 0);
    for (unsigned i = 1; i < MEMBERS; i++) {
        push(kernel, order[i], WAIT_FOR, 0, 0, 0);
        push(kernel, order[i], READ_TILE, 0, 0, 0);
        push(kernel, order[i], ARRIVE_ON, 1, 0, 0);
    }
    if (both) {
        push(kernel, order[0], ARRIVE_ON, 0, 0, 0);
        push(kernel, order[1], WAIT_FOR, 0, 1, 0);
        push(kernel, order[1], READ_TILE, 0, 0, 0);
    }
}

static void drop_step(Kernel *kernel, unsigned member, unsigned at) {
    memmove(&kernel->steps[member][at], &kernel->steps[member][at + 1],
            (kernel->lengths[member] - at - 1u) * sizeof(Step));
    kernel->lengths[member]--;
}

static void mutate(Kernel *kernel, uint64_t *random) {
    unsigned member = below(random, MEMBERS), length = kernel->lengths[member];
    unsigned at = length ? below(random, length) : 0;
    Step step = kernel->steps[member][at];
    switch (below(random, 5)) {
    case 0:
        if (length)
            add_step(kernel, member, at, step);
        break;
    case 1:
        if (length)
            drop_step(kernel, member, at);
        break;
    case 2:
        if (at + 1 < length) {
            kernel->steps[member][at] = kernel->steps[member][at + 1];
            kernel->steps[member][at + 1] = step;
        }
        break;
    case 3:
        random_step(kernel, random);
        break;
    default:
        kernel->counts[below(random, BARRIERS)] = (uint8_t)(1 + below(random, 2));
        break;
    }
}

static Kernel random_kernel(uint64_t seed) {
    Kernel kernel = {.counts = {1, 1}};
    uint64_t random = seed * 0x9e3779b97f4a7c15u + 1;
    unsigned order[MEMBERS] = {0, 1, 2};
    for (unsigned i = MEMBERS; i-- > 1;) {
        unsigned other = below(&random, i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    right_kernel(&kernel, &random, order);
    for (unsigned i = below(&random, 4); i > 0; i--)
        mutate(&kernel, &random);
    return kernel;
}

static void print_kernel(const Kernel *kernel, Text *to) {
    text_addf(to, "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
                  "#smem = #ttg.shared_memory\n"
                  "#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = "
                  "[0]}>\n"
                  "!barrier = !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"
                  "!tile = !ttg.memdesc<64xf16, #shared, #smem, mutable>\n"
                  "!desc = !tt.tensordesc<tensor<64xf16, #shared>>\n"
                  "!values = tensor<64xf16, #blocked>\n"
                  "module attributes {\"ttg.num-warps\" = 4 : i32} {\n"
                  "  tt.func public @kernel(%%desc: !desc, %%v: !values) {\n");
    for (unsigned i = 0; i < TILES; i++)
        text_addf(to, "    %%t%u = ttg.local_alloc : () -> !tile\n", i);
    for (unsigned i = 0; i < BARRIERS; i++)
        text_addf(to, "    %%b%u = ttg.local_alloc : () -> !barrier\n    ttng.init_barrier %%b%u, %u : !barrier\n", i,
                  i, kernel->counts[i]);
    text_addf(to, "    ttg.warp_specialize(%%desc, %%v, %%t0, %%t1, %%b0, %%b1)\n");
    for (unsigned i = 0; i < MEMBERS; i++) {
        if (i == 0)
            text_addf(to, "    default {\n");
        else
            text_addf(to,
                      "    partition%u(%%desc: !desc, %%v: !values, %%t0: !tile, %%t1: !tile, %%b0: !barrier, %%b1: "
                      "!barrier) num_warps(4) {\n",
                      i - 1);
        text_addf(to, "      %%c0 = arith.constant 0 : i32\n      %%c1 = arith.constant 1 : i32\n"
                      "      %%true = arith.constant true\n");
        for (unsigned k = 0; k < kernel->lengths[i]; k++) {
            const Step *step = &kernel->steps[i][k];
            switch (step->kind) {
            case ARRIVE_ON:
                text_addf(to, "      ttng.arrive_barrier %%b%u, 1 : !barrier\n", step->on);
                break;
            case EXPECT_ON:
                text_addf(to, "      ttng.barrier_expect %%b%u, 128, %%true : !barrier\n", step->on);
                break;
            case WAIT_FOR:
                text_addf(to, "      ttng.wait_barrier %%b%u, %%c%u : !barrier\n", step->on, step->parity);
                break;
            case READ_TILE:
                text_addf(to, "      %%r%u = ttg.local_load %%t%u : !tile -> !values\n", k, step->tile);
                break;
            case WRITE_TILE:
                text_addf(to, "      ttg.local_store %%v, %%t%u : !values -> !tile\n", step->tile);
                break;
            default:
                text_addf(to,
                          "      ttng.async_tma_copy_global_to_local %%desc[%%c0] %%t%u, %%b%u, %%true : !desc, "
                          "!barrier -> !tile\n",
                          step->tile, step->on);
                break;
            }
        }
        text_addf(to, i == 0 ? "      ttg.warp_yield\n    }\n" : "      ttg.warp_return\n    }%s\n",
                  i + 1 == MEMBERS ? " : (!desc, !values, !tile, !tile, !barrier, !barrier) -> ()" : "");
    }
    text_addf(to, "    tt.return\n  }\n}\n");
    text_char(to, 0);
}

/* ---- Holding one against the other -------------------------------------------------------------------- */

typedef struct Said {
    bool race, wrong, overrun, incomplete;
} Said;

static Said check_kernel(const char *text) {
    Reading *reading = read_good(text);
    Launch launch = {.grid = {1, 1, 1}};
    Verdict verdict = {.arena = &reading->module.arena};
    check_runs(&reading->module, find_op(reading, "tt.func", 0), &(CheckOptions){.launch = &launch}, &verdict);
    Said said = {.incomplete = verdict.incomplete_count > 0};
    for (size_t i = 0; i < verdict.finding_count; i++) {
        RuleId rule = verdict.findings[i].rule;
        if (rule >= RULE_RACE_RAW && rule <= RULE_RACE_INFLIGHT)
            said.race = true;
        else if (rule == RULE_RACE_EXIT) /* the model asks for the order of accesses alone */
            continue;
        else if (rule == RULE_BARRIER_OVERRUN)
            said.overrun = true;
        else
            said.wrong = true;
    }
    done(reading);
    return said;
}

static void what_can_happen_in_some_order_is_found(void **state) {
    (void)state;
    enum { KERNELS = 1500 };
    Model *seen = calloc(STATES, sizeof *seen);
    assert_non_null(seen);
    unsigned races = 0, wrong = 0, incomplete = 0, different = 0, hidden = 0, compared = 0;
    for (uint64_t seed = 0; seed < share_of(KERNELS); seed++) {
        Kernel kernel = random_kernel(seed);
        Search search = search_model(&kernel, seen);
        if (search.large)
            continue;
        Text text = {0};
        print_kernel(&kernel, &text);
        Said said = check_kernel(text.data);
        compared++;
        races += search.race;
        wrong += search.wrong;
        incomplete += said.incomplete;
        /* Of a kernel that is wrong anyway a race more may be left for when that is mended. */
        bool missed = (search.race && !said.race && !said.wrong && !said.overrun) || (search.wrong && !said.wrong);
        hidden += search.race && !said.race;
        if ((missed && !said.incomplete) || (said.race && !search.race) || (said.wrong && !search.wrong)) {
            fprintf(stderr, "kernel %llu: race %d, but it should be %d; hang or fault %d, but it should be %d\n%s",
                    (unsigned long long)seed, said.race, search.race, said.wrong, search.wrong, text.data);
            different++;
        }
        text_free(&text);
    }
    free(seen);
    assert_int_equal(different, 0);
    print_message("%u kernels: %u with races, %u that hang or fault, %u incomplete, %u races behind hangs\n", compared,
                  races, wrong, incomplete, hidden);
    assert_true(races > compared / 8 && wrong > compared / 8 && incomplete * 50 <= compared && hidden * 40 <= races);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_can_happen_in_some_order_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
