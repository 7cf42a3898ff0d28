/* Sites as they are played: the code of each, and where in it the values are that a record has. */
#include "base/order.h"
#include "check/replay/internal.h"
#include "check/replay/order/order.h"

#include "ptx/effects.h"
#include "ptx/places.h"
#include "trace/sample.h"

#include <stdlib.h>

/* The argument that is this operand of the module: a register. */
static const PtxArgument *find_register(const PtxProgram *program, const PtxArgument *argument, uint32_t operand) {
    bool is_register = argument->kind == ARGUMENT_ROW || argument->kind == ARGUMENT_PREDICATE;
    bool has_members = argument->kind == ARGUMENT_ADDRESS || argument->kind == ARGUMENT_MEMBERS;
    if (is_register && argument->operand == operand)
        return argument;
    for (uint32_t i = 0; has_members && i < argument->count; i++) {
        const PtxArgument *found = find_register(program, argument_member(program, argument, i), operand);
        if (found)
            return found;
    }
    return NULL;
}

static const PtxArgument *part_argument(const PtxProgram *program, const PtxCode *code, uint32_t operand) {
    const PtxArgument *found = NULL;
    for (uint32_t i = 0; !found && i < code->count; i++)
        found = find_register(program, code_argument(program, code, i), operand);
    return found;
}

const PtxCode **play_codes(ThreadsCheck *check) {
    const PtxProgram *program = check->program;
    const PtxCode **codes = ARENA_ARRAY(&check->arena, const PtxCode *, check->module->statements_count + 1);
    for (uint32_t i = program->code_count;
         i-- > 0;) /* the first of a statement: a return that is not written is behind */
        codes[program->code[i].statement] = &program->code[i];
    return codes;
}

/* Addresses that may be in any memory. That of a tensor map is, whatever the instruction names. */
static uint16_t generic_parts(ThreadsCheck *check, const PlaySite *site) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    const PtxStatement *statement = &check->module->statements[site->code->statement];
    unsigned count = ptx_effects_of(check->module, statement, effects);
    uint16_t generic = 0;
    for (unsigned i = 0; i < site->site->part_count; i++)
        generic |= (uint16_t)(site->site->parts[i].generic << i);
    for (unsigned i = 0; i < count; i++) {
        bool map = effects[i].effect.proxy == PROXY_TENSORMAP && effects[i].effect.verb == EFFECT_READ;
        const PtxArgument *on = map ? code_named(check->program, site->code, effects[i].on) : NULL;
        if (!on || on->kind != ARGUMENT_ADDRESS || !on->count)
            continue;
        for (unsigned k = 0; k < site->site->part_count; k++)
            generic |= (uint16_t)((site->arguments[k] == argument_member(check->program, on, 0)) << k);
    }
    return generic;
}

/* Bytes of the place that an access is to: of a vector, of one element. */
static unsigned strong_bytes(const PtxCode *code) {
    unsigned bytes = ptx_type_bits(code_modifier(code, STR("t"))) / 8;
    return bytes ? bytes : 4;
}

static unsigned strong_count(const PtxCode *code) {
    Str vector = code_modifier(code, STR("vec"));
    return vector.size == 2 ? (unsigned)(vector.data[1] - '0') : 1;
}

/* What it leaves: whole numbers of up to 64 bits, and sums of reals. Of 128 bits there is a hash: they are what was
 * written, or are not. */
