/* model/slots says "different" only of what differs: random loops over counters, run by a small interpreter.
 *
 * A program is a tree of statements over 32-bit registers. It is written as scf or as branches, read, and asked about;
 * and it is run with several arguments. Two accesses of a run with the same index, and what lies between them, must not
 * be among what was proved. */
#include "reading.h"

#include "model/number/slots.h"
#include "share.h"

static Slots *slots_in(Reading *reading) {
    Arena *arena = &reading->module.arena;
    const Op *function = find_op(reading, "tt.func", 0);
    Flow *flow = ARENA_NEW(arena, Flow);
    *flow = flow_of(function, arena);
    return slots_of(&reading->module, function, flow);
}

enum {
    PROGRAMS = 8000,
    RUNS = 3,
    PARAMETERS = 3,
    MOST_REGISTERS = 160,
    MOST_STATEMENTS = 120,
    MOST_CARRIED = 3,
    MOST_PROBES = 6,
    MOST_LOOPS = 4,
    MOST_NEST = 2,
    MOST_EVENTS = 160,
    MOST_INSTANCES = 64,
    MOST_AFTER = 4,
};

typedef enum Kind {
    CONSTANT, /* number */
    ADD,
    SUBTRACT,
    MULTIPLY,
    REMAINDER,
    UNSIGNED_REMAINDER,
    DIVIDE,
    AND,
    XOR,
    SELECT, /* a PREDICATE b ? c : d */
    NARROW, /* to 8 bits and back; number: 0 signed, 1 unsigned, 2 to one bit */
    PROBE,  /* a */
    LOOP,   /* while its first counter is below a */
    IF,     /* a PREDICATE b, then or else; c or d is the result */
} Kind;

typedef struct Statement {
    Kind kind;
    int result, a, b, c, d;
    int64_t number;
    unsigned predicate;
    struct Statement *body, *otherwise; /* chains */
    struct Statement *next;
    /* LOOP: the counter of iterations is carried[0] */
    unsigned loop, carried_count, form;
    int first[MOST_CARRIED + 1], inside[MOST_CARRIED + 1], following[MOST_CARRIED + 1], after[MOST_CARRIED + 1];
} Statement;

typedef struct Program {
    uint64_t random;
    Statement statements[MOST_STATEMENTS];
    unsigned statement_count, register_count, loop_count, probe_count;
    int depth_of_ring; /* the modulus that most of it uses */
    bool branches;
    int visible[MOST_REGISTERS];
    unsigned visible_count;
    Statement **end; /* where the next statement goes */
    bool full;
} Program;

/* ---- Making one
 * ------------------------------------------------------------------------------------------------------ */

static unsigned pick(Program *p, unsigned count) {
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(p->random >> 33) % count;
}

static Statement *put(Program *p, Kind kind) {
    static Statement spare;
    if (p->statement_count == MOST_STATEMENTS || p->register_count + MOST_CARRIED * 4 > MOST_REGISTERS) {
        p->full = true;
        return &spare;
    }
    Statement *made = &p->statements[p->statement_count++];
    *made = (Statement){.kind = kind, .result = (int)p->register_count++};
    *p->end = made;
    p->end = &made->next;
    return made;
}

static int constant(Program *p, int64_t number) {
    Statement *made = put(p, CONSTANT);
    made->number = number;
    return made->result;
}

static int operation(Program *p, Kind kind, int a, int b) {
    Statement *made = put(p, kind);
    made->a = a;
    made->b = b;
    return made->result;
}

static int with_number(Program *p, Kind kind, int a, int64_t number) {
    return operation(p, kind, a, constant(p, number));
}

static int any_visible(Program *p) {
    return p->visible[pick(p, p->visible_count)];
}

static int any_ring(Program *p) {
    return pick(p, 5) ? p->depth_of_ring : 2 + (int)pick(p, 3);
}

static int choice(Program *p, unsigned predicate, int a, int b, int yes, int no) {
    Statement *made = put(p, SELECT);
    made->predicate = predicate;
    made->a = a;
    made->b = b;
    made->c = yes;
    made->d = no;
    return made->result;
}

