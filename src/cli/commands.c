/* The commands, a row each; options.h says how to add one. */
#include "cli/cli.h"

/* Of the help: what inputs are, and what the exit status says. */
#define FILES "FILE is a .ttgir or .mlir file or a log of compiler passes (MLIR_ENABLE_DUMP); for a DIR, "
#define RUN_FILES                                                                                                  \
    "FILE is a .ttgir, .mlir or .ptx file, a CUDA source (.cu, which nvcc compiles), a log of compiler passes "    \
    "(MLIR_ENABLE_DUMP) or a log that contains PTX, or a program, library, object, cubin or fatbin that contains " \
    "PTX; for a DIR, "
#define RUN_BELOW "every .ttgir and .mlir file below it, and every .ptx file with none of these beside it, is "
#define BELOW     "every .ttgir and .mlir file below it is "
#define INPUT     "; - is standard input."
#define STATUS                                                                                                    \
    "0 if every kernel is clean (--require says for which launches), 1 if there are findings, 2 if the input or " \
    "the command line is wrong, 3 if there are no findings but some kernels could not be fully checked."
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
                           " Weir chooses launches itself; for IR, it does so even if a launch is given.",
         .status = STATUS,
         .manual =
             "Weir runs every kernel of every input on an emulator. It checks that all accesses to shared and "
             "tensor memory are ordered and that every agent finishes, in any order in which the hardware may "
             "execute them. With a launch, it also checks that all global-memory accesses of its CTAs are ordered "
             "and in range. It includes the checks of weir lint. PTX runs thread by thread, and the PTX memory "
             "model decides what is a race. An order log of a program (.weirlog, which weir exec --keep leaves) is "
             "checked for unordered operations.\nWeir prints the findings, what it could not check, and a summary "
             "table.",
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
         .does = "Runs a program and checks the kernels that it launches. On a machine with a GPU, it checks them "
                 "while they run: Triton and Gluon kernels, and CUDA kernels for which the program contains PTX. "
                 "Without a GPU, it checks every Triton and Gluon kernel that the program compiles or launches, "
                 "with its launch: grid, shapes, strides, scalars, and small integer tensors.",
         .more = "PROGRAM is a CUDA program, or anything that starts Python, directly or indirectly: python3, "
                 "pytest, torchrun, a script. Triton 3.5 to 3.9 is supported. Equal launches are checked once.",
         .status = STATUS " Also 3 if nothing was captured, or if the program failed and there are no findings: "
                          "launches after the failure were not checked.",
         .manual =
             "The program is not changed.\nWith a GPU (mode record), Weir instruments kernels: Triton's when it "
             "calls ptxas, and those of CUDA programs through a preloaded library (LD_PRELOAD) that wraps the "
             "driver. Each launch leaves a recording, which Weir checks. The verdict says what was not "
             "checked.\nWithout a GPU, or in mode capture, Python loads a small Weir package when it starts. The "
             "package waits until Triton is imported, then records each kernel, and each launch before it runs. "
             "Without a GPU, Triton and CUDA programs get a stand-in for the driver and the shared runtime (nvcc "
             "-cudart shared): kernels run on the CPU, and Weir also checks the order of the program's operations "
             "(launches, copies, PyTorch operators, freed memory). In a CUDA program, the library writes the PTX of "
             "each kernel, its launch, and the contents of the memory that its arguments point to. In a Python "
             "process it does this only if WEIR_CAPTURE_CUDA is set. WEIR_CAPTURE_LAUNCHES (4) is the number of "
             "different launches that are kept for each kernel, WEIR_CAPTURE_BYTES (65536) the number of bytes that "
             "are kept of each buffer.\nSignals that end this command are forwarded to the program; Weir checks "
             "what was captured up to then.",
         .groups = {"What is checked", "How", "Output"},
         .examples =
             EXAMPLES({"Check the kernels of a script, with or without a GPU:", {"weir exec -- python3 train.py"}},
                      {"Compile the kernels of a test suite for another GPU, and keep them:",
                       {"weir exec --target sm_100 --keep kernels -- pytest tests"}},
                      {"Record two kernels of a program, and end waits after two seconds:",
                       {"weir exec --only 'softmax*,add' --hang-after 2s -- ./program"}})},
    [COMMAND_RUN] =
        {.name = "run",
         .run = command_run,
         .what = "run kernels on an emulator, and inspect a run",
         .operands = "FILE|DIR|-...",
         .does =
             "Runs kernels in Triton GPU IR or PTX on an emulator, and reports whether all agents finish and whether "
             "their memory accesses are ordered.",
         .more = RUN_FILES RUN_BELOW "run" INPUT " If there is no launch file and no argument, Weir chooses "
                                     "launches.",
         .status = STATUS,
         .manual =
             "If a launch is given, all its CTAs also run concurrently on one global memory. Files whose launch "
             "files name the same buffer are launched one after another on one memory; otherwise, and for PTX, each "
             "file runs by itself.",
         .groups = {"What is run", "Schedule", "Output"},
         .examples = EXAMPLES({"Find a problem, save the run that shows it, and replay that run:",
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
                 "whether every overwrite waits for its readers. For PTX, and for a recording of a kernel on a GPU "
                 "(weir exec --keep), it shows what the warps did: roles, barriers, what each carries, and a "
                 "picture of the run. For the order log of a program (.weirlog), it shows a timeline of its streams.",
         .more = RUN_FILES RUN_BELOW "reported on" INPUT " Weir chooses launches itself, even if one is given. --diff "
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
         .more = FILES BELOW "checked" INPUT " The compiler inserts barriers after it allocates shared memory: "
                             "before that point, a barrier is reported as needed; after it, as "
                             "missing.",
         .status = "0 if no barrier is missing, 1 if one is missing, 2 if the input or the command line is wrong, 3 "
                   "if none is missing but some functions could not be fully checked.",
         .manual = "This command does not run the kernels.",
         .groups = {"What is checked", "How", "Output"},
         .examples = EXAMPLES(
             {"See which thread barriers a kernel needs, how many fewer than Triton's own pass inserts, and insert "
              "them:",
              {"weir membar --compare sync kernel.ttgir", "weir membar --emit -o with-barriers.ttgir kernel.ttgir"}})},
    [COMMAND_PROVE] =
        {.name = "prove",
         .run = command_prove,
         .what = "prove that a kernel is clean at every launch, or show what is open",
         .operands = "FILE|DIR|-...",
         .does = "Proves that kernels in Triton GPU IR have no race, deadlock or misused barrier at any launch. "
                 "Shows the conditions on the launch, the assumptions, the addresses of accesses in normal form, "
                 "and what is still open.",
         .more = FILES BELOW "proved" INPUT " A launch from K.launch.json next to K.ttgir is checked against the "
                             "proof's conditions.",
         .status = "0 if every kernel is proved, 1 if a certificate does not hold, 2 if the input or the command "
                   "line is wrong, 3 if something is open.",
         .manual = "This command does not run the kernels.",
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
         .does = "Reports violations of hardware constraints by kernels in Triton GPU IR or PTX: sizes, alignments, "
                 "counts, fences.",
         .more = "FILE is a .ttgir, .mlir or .ptx file, a log of compiler passes (MLIR_ENABLE_DUMP), or a program, "
                 "library, object, cubin or fatbin that contains PTX; for a DIR, every .ttgir, .mlir and .ptx file "
                 "below it; - is standard input. `weir rules` lists the rules.",
         .status = "0 if there are no findings, 1 if there are findings, 2 if the input or the command line is "
                   "wrong, 3 if there are no findings but some kernels could not be fully checked.",
         .manual = "The rules do not depend on schedules. The IR alone proves an error; what it cannot decide is a "
                   "note that starts with \"review:\".",
         .groups = {"What is checked", "How", "Output"},
         .examples = EXAMPLES({"Check the kernels of a cache against the constraints of another target:",
                               {"weir lint --target sm_100a ~/.triton/cache"}})},
    [COMMAND_MERGE] =
        {.name = "merge",
         .run = command_merge,
         .what = "merge the results of several processes into one verdict",
         .operands = "FILE...",
         .takes = OPERANDS_RESULTS,
         .does = "Merges JSON or SARIF files, which weir check, run or lint wrote for parts of the inputs, into one "
                 "document of the same format. The exit status is that of the whole. Order logs (.weirlog) of the "
                 "processes of one program become one log, which weir check then checks.",
         .more = "FILE is the output of --format json or --format sarif, or an order log. A finding in several "
                 "files is reported once. If the files were made with --shard and a shard is missing, the result is "
                 "incomplete.",
         .status = "the status of weir check for all inputs together: 0 if every kernel is clean, 1 if there are "
                   "findings, 2 if an input, a FILE or the command line is wrong, 3 if there are no findings but "
                   "some kernels were not fully checked.",
         .manual = "Inputs and results are in file order. A SARIF document has one run. Weir prints the number of "
                   "kernels per verdict on standard error.",
         .examples = EXAMPLES(
             {"Check a folder in two processes, and merge the results:",
              {"weir check --shard 1/2 --format sarif -o 1.sarif kernels",
               "weir check --shard 2/2 --format sarif -o 2.sarif kernels", "weir merge -o weir.sarif 1.sarif 2.sarif"}},
             {"Check the operations of two processes together:",
              {"weir merge -o both.weirlog program-1.weirlog program-2.weirlog", "weir check both.weirlog"}})},
    [COMMAND_PARSE] =
        {.name = "parse",
         .run = command_parse,
         .what = "read Triton GPU IR or PTX and print it back",
         .operands = "FILE|DIR|-...\n--dump-ops[=FORMAT]",
         .does = "Reads Triton GPU IR and prints it back, token for token; or PTX, byte for byte.",
         .more =
             "FILE is a .ttgir, .mlir or .ptx file, a log of compiler passes (MLIR_ENABLE_DUMP) or a log that "
             "contains PTX (NVPTX_ENABLE_DUMP), or a program, library, object, cubin or fatbin that contains "
             "PTX; for a DIR, every .ttgir, .mlir and .ptx file below it is read" INPUT " PTX begins with .version.",
         .status = "0 if all is well, 2 if the input or the command line is wrong.",
         .manual = "Comments and white space are dropped.",
         .examples = EXAMPLES(
             {"Parse a kernel and print statistics:", {"weir parse --quiet --stats kernel.ttgir"}},
             {"Print the IR after one pass, from the log of a compilation with MLIR_ENABLE_DUMP:",
              {"weir parse --list compile.log", "weir parse --module TritonGPUPipeline compile.log"}},
             {"Print the effects of each operation on memory and barriers:", {"weir parse --effects kernel.ttgir"}},
             {"Pass a kernel to MLIR's own tools:",
              {"weir parse --generic kernel.ttgir | mlir-opt --allow-unregistered-dialect"}},
             {"Extract one kernel from a large PTX file, and print the effects of its instructions:",
              {"weir parse --list gemm.ptx", "weir parse --kernel NAME gemm.ptx > kernel.ptx",
               "weir parse --effects kernel.ptx"}},
             {"Extract the PTX from a program:",
              {"weir parse --list a.out", "weir parse --module 1 a.out > kernels.ptx"}})},
    [COMMAND_LAUNCH] =
        {.name = "launch",
         .run = command_launch,
         .what = "print a launch file template for a kernel",
         .operands = "FILE|-",
         .does = "Prints what a launch of the kernel needs, as a launch file to fill in; on a terminal it asks for the "
                 "kernel and for the values. Of CUDA, it takes constants of <<<...>>> from the source.",
         .more =
             "FILE is a .ttgir, .mlir, .cu or .ptx file or a log of compiler passes (MLIR_ENABLE_DUMP); - is standard "
             "input. K.launch.json next to K.ttgir or K.ptx is found automatically.",
         .status = "0 if all is well, 2 if the input or the command line is wrong.",
         .examples = EXAMPLES({"Write a launch file, fill it in, and check the kernel with it:",
                               {"weir launch -o kernel.launch.json kernel.ttgir", "$EDITOR kernel.launch.json",
                                "weir check kernel.ttgir"}})},
    [COMMAND_INSTRUMENT] =
        {.name = "instrument",
         .run = command_instrument,
         .what = "instrument PTX so that kernels record or check their own accesses",
         .operands = "FILE|-",
         .does = "Instruments PTX so that kernels record or check their own accesses while they run.",
         .more = "FILE is a .ptx file, or a program, library, object, cubin or fatbin that contains PTX; - is "
                 "standard input. Compile the result with ptxas for the same target. weir exec does all of this "
                 "itself.",
         .status =
             "0 if all is well, 2 if the input or the command line is wrong, or if the PTX cannot be instrumented.",
         .manual =
             "Each kernel gets one more parameter, its last: the address of a block that says where its records go. "
             "All other code stays unchanged.",
         .examples = EXAMPLES({"Instrument a kernel, and see how many registers that takes:",
                               {"weir instrument -o recorded.ptx kernel.ptx", "ptxas -v -arch=sm_90a recorded.ptx"}})},
    [COMMAND_NVCC] =
        {.name = "nvcc",
         .run = command_nvcc,
         .what = "run nvcc, and check the kernels that it compiles",
         .operands = "NVCC-ARGUMENT...\n[OPTION...] -- [NVCC] NVCC-ARGUMENT...",
         .takes = OPERANDS_COMPILER,
         .does = "Runs nvcc with the given arguments, and checks the kernels of the CUDA sources (.cu) that it "
                 "compiles.",
         .more = "Without --, all arguments go to nvcc. Findings go to standard error, like a compiler's warnings. "
                 "As a compiler launcher, for example CMAKE_CUDA_COMPILER_LAUNCHER, use 'weir;nvcc;--'.",
         .status = "the status of nvcc. With --strict, if that is 0, the status of weir check.",
         .manual =
             "Weir compiles each source a second time, to PTX, with -lineinfo and the flags that affect its "
             "meaning. PTX is for one architecture; if several are given, it is the newest. Calls of nvcc that only "
             "link, preprocess or print are not checked.",
         .examples = EXAMPLES({"Build a program, and check its kernels while it is compiled:",
                               {"weir nvcc -O3 -arch=sm_90a -o program kernel.cu"}},
                              {"Check all kernels that CMake builds, and fail if there are findings:",
                               {"cmake -B build -DCMAKE_CUDA_COMPILER_LAUNCHER='weir;nvcc;--strict;--'"}})},
    [COMMAND_RULES] = {.name = "rules",
                       .run = command_rules,
                       .what = "list the rules, or explain one",
                       .operands = "[ID|FAMILY]...",
                       .takes = OPERANDS_RULES,
                       .does = "Lists the rules of findings, or explains one.",
                       .more = "An ID, such as deadlock.lapped, stands at the end of a finding; a FAMILY is the "
                               "first part of an ID.",
                       .status = "0 if all is well, 2 if there is no such rule.",
                       .examples = EXAMPLES({"Explain a rule:", {"weir rules deadlock.lapped"}})},
    [COMMAND_HELP] = {.name = "help",
                      .run = command_help,
                      .what = "show help for weir or one of its commands",
                      .operands = "[COMMAND]",
                      .takes = OPERANDS_COMMANDS,
                      .does = "Shows the commands of weir, or what COMMAND does and its options.",
                      .status = "0 if all is well, 2 if there is no such command.",
                      .examples =
                          EXAMPLES({"Complete commands in this bash:", {"source <(weir help --completion bash)"}})},
};
