/* weir parse: read IR and print it back, as it was written or in the generic form, or print what its ops do. */
#include "cli/cli.h"
#include "weir/weir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Statistics ------------------------------------------------------------------------------ */

typedef struct Stats {
    size_t files, modules, ops, unknown, bytes, memory;
    size_t ptx, ptx_rows; /* instructions of PTX, and those that the table has */
    double seconds;
    weir_ptx_flow flow; /* of PTX */
    double flow_seconds;
    weir_ptx_values values;
    double values_seconds; /* flow included */
    Tally names;           /* of ops */
} Stats;

static size_t known_of(const weir_ptx_accesses *of) {
    return of->constant + of->uniform + of->affine + of->bits + of->table;
}

/* "global: 12 of 14 known (2 assumed): 0 constant, 3 uniform, ..." */
static void print_accesses(const weir_ptx_accesses *of, const char *space, Output *output) {
    size_t known = known_of(of), all = known + of->any;
    if (all)
        output_printf(output,
                      "%s: %zu accesses, addresses of %.2f %% known, of %.2f %% under assumptions: %zu constant, %zu "
                      "uniform, %zu affine in the lane, %zu in its bits, %zu by table, %zu not known\n",
                      space, all, 100.0 * (double)known / (double)all, 100.0 * (double)of->assumed / (double)all,
                      of->constant, of->uniform, of->affine, of->bits, of->table, of->any);
}

static void add_accesses(const weir_ptx_accesses *from, weir_ptx_accesses *to) {
    to->space = from->space;
    to->constant += from->constant;
    to->uniform += from->uniform;
    to->affine += from->affine;
    to->bits += from->bits;
    to->table += from->table;
    to->any += from->any;
    to->assumed += from->assumed;
}

static void print_values(const Stats *stats, Output *output) {
    weir_ptx_accesses all = {0};
    for (unsigned i = 0; i < WEIR_PTX_SPACES; i++)
        add_accesses(&stats->values.spaces[i], &all);
    if (!known_of(&all) && !all.any)
        return;
    print_accesses(&all, "all spaces", output);
    for (unsigned i = 0; i < WEIR_PTX_SPACES; i++)
        print_accesses(&stats->values.spaces[i], stats->values.spaces[i].space, output);
    output_printf(output,
                  "blocks that may part a warp: %zu of %zu\nvalues time, with flow: %.6f s\nvalues memory: %zu bytes\n",
                  stats->values.parting, stats->values.blocks, stats->values_seconds, stats->values.memory);
}

static void print_stats(Stats *stats, Output *output) {
    output_printf(output, "files: %zu\nmodules: %zu\nops: %zu\nunknown ops: %zu\nbytes: %zu\n", stats->files,
                  stats->modules, stats->ops, stats->unknown, stats->bytes);
    output_printf(output, "time: %.6f s\nspeed: %.1f MB/s\nmemory: %zu bytes\n", stats->seconds,
                  (double)stats->bytes / 1e6 / (stats->seconds > 0 ? stats->seconds : 1e-9), stats->memory);
    if (stats->ptx)
        output_printf(output, "PTX instructions with a row: %zu of %zu (%.2f %%)\n", stats->ptx_rows, stats->ptx,
                      100.0 * (double)stats->ptx_rows / (double)stats->ptx);
    if (stats->flow.blocks)
        output_printf(output,
                      "flow: %zu blocks, %zu values, %zu phis, %zu loops (%zu irreducible)\n"
                      "flow time: %.6f s\nflow memory: %zu bytes\n",
                      stats->flow.blocks, stats->flow.values, stats->flow.phis, stats->flow.loops,
                      stats->flow.irreducible, stats->flow_seconds, stats->flow.memory);
    print_values(stats, output);
    tally_print(&stats->names, output, 0);
}

static bool count_values(const weir_module *module, Stats *stats) {
    weir_ptx_values values;
    double start = seconds_now();
    if (weir_ptx_values_of(module, &values) != 0)
        return false;
    stats->values_seconds += seconds_now() - start;
    for (unsigned i = 0; i < WEIR_PTX_SPACES; i++)
        add_accesses(&values.spaces[i], &stats->values.spaces[i]);
    stats->values.parting += values.parting;
    stats->values.blocks += values.blocks;
    if (values.memory > stats->values.memory)
        stats->values.memory = values.memory;
    return true;
}

static bool count_flow(const weir_module *module, Stats *stats) {
    weir_ptx_flow flow;
    double start = seconds_now();
    if (weir_ptx_flow_of(module, &flow) != 0)
        return false;
    stats->flow_seconds += seconds_now() - start;
    stats->flow.blocks += flow.blocks;
    stats->flow.values += flow.values;
    stats->flow.phis += flow.phis;
    stats->flow.loops += flow.loops;
    stats->flow.irreducible += flow.irreducible;
    if (flow.memory > stats->flow.memory)
        stats->flow.memory = flow.memory;
    return true;
}

