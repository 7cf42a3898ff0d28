/* Section 1 of the barrier report: which partitions there are, and what each is for.
 *
 * A partition is what its key ops make it: those that only some partitions have. Ops outside of all partitions of a
 * specialized kernel are run by the warps of the default region. */
#include "check/report/build/internal.h"

#include "model/effect/unknown.h"

enum { MOST_KEY_OPS = 64 /* different ones */, MOST_NAMES = 8, MOST_SEARCH = 256 };

/* What a key op is work of. */
typedef enum RoleWork {
    WORK_NONE,
    WORK_MMA,
    WORK_TMA_LOAD,
    WORK_CP_ASYNC,
    WORK_AMD_LOAD,
    WORK_AMD_TENSOR,
    WORK_TMA_STORE,
    WORK_TMA_REDUCE,
    WORK_STORE,
    WORK_EXP,
    WORK_REDUCE,
    WORK_TMEM_LOAD,
    WORK_TMEM_STORE,
    WORK_CLC,
    /* from here on a key op only where there is no other */
    WORK_LOAD,
    WORK_CONVERT,
    WORK_LOCAL_LOAD,
    WORK_LOCAL_STORE,
    WORK_COUNT
} RoleWork;

/* A few names, each once, in the order in which they came. */
typedef struct NameList {
    const char *items[MOST_NAMES];
    uint32_t count;
    bool unknown; /* there is one without a name */
    bool more;
} NameList;

/* What one partition does. */
typedef struct RolePart {
    bool exists, synchronizes, computes, rescales;
    bool calculates;     /* new elements of tensors, from others: more than it moves and converts */
    bool stores_results; /* to tensor memory, something that is no constant */
    const Op *first;     /* an op of it */
    uint64_t counts[WORK_COUNT];
    ReportCount key_ops[MOST_KEY_OPS];
    const OpRow *key_rows[MOST_KEY_OPS];
    bool key_major[MOST_KEY_OPS]; /* it is no key op only for want of others */
    uint32_t key_count;
    NameList loads, stores, reduces, mmas, touched;
    uint32_t ir_line;
} RolePart;

typedef struct Roles {
    Builder *builder;
    RolePart *parts[MOST_PARTITIONS];
} Roles;

/* ---- What an op is work of ------------------------------------------------------------------------------------- */

static bool is_tensor(const Op *op) {
    const Type *type = op->result_count ? op->results[0].type : NULL;
    if (type && type->canonical)
        type = type->canonical;
    return type && type->kind == TYPE_TENSOR;
}

static RoleWork work_on_descriptor(const Effect *effect) {
    return effect->verb == EFFECT_READ    ? WORK_TMA_LOAD
           : effect->verb == EFFECT_WRITE ? WORK_TMA_STORE
                                          : WORK_TMA_REDUCE;
}

static RoleWork work_on_global(const Op *op, const Effect *effect) {
    if (effect->proxy == PROXY_TENSORMAP)
        return WORK_NONE;
    if (effect->verb == EFFECT_READ && effect->done != DONE_NOW)
        return op_is(op, CLASS_BUFFER) ? WORK_AMD_LOAD : WORK_CP_ASYNC;
    if (effect->verb == EFFECT_READ)
        return op_is(op, CLASS_POLL) ? WORK_NONE : WORK_LOAD;
    if (effect->helper == HELPER_TMA)
        return WORK_TMA_STORE;
    return effect->done == DONE_NOW && !effect->compare ? WORK_STORE : WORK_NONE;
}

/* Work of the threads themselves on memory of their CTA; to fill what one allocates, or to read a number, is none. */
static RoleWork work_on_local(const Op *op, const Effect *effect) {
    bool tensor = effect->space == SPACE_TENSOR;
    if (effect->helper != HELPER_BASE || effect->done != DONE_NOW || effect->rank || op_is(op, CLASS_LOCAL_ALLOC))
        return WORK_NONE;
    if (effect->verb == EFFECT_READ)
        return tensor ? WORK_TMEM_LOAD : is_tensor(op) ? WORK_LOCAL_LOAD : WORK_NONE;
    return effect->verb != EFFECT_WRITE ? WORK_NONE : tensor ? WORK_TMEM_STORE : WORK_LOCAL_STORE;
}

