/* Litmus tests as kernels of PTX. */
#include "translate.h"

#include "../reference/litmus/litmus.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct Writer {
    const Test *test;
    Translated *to;
    size_t length;
    int ctas[MAX_THREADS]; /* of each thread, numbered from 0 on */
    int warps[MAX_THREADS];
    int cta_count, warp_count;
} Writer;

static void __attribute__((format(printf, 2, 3))) line(Writer *writer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof writer->to->text - writer->length;
    int wrote = vsnprintf(writer->to->text + writer->length, room, format, arguments);
    writer->length += wrote < 0 ? 0 : (size_t)wrote < room ? (size_t)wrote : room - 1;
    va_end(arguments);
}

static bool cannot(Writer *writer, const char *problem) {
    writer->to->problem = problem;
    return false;
}

/* ---- Where threads are ---- */

static bool place_threads(Writer *writer) {
    const Test *test = writer->test;
    for (int t = 0; t < test->thread_count; t++) {
        if (test->threads[t].gpu != test->threads[0].gpu) {
            return cannot(writer, "several GPUs");
        }
        writer->ctas[t] = -1;
        for (int i = 0; i < t; i++) {
            if (test->threads[i].cta == test->threads[t].cta) {
                writer->ctas[t] = writer->ctas[i];
                writer->warps[t] = writer->warps[i] + 1;
            }
        }
        if (writer->ctas[t] < 0) {
            writer->ctas[t] = writer->cta_count++;
            writer->warps[t] = 0;
        }
        writer->warp_count = writer->warps[t] >= writer->warp_count ? writer->warps[t] + 1 : writer->warp_count;
    }
    return true;
}

/* A barrier may be for more threads than a test has: there are warps for it then, which end at once. */
static void make_room(Writer *writer) {
    for (int t = 0; t < writer->test->thread_count; t++) {
        const Thread *thread = &writer->test->threads[t];
        for (int i = 0; i < thread->count; i++) {
            const Instruction *code = &thread->code[i];
            bool counts = code->code == CODE_BARRIER && code->quorum && !code->b.is_register;
            if (counts && code->b.value > writer->warp_count && code->b.value <= 32) {
                writer->warp_count = (int)code->b.value;
            }
        }
    }
}

/* ---- Barriers ---- */

/* A register that nothing changes is a number. */
static bool constant(const Thread *thread, Operand operand, int64_t *value) {
    *value = operand.is_register ? thread->initial[operand.value] : operand.value;
    for (int i = 0; operand.is_register && i < thread->count; i++) {
        if (thread->code[i].target == (int)operand.value) {
            return false;
        }
    }
    return true;
}

static bool same_barrier(const Thread *one, const Instruction *a, const Thread *two, const Instruction *b) {
    int64_t first = 0, second = 0;
    return b->code == CODE_BARRIER && a->instance == b->instance && a->named == b->named &&
           (!a->named || (constant(one, a->a, &first) && constant(two, b->a, &second) && first == second));
}

/* PTX's number of a barrier, the same for all that are the same: the first place where it is. */
static int barrier_number(const Writer *writer, int thread, const Instruction *code, int *members) {
    int number = -1, next = 1;
    *members = 0;
    for (int t = 0; t < writer->test->thread_count; t++) {
        const Thread *other = &writer->test->threads[t];
        for (int i = 0; i < other->count; i++) {
            bool is_same = same_barrier(&writer->test->threads[thread], code, other, &other->code[i]);
            number = is_same && number < 0 ? next : number;
            *members += is_same && writer->ctas[t] == writer->ctas[thread];
            next += other->code[i].code == CODE_BARRIER;
        }
    }
    return number;
}

static bool write_barrier(Writer *writer, int thread, const Instruction *code) {
    const Thread *own = &writer->test->threads[thread];
    int64_t id, wanted;
    int members, number = barrier_number(writer, thread, code, &members);
    if (code->named && !constant(own, code->a, &id)) {
        return cannot(writer, "a barrier whose id is not known before");
    }
    if (number > 15) {
        return cannot(writer, "more than 16 barriers");
    }
    wanted = members;
    if (code->quorum && (!constant(own, code->b, &wanted) || wanted < members)) {
        return cannot(writer, "a barrier that more threads pass than it counts");
    }
    line(writer, "    barrier.%s %d, %d;\n", code->arrive ? "arrive" : "sync", number, (int)wanted * 32);
    return true;
}

/* ---- Instructions ---- */

static const char *const orders[] = {"weak", "relaxed", "acquire", "release", "acq_rel", "sc"};
static const char *const scopes[] = {"", ".cta", ".gpu", ".sys"};

typedef struct Name {
    char text[32];
} Name;

static Name operand(int thread, Operand operand) {
    Name made;
    if (operand.is_register) {
        snprintf(made.text, sizeof made.text, "%%r%d_%d", thread, (int)operand.value);
    } else {
        snprintf(made.text, sizeof made.text, "%d", (int)operand.value);
    }
    return made;
}