static void count_ptx(const weir_module *module, Stats *stats) {
    weir_ptx ptx = weir_ptx_of(module);
    stats->ptx += ptx.instructions;
    stats->ptx_rows += ptx.instructions - ptx.without_row;
    for (size_t i = 0; i < ptx.forms; i++) {
        weir_ptx_form form = weir_ptx_form_at(module, i);
        tally_add(&stats->names, form.text, form.used);
    }
}

/* ---- One file -------------------------------------------------------------------------------- */

static void list_module(Output *output, const weir_module_info *info, size_t index) {
    output_printf(output, "%zu: line %u, %zu bytes", index + 1, info->line, info->size);
    if (info->pass.size)
        output_printf(output, ", %.*s %.*s", (int)info->when.size, info->when.data, (int)info->pass.size,
                      info->pass.data);
    if (info->argument.size)
        output_printf(output, " (%.*s)", (int)info->argument.size, info->argument.data);
    output_printf(output, "\n");
}

/* The functions of a PTX module; false, with what is wrong, if it cannot be read. */
static bool list_ptx(const Options *options, weir_file *file, size_t index, Output *output) {
    weir_module *module = weir_parse(file, index, 0);
    if (!module) {
        complain("%s: there is not enough memory", weir_file_name(file));
        return false;
    }
    weir_report(file, module, color_wanted(options, STDERR_FILENO, NULL), stream_write, stderr);
    bool good = weir_module_ok(module);
    weir_ptx ptx = weir_ptx_of(module);
    bool indented = weir_file_has_images(file) || weir_module_count(file) > 1;
    for (size_t i = 0; good && i < ptx.functions; i++) {
        weir_ptx_function function = weir_ptx_function_at(module, i);
        if (function.name.size)
            output_printf(output, "%sline %u: %s %.*s, %zu instruction%s%s\n", indented ? "   " : "", function.line,
                          function.entry ? ".entry" : ".func", (int)function.name.size, function.name.data,
                          function.instructions, function.instructions == 1 ? "" : "s",
                          function.body ? "" : " (declared only)");
    }
    weir_module_free(module);
    return good;
}

/* "1: PTX for sm_90, 722 bytes, 360 with zstd" */
static void list_image(Output *output, const weir_image *image) {
    static const char *const kinds[] = {"PTX", "cubin", "other image", "not read"};
    static const char *const packings[] = {"", " with LZ4", " with zstd", " compressed"};
    if (image->module)
        output_printf(output, "%zu: ", image->module);
    else
        output_printf(output, "-: ");
    output_printf(output, "%s", kinds[image->kind]);
    if (image->kind == WEIR_IMAGE_DAMAGED) {
        output_printf(output, "\n");
        return;
    }
    if (image->capability)
        output_printf(output, " for sm_%u", image->capability);
    output_printf(output, ", %zu bytes", image->size);
    if (image->kept)
        output_printf(output, ", kept in the cubin");
    else if (image->packing)
        output_printf(output, ", %zu%s", image->stored, packings[image->packing]);
    output_printf(output, "\n");
}

/* The images of a file, and below each that is PTX its functions; of an archive, the objects' names above theirs. */
static bool list_images(const Options *options, weir_file *file, Output *output) {
    bool good = true;
    weir_string member = {0};
    for (size_t i = 0; i < weir_image_count(file); i++) {
        weir_image image = weir_image_at(file, i);
        if (options->module && (!image.module || !module_picked(file, image.module - 1, options->module)))
            continue;
        if (image.member.size && (image.member.data != member.data || image.member.size != member.size))
            output_printf(output, "%.*s:\n", (int)image.member.size, image.member.data);
        member = image.member;
        list_image(output, &image);
        if (image.module)
            good &= list_ptx(options, file, image.module - 1, output);
    }
    return good;
}

/* The modules of a PTX file that has no images, and below each its functions, if there are several. */
static bool list_texts(const Options *options, weir_file *file, Output *output) {
    bool good = true, any = false;
    for (size_t i = 0; i < weir_module_count(file); i++) {
        if (!module_picked(file, i, options->module))
            continue;
        any = true;
        weir_module_info info = weir_module_info_of(file, i);
        if (weir_module_count(file) > 1)
            output_printf(output, "%zu: PTX, line %u, %zu bytes\n", i + 1, info.line, info.size);
        good &= list_ptx(options, file, i, output);
    }
    if (!any)
        complain("%s: there is no module '%s'; --list without --module shows those there are", weir_file_name(file),
                 options->module);
    return good && any;
}

