/* Forms taken apart: "ld.global.v2.b32" is a load from global memory of two 32-bit words. */
#include "internal.h"

static const struct {
    const char *name;
    uint64_t word;
} words[] = {
#define W(word) {#word, UINT64_C(1) << W_##word},
    WORDS(W)
#undef W
};

static const struct {
    const char *name;
    Space space;
} spaces[] = {
    {"global", IN_GLOBAL},     {"shared", IN_SHARED}, {"shared::cta", IN_SHARED}, {"shared::cluster", IN_CLUSTER},
    {"local", IN_LOCAL},       {"const", IN_CONST},   {"param", IN_PARAM},        {"param::entry", IN_PARAM},
    {"param::func", IN_PARAM},
};

/* ORDER with Compare */
static const char *const compares_[] = {"",   "eq",  "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls", "hi",
                                        "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

/* Opcodes, each with the words that it has to have; the first that fits is it. */
static const struct {
    const char *opcode, *needs;
    Does does;
} opcodes[] = {
#define OP(name) {#name, NULL, DOES_##name},
    LANEWISE(OP)
#undef OP
        {"tanh", NULL, DOES_PURE},
    {"vadd", NULL, DOES_PURE},
    {"vsub", NULL, DOES_PURE},
    {"vabsdiff", NULL, DOES_PURE},
    {"vmin", NULL, DOES_PURE},
    {"vmax", NULL, DOES_PURE},
    {"vshl", NULL, DOES_PURE},
    {"vshr", NULL, DOES_PURE},
    {"vmad", NULL, DOES_PURE},
    {"vset", NULL, DOES_PURE},
    {"vadd2", NULL, DOES_PURE},
    {"vsub2", NULL, DOES_PURE},
    {"vavrg2", NULL, DOES_PURE},
    {"vabsdiff2", NULL, DOES_PURE},
    {"vmin2", NULL, DOES_PURE},
    {"vmax2", NULL, DOES_PURE},
    {"vset2", NULL, DOES_PURE},
    {"vadd4", NULL, DOES_PURE},
    {"vsub4", NULL, DOES_PURE},
    {"vavrg4", NULL, DOES_PURE},
    {"vabsdiff4", NULL, DOES_PURE},
    {"vmin4", NULL, DOES_PURE},
    {"vmax4", NULL, DOES_PURE},
    {"vset4", NULL, DOES_PURE},
    {"createpolicy", NULL, DOES_PURE},
    {"istypep", NULL, DOES_PURE},
    {"txq", NULL, DOES_PURE},
    {"suq", NULL, DOES_PURE},
    {"mov", NULL, DOES_MOVE},
    {"cvta", NULL, DOES_CVTA},
    {"isspacep", NULL, DOES_ISSPACEP},
    {"mapa", NULL, DOES_MAPA},
    {"getctarank", NULL, DOES_RANK},
    {"alloca", NULL, DOES_ALLOCATE},
    {"stacksave", NULL, DOES_HAVOC_DEPENDENT},
    {"stackrestore", NULL, DOES_NOTHING},
    {"ld", NULL, DOES_LOAD},
    {"ldu", NULL, DOES_LOAD},
    {"st", "async", DOES_NOTHING},
    {"st", "bulk", DOES_NOTHING},
    {"st", NULL, DOES_STORE},
    {"red", "async", DOES_NOTHING},
    {"red", NULL, DOES_ATOM},
    {"atom", NULL, DOES_ATOM},
    {"multimem", "ld_reduce", DOES_HAVOC_DEPENDENT},
    {"multimem", NULL, DOES_NOTHING},
    {"shfl", NULL, DOES_SHUFFLE},
    {"vote", NULL, DOES_VOTE},
    {"match", NULL, DOES_MATCH},
    {"activemask", NULL, DOES_ACTIVEMASK},
    {"redux", NULL, DOES_REDUX},
    {"elect", NULL, DOES_ELECT},
    {"bra", NULL, DOES_BRANCH},
    {"brx", NULL, DOES_TABLE},
    {"call", NULL, DOES_CALL},
    {"ret", NULL, DOES_RETURN},
    {"exit", NULL, DOES_EXIT},
    {"trap", NULL, DOES_TRAP},
    {"brkpt", NULL, DOES_NOTHING},
    {"nanosleep", NULL, DOES_NOTHING},
    {"pmevent", NULL, DOES_NOTHING},
    {"setmaxnreg", NULL, DOES_NOTHING},
    {"griddepcontrol", NULL, DOES_NOTHING},
    {"bar", "warp", DOES_NOTHING},
    {"bar", "arrive", DOES_ARRIVE},
    {"bar", NULL, DOES_SYNC},
    {"barrier", "wait", DOES_CLUSTER_WAIT},
    {"barrier", "cluster", DOES_CLUSTER_ARRIVE},
    {"barrier", "arrive", DOES_ARRIVE},
    {"barrier", NULL, DOES_SYNC},
    {"fence", NULL, DOES_NOTHING},
    {"membar", NULL, DOES_NOTHING},
    {"cp", NULL, DOES_NOTHING},
    {"prefetch", NULL, DOES_NOTHING},
    {"prefetchu", NULL, DOES_NOTHING},
    {"applypriority", NULL, DOES_NOTHING},
    {"discard", NULL, DOES_NOTHING},
    {"tensormap", NULL, DOES_NOTHING},
    {"mbarrier", "pending_count", DOES_PURE},
    {"mbarrier", "test_wait", DOES_WAIT},
    {"mbarrier", "try_wait", DOES_WAIT},
    {"mbarrier", "arrive", DOES_HAVOC_DEPENDENT},
    {"mbarrier", "arrive_drop", DOES_HAVOC_DEPENDENT},
    {"mbarrier", NULL, DOES_NOTHING},
    {"clusterlaunchcontrol", "query_cancel", DOES_PURE},
    {"clusterlaunchcontrol", NULL, DOES_NOTHING},
    {"tex", NULL, DOES_HAVOC_DEPENDENT},
    {"tld4", NULL, DOES_HAVOC_DEPENDENT},
    {"suld", NULL, DOES_HAVOC_DEPENDENT},
    {"sust", NULL, DOES_NOTHING},
    {"sured", NULL, DOES_NOTHING},
    {"ldmatrix", NULL, DOES_HAVOC_DEPENDENT},
    {"movmatrix", NULL, DOES_HAVOC_DEPENDENT},
    {"stmatrix", NULL, DOES_NOTHING},
    {"mma", NULL, DOES_HAVOC_DEPENDENT},
    {"wmma", "store", DOES_NOTHING},
    {"wmma", NULL, DOES_HAVOC_DEPENDENT},
    {"wgmma", "mma_async", DOES_HAVOC_DEPENDENT},
    {"wgmma", NULL, DOES_NOTHING},
    {"tcgen05", "ld", DOES_HAVOC_DEPENDENT},
    {"tcgen05", NULL, DOES_NOTHING},
};

static const struct {
    const char *name;
    Type type;
} types[] = {
    {"pred", {PREDICATE, 1}},
    {"b8", {BITS, 8}},
    {"b16", {BITS, 16}},
    {"b32", {BITS, 32}},
    {"b64", {BITS, 64}},
    {"b128", {BITS, 128}},
    {"u8", {UNSIGNED, 8}},
    {"u16", {UNSIGNED, 16}},
    {"u32", {UNSIGNED, 32}},
    {"u64", {UNSIGNED, 64}},
    {"s8", {SIGNED, 8}},
    {"s16", {SIGNED, 16}},
    {"s32", {SIGNED, 32}},
    {"s64", {SIGNED, 64}},
    {"f16", {OTHER_REAL, 16}},
    {"f32", {REAL, 32}},
    {"f64", {REAL, 64}},
    {"bf16", {OTHER_REAL, 16}},
    {"f16x2", {OTHER_REAL, 32}},
    {"bf16x2", {OTHER_REAL, 32}},
    {"f32x2", {OTHER_REAL, 64}},
    {"tf32", {OTHER_REAL, 32}},
    {"u16x2", {PAIR_UNSIGNED, 32}},
    {"s16x2", {PAIR_SIGNED, 32}},
    {"e4m3x2", {OTHER_REAL, 16}},
    {"e5m2x2", {OTHER_REAL, 16}},
    {"e2m3x2", {OTHER_REAL, 16}},
    {"e3m2x2", {OTHER_REAL, 16}},
    {"e2m1x2", {OTHER_REAL, 8}},
    {"ue8m0x2", {OTHER_REAL, 16}},
    {"e4m3x4", {OTHER_REAL, 32}},
    {"e5m2x4", {OTHER_REAL, 32}},
    {"e2m3x4", {OTHER_REAL, 32}},
    {"e3m2x4", {OTHER_REAL, 32}},
    {"e2m1x4", {OTHER_REAL, 16}},
};

Type type_of_name(Str name) {
    if (name.size && name.data[0] == '.')
        name = (Str){name.data + 1, name.size - 1};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_is(name, types[i].name))
            return types[i].type;
    return (Type){NO_TYPE, 0};
}