static StrongKind strong_kind(const PtxCode *code, EffectVerb verb) {
    static const struct {
        const char *name;
        StrongKind kind, of_signed, of_real;
    } kinds[] = {{"add", STRONG_ADD, STRONG_ADD, STRONG_ADD_REAL}, {"and", STRONG_AND, STRONG_AND, STRONG_OTHER},
                 {"or", STRONG_OR, STRONG_OR, STRONG_OTHER},       {"xor", STRONG_XOR, STRONG_XOR, STRONG_OTHER},
                 {"cas", STRONG_CAS, STRONG_CAS, STRONG_CAS},      {"exch", STRONG_WRITE, STRONG_WRITE, STRONG_WRITE},
                 {"min", STRONG_MIN, STRONG_LEAST, STRONG_OTHER},  {"max", STRONG_MAX, STRONG_MOST, STRONG_OTHER},
                 {"inc", STRONG_INC, STRONG_INC, STRONG_OTHER},    {"dec", STRONG_DEC, STRONG_DEC, STRONG_OTHER}};
    Str type = code_modifier(code, STR("t"));
    unsigned bytes = strong_bytes(code);
    char letter = ptx_type_letter(type);
    bool real = letter == 'f' && bytes >= 4, whole = letter == 'b' || letter == 'u' || letter == 's';
    if (verb == EFFECT_READ)
        return STRONG_READ;
    if (verb == EFFECT_WRITE)
        return STRONG_WRITE;
    if (code_has(code, STR("add")) && (str_starts(type, STR("f16")) || str_starts(type, STR("bf16"))))
        return type.data[0] == 'f' ? STRONG_ADD_HALF : STRONG_ADD_BRAIN;
    for (size_t i = 0; (whole || real) && i < sizeof kinds / sizeof *kinds; i++)
        if (code_has(code, str_of(kinds[i].name))) {
            StrongKind kind = real ? kinds[i].of_real : letter == 's' ? kinds[i].of_signed : kinds[i].kind;
            return bytes <= 8 || kind == STRONG_CAS || kind == STRONG_WRITE ? kind : STRONG_OTHER;
        }
    return STRONG_OTHER;
}

static void prepare_strong(ThreadsCheck *check, PlaySite *site) {
    PtxEffect effect;
    static const EffectVerb verbs[] = {EFFECT_UPDATE, EFFECT_WRITE, EFFECT_READ};
    site->address = code_named(check->program, site->code, STR("a"));
    site->space = ptx_space_of_form(site->code->form->text, 0);
    site->strong_kind = STRONG_OTHER;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (code_effect(check, site->code, verbs[i], &effect)) {
            const PtxArgument *gives = effect.gives.size ? code_named(check->program, site->code, effect.gives) : NULL;
            if (gives && gives->kind == ARGUMENT_MEMBERS && gives->count) /* { %r1 } */
                gives = argument_member(check->program, gives, 0);
            site->goes_on = verbs[i] == EFFECT_UPDATE && effect.effect.scope >= SCOPE_GPU;
            site->for_device = effect.effect.scope >= SCOPE_GPU && !code_has(site->code, STR("volatile"));
            site->strong_kind = (uint8_t)strong_kind(site->code, verbs[i]);
            site->strong_bytes = (uint8_t)strong_bytes(site->code);
            site->strong_count = (uint8_t)strong_count(site->code);
            site->finds = site->site->fetches || (gives && gives->kind == ARGUMENT_ROW);
            break;
        }
}

static bool find_part(const PlaySite *site, const PtxArgument *argument, uint8_t *part) {
    for (unsigned i = 0; i < site->site->part_count; i++)
        if (site->arguments[i] == argument) {
            *part = (uint8_t)i;
            return true;
        }
    return false;
}

/* Which accesses of it may be to global memory. */
static void find_global(ThreadsCheck *check, PlaySite *site) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = ptx_effects_of(check->module, &check->module->statements[site->code->statement], effects);
    unsigned accesses = 0;
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i].effect;
        PlayAccess at = {0};
        uint8_t part;
        if (!effect_is_access(effect) || (effect->space != SPACE_GLOBAL && !effects[i].memory))
            continue;
        site->global |= effect->verb == EFFECT_READ ? 1 : 2;
        site->for_system |= effect->scope == SCOPE_SYS;
        const PtxArgument *on = effects[i].memory ? code_named(check->program, site->code, effects[i].on) : NULL;
        bool known =
            on && play_address(check->program, on, &at) && find_part(site, at.base, &part) && site->generic >> part & 1;
        site->global_part = !accesses++ && known ? (uint8_t)(part + 1) : 0;
    }
}

static bool is_copy(const PtxProgram *program, PlaySite *site) {
    PlayCopy *copy = &site->copy;
    return !site->generic && play_copy(program, site->code, copy) &&
           find_part(site, copy->from.base, &site->from_part) && find_part(site, copy->to.base, &site->to_part) &&
           (!copy->limit || find_part(site, copy->limit, &site->limit_part));
}

