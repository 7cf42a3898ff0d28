/* The tree of a mangled name as C++ spells it: what stands before the name in a declaration, the name, and what stands
 * behind it. */
#include "base/demangle/internal.h"

#include <ctype.h>
#include <stdlib.h>

enum {
    LONGEST_TEXT = 1 << 18,
    MOST_STEPS = 1 << 20, /* nodes that are printed; one that is shared counts each time */
    DEEPEST = 512,
    LONGEST_SHORT = 60, /* template arguments that a short name has */
};

/* The template whose declaration is printed, in which parameters are its arguments. */
typedef struct TemplateScope {
    NodeId list;
    const struct TemplateScope *outer; /* that of the arguments themselves */
} TemplateScope;

typedef struct Printer {
    const Mangled *from;
    const TemplateScope *scope;
    Text text;
    uint32_t steps, depth;
    int64_t element; /* of packs, where one after the other is printed; -1: all */
    bool brief;
    bool lambda; /* its parameters are printed: those of a template are `auto` */
    bool failed;
} Printer;

static void print(Printer *p, NodeId id);
static void print_left(Printer *p, NodeId id);
static void print_right(Printer *p, NodeId id);

static const Node *at(const Printer *p, NodeId id) {
    return &p->from->nodes[id];
}

static void say(Printer *p, const char *text) {
    text_str(&p->text, str_of(text));
    p->failed |= p->text.size > LONGEST_TEXT;
}

static char last(const Printer *p) {
    return p->text.size ? p->text.data[p->text.size - 1] : 0;
}

static bool enter(Printer *p) {
    if (p->failed || ++p->steps > MOST_STEPS || p->depth >= DEEPEST) {
        p->failed = true;
        return false;
    }
    p->depth++;
    return true;
}

/* ---- Packs --------------------------------------------------------------------------------------- */

static NodeId nth(const Printer *p, NodeId list, int64_t number) {
    for (; number && list; number--)
        list = at(p, list)->b;
    return list ? at(p, list)->a : NODE_NONE;
}

static NodeId argument_of(const Printer *p, const TemplateScope *scope, const Node *parameter) {
    return scope ? nth(p, scope->list, parameter->b) : NODE_NONE;
}

/* What stands for a parameter, in its scope; of a pack the element that is printed, NONE if it has fewer. */
static NodeId stands_for(const Printer *p, NodeId id, const TemplateScope **scope) {
    while (!p->lambda && at(p, id)->kind == NODE_PARAMETER && *scope) {
        id = argument_of(p, *scope, at(p, id));
        *scope = (*scope)->outer;
        if (at(p, id)->kind == NODE_PACK && p->element >= 0)
            id = nth(p, at(p, id)->a, p->element);
    }
    return id;
}

/* The pack that a pattern is about; NONE: it is about none. */
static NodeId find_pack(Printer *p, NodeId id) {
    const Node *node = at(p, id);
    NodeId found = NODE_NONE;
    if (!id || !enter(p))
        return NODE_NONE;
    NodeId argument = node->kind == NODE_PARAMETER ? argument_of(p, p->scope, node) : NODE_NONE;
    if (node->kind == NODE_PARAMETER)
        found = at(p, argument)->kind == NODE_PACK ? argument : NODE_NONE;
    else if (node->kind != NODE_LAMBDA && node->kind != NODE_ENCODING && node->kind != NODE_EXPANSION)
        found = find_pack(p, node->a);
    bool pair = node->kind != NODE_PARAMETER && node->kind != NODE_LAMBDA && node->kind != NODE_ARGUMENT;
    if (!found && pair && node->kind != NODE_ENCODING)
        found = find_pack(p, node->b);
    p->depth--;
    return found;
}

static uint32_t list_size(const Printer *p, NodeId list) {
    uint32_t count = 0;
    for (; list; list = at(p, list)->b)
        count++;
    return count;
}

/* ---- Lists --------------------------------------------------------------------------------------- */

static void print_list(Printer *p, NodeId list) {
    bool any = false;
    for (; list && !p->failed; list = at(p, list)->b) {
        size_t before = p->text.size;
        if (any)
            say(p, ", ");
        size_t begin = p->text.size;
        print(p, at(p, list)->a);
        if (p->text.size == begin)
            p->text.size = before; /* an empty pack */
        else
            any = true;
    }
}

