/* First sizes, by what each number is for (uses.h), then strides, from the inside out. */
#include "machine/tile/grid/choose_memory.h"

#include "ir/op.h"
#include "machine/tile/compile/roots.h"
#include "machine/tile/launch/uses.h"
#include "machine/tile/memory/access.h"

#include <setjmp.h>

enum {
    ZEROS = 1 << 24,      /* elements of memory that is zero */
    MOST_REACH = 1 << 30, /* elements: 32-bit numbers do not wrap */
};

typedef struct Stride {
    uint32_t parameter;
    uint64_t affects; /* parameters whose memory is addressed with it */
    uint32_t group;   /* those of one group affect different memory */
} Stride;

typedef struct ChooseMemoryReach {
    int64_t low, high; /* bytes */
} ChooseMemoryReach;

typedef struct ChooseMemoryChooser {
    Arena *arena;
    const MemoryRequest *request;
    const Program *program;
    NumberUses numbers;
    int64_t *values; /* of numbers, by parameter */
    bool *zeros;     /* by parameter: memory that holds zeros */
    Stride *strides;
    uint32_t stride_count, group_count;
    ChooseMemoryReach *before, *with; /* by parameter: without strides; with those of one group */
} ChooseMemoryChooser;

/* ---- Parameters --------------------------------------------------------------------------------------- */

static bool is_number(const Parameter *parameter) {
    return parameter->type && (parameter->type->kind == TYPE_INTEGER || parameter->type->kind == TYPE_INDEX);
}

static bool is_flag(const ChooseMemoryChooser *chooser, uint32_t parameter) {
    const Type *type = chooser->program->parameters[parameter].type;
    return chooser->numbers.uses[parameter] & USED_AS_CASE || (type->kind == TYPE_INTEGER && type->width == 1);
}

static bool is_stride(const ChooseMemoryChooser *chooser, uint32_t parameter) {
    return chooser->numbers.uses[parameter] == USED_AS_STRIDE && chooser->numbers.affects[parameter];
}

static const Argument *find(const Launch *launch, const Parameter *parameter) {
    return launch ? launch_find(launch, str_of(parameter->name)) : NULL;
}

/* ---- Sizes ---------------------------------------------------------------------------------------- */

static int64_t fit(const Parameter *parameter, int64_t value) {
    int64_t most = parameter->type->kind == TYPE_INTEGER && parameter->type->width < 32
                       ? (INT64_C(1) << (parameter->type->width - 1)) - 1
                       : INT32_MAX;
    if (parameter->type->kind == TYPE_INTEGER && parameter->type->width == 1)
        return value > 0;
    value = (value + parameter->divisibility - 1) / parameter->divisibility * parameter->divisibility;
    return value < most ? value : most / parameter->divisibility * parameter->divisibility;
}

static int64_t tiles_for(const ChooseMemoryChooser *chooser) {
    static const int64_t tiles[] = {
        [ROOM_PLENTY] = 8, [ROOM_MODEST] = 2, [ROOM_AS_IS] = 8, [ROOM_OTHER] = 4, [ROOM_LEAST] = 1, [ROOM_UNEVEN] = 3};
    return tiles[chooser->request->room];
}

static int64_t size_for(const ChooseMemoryChooser *chooser) {
    int64_t whole = tiles_for(chooser) * chooser->numbers.unit;
    return chooser->request->room == ROOM_LEAST    ? 1
           : chooser->request->room == ROOM_UNEVEN ? whole - chooser->numbers.unit * 3 / 8
                                                   : whole;
}

/* The second smallest number above 0 that loops go by in launches that were chosen for them. */
static int64_t inner_for(const ChooseMemoryChooser *chooser, const Parameter *parameter) {
    int64_t first = INT64_MAX, second = INT64_MAX;
    for (size_t i = 0; i < chooser->request->base_count; i++) {
        const Argument *argument = find(&chooser->request->bases[i], parameter);
        int64_t value = argument && argument->kind == ARGUMENT_INTEGER ? argument->integer : 0;
        if (value <= 0 || value == first)
            continue;
        if (value < first) {
            second = first;
            first = value;
        } else if (value < second) {
            second = value;
        }
    }
    return second < INT64_MAX ? second : first < INT64_MAX ? first : fit(parameter, 2 * chooser->numbers.unit);
}

