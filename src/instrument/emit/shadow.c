/* PTX that checks itself: calls of the runtime (src/device) before, around or behind what touches global memory. */
#include "instrument/emit/shadow.h"

#include "instrument/emit/shadow_runtime.h"
#include "instrument/internal.h"
#include "model/effect/effect.h"
#include "ptx/edit.h"
#include "ptx/print.h"
#include "trace/shadow.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

/* ---- What is written into one kernel ----------------------------------------------------------------------------- */

/* The registers of a kernel: who runs it; whether the thread has issued bulk writes; what it has acquired last. */
typedef struct ShadowWriter {
    PtxModule *module;
    PtxEdits *edits;
    const ShadowSites *sites;
    const InstrumentOptions *options;
    RuntimeUse used;
    Str who, issued, seen;
    Text text; /* of the next edit */
} ShadowWriter;

static void say(ShadowWriter *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(ShadowWriter *writer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_vaddf(&writer->text, format, arguments);
    va_end(arguments);
    text_str(&writer->text, STR("\n\t"));
}

static Str said(const ShadowWriter *writer) {
    size_t size = writer->text.size;
    while (size && (writer->text.data[size - 1] == '\n' || writer->text.data[size - 1] == '\t'))
        size--;
    return (Str){writer->text.data, size};
}

static const PtxStatement *statement_of(const ShadowWriter *writer, const ShadowSite *site) {
    return &writer->module->statements[site->statement];
}

static const char *prefix_of(const ShadowWriter *writer) {
    return writer->sites->clocked || writer->options->seed_layout ? "weir_" : "weir_flat_";
}

/* ---- Calls: arguments one after the other, then the launch block and who calls ---- */

typedef struct ShadowCall {
    unsigned count;
    const char *name;
} ShadowCall;

static ShadowCall call_begin(ShadowWriter *writer, const char *name) {
    say(writer, "{");
    runtime_use(&writer->used, name);
    return (ShadowCall){0, name};
}

static void call_add(ShadowWriter *writer, ShadowCall *call, unsigned bits, const char *value) {
    say(writer, ".param .b%u weir_a%u; st.param.b%u [weir_a%u], %s;", bits, call->count, bits, call->count, value);
    call->count++;
}

static void call_number(ShadowWriter *writer, ShadowCall *call, uint32_t value) {
    char text[16];
    snprintf(text, sizeof text, "%" PRIu32, value);
    call_add(writer, call, 32, text);
}

/* `result`: a register of `bits` for what it gives, or NULL; `guard`: "@%p ", or "". */
static void call_end(ShadowWriter *writer, ShadowCall *call, const char *guard, unsigned bits, const char *result) {
    if (result)
        say(writer, ".param .b%u weir_r;", bits);
    text_addf(&writer->text, "%scall %s%s, (", guard, result ? "(weir_r), " : "", call->name);
    for (unsigned i = 0; i < call->count; i++)
        text_addf(&writer->text, i ? ", weir_a%u" : "weir_a%u", i);
    say(writer, ");");
    if (result)
        say(writer, "ld.param.b%u %s, [weir_r];", bits, result);
    say(writer, "}");
}

static void call_launch(ShadowWriter *writer, ShadowCall *call) {
    static const size_t wide[] = {offsetof(ShadowLaunch, real),   offsetof(ShadowLaunch, bytes),
                                  offsetof(ShadowLaunch, cells),  offsetof(ShadowLaunch, state),
                                  offsetof(ShadowLaunch, actors), offsetof(ShadowLaunch, vectors),
                                  offsetof(ShadowLaunch, rows),   offsetof(ShadowLaunch, flags)};
    static const size_t narrow[] = {offsetof(ShadowLaunch, stride), offsetof(ShadowLaunch, slot_shift)};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        say(writer, "ld.param.u64 %%weir_l, [weir_launch+%zu];", wide[i]);
        call_add(writer, call, 64, "%weir_l");
    }
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        say(writer, "ld.param.u32 %%weir_f, [weir_launch+%zu];", narrow[i]);
        call_add(writer, call, 32, "%weir_f");
    }
    char who[64];
    snprintf(who, sizeof who, "%.*s", STR_ARG(writer->who));
    call_add(writer, call, 32, who);
    say(writer, "ld.param.u32 %%weir_f, [weir_launch+%zu];", offsetof(ShadowLaunch, form));
    call_add(writer, call, 32, "%weir_f");
}