/* x + 1 that wraps around, as one of many writes it; not always rightly. */
static int wrap(Program *p, int x, int ring) {
    enum { EQ, NE, SLT, SLE, SGT, SGE, ULT, ULE, UGT, UGE };
    int by = pick(p, 6) ? 1 : 2, next = with_number(p, ADD, x, by), end = constant(p, ring);
    int low = pick(p, 6) ? constant(p, 0) : pick(p, 2) ? constant(p, 1) : with_number(p, SUBTRACT, next, ring);
    switch (pick(p, 8)) {
    case 0:
        return choice(p, SLT, next, end, next, low);
    case 1:
        return choice(p, EQ, next, end, low, next);
    case 2:
        return choice(p, NE, next, end, next, low);
    case 3:
        return choice(p, UGE, next, end, low, next);
    case 4:
        return choice(p, SGT, x, constant(p, ring - 2), low, next);
    case 5:
        return choice(p, UGT, x, constant(p, ring - 2), low, next);
    case 6: /* downwards */
        return choice(p, SGT, x, constant(p, 0), with_number(p, SUBTRACT, x, 1), constant(p, ring - 1));
    default:
        return choice(p, SGE, next, end, low, next);
    }
}

static int slot_from(Program *p, int x) {
    int ring = any_ring(p);
    if (pick(p, 3) == 0)
        x = with_number(p, ADD, x, (int)pick(p, 5) - 1);
    switch (pick(p, 12)) {
    case 0:
        return x;
    case 1:
        return with_number(p, UNSIGNED_REMAINDER, x, ring);
    case 2:
        return operation(p, SUBTRACT, x, with_number(p, MULTIPLY, with_number(p, DIVIDE, x, ring), ring));
    case 3:
        return with_number(p, AND, x, pick(p, 2) ? 1 : 3);
    case 4:
        return wrap(p, x, ring);
    case 5:
        return with_number(p, REMAINDER, with_number(p, MULTIPLY, x, 2), ring * 2);
    case 6:
        return with_number(p, REMAINDER, with_number(p, ADD, with_number(p, MULTIPLY, x, 2), 1), ring * 2);
    case 7: {
        Statement *made = put(p, NARROW);
        made->a = x;
        made->number = pick(p, 3);
        return with_number(p, REMAINDER, made->result, ring);
    }
    case 8:
        return with_number(p, XOR, x, 1);
    default:
        return with_number(p, REMAINDER, x, ring);
    }
}

static void probe(Program *p) {
    if (p->probe_count == MOST_PROBES)
        return;
    int slot = slot_from(p, any_visible(p));
    Statement *made = put(p, PROBE);
    made->a = slot;
    made->number = p->probe_count;
    p->probe_count++;
}

static int following(Program *p, int x, int step, unsigned way, const int *all, unsigned count) {
    switch (way) {
    case 0:
        return wrap(p, x, p->depth_of_ring);
    case 1:
        return with_number(p, REMAINDER, with_number(p, ADD, x, step), p->depth_of_ring);
    case 2:
        return with_number(p, XOR, x, 1);
    case 3:
        return operation(p, SUBTRACT, constant(p, 1), x);
    case 4: /* under a condition that has nothing to do with it */
        return choice(p, 2, 0, constant(p, 3), with_number(p, ADD, x, step), x);
    case 5:
        return all[pick(p, count)];
    case 6:
        return operation(p, ADD, x, (int)pick(p, PARAMETERS));
    case 7:
        return x;
    case 8: {
        Statement *made = put(p, IF);
        made->predicate = 2;
        made->a = all[0];
        made->b = 1;
        Statement **end = p->end;
        p->end = &made->body;
        made->c = with_number(p, ADD, x, step);
        p->end = &made->otherwise;
        made->d = pick(p, 2) ? x : with_number(p, ADD, x, step + p->depth_of_ring);
        p->end = end;
        return made->result;
    }
    default:
        return with_number(p, ADD, x, step);
    }
}