static int64_t number_for(const ChooseMemoryChooser *chooser, uint32_t parameter) {
    const Parameter *which = &chooser->program->parameters[parameter];
    if (chooser->numbers.inner[parameter] && chooser->request->room != ROOM_LEAST)
        return inner_for(chooser, which);
    if (is_flag(chooser, parameter))
        return fit(which, 1);
    if (is_stride(chooser, parameter))
        return 0;
    return fit(which, chooser->numbers.uses[parameter] & USED_AS_SIZE ? size_for(chooser) : tiles_for(chooser));
}

static void choose_numbers(ChooseMemoryChooser *chooser) {
    const MemoryRequest *request = chooser->request;
    for (uint32_t i = 0; i < chooser->program->parameter_count; i++) {
        const Parameter *parameter = &chooser->program->parameters[i];
        const Argument *given = find(request->given, parameter), *base = find(request->base, parameter);
        if (!is_number(parameter) || parameter->descriptor >= 0)
            continue;
        bool keeps = base && base->kind == ARGUMENT_INTEGER && (is_flag(chooser, i) || request->room == ROOM_AS_IS);
        chooser->values[i] = given ? given->integer : keeps ? base->integer : number_for(chooser, i);
    }
}

/* ---- The grid ------------------------------------------------------------------------------------- */

static void choose_grid(const ChooseMemoryChooser *chooser, int64_t *grid) {
    enum { USUAL, OTHER, LEAST, UNEVEN };
    static const int64_t sizes[4][4][3] = {[USUAL] = {{2, 1, 1}, {8, 1, 1}, {4, 2, 1}, {2, 2, 2}},
                                           [OTHER] = {{3, 1, 1}, {6, 1, 1}, {2, 4, 1}, {3, 2, 2}},
                                           [LEAST] = {{2, 1, 1}, {2, 1, 1}, {2, 2, 1}, {2, 2, 2}},
                                           [UNEVEN] = {{2, 1, 1}, {9, 1, 1}, {3, 9, 1}, {3, 3, 3}}};
    const MemoryRequest *request = chooser->request;
    const Program *program = chooser->program;
    unsigned axes = program_axes(program->module, true), used = 0;
    unsigned which = request->room == ROOM_OTHER    ? OTHER
                     : request->room == ROOM_LEAST  ? LEAST
                     : request->room == ROOM_UNEVEN ? UNEVEN
                                                    : USUAL;
    axes |= !axes && !program_is_uniform(program); /* programs that tell themselves apart in another way */
    const int64_t *size = sizes[which][__builtin_popcount(axes & 7)];
    if (request->given && request->given->grid[0]) {
        memcpy(grid, request->given->grid, 3 * sizeof *grid);
        return;
    }
    for (unsigned axis = 0; axis < 3; axis++)
        grid[axis] = axes >> axis & 1 || !axes ? size[used++] : 1;
    for (unsigned axis = 0; axis < 3 && program->ranks_are_programs; axis++) /* whole clusters */
        if (axis == 0 || program->cluster[axis] > 1)
            grid[axis] = (grid[axis] > 2 ? grid[axis] / 2 : 2) * program->cluster[axis];
}

/* ---- Memory --------------------------------------------------------------------------------------- */

/* Memory that CTAs talk to each other through: no caller launches such a kernel on anything but zeros. */
static void find_zeros(ChooseMemoryChooser *chooser) {
    const Program *program = chooser->program;
    for (uint32_t i = 0; i < program->effect_count; i++) {
        const CompiledEffect *compiled = &program->effects[i];
        if (!compiled->strong || compiled->effect.space != SPACE_GLOBAL)
            continue;
        Roots roots = address_roots(program, compiled->effect.on);
        for (uint32_t k = 0; k < program->parameter_count && k < MOST_ROOTS; k++)
            chooser->zeros[k] |= roots.parameters >> k & 1;
    }
}

