/* The public API: a device without a GPU. */
#include "api/internal.h"

#include "base/deadline.h"
#include "check/prove/prove.h"
#include "check/simt/check.h"
#include "check/simt/watch.h"
#include "machine/simt/async/tensormap.h"
#include "machine/simt/core/machine.h"
#include "machine/simt/host/host.h"
#include "machine/simt/memory/textures.h"
#include "weir/device.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

_Static_assert(WEIR_DEVICE_HEAP == PTX_WINDOW_HEAP, "as the machine has it");

struct weir_device {
    PtxDevice device;
    bool watches, looks;        /* looks: at threads of launches that take turns with other processes */
    weir_device_touch *touches; /* of the last launch; NULL: not known */
    size_t touch_count;
    TouchedWaits waits;
    weir_device_step *steps; /* of the last launch; NULL: there are none */
    size_t step_count;
    unsigned shape[3]; /* CTAs, warps of a CTA, CTAs of a cluster */
    const char *steps_problem;
    char threads[256]; /* what threads of the last launch do to each other; "": nothing that is wrong */
    char error[512];
};

weir_device *weir_device_create(void) {
    static const double alone_for = 0.0003; /* threads are there faster than that */
    weir_device *device = calloc(1, sizeof *device);
    if (device)
        device->device.alone_for = alone_for;
    return device;
}

void weir_device_destroy(weir_device *device) {
    if (!device)
        return;
    host_free(&device->device);
    if (device->device.lock)
        close(device->device.lock - 1);
    free(device->touches);
    free(device->steps);
    free(device);
}

const char *weir_device_error(const weir_device *device) {
    return device->error;
}

void weir_device_jobs(weir_device *device, unsigned jobs) {
    device->device.jobs = jobs;
}

/* ---- Memory ---- */

int weir_device_memory(weir_device *device, void *address, size_t bytes, const char *name, int written) {
    bool added = host_add(&device->device, address, bytes, name, written & 1);
    if (added && written & WEIR_MEMORY_SHARED)
        host_share(&device->device, address);
    if (added)
        return 0;
    snprintf(device->error, sizeof device->error, "there is not enough memory");
    return -1;
}

int weir_device_others(weir_device *device, const char *lock) {
    int file = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) {
        snprintf(device->error, sizeof device->error, "%s cannot be opened", lock);
        return -1;
    }
    if (device->device.lock)
        close(device->device.lock - 1);
    device->device.lock = file + 1;
    return 0;
}

void weir_device_remove(weir_device *device, const void *address) {
    host_remove(&device->device, address);
}

void weir_device_written(weir_device *device, const void *address, size_t bytes) {
    host_written(&device->device, address, bytes);
}

void weir_device_copied(weir_device *device, void *to, const void *from, size_t bytes) {
    host_copied(&device->device, to, from, bytes);
}

int weir_device_known(const weir_device *device, const void *address, size_t bytes) {
    return host_known(&device->device, address, bytes);
}

int weir_device_heap(weir_device *device, size_t bytes) {
    return host_heap_limit(&device->device, bytes) ? 0 : -1;
}

void weir_device_heap_reset(weir_device *device) {
    host_heap_free(&device->device);
}

void weir_device_forget(weir_device *device, const weir_module *module) {
    if (module->ptx)
        host_forget(&device->device, module->ptx);
}

/* ---- Launches ---- */

/* A launch that is being placed. */
typedef struct DeviceAsk {
    weir_device *device;
    const weir_module *module;
    const weir_device_launch *given;
    Arena *arena; /* its `exhausted` is set */
    HostKernel *kernel;
    const PtxProgram *program; /* of it */
    PtxLaunch *launch;
    const char *problem; /* NULL: there is none */
} DeviceAsk;