/* ---- Operands ---- */

static void put_operand(ShadowWriter *writer, uint32_t operand) {
    ptx_print_operand(writer->module, &writer->module->operands[operand], &writer->text);
}

/* The address of an access in %weir_a. */
static void say_address(ShadowWriter *writer, uint32_t operand) {
    const PtxOperand *address = &writer->module->operands[operand], *base = address + 1;
    bool in_register = base->kind == PTX_REGISTER;
    text_str(&writer->text, in_register ? STR("add.s64 %weir_a, ") : STR("mov.u64 %weir_a, "));
    ptx_print_operand(writer->module, base, &writer->text);
    if (in_register)
        say(writer, ", %" PRId64 ";", address->value);
    else if (address->value)
        say(writer, "+%" PRId64 ";", address->value);
    else
        say(writer, ";");
}

/* The guard of an instruction as "@%p " in `to`, or "". */
static void guard_text(const ShadowWriter *writer, const PtxStatement *statement, Text *to) {
    if (!(statement->flags & PTX_GUARDED))
        return;
    text_str(to, statement->flags & PTX_NEGATED ? STR("@!") : STR("@"));
    ptx_print_operand(writer->module, &writer->module->operands[statement->first], to);
    text_str(to, STR(" "));
}

/* 1 where the guard holds, and the address is in global memory, in %weir_g; %weir_g0 has it as a predicate. */
static void say_wanted(ShadowWriter *writer, const ShadowSite *site) {
    const PtxStatement *statement = statement_of(writer, site);
    if (statement->flags & PTX_GUARDED) {
        text_str(&writer->text, STR("selp.b32 %weir_g, "));
        text_str(&writer->text, statement->flags & PTX_NEGATED ? STR("0, 1, ") : STR("1, 0, "));
        put_operand(writer, statement->first);
        say(writer, ";");
    } else {
        say(writer, "mov.b32 %%weir_g, 1;");
    }
    if (site->generic) {
        say(writer, "isspacep.global %%weir_g0, %%weir_a;");
        say(writer, "selp.b32 %%weir_g, %%weir_g, 0, %%weir_g0;");
    }
    say(writer, "setp.ne.u32 %%weir_g0, %%weir_g, 0;");
}

/* The instruction with another guard. */
static void say_instruction(ShadowWriter *writer, const ShadowSite *site, const char *guard) {
    PtxStatement copy = *statement_of(writer, site);
    if (copy.flags & PTX_GUARDED) {
        copy.first++;
        copy.count--;
        copy.flags &= (uint8_t) ~(PTX_GUARDED | PTX_NEGATED);
    }
    text_str(&writer->text, str_of(guard));
    ptx_print_statement(writer->module, &copy, &writer->text);
    say(writer, "%s", "");
}

static uint32_t number_of(const ShadowWriter *writer, const ShadowSite *site) {
    return (uint32_t)(site - writer->sites->items);
}

enum { WHAT_BYTES = 20, HOW_ORDER = 2, HOW_SCOPE = 5, HOW_LATE = 8, HOW_FENCES = 9 };

static uint32_t how_of(const ShadowSite *site) {
    return site->access | (uint32_t)site->order << HOW_ORDER | (uint32_t)site->scope << HOW_SCOPE;
}

/* ---- Accesses ---- */

static void open_block(ShadowWriter *writer) {
    writer->text.size = 0;
    say(writer, "{");
    say(writer, ".reg .b64 %%weir_a, %%weir_l; .reg .b32 %%weir_f, %%weir_g, %%weir_h; .reg .pred %%weir_g0;");
}

static void close_block(ShadowWriter *writer) {
    say(writer, "}");
}

