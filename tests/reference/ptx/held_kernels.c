/* Random kernels whose memory is the same in every order of their threads. */
#include "held.h"
#include "values.h"

typedef struct Writer {
    Text *text;
    uint64_t state;
    unsigned labels, left, loops;
    bool kernel; /* not in a function: it may call */
} Writer;

static unsigned pick(Writer *w, unsigned count) {
    uint64_t x = w->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((x ^ x >> 31) >> 16) % count;
}

/* ---- Those of generate.c ---- */

/* What asks other threads, or writes what they read. */
static bool asks_others(Str line) {
    static const char *const words[] = {".sync", "activemask", ".shared", "words", "atom.", "st.global"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_mentions(line, str_of(words[i])))
            return true;
    return false;
}

void held_values_kernel(uint64_t seed, Text *text) {
    Text whole = {0};
    generate_kernel(seed, &whole);
    const char *at = whole.data, *end = whole.data + whole.size;
    while (at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        Str line = str_between(at, next ? next + 1 : end);
        at += line.size;
        if (str_is(line, "\tret;\n")) {
            text_addf(text, "\tmov.u32 %%t, %%ctaid.x; mov.u32 %%u, %%ntid.x; mov.u32 %%c0, %%tid.x;\n"
                            "\tmad.lo.u32 %%t, %%t, %%u, %%c0; mad.wide.u32 %%a, %%t, 128, %%out;\n");
            for (unsigned i = 0; i < 14; i++)
                text_addf(text, "\tst.global.b32 [%%a+%u], %%r%u;\n", 256 + 4 * i, i);
            for (unsigned i = 0; i < 7; i++)
                text_addf(text, "\tst.global.b64 [%%a+%u], %%rd%u;\n", 256 + 56 + 8 * i, i);
            text_addf(text,
                      "\tselp.u32 %%t, 1, 0, %%p0; selp.u32 %%u, 2, 0, %%p1; or.b32 %%t, %%t, %%u;\n"
                      "\tst.global.b32 [%%a+%u], %%t;\n",
                      256 + 112);
        }
        if (!asks_others(line) || str_mentions(line, STR(".shared .align")))
            text_str(text, line);
    }
    text_free(&whole);
}

/* ---- Control and memory ---- */

enum { WORDS = 8 };

/* $D and $A are registers, $N a number; $a the address of one of the thread's own words, by a register: $g in global,
 * $s in shared, $l in local memory, $x a generic one of one of them; $C a word to which all add. */
static const char *const templates[] = {
    "add.u32 $D, $A, $A;",
    "mad.lo.u32 $D, $A, $N, $A;",
    "xor.b32 $D, $A, $N;",
    "shr.u32 $D, $A, 3;",
    "and.b32 %t, $A, 7; mad.wide.u32 %a, %t, 4, %g; st.global.b32 [%a], $A;",
    "and.b32 %t, $A, 7; mad.wide.u32 %a, %t, 4, %g; ld.global.b32 $D, [%a];",
    "and.b32 %t, $A, 7; mad.lo.u32 %t, %t, 4, %s; st.shared.b32 [%t], $A;",
    "and.b32 %t, $A, 7; mad.lo.u32 %t, %t, 4, %s; ld.shared.b32 $D, [%t];",
    "and.b32 %t, $A, 7; mad.wide.u32 %a, %t, 4, %l; st.local.b32 [%a], $A;",
    "and.b32 %t, $A, 7; mad.wide.u32 %a, %t, 4, %l; ld.local.b32 $D, [%a];",
    "and.b32 %t, $A, 7; mad.wide.u32 %a, %t, 4, %xs; st.b32 [%a], $A;",
    "and.b32 %t, $A, 7; mad.wide.u32 %a, %t, 4, %xl; ld.b32 $D, [%a];",
    "and.b32 %t, $A, 7; mad.wide.u32 %a, %t, 4, %xl; st.b32 [%a], $A;",
    "and.b32 %t, $A, 31; mad.wide.u32 %a, %t, 1, %g; ld.global.s8 $D, [%a];",
    "and.b32 %t, $A, 15; mad.wide.u32 %a, %t, 2, %g; ld.global.s16 $D, [%a];",
    "and.b32 %t, $A, 31; add.u32 %t, %t, %s; st.shared.b8 [%t], $A;",
    "and.b32 %t, $A, 15; mad.lo.u32 %t, %t, 2, %s; ld.shared.u16 $D, [%t];",
    "and.b32 %t, $A, 1; mad.wide.u32 %a, %t, 16, %g; ld.global.v4.b32 {$D, _, %u, %v}, [%a]; add.u32 $D, %u, %v;",
    "and.b32 %t, $A, 3; mad.lo.u32 %t, %t, 8, %s; st.shared.v2.b32 [%t], {$A, $A};",
    "and.b32 %t, $A, 7; mad.wide.u32 %a, %t, 4, %g; atom.global.exch.b32 $D, [%a], $A;",
    "and.b32 %t, $A, 7; mad.lo.u32 %t, %t, 4, %s; atom.shared.add.u32 $D, [%t], $A;",
    "and.b32 %t, $A, 7; mad.wide.u32 %a, %t, 4, %g; atom.global.cas.b32 $D, [%a], $A, $A;",
    "and.b32 %t, $A, 7; mad.wide.u32 %a, %t, 4, %g; atom.global.max.s32 $D, [%a], $A;",
    "and.b32 %t, $A, 7; mad.wide.u32 %a, %t, 4, %out; red.global.add.u32 [%a], $A;",
    "and.b32 %t, $A, 7; mad.wide.u32 %a, %t, 4, %out; red.global.xor.b32 [%a+32], $A;",
    "and.b32 %t, $A, 7; mad.wide.u32 %a, %t, 4, %out; red.global.max.u32 [%a+64], $A;",
};

