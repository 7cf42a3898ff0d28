/* CUDA sources as inputs: nvcc makes PTX of them, with the flags of the build. And weir nvcc, which stands in front of
 * nvcc in a build. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool ends_in(const char *text, const char *ending) {
    size_t size = strlen(text), tail = strlen(ending);
    return size > tail && strcmp(text + size - tail, ending) == 0;
}

bool is_cuda_source(const char *path) {
    return ends_in(path, ".cu");
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- Flags --------------------------------------------------------------------------------------- */

/* How one source is compiled. */
typedef struct Compilation {
    char *nvcc, *folder; /* folder: where nvcc runs; NULL: here */
    Paths words;         /* of the command line, without the compiler */
    unsigned architectures;
    char newest[16]; /* of several: "90a" */
} Compilation;

static void free_compilation(Compilation *compilation) {
    free(compilation->nvcc);
    free(compilation->folder);
    paths_free(&compilation->words);
}

/* Words of a command line as a shell takes them apart: blanks, quotes, backslashes. */
static bool split_words(const char *text, Paths *to) {
    char *word = malloc(strlen(text) + 1);
    bool good = word != NULL;
    while (good && *text) {
        size_t size = 0;
        char quote = 0;
        bool any = false;
        for (; *text && (quote || !strchr(" \t\n", *text)); text++) {
            any = true;
            if (*text == quote && quote)
                quote = 0;
            else if (!quote && (*text == '"' || *text == '\''))
                quote = *text;
            else if (*text == '\\' && quote != '\'' && text[1])
                word[size++] = *++text;
            else
                word[size++] = *text;
        }
        word[size] = 0;
        good = !any || paths_append(to, word);
        text += *text != 0;
    }
    free(word);
    return good;
}

/* Says what is compiled, or where that goes; ours are -ptx and -o. `argument`: one more word, if there is no '='. */
static const struct {
    const char *word;
    bool argument;
} dropped[] = {{"-o", true},       {"--output-file", true}, {"-c", false},        {"--compile", false},
               {"-dc", false},     {"--device-c", false},   {"-dw", false},       {"--device-w", false},
               {"-ptx", false},    {"--ptx", false},        {"-cubin", false},    {"--cubin", false},
               {"-fatbin", false}, {"--fatbin", false},     {"-E", false},        {"--preprocess", false},
               {"-M", false},      {"-MM", false},          {"-MD", false},       {"-MMD", false},
               {"-MP", false},     {"-MF", true},           {"-MT", true},        {"-MQ", true},
               {"-x", true},       {"-Xlinker", true},      {"-link", false},     {"--link", false},
               {"-lib", false},    {"--lib", false},        {"-lineinfo", false}, {"--generate-line-info", false},
               {"-t", true},       {"--threads", true}};

static bool is_dropped(const char *word, bool *argument) {
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) {
        size_t size = strlen(dropped[i].word);
        if (strncmp(word, dropped[i].word, size) != 0 || (word[size] && word[size] != '='))
            continue;
        *argument = dropped[i].argument && !word[size];
        return true;
    }
    return false;
}

static bool is_object(const char *word) {
    static const char *const endings[] = {".cu", ".cpp", ".cc", ".cxx", ".c", ".o", ".obj", ".a", ".so"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (word[0] != '-' && ends_in(word, endings[i]))
            return true;
    return false;
}

/* "arch=compute_90a,code=..." */
static void take_architecture(Compilation *compilation, const char *text) {
    const char *number = strstr(text, "arch=compute_");
    if (!number)
        return;
    number += strlen("arch=compute_");
    size_t size = strcspn(number, ",");
    compilation->architectures++;
    if (size < sizeof compilation->newest && strtoul(number, NULL, 10) >= strtoul(compilation->newest, NULL, 10))
        snprintf(compilation->newest, sizeof compilation->newest, "%.*s", (int)size, number);
}

/* Flags of the build, as far as they say what the source means; PTX is of one architecture. */
static bool take_flags(Compilation *compilation, char *const *words, size_t count) {
    static const char *const generate[] = {"-gencode", "--generate-code"};
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        const char *word = words[i];
        bool argument = false, generates = false;
        for (size_t k = 0; k < sizeof generate / sizeof *generate; k++) {
            size_t size = strlen(generate[k]);
            if (strncmp(word, generate[k], size) != 0 || (word[size] && word[size] != '='))
                continue;
            generates = true;
            if (word[size])
                take_architecture(compilation, word + size + 1);
            else if (i + 1 < count)
                take_architecture(compilation, words[++i]);
        }
        if (generates || is_object(word))
            continue;
        if (is_dropped(word, &argument))
            i += argument;
        else
            good = paths_append(&compilation->words, word);
    }
    return good;
}

static bool has_flag(const Paths *words, const char *flag) {
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->items[i], flag) == 0)
            return true;
    return false;
}

