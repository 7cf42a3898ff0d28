/* The machine of PTX against a GPU: runs the launches of tests/machine/NAME.json, and compares the memory that they
 * leave with NAME.out, which a GPU has left (README.md).
 *
 *     machine [--values needed] [--time] [--record | --shadow | --shadow-seed] FILE.json...
 *
 * With --values needed nothing is compared: the launches have to end as well; nor with --time, which tells the
 * thread-instructions and seconds of each. With --record the kernels are instrumented before they are run; and the
 * chunks that they leave have to be well-formed (tests/record/walk.h); with --shadow they check themselves, in cells of
 * either layout. The last line is `N passed, N failed`. */
#include "instrument/emit/shadow.h"
#include "instrument/instrument.h"
#include "machine/expand.h"
#include "machine/simt/async/tensormap.h"
#include "machine/simt/decode/slice.h"
#include "machine/simt/schedule/schedule.h"
#include "ptx/reader.h"
#include "record/cells.h"
#include "record/walk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BUDGET = 400000000 };

/* One file: its module, and what was recorded of it. */
typedef struct Recorded {
    const char *path; /* without its end */
    PtxModule module;
    PtxModule plain; /* with --record: the module before it was instrumented, and its sites */
    Source *plain_text;
    Sites sites;
    json_t *cases;
    char **lines; /* of NAME.out */
    size_t line_count;
} Recorded;

static unsigned passed, failed;
static bool slice, timed, recording;
static bool shadow, seed; /* --shadow, --shadow-seed: kernels check themselves */

static void verdict(const Recorded *file, const char *name, const char *problem) {
    if (problem)
        printf("failed: %s.json, %s: %s\n", file->path, name, problem);
    *(problem ? &failed : &passed) += 1;
}

/* ---- Comparing ---- */

static double number_of(const char *dtype, uint64_t bits) {
    if (!strcmp(dtype, "f32")) {
        float single;
        uint32_t low = (uint32_t)bits;
        memcpy(&single, &low, 4);
        return (double)single;
    }
    if (!strcmp(dtype, "f64")) {
        double number;
        memcpy(&number, &bits, 8);
        return number;
    }
    if (!strcmp(dtype, "bf16"))
        return number_of("f32", bits << 16);
    if (!strcmp(dtype, "f16")) {
        int exponent = (int)(bits >> 10 & 31);
        double fraction = (double)(bits & 1023);
        double number = exponent == 31 ? (fraction > 0 ? (double)NAN : (double)INFINITY)
                        : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                       : ldexp(fraction, -24);
        return bits >> 15 & 1 ? -number : number;
    }
    return (double)(int64_t)bits;
}

static bool close_enough(const char *dtype, json_t *tolerance, uint64_t ours, uint64_t theirs) {
    if (ours == theirs)
        return true;
    if (!tolerance)
        return false;
    double a = number_of(dtype, ours), b = number_of(dtype, theirs);
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return fabs(a - b) <= json_number_value(json_object_get(tolerance, "absolute")) +
                              fabs(b) * json_number_value(json_object_get(tolerance, "relative"));
}