static void write_template(Writer *w, const char *template) {
    for (const char *at = template; *at; at++) {
        if (*at != '$') {
            text_char(w->text, *at);
            continue;
        }
        at++;
        if (*at == 'N')
            text_addf(w->text, "%u", pick(w, 1000));
        else
            text_addf(w->text, "%%r%u", pick(w, WORDS));
    }
    text_char(w->text, '\n');
}

static void write_block(Writer *w, unsigned deep);

static void write_choice(Writer *w, unsigned deep) {
    unsigned label = w->labels++;
    text_addf(w->text, "and.b32 %%t, %%r%u, %u; setp.eq.u32 %%p, %%t, %u; @%%p bra ELSE%u;\n", pick(w, WORDS),
              1u << pick(w, 3), pick(w, 2) ? 0 : 1, label);
    write_block(w, deep + 1);
    text_addf(w->text, "bra END%u;\nELSE%u:\n", label, label);
    write_block(w, deep + 1);
    text_addf(w->text, "END%u:\n", label);
}

static void write_loop(Writer *w, unsigned deep) {
    unsigned label = w->labels++, counter = w->loops++;
    text_addf(w->text, "and.b32 %%c%u, %%r%u, 3;\nLOOP%u:\n", counter, pick(w, WORDS), label);
    write_block(w, deep + 1);
    if (!pick(w, 3)) /* a way out of the middle */
        text_addf(w->text, "and.b32 %%t, %%r%u, 64; setp.ne.u32 %%p, %%t, 0; @%%p bra OUT%u;\n", pick(w, WORDS), label);
    write_block(w, deep + 1);
    text_addf(w->text, "sub.u32 %%c%u, %%c%u, 1; setp.lt.s32 %%p, %%c%u, 0; @!%%p bra LOOP%u;\nOUT%u:\n", counter,
              counter, counter, label, label);
    w->loops--;
}

static void write_table(Writer *w, unsigned deep) {
    unsigned label = w->labels++;
    text_addf(w->text, "and.b32 %%t, %%r%u, 3;\nT%u: .branchtargets A%u, B%u, A%u, C%u;\nbrx.idx %%t, T%u;\nA%u:\n",
              pick(w, WORDS), label, label, label, label, label, label, label);
    write_block(w, deep + 1);
    text_addf(w->text, "bra END%u;\nB%u:\n", label, label);
    write_block(w, deep + 1);
    text_addf(w->text, "C%u:\n", label);
    write_block(w, deep + 1);
    text_addf(w->text, "END%u:\n", label);
}

static void write_call(Writer *w) {
    if (pick(w, 2))
        text_addf(w->text,
                  "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %%r%u; call (y), down, (x); ld.param.b32 %%r%u, "
                  "[y]; }\n",
                  pick(w, WORDS), pick(w, WORDS));
    else
        text_addf(w->text, "call (%%r%u), mixed, (%%r%u, %%r%u);\n", pick(w, WORDS), pick(w, WORDS), pick(w, WORDS));
}