/* site | bytes << WHAT_BYTES in %weir_h: bytes that a limit may lower. */
static void say_what(ShadowWriter *writer, const ShadowSite *site, uint32_t bytes) {
    if (site->limit == PTX_NONE) {
        say(writer, "mov.u32 %%weir_h, %" PRIu32 ";", number_of(writer, site) | bytes << WHAT_BYTES);
        return;
    }
    const PtxOperand *limit = &writer->module->operands[site->limit];
    bool is_predicate = limit->kind == PTX_REGISTER &&
                        str_equal(ptx_name(writer->module, writer->module->variables[limit->a].type), STR(".pred"));
    text_str(&writer->text, is_predicate ? STR("selp.b32 %weir_h, 0, ") : STR("min.u32 %weir_h, "));
    if (is_predicate)
        text_addf(&writer->text, "%" PRIu32 ", ", bytes);
    put_operand(writer, site->limit);
    if (is_predicate)
        say(writer, ";");
    else
        say(writer, ", %" PRIu32 ";", bytes);
    say(writer, "shl.b32 %%weir_h, %%weir_h, %d;", WHAT_BYTES);
    say(writer, "or.b32 %%weir_h, %%weir_h, %" PRIu32 ";", number_of(writer, site));
}

/* Lanes whose guard does not hold have 0 bytes: all come to the call, so that none is separated from the others by it.
 */
static void say_guarded(ShadowWriter *writer, const ShadowSite *site) {
    const PtxStatement *statement = statement_of(writer, site);
    if (site->generic) {
        say(writer, "selp.b32 %%weir_h, %%weir_h, 0, %%weir_g0;");
    } else if (statement->flags & PTX_GUARDED) {
        text_str(&writer->text, STR("selp.b32 %weir_h, "));
        text_str(&writer->text, statement->flags & PTX_NEGATED ? STR("0, %weir_h, ") : STR("%weir_h, 0, "));
        put_operand(writer, statement->first);
        say(writer, ";");
    }
}

static void say_access(ShadowWriter *writer, const ShadowSite *site, uint32_t bytes) {
    bool strong = site->kind == SHADOW_SITE_STRONG;
    char name[48];
    snprintf(name, sizeof name, "%s%s", prefix_of(writer),
             strong                      ? "strong"
             : site->access == KIND_READ ? "read"
                                         : "write");
    say_what(writer, site, bytes);
    say_guarded(writer, site);
    ShadowCall call = call_begin(writer, name);
    call_add(writer, &call, 64, "%weir_a");
    call_add(writer, &call, 32, "%weir_h");
    if (strong)
        call_number(writer, &call, how_of(site));
    call_launch(writer, &call);
    call_end(writer, &call, "", 0, NULL);
}

static void write_access(ShadowWriter *writer, const ShadowSite *site) {
    open_block(writer);
    say_address(writer, site->address);
    if (site->generic)
        say_wanted(writer, site);
    say_access(writer, site, site->bytes < SHADOW_GRANULE ? site->bytes : SHADOW_GRANULE);
    if (site->bytes > SHADOW_GRANULE) {
        say(writer, "add.s64 %%weir_a, %%weir_a, %d;", SHADOW_GRANULE);
        say_access(writer, site, site->bytes - SHADOW_GRANULE);
    }
    close_block(writer);
    ptx_edit_before(writer->edits, site->statement, said(writer));
}

/* Members without a guard that holds, and those that are not there, have 0 bytes. */
static void say_member(ShadowWriter *writer, const ShadowSite *site, uint32_t index) {
    say(writer, ".reg .b64 %%weir_a%" PRIu32 "; .reg .b32 %%weir_h%" PRIu32 ";", index, index);
    if (!site) {
        say(writer, "mov.u64 %%weir_a%" PRIu32 ", 0; mov.u32 %%weir_h%" PRIu32 ", 0;", index, index);
        return;
    }
    say_address(writer, site->address);
    say(writer, "mov.u64 %%weir_a%" PRIu32 ", %%weir_a;", index);
    say_what(writer, site, site->bytes);
    say_guarded(writer, site);
    say(writer, "mov.u32 %%weir_h%" PRIu32 ", %%weir_h;", index);
}

