/* How much there is to report on in a module, for choosing one of a pass log. */
#ifndef CHECK_REPORT_BUILD_RANK_H
#define CHECK_REPORT_BUILD_RANK_H

#include "ir/ir.h"

enum { MODULE_RANK_MOST = 6 };

/* 0: there is no kernel; else the more, the higher. *why has the words for which a module of that rank is chosen. */
unsigned module_rank(Module *module, const char **why);

#endif
