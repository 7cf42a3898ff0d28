/* What the analysis says of values, held against the values that they have. */
#include "values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What is looked at in one operand whenever its instruction is run. */
typedef struct Look {
    uint32_t operand;
    bool written, address;
    Form form;
    PtxOrigin origin;
} Look;

/* One function, analyzed. */
typedef struct Reported {
    bool ready, failed;
    PtxFlow flow;
    PtxValues values;
    uint32_t *instructions; /* of each statement of the function: its number in the flow */
    uint32_t *looks;        /* of each instruction: its first; the next one's first is where they end */
    Look *look;
    uint32_t look_count, look_capacity;
} Reported;

/* What a warp had: another one is to have the same. */
typedef struct Had {
    uint64_t key, base, stride;
    uint32_t warp, turn;
} Had;

enum { HAD = 1 << 20, WARPS = 1 << 14 };

struct Claims {
    const PtxModule *module;
    const char *file;
    PtxBlockShape given;
    Tally *tally;
    Reported *reported;
    Had *had;
    uint32_t had_count, turn;
    uint32_t *wrapped; /* of each warp: the turn in which an assumption broke in it */
    uint32_t *wrong;   /* operands whose claims did not hold, each said once */
    uint32_t wrong_count, wrong_capacity;
    unsigned show;
    bool mislead;
    Arena arena;
};

/* ---- Claims of a function ---- */

/* Makes claims wrong that the shape of the launch does not: bits that are known, and the space; and of what nothing is
 * known of, says something. */
static void spoil(Look *look) {
    if (look->form.kind == FORM_ANY && !look->form.zeros && !look->form.ones && look->form.lanes == FORM_LANE_BITS) {
        look->form.kind = look->operand & 1 ? FORM_AFFINE : FORM_BITS;
        look->form.span = SPAN_WARP;
    } else if (look->form.kind == FORM_ANY) {
        uint64_t zeros = look->form.zeros;
        look->form.zeros = look->form.ones;
        look->form.ones = zeros;
    }
    if (look->origin.space == PTX_SPACE_GLOBAL)
        look->origin.space = PTX_SPACE_LOCAL;
}

static void add_look(Claims *claims, Reported *reported, uint32_t operand, uint32_t statement, uint32_t instruction) {
    const PtxOperand *o = &claims->module->operands[operand];
    Look look = {.operand = operand, .address = o->kind == PTX_ADDRESS};
    if (o->kind == PTX_REGISTER) {
        uint32_t value = flow_value(&reported->flow, operand);
        if (value == PTX_NONE || o->part != PTX_WHOLE)
            return;
        const FlowValue *v = &reported->flow.values[value];
        look.written = v->kind == VALUE_RESULT && v->operand == operand && v->instruction == instruction;
        look.form = ptx_operand_form(&reported->values, operand);
        if (o->negated)
            return;
    } else if (o->kind == PTX_SPECIAL || o->kind == PTX_VARIABLE) {
        look.form = ptx_operand_form(&reported->values, operand);
    } else if (o->kind == PTX_ADDRESS) {
        look.form = ptx_address_form(&reported->values, statement, operand, &look.origin);
    } else {
        return;
    }
    if (claims->mislead)
        spoil(&look);
    *ARENA_PUSH(&claims->arena, reported->look, reported->look_count, reported->look_capacity) = look;
}

static void look_over(Claims *claims, Reported *reported, const PtxFunction *function) {
    const PtxFlow *flow = &reported->flow;
    reported->instructions = ARENA_ARRAY(&claims->arena, uint32_t, function->end - function->begin);
    reported->looks = ARENA_ARRAY(&claims->arena, uint32_t, flow->instruction_count + 1);
    for (uint32_t i = 0; i < flow->instruction_count; i++) {
        const PtxStatement *s = &claims->module->statements[flow->instructions[i]];
        reported->instructions[flow->instructions[i] - function->begin] = i;
        reported->looks[i] = reported->look_count;
        Str form = claims->module->forms[s->what].text;
        bool call = str_is(form, "call") || str_is(form, "call.uni");
        for (uint32_t o = s->first; !call && o < s->first + s->count; o++)
            add_look(claims, reported, o, flow->instructions[i], i);
    }
    reported->looks[flow->instruction_count] = reported->look_count;
}

