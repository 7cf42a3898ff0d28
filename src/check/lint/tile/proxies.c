/* Proxies and their fences: what the observer of proxies.h has found, told as findings.
 *
 * How much a missing fence counts depends on who else could still put it in: Triton inserts proxy fences when it lowers
 * the IR, and which ones depends on its release (check/fences/insertion.h). What every release that may lower the IR
 * inserts is only noted; what none does is an error; what some do is one or the other, by what else is known. */
#include "check/lint/tile/internal.h"

#include "check/explain/place.h"
#include "check/fences/fences.h"
#include "check/fences/insertion.h"
#include "finding/agent.h"

/* What is known of the IR as a whole. */
typedef struct ProxyStage {
    bool inserted;    /* the compiler has put its fences in */
    bool partitioned; /* it has split the kernel, and not insert the fences of its products */
    bool tokens;      /* partitions are joined by tokens or arefs, which are barriers only later on */
    bool assembly;    /* some fence is in assembly that is not made out */
    bool fences;      /* there is one, at least */
    bool tl;          /* some op is one that Triton makes of plain `tl` code, and Gluon has no call for */
} ProxyStage;

enum { MOST_FENCES = 256 }; /* that are looked at one by one */

typedef struct ProxyReporting {
    Lint *lint;
    const Machine *machine;
    const Proxies *proxies;
    ProxyStage stage;
} ProxyReporting;

/* ---- The stage ------------------------------------------------------------------------------------ */

/* Assembly with a fence that is not made out. */
static bool hides_fence(Lint *lint, const Op *op) {
    const PtxModule *ptx = op_is(op, CLASS_INLINE_PTX) ? op_assembly(lint->module, op) : NULL;
    for (uint32_t i = 0; ptx && i < ptx->forms_count; i++)
        if (str_starts(ptx->forms[i].text, STR("fence.proxy")))
            return !lint_effect(lint, op, EFFECT_FENCE_PROXY);
    return false;
}

/* Copies that tokens hold together, waits with what they are for, buffers that nothing may write to: Triton makes them
 * when it pipelines loops and finds operands a place. Kernels in Gluon say all of that themselves, in other ways. */
static bool is_made_of_tl(Lint *lint, const Op *op) {
    Effects effects = lint_effects(lint, op);
    uint32_t deps = 0;
    (void)op_operands_named(op, "deps", &deps);
    for (const Effect *effect = effects.items; effect < effects.end; effect++) {
        bool delays = effect->verb == EFFECT_COMMIT && effect->group == GROUP_CP_ASYNC && op->operand_count;
        if (delays || (effect->verb == EFFECT_WAIT && deps))
            return true;
        const Type *type = effect->verb == EFFECT_ALLOCATE && effect->space == SPACE_SHARED && op->operand_count
                               ? lint_type(lint, effect->on)
                               : NULL;
        bool fixed = type != NULL;
        for (uint32_t i = 0; fixed && i < type->param_count; i++)
            fixed = !str_is(type->params[i], "mutable");
        if (fixed)
            return true;
    }
    return false;
}

static ProxyStage stage_of(Lint *lint) {
    const Op *root = proxies_scope(lint->function);
    ProxyStage stage = {0};
    bool placed = lint_module_integer(lint, "ttg.shared", -1) >= 0;
    for (const Op *op = root; op; op = op_next_in_walk(op, root)) {
        Effects effects = lint_effects(lint, op);
        placed |= op_attr(op, "allocation.offset") != NULL;
        stage.assembly |= hides_fence(lint, op);
        stage.partitioned |= op_is_separated(op);
        stage.tl |= is_made_of_tl(lint, op);
        for (const Effect *effect = effects.items; effect < effects.end; effect++) {
            stage.fences |= effect->verb == EFFECT_FENCE_PROXY && effect->proxy == PROXY_ASYNC;
            stage.tokens |= effect->side != SIDE_NONE;
        }
    }
    stage.inserted = placed && stage.fences;
    stage.partitioned &= !stage.fences;
    return stage;
}

/* ---- Words ---------------------------------------------------------------------------------------- */

static const Op *op_at(const ProxyReporting *reporting, uint32_t pc) {
    return reporting->machine->program->ops[pc];
}

static const char *agent_text(const ProxyReporting *reporting, uint32_t agent) {
    Text text = {0};
    agent_name(reporting->machine, agent, HELPER_BASE, &text);
    return verdict_keep(reporting->lint->verdict, &text);
}