static RoleWork work_of(const Op *op, const Effect *effects, unsigned count) {
    if (op_is(op, CLASS_PRODUCT))
        return WORK_MMA;
    if (op_is(op, CLASS_CANCEL))
        return WORK_CLC;
    if (op_is(op, CLASS_EXPONENTIAL))
        return WORK_EXP;
    if (op_is(op, CLASS_DEQUANTIZE))
        return is_tensor(op) ? WORK_CONVERT : WORK_NONE;
    if (op_evaluator(op) == EVALUATE_REDUCE)
        return WORK_REDUCE;
    RoleWork work = WORK_NONE;
    bool looked_at = !op_is(op, CLASS_INLINE_PTX) && !op_describes(op);
    for (unsigned i = 0; i < count && looked_at && work == WORK_NONE; i++) {
        const Effect *effect = &effects[i];
        if (!effect_is_access(effect))
            continue;
        work = effect->group == GROUP_AMD_TENSOR ? WORK_AMD_TENSOR
               : effect->on_descriptor           ? work_on_descriptor(effect)
               : effect->space == SPACE_GLOBAL   ? work_on_global(op, effect)
                                                 : work_on_local(op, effect);
    }
    return work;
}

/* ---- Names ----------------------------------------------------------------------------------------------------- */

static bool list_has(const NameList *list, const char *name) {
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], name) == 0)
            return true;
    return false;
}

/* A name that is only a value ("%12") is none. */
static void list_add(NameList *list, const char *name) {
    if (!*name || *name == '%')
        list->unknown = true;
    else if (list_has(list, name))
        return;
    else if (list->count == MOST_NAMES)
        list->more = true;
    else
        list->items[list->count++] = name;
}

static void list_print(const NameList *list, Text *to) {
    for (uint32_t i = 0; i < list->count; i++)
        text_addf(to, "%s%s", i ? ", " : " (", list->items[i]);
    if (list->count)
        text_addf(to, list->more ? ", ...)" : ")");
}

/* ---- What each op adds ----------------------------------------------------------------------------------------- */

static const char *descriptor_name(Roles *roles, const Effect *effects, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (effects[i].on_descriptor && effects[i].on)
            return operand_name(roles->builder->names, effects[i].on);
    return "";
}

static const char *root_name(Roles *roles, const Value *value) {
    const Op *root = data_root(roles->builder->module, value);
    return root ? name_of(roles->builder->names, root) : "";
}

/* The buffer that an op writes; "" if it writes none. */
static const char *written_name(Roles *roles, const Effect *effects, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (effect_is_local(&effects[i]) && effects[i].verb != EFFECT_READ)
            return root_name(roles, effects[i].on);
    return "";
}

static void note_names(Roles *roles, RolePart *part, const Op *op, RoleWork work, const Effect *effects,
                       unsigned count) {
    const char *name = descriptor_name(roles, effects, count);
    if (work == WORK_TMA_LOAD) {
        list_add(&part->loads, *name ? name : written_name(roles, effects, count));
    } else if (work == WORK_TMA_STORE) {
        list_add(&part->stores, name);
    } else if (work == WORK_TMA_REDUCE) {
        list_add(&part->reduces, name);
    } else if (work == WORK_MMA) {
        name = written_name(roles, effects, count);
        if (!*name && op->result_count)
            name = operand_name(roles->builder->names, &op->results[0]);
        list_add(&part->mmas, name);
    }
    for (unsigned i = 0; i < count; i++)
        if (effect_is_local(&effects[i]))
            list_add(&part->touched, root_name(roles, effects[i].on));
}

/* Whether it gives the elements of its operands, multiplied or elsewhere. */
static bool passes_on(const Op *op, bool *multiplied) {
    Evaluator how = op_evaluator(op);
    bool multiplies = op_is(op, CLASS_MULTIPLY) || op_is(op, CLASS_INLINE_PTX);
    *multiplied |= multiplies;
    return multiplies || how == EVALUATE_SAME || how == EVALUATE_RESHAPE || how == EVALUATE_TRANSPOSE ||
           how == EVALUATE_SPLIT || how == EVALUATE_JOIN;
}

/* Whether what is stored was loaded from the same accumulator, and multiplied on the way. */
static bool rescales(Module *module, const Value *accumulator, const Value *stored) {
    const Value *work[MOST_SEARCH] = {stored};
    unsigned count = 1;
    bool multiplied = false, loaded = false;
    const Op *root = origin_of(module, accumulator);
    for (unsigned i = 0; i < count; i++) {
        const Op *op = value_op(work[i]);
        bool passed = passes_on(op, &multiplied);
        for (uint32_t k = 0; passed && k < op->operand_count && count < MOST_SEARCH; k++)
            work[count++] = op->operands[k];
        Effect effects[EFFECTS_MOST];
        unsigned effect_count = op && !passed ? effects_of(module, op, effects) : 0;
        if (work_of(op, effects, effect_count) == WORK_TMEM_LOAD)
            loaded |= root && origin_of(module, effects[0].on) == root &&
                      type_element(module, op->results[0].type) == type_element(module, stored->type);
    }
    return multiplied && loaded;
}