/* The bytes of all parameters, where the kernel has them. */
static bool gather_parameters(DeviceAsk *ask, uint32_t entry, uint8_t *bytes) {
    const PtxFunction *kernel = &ask->module->ptx->functions[entry];
    ask->problem = "the launch has another number of parameters than the kernel";
    if (ask->given->parameter_count != kernel->parameter_count)
        return false;
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const PtxSymbolSlot *slot = &ask->program->seats[kernel->parameters + i];
        memcpy(bytes + slot->at, ask->given->parameters[i], slot->bytes);
    }
    return true;
}

/* What is said, or else what the kernel requires, or else 1. */
static void set_shape(uint32_t shape[3], const unsigned said[3], const uint32_t required[3]) {
    for (unsigned i = 0; i < 3; i++)
        shape[i] = said[0] ? said[i] : required[0] ? required[i] : 1;
}

static bool place(DeviceAsk *ask) {
    const weir_device_launch *given = ask->given;
    uint32_t entry = 0;
    ask->problem = "the module is no PTX that could be read";
    if (!ask->module->ok || !ask->module->ptx)
        return false;
    ask->problem = given->kernel ? "the module has no kernel of that name, or several"
                                 : "the module has no kernel, or several: say which";
    if (question_entries(ask->module->ptx, given->kernel, &entry) != 1)
        return false;
    ask->kernel = host_kernel(&ask->device->device, ask->module->ptx, entry, &ask->problem);
    if (!ask->kernel)
        return false;
    ask->program = ask->kernel->program;
    ask->launch = ARENA_NEW(ask->arena, PtxLaunch);
    ask->launch->dynamic_bytes = given->shared;
    memcpy(ask->launch->grid, given->grid, sizeof ask->launch->grid);
    set_shape(ask->launch->block, given->block, ask->program->required);
    set_shape(ask->launch->cluster, given->cluster, ask->program->cluster);
    uint8_t *bytes = ARENA_ARRAY(ask->arena, uint8_t, ask->program->parameter_bytes + 1);
    if (!gather_parameters(ask, entry, bytes))
        return false;
    host_place(&ask->device->device, ask->kernel, bytes, ask->launch, ask->arena);
    return true;
}

size_t weir_device_parameters(weir_device *device, weir_module *module, const char *kernel, size_t *sizes,
                              size_t most) {
    return weir_device_layout(device, module, kernel, NULL, sizes, most);
}

size_t weir_device_layout(weir_device *device, weir_module *module, const char *kernel, size_t *offsets, size_t *sizes,
                          size_t most) {
    uint32_t entry = 0;
    const char *problem = "";
    bool found = module->ok && module->ptx && question_entries(module->ptx, kernel, &entry) == 1;
    const HostKernel *ready = found ? host_kernel(&device->device, module->ptx, entry, &problem) : NULL;
    const PtxFunction *function = ready ? &module->ptx->functions[entry] : NULL;
    for (uint32_t i = 0; function && i < function->parameter_count && i < most; i++) {
        const PtxSymbolSlot *seat = &ready->program->seats[function->parameters + i];
        sizes[i] = seat->bytes;
        if (offsets)
            offsets[i] = seat->at;
    }
    return function ? function->parameter_count : 0;
}

/* ---- What a module has ---- */

static const PtxProgram *any_program(weir_device *device, const weir_module *module, const char *kernel) {
    const char *problem = "";
    const PtxModule *ptx = module->ok ? module->ptx : NULL;
    for (uint32_t i = 0; ptx && i < ptx->functions_count; i++) {
        const PtxFunction *function = &ptx->functions[i];
        if (!function->entry || !function->body || (kernel && !str_is(ptx_name(ptx, function->name), kernel)))
            continue;
        const HostKernel *ready = host_kernel(&device->device, ptx, i, &problem);
        if (ready)
            return ready->program;
    }
    snprintf(device->error, sizeof device->error, "%s", *problem ? problem : "the module has no such kernel");
    return NULL;
}