static Name target(int thread, int number) {
    return number < 0 ? (Name){"%none"} : operand(thread, (Operand){true, number});
}

static void write_atomic(Writer *writer, int thread, const Instruction *code) {
    static const char *const names[] = {
        [OPERATOR_ADD] = "add.s32", [OPERATOR_SUB] = "add.s32", [OPERATOR_AND] = "and.b32",
        [OPERATOR_OR] = "or.b32",   [OPERATOR_XOR] = "xor.b32", [OPERATOR_EXCHANGE] = "exch.b32",
        [OPERATOR_CAS] = "cas.b32"};
    Name value = operand(thread, code->a);
    if (code->operator== OPERATOR_SUB) {
        line(writer, "    neg.s32 %%none, %s;\n", value.text);
        strcpy(value.text, "%none");
    }
    line(writer, "    atom.%s%s.global.%s %s, [%%mem+%d], %s", orders[code->order], scopes[code->scope],
         names[code->operator], target(thread, code->target).text, code->place *PLACE_BYTES, value.text);
    line(writer, code->operator== OPERATOR_CAS ? ", %s;\n" : ";\n", operand(thread, code->b).text);
}

static void write_move(Writer *writer, int thread, const Instruction *code) {
    static const char *const names[] = {
        [OPERATOR_ADD] = "add.s32", [OPERATOR_SUB] = "sub.s32", [OPERATOR_MUL] = "mul.lo.s32",
        [OPERATOR_DIV] = "div.s32", [OPERATOR_AND] = "and.b32", [OPERATOR_OR] = "or.b32",
        [OPERATOR_XOR] = "xor.b32"};
    Name to = target(thread, code->target), a = operand(thread, code->a), b = operand(thread, code->b);
    if (code->operator== OPERATOR_FIRST) {
        line(writer, "    mov.b32 %s, %s;\n", to.text, a.text);
    } else { /* both may be numbers, which not every instruction takes */
        line(writer, "    mov.b32 %%none, %s;\n    %s %s, %%none, %s;\n", a.text, names[code->operator], to.text, b.text);
    }
}

static void write_branch(Writer *writer, int thread, const Instruction *code) {
    static const char *const names[] = {[OPERATOR_EQ] = "eq", [OPERATOR_NE] = "ne", [OPERATOR_LT] = "lt",
                                        [OPERATOR_GT] = "gt", [OPERATOR_LE] = "le", [OPERATOR_GE] = "ge"};
    if (code->operator== OPERATOR_ALWAYS) {
        line(writer, "    bra T%d_L%d;\n", thread, code->label);
        return;
    }
    line(writer, "    mov.b32 %%none, %s;\n", operand(thread, code->a).text);
    line(writer, "    setp.%s.s32 %%p, %%none, %s;\n", names[code->operator], operand(thread, code->b).text);
    line(writer, "    @%%p bra T%d_L%d;\n", thread, code->label);
}

static bool write_instruction(Writer *writer, int thread, const Instruction *code) {
    if (code->place >= 0) {
        const Place *place = &writer->test->places[code->place];
        if (code->proxy != PROXY_GENERIC || place->proxy != PROXY_GENERIC || place->location != code->place) {
            return cannot(writer, "proxies and aliases");
        }
    }
    switch (code->code) {
    case CODE_LABEL:
        line(writer, "T%d_L%d:\n", thread, code->label);
        return true;
    case CODE_LOAD:
        line(writer, "    ld.%s%s.global.b32 %s, [%%mem+%d];\n", orders[code->order], scopes[code->scope],
             target(thread, code->target).text, code->place * PLACE_BYTES);
        return true;
    case CODE_STORE:
        line(writer, "    st.%s%s.global.b32 [%%mem+%d], %s;\n", orders[code->order], scopes[code->scope],
             code->place * PLACE_BYTES, operand(thread, code->a).text);
        return true;
    case CODE_ATOM:
    case CODE_RED:
        write_atomic(writer, thread, code);
        return true;
    case CODE_FENCE:
        line(writer, "    fence.%s%s;\n", orders[code->order], scopes[code->scope]);
        return true;
    case CODE_BARRIER:
        return write_barrier(writer, thread, code);
    case CODE_BRANCH:
        write_branch(writer, thread, code);
        return true;
    case CODE_MOVE:
        write_move(writer, thread, code);
        return true;
    default:
        return cannot(writer, "proxies and aliases");
    }
}

/* ---- The kernel ---- */