/* The same in a sentence. */
static const char *agent_in_words(const ProxyReporting *reporting, uint32_t agent) {
    Text text = {0};
    agent_words(&text, str_of(agent_text(reporting, agent)));
    return verdict_keep(reporting->lint->verdict, &text);
}

static const char *memory_text(const ProxyReporting *reporting, uint32_t span) {
    Text text = {0};
    proxies_describe(reporting->proxies, span, &text);
    return verdict_keep(reporting->lint->verdict, &text);
}

static const char *fence_text(const Breach *breach) {
    return breach->wide ? "ttng.fence_async_shared {bCluster = true}" : "ttng.fence_async_shared {bCluster = false}";
}

/* On these a missing fence after reads was seen to corrupt data. */
static bool is_blackwell(const ProxyReporting *reporting) {
    const Target *target = reporting->lint->target;
    return target && target->vendor == VENDOR_NVIDIA && target->number >= 100;
}

static Severity severity_of(const ProxyReporting *reporting, RuleId rule) {
    return rule == RULE_FENCE_REUSE && is_blackwell(reporting) ? SEVERITY_WARNING : rule_of(rule)->severity;
}

static const char *review_text(const ProxyReporting *reporting, RuleId rule) {
    return severity_of(reporting, rule) == SEVERITY_NOTE ? "review: " : "";
}

/* Where the fence has to go. */
static const char *place_text(const ProxyReporting *reporting, const Breach *breach) {
    uint32_t line = line_at(reporting->machine, breach->other_pc);
    const char *before = breach->own || breach->arrive_pc == NO_PC ? "the operation" : "the arrive";
    const char *after = breach->delayed ? "after the wait for the copies at" : "after";
    uint32_t until =
        line_at(reporting->machine, breach->own || breach->arrive_pc == NO_PC ? breach->pc : breach->arrive_pc);
    return verdict_text(reporting->lint->verdict, "`%s` in %s %s IR line %u, before %s at IR line %u",
                        fence_text(breach), agent_in_words(reporting, breach->other_agent), after, line, before, until);
}

/* ---- Shared memory -------------------------------------------------------------------------------- */

static const char *why_missing(const ProxyReporting *reporting, const Breach *breach) {
    const char *rule =
        "The async proxy sees what threads wrote only after a proxy fence executed by those threads. Ordering the "
        "two in time is not enough.";
    if (breach->fence_pc == NO_PC)
        return rule;
    uint32_t line = line_at(reporting->machine, breach->fence_pc);
    if (breach->kind == BREACH_NARROW)
        return verdict_text(
            reporting->lint->verdict,
            "The fence at IR line %u covers only its own CTA (shared::cta), and this operation involves other CTAs.",
            line);
    if (breach->early)
        return verdict_text(
            reporting->lint->verdict,
            "%s The fence at IR line %u comes before the wait for the copies that write, so it does not cover them.",
            rule, line);
    if (breach->arrive_pc == NO_PC)
        return verdict_text(reporting->lint->verdict, "%s The fence at IR line %u is not in between.", rule, line);
    return verdict_text(
        reporting->lint->verdict,
        "%s The fence at IR line %u comes after the arrive at IR line %u, which lets the other side continue before "
        "the fence.",
        rule, line, line_at(reporting->machine, breach->arrive_pc));
}

/* Whether it is too early to say where fences are. */
static bool is_early(const ProxyReporting *reporting, const Breach *breach) {
    const ProxyStage *stage = &reporting->stage;
    return stage->assembly || stage->tokens ||
           (stage->partitioned && op_is(op_at(reporting, breach->pc), CLASS_PRODUCT));
}

/* Fence insertion takes its fence out of a loop in which nothing writes the operands, which may be untrue later on. */
static bool is_fenced_in_front(const Op *product) {
    for (const Op *loop = op_parent(product); loop; loop = op_parent(loop))
        if (op_is_loop(loop) && loop->prev && op_is_fence(loop->prev))
            return true;
    return false;
}

/* Whether releases up to 3.7.0 themselves make such IR of `tl.dot`, and lower it so. */
static bool is_of_the_compiler(const ProxyReporting *reporting, const Breach *breach) {
    const Op *product = op_at(reporting, breach->pc), *write = op_at(reporting, breach->other_pc);
    if (!reporting->stage.tl || !op_is(product, CLASS_PRODUCT))
        return false;
    const Effect *effect = lint_effect(reporting->lint, write, EFFECT_WRITE);
    return (effect && effect->group == GROUP_CP_ASYNC) || (breach->own && is_fenced_in_front(product));
}