static Reported *reported_of(Claims *claims, uint32_t function) {
    Reported *reported = &claims->reported[function];
    const char *problem;
    if (reported->ready)
        return reported->failed ? NULL : reported;
    reported->ready = true;
    reported->failed = true;
    if (!ptx_flow(&reported->flow, claims->module, function, SIZE_MAX, &problem)) {
        fprintf(stderr, "%s: %s\n", claims->file, problem);
        return NULL;
    }
    if (!ptx_values(&reported->values, &reported->flow, claims->given.x ? &claims->given : NULL, SIZE_MAX, &problem)) {
        fprintf(stderr, "%s: %s\n", claims->file, problem);
        ptx_flow_free(&reported->flow);
        return NULL;
    }
    reported->failed = false;
    look_over(claims, reported, &claims->module->functions[function]);
    return reported;
}

Claims *claims_new(const PtxModule *module, const char *file, const PtxBlockShape *given, Tally *tally, unsigned show,
                   bool mislead) {
    Claims *claims = calloc(1, sizeof *claims);
    *claims = (Claims){.module = module, .file = file, .tally = tally, .show = show, .mislead = mislead, .turn = 1};
    if (given)
        claims->given = *given;
    arena_init(&claims->arena, SIZE_MAX);
    claims->reported = calloc(module->functions_count + 1, sizeof *claims->reported);
    claims->had = calloc(HAD, sizeof *claims->had);
    claims->wrapped = calloc(WARPS, sizeof *claims->wrapped);
    return claims;
}

void claims_free(Claims *claims) {
    for (uint32_t i = 0; i < claims->module->functions_count; i++)
        if (claims->reported[i].ready && !claims->reported[i].failed) {
            ptx_values_free(&claims->reported[i].values);
            ptx_flow_free(&claims->reported[i].flow);
        }
    free(claims->reported);
    free(claims->had);
    free(claims->wrapped);
    arena_free(&claims->arena);
    free(claims);
}

void claims_next(Claims *claims) {
    claims->turn++;
    claims->had_count = 0;
}

uint32_t claims_wrong(const Claims *claims) {
    return claims->wrong_count;
}

/* ---- Telling ---- */

static bool first_time(Claims *claims, uint32_t operand) {
    for (uint32_t i = 0; i < claims->wrong_count; i++)
        if (claims->wrong[i] == operand)
            return false;
    *ARENA_PUSH(&claims->arena, claims->wrong, claims->wrong_count, claims->wrong_capacity) = operand;
    return true;
}

static ClaimKind kind_of(const Reported *reported, const Form *form) {
    uint64_t constant;
    switch ((FormKind)form->kind) {
    case FORM_AFFINE:
        return CLAIM_AFFINE;
    case FORM_BITS:
        return CLAIM_BITS;
    case FORM_ANY:
        return CLAIM_SOME_BITS;
    default:
        return form_constant(form, &constant)                   ? CLAIM_CONSTANT
               : form_is_uniform(reported->values.tables, form) ? CLAIM_UNIFORM
                                                                : CLAIM_TABLE;
    }
}

static void count_check(Claims *claims, ClaimKind kind) {
    claims->tally->checks++;
    claims->tally->kinds[kind]++;
}

static bool excused(Claims *claims, const Step *step) {
    return claims->wrapped[step->warp % WARPS] == claims->turn;
}

