/* An assembly format, taken apart: a list of elements that the reader matches and the printer writes.
 * docs/op-table.md has the language. */
#ifndef IR_FORMAT_H
#define IR_FORMAT_H

#include "base/text.h"

/* A column and an entry of it. */
typedef struct SlotRef {
    enum { REF_NONE, REF_OPERAND, REF_ATTR, REF_RESULT } column;
    uint8_t index;
} SlotRef;

/* How an attribute is written where a format names it. */
typedef enum AttrSyntax {
    SYNTAX_INT,
    SYNTAX_REAL,
    SYNTAX_BOOL,
    SYNTAX_STRING,
    SYNTAX_SYMBOL,
    SYNTAX_SYMBOL_NAME,
    SYNTAX_UNIT,
    SYNTAX_INTS,
    SYNTAX_ANY,
    SYNTAX_ENUM,
    SYNTAX_FLAGS,
    SYNTAX_QUOTED, /* an enumeration's word in quotes */
} AttrSyntax;

typedef enum ElementKind {
    ELEMENT_LITERAL, /* text */
    ELEMENT_SPACE,   /* _ */
    ELEMENT_LINE,    /* / */
    ELEMENT_OPERAND, /* $x */
    ELEMENT_ATTR,    /* $x */
    ELEMENT_TYPE,    /* type($x) */
    ELEMENT_OPERANDS,
    ELEMENT_OPERAND_TYPES,
    ELEMENT_RESULT_TYPES,
    ELEMENT_SIGNATURE,
    ELEMENT_DICT,
    ELEMENT_ATTRIBUTES,
    ELEMENT_PRESENT,   /* +x */
    ELEMENT_OPTIONAL,  /* (? ... ?: ... ?): then up to `middle`, else up to `end` */
    ELEMENT_REPEAT,    /* (* ... *): up to `end` */
    ELEMENT_ANY_ORDER, /* {* ... *}: up to `end` */
    ELEMENT_CLAUSE,    /* one clause of it: up to `end` */
    ELEMENT_REGION,
    ELEMENT_ARGS,
    ELEMENT_MIXED, /* mixed($x,$y): other is y */
    ELEMENT_BIND,
    ELEMENT_ASSIGN,
    ELEMENT_SUCCESSOR,
    ELEMENT_BRANCHES, /* branches($x,$y): other is y */
    ELEMENT_FUNCTION,
    ELEMENT_PARTITIONS,
    ELEMENT_GROUPS,
    ELEMENT_CASES,
} ElementKind;

typedef struct Element {
    ElementKind kind;
    bool glue;   /* no space before it */
    bool single; /* in a repetition: one of a many-operand */
    SlotRef slot, other;
    uint16_t middle, end; /* indices of the element after the part */
    Str text;
} Element;

typedef struct Format {
    const Element *elements;
    uint16_t count;
    bool generic_only; /* the op has no form of its own */
} Format;

#endif