/* A weak load or store of a variable in shared memory, by its name. */
static bool is_symbol(const PtxProgram *program, PlaySite *site) {
    PlayAccess access = {0};
    play_access(program, site->code, &access);
    if (site->plain || site->site->strong || site->site->part_count != (site->data ? 1 : 0) || !access.base ||
        access.base->kind != ARGUMENT_SYMBOL || access.space != PTX_SPACE_SHARED || access.access.strong ||
        program->seats[access.base->slot].space != PTX_SPACE_SHARED)
        return false;
    site->access = access;
    return true;
}

static bool is_sequential(const ThreadsCheck *check, const PtxCode *code) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    const PtxStatement *statement = code ? &check->module->statements[code->statement] : NULL;
    unsigned count =
        statement && statement->kind == PTX_INSTRUCTION ? ptx_effects_of(check->module, statement, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].sequential)
            return true;
    return false;
}

/* Whether what strong accesses find can order other accesses: that needs a release, an acquire or a fence somewhere. */
static bool can_order(const ThreadsCheck *check) {
    const PtxProgram *program = check->program;
    for (uint32_t i = 0; i < program->code_count; i++) {
        PtxEffect effects[PTX_EFFECTS_MOST];
        const PtxStatement *statement = &check->module->statements[program->code[i].statement];
        unsigned count = statement->kind == PTX_INSTRUCTION ? ptx_effects_of(check->module, statement, effects) : 0;
        for (unsigned e = 0; e < count; e++)
            if (effects[e].effect.verb == EFFECT_FENCE_ORDER || effects[e].effect.verb == EFFECT_ANYTHING ||
                effects[e].effect.order > ORDER_RELAXED)
                return true;
    }
    return false;
}

/* Whether any two strong accesses to the same byte of global memory are morally strong, as elements of vectors are with
 * others of their size. Those to a part of what others access are not, nor are volatile ones, of which something is
 * noted. */
static bool are_alike(const PlaySites *sites) {
    const PlaySite *first = NULL;
    for (uint32_t i = 0; i < sites->sites.count; i++) {
        const PlaySite *site = &sites->items[i];
        if (!site->code || !site->site->strong || site->space == PTX_SPACE_SHARED)
            continue;
        first = first ? first : site;
        if (!site->for_device || site->strong_bytes != first->strong_bytes)
            return false;
    }
    return true;
}

/* False: a part is no register of the instruction. */
static bool prepare_site(ThreadsCheck *check, PlaySite *site) {
    const PtxProgram *program = check->program;
    PtxEffect effect;
    if (!site->code || site->site->ends || site->site->only_emits)
        return true;
    for (unsigned i = 0; i < site->site->part_count; i++) {
        const SitePart *part = &site->site->parts[i];
        site->data = part->data ? (uint8_t)(i + 1) : site->data;
        site->arguments[i] = part->data ? NULL : part_argument(program, site->code, part->operand);
        if (!site->arguments[i] && !part->data)
            return false;
    }
    site->generic = generic_parts(check, site);
    find_global(check, site);
    site->gathers = site->code->together;
    site->awaits = code_effect(check, site->code, EFFECT_AWAIT_LAUNCHES, &effect);
    if (code_effect(check, site->code, EFFECT_WARP_SYNC, &effect)) {
        site->mask = code_named(program, site->code, effect.on);
        site->hands = effect.effect.relaxed ? site->code->form : NULL;
    }
    if (code_effect(check, site->code, EFFECT_WAIT, &effect) && site->site->tests) {
        site->tested = code_named(program, site->code, effect.on);
    } else if (code_effect(check, site->code, EFFECT_WAIT, &effect)) {
        site->state = effect.by_state ? code_named(program, site->code, effect.phase) : NULL;
        site->object = code_named(program, site->code, effect.on);
        uint8_t part;
        site->state_part = site->state && find_part(site, site->state, &part) ? (uint8_t)(part + 1) : 0;
    }
    site->at_named = code_effect(check, site->code, EFFECT_NAMED_SYNC, &effect) ||
                     code_effect(check, site->code, EFFECT_NAMED_ARRIVE, &effect);
    site->meets = play_meets(program, site->code, &site->barrier) && !site->site->part_count;
    if (site->site->strong)
        prepare_strong(check, site);
    if (site->site->strong && !site->address)
        return false;
    bool by_register = play_access(program, site->code, &site->access);
    site->plain = by_register && !site->site->strong && site->site->part_count == (site->data ? 2 : 1) &&
                  site->data != 1 && site->access.base == site->arguments[0] && !site->access.access.strong;
    site->symbol = is_symbol(program, site);
    site->copies = is_copy(program, site);
    return true;
}