static void write_group_of(ShadowWriter *writer, const ShadowSite *sites, uint32_t count, bool before) {
    char name[32];
    uint32_t writes = 0;
    for (uint32_t i = 0; i < count; i++)
        writes |= (uint32_t)(sites[i].access != KIND_READ) << i;
    bool mixed = writes && writes != (1u << count) - 1;
    uint32_t room = mixed || count > SHADOW_SMALL_GROUP ? SHADOW_GROUP : SHADOW_SMALL_GROUP;
    if (mixed)
        snprintf(name, sizeof name, "%smixed", prefix_of(writer));
    else
        snprintf(name, sizeof name, "%s%s%ss", prefix_of(writer), count > SHADOW_SMALL_GROUP ? "many_" : "",
                 writes ? "write" : "read");
    open_block(writer);
    for (uint32_t i = 0; i < room; i++)
        say_member(writer, i < count ? &sites[i] : NULL, i);
    ShadowCall call = call_begin(writer, name);
    for (uint32_t i = 0; i < 2 * room; i++) {
        char operand[24];
        snprintf(operand, sizeof operand, i < room ? "%%weir_a%" PRIu32 : "%%weir_h%" PRIu32, i % room);
        call_add(writer, &call, i < room ? 64 : 32, operand);
    }
    if (mixed)
        call_number(writer, &call, writes);
    call_launch(writer, &call);
    call_end(writer, &call, "", 0, NULL);
    close_block(writer);
    if (before)
        ptx_edit_before(writer->edits, sites->statement, said(writer));
    else
        ptx_edit_after(writer->edits, sites[count - 1].statement, said(writer));
}

/* ---- Strong accesses of clocked kernels: a call before what writes, and one behind what reads ---- */

/* What compares stores only if it finds what it compares with: a load tells beforehand that it will not. */
static bool is_compared(const ShadowSite *site) {
    return site->compares && site->gives != PTX_NONE && site->bytes <= 8;
}

static const char *compared_type(const ShadowSite *site) {
    return site->bytes == 2 ? "b16" : site->bytes == 8 ? "b64" : "b32";
}

static uint32_t strong_how(const ShadowWriter *writer, const ShadowSite *site) {
    return how_of(site) | (is_compared(site) ? 1u << HOW_LATE : 0) | (writer->sites->fences ? 1u << HOW_FENCES : 0);
}

static void say_begin(ShadowWriter *writer, const ShadowSite *site, const char *want) {
    ShadowCall call = call_begin(writer, "weir_strong_begin");
    call_add(writer, &call, 32, want);
    call_add(writer, &call, 64, "%weir_a");
    call_number(writer, &call, number_of(writer, site) | site->bytes << WHAT_BYTES);
    call_number(writer, &call, strong_how(writer, site));
    call_launch(writer, &call);
    call_end(writer, &call, "", 32, "%weir_e");
}

static void say_end(ShadowWriter *writer, const ShadowSite *site) {
    char seen[64];
    snprintf(seen, sizeof seen, "%.*s", STR_ARG(writer->seen));
    ShadowCall call = call_begin(writer, "weir_strong_end");
    call_add(writer, &call, 32, "%weir_g");
    call_add(writer, &call, 64, "%weir_a");
    call_number(writer, &call, number_of(writer, site) | site->bytes << WHAT_BYTES);
    call_number(writer, &call, strong_how(writer, site));
    call_add(writer, &call, 32, "%weir_s");
    call_add(writer, &call, 64, seen);
    call_launch(writer, &call);
    call_end(writer, &call, "", 64, seen);
}

/* %weir_w: 1 where it may store; %weir_v has what the others found. */
static void say_look(ShadowWriter *writer, const ShadowSite *site) {
    const char *type = compared_type(site);
    text_addf(&writer->text, ".reg .%s %%weir_c, %%weir_v; mov.%s %%weir_v, 0; mov.%s %%weir_c, ", type, type, type);
    put_operand(writer, site->compare);
    say(writer, ";");
    say(writer, "@%%weir_g0 ld.relaxed.%s.global.%s %%weir_v, [%%weir_a];", site->scope > SCOPE_GPU ? "sys" : "gpu",
        type);
    say(writer, "setp.eq.and.%s %%weir_g1, %%weir_v, %%weir_c, %%weir_g0;", type);
    say(writer, "selp.b32 %%weir_w, 1, 0, %%weir_g1;");
}