/* ---- compile_commands.json ------------------------------------------------------------------------ */

static bool same_file(const char *folder, const char *file, const char *path) {
    char *whole = NULL;
    struct stat a, b;
    if (asprintf(&whole, "%s%s%s", *file == '/' ? "" : folder, *file == '/' ? "" : "/", file) < 0)
        return false;
    bool same = stat(whole, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    free(whole);
    return same;
}

static bool words_of(const json_t *entry, Paths *to) {
    const json_t *list = json_object_get(entry, "arguments"), *item;
    const char *command = json_string_value(json_object_get(entry, "command"));
    size_t i;
    bool good = json_is_array(list) || command;
    if (!json_is_array(list))
        return good && split_words(command, to);
    json_array_foreach(list, i, item) good = good && json_is_string(item) && paths_append(to, json_string_value(item));
    return good;
}

/* NULL: done; else why not, to be freed. */
static char *read_commands(const char *folder, const char *source, Compilation *compilation) {
    char *path = NULL, *why = NULL;
    json_error_t error;
    if (asprintf(&path, "%s/compile_commands.json", folder) < 0)
        return NULL;
    json_t *all = json_load_file(path, JSON_REJECT_DUPLICATES, &error), *entry;
    size_t i;
    bool found = false;
    if (!all && asprintf(&why, "%s:%d: %s", path, error.line > 0 ? error.line : 1, error.text) < 0)
        why = NULL;
    json_array_foreach(all, i, entry) {
        const char *at = json_string_value(json_object_get(entry, "directory"));
        const char *file = json_string_value(json_object_get(entry, "file"));
        Paths words = {0};
        if (found || !at || !file || !same_file(at, file, source) || !words_of(entry, &words) || !words.count) {
            paths_free(&words);
            continue;
        }
        found = true;
        bool nvcc = strncmp(last_part(words.items[0]), "nvcc", 4) == 0;
        if (!nvcc &&
            asprintf(&why, "%s compiles it, in %s, and its flags are not those of nvcc", words.items[0], path) < 0)
            why = NULL;
        compilation->nvcc = nvcc ? strdup(words.items[0]) : NULL;
        compilation->folder = strdup(at);
        take_flags(compilation, words.items + 1, words.count - 1);
        paths_free(&words);
    }
    if (all && !found && asprintf(&why, "%s has no entry for it", path) < 0)
        why = NULL;
    json_decref(all);
    free(path);
    return why;
}

/* ---- The compiler --------------------------------------------------------------------------------- */

static char *in_folder(const char *folder, const char *below) {
    char *path = NULL;
    if (!folder || !*folder || asprintf(&path, "%s%s", folder, below) < 0)
        return NULL;
    if (access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* To be freed; NULL: there is none. */
static char *find_nvcc(void) {
    const char *given = getenv("NVCC"), *path = getenv("PATH");
    char *found = given && *given ? strdup(given) : NULL;
    for (const char *at = path; !found && at && *at; at += *at == ':') {
        char *folder = strndup(at, strcspn(at, ":"));
        found = folder ? in_folder(folder, "/nvcc") : NULL;
        free(folder);
        at += strcspn(at, ":");
    }
    found = found ? found : in_folder(getenv("CUDA_HOME"), "/bin/nvcc");
    found = found ? found : in_folder(getenv("CUDA_PATH"), "/bin/nvcc");
    return found ? found : in_folder("/usr/local/cuda", "/bin/nvcc");
}

/* Runs it, and what it says becomes `said`, to be freed, if that is wanted; its status, as a shell has it. */
static int run_compiler(char **words, const char *folder, char **said) {
    int ends[2], status = -1;
    char part[4096];
    size_t size = 0;
    if (said && pipe2(ends, O_CLOEXEC) != 0)
        return 127;
    pid_t child = fork();
    if (child == 0) {
        if (said && (dup2(ends[1], STDOUT_FILENO) < 0 || dup2(ends[1], STDERR_FILENO) < 0))
            _exit(127);
        if (folder && chdir(folder) != 0)
            _exit(127);
        execvp(words[0], words);
        _exit(127);
    }
    FILE *text = said ? open_memstream(said, &size) : NULL;
    if (said)
        close(ends[1]);
    for (ssize_t got; said && ((got = read(ends[0], part, sizeof part)) > 0 || (got < 0 && errno == EINTR));)
        if (text && got > 0)
            fwrite(part, 1, (size_t)got, text);
    if (text)
        fclose(text);
    if (said)
        close(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return child < 0 ? 127 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* nvcc -ptx with the flags; NULL: there is not enough memory. To be freed, its words not. */
static char **command_line(const Compilation *compilation, const char *arch, const char *source, const char *to) {
    char **words = calloc(compilation->words.count + 8, sizeof *words);
    size_t count = 0;
    if (!words)
        return NULL;
    words[count++] = compilation->nvcc;
    for (size_t i = 0; i < compilation->words.count; i++)
        words[count++] = compilation->words.items[i];
    if (arch)
        words[count++] = (char *)(uintptr_t)arch;
    words[count++] = "-ptx";
    if (!has_flag(&compilation->words, "-G") && !has_flag(&compilation->words, "--device-debug"))
        words[count++] = "-lineinfo";
    words[count++] = "-o";
    words[count++] = (char *)(uintptr_t)to;
    words[count++] = (char *)(uintptr_t)source;
    return words;
}

/* Whether the flags say what it is compiled for; nvcc has a default of its own otherwise, an old one. */
static bool names_target(const Compilation *compilation) {
    static const char *const flags[] = {"-arch", "--gpu-architecture", "-code", "--gpu-code"};
    for (size_t i = 0; i < compilation->words.count; i++)
        for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
            size_t size = strlen(flags[k]);
            const char *word = compilation->words.items[i];
            if (strncmp(word, flags[k], size) == 0 && (!word[size] || word[size] == '='))
                return true;
        }
    return compilation->architectures > 0;
}

static void say_target(const char *source, const char *text) {
    const char *target = strstr(text, ".target sm_");
    if (target)
        complain("%s: no -arch is given: nvcc compiled it for sm_%.*s, and code for newer targets is not checked; "
                 "add -- -arch=sm_90, or the target of the build",
                 source, (int)strcspn(target + strlen(".target sm_"), ", \t\r\n"), target + strlen(".target sm_"));
}

/* The PTX that is in the file, under the name that it would have beside its source. */
static weir_file *open_ptx(weir_context *weir, const Options *options, const Compilation *compilation, const char *from,
                           const char *source, char **why) {
    FILE *file = fopen(from, "r");
    char *text = NULL, *name = NULL, part[1 << 16];
    size_t size = 0;
    FILE *to = file ? open_memstream(&text, &size) : NULL;
    for (size_t got; to && (got = fread(part, 1, sizeof part, file)) > 0;)
        fwrite(part, 1, got, to);
    bool good = to && fclose(to) == 0 && asprintf(&name, "%.*sptx", (int)(strlen(source) - 2), source) >= 0;
    bool nothing = good && options->command == COMMAND_NVCC && !strstr(text, ".entry");
    weir_file *opened = good && !nothing ? weir_open_buffer(weir, name, text, size) : NULL;
    if (opened && options->command != COMMAND_NVCC && !names_target(compilation))
        say_target(source, text);
    if (!opened && !nothing)
        *why = strdup(good ? weir_error(weir) : "the PTX that nvcc wrote cannot be read");
    if (file)
        fclose(file);
    free(text);
    free(name);
    return opened;
}

static weir_file *compile(weir_context *weir, const Options *options, Compilation *compilation, const char *source,
                          char **said, char **why) {
    const char *given = getenv("TMPDIR");
    char *folder = NULL, *temporary = NULL, *arch = NULL, *real = realpath(source, NULL);
    weir_file *file = NULL;
    int status;
    if (!real || asprintf(&folder, "%s/weir-XXXXXX", given && *given ? given : "/tmp") < 0 || !mkdtemp(folder) ||
        asprintf(&temporary, "%s/kernel.ptx", folder) < 0 ||
        (compilation->architectures && asprintf(&arch, "-arch=sm_%s", compilation->newest) < 0)) {
        *why = strdup(real ? "there is no room for the PTX of it" : strerror(errno));
    } else {
        temporary_note(folder);
        temporary_note(temporary);
        char **words = command_line(compilation, arch, real, temporary);
        status = words ? run_compiler(words, compilation->folder, said) : 127;
        free(words);
        if (status == 0)
            file = open_ptx(weir, options, compilation, temporary, source, why);
        else if (asprintf(why, status == 127 ? "%s cannot be run" : "%s does not compile it", compilation->nvcc) < 0)
            *why = NULL;
        unlink(temporary);
        rmdir(folder);
        temporary_forget(temporary);
        temporary_forget(folder);
    }
    if (file && compilation->architectures > 1)
        complain("%s: of %u architectures, the PTX of sm_%s is checked", source, compilation->architectures,
                 compilation->newest);
    free(arch);
    free(real);
    free(temporary);
    free(folder);
    return file;
}

weir_file *input_open(weir_context *weir, const Options *options, const char *path, char **said, char **why) {
    Compilation compilation = {0};
    weir_file *file = NULL;
    *said = *why = NULL;
    if (!is_cuda_source(path)) {
        file = weir_open(weir, path);
        if (!file && asprintf(why, "cannot be read: %s", weir_error(weir)) < 0)
            *why = NULL;
        return file;
    }
    bool good = true;
    Paths given = {0};
    if (options->compile_commands)
        *why = read_commands(options->compile_commands, path, &compilation);
    good = (!options->nvcc_flags || split_words(options->nvcc_flags, &given)) &&
           take_flags(&compilation, given.items, given.count) &&
           take_flags(&compilation, options->compiler_words.items, options->compiler_words.count);
    paths_free(&given);
    if (!compilation.nvcc)
        compilation.nvcc = options->compiler ? strdup(options->compiler) : find_nvcc();
    if (!*why && !good)
        *why = strdup("there is not enough memory");
    else if (!*why && !compilation.nvcc)
        *why = strdup("nvcc, which makes PTX of it, is not installed: it is not in PATH, $CUDA_HOME/bin or "
                      "/usr/local/cuda/bin. Install the CUDA toolkit, set NVCC, or give the PTX that 'nvcc -ptx "
                      "-lineinfo' makes of it elsewhere");
    else if (!*why)
        file = compile(weir, options, &compilation, path, said, why);
    free_compilation(&compilation);
    return file;
}

/* ---- weir nvcc ------------------------------------------------------------------------------------ */

/* Of what nvcc is given: whether it compiles, and from which file on; what only links or prints has no kernels. */
static bool compiles(char *const *words, size_t count) {
    static const char *const others[] = {"-E",      "--preprocess",  "-M",   "-MM",    "--dryrun",
                                         "-dryrun", "--version",     "-V",   "--help", "-h",
                                         "-dlink",  "--device-link", "-lib", "--lib",  "--list-gpu-arch"};
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            if (strcmp(words[i], others[k]) == 0)
                return false;
    return true;
}

/* A file of options (--options-file, -optf) is nvcc's to read: what it says is not known here. */
static bool has_options_file(char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strncmp(words[i], "-optf", 5) == 0 || strncmp(words[i], "--options-file", 14) == 0)
            return true;
    return false;
}

/* Sources that are CUDA by -x cu, and not by their names. */
static bool has_others(char *const *words, size_t count) {
    bool cuda = false, any = false;
    for (size_t i = 0; i < count; i++) {
        cuda |=
            strcmp(words[i], "-x=cu") == 0 || strcmp(words[i], "--x=cu") == 0 ||
            (strcmp(words[i], "cu") == 0 && i && (strcmp(words[i - 1], "-x") == 0 || strcmp(words[i - 1], "--x") == 0));
        any |= ends_in(words[i], ".cpp") || ends_in(words[i], ".cc") || ends_in(words[i], ".cxx") ||
               ends_in(words[i], ".c");
    }
    return cuda && any;
}

int command_nvcc(Options *options) {
    char **given = options->operands.items;
    size_t count = options->operands.count, begin = 0;
    if (count && strncmp(last_part(given[0]), "nvcc", 4) == 0)
        begin = 1; /* as a launcher of compilers is called */
    char *nvcc = begin ? strdup(given[0]) : find_nvcc(), **words = calloc(count + 2, sizeof *words);
    if (!nvcc || !words) {
        complain(nvcc ? "there is not enough memory" : "nvcc is not in PATH, $CUDA_HOME/bin or /usr/local/cuda/bin");
        free(nvcc);
        free(words);
        return STATUS_ERROR;
    }
    words[0] = nvcc;
    for (size_t i = begin; i < count; i++)
        words[i - begin + 1] = given[i];
    int status = run_compiler(words, NULL, NULL), checked = STATUS_OK;
    if (status == 127)
        complain("%s cannot be run", nvcc);
    bool wanted = status == 0 && compiles(given + begin, count - begin);
    for (size_t i = begin; wanted && i < count; i++)
        if (is_cuda_source(given[i]) && !paths_append(&options->inputs, given[i]))
            wanted = false;
    if (wanted && has_options_file(given + begin, count - begin) && options->inputs.count) {
        complain("nvcc's flags are in a file of options, and its kernels are not checked");
        checked = weir_verdict_status(WEIR_VERDICT_INCOMPLETE);
    } else if (wanted && options->inputs.count) {
        options->compiler = nvcc;
        for (size_t i = begin; i < count; i++)
            wanted = wanted && paths_append(&options->compiler_words, given[i]);
        fflush(stdout);
        dup2(STDERR_FILENO, STDOUT_FILENO); /* builds read what nvcc prints */
        checked = wanted ? command_check(options) : STATUS_ERROR;
        options->compiler = NULL;
    }
    if (wanted && has_others(given + begin, count - begin)) {
        complain("kernels of sources that are CUDA by -x cu are not checked, only those of .cu files");
        checked = checked == STATUS_OK ? weir_verdict_status(WEIR_VERDICT_INCOMPLETE) : checked;
    }
    free(words);
    free(nvcc);
    return status ? status : options->nvcc_strict ? checked : STATUS_OK;
}
