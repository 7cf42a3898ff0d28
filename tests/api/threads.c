/* There is no state outside a context: threads that each have one read, print and run at the same time, all at once
 * from the first call on, and what comes out is what one thread alone gets. To be run under the thread sanitizer. */
#include <weir/weir.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 40, TEXTS = 6 };

/* Two agents and two barriers: each waits for the other, and who arrives first lets both go on. */
#define HANDOFF(NAME, DEFAULT)                                                             \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n" \
    "#smem = #ttg.shared_memory\n"                                                         \
    "!barrier = !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"                            \
    "module attributes {\"ttg.num-warps\" = 4 : i32} {\n"                                  \
    "  tt.func public @" NAME "(%n: i32) {\n"                                              \
    "    %c0 = arith.constant 0 : i32\n"                                                   \
    "    %c1 = arith.constant 1 : i32\n"                                                   \
    "    %a = ttg.local_alloc : () -> !barrier\n"                                          \
    "    %b = ttg.local_alloc : () -> !barrier\n"                                          \
    "    ttng.init_barrier %a, 1 : !barrier\n"                                             \
    "    ttng.init_barrier %b, 1 : !barrier\n"                                             \
    "    ttg.warp_specialize(%a, %b, %n)\n"                                                \
    "    default {\n"                                                                      \
    "      scf.for %i = %c0 to %n step %c1 : i32 {\n"                                      \
    "        %p = arith.andi %i, %c1 : i32\n" DEFAULT "      }\n"                          \
    "      ttg.warp_yield\n"                                                               \
    "    }\n"                                                                              \
    "    partition0(%a: !barrier, %b: !barrier, %n: i32) num_warps(1) {\n"                 \
    "      %c0 = arith.constant 0 : i32\n"                                                 \
    "      %c1 = arith.constant 1 : i32\n"                                                 \
    "      scf.for %i = %c0 to %n step %c1 : i32 {\n"                                      \
    "        %p = arith.andi %i, %c1 : i32\n"                                              \
    "        ttng.wait_barrier %a, %p : !barrier\n"                                        \
    "        ttng.arrive_barrier %b, 1 : !barrier\n"                                       \
    "      }\n"                                                                            \
    "      ttg.warp_return\n"                                                              \
    "    } : (!barrier, !barrier, i32) -> ()\n"                                            \
    "    tt.return\n"                                                                      \
    "  }\n"                                                                                \
    "}\n"
#define ARRIVE "        ttng.arrive_barrier %a, 1 : !barrier\n"
#define WAIT   "        ttng.wait_barrier %b, %p : !barrier\n"

/* A kernel, its generic parts, one with an op that is not known, one with errors, one that runs, and one that hangs. */
static const char *const texts[TEXTS] = {
    "#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"
    "#loc = loc(\"softmax.py\":12:0)\n"
    "#loc1 = loc(callsite(#loc at #loc))\n"
    "module attributes {\"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:90\"} {\n"
    "  tt.func public @softmax(%src: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc(\"src\"(#loc)), %n: i32 "
    "loc(unknown)) {\n"
    "    %cst = arith.constant dense<0xFF800000> : tensor<1024xf32, #blocked> loc(#loc1)\n"
    "    %row = tt.get_program_id x : i32 loc(#loc)\n"
    "    %column = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked> loc(#loc)\n"
    "    %limit = tt.splat %n : i32 -> tensor<1024xi32, #blocked> loc(#loc)\n"
    "    %inside = arith.cmpi slt, %column, %limit : tensor<1024xi32, #blocked> loc(#loc)\n"
    "    %start = tt.splat %src : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked> loc(#loc)\n"
    "    %at = tt.addptr %start, %column : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked> loc(#loc)\n"
    "    %value = tt.load %at, %inside, %cst : tensor<1024x!tt.ptr<f32>, #blocked> loc(#loc)\n"
    "    %most = \"tt.reduce\"(%value) <{axis = 0 : i32}> ({\n"
    "    ^bb0(%a: f32 loc(#loc), %b: f32 loc(#loc)):\n"
    "      %max = arith.maxnumf %a, %b : f32 loc(#loc)\n"
    "      tt.reduce.return %max : f32 loc(#loc)\n"
    "    }) : (tensor<1024xf32, #blocked>) -> f32 loc(#loc)\n"
    "    tt.store %at, %value, %inside : tensor<1024x!tt.ptr<f32>, #blocked> loc(#loc)\n"
    "    tt.return loc(#loc)\n"
    "  } loc(#loc)\n"
    "} loc(#loc)\n",

    "module {\n"
    "  tt.func @loops(%n: index, %c: i1, %x: i32) {\n"
    "    %0:2 = scf.for %i = %n to %n step %n iter_args(%a = %x, %b = %x) -> (i32, i32) {\n"
    "      %1 = scf.if %c -> (i32) {\n"
    "        scf.yield %a : i32\n"
    "      } else {\n"
    "        scf.yield %b : i32\n"
    "      }\n"
    "      scf.yield %1, %a : i32, i32\n"
    "    }\n"
    "    ttg.warp_specialize(%x)\n"
    "    default {\n"
    "      ttg.warp_yield\n"
    "    }\n"
    "    partition0(%x: i32) num_warps(4) {\n"
    "      ttg.warp_return\n"
    "    } : (i32) -> ()\n"
    "    tt.return\n"
    "  }\n"
    "}\n",

    "module {\n"
    "  tt.func @unknown(%x: i32) {\n"
    "    %0 = my.op %x {k = 1 : i32} : (i32) -> f32\n"
    "    %1 = arith.addf %0, %0 : f32\n"
    "    tt.return\n"
    "  }\n"
    "}\n",

    "module {\n"
    "  tt.func @wrong(%x: i32) {\n"
    "    %0 = arith.addi %x, %y : i32\n"
    "    \"use\"(%0) : (f32) -> ()\n"
    "  }\n"
    "}\n",

    HANDOFF("runs", ARRIVE WAIT),
    HANDOFF("hangs", WAIT ARRIVE),
};

