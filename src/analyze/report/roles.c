/* Section 1 of the barrier report: which partitions there are, what each is for, and what the kernel takes of the
 * hardware.
 *
 * A partition is what its key ops make it: those that only some partitions have. Ops outside of all partitions of a
 * specialised kernel are run by the warps of the default region. */
#include "analyze/report/internal.h"

#include "ir/optable.h"
#include "model/effect/effect.h"

#include <stdlib.h>

enum {
    MOST_KEY_OPS = 64, /* different ones: more than the table below has */
    MOST_NAMES = 8,
    MOST_SEARCH = 256,
    SHARED_MOST = 232448, /* bytes of shared memory of a CTA of compute capability 9.0 and 10.0 */
    TENSOR_MOST = 512,    /* columns of tensor memory */
    WARPS_MOST = 16
};

/* What a key op is work of. */
typedef enum Work {
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
} Work;

static const unsigned char work_of[OP_COUNT] = {
    [OP_tt_dot] = WORK_MMA,
    [OP_tt_dot_scaled] = WORK_MMA,
    [OP_ttng_warp_group_dot] = WORK_MMA,
    [OP_ttng_tc_gen5_mma] = WORK_MMA,
    [OP_ttng_tc_gen5_mma_scaled] = WORK_MMA,
    [OP_amdg_scheduled_mfma] = WORK_MMA,
    [OP_ttng_async_tma_copy_global_to_local] = WORK_TMA_LOAD,
    [OP_ttng_async_tma_gather] = WORK_TMA_LOAD,
    [OP_tt_descriptor_load] = WORK_TMA_LOAD,
    [OP_tt_descriptor_gather] = WORK_TMA_LOAD,
    [OP_tt_experimental_descriptor_load] = WORK_TMA_LOAD,
    [OP_tt_experimental_descriptor_gather] = WORK_TMA_LOAD,
    [OP_nvws_descriptor_load] = WORK_TMA_LOAD,
    [OP_nvws_descriptor_gather] = WORK_TMA_LOAD,
    [OP_ttg_async_copy_global_to_local] = WORK_CP_ASYNC,
    [OP_amdg_buffer_load_to_local] = WORK_AMD_LOAD,
    [OP_amdg_async_tdm_copy_global_to_local] = WORK_AMD_TENSOR,
    [OP_amdg_async_tdm_fused_copy_global_to_local] = WORK_AMD_TENSOR,
    [OP_amdg_async_tdm_copy_local_to_global] = WORK_AMD_TENSOR,
    [OP_amdg_async_tdm_gather] = WORK_AMD_TENSOR,
    [OP_amdg_async_tdm_scatter] = WORK_AMD_TENSOR,
    [OP_ttng_async_tma_copy_local_to_global] = WORK_TMA_STORE,
    [OP_ttng_async_tma_scatter] = WORK_TMA_STORE,
    [OP_ttng_async_store] = WORK_TMA_STORE,
    [OP_tt_descriptor_store] = WORK_TMA_STORE,
    [OP_tt_descriptor_scatter] = WORK_TMA_STORE,
    [OP_tt_experimental_descriptor_store] = WORK_TMA_STORE,
    [OP_tt_experimental_descriptor_scatter] = WORK_TMA_STORE,
    [OP_ttng_async_tma_reduce] = WORK_TMA_REDUCE,
    [OP_tt_descriptor_reduce] = WORK_TMA_REDUCE,
    [OP_tt_store] = WORK_STORE,
    [OP_tt_atomic_rmw] = WORK_STORE,
    [OP_amdg_buffer_store] = WORK_STORE,
    [OP_math_exp] = WORK_EXP,
    [OP_math_exp2] = WORK_EXP,
    [OP_tt_reduce] = WORK_REDUCE,
    [OP_ttng_tmem_load] = WORK_TMEM_LOAD,
    [OP_ttng_tmem_store] = WORK_TMEM_STORE,
    [OP_ttng_clc_try_cancel] = WORK_CLC,
    [OP_ttng_clc_try_cancel_sync] = WORK_CLC,
    [OP_ttng_clc_try_cancel_async] = WORK_CLC,
    [OP_ttng_async_clc_try_cancel] = WORK_CLC,
    [OP_ttng_clc_advance] = WORK_CLC,
    [OP_nvws_clc_try_cancel] = WORK_CLC,
    [OP_tt_load] = WORK_LOAD,
    [OP_amdg_buffer_load] = WORK_LOAD,
    [OP_tt_fp_to_fp] = WORK_CONVERT,
    [OP_ttg_fp4_to_fp] = WORK_CONVERT,
    [OP_ttg_upcast_mxfp] = WORK_CONVERT,
    [OP_arith_sitofp] = WORK_CONVERT,
    [OP_arith_uitofp] = WORK_CONVERT,
    [OP_ttg_local_load] = WORK_LOCAL_LOAD,
    [OP_ttg_local_store] = WORK_LOCAL_STORE,
};

