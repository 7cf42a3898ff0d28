/* weir rules: list the rules that findings are about, and explain them. */
#include "cli/cli.h"
#include "weir/weir.h"

#include <stdlib.h>
#include <string.h>

static const char *severity_name(weir_severity severity) {
    static const char *const names[] = {"error", "warning", "note"};
    return names[severity];
}

/* "deadlock" means every rule "deadlock.KIND". */
static bool means(const char *name, const char *id) {
    size_t size = strlen(name);
    return strncmp(id, name, size) == 0 && (id[size] == 0 || id[size] == '.');
}

static void list_rules(Output *output, const char *family) {
    int width = 0;
    for (size_t i = 0; i < weir_rule_count(); i++) {
        int size = (int)strlen(weir_rule_at(i).id);
        width = (!family || means(family, weir_rule_at(i).id)) && size > width ? size : width;
    }
    for (size_t i = 0; i < weir_rule_count(); i++) {
        weir_rule rule = weir_rule_at(i);
        if (!family || means(family, rule.id))
            output_printf(output, "%-*s  %-7s  %s\n", width, rule.id, severity_name(rule.severity), rule.summary);
    }
}

static void list_markdown(Output *output) {
    output_printf(output, "# Rules\n\n"
                          "What a finding can be about. `weir rules ID` prints a page of these; "
                          "[findings.md](../findings.md) tells how\nto read a finding.\n\n"
                          "| rule | severity | what it says |\n| --- | --- | --- |\n");
    for (size_t i = 0; i < weir_rule_count(); i++) {
        weir_rule rule = weir_rule_at(i);
        output_printf(output, "| [%s](%s.md) | %s | %s |\n", rule.id, rule.id, severity_name(rule.severity),
                      rule.summary);
    }
}

/* Lines of a text as they are; one that is too long, and no code, goes on in the next. */
static void print_text(Output *output, const char *text) {
    enum { WIDTH = 110 };
    bool code = false;
    while (*text) {
        int size = (int)strcspn(text, "\n"), end = size;
        code ^= strncmp(text, "```", 3) == 0;
        if (size > WIDTH && !code) {
            for (end = WIDTH; end > 0 && text[end] != ' '; end--)
                continue;
            end = end ? end : (int)strcspn(text, " \n");
        }
        output_printf(output, "%.*s\n", end, text);
        text += text[end] ? end + 1 : end;
    }
}

static void explain(Output *output, const weir_rule *rule, bool markdown) {
    output_printf(output, "%s%s\n\n%s. Severity: %s.\n\n", markdown ? "# " : "", rule->id, rule->summary,
                  severity_name(rule->severity));
    print_text(output, rule->text);
}

/* The texts of rules are ASCII. */
static void print_quoted(Output *output, const char *key, const char *text) {
    output_printf(output, "\"%s\": \"", key);
    for (; *text; text++)
        if (*text == '\n')
            output_printf(output, "\\n");
        else
            output_printf(output, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    output_printf(output, "\"");
}

/* {"rules": [...]}: those of the names, in the order of `weir rules`. False, with a message, if a name is none. */
static bool list_json(Output *output, const Paths *names) {
    const char *between = "";
    for (size_t k = 0; k < names->count; k++) {
        char *said = weir_rules_unknown(names->items[k]).data
                         ? rule_unknown((weir_string){names->items[k], strlen(names->items[k])})
                         : NULL;
        if (said) {
            complain("%s", said);
            free(said);
            return false;
        }
    }
    output_printf(output, "{\"rules\": [");
    for (size_t i = 0; i < weir_rule_count(); i++) {
        weir_rule rule = weir_rule_at(i);
        bool named = !names->count;
        for (size_t k = 0; k < names->count && !named; k++)
            named = means(weir_rule_name(names->items[k]), rule.id);
        if (!named)
            continue;
        output_printf(output, "%s\n  {", between);
        print_quoted(output, "id", rule.id);
        output_printf(output, ", \"severity\": \"%s\", ", severity_name(rule.severity));
        print_quoted(output, "summary", rule.summary);
        output_printf(output, ", ");
        print_quoted(output, "text", rule.text);
        output_printf(output, "}");
        between = ",";
    }
    output_printf(output, "\n]}\n");
    return true;
}

/* A family is listed, a rule explained. False, with a message, if there is neither. */
static bool report(Output *output, const char *given, bool markdown) {
    const char *name = weir_rule_name(given);
    bool family = false;
    for (size_t i = 0; i < weir_rule_count(); i++) {
        weir_rule rule = weir_rule_at(i);
        if (strcmp(rule.id, name) == 0) {
            explain(output, &rule, markdown);
            return true;
        }
        family |= means(name, rule.id);
    }
    if (family)
        list_rules(output, name);
    char *said = family ? NULL : rule_unknown((weir_string){given, strlen(given)});
    if (said)
        complain("%s", said);
    free(said);
    return family;
}

int command_rules(Options *options) {
    const Paths *names = &options->operands; /* ids, or families such as "deadlock"; all rules if there are none */
    Output *output = output_open(options->output);
    if (!output)
        return STATUS_ERROR;
    bool good = true;
    bool json = options->format == WEIR_JSON;
    if (json)
        good = list_json(output, names);
    else if (!names->count && options->markdown)
        list_markdown(output);
    else if (!names->count)
        list_rules(output, NULL);
    for (size_t i = 0; i < names->count && good && !json; i++) {
        if (i)
            output_printf(output, "\n");
        good = report(output, names->items[i], options->markdown);
    }
    good &= output_close(output, good);
    return good ? STATUS_OK : STATUS_ERROR;
}
