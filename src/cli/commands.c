/* The commands, a row each; options.h says how to add one. */
#include "cli/cli.h"

/* Of the help: what inputs are, and what the exit status says. */
#define FILES "FILE is a .ttgir or .mlir file or a log of compiler passes (MLIR_ENABLE_DUMP); for a DIR, "
#define RUN_FILES                                                                                               \
    "FILE is a .ttgir, .mlir or .ptx file, a CUDA source (.cu, which nvcc compiles), a log of compiler passes " \
    "(MLIR_ENABLE_DUMP) or with PTX in it, or a "                                                               \
    "program, library, object, cubin or fatbin with PTX in it; for a DIR, "
#define RUN_BELOW "every .ttgir and .mlir file below it, and every .ptx file without one of these beside it, is "
#define BELOW     "every .ttgir and .mlir file below it is "
#define INPUT     "; - is standard input."
#define STATUS                                                                                                    \
    "0 if all is clean (--require says for which launches), 1 if something is wrong with a kernel, 3 if nothing " \
    "wrong was found but not everything "                                                                         \
    "could be looked at, 2 if the input or the command line is wrong."
#define EXAMPLES(...)   \
    (const Example[]) { \
        __VA_ARGS__, {  \
            NULL, {     \
                NULL    \
            }           \
        }               \
    }