static void note_tensor_store(Roles *roles, RolePart *part, const Effect *store) {
    part->stores_results |= store->value && !value_made(store->value, EVALUATE_CONSTANT);
    if (!part->rescales && store->value)
        part->rescales = rescales(roles->builder->module, store->on, store->value);
}

static void count_key_op(Roles *roles, RolePart *part, const Op *op, RoleWork work) {
    for (uint32_t i = 0; i < part->key_count; i++)
        if (part->key_rows[i] == op->row) {
            part->key_ops[i].count++;
            return;
        }
    if (part->key_count == MOST_KEY_OPS)
        return;
    const char *dot = memchr(op->row->name.data, '.', op->row->name.size);
    Str name = dot ? str_between(dot + 1, op->row->name.data + op->row->name.size) : op->row->name;
    part->key_rows[part->key_count] = op->row;
    part->key_major[part->key_count] = work < WORK_LOAD;
    part->key_ops[part->key_count++] = (ReportCount){arena_copy(roles->builder->arena, name.data, name.size), 1};
}

/* Whether an op makes elements of floating point that were not there before. */
static bool calculates(Module *module, const Op *op, RoleWork work, unsigned effects) {
    bool multiplied = false;
    if (work != WORK_NONE || effects || !is_tensor(op) || !op->operand_count)
        return false;
    const Type *element = type_element(module, op->results[0].type);
    bool moves = passes_on(op, &multiplied) && !multiplied;
    Evaluator how = op_evaluator(op);
    return element && element->kind == TYPE_FLOAT && !moves && how != EVALUATE_CONSTANT && how != EVALUATE_SPLAT &&
           how != EVALUATE_BROADCAST && how != EVALUATE_EXPAND;
}

static void add_op(Roles *roles, RolePart *part, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(roles->builder->module, op, effects);
    RoleWork work = work_of(op, effects, count);
    for (unsigned i = 0; i < count; i++)
        part->synchronizes |= verb_is(effects[i].verb, VERB_SYNCS) && effects[i].verb != EFFECT_INIT &&
                              effects[i].verb != EFFECT_INVALIDATE;
    part->computes |= is_tensor(op) && op_evaluator(op) != EVALUATE_CONSTANT;
    part->computes |= op_is(op, CLASS_ANYTHING) || op_is_unknown(roles->builder->module, op);
    part->calculates |= calculates(roles->builder->module, op, work, count);
    part->counts[work]++;
    note_names(roles, part, op, work, effects, count);
    if (work != WORK_NONE)
        count_key_op(roles, part, op, work);
    if (work == WORK_TMEM_STORE)
        note_tensor_store(roles, part, &effects[0]);
    if (work == WORK_TMEM_LOAD && op_attr(op, "redOp"))
        part->counts[WORK_REDUCE]++;
}

/* ---- Which partitions there are -------------------------------------------------------------------------------- */

static RolePart *part_at(Roles *roles, unsigned k) {
    if (!roles->parts[k])
        roles->parts[k] = ARENA_NEW(roles->builder->arena, RolePart);
    return roles->parts[k];
}

static void add_part(Roles *roles, unsigned k, const Op *op, uint32_t offset) {
    RolePart *part = k < MOST_PARTITIONS ? part_at(roles, k) : NULL;
    if (!part || part->exists)
        return;
    part->exists = true;
    part->first = op;
    part->ir_line = source_place(roles->builder->module->source, offset).line;
}

/* The regions of a specialized op, empty ones too. */
static void add_regions(Roles *roles, const Op *op) {
    PartitionForm form = roles->builder->form;
    bool specialize = form == PARTITION_REGIONS && op_is_control(op, CONTROL_FORK);
    bool partitions = form == PARTITION_REGIONS && op_is_control(op, CONTROL_PARTITIONS);
    bool groups = form == PARTITION_GROUPS && op_is_control(op, CONTROL_GROUPS);
    for (uint32_t r = 0; r < op->region_count && (specialize || partitions || groups); r++) {
        const Block *block = op->regions[r].first;
        const Op *inside = block ? block->first : NULL;
        if (specialize && r)
            break;
        uint32_t offset = specialize || !block ? op->offset : block->offset ? block->offset : op->offset;
        add_part(roles, r + partitions, inside ? inside : op, offset);
    }
}

