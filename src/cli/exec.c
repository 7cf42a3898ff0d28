/* weir exec: runs a program, has the kernels that it launches recorded while they run (mode record: record.c), or
 * captured, those of Triton as they are compiled (python/weir), those of CUDA programs at the driver (src/runtime), and
 * checks them with the launches they had. */
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STATUS_INCOMPLETE = 3, CANNOT_RUN = 127 };
enum { GRACE_MS = 2000, LOOK_MS = 50 };

/* What the log of the folder says. */
typedef struct Captured {
    size_t processes, launches;
    size_t watched;                   /* processes, of Python or not, in which CUDA is watched */
    Recorded recorded;                /* in mode record */
    Paths notes;                      /* sentences, each once */
    char *triton, *standin, *failure; /* NULL: not said; of releases or targets that differ, "" */
    char *linked_in;                  /* a program with the CUDA runtime of NVIDIA in it; NULL: none was seen */
    size_t runs;                      /* processes whose launches were run on the CPU */
    size_t proofs, proved, covered;   /* kernels that were tried; proved; launches that a proof covers */
    size_t beyond;                    /* kernels of which launches were not kept since a proof covers them */
    size_t equal;                     /* launches that were not checked, since they are equal to some that were */
} Captured;

/* ---- Folders ----------------------------------------------------------------------------------- */

/* Calls `work` with each entry of a folder but "." and ".."; false if it cannot be read or one call is false. */
static bool each_entry(const char *folder, bool (*work)(const char *path)) {
    DIR *directory = opendir(folder);
    bool good = directory;
    for (struct dirent *entry; good && (entry = readdir(directory));) {
        char path[PATH_MAX];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        good = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path && work(path);
    }
    if (directory)
        closedir(directory);
    return good;
}

static bool is_nothing(const char *path) {
    (void)path;
    return false;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *where) {
    (void)status, (void)kind, (void)where;
    return remove(path);
}

static char *kept_folder(const char *keep) {
    if (mkdir(keep, 0777) != 0 && errno != EEXIST)
        complain("%s: %s", keep, strerror(errno));
    else if (!each_entry(keep, is_nothing))
        complain("%s: --keep takes a new or empty folder", keep);
    else
        return realpath(keep, NULL);
    return NULL;
}

static char *make_folder(void) {
    const char *temporary = getenv("TMPDIR");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/weir-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(path)) {
        complain("%s: %s", path, strerror(errno));
        return NULL;
    }
    return realpath(path, NULL);
}

/* The folder that Python is to look into first. The package lies beside the command: in a source tree, below the prefix
 * it is installed under, or in the Python package that has the command in it. */
static bool find_boot(char *path, size_t size) {
    static const char *const places[] = {"../python/weir/boot", "../../python/weir/boot",
                                         "../share/weir/python/weir/boot", "../boot"};
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return false;
    self[length] = 0;
    *(strrchr(self, '/') + 1) = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char file[PATH_MAX + 32];
        if (snprintf(path, size, "%s%s", self, places[i]) >= (int)size)
            return false;
        snprintf(file, sizeof file, "%s/sitecustomize.py", path);
        if (access(file, R_OK) == 0)
            return true;
    }
    return false;
}

/* A file or folder beside the command, or where libraries are installed. */
bool find_beside(char *path, size_t size, const char *name) {
    static const char *const places[] = {"", "../lib/weir/"};
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return false;
    self[length] = 0;
    *(strrchr(self, '/') + 1) = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (snprintf(path, size, "%s%s%s", self, places[i], name) < (int)size && access(path, R_OK) == 0)
            return true;
    return false;
}

/* The library that stands in front of the driver. */
bool find_library(char *path, size_t size) {
    return find_beside(path, size, "libweir-gpu.so");
}

/* Lets processes that run as another user, by the program's own doing, write to the log, so that they can say what they
 * could not keep; of root's, which can become any user, they keep what they launch. Others may not list what is there,
 * nor remove it. */
static bool open_folder(const char *folder) {
    char path[PATH_MAX];
    int log = snprintf(path, sizeof path, "%s/capture.log", folder) < (int)sizeof path
                  ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)
                  : -1;
    bool good = log >= 0 && fchmod(log, 0666) == 0 && chmod(folder, geteuid() == 0 ? 01733 : 0711) == 0;
    if (!good)
        complain("%s: %s", folder, strerror(errno));
    if (log >= 0)
        close(log);
    return good;
}