const Command commands[COMMAND_COUNT] = {
    [COMMAND_CHECK] =
        {.name = "check",
         .run = command_check,
         .what = "find races, deadlocks and misused barriers in kernels",
         .operands = "FILE|DIR|-...",
         .does = "Checks kernels in Triton GPU IR or PTX for races, deadlocks, misused barriers, missing fences and "
                 "violated hardware constraints.",
         .more = RUN_FILES "such as a kernel cache, " RUN_BELOW "checked" INPUT
                           " Weir chooses launches, of IR also in addition to a given one.",
         .status = STATUS,
         .manual =
             "Every kernel of every input runs on an emulator. Weir checks that all accesses to shared and tensor "
             "memory are ordered and every agent finishes, whatever order the hardware executes in; with a launch, "
             "also that all global-memory accesses of its CTAs are ordered and in range; and everything that weir "
             "lint checks. PTX is run thread by thread, and races are decided by its memory model. An order log of a "
             "program (.weirlog, which weir exec --keep leaves) is checked for operations that nothing "
             "orders.\nFindings are "
             "printed, and what could not be looked at, then a table that sums up.",
         .groups = {"What is checked", "How", "Output"},
         .examples = EXAMPLES(
             {"Check every kernel of a cache, as a step of continuous integration:", {"weir check ~/.triton/cache"}},
             {"Look for races only, for a program to read:",
              {"weir check --rule race --format json -o verdicts.json kernels"}})},
    [COMMAND_EXEC] =
        {.name = "exec",
         .run = command_exec,
         .what = "run a program, and check the Triton and CUDA kernels that it launches",
         .operands = "[--] PROGRAM [ARGUMENT...]",
         .takes = OPERANDS_PROGRAM,
         .does = "Runs a program, and checks the kernels that it launches: on a machine with a GPU while they run, "
                 "those of "
                 "Triton and Gluon and those that a CUDA program has PTX of; without one every Triton and Gluon kernel "
                 "that "
                 "it compiles or launches, with its launch: grid, shapes, strides, scalars, and small integer tensors.",
         .more = "PROGRAM is anything that starts Python, directly or indirectly: python3, pytest, torchrun, a script; "
                 "or a CUDA program. Triton 3.5 to 3.9 is supported. Equal launches are checked once.",
         .status = STATUS " Also 3 if nothing was captured, or if the program failed and nothing wrong was found: what "
                          "would have followed was not looked at.",
         .manual =
             "The program is not changed.\nWith a GPU (mode record), kernels are instrumented: those of Triton where "
             "it "
             "calls ptxas, those of CUDA programs by a library (LD_PRELOAD) that stands in front of the driver. Each "
             "launch leaves a recording, and recordings are checked. What was not looked at is in the "
             "verdict.\nWithout "
             "one, or in mode capture, when Python starts it loads a small Weir package, which waits for Triton "
             "to be imported and then records each kernel, and each launch before it runs. Without a GPU, Triton "
             "gets a stand-in for one, and so do CUDA programs, for the driver and the shared runtime (nvcc -cudart "
             "shared): kernels run on the CPU, and the order of the program's operations (launches, "
             "copies, "
             "operators of PyTorch, memory that is freed) is looked at, too. In a CUDA program the library writes the "
             "PTX of each kernel, its launch, and "
             "what the memory holds that it points to. In a Python it does "
             "nothing, unless WEIR_CAPTURE_CUDA is set. WEIR_CAPTURE_LAUNCHES (4) is how many different launches of a "
             "kernel are kept, WEIR_CAPTURE_BYTES (65536) how many bytes of a buffer.\nSignals that end this command "
             "are forwarded to the program; what was "
             "captured up to then is checked.",
         .groups = {"What is checked", "How", "Output"},
         .examples = EXAMPLES(
             {"Check the kernels of a script, on a machine with or without a GPU:", {"weir exec -- python3 train.py"}},
             {"Compile the kernels of a test suite for another GPU, and keep them:",
              {"weir exec --target sm_100 --keep kernels -- pytest tests"}},
             {"Record two kernels of a program, and end waits that take too long:",
              {"weir exec --only 'softmax*,add' --hang-after 2s -- ./program"}})},
    [COMMAND_RUN] =
        {.name = "run",
         .run = command_run,
         .what = "run kernels on an emulator, and inspect a run",
         .operands = "FILE|DIR|-...",
         .does =
             "Runs kernels in Triton GPU IR or PTX on an emulator, and reports whether all agents finish and whether "
             "their memory accesses are ordered.",
         .more = RUN_FILES RUN_BELOW "run" INPUT " Without a launch file or arguments, Weir chooses launches.",
         .status = STATUS,
         .manual =
             "With a launch, all its CTAs also run concurrently on one global memory. Several files whose launch "
             "files name the same buffer are launched one after another on one memory; otherwise, and if they are PTX, "
             "each runs by itself.",
         .groups = {"What is run", "Schedule", "Output"},
         .examples = EXAMPLES({"Find what is wrong, keep the run that shows it, and replay that run:",
                               {"weir run --witness trails kernel.ttgir",
                                "weir run --replay trails/kernel-1.trail --steps kernel.ttgir"}},
                              {"Launch one kernel after another, on two devices that share memory, and check for races "
                               "between their CTAs:",
                               {"weir run --devices 2 send.ttgir receive.ttgir"}})},
    [COMMAND_REPORT] =
        {.name = "report",
         .run = command_report,
         .what = "show how a kernel synchronizes: partitions, barriers, phases, shared data",
         .operands = "FILE|DIR|-\n--diff OLD NEW\n--glossary",
         .does = "Shows how kernels in Triton GPU IR synchronize: what their partitions do, which signals which, "
                 "slots and phases of every barrier, the data they protect, whether any agent waits forever, and "
                 "whether every overwrite waits for its readers. Of PTX, and of a recording of a kernel on a GPU (weir "
                 "exec "
                 "--keep), what its warps did: roles, barriers, what each carries, and a picture of the run. Of the "
                 "order log of a program (.weirlog), "
                 "a timeline of its streams.",
         .more =
             RUN_FILES RUN_BELOW "reported on" INPUT " Weir chooses launches, also in addition to a given one. --diff "
                                 "matches partitions by what they do, not by their number.",
         .status = STATUS " With --diff: 0 if there is no difference, 1 if there is one, 2 if the input or the command "
                          "line is wrong.",
         .manual = "The kernels are run as by weir check.",
         .groups = {"What is reported on", "How", "Output"},
         .examples =
             EXAMPLES({"See how a kernel synchronizes, as a page for the browser; and what a change did to that:",
                       {"weir report --format html -o kernel.html kernel.ttgir",
                        "weir report --diff before.ttgir after.ttgir"}})},
    [COMMAND_MEMBAR] =
        {.name = "membar",
         .run = command_membar,
         .what = "show which thread barriers a kernel needs, has, and does not need",
         .operands = "FILE|DIR|-...",
         .does = "Shows which thread barriers the functions in Triton GPU IR need: where, for which two accesses, "
                 "and over which path; which existing ones are redundant; and which are missing.",
         .more = FILES BELOW "looked at" INPUT " A compiler inserts barriers after it has allocated shared memory: "
                             "before that a barrier is only needed, after that it is missing.",
         .status = "0 if no barrier is missing, 1 if one is, 3 if none is but not everything could be looked at, 2 if "
                   "the input or the command line is wrong.",
         .manual = "Nothing is run.",
         .groups = {"What is looked at", "How", "Output"},
         .examples = EXAMPLES(
             {"See which thread barriers a kernel needs, how many fewer than Triton's own pass inserts, and insert "
              "them:",
              {"weir membar --compare sync kernel.ttgir", "weir membar --emit -o with-barriers.ttgir kernel.ttgir"}})},
    [COMMAND_PROVE] =
        {.name = "prove",
         .run = command_prove,
         .what = "show why a kernel is clean at every launch, or what of that is open",
         .operands = "FILE|DIR|-...",
         .does = "Proves that kernels in Triton GPU IR have no race, deadlock or misused barrier at any launch, and "
                 "shows what a launch has to fulfill, what is taken for granted, the addresses of accesses in normal "
                 "form, and what is open.",
         .more = FILES BELOW "proved" INPUT " A launch, from K.launch.json next to K.ttgir, is held against the proof.",
         .status = "0 if all is proved, 3 if something is open, 1 if a certificate does not hold, 2 if the input or "
                   "the command line is wrong.",
         .manual = "Nothing is run.",
         .groups = {"What is proved", "How", "Output"},
         .examples = EXAMPLES({"See why a kernel is not proved:", {"weir prove kernel.ttgir"}},
                              {"Keep the proof, and check it:",
                               {"weir prove --certificate kernel.proof kernel.ttgir",
                                "weir prove --verify kernel.proof kernel.ttgir"}})},
    [COMMAND_LINT] =
        {.name = "lint",
         .run = command_lint,
         .what = "check kernels against hardware constraints",
         .operands = "FILE|DIR|-...",
         .does = "Reports what the hardware does not allow in a kernel in Triton GPU IR or PTX: sizes, alignments, "
                 "counts, fences.",
         .more = "FILE is a .ttgir, .mlir or .ptx file, a log of compiler passes (MLIR_ENABLE_DUMP), or a program, "
                 "library, object, cubin or fatbin with PTX in it; for a DIR, every .ttgir, .mlir and .ptx file below "
                 "it; - is standard input. `weir rules` lists the rules.",
         .status = "0 if nothing is wrong, 1 if something is, 3 if nothing wrong was found but not everything could be "
                   "looked at, 2 if the input or the command line is wrong.",
         .manual = "Schedules do not matter here. An error is proven by the IR; what cannot be decided is a note "
                   "that starts with \"review:\".",
         .groups = {"What is looked at", "How", "Output"},
         .examples = EXAMPLES({"See what another target does not allow in the kernels of a cache:",
                               {"weir lint --target sm_100a ~/.triton/cache"}})},
    [COMMAND_MERGE] =
        {.name = "merge",
         .run = command_merge,
         .what = "merge the results of several processes into one verdict",
         .operands = "FILE...",
         .takes = OPERANDS_RESULTS,
         .does = "Merges the JSON or SARIF that weir check, run or lint wrote for parts of the inputs into one "
                 "document of the same format, and exits with the status of the whole. Order logs of the processes of "
                 "one program (.weirlog) become one log, which weir check checks as a whole.",
         .more = "FILE is the output of --format json or --format sarif, or an order log. A finding in several files "
                 "is reported once. If they were made with --shard and a shard is missing, the whole is incomplete.",
         .status = "the status of weir check for all inputs together: 0 if all is clean, 1 if something is wrong "
                   "with a kernel, 3 if nothing wrong was found but not everything was looked at, 2 if an input, a "
                   "FILE or the command line is wrong.",
         .manual = "Inputs and results are in file order. SARIF has one run. The number of kernels per verdict is "
                   "printed on standard error.",
         .examples = EXAMPLES(
             {"Check a folder in two processes, and merge the results:",
              {"weir check --shard 1/2 --format sarif -o 1.sarif kernels",
               "weir check --shard 2/2 --format sarif -o 2.sarif kernels", "weir merge -o weir.sarif 1.sarif 2.sarif"}},
             {"Check what two processes did together:",
              {"weir merge -o both.weirlog program-1.weirlog program-2.weirlog", "weir check both.weirlog"}})},
    [COMMAND_PARSE] =
        {.name = "parse",
         .run = command_parse,
         .what = "read Triton GPU IR or PTX and print it back",
         .operands = "FILE|DIR|-...\n--dump-ops[=FORMAT]",
         .does = "Reads Triton GPU IR and prints it back, token for token; or PTX, byte for byte.",
         .more = "FILE is a .ttgir, .mlir or .ptx file, a log of compiler passes (MLIR_ENABLE_DUMP) or with PTX in it "
                 "(NVPTX_ENABLE_DUMP), or a program, library, object, cubin or fatbin with PTX in it; for a DIR, every "
                 ".ttgir, .mlir and .ptx file below it is read" INPUT " PTX begins with .version.",
         .status = "0 if all is well, 2 if the input or the command line is wrong.",
         .manual = "Comments and white space are dropped.",
         .examples = EXAMPLES(
             {"Parse a kernel and print statistics:", {"weir parse --quiet --stats kernel.ttgir"}},
             {"See what a pass of the compiler left, from the log of a compilation with MLIR_ENABLE_DUMP set:",
              {"weir parse --list compile.log", "weir parse --module TritonGPUPipeline compile.log"}},
             {"See what each operation does to memory and to barriers:", {"weir parse --effects kernel.ttgir"}},
             {"Pass a kernel to MLIR's own tools:",
              {"weir parse --generic kernel.ttgir | mlir-opt --allow-unregistered-dialect"}},
             {"Take one kernel out of a large PTX file, and see what its instructions do:",
              {"weir parse --list gemm.ptx", "weir parse --kernel NAME gemm.ptx > kernel.ptx",
               "weir parse --effects kernel.ptx"}},
             {"Take the PTX out of a program:",
              {"weir parse --list a.out", "weir parse --module 1 a.out > kernels.ptx"}})},
    [COMMAND_LAUNCH] =
        {.name = "launch",
         .run = command_launch,
         .what = "print a launch file template for a kernel",
         .operands = "FILE|-",
         .does = "Prints what a launch of the kernel needs, as a launch file to fill in.",
         .more = "FILE is a .ttgir, .mlir or .ptx file or a log of compiler passes (MLIR_ENABLE_DUMP); - is standard "
                 "input. K.launch.json next to K.ttgir or K.ptx is found automatically.",
         .status = "0 if all is well, 2 if the input or the command line is wrong.",
         .examples = EXAMPLES({"Write a launch file, fill it in, and check the kernel with it:",
                               {"weir launch -o kernel.launch.json kernel.ttgir", "$EDITOR kernel.launch.json",
                                "weir check kernel.ttgir"}})},
    [COMMAND_INSTRUMENT] =
        {.name = "instrument",
         .run = command_instrument,
         .what = "write PTX with code in it that records what it does, or checks it",
         .operands = "FILE|-",
         .does = "Reads PTX, and writes it with code in it that records what the kernels do while they run.",
         .more = "FILE is a .ptx file, or a program, library, object, cubin or fatbin with PTX in it; - is standard "
                 "input. The result is for ptxas, for the same target. weir exec does this by itself.",
         .status =
             "0 if all is well, 2 if the input or the command line is wrong, or if the PTX cannot be instrumented.",
         .manual =
             "Each kernel has one more parameter, the last: the address of a block that says where its records go. "
             "What is not recorded stays as it was.",
         .examples = EXAMPLES({"Instrument a kernel, and see what that costs:",
                               {"weir instrument -o recorded.ptx kernel.ptx", "ptxas -v -arch=sm_90a recorded.ptx"}})},
    [COMMAND_NVCC] =
        {.name = "nvcc",
         .run = command_nvcc,
         .what = "run nvcc, and check the kernels that it compiles",
         .operands = "NVCC-ARGUMENT...\n[OPTION...] -- [NVCC] NVCC-ARGUMENT...",
         .takes = OPERANDS_COMPILER,
         .does = "Runs nvcc as it is called, and checks the kernels of the CUDA sources (.cu) that it compiled.",
         .more = "Without --, all arguments are nvcc's. What Weir finds goes to standard error, as warnings of a "
                 "compiler do. A "
                 "compiler launcher of a build, such as CMAKE_CUDA_COMPILER_LAUNCHER, is 'weir;nvcc;--'.",
         .status = "that of nvcc. With --strict, if nvcc's is 0, that of weir check.",
         .manual =
             "Each source is compiled once more, to PTX, with the flags that say what it means, and -lineinfo. PTX is "
             "of one "
             "architecture: of several it is the newest. What only links, preprocesses or prints is not looked at.",
         .examples = EXAMPLES({"Build a program, and check its kernels while it is compiled:",
                               {"weir nvcc -O3 -arch=sm_90a -o program kernel.cu"}},
                              {"Check all kernels that CMake builds, and fail if one is wrong:",
                               {"cmake -B build -DCMAKE_CUDA_COMPILER_LAUNCHER='weir;nvcc;--strict;--'"}})},
    [COMMAND_RULES] = {.name = "rules",
                       .run = command_rules,
                       .what = "list the rules that findings are about, or explain one",
                       .operands = "[ID|FAMILY]...",
                       .takes = OPERANDS_RULES,
                       .does = "Lists the rules that findings are about, or explains one.",
                       .more = "An ID is what a finding ends with, such as deadlock.lapped; a FAMILY is the first part "
                               "of an ID.",
                       .status = "0 if all is well, 2 if there is no such rule.",
                       .examples = EXAMPLES({"Explain a rule:", {"weir rules deadlock.lapped"}})},
    [COMMAND_HELP] = {.name = "help",
                      .run = command_help,
                      .what = "show help for weir or one of its commands",
                      .operands = "[COMMAND]",
                      .takes = OPERANDS_COMMANDS,
                      .does = "Shows what weir does, or what COMMAND does and which options it takes.",
                      .status = "0 if all is well, 2 if there is no such command.",
                      .examples =
                          EXAMPLES({"Complete commands in this bash:", {"source <(weir help --completion bash)"}})},
};