static void print_expansion(Printer *p, NodeId pattern) {
    NodeId pack = find_pack(p, pattern);
    if (!pack) {
        print(p, pattern);
        say(p, "...");
        return;
    }
    int64_t before = p->element;
    uint32_t count = list_size(p, at(p, pack)->a);
    for (uint32_t i = 0; i < count && !p->failed; i++) {
        p->element = i;
        if (i)
            say(p, ", ");
        print(p, pattern);
    }
    p->element = before;
}

static void print_template(Printer *p, NodeId list) {
    size_t begin = p->text.size;
    say(p, last(p) == '<' ? " <" : "<");
    print_list(p, list);
    say(p, last(p) == '>' ? " >" : ">");
    if (p->brief && p->text.size - begin > LONGEST_SHORT) {
        p->text.size = begin;
        say(p, "<...>");
    }
}

/* ---- Names --------------------------------------------------------------------------------------- */

static bool is_anonymous(Printer *p, NodeId id) {
    return at(p, id)->kind == NODE_TEXT && str_is(at(p, id)->text, "(anonymous namespace)");
}

static void print_nested(Printer *p, const Node *node) {
    bool left = !p->brief || !is_anonymous(p, node->a), right = !p->brief || !is_anonymous(p, node->b);
    if (left)
        print(p, node->a);
    if (left && right)
        say(p, "::");
    if (right)
        print(p, node->b);
}

static void print_lambda(Printer *p, const Node *node) {
    say(p, "{");
    text_str(&p->text, node->text);
    if (str_is(node->text, "lambda")) {
        bool before = p->lambda;
        p->lambda = true;
        say(p, "(");
        print_list(p, node->a);
        say(p, ")");
        p->lambda = before;
    }
    text_addf(&p->text, "#%u}", node->b);
}

/* ---- Expressions --------------------------------------------------------------------------------- */

static void print_operand(Printer *p, NodeId id) {
    NodeKind kind = at(p, id)->kind;
    bool simple = kind == NODE_TEXT || kind == NODE_NESTED || kind == NODE_INITIALIZED || kind == NODE_ARGUMENT;
    say(p, simple ? "" : "(");
    print(p, id);
    say(p, simple ? "" : ")");
}

static void print_literal(Printer *p, const Node *node) {
    static const struct {
        const char *type, *suffix;
    } plain[] = {{"int", ""},         {"unsigned int", "u"},        {"long", "l"}, {"unsigned long", "ul"},
                 {"long long", "ll"}, {"unsigned long long", "ull"}};
    const Node *type = at(p, node->a);
    bool negative = node->text.size && node->text.data[0] == 'n';
    Str number = negative ? (Str){node->text.data + 1, node->text.size - 1} : node->text;
    for (size_t i = 0; type->kind == NODE_TEXT && i < sizeof plain / sizeof *plain; i++)
        if (str_is(type->text, plain[i].type)) {
            say(p, negative ? "-" : "");
            text_str(&p->text, number);
            say(p, plain[i].suffix);
            return;
        }
    if (type->kind == NODE_TEXT && str_is(type->text, "bool") && number.size == 1 && !negative &&
        (number.data[0] == '0' || number.data[0] == '1')) {
        say(p, number.data[0] == '1' ? "true" : "false");
        return;
    }
    say(p, "(");
    print(p, node->a);
    say(p, negative ? ")-" : ")");
    bool real = type->kind == NODE_TEXT && (str_is(type->text, "float") || str_is(type->text, "double"));
    say(p, real ? "[" : "");
    text_str(&p->text, number);
    say(p, real ? "]" : "");
}

static void print_unary(Printer *p, const Node *node) {
    const Node *operand = at(p, node->a);
    text_str(&p->text, node->text);
    if (str_is(node->text, "&") && operand->kind == NODE_ENCODING && at(p, operand->a)->kind == NODE_NESTED)
        print(p, operand->a);
    else
        print_operand(p, node->a);
}

static void print_binary(Printer *p, const Node *node) {
    bool greater = str_is(node->text, ">"), index = str_is(node->text, "[]");
    say(p, greater ? "(" : "");
    print_operand(p, node->a);
    if (index) {
        say(p, "[");
        print(p, node->b);
        say(p, "]");
    } else {
        text_str(&p->text, node->text);
        print_operand(p, node->b);
    }
    say(p, greater ? ")" : "");
}

