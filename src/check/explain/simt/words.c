/* Who and what, for people: threads, bytes of variables and arguments, lines. */
#include "check/simt/internal.h"

#include <inttypes.h>

/* ---- Threads ------------------------------------------------------------------------------------- */

/* "5", or "(5, 1, 0)" where there is more than one dimension. */
static void add_index(Text *to, const uint32_t shape[3], uint32_t number) {
    if (shape[1] == 1 && shape[2] == 1)
        text_addf(to, "%u", number);
    else
        text_addf(to, "(%u, %u, %u)", number % shape[0], number / shape[0] % shape[1], number / shape[0] / shape[1]);
}

/* " of CTA 3", unless there is one alone. CTAs are numbered cluster by cluster. */
static void add_cta(const ThreadsCheck *check, Text *to, uint32_t number) {
    const uint32_t *grid = check->launch->grid, *cluster = check->launch->cluster;
    uint32_t size = cluster[0] * cluster[1] * cluster[2], which = number / size, rank = number % size, id[3];
    uint32_t wide = grid[0] / cluster[0], high = grid[1] / cluster[1];
    if (grid[0] * grid[1] * grid[2] == 1)
        return;
    id[0] = which % wide * cluster[0] + rank % cluster[0];
    id[1] = which / wide % high * cluster[1] + rank / cluster[0] % cluster[1];
    id[2] = which / wide / high * cluster[2] + rank / cluster[0] / cluster[1];
    text_addf(to, " of CTA ");
    add_index(to, grid, id[0] + grid[0] * (id[1] + grid[1] * id[2]));
}

const char *thread_words(const ThreadsCheck *check, uint32_t cta, uint32_t thread) {
    Text text = {0};
    text_addf(&text, "thread ");
    add_index(&text, check->launch->block, thread);
    add_cta(check, &text, cta);
    return verdict_keep(check->verdict, &text);
}

/* "3", "0-31, 64": numbers in order. */
static void add_ranges(Text *text, const uint32_t *numbers, uint32_t count) {
    enum { MOST_RANGES = 4 };
    unsigned ranges = 0;
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && numbers[end] == numbers[end - 1] + 1;)
            end++;
        if (ranges++ == MOST_RANGES) {
            text_addf(text, " and %u more", count - i);
            break;
        }
        text_addf(text, i ? ", %u" : "%u", numbers[i]);
        if (end - i > 1)
            text_addf(text, "-%u", numbers[end - 1]);
    }
}

const char *ctas_words(const ThreadsCheck *check, const uint32_t *ctas, uint32_t count) {
    Text text = {0};
    text_addf(&text, count == 1 ? "CTA " : "CTAs ");
    add_ranges(&text, ctas, count);
    return verdict_keep(check->verdict, &text);
}

const char *threads_words(const ThreadsCheck *check, uint32_t cta, const uint32_t *threads, uint32_t count) {
    Text text = {0};
    text_addf(&text, count == 1 ? "thread " : "threads ");
    add_ranges(&text, threads, count);
    add_cta(check, &text, cta);
    return verdict_keep(check->verdict, &text);
}

/* ---- Memory -------------------------------------------------------------------------------------- */

/* The shared variable that has the byte; PTX_NONE. */
static uint32_t shared_at(const ThreadsCheck *check, uint64_t offset) {
    const PtxProgram *program = check->program;
    for (uint32_t i = 0; i < check->module->variables_count; i++) {
        const PtxSymbolSlot *seat = &program->seats[i];
        if (seat->space == PTX_SPACE_SHARED && offset >= seat->at && offset - seat->at < seat->bytes)
            return i;
    }
    return PTX_NONE;
}

/* "tile" of _ZZ7reverseE4tile: the last name of a C++ symbol, which its length stands before. */
static Str plain_name(Str name) {
    if (name.size < 3 || name.data[0] != '_' || name.data[1] != 'Z')
        return name;
    for (size_t i = name.size; i-- > 2;) {
        size_t size = 0, scale = 1, digit = i;
        if (name.data[i - 1] < '0' || name.data[i - 1] > '9')
            continue;
        for (; digit > 2 && name.data[digit - 1] >= '0' && name.data[digit - 1] <= '9' && scale < 100000;
             digit--, scale *= 10)
            size += (size_t)(name.data[digit - 1] - '0') * scale;
        if (size && size <= name.size - i && (size == name.size - i || name.data[i + size] == '_'))
            return (Str){name.data + i, size};
    }
    return name;
}