size_t weir_device_place(weir_device *device, weir_module *module, void *at, size_t room) {
    uint64_t end = (uintptr_t)at;
    if (!module->ok || !module->ptx)
        return SIZE_MAX;
    module->ptx->globals_at = (uintptr_t)at;
    module->ptx->globals_bytes = room;
    const PtxProgram *program = any_program(device, module, NULL);
    if (!program)
        return SIZE_MAX;
    for (uint32_t i = 0; i < module->ptx->variables_count; i++) {
        const PtxSymbolSlot *seat = &program->seats[i];
        if (seat->space == PTX_SPACE_GLOBAL && seat->at + seat->bytes > end)
            end = seat->at + seat->bytes;
    }
    module->ptx->globals_bytes = end - (uintptr_t)at;
    if (module->ptx->globals_bytes <= room)
        return module->ptx->globals_bytes;
    host_forget(&device->device, module->ptx);
    module->ptx->globals_at = module->ptx->globals_bytes = 0;
    return SIZE_MAX;
}

int weir_device_variable_of(weir_device *device, weir_module *module, const char *name,
                            weir_device_variable *variable) {
    const PtxProgram *program = any_program(device, module, NULL);
    HostVariables *variables = program ? host_variables(&device->device, module->ptx) : NULL;
    for (uint32_t i = 0; variables && i < module->ptx->variables_count; i++) {
        PtxHost *value = str_is(ptx_name(module->ptx, module->ptx->variables[i].name), name)
                             ? host_variable(variables, program, i)
                             : NULL;
        if (!value)
            continue;
        *variable = (weir_device_variable){.address = program->seats[i].at,
                                           .bytes = value->bytes,
                                           .size = value->size,
                                           .constant = program->seats[i].space == PTX_SPACE_CONST};
        return 0;
    }
    return -1;
}

int weir_device_kernel_of(weir_device *device, weir_module *module, const char *name, weir_device_kernel *kernel) {
    const PtxProgram *program = any_program(device, module, name);
    if (!program)
        return -1;
    const PtxFunction *function = &module->ptx->functions[program->entry];
    uint64_t before = module->ptx->capability >= 90 ? PTX_SHARED_FIRST : 0;
    *kernel = (weir_device_kernel){.parameters = function->parameter_count,
                                   .shared = program->shared_bytes - before,
                                   .constant = program->const_bytes,
                                   .local = program->routines[program->entry].local_bytes};
    uint32_t most[3];
    if (ptx_header_numbers(module->ptx, program->entry, ".maxntid", most))
        kernel->most = most[0] * most[1] * most[2];
    for (unsigned i = 0; i < 3; i++) {
        kernel->required[i] = program->required[i];
        kernel->cluster[i] = program->cluster[i];
    }
    return 0;
}

int weir_device_tensormap(const weir_tensormap *map, unsigned char bytes[128]) {
    unsigned bits = tensormap_element_bits((uint8_t)map->type);
    if (!bits || !map->rank || map->rank > TENSORMAP_DIMS)
        return -1;
    TensorMap made = {.kind = TENSORMAP_TILED,
                      .rank = (uint8_t)map->rank,
                      .type = (uint8_t)map->type,
                      .interleave = (uint8_t)map->interleave,
                      .swizzle = (uint8_t)map->swizzle,
                      .fill = (uint8_t)map->fill,
                      .address = map->address};
    for (unsigned i = 0; i < map->rank; i++) {
        made.size[i] = (uint32_t)map->sizes[i];
        made.stride[i] = i ? map->strides[i] : bits / 8;
        made.box[i] = (uint16_t)map->box[i];
        made.element_stride[i] = (uint8_t)(map->steps[i] ? map->steps[i] : 1);
    }
    tensormap_encode(&made, bytes);
    return 0;
}

