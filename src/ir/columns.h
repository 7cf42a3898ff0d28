/* The columns of a row that are lists of words. */
#ifndef IR_COLUMNS_H
#define IR_COLUMNS_H

#include "ir/optable.h"

/* Takes them apart, once its operands, attributes and results are. False: *where is a word that means nothing there. */
bool columns_read(OpRow *row, Str *where);

#endif