static bool form_says(Str text, const char *word) {
    for (Str left = text, part; left.size;) {
        const char *dot = memchr(left.data, '.', left.size);
        part = dot ? str_between(left.data, dot) : left;
        left = dot ? str_between(dot + 1, left.data + left.size) : (Str){"", 0};
        if (str_is(part, word))
            return true;
    }
    return false;
}

static void take_word(Verb *form, Str word) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(word, words[i].name))
            form->words |= words[i].word;
    for (size_t i = 1; i < sizeof compares_ / sizeof *compares_; i++)
        if (str_is(word, compares_[i]))
            form->compare = (Compare)i;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (str_is(word, spaces[i].name)) {
            if (form->space == GENERIC)
                form->space = spaces[i].space;
            else
                form->second = spaces[i].space;
        }
    Type type = type_of_name(word);
    if (type.class != NO_TYPE && form->type_count < 4)
        form->types[form->type_count++] = type;
}

void form_take_apart(Verb *form, Str text) {
    *form = (Verb){.text = text, .does = DOES_NOT_KNOWN, .vector = 1};
    const char *dot = memchr(text.data, '.', text.size);
    Str opcode = dot ? str_between(text.data, dot) : text;
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (str_is(opcode, opcodes[i].opcode) && (!opcodes[i].needs || form_says(text, opcodes[i].needs))) {
            form->does = opcodes[i].does;
            break;
        }
    while (dot) {
        const char *begin = dot + 1, *end = text.data + text.size;
        dot = memchr(begin, '.', (size_t)(end - begin));
        take_word(form, str_between(begin, dot ? dot : end));
    }
    form->vector = has(form, W_v8) ? 8 : has(form, W_v4) ? 4 : has(form, W_v2) ? 2 : 1;
    if (form->does == DOES_cvt && form_says(text, "pack"))
        form->does = DOES_PURE;
    if (str_is(opcode, "tcgen05") && form->space == GENERIC && !form_says(text, "commit") && !form_says(text, "alloc"))
        form->space = IN_TENSOR;
}
