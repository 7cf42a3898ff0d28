/* Who and what, for people: threads, bytes of variables and arguments, lines. */
#include "analyze/threads/internal.h"

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

const char *threads_words(const ThreadsCheck *check, uint32_t cta, const uint32_t *threads, uint32_t count) {
    enum { MOST_RANGES = 4 };
    Text text = {0};
    unsigned ranges = 0;
    text_addf(&text, count == 1 ? "thread " : "threads ");
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && threads[end] == threads[end - 1] + 1;)
            end++;
        if (ranges++ == MOST_RANGES) {
            text_addf(&text, " and %u more", count - i);
            break;
        }
        text_addf(&text, i ? ", %u" : "%u", threads[i]);
        if (end - i > 1)
            text_addf(&text, "-%u", threads[end - 1]);
    }
    add_cta(check, &text, cta);
    return verdict_keep(check->verdict, &text);
}

/* ---- Memory -------------------------------------------------------------------------------------- */

/* The shared variable that has the byte; PTX_NONE. */
static uint32_t shared_at(const ThreadsCheck *check, uint64_t offset) {
    const PtxProgram *program = check->program;
    for (uint32_t i = 0; i < check->module->variables_count; i++) {
        const PtxSeat *seat = &program->seats[i];
        if (seat->space == PTX_SPACE_SHARED && offset >= seat->at && offset - seat->at < seat->bytes)
            return i;
    }
    return PTX_NONE;
}

static bool add_argument(const ThreadsCheck *check, const char *name, Text *to) {
    const PtxFunction *function = &check->module->functions[check->entry];
    for (uint32_t i = 0; i < function->parameter_count; i++)
        if (str_is(ptx_name(check->module, check->module->variables[function->parameters + i].name), name)) {
            text_addf(to, "argument %u", i);
            return true;
        }
    return false;
}

static void add_shared(const ThreadsCheck *check, uint64_t at, uint32_t bytes, Text *to) {
    uint32_t variable = shared_at(check, at);
    const PtxSeat *seat = variable == PTX_NONE ? NULL : &check->program->seats[variable];
    bool dynamic = !seat && at >= check->program->dynamic_at;
    uint64_t from = at - (seat ? seat->at : dynamic ? check->program->dynamic_at : 0);
    text_addf(to, "bytes %" PRIu64 "-%" PRIu64 " of ", from, from + bytes - 1);
    if (seat)
        text_add_plain(to, ptx_name(check->module, check->module->variables[variable].name));
    else
        text_addf(to, dynamic ? "dynamic shared memory" : "shared memory");
}

const char *spot_words(const ThreadsCheck *check, PtxSpot spot, uint32_t bytes) {
    Text text = {0};
    const PtxBlock *block = spot.block;
    if (!block) {
        text_addf(&text, "memory");
    } else if (block->space == PTX_SPACE_SHARED || block->space == PTX_SPACE_CLUSTER) {
        add_shared(check, block->base + spot.offset, bytes, &text);
    } else {
        text_addf(&text, "bytes %" PRIu64 "-%" PRIu64 " of ", spot.offset, spot.offset + bytes - 1);
        if (!block->name)
            text_addf(&text, "%s memory", ptx_space_name(block->space));
        else if (!add_argument(check, block->name, &text))
            text_add_plain(&text, str_of(block->name));
    }
    return verdict_keep(check->verdict, &text);
}

/* ---- Places -------------------------------------------------------------------------------------- */

enum { MOST_INLINED = 8 };

const char *code_words(const ThreadsCheck *check, const PtxCode *code) {
    PtxPlace place;
    uint32_t line = code_line(check->program, code);
    if (!ptx_places(check->module, code->statement, &place, 1))
        return verdict_text(check->verdict, "PTX line %u", line);
    const char *file = place.file.data, *slash = NULL;
    for (size_t i = 0; i < place.file.size; i++)
        if (file[i] == '/')
            slash = file + i;
    Str name = slash ? str_between(slash + 1, file + place.file.size) : place.file;
    return verdict_text(check->verdict, "%.*s:%u (PTX line %u)", STR_ARG(name), place.line, line);
}

static uint32_t place_set(const ThreadsCheck *check, const PtxCode *code, FindingPlace *place, PtxPlace *chain,
                          uint32_t most) {
    const PtxStatement *statement = &check->module->statements[code->statement];
    Arena *arena = check->verdict->arena;
    uint32_t count = ptx_places(check->module, code->statement, chain, most);
    Place at = source_place(check->module->source, statement->begin);
    place->op = arena_copy(arena, code->form->text.data, code->form->text.size);
    place->ir_line = at.line;
    place->ir_column = at.column;
    if (count) {
        place->file = arena_copy(arena, chain[0].file.data, chain[0].file.size);
        place->line = chain[0].line;
        place->column = chain[0].column;
    }
    return count;
}

void code_place(const ThreadsCheck *check, const PtxCode *code, FindingPlace *place) {
    PtxPlace chain;
    place_set(check, code, place, &chain, 1);
}

FindingPlace *code_places(const ThreadsCheck *check, Finding *finding, const PtxCode *const *codes, uint32_t count) {
    PtxPlace chain[MOST_INLINED + 1];
    FindingPlace *places = finding_places(check->verdict, finding, count + MOST_INLINED);
    for (uint32_t i = 1; i < count; i++)
        code_place(check, codes[i], &places[i]);
    uint32_t inlined = place_set(check, codes[0], &places[0], chain, MOST_INLINED + 1);
    finding->place_count = count;
    for (uint32_t i = 1; i < inlined; i++) {
        FindingPlace *place = &places[finding->place_count++];
        place->role = "inlined here";
        place->file = arena_copy(check->verdict->arena, chain[i].file.data, chain[i].file.size);
        place->line = chain[i].line;
        place->column = chain[i].column;
    }
    return places;
}

/* ---- Schedules ----------------------------------------------------------------------------------- */

const char *schedule_words(const ThreadsCheck *check, const PtxSchedule *schedule) {
    Text text = {0};
    ptx_schedule_describe(schedule, &text);
    return verdict_keep(check->verdict, &text);
}

const char *witness_of(const ThreadsCheck *check, const PtxSchedule *schedule, unsigned world) {
    Text text = {0};
    ThreadsTrail trail = {.kernel = ptx_name(check->module, check->module->functions[check->entry].name),
                          .launch = *check->launch->from,
                          .schedule = *schedule,
                          .gear = check->options->gear,
                          .world = world,
                          .volatile_races = check->options->volatile_races};
    trail.launch.kernel = trail.kernel;
    threads_trail_write(&trail, &text);
    return verdict_keep(check->verdict, &text);
}
