/* The command line, one table: which commands there are, which options they take, and what those set.
 *
 * To add an option: a field in Options (below), and a row in options.def; that is all. The parser, --help, the man
 * pages and the completions of three shells are made from the rows, so nothing else knows an option by its name. After
 * that `scripts/docs/pages --build build` rewrites man/ and completions/, and `make golden ARGS=--update` the help of
 * the commands that take it (check-help, run-help, ...). What two options have to do with each other is said by the
 * command, first thing, with wrong_usage.
 *
 * To add a command: its CommandId and bit here, its row in commands.c (commands are listed in that order), its function
 * in cli.h, and its name in the rows of options.def whose options it takes. A command that takes FILEs has
 * OPERANDS_FILES, and finds them in `inputs`; one that runs a program (OPERANDS_PROGRAM) finds all from the first
 * operand on in `operands`, options of that program included.
 *
 * A row is OPTION(commands, name, letter or 0, argument or NULL, group, what it sets, help, more...), where what it
 * sets is one of FLAG(field)        a bool becomes true                      TEXT(field)      a const char *, once
 *   NUMBER(field)      an unsigned, from .least to .most        LONG(field)      a uint64_t, the same
 *   WORD(field)        a const char *, one of .words            CHOICE(field)    an enum: the value of one of .words
 *   VALUE(field)       an enum or unsigned becomes .value       LIST(field)      Paths: one more; it may be repeated
 *   RULE_IDS(field)    a const char *: rules that there are, joined with those given before
 *   BITS(field)        an unsigned gets the bits of one of .words as well; it may be repeated
 * and more is any of
 *   .words = WORDS(V("text", WEIR_TEXT), ...)   or W("word"), ...; for a TEXT they are only what shells offer
 *   .wrong             what is said of another word (it has a %s), or of a number below .least; else a usual sentence
 *   .bytes             of a number: it may end in K, M or G
 *   .given             AT(field), a bool that becomes true besides
 *   .optional          the argument may be left out, and else comes after '='; .value is what a number is then, and
 *                      a word is the first one
 *   .completes         what shells offer: COMPLETE_FILES, COMPLETE_FOLDERS, COMPLETE_RULES
 *   .more              further sentences, for the man page alone
 *   .now               this is the old name of that option: it works, with a note on standard error, and no help lists
 * it Help is a phrase without a full stop that starts in lower case. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "weir/ptx.h"
#include "weir/weir.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct Paths {
    char **items;
    size_t count, capacity;
    enum { PTX_NOT, PTX_ALONE, PTX_ALL } ptx; /* which .ptx files of a folder are meant: those without IR beside them */
} Paths;

/* Inputs that cannot be looked at, and of each why. */
typedef struct Failures {
    Paths paths, reasons;
} Failures;

/* ---- Commands --------------------------------------------------------------------------------- */

/* ORDER commands */
typedef enum CommandId {
    COMMAND_CHECK,
    COMMAND_EXEC,
    COMMAND_RUN,
    COMMAND_REPORT,
    COMMAND_MEMBAR,
    COMMAND_PROVE,
    COMMAND_LINT,
    COMMAND_MERGE,
    COMMAND_PARSE,
    COMMAND_LAUNCH,
    COMMAND_INSTRUMENT,
    COMMAND_NVCC,
    COMMAND_RULES,
    COMMAND_HELP,
    COMMAND_COUNT
} CommandId;

/* Commands as a set, for the table. */
enum {
    EXEC = 1u << COMMAND_EXEC,
    ONLY_CHECK = 1u << COMMAND_CHECK,
    CHECK =
        ONLY_CHECK | EXEC, /* exec checks what it captured, so it takes what check takes, but for inputs and launches */
    RUN = 1u << COMMAND_RUN,
    REPORT = 1u << COMMAND_REPORT,
    MEMBAR = 1u << COMMAND_MEMBAR,
    PROVE = 1u << COMMAND_PROVE,
    LINT = 1u << COMMAND_LINT,
    MERGE = 1u << COMMAND_MERGE,
    PARSE = 1u << COMMAND_PARSE,
    LAUNCH = 1u << COMMAND_LAUNCH,
    INSTRUMENT = 1u << COMMAND_INSTRUMENT,
    NVCC = 1u << COMMAND_NVCC,
    RULES = 1u << COMMAND_RULES,
    HELP = 1u << COMMAND_HELP,
    ALL = (1u << COMMAND_COUNT) - 1
};