static bool delays_integers(const ChooseMemoryChooser *chooser, const Parameter *parameter) {
    const Type *type =
        parameter->type->element ? type_resolve(chooser->program->module, parameter->type->element) : NULL;
    return type && type->kind == TYPE_INTEGER;
}

static Argument describe(const ChooseMemoryChooser *chooser, uint32_t index) {
    const Parameter *parameter = &chooser->program->parameters[index];
    const Type *block = parameter_block(chooser->program->module, parameter);
    Argument argument = {.name = str_of(parameter->name), .kind = ARGUMENT_DESCRIPTOR};
    argument.rank = (uint8_t)(block->dim_count <= ARGUMENT_MOST_DIMS ? block->dim_count : 0);
    int64_t size = size_for(chooser);
    for (unsigned i = 0; i < argument.rank; i++) {
        int64_t tile = block->dims[i] > 0 ? block->dims[i] : 1;
        argument.shape[i] = tile * tiles_for(chooser);
        if (i + 2 >= argument.rank && argument.shape[i] < size)
            argument.shape[i] = size;
    }
    argument_make_dense(&argument);
    return argument;
}

/* The argument of a parameter; false: it needs none. */
static bool make_argument(const ChooseMemoryChooser *chooser, uint32_t index, Argument *argument) {
    const Parameter *parameter = &chooser->program->parameters[index];
    const Argument *given = find(chooser->request->given, parameter);
    if (parameter->descriptor >= 0 || !parameter->type)
        return false;
    if (given) {
        *argument = *given;
        return true;
    }
    if (type_is_descriptor(parameter->type)) {
        *argument = describe(chooser, index);
        return argument->rank > 0;
    }
    *argument =
        (Argument){.name = str_of(parameter->name), .kind = ARGUMENT_INTEGER, .integer = chooser->values[index]};
    if (is_number(parameter))
        return true;
    if (!type_is(parameter->type, STR("tt.ptr")) || !chooser->zeros[index] || !delays_integers(chooser, parameter))
        return false; /* a pointer that is not described has memory of its own */
    *argument = (Argument){.name = argument->name, .kind = ARGUMENT_TENSOR, .rank = 1, .shape = {ZEROS}, .zero = true};
    argument_make_dense(argument);
    return true;
}

static Launch make_launch(const ChooseMemoryChooser *chooser) {
    const Program *program = chooser->program;
    Launch launch = {.chosen = true, .kernel = str_of(program->name), .capacity = program->parameter_count};
    choose_grid(chooser, launch.grid);
    launch.arguments = ARENA_ARRAY(chooser->arena, Argument, program->parameter_count + 1);
    for (uint32_t i = 0; i < program->parameter_count; i++)
        launch.count += make_argument(chooser, i, &launch.arguments[launch.count]);
    return launch;
}

/* ---- How far addresses reach ---------------------------------------------------------------------- */

typedef struct Measuring {
    const Machine *machine;
    Arena scratch;            /* the bytes of one access */
    ChooseMemoryReach *reach; /* by parameter */
} Measuring;

static void observe(void *observer, const Event *event) {
    Measuring *measuring = observer;
    Bytes bytes;
    const char *reason;
    uint32_t argument;
    int64_t begin;
    if (event->kind != EVENT_ACCESS || event->effect->effect.space != SPACE_GLOBAL ||
        !access_ranges(measuring->machine, event, &measuring->scratch, &bytes, &reason))
        return;
    for (uint32_t i = 0; i < bytes.count; i++) {
        if (!address_argument(measuring->machine, bytes.runs[i].begin, &argument, &begin))
            continue;
        ChooseMemoryReach *reach = &measuring->reach[argument];
        int64_t end = begin + (bytes.runs[i].end - bytes.runs[i].begin);
        reach->low = begin < reach->low ? begin : reach->low;
        reach->high = end > reach->high ? end : reach->high;
    }
    arena_reset(&measuring->scratch);
}

