/* weir lint --port: what becomes of kernels on an AMD target. */
#include "cli/cli.h"

typedef struct CliPort {
    Session session;
    const char *target;
} CliPort;

static void port_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    CliPort *port = context;
    session_report(&port->session, path, weir_port(module, port->target, options->kernel));
}

int port_kernels(Options *options) {
    CliPort port = {.target = options->port};
    Session *session = &port.session;
    options->no_launch = true;
    if (!session_open(session, options, "checked"))
        return STATUS_ERROR;
    session->reporter.how.width = output_width(options->output);
    bool good = session_write(session, WEIR_PORTS);
    if (good)
        session_inputs(session, port_module);
    return session_close(session, good, true);
}