/* ---- The program ------------------------------------------------------------------------------- */

/* Before what the environment has. */
static bool set_first(const char *variable, const char *path) {
    char *value;
    const char *before = getenv(variable);
    if (asprintf(&value, "%s%s%s", path, before && *before ? ":" : "", before ? before : "") < 0)
        return false;
    bool good = setenv(variable, value, 1) == 0;
    free(value);
    return good;
}

static char *standin_folder; /* of what stands in for CUDA's libraries, where there is no GPU; NULL: they are not */

/* What is to be loaded first. Without the libraries CUDA programs are not watched, and say so by having launched
 * nothing. Nothing goes in front of what stands in for the driver; programs that the program starts are watched. */
static bool set_preload(void) {
    char path[PATH_MAX];
    const char *name = standin_folder ? "libweir-children.so" : "libweir-gpu.so";
    return (!find_beside(path, sizeof path, name) || set_first("LD_PRELOAD", path)) &&
           (!standin_folder || set_first("LD_LIBRARY_PATH", standin_folder));
}

/* Kernels run on the CPU, where there is no GPU; on so many threads, if that is given. */
static bool set_device(bool runs, const Options *options) {
    char text[16];
    snprintf(text, sizeof text, "%u", options->jobs);
    return (runs ? unsetenv("WEIR_RUN") : setenv("WEIR_RUN", "no", 1)) == 0 &&
           (options->run.volatile_races ? setenv("WEIR_VOLATILE_RACES", "1", 1) : unsetenv("WEIR_VOLATILE_RACES")) ==
               0 &&
           (!options->jobs || setenv("WEIR_DEVICE_JOBS", text, 1) == 0);
}

/* Processes prove their kernels, and ask their launches, for so many seconds each. */
static bool set_proofs(unsigned seconds) {
    char text[16];
    snprintf(text, sizeof text, "%u", seconds);
    return setenv("WEIR_PROVE_TIME", text, 1) == 0;
}

/* They know what the project file says that callers promise. */
static bool set_project(const Options *options) {
    const char *file = weir_project_file(options->project);
    char *path = file ? realpath(file, NULL) : NULL;
    bool good = (path ? setenv("WEIR_PROJECT", path, 1) : unsetenv("WEIR_PROJECT")) == 0;
    free(path);
    return good;
}

bool set_python(void) {
    char boot[PATH_MAX];
    if (!find_boot(boot, sizeof boot))
        return false;
    const char *before = getenv("PYTHONPATH");
    char *path;
    if (asprintf(&path, "%s%s%s", boot, before && *before ? ":" : "", before ? before : "") < 0)
        return false;
    bool good = setenv("PYTHONPATH", path, 1) == 0;
    free(path);
    return good;
}

static bool set_environment(const char *folder, const Options *options) {
    const char *target = options->standin;
    if (!set_python()) {
        complain("the Python package is not next to this command, where 'make install' and 'pip install' place it");
        return false;
    }
    return setenv("WEIR_CAPTURE", folder, 1) == 0 &&
           (target ? setenv("WEIR_TARGET", target, 1) : unsetenv("WEIR_TARGET")) == 0 &&
           set_device(options->mode != EXEC_CAPTURE, options) && set_proofs(options->prove_seconds) &&
           set_project(options);
}

static volatile sig_atomic_t running;

static void forward(int number) {
    if (running > 0)
        kill((pid_t)running, number);
}

/* What a terminal sends reaches the program by itself; what is sent to this process is handed on. A signal that this
 * process was started with ignored, by nohup for one, stays ignored, here and in the program. */