typedef struct Parameters {
    const PtxProgram *program;
    const Recording *recording;
} Parameters;

static uint64_t parameter_of(void *context, uint32_t variable, uint32_t offset, unsigned bytes) {
    const Parameters *from = context;
    uint64_t at = from->program->seats[variable].at + offset, value = 0;
    if (at + bytes <= from->recording->parameter_bytes)
        memcpy(&value, from->recording->parameters + at, bytes);
    return value;
}

static uint64_t address_of(void *context, uint32_t variable, uint64_t *rank) {
    const Parameters *from = context;
    const PtxSymbolSlot *seat = &from->program->seats[variable];
    if (seat->space != PTX_SPACE_SHARED)
        return PLAY_WINDOWS + 3 * PTX_WINDOW_SIZE + seat->at;
    *rank = UINT64_C(1) << PTX_RANK_SHIFT;
    return seat->at;
}

ORDER_POINTERS(by_base, PlaySite, BY(access.base->slot))

/* Threads that change memory in place, or write several elements each, do so by one register: their sites. */
static void find_again(ThreadsCheck *check, PlaySites *sites) {
    PlaySite **plain = ARENA_ARRAY(&check->arena, PlaySite *, sites->sites.count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < sites->sites.count; i++)
        if (sites->items[i].code && sites->items[i].plain)
            plain[count++] = &sites->items[i];
    if (count)
        qsort(plain, count, sizeof *plain, by_base);
    for (uint32_t i = 0, end; i < count; i = end) {
        bool writes = false;
        for (end = i; end < count && by_base(&plain[i], &plain[end]) == 0; end++)
            writes |= plain[end]->access.access.kind != KIND_READ;
        for (uint32_t k = i; k < end && writes && end - i > 1; k++)
            plain[k]->again = true;
    }
}

bool play_sites_read(PlaySites *sites, ThreadsCheck *check, const Recording *recording, const char **problem) {
    SiteText text = ptx_site_text(check->module);
    const uint32_t *block = recording->launch.block;
    *sites = (PlaySites){0};
    *problem = "different builds of Weir instrumented and recorded the kernel: the meaning of its records is not "
               "known";
    if (!recording->sites.size)
        return false;
    if (!sites_read(&sites->sites, recording->sites, &text, &check->arena, problem) || sites->sites.fits)
        return !*problem;
    *problem = verdict_text(check->verdict,
                            "for CTAs of %u x %u x %u threads, whose warps span several rows, Weir records only "
                            "kernels that read %%tid.y or declare their size (.reqntid)",
                            block[0], block[1], block[2]);
    return false;
}

bool play_sites(PlaySites *sites, ThreadsCheck *check, const Recording *recording, const char **problem) {
    const PtxCode **codes = play_codes(check);
    sites->items = ARENA_ARRAY(&check->arena, PlaySite, sites->sites.count + 1);
    sites->shapes = site_shapes(&sites->sites, &check->arena);
    if (!site_shapes_fit(sites->shapes, &sites->sites, launch_warps(&recording->launch))) {
        *problem = "the recording is damaged: its table of recorded instructions is inconsistent";
        return false;
    }
    Parameters from = {check->program, recording};
    const SiteLaunch launch = {parameter_of, address_of, &from};
    site_shapes_bind(sites->shapes, &sites->sites, check->program->entry, &launch, &check->arena);
    sites->any_order = can_order(check);
    for (uint32_t i = 0; i < sites->sites.count; i++) {
        PlaySite *site = &sites->items[i];
        site->site = &sites->sites.items[i];
        site->code = site->site->foreign ? NULL : codes[site->site->statement];
        if (!prepare_site(check, site)) {
            *problem = verdict_text(check->verdict, "what is recorded at line %u is no register of the instruction",
                                    code_line(check->program, site->code));
            return false;
        }
        sites->any_strong |= site->site->strong && site->code; /* else it is of another kernel */
        sites->any_order |= site->site->strong && site->code && site->site->poll.bits;
        sites->any_state |= site->state != NULL;
        sites->any_data |= site->data != 0;
        site->sequential = is_sequential(check, site->code);
        sites->any_sequential |= site->sequential;
    }
    find_again(check, sites);
    sites->strong_alike = are_alike(sites);
    return true;
}
