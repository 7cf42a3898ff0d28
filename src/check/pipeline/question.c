/* Which kernels and which launches a question means. */
#include "check/pipeline/internal.h"

#include "base/demangle/demangle.h"
#include "check/membar/report.h"
#include "machine/tile/launch/choose.h"

/* ---- Kernels -------------------------------------------------------------------------------------- */

Str result_name(const PipelineResult *result, size_t kernel) {
    const PtxModule *ptx = result->ptx;
    return ptx ? ptx_name(ptx, ptx->functions[result->entries[kernel]].name) : op_symbol(result->functions[kernel]);
}

const char *result_names(PipelineResult *result) {
    Text text = {0};
    for (size_t i = 0; i < result->count; i++) {
        text_addf(&text, "%s@", i ? ", " : "");
        name_shown(result_name(result, i), &text);
    }
    return text_keep(&text, &result->arena);
}

bool result_keep(PipelineResult *result, Str name) {
    size_t kept = 0;
    if (name.size && name.data[0] == '@')
        name = str_between(name.data + 1, name.data + name.size);
    bool exact = false;
    for (size_t i = 0; i < result->count; i++)
        exact |= str_equal(result_name(result, i), name);
    for (size_t i = 0; i < result->count; i++) {
        if (exact ? !str_equal(result_name(result, i), name) : !name_meant(result_name(result, i), name))
            continue;
        if (result->ptx)
            result->entries[kept++] = result->entries[i];
        else
            result->functions[kept++] = result->functions[i];
    }
    result->count = kept ? kept : result->count;
    return kept > 0;
}

static bool find_kernels(PipelineResult *result) {
    const char *only = result->question.kernel;
    size_t count = program_kernels(result->module, NULL, 0);
    if (!count && result->question.report && !only)
        return true; /* which is what its report says */
    if (!count)
        return result_fail(result, "there is no kernel in it: no tt.func with a body");
    result->functions = ARENA_ARRAY(&result->arena, const Op *, count);
    result->count = program_kernels(result->module, result->functions, count);
    const char *name;
    const Attr *wrong = module_problem(result->functions[0], &name);
    if (wrong)
        return result_fail(result, "'%s' is %.*s; it must be an integer from 1 to %d", name, STR_ARG(wrong->text),
                           MODULE_MOST);
    for (size_t i = 0; i < result->count; i++)
        membar_complete(result->module, result->functions[i], result->question.releases);
    return !only || result_keep(result, str_of(only)) ||
           result_fail(result, "there is no kernel '%s'; there is %s", only, result_names(result));
}

/* Functions of PTX that a launch can name; a library that has none is looked at function by function. */
static bool find_entries(PipelineResult *result) {
    const char *only = result->question.kernel;
    const PtxModule *ptx = result->ptx;
    ptx_name_parameters(result->ptx, result->question.root);
    result->entries = ARENA_ARRAY(&result->arena, uint32_t, ptx->functions_count + 1);
    for (int entries = 1; entries >= 0 && !result->count; entries--)
        for (uint32_t i = 0; i < ptx->functions_count; i++)
            if (ptx->functions[i].body && ptx->functions[i].entry == entries)
                result->entries[result->count++] = i;
    if (!result->count)
        return result_fail(result, "there is no kernel in it: no .entry with a body");
    return !only || result_keep(result, str_of(only)) ||
           result_fail(result, "there is no kernel '%s'; there is %s", only, result_names(result));
}

/* ---- Launches ------------------------------------------------------------------------------------- */

bool result_set_arguments(PipelineResult *result, Launch *launch) {
    const Question *question = &result->question;
    for (size_t i = 0; i < question->argument_count; i++) {
        const char *problem = launch_set(&result->arena, launch, question->arguments[i]);
        if (problem)
            return result_fail(result, "'%s': %s", question->arguments[i], problem);
    }
    const struct {
        const char *text;
        const char *(*set)(Launch *launch, const char *text);
    } shapes[] = {{question->grid, launch_set_grid},
                  {question->block, launch_set_block},
                  {question->cluster, launch_set_cluster},
                  {question->shared, launch_set_shared}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const char *problem = shapes[i].text ? shapes[i].set(launch, shapes[i].text) : NULL;
        if (problem)
            return result_fail(result, "'%s': %s", shapes[i].text, problem);
    }
    return true;
}

/* A name that no kernel has is a slip of the finger, and silence about it would make a clean verdict one about another
 * launch. */
