/* The options that commands share: what is run, how, and where the results go; and those of run and check, whose
 * results are verdicts. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_ARG = 256 };

enum { MOST_DEVICES = 64 };

static const struct argp_option output_table[] = {
    {"quiet", 'q', NULL, 0, "print nothing: the exit status tells", 3},
    {"output", 'o', "FILE", 0, "write to FILE instead of standard output", 3},
    {0},
};

static const struct argp_option launch_table[] = {
    {"launch", SETS(TEXT, RunOptions, run.launch), "FILE", 0,
     "take grid and arguments from FILE, not from K.launch.json beside K.ttgir", 1},
    {"no-launch", SETS(FLAG, RunOptions, no_launch), NULL, 0, "look for no launch file", 1},
    {"only-launch", SETS(FLAG, RunOptions, only_launch), NULL, 0, "run no other launch than the one that is given", 1},
    {"arg", OPTION_ARG, "NAME=VALUE", 0, "give an argument of the kernel; as often as there are arguments", 1},
    {"grid", SETS(TEXT, RunOptions, run.grid), "X,Y,Z", 0, "how many programs are launched", 1},
    {"kernel", SETS(TEXT, RunOptions, run.kernel), "NAME", 0, "run only this kernel of a module", 1},
    {"budget", SETS(LONG, RunOptions, run.budget), "N", 0,
     "stop a run after N steps (4000000); an exhaustive one after N states (200000)", 2},
    {"timeout", SETS(UNSIGNED, RunOptions, run.timeout), "SECONDS", 0,
     "stop looking at a kernel after so long, which makes it incomplete (60; 0: never)", 2},
    {"mma-order", SETS(WORD, RunOptions, run.mma_order), "ORDER", 0,
     "tensor-core work completes in the order of its issue (issue), or as waits alone say (waits)", 2},
    {0},
};

static const struct argp_option verdict_table[] = {
    {"module", SETS(TEXT, RunOptions, module), "N|PASS", 0,
     "only module N, counted from 1, or those dumped by a pass; of a pass log else of each compilation the last with a "
     "kernel",
     1},
    {"devices", SETS(UNSIGNED, RunOptions, run.devices), "N", 0, "make every launch on each of N devices (1)", 1},
    {"resident", SETS(UNSIGNED, RunOptions, run.resident), "N", 0,
     "so many clusters of a device are there at once (all)", 2},
    {"gsan", SETS(WORD, RunOptions, run.gsan), "MODE", 0,
     "races in global memory: exact, sampled (as on a device), or off, which leaves kernels incomplete", 2},
    {"format", SETS(CHOICE, RunOptions, format), "FORMAT", 0, "text, or json for programs", 3},
    {"witness", SETS(TEXT, RunOptions, witness), "DIR", 0,
     "write the run that shows a finding to DIR, for weir run --replay", 3},
    {0},
};

uint64_t option_number(struct argp_state *state, const char *option, const char *text, uint64_t least, uint64_t most) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9')
        argp_error(state, "--%s takes a number, not '%s'", option, text);
    if (number < least || number > most)
        argp_error(state, "--%s takes a number from %llu to %llu, not '%s'", option, (unsigned long long)least,
                   (unsigned long long)most, text);
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

/* Rules, beside those that were given before. */
static const char *known_rules(struct argp_state *state, const char *before, const char *rules) {
    weir_string unknown = weir_rules_unknown(rules);
    char *both = NULL;
    if (unknown.data)
        argp_error(state, "there is no rule '%.*s'; 'weir rules' lists them", (int)unknown.size, unknown.data);
    if (before && asprintf(&both, "%s,%s", before, rules) < 0)
        exit(STATUS_ERROR);
    return before ? both : rules;
}