PartitionForm report_form(const Op *function) {
    PartitionForm form = PARTITION_NONE;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        if (op_is_control(op, CONTROL_FORK))
            return PARTITION_REGIONS;
        if (op_is_control(op, CONTROL_GROUPS))
            form = PARTITION_GROUPS;
        if (form == PARTITION_NONE || form == PARTITION_SCHEDULED) {
            Partitions said =
                op_attr(op, "async_task_id") || op_attr(op, "ttg.partition") ? partitions_of(op) : (Partitions){0};
            if (said.form == PARTITION_TASKS || said.form == PARTITION_SCHEDULED)
                form = said.form;
        }
    }
    return form;
}

static void collect(Roles *roles) {
    Builder *builder = roles->builder;
    bool by_ops = builder->form == PARTITION_TASKS || builder->form == PARTITION_SCHEDULED;
    if (builder->form == PARTITION_NONE || builder->form == PARTITION_REGIONS)
        add_part(roles, 0, builder->function, builder->function->offset);
    for (const Op *op = op_next_in_walk(builder->function, builder->function); op;
         op = op_next_in_walk(op, builder->function)) {
        add_regions(roles, op);
        uint64_t mask = op_is_control(op_parent(op), CONTROL_COMBINE) ? 0 : builder_runners(builder, op);
        for (unsigned k = 0; k < MOST_PARTITIONS && mask >> k; k++) {
            if (!(mask >> k & 1))
                continue;
            if (by_ops)
                add_part(roles, k, op, op->offset);
            add_op(roles, part_at(roles, k), op);
        }
    }
}

/* ---- Roles ----------------------------------------------------------------------------------------------------- */

static void add_role(Text *to, const char *role, const NameList *names) {
    text_addf(to, "%s%s", to->size ? ", " : "", role);
    if (names)
        list_print(names, to);
}

/* Names only where they tell several products apart. */
static const NameList *mmas_of(const RolePart *part) {
    return part->mmas.count > 1 && !part->mmas.unknown ? &part->mmas : NULL;
}

/* Whether it calculates with what it reads from memory, and stores that: to store is the least of it. */
static bool is_elementwise(const RolePart *part) {
    const uint64_t *counts = part->counts;
    bool stores = counts[WORK_TMA_STORE] || counts[WORK_TMA_REDUCE] || counts[WORK_STORE] || counts[WORK_LOCAL_STORE];
    bool reads = counts[WORK_LOCAL_LOAD] || counts[WORK_LOAD];
    return part->calculates && reads && stores && !part->rescales && !counts[WORK_MMA] && !counts[WORK_REDUCE] &&
           !counts[WORK_TMEM_LOAD];
}

static void add_main_roles(const RolePart *part, Text *to) {
    const uint64_t *counts = part->counts;
    if (counts[WORK_MMA])
        add_role(to, "MMA", mmas_of(part));
    if (counts[WORK_EXP] && counts[WORK_REDUCE])
        add_role(to, "softmax", NULL);
    else if (counts[WORK_REDUCE])
        add_role(to, "reduction", NULL);
    if (part->rescales)
        add_role(to, "accumulator correction", NULL);
    else if (counts[WORK_EXP] && !counts[WORK_REDUCE] && counts[WORK_TMEM_LOAD] && part->stores_results)
        add_role(to, "compute", NULL);
    if (is_elementwise(part))
        add_role(to, "elementwise", NULL);
    if (counts[WORK_TMA_LOAD])
        add_role(to, "TMA load", &part->loads);
    if (counts[WORK_CP_ASYNC])
        add_role(to, "cp.async load", NULL);
    if (counts[WORK_AMD_TENSOR])
        add_role(to, "AMD tensor copy", NULL);
    if (counts[WORK_AMD_LOAD])
        add_role(to, "AMD load to LDS", NULL);
    if (counts[WORK_TMA_STORE])
        add_role(to, "TMA store", &part->stores);
    if (counts[WORK_TMA_REDUCE])
        add_role(to, "TMA reduce", &part->reduces);
    if (counts[WORK_CLC])
        add_role(to, "tile scheduler (CLC)", NULL);
}