static void loop(Program *p, int nest);

static void block(Program *p, int nest) {
    unsigned count = 1 + pick(p, 2);
    for (unsigned i = 0; i < count; i++)
        probe(p);
    if (nest < MOST_NEST && pick(p, nest ? 2 : 4))
        loop(p, nest + 1);
    if (pick(p, 2))
        probe(p);
}

static void loop(Program *p, int nest) {
    if (p->loop_count == MOST_LOOPS)
        return;
    unsigned visible = p->visible_count;
    int trips = pick(p, 3) ? (int)pick(p, PARAMETERS) : constant(p, pick(p, 6));
    int starts[MOST_CARRIED + 1];
    starts[0] = constant(p, 0);
    unsigned count = 1 + pick(p, MOST_CARRIED);
    int base = any_visible(p);
    for (unsigned i = 1; i <= count; i++)
        starts[i] = nest > 1 && pick(p, 2) ? any_visible(p)
                    : pick(p, 4)           ? constant(p, (int)pick(p, 5) - 1)
                                           : with_number(p, ADD, base, pick(p, 4));
    Statement *made = put(p, LOOP);
    made->a = trips;
    made->loop = p->loop_count++;
    made->form = pick(p, 3);
    made->carried_count = count;
    for (unsigned i = 0; i <= count; i++) {
        made->first[i] = starts[i];
        made->inside[i] = (int)p->register_count++;
        p->visible[p->visible_count++] = made->inside[i];
    }
    Statement **end = p->end;
    p->end = &made->body;
    block(p, nest);
    int step = pick(p, 4) ? 1 : 1 + (int)pick(p, 3);
    unsigned way = pick(p, 4) ? 9 : pick(p, 10);
    made->following[0] = with_number(p, ADD, made->inside[0], 1);
    for (unsigned i = 1; i <= count; i++) {
        /* often what an inner loop has made of it */
        const Statement *inner = NULL;
        for (const Statement *s = made->body; s && pick(p, 3); s = s->next)
            if (s->kind == LOOP)
                inner = s;
        for (unsigned k = 1; inner && k <= inner->carried_count; k++)
            if (inner->first[k] == made->inside[i])
                made->following[i] = inner->after[k];
        if (!made->following[i])
            made->following[i] =
                following(p, made->inside[i], step, pick(p, 5) ? way : pick(p, 10), made->inside, count + 1);
    }
    p->end = end;
    p->visible_count = visible;
    for (unsigned i = 0; i <= count; i++) {
        made->after[i] = (int)p->register_count++;
        p->visible[p->visible_count++] = made->after[i];
    }
    /* a loop of branches leaves its values behind */
    if (p->branches && pick(p, 2))
        p->visible[p->visible_count++] = made->inside[pick(p, count + 1)];
}

static Statement *make(Program *p, uint64_t seed, bool branches) {
    Statement *first = NULL;
    *p = (Program){.random = seed, .branches = branches, .register_count = PARAMETERS, .end = &first};
    p->depth_of_ring = 2 + (int)pick(p, 3);
    for (int i = 0; i < PARAMETERS; i++)
        p->visible[p->visible_count++] = i;
    p->visible[p->visible_count++] = constant(p, pick(p, 4));
    loop(p, 1);
    block(p, 0);
    return first;
}

/* ---- Writing it
 * ------------------------------------------------------------------------------------------------------- */

static const char *const predicates[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};

static void write_list(Text *to, const Statement *s, char letter, const int *registers, const char *type) {
    for (unsigned i = 0; i <= s->carried_count; i++)
        if (type)
            text_addf(to, "%s%s", i ? ", " : "", type);
        else
            text_addf(to, "%s%%%c%d", i ? ", " : "", letter, registers[i]);
}

/* "(%r1, %r2 : i32, i32)" */
static void write_forwarded(Text *to, const Statement *s, const int *registers) {
    text_char(to, '(');
    write_list(to, s, 'r', registers, NULL);
    text_addf(to, " : ");
    write_list(to, s, 'r', NULL, "i32");
    text_char(to, ')');
}

