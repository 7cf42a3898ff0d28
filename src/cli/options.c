/* The options that commands share: what is run, how, and where the results go; and those of run and check, whose
 * results are verdicts. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_LAUNCH = 1024, /* above those of the commands */
    OPTION_NO_LAUNCH,
    OPTION_ARG,
    OPTION_GRID,
    OPTION_KERNEL,
    OPTION_MODULE,
    OPTION_BUDGET,
    OPTION_MMA_ORDER,
    OPTION_FORMAT,
    OPTION_WITNESS,
    OPTION_GSAN,
    OPTION_DEVICES,
    OPTION_RESIDENT,
};

enum { MOST_DEVICES = 64 };

static const struct argp_option output_table[] = {
    {"quiet", 'q', NULL, 0, "print nothing: the exit status tells", 3},
    {"output", 'o', "FILE", 0, "write to FILE instead of standard output", 3},
    {0},
};

static const struct argp_option launch_table[] = {
    {"launch", OPTION_LAUNCH, "FILE", 0, "take grid and arguments from FILE, not from K.launch.json beside K.ttgir", 1},
    {"no-launch", OPTION_NO_LAUNCH, NULL, 0, "look for no launch file", 1},
    {"arg", OPTION_ARG, "NAME=VALUE", 0, "give an argument of the kernel; as often as there are arguments", 1},
    {"grid", OPTION_GRID, "X,Y,Z", 0, "how many programs are launched", 1},
    {"kernel", OPTION_KERNEL, "NAME", 0, "run only this kernel of a module", 1},
    {"budget", OPTION_BUDGET, "N", 0, "stop a run after N steps (4000000); an exhaustive one after N states (200000)",
     2},
    {"mma-order", OPTION_MMA_ORDER, "ORDER", 0,
     "tensor-core work completes in the order of its issue (issue), or as waits alone say (waits)", 2},
    {0},
};

static const struct argp_option verdict_table[] = {
    {"module", OPTION_MODULE, "N|PASS", 0,
     "only module N, counted from 1, or those dumped by a pass; of a pass log else the last with a kernel", 1},
    {"devices", OPTION_DEVICES, "N", 0, "make every launch on each of N devices (1)", 1},
    {"resident", OPTION_RESIDENT, "N", 0, "so many clusters of a device are there at once (all)", 2},
    {"gsan", OPTION_GSAN, "MODE", 0,
     "races in global memory, where there is a launch: exact, sampled (as on a device), or off", 2},
    {"format", OPTION_FORMAT, "FORMAT", 0, "text, or json for programs", 3},
    {"witness", OPTION_WITNESS, "DIR", 0, "write the run that shows a finding to DIR, for weir run --replay", 3},
    {0},
};

uint64_t option_number(struct argp_state *state, const char *option, const char *text, uint64_t most) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9' || number > most)
        argp_error(state, "--%s takes a number, not '%s'", option, text);
    return number;
}

size_t option_word(struct argp_state *state, const char *text, const char *const *words, const char *message) {
    size_t index = 0;
    while (words[index] && strcmp(words[index], text) != 0)
        index++;
    if (!words[index])
        argp_error(state, message, text);
    return index;
}

static const char *known_rules(struct argp_state *state, const char *rules) {
    weir_string unknown = weir_rules_unknown(rules);
    if (unknown.data)
        argp_error(state, "there is no rule '%.*s'; 'weir rules' lists them", (int)unknown.size, unknown.data);
    return rules;
}

