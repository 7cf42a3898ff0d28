/* Fills the rows of causes.def with what a driver knows. */
#include "check/explain/explain.h"

#include "finding/agent.h"

#include <stdlib.h>

typedef struct Cause {
    const char *message, *why, *fixes[2]; /* for IR, and for PTX; the second NULL: the same */
} Cause;

static const Cause causes[] = {
#define CAUSE(id, message, why, ...) {message, why, {__VA_ARGS__}},
#include "check/explain/causes.def"
#undef CAUSE
};

static const struct {
    const char *name;
    size_t offset;
    bool number;
} names[] = {
#define X(name) {#name, offsetof(Facts, name), false},
    EXPLAIN_TEXTS(X)
#undef X
#define X(name) {#name, offsetof(Facts, name), true},
        EXPLAIN_NUMBERS(X)
#undef X
};

/* Facts that are names of agents; and what the two of a race do, "TMA write by partition0". */
static bool is_agent(Str name) {
    return str_is(name, "agent") || str_is(name, "other") || str_is(name, "waiter") || str_is(name, "issuer");
}

static bool add_access(Text *to, Str name, const Facts *facts) {
    bool later = str_is(name, "access");
    const char *noun = later ? facts->noun : facts->other_noun, *agent = later ? facts->agent : facts->other;
    if (!later && !str_is(name, "other_access"))
        return false;
    if (noun && agent)
        access_words(to, str_of(noun), str_of(agent));
    return true;
}

/* What stands between braces. */
static void add_fact(Text *to, Str inside, const Facts *facts) {
    const char *colon = memchr(inside.data, ':', inside.size), *end = inside.data + inside.size;
    Str name = str_between(inside.data, colon ? colon : end);
    if (add_access(to, name, facts))
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *at = (const char *)facts + names[i].offset, *text = *(const char *const *)at;
        if (!str_is(name, names[i].name))
            continue;
        int64_t number = *(const int64_t *)at;
        const char *bar = colon ? memchr(colon, '|', (size_t)(end - colon)) : NULL;
        if (bar)
            text_str(to, number == 1 ? str_between(colon + 1, bar) : str_between(bar + 1, end));
        else if (names[i].number)
            text_addf(to, "%lld", (long long)number);
        else if (text && is_agent(name))
            agent_words(to, str_of(text));
        else
            text_str(to, str_of(text ? text : ""));
    }
}

const char *explain_text(Verdict *verdict, const char *pattern, const Facts *facts) {
    Text text = {0};
    for (const char *at = pattern; *at;) {
        size_t plain = strcspn(at, "{");
        text_str(&text, (Str){at, plain});
        at += plain;
        if (!*at)
            break;
        const char *end = strchr(at, '}');
        add_fact(&text, str_between(at + 1, end), facts);
        at = end + 1;
    }
    return verdict_keep(verdict, &text);
}

const char *explain_message(Verdict *verdict, CauseId cause, const Facts *facts) {
    return explain_text(verdict, causes[cause].message, facts);
}

void explain(Verdict *verdict, Finding *finding, CauseId id, const Facts *facts) {
    const Cause *cause = &causes[id];
    const char *fix = cause->fixes[facts->ptx && cause->fixes[1]];
    if (cause->message)
        finding->message = explain_text(verdict, cause->message, facts);
    if (cause->why)
        finding->why = explain_text(verdict, cause->why, facts);
    if (fix)
        finding->fix = explain_text(verdict, fix, facts);
}

static bool is_well_formed(const char *pattern) {
    for (const char *at = pattern; at && (at = strpbrk(at, "{}"));) {
        const char *end = at + strcspn(at, "}");
        Text access = {0};
        bool known = add_access(&access, (Str){at + 1, strcspn(at + 1, ":}")}, &(Facts){0});
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            known |= str_is((Str){at + 1, strcspn(at + 1, ":}")}, names[i].name);
        if (*at == '}' || !*end || !known)
            return false;
        at = end + 1;
    }
    return true;
}

const char *explain_table_problem(void) {
    for (size_t i = 0; i < CAUSE_COUNT; i++) {
        const char *texts[] = {causes[i].message, causes[i].why, causes[i].fixes[0], causes[i].fixes[1]};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            if (!is_well_formed(texts[k]))
                return texts[k];
    }
    return NULL;
}

const char explain_unheld[] =
    "Nothing keeps the arriving side from completing the next phase before the wait has seen the previous one.";

const char *explain_agent(Verdict *verdict, const char *agent) {
    Text text = {0};
    agent_words(&text, str_of(agent));
    return verdict_keep(verdict, &text);
}

const char *explain_phase(Verdict *verdict, const Facts *facts) {
    Facts state = *facts;
    state.bytes = llabs(facts->bytes);
    state.detail = !facts->bytes ? "" : facts->bytes > 0 ? ", {bytes} bytes outstanding" : ", {bytes} bytes too many";
    state.detail = explain_text(verdict, state.detail, &state);
    return explain_text(
        verdict, "phase {phases} is not complete ({pending} of {count} arrival{count:|s} pending{detail})", &state);
}

const char *explain_circle(Verdict *verdict, const Facts *facts, const WaitLink *links, uint32_t count) {
    Text text = {0};
    text_addf(&text, "%s", explain_text(verdict, "Phase {phases} of {object}", facts));
    for (uint32_t i = 0; i < count; i++) {
        text_addf(&text, "%s would be completed by %s at %s", i ? "; that" : "", explain_agent(verdict, links[i].agent),
                  links[i].place);
        if (links[i].closes)
            text_addf(&text, ", after this wait");
        else if (links[i].wait)
            text_addf(&text, ", after %s wait on %s at %s", links[i].its, links[i].object, links[i].wait);
    }
    text_addf(&text, ".");
    return verdict_keep(verdict, &text);
}