/* A claim does not hold; `values` may be NULL. Behind an assumption that broke, that is no wonder. */
static void complain(Claims *claims, Reported *reported, const Step *step, ClaimKind kind, uint32_t operand,
                     const Form *form, const char *what, const uint64_t *values, uint32_t lanes) {
    if (excused(claims, step)) {
        claims->tally->behind++;
        return;
    }
    claims->tally->violations++;
    claims->tally->wrong[kind]++;
    if (!first_time(claims, operand) || claims->wrong_count > claims->show)
        return;
    const PtxStatement *s = &claims->module->statements[step->statement];
    Source *source = claims->module->source;
    Text text = {0};
    text_addf(&text, "%s:%u: %.*s\n", claims->file, source_place(source, s->begin).line, (int)(s->end - s->begin),
              source->data + s->begin);
    text_addf(&text, "    %s; shape %ux%ux%u, cta %u, warp %u, lanes %08x of %08x, guard %08x", what, claims->given.x,
              claims->given.y, claims->given.z, step->cta, step->warp, step->lanes, step->entered, step->run);
    if (operand - s->first < s->count) { /* else a number for a block or a phi */
        const PtxOperand *o = &claims->module->operands[operand];
        text_addf(&text, "; operand %u of it%s", operand - s->first, o->kind == PTX_ADDRESS ? ", an address" : "");
        if (o->kind == PTX_REGISTER)
            text_addf(&text, ", %.*s%s%" PRId64,
                      STR_ARG(ptx_name(claims->module, claims->module->variables[o->a].name)), "", o->value);
    }
    if (form) {
        text_addf(&text, "\n    claim: ");
        form_print(reported->values.tables, form, &text);
        text_addf(&text, " (kind %u span %u width %u assumes %u lanes %x zeros %" PRIx64 " ones %" PRIx64 ")",
                  form->kind, form->span, form->width, form->assumes, form->lanes, form->zeros, form->ones);
    }
    if (values) {
        text_addf(&text, "\n    has:");
        for (unsigned lane = 0; lane < LANES; lane++)
            lanes >> lane & 1 ? text_addf(&text, " %" PRIx64, values[lane]) : text_addf(&text, " -");
    }
    text_addf(&text, "\n");
    fwrite(text.data, 1, text.size, stdout);
    text_free(&text);
}

/* ---- Forms ---- */

static uint32_t first_of(uint32_t lanes) {
    return (uint32_t)__builtin_ctz(lanes);
}

/* Whether known bits are as said: of each lane's value less its offset. */
static bool bits_hold(const Form *form, uint64_t value) {
    return !(value & form->zeros) && !(~value & form->ones & low_ones(form->width));
}

/* v = base + offset, which the table has of each thread of the CTA, or of each lane: the base is what all have. */
static const char *table_holds(const Reported *reported, const Step *step, const Form *form, const uint64_t v[LANES],
                               uint32_t lanes, uint64_t *base) {
    const uint64_t *offsets = form_offsets(reported->values.tables, form->table);
    uint64_t mask = low_ones(form->width);
    if (form_threads(reported->values.tables) > LANES)
        offsets += step->first;
    *base = (v[first_of(lanes)] - offsets[first_of(lanes)]) & mask;
    for (uint32_t left = lanes; left; left &= left - 1)
        if (((v[first_of(left)] - offsets[first_of(left)]) & mask) != *base)
            return "the lanes do not have these offsets";
    return bits_hold(form, *base) ? NULL : "a bit of the base is not as said";
}

/* Lanes that are told apart by no bit that is said to matter. */
static const char *lanes_hold(const Form *form, const uint64_t v[LANES], uint32_t lanes) {
    uint32_t seen[LANES] = {0}; /* a lane with these bits, + 1 */
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t lane = first_of(left), *of = &seen[lane & form->lanes];
        if (*of && (v[*of - 1] ^ v[lane]) & low_ones(form->width))
            return "lanes differ that are said to have the same";
        *of = lane + 1;
    }
    return NULL;
}

/* The stride is told by two lanes beside each other; without such nothing is. */
static const char *affine_holds(const Form *form, const uint64_t v[LANES], uint32_t lanes, uint64_t *base,
                                uint64_t *stride, bool *reported) {
    uint64_t mask = low_ones(form->width);
    uint32_t pairs = lanes & lanes >> 1;
    *reported = pairs != 0;
    if (!pairs)
        return NULL;
    uint32_t at = first_of(pairs);
    *stride = (v[at + 1] - v[at]) & mask;
    *base = (v[at] - at * *stride) & mask;
    for (uint32_t left = lanes; left; left &= left - 1)
        if (((*base + first_of(left) * *stride) & mask) != (v[first_of(left)] & mask))
            return "it is not affine in the lane";
    return NULL;
}