error_t option_set(const OptionField *field, int key, char *argument, struct argp_state *state) {
    if (key == ARGP_KEY_INIT && state->child_inputs)
        state->child_inputs[0] = state->input;
    while (field->key && field->key != key)
        field++;
    void *at = (char *)state->input + field->offset;
    switch (field->key ? (int)field->kind : -1) {
    case FIELD_FLAG:
        *(bool *)at = true;
        return 0;
    case FIELD_TEXT:
        *(const char **)at = argument;
        return 0;
    case FIELD_UNSIGNED:
        *(unsigned *)at = (unsigned)option_number(state, field->name, argument, field->most);
        return 0;
    case FIELD_LONG:
        *(uint64_t *)at = option_number(state, field->name, argument, field->most);
        return 0;
    case FIELD_WORD:
        *(const char **)at = field->words[option_word(state, argument, field->words, field->name)];
        return 0;
    case FIELD_CHOICE:
        *(unsigned *)at = (unsigned)option_word(state, argument, field->words, field->name);
        return 0;
    case FIELD_RULES:
        *(const char **)at = known_rules(state, argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- Inputs and output ------------------------------------------------------------------------ */

static error_t parse_output_option(int key, char *argument, struct argp_state *state) {
    static const OptionField fields[] = {{.key = 'q', FIELD_FLAG, offsetof(RunOptions, quiet)},
                                         {.key = 'o', FIELD_TEXT, offsetof(RunOptions, output)},
                                         {0}};
    RunOptions *options = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        if (!paths_add(&options->inputs, argument))
            exit(STATUS_ERROR);
        return 0;
    case ARGP_KEY_END:
        if (!options->inputs.count && !options->no_input)
            argp_error(state, "no input file");
        return 0;
    default:
        return option_set(fields, key, argument, state);
    }
}

const struct argp output_options_argp = {output_table, parse_output_option, NULL, NULL, NULL, NULL, NULL};
const struct argp_child output_options[] = {{&output_options_argp, 0, NULL, 0}, {0}};

/* ---- Launches ---------------------------------------------------------------------------------- */

static void add_argument(RunOptions *options, const char *argument) {
    weir_run_options *run = &options->run;
    if (run->argument_count == options->capacity) {
        options->capacity = options->capacity ? options->capacity * 2 : 8;
        options->arguments = realloc(options->arguments, options->capacity * sizeof *options->arguments);
        if (!options->arguments) {
            complain("there is not enough memory");
            exit(STATUS_ERROR);
        }
        run->arguments = options->arguments;
    }
    options->arguments[run->argument_count++] = argument;
}

static error_t parse_launch_option(int key, char *argument, struct argp_state *state) {
    static const char *const orders[] = {"issue", "waits", NULL};
    static const OptionField fields[] = {
        {.key = OPTION_LAUNCH, FIELD_TEXT, offsetof(RunOptions, run.launch)},
        {.key = OPTION_NO_LAUNCH, FIELD_FLAG, offsetof(RunOptions, no_launch)},
        {.key = OPTION_GRID, FIELD_TEXT, offsetof(RunOptions, run.grid)},
        {.key = OPTION_KERNEL, FIELD_TEXT, offsetof(RunOptions, run.kernel)},
        {.key = OPTION_BUDGET, FIELD_LONG, offsetof(RunOptions, run.budget), "budget", UINT64_MAX / 2},
        {.key = OPTION_MMA_ORDER,
         FIELD_WORD,
         offsetof(RunOptions, run.mma_order),
         "tensor-core work is ordered by 'issue' or by 'waits', not by '%s'",
         .words = orders},
        {0}};
    if (key != OPTION_ARG)
        return option_set(fields, key, argument, state);
    add_argument(state->input, argument);
    return 0;
}

const struct argp launch_options_argp = {launch_table, parse_launch_option, NULL, NULL, output_options, NULL, NULL};
const struct argp_child launch_options[] = {{&launch_options_argp, 0, NULL, 0}, {0}};

/* ---- Verdicts ---------------------------------------------------------------------------------- */

static error_t parse_verdict_option(int key, char *argument, struct argp_state *state) {
    static const char *const formats[] = {"text", "json", NULL}, *const modes[] = {"exact", "sampled", "off", NULL};
    static const OptionField fields[] = {
        {.key = OPTION_MODULE, FIELD_TEXT, offsetof(RunOptions, module)},
        {.key = OPTION_WITNESS, FIELD_TEXT, offsetof(RunOptions, witness)},
        {.key = OPTION_DEVICES, FIELD_UNSIGNED, offsetof(RunOptions, run.devices), "devices", MOST_DEVICES},
        {.key = OPTION_RESIDENT, FIELD_UNSIGNED, offsetof(RunOptions, run.resident), "resident", UINT32_MAX},
        {.key = OPTION_FORMAT,
         FIELD_CHOICE,
         offsetof(RunOptions, format),
         "a verdict can be printed as text or as json, not as '%s'",
         .words = formats},
        {.key = OPTION_GSAN,
         FIELD_WORD,
         offsetof(RunOptions, run.gsan),
         "--gsan is exact, sampled or off, not '%s'",
         .words = modes},
        {0}};
    return option_set(fields, key, argument, state);
}

const struct argp run_options_argp = {verdict_table, parse_verdict_option, NULL, NULL, launch_options, NULL, NULL};
const struct argp_child run_options[] = {{&run_options_argp, 0, NULL, 0}, {0}};

void run_options_free(RunOptions *options) {
    paths_free(&options->inputs);
    free(options->arguments);
}

void command_parse_options(const char *command, const struct argp *argp, int count, char **arguments, void *input) {
    char program[32] = "weir ";
    strncat(program, command, sizeof program - 6);
    argp_err_exit_status = STATUS_ERROR;
    argp_program_version = "weir " WEIR_VERSION;
    arguments[0] = program;
    if (argp_parse(argp, count, arguments, 0, NULL, input) != 0)
        exit(STATUS_ERROR);
}