/* Of a large grid, which something has given, the first and the last ones: they reach furthest. */
static RunEnd run_clusters(Machine *machine, const Launch *launch) {
    enum { AT_EACH_END = 32 };
    RunEnd end = RUN_COMPLETE;
    machine_launch(machine, launch);
    uint64_t count = machine_clusters(machine);
    for (uint64_t i = 0; i < count && end != RUN_EXCLUDED; i++) {
        if (i == AT_EACH_END && count > 2 * AT_EACH_END)
            i = count - AT_EACH_END;
        end = schedule_run(machine, i, &(Schedule){.kind = SCHEDULE_EAGER});
        arena_reset(machine->arena);
    }
    return end == RUN_EXCLUDED ? end : RUN_COMPLETE;
}

/* Runs the clusters one by one with the numbers as they are, and sets the reach of the memory of each parameter. What
 * a cluster waits for may be written by something else: then it is looked at as far as it comes. */
static RunEnd measure(const ChooseMemoryChooser *chooser, ChooseMemoryReach *reaches) {
    enum { MOST_BYTES = 1 << 28, TENSOR_LIMIT = 1 << 20 };
    const char *problem;
    jmp_buf out_of_memory;
    Launch launch = make_launch(chooser);
    Machine *machine = machine_create(chooser->arena, chooser->program, &problem);
    Arena *tensors = ARENA_NEW(chooser->arena, Arena);
    Measuring *measuring = ARENA_NEW(chooser->arena, Measuring);
    volatile RunEnd end = RUN_UNKNOWN;
    memset(reaches, 0, chooser->program->parameter_count * sizeof *reaches);
    if (!machine)
        return RUN_UNKNOWN;
    measuring->machine = machine;
    measuring->reach = reaches;
    arena_init(&measuring->scratch, MOST_BYTES);
    arena_init(tensors, MOST_BYTES);
    measuring->scratch.exhausted = tensors->exhausted = &out_of_memory;
    machine->arena = tensors;
    machine->tensor_limit = TENSOR_LIMIT;
    machine->budget = chooser->request->budget;
    machine->observe = observe;
    machine->observer = measuring;
    if (setjmp(out_of_memory) == 0)
        end = run_clusters(machine, &launch);
    arena_free(&measuring->scratch);
    arena_free(tensors);
    return end;
}

/* ---- Strides -------------------------------------------------------------------------------------- */

/* Strides of different memory are told apart by one run. The innermost ones come first: callers name them last. */
static void find_strides(ChooseMemoryChooser *chooser) {
    const Program *program = chooser->program;
    chooser->strides = ARENA_ARRAY(chooser->arena, Stride, program->parameter_count + 1);
    for (uint32_t i = program->parameter_count; i-- > 0;)
        if (program->parameters[i].descriptor < 0 && is_stride(chooser, i) && number_is_chosen(chooser->request, i))
            chooser->strides[chooser->stride_count++].parameter = i;
    for (uint32_t i = 0; i < chooser->stride_count; i++) {
        Stride *stride = &chooser->strides[i];
        stride->affects = chooser->numbers.affects[stride->parameter];
        for (uint32_t k = 0; k < i; k++)
            if (chooser->strides[k].affects & stride->affects && chooser->strides[k].group >= stride->group)
                stride->group = chooser->strides[k].group + 1;
        if (stride->group >= chooser->group_count)
            chooser->group_count = stride->group + 1;
    }
}

static int64_t element_bytes(const ChooseMemoryChooser *chooser, uint32_t parameter) {
    const Type *type = chooser->program->parameters[parameter].type;
    while (type && type->element)
        type = type_resolve(chooser->program->module, type->element);
    return type && type->width > 8 ? type->width / 8 : 1;
}

/* The smallest stride behind which nothing that it steps over is met again, given how far that reaches; and how far
 * memory then reaches. */