static void write_chain(const Program *p, Text *to, const Statement *s);

static void write_branches(const Program *p, Text *to, const Statement *s) {
    unsigned n = s->loop;
    text_addf(to, "    cf.br ^head%u", n);
    write_forwarded(to, s, s->first);
    text_addf(to, "\n  ^head%u(", n);
    for (unsigned i = 0; i <= s->carried_count; i++)
        text_addf(to, "%s%%r%d: i32", i ? ", " : "", s->inside[i]);
    text_addf(to, "):\n    %%more%u = arith.cmpi slt, %%r%d, %%r%d : i32\n", n, s->inside[0], s->a);
    text_addf(to, "    cf.cond_br %%more%u, ^body%u, ^end%u\n  ^body%u:\n", n, n, n, n);
    write_chain(p, to, s->body);
    text_addf(to, "    cf.br ^head%u", n);
    write_forwarded(to, s, s->following);
    text_addf(to, " {id = %u : i32}\n  ^end%u:\n", n, n);
    for (unsigned i = 0; i <= s->carried_count; i++) /* another name for the same value */
        text_addf(to, "    %%r%d = arith.addi %%r%d, %%zero : i32\n", s->after[i], s->inside[i]);
}

static void write_results(Text *to, const Statement *s) {
    for (unsigned i = 0; i <= s->carried_count; i++)
        text_addf(to, "    %%r%d = arith.addi %%loop%u#%u, %%zero : i32\n", s->after[i], s->loop, i);
}

static void write_for(const Program *p, Text *to, const Statement *s) {
    text_addf(to, "    %%loop%u:%u = scf.for %%i%u = %%r%d to %%r%d step %%one iter_args(", s->loop,
              s->carried_count + 1, s->loop, s->first[0], s->a);
    for (unsigned i = 0; i <= s->carried_count; i++)
        text_addf(to, "%s%%%s%d = %%r%d", i ? ", " : "", i ? "r" : "other", s->inside[i], s->first[i]);
    text_addf(to, ") -> (");
    write_list(to, s, 'r', NULL, "i32");
    text_addf(to, ") : i32 {\n    %%r%d = arith.addi %%i%u, %%zero : i32\n", s->inside[0], s->loop);
    write_chain(p, to, s->body);
    text_addf(to, "    scf.yield ");
    write_list(to, s, 'r', s->following, NULL);
    text_addf(to, " : ");
    write_list(to, s, 'r', NULL, "i32");
    text_addf(to, "\n    } {id = %u : i32}\n", s->loop);
    write_results(to, s);
}

static void write_while(const Program *p, Text *to, const Statement *s) {
    text_addf(to, "    %%loop%u:%u = scf.while (", s->loop, s->carried_count + 1);
    for (unsigned i = 0; i <= s->carried_count; i++)
        text_addf(to, "%s%%b%d = %%r%d", i ? ", " : "", s->inside[i], s->first[i]);
    text_addf(to, ") : (");
    write_list(to, s, 'r', NULL, "i32");
    text_addf(to, ") -> (");
    write_list(to, s, 'r', NULL, "i32");
    text_addf(to, ") {\n    %%more%u = arith.cmpi slt, %%b%d, %%r%d : i32\n    scf.condition(%%more%u) ", s->loop,
              s->inside[0], s->a, s->loop);
    write_list(to, s, 'b', s->inside, NULL);
    text_addf(to, " : ");
    write_list(to, s, 'r', NULL, "i32");
    text_addf(to, "\n    } do {\n    ^bb0(");
    for (unsigned i = 0; i <= s->carried_count; i++)
        text_addf(to, "%s%%r%d: i32", i ? ", " : "", s->inside[i]);
    text_addf(to, "):\n");
    write_chain(p, to, s->body);
    text_addf(to, "    scf.yield ");
    write_list(to, s, 'r', s->following, NULL);
    text_addf(to, " : ");
    write_list(to, s, 'r', NULL, "i32");
    text_addf(to, "\n    } attributes {id = %u : i32}\n", s->loop);
    write_results(to, s);
}