/* A few names, each once, in the order in which they came. */
typedef struct NameList {
    const char *items[MOST_NAMES];
    uint32_t count;
    bool unknown; /* there is one without a name */
    bool more;
} NameList;

/* What one partition does. */
typedef struct Part {
    bool exists, synchronises, computes, rescales;
    bool stores_results; /* to tensor memory, something that is no constant */
    const Op *first;     /* an op of it */
    uint64_t counts[WORK_COUNT];
    ReportCount key_ops[MOST_KEY_OPS];
    OpId key_ids[MOST_KEY_OPS];
    uint32_t key_count;
    NameList loads, stores, reduces, products, touched;
    uint32_t ir_line;
} Part;

typedef struct Roles {
    Builder *builder;
    Part *parts[MOST_PARTITIONS];
} Roles;

static bool is_op(const Op *op, OpId id) {
    return op && op->row && op->row->id == id;
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

static bool is_memory(const Effect *effect) {
    return effect->on && (effect->space == SPACE_SHARED || effect->space == SPACE_TENSOR) &&
           (effect->verb == EFFECT_READ || effect->verb == EFFECT_WRITE || effect->verb == EFFECT_UPDATE);
}

static const char *root_name(Roles *roles, const Value *value) {
    const Op *root = data_root(roles->builder->module, value);
    return root ? name_of(roles->builder->names, root) : "";
}

/* The buffer that an op writes; "" if it writes none. */
static const char *written_name(Roles *roles, const Effect *effects, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (is_memory(&effects[i]) && effects[i].verb != EFFECT_READ)
            return root_name(roles, effects[i].on);
    return "";
}

static void note_names(Roles *roles, Part *part, const Op *op, Work work, const Effect *effects, unsigned count) {
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
        list_add(&part->products, name);
    }
    for (unsigned i = 0; i < count; i++)
        if (is_memory(&effects[i]))
            list_add(&part->touched, root_name(roles, effects[i].on));
}

/* Whether what is stored was loaded from the same accumulator, and multiplied on the way. */
static bool rescales(Module *module, const Op *store, const Value *accumulator, const Value *stored) {
    const Value *work[MOST_SEARCH] = {stored};
    unsigned count = 1;
    bool multiplied = false, loaded = false;
    const Op *root = origin_of(module, accumulator);
    for (unsigned i = 0; i < count; i++) {
        const Op *op = work[i]->is_result ? work[i]->owner : NULL;
        if (!op || !op->row || op == store)
            continue;
        switch (op->row->id) {
        case OP_ttng_tmem_load:
            loaded |= root && origin_of(module, op->operands[0]) == root &&
                      type_element(module, op->results[0].type) == type_element(module, stored->type);
            continue;
        case OP_arith_mulf:
        case OP_math_fma:
        case OP_ttng_packed_arith:
        case OP_tt_elementwise_inline_asm:
            multiplied = true;
            break;
        case OP_ttg_convert_layout:
        case OP_tt_reshape:
        case OP_tt_trans:
        case OP_tt_split:
        case OP_tt_join:
            break;
        default:
            continue;
        }
        for (uint32_t k = 0; k < op->operand_count && count < MOST_SEARCH; k++)
            work[count++] = op->operands[k];
    }
    return multiplied && loaded;
}

static void note_tensor_store(Roles *roles, Part *part, const Op *op) {
    uint32_t destinations, sources;
    Value **destination = op_operands_at(op, 0, &destinations), **source = op_operands_at(op, 2, &sources);
    if (source && sources && !(source[0]->is_result && is_op(source[0]->owner, OP_arith_constant)))
        part->stores_results = true;
    if (!part->rescales && destination && source && destinations && sources)
        part->rescales = rescales(roles->builder->module, op, destination[0], source[0]);
}