static void add_bytes(Text *to, uint64_t from, uint32_t bytes) {
    if (bytes == 1)
        text_addf(to, "byte %" PRIu64 " of ", from);
    else
        text_addf(to, "bytes %" PRIu64 "-%" PRIu64 " of ", from, from + bytes - 1);
}

static uint64_t begin_of(const ThreadsCheck *check, uint32_t variable, uint64_t at) {
    const PtxProgram *program = check->program;
    return variable != PTX_NONE ? program->seats[variable].at : at >= program->dynamic_at ? program->dynamic_at : 0;
}

static void add_shared(const ThreadsCheck *check, uint64_t at, uint32_t bytes, Text *to) {
    uint32_t variable = shared_at(check, at);
    add_bytes(to, at - begin_of(check, variable, at), bytes);
    if (variable != PTX_NONE)
        text_add_plain(to, plain_name(ptx_name(check->module, check->module->variables[variable].name)));
    else
        text_addf(to, at >= check->program->dynamic_at ? "dynamic shared memory" : "shared memory");
}

uint64_t shared_begin(const ThreadsCheck *check, uint64_t at) {
    return begin_of(check, shared_at(check, at), at);
}

const char *shared_name(const ThreadsCheck *check, uint64_t at) {
    uint32_t variable = shared_at(check, at);
    Text text = {0};
    if (variable == PTX_NONE)
        return at >= check->program->dynamic_at ? "smem" : "shared memory";
    text_add_plain(&text, plain_name(ptx_name(check->module, check->module->variables[variable].name)));
    return verdict_keep(check->verdict, &text);
}

/* Tensor memory: lanes of 512 columns of 4 bytes each. */
static void add_tensor(uint64_t offset, uint32_t bytes, Text *to) {
    uint32_t word = (uint32_t)(offset / 4), last = (uint32_t)((offset + bytes - 1) / 4);
    text_addf(to, "column %u", word % 512);
    if (last != word)
        text_addf(to, " to %u", last % 512);
    text_addf(to, " of lane %u of tensor memory", word / 512);
}

const char *location_words(const ThreadsCheck *check, PtxLocation location, uint32_t bytes) {
    Text text = {0};
    const PtxBlock *block = location.block;
    if (!block) {
        text_addf(&text, "memory");
    } else if (block->space == PTX_SPACE_SHARED || block->space == PTX_SPACE_CLUSTER) {
        add_shared(check, block->base + location.offset, bytes, &text);
    } else if (block->space == PTX_SPACE_TENSOR) {
        add_tensor(location.offset, bytes, &text);
    } else {
        PtxBlock anchored;
        uint64_t offset = location.offset;
        if (check->recorded && block->space == PTX_SPACE_GLOBAL) {
            ptx_anchored(check->machine, block->base + location.offset, &anchored);
            offset += block->base - anchored.base;
            block = &anchored;
        }
        add_bytes(&text, offset, bytes);
        if (!block->name)
            text_addf(&text, "%s memory", ptx_space_name(block->space));
        else
            text_add_plain(&text, plain_name(str_of(block->name)));
    }
    return verdict_keep(check->verdict, &text);
}

/* ---- Places -------------------------------------------------------------------------------------- */

enum { MOST_INLINED = 8 }; /* places that are reported */

static Str base_name(Str path) {
    for (size_t i = path.size; i-- > 0;)
        if (path.data[i] == '/')
            return str_between(path.data + i + 1, path.data + path.size);
    return path;
}

const char *code_words(const ThreadsCheck *check, const PtxCode *code) {
    PtxPlace chain[PTX_MOST_PLACES];
    uint32_t line = code_line(check->program, code);
    uint32_t count = ptx_places(check->module, code->statement, chain, PTX_MOST_PLACES);
    if (!count)
        return verdict_text(check->verdict, "PTX line %u", line);
    const PtxPlace *place = &chain[ptx_own_place(chain, count)];
    return verdict_text(check->verdict, "%.*s:%u (PTX line %u)", STR_ARG(base_name(place->file)), place->line, line);
}

static void set_source(const ThreadsCheck *check, FindingPlace *place, const PtxPlace *from) {
    place->file = arena_copy(check->verdict->arena, from->file.data, from->file.size);
    place->line = from->line;
    place->column = from->column;
}