static void write_if(const Program *p, Text *to, const Statement *s) {
    int n = s->result;
    text_addf(to, "    %%f%d = arith.cmpi %s, %%r%d, %%r%d : i32\n", n, predicates[s->predicate], s->a, s->b);
    if (p->branches) {
        text_addf(to, "    cf.cond_br %%f%d, ^then%d, ^else%d\n  ^then%d:\n", n, n, n, n);
        write_chain(p, to, s->body);
        text_addf(to, "    cf.br ^join%d(%%r%d : i32)\n  ^else%d:\n", n, s->c, n);
        write_chain(p, to, s->otherwise);
        text_addf(to, "    cf.br ^join%d(%%r%d : i32)\n  ^join%d(%%r%d: i32):\n", n, s->d, n, n);
        return;
    }
    text_addf(to, "    %%r%d = scf.if %%f%d -> (i32) {\n", n, n);
    write_chain(p, to, s->body);
    text_addf(to, "    scf.yield %%r%d : i32\n    } else {\n", s->c);
    write_chain(p, to, s->otherwise);
    text_addf(to, "    scf.yield %%r%d : i32\n    }\n", s->d);
}

static void write_chain(const Program *p, Text *to, const Statement *s) {
    static const char *const words[] = {
        [ADD] = "addi",        [SUBTRACT] = "subi", [MULTIPLY] = "muli",
        [REMAINDER] = "remsi", [DIVIDE] = "divsi",  [UNSIGNED_REMAINDER] = "remui",
        [AND] = "andi",        [XOR] = "xori",
    };
    static const char *const narrow[] = {"i8", "i8", "i1"};
    for (; s; s = s->next) {
        switch (s->kind) {
        case CONSTANT:
            text_addf(to, "    %%r%d = arith.constant %lld : i32\n", s->result, (long long)s->number);
            break;
        case SELECT:
            text_addf(to, "    %%f%d = arith.cmpi %s, %%r%d, %%r%d : i32\n", s->result, predicates[s->predicate], s->a,
                      s->b);
            text_addf(to, "    %%r%d = arith.select %%f%d, %%r%d, %%r%d : i32\n", s->result, s->result, s->c, s->d);
            break;
        case NARROW:
            text_addf(to, "    %%t%d = arith.trunci %%r%d : i32 to %s\n    %%r%d = arith.%s %%t%d : %s to i32\n",
                      s->result, s->a, narrow[s->number], s->result, s->number == 1 ? "extui" : "extsi", s->result,
                      narrow[s->number]);
            break;
        case PROBE:
            text_addf(to, "    \"my.use\"(%%r%d) : (i32) -> ()\n", s->a);
            break;
        case LOOP:
            if (p->branches)
                write_branches(p, to, s);
            else if (s->form)
                write_for(p, to, s);
            else
                write_while(p, to, s);
            break;
        case IF:
            write_if(p, to, s);
            break;
        default:
            text_addf(to, "    %%r%d = arith.%s %%r%d, %%r%d : i32\n", s->result, words[s->kind], s->a, s->b);
            break;
        }
    }
}

static Reading *written(const Program *p, const Statement *first, Text *text) {
    text_addf(text, "module {\n  tt.func @kernel(%%r0: i32, %%r1: i32, %%r2: i32) {\n"
                    "    %%zero = arith.constant 0 : i32\n    %%one = arith.constant 1 : i32\n");
    write_chain(p, text, first);
    text_addf(text, "    tt.return\n  }\n}\n");
    text_char(text, 0);
    Reading *reading = read_text(text->data);
    if (!reading->ok)
        print_error("%s\n%s\n", text->data, reading->diagnostics.items[0].message);
    assert_true(reading->ok);
    return reading;
}

/* ---- Running it
 * ------------------------------------------------------------------------------------------------------- */

typedef struct Turn {
    unsigned loop, instance, iteration;
} Turn;

/* The last instance of a loop that was started, and how often it went around so far. */
typedef struct Latest {
    unsigned instance, trips; /* instance: plus 1; 0: none */
} Latest;