static unsigned digit(char c) {
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* What is wrong with the memory at an address; NULL: nothing. */
static const char *compare(PtxMachine *machine, uint64_t address, const char *hex, const char *dtype,
                           json_t *tolerance) {
    static char problem[160];
    unsigned bytes = dtype_bytes(dtype);
    PtxBlock *block = NULL;
    for (uint32_t i = 0; i < machine->block_count; i++)
        if (address >= machine->blocks[i].base && address < machine->blocks[i].base + machine->blocks[i].size)
            block = &machine->blocks[i];
    if (!block)
        return "the argument has no memory";
    for (size_t i = 0; hex[2 * i * bytes] && hex[2 * i * bytes] != '\n'; i++) {
        uint64_t theirs = 0;
        for (unsigned b = 0; b < bytes; b++)
            theirs |= (uint64_t)(digit(hex[2 * (i * bytes + b)]) << 4 | digit(hex[2 * (i * bytes + b) + 1])) << 8 * b;
        bool known = true;
        uint64_t ours = ptx_load(machine, (PtxLocation){block, address - block->base + i * bytes}, bytes, &known);
        if (known && close_enough(dtype, tolerance, ours, theirs))
            continue;
        snprintf(problem, sizeof problem, "element %zu is %llx%s, and %llx on the GPU", i, (unsigned long long)ours,
                 known ? "" : " (not known)", (unsigned long long)theirs);
        return problem;
    }
    return NULL;
}

/* The pointer in the parameters: "3", or "3.8" of a structure. */
static uint64_t pointer_of(const PtxProgram *program, const PtxLaunch *launch, json_t *arguments,
                           const char *argument) {
    char *end;
    unsigned long index = strtoul(argument, &end, 10);
    const PtxFunction *function = &program->module->functions[program->entry];
    uint64_t at = program->seats[function->parameters + index].at + (*end == '.' ? strtoul(end + 1, NULL, 10) : 0);
    uint64_t address = 0;
    TensorMap map;
    if (json_object_get(json_array_get(arguments, index), "descriptor"))
        return tensormap_decode(launch->parameters + at, &map) ? map.address : 0;
    memcpy(&address, launch->parameters + at, 8);
    return address;
}

static json_t *tensor_of(json_t *arguments, const char *argument) {
    char *end;
    json_t *value = json_array_get(arguments, strtoul(argument, &end, 10));
    if (*end == '.')
        value = json_object_get(json_object_get(value, "pointers"), end + 1);
    json_t *tensor = json_object_get(value, "tensor");
    return tensor ? tensor : json_object_get(value, "descriptor");
}

/* ---- Running ---- */

static const char *const ends[] = {"it ended",    "it hangs",    "fault",   "not modeled",
                                   "over budget", "out of time", "diverged"};

static const char *why_it_ended(const PtxMachine *machine, PtxEnd end) {
    static char text[300];
    const PtxCode *code = end == PTX_END_FAULT ? machine->fault.code : end == PTX_END_UNKNOWN ? machine->unknown : NULL;
    const char *more = end == PTX_END_FAULT ? machine->fault.what : machine->unknown_why;
    snprintf(text, sizeof text, "%s: line %u, %.*s: %s", ends[end], code ? code_line(machine->program, code) : 0,
             code && code->form ? (int)code->form->text.size : 0, code && code->form ? code->form->text.data : "",
             more ? more : "");
    return text;
}

static const char *compare_all(const Recorded *file, PtxMachine *machine, json_t *original, const char *name) {
    json_t *arguments = json_object_get(original, "args"), *tolerances = json_object_get(original, "tolerance");
    size_t size = strlen(name), compared = 0;
    for (size_t i = 0; i < file->line_count; i++) {
        char *line = file->lines[i], argument[32];
        if (strncmp(line, name, size) || line[size] != '\t')
            continue;
        const char *hex = strchr(line + size + 1, '\t');
        snprintf(argument, sizeof argument, "%.*s", (int)(hex - line - (ptrdiff_t)size - 1), line + size + 1);
        const char *problem =
            compare(machine, pointer_of(machine->program, machine->launch, arguments, argument), hex + 1,
                    json_string_value(json_object_get(tensor_of(arguments, argument), "dtype")),
                    json_object_get(tolerances, argument));
        if (problem)
            return problem;
        compared++;
    }
    return compared ? NULL : "nothing was recorded of it";
}

static const char *run_case(Recorded *file, json_t *original, const char *name) {
    json_t *copy = json_deep_copy(original);
    json_object_del(copy, "name");
    json_object_del(copy, "tolerance");
    expand(copy);
    if (recording)
        json_array_append_new(json_object_get(copy, "args"), json_integer(0));
    if (shadow) {
        char zeros[2 * 128 + 1];
        memset(zeros, '0', sizeof zeros - 1);
        zeros[sizeof zeros - 1] = 0;
        json_array_append_new(json_object_get(copy, "args"), json_pack("{s:s}", "bytes", zeros));
    }
    char *text = json_dumps(copy, JSON_COMPACT);
    Source *source = source_copy(file->path, text, strlen(text));
    Arena arena;
    arena_init(&arena, SIZE_MAX);
    Diagnostics diagnostics = {0};
    Launch given = {0};
    const char *problem = NULL;
    PtxMachine *machine = NULL;
    PtxLaunch *launch = ARENA_NEW(&arena, PtxLaunch);
    uint32_t kernel = 0;
    Str wanted = str_of(json_string_value(json_object_get(original, "kernel")));
    while (kernel < file->module.functions_count &&
           !(file->module.functions[kernel].entry &&
             str_equal(ptx_name(&file->module, file->module.functions[kernel].name), wanted)))
        kernel++;
    struct timespec begin, over;
    if (kernel == file->module.functions_count) {
        problem = "there is no such kernel";
    } else if (!launch_read(&arena, source, &given, &diagnostics)) {
        problem = "its launch cannot be read";
    } else {
        PtxProgram *program = ptx_program(&arena, &file->module, kernel, SIZE_MAX, &problem);
        if (program && slice && !ptx_slice(program, SIZE_MAX, &problem))
            program = NULL;
        if (program && ptx_launch_bind(&arena, program, &given, launch, &problem) &&
            (!recording || add_recording(&arena, program, launch, file->sites.chunk, &problem)) &&
            (!shadow || add_cells(&arena, program, launch, &file->plain, seed, &problem)))
            machine = ptx_machine(program, launch, slice ? COMPUTES_NEEDED : COMPUTES_ALL, &problem);
    }
    if (machine) {
        PtxSchedule schedule = {.kind = recording ? SCHEDULE_RANDOM : SCHEDULE_EAGER};
        machine->budget = BUDGET;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
        PtxEnd end = ptx_schedule_run(machine, &schedule);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &over);
        if (end != PTX_END_COMPLETE)
            problem = why_it_ended(machine, end);
        else if (!slice && !timed)
            problem = compare_all(file, machine, original, name);
        if (shadow && !problem)
            problem = cells_trouble(machine);
        if (recording && !problem)
            problem = walk_recording(machine, &file->sites);
        if (timed)
            printf("%s\t%llu thread-instructions\t%.6f s\n", name, (unsigned long long)machine->thread_instructions,
                   (double)(over.tv_sec - begin.tv_sec) + (double)(over.tv_nsec - begin.tv_nsec) / 1e9);
        ptx_machine_free(machine);
    }
    arena_free(&arena);
    source_free(source);
    free(text);
    json_decref(copy);
    return problem;
}