int weir_device_texture(const weir_texture *texture, unsigned char bytes[128]) {
    TextureMap made = {.magic = TEXTURE_MAGIC,
                       .address = texture->address,
                       .pitch = texture->pitch,
                       .slice = texture->slice,
                       .size = {texture->size[0], texture->size[1], texture->size[2]},
                       .layers = texture->layers,
                       .channels = (uint8_t)texture->channels,
                       .bits = (uint8_t)texture->bits,
                       .kind = (uint8_t)texture->kind,
                       .linear = texture->linear != 0,
                       .normalized = texture->normalized != 0,
                       .floats = texture->floats != 0,
                       .is_surface = texture->surface != 0,
                       .is_cube = texture->cube != 0,
                       .is_buffer = texture->buffer != 0};
    bool good = texture->size[0] && texture->kind <= TEXTURE_FLOAT && texture->channels - 1 < 4 &&
                (texture->bits == 8 || texture->bits == 16 || texture->bits == 32) &&
                (texture->kind != TEXTURE_FLOAT || texture->bits > 8) &&
                (!texture->floats || (texture->kind != TEXTURE_FLOAT && texture->bits < 32));
    for (unsigned i = 0; i < 3; i++) {
        good &= texture->mode[i] <= TEXTURE_BORDER;
        made.mode[i] = (uint8_t)texture->mode[i];
    }
    memcpy(made.border, texture->border, sizeof made.border);
    memcpy(bytes, &made, sizeof made);
    return good ? 0 : -1;
}

/* What checks need of a kernel is made once. */
static void prepare_for_checks(HostKernel *kernel, Arena *asks, const char **problem) {
    kernel->arena.exhausted = asks->exhausted;
    if (!kernel->checked)
        kernel->checked = threads_program(&kernel->arena, kernel->module, kernel->entry, COMPUTES_ALL, problem);
    kernel->arena.exhausted = NULL;
}

/* ---- Running ---- */

static weir_device_end end_of_fault(const PtxMachine *machine) {
    switch (machine->fault.rule) {
    case RULE_GLOBAL_OUT_OF_RANGE:
    case RULE_SHARED_OUT_OF_RANGE:
    case RULE_LOCAL_OUT_OF_RANGE:
    case RULE_ACCESS_INVALID:
        return WEIR_DEVICE_ADDRESS;
    case RULE_ACCESS_ALIGNMENT:
        return WEIR_DEVICE_ALIGNMENT;
    case RULE_KERNEL_TRAP:
        return machine->asserted ? WEIR_DEVICE_ASSERTION : WEIR_DEVICE_TRAP;
    default:
        return WEIR_DEVICE_FAULT;
    }
}

/* "thread 3 of CTA 1, at line 20 of the PTX, `ld.global.b32`: ..." */
static void say_where(weir_device *device, const PtxProgram *program, const PtxCode *code, const PtxWarp *warp,
                      uint32_t lanes, const char *what) {
    int at = 0;
    size_t room = sizeof device->error;
    if (warp && lanes)
        at = snprintf(device->error, room, "thread %u of CTA %u, ",
                      warp->index * PTX_LANES + (unsigned)__builtin_ctz(lanes), warp->cta->number);
    if (code)
        at += snprintf(device->error + at, room - (size_t)at, "line %u of the PTX, %.*s: ", code_line(program, code),
                       STR_ARG(code->form->text));
    snprintf(device->error + at, room - (size_t)at, "%s", what);
}

static weir_device_end ended(weir_device *device, const PtxMachine *machine, PtxEnd end) {
    const PtxFault *fault = &machine->fault;
    switch (end) {
    case PTX_END_COMPLETE:
        return WEIR_DEVICE_DONE;
    case PTX_END_FAULT:
        say_where(device, machine->program, fault->code, fault->warp, fault->lanes,
                  fault->what ? fault->what : rule_of(fault->rule)->summary);
        return end_of_fault(machine);
    case PTX_END_STUCK:
        snprintf(device->error, sizeof device->error, "the launch hangs: no thread can go on");
        return WEIR_DEVICE_HANG;
    case PTX_END_UNKNOWN:
        say_where(device, machine->program, machine->unknown, NULL, 0,
                  machine->unknown_why ? machine->unknown_why : "Weir cannot run this instruction");
        return WEIR_DEVICE_UNSUPPORTED;
    default:
        snprintf(device->error, sizeof device->error, "the launch takes more %s than the limit",
                 end == PTX_END_TIME ? "time" : "memory");
        return WEIR_DEVICE_LIMIT;
    }
}

