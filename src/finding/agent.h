/* How a sentence names an agent, whose own name (FindingPlace) is an identifier. */
#ifndef FINDING_AGENT_H
#define FINDING_AGENT_H

#include "base/text.h"

/* "partition 'default'" for "default", "the TMA of partition0 of cta1" for "cta1.partition0.tma"; other names as they
 * are, such as "thread 5 of CTA 2". */
void agent_words(Text *to, Str name);
/* What it does to memory: "TMA write by partition0", "asynchronous read by thread 7". */
void access_words(Text *to, Str noun, Str name);

#endif