static void watch_signals(bool on) {
    static const struct {
        int number;
        void (*handler)(int);
    } watched[] = {{SIGTERM, forward}, {SIGHUP, forward}, {SIGUSR1, forward},
                   {SIGUSR2, forward}, {SIGINT, SIG_IGN}, {SIGQUIT, SIG_IGN}};
    static struct sigaction before[sizeof watched / sizeof *watched];
    static bool watching;
    if (watching == on)
        return;
    watching = on;
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++) {
        struct sigaction action = {.sa_handler = watched[i].handler, .sa_flags = SA_RESTART};
        if (on && sigaction(watched[i].number, NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(watched[i].number, &action, NULL);
        else if (!on)
            sigaction(watched[i].number, &before[i], NULL);
    }
}

/* Its status as waitpid has it; -1 if it could not be started. */
static int await(pid_t child) {
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* In the child: `reported` closes when the program is there; if it is not, it says why. */
static _Noreturn void become(char **program, int reported) {
    watch_signals(false);
    if (set_preload())
        execvp(program[0], program);
    int why = errno;
    while (write(reported, &why, sizeof why) < 0 && errno == EINTR)
        ;
    _exit(CANNOT_RUN);
}

/* Whether the program was started; what it ends with is its own, whatever number that is. */
static bool was_started(const char *program, int reported) {
    int why;
    ssize_t size;
    while ((size = read(reported, &why, sizeof why)) < 0 && errno == EINTR)
        ;
    if (size == (ssize_t)sizeof why)
        complain("%s: %s", program, strerror(why));
    return size == 0;
}

static int run_program(const Paths *words) {
    char **program = calloc(words->count + 1, sizeof *program);
    int ends[2];
    if (!program || pipe(ends) != 0) {
        free(program);
        return -1;
    }
    memcpy(program, words->items, sizeof *program * words->count);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
#ifdef PR_SET_CHILD_SUBREAPER
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what the program leaves behind is to be seen */
#endif
    watch_signals(true);
    pid_t child = fork();
    if (child == 0)
        become(program, ends[1]);
    running = child;
    close(ends[1]);
    bool started = child > 0 && was_started(program[0], ends[0]);
    int status = await(child);
    running = 0;
    close(ends[0]);
    watch_signals(false);
    free(program);
    return started ? status : -1;
}

/* How a program ended. */
typedef struct Ended {
    int status;         /* as waitpid has it; -1: it was not started */
    size_t left;        /* processes that are still there, */
    char left_name[64]; /* and one of them */
} Ended;

/* Waits a moment for processes that the program has left behind: most are about to end. False: some are still there. */
static bool await_rest(void) {
    for (int waited = 0; waited < GRACE_MS; waited += LOOK_MS) {
        pid_t ended;
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (ended < 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
    }
    return false;
}

/* How many processes have come to this one since their parents ended, and the name of the first. */
static size_t count_left(char *name, size_t size) {
    char path[64];
    long process, first = 0;
    size_t count = 0;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *children = fopen(path, "r");
    while (children && fscanf(children, "%ld", &process) == 1) {
        first = first ? first : process;
        count++;
    }
    if (children)
        fclose(children);
    snprintf(path, sizeof path, "/proc/%ld/comm", first);
    FILE *command = fopen(path, "r");
    if (!command || !fgets(name, (int)size, command))
        snprintf(name, size, "its name is not known");
    name[strcspn(name, "\n")] = 0;
    if (command)
        fclose(command);
    return count ? count : 1;
}

/* In a process of its own, whose children are those of the program alone. */
static Ended run_apart(const Paths *words) {
    Ended ended = {.status = -1};
    int ends[2];
    fflush(NULL);
    if (pipe(ends) != 0)
        return ended;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    watch_signals(true);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        ended.status = run_program(words);
        if (ended.status >= 0 && !await_rest())
            ended.left = count_left(ended.left_name, sizeof ended.left_name);
        _exit(write(ends[1], &ended, sizeof ended) == (ssize_t)sizeof ended ? 0 : 1);
    }
    running = child;
    close(ends[1]);
    await(child);
    running = 0;
    if (child < 0 || read(ends[0], &ended, sizeof ended) != (ssize_t)sizeof ended)
        ended = (Ended){.status = -1};
    close(ends[0]);
    watch_signals(false);
    return ended;
}

/* ---- What was captured --------------------------------------------------------------------------- */

static void set_word(char **word, const char *to) {
    bool differs = *word && strcmp(*word, to) != 0;
    free(*word);
    *word = strdup(differs ? "" : to);
}

static void add_note(Captured *captured, const char *sentence) {
    for (size_t i = 0; i < captured->notes.count; i++)
        if (strcmp(captured->notes.items[i], sentence) == 0)
            return;
    if (!paths_append(&captured->notes, sentence))
        exit(STATUS_ERROR);
}

static void read_line(Captured *captured, char *line) {
    size_t launches, proofs, proved;
    char *rest = strchr(line, ' ');
    line[strcspn(line, "\n")] = 0;
    if (!rest)
        return;
    *rest++ = 0;
    if (strcmp(line, "process") == 0) {
        captured->watched++;
    } else if (strcmp(line, "python") == 0) {
        captured->processes++;
    } else if (strcmp(line, "triton") == 0) {
        set_word(&captured->triton, rest);
    } else if (strcmp(line, "runs") == 0) {
        captured->runs++;
    } else if (strcmp(line, "equal") == 0 && sscanf(rest, "%zu", &launches) == 1) {
        captured->equal += launches;
    } else if (strcmp(line, "standin") == 0) {
        set_word(&captured->standin, rest);
    } else if (strcmp(line, "linked-in") == 0) {
        free(captured->linked_in);
        captured->linked_in = strdup(rest);
    } else if (strcmp(line, "linked-in-library") == 0) {
        char *sentence = standin_refused(rest);
        if (sentence)
            add_note(captured, sentence);
        free(sentence);
    } else if (strcmp(line, "failed") == 0) {
        set_word(&captured->failure, rest);
    } else if (strcmp(line, "note") == 0) {
        add_note(captured, rest);
    } else if (recorded_line(&captured->recorded, line, rest)) {
        return;
    } else if (strcmp(line, "counts") == 0 && sscanf(rest, "%*d %*u %zu", &launches) == 1) {
        captured->launches += launches;
    } else if (strcmp(line, "beyond") == 0) {
        captured->beyond++;
    } else if (strcmp(line, "proofs") == 0 && sscanf(rest, "%*d %zu %zu %zu", &proofs, &proved, &launches) == 3) {
        captured->proofs += proofs;
        captured->proved += proved;
        captured->covered += launches;
    }
}

static Captured read_log(const char *folder) {
    Captured captured = {0};
    char *path, *line = NULL;
    size_t size = 0;
    if (asprintf(&path, "%s/capture.log", folder) < 0)
        return captured;
    FILE *log = fopen(path, "r");
    while (log && getline(&line, &size, log) >= 0)
        read_line(&captured, line);
    if (log)
        fclose(log);
    free(line);
    free(path);
    return captured;
}

static void captured_free(Captured *captured) {
    free(captured->triton);
    free(captured->standin);
    free(captured->failure);
    free(captured->linked_in);
    free(captured->recorded.failed_kernel);
    paths_free(&captured->notes);
}

static size_t files_found, launches_found, logs_found; /* files_found: of kernels */

static bool count_file(const char *path) {
    static const char *const endings[] = {".ttgir", ".ptx", ".fatbin", ".cubin", RECORDINGS_END, LAUNCHES_END};
    size_t length = strlen(path);
    if (strstr(path, ".found-")) /* one more file of a launch that is there (capture.py) */
        return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t size = strlen(endings[i]);
        files_found += length > size && strcmp(path + length - size, endings[i]) == 0;
    }
    launches_found += strstr(path, ".launch.") != NULL;
    const char *dot = strrchr(path, '.');
    logs_found += dot && strcmp(dot, ORDER_LOGS_END) == 0;
    return true;
}

static void say_nothing_captured(const Captured *captured) {
    bool watched = captured->watched || standin_folder;
    const char *trouble = captured->watched ? driver_trouble() : NULL;
    if (captured->failure)
        complain("nothing was captured: %s", captured->failure);
    else if (!captured->processes && (captured->runs || (standin_folder && captured->notes.count)))
        complain("the program launched no CUDA kernel");
    else if (!captured->processes)
        complain("nothing was captured: the program started no Python that honors PYTHONPATH (python -I, -E and -S do "
                 "not)%s%s%s",
                 watched ? ", and launched no CUDA kernel" : "", trouble ? "; " : "", trouble ? trouble : "");
    else if (!captured->triton)
        complain("nothing was captured: the program did not import triton");
    else
        complain("nothing was captured: the program compiled and launched no kernel%s",
                 getenv("TRITON_INTERPRET") ? " (TRITON_INTERPRET is set: Triton interprets kernels)" : "");
}

/* What was not looked at, beside what checks find not to be. */
static void say_notes(const Captured *captured, const Ended *ended) {
    if (captured->failure && files_found)
        complain("a process was not captured: %s", *captured->failure ? captured->failure : "for several reasons");
    for (size_t i = 0; i < captured->notes.count; i++)
        complain("%s", captured->notes.items[i]);
    if (ended->left)
        complain("%zu process%s of the program %s still running (%s), and what %s from here on is not checked",
                 ended->left, ended->left == 1 ? "" : "es", ended->left == 1 ? "is" : "are", ended->left_name,
                 ended->left == 1 ? "it launches" : "they launch");
}

static void say_captured(const Captured *captured) {
    size_t launches = launches_found ? launches_found : captured->launches;
    fprintf(stderr, "weir: %zu kernel%s, %zu %slaunch%s", files_found, files_found == 1 ? "" : "s", launches,
            launches_found ? "different " : "", launches == 1 ? "" : "es");
    if (captured->launches && launches_found)
        fprintf(stderr, " of %zu", captured->launches);
    if (captured->standin && captured->runs && !captured->triton)
        fprintf(stderr, ", run on the CPU as on a GPU of %s",
                *captured->standin ? captured->standin : "several targets");
    else if (captured->standin)
        fprintf(stderr, ", compiled for %s%s", *captured->standin ? captured->standin : "several targets",
                captured->runs ? " and run on the CPU" : "; none was run");
    fputc('\n', stderr);
    if (captured->proofs && captured->launches)
        fprintf(stderr, "weir: %zu of %zu launch%s covered by a proof for every launch (%zu of %zu kernel%s proved)\n",
                captured->covered, captured->launches, captured->launches == 1 ? " is" : "es are", captured->proved,
                captured->proofs, captured->proofs == 1 ? "" : "s");
    if (captured->equal)
        fprintf(stderr,
                "weir: %zu launch%s not checked: equal ones were, in shape, numbers and allocations, and what memory "
                "holds may differ\n",
                captured->equal, captured->equal == 1 ? " was" : "es were");
    if (captured->beyond)
        fprintf(stderr,
                "weir: %zu kernel%s more different launches than are kept: of those that are not, races, deadlocks and "
                "barriers are proved, and no more was checked\n",
                captured->beyond, captured->beyond == 1 ? " has" : "s have");
}

static void say_program(const char *program, int status) {
    if (WIFSIGNALED(status))
        complain("%s was killed by a signal: %s", program, strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status))
        complain("%s exited with status %d", program, WEXITSTATUS(status));
}

