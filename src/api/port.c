/* What becomes of the kernels of a module on an AMD target. */
#include "api/internal.h"

#include "analyze/port/port.h"
#include "render/port.h"

#include <stdlib.h>

static const size_t port_budget = (size_t)1 << 30;

struct weir_port {
    weir_module *module;
    Arena arena;
    VerdictKind kind;
    const char *problem; /* one sentence on what is wrong with what was asked for; "" if nothing is */
    const Op **kernels;
    PortReport *reports;
    size_t count;
};

typedef struct Request {
    weir_port *port;
    const Target *target;
    const char *target_name, *kernel;
    size_t at; /* the one that is looked at */
} Request;

/* ---- Making --------------------------------------------------------------------------------------- */

static void fail(weir_port *port, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail(weir_port *port, const char *format, ...) {
    Text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vaddf(&text, format, arguments);
    va_end(arguments);
    port->problem = arena_copy(&port->arena, text.data ? text.data : "", text.size);
    text_free(&text);
}

static void keep_kernel(weir_port *port, const char *name) {
    Str wanted = str_of(name + (name[0] == '@'));
    size_t kept = 0;
    for (size_t i = 0; i < port->count; i++)
        if (str_equal(op_symbol(port->kernels[i]), wanted))
            port->kernels[kept++] = port->kernels[i];
    port->count = kept;
    if (!kept)
        fail(port, "there is no kernel '%s'", name);
}

static void prepare(void *context) {
    Request *request = context;
    weir_port *port = request->port;
    Module *module = &port->module->module;
    if (!port->module->ok) {
        fail(port, "it has errors");
        return;
    }
    request->target = target_named(str_of(request->target_name));
    if (!request->target || request->target->vendor != VENDOR_AMD) {
        fail(port, "kernels can be ported to gfx942, gfx950 and gfx1250, not to '%s'", request->target_name);
        return;
    }
    size_t count = program_kernels(module, NULL, 0);
    port->kernels = ARENA_ARRAY(&port->arena, const Op *, count + 1);
    port->reports = ARENA_ARRAY(&port->arena, PortReport, count + 1);
    port->count = program_kernels(module, port->kernels, count);
    if (!count)
        fail(port, "there is no kernel in it: no tt.func with a body");
    else if (request->kernel)
        keep_kernel(port, request->kernel);
}

static void look_at(void *context) {
    Request *request = context;
    weir_port *port = request->port;
    port->reports[request->at] =
        port_report(&port->arena, &port->module->module, port->kernels[request->at], request->target);
}

weir_port *weir_port_make(weir_module *module, const char *target, const char *kernel) {
    weir_port *port = calloc(1, sizeof *port);
    if (!port)
        return NULL;
    port->module = module;
    port->problem = "";
    arena_init(&port->arena, port_budget);
    Request request = {.port = port, .target_name = target, .kernel = kernel};
    if (!attempt(module, &port->arena, prepare, &request))
        port->problem = "there is not enough memory";
    if (*port->problem) {
        port->kind = VERDICT_ERROR;
        port->count = 0;
    }
    for (size_t i = 0; i < port->count; i++) {
        request.at = i;
        if (!attempt(module, &port->arena, look_at, &request))
            port->reports[i] = (PortReport){.file = module->module.source->name,
                                            .function = "",
                                            .target = request.target->name,
                                            .problem = "the analysis takes more memory than it may",
                                            .verdict = VERDICT_INCOMPLETE,
                                            .shared_bytes = -1};
        port->kind = verdict_worse(port->kind, port->reports[i].verdict);
    }
    return port;
}

void weir_port_free(weir_port *port) {
    if (!port)
        return;
    arena_free(&port->arena);
    free(port);
}

/* ---- Numbers -------------------------------------------------------------------------------------- */

weir_verdict weir_port_verdict(const weir_port *port) {
    return (weir_verdict)port->kind; /* ORDER VerdictKind */
}

size_t weir_port_count(const weir_port *port) {
    return port->count;
}

weir_port_kernel weir_port_at(const weir_port *port, size_t index) {
    if (index >= port->count)
        return (weir_port_kernel){"", WEIR_VERDICT_ERROR, 0, 0, 0, 0, 0};
    const PortReport *report = &port->reports[index];
    return (weir_port_kernel){
        report->function,  (weir_verdict)report->verdict, report->exact, report->staged, report->none, report->unknown,
        report->wait_count};
}

/* ---- Writing -------------------------------------------------------------------------------------- */

int weir_port_errors(const weir_port *port, unsigned flags, weir_write *write, void *to) {
    Sink sink = {write, to};
    Text out = {.sink = sink_pass, .to = &sink};
    const char *file = port->module->module.source->name;
    if (!port->module->ok)
        report_diagnostics(&port->module->diagnostics, file, flags & WEIR_COLOUR, &out);
    else if (*port->problem)
        report_sentence(file, port->problem, flags & WEIR_COLOUR, &out);
    return sink_finish(&out);
}

struct weir_ports {
    Sink sink;
    Style style;
    bool is_json;
    size_t count;
    Text out;
    PortJson json;
};

weir_ports *weir_ports_begin(int json, unsigned flags, unsigned width, weir_write *write, void *to) {
    weir_ports *ports = calloc(1, sizeof *ports);
    if (!ports)
        return NULL;
    ports->sink = (Sink){write, to};
    ports->style = (Style){.colour = flags & WEIR_COLOUR, .width = width};
    ports->is_json = json;
    ports->out = (Text){.sink = sink_pass, .to = &ports->sink};
    if (json)
        ports->json = render_port_json_begin(&ports->out, WEIR_VERSION);
    return ports;
}

void weir_ports_add(weir_ports *ports, const weir_port *port) {
    if (port->kind == VERDICT_ERROR)
        weir_ports_error(ports, port->module->module.source->name, port->problem);
    for (size_t i = 0; i < port->count; i++) {
        if (ports->is_json) {
            render_port_json_add(&ports->json, &port->reports[i]);
            continue;
        }
        if (ports->count++)
            text_char(&ports->out, '\n');
        render_port_text(&port->reports[i], ports->style, &ports->out);
    }
}

void weir_ports_error(weir_ports *ports, const char *file, const char *sentence) {
    PortReport report = {.file = file, .function = "", .target = "", .problem = sentence, .verdict = VERDICT_ERROR};
    report.shared_bytes = -1;
    if (ports->is_json)
        render_port_json_add(&ports->json, &report);
}

int weir_ports_end(weir_ports *ports) {
    if (ports->is_json)
        render_port_json_end(&ports->json);
    int status = sink_finish(&ports->out);
    free(ports);
    return status;
}