/* ---- What one text gives ----------------------------------------------------------------------- */

typedef struct Output {
    char *data;
    size_t size, capacity;
} Output;

static int append(void *to, const char *data, size_t size) {
    Output *output = to;
    if (output->capacity - output->size < size) {
        output->capacity = (output->capacity + size) * 2;
        output->data = realloc(output->data, output->capacity);
        if (!output->data)
            abort();
    }
    memcpy(output->data + output->size, data, size);
    output->size += size;
    return 0;
}

static void append_string(Output *output, weir_string string) {
    append(output, string.data, string.size);
    append(output, "\n", 1);
}

/* Its kernels, run. */
static void run(weir_module *module, Output *output) {
    static const weir_write_options text = {.flags = WEIR_LAUNCHES}, json = {.format = WEIR_JSON};
    weir_result *result = weir_run(module, NULL);
    if (!result || weir_result_write(result, &text, append, output) != 0 ||
        weir_result_write(result, &json, append, output) != 0)
        abort();
    (void)weir_steps(result, append, output); /* there may be nothing to show */
    weir_result_free(result);
}

/* Everything that can be asked of a text, written down. */
static Output describe(weir_context *weir, const char *text) {
    Output output = {0};
    weir_file *file = weir_open_buffer(weir, "text", text, strlen(text));
    weir_module *module = file ? weir_parse(file, 0, 0) : NULL;
    if (!module)
        abort();
    for (const weir_op *op = weir_first_op(module); op; op = weir_next_op(op)) {
        append_string(&output, weir_op_name(op));
        for (size_t i = 0; i < weir_op_operand_count(op); i++)
            if (weir_op_operand(op, i))
                append_string(&output, weir_value_type(weir_op_operand(op, i)));
    }
    for (size_t i = 0; i < weir_diagnostic_count(module); i++) {
        const char *message = weir_diagnostic_at(module, i).message;
        append_string(&output, (weir_string){message, strlen(message)});
    }
    if (weir_module_ok(module) && (weir_print(module, WEIR_AS_WRITTEN, append, &output) != 0 ||
                                   weir_print(module, WEIR_GENERIC, append, &output) != 0))
        abort();
    run(module, &output);
    weir_module_free(module);
    weir_close(file);
    return output;
}

/* ---- The threads ------------------------------------------------------------------------------- */

typedef struct Worker {
    pthread_t thread;
    Output outputs[TEXTS]; /* of the first round */
    unsigned differences;  /* of the later rounds from that */
} Worker;

static pthread_barrier_t start;

/* Of a race the thread sanitizer knows without its happening: there a quarter is enough, and all with COMPLETE=1. */
static int rounds(void) {
#ifdef __SANITIZE_THREAD__
    const char *complete = getenv("COMPLETE");
    return complete && *complete ? ROUNDS : ROUNDS / 4;
#else
    return ROUNDS;
#endif
}

static void *work(void *argument) {
    Worker *worker = argument;
    pthread_barrier_wait(&start); /* so that all are the first to use the op table */
    weir_context *weir = weir_create();
    if (!weir)
        abort();
    for (int round = 0; round < rounds(); round++)
        for (int i = 0; i < TEXTS; i++) {
            Output output = describe(weir, texts[i]);
            if (round == 0) {
                worker->outputs[i] = output;
                continue;
            }
            worker->differences += output.size != worker->outputs[i].size ||
                                   memcmp(output.data, worker->outputs[i].data, output.size) != 0;
            free(output.data);
        }
    weir_destroy(weir);
    return NULL;
}

int main(void) {
    static Worker workers[THREADS];
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            fprintf(stderr, "no thread\n");
            return 1;
        }
    unsigned wrong = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_barrier_destroy(&start);

    weir_context *weir = weir_create();
    for (int text = 0; weir && text < TEXTS; text++) {
        Output alone = describe(weir, texts[text]);
        for (int i = 0; i < THREADS; i++) {
            const Output *output = &workers[i].outputs[text];
            if (output->size != alone.size || memcmp(output->data, alone.data, alone.size) != 0) {
                fprintf(stderr, "thread %d reads or prints text %d otherwise than one thread alone:\n%.*s\n", i, text,
                        (int)output->size, output->data);
                wrong++;
            }
            free(output->data);
        }
        free(alone.data);
    }
    weir_destroy(weir);
    for (int i = 0; i < THREADS; i++)
        if (workers[i].differences) {
            fprintf(stderr, "thread %d: %u times another result than at first\n", i, workers[i].differences);
            wrong++;
        }
    return wrong || !weir ? 1 : 0;
}
