/* Cluster launch control: a request for a cluster that has not begun, and what the answer says.
 *
 * The answer is 16 bytes: where the first CTA of the cluster is in the grid (x, y, z), and 1 if there is one. */
#include "machine/simt/async/copies.h"

enum { ANSWER_BYTES = 16, ANSWER_WORDS = 4 };

typedef struct RequestDetail {
    const PtxArgument *to, *bar;
    PtxSpace space;
    bool multicast;
} RequestDetail;

typedef struct AsyncRequest {
    PtxLocation to;
    uint32_t answer[ANSWER_WORDS];
} AsyncRequest;

static void land_request(PtxMachine *machine, PtxOutstanding *outstanding) {
    static const PtxAccess write = {
        .kind = KIND_WRITE, .proxy = PROXY_ASYNC, .element = ANSWER_BYTES, .bytes = ANSWER_BYTES, .used = ~0u};
    AsyncRequest *request = outstanding->detail;
    uint8_t states[ANSWER_BYTES];
    memset(states, BYTE_KNOWN, sizeof states);
    if (location_is_there(machine, outstanding, request->to)) {
        CopyScratch *scratch = copy_scratch(machine, 1);
        pieces_add(machine, &scratch->writes, request->to, ANSWER_BYTES);
        report_pieces(machine, outstanding, &write, &scratch->writes);
        ptx_store_bytes(machine, request->to, ANSWER_BYTES, (const uint8_t *)request->answer, states);
        copy_completes(machine, outstanding, outstanding->place, ANSWER_BYTES);
    }
    pool_give(machine, request, sizeof *request);
}

/* A cluster that has not begun is taken. */
static void take_cluster(PtxMachine *machine, uint32_t answer[ANSWER_WORDS]) {
    ptx_ordered(machine);
    GridSync *grid = grid_sync(machine);
    const PtxLaunch *launch = machine->launch;
    uint32_t clusters = machine->cta_count / machine->cluster_size, across[3];
    memset(answer, 0, ANSWER_BYTES);
    for (unsigned i = 0; i < 3; i++)
        across[i] = launch->grid[i] / (launch->cluster[i] ? launch->cluster[i] : 1);
    for (uint32_t i = 0; i < clusters; i++)
        if (!grid->begun[i]) {
            grid->begun[i] = CLUSTER_CANCELED;
            answer[0] = i % across[0] * (launch->cluster[0] ? launch->cluster[0] : 1);
            answer[1] = i / across[0] % across[1] * (launch->cluster[1] ? launch->cluster[1] : 1);
            answer[2] = i / across[0] / across[1] * (launch->cluster[2] ? launch->cluster[2] : 1);
            answer[3] = 1;
            return;
        }
}

static bool issue_to(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane, PtxLocation to,
                     PtxLocation bar, const uint32_t answer[ANSWER_WORDS]) {
    AsyncRequest *request = pool_take(machine, sizeof *request);
    request->to = to;
    memcpy(request->answer, answer, ANSWER_BYTES);
    return ptx_fly(machine, &(PtxOutstanding){.code = code,
                                              .warp = group->warp,
                                              .lane = lane,
                                              .place = ptx_place(bar),
                                              .land = land_request,
                                              .detail = request});
}

static PtxStep request_lane(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane) {
    const RequestDetail *detail = code->detail;
    PtxLocation to, bar, to_there, bar_there;
    uint32_t answer[ANSWER_WORDS];
    if (!find_location(machine, group, code, detail->to, detail->space, lane, ANSWER_BYTES, ANSWER_BYTES,
                       RULE_CLC_RESPONSE, &to) ||
        !find_location(machine, group, code, detail->bar, detail->space, lane, 8, 8, RULE_MBARRIER_ALIGNMENT, &bar))
        return failed(machine);
    if (cta_sync(group->warp->cta)->refused)
        return ptx_fault(machine, group, RULE_CLC_ASKS_AGAIN, code, 1u << lane,
                         "an earlier request was seen to fail, and another one is undefined");
    take_cluster(machine, answer);
    if (!detail->multicast)
        return issue_to(machine, group, code, lane, to, bar, answer) ? PTX_STEP_NEXT : PTX_STEP_FAULT;
    for (uint32_t rank = 0; rank < machine->cluster_size; rank++)
        if (!location_in_cta(machine, code, group->warp, lane, to, rank, &to_there) ||
            !location_in_cta(machine, code, group->warp, lane, bar, rank, &bar_there) ||
            !issue_to(machine, group, code, lane, to_there, bar_there, answer))
            return PTX_STEP_FAULT;
    return PTX_STEP_NEXT;
}