/* ---- What a launch touches ---- */

void weir_device_watch(weir_device *device, int on) {
    device->watches = on;
    device->looks = on == WEIR_WATCH_THREADS;
}

const weir_device_touch *weir_device_touches(const weir_device *device, size_t *count, int *waits) {
    *count = device->touch_count;
    *waits = (int)device->waits;
    return device->touches;
}

const weir_device_step *weir_device_steps(const weir_device *device, size_t *count, unsigned shape[3],
                                          const char **problem) {
    *count = device->step_count;
    memcpy(shape, device->shape, sizeof device->shape);
    *problem = device->steps_problem;
    return device->steps;
}

static void forget_touches(weir_device *device) {
    free(device->touches);
    free(device->steps);
    device->steps = NULL;
    device->step_count = 0;
    device->steps_problem = NULL;
    device->touches = NULL;
    device->touch_count = 0;
    device->waits = TOUCHED_NO_WAIT;
}

static void keep_touches(weir_device *device, const HostRun *run) {
    uint32_t count = 0;
    TouchedBytes *bytes = run->touched ? touched_bytes(run->touched, &count) : NULL;
    device->touches = bytes ? calloc((size_t)count + 1, sizeof *device->touches) : NULL;
    for (uint32_t i = 0; device->touches && i < count; i++)
        device->touches[i] = (weir_device_touch){.address = bytes[i].address,
                                                 .bytes = bytes[i].bytes,
                                                 .stride = bytes[i].stride,
                                                 .count = bytes[i].count,
                                                 .how = 1u << bytes[i].way | (bytes[i].early ? WEIR_TOUCH_EARLY : 0)};
    device->touch_count = device->touches ? count : 0;
    if (run->touched)
        device->waits = touched_waits(run->touched, run->machine->cta_count);
    free(bytes);
}

static void keep_steps(weir_device *device, PtxModule *module, const HostSteps *steps) {
    uint32_t count;
    const HostStep *all = host_steps_all(steps, &count, &device->steps_problem);
    device->steps = all ? calloc((size_t)count + 1, sizeof *device->steps) : NULL;
    if (all && !device->steps)
        device->steps_problem = "there is not enough memory for its accesses";
    for (uint32_t i = 0; device->steps && i < count; i++) {
        PtxPlace place = {0};
        bool placed = ptx_places(module, all[i].code->statement, &place, 1) && place.line;
        device->steps[i] = (weir_device_step){.time = all[i].time,
                                              .address = all[i].address,
                                              .bytes = all[i].bytes,
                                              .warp = all[i].warp,
                                              .what = all[i].what,
                                              .kind = all[i].kind,
                                              .order = all[i].order,
                                              .scope = all[i].scope,
                                              .file = placed ? place.file.data : NULL,
                                              .file_size = placed ? place.file.size : 0,
                                              .line = placed ? place.line : 0};
    }
    device->step_count = device->steps ? count : 0;
}

/* ---- Threads of a launch that takes turns with other processes ---- */

typedef struct DeviceThreads {
    DeviceAsk *ask;
    HostRun run;
    PtxWatch *watch;
    const char *problem;
} DeviceThreads;

static void look_at_threads(HostRun *run) {
    DeviceThreads *threads = (DeviceThreads *)((char *)run - offsetof(DeviceThreads, run));
    PtxWatchOptions options = {.beyond = true};
    threads->watch = ptx_watch(threads->ask->arena, run->machine, &options, &threads->problem);
    if (!threads->watch)
        return;
    ptx_watch_start(threads->watch);
    run->observe = ptx_watch_observe;
    run->observer = threads->watch;
}

