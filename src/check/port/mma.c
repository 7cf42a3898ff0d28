/* MMAs: there they read operands from registers and keep their accumulators in registers, whatever they do now. */
#include "check/port/internal.h"

#include "ir/op.h"
#include "model/flow/partition.h"
#include "model/layout/layout.h"

enum { REGISTER_BITS = 32 };

/* The accumulator is written where it was (tcgen05), or handed in and returned. */
static const Type *type_of(const Port *port, const Op *op, const char *name, const char *otherwise) {
    const Value *value = op_operand_named(op, name);
    if (!value && otherwise)
        value = op_operand_named(op, otherwise);
    return value && value->type ? type_resolve(port->module, value->type) : NULL;
}

/* Rows and columns of the last two dimensions; false if they are not known. */
static bool shape_of(const Type *type, int64_t *rows, int64_t *columns) {
    if (!type || type->dim_count < 2 || !type->element)
        return false;
    *rows = type->dims[type->dim_count - 2];
    *columns = type->dims[type->dim_count - 1];
    return *rows > 0 && *columns > 0;
}

static int64_t width_of(const Port *port, const Type *type) {
    const Type *element = type && type->element ? type_resolve(port->module, type->element) : NULL;
    bool number = element && (element->kind == TYPE_FLOAT || element->kind == TYPE_INTEGER);
    return number ? element->width : 0;
}

static const char *space_of(Port *port, const Type *type) {
    if (type->kind == TYPE_TENSOR)
        return "registers";
    const Type *canonical = type_canonical(port->module, type);
    return memdesc_space(canonical ? canonical : type) == SPACE_TENSOR ? "tensor memory" : "shared memory";
}

/* Registers of a lane that so many elements take, spread evenly. */
static int64_t registers_of(int64_t elements, int64_t width, int64_t lanes) {
    int64_t bits = elements * width, all = lanes * REGISTER_BITS;
    return (bits + all - 1) / all;
}

bool port_mma(Port *port, const Op *op, PortMma *mma) {
    if (!op_is(op, CLASS_PRODUCT))
        return false;
    const Type *a = type_of(port, op, "a", NULL), *b = type_of(port, op, "b", NULL);
    const Type *d = type_of(port, op, "d", "c");
    int64_t rows, columns, depth, unused;
    if (!shape_of(d, &rows, &columns) || !shape_of(a, &unused, &depth) || !b)
        return false;
    int64_t a_bits = width_of(port, a), b_bits = width_of(port, b), d_bits = width_of(port, d);
    if (!a_bits || !b_bits || !d_bits)
        return false;
    *mma = (PortMma){.waves = partition_warps(op)};
    int64_t lanes = mma->waves * (int64_t)port->target->warp_threads;
    mma->accumulator = registers_of(rows * columns, d_bits, lanes);
    mma->operands = registers_of(rows * depth, a_bits, lanes) + registers_of(depth * columns, b_bits, lanes);
    mma->shape = verdict_text(&port->words, "%lldx%lldx%lld %.*s -> %.*s", (long long)rows, (long long)columns,
                              (long long)depth, STR_ARG(a->element->text), STR_ARG(d->element->text));
    mma->now = verdict_text(&port->words, "a in %s, b in %s, accumulator in %s", space_of(port, a), space_of(port, b),
                            space_of(port, d));
    return true;
}