/* Whether the fences of this kernel are inserted already, so that one that is missing was forgotten: by its author, or
 * by the pass that makes a copy and its fence together. */
static bool is_seen_to(const ProxyReporting *reporting, const Breach *breach) {
    return reporting->stage.fences || (reporting->stage.tl && !op_is(op_at(reporting, breach->pc), CLASS_PRODUCT));
}

/* Threads have read what is overwritten. Whether that needs a fence is disputed: it is reported where no later
 * pass inserts one, and the author of the kernel can. */
static bool is_reuse(const ProxyReporting *reporting, const Breach *breach) {
    return breach->kind == BREACH_MISSING && !reporting->stage.tl && !is_early(reporting, breach) &&
           breach->missing == reporting->lint->releases;
}

static RuleId rule_for(const ProxyReporting *reporting, const Breach *breach) {
    if (breach->kind == BREACH_LATE)
        return RULE_FENCE_LATE;
    if (breach->reads)
        return is_reuse(reporting, breach) ? RULE_FENCE_REUSE : RULE_COUNT;
    if (is_early(reporting, breach) || !breach->missing)
        return RULE_FENCE_PENDING;
    if (is_of_the_compiler(reporting, breach))
        return RULE_FENCE_COMPILER;
    if (breach->missing == reporting->lint->releases)
        return breach->kind == BREACH_NARROW ? RULE_FENCE_NARROW : RULE_FENCE_MISSING;
    return is_seen_to(reporting, breach) ? RULE_FENCE_RELEASE : RULE_FENCE_PENDING;
}

static const char *releases_text(const ProxyReporting *reporting, ReleaseSet set) {
    Text text = {0};
    releases_describe(set, &text);
    return verdict_keep(reporting->lint->verdict, &text);
}

static bool is_one(ReleaseSet set) {
    return !(set & (set - 1)) && !release_in(set, RELEASES - 1); /* the last stands for all after it, too */
}

/* "Triton 3.7.1 and later put this fence in, 3.5 to 3.7.0 do not" */
static const char *who_inserts(const ProxyReporting *reporting, const Breach *breach) {
    ReleaseSet missing = breach->missing, rest = reporting->lint->releases & (ReleaseSet)~missing;
    Verdict *verdict = reporting->lint->verdict;
    const char *without =
        verdict_text(verdict, "%s %s not", releases_text(reporting, missing), is_one(missing) ? "does" : "do");
    if (!rest)
        return verdict_text(verdict, "Triton %s insert this fence", without);
    return verdict_text(verdict, "Triton %s %s this fence when lowering the IR; %s", releases_text(reporting, rest),
                        is_one(rest) ? "inserts" : "insert", without);
}

static const char *why_pending(const ProxyReporting *reporting, const Breach *breach) {
    const ProxyStage *stage = &reporting->stage;
    if (stage->assembly)
        return "A proxy fence is in inline assembly that Weir does not follow.";
    if (stage->tokens)
        return "Tokens and arefs become barriers later, and their fences are inserted then.";
    if (is_early(reporting, breach))
        return "The compiler has partitioned this kernel, and has yet to insert the fences of its MMAs.";
    if (breach->missing)
        return verdict_text(reporting->lint->verdict, "%s; use `--triton` to name the release.",
                            who_inserts(reporting, breach));
    return "Triton inserts this fence when it lowers the IR, after memory is allocated.";
}

static const char *why_of_the_compiler(const ProxyReporting *reporting, const Breach *breach) {
    return verdict_text(reporting->lint->verdict,
                        "%s: every `tl.dot` of this kind is compiled this way, and nothing in the kernel can fix it.",
                        who_inserts(reporting, breach));
}