/* What stands on a command line beside options. */
typedef enum Operands {
    OPERANDS_FILES,    /* files and folders of IR, one at least */
    OPERANDS_RESULTS,  /* files as they are */
    OPERANDS_RULES,    /* ids of rules and families */
    OPERANDS_COMMANDS, /* names of commands */
    OPERANDS_COMPILER, /* arguments of a compiler; options of ours end with '--', and without one there are none */
    OPERANDS_PROGRAM   /* a program and its arguments; no option of ours comes after its name */
} Operands;

/* ---- Options ---------------------------------------------------------------------------------- */

/* For a kernel, where --prove-time and --timeout do not say; and the most that it may. */
enum { USUAL_PROVE_SECONDS = 2, USUAL_SECONDS = 60, MOST_SECONDS = 1000000 };
/* Columns of text: at least, at most, and as many as it takes. */
enum { LEAST_WIDTH = 40, MOST_WIDTH = 100000, ANY_WIDTH = MOST_WIDTH + 1 };

typedef enum Color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } Color;

/* How the op table is printed; 0: it is not. */
typedef enum TableForm { TABLE_TEXT = 1, TABLE_MARKDOWN } TableForm;

/* How exec looks at kernels. */
typedef enum ExecMode { EXEC_AS_FITS, EXEC_RECORD, EXEC_SHADOW, EXEC_CAPTURE } ExecMode;

/* What a command line says, of every command: fields that a command does not take stay 0. */
typedef struct Options {
    CommandId command;
    Paths operands; /* as they were given */
    Paths inputs;   /* the files that they mean */
    Failures unread;
    weir_run_options run;
    Paths arguments; /* those of `run` */
    bool no_launch, only_launch, quiet, verbose;
    bool brief;             /* check, run, lint: a line for each finding */
    unsigned max_findings;  /* check, run, lint: of a kernel; 0: all */
    const char *certificate, *verify; /* prove */
    bool cross_check;                 /* check, prove */
    unsigned prove_seconds; /* check, run, report, prove, exec: for a proof; 0: none is tried */
    weir_format format;
    weir_format also; /* with has_also: verdicts go to standard output in this format, too */
    bool has_also;
    Color color;
    const char *module, *witness, *output;
    const char *memory; /* run */

    weir_project *project; /* check, run, lint: what the project file and the options say of findings */
    const char *config, *select, *ignore, *baseline;
    Paths joined; /* rules that were given in several options, as one list; `select` and `ignore` are of it */
    bool no_config, update_baseline, timeout_given;
    Paths severities;           /* "RULE=SEVERITY" each */
    size_t left_out;            /* files of folders, by the project file */
    const char *standin, *keep; /* exec: the target that is compiled for, and where what was captured stays */
    ExecMode mode;
    const char *only, *exclude, *record_memory, *record_disk, *hang_after;
    uint64_t record_launches, sample;
    bool launches_given, record_host;
    bool records; /* exec: in mode record or shadow */
    bool rerun_on_failure;
    unsigned check_time; /* seconds for checks after the program has ended; 0: no limit */
    bool check_time_given;
    bool require_all;                         /* kernels without PTX count */
    size_t program_launches, program_covered; /* exec: that the program made, of kernels that were proved; by a proof */

    const char *cache; /* check: the folder of results that are kept; NULL: where the user's caches are */
    bool no_cache;
    unsigned jobs; /* check: files at once; 0: as many as there are cores */

    const char *shard;                  /* check, lint: "K/N"; then `inputs` are those of it alone: */
    unsigned shard_number, shard_count; /* 0: all are looked at */
    size_t all_inputs;

    bool steps, state; /* run: what is shown of it */
    uint64_t state_step;
    const char *trace;

    bool diff, glossary, one_buffer, full; /* report */
    unsigned sections;                     /* weir_section */
    uint64_t buffer;
    unsigned width;

    weir_membar_options membar;
    bool emit, prune; /* membar, lint */

    /* Of CUDA sources: flags as one text; the folder of compile_commands.json; words behind '--'; the nvcc that is
     * stood in front of. */
    const char *nvcc_flags, *compile_commands;
    Paths compiler_words;
    const char *compiler;
    bool nvcc_strict; /* nvcc */

    const char *port; /* lint: what the kernels become on this target; NULL: not asked */

    bool stats, list, ptx; /* parse */
    bool strict;           /* parse, check, run */
    weir_form form;
    TableForm dump_ops;

    bool launch_template; /* launch, which does this without being asked, too */

    weir_instrument_options instrument;
    const char *spaces; /* of it */

    bool markdown; /* rules */

    bool manual; /* help */
    const char *completion;
} Options;