static void say_compared(ShadowWriter *writer, const ShadowSite *site) {
    say_begin(writer, site, "%weir_w");
    say_instruction(writer, site, "@%weir_g1 ");
    text_addf(&writer->text, "@%%weir_g1 mov.%s %%weir_v, ", compared_type(site));
    put_operand(writer, site->gives);
    say(writer, ";");
    text_str(&writer->text, STR("@%weir_g0 mov."));
    text_addf(&writer->text, "%s ", compared_type(site));
    put_operand(writer, site->gives);
    say(writer, ", %%weir_v;");
    say(writer, "setp.eq.and.%s %%weir_g1, %%weir_v, %%weir_c, %%weir_g1;", compared_type(site));
    say(writer, "selp.b32 %%weir_s, %%weir_e, 0, %%weir_g1;");
}

static void write_strong(ShadowWriter *writer, const ShadowSite *site) {
    const PtxStatement *statement = statement_of(writer, site);
    open_block(writer);
    say(writer, ".reg .b32 %%weir_w, %%weir_e, %%weir_s; .reg .pred %%weir_g1;");
    say_address(writer, site->address);
    say_wanted(writer, site);
    say(writer, "mov.u32 %%weir_s, 0;");
    if (site->generic) { /* what is not in global memory is none of ours */
        say(writer, "not.pred %%weir_g1, %%weir_g0;");
        if (statement->flags & PTX_GUARDED) {
            say(writer, "selp.b32 %%weir_h, 1, 0, %%weir_g1;");
            text_str(&writer->text, STR("selp.b32 %weir_h, "));
            text_str(&writer->text, statement->flags & PTX_NEGATED ? STR("0, %weir_h, ") : STR("%weir_h, 0, "));
            put_operand(writer, statement->first);
            say(writer, "; setp.ne.u32 %%weir_g1, %%weir_h, 0;");
        }
    }
    if (is_compared(site)) {
        if (site->generic)
            say_instruction(writer, site, "@%weir_g1 ");
        say_look(writer, site);
        say_compared(writer, site);
    } else {
        if (site->access != KIND_READ)
            say_begin(writer, site, "%weir_g");
        /* What it gives may be its address, or its guard. */
        if (site->generic)
            say_instruction(writer, site, "@%weir_g1 ");
        say_instruction(writer, site, "@%weir_g0 ");
    }
    if (site->access == KIND_READ || is_compared(site) || order_acquires(site->order) ||
        (writer->sites->fences && site->access != KIND_WRITE))
        say_end(writer, site);
    close_block(writer);
    ptx_edit_replace(writer->edits, site->statement, said(writer));
}

/* ---- Copies ---- */

static void say_issued(ShadowWriter *writer, const ShadowSite *site) {
    if (writer->issued.size && site->access != KIND_READ)
        say(writer, "or.b32 %.*s, %.*s, %%weir_g;", STR_ARG(writer->issued), STR_ARG(writer->issued));
}

static void write_range(ShadowWriter *writer, const ShadowSite *site) {
    char name[32];
    snprintf(name, sizeof name, "%srange", prefix_of(writer));
    open_block(writer);
    say(writer, ".reg .b64 %%weir_c;");
    say_address(writer, site->address);
    say_wanted(writer, site);
    say_issued(writer, site);
    if (site->count == PTX_NONE) {
        say(writer, "mov.u64 %%weir_c, %" PRIu32 ";", site->bytes);
    } else {
        text_str(&writer->text, STR("mov.b32 %weir_h, "));
        put_operand(writer, site->count);
        say(writer, "; cvt.u64.u32 %%weir_c, %%weir_h;");
    }
    ShadowCall call = call_begin(writer, name);
    call_add(writer, &call, 32, "%weir_g");
    call_add(writer, &call, 64, "%weir_a");
    call_add(writer, &call, 64, "%weir_c");
    call_number(writer, &call, number_of(writer, site));
    call_number(writer, &call, how_of(site));
    call_launch(writer, &call);
    call_end(writer, &call, "", 0, NULL);
    close_block(writer);
    ptx_edit_before(writer->edits, site->statement, said(writer));
}