static void choose_stride(ChooseMemoryChooser *chooser, const Stride *stride) {
    const Program *program = chooser->program;
    int64_t value = 1;
    for (uint32_t i = 0; i < program->parameter_count && i < MOST_ROOTS; i++) {
        int64_t size = element_bytes(chooser, i), reach = chooser->before[i].high - chooser->before[i].low;
        if (stride->affects >> i & 1 && (reach + size - 1) / size > value)
            value = (reach + size - 1) / size;
    }
    value = fit(&program->parameters[stride->parameter], chooser->request->room == ROOM_OTHER ? 2 * value : value);
    chooser->values[stride->parameter] = value < MOST_REACH ? value : MOST_REACH;
    for (uint32_t i = 0; i < program->parameter_count && i < MOST_ROOTS; i++) {
        ChooseMemoryReach *before = &chooser->before[i];
        const ChooseMemoryReach *with = &chooser->with[(size_t)stride->group * program->parameter_count + i];
        int64_t steps = (with->high - with->low), more;
        if (!(stride->affects >> i & 1) || __builtin_mul_overflow(steps, chooser->values[stride->parameter], &more))
            continue;
        before->high += more < INT64_C(1) << 50 ? more : 0;
    }
}

/* By how much further memory reaches with each stride of a group being 1. */
static RunEnd measure_group(ChooseMemoryChooser *chooser, uint32_t group) {
    uint32_t count = chooser->program->parameter_count;
    ChooseMemoryReach *with = &chooser->with[(size_t)group * count];
    for (uint32_t i = 0; i < chooser->stride_count; i++)
        chooser->values[chooser->strides[i].parameter] = chooser->strides[i].group == group;
    RunEnd end = measure(chooser, with);
    for (uint32_t i = 0; i < count; i++) {
        int64_t more = with[i].high - with[i].low - (chooser->before[i].high - chooser->before[i].low);
        with[i] = (ChooseMemoryReach){0, more > 0 ? more : 0};
    }
    return end;
}

static RunEnd choose_strides(ChooseMemoryChooser *chooser) {
    uint32_t count = chooser->program->parameter_count;
    if (!chooser->stride_count)
        return RUN_COMPLETE;
    chooser->before = ARENA_ARRAY(chooser->arena, ChooseMemoryReach, count + 1);
    chooser->with = ARENA_ARRAY(chooser->arena, ChooseMemoryReach, (size_t)count * chooser->group_count + 1);
    RunEnd end = measure(chooser, chooser->before);
    for (uint32_t group = 0; group < chooser->group_count && end == RUN_COMPLETE; group++)
        end = measure_group(chooser, group);
    for (uint32_t i = 0; i < chooser->stride_count; i++)
        choose_stride(chooser, &chooser->strides[i]);
    return end;
}

/* ---- All of it ------------------------------------------------------------------------------------ */

static ChooseMemoryChooser start(Arena *arena, const MemoryRequest *request) {
    uint32_t count = request->program->parameter_count;
    ChooseMemoryChooser chooser = {.arena = arena,
                                   .request = request,
                                   .program = request->program,
                                   .numbers = number_uses(request->program, arena),
                                   .values = ARENA_ARRAY(arena, int64_t, count + 1),
                                   .zeros = ARENA_ARRAY(arena, bool, count + 1)};
    return chooser;
}

RunEnd choose_memory(Arena *arena, const MemoryRequest *request, Launch *launch) {
    ChooseMemoryChooser chooser = start(arena, request);
    find_zeros(&chooser);
    choose_numbers(&chooser);
    find_strides(&chooser);
    RunEnd end = choose_strides(&chooser);
    *launch = make_launch(&chooser);
    return end;
}

bool number_is_chosen(const MemoryRequest *request, uint32_t parameter) {
    const Parameter *which = &request->program->parameters[parameter];
    return is_number(which) && !find(request->given, which);
}

bool number_varies(const MemoryRequest *request, uint32_t parameter) {
    ChooseMemoryChooser chooser = start(&request->program->module->arena, request);
    return !is_flag(&chooser, parameter);
}

bool programs_are_symmetry(const MemoryRequest *request) {
    return !(request->given && request->given->grid[0]) && !program_axes(request->program->module, false);
}
