/* weir lint --port: what becomes of kernels on an AMD target. */
#include "cli/cli.h"

#include <stdio.h>
#include <unistd.h>

typedef struct Session {
    Teller teller;
    const char *target;
} Session;

static void port_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Session *session = context;
    Teller *teller = &session->teller;
    weir_port *port = weir_port_make(module, session->target, options->kernel);
    if (!port) {
        tell_failure(teller, path, "there is not enough memory");
        return;
    }
    weir_verdict verdict = weir_port_verdict(port);
    teller->verdict = weir_verdict_worse(teller->verdict, verdict);
    if (verdict == WEIR_VERDICT_ERROR)
        weir_port_errors(port, isatty(STDERR_FILENO) ? WEIR_COLOUR : 0, teller->write_error, teller->error_to);
    if (teller->ports)
        weir_ports_add(teller->ports, port);
    weir_port_free(port);
}

int port_kernels(RunOptions *options, const char *target) {
    weir_context *weir = weir_create();
    Output *output = output_open(options->output);
    if (!weir || !output)
        return STATUS_ERROR;
    options->no_launch = true;
    Session session = {.target = target};
    Teller *teller = &session.teller;
    *teller = teller_start(options, output_write, output, stream_write, stderr);
    teller->doing = "looked at";
    if (!options->quiet)
        teller->ports =
            weir_ports_begin(options->json, teller->flags, output_width(options->output), output_write, output);
    bool good = options->quiet || teller->ports;
    for (size_t i = 0; i < options->inputs.count && good; i++)
        tell_modules(teller, weir, options->inputs.items[i], port_module, &session);
    good = good && (!teller->ports || weir_ports_end(teller->ports) == 0);
    good &= output_close(output, good);
    int status = weir_verdict_status(good ? teller->verdict : WEIR_VERDICT_ERROR);
    teller_free(teller);
    weir_destroy(weir);
    return status;
}
