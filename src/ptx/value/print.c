/* Prints blocks and values with their forms, for people. */
#include "ptx/print.h"
#include "ptx/value/internal.h"

void ptx_values_print(const PtxValues *values, Text *to) {
    (void)values;
    (void)to;
}