static bool check_names(PipelineResult *result, const Launch *given) {
    Verdict ignored = {.arena = &result->arena};
    size_t found = 0;
    Text names = {0};
    bool *known = ARENA_ARRAY(&result->arena, bool, given->count + 1);
    for (size_t i = 0; i < result->count; i++) {
        const Program *program = program_compile(result->module, result->functions[i], 0, &ignored);
        for (uint32_t k = 0; program && k < program->parameter_count; k++) {
            text_addf(&names, "%s%s", names.size ? ", " : "", program->parameters[k].name);
            const Argument *argument = launch_find(given, str_of(program->parameters[k].name));
            if (argument)
                known[argument - given->arguments] = true;
        }
    }
    while (found < given->count && known[found])
        found++;
    const char *kept = text_keep(&names, &result->arena);
    if (found == given->count)
        return true;
    Str name = given->arguments[found].name;
    if (!*kept)
        return result_fail(result, "there is no argument '%.*s': %s has none", STR_ARG(name), result_names(result));
    return result_fail(result, "there is no argument '%.*s'; %s has %s", STR_ARG(name), result_names(result), kept);
}

/* Whether an argument can be what the parameter takes: a number that does not fit would be another one, and memory is
 * no number. */
static bool fits_parameter(PipelineResult *result, const Argument *argument, const Parameter *parameter) {
    const Type *type = parameter->type ? type_resolve(result->module, parameter->type) : NULL;
    bool number = type && (type->kind == TYPE_INTEGER || type->kind == TYPE_INDEX || type->kind == TYPE_FLOAT);
    bool integer = argument->kind == ARGUMENT_INTEGER, memory = !integer && argument->kind != ARGUMENT_FLOAT;
    if (number && memory)
        return result_fail(result, "'%s' is a scalar, %.*s, and the launch gives memory", parameter->name,
                           STR_ARG(type->text));
    if (type && type->kind == TYPE_INTEGER && argument->kind == ARGUMENT_FLOAT)
        return result_fail(result, "'%s' is an integer, %.*s, and the launch gives %g", parameter->name,
                           STR_ARG(type->text), argument->number);
    if (type && type->kind == TYPE_INTEGER && integer && type->width < 64 &&
        (argument->integer < -(INT64_C(1) << (type->width - 1)) || argument->integer >= INT64_C(1) << type->width))
        return result_fail(result, "'%s' is an %.*s, and %lld does not fit: it would wrap to %lld", parameter->name,
                           STR_ARG(type->text), (long long)argument->integer,
                           (long long)integer_wrap(argument->integer, type->width));
    if (type && type_is(type, STR("tt.ptr")) && !memory)
        return result_fail(result,
                           "'%s' is a pointer, %.*s, and the launch gives a number; a launch file gives memory as "
                           "{\"tensor\": {\"shape\": [...]}}",
                           parameter->name, STR_ARG(type->text));
    if (type && type_is_descriptor(type) && !memory)
        return result_fail(result, "'%s' is a tensor descriptor, and the launch gives a number", parameter->name);
    return true;
}

static bool check_types(PipelineResult *result, const Launch *given) {
    Verdict ignored = {.arena = &result->arena};
    for (size_t i = 0; i < result->count; i++) {
        bool other =
            given->kernel.size && result->count > 1 && !str_equal(op_symbol(result->functions[i]), given->kernel);
        const Program *program = other ? NULL : program_compile(result->module, result->functions[i], 0, &ignored);
        for (uint32_t k = 0; program && k < program->parameter_count; k++) {
            const Parameter *parameter = &program->parameters[k];
            const Argument *argument = launch_find(given, str_of(parameter->name));
            bool part = parameter->descriptor >= 0; /* a size or stride of a descriptor, which has its name */
            if (argument && !part && !fits_parameter(result, argument, parameter))
                return false;
        }
    }
    return true;
}

static bool read_beside(PipelineResult *result, const char *path) {
    const char *problem = NULL;
    result->source = source_read(path, &problem);
    return result->source || result_fail(result, "%s cannot be read: %s", path, problem);
}

/* K.launch.json, found beside K.ttgir, is about that kernel, whatever the kernel is called there: a compiler may have
 * renamed it. */
static bool is_beside(const PipelineResult *result, const char *path) {
    const char *module = result->module->source->name, *dot = strrchr(module, '.');
    size_t size = dot ? (size_t)(dot - module) : strlen(module);
    return strncmp(path, module, size) == 0 && strcmp(path + size, ".launch.json") == 0;
}

/* A cluster that is run by itself is one of as many devices as the whole grid has. */
static void count_devices(const PipelineResult *result, Launch *launch) {
    unsigned devices = result->question.global_options.devices;
    for (uint32_t i = 0; devices && i < launch->count; i++)
        if (launch->arguments[i].meaning == MEANS_DEVICES)
            launch->arguments[i].integer = devices;
}