/* ---- The check ----------------------------------------------------------------------------------- */

static Paths logs_of_processes;

static bool add_log(const char *path) {
    const char *dot = strrchr(path, '.');
    return !dot || strcmp(dot, ORDER_LOGS_END) != 0 || paths_append(&logs_of_processes, path);
}

/* The order logs of all processes become one, which has one verdict. */
static bool merge_order(const char *folder) {
    char *path = NULL;
    if (logs_found < 2)
        return true;
    each_entry(folder, add_log);
    bool good = asprintf(&path, "%s/program" ORDER_LOGS_END, folder) >= 0 && merge_logs(&logs_of_processes, path);
    for (size_t i = 0; good && i < logs_of_processes.count; i++)
        unlink(logs_of_processes.items[i]);
    paths_free(&logs_of_processes);
    free(path);
    return good;
}

/* In a process of its own, so that the folder is removed however it ends. */
static int check_folder(Options *options, const char *folder, const Captured *captured) {
    if (captured->triton && *captured->triton && !options->run.triton)
        options->run.triton = captured->triton;
    fflush(NULL);
    watch_signals(true);
    options->inputs.ptx = PTX_ALONE;
    options->program_launches = captured->proofs ? captured->launches : 0;
    options->program_covered = captured->covered;
    options->run.order_log = logs_found && logs_found >= captured->runs; /* each has one */
    pid_t child = paths_add(&options->inputs, &options->unread, folder) ? fork() : -1;
    if (child == 0) {
        watch_signals(false);
        exit(command_check(options));
    }
    running = child;
    int status = await(child);
    running = 0;
    watch_signals(false);
    return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_ERROR;
}

