/* Any bytes as what callers of a kernel promise, a line each. Whatever they are, reading them ends without a fault:
 * with a requirement whose text reads again as the same, and whose value is a number or not known; or with a sentence,
 * and a place within the text. What was read is held against the preconditions of a proof. */
#include "check/prove/promise.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 8 << 10, BUDGET = 64 << 20, MOST_LINES = 8, NAMES = 3 };

static bool look_up(const void *context, const RequiredTerm *name, int64_t *value) {
    *value = (int64_t)name->name.size * 1000 - name->axis - *(const int64_t *)context;
    return name->kind != TERM_SIZE;
}

static bool read_line(Arena *arena, Str line, Requirement *requirement) {
    Requirement again;
    size_t at = 0;
    bool holds, same;
    const char *problem = requirement_read(arena, line, requirement, &at);
    if (at > line.size || (problem && !*problem))
        abort();
    if (problem)
        return false;
    if (requirement_read(arena, str_of(requirement->text), &again, &at) || strcmp(again.text, requirement->text) != 0)
        abort();
    for (int64_t shift = -1; shift < 2; shift++)
        if (requirement_value(requirement, look_up, &shift, &holds) &&
            (!requirement_value(&again, look_up, &shift, &same) || same != holds))
            abort();
    return true;
}

/* Of a kernel that needs N % 64 == 0, M > N - 1, and one program along y. */
static void hold(Arena *arena, const Requirement *promises, size_t count) {
    static const char *const names[NAMES] = {"M", "N", "K"};
    Proof proof = {.names = names, .name_count = NAMES, .proved = true};
    Quantities *quantities = &proof.quantities;
    bool promised[3];
    quantities_init(quantities, arena);
    quantities->parameters = names;
    Quantity numbers[NAMES], ys;
    for (uint32_t i = 0; i < NAMES; i++)
        numbers[i] = quantity_atom(quantities, &(QuantityAtom){.kind = ATOM_ARGUMENT, .of = i, .width = 32});
    ys = quantity_atom(quantities, &(QuantityAtom){.kind = ATOM_PROGRAMS, .axis = 1});
    Condition where[] = {
        {.kind = CONDITION_MULTIPLE, .a = numbers[1], .b = quantity_constant(quantities, 64), .text = "N % 64 == 0"},
        {.kind = CONDITION_AT_LEAST, .a = numbers[0], .b = numbers[1], .text = "M >= N"},
        {.kind = CONDITION_EQUAL, .a = ys, .b = QUANTITY_ONE, .text = "grid.y == 1"}};
    proof.where = where;
    proof.where_count = 3;
    proof_promised(&proof, promises, count, arena, promised);
}

static void read_lines(Arena *arena, const char *at, const char *end) {
    Requirement promises[MOST_LINES];
    size_t count = 0;
    while (at < end && count < MOST_LINES) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        count += read_line(arena, str_between(at, line ? line : end), &promises[count]);
        at = line ? line + 1 : end;
    }
    hold(arena, promises, count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena;
    jmp_buf exhausted;
    if (size > LARGEST_INPUT)
        return 0;
    arena_init(&arena, BUDGET);
    arena.exhausted = &exhausted;
    if (!setjmp(exhausted))
        read_lines(&arena, (const char *)data, (const char *)data + size);
    arena_free(&arena);
    return 0;
}