/* What the launch of a module of IR must not say: it has its threads from the module. */
static bool has_no_threads(PipelineResult *result, const Launch *launch) {
    return !(launch->block[0] || launch->cluster[0] || launch->has_shared) ||
           result_fail(result,
                       "a launch says block, cluster and shared memory for PTX only: Triton GPU IR has them itself");
}

static bool read_launch(PipelineResult *result) {
    const char *path = result->question.launch;
    Launch given = {.grid = {1, 1, 1}};
    if (!result_set_arguments(result, &given) || !has_no_threads(result, &given) ||
        (given.count && (!check_names(result, &given) || !check_types(result, &given))))
        return false;
    if (!path)
        return true;
    Launch *launch = ARENA_NEW(&result->arena, Launch);
    if (!read_beside(result, path) || !launch_read(&result->arena, result->source, launch, &result->diagnostics))
        return false;
    result->launch = launch;
    count_devices(result, launch);
    bool named = !launch->kernel.size || (result->count == 1 && is_beside(result, path));
    for (size_t i = 0; i < result->count && !named; i++)
        named = str_equal(op_symbol(result->functions[i]), launch->kernel);
    if (!named)
        return result_fail(result, "%s is a launch of '%.*s'; there is %s", path, STR_ARG(launch->kernel),
                           result_names(result));
    return result_set_arguments(result, launch) && has_no_threads(result, launch) && check_types(result, launch);
}

static bool read_trail(PipelineResult *result) {
    const char *path = result->question.trail;
    TrailFile *trail = ARENA_NEW(&result->arena, TrailFile);
    if (!read_beside(result, path) || !trail_read(&result->arena, result->source, trail, &result->diagnostics))
        return false;
    if (trail->whole && trail->grid.count == 1)
        trail->kernel = trail->grid.kernels[0];
    if (result->count > 1 && trail->kernel.size && !result_keep(result, trail->kernel))
        return result_fail(result, "%s is a trail of '%.*s'; there is %s", path, STR_ARG(trail->kernel),
                           result_names(result));
    trail->rerun.budget = result->question.runs.budget;
    result->trail = trail;
    return true;
}

const Launch *result_given_launch(const PipelineResult *result, size_t kernel) {
    const Launch *launch = result->launch;
    bool other =
        launch && result->count > 1 && launch->kernel.size && !name_meant(result_name(result, kernel), launch->kernel);
    return other ? NULL : launch;
}

const Launch *result_fixed(PipelineResult *result) {
    const Question *question = &result->question;
    if (!question->argument_count && !question->grid && !question->block && !question->cluster && !question->shared)
        return NULL;
    Launch *made = ARENA_NEW(&result->arena, Launch);
    return result_set_arguments(result, made) ? made : NULL;
}

const Launch *result_choose(PipelineResult *result, size_t kernel, size_t *count) {
    Verdict ignored = {.arena = &result->arena};
    const Program *program = program_compile(result->module, result->functions[kernel], 0, &ignored);
    Launch *launches = ARENA_ARRAY(&result->arena, Launch, MOST_CHOSEN);
    const Launch *given = result_given_launch(result, kernel);
    size_t all = program ? choose_launches(program, &result->arena, given, given ? NULL : result_fixed(result),
                                           &result->chosen, launches)
                         : 0;
    Launch *sorted = ARENA_ARRAY(&result->arena, Launch, all + 1);
    *count = 0;
    for (int doubtful = 0; doubtful < 2; doubtful++)
        for (size_t i = 0; i < all; i++)
            if ((launches[i].doubt != DOUBT_NONE) == doubtful)
                sorted[(*count)++] = launches[i];
    return sorted;
}

/* ---- The whole of it ------------------------------------------------------------------------------ */

/* Every kernel has a report, even if it cannot be made. */
static void prepare_reports(PipelineResult *result) {
    result->report_count = result->count ? result->count : 1;
    result->reports = ARENA_ARRAY(&result->arena, Report, result->report_count);
    result->traces = ARENA_ARRAY(&result->arena, Trace, result->report_count);
    for (size_t i = 0; i < result->report_count; i++) {
        Report *report = &result->reports[i];
        *report = report_blank(result->module->source->name, &result->verdicts[i]);
        report->module = result->question.module;
        report->nothing = result->count ? "The report could not be made; the parts that were not checked say why."
                                        : "There is no kernel in it: no tt.func with a body.";
        result->traces[i] = (Trace){.file = "", .kernel = "", .launch = ""};
    }
}

/* ---- PTX ------------------------------------------------------------------------------------------ */

