/* What the parts of the barrier report share. */
#ifndef CHECK_REPORT_BUILD_INTERNAL_H
#define CHECK_REPORT_BUILD_INTERNAL_H

#include "base/order.h"
#include "check/report/build/report.h"
#include "check/report/build/watch.h"
#include "ir/op.h"
#include "model/flow/origin.h"
#include "model/flow/partition.h"
#include "model/memory/views.h"
#include "model/names/names.h"

enum { MOST_PARTITIONS = 64 };

/* Who runs what stands outside of all partitions, where that is not said. */
#define OUTSIDE "outside the partitions"

/* What a barrier or a buffer of the report is in the IR. */
typedef struct Thing {
    const Op *root; /* the op that allocates it; NULL: a named barrier, `id` */
    Side side;      /* tokens and arefs: which of the two rings; else SIDE_NONE */
    int64_t id;
    uint32_t next; /* barriers: another of the same list of Builder.barrier_chains: its index + 1; 0: none */
} Thing;

/* Ops at a barrier. */
typedef struct BuildSites {
    ReportSite *items;
    uint32_t count, capacity;
} BuildSites;

/* Tables of barriers and edges have so many lists. */
enum { CHAINS = 4096 };

/* A report while it is made. Arrays are in the verdict's arena and as large as they need to be. */
typedef struct Builder {
    Module *module;
    const Op *function;
    Verdict *verdict;
    Arena *arena; /* the verdict's */
    Names *names;
    Allocations allocations;
    Report *report;
    PartitionForm form;
    /* partition k is bit k of Partitions.mask, and agent k of a CTA; one that does not exist has the index SIZE_MAX */
    size_t partition_index[MOST_PARTITIONS];
    ReportPartition *partitions;
    ReportBarrier *barriers;
    Thing *barrier_things; /* of each barrier */
    uint32_t barrier_count, barrier_capacity, barrier_thing_count, barrier_thing_capacity;
    uint32_t barrier_chains[CHAINS]; /* by a hash of its thing: its index + 1; Thing.next goes on */
    ReportBuffer *buffers;
    Thing *buffer_things; /* of each buffer */
    uint32_t buffer_count, buffer_capacity, buffer_thing_count, buffer_thing_capacity;
    ReportEdge *edges;
    uint32_t edge_count, edge_capacity;
    uint32_t edge_chains[CHAINS]; /* by a hash of its barrier's name: the last one's index + 1; edge_next goes on */
    uint32_t *edge_next, edges_listed, edge_next_capacity;
    /* What was run; NULL if nothing was. */
    const Machine *machine;
    const Sights *sights;
    const Sights *hung;      /* the run that hangs, of which `sights` show how it would go on; NULL: it ends */
    size_t *ring_barriers;   /* of each ring of the sights: its barrier */
    uint32_t *barrier_rings; /* of each barrier: its last ring + 1, 0: none; ring_next goes on */
    uint32_t *ring_next;
} Builder;

/* ---- builder.c ---- */
/* Adds one; all its other texts are "", its numbers not known. `value` is a buffer's name in the IR; NULL: none. */
ReportBarrier *builder_barrier(Builder *builder, Thing thing);
ReportBuffer *builder_buffer(Builder *builder, const Op *root, const Value *value, const char *name, Space space);
ReportEdge *builder_edge(Builder *builder);
/* SIZE_MAX if there is none. */
size_t builder_find_barrier(const Builder *builder, Thing thing);
size_t builder_find_buffer(const Builder *builder, const Op *root);
/* Adds a place to a list of places, unless the same op of the same partition is there. */
void builder_add_place(Builder *builder, const ReportPlace **places, size_t *count, ReportPlace place);
/* The same in any case, to a list that is made by this alone. */
void builder_push_place(Builder *builder, const ReportPlace **places, size_t *count, ReportPlace place);
/* A place with everything that the IR says of an op: partition, name, location. */
ReportPlace builder_place(Builder *builder, const Op *op);
/* The partitions that run an op, as bits, as far as the kernel's form says. */
uint64_t builder_runners(const Builder *builder, const Op *op);
/* The name of the partition that runs an op: "default" for what stands outside of all partitions of a specialized
 * kernel; "kernel" if it is not specialized. An op of several partitions: "partition0, partition2". */