/* An option that does no more than set a field. */
typedef enum FieldKind {
    FIELD_FLAG,
    FIELD_TEXT,
    FIELD_NUMBER,
    FIELD_LONG,
    FIELD_WORD,
    FIELD_CHOICE,
    FIELD_VALUE,
    FIELD_LIST,
    FIELD_RULES,
    FIELD_BITS
} FieldKind;

typedef enum Completes { COMPLETE_NOTHING, COMPLETE_FILES, COMPLETE_FOLDERS, COMPLETE_RULES } Completes;

/* Under which title of its command's help an option is. */
typedef enum Group { WHAT, HOW, REPORTED, GROUP_COUNT } Group;

typedef struct OptionWord {
    const char *text; /* NULL ends a list */
    unsigned value;
} OptionWord;

typedef struct Option {
    unsigned commands;
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* NULL: it takes none */
    Group group;
    FieldKind kind;
    size_t at; /* the field */
    const char *help, *more;
    bool optional;
    uint64_t least, most, value;
    const OptionWord *words;
    const char *wrong;
    bool bytes;   /* the number may end in K, M or G */
    size_t given; /* 0: none */
    Completes completes;
    const char *now; /* NULL, or the present name of an option whose old name this is: it works, with a note, and is in
                        no help */
} Option;

typedef struct Example {
    const char *what;     /* NULL ends a list */
    const char *lines[3]; /* commands, NULL after the last */
} Example;

typedef struct Command {
    const char *name;
    int (*run)(Options *options);
    const char *what;     /* in a list of commands */
    const char *operands; /* as the synopsis has them; a line for each form */
    Operands takes;
    const char *does;                /* a sentence */
    const char *more;                /* at the end of its help */
    const char *status;              /* what its exit status says */
    const char *manual;              /* what only the man page tells; paragraphs are lines */
    const char *groups[GROUP_COUNT]; /* titles; NULL: the options are one list */
    const Example *examples;
} Command;

extern const Command commands[COMMAND_COUNT];
extern const Option option_table[];
extern const size_t option_count;

/* The command of that name; NULL if there is none. */
const Command *command_find(const char *name);
/* Says that there is no such command, and which may have been meant. */
void command_unknown(const char *name);
/* That there is no such rule, and which may have been meant. To be freed; NULL if there is no memory. */
char *rule_unknown(weir_string name);
/* The option of that name or letter that the command takes; NULL if there is none. */
const Option *option_find(CommandId command, const char *name, size_t size);
/* Those of a command, in the order of its help: by group and by name. To be freed; NULL if there is no memory. */
const Option **options_of(CommandId command, size_t *count);

/* What a command has before its command line is read, and what is read from that; ends the program, with a message, if
 * it is wrong, and after --help and --version. */
void options_read(Options *options, const Command *command, int count, char **arguments);
/* Sets what an option sets; ends the program, with a message, if it takes no such argument. `text` must live as long as
 * the options. */
void option_apply(Options *options, const Option *option, const char *text);
void options_free(Options *options);
/* `weir COMMAND: sentence` and where there is help, on standard error; ends the program. */
_Noreturn void wrong_usage(const Options *options, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- main.c -------------------------------------------------------------------------------------- */
void print_version(void);

/* ---- help.c, manual.c, completion.c: the table, told -------------------------------------------- */
void help_overview(FILE *to);
void help_command(FILE *to, const Command *command);
/* Text in lines of at most `width` columns, of which the first starts at column `from` and the others at `indent`. A
 * newline in it stays one. */
void help_wrap(FILE *to, const char *text, int from, int indent, int width);
/* In mdoc; NULL: that of weir itself. */
void manual_page(FILE *to, const Command *command);
/* For bash, zsh or fish. */
void completion_script(FILE *to, const char *shell);

#endif