typedef struct Event {
    unsigned probe, nest, instance_count;
    int64_t index;
    Turn turns[MOST_NEST + 1];
    Latest latest[MOST_LOOPS];
} Event;

typedef struct Run {
    int64_t registers[MOST_REGISTERS];
    Event events[MOST_EVENTS];
    unsigned event_count, instance_count, nest;
    unsigned last[MOST_INSTANCES]; /* how often an instance of a loop went around */
    Turn turns[MOST_NEST + 1];
    Latest latest[MOST_LOOPS];
    bool failed; /* numbers too large, too many events */
} Run;

static bool compare(unsigned predicate, int64_t a, int64_t b) {
    uint32_t x = (uint32_t)a, y = (uint32_t)b;
    bool results[] = {a == b, a != b, a<b, a <= b, a> b, a >= b, x<y, x <= y, x> y, x >= y};
    return results[predicate];
}

static int64_t narrowed(int64_t x, int64_t how) {
    if (how == 2)
        return x & 1 ? -1 : 0;
    return how == 1 ? (int64_t)(uint8_t)x : (int64_t)(int8_t)(uint8_t)x;
}

static void run_chain(Run *r, const Statement *s);

static void run_loop(Run *r, const Statement *s) {
    if (r->instance_count == MOST_INSTANCES) {
        r->failed = true;
        return;
    }
    unsigned instance = r->instance_count++;
    Turn *turn = &r->turns[r->nest++];
    *turn = (Turn){s->loop, instance, 0};
    r->latest[s->loop] = (Latest){instance + 1, 0};
    for (unsigned i = 0; i <= s->carried_count; i++)
        r->registers[s->inside[i]] = r->registers[s->first[i]];
    for (; !r->failed && r->registers[s->inside[0]] < r->registers[s->a]; turn->iteration++) {
        run_chain(r, s->body);
        int64_t next[MOST_CARRIED + 1];
        for (unsigned i = 0; i <= s->carried_count; i++)
            next[i] = r->registers[s->following[i]];
        for (unsigned i = 0; i <= s->carried_count; i++)
            r->registers[s->inside[i]] = next[i];
        r->latest[s->loop].trips++;
    }
    r->last[instance] = turn->iteration;
    for (unsigned i = 0; i <= s->carried_count; i++)
        r->registers[s->after[i]] = r->registers[s->inside[i]];
    r->nest--;
}

static void run_probe(Run *r, const Statement *s) {
    if (r->event_count == MOST_EVENTS) {
        r->failed = true;
        return;
    }
    Event *event = &r->events[r->event_count++];
    *event = (Event){.probe = (unsigned)s->number,
                     .nest = r->nest,
                     .instance_count = r->instance_count,
                     .index = r->registers[s->a]};
    memcpy(event->turns, r->turns, sizeof event->turns);
    memcpy(event->latest, r->latest, sizeof event->latest);
}

static int64_t computed(const Statement *s, int64_t a, int64_t b) {
    switch (s->kind) {
    case ADD:
        return a + b;
    case SUBTRACT:
        return a - b;
    case MULTIPLY:
        return a * b;
    case REMAINDER:
        return a % b;
    case UNSIGNED_REMAINDER:
        return (uint32_t)a % (uint32_t)b;
    case DIVIDE:
        return a / b;
    case AND:
        return a & b;
    default:
        return a ^ b;
    }
}

static void run_chain(Run *r, const Statement *s) {
    for (; s && !r->failed; s = s->next) {
        int64_t a = r->registers[s->a], b = r->registers[s->b], result = 0;
        switch (s->kind) {
        case CONSTANT:
            result = s->number;
            break;
        case SELECT:
            result = r->registers[compare(s->predicate, a, b) ? s->c : s->d];
            break;
        case NARROW:
            result = narrowed(a, s->number);
            break;
        case PROBE:
            run_probe(r, s);
            continue;
        case LOOP:
            run_loop(r, s);
            continue;
        case IF:
            run_chain(r, compare(s->predicate, a, b) ? s->body : s->otherwise);
            result = r->registers[compare(s->predicate, a, b) ? s->c : s->d];
            break;
        default:
            result = computed(s, a, b);
            break;
        }
        r->registers[s->result] = result;
        r->failed |= result > INT64_C(1) << 30 || result < -(INT64_C(1) << 30);
    }
}

