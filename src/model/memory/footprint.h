/* The bytes of a layout: of all that a view of its type has, or of a part of it. */
#ifndef MODEL_MEMORY_FOOTPRINT_H
#define MODEL_MEMORY_FOOTPRINT_H

#include "model/memory/views.h"

/* Of a layout that is known, at that value of Offset.affine, from Offset.base on; kept with the layout. NULL if there
 * are too many of them, or stages differ. */
const LayoutFootprint *footprint_of(Module *module, Layout *layout, int32_t affine);
/* The same of a part, in `arena`. False, too, if a view of that type has several stages. */
bool footprint_of_part(const Layout *layout, const ViewPart *part, int32_t affine, Arena *arena, Bytes *bytes);

#endif
