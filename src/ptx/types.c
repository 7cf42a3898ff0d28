/* Types of PTX: what their names say. Those of registers and variables are taken apart once, and found by the number of
 * their name: each operand of a module is held against one. */
#include "ptx/internal.h"

unsigned ptx_type_bits(Str type) {
    unsigned bits = 0, times = 1;
    for (size_t i = 0; i < type.size; i++) {
        if (is_class(type.data[i], CLASS_DIGIT))
            bits = bits * 10 + (unsigned)(type.data[i] - '0');
        else if (type.data[i] == 'x' && i + 1 < type.size)
            times = (unsigned)(type.data[++i] - '0');
    }
    return bits * times;
}

char ptx_type_letter(Str type) {
    char letter = type.size > 1 ? type.data[0] : 0;
    if (str_is(type, "pred"))
        return 'p';
    if (str_is(type, "none"))
        return '-';
    if (letter && (type.data[1] == 'f' || memchr(type.data, 'x', type.size)))
        return 'h';
    return letter && strchr("busf", letter) && is_class(type.data[1], CLASS_DIGIT) ? letter : 0;
}

void start_types(Reader *r) {
    static const char *const names[] = {
#define TYPE(name) "." #name,
        PTX_TYPES(TYPE)
#undef TYPE
    };
    _Static_assert(sizeof names / sizeof *names <= 32, "a type has a bit");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t name = intern(r, str_of(names[i]));
        Str type = str_of(names[i] + 1);
        r->types[name] = (TypeFacts){.name = type,
                                     .letter = ptx_type_letter(type),
                                     .bits = (uint8_t)ptx_type_bits(type),
                                     .opaque = str_ends(type, STR("ref")),
                                     .bit = UINT32_C(1) << i};
    }
}
