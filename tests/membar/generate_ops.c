/* Slots, and the ops that a random kernel is made of. */
#include "generate.h"

#include <stdio.h>

/* splitmix64 */
static uint64_t draw(Random *random) {
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

unsigned below(Maker *maker, unsigned limit) {
    return (unsigned)(draw(&maker->random) >> 32) % limit;
}
bool chance(Maker *maker, unsigned percent) {
    return below(maker, 100) < percent;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

void line(Maker *maker, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_addf(maker->to, "%*s", (int)(2 * maker->indentation), "");
    text_vaddf(maker->to, format, arguments);
    text_char(maker->to, '\n');
    va_end(arguments);
}

void label(Maker *maker, Word name) {
    text_addf(maker->to, "%*s^%s:\n", (int)(2 * maker->indentation - 2), "", name.text);
}

Word word(const char *format, ...) {
    Word made;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(made.text, sizeof made.text, format, arguments);
    va_end(arguments);
    return made;
}

Word fresh(Maker *maker, const char *stem) {
    return word("%s%u", stem, maker->names++);
}

Word constant(unsigned number) {
    return word("c%u", number);
}

Scope enter_scope(Maker *maker) {
    return (Scope){maker->counter_count, maker->view_count, maker->blocks};
}

void leave_scope(Maker *maker, Scope scope) {
    maker->counter_count = scope.counter_count;
    maker->view_count = scope.view_count;
    maker->blocks = scope.blocks;
}

void know_counter(Maker *maker, Word name, unsigned bound) {
    if (maker->counter_count < MOST_COUNTERS)
        maker->counters[maker->counter_count++] = (Counter){name, bound};
}

void know_view(Maker *maker, Word name) {
    if (maker->view_count < MOST_VIEWS)
        maker->views[maker->view_count++] = name;
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

Word wrapped(Maker *maker, Word counter, unsigned bound) {
    Word next = fresh(maker, "next"), test = fresh(maker, "test"), result = fresh(maker, "wrapped");
    bool less = chance(maker, 50);
    line(maker, "%%%s = arith.addi %%%s, %%c1 : i32", next.text, counter.text);
    line(maker, "%%%s = arith.cmpi %s, %%%s, %%c%u : i32", test.text, less ? "slt" : "sge", next.text, bound);
    if (less)
        line(maker, "%%%s = arith.select %%%s, %%%s, %%c0 : i32", result.text, test.text, next.text);
    else
        line(maker, "%%%s = arith.select %%%s, %%c0, %%%s : i32", result.text, test.text, next.text);
    return result;
}

Word ahead_of(Maker *maker, Word counter, unsigned ahead, unsigned slots) {
    Word index = fresh(maker, "index");
    if (ahead || chance(maker, 10)) {
        Word sum = fresh(maker, "sum");
        line(maker, "%%%s = arith.addi %%%s, %%c%u : i32", sum.text, counter.text, ahead);
        counter = sum;
    }
    line(maker, "%%%s = arith.remsi %%%s, %%c%u : i32", index.text, counter.text, slots);
    return index;
}

static Word any_index(Maker *maker, unsigned slots) {
    if (maker->counter_count && chance(maker, 65)) {
        Counter counter = maker->counters[below(maker, maker->counter_count)];
        if (counter.bound == slots)
            return chance(maker, 60) ? counter.name : wrapped(maker, counter.name, slots);
        return ahead_of(maker, counter.name, below(maker, 3), slots);
    }
    if (slots > 1 && chance(maker, 8)) {
        Word index = fresh(maker, "index");
        line(maker, "%%%s = tt.load %%slot%u : !tt.ptr<i32>", index.text, slots);
        return index;
    }
    return constant(below(maker, slots));
}

Word slot_view(Maker *maker, const Ring *ring, Word index) {
    Word view = fresh(maker, "view");
    line(maker, "%%%s = ttg.memdesc_index %%%s[%%%s] : !ring%u -> !tile", view.text, ring->name.text, index.text,
         ring->slots);
    know_view(maker, view);
    return view;
}

Word any_view(Maker *maker) {
    if (maker->view_count && chance(maker, 35))
        return maker->views[maker->view_count - 1 - below(maker, maker->view_count < 4 ? maker->view_count : 4)];
    if (maker->view_count > 1 && chance(maker, 3)) {
        Word view = fresh(maker, "view"), test = fresh(maker, "test");
        line(maker, "%%%s = tt.load %%flag2 : !tt.ptr<i1>", test.text);
        line(maker, "%%%s = arith.select %%%s, %%%s, %%%s : !tile", view.text, test.text,
             maker->views[below(maker, maker->view_count)].text, maker->views[below(maker, maker->view_count)].text);
        return view;
    }
    const Ring *ring = &maker->rings[maker->first_ring + below(maker, maker->ring_count - maker->first_ring)];
    if (!ring->slots)
        return ring->name;
    return slot_view(maker, ring, any_index(maker, ring->slots));
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

void make_load(Maker *maker, Word view) {
    line(maker, "%%%s = ttg.local_load %%%s : !tile -> !values", fresh(maker, "loaded").text, view.text);
}

void make_store(Maker *maker, Word view) {
    line(maker, "ttg.local_store %%values, %%%s : !values -> !tile", view.text);
}

static void make_commit(Maker *maker) {
    line(maker, "%%%s = ttg.async_commit_group", fresh(maker, "group").text);
}

Copies any_copies(Maker *maker) {
    return chance(maker, 40) ? COPIES_CP_ASYNC : maker->amd ? COPIES_TDM : COPIES_TMA;
}

void make_copy(Maker *maker, Copies copies, Word view) {
    maker->used_copies[copies] = true;
    if (copies == COPIES_CP_ASYNC) {
        line(maker, "%%%s = ttg.async_copy_global_to_local %%pointers, %%%s : !pointers -> !tile",
             fresh(maker, "token").text, view.text);
        if (chance(maker, 85))
            make_commit(maker);
    } else if (copies == COPIES_TDM) {
        line(maker, "%%%s = amdg.async_tdm_copy_global_to_local %%desc[%%c0, %%c0] into %%%s, %%true : !desc -> !tile",
             fresh(maker, "token").text, view.text);
    } else {
        if (chance(maker, 70))
            line(maker, "ttng.barrier_expect %%bar, 8192, %%true : !barrier");
        if (chance(maker, 15))
            make_load(maker, any_view(maker));
        line(maker,
             "ttng.async_tma_copy_global_to_local %%desc[%%c0, %%c0] %%%s, %%bar, %%true : !desc, !barrier -> !tile",
             view.text);
    }
}

void make_wait(Maker *maker, Copies copies, unsigned left) {
    if (copies == COPIES_CP_ASYNC)
        line(maker, "%%%s = ttg.async_wait {num = %u : i32}", fresh(maker, "token").text, left);
    else if (copies == COPIES_TDM)
        line(maker, "%%%s = amdg.async_tdm_wait {num = %u : i32}", fresh(maker, "token").text, left);
    else
        line(maker, "ttng.wait_barrier %%bar, %%c0 : !barrier");
}

/* Mostly for something that was begun. */
static void make_any_wait(Maker *maker) {
    unsigned left = chance(maker, 60) ? 0 : 1 + below(maker, 2);
    Copies copies = any_copies(maker);
    if (!maker->used_copies[copies] && chance(maker, 90))
        copies = copies == COPIES_CP_ASYNC ? (maker->amd ? COPIES_TDM : COPIES_TMA) : COPIES_CP_ASYNC;
    if (!maker->amd && maker->used_stores && chance(maker, 40))
        line(maker, "ttng.async_tma_store_wait {pendings = %u : i32}", left);
    else
        make_wait(maker, copies, left);
}

/* From shared memory to global memory. */
static void make_store_out(Maker *maker) {
    Word view = any_view(maker);
    maker->used_stores = true;
    if (maker->amd) {
        maker->used_copies[COPIES_TDM] = true;
        line(maker, "amdg.async_tdm_copy_local_to_global %%desc[%%c0, %%c0] from %%%s : !tile -> !desc", view.text);
    } else {
        line(maker, "ttng.async_tma_copy_local_to_global %%desc[%%c0, %%c0] %%%s : !desc, !tile", view.text);
    }
}

Word offset_attribute(const Maker *maker, unsigned offset) {
    return maker->traits.offsets ? word("allocation.offset = %u", offset) : word("alignment = 1024");
}

/* An allocation with a source, and a load of it. */
static void make_temporary(Maker *maker) {
    Word name = fresh(maker, "temporary");
    const Ring *ring = &maker->rings[below(maker, maker->ring_count)];
    unsigned offset = chance(maker, 60) ? ring->offset : 12 * SOUND_TILE;
    line(maker, "%%%s = ttg.local_alloc %%values {%s : i32} : (!values) -> !frozen", name.text,
         offset_attribute(maker, offset).text);
    if (chance(maker, 85))
        line(maker, "%%%s = ttg.local_load %%%s : !frozen -> !values", fresh(maker, "loaded").text, name.text);
}

void make_barrier(Maker *maker) {
    line(maker, "%s",
         chance(maker, 85)   ? "ttg.barrier local"
         : chance(maker, 50) ? "ttg.barrier all"
         : chance(maker, 50) ? "gpu.barrier"
                             : "ttg.barrier global_read");
}

void make_simple(Maker *maker) {
    unsigned way = below(maker, 100);
    if (way < 28)
        make_load(maker, any_view(maker));
    else if (way < 50)
        make_store(maker, any_view(maker));
    else if (way < 68)
        make_copy(maker, any_copies(maker), any_view(maker));
    else if (way < 82)
        make_any_wait(maker);
    else if (way < 88)
        make_barrier(maker);
    else if (way < 94)
        make_store_out(maker);
    else
        make_temporary(maker);
}
