/* The clocks of streams, threads and events. */
#include "engine/order/order.h"

#include "base/array.h"
#include "engine/clock/vector.h"

#include <stdlib.h>
#include <string.h>

void order_free_all(ProgramOrder *order) {
    for (uint32_t i = 0; i < order->lane_count; i++)
        free(order->lanes[i]);
    for (uint32_t i = 0; i < order->thread_count; i++)
        free(order->threads[i]);
    free(order->threads);
    *order = (ProgramOrder){0};
}

/* ---- Clocks -------------------------------------------------------------------------------------- */

void lanes_join(const ProgramOrder *order, OrderClock *clock, const OrderClock *other) {
    vector64_join(clock->over, other->over, order->lane_count);
    vector32_join(clock->copies, other->copies, order->lane_count);
    clock->open |= other->open;
}

OrderClock *clock_copy(const OrderClock *clock) {
    OrderClock *copy = malloc(sizeof *copy);
    if (copy)
        *copy = *clock;
    return copy;
}

/* Of lanes that are not there, all clocks have nothing. */
void lanes_set(const ProgramOrder *order, OrderClock *clock, const OrderClock *other) {
    memcpy(clock->over, other->over, order->lane_count * sizeof *clock->over);
    memcpy(clock->copies, other->copies, order->lane_count * sizeof *clock->copies);
    clock->open = other->open;
}

/* ---- Lanes and threads ---------------------------------------------------------------------------- */

static bool is_over_for(const OrderClock *clock, const OrderLane *lane) {
    return clock->over[lane->index] >= lane->last && clock->copies[lane->index] >= lane->last_copy;
}

static bool is_over_for_all(const ProgramOrder *order, const OrderLane *lane) {
    bool over = true;
    for (uint32_t i = 0; i < order->thread_count && over; i++)
        over = is_over_for(&order->threads[i]->knows, lane);
    return over && is_over_for(&order->hosts, lane);
}

static OrderLane **free_seat(ProgramOrder *order) {
    for (uint32_t i = 0; i < order->lane_count; i++)
        if (order->lanes[i]->gone && is_over_for_all(order, order->lanes[i]))
            return &order->lanes[i];
    return order->lane_count < ORDER_LANES ? &order->lanes[order->lane_count] : NULL;
}

static OrderLane **open_seat(ProgramOrder *order) {
    for (uint32_t i = 0; i < order->lane_count; i++)
        if (order->lanes[i]->gone && is_over_for(&order->hosts, order->lanes[i]))
            return &order->lanes[i];
    return NULL;
}

OrderLane *order_lane(ProgramOrder *order, uint64_t context, bool legacy, bool blocking) {
    OrderLane **seat = free_seat(order);
    bool open = !seat && (seat = open_seat(order));
    OrderLane *lane = !seat ? NULL : *seat ? *seat : calloc(1, sizeof *lane); /* who has it may still ask it */
    if (!lane)
        return NULL;
    *lane = (OrderLane){.index = (uint32_t)(seat - order->lanes),
                        .process = order->process,
                        .context = context,
                        .legacy = legacy,
                        .blocking = blocking,
                        .now.open = open};
    if (lane->index == order->lane_count)
        order->lane_count++;
    return *seat = lane;
}

OrderThread *order_thread(ProgramOrder *order, uint64_t id) {
    for (uint32_t i = 0; i < order->thread_count; i++)
        if (order->threads[i]->id == id && order->threads[i]->process == order->process)
            return order->threads[i];
    if (!ARRAY_ROOM(order->threads, order->thread_count, order->thread_capacity, 8))
        return NULL;
    OrderThread *thread = calloc(1, sizeof *thread);
    if (!thread)
        return NULL;
    thread->id = id;
    thread->process = order->process;
    return order->threads[order->thread_count++] = thread;
}

void order_thread_ends(ProgramOrder *order, OrderThread *thread) {
    for (uint32_t i = 0; i < order->thread_count; i++)
        if (order->threads[i] == thread) {
            order->threads[i] = order->threads[--order->thread_count];
            free(thread);
            return;
        }
}

bool threads_know(const ProgramOrder *order, uint32_t lane, uint64_t number) {
    bool known = clock_has(&order->hosts, lane, number);
    for (uint32_t i = 0; i < order->thread_count && known; i++)
        known = clock_has(&order->threads[i]->knows, lane, number);
    return known;
}

/* ---- Operations ----------------------------------------------------------------------------------- */

void lane_issue(ProgramOrder *order, OrderLane *lane, const OrderThread *thread) {
    for (uint32_t i = 0; lane->blocking && i < order->lane_count; i++) {
        const OrderLane *other = order->lanes[i];
        if (other != lane && other->blocking && other->process == lane->process && other->context == lane->context &&
            (lane->legacy || other->legacy))
            lanes_join(order, &lane->now, &other->now);
    }
    lanes_join(order, &lane->now, &thread->knows);
    lane->launched = false;
}

void lane_operation(OrderLane *lane, uint64_t number) {
    lane->last = lane->now.over[lane->index] = number + 1;
}

void lane_copy(OrderLane *lane, uint32_t number) {
    lane->last_copy = lane->now.copies[lane->index] = number + 1;
}

static bool lanes_equal(const ProgramOrder *order, const OrderClock *one, const OrderClock *other) {
    return one->open == other->open && !memcmp(one->over, other->over, order->lane_count * sizeof *one->over) &&
           !memcmp(one->copies, other->copies, order->lane_count * sizeof *one->copies);
}

bool lane_launch(ProgramOrder *order, OrderLane *lane, const OrderThread *thread, bool dependent) {
    bool follows = dependent && lane->launched;
    OrderClock until;
    if (follows)
        lanes_set(order, &until, &lane->now);
    lane_issue(order, lane, thread);
    follows = follows && lanes_equal(order, &until, &lane->now); /* or it waits for others as well */
    if (!follows)
        lanes_set(order, &lane->begun, &lane->now);
    lane->launched = true;
    return follows;
}

void lane_waits(ProgramOrder *order, OrderLane *lane, const OrderThread *thread, const OrderClock *clock) {
    lane_issue(order, lane, thread);
    lanes_join(order, &lane->now, clock);
}

void thread_waits(ProgramOrder *order, OrderThread *thread, const OrderClock *clock) {
    lanes_join(order, &thread->knows, clock);
    lanes_join(order, &order->hosts, clock);
}

void thread_waits_for_all(ProgramOrder *order, OrderThread *thread, bool all, uint64_t context) {
    for (uint32_t i = 0; i < order->lane_count; i++)
        if (order->lanes[i]->process == thread->process && (all || order->lanes[i]->context == context))
            thread_waits(order, thread, &order->lanes[i]->now);
}