static void write_block(Writer *w, unsigned deep) {
    for (unsigned count = 1 + pick(w, deep ? 5 : 40); count && w->left; count--, w->left--) {
        unsigned kind = pick(w, 16);
        if (kind == 0 && deep < 4)
            write_choice(w, deep);
        else if (kind == 1 && deep < 3 && w->loops < 3)
            write_loop(w, deep);
        else if (kind == 2 && deep < 3)
            write_table(w, deep);
        else if (kind == 3)
            write_call(w);
        else
            write_template(w, templates[pick(w, sizeof templates / sizeof *templates)]);
    }
}

/* As deep as the lowest bits of its argument, with something of its own on the stack; and one in registers. */
static const char *const functions =
    ".func (.param .b32 result) down(.param .b32 a)\n"
    "{ .reg .b32 %r<8>; .reg .pred %p; .local .align 4 .b32 kept; ld.param.b32 %r1, [a]; mov.u32 %r5, %r1;\n"
    "and.b32 %r2, %r1, 7; setp.eq.u32 %p, %r2, 0; @%p bra END; st.local.b32 [kept], %r1; sub.u32 %r3, %r1, 1;\n"
    "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r3; call (y), down, (x); ld.param.b32 %r4, [y]; }\n"
    "ld.local.b32 %r6, [kept]; mad.lo.u32 %r5, %r4, 3, %r6;\nEND: st.param.b32 [result], %r5; ret; }\n"
    ".func (.reg .b32 to) mixed(.reg .b32 from, .reg .b32 other)\n"
    "{ .reg .pred %p; setp.lt.u32 %p, from, other; @%p bra LESS; sub.u32 to, from, other; ret;\n"
    "LESS: xor.b32 to, from, other; ret; }\n";

void held_memory_kernel(uint64_t seed, Text *text) {
    Writer w = {.text = text, .state = seed, .left = 120, .kernel = true};
    text_addf(text, ".version 8.7\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 words[4096];\n%s",
              functions);
    text_addf(
        text,
        ".visible .entry random(.param .u64 out, .param .u32 n, .param .u32 more)\n{\n"
        ".reg .pred %%p; .reg .b32 %%r<%u>, %%c<3>, %%t, %%u, %%v, %%s, %%id; .reg .b64 %%a, %%out, %%g, %%l, %%xs, "
        "%%xl;\n.local .align 16 .b8 own[32];\n"
        "ld.param.u64 %%out, [out]; mov.u32 %%t, %%ctaid.x; mov.u32 %%u, %%ntid.x; mov.u32 %%v, %%tid.x;\n"
        "mad.lo.u32 %%id, %%t, %%u, %%v; mad.wide.u32 %%g, %%id, 32, %%out; add.s64 %%g, %%g, 1024;\n"
        "mov.u32 %%s, words; mad.lo.u32 %%s, %%v, 32, %%s; mov.u64 %%l, own; cvta.local.u64 %%xl, %%l;\n"
        "cvt.u64.u32 %%a, %%s; cvta.shared.u64 %%xs, %%a;\n",
        WORDS);
    for (unsigned i = 0; i < WORDS; i++)
        text_addf(text,
                  "mad.lo.u32 %%r%u, %%id, %u, %u; st.shared.b32 [%%s+%u], %%r%u; st.local.b32 [%%l+%u], %%r%u;\n", i,
                  pick(&w, 100), pick(&w, 1000), 4 * i, i, 4 * i, i);
    write_block(&w, 0);
    text_addf(text, "mad.wide.u32 %%a, %%id, 128, %%out;\n");
    for (unsigned i = 0; i < WORDS; i++)
        text_addf(text,
                  "st.global.b32 [%%a+%u], %%r%u; ld.shared.b32 %%t, [%%s+%u]; st.global.b32 [%%a+%u], %%t;\n"
                  "ld.local.b32 %%t, [%%l+%u]; st.global.b32 [%%a+%u], %%t;\n",
                  8192 + 4 * i, i, 4 * i, 8192 + 32 + 4 * i, 4 * i, 8192 + 64 + 4 * i);
    text_addf(text, "ret;\n}\n");
}
