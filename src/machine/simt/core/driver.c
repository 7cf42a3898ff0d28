/* Functions that come with the driver: printing, memory, assertions. */
#include "machine/simt/core/internal.h"

#include <stdio.h>

enum { MOST_TEXT = 4096 };

/* ---- Printing ---- */

/* A byte at a generic address; false: there is none that is known. */
static bool byte_at(PtxMachine *machine, const PtxCode *code, PtxWarp *warp, uint32_t lane, uint64_t address,
                    unsigned bytes, uint64_t *value) {
    PtxLocation location;
    bool known;
    if (!ptx_resolve_one(machine, code, warp, lane, PTX_SPACE_UNKNOWN, address, bytes, 1, &location))
        return false;
    *value = ptx_load(machine, location, bytes, &known);
    return known;
}

static bool string_at(PtxMachine *machine, const PtxCode *code, PtxWarp *warp, uint32_t lane, uint64_t address,
                      Text *to) {
    uint64_t byte = 1;
    for (unsigned i = 0; i < MOST_TEXT && byte; i++) {
        if (!byte_at(machine, code, warp, lane, address + i, 1, &byte))
            return false;
        if (byte)
            text_char(to, (char)byte);
    }
    return true;
}

/* One directive of a format, with its argument; `size` is that of integers. */
static void print_directive(Str directive, uint64_t value, bool known, Text *to) {
    char kind = directive.data[directive.size - 1];
    char format[32], out[512];
    size_t plain = directive.size - 1;
    while (plain > 1 && strchr("hljzt", directive.data[plain - 1]))
        plain--;
    if (!known || plain + 4 > sizeof format) {
        text_char(to, '?');
        return;
    }
    memcpy(format, directive.data, plain);
    bool real = strchr("aAeEfFgG", kind) != NULL, wide = memchr(directive.data, 'l', directive.size) != NULL;
    double number;
    memcpy(&number, &value, sizeof number);
    format[plain] = 0;
    if (real) {
        format[plain] = kind;
        format[plain + 1] = 0;
        snprintf(out, sizeof out, format, number);
    } else if (kind == 'c') {
        strcat(format, "c");
        snprintf(out, sizeof out, format, (int)value);
    } else {
        strcat(format, "ll");
        format[plain + 2] = kind == 'p' ? 'x' : kind;
        format[plain + 3] = 0;
        bool is_signed = kind == 'd' || kind == 'i';
        long long whole = wide || kind == 'p' ? (long long)value
                          : is_signed         ? (long long)(int32_t)value
                                              : (long long)(uint32_t)value;
        snprintf(out, sizeof out, format, whole);
    }
    text_add(to, out, strlen(out));
}

/* Arguments lie one after the other, each at a multiple of its size. */
static void print_format(PtxMachine *machine, const PtxCode *code, PtxWarp *warp, uint32_t lane, Str format,
                         uint64_t arguments, Text *to) {
    uint64_t at = arguments;
    for (size_t i = 0; i < format.size; i++) {
        if (format.data[i] != '%') {
            text_char(to, format.data[i]);
            continue;
        }
        size_t begin = i++;
        while (i < format.size && strchr("-+ #0123456789.hljzt", format.data[i]))
            i++;
        if (i >= format.size)
            return;
        Str directive = {format.data + begin, i - begin + 1};
        char kind = format.data[i];
        if (kind == '%') {
            text_char(to, '%');
            continue;
        }
        bool wide = strchr("sp", kind) || strchr("aAeEfFgG", kind) || memchr(directive.data, 'l', directive.size);
        unsigned bytes = wide ? 8 : 4;
        uint64_t value = 0;
        at = (at + bytes - 1) / bytes * bytes;
        bool known = byte_at(machine, code, warp, lane, at, bytes, &value);
        at += bytes;
        if (kind != 's')
            print_directive(directive, value, known, to);
        else if (!known || !string_at(machine, code, warp, lane, value, to))
            text_char(to, '?');
    }
}

static PtxStep call_printf(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                           const uint64_t arguments[][PTX_LANES], const uint32_t *unknown,
                           uint64_t results[PTX_LANES]) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        Text format = {0};
        results[lane] = 1;
        if (!machine->printed)
            continue;
        if (!((unknown[0] | unknown[1]) >> lane & 1) &&
            string_at(machine, code, group->warp, lane, arguments[0][lane], &format))
            print_format(machine, code, group->warp, lane, (Str){format.data, format.size}, arguments[1][lane],
                         machine->printed);
        text_free(&format);
        machine->fault = (PtxFault){0};
    }
    return PTX_STEP_NEXT;
}