error_t option_set(const OptionField *field, int key, char *argument, struct argp_state *state) {
    if (key == ARGP_KEY_INIT && state->child_inputs)
        state->child_inputs[0] = state->input;
    while (field->sets && field->sets != key && (!field->letter || field->letter != key))
        field++;
    int sets = field->sets ? field->sets : key;
    void *at = (char *)state->input + (sets & ((1 << OFFSET_BITS) - 1));
    switch ((sets ^ OPTION_SETS) >> OFFSET_BITS) {
    case FIELD_FLAG:
        *(bool *)at = true;
        return 0;
    case FIELD_TEXT:
        *(const char **)at = argument;
        return 0;
    case FIELD_UNSIGNED:
        *(unsigned *)at = (unsigned)option_number(state, field->name, argument, field->least, field->most);
        return 0;
    case FIELD_LONG:
        *(uint64_t *)at = option_number(state, field->name, argument, field->least, field->most);
        return 0;
    case FIELD_WORD:
        *(const char **)at = field->words[option_word(state, argument, field->words, field->name)];
        return 0;
    case FIELD_CHOICE:
        *(unsigned *)at = (unsigned)option_word(state, argument, field->words, field->name);
        return 0;
    case FIELD_RULES:
        *(const char **)at = known_rules(state, *(const char **)at, argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- Inputs and output ------------------------------------------------------------------------ */

static error_t parse_output_option(int key, char *argument, struct argp_state *state) {
    static const OptionField fields[] = {
        {.letter = 'q', SETS(FLAG, RunOptions, quiet)}, {.letter = 'o', SETS(TEXT, RunOptions, output)}, {0}};
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

static error_t parse_launch_option(int key, char *argument, struct argp_state *state) {
    static const char *const orders[] = {"issue", "waits", NULL};
    static const OptionField fields[] = {{.sets = SETS(LONG, RunOptions, run.budget), "budget", UINT64_MAX / 2},
                                         {.sets = SETS(UNSIGNED, RunOptions, run.timeout), "timeout", MOST_SECONDS},
                                         {.sets = SETS(WORD, RunOptions, run.mma_order),
                                          "tensor-core work is ordered by 'issue' or by 'waits', not by '%s'",
                                          .words = orders},
                                         {0}};
    RunOptions *options = state->input;
    if (key == ARGP_KEY_INIT)
        options->run.timeout = USUAL_SECONDS;
    if (key != OPTION_ARG)
        return option_set(fields, key, argument, state);
    if (!paths_append(&options->arguments, argument))
        exit(STATUS_ERROR);
    options->run.arguments = (const char *const *)options->arguments.items;
    options->run.argument_count = options->arguments.count;
    return 0;
}

const struct argp launch_options_argp = {launch_table, parse_launch_option, NULL, NULL, output_options, NULL, NULL};
const struct argp_child launch_options[] = {{&launch_options_argp, 0, NULL, 0}, {0}};

/* ---- Verdicts ---------------------------------------------------------------------------------- */

static error_t parse_verdict_option(int key, char *argument, struct argp_state *state) {
    static const char *const formats[] = {"text", "json", NULL}, *const modes[] = {"exact", "sampled", "off", NULL};
    static const OptionField fields[] = {
        {.sets = SETS(UNSIGNED, RunOptions, run.devices), "devices", MOST_DEVICES},
        {.sets = SETS(UNSIGNED, RunOptions, run.resident), "resident", UINT32_MAX},
        {.sets = SETS(CHOICE, RunOptions, format),
         "a verdict can be printed as text or as json, not as '%s'",
         .words = formats},
        {.sets = SETS(WORD, RunOptions, run.gsan), "--gsan is exact, sampled or off, not '%s'", .words = modes},
        {0}};
    return option_set(fields, key, argument, state);
}

const struct argp run_options_argp = {verdict_table, parse_verdict_option, NULL, NULL, launch_options, NULL, NULL};
const struct argp_child run_options[] = {{&run_options_argp, 0, NULL, 0}, {0}};

void run_options_free(RunOptions *options) {
    paths_free(&options->inputs);
    paths_free(&options->arguments);
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
