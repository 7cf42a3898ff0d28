/* weir lint --port: what becomes of kernels on an AMD target. */
#include "cli/cli.h"

typedef struct Port {
    Session session;
    const char *target;
} Port;

static void port_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Port *port = context;
    session_tell(&port->session, path, weir_port(module, port->target, options->kernel));
}

int port_kernels(Options *options) {
    Port port = {.target = options->port};
    Session *session = &port.session;
    options->no_launch = true;
    if (!session_open(session, options, "looked at"))
        return STATUS_ERROR;
    session->teller.how.width = output_width(options->output);
    bool good = session_write(session, WEIR_PORTS);
    if (good)
        session_inputs(session, port_module);
    return session_close(session, good, true);
}
