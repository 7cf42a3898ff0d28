/* Texts about recordings, grouped. */
#include "render/grouped.h"

#include "base/array.h"
#include "base/hash.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MOST = 2 };

/* ---- One recording -------------------------------------------------------------------------------- */

void grouped_begin(Grouped *grouped, const Verdict *verdict, const Source *source) {
    GroupedFile *file = calloc(1, sizeof *file);
    grouped->failed |= !file;
    if (!file)
        return;
    *file = (GroupedFile){.file = strdup(source->name),
                          .kernel = strdup(verdict_name(verdict)),
                          .verdict = verdict->kind,
                          .launches = verdict->launch_count};
    for (size_t i = 0; i < verdict->launch_count; i++) {
        file->ctas += verdict->launches[i].ctas;
        file->events += verdict->launches[i].events;
    }
    grouped->failed |= !file->file || !file->kernel;
    if (grouped->last)
        grouped->last->next = file;
    else
        grouped->first = file;
    grouped->last = file;
}

/* The key is taken. */
static void add_item(Grouped *grouped, GroupedKind kind, Text *key, size_t begin, size_t end) {
    GroupedFile *file = grouped->last;
    text_char(key, 0);
    bool room = file && ARRAY_ROOM(file->items, file->count, file->capacity, 8);
    grouped->failed |= key->failed || (file && !room);
    if (!room || key->failed) {
        text_free(key);
        return;
    }
    file->items[file->count++] = (GroupedItem){kind, begin, end, key->data};
    *key = (Text){0};
}

void grouped_finding(Grouped *grouped, const Finding *finding, const Source *source, size_t begin, size_t end) {
    Text key = {0};
    text_addf(&key, "%d", (int)finding->rule);
    for (size_t i = 0; i < finding->place_count; i++) {
        const FindingPlace *place = &finding->places[i];
        if (place->file && *place->file && place->line)
            text_addf(&key, " %s:%u", place->file, place->line);
        else
            text_addf(&key, " %016" PRIx64 ":%u", hash_bytes(HASH_START, source->data, source->size), place->ir_line);
    }
    add_item(grouped, (GroupedKind)finding_severity(finding), &key, begin, end); /* ORDER Severity */
}

void grouped_other(Grouped *grouped, GroupedKind kind, const char *words, size_t begin, size_t end) {
    Text key = {0};
    for (; *words; words++)
        if (!isdigit((unsigned char)*words))
            text_char(&key, *words);
        else if (!isdigit((unsigned char)words[1]))
            text_char(&key, '#');
    add_item(grouped, kind, &key, begin, end);
}

void grouped_end(Grouped *grouped, Text *text, size_t begin) {
    GroupedFile *file = grouped->last;
    if (!file || begin >= text->size)
        return;
    text_add(&file->text, text->data + begin, text->size - begin);
    grouped->failed |= file->text.failed;
    for (size_t i = 0; i < file->count; i++) {
        file->items[i].begin -= begin;
        file->items[i].end -= begin;
    }
    text->size = begin;
}

void grouped_join(Grouped *grouped, Grouped *part) {
    if (grouped->last)
        grouped->last->next = part->first;
    else
        grouped->first = part->first;
    grouped->last = part->last ? part->last : grouped->last;
    grouped->failed |= part->failed;
    grouped->color |= part->color;
    *part = (Grouped){0};
}

void grouped_free(Grouped *grouped) {
    for (GroupedFile *file = grouped->first, *next; file; file = next) {
        next = file->next;
        for (size_t i = 0; i < file->count; i++)
            free(file->items[i].key);
        free(file->items);
        free(file->file);
        free(file->kernel);
        text_free(&file->text);
        free(file);
    }
    *grouped = (Grouped){0};
}

/* ---- All of one kernel ---------------------------------------------------------------------------- */

/* Something that recordings of a kernel have in common. */
typedef struct GroupedShared {
    struct GroupedShared *next;
    char *key; /* in the map */
    const GroupedItem *item;
    const GroupedFile *file, *last; /* that have it: the first one, and the last so far */
    const char *also[NAMES_MOST];
    size_t files, times;
} GroupedShared;

