/* The commands, a row each; options.h says how to add one. */
#include "cli/cli.h"

/* Of the help: what inputs are, and what the exit status says. */
#define FILES "FILE is a .ttgir or .mlir file or a log of compiler passes (MLIR_ENABLE_DUMP); of a DIR, "
#define BELOW "every .ttgir and .mlir below it is "
#define INPUT "; - is standard input."
#define STATUS                                                                                                   \
    "0 if all is clean, 1 if something is wrong with a kernel, 3 if nothing wrong was found but not everything " \
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
         .does = "Checks the kernels in Triton GPU IR for races, deadlocks, misused barriers, missing fences and what "
                 "else the hardware does not allow.",
         .more = FILES "such as a kernel cache, " BELOW "checked" INPUT
                       " Launches are chosen, also beside one that is given.",
         .status = STATUS,
         .manual =
             "Every kernel of every input is run on an emulator, and it is said whether all accesses to shared and "
             "tensor memory are ordered and every agent comes to its end, in whatever order the hardware works; where "
             "there is a launch, whether all that its CTAs do to global memory is ordered, and inside of its tensors; "
             "besides, all that weir lint looks for.\n"
             "Findings are printed, and what could not be looked at, then a table that sums up.",
         .groups = {"What is checked", "How", "What is told"},
         .examples = EXAMPLES(
             {"Check every kernel of a cache, as a step of continuous integration:", {"weir check ~/.triton/cache"}},
             {"Look for races only, for a program to read:",
              {"weir check --rule race --format json -o verdicts.json kernels"}})},
    [COMMAND_EXEC] =
        {.name = "exec",
         .run = command_exec,
         .what = "run a program, and check the Triton kernels that it launches",
         .operands = "[--] PROGRAM [ARGUMENT...]",
         .takes = OPERANDS_PROGRAM,
         .does =
             "Runs a program, and checks every Triton and Gluon kernel that it compiles or launches, with its launch: "
             "grid, shapes, strides, numbers, and integers in memory where they are few.",
         .more =
             "PROGRAM is whatever starts Python, at whatever depth: python3, pytest, torchrun, a script. Triton 3.5 to "
             "3.9 is watched. Launches that are alike are checked once.",
         .status =
             STATUS " It is 3, too, if nothing was captured, or if the program failed and nothing wrong was found: "
                    "what would have come after that was not looked at.",
         .manual =
             "The program is not changed. Python loads a small package of Weir's when it starts, which waits for "
             "Triton to be imported and then records each kernel, and each launch before it is made. Without a GPU, "
             "Triton is given a stand-in for one.\n"
             "Signals that end this command are handed on to the program; what was captured up to then is checked.",
         .groups = {"What is checked", "How", "What is told"},
         .examples = EXAMPLES(
             {"Check the kernels of a script, on a machine with or without a GPU:", {"weir exec -- python3 train.py"}},
             {"Compile the kernels of a test suite for another GPU, and keep them:",
              {"weir exec --target sm_100 --keep kernels -- pytest tests"}})},
    [COMMAND_RUN] =
        {.name = "run",
         .run = command_run,
         .what = "run kernels on an emulator, and look at a run",
         .operands = "FILE|DIR|-...",
         .does = "Runs the kernels in Triton GPU IR on an emulator, and says whether all agents come to their end, and "
                 "whether what they do to memory is ordered.",
         .more = FILES BELOW "run" INPUT " Without a launch file and arguments, launches are chosen.",
         .status = STATUS,
         .manual =
             "Where there is a launch, all its CTAs are run side by side on one global memory, too. Several files "
             "whose launch files name the same buffer are launched one after the other on one memory; otherwise "
             "each is run by itself.",
         .groups = {"What is run", "In which order", "What is told"},
         .examples =
             EXAMPLES({"Find what is wrong, keep the run that shows it, and look at that run:",
                       {"weir run --witness trails kernel.ttgir",
                        "weir run --replay trails/kernel-1.trail --steps kernel.ttgir"}},
                      {"Launch one kernel after the other, on two devices that share memory, and look for races "
                       "between their CTAs:",
                       {"weir run --devices 2 send.ttgir receive.ttgir"}})},
    [COMMAND_REPORT] =
        {.name = "report",
         .run = command_report,
         .what = "tell how a kernel synchronizes: partitions, barriers, phases, shared data",
         .operands = "FILE|DIR|-\n--diff OLD NEW\n--glossary",
         .does = "Tells how the kernels in Triton GPU IR synchronize: what their partitions do, who signals whom, "
                 "slots and phases of every barrier, the data they protect, whether anybody waits forever, and "
                 "whether all that is overwritten was waited for.",
         .more = FILES BELOW "reported on" INPUT " Launches are chosen, also beside one that is given. --diff matches "
                             "partitions by what they do, not by their number.",
         .status = STATUS " With --diff: 0 if there is no difference, 1 if there is one, 2 if the input or the command "
                          "line is wrong.",
         .manual = "The kernels are run as by weir check.",
         .groups = {"What is reported on", "How", "What is told"},
         .examples =
             EXAMPLES({"See how a kernel synchronizes, as a page for the browser; and what a change did to that:",
                       {"weir report --format html -o kernel.html kernel.ttgir",
                        "weir report --diff before.ttgir after.ttgir"}})},
    [COMMAND_MEMBAR] =
        {.name = "membar",
         .run = command_membar,
         .what = "tell which thread barriers a kernel needs, has, and could do without",
         .operands = "FILE|DIR|-...",
         .does = "Tells which thread barriers the functions in Triton GPU IR need: where, for which two accesses, and "
                 "over which path; which of those that are there are needless; and which are missing.",
         .more = FILES BELOW "looked at" INPUT " A compiler puts barriers in when it has placed shared memory: before "
                             "that one is only needed, after that it is missing.",
         .status = "0 if no barrier is missing, 1 if one is, 3 if none is but not everything could be looked at, 2 if "
                   "the input or the command line is wrong.",
         .manual = "Nothing is run.",
         .groups = {"What is looked at", "How", "What is told"},
         .examples = EXAMPLES(
             {"See which thread barriers a kernel needs, how many fewer than Triton's own pass would "
              "put in, and put them in:",
              {"weir membar --compare sync kernel.ttgir", "weir membar --emit -o with-barriers.ttgir kernel.ttgir"}})},
    [COMMAND_LINT] =
        {.name = "lint",
         .run = command_lint,
         .what = "tell what of a kernel the hardware does not allow",
         .operands = "FILE|DIR|-...",
         .does = "Says what of a kernel in Triton GPU IR the hardware does not allow: sizes, alignments, counts, "
                 "fences.",
         .more = "FILE is a .ttgir or .mlir file or a log of compiler passes (MLIR_ENABLE_DUMP); of a DIR, every "
                 ".ttgir and .mlir below it; - is standard input. `weir rules` lists what is looked for.",
         .status = "0 if nothing is wrong, 1 if something is, 3 if nothing wrong was found but not everything could be "
                   "looked at, 2 if the input or the command line is wrong.",
         .manual = "It does not matter in which order things run. An error is proven by the IR; what cannot be decided "
                   "is a note that starts with \"review:\".",
         .groups = {"What is looked at", "How", "What is told"},
         .examples = EXAMPLES({"See what of the kernels of a cache another target does not allow:",
                               {"weir lint --target sm_100a ~/.triton/cache"}})},
    [COMMAND_MERGE] =
        {.name = "merge",
         .run = command_merge,
         .what = "join what several processes found into one verdict",
         .operands = "FILE...",
         .takes = OPERANDS_RESULTS,
         .does = "Joins what weir check, run or lint have written for parts of the inputs, as JSON or as SARIF, into "
                 "one document of the same format, and ends with the status of the whole.",
         .more = "FILE is what --format json or --format sarif has written. A finding that several have is told once. "
                 "If they were made with --shard, and one of the shards is not there, the whole is incomplete.",
         .status = "that of weir check for all inputs together: 0 if all is clean, 1 if something is wrong with a "
                   "kernel, 3 if nothing wrong was found but not everything was looked at, 2 if an input, a FILE or "
                   "the command line is wrong.",
         .manual = "Inputs and results are in the order of their files. SARIF has one run. How many kernels there are "
                   "of which verdict is said on standard error.",
         .examples = EXAMPLES({"Check a folder in two processes, and join what they found:",
                               {"weir check --shard 1/2 --format sarif -o 1.sarif kernels",
                                "weir check --shard 2/2 --format sarif -o 2.sarif kernels",
                                "weir merge -o weir.sarif 1.sarif 2.sarif"}})},
    [COMMAND_PARSE] =
        {.name = "parse",
         .run = command_parse,
         .what = "read Triton GPU IR and print it back",
         .operands = "FILE|DIR|-...\n--dump-ops[=FORMAT]",
         .does = "Reads Triton GPU IR and prints it back, token for token.",
         .more = FILES BELOW "read" INPUT,
         .status = "0 if all is well, 2 if the input or the command line is wrong.",
         .manual = "Comments and white space are left out.",
         .examples = EXAMPLES(
             {"Read a kernel and say what is in it:", {"weir parse --quiet --stats kernel.ttgir"}},
             {"See what a pass of the compiler left, from the log of a compilation with MLIR_ENABLE_DUMP set:",
              {"weir parse --list compile.log", "weir parse --module TritonGPUPipeline compile.log"}},
             {"See what each operation does to memory and to barriers:", {"weir parse --effects kernel.ttgir"}},
             {"Hand a kernel to MLIR's own tools:",
              {"weir parse --generic kernel.ttgir | mlir-opt --allow-unregistered-dialect"}})},
    [COMMAND_LAUNCH] =
        {.name = "launch",
         .run = command_launch,
         .what = "print a launch file for a kernel, to be filled in",
         .operands = "--template FILE|-",
         .does = "Prints what a launch of the kernel needs, as a launch file to be filled in.",
         .more = "FILE is a .ttgir or .mlir file or a log of compiler passes (MLIR_ENABLE_DUMP); - is standard input. "
                 "K.launch.json beside K.ttgir is found by itself.",
         .status = "0 if all is well, 2 if the input or the command line is wrong.",
         .examples = EXAMPLES({"Write a launch file, fill it in, and check the kernel with it:",
                               {"weir launch --template -o kernel.launch.json kernel.ttgir",
                                "$EDITOR kernel.launch.json", "weir check kernel.ttgir"}})},
    [COMMAND_RULES] = {.name = "rules",
                       .run = command_rules,
                       .what = "list the rules that findings are about, or explain one",
                       .operands = "[ID|FAMILY]...",
                       .takes = OPERANDS_RULES,
                       .does = "Lists the rules that findings are about, or explains one.",
                       .more =
                           "An ID is what a finding ends with, such as deadlock.lapped; a FAMILY is its first part.",
                       .status = "0 if all is well, 2 if there is no such rule.",
                       .examples = EXAMPLES({"Explain a rule:", {"weir rules deadlock.lapped"}})},
    [COMMAND_HELP] = {.name = "help",
                      .run = command_help,
                      .what = "tell what weir or one of its commands does and takes",
                      .operands = "[COMMAND]",
                      .takes = OPERANDS_COMMANDS,
                      .does = "Tells what weir does, or what COMMAND does and which options it takes.",
                      .status = "0 if all is well, 2 if there is no such command.",
                      .examples =
                          EXAMPLES({"Complete commands in this bash:", {"source <(weir help --completion bash)"}})},
};