static const char *role_of(Builder *builder, const RolePart *part) {
    Text text = {0};
    const uint64_t *counts = part->counts;
    bool specialized = builder->form != PARTITION_NONE;
    add_main_roles(part, &text);
    if (counts[WORK_STORE] && !counts[WORK_TMA_STORE])
        add_role(&text, specialized && !is_elementwise(part) ? "epilogue store" : "store", NULL);
    bool by_ops = builder->form == PARTITION_TASKS || builder->form == PARTITION_SCHEDULED; /* it hands over values */
    if (!text.size && counts[WORK_TMEM_LOAD] && !part->stores_results && (counts[WORK_LOCAL_STORE] || by_ops))
        add_role(&text, "epilogue", NULL);
    if (!text.size && counts[WORK_TMEM_STORE] && !counts[WORK_TMEM_LOAD] && !part->stores_results)
        add_role(&text, "accumulator initialization", NULL);
    bool passes_on = counts[WORK_LOCAL_STORE] || counts[WORK_TMEM_STORE];
    if (!text.size && counts[WORK_CONVERT] && (counts[WORK_LOCAL_LOAD] || counts[WORK_LOAD]) && passes_on)
        add_role(&text, "dequantize/convert", NULL);
    if (!text.size && counts[WORK_LOAD] && specialized)
        add_role(&text, "load", NULL);
    if (!text.size) {
        bool works = part->computes || counts[WORK_LOCAL_STORE] || counts[WORK_TMEM_STORE];
        add_role(&text, works ? "compute" : part->synchronizes ? "synchronization only" : "idle", NULL);
    }
    return verdict_keep(builder->verdict, &text);
}

/* The buffers that this partition touches, and not every one of those with the same role. */
static NameList own_buffers(const RolePart *part, const RolePart *const *same, size_t count) {
    NameList own = {0};
    for (uint32_t i = 0; i < part->touched.count && own.count < 3; i++) {
        bool everywhere = true;
        for (size_t k = 0; k < count; k++)
            everywhere = everywhere && list_has(&same[k]->touched, part->touched.items[i]);
        if (!everywhere)
            list_add(&own, part->touched.items[i]);
    }
    return own;
}

/* Tells partitions of one role apart: by what they touch, else by number. */
static void distinguish(Builder *builder, const RolePart *const *same, ReportPartition *const *rows, size_t count) {
    bool by_buffers = rows[0]->role[strlen(rows[0]->role) - 1] != ')';
    NameList own[MOST_PARTITIONS];
    for (size_t i = 0; i < count; i++) {
        own[i] = own_buffers(same[i], same, count);
        by_buffers = by_buffers && own[i].count;
        for (size_t k = 0; k < i && by_buffers; k++)
            by_buffers = strcmp(own[k].items[0], own[i].items[0]) != 0;
    }
    for (size_t i = 0; i < count; i++) {
        Text text = {0};
        text_addf(&text, "%s", rows[i]->role);
        if (by_buffers)
            list_print(&own[i], &text);
        else
            text_addf(&text, " %zu", i + 1);
        rows[i]->role = verdict_keep(builder->verdict, &text);
    }
}

static void qualify(Builder *builder, const RolePart *const *parts, ReportPartition *rows, size_t count) {
    bool reported[MOST_PARTITIONS] = {false};
    for (size_t i = 0; i < count; i++) {
        const RolePart *same[MOST_PARTITIONS];
        ReportPartition *same_rows[MOST_PARTITIONS];
        size_t found = 0;
        for (size_t k = i; k < count && !reported[i]; k++)
            if (!reported[k] && strcmp(rows[k].role, rows[i].role) == 0) {
                same[found] = parts[k];
                same_rows[found++] = &rows[k];
            }
        bool symmetry = found > 1 && strcmp(rows[i].role, "idle") != 0;
        for (size_t k = i; k < count && symmetry; k++)
            reported[k] = reported[k] || strcmp(rows[k].role, rows[i].role) == 0;
        if (symmetry)
            distinguish(builder, same, same_rows, found);
    }
}

/* ---- What the compiler says of them ---------------------------------------------------------------------------- */

/* Entry `index` of a list of numbers, in either spelling. */
static bool number_at(const Attr *list, size_t index, int64_t *number) {
    if (list && list->kind == ATTR_INTS && index < list->count) {
        *number = list->ints[index];
        return true;
    }
    const Attr *item = list && list->kind == ATTR_ARRAY && index < list->count ? list->items[index] : NULL;
    if (!item || item->kind != ATTR_INTEGER)
        return false;
    *number = item->integer;
    return true;
}

