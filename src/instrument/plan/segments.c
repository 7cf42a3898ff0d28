/* Straight segments of sites that a part of a warp's lanes may come to: who is there is found once for each. */
#include "instrument/internal.h"

/* Where lanes may lead apart anyway, values that have to be looked at are told as if a part of the warp came: that is a
 * call. */
void segments_call(InstrumentPlan *plan) {
    for (uint32_t i = 0; i < plan->count; i++) {
        InstrumentStep *step = &plan->steps[i];
        bool checked = false;
        for (uint32_t k = 0; k < step->site->part_count; k++)
            checked |= !step->site->parts[k].proven;
        if (plan->bodies && !plan->together && checked && step->how == STEP_STATIC &&
            step_may_group(plan->analysis, step)) {
            step->how = STEP_APART;
            step->units = 0;
        }
    }
}

/* Whether all that come to its block comes to the step. */
static bool is_for_all(const FunctionAnalysis *analysis, const InstrumentStep *step) {
    return step->how == STEP_APART && !step->branch && (step->settled || step->given == PTX_NONE) &&
           (step->settled || !(look_statement(analysis, step->instruction)->flags & PTX_GUARDED));
}

/* Whether lanes that come there together may go on apart, waiting for others by masks that differ. */
static bool may_part(const InstrumentStep *step) {
    const Site *site = step->site;
    return site->meets && site->part_count && !(site->parts[0].proven && site->parts[0].shape == PART_UNIFORM);
}

/* Lanes that come to a step of a straight segment together come to the others of it, too. */
void segments_find(InstrumentPlan *plan, uint32_t most) {
    InstrumentStep *head = NULL;
    for (uint32_t i = 0; i < plan->count; i++) {
        InstrumentStep *step = &plan->steps[i];
        uint32_t units = step_most_units(step);
        step->grouped = plan->bodies && step->how == STEP_APART && step_may_group(plan->analysis, step);
        bool fits = plan->bodies ? step->grouped : head && head->room + units <= most;
        bool goes_on = head && step->block == head->block && step->calls == head->calls &&
                       is_for_all(plan->analysis, step) && fits;
        step->headed = goes_on;
        if (goes_on && step[-1].grouped)
            step[-1].joined = !site_settles(step[-1].site) && step_goes_on(plan->analysis, step - 1, step);
        units = step->grouped ? 0 : units;
        step->room = step->how == STEP_APART && !goes_on ? units : 0;
        if (goes_on)
            head->room += units;
        else
            head = is_for_all(plan->analysis, step) ? step : NULL;
        if (head && may_part(step))
            head = NULL;
    }
}