uint32_t code_place(const ThreadsCheck *check, const PtxCode *code, FindingPlace *place, FindingPlace *inlined) {
    const PtxStatement *statement = &check->module->statements[code->statement];
    PtxPlace chain[PTX_MOST_PLACES];
    uint32_t count = ptx_places(check->module, code->statement, chain, PTX_MOST_PLACES), added = 0;
    Place at = source_place(check->module->source, statement->begin);
    place->op = arena_copy(check->verdict->arena, code->form->text.data, code->form->text.size);
    place->ir_line = at.line;
    place->ir_column = at.column;
    uint32_t own = count ? ptx_own_place(chain, count) : 0;
    if (count)
        set_source(check, place, &chain[own]);
    for (uint32_t i = own + 1; i < count && added < MOST_INLINED; i++, added++) {
        inlined[added].role = "inlined here";
        set_source(check, &inlined[added], &chain[i]);
    }
    return added;
}

FindingPlace **code_places(const ThreadsCheck *check, Finding *finding, const PtxCode *const *codes, uint32_t count) {
    FindingPlace **each = ARENA_ARRAY(check->verdict->arena, FindingPlace *, count + 1);
    FindingPlace *places = finding_places(check->verdict, finding, count * (1 + MOST_INLINED));
    finding->place_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        each[i] = &places[finding->place_count++];
        finding->place_count += code_place(check, codes[i], each[i], each[i] + 1);
    }
    return each;
}

/* ---- Schedules ----------------------------------------------------------------------------------- */

const char *schedule_words(const ThreadsCheck *check, const PtxSchedule *schedule) {
    Text text = {0};
    uint32_t cta = schedule->held / check->machine->threads_per_cta,
             first = schedule->held % check->machine->threads_per_cta;
    if (check->recorded)
        return "that of the recording";
    if (schedule->kind != SCHEDULE_DELAYED) {
        ptx_schedule_describe(schedule, &text);
        return verdict_keep(check->verdict, &text);
    }
    text_addf(&text, "one where threads %u-%u", first, first + schedule->held_count - 1);
    if (check->machine->cta_count > 1)
        text_addf(&text, " of CTA %u", cta);
    text_addf(&text, " are slow at line %u", code_line(check->program, &check->program->code[schedule->delayed_pc]));
    return verdict_keep(check->verdict, &text);
}

const char *witness_between(const ThreadsCheck *check, uint64_t launch) {
    Text text = {0};
    ThreadsTrail trail = {.kernel = ptx_name(check->module, check->module->functions[check->entry].name),
                          .recorded = true,
                          .volatile_races = check->options->volatile_races,
                          .beside = launch + 1};
    threads_trail_write(&trail, &text);
    return verdict_keep(check->verdict, &text);
}

static const char *witness_at(const ThreadsCheck *check, const Launch *launch, const PtxSchedule *schedule,
                              unsigned havoc_choice) {
    Text text = {0};
    ThreadsTrail trail = {.kernel = ptx_name(check->module, check->module->functions[check->entry].name),
                          .launch = launch ? *launch : (Launch){.kernel = STR("")},
                          .recorded = check->recorded,
                          .schedule = *schedule,
                          .computes = check->options->computes,
                          .havoc_choice = havoc_choice,
                          .volatile_races = check->options->volatile_races};
    trail.launch.kernel = trail.kernel;
    threads_trail_write(&trail, &text);
    return verdict_keep(check->verdict, &text);
}

/* A launch on memory of this process is written down for it, which is not worth its time for a note. */
static const char *witness_of(const ThreadsCheck *check, RuleId rule, const PtxSchedule *schedule,
                              unsigned havoc_choice) {
    const PtxLaunch *launch = check->launch;
    if (launch->from || check->recorded)
        return witness_at(check, launch->from, schedule, havoc_choice);
    if (rule_of(rule)->severity == SEVERITY_NOTE)
        return NULL;
    Arena scratch;
    const char *problem, *witness = NULL;
    arena_init(&scratch, SIZE_MAX);
    scratch.exhausted = check->verdict->arena->exhausted;
    const Launch *from = ptx_launch_from(&scratch, check->program, launch, 0, &problem);
    if (from)
        witness = witness_at(check, from, schedule, havoc_choice);
    else
        verdict_note(check->verdict, "the findings have no witness: %s", problem);
    arena_free(&scratch);
    return witness;
}

Finding *threads_finding(const ThreadsCheck *check, RuleId rule, const char *space, const PtxSchedule *schedule,
                         unsigned havoc_choice, uint64_t times) {
    Finding *finding = verdict_finding(check->verdict);
    finding->rule = rule;
    finding->space = space;
    finding->launch = check->launch->text;
    finding->schedule = schedule_words(check, schedule);
    finding->witness = witness_of(check, rule, schedule, havoc_choice);
    finding->times = times ? (size_t)times : 1;
    return finding;
}