static void say_threads(DeviceThreads *threads, bool complete) {
    weir_device *device = threads->ask->device;
    uint32_t count = 0;
    const PtxRace *races = NULL;
    if (threads->watch && complete) {
        ptx_watch_end(threads->watch);
        races = ptx_watch_races(threads->watch, &count);
        threads->problem = ptx_watch_problem(threads->watch);
    }
    snprintf(device->threads, sizeof device->threads, "%s",
             threads->problem  ? threads->problem
             : !complete       ? "the launch did not end well"
             : !threads->watch ? "threads were not checked"
                               : "");
    for (uint32_t i = 0; i < count && !*device->threads; i++)
        if (!races[i].same_value)
            snprintf(device->threads, sizeof device->threads,
                     "two of its threads may race: lines %u and %u of the PTX [%s]",
                     code_line(threads->run.machine->program, races[i].first.code),
                     code_line(threads->run.machine->program, races[i].second.code), rule_of(races[i].rule)->id);
    ptx_watch_free(threads->watch);
}

const char *weir_device_threads(const weir_device *device) {
    return device->threads;
}

static weir_device_end run(DeviceAsk *ask) {
    const weir_device_launch *given = ask->given;
    Text printed = {0};
    const char *problem = NULL;
    DeviceThreads threads = {.ask = ask};
    *ask->device->threads = 0;
    if (ask->device->looks && ask->device->device.lock)
        prepare_for_checks(ask->kernel, ask->arena, &problem);
    HostRun *asked = &threads.run;
    *asked = (HostRun){.device = &ask->device->device,
                       .kernel = ask->kernel,
                       .program = ask->device->looks ? ask->kernel->checked : NULL,
                       .begins = ask->device->looks && ask->kernel->checked ? look_at_threads : NULL,
                       .launch = ask->launch,
                       .watched = ask->device->watches,
                       .dependent = given->dependent,
                       .printed = given->print ? &printed : NULL};
    deadline_start(given->timeout, NULL, NULL);
    forget_touches(ask->device);
    PtxEnd end = host_run(asked);
    deadline_end();
    if (asked->machine)
        keep_touches(ask->device, asked);
    if (asked->steps) {
        const PtxMachine *machine = asked->machine;
        ask->device->shape[0] = machine->cta_count;
        ask->device->shape[1] = (machine->threads_per_cta + PTX_LANES - 1) / PTX_LANES;
        ask->device->shape[2] = machine->cluster_size;
    }
    if (asked->steps)
        keep_steps(ask->device, ask->module->ptx, asked->steps);
    if (asked->begins)
        say_threads(&threads, asked->machine && end == PTX_END_COMPLETE);
    touched_free(asked->touched);
    host_steps_free(asked->steps);
    if (given->print && printed.size)
        given->print(given->print_to, printed.data, printed.size);
    text_free(&printed);
    const char *asserted = asked->machine && end == PTX_END_FAULT ? asked->machine->asserted : NULL;
    if (given->print_error && asserted)
        given->print_error(given->print_to, asserted, strlen(asserted));
    weir_device_end how = WEIR_DEVICE_INVALID;
    if (asked->machine)
        how = ended(ask->device, asked->machine, end);
    else
        snprintf(ask->device->error, sizeof ask->device->error, "%s", asked->problem);
    ptx_machine_free(asked->machine);
    return how;
}

weir_device_end weir_device_run(weir_device *device, weir_module *module, const weir_device_launch *launch) {
    static const size_t budget = (size_t)1 << 30;
    Arena arena;
    jmp_buf here;
    volatile weir_device_end end = WEIR_DEVICE_LIMIT;
    DeviceAsk ask = {.device = device, .module = module, .given = launch, .arena = &arena};
    arena_init(&arena, budget);
    arena.exhausted = &here;
    snprintf(device->error, sizeof device->error, "there is not enough memory");
    if (!setjmp(here)) {
        bool placed = place(&ask);
        if (!placed)
            snprintf(device->error, sizeof device->error, "%s", ask.problem);
        end = placed ? run(&ask) : WEIR_DEVICE_INVALID;
    }
    arena_free(&arena);
    return end;
}