/* ---- Comparing
 * -------------------------------------------------------------------------------------------------------- */

/* What was proved about a pair of probes. */
typedef struct Proved {
    bool plain, same;
    bool every[MOST_LOOPS], after[MOST_LOOPS][MOST_AFTER];
} Proved;

typedef struct Tally {
    unsigned programs, asked, same, every, after;
    unsigned entered, entered_asked; /* with loops that were entered in between, what was not proved without them */
} Tally;

/* Whom to ask, about what. */
typedef struct Asked {
    Slots *slots;
    const Op *loops[MOST_LOOPS], *uses[MOST_PROBES];
} Asked;

static const Op *loop_op(Reading *reading, int64_t id) {
    const Op *root = first_op(reading);
    for (const Op *op = root; op; op = op_next_in_walk(op, root)) {
        const Attr *attr = op_attr(op, "id");
        if (attr && attr->integer == id)
            return op;
    }
    return NULL;
}

static Asked asked_of(Reading *reading, const Program *p) {
    Asked asked = {.slots = slots_in(reading)};
    for (unsigned i = 0; i < p->loop_count; i++)
        assert_non_null(asked.loops[i] = loop_op(reading, i));
    for (unsigned i = 0; i < p->probe_count; i++)
        assert_non_null(asked.uses[i] = find_op(reading, "my.use", i));
    return asked;
}

static void ask(const Asked *asked, const Program *p, Proved proved[MOST_PROBES][MOST_PROBES], Tally *tally) {
    Slots *slots = asked->slots;
    const Op *const *loops = asked->loops, *const *uses = asked->uses;
    for (unsigned i = 0; i < p->probe_count; i++)
        for (unsigned k = 0; k < p->probe_count; k++) {
            const Value *a = uses[i]->operands[0], *b = uses[k]->operands[0];
            Proved *about = &proved[i][k];
            *about = (Proved){.plain = slots_differ(slots, a, b, NULL, SLOTS_PLAIN, NULL),
                              .same = slots_differ(slots, a, b, NULL, SLOTS_STRONG, NULL)};
            tally->asked++;
            tally->same += about->same;
            for (unsigned l = 0; l < p->loop_count; l++) {
                about->every[l] = slots_differ(slots, a, b, loops[l], SLOTS_STRONG, NULL);
                tally->every += about->every[l];
                for (unsigned n = 0; n < MOST_AFTER; n++) {
                    about->after[l][n] = slots_differ_after(slots, a, b, loops[l], n + 1, NULL);
                    tally->after += about->after[l][n];
                    assert_true(!about->every[l] || about->after[l][n]);
                }
            }
        }
}

/* What lies between two events: the outermost loop that holds the first and went around before the second. */
typedef struct Between {
    unsigned loop, times; /* times: 0 if there is none */
    bool left;            /* that loop is behind them both */
} Between;

static Between between(const Run *r, const Event *first, const Event *second) {
    for (unsigned i = 0; i < first->nest; i++) {
        const Turn *turn = &first->turns[i];
        bool inside = i < second->nest && second->turns[i].instance == turn->instance;
        unsigned iteration = inside ? second->turns[i].iteration : r->last[turn->instance];
        if (iteration > turn->iteration || !inside)
            return (Between){turn->loop, iteration - turn->iteration, !inside};
    }
    return (Between){0};
}

static bool refutes(const Program *p, const Run *r, const Event *first, const Event *second, const Proved *about) {
    if (first->index != second->index)
        return false;
    Between way = between(r, first, second);
    /* outside a loop of scf nothing is left of it, and it may be asked as if it had not gone around */
    if ((!way.times || (way.left && !p->branches)) && (about->plain || about->same))
        return true;
    return way.times && (about->every[way.loop] || (way.times <= MOST_AFTER && about->after[way.loop][way.times - 1]));
}