static void print_call(Printer *p, const Node *node) {
    const Node *called = at(p, node->a);
    print_operand(p, called->kind == NODE_ENCODING ? called->a : node->a);
    say(p, "(");
    print_list(p, node->b);
    say(p, ")");
}

static void print_cast(Printer *p, const Node *node) {
    say(p, "(");
    print(p, node->a);
    say(p, ")");
    if (node->b && !at(p, node->b)->b) {
        print_operand(p, at(p, node->b)->a);
        return;
    }
    say(p, "(");
    print_list(p, node->b);
    say(p, ")");
}

static void print_choice(Printer *p, const Node *node) {
    NodeId yes = node->b, no = at(p, yes)->b;
    print_operand(p, node->a);
    say(p, "?");
    print_operand(p, at(p, yes)->a);
    say(p, " : ");
    print_operand(p, at(p, no)->a);
}

static void print_expression(Printer *p, const Node *node) {
    switch (node->kind) {
    case NODE_LITERAL:
        print_literal(p, node);
        break;
    case NODE_UNARY:
        print_unary(p, node);
        break;
    case NODE_SUFFIX:
        print_operand(p, node->a);
        text_str(&p->text, node->text);
        break;
    case NODE_BINARY:
        print_binary(p, node);
        break;
    case NODE_CHOICE:
        print_choice(p, node);
        break;
    case NODE_CALL:
        print_call(p, node);
        break;
    case NODE_CAST:
        print_cast(p, node);
        break;
    case NODE_NAMED_CAST:
        text_str(&p->text, node->text);
        say(p, "<");
        print(p, node->a);
        say(p, ">(");
        print(p, node->b);
        say(p, ")");
        break;
    case NODE_OF:
        text_str(&p->text, node->text);
        say(p, "(");
        print(p, node->a);
        say(p, ")");
        break;
    case NODE_COUNT_OF:
        text_addf(&p->text, "%u", list_size(p, at(p, find_pack(p, node->a))->a));
        break;
    case NODE_INITIALIZED:
        if (node->a)
            print(p, node->a);
        say(p, "{");
        print_list(p, node->b);
        say(p, "}");
        break;
    case NODE_ARGUMENT:
        text_addf(&p->text, "{parm#%u}", node->b);
        break;
    default:
        p->failed = true;
    }
}

/* ---- Declarations -------------------------------------------------------------------------------- */

/* What a pointer points to decides whether it stands in brackets. */
static NodeKind shape(const Printer *p, NodeId id) {
    const TemplateScope *scope = p->scope;
    for (unsigned turns = 0; turns < DEEPEST; turns++) {
        id = stands_for(p, id, &scope);
        if (at(p, id)->kind != NODE_QUALIFIED)
            break;
        id = at(p, id)->a;
    }
    NodeKind kind = at(p, id)->kind;
    return kind == NODE_FUNCTION || kind == NODE_ARRAY ? kind : NODE_NONE;
}

/* A reference to a reference is one reference. What it refers to is to be printed in the printer's scope then. */
static NodeId enter_referred(Printer *p, const Node *reference, Str *text) {
    *text = reference->text;
    NodeId id = reference->a;
    for (unsigned turns = 0; turns < DEEPEST; turns++) {
        const TemplateScope *scope = p->scope;
        NodeId real = stands_for(p, id, &scope);
        if (at(p, real)->kind != NODE_REFERENCE)
            return id;
        if (at(p, real)->text.size == 1)
            *text = STR("&");
        id = at(p, real)->a;
        p->scope = scope;
    }
    return id;
}

static void open_bracket(Printer *p, NodeId of) {
    NodeKind kind = shape(p, of);
    say(p, kind == NODE_FUNCTION ? "(" : kind == NODE_ARRAY ? " (" : "");
}

static void close_bracket(Printer *p, NodeId of) {
    say(p, shape(p, of) ? ")" : "");
}

static void print_parameters(Printer *p, const Node *function) {
    say(p, "(");
    print_list(p, function->b);
    say(p, ")");
    text_str(&p->text, function->text);
}

/* A result that a bracket was opened for needs no blank behind it. */
static void print_result(Printer *p, NodeId result) {
    print_left(p, result);
    say(p, last(p) == '*' && shape(p, at(p, result)->a) ? "" : " ");
}

