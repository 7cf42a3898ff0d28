/* The loops of random kernels: scf.for, or blocks that branch back, with counters and views that they hand on. */
#include "generate.h"

void carry_counter(Maker *maker, Loop *loop, unsigned first, unsigned bound) {
    loop->carried[loop->carried_count++] =
        (Carried){.value = fresh(maker, "counter"), .first = constant(first), .bound = bound};
}

/* Two views that change places each round. */
void carry_views(Maker *maker, Loop *loop) {
    for (unsigned i = 0; i < 2; i++)
        loop->carried[loop->carried_count++] =
            (Carried){.value = fresh(maker, "turn"), .first = any_view(maker), .view = true};
    Carried *last = &loop->carried[loop->carried_count - 1];
    last->next = last[-1].value;
    last[-1].next = last->value;
}

typedef enum ListKind {
    LIST_FIRST,
    LIST_NEXT,
    LIST_TYPES,
    LIST_ARGUMENTS /* %a: T */,
    LIST_INITIAL /* %a = %b */
} ListKind;

static void add_list(const Loop *loop, unsigned from, ListKind kind, Text *to) {
    for (unsigned i = from; i < loop->carried_count; i++) {
        const Carried *carried = &loop->carried[i];
        const char *type = carried->view ? "!tile" : "i32";
        text_addf(to, "%s", i > from ? ", " : "");
        switch (kind) {
        case LIST_FIRST:
            text_addf(to, "%%%s", carried->first.text);
            break;
        case LIST_NEXT:
            text_addf(to, "%%%s", carried->next.text);
            break;
        case LIST_TYPES:
            text_addf(to, "%s", type);
            break;
        case LIST_ARGUMENTS:
            text_addf(to, "%%%s: %s", carried->value.text, type);
            break;
        case LIST_INITIAL:
            text_addf(to, "%%%s = %%%s", carried->value.text, carried->first.text);
        }
    }
}

/* "(%a, %b : T, U)" */
static void add_forwarded(const Loop *loop, bool next, Text *to) {
    text_addf(to, "(");
    add_list(loop, 0, next ? LIST_NEXT : LIST_FIRST, to);
    text_addf(to, " : ");
    add_list(loop, 0, LIST_TYPES, to);
    text_addf(to, ")");
}

static void know_carried(Maker *maker, const Loop *loop) {
    for (unsigned i = 0; i < loop->carried_count; i++) {
        const Carried *carried = &loop->carried[i];
        if (carried->view)
            know_view(maker, carried->value);
        else
            know_counter(maker, carried->value, carried->bound);
    }
}

static void begin_blocks(Maker *maker, Loop *loop) {
    Text *to = maker->to;
    loop->head = fresh(maker, "head");
    loop->body = fresh(maker, "body");
    loop->exit = fresh(maker, "exit");
    text_addf(to, "%*scf.br ^%s", (int)(2 * maker->indentation), "", loop->head.text);
    add_forwarded(loop, false, to);
    text_addf(to, "\n%*s^%s(", (int)(2 * maker->indentation - 2), "", loop->head.text);
    add_list(loop, 0, LIST_ARGUMENTS, to);
    text_addf(to, "):\n");
    if (loop->bottom_tested)
        return;
    Word test = fresh(maker, "test");
    line(maker, "%%%s = arith.cmpi slt, %%%s, %%%s : i32", test.text, loop->carried[0].value.text, loop->end.text);
    line(maker, "cf.cond_br %%%s, ^%s, ^%s", test.text, loop->body.text, loop->exit.text);
    label(maker, loop->body);
}

static void begin_for(Maker *maker, Loop *loop) {
    Text *to = maker->to;
    const Carried *variable = &loop->carried[0];
    text_addf(to, "%*s", (int)(2 * maker->indentation), "");
    if (loop->carried_count > 1) {
        loop->results = fresh(maker, "results");
        text_addf(to, loop->carried_count > 2 ? "%%%s:%u = " : "%%%s = ", loop->results.text, loop->carried_count - 1);
    }
    text_addf(to, "scf.for %%%s = %%%s to %%%s step %%%s ", variable->value.text, variable->first.text, loop->end.text,
              loop->step.text);
    if (loop->carried_count > 1) {
        text_addf(to, "iter_args(");
        add_list(loop, 1, LIST_INITIAL, to);
        text_addf(to, ") -> (");
        add_list(loop, 1, LIST_TYPES, to);
        text_addf(to, ") ");
    }
    text_addf(to, ": i32 {\n");
    maker->indentation++;
}