static const char *why_shared(const ProxyReporting *reporting, const Breach *breach, RuleId rule) {
    switch (rule) {
    case RULE_FENCE_LATE:
        return verdict_text(reporting->lint->verdict,
                            "The fence at IR line %u is executed by other threads, after they were signaled; PTX "
                            "places it in the threads that %s.",
                            line_at(reporting->machine, breach->fence_pc), breach->reads ? "read" : "wrote");
    case RULE_FENCE_REUSE:
        return is_blackwell(reporting)
                   ? "The memory model requires a proxy fence in this order, too, and the compiler inserts none here. "
                     "On sm_100 kernels without it were seen to read what the copy wrote."
                   : "The memory model also requires a proxy fence in this order; TMA rings are commonly built without "
                     "one, and on sm_90 none was seen to fail.";
    case RULE_FENCE_PENDING:
        return why_pending(reporting, breach);
    case RULE_FENCE_COMPILER:
        return why_of_the_compiler(reporting, breach);
    case RULE_FENCE_RELEASE:
        return verdict_text(reporting->lint->verdict, "%s %s; use `--triton` to name the release.",
                            why_missing(reporting, breach), who_inserts(reporting, breach));
    default:
        return why_missing(reporting, breach);
    }
}

static const char *what_is_wrong(const Breach *breach, RuleId rule) {
    if (rule == RULE_FENCE_LATE)
        return breach->reads ? "the threads that read do not execute the proxy fence between"
                             : "the threads that write do not execute the proxy fence between";
    if (breach->kind == BREACH_NARROW)
        return "the proxy fence covers only its own CTA between";
    if (rule == RULE_FENCE_RELEASE)
        return "no proxy fence, unless the compiler inserts one, between";
    return rule == RULE_FENCE_PENDING ? "no proxy fence yet between" : "no proxy fence between";
}

static const char *fix_shared(const ProxyReporting *reporting, const Breach *breach, RuleId rule) {
    if (rule == RULE_FENCE_COMPILER)
        return "Compile with Triton 3.7.1 or later.";
    const char *where = place_text(reporting, breach);
    if (breach->kind == BREACH_NARROW)
        return verdict_text(reporting->lint->verdict, "Widen the fence to the cluster: %s.", where);
    return verdict_text(reporting->lint->verdict, breach->fence_pc == NO_PC ? "Insert %s." : "Move the fence: %s.",
                        where);
}

/* Of a kernel without any fence its author may count on the compiler, and nothing says whether that is right. */
static void report_undecided(const ProxyReporting *reporting, const Breach *breach) {
    Lint *lint = reporting->lint;
    const Op *op = op_at(reporting, breach->pc);
    op_incomplete(
        lint->module, op,
        verdict_text(lint->verdict,
                     "no proxy fence is between it and the write at IR line %u; %s (use --triton to name the release)",
                     line_at(reporting->machine, breach->other_pc), who_inserts(reporting, breach)),
        lint->verdict);
}

static void report_shared(const ProxyReporting *reporting, const Breach *breach) {
    Lint *lint = reporting->lint;
    RuleId rule = rule_for(reporting, breach);
    if (rule == RULE_COUNT)
        return;
    if (rule == RULE_FENCE_PENDING && breach->missing && !is_early(reporting, breach))
        report_undecided(reporting, breach);
    const char *who = agent_text(reporting, breach->agent), *other = agent_text(reporting, breach->other_agent);
    const char *what = memory_text(reporting, breach->span), *other_verb = breach->reads ? "reads" : "writes";
    const char *verb = breach->writes ? "overwrites" : "reads";
    Finding *finding = lint_find(
        lint, rule, op_at(reporting, breach->pc), "%s%s accesses to %s: async-proxy %s by %s, %s by %s at IR line %u",
        review_text(reporting, rule), what_is_wrong(breach, rule), what, breach->writes ? "overwrite" : "read",
        agent_in_words(reporting, breach->agent), breach->reads ? "read" : "write",
        agent_in_words(reporting, breach->other_agent), line_at(reporting->machine, breach->other_pc));
    if (!finding)
        return;
    finding->times = breach->times;
    finding->grade = severity_of(reporting, rule);
    finding->graded = finding->grade != rule_of(rule)->severity;
    lint_other_place(lint, finding, other_verb, op_at(reporting, breach->other_pc));
    finding->places[0].role = verb;
    finding->places[0].agent = who;
    finding->places[1].agent = other;
    finding->places[0].note = finding->places[1].note = what;
    finding->why = why_shared(reporting, breach, rule);
    finding->fix = fix_shared(reporting, breach, rule);
}

/* ---- Global memory and descriptors ---------------------------------------------------------------- */

typedef struct Wording {
    RuleId rule;
    const char *doing, *rest; /* what who does; IR line N; what is wrong about it */
    const char *role, *other_role, *why, *fix;
} Wording;

