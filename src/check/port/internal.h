/* What the parts of the porting report share. */
#ifndef CHECK_PORT_INTERNAL_H
#define CHECK_PORT_INTERNAL_H

#include "check/port/counters.h"
#include "check/port/port.h"

typedef struct Port {
    Verdict words; /* only its arena is used: for verdict_text */
    Module *module;
    const Op *function;
    const Target *target;
    bool native; /* the kernel is written for AMD */
    Counters *counters;
} Port;

/* Fills in what is to be said of a wait; false if the op is none. */
bool port_wait(Port *port, const Op *op, PortWait *wait);
/* The same of an MMA. */
bool port_mma(Port *port, const Op *op, PortMma *mma);

#endif