/* The coordinates are a vector behind the map. */
static void call_coordinates(ShadowWriter *writer, ShadowCall *call, const ShadowSite *site) {
    const PtxModule *module = writer->module;
    const PtxOperand *map = &module->operands[site->address], *vector = map + 1 + ptx_extent(map + 1);
    uint32_t count = 0;
    if (vector < map + 1 + map->a && vector->kind == PTX_VECTOR)
        for (const PtxOperand *at = vector + 1; at < vector + 1 + vector->a && count < SHADOW_DIMS;
             at += ptx_extent(at), count++) {
            Text text = {0};
            ptx_print_operand(module, at, &text);
            text_add(&text, "", 1);
            call_add(writer, call, 32, text.data);
            text_free(&text);
        }
    for (; count < SHADOW_DIMS; count++)
        call_number(writer, call, 0);
}

static void write_tile(ShadowWriter *writer, const ShadowSite *site) {
    char name[32];
    snprintf(name, sizeof name, "%stile", prefix_of(writer));
    open_block(writer);
    say_wanted(writer, site);
    say_issued(writer, site);
    ShadowCall call = call_begin(writer, name);
    call_add(writer, &call, 32, "%weir_g");
    call_number(writer, &call, site->map);
    call_coordinates(writer, &call, site);
    call_number(writer, &call, number_of(writer, site));
    call_number(writer, &call, how_of(site));
    call_launch(writer, &call);
    call_end(writer, &call, "", 0, NULL);
    close_block(writer);
    ptx_edit_before(writer->edits, site->statement, said(writer));
}

/* ---- What orders CTAs ---- */

static void write_order(ShadowWriter *writer, const ShadowSite *site, const char *function) {
    Text guard = {0};
    guard_text(writer, statement_of(writer, site), &guard);
    text_add(&guard, "", 1);
    open_block(writer);
    ShadowCall call = call_begin(writer, function);
    if (site->kind == SHADOW_SITE_FENCE) {
        call_number(writer, &call, how_of(site));
        call_number(writer, &call, number_of(writer, site));
    }
    call_launch(writer, &call);
    call_end(writer, &call, guard.data, 0, NULL);
    close_block(writer);
    text_free(&guard);
    ptx_edit_after(writer->edits, site->statement, said(writer));
}

static void write_exit(ShadowWriter *writer, const ShadowSite *site) {
    open_block(writer);
    say_wanted(writer, site);
    ShadowCall call = call_begin(writer, "weir_exit");
    call_add(writer, &call, 32, "%weir_g");
    call_launch(writer, &call);
    call_end(writer, &call, "", 0, NULL);
    close_block(writer);
    ptx_edit_before(writer->edits, site->statement, said(writer));
}

/* Groups count from the first one on in which the thread itself has written. */
static void write_group(ShadowWriter *writer, const ShadowSite *site) {
    bool awaits = site->kind == SHADOW_SITE_AWAIT;
    open_block(writer);
    say(writer, "setp.ne.u32 %%weir_g0, %.*s, 0;", STR_ARG(writer->issued));
    ShadowCall call = call_begin(writer, awaits ? "weir_await" : "weir_commit");
    if (awaits && site->count == PTX_NONE) {
        call_number(writer, &call, site->bytes);
    } else if (awaits) {
        Text text = {0};
        ptx_print_operand(writer->module, &writer->module->operands[site->count], &text);
        text_add(&text, "", 1);
        call_add(writer, &call, 32, text.data);
        text_free(&text);
    }
    call_launch(writer, &call);
    call_end(writer, &call, "@%weir_g0 ", 0, NULL);
    close_block(writer);
    ptx_edit_after(writer->edits, site->statement, said(writer));
}