typedef struct GroupedGroup {
    struct GroupedGroup *next;
    const GroupedFile *first;
    size_t files, launches, counts[GROUPED_KINDS];
    uint64_t ctas, events;
    VerdictKind verdict;
    GroupedShared *items, **end;
    Map by_key;
} GroupedGroup;

static void share(GroupedGroup *group, const GroupedFile *file, const GroupedItem *item, bool *failed) {
    Text key = {0};
    text_addf(&key, "%d %s", (int)item->kind, item->key);
    GroupedShared **seat = key.failed ? NULL : (GroupedShared **)map_put(&group->by_key, (Str){key.data, key.size});
    GroupedShared *shared = seat ? *seat : NULL;
    if (seat && !shared && (shared = *seat = calloc(1, sizeof *shared))) {
        *shared = (GroupedShared){.key = key.data, .item = item, .file = file};
        *group->end = shared;
        group->end = &shared->next;
        key = (Text){0};
    }
    text_free(&key);
    *failed |= !shared;
    if (!shared)
        return;
    group->counts[item->kind]++;
    shared->times++;
    if (shared->last == file)
        return;
    if (shared->files && shared->files <= NAMES_MOST)
        shared->also[shared->files - 1] = file->file;
    shared->last = file;
    shared->files++;
}

static GroupedGroup *group_of(GroupedGroup **groups, const GroupedFile *file) {
    while (*groups && strcmp((*groups)->first->kernel, file->kernel) != 0)
        groups = &(*groups)->next;
    if (!*groups && (*groups = calloc(1, sizeof **groups))) {
        (*groups)->first = file;
        (*groups)->end = &(*groups)->items;
    }
    return *groups;
}

static void add_file(GroupedGroup *group, const GroupedFile *file, bool *failed) {
    group->files++;
    group->launches += file->launches;
    group->ctas += file->ctas;
    group->events += file->events;
    group->verdict = verdict_worse(group->verdict, file->verdict);
    for (size_t i = 0; i < file->count; i++)
        share(group, file, &file->items[i], failed);
}

/* ", also two.weirrec, three.weirrec and 362 more" */
static void add_names(Text *to, const GroupedShared *shared) {
    size_t named = shared->files - 1 < NAMES_MOST ? shared->files - 1 : NAMES_MOST;
    for (size_t i = 0; i < named; i++)
        text_plainf(to, "%s%s", i ? ", " : ", also ", shared->also[i]);
    if (shared->files - 1 > named)
        text_addf(to, " and %zu more", shared->files - 1 - named);
}

static void add_shared(Text *to, const GroupedShared *shared, bool color) {
    const Text *text = &shared->file->text;
    size_t begin = shared->item->begin, end = shared->item->end;
    bool finding = shared->item->kind <= GROUPED_REMARK;
    if (!finding && shared->files > 1 && end > begin)
        end--; /* the newline */
    text_add(to, text->data + begin, end - begin);
    if (!finding) {
        if (shared->files > 1)
            text_addf(to, " (%zu recordings)\n", shared->files);
        return;
    }
    if (shared->times == 1)
        return;
    text_addf(to, "  %srecordings:%s %zu", color ? "\033[1m" : "", color ? "\033[0m" : "", shared->files);
    add_names(to, shared);
    if (shared->times > shared->files) {
        text_addf(to, "; ");
        text_number_of(to, shared->times, "finding");
        text_addf(to, " at these lines");
    }
    text_char(to, '\n');
}

