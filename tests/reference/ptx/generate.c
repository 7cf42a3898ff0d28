/* Random kernels: integers and predicates, guards, branches that lanes take or not, loops that they leave in different
 * turns, loads, shuffles. Compilers write few of the things that an analysis can get wrong; this writes the others. */
#include "values.h"

typedef struct Writer {
    Text *text;
    uint64_t state;
    unsigned labels, loops; /* loops: that are open; each has a counter of its own */
    unsigned left;          /* statements that there may still be */
} Writer;

static unsigned pick(Writer *w, unsigned count) {
    uint64_t x = w->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((x ^ x >> 31) >> 16) % count;
}

enum { NARROW = 14, WIDE = 7, PREDICATES = 6, MOST_LOOPS = 3 };

/* A number that code has: a mask, a power of two, a small one, or any. */
static uint64_t constant(Writer *w) {
    switch (pick(w, 6)) {
    case 0:
        return UINT64_C(1) << pick(w, 32);
    case 1:
        return (UINT64_C(1) << pick(w, 33)) - 1;
    case 2:
        return pick(w, 40);
    case 3:
        return (uint32_t) - (int)pick(w, 20);
    case 4:
        return (uint32_t) ~((UINT64_C(1) << pick(w, 12)) - 1);
    default:
        return pick(w, UINT32_MAX);
    }
}

/* One placeholder of a template: D a register to write, A one to read, I one or a number, S a shift; L, M and J are the
 * same with 64 bits, P and Q predicates, N a number below 32, K a selector of prmt, T any word as a table of lop3. */
static void placeholder(Writer *w, char kind) {
    switch (kind) {
    case 'D':
        text_addf(w->text, "%%r%u", pick(w, NARROW));
        return;
    case 'A':
        if (w->loops && !pick(w, 6))
            text_addf(w->text, "%%c%u", pick(w, w->loops));
        else
            text_addf(w->text, "%%r%u", pick(w, NARROW));
        return;
    case 'I':
        if (pick(w, 2))
            placeholder(w, 'A');
        else
            text_addf(w->text, "%u", (uint32_t)constant(w));
        return;
    case 'S':
        if (pick(w, 5))
            text_addf(w->text, "%u", pick(w, 34));
        else
            placeholder(w, 'A');
        return;
    case 'L':
    case 'M':
        text_addf(w->text, "%%rd%u", pick(w, WIDE));
        return;
    case 'J':
        if (pick(w, 2))
            placeholder(w, 'M');
        else
            text_addf(w->text, "%u", (uint32_t)constant(w));
        return;
    case 'P':
    case 'Q':
        text_addf(w->text, "%%p%u", pick(w, PREDICATES));
        return;
    case 'N':
        text_addf(w->text, "%u", pick(w, 32));
        return;
    case 'K':
        text_addf(w->text, "0x%x", pick(w, 0x10000));
        return;
    default:
        text_addf(w->text, "%u", pick(w, 256));
    }
}