static bool parse_module(const Options *options, weir_file *file, size_t index, const weir_module_info *info,
                         Output *output, Stats *stats, bool *first, bool *found) {
    double start = seconds_now();
    weir_module *module = weir_parse(file, index, options->strict ? WEIR_STRICT : 0);
    stats->seconds += seconds_now() - start;
    if (!module) {
        complain("%s: there is not enough memory", weir_file_name(file));
        return false;
    }
    bool good = weir_module_ok(module);
    int picked = good && options->run.kernel ? weir_ptx_pick(module, options->run.kernel) : 1;
    if (picked < 1) {
        if (picked < 0)
            complain("%s: there is not enough memory", weir_file_name(file));
        weir_module_free(module);
        return picked == 0;
    }
    *found |= good;
    weir_report(file, module, color_wanted(options, STDERR_FILENO, NULL), stream_write, stderr);
    stats->modules++;
    stats->ops += weir_module_ops(module);
    stats->unknown += weir_module_unknown_ops(module);
    if (weir_module_memory(module) > stats->memory)
        stats->memory = weir_module_memory(module);
    if (options->stats) {
        count_ptx(module, stats);
        if (good && weir_file_is_ptx(file) && !(count_flow(module, stats) && count_values(module, stats))) {
            complain("%s: the blocks and values of a function take too much memory", weir_file_name(file));
            good = false;
        }
        for (const weir_op *op = weir_first_op(module); op; op = weir_next_op(op))
            if (!weir_op_implicit(op))
                tally_add(&stats->names, weir_op_name(op), 1);
    } else if (good && !options->quiet) {
        if (info->header.size)
            output_printf(output, "%.*s\n", (int)info->header.size, info->header.data);
        else if (!*first)
            output_printf(output, "\n// -----\n\n");
        *first = false;
        good = weir_print(module, options->form, output_write, output) == 0;
    }
    weir_module_free(module);
    return good;
}

static bool parse_file(const Options *options, weir_context *weir, const char *path, Output *output, Stats *stats,
                       bool *first) {
    double start = seconds_now();
    weir_file *file = options->ptx ? weir_open_ptx(weir, path) : weir_open(weir, path);
    stats->seconds += seconds_now() - start;
    if (!file) {
        complain("%s: cannot be read: %s", path, weir_error(weir));
        return false;
    }
    bool good = true, any = false, found = false;
    stats->files++;
    stats->bytes += weir_file_size(file);
    if (options->list && options->inputs.count > 1)
        output_printf(output, "%s\n", path);
    if (weir_file_is_ptx(file) && options->form > WEIR_EFFECTS && options->form != WEIR_FLOW &&
        options->form != WEIR_PROGRAM && options->form != WEIR_VALUES) {
        complain(
            "%s: PTX is printed as it was written, a statement a line (--generic), as what its instructions do "
            "(--effects), as blocks and values (--print flow), as forms of values (--print values), or as the machine "
            "runs it (--print program); nothing else of it yet",
            path);
        weir_close(file);
        return false;
    }
    if (!weir_file_is_ptx(file) && options->form == WEIR_VALUES) {
        complain("%s: forms of values are printed of PTX; this is Triton GPU IR", path);
        weir_close(file);
        return false;
    }
    if (options->run.kernel && !weir_file_is_ptx(file)) {
        complain("%s: --kernel picks among the modules of PTX; this is Triton GPU IR", path);
        weir_close(file);
        return false;
    }
    if (weir_file_is_ptx(file) && options->list) {
        good = weir_file_has_images(file) ? list_images(options, file, output) : list_texts(options, file, output);
        weir_close(file);
        return good;
    }
    for (size_t i = 0; i < weir_module_count(file); i++) {
        weir_module_info info = {0};
        if (options->list || weir_file_is_pass_log(file))
            info = weir_module_info_of(file, i);
        if (!module_picked(file, i, options->module))
            continue;
        any = true;
        if (options->list)
            list_module(output, &info, i);
        else
            good &= parse_module(options, file, i, &info, output, stats, first, &found);
    }
    if (good && any && options->run.kernel && !found) {
        complain("%s: there is no kernel '%s'; --list shows those there are", path, options->run.kernel);
        good = false;
    }
    if (!any && options->module) {
        complain("%s: there is no module '%s'; --list shows those there are", path, options->module);
        good = false;
    }
    weir_close(file);
    return good;
}

/* ---- The command ----------------------------------------------------------------------------- */

typedef struct ParseTableColumn {
    const char *title, *text;
} ParseTableColumn;

static void dump_columns(Output *output, const ParseTableColumn *columns, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (*columns[k].text)
            output_printf(output, "  %s: %s\n", columns[k].title, columns[k].text);
}