static void count_key_op(Roles *roles, Part *part, const Op *op) {
    OpId id = op->row->id;
    for (uint32_t i = 0; i < part->key_count; i++)
        if (part->key_ids[i] == id) {
            part->key_ops[i].count++;
            return;
        }
    if (part->key_count == MOST_KEY_OPS)
        return;
    const char *dot = memchr(op->row->name.data, '.', op->row->name.size);
    Str name = dot ? str_between(dot + 1, op->row->name.data + op->row->name.size) : op->row->name;
    part->key_ids[part->key_count] = id;
    part->key_ops[part->key_count++] = (ReportCount){arena_copy(roles->builder->arena, name.data, name.size), 1};
}

static bool is_tensor(const Op *op) {
    const Type *type = op->result_count ? op->results[0].type : NULL;
    if (type && type->canonical)
        type = type->canonical;
    return type && type->kind == TYPE_TENSOR;
}

static void add_op(Roles *roles, Part *part, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(roles->builder->module, op, effects);
    Work work = op->row ? work_of[op->row->id] : WORK_NONE;
    for (unsigned i = 0; i < count; i++)
        part->synchronises |= effects[i].verb >= EFFECT_EXPECT && effects[i].verb <= EFFECT_FENCE_ORDER;
    part->computes |= is_tensor(op) && !is_op(op, OP_arith_constant);
    if (work == WORK_CONVERT && !is_tensor(op))
        work = WORK_NONE;
    part->counts[work]++;
    note_names(roles, part, op, work, effects, count);
    if (work != WORK_NONE)
        count_key_op(roles, part, op);
    if (work == WORK_TMEM_STORE)
        note_tensor_store(roles, part, op);
    if (work == WORK_TMEM_LOAD && op_attr(op, "redOp"))
        part->counts[WORK_REDUCE]++;
}

/* ---- Which partitions there are -------------------------------------------------------------------------------- */

static uint32_t line_of(const Builder *builder, uint32_t offset) {
    return source_place(builder->module->source, offset).line;
}

static Part *part_at(Roles *roles, unsigned k) {
    if (!roles->parts[k])
        roles->parts[k] = ARENA_NEW(roles->builder->arena, Part);
    return roles->parts[k];
}

static void add_part(Roles *roles, unsigned k, const Op *op, uint32_t offset) {
    Part *part = k < MOST_PARTITIONS ? part_at(roles, k) : NULL;
    if (!part || part->exists)
        return;
    part->exists = true;
    part->first = op;
    part->ir_line = line_of(roles->builder, offset);
}

/* The regions of a specialised op, empty ones too. */
static void add_regions(Roles *roles, const Op *op) {
    PartitionForm form = roles->builder->form;
    bool specialize = form == PARTITION_REGIONS && is_op(op, OP_ttg_warp_specialize);
    bool partitions = form == PARTITION_REGIONS && is_op(op, OP_ttg_warp_specialize_partitions);
    bool groups = form == PARTITION_GROUPS && is_op(op, OP_nvws_warp_group);
    for (uint32_t r = 0; r < op->region_count && (specialize || partitions || groups); r++) {
        const Block *block = op->regions[r].first;
        const Op *inside = block ? block->first : NULL;
        if (specialize && r)
            break;
        uint32_t offset = specialize || !block ? op->offset : block->offset ? block->offset : op->offset;
        add_part(roles, r + partitions, inside ? inside : op, offset);
    }
}