static const char *const templates[] = {
    "add.s32 $D, $A, $I;",
    "sub.s32 $D, $A, $I;",
    "mul.lo.s32 $D, $A, $I;",
    "mad.lo.s32 $D, $A, $I, $A;",
    "mul.hi.u32 $D, $A, $I;",
    "mul.hi.s32 $D, $A, $I;",
    "mul24.lo.u32 $D, $A, $I;",
    "div.u32 $D, $A, $I;",
    "div.s32 $D, $A, $I;",
    "rem.u32 $D, $A, $I;",
    "rem.s32 $D, $A, $I;",
    "abs.s32 $D, $A;",
    "neg.s32 $D, $A;",
    "min.s32 $D, $A, $I;",
    "max.u32 $D, $A, $I;",
    "sad.u32 $D, $A, $I, $A;",
    "add.sat.s32 $D, $A, $I;",
    "and.b32 $D, $A, $I;",
    "and.b32 $D, $A, $I;",
    "or.b32 $D, $A, $I;",
    "xor.b32 $D, $A, $I;",
    "not.b32 $D, $A;",
    "cnot.b32 $D, $A;",
    "shl.b32 $D, $A, $S;",
    "shl.b32 $D, $A, $S;",
    "shr.u32 $D, $A, $S;",
    "shr.s32 $D, $A, $S;",
    "shf.l.wrap.b32 $D, $A, $A, $S;",
    "shf.r.clamp.b32 $D, $A, $A, $S;",
    "lop3.b32 $D, $A, $A, $I, $T;",
    "prmt.b32 $D, $A, $I, $K;",
    "bfe.u32 $D, $A, $N, $N;",
    "bfe.s32 $D, $A, $N, $N;",
    "bfi.b32 $D, $A, $A, $N, $N;",
    "brev.b32 $D, $A;",
    "popc.b32 $D, $A;",
    "clz.b32 $D, $A;",
    "bfind.u32 $D, $A;",
    "szext.wrap.s32 $D, $A, $N;",
    "bmsk.clamp.b32 $D, $N, $N;",
    "dp4a.u32.s32 $D, $A, $I, $A;",
    "selp.b32 $D, $A, $I, $P;",
    "slct.b32.s32 $D, $A, $I, $A;",
    "set.lt.u32.s32 $D, $A, $I;",
    "cvt.s32.s8 $D, $A;",
    "cvt.u32.u8 $D, $A;",
    "cvt.s32.s16 $D, $A;",
    "cvt.u32.u16 $D, $A;",
    "cvt.sat.u8.s32 $D, $A;",
    "cvt.u32.u64 $D, $M;",
    "cvt.s64.s32 $L, $A;",
    "cvt.u64.u32 $L, $A;",
    "mul.wide.s32 $L, $A, $I;",
    "mul.wide.u32 $L, $A, $I;",
    "mad.wide.s32 $L, $A, $I, $M;",
    "mad.wide.u32 $L, $A, $I, $M;",
    "add.s64 $L, $M, $J;",
    "sub.s64 $L, $M, $J;",
    "mul.lo.s64 $L, $M, $J;",
    "and.b64 $L, $M, $J;",
    "or.b64 $L, $M, $J;",
    "xor.b64 $L, $M, $M;",
    "shl.b64 $L, $M, $S;",
    "shr.u64 $L, $M, $S;",
    "shr.s64 $L, $M, $S;",
    "selp.b64 $L, $M, $J, $P;",
    "mov.b64 $L, {$A, $A};",
    "mov.b64 {$D, _}, $M;",
    "mov.b64 {_, $D}, $M;",
    "mov.b32 $D, $I;",
    "mov.b64 $L, $M;",
    "setp.lt.s32 $P, $A, $I;",
    "setp.lt.u32 $P, $A, $I;",
    "setp.eq.s32 $P, $A, $I;",
    "setp.ne.b64 $P, $M, $J;",
    "setp.ge.and.s32 $P, $A, $I, $Q;",
    "setp.gt.or.u32 $P, $A, $I, !$Q;",
    "and.pred $P, $P, $Q;",
    "xor.pred $P, $P, $Q;",
    "not.pred $P, $Q;",
    "add.cc.u32 $D, $A, $I; addc.u32 $D, $A, $I;",
    "shfl.sync.idx.b32 $D, $A, $I, 31, -1;",
    "shfl.sync.idx.b32 $D, $A, $N, 31, -1;",
    "shfl.sync.bfly.b32 $D, $A, $N, 31, -1;",
    "shfl.sync.up.b32 $D|$P, $A, $N, 0, -1;",
    "shfl.sync.down.b32 $D, $A, $N, 0x181f, -1;",
    "vote.sync.ballot.b32 $D, $P, -1;",
    "vote.sync.any.pred $P, $Q, -1;",
    "match.any.sync.b32 $D, $A, -1;",
    "redux.sync.add.u32 $D, $A, -1;",
    "redux.sync.max.s32 $D, $A, -1;",
    "activemask.b32 $D;",
    "elect.sync _|$P, -1;",
    "mov.u32 $D, %laneid;",
    "mov.u32 $D, %tid.x;",
    "mov.u32 $D, %tid.y;",
    "mov.u32 $D, %ctaid.x;",
    "mov.u32 $D, %warpid;",
    "mov.u32 $D, %lanemask_lt;",
    "mov.u32 $D, %cluster_ctarank;",
    "and.b32 %t, $A, 252; mov.u32 %u, words; add.s32 %t, %t, %u; ld.shared.b32 $D, [%t];",
    "and.b32 %t, $A, 252; mov.u32 %u, words; add.s32 %t, %t, %u; st.shared.b32 [%t], $A;",
    "and.b32 %t, $A, 252; cvt.u64.u32 %a, %t; add.s64 %a, %a, %out; ld.global.b32 $D, [%a];",
    "and.b32 %t, $A, 252; cvt.u64.u32 %a, %t; add.s64 %a, %a, %out; st.global.b32 [%a], $A;",
    "and.b32 %t, $A, 252; cvt.u64.u32 %a, %t; add.s64 %a, %a, %out; atom.global.add.u32 $D, [%a], $A;",
    "mov.b64 %a, words; cvta.shared.u64 %a, %a; ld.b32 $D, [%a+8];",
    "ld.param.b32 $D, [n];",
    "ld.param.b32 $D, [more];",
};

static void write_template(Writer *w, const char *template, unsigned guard) {
    text_char(w->text, '\t');
    for (const char *at = template; *at; at++) {
        if (at == template || (at[-1] == ' ' && at > template + 1 && at[-2] == ';'))
            if (guard)
                text_addf(w->text, "@%s%%p%u ", guard & 1 ? "!" : "", guard / 2 - 1);
        if (*at == '$')
            placeholder(w, *++at);
        else
            text_char(w->text, *at);
    }
    text_char(w->text, '\n');
}