static void write_site(ShadowWriter *writer, const ShadowSite *site) {
    bool clocked = writer->sites->clocked || writer->options->seed_layout;
    switch (site->kind) {
    case SHADOW_SITE_ACCESS:
        write_access(writer, site);
        break;
    case SHADOW_SITE_STRONG:
        if (clocked)
            write_strong(writer, site);
        else
            write_access(writer, site);
        break;
    case SHADOW_SITE_RANGE:
        write_range(writer, site);
        break;
    case SHADOW_SITE_TILE:
        write_tile(writer, site);
        break;
    case SHADOW_SITE_FENCE:
        if (clocked)
            write_order(writer, site, "weir_fence");
        break;
    case SHADOW_SITE_WAIT:
        write_order(writer, site, clocked ? "weir_wait" : "weir_flat_wait");
        break;
    case SHADOW_SITE_COMMIT:
    case SHADOW_SITE_AWAIT:
        if (clocked && writer->issued.size)
            write_group(writer, site);
        break;
    case SHADOW_SITE_EXIT:
        if (clocked)
            write_exit(writer, site);
        break;
    case SHADOW_SITE_REGISTERS:
        if (!writer->options->keep_registers)
            ptx_edit_replace(writer->edits, site->statement, STR(""));
        break;
    case SHADOW_SITE_UNCHECKED:
        break;
    }
}

/* ---- Kernels ---- */

/* Clusters are counted, x fastest; without any they are the CTAs. */
static void write_entry(ShadowWriter *writer, uint32_t body) {
    bool clocked = writer->sites->clocked || writer->options->seed_layout;
    open_block(writer);
    say(writer, ".reg .b32 %%weir_x, %%weir_y;");
    say(writer, "mov.u32 %%weir_h, %%clusterid.z; mov.u32 %%weir_x, %%nclusterid.y; mov.u32 %%weir_y, %%clusterid.y;");
    say(writer, "mad.lo.u32 %%weir_h, %%weir_h, %%weir_x, %%weir_y;");
    say(writer, "mov.u32 %%weir_x, %%nclusterid.x; mov.u32 %%weir_y, %%clusterid.x;");
    say(writer, "mad.lo.u32 %%weir_h, %%weir_h, %%weir_x, %%weir_y;");
    if (writer->issued.size)
        say(writer, "mov.u32 %.*s, 0;", STR_ARG(writer->issued));
    if (writer->seen.size)
        say(writer, "mov.u64 %.*s, 0;", STR_ARG(writer->seen));
    if (!clocked) {
        say(writer, "add.u32 %.*s, %%weir_h, 1;", STR_ARG(writer->who));
    } else {
        char who[64];
        snprintf(who, sizeof who, "%.*s", STR_ARG(writer->who));
        ShadowCall call = call_begin(writer, "weir_enter");
        call_add(writer, &call, 32, "%weir_h");
        say(writer, "ld.param.u64 %%weir_l, [weir_launch+%zu];", offsetof(ShadowLaunch, state));
        call_add(writer, &call, 64, "%weir_l");
        say(writer, "ld.param.u32 %%weir_f, [weir_launch+%zu];", offsetof(ShadowLaunch, form));
        call_add(writer, &call, 32, "%weir_f");
        call_end(writer, &call, "", 32, who);
    }
    close_block(writer);
    ptx_edit_after(writer->edits, body, said(writer));
}

static uint32_t body_of(const PtxModule *module, uint32_t function) {
    for (uint32_t i = module->functions[function].begin; i < module->functions[function].end; i++)
        if (module->statements[i].kind == PTX_OPEN)
            return i;
    return PTX_NONE;
}