static PtxStep request_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    return ptx_lane_by_lane(machine, group, code, lanes, request_lane);
}

/* ---- What the answer says ----------------------------------------------------------------------- */

typedef struct AnswerDetail {
    const PtxArgument *gives, *answer;
    int8_t part; /* which word; -1: all */
} AnswerDetail;

static PtxStep canceled_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const AnswerDetail *detail = code->detail;
    Lanes scratch;
    uint32_t unknown = 0, yes = 0;
    const Lanes *upper = ptx_fetch(machine, group, detail->answer, 1, &scratch, &unknown);
    for (uint32_t left = lanes & ~unknown; left; left &= left - 1)
        yes |= upper->at[__builtin_ctz(left)] >> 32 & 1 ? left & -left : 0;
    if (lanes & ~unknown & ~yes)
        cta_sync(group->warp->cta)->refused = true;
    ptx_put_mask(machine, group, detail->gives, yes, lanes, unknown & lanes);
    return PTX_STEP_NEXT;
}

static PtxStep first_cta_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const AnswerDetail *detail = code->detail;
    Lanes first, second, words;
    uint32_t unknown = 0;
    const Lanes *lower = ptx_fetch(machine, group, detail->answer, 0, &first, &unknown),
                *upper = ptx_fetch(machine, group, detail->answer, 1, &second, &unknown);
    bool all = detail->gives->kind == ARGUMENT_MEMBERS;
    for (unsigned part = 0; part < ANSWER_WORDS; part++) {
        if (!all && (int)part != detail->part)
            continue;
        for (unsigned i = 0; i < PTX_LANES; i++)
            words.at[i] = part == 3 ? 0 : (uint32_t)((part < 2 ? lower : upper)->at[i] >> 32 * (part & 1));
        const PtxArgument *to = all ? argument_member(machine->program, detail->gives, part) : detail->gives;
        ptx_put(machine, group, to, 0, &words, lanes, unknown & lanes);
    }
    return PTX_STEP_NEXT;
}

static bool answer_prepare(const PtxPrepare *about, PtxCode *code, PtxRun *run) {
    AnswerDetail detail = {code_argument(about->program, code, 0), code_argument(about->program, code, 1), -1};
    static const char *const parts[] = {"get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z"};
    for (int i = 0; i < 3; i++)
        if (code_has(code, str_of(parts[i])))
            detail.part = (int8_t)i;
    take_code(about, code, run, &detail, sizeof detail);
    code->visible = false;
    return true;
}

bool request_prepare(const PtxPrepare *about, PtxCode *code) {
    if (about->evaluator == PTX_EVALUATE_CANCELED)
        return answer_prepare(about, code, canceled_run);
    if (about->evaluator == PTX_EVALUATE_FIRST_CTA)
        return answer_prepare(about, code, first_cta_run);
    const PtxEffect *write = effect_with(about, EFFECT_WRITE), *complete = effect_with(about, EFFECT_COMPLETE);
    if (!write || !complete || write->effect.helper != HELPER_CLC)
        return false;
    RequestDetail detail = {.to = named_argument(about, code, write->on),
                            .bar = named_argument(about, code, complete->on),
                            .space = space_of(code),
                            .multicast = write->effect.multicast};
    return detail.to && detail.bar && take_code(about, code, request_run, &detail, sizeof detail);
}