/* ---- Files ---- */

static bool read_lines(Recorded *file, Source *out) {
    for (char *at = out->data; *at;) {
        file->lines = realloc(file->lines, (file->line_count + 1) * sizeof *file->lines);
        file->lines[file->line_count++] = at;
        at += strcspn(at, "\n");
        if (*at)
            at++;
    }
    return true;
}

/* The module with records in it, in place of the module. */
static bool instrument_file(Recorded *file, Source **ptx, const char **problem) {
    InstrumentOptions options = {.mode = shadow ? INSTRUMENT_SHADOW : INSTRUMENT_RECORD,
                                 .spaces = RECORDING_EVERYWHERE,
                                 .keep_registers = true,
                                 .seed_layout = seed};
    Diagnostics diagnostics = {0};
    Text text = {0};
    if ((recording && !instrument_sites(&file->sites, &file->module, &options, problem)) ||
        !(shadow ? instrument_shadow : instrument)(&file->module, &options, &text, problem))
        return false;
    Source *instrumented = source_copy((*ptx)->name, text.data, text.size);
    text_free(&text);
    file->plain = file->module;
    file->plain_text = *ptx;
    *ptx = instrumented;
    *problem = "the instrumented PTX cannot be read";
    return ptx_read(&file->module, instrumented, true, &diagnostics);
}

static void run_file(const char *path) {
    char name[512], buffer[600];
    const char *problem = NULL;
    json_error_t error;
    Diagnostics diagnostics = {0};
    snprintf(name, sizeof name, "%.*s", (int)(strlen(path) - strlen(".json")), path);
    Recorded file = {.path = name};
    file.cases = json_load_file(path, 0, &error);
    snprintf(buffer, sizeof buffer, "%s.out", name);
    Source *out = source_read(buffer, &problem);
    snprintf(buffer, sizeof buffer, "%s.ptx", name);
    Source *ptx = source_read(buffer, &problem);
    if (!file.cases || !ptx || (!timed && (!out || !read_lines(&file, out))) ||
        !ptx_read(&file.module, ptx, false, &diagnostics)) {
        verdict(&file, "", file.cases ? problem ? problem : "the PTX cannot be read" : error.text);
        return;
    }
    if (shadow && file.module.capability < 90) {
        /* atomics of 128 bits are of sm_90 */
        return;
    }
    if ((recording || shadow) && !instrument_file(&file, &ptx, &problem)) {
        verdict(&file, "", problem);
        return;
    }
    size_t index;
    json_t *each;
    json_array_foreach(file.cases, index, each) {
        const char *title = json_string_value(json_object_get(each, "name"));
        /* Threads that end before a barrier stay for a moment to give back their slot; here others come to it
         * meanwhile. */
        if (shadow && !strncmp(title, "early_exit", strlen("early_exit")))
            continue;
        verdict(&file, title, run_case(&file, each, title));
    }
    if (recording)
        instrument_sites_free(&file.sites);
    if (recording || shadow) {
        ptx_free(&file.plain);
        source_free(file.plain_text);
    }
    ptx_free(&file.module);
    source_free(ptx);
    if (out)
        source_free(out);
    free(file.lines);
    json_decref(file.cases);
}

int main(int count, char **arguments) {
    for (int i = 1; i < count; i++) {
        if (!strcmp(arguments[i], "--values") && i + 1 < count)
            slice = !strcmp(arguments[++i], "needed");
        else if (!strcmp(arguments[i], "--time"))
            timed = true;
        else if (!strcmp(arguments[i], "--record"))
            recording = true;
        else if (!strcmp(arguments[i], "--shadow") || !strcmp(arguments[i], "--shadow-seed"))
            shadow = true, seed = arguments[i][strlen("--shadow")] != 0;
        else
            run_file(arguments[i]);
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed || !passed;
}