/* Two bits of the lane add up, wherever all four lanes are there. */
static const char *sum_holds(const Form *form, const uint64_t v[LANES], uint32_t lanes) {
    uint64_t mask = low_ones(form->width);
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned a = 1; a < LANES; a *= 2)
            for (unsigned b = a * 2; b < LANES; b *= 2) {
                if (lane & a || lane & b)
                    continue;
                uint32_t all = UINT32_C(1) << lane | UINT32_C(1) << (lane | a) | UINT32_C(1) << (lane | b) |
                               UINT32_C(1) << (lane | a | b);
                if ((lanes & all) == all && ((v[lane] + v[lane | a | b] - v[lane | a] - v[lane | b]) & mask))
                    return "it is no sum over the bits of the lane";
            }
    return NULL;
}

static const char *all_bits_hold(const Form *form, const uint64_t v[LANES], uint32_t lanes) {
    for (uint32_t left = lanes; left; left &= left - 1)
        if (!bits_hold(form, v[first_of(left)] & low_ones(form->width)))
            return "a bit of the value is not as said";
    return NULL;
}

/* The place where what is to be the same is kept; NULL if there is no room. `fresh`: this is the first. */
static Had *had_of(Claims *claims, uint64_t key, bool *fresh) {
    if (claims->had_count > HAD / 2)
        return NULL;
    uint64_t at = (key ^ key >> 29) & (HAD - 1);
    while (claims->had[at].turn == claims->turn && claims->had[at].key != key)
        at = (at + 1) & (HAD - 1);
    *fresh = claims->had[at].turn != claims->turn;
    if (*fresh) {
        claims->had[at] = (Had){.key = key, .turn = claims->turn};
        claims->had_count++;
    }
    return &claims->had[at];
}