static const Wording wordings[] = {
    [BREACH_GLOBAL] = {RULE_FENCE_GLOBAL, "copies global memory that threads wrote at",
                       ", with no proxy fence for global memory in between", "copies", "writes",
                       "TMA reads through the async proxy, which sees what threads wrote only after a proxy fence; "
                       "`fence_async_shared` does not cover global memory.",
                       "Insert `fence.proxy.async.global` (inline assembly) after the stores, or load through "
                       "pointers."},
    [BREACH_ELSEWHERE] =
        {RULE_FENCE_GLOBAL_OTHER, "copies global memory that another CTA writes at",
         ", without a proxy fence after the stores", "copies", "writes",
         "If a flag orders the two, the stores need a proxy fence for global memory before the flag is set.",
         "Insert `fence.proxy.async.global` (inline assembly) after the stores, before the flag."},
    [BREACH_IN_FLIGHT] =
        {RULE_FENCE_IN_FLIGHT, "reads global memory that the TMA store at", " may still be writing", "reads", "stores",
         "A TMA store has written its destination only after a wait without `read_only`, and no such wait is in "
         "between.",
         "Insert `ttng.async_tma_store_wait {pendings = 0 : i32}`, without `read_only`, before the read."},
    [BREACH_FLAG] =
        {RULE_FENCE_FLAG, "sets a flag while its TMA store at", " may still be writing", "releases", "stores",
         "If the flag publishes what the store writes, a CTA that sees it may read too early: a TMA store has "
         "written its destination only after a wait without `read_only`.",
         "Insert `ttng.async_tma_store_wait {pendings = 0 : i32}`, without `read_only`, before the atomic."},
    [BREACH_TENSORMAP] = {RULE_FENCE_TENSORMAP, "uses the descriptor that was created at",
                          ", with no acquire fence in between", "copies", "makes",
                          "TMA reads descriptors through the tensormap proxy, which sees a new descriptor only after "
                          "a release and an acquire on it.",
                          "Insert `ttng.tensormap_fenceproxy_acquire` on the descriptor before the copy."},
    [BREACH_REWRITTEN] =
        {RULE_FENCE_DESCRIPTOR_REWRITTEN, "rewrites a descriptor that the copy at", " may still be reading", "makes",
         "copies",
         "A TMA copy reads its descriptor at any time until it completes, and nothing here has waited for "
         "it.",
         "Wait for the copy first, or give each descriptor its own memory."},
};

/* The rule of lint_tma.def that tells the same fault where one walk along the paths of a partition shows it. */
static RuleId rule_of_paths(BreachKind kind) {
    return kind == BREACH_TENSORMAP   ? RULE_TMA_MAP_ACQUIRE
           : kind == BREACH_REWRITTEN ? RULE_TMA_MAP_REWRITE
                                      : RULE_COUNT;
}

/* Whether a run of the whole grid has shown that the copy reads what has no fence. */
static bool is_reported_by_grid(const ProxyReporting *reporting, const Breach *breach) {
    const Verdict *verdict = reporting->lint->verdict;
    if (breach->kind != BREACH_GLOBAL && breach->kind != BREACH_ELSEWHERE)
        return false;
    for (size_t i = 0; i < verdict->finding_count; i++)
        if (verdict->findings[i].rule == RULE_FENCE_GLOBAL &&
            verdict->findings[i].places[0].ir_line == line_at(reporting->machine, breach->pc))
            return true;
    return false;
}

static void report_global(const ProxyReporting *reporting, const Breach *breach) {
    if (is_reported_by_grid(reporting, breach) ||
        lint_reported(reporting->lint, rule_of_paths(breach->kind), op_at(reporting, breach->pc)))
        return;
    const Wording *wording = &wordings[breach->kind];
    const char *who = agent_text(reporting, breach->agent);
    Finding *finding = lint_find(reporting->lint, wording->rule, op_at(reporting, breach->pc), "%s%s %s IR line %u%s",
                                 review_text(reporting, wording->rule), agent_in_words(reporting, breach->agent),
                                 wording->doing, line_at(reporting->machine, breach->other_pc), wording->rest);
    if (!finding)
        return;
    finding->space = "global";
    finding->times = breach->times;
    finding->why = wording->why;
    finding->fix = wording->fix;
    finding->places[0].role = wording->role;
    finding->places[0].agent = who;
    lint_other_place(reporting->lint, finding, wording->other_role, op_at(reporting, breach->other_pc));
    finding->places[1].agent = agent_text(reporting, breach->other_agent);
}

