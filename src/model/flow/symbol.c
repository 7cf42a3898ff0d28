/* The functions of a module are sorted by name once, so that a file with many calls takes no longer than its length. */
#include "model/flow/symbol.h"

#include "base/bisect.h"
#include "ir/memo.h"
#include "ir/op.h"

#include <stdlib.h>

typedef struct SymbolNamed {
    Str name;
    const Op *function;
    uint32_t place; /* in the text */
} SymbolNamed;

typedef struct Functions {
    SymbolNamed *items;
    uint32_t count;
} Functions;

Str symbol_name(const Attr *symbol) {
    Str name = symbol->text;
    if (name.size && (name.data[0] == '@' || name.data[0] == '"'))
        name = (Str){name.data + 1, name.size - 1 - (name.data[0] == '"')};
    return name;
}

static int by_name(const void *a, const void *b) {
    const SymbolNamed *x = a, *y = b;
    size_t common = x->name.size < y->name.size ? x->name.size : y->name.size;
    int order = common ? memcmp(x->name.data, y->name.data, common) : 0;
    if (order)
        return order;
    if (x->name.size != y->name.size)
        return x->name.size < y->name.size ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static const Functions *functions_of(Module *module) {
    bool fresh;
    Functions *functions = module_memo(module, "symbols", module, sizeof *functions, &fresh);
    for (int fill = 0; fresh && fill < 2; fill++) {
        uint32_t count = 0;
        for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL)) {
            bool defined = op_is_control(op, CONTROL_FUNCTION) && op->region_count && op->regions[0].first;
            const Attr *symbol = defined ? op_attr(op, "sym_name") : NULL;
            if (!symbol)
                continue;
            if (fill)
                functions->items[count] = (SymbolNamed){symbol_name(symbol), op, count + 1};
            count++;
        }
        if (!fill)
            functions->items = ARENA_ARRAY(&module->arena, SymbolNamed, count + 1);
        functions->count = count;
    }
    if (fresh)
        qsort(functions->items, functions->count, sizeof *functions->items, by_name);
    return functions;
}

const Op *call_target(Module *module, const Op *call) {
    const Attr *callee = op_attr(call, "callee");
    if (!callee || callee->kind != ATTR_SYMBOL)
        return NULL;
    const Functions *functions = functions_of(module);
    SymbolNamed key = {.name = symbol_name(callee)}; /* before the first of that name */
    uint32_t low;
    BISECT(low, 0, functions->count, by_name(&functions->items[low], &key) < 0);
    bool found = low < functions->count && str_equal(functions->items[low].name, key.name);
    return found ? functions->items[low].function : NULL;
}