/* The loops that were entered between two events, the latest first. */
static void add_entered(const Asked *asked, const Event *first, const Event *second, SlotsWay *way) {
    unsigned before = MOST_INSTANCES + 1;
    for (unsigned i = 0; i < SLOTS_ENTERED; i++) {
        unsigned found = MOST_LOOPS, highest = first->instance_count;
        for (unsigned l = 0; l < MOST_LOOPS; l++)
            if (second->latest[l].instance > highest && second->latest[l].instance < before) {
                found = l;
                highest = second->latest[l].instance;
            }
        if (found == MOST_LOOPS)
            return;
        before = highest;
        way->entered[i] = (SlotsEntered){asked->loops[found], second->latest[found].trips};
    }
}

/* The same with all that is known of the way. Only some of those that differ are asked about, to see that much is
 * proved. */
static bool refutes_entered(const Asked *asked, const Run *r, const Event *first, const Event *second, Tally *tally) {
    Between between_them = between(r, first, second);
    SlotsWay way = {.around = between_them.times ? asked->loops[between_them.loop] : NULL,
                    .iterations = between_them.times};
    const Value *a = asked->uses[first->probe]->operands[0], *b = asked->uses[second->probe]->operands[0];
    bool same = first->index == second->index;
    if (!same && second - first > 2)
        return false;
    SlotsWay without = way;
    add_entered(asked, first, second, &way);
    if (!way.entered[0].loop)
        return false;
    bool proved = slots_differ_on(asked->slots, a, b, &way, NULL);
    bool known = slots_differ_on(asked->slots, a, b, &without, NULL);
    assert_true(proved || !known);
    tally->entered += proved && !known;
    tally->entered_asked += !same && !known;
    return same && proved;
}

static void check_program(uint64_t seed, Tally *tally) {
    static Program p;
    static Run r;
    Proved proved[MOST_PROBES][MOST_PROBES];
    Statement *first = make(&p, seed, seed % 2);
    if (p.full)
        return;
    Text text = {0};
    Reading *reading = written(&p, first, &text);
    Asked asked = asked_of(reading, &p);
    ask(&asked, &p, proved, tally);
    tally->programs++;
    for (unsigned run = 0; run < RUNS; run++) {
        r = (Run){0};
        for (unsigned i = 0; i < PARAMETERS; i++)
            r.registers[i] = (int64_t)pick(&p, 10) - 2;
        run_chain(&r, first);
        for (unsigned i = 0; i < r.event_count; i++)
            for (unsigned k = i + 1; k < r.event_count; k++)
                if (refutes(&p, &r, &r.events[i], &r.events[k], &proved[r.events[i].probe][r.events[k].probe]) ||
                    refutes_entered(&asked, &r, &r.events[i], &r.events[k], tally)) {
                    print_error("seed %llu: uses %u and %u are both %lld\n", (unsigned long long)seed,
                                r.events[i].probe, r.events[k].probe, (long long)r.events[i].index);
                    print_error("%s\n", text.data);
                    fail();
                }
    }
    text_free(&text);
    done(reading);
}

static void nothing_is_proved_that_is_not_so(void **state) {
    (void)state;
    Tally tally = {0};
    for (uint64_t seed = 1; tally.programs < share_of(PROGRAMS); seed++)
        check_program(seed, &tally);
    /* and much is proved, so that the test tests something */
    print_message("%u programs, %u pairs: %u differ at once, %u always, %u some iterations later\n", tally.programs,
                  tally.asked, tally.same, tally.every, tally.after);
    print_message("%u of %u more, knowing which loops were entered\n", tally.entered, tally.entered_asked);
    assert_true(tally.entered > tally.entered_asked / 50);
    assert_true(tally.same > tally.asked / 20);
    assert_true(tally.every > tally.asked / 100);
    assert_true(tally.after > tally.asked / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_proved_that_is_not_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