/* ---- Needless fences ------------------------------------------------------------------------------ */

/* What was seen of a fence of the kernel. */
typedef struct SeenFence {
    const Op *op;
    FenceUse use;
    uint32_t before; /* the fence after which nothing was accessed; NO_PC: none */
    bool blamed;     /* a finding says what is wrong with it */
} SeenFence;

/* An op may have several instructions, where a function is called more than once: one that is of use is enough. */
static SeenFence seen_fence(const ProxyReporting *reporting, const Op *op) {
    const Program *program = reporting->machine->program;
    SeenFence seen = {.op = op, .before = NO_PC};
    uint32_t count;
    const Breach *found = proxies_found(reporting->proxies, &count);
    for (uint32_t i = 0; i < count; i++)
        seen.blamed |= found[i].fence_pc != NO_PC && op_at(reporting, found[i].fence_pc) == op && !found[i].reads;
    bool lacks = false; /* where one is missing, that nothing more is wrong without this one says nothing */
    for (uint32_t i = 0; i < count; i++)
        lacks |= found[i].kind <= BREACH_LATE && !found[i].reads;
    for (uint32_t pc = 0; pc < program->code_count; pc++) {
        uint32_t last;
        if (program->ops[pc] != op)
            continue;
        FenceUse here = proxies_fence_use(reporting->proxies, pc, &last);
        seen.use = here > seen.use ? here : seen.use;
        seen.before = last == NO_PC ? seen.before : last;
    }
    seen.blamed |= lacks && seen.use == FENCE_USED;
    return seen;
}

static void report_needless(const ProxyReporting *reporting, const SeenFence *fence) {
    if (fence->use == FENCE_NEVER || fence->blamed)
        return;
    Finding *finding = lint_find(reporting->lint, RULE_FENCE_NEEDLESS, fence->op, "this proxy fence orders nothing");
    if (!finding)
        return;
    if (fence->use == FENCE_USED)
        finding->why = "The same threads execute another fence before any asynchronous operation that this one is "
                       "for.";
    else if (fence->use == FENCE_UNUSED)
        finding->why =
            "No asynchronous operation touches what threads accessed before it, or an earlier fence already covers "
            "those that do.";
    else if (fence->before != NO_PC && op_at(reporting, fence->before) != fence->op)
        finding->why = verdict_text(reporting->lint->verdict,
                                    "Threads have accessed no shared memory since the fence at IR line %u.",
                                    line_at(reporting->machine, fence->before));
    else
        finding->why = "Threads have accessed no shared memory before it that is not fenced already; what copies and "
                       "MMAs wrote is visible to agents that waited for them.";
    finding->fix = "Remove it.";
}

/* Has to come last: it runs the kernel again, without one fence and another. */
static void find_needless(const ProxyReporting *reporting, FenceRuns *runs, Proxies *proxies) {
    Lint *lint = reporting->lint;
    size_t count = 0, made = 0, needless;
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function))
        count += op_is_fence(op);
    if (!count || count > MOST_FENCES)
        return;
    SeenFence *fences = ARENA_ARRAY(&lint->module->arena, SeenFence, count + 1);
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function))
        if (op_is_fence(op))
            fences[made++] = seen_fence(reporting, op);
    const Op *const *ops = fences_needless(lint->module, lint->function, runs, proxies, &needless);
    for (size_t i = 0, k = 0; i < needless; i++, k++) { /* both are in the order of the text */
        while (fences[k].op != ops[i])
            k++;
        report_needless(reporting, &fences[k]);
    }
}

/* ---- All of it ------------------------------------------------------------------------------------ */

/* One write without a fence is one finding, however many operations miss it. */
static bool is_reported(const ProxyReporting *reporting, const Breach *found, uint32_t index) {
    const Breach *breach = &found[index];
    for (uint32_t i = 0; i < index; i++)
        if (op_at(reporting, found[i].other_pc) == op_at(reporting, breach->other_pc) &&
            found[i].reads == breach->reads && rule_for(reporting, &found[i]) == rule_for(reporting, breach))
            return true;
    return false;
}

/* Whether the run that was just made still lacks the fence. A fence of the reader is not where it should be, but it
 * is there. */
