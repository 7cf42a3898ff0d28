/* Holds proofs of PTX kernels against the machine: launches that a proof covers are run thread by thread, and may have
 * no race, no deadlock and no misused barrier.
 *
 *     prove_ptx launches COUNT SEED FILE...   COUNT launches of the kernels that are proved
 *     prove_ptx mutants COUNT SEED FILE...    COUNT changes of kernels that are proved: those still proved are run
 *
 * A change is one of a line: a barrier is dropped, an index, a mask, a stride, an offset, a comparison, a register. The
 * exit status is 1 if any launch breaks a proof. */
#include "unit/ptx_covered.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Counts {
    unsigned launches, complete, broken, unlaunched;
} Counts;

/* Runs launches of a proved kernel. True: one of them breaks the proof. */
static bool run_launches(CoveredKernel *kernel, unsigned times, const char *name, Counts *counts) {
    bool any = false;
    for (unsigned i = 0; i < times && !any; i++) {
        LaunchNumbers launch;
        LaunchNumber arguments[64];
        bool complete;
        if (kernel->proof->name_count > 64 || !covered_launch(kernel, &launch, arguments)) {
            counts->unlaunched++;
            return false;
        }
        Text json = {0};
        Arena arena;
        arena_init(&arena, SIZE_MAX);
        covered_print(kernel, &launch, &json);
        const char *broken = covered_broken(kernel, &json, &arena, &complete);
        counts->launches++;
        counts->complete += complete;
        if (broken) {
            counts->broken++;
            any = true;
            printf("BROKEN\t%s\t%s\t%.*s\n", name, broken, (int)json.size, json.data);
        }
        text_free(&json);
        arena_free(&arena);
    }
    return any;
}

/* ---- Changes --------------------------------------------------------------------------------------- */

typedef enum Change {
    CHANGE_BARRIER,
    CHANGE_NUMBER,
    CHANGE_COMPARISON,
    CHANGE_GUARD,
    CHANGE_OFFSET,
    CHANGE_REGISTER,
    CHANGE_SPECIAL,
    CHANGES
} Change;
static const char *const change_names[] = {"barrier", "number", "comparison", "guard", "offset", "register", "special"};

/* The lines of a text. */
typedef struct Lines {
    Str all[20000];
    unsigned count;
} Lines;

static void split_lines(Lines *lines, const char *text, size_t size) {
    lines->count = 0;
    for (const char *at = text, *end = text + size; at < end && lines->count < 20000;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop + 1 : end;
        lines->all[lines->count++] = str_between(at, stop);
        at = stop;
    }
}

static const char *find_in(Str line, const char *word) {
    return memmem(line.data, line.size, word, strlen(word));
}

/* A number that stands behind the last comma; NULL: none does. */
static const char *last_number(Str line) {
    const char *comma = memrchr(line.data, ',', line.size);
    if (!comma || find_in(line, ".loc") || find_in(line, ".reg") || find_in(line, "setp.") == line.data)
        return NULL;
    const char *at = comma + 1;
    while (*at == ' ' || *at == '\t')
        at++;
    return *at == '-' || (*at >= '0' && *at <= '9' && at[1] != 'f') ? at : NULL;
}

static void change_number(const char *at, Text *to, const char *end) {
    char *behind;
    int64_t value = strtoll(at, &behind, 0);
    const int64_t others[] = {value + 1, value - 1, value * 2, value / 2, 0, 1, value + 4, -value};
    text_addf(to, "%" PRId64, others[covered_roll(7)]);
    text_add(to, behind, (size_t)(end - behind));
}

/* The line changed; false: it is not of that kind. */
static bool change_line(Str line, Change change, Text *to) {
    static const char *const compares[] = {".lt.", ".le.", ".gt.", ".ge.", ".eq.", ".ne."};
    static const char *const specials[] = {"%tid.x",  "%tid.y",    "%ctaid.x", "%ctaid.y",
                                           "%ntid.x", "%nctaid.x", "%laneid"};
    const char *end = line.data + line.size, *at = NULL;
    switch (change) {
    case CHANGE_BARRIER:
        return find_in(line, "bar.sync") || find_in(line, "barrier.sync");
    case CHANGE_NUMBER:
        if (!(at = last_number(line)))
            return false;
        text_add(to, line.data, (size_t)(at - line.data));
        change_number(at, to, end);
        return true;
    case CHANGE_COMPARISON:
        for (unsigned i = 0; i < 6 && find_in(line, "setp"); i++)
            if ((at = find_in(line, compares[i]))) {
                text_add(to, line.data, (size_t)(at - line.data));
                text_addf(to, "%s", compares[(i + 1 + covered_roll(4)) % 6]);
                text_add(to, at + 4, (size_t)(end - at - 4));
                return true;
            }
        return false;
    case CHANGE_GUARD:
        if (!(at = find_in(line, "@")))
            return false;
        if (covered_roll(1))
            return true; /* it is dropped */
        text_add(to, line.data, (size_t)(at - line.data));
        bool negated = at[1] == '!';
        text_addf(to, "%s", negated ? "@" : "@!");
        text_add(to, at + 1 + negated, (size_t)(end - at - 1 - negated));
        return true;
    case CHANGE_OFFSET:
        at = memchr(line.data, ']', line.size);
        if (!at || !(find_in(line, "shared") || find_in(line, "global")))
            return false;
        text_add(to, line.data, (size_t)(at - line.data));
        text_addf(to, "+%u", 4 * (1 + covered_roll(3)) << covered_roll(4));
        text_add(to, at, (size_t)(end - at));
        return true;
    case CHANGE_REGISTER: {
        const char *comma = memchr(line.data, ',', line.size);
        at = comma ? memmem(comma, (size_t)(end - comma), "%r", 2) : NULL;
        if (!at || at[2] == 'd' || find_in(line, ".loc"))
            return false;
        text_add(to, line.data, (size_t)(at - line.data));
        char *behind;
        long number = strtol(at + 2, &behind, 10);
        text_addf(to, "%%r%ld", number + (long)covered_roll(6) - 3 < 1 ? 1 : number + (long)covered_roll(6) - 3);
        text_add(to, behind, (size_t)(end - behind));
        return true;
    }
    case CHANGE_SPECIAL:
        for (unsigned i = 0; i < 7; i++)
            if ((at = find_in(line, specials[i]))) {
                text_add(to, line.data, (size_t)(at - line.data));
                text_addf(to, "%s", specials[(i + 1 + covered_roll(5)) % 7]);
                text_add(to, at + strlen(specials[i]), (size_t)(end - at) - strlen(specials[i]));
                return true;
            }
        return false;
    default:
        return false;
    }
}