static PartitionForm form_of(const Op *function) {
    PartitionForm form = PARTITION_NONE;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        if (is_op(op, OP_ttg_warp_specialize))
            return PARTITION_REGIONS;
        if (is_op(op, OP_nvws_warp_group))
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

/* Who runs an op, as bits. */
static uint64_t runners(const Builder *builder, const Op *op) {
    Partitions said = partitions_of(op);
    if (builder->form == PARTITION_NONE)
        return 1;
    if (said.form == builder->form)
        return said.mask;
    return builder->form == PARTITION_REGIONS ? 1 : 0;
}

static bool is_combined(const Op *op) {
    const Op *parent = op_parent(op);
    return is_op(parent, OP_tt_reduce) || is_op(parent, OP_tt_scan);
}

static void collect(Roles *roles) {
    Builder *builder = roles->builder;
    bool by_ops = builder->form == PARTITION_TASKS || builder->form == PARTITION_SCHEDULED;
    if (builder->form == PARTITION_NONE || builder->form == PARTITION_REGIONS)
        add_part(roles, 0, builder->function, builder->function->offset);
    for (const Op *op = op_next_in_walk(builder->function, builder->function); op;
         op = op_next_in_walk(op, builder->function)) {
        add_regions(roles, op);
        uint64_t mask = is_combined(op) ? 0 : runners(builder, op);
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
static const NameList *products_of(const Part *part) {
    return part->products.count > 1 && !part->products.unknown ? &part->products : NULL;
}

static void add_main_roles(const Part *part, Text *to) {
    const uint64_t *counts = part->counts;
    if (counts[WORK_MMA])
        add_role(to, "MMA", products_of(part));
    if (counts[WORK_EXP] && counts[WORK_REDUCE])
        add_role(to, "softmax", NULL);
    else if (counts[WORK_REDUCE])
        add_role(to, "reduction", NULL);
    if (part->rescales)
        add_role(to, "accumulator correction", NULL);
    else if (counts[WORK_EXP] && !counts[WORK_REDUCE] && counts[WORK_TMEM_LOAD] && part->stores_results)
        add_role(to, "compute", NULL);
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

static const char *role_of(Builder *builder, const Part *part) {
    Text text = {0};
    const uint64_t *counts = part->counts;
    bool specialised = builder->form != PARTITION_NONE;
    add_main_roles(part, &text);
    if (counts[WORK_STORE] && !counts[WORK_TMA_STORE])
        add_role(&text, specialised ? "epilogue store" : "store", NULL);
    bool by_ops = builder->form == PARTITION_TASKS || builder->form == PARTITION_SCHEDULED; /* it hands over values */
    if (!text.size && counts[WORK_TMEM_LOAD] && !part->stores_results && (counts[WORK_LOCAL_STORE] || by_ops))
        add_role(&text, "epilogue", NULL);
    if (!text.size && counts[WORK_TMEM_STORE] && !counts[WORK_TMEM_LOAD] && !part->stores_results)
        add_role(&text, "accumulator initialisation", NULL);
    bool passes_on = counts[WORK_LOCAL_STORE] || counts[WORK_TMEM_STORE];
    if (!text.size && counts[WORK_CONVERT] && (counts[WORK_LOCAL_LOAD] || counts[WORK_LOAD]) && passes_on)
        add_role(&text, "dequantise/convert", NULL);
    if (!text.size && counts[WORK_LOAD] && specialised)
        add_role(&text, "load", NULL);
    if (!text.size) {
        bool works = part->computes || counts[WORK_LOCAL_STORE] || counts[WORK_TMEM_STORE];
        add_role(&text, works ? "compute" : part->synchronises ? "synchronisation only" : "idle", NULL);
    }
    return verdict_keep(builder->verdict, &text);
}

/* The buffers that this partition touches, and not every one of those with the same role. */
static NameList own_buffers(const Part *part, const Part *const *same, size_t count) {
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
static void tell_apart(Builder *builder, const Part *const *same, ReportPartition *const *rows, size_t count) {
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

static void qualify(Builder *builder, const Part *const *parts, ReportPartition *rows, size_t count) {
    bool told[MOST_PARTITIONS] = {false};
    for (size_t i = 0; i < count; i++) {
        const Part *same[MOST_PARTITIONS];
        ReportPartition *same_rows[MOST_PARTITIONS];
        size_t found = 0;
        for (size_t k = i; k < count && !told[i]; k++)
            if (!told[k] && strcmp(rows[k].role, rows[i].role) == 0) {
                same[found] = parts[k];
                same_rows[found++] = &rows[k];
            }
        bool alike = found > 1 && strcmp(rows[i].role, "idle") != 0;
        for (size_t k = i; k < count && alike; k++)
            told[k] = told[k] || strcmp(rows[k].role, rows[i].role) == 0;
        if (alike)
            tell_apart(builder, same, same_rows, found);
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
    const Attr *of_default = op_attr(op, "defaultRequestedRegisters");
    if (row->registers >= 0)
        return;
    if (k > 0)
        number_at(op_attr(op, "requestedRegisters"), k - 1, &number);
    else if (of_default && of_default->kind == ATTR_INTEGER)
        number = of_default->integer;
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
        bool specialize = is_op(op, OP_ttg_warp_specialize), loop = is_op(op, OP_scf_for) || is_op(op, OP_scf_while);
        if (!specialize && !loop && op != builder->function)
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

/* ---- Limits ---------------------------------------------------------------------------------------------------- */

static bool module_number(const Builder *builder, const char *name, int64_t *number) {
    const Op *module = op_parent(builder->function);
    const Attr *attr = module ? op_attr(module, name) : NULL;
    if (!attr || attr->kind != ATTR_INTEGER)
        return false;
    *number = attr->integer;
    return true;
}

/* When a storage is in use, by offsets in the text, and how much of it. */
typedef struct Lifetime {
    uint32_t begin, end;
    int64_t size;
} Lifetime;

static uint32_t offset_after(const Op *op) {
    return op->next ? op->next->offset : op->offset + 1;
}

/* Where a use of an allocation is over: with the op of the allocation's own block that it stands in; in a specialised
 * op with that, as partitions run side by side. */
static uint32_t use_end(const Op *allocation, const Op *use) {
    const Op *within = use;
    for (const Op *op = use; op; op = op_parent(op)) {
        if (op->block == allocation->block)
            within = op;
        if (is_op(op, OP_ttg_warp_specialize) || is_op(op, OP_nvws_warp_group))
            within = op;
    }
    return offset_after(within);
}

static int compare_offsets(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int compare_begins(const void *a, const void *b) {
    return compare_offsets(&((const Lifetime *)a)->begin, &((const Lifetime *)b)->begin);
}

static int compare_ends(const void *a, const void *b) {
    return compare_offsets(&((const Lifetime *)a)->end, &((const Lifetime *)b)->end);
}

static int64_t most_at_once(Arena *arena, Lifetime *lifetimes, uint32_t count) {
    Lifetime *ending = ARENA_ARRAY(arena, Lifetime, count + 1);
    int64_t now = 0, most = 0;
    memcpy(ending, lifetimes, count * sizeof *ending);
    qsort(lifetimes, count, sizeof *lifetimes, compare_begins);
    qsort(ending, count, sizeof *ending, compare_ends);
    for (uint32_t i = 0, ended = 0; i < count; i++) {
        for (; ended < count && ending[ended].end <= lifetimes[i].begin; ended++)
            now -= ending[ended].size;
        now += lifetimes[i].size;
        most = now > most ? now : most;
    }
    return most;
}

/* As allocation_find, but in few steps: allocations are in the order of the text. */
static const Allocation *find_allocation(const Allocations *allocations, const Op *op) {
    uint32_t low = 0, high = allocations->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (allocations->items[middle].op->offset < op->offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < allocations->count && allocations->items[low].op == op ? &allocations->items[low] : NULL;
}

static void extend_by_uses(Builder *builder, Space space, Lifetime *lifetimes) {
    for (const Op *op = builder->function; op; op = op_next_in_walk(op, builder->function))
        for (uint32_t i = 0; i < op->operand_count; i++) {
            const Type *type = op->operands[i]->type;
            const Op *root = memdesc_space(type) == space ? origin_of(builder->module, op->operands[i]) : NULL;
            const Allocation *used = root ? find_allocation(&builder->allocations, root) : NULL;
            uint32_t end = used ? use_end(root, op) : 0;
            if (used && lifetimes[used->storage].end < end)
                lifetimes[used->storage].end = end;
        }
}

/* The most that is in use at one time. Nothing is known of where a compiler will put what. */
static int64_t allocated(Builder *builder, Space space) {
    const Allocations *allocations = &builder->allocations;
    uint32_t count = allocations->storage_count;
    Lifetime *lifetimes = ARENA_ARRAY(builder->arena, Lifetime, count + 1);
    for (uint32_t i = 0; i < allocations->count; i++) {
        const Allocation *item = &allocations->items[i];
        Lifetime *life = &lifetimes[item->storage];
        int64_t first = space == SPACE_TENSOR ? item->offset.base & UINT16_MAX : item->offset.base;
        uint32_t begin = item->op->offset, end = use_end(item->op, item->op);
        if (item->space != space || item->size <= 0)
            continue;
        life->begin = life->size && life->begin < begin ? life->begin : begin;
        life->end = life->end > end ? life->end : end;
        int64_t size = first + item->size, slots = builder_planned_slots(builder, item->op);
        size = size <= INT32_MAX ? size * slots : size;
        life->size = life->size > size ? life->size : size;
    }
    extend_by_uses(builder, space, lifetimes);
    return most_at_once(builder->arena, lifetimes, count);
}

static bool has_shared_limit(const Builder *builder) {
    const Op *module = op_parent(builder->function);
    const Attr *target = module ? op_attr(module, "ttg.target") : NULL;
    return target && (str_is(target->text, "\"cuda:90\"") || str_is(target->text, "\"cuda:100\""));
}

/* What is used of shared or tensor memory; 0 if that is not decided yet: it would be too much, and ops still stand
 * together that will not stay so, or the compiler has columns to put on top of each other. */
static int64_t memory_used(Builder *builder, const char *attribute, Space space, int64_t most) {
    int64_t used;
    if (module_number(builder, attribute, &used))
        return used;
    used = allocated(builder, space);
    bool decided = space == SPACE_SHARED && (builder->form == PARTITION_NONE || builder->form == PARTITION_REGIONS);
    return used <= most || decided ? used : 0;
}

static int64_t warps_used(Builder *builder) {
    int64_t used = 0;
    if (builder->form == PARTITION_NONE || module_number(builder, "ttg.total-num-warps", &used))
        return used;
    for (size_t i = 0; i < builder->report->partition_count && builder->form <= PARTITION_GROUPS; i++)
        used += builder->partitions[i].warps;
    return used;
}

static void add_limits(Builder *builder) {
    ReportLimit *limits = ARENA_ARRAY(builder->arena, ReportLimit, 3);
    size_t count = 0;
    int64_t shared = memory_used(builder, "ttg.shared", SPACE_SHARED, SHARED_MOST);
    int64_t tensor = memory_used(builder, "ttg.tensor_memory_size", SPACE_TENSOR, TENSOR_MOST);
    int64_t warps = warps_used(builder);
    if (shared > 0 && has_shared_limit(builder))
        limits[count++] = (ReportLimit){"shared memory", "bytes", shared, SHARED_MOST};
    if (tensor > 0)
        limits[count++] = (ReportLimit){"tensor memory", "columns", tensor, TENSOR_MOST};
    if (warps > 0)
        limits[count++] = (ReportLimit){"warps", "", warps, WARPS_MOST};
    builder->report->limits = limits;
    builder->report->limit_count = count;
}

/* ---- All of it ------------------------------------------------------------------------------------------------- */

static void keep_key_ops(Builder *builder, const Part *part, ReportPartition *row) {
    ReportCount *kept = ARENA_ARRAY(builder->arena, ReportCount, part->key_count + 1);
    bool major = false;
    for (uint32_t i = 0; i < part->key_count; i++)
        major |= work_of[part->key_ids[i]] < WORK_LOAD;
    for (uint32_t i = 0; i < part->key_count; i++)
        if (!major || work_of[part->key_ids[i]] < WORK_LOAD)
            kept[row->key_op_count++] = part->key_ops[i];
    row->key_ops = kept;
}

static ReportPartition row_of(Builder *builder, unsigned k, const Part *part) {
    ReportPartition row = {.name = "kernel", .type = "", .registers = -1, .stage = -1, .ir_line = part->ir_line};
    if (builder->form != PARTITION_NONE) {
        Text text = {0};
        partition_print((Partitions){builder->form, UINT64_C(1) << k}, &text);
        row.name = verdict_keep(builder->verdict, &text);
    }
    row.warps = (int)partition_warps(part->first);
    row.role = role_of(builder, part);
    keep_key_ops(builder, part, &row);
    return row;
}

void report_partitions(Builder *builder) {
    Roles roles = {.builder = builder};
    if (builder->form == PARTITION_NONE)
        builder->form = form_of(builder->function);
    collect(&roles);
    const Part *parts[MOST_PARTITIONS];
    builder->partitions = ARENA_ARRAY(builder->arena, ReportPartition, MOST_PARTITIONS);
    size_t count = 0;
    for (unsigned k = 0; k < MOST_PARTITIONS; k++) {
        const Part *part = roles.parts[k];
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
    add_limits(builder);
}
