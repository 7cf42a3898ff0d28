/* What is known of the integers and the views of memory of a kernel without running anything.
 *
 * From constants and arithmetic on them, `tt.divisibility` and the like on arguments, the launch, the bounds of loops
 * and of program ids; through what loops carry, branches pass and partitions capture. */
#ifndef CHECK_FACTS_FACTS_H
#define CHECK_FACTS_FACTS_H

#include "explore/launch/launch.h"
#include "machine/tile/compile/program.h"
#include "model/memory/views.h"
#include "model/number/known.h"

typedef struct Facts Facts;

Facts *facts_create(Arena *arena, Module *module, const Op *function, const Launch *launch);
/* Of a scalar of the function: an integer, an index, a pointer (its address). Of anything else nothing is known. */
IntDomain known_of(Facts *facts, const Value *value);

/* The kernel's parameter that a value is, also through captures of partitions; NULL if it is none. */
const Parameter *parameter_of(Facts *facts, const Value *value);
/* What the launch gives for it; NULL if there is no launch, or it does not say. */
const Argument *argument_of(Facts *facts, const Parameter *parameter);

/* Where a view of shared memory begins; of tensor memory `byte` is row << 16 | column. */
typedef struct KnownPlace {
    const Op *allocation; /* NULL: not known which */
    IntDomain byte;       /* from the start of shared memory if the allocation has an offset, else of the allocation */
    bool placed;          /* the former */
    int64_t alignment;    /* that the allocation is sure to have where it is not placed: its attribute, else its
                             layout's; 1 if it is not given */
    bool remote;          /* of another CTA */
} KnownPlace;
KnownPlace place_of(Facts *facts, const Value *memdesc);

#endif
