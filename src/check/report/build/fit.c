/* Fits slots and parities to a count, and writes the count the way people do. */
#include "check/report/build/fit.h"

enum { MOST_SHOWN = 12, SMALL_PART = 8 };

/* How far a count gives what was seen. Where it does not, it may stand still, if waits look again at the phase that
 * they have just seen, or begin again, up to `most` times. */
static size_t fit_length(Fit *fit, const Sighting *seen, size_t count, uint64_t most) {
    uint64_t position = (uint64_t)fit->start, turn = 2 * (uint64_t)fit->depth;
    fit->restarts = fit->repeats = 0;
    for (size_t i = 0; i < count; i++) {
        bool parity = position / fit->depth & 1;
        if (seen[i].slot != position % fit->depth || (fit->parities && seen[i].parity != (parity ^ fit->inverted))) {
            bool still = fit->parities && i && fit->stride && seen[i].slot == seen[i - 1].slot &&
                         seen[i].parity == seen[i - 1].parity && 2 * ++fit->repeats <= count;
            bool again = seen[i].slot == fit->slot && (!fit->parities || seen[i].parity == fit->parity);
            if (still)
                continue;
            if (!again || ++fit->restarts > most)
                return i;
            position = (uint64_t)fit->start;
        }
        position = (position + (uint64_t)fit->stride) % turn;
    }
    return count;
}

Fit fit_restarting(const Sighting *seen, size_t count, uint32_t depth, bool parities, uint64_t most) {
    Fit fit = {.depth = depth, .parities = parities};
    if (!count || seen[0].slot >= depth)
        return fit;
    fit.slot = seen[0].slot;
    fit.parity = seen[0].parity;
    fit.start = seen[0].slot;
    fit.inverted = parities && seen[0].parity;
    if (count == 1) {
        fit.found = fit.constant = true;
        return fit;
    }
    /* The second sighting leaves two strides open: a turn of the ring changes the parity and not the slot. */
    int64_t step = ((int64_t)seen[1].slot - seen[0].slot + depth) % depth;
    size_t length = 0;
    for (int turn = 0; turn < 2 && length < count; turn++) {
        Fit tried = fit;
        tried.stride = step + turn * (int64_t)depth;
        size_t far = fit_length(&tried, seen, count, most);
        if (far > length) {
            length = far;
            fit = tried;
        }
    }
    fit.found = length == count;
    fit.left = !fit.found && (count - length) * SMALL_PART <= count ? (uint32_t)(count - length) : 0;
    fit.constant = fit.found && fit.stride == 0;
    return fit;
}

Fit fit_sequence(const Sighting *seen, size_t count, uint32_t depth, bool parities) {
    return fit_restarting(seen, count, depth, parities, 0);
}

/* The count at an op: "accumCnt", "accumCnt + 1". */
static void print_count(const Fit *fit, const char *counter, bool parentheses, Text *to) {
    parentheses &= fit->start != 0;
    text_addf(to, "%s%s", parentheses ? "(" : "", counter);
    if (fit->start)
        text_addf(to, " + %lld", (long long)fit->start);
    text_addf(to, "%s", parentheses ? ")" : "");
}

/* Each time the same slot, with the parity changing or not. */
static bool is_one_slot(const Fit *fit) {
    return fit->constant || fit->stride % fit->depth == 0;
}

void fit_print_index(const Fit *fit, const char *counter, Text *to) {
    if (is_one_slot(fit)) {
        text_addf(to, "%u", fit->slot);
        return;
    }
    print_count(fit, counter, true, to);
    text_addf(to, " %% %u", fit->depth);
}

void fit_print_phase(const Fit *fit, const char *counter, Text *to) {
    if (fit->constant) {
        text_addf(to, "%u", fit->parity);
        return;
    }
    if (fit->inverted)
        text_addf(to, "NOT (");
    if (is_one_slot(fit)) {
        text_addf(to, "%s & 1", counter);
    } else {
        text_addf(to, "(");
        print_count(fit, counter, true, to);
        text_addf(to, " / %u) & 1", fit->depth);
    }
    text_addf(to, "%s", fit->inverted ? ")" : "");
}

void fit_print_seen(const Sighting *seen, size_t count, bool parities, Text *to) {
    for (size_t i = 0; i < count && i < MOST_SHOWN; i++)
        text_addf(to, "%s%u", i ? ", " : "", parities ? seen[i].parity : seen[i].slot);
    text_addf(to, "%s", count > MOST_SHOWN ? ", ..." : "");
}