static void make_next(Maker *maker, Loop *loop, bool with_variable) {
    for (unsigned i = with_variable ? 0 : 1; i < loop->carried_count; i++) {
        Carried *carried = &loop->carried[i];
        if (carried->view)
            continue;
        if (carried->bound) {
            carried->next = wrapped(maker, carried->value, carried->bound);
            continue;
        }
        carried->next = fresh(maker, "next");
        line(maker, "%%%s = arith.addi %%%s, %%%s : i32", carried->next.text, carried->value.text,
             i ? "c1" : loop->step.text);
    }
}

static void end_blocks(Maker *maker, Loop *loop) {
    Text *to = maker->to;
    make_next(maker, loop, true);
    if (loop->bottom_tested) {
        Word test = fresh(maker, "test");
        line(maker, "%%%s = arith.cmpi slt, %%%s, %%%s : i32", test.text, loop->carried[0].next.text, loop->end.text);
        text_addf(to, "%*scf.cond_br %%%s, ^%s", (int)(2 * maker->indentation), "", test.text, loop->head.text);
        add_forwarded(loop, true, to);
        text_addf(to, ", ^%s\n", loop->exit.text);
    } else {
        text_addf(to, "%*scf.br ^%s", (int)(2 * maker->indentation), "", loop->head.text);
        add_forwarded(loop, true, to);
        text_addf(to, "\n");
    }
    label(maker, loop->exit);
}

static void end_for(Maker *maker, Loop *loop) {
    if (loop->carried_count > 1) {
        make_next(maker, loop, false);
        text_addf(maker->to, "%*sscf.yield ", (int)(2 * maker->indentation), "");
        add_list(loop, 1, LIST_NEXT, maker->to);
        text_addf(maker->to, " : ");
        add_list(loop, 1, LIST_TYPES, maker->to);
        text_addf(maker->to, "\n");
    }
    maker->indentation--;
    line(maker, "}");
}

/* What the loop handed on last can be used after it. */
static void know_results(Maker *maker, Loop *loop) {
    for (unsigned i = 1; i < loop->carried_count; i++) {
        const Carried *carried = &loop->carried[i];
        Word name = loop->blocks              ? carried->value
                    : loop->carried_count > 2 ? word("%s#%u", loop->results.text, i - 1)
                                              : loop->results;
        if (carried->view)
            know_view(maker, name);
        else
            know_counter(maker, name, carried->bound);
    }
}

/* The end of a loop: a number, or one that is not known. Inner loops are shorter, or there would be too many paths. */
static Word loop_end(Maker *maker) {
    bool inner = maker->in_loop;
    if (maker->traits.constant_ends)
        return constant(inner ? 2 : 1 + below(maker, 4));
    Word end = fresh(maker, "end");
    line(maker, "%%%s = tt.load %%trips%u : !tt.ptr<i32>", end.text, inner ? 3 : 5);
    return end;
}

Loop new_loop(Maker *maker) {
    Loop loop = {.carried = {{.value = fresh(maker, "round"), .first = constant(chance(maker, 8))}},
                 .carried_count = 1,
                 .end = loop_end(maker),
                 .step = constant(chance(maker, 5) ? 2 : 1),
                 .blocks = maker->blocks};
    loop.bottom_tested = loop.blocks && chance(maker, 25);
    return loop;
}

void begin_loop(Maker *maker, Loop *loop) {
    loop->scope = enter_scope(maker);
    if (loop->blocks)
        begin_blocks(maker, loop);
    else
        begin_for(maker, loop);
    know_carried(maker, loop);
}

void end_loop(Maker *maker, Loop *loop) {
    if (loop->blocks)
        end_blocks(maker, loop);
    else
        end_for(maker, loop);
    leave_scope(maker, loop->scope);
    know_results(maker, loop);
}