static void write_head(Writer *writer) {
    line(writer, ".version 8.6\n.target sm_90a\n.address_size 64\n\n"
                 ".visible .entry litmus(.param .u64 out, .param .u64 mem)\n{\n"
                 "    .reg .pred %%p;\n    .reg .b32 %%none, %%cta, %%warp, %%lane;\n    .reg .b64 %%out, %%mem;\n");
    for (int t = 0; t < writer->test->thread_count; t++) {
        line(writer, "    .reg .b32 %%r%d_<%d>;\n", t, MAX_REGISTERS);
    }
    line(writer,
         "    mov.u32 %%warp, %%tid.x;\n    and.b32 %%lane, %%warp, 31;\n    setp.ne.u32 %%p, %%lane, 0;\n"
         "    @%%p exit;\n    shr.u32 %%warp, %%warp, 5;\n    mov.u32 %%cta, %%ctaid.x;\n"
         "    ld.param.u64 %%out, [out];\n    ld.param.u64 %%mem, [mem];\n"
         "    mad.lo.u32 %%lane, %%cta, %d, %%warp;\n",
         writer->warp_count);
    for (int t = 0; t < writer->test->thread_count; t++) {
        line(writer, "    setp.eq.u32 %%p, %%lane, %d;\n    @%%p bra T%d;\n",
             writer->ctas[t] * writer->warp_count + writer->warps[t], t);
    }
    line(writer, "    ret;\n");
}

static bool used(const Thread *thread, int number) {
    for (int i = 0; i < thread->count; i++) {
        const Instruction *code = &thread->code[i];
        if (code->target == number || (code->a.is_register && code->a.value == number) ||
            (code->b.is_register && code->b.value == number)) {
            return true;
        }
    }
    return false;
}

static bool write_thread(Writer *writer, int t) {
    const Thread *thread = &writer->test->threads[t];
    line(writer, "T%d:\n", t);
    for (int i = 0; i < MAX_REGISTERS; i++) {
        if (used(thread, i)) {
            line(writer, "    mov.b32 %%r%d_%d, %d;\n", t, i, (int)thread->initial[i]);
        }
    }
    for (int i = 0; i < thread->count; i++) {
        if (!write_instruction(writer, t, &thread->code[i])) {
            return false;
        }
    }
    for (int i = 0; i < MAX_REGISTERS; i++) {
        if (used(thread, i)) {
            line(writer, "    st.global.b32 [%%out+%d], %%r%d_%d;\n", 4 * (t * MAX_REGISTERS + i), t, i);
        }
    }
    line(writer, "    ret;\n");
    return true;
}

static void write_launch(Writer *writer) {
    const Test *test = writer->test;
    char data[2048];
    int length = 0;
    for (int i = 0; i < MAX_PLACES * PLACE_BYTES / 4; i++) {
        int place = i / (PLACE_BYTES / 4);
        bool here = i % (PLACE_BYTES / 4) == 0 && place < test->place_count;
        length += snprintf(data + length, sizeof data - (size_t)length, "%s%d", i == 0 ? "" : ",",
                           here ? (int)test->places[place].initial : 0);
    }
    snprintf(
        writer->to->launch, sizeof writer->to->launch,
        "{\"kernel\": \"litmus\", \"grid\": [%d, 1, 1], \"block\": [%d, 1, 1], \"args\": {\"out\": {\"tensor\": "
        "{\"shape\": [%d], \"dtype\": \"i32\", \"zero\": true}}, \"mem\": {\"tensor\": {\"shape\": [%d], \"dtype\": "
        "\"i32\", \"data\": [%s]}}}}",
        writer->cta_count, writer->warp_count * 32, MAX_THREADS * MAX_REGISTERS, MAX_PLACES * PLACE_BYTES / 4, data);
}

static void translate(const Test *test, Translated *to) {
    Writer writer = {.test = test, .to = to};
    if (!place_threads(&writer)) {
        return;
    }
    make_room(&writer);
    write_head(&writer);
    for (int t = 0; t < test->thread_count; t++) {
        if (!write_thread(&writer, t)) {
            return;
        }
    }
    line(&writer, "}\n");
    write_launch(&writer);
}

static Test test;

void litmus_translate(const char *text, Translated *to) {
    Verdict verdict;
    to->problem = to->unread = NULL;
    to->text[0] = to->launch[0] = '\0';
    if (!litmus_parse(text, &test, &to->unread)) {
        return;
    }
    translate(&test, to);
    if (to->problem == NULL) {
        litmus_evaluate(&test, &verdict);
        to->race = verdict.race;
        to->in_order = verdict.in_order;
        to->holds = verdict.holds;
    }
}

bool litmus_decides(const int32_t *out, const int32_t *mem) {
    Final final;
    for (int t = 0; t < MAX_THREADS; t++) {
        for (int i = 0; i < MAX_REGISTERS; i++) {
            bool here = t < test.thread_count && used(&test.threads[t], i);
            final.registers[t][i] = here ? out[t * MAX_REGISTERS + i] : test.threads[t].initial[i];
        }
    }
    for (int i = 0; i < MAX_PLACES; i++) {
        final.memory[i] = mem[i * PLACE_BYTES / 4];
    }
    return litmus_condition(&test, &final) != (test.quantifier == QUANTIFIER_FORALL);
}

bool litmus_holds(bool decided) {
    return test.quantifier == QUANTIFIER_EXISTS ? decided : !decided;
}