static void write_function(ShadowWriter *writer, uint32_t function, uint32_t *next) {
    const ShadowSites *sites = writer->sites;
    uint32_t body = body_of(writer->module, function);
    writer->who = ptx_edit_register(writer->edits, function, ".b32");
    writer->issued = sites->clocked && sites->copies && !writer->options->seed_layout
                         ? ptx_edit_register(writer->edits, function, ".b32")
                         : (Str){"", 0};
    writer->seen = (sites->clocked || writer->options->seed_layout) && sites->strong
                       ? ptx_edit_register(writer->edits, function, ".b64")
                       : (Str){"", 0};
    ptx_edit_parameter(writer->edits, function, STR(".param .align 16 .b8 weir_launch[128]"));
    write_entry(writer, body);
    while (*next < sites->count && sites->items[*next].function == function) {
        ShadowGroup group = shadow_group(sites, writer->module, *next);
        if (group.count > 1)
            write_group_of(writer, &sites->items[*next], group.count, group.before);
        else
            write_site(writer, &sites->items[*next]);
        *next += group.count;
    }
}

/* ---- Modules ---- */

enum { NEEDED_CAPABILITY = 90 };

static bool target_does(const PtxModule *module, const InstrumentOptions *options, const char **problem) {
    if (!shadow_is_built(options->seed_layout))
        *problem = "mode shadow was not built: it needs clang with the target nvptx64";
    else if (module->capability < NEEDED_CAPABILITY)
        *problem = "mode shadow needs a target of sm_90 or later";
    else if (module->address_size == 32)
        *problem = "mode shadow needs addresses of 64 bits";
    else
        return true;
    return false;
}

static void raise_version(ShadowWriter *writer) {
    const PtxModule *module = writer->module;
    for (uint32_t i = 0; i < module->statements_count && module->version < SHADOW_VERSION; i++)
        if (module->statements[i].kind == PTX_DIRECTIVE &&
            str_equal(ptx_name(module, module->statements[i].what), STR(".version"))) {
            ptx_edit_replace(writer->edits, i, STR(".version 8.3"));
            return;
        }
}

/* The calls need more registers than a kernel says that it has. */
static void free_registers(ShadowWriter *writer) {
    const PtxModule *module = writer->module;
    for (uint32_t i = 0; i < module->statements_count && !writer->options->keep_registers; i++)
        if (module->statements[i].kind == PTX_DIRECTIVE &&
            str_equal(ptx_name(module, module->statements[i].what), STR(".maxnreg")))
            ptx_edit_replace(writer->edits, i, STR(""));
}

static void add_top(ShadowWriter *writer) {
    const ShadowSites *sites = writer->sites;
    bool seed = writer->options->seed_layout;
    uint32_t flags = (sites->clocked ? SHADOW_MARK_CLOCKED : 0) | (sites->copies ? SHADOW_MARK_COPIES : 0) |
                     (seed ? SHADOW_MARK_SEED : 0) | (sites->waits_elsewhere ? SHADOW_MARK_WAITS_ELSEWHERE : 0);
    writer->text.size = 0;
    instrument_mark(writer->module, 0, 0, writer->options, &writer->text);
    text_addf(&writer->text,
              "\n.visible .global .align 8 .b32 " SHADOW_MARK "[4] = {%d, %" PRIu32 ", %" PRIu32 ", %d};\n", SHADOW_ABI,
              sites->count, flags, seed ? SHADOW_SEED_CELL : SHADOW_GRANULE);
    runtime_print(&writer->used, seed, &writer->text);
    ptx_edit_top(writer->edits, (Str){writer->text.data, writer->text.size});
}

bool instrument_shadow(PtxModule *module, const InstrumentOptions *options, Text *to, const char **problem) {
    ShadowSites sites;
    PtxEdits edits;
    if (!target_does(module, options, problem) || !shadow_sites(&sites, module, problem))
        return false;
    ptx_edits_init(&edits, module);
    ShadowWriter writer = {.module = module, .edits = &edits, .sites = &sites, .options = options};
    for (uint32_t i = 0, next = 0; i < module->functions_count; i++)
        if (module->functions[i].entry && module->functions[i].body)
            write_function(&writer, i, &next);
    raise_version(&writer);
    free_registers(&writer);
    add_top(&writer);
    ptx_edit_print(&edits, to);
    text_free(&writer.text);
    ptx_edits_free(&edits);
    shadow_sites_free(&sites);
    return true;
}