/* Lists that name the default region have one entry more than there are partitions. */
static void read_lists(Builder *builder, const Op *op, unsigned k, size_t partitions, ReportPartition *row) {
    const Attr *types = op_attr(op, "ttg.partition.types"), *stages = op_attr(op, "ttg.partition.stages");
    int64_t stage;
    bool regions = builder->form == PARTITION_REGIONS;
    size_t skip = regions && types && types->count < partitions ? 1 : 0;
    const Attr *type =
        types && types->kind == ATTR_ARRAY && k >= skip && k - skip < types->count ? types->items[k - skip] : NULL;
    if (type && type->kind == ATTR_STRING && type->text.size >= 2 && !*row->type) {
        Text text = {0};
        text_add_plain(&text, (Str){type->text.data + 1, type->text.size - 2});
        row->type = verdict_keep(builder->verdict, &text);
    }
    skip = regions && stages && stages->count < partitions ? 1 : 0;
    if (row->stage < 0 && k >= skip && number_at(stages, k - skip, &stage) && stage >= 0 && stage < INT32_MAX)
        row->stage = (int)stage;
}

static void read_registers(const Op *op, unsigned k, ReportPartition *row) {
    int64_t number = -1;
    if (row->registers >= 0)
        return;
    if (k > 0)
        number_at(op_attr(op, "requestedRegisters"), k - 1, &number);
    else
        op_integer(op, "defaultRequestedRegisters", &number);
    if (number < 0)
        number_at(op_attr(op, "actualRegisters"), k, &number); /* the default region's stand first */
    if (number >= 0 && number <= UINT16_MAX)
        row->registers = (int)number;
}

static void read_attributes(Builder *builder) {
    size_t most = 0;
    for (size_t k = 0; k < MOST_PARTITIONS; k++)
        if (builder->partition_index[k] != SIZE_MAX)
            most = k + 1;
    for (const Op *op = builder->function; op; op = op_next_in_walk(op, builder->function)) {
        bool specialize = op_is_control(op, CONTROL_FORK);
        if (!specialize && !op_is_loop(op) && op != builder->function)
            continue;
        for (unsigned k = 0; k < most; k++) {
            size_t index = builder->partition_index[k];
            if (index == SIZE_MAX)
                continue;
            read_lists(builder, op, k, most, &builder->partitions[index]);
            if (specialize && builder->form == PARTITION_REGIONS)
                read_registers(op, k, &builder->partitions[index]);
        }
    }
}

/* ---- All of it ------------------------------------------------------------------------------------------------- */

static void keep_key_ops(Builder *builder, const RolePart *part, ReportPartition *row) {
    ReportCount *kept = ARENA_ARRAY(builder->arena, ReportCount, part->key_count + 1);
    bool major = false;
    for (uint32_t i = 0; i < part->key_count; i++)
        major |= part->key_major[i];
    for (uint32_t i = 0; i < part->key_count; i++)
        if (!major || part->key_major[i])
            kept[row->key_op_count++] = part->key_ops[i];
    row->key_ops = kept;
}

static ReportPartition row_of(Builder *builder, unsigned k, const RolePart *part) {
    ReportPartition row = {.name = "kernel", .type = "", .registers = -1, .stage = -1, .ir_line = part->ir_line};
    if (builder->form != PARTITION_NONE)
        row.name = builder_partitions(builder, (Partitions){builder->form, UINT64_C(1) << k});
    row.warps = (int)partition_warps(part->first);
    row.role = role_of(builder, part);
    keep_key_ops(builder, part, &row);
    return row;
}

void report_partitions(Builder *builder) {
    Roles roles = {.builder = builder};
    if (builder->form == PARTITION_NONE)
        builder->form = report_form(builder->function);
    collect(&roles);
    const RolePart *parts[MOST_PARTITIONS];
    builder->partitions = ARENA_ARRAY(builder->arena, ReportPartition, MOST_PARTITIONS);
    size_t count = 0;
    for (unsigned k = 0; k < MOST_PARTITIONS; k++) {
        const RolePart *part = roles.parts[k];
        builder->partition_index[k] = part && part->exists ? count : SIZE_MAX;
        if (!part || !part->exists)
            continue;
        parts[count] = part;
        builder->partitions[count++] = row_of(builder, k, part);
    }
    qualify(builder, parts, builder->partitions, count);
    read_attributes(builder);
    builder->report->partitions = builder->partitions;
    builder->report->partition_count = count;
    report_limits(builder);
}