/* ---- Launch files ---- */

int weir_device_launch_file(weir_device *device, weir_module *module, const weir_device_launch *launch, size_t most,
                            weir_write *write, void *to) {
    static const size_t budget = (size_t)1 << 32;
    Arena arena;
    jmp_buf here;
    volatile int status = -1;
    DeviceAsk ask = {.device = device, .module = module, .given = launch, .arena = &arena};
    arena_init(&arena, budget);
    arena.exhausted = &here;
    snprintf(device->error, sizeof device->error, "there is not enough memory");
    if (!setjmp(here)) {
        const Launch *from = place(&ask) ? ptx_launch_from(&arena, ask.program, ask.launch, most, &ask.problem) : NULL;
        Text text = SINK_TEXT(write, to);
        if (from) {
            Launch named = *from;
            named.kernel = str_of(launch->kernel ? launch->kernel : "");
            named.dependent = launch->dependent;
            launch_write(&named, &text);
            status = sink_finish(&text);
        } else {
            snprintf(device->error, sizeof device->error, "%s", ask.problem);
        }
    }
    arena_free(&arena);
    return status;
}

/* ---- Proofs ---- */

static bool covers(DeviceAsk *ask, const Proof *proof, const char **lacks) {
    const Launch *from =
        place(ask) ? ptx_launch_from(ask->arena, ask->program, ask->launch, PTX_LAUNCH_BARE, &ask->problem) : NULL;
    if (!from)
        return false;
    Launch asked = *from;
    asked.dependent = ask->given->dependent;
    return proof_covers(proof, &asked, lacks);
}

int weir_device_covers(weir_device *device, weir_module *module, const weir_device_launch *launch,
                       const weir_proof *proof, const char **lacks) {
    static const size_t budget = (size_t)64 << 20;
    Arena arena;
    jmp_buf here;
    volatile bool covered = false;
    const char *why = "it is not proved";
    DeviceAsk ask = {.device = device, .module = module, .given = launch, .arena = &arena};
    arena_init(&arena, budget);
    arena.exhausted = &here;
    if (proof_behind(proof)) {
        why = "it is not known what its arguments are";
        if (!setjmp(here))
            covered = covers(&ask, proof_behind(proof), &why);
    }
    arena_free(&arena);
    if (lacks)
        *lacks = why;
    return covered;
}

/* ---- Checking ---- */

static void place_for_check(void *context) {
    DeviceAsk *ask = context;
    if (!place(ask))
        return;
    ask->problem = NULL;
    prepare_for_checks(ask->kernel, ask->arena, &ask->problem);
}

weir_result *weir_device_check(weir_device *device, weir_module *module, const weir_device_launch *launch,
                               const weir_run_options *options) {
    weir_run_options asked;
    options_take(&asked, sizeof asked, options);
    asked.launch = asked.replay = asked.grid = asked.block = asked.cluster = asked.shared = NULL;
    asked.argument_count = 0;
    asked.kernel = launch->kernel;
    asked.only_launch = 1;
    weir_result *result = question_begin(module, &asked);
    if (!result)
        return NULL;
    PipelineResult *made = &result->result;
    DeviceAsk ask = {.device = device, .module = module, .given = launch, .arena = &made->arena};
    if (!*made->problem && !made->diagnostics.errors) {
        if (!result_attempt(made, place_for_check, &ask))
            result_fail(made, "there is not enough memory");
        else if (ask.problem)
            result_fail(made, "%s", ask.problem);
        else
            made->question.placed = ask.launch;
        made->question.prepared = made->question.placed ? ask.kernel->checked : NULL;
    }
    result_check(made);
    for (uint32_t i = 0; made->question.placed && i < ask.launch->buffer_count; i++)
        ptx_host_restore(ask.launch->buffers[i].host);
    return result;
}