/* ---- Memory ---- */

static PtxStep call_malloc(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                           const uint64_t arguments[][PTX_LANES], const uint32_t *unknown,
                           uint64_t results[PTX_LANES]) {
    (void)group;
    ptx_ordered(machine);
    if (unknown[0] & lanes)
        return ptx_stop(machine, code, "how much memory it allocates is not known");
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint64_t bytes = arguments[0][lane];
        if (heap_has(machine, bytes) && !(results[lane] = heap_take(machine, bytes)))
            return ptx_stop(machine, code, "the launch calls malloc more often than Weir follows");
    }
    return PTX_STEP_NEXT;
}

static PtxStep call_free(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                         const uint64_t arguments[][PTX_LANES], const uint32_t *unknown, uint64_t results[PTX_LANES]) {
    (void)results;
    ptx_ordered(machine);
    if (unknown[0] & lanes)
        return ptx_stop(machine, code, "which memory it frees is not known");
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t address = arguments[0][__builtin_ctz(rest)];
        if (address && !heap_give(machine, address))
            return ptx_fault(machine, group, RULE_ACCESS_INVALID, code, rest & -rest,
                             "it frees what malloc did not give, or what was freed before");
    }
    return PTX_STEP_NEXT;
}

/* ---- Assertions ---- */

/* A string that is an argument of a lane; "?": it is not known. */
static const char *argument_string(PtxMachine *machine, const PtxCode *code, PtxWarp *warp, uint32_t lane,
                                   uint64_t address, bool unknown) {
    Text text = {0};
    bool known = !unknown && string_at(machine, code, warp, lane, address, &text) && text.size;
    const char *kept = known ? text_keep(&text, &machine->arena) : "?";
    text_free(&text);
    machine->fault = (PtxFault){0};
    return kept;
}

/* The message, the file, the line, the function; and a line for each lane, as a GPU prints them. */
static PtxStep call_assertfail(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                               const uint64_t arguments[][PTX_LANES], const uint32_t *unknown,
                               uint64_t results[PTX_LANES]) {
    const uint32_t *id = group->warp->cta->id, *block = machine->launch->block;
    const char *strings[4] = {0}, *message = NULL;
    Text text = {0}, lines = {0};
    (void)results;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), thread = group->warp->index * PTX_LANES + lane;
        for (unsigned i = 0; i < 4; i++)
            if (i != 2)
                strings[i] =
                    argument_string(machine, code, group->warp, lane, arguments[i][lane], unknown[i] >> lane & 1);
        message = message ? message : strings[0];
        text_addf(&lines, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", strings[1],
                  (unsigned)arguments[2][lane], strings[3], id[0], id[1], id[2], thread % block[0],
                  thread / block[0] % block[1], thread / block[0] / block[1], strings[0]);
    }
    machine->asserted = text_keep(&lines, &machine->arena);
    if (strcmp(message, "?") != 0)
        text_addf(&text, "assertion `%s` failed", message);
    else
        text_addf(&text, "an assertion failed");
    return ptx_fault(machine, group, RULE_KERNEL_TRAP, code, lanes, text_keep(&text, &machine->arena));
}

/* ---- Graphs ---- */

/* What is run behind the kernel depends on it, and nothing within. */
static PtxStep call_condition(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                              const uint64_t arguments[][PTX_LANES], const uint32_t *unknown,
                              uint64_t results[PTX_LANES]) {
    (void)machine, (void)group, (void)code, (void)lanes, (void)arguments, (void)unknown, (void)results;
    return PTX_STEP_NEXT;
}

bool driver_takes_memory(DriverCall *call) {
    return call == call_malloc;
}

DriverCall *driver_call(Str name) {
    static const struct {
        const char *name;
        DriverCall *call;
    } calls[] = {{"vprintf", call_printf},
                 {"malloc", call_malloc},
                 {"free", call_free},
                 {"__assertfail", call_assertfail},
                 {"cudaGraphSetConditional", call_condition}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (str_is(name, calls[i].name))
            return calls[i].call;
    return NULL;
}