/* The arguments of what is declared, if it is a template. */
static NodeId template_list(const Printer *p, NodeId name) {
    const Node *node = at(p, name);
    while (node->kind == NODE_LOCAL || node->kind == NODE_TAGGED)
        node = at(p, node->kind == NODE_LOCAL ? node->b : node->a);
    return node->kind == NODE_TEMPLATE ? node->b : NODE_NONE;
}

static void print_encoding(Printer *p, const Node *node, bool result) {
    const Node *function = at(p, node->b);
    const TemplateScope *before = p->scope, scope = {template_list(p, node->a), before};
    if (scope.list)
        p->scope = &scope;
    if (result && function->a)
        print_result(p, function->a);
    print(p, node->a);
    print_parameters(p, function);
    if (result && function->a)
        print_right(p, function->a);
    p->scope = before;
}

static void print_name(Printer *p, const Node *node) {
    switch (node->kind) {
    case NODE_TEXT:
        text_str(&p->text, node->text);
        break;
    case NODE_PREFIXED:
        text_str(&p->text, node->text);
        print(p, node->a);
        break;
    case NODE_LOCAL:
        if (!p->brief) {
            if (at(p, node->a)->kind == NODE_ENCODING)
                print_encoding(p, at(p, node->a), false);
            else
                print(p, node->a);
            say(p, "::");
        }
        print(p, node->b);
        break;
    case NODE_NESTED:
        print_nested(p, node);
        break;
    case NODE_TEMPLATE:
        print(p, node->a);
        print_template(p, node->b);
        break;
    case NODE_ENCODING:
        print_encoding(p, node, true);
        break;
    case NODE_STRUCTOR:
        text_str(&p->text, node->text);
        print(p, node->a);
        break;
    case NODE_CONVERSION:
        say(p, "operator ");
        print(p, node->a);
        break;
    case NODE_LAMBDA:
        print_lambda(p, node);
        break;
    case NODE_TAGGED:
        print(p, node->a);
        say(p, "[abi:");
        text_str(&p->text, node->text);
        say(p, "]");
        break;
    case NODE_PACK:
        print_list(p, node->a);
        break;
    case NODE_EXPANSION:
        print_expansion(p, node->a);
        break;
    case NODE_DECLTYPE:
        say(p, "decltype (");
        print(p, node->a);
        say(p, ")");
        break;
    case NODE_VECTOR:
        print(p, node->b);
        say(p, " __vector(");
        print(p, node->a);
        say(p, ")");
        break;
    case NODE_CLONE:
        print(p, node->a);
        say(p, " [clone ");
        text_str(&p->text, node->text);
        say(p, "]");
        break;
    default:
        print_expression(p, node);
    }
}

static void print_left(Printer *p, NodeId id) {
    const Node *node = at(p, id);
    const TemplateScope *before = p->scope;
    if (!enter(p))
        return;
    if (node->kind == NODE_POINTER || node->kind == NODE_REFERENCE) {
        Str text = node->text;
        NodeId of = node->kind == NODE_REFERENCE ? enter_referred(p, node, &text) : node->a;
        print_left(p, of);
        open_bracket(p, of);
        text_str(&p->text, text);
    } else if (node->kind == NODE_MEMBER) {
        print_left(p, node->b);
        if (shape(p, node->b))
            open_bracket(p, node->b);
        else
            say(p, " ");
        print(p, node->a);
        say(p, "::*");
    } else if (node->kind == NODE_QUALIFIED) {
        print_left(p, node->a);
        text_str(&p->text, node->text);
    } else if (node->kind == NODE_ARRAY) {
        print_left(p, node->b);
    } else if (node->kind == NODE_FUNCTION) {
        print_result(p, node->a);
    } else if (node->kind == NODE_PARAMETER && p->lambda) {
        text_addf(&p->text, "auto:%u", node->b + 1);
    } else if (node->kind == NODE_PARAMETER) {
        p->failed |= !p->scope;
        NodeId real = stands_for(p, id, &p->scope);
        if (real)
            print_left(p, real);
    } else {
        print_name(p, node);
    }
    p->scope = before;
    p->depth--;
}