/* The text with one change of that kind, at a line at random; false: it has no such line. */
static bool change_text(const Lines *lines, Change change, Text *to) {
    unsigned first = covered_roll(lines->count - 1);
    for (unsigned i = 0; i < lines->count; i++) {
        unsigned which = (first + i) % lines->count;
        Text line = {0};
        bool good = change_line(lines->all[which], change, &line);
        for (unsigned n = 0; n < lines->count && good; n++) {
            Str at = n == which ? (Str){line.data, line.size} : lines->all[n];
            text_add(to, at.data, at.size);
        }
        text_free(&line);
        if (good)
            return true;
    }
    return false;
}

/* ---- Both ------------------------------------------------------------------------------------------ */

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *data = file ? malloc(1 << 22) : NULL;
    *size = data ? fread(data, 1, 1 << 22, file) : 0;
    if (file)
        fclose(file);
    return data;
}

static void mutants(unsigned count, char **paths, unsigned files) {
    static Lines lines;
    Counts counts = {0};
    unsigned made[CHANGES] = {0}, proved[CHANGES] = {0}, broken[CHANGES] = {0}, all = 0;
    bool *good = calloc(files, sizeof *good);
    for (unsigned i = 0; i < files; i++) {
        size_t size;
        char *text = read_file(paths[i], &size);
        CoveredKernel kernel;
        good[i] = text && covered_open(&kernel, text, size) && kernel.proof->proved;
        if (text)
            covered_close(&kernel);
        free(text);
    }
    for (unsigned tries = 0; all < count && tries < 20 * count; tries++) {
        unsigned which = covered_roll(files - 1);
        size_t size;
        char *text = good[which] ? read_file(paths[which], &size) : NULL;
        if (!text)
            continue;
        split_lines(&lines, text, size);
        Change change = (Change)(all % CHANGES);
        Text changed = {0};
        CoveredKernel kernel;
        for (unsigned n = 0; n < CHANGES && !change_text(&lines, change, &changed); n++)
            change = (Change)((change + 1) % CHANGES);
        bool opened = changed.size && (changed.size != size || memcmp(changed.data, text, size) != 0);
        if (opened && covered_open(&kernel, changed.data, changed.size)) {
            all++;
            if (getenv("PROGRESS"))
                fprintf(stderr, "%u %s %s %.2f s\n", all, change_names[change], paths[which], kernel.proof->seconds);
            made[change]++;
            proved[change] += kernel.proof->proved;
            if (kernel.proof->proved && run_launches(&kernel, 5, paths[which], &counts)) {
                char name[64];
                broken[change]++;
                snprintf(name, sizeof name, "broken-%u.ptx", counts.broken);
                FILE *file = fopen(name, "wb");
                if (file) {
                    fwrite(changed.data, 1, changed.size, file);
                    fclose(file);
                }
            }
        }
        if (opened)
            covered_close(&kernel);
        text_free(&changed);
        free(text);
    }
    printf("%-12s %8s %8s %8s\n", "change", "mutants", "proved", "broken");
    for (unsigned i = 0; i < CHANGES; i++)
        printf("%-12s %8u %8u %8u\n", change_names[i], made[i], proved[i], broken[i]);
    printf("all %u mutants; %u launches of those still proved, %u of them wholly known, %u without a launch\n", all,
           counts.launches, counts.complete, counts.unlaunched);
    printf("broken: %u\n", counts.broken);
    free(good);
    exit(counts.broken > 0);
}

static void launches(unsigned count, char **paths, unsigned files) {
    Counts counts = {0};
    unsigned proved = 0;
    for (unsigned i = 0; i < files; i++) {
        size_t size;
        char *text = read_file(paths[i], &size);
        CoveredKernel kernel;
        if (!text)
            continue;
        if (covered_open(&kernel, text, size) && kernel.proof->proved) {
            proved++;
            run_launches(&kernel, (count + files - 1) / files, paths[i], &counts);
        }
        covered_close(&kernel);
        free(text);
    }
    printf("%u of %u kernels proved; %u launches, %u of them wholly known, %u kernels without a launch; broken: %u\n",
           proved, files, counts.launches, counts.complete, counts.unlaunched, counts.broken);
    exit(counts.broken > 0);
}

int main(int count, char **words) {
    if (count < 5) {
        fprintf(stderr, "prove_ptx launches|mutants COUNT SEED FILE...\n");
        return 2;
    }
    covered_seed = strtoull(words[3], NULL, 10) * 2 + 1;
    if (strcmp(words[1], "mutants") == 0)
        mutants((unsigned)strtoul(words[2], NULL, 10), words + 4, (unsigned)count - 4);
    launches((unsigned)strtoul(words[2], NULL, 10), words + 4, (unsigned)count - 4);
}