static bool is_still_missing(const ProxyReporting *reporting, const Breach *breach) {
    uint32_t count;
    const Breach *found = proxies_found(reporting->proxies, &count);
    for (uint32_t i = 0; i < count; i++)
        if (found[i].kind < BREACH_LATE && found[i].reads == breach->reads &&
            op_at(reporting, found[i].pc) == op_at(reporting, breach->pc) &&
            op_at(reporting, found[i].other_pc) == op_at(reporting, breach->other_pc))
            return true;
    return false;
}

/* Runs the kernel with what each release inserts. */
static void find_missing(const ProxyReporting *reporting, FenceRuns *runs, Proxies *proxies, Breach *found,
                         uint32_t count) {
    Lint *lint = reporting->lint;
    for (InsertionKind kind = 0; kind < INSERTIONS; kind++) {
        ReleaseSet releases = insertion_releases(kind) & lint->releases;
        if (!releases)
            continue;
        Insertion insertion = insertion_of(lint->module, lint->function, kind);
        if (insertion.count) {
            proxies_edit(proxies, insertion.points, insertion.count, NULL, 0);
            fence_runs_again(runs);
        }
        for (uint32_t i = 0; i < count; i++)
            if (!insertion.count || is_still_missing(reporting, &found[i]))
                found[i].missing |= releases;
        if (insertion.count) { /* as it is */
            proxies_edit(proxies, NULL, 0, NULL, 0);
            fence_runs_again(runs);
        }
    }
}

/* What was found, and of each which releases leave it so. */
static const Breach *found_of(const ProxyReporting *reporting, FenceRuns *runs, Proxies *proxies, uint32_t *count) {
    bool any = false;
    fence_runs_again(runs);
    const Breach *found = proxies_found(proxies, count);
    Breach *kept = ARENA_ARRAY(&reporting->lint->module->arena, Breach, *count + 1);
    memcpy(kept, found, *count * sizeof *kept);
    for (uint32_t i = 0; i < *count; i++) {
        any |= kept[i].kind < BREACH_LATE && (!kept[i].reads || !reporting->stage.tl);
        kept[i].missing = reporting->stage.inserted ? reporting->lint->releases : 0;
    }
    if (any && !reporting->stage.inserted)
        find_missing(reporting, runs, proxies, kept, *count);
    return kept;
}

static void look(FenceRuns *runs, Proxies *proxies, void *context) {
    Lint *lint = context;
    ProxyReporting reporting = {lint, fence_runs_machine(runs), proxies, stage_of(lint)};
    uint32_t count;
    const Breach *found = found_of(&reporting, runs, proxies, &count);
    for (uint32_t i = 0; i < count; i++)
        if (found[i].kind > BREACH_LATE)
            report_global(&reporting, &found[i]);
        else if (!is_reported(&reporting, found, i))
            report_shared(&reporting, &found[i]);
    const char *cut_short = fence_runs_cut_short(runs);
    if (cut_short && lint->alone)
        verdict_note(lint->verdict, "fences are checked as far as runs go, and some runs did not finish: %s",
                     cut_short);
    const char *unfinished = fence_runs_unfinished(runs);
    const Op *unseen = unfinished && !lint->alone ? proxies_unseen(proxies) : NULL;
    if (unseen)
        op_incomplete(
            lint->module, unseen,
            verdict_text(lint->verdict, "its fences were not checked: no run for fences reached it (%s)", unfinished),
            lint->verdict);
    const Launch *launch;
    uint64_t left_out = fence_runs_left_out(runs, &launch);
    if (left_out && !lint->alone)
        verdict_incomplete(lint->verdict, "", 0,
                           "fences were not checked in %llu of the clusters of a launch (%s): they behave in too "
                           "many ways (with a smaller --grid, all of them)",
                           (unsigned long long)left_out, launch_text(launch, lint->verdict->arena));
    if (!reporting.stage.assembly)
        find_needless(&reporting, runs, proxies);
}

void lint_proxies(Lint *lint) {
    if (lint_is_amd(lint) || !proxies_matter(lint->module, lint->function))
        return;
    FenceLaunch given = {.launch = lint->launch,
                         .loads = lint->options->loads,
                         .loads_context = lint->options->loads_context,
                         .chosen = lint->options->chosen};
    fence_runs(lint->module, lint->function, given, lint->verdict, look, lint);
}
