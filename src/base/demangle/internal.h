/* A mangled name as a tree: nodes of one array, in the order they were read. Nodes are shared where the name refers to
 * what it said before. */
#ifndef BASE_DEMANGLE_INTERNAL_H
#define BASE_DEMANGLE_INTERNAL_H

#include "base/demangle/demangle.h"

typedef enum NodeKind {
    NODE_NONE,
    NODE_TEXT,        /* text */
    NODE_PREFIXED,    /* text a: "vtable for A" */
    NODE_NESTED,      /* a::b */
    NODE_LOCAL,       /* a::b, a a function */
    NODE_TEMPLATE,    /* a<b>, b a list */
    NODE_LIST,        /* a, and the rest b */
    NODE_ENCODING,    /* a the name, b NODE_FUNCTION */
    NODE_FUNCTION,    /* a what it returns, or none; b the parameters; text: what follows them, " const &" */
    NODE_STRUCTOR,    /* text "~" or ""; a: what it is of */
    NODE_CONVERSION,  /* operator a */
    NODE_LAMBDA,      /* {lambda(a)#b} */
    NODE_TAGGED,      /* a[abi:text] */
    NODE_POINTER,     /* a, text: "*" */
    NODE_REFERENCE,   /* a, text: "&" or "&&" */
    NODE_QUALIFIED,   /* a text: " const" */
    NODE_ARRAY,       /* b[a] */
    NODE_VECTOR,      /* b __vector(a) */
    NODE_MEMBER,      /* pointer to b in a */
    NODE_PACK,        /* a: a list; an argument that is several */
    NODE_PARAMETER,   /* argument b of the template whose declaration is printed */
    NODE_EXPANSION,   /* a... */
    NODE_DECLTYPE,    /* decltype (a) */
    NODE_LITERAL,     /* (a)text; text "n1" is -1 */
    NODE_UNARY,       /* text a */
    NODE_SUFFIX,      /* a text */
    NODE_BINARY,      /* (a)text(b) */
    NODE_CHOICE,      /* a ? b, b a list of two */
    NODE_CALL,        /* a(b) */
    NODE_CAST,        /* (a)b, b a list of one; of several (a)(b) */
    NODE_NAMED_CAST,  /* text<a>(b) */
    NODE_OF,          /* text(a): sizeof and alignof of a type, noexcept */
    NODE_COUNT_OF,    /* how many a is: a pack */
    NODE_INITIALIZED, /* a{b} */
    NODE_ARGUMENT,    /* {parm#b} */
    NODE_CLONE,       /* a [clone text] */
} NodeKind;

typedef uint32_t NodeId; /* NODE_NONE: there is none */

typedef struct Node {
    NodeKind kind;
    NodeId a, b;
    Str text;
} Node;

typedef struct Mangled {
    Node *nodes; /* of which the first is none */
    uint32_t count, capacity;
    NodeId root;
} Mangled;

/* False if it is no mangled name; mangled_free in any case. */
bool mangled_read(Mangled *mangled, Str name);
void mangled_free(Mangled *mangled);

typedef enum NameForm {
    FORM_WHOLE,     /* as c++filt */
    FORM_SIGNATURE, /* without what it returns */
    FORM_NAME,      /* without parameters */
    FORM_PLAIN,     /* without template arguments of its last part */
    FORM_LAST,      /* its last part alone, */
    FORM_LAST_WITH, /* with template arguments */
    FORM_SHORT,     /* FORM_NAME without anonymous namespaces and long template arguments */
    FORM_COUNT
} NameForm;

/* False, and nothing is added, if it would be too long. */
bool mangled_print(const Mangled *mangled, NameForm form, Text *to);

#endif
