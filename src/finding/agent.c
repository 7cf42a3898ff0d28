/* Agents in sentences: a partition by its name in quotes, a helper by the partition that it works for. */
#include "finding/agent.h"

#include <string.h>

typedef struct AgentParts {
    Str cta, base;     /* "cta1", "partition0"; no cta: "" */
    unsigned helper;   /* of helpers[]; 0: the agent itself */
    bool is_partition; /* not "thread 5", "CTA 3" */
} AgentParts;

static const struct {
    const char *suffix, *does, *adjective;
} helpers[] = {
    {"", "", ""},
    {".tma", "the TMA of ", "TMA "},
    {".tensor", "the tensor core of ", "tensor-core "},
    {".clc", "the launch control of ", "launch-control "},
};

static const char asynchronous[] = "the asynchronous operation of ";

static bool ends_with(Str text, const char *end) {
    size_t size = strlen(end);
    return text.size > size && memcmp(text.data + text.size - size, end, size) == 0;
}

static bool is_numbered(Str text, const char *word) {
    size_t size = strlen(word);
    if (!str_starts(text, str_of(word)) || text.size == size)
        return false;
    for (size_t i = size; i < text.size; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return true;
}

static AgentParts parts_of(Str name) {
    AgentParts parts = {.base = name, .cta = STR("")};
    for (unsigned i = 1; i < sizeof helpers / sizeof *helpers; i++)
        if (ends_with(parts.base, helpers[i].suffix)) {
            parts.helper = i;
            parts.base.size -= strlen(helpers[i].suffix);
        }
    const char *dot = memchr(parts.base.data, '.', parts.base.size);
    if (dot && is_numbered(str_between(parts.base.data, dot), "cta")) {
        parts.cta = str_between(parts.base.data, dot);
        parts.base = str_between(dot + 1, parts.base.data + parts.base.size);
    }
    parts.is_partition =
        str_is(parts.base, "default") || is_numbered(parts.base, "partition") || is_numbered(parts.base, "task");
    return parts;
}

static void add_base(Text *to, const AgentParts *parts) {
    if (str_is(parts->base, "default"))
        text_addf(to, "partition 'default'");
    else
        text_add_plain(to, parts->base);
    if (parts->cta.size)
        text_addf(to, " of %.*s", STR_ARG(parts->cta));
}

void agent_words(Text *to, Str name) {
    AgentParts parts = parts_of(name);
    if (!parts.is_partition) {
        text_add_plain(to, name);
        return;
    }
    text_addf(to, "%s", helpers[parts.helper].does);
    add_base(to, &parts);
}

void access_words(Text *to, Str noun, Str name) {
    AgentParts parts = parts_of(name);
    if (parts.is_partition) {
        text_addf(to, "%s%.*s by ", helpers[parts.helper].adjective, STR_ARG(noun));
        add_base(to, &parts);
    } else if (str_starts(name, STR(asynchronous))) {
        text_addf(to, "asynchronous %.*s by ", STR_ARG(noun));
        text_add_plain(to, str_between(name.data + strlen(asynchronous), name.data + name.size));
    } else {
        text_addf(to, "%.*s by ", STR_ARG(noun));
        text_add_plain(to, name);
    }
}