static void dump_ops(Output *output) {
    for (size_t i = 0; i < weir_table_size(); i++) {
        weir_table_row row = weir_table_at(i);
        output_printf(output, "%s\n", row.name);
        const ParseTableColumn before[] = {
            {"operands", row.operands}, {"attributes", row.attributes}, {"results", row.results}};
        dump_columns(output, before, sizeof before / sizeof *before);
        for (const char *const *format = row.formats; *format; format++)
            output_printf(output, "  format: %s\n", *format);
        const ParseTableColumn after[] = {
            {"evaluate", row.evaluate}, {"effects", row.effects}, {"ptx", row.ptx}, {"amd", row.amd}};
        dump_columns(output, after, sizeof after / sizeof *after);
    }
}

/* As code, a clause of the column a line. */
static void dump_effects(Output *output, const char *effects) {
    for (const char *at = effects; *at;) {
        size_t size = strcspn(at, ";");
        output_printf(output, "%s`%.*s`", at == effects ? "" : "<br>", (int)size, at);
        at += size;
        at += strspn(at, "; ");
    }
}

/* The ops of one dialect, from `first` on; returns where the next starts. Ops that do nothing to memory or to time are
 * named below the table. */
static size_t dump_dialect(Output *output, size_t first) {
    const char *name = weir_table_at(first).name;
    size_t size = strcspn(name, "."), end = first;
    while (end < weir_table_size() && strncmp(weir_table_at(end).name, name, size + 1) == 0)
        end++;
    bool any = false, rest = false;
    output_printf(output, "\n## %.*s\n", (int)size, name);
    for (size_t i = first; i < end; i++) {
        weir_table_row row = weir_table_at(i);
        if (!*row.effects && !*row.ptx && !*row.amd) {
            rest = true;
            continue;
        }
        if (!any)
            output_printf(output, "\n| op | effects | PTX | AMD |\n| --- | --- | --- | --- |\n");
        any = true;
        output_printf(output, "| `%s` | ", row.name);
        dump_effects(output, row.effects);
        output_printf(output, *row.ptx ? " | `%s` | %s |\n" : " | %s | %s |\n", row.ptx, row.amd);
    }
    if (rest)
        output_printf(output, any ? "\nNo effects:" : "\nNo op of this dialect has effects:");
    const char *before = " ";
    for (size_t i = first; i < end; i++) {
        weir_table_row row = weir_table_at(i);
        if (*row.effects || *row.ptx || *row.amd)
            continue;
        output_printf(output, "%s`%s`", before, row.name);
        before = ", ";
    }
    if (rest)
        output_printf(output, ".\n");
    return end;
}

static void dump_markdown(Output *output) {
    output_printf(output, "# What the ops do\n\n"
                          "Made from the op table by `make docs`; do not edit. Effects are in the words of "
                          "[effects.md](effects.md). PTX is what\nan op becomes on NVIDIA. AMD is what there is for it "
                          "there: *exact*, *stage* (only a whole stage of the pipeline can\nbe waited for) or "
                          "*none*, and what else to know of it; where targets differ, which have it, and why\nthose "
                          "before do not. [porting.md](porting.md) tells how to see that for one kernel. An op that "
                          "is in no row could\ndo anything.\n");
    for (size_t i = 0; i < weir_table_size();)
        i = dump_dialect(output, i);
}

/* What is being read, for a terminal; overwritten by the next, and cleared at the end. */
static void show_progress(const Paths *inputs, size_t index, Progress *progress) {
    struct stat status;
    bool large = stat(inputs->items[index], &status) == 0 && status.st_size > 100 << 20; /* takes a while by itself */
    if (!isatty(STDERR_FILENO) || (!large && (inputs->count == 1 || seconds_now() - progress->shown < 0.2)))
        return;
    *progress = (Progress){.shown = seconds_now(), .showing = true};
    fprintf(stderr, "\r\033[Kreading file %zu of %zu", index + 1, inputs->count);
    if (large)
        fprintf(stderr, ", %lld MB", (long long)status.st_size / 1000000);
}

int command_parse(Options *options) {
    weir_context *weir = weir_create();
    Output *output = output_open(options->output);
    if (!weir || !output)
        return STATUS_ERROR;
    Stats stats = {0};
    bool good = true, first = true;
    Progress progress = {.shown = seconds_now()};
    if (options->dump_ops == TABLE_MARKDOWN)
        dump_markdown(output);
    else if (options->dump_ops)
        dump_ops(output);
    for (size_t i = 0; i < options->unread.paths.count; i++) {
        complain("%s: %s", options->unread.paths.items[i], options->unread.reasons.items[i]);
        good = false;
    }
    for (size_t i = 0; i < options->inputs.count; i++) {
        show_progress(&options->inputs, i, &progress);
        good &= parse_file(options, weir, options->inputs.items[i], output, &stats, &first);
    }
    progress_clear(&progress);
    if (options->stats)
        print_stats(&stats, output);
    good &= output_close(output, good);
    tally_free(&stats.names);
    weir_destroy(weir);
    return good ? STATUS_OK : STATUS_ERROR;
}