/* Who checks recordings while the program runs. */
typedef struct Checker {
    pid_t child;
    int report;
} Checker;

static Checker start_checker(Options *options, const char *folder) {
    Checker checker = {.child = -1};
    int ends[2];
    fflush(NULL);
    if (pipe(ends) != 0)
        return checker;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    checker.report = ends[1];
    checker.child = fork();
    if (checker.child == 0) {
        close(ends[1]);
        exit(check_while(options, &(Early){.folder = folder, .ended = ends[0]}));
    }
    close(ends[0]);
    return checker;
}

/* Its status, once it has checked the rest; `go`: there is something to be checked. */
static int end_checker(Checker checker, bool go) {
    if (checker.child < 0)
        return STATUS_ERROR;
    fflush(NULL);
    watch_signals(true);
    running = checker.child;
    void (*pipe_before)(int) = signal(SIGPIPE, SIG_IGN); /* it may have ended already */
    if (go && write(checker.report, "", 1) != 1)
        complain("the process that checks recordings has ended");
    signal(SIGPIPE, pipe_before);
    close(checker.report);
    int status = await(checker.child);
    running = 0;
    watch_signals(false);
    return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_ERROR;
}

/* A launch failed, and its records were lost: the program is run again, so that they are not. */
static bool run_again(const Options *options, const char *folder, Captured *captured, Ended *ended) {
    if (!captured->recorded.failed || !options->rerun_on_failure || !again_environment(&captured->recorded))
        return false;
    complain("a launch failed with CUDA error %d: the program is run again, with records in host memory",
             captured->recorded.failed);
    Ended again = run_apart(&options->operands);
    ended->left = again.left;
    memcpy(ended->left_name, again.left_name, sizeof ended->left_name);
    captured_free(captured);
    *captured = read_log(folder);
    return again.status >= 0;
}