static void write_block(Writer *w, unsigned deep);

static void write_choice(Writer *w, unsigned deep) {
    unsigned label = w->labels++, predicate = pick(w, PREDICATES);
    bool other = pick(w, 2);
    text_addf(w->text, "\t@%%p%u bra ELSE%u;\n", predicate, label);
    write_block(w, deep + 1);
    if (other)
        text_addf(w->text, "\tbra END%u;\n", label);
    text_addf(w->text, "ELSE%u:\n", label);
    if (other) {
        write_block(w, deep + 1);
        text_addf(w->text, "END%u:\n", label);
    }
}

/* At most four turns; how many may be told by a register, and some lanes may leave it, or begin the next turn early. */
static void write_loop(Writer *w, unsigned deep) {
    unsigned label = w->labels++, counter = w->loops++;
    text_addf(w->text, "\tmov.b32 %%c%u, 0;\nLOOP%u:\n\tadd.s32 %%c%u, %%c%u, 1;\n", counter, label, counter, counter);
    write_block(w, deep + 1);
    if (!pick(w, 3))
        text_addf(w->text, "\t@%%p%u bra OUT%u;\n", pick(w, PREDICATES), label);
    if (!pick(w, 4)) {
        text_addf(w->text, "\tsetp.lt.and.u32 %%q, %%c%u, 4, %%p%u;\n\t@%%q bra LOOP%u;\n", counter,
                  pick(w, PREDICATES), label);
        write_block(w, deep + 1);
    }
    if (pick(w, 2))
        text_addf(w->text, "\tmov.b32 %%t, %u;\n", 1 + pick(w, 4));
    else
        text_addf(w->text, "\tand.b32 %%t, %%r%u, 3;\n", pick(w, NARROW));
    text_addf(w->text, "\tsetp.lt.u32 %%q, %%c%u, %%t;\n\t@%%q bra LOOP%u;\nOUT%u:\n", counter, label, label);
    w->loops--;
}

static void write_block(Writer *w, unsigned deep) {
    for (unsigned count = 1 + pick(w, deep ? 6 : 80); count && w->left; count--, w->left--) {
        unsigned kind = pick(w, 20);
        if (kind == 0 && deep < 4)
            write_choice(w, deep);
        else if (kind == 1 && deep < 4 && w->loops < MOST_LOOPS)
            write_loop(w, deep);
        else if (kind == 2 && deep && !pick(w, 8))
            text_addf(w->text, "\t@%%p%u exit;\n", pick(w, PREDICATES));
        else
            write_template(w, templates[pick(w, sizeof templates / sizeof *templates)],
                           pick(w, 6) ? 0 : 2 + pick(w, 2 * PREDICATES));
    }
}

void generate_kernel(uint64_t seed, Text *text) {
    Writer w = {.text = text, .state = seed, .left = 200};
    text_addf(text, ".version 8.7\n.target sm_90a\n.address_size 64\n.shared .align 4 .b32 words[64];\n"
                    ".visible .entry random(.param .u64 out, .param .u32 n, .param .u32 more)\n{\n");
    text_addf(text,
              "\t.reg .pred %%p<%u>, %%q; .reg .b32 %%r<%u>, %%c<%u>, %%t, %%u; .reg .b64 %%rd<%u>, %%a, %%out;\n",
              PREDICATES, NARROW, MOST_LOOPS, WIDE);
    text_addf(
        text,
        "\tld.param.u64 %%out, [out];\n\tld.param.u32 %%r2, [n];\n\tld.param.u32 %%r3, [more];\n"
        "\tmov.u32 %%r0, %%tid.x;\n\tmov.u32 %%r1, %%laneid;\n\tmov.u32 %%r4, %%ctaid.x;\n\tmov.u32 %%r5, %%ntid.x;\n"
        "\tshr.u32 %%r6, %%r0, 5;\n\tmad.lo.s32 %%r7, %%r4, %%r5, %%r0;\n\tmov.b32 %%r8, 64;\n\tmov.b32 %%r9, 1;\n");
    for (unsigned i = 10; i < NARROW; i++)
        text_addf(text, "\tadd.s32 %%r%u, %%r%u, %u;\n", i, pick(&w, 10), pick(&w, 9));
    for (unsigned i = 0; i < WIDE; i++)
        text_addf(text, "\tmad.wide.s32 %%rd%u, %%r%u, %u, %%out;\n", i, pick(&w, NARROW), 1u << pick(&w, 5));
    for (unsigned i = 0; i < PREDICATES; i++)
        text_addf(text, "\tsetp.lt.u32 %%p%u, %%r%u, %u;\n", i, pick(&w, 8), pick(&w, 70));
    write_block(&w, 0);
    text_addf(text, "\tst.global.b32 [%%out], %%r9;\n\tret;\n}\n");
}