static void print_right(Printer *p, NodeId id) {
    const Node *node = at(p, id);
    const TemplateScope *before = p->scope;
    if (!enter(p))
        return;
    if (node->kind == NODE_POINTER || node->kind == NODE_REFERENCE) {
        Str text;
        NodeId of = node->kind == NODE_REFERENCE ? enter_referred(p, node, &text) : node->a;
        close_bracket(p, of);
        print_right(p, of);
    } else if (node->kind == NODE_MEMBER) {
        close_bracket(p, node->b);
        print_right(p, node->b);
    } else if (node->kind == NODE_QUALIFIED) {
        print_right(p, node->a);
    } else if (node->kind == NODE_ARRAY) {
        say(p, last(p) == ']' ? "[" : " [");
        if (node->a)
            print(p, node->a);
        say(p, "]");
        print_right(p, node->b);
    } else if (node->kind == NODE_FUNCTION) {
        print_parameters(p, node);
        print_right(p, node->a);
    } else if (node->kind == NODE_PARAMETER && !p->lambda) {
        NodeId real = stands_for(p, id, &p->scope);
        if (real)
            print_right(p, real);
    }
    p->scope = before;
    p->depth--;
}

static void print(Printer *p, NodeId id) {
    print_left(p, id);
    print_right(p, id);
}

/* ---- Forms --------------------------------------------------------------------------------------- */

static void print_form(Printer *p, NameForm form) {
    NodeId id = p->from->root, list = NODE_NONE;
    const Node *node = at(p, id);
    if (form == FORM_WHOLE) {
        print(p, id);
        return;
    }
    if (node->kind == NODE_CLONE)
        node = at(p, id = node->a);
    if (form == FORM_SIGNATURE && node->kind == NODE_ENCODING) {
        print_encoding(p, node, false);
        return;
    }
    if (node->kind == NODE_ENCODING)
        node = at(p, id = node->a);
    TemplateScope scope = {template_list(p, id), NULL};
    p->scope = scope.list ? &scope : NULL;
    p->brief = form == FORM_SHORT;
    bool with = form == FORM_LAST_WITH;
    if ((form == FORM_PLAIN || form == FORM_LAST || with) && node->kind == NODE_TEMPLATE) {
        list = node->b;
        node = at(p, id = node->a);
    }
    while ((form == FORM_LAST || with) && (node->kind == NODE_NESTED || node->kind == NODE_LOCAL))
        node = at(p, id = node->b);
    print(p, id);
    if (with && list)
        print_template(p, list);
}

bool mangled_print(const Mangled *mangled, NameForm form, Text *to) {
    Printer printer = {.from = mangled, .element = -1};
    print_form(&printer, form);
    bool good = !printer.failed && !printer.text.failed && printer.text.size;
    if (good)
        text_str(to, (Str){printer.text.data, printer.text.size});
    text_free(&printer.text);
    return good;
}

static bool print_as(Str name, NameForm form, Text *to) {
    Mangled mangled;
    bool good = mangled_read(&mangled, name) && mangled_print(&mangled, form, to);
    mangled_free(&mangled);
    return good;
}

bool demangle(Str name, Text *to) {
    return print_as(name, FORM_WHOLE, to);
}

void name_shown(Str name, Text *to) {
    Text text = {0};
    bool good = print_as(name, FORM_SHORT, &text);
    text_add_plain(to, good ? (Str){text.data, text.size} : name);
    text_free(&text);
}

bool name_last(Str name, Text *to) {
    return print_as(name, FORM_LAST, to);
}

const char *name_kept(const char *name, Arena *arena) {
    Text text = {0};
    if (strncmp(name, "_Z", 2) != 0)
        return name;
    name_shown(str_of(name), &text);
    return text_keep(&text, arena);
}

const char *name_whole(const char *name, Arena *arena) {
    Text text = {0};
    return demangle(str_of(name), &text) ? text_keep(&text, arena) : NULL;
}

static bool same_but_blanks(Str a, Str b) {
    size_t i = 0, k = 0;
    for (;;) {
        while (i < a.size && a.data[i] == ' ')
            i++;
        while (k < b.size && b.data[k] == ' ')
            k++;
        if (i == a.size || k == b.size)
            return i == a.size && k == b.size;
        if (a.data[i++] != b.data[k++])
            return false;
    }
}

bool name_meant(Str name, Str wanted) {
    Mangled mangled;
    bool meant = str_equal(name, wanted), good = !meant && mangled_read(&mangled, name);
    for (NameForm form = FORM_WHOLE; good && !meant && form < FORM_COUNT; form++) {
        Text text = {0};
        if (mangled_print(&mangled, form, &text))
            meant = same_but_blanks((Str){text.data, text.size}, wanted);
        text_free(&text);
    }
    if (!str_equal(name, wanted))
        mangled_free(&mangled);
    return meant;
}