/* `scratch`: for what is needed while the program runs. */
static int run_and_check(Options *options, const char *folder, const char *scratch, bool record) {
    Checker checker = {.child = -1};
    if (!(record ? record_environment(options, folder, scratch) : set_environment(folder, options)))
        return STATUS_ERROR;
    bool stands_in = !record && (options->standin ? strncmp(options->standin, "sm", 2) == 0 : !has_gpu());
    standin_folder = stands_in ? standin_make(scratch) : NULL;
    if (record)
        checker = start_checker(options, folder);
    Ended ended = run_apart(&options->operands);
    if (ended.status < 0) {
        end_checker(checker, false);
        return STATUS_ERROR;
    }
    Captured captured = read_log(folder);
    bool again = run_again(options, folder, &captured, &ended);
    each_entry(folder, count_file);
    bool all = !ended.status && !captured.notes.count && !ended.left && !captured.failure &&
               captured.recorded.ended == captured.recorded.begun && !captured.linked_in;
    say_notes(&captured, &ended);
    say_program(options->operands.items[0], ended.status);
    int status = STATUS_INCOMPLETE;
    bool nothing = !files_found && !logs_found && !captured.runs;
    bool linked_in =
        stands_in && (captured.linked_in || nothing) && standin_say(options->operands.items[0], captured.linked_in);
    if (record) {
        recorded_say(&captured.recorded, files_found, options);
        all &= merge_order(folder);
        status = end_checker(checker, true);
    } else if (files_found || (logs_found && !linked_in)) {
        if (!options->quiet && files_found)
            say_captured(&captured);
        else if (!options->quiet)
            fprintf(stderr, "weir: no kernel was captured; the order of the program's operations is checked\n");
        if (standin_folder)
            places_resolve(folder);
        all &= merge_order(folder);
        status = check_folder(options, folder, &captured);
    } else if (!linked_in) {
        say_nothing_captured(&captured);
    }
    if (captured.recorded.failed && !again)
        again_say(&captured.recorded, options);
    captured_free(&captured);
    return status == STATUS_OK && !all ? STATUS_INCOMPLETE : status;
}

/* "sm_90", "sm_100a", "gfx942" */
static bool is_target(const char *text) {
    bool amd = strncmp(text, "gfx", 3) == 0;
    if (!amd && strncmp(text, "sm", 2) != 0)
        return false;
    const char *number = text + (amd || text[2] == '_' ? 3 : 2);
    size_t digits = strspn(number, amd ? "0123456789abcdef" : "0123456789");
    size_t behind = amd ? 0 : strspn(number + digits, "af");
    return digits && behind < 2 && !number[digits + behind];
}

int command_exec(Options *options) {
    if (options->standin && !is_target(options->standin))
        wrong_usage(options, "--target is a GPU, such as sm_90, sm_100 or gfx942, not '%s'", options->standin);
    if (!options->operands.count)
        wrong_usage(options, "no program to run, as in 'weir exec -- python3 script.py'");
    bool record = options->records = record_wanted(options);
    char *scratch = make_folder();
    char *folder = !scratch ? NULL : options->keep ? kept_folder(options->keep) : record_folder(scratch);
    bool opened = folder && open_folder(folder) && (options->keep || chmod(scratch, 0711) == 0);
    int status = opened ? run_and_check(options, folder, scratch, record) : STATUS_ERROR;
    if (scratch && nftw(scratch, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0)
        complain("%s: %s", scratch, strerror(errno));
    free(folder);
    free(scratch);
    return status;
}