const char *builder_partition(Builder *builder, const Op *op);
/* "128x64xf16", of the last `rank` dimensions. */
const char *builder_shape(Builder *builder, const Type *type, unsigned rank);
/* "columns 0-63", "column 64", "bytes 0-16383"; "a (shared, 3 slots of 16384 bytes)". */
const char *builder_extent(Builder *builder, Space space, int64_t begin, int64_t end);
const char *builder_storage(Builder *builder, const char *name, Space space, int64_t slots, int64_t size);
/* How many slots an allocation is planned to have (buffer.copy) that its type does not have yet; 1 if none. */
int64_t builder_planned_slots(Builder *builder, const Op *op);
/* The same of any set: "task 0, task 2". */
const char *builder_partitions(Builder *builder, Partitions partitions);
/* The ops that use a barrier. */
static inline void builder_sites(ReportBarrier *barrier, const BuildSites *arrives, const BuildSites *waits) {
    barrier->arrives = arrives->items;
    barrier->arrive_count = arrives->count;
    barrier->waits = waits->items;
    barrier->wait_count = waits->count;
}
/* Something to say of a barrier, or of a buffer. */
void builder_issue(Builder *builder, ReportBarrier *barrier, const char *text);
void builder_note(Builder *builder, ReportBuffer *buffer, const char *text);
/* One more text at the end of a list of texts; `list` is replaced. */
void builder_add_text(Builder *builder, const char *const **list, size_t *count, const char *text);
/* The innermost loop around an op, within its partition; NULL if there is none. */
const Op *enclosing_loop(const Op *op);
/* "each iteration of the loop at line 41", "once"; for people. */
const char *builder_cadence(Builder *builder, const Op *op);

/* ---- barriers.c: sections 2 and 3, one barrier at a time ---- */
/* Adds every barrier of the kernel, with the ops that use it and what was seen of them. */
void report_barriers(Builder *builder);
/* What an effect on a barrier is to people. */
ReportMechanism effect_mechanism(Module *module, const Op *op, const Effect *effect);
/* The name of the partition that an agent of the run is; with its CTA if that is not the first. */
const char *builder_agent(Builder *builder, uint32_t agent);
/* Who runs an op that an agent was seen at: the agent, or, where partitions are only planned, what the op says. */
const char *builder_runner(Builder *builder, uint32_t agent, const Op *op);

/* An op at a barrier, by what the IR says of it; and a slot or a phase as it is written there. */
ReportSite builder_site(Builder *builder, const Op *op, const Effect *effect);
const char *builder_written(Builder *builder, const Value *value, bool inverted);

/* ---- rings.c: section 3 ---- */
extern const char depth_one[]; /* a remark */
/* How the slots and phases that an op was seen at follow from a count, and that as text: `phase` or slot. */
Fit builder_fit(const Builder *builder, const Seen *seen);
const char *builder_fitted(Builder *builder, const Fit *fit, const Sighting *seen, size_t count, bool phase,
                           const char *counter);
/* The same of all that its agent does there (waits, or arrives), in one count. */
Fit builder_fit_together(Builder *builder, const Seen *seen);
/* Which part of a loop that was peeled an op is in, by others of its kind: "prologue", "loop", "epilogue"; "" if none.
 */
const char *builder_loop_part(const Builder *builder, const Seen *seen);
/* What a run showed of ring `index`, which is that barrier. */
void report_ring(Builder *builder, uint32_t index, ReportBarrier *barrier);

/* ---- data.c: section 4 ---- */
/* Adds every buffer, and who writes and reads it. */
struct Coverage;
void report_buffers(Builder *builder, struct Coverage *coverage);
/* The proxy fences that each of them has (fences.c): notes. */
void report_fences(Builder *builder);

/* ---- edges.c: section 2 ---- */
/* What each barrier protects, its direction, its pair, and the edges. */
void report_edges(Builder *builder);

/* ---- named.c: section 3 ---- */
/* Who comes to each named barrier. */
void report_named(Builder *builder);

/* ---- pairs.c: section 3 ---- */
/* Which barriers are the two sides of one ring; directions and what they protect are known. */
void report_pairs(Builder *builder);

/* ---- candidates.c: section 6 ---- */
void report_candidates(Builder *builder);

/* ---- roles.c: section 1 ---- */
/* How the kernel says which partition runs what. */
PartitionForm report_form(const Op *function);
/* Fills `partitions`, `partition_index`, and the report's partitions and limits. */
void report_partitions(Builder *builder);

/* ---- limits.c: section 1 ---- */
/* Fills the report's limits; partitions are known. */
void report_limits(Builder *builder);

/* ---- aliases.c: section 5 ---- */
/* Fills aliases and `others` (init, invalidate) of every barrier, and aliases of every buffer. */
void report_aliases(Builder *builder);

/* ---- plan.c: forms without barriers ---- */
/* Adds the barriers, edges, buffers and coverage that will have to be, from tasks and from what is shared between
 * them; and chains of TMEM tokens in every form. */
void report_plan(Builder *builder);
void report_token_chains(Builder *builder);
/* Whether a value is a token of asynchronous work, and the first such result of an op; NULL if it has none. */
bool value_is_token(Module *module, const Value *value);
const Value *token_made(Module *module, const Op *op);

#endif