static uint64_t key_of(const Step *step, unsigned span, uint64_t what) {
    uint64_t scope = span == SPAN_GRID ? 0 : span == SPAN_CLUSTER ? 1 + step->cluster : UINT64_C(1) << 32 | step->cta;
    uint64_t key = (what + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ step->instance;
    key = (key ^ key >> 31) * UINT64_C(0xbf58476d1ce4e5b9) + scope;
    return (key ^ key >> 27) * UINT64_C(0x94d049bb133111eb);
}

/* What is the same in more threads than a warp has, in those of another one. */
static const char *span_holds(Claims *claims, const Step *step, unsigned span, uint64_t what, uint64_t base,
                              uint64_t stride) {
    bool fresh;
    if (span >= SPAN_WARP)
        return NULL;
    Had *had = had_of(claims, key_of(step, span, what), &fresh);
    if (!had)
        return NULL;
    if (fresh) {
        had->base = base, had->stride = stride, had->warp = step->warp;
        return NULL;
    }
    claims->tally->spans += had->warp != step->warp;
    return had->base == base && had->stride == stride ? NULL : "another warp has another base or stride";
}

/* Holds a claim against the lanes that run together. */
static const char *form_holds(Claims *claims, Reported *reported, const Step *step, const Form *form, uint64_t what,
                              const uint64_t v[LANES], uint32_t lanes) {
    uint64_t base = 0, stride = 0;
    bool known = true;
    const char *wrong = NULL;
    switch ((FormKind)form->kind) {
    case FORM_NEVER:
        return "it is run";
    case FORM_TABLE:
        wrong = table_holds(reported, step, form, v, lanes, &base);
        break;
    case FORM_AFFINE:
        wrong = affine_holds(form, v, lanes, &base, &stride, &known);
        break;
    case FORM_BITS:
        wrong = sum_holds(form, v, lanes);
        known = lanes == UINT32_MAX;
        base = v[0];
        for (unsigned b = 0; known && b < 5; b++)
            stride = stride * 31 + ((v[1 << b] - v[0]) & low_ones(form->width));
        break;
    case FORM_ANY:
        known = false;
        break;
    }
    if (!wrong && form->kind != FORM_TABLE)
        wrong = all_bits_hold(form, v, lanes);
    if (!wrong && form->kind != FORM_TABLE)
        wrong = lanes_hold(form, v, lanes);
    if (!wrong && known)
        wrong = span_holds(claims, step, form->span, what, base, stride);
    return wrong;
}

/* ---- Assumptions ---- */

/* Whether two lanes are not as far apart when they are extended as they are before. */
static bool some_wrap(const uint64_t v[LANES], uint32_t lanes, unsigned bits, bool sign) {
    for (uint32_t left = lanes; left; left &= left - 1)
        for (uint32_t right = left & (left - 1); right; right &= right - 1) {
            uint64_t one = v[first_of(left)] << (64 - bits), other = v[first_of(right)] << (64 - bits);
            int64_t apart = (int64_t)(other - one) >> (64 - bits);
            int64_t extended = sign ? ((int64_t)other >> (64 - bits)) - ((int64_t)one >> (64 - bits))
                                    : (int64_t)((other >> (64 - bits)) - (one >> (64 - bits)));
            if (apart != extended)
                return true;
        }
    return false;
}

/* Whether a 32-bit source of the instruction wraps between the lanes, as it is extended. */
static bool index_wraps(Claims *claims, const Step *step, uint32_t lanes) {
    const PtxStatement *s = &claims->module->statements[step->statement];
    Str form = claims->module->forms[s->what].text;
    bool sign = str_mentions(form, STR(".s32")) || str_mentions(form, STR(".s16")) || str_mentions(form, STR(".s8"));
    unsigned bits = str_mentions(form, STR("16")) ? 16 : str_ends(form, STR("8")) ? 8 : 32;
    for (uint32_t o = s->first; o < s->first + s->count; o++) {
        uint64_t v[LANES];
        uint32_t defined = step_values(step, o, v) & lanes;
        if (claims->module->operands[o].kind != PTX_REGISTER || !defined)
            continue;
        if (some_wrap(v, defined, bits, sign))
            return true;
    }
    return false;
}

/* ---- Steps ---- */

static bool space_is(PtxSpace said, Region region) {
    switch (said) {
    case PTX_SPACE_GLOBAL:
        return region == REGION_GLOBAL;
    case PTX_SPACE_SHARED:
        return region == REGION_SHARED;
    case PTX_SPACE_CLUSTER:
        return region == REGION_SHARED || region == REGION_PEER;
    case PTX_SPACE_LOCAL:
        return region == REGION_LOCAL;
    case PTX_SPACE_CONST:
        return region == REGION_CONST;
    case PTX_SPACE_PARAM:
        return region == REGION_PARAM;
    default:
        return true;
    }
}

static void check_space(Claims *claims, Reported *reported, const Step *step, const Look *look, const uint64_t v[LANES],
                        uint32_t lanes) {
    if (look->origin.space == PTX_SPACE_UNKNOWN || look->origin.space == PTX_SPACE_TENSOR)
        return;
    count_check(claims, CLAIM_SPACE);
    for (uint32_t left = lanes & step->run; left; left &= left - 1)
        if (!space_is(look->origin.space, step_region(step, look->operand, first_of(left), v[first_of(left)]))) {
            static const char *const spaces[] = {"?",     "global", "shared", "cluster",
                                                 "local", "const",  "param",  "tensor"};
            char what[80];
            snprintf(what, sizeof what, "the address is not in %s memory", spaces[look->origin.space]);
            complain(claims, reported, step, CLAIM_SPACE, look->operand, &look->form, what, v, lanes);
            return;
        }
}

static void check(Claims *claims, Reported *reported, const Step *step, uint32_t operand, const Form *form,
                  uint64_t what, const uint64_t v[LANES], uint32_t lanes, bool extends) {
    Tally *tally = claims->tally;
    if (!lanes) {
        tally->undefined++;
        return;
    }
    if (form->width > 64 || (form->kind == FORM_ANY && !form->zeros && !form->ones && form->lanes == FORM_LANE_BITS)) {
        tally->unclaimed++;
        return;
    }
    if (form->assumes & FORM_NO_WRAP && excused(claims, step)) {
        tally->excused++;
        return;
    }
    ClaimKind kind = kind_of(reported, form);
    count_check(claims, kind);
    tally->lanes += (unsigned)__builtin_popcount(lanes);
    const char *wrong = form_holds(claims, reported, step, form, what, v, lanes);
    if (!wrong)
        return;
    if (extends && form->assumes & FORM_NO_WRAP && index_wraps(claims, step, lanes)) {
        tally->broken++;
        claims->wrapped[step->warp % WARPS] = claims->turn;
        return;
    }
    complain(claims, reported, step, kind, operand, form, wrong, v, lanes);
}

static void check_looks(Claims *claims, Reported *reported, const Step *step, uint32_t instruction, bool written) {
    for (uint32_t i = reported->looks[instruction]; i < reported->looks[instruction + 1]; i++) {
        const Look *look = &reported->look[i];
        uint64_t v[LANES];
        if (look->written != written)
            continue;
        uint32_t lanes = step_values(step, look->operand, v) & step->lanes;
        check(claims, reported, step, look->operand, &look->form, look->operand, v, lanes,
              written && reported->values.assumed[instruction]);
        if (look->address && lanes)
            check_space(claims, reported, step, look, v, lanes);
    }
}

/* At the beginning of a block: its phis, and who runs it. */
static void check_block(Claims *claims, Reported *reported, const Step *step, uint32_t b) {
    const FlowBlock *block = &reported->flow.blocks[b];
    for (uint32_t i = 0; i < block->phi_count; i++) {
        const FlowValue *value = &reported->flow.values[block->phis + i];
        uint64_t v[LANES];
        uint32_t lanes = step_register(step, value->variable, value->index, v) & step->lanes;
        check(claims, reported, step, UINT32_MAX - 1 - block->phis - i, &reported->values.forms[block->phis + i],
              UINT64_C(1) << 33 | (block->phis + i), v, lanes, false);
    }
    count_check(claims, CLAIM_BLOCK);
    if (!reported->values.divergent[b] && step->lanes != step->entered && !step->apart)
        complain(claims, reported, step, CLAIM_BLOCK, PTX_NONE - 1 - b, NULL,
                 "a block that all lanes run is run by some", NULL, 0);
}

/* At its end: whether all go the same way. A branch without a guard does not choose. */
static void check_end(Claims *claims, Reported *reported, const Step *step, uint32_t b) {
    const FlowBlock *block = &reported->flow.blocks[b];
    uint64_t way = step->run != 0, v[LANES];
    bool separated = step->run && step->run != step->lanes;
    if (block->ends == FLOW_TABLE) {
        const PtxStatement *s = &claims->module->statements[step->statement];
        uint32_t index = s->first + (s->flags & PTX_GUARDED ? 1 : 0);
        step_values(step, index, v);
        for (uint32_t left = step->run; left; left &= left - 1)
            separated = separated || v[first_of(left)] != v[first_of(step->run)];
        way = step->run ? v[first_of(step->run)] + 1 : 0;
    }
    count_check(claims, CLAIM_BLOCK);
    if (separated && !reported->values.parts[b])
        complain(claims, reported, step, CLAIM_BLOCK, step->statement, NULL, "the end of a block parts lanes", NULL, 0);
    else if (!separated && span_holds(claims, step, reported->values.ends[b], UINT64_C(1) << 34 | b, way, 0))
        complain(claims, reported, step, CLAIM_BLOCK, step->statement, NULL,
                 "the end of a block goes another way in another warp", NULL, 0);
}

static void before(void *to, const Step *step) {
    Claims *claims = to;
    Reported *reported = reported_of(claims, step->function);
    if (!reported)
        return;
    uint32_t i = reported->instructions[step->statement - claims->module->functions[step->function].begin];
    uint32_t b = reported->flow.block_of[i];
    const FlowBlock *block = &reported->flow.blocks[b];
    if (i == block->begin)
        check_block(claims, reported, step, b);
    check_looks(claims, reported, step, i, false);
    if (i + 1 == block->end && (block->ends == FLOW_BRANCH || block->ends == FLOW_TABLE))
        check_end(claims, reported, step, b);
}

static void after(void *to, const Step *step) {
    Claims *claims = to;
    Reported *reported = reported_of(claims, step->function);
    const uint32_t *written;
    if (!reported)
        return;
    uint32_t i = reported->instructions[step->statement - claims->module->functions[step->function].begin];
    check_looks(claims, reported, step, i, true);
    /* what was written has to be a result */
    for (uint32_t w = 0, count = step_written(step, &written); w < count; w++) {
        uint32_t value = flow_value(&reported->flow, written[w]);
        const FlowValue *v = value == PTX_NONE ? NULL : &reported->flow.values[value];
        if (!v || v->kind != VALUE_RESULT || v->operand != written[w])
            complain(claims, reported, step, CLAIM_BLOCK, written[w], NULL, "a register is written, and is no result",
                     NULL, 0);
    }
}

Watcher claims_watcher(Claims *claims) {
    return (Watcher){.to = claims, .before = before, .after = after};
}