/* A launch names the kernel that it is for; others of the module have none. */
static bool read_ptx_launch(PipelineResult *result) {
    const char *path = result->question.launch;
    Launch *launch = ARENA_NEW(&result->arena, Launch);
    if (!path)
        return true;
    if (!read_beside(result, path) || !launch_read(&result->arena, result->source, launch, &result->diagnostics))
        return false;
    result->launch = launch;
    bool beside = result->count == 1 && is_beside(result, path);
    if (launch->kernel.size && !beside && !result_keep(result, launch->kernel))
        return result_fail(result, "%s is a launch of '%.*s'; there is %s", path, STR_ARG(launch->kernel),
                           result_names(result));
    return result_set_arguments(result, launch);
}

static bool read_ptx_trail(PipelineResult *result) {
    const char *path = result->question.trail;
    ThreadsTrail *trail = ARENA_NEW(&result->arena, ThreadsTrail);
    if (!read_beside(result, path) || !threads_trail_read(&result->arena, result->source, trail, &result->diagnostics))
        return false;
    if (trail->recorded && trail->beside && result->recording) { /* it, or one that it is played with */
        result->threads_trail = trail;
        return true;
    }
    if (!result_keep(result, trail->kernel))
        return result_fail(result, "%s is a trail of '%.*s'; there is %s", path, STR_ARG(trail->kernel),
                           result_names(result));
    if (trail->recorded != (result->recording != NULL))
        return result_fail(result,
                           trail->recorded ? "%s is a trail of a recording: give the recording that it is of"
                                           : "%s is a trail of PTX, and this is a recording",
                           path);
    result->threads_trail = trail;
    return true;
}

/* Whether what was given fits the kernels. */
static bool check_ptx_launch(PipelineResult *result) {
    for (size_t i = 0; i < result->count; i++) {
        ThreadsOptions options = result_threads(result, i);
        if (*result->problem)
            return false;
        const char *problem = threads_launch_problem(result->ptx, result->entries[i], &options, &result->arena);
        if (problem)
            return result_fail(result, "@%.*s: %s", STR_ARG(result_name(result, i)), problem);
    }
    return true;
}

/* A recording is of one launch of one kernel. */
static bool ask_recording(PipelineResult *result) {
    const Question *question = &result->question;
    bool given = question->launch && !is_beside(result, question->launch);
    if (given || question->argument_count || question->grid || question->block || question->cluster || question->shared)
        return result_fail(result, "a recording has its launch, and takes no other");
    if (!result_keep(result, str_of(result->recording->kernel)))
        return result_fail(result, "the recording is of '%s', and its PTX has %s", result->recording->kernel,
                           result_names(result));
    return !question->trail || read_ptx_trail(result);
}

/* An order log has its launches. */
static bool ask_program(PipelineResult *result) {
    const Question *question = &result->question;
    bool given = question->launch && !is_beside(result, question->launch);
    if (given || question->argument_count || question->grid || question->trail)
        return result_fail(result, "an order log is of a program that ran: it takes no launch and no trail");
    return true;
}

/* Rules read it as it stands: a launch beside it is for those who run it. */
static bool ask_ptx(PipelineResult *result) {
    const Question *question = &result->question;
    if (question->lint_only && (question->argument_count || question->grid))
        return result_fail(result, "PTX is linted without a launch, and takes no arguments and no grid");
    if (!find_entries(result))
        return false;
    if (result->program)
        return ask_program(result);
    if (question->lint_only)
        return true;
    if (!result->ptx->functions[result->entries[0]].entry)
        return result_fail(result, "there is no kernel in it: no .entry with a body");
    if (result->recording)
        return ask_recording(result);
    return (question->trail ? read_ptx_trail(result) : read_ptx_launch(result)) && check_ptx_launch(result);
}

static bool ask(PipelineResult *result) {
    const Question *question = &result->question;
    if (result->ptx)
        return ask_ptx(result);
    if (question->report && question->trail)
        return result_fail(result, "a barrier report is about launches, not about a trail");
    return find_kernels(result) && (question->trail ? read_trail(result) : read_launch(result));
}

bool result_ask(PipelineResult *result, const Question *question) {
    result->question = *question;
    if (!ask(result)) {
        result->count = 0;
        return false;
    }
    result->verdicts = ARENA_ARRAY(&result->arena, Verdict, result->count + 1);
    for (size_t i = 0; i <= result->count; i++) { /* the last is for a report on nothing */
        Str name = i < result->count ? result_name(result, i) : STR("");
        const char *kernel = arena_copy(&result->arena, name.data, name.size);
        result->verdicts[i] = (Verdict){.arena = &result->arena,
                                        .kernel = kernel,
                                        .shown = name_kept(kernel, &result->arena),
                                        .demangled = name_whole(kernel, &result->arena)};
    }
    result->rows = ARENA_ARRAY(&result->arena, Row *, result->count + 1);
    result->places = ARENA_ARRAY(&result->arena, size_t, result->count + 1);
    if (question->report)
        prepare_reports(result);
    return true;
}
