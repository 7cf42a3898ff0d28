/* The glossary as a table. */
#include "finding/report.h"

const Term *glossary(size_t *count) {
    static const Term terms[] = {
#define TERM(id, word, text) {id, word, text},
#include "finding/glossary.def"
#undef TERM
    };
    *count = sizeof terms / sizeof *terms;
    return terms;
}