static void add_counts(Text *to, const GroupedGroup *group) {
    static const char *const names[] = {"error", "warning", "note"}; /* ORDER GroupedKind */
    const char *between = "";
    for (GroupedKind kind = GROUPED_ERROR; kind <= GROUPED_REMARK; kind++) {
        if (!group->counts[kind])
            continue;
        text_addf(to, "%s", between);
        text_number_of(to, group->counts[kind], names[kind]);
        between = ", ";
    }
    if (group->counts[GROUPED_INCOMPLETE]) {
        text_addf(to, "%sincomplete: ", *between ? "; " : "");
        text_number_of(to, group->counts[GROUPED_INCOMPLETE], "reason");
        between = ", ";
    }
    text_addf(to, "%s", *between ? "; " : "");
    text_number_of(to, group->launches, "launch");
    text_addf(to, ", ");
    text_number_of(to, group->ctas, "CTA");
    text_addf(to, ", ");
    text_number_of(to, group->events, "event");
    text_char(to, '\n');
}

size_t grouped_choose(size_t left[GROUPED_REMARK + 1], size_t most) {
    size_t out = 0, room = most ? most : SIZE_MAX;
    for (GroupedKind kind = GROUPED_ERROR; kind <= GROUPED_REMARK; kind++) {
        size_t written = left[kind] < room ? left[kind] : room;
        out += left[kind] - written;
        room -= written;
        left[kind] = written;
    }
    return out;
}

void grouped_left_out(Text *to, size_t count) {
    if (!count)
        return;
    text_addf(to, "  and ");
    text_number_of(to, count, "more finding");
    text_addf(to, ", which --max-findings leaves out\n");
}

/* A recording that is the only one of its kernel. */
static void write_file(const GroupedFile *file, size_t most, Text *to) {
    size_t left[GROUPED_REMARK + 1] = {0}, from = 0, last = 0;
    for (size_t i = 0; i < file->count; i++)
        if (file->items[i].kind <= GROUPED_REMARK) {
            left[file->items[i].kind]++;
            last = file->items[i].end;
        }
    size_t out = grouped_choose(left, most);
    for (size_t i = 0; i < file->count; i++) {
        const GroupedItem *item = &file->items[i];
        if (item->kind > GROUPED_REMARK)
            continue;
        if (left[item->kind]) {
            left[item->kind]--;
            continue;
        }
        text_add(to, file->text.data + from, item->begin - from);
        from = item->end;
    }
    if (last > from) {
        text_add(to, file->text.data + from, last - from);
        from = last;
    }
    grouped_left_out(to, out);
    text_add(to, file->text.data + from, file->text.size - from);
}

static void write_group(const GroupedGroup *group, bool color, size_t most, Text *to) {
    size_t count = 0;
    most = most ? most : SIZE_MAX;
    if (group->files == 1) {
        write_file(group->first, most, to);
        return;
    }
    text_addf(to, "%s", color ? "\033[1m" : "");
    text_plainf(to, "%s", group->first->file);
    text_addf(to, " and %zu more:%s @", group->files - 1, color ? "\033[0m" : "");
    text_plainf(to, "%s", group->first->kernel);
    text_addf(to, ": %s\n", verdict_kind_name(group->verdict));
    for (GroupedKind kind = GROUPED_ERROR; kind < GROUPED_KINDS; kind++) {
        for (const GroupedShared *shared = group->items; shared; shared = shared->next)
            if (shared->item->kind == kind && (kind > GROUPED_REMARK || count++ < most))
                add_shared(to, shared, color);
        if (kind == GROUPED_REMARK)
            grouped_left_out(to, count > most ? count - most : 0);
    }
    add_counts(to, group);
}

void grouped_write(const Grouped *grouped, Text *to) {
    GroupedGroup *groups = NULL;
    bool failed = grouped->failed;
    for (const GroupedFile *file = grouped->first; file && !failed; file = file->next) {
        GroupedGroup *group = group_of(&groups, file);
        failed |= !group;
        if (group)
            add_file(group, file, &failed);
    }
    for (GroupedGroup *group = groups, *next; group; group = next) {
        next = group->next;
        if (!failed)
            write_group(group, grouped->color, grouped->most, to);
        for (GroupedShared *shared = group->items, *after; shared; shared = after) {
            after = shared->next;
            free(shared->key);
            free(shared);
        }
        map_free(&group->by_key);
        free(group);
    }
    to->failed |= failed;
}
