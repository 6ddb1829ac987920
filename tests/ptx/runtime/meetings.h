/* Threads that wait for each other. Each has a stack of its own and gives way to the scheduler while it waits. */
#ifndef MEETINGS_H
#define MEETINGS_H

#include "threads.h"

enum { COUNT, ALL_OF, ANY_OF }; /* what a barrier does with the threads' values */

enum {
    SYNC,
    SHUFFLE_UP,
    SHUFFLE_DOWN,
    SHUFFLE_BFLY,
    SHUFFLE_IDX,
    VOTE_BALLOT,
    VOTE_ALL,
    VOTE_ANY,
    VOTE_UNI,
    MATCH_ANY,
    MATCH_ALL,
    REDUCE_ADD,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_SIGNED_MIN,
    REDUCE_SIGNED_MAX,
    REDUCE_AND,
    REDUCE_OR,
    REDUCE_XOR
};

static void give_way(Thread *thread)
{
    swapcontext(&thread->context, &thread->block->scheduler);
}

static u32 meet_at_barrier(Thread *thread, u32 barrier, u32 combination, u32 value, u32 line)
{
    thread->state = AT_BARRIER;
    thread->barrier = barrier;
    thread->combination = combination;
    thread->value = value;
    thread->line = line;
    give_way(thread);
    return (u32)thread->answer;
}

static u64 meet_in_warp(Thread *thread, u32 kind, u32 mask, u64 value, u32 choice, u32 control, u32 line)
{
    thread->state = IN_WARP;
    thread->combination = kind;
    thread->mask = mask;
    thread->value = value;
    thread->choice = choice;
    thread->control = control;
    thread->line = line;
    if (!(mask >> thread->number % WARP & 1))
        fail(thread, "not among the lanes %x that it wants to meet, PTX line %u", mask, line);
    give_way(thread);
    return thread->answer;
}

static void answer_shuffle(Thread *warp, u32 group, u32 lane)
{
    Thread *thread = warp + lane;
    u32 by = thread->choice & 31, clamp = thread->control & 31, segment = thread->control >> 8 & 31;
    s32 source = 0, last = (lane & segment) | (clamp & ~segment);
    switch (thread->combination) {
    case SHUFFLE_UP:
        source = (s32)lane - (s32)by;
        break;
    case SHUFFLE_DOWN:
        source = lane + by;
        break;
    case SHUFFLE_BFLY:
        source = lane ^ by;
        break;
    case SHUFFLE_IDX:
        source = (lane & segment) | (by & ~segment);
        break;
    }
    thread->flag = thread->combination == SHUFFLE_UP ? source >= last : source <= last;
    if (!thread->flag)
        source = lane;
    if (!(group >> source & 1)) {
        report(thread, "shuffle from lane %d, which is not there, PTX line %u", source, thread->line);
        source = lane;
    }
    thread->answer = warp[source].value;
}

static u32 combined(u32 kind, u32 a, u32 b)
{
    switch (kind) {
    case REDUCE_ADD:
        return a + b;
    case REDUCE_MIN:
        return a < b ? a : b;
    case REDUCE_MAX:
        return a > b ? a : b;
    case REDUCE_SIGNED_MIN:
        return (s32)a < (s32)b ? a : b;
    case REDUCE_SIGNED_MAX:
        return (s32)a > (s32)b ? a : b;
    case REDUCE_AND:
        return a & b;
    case REDUCE_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static u64 reduced(const Thread *warp, u32 group)
{
    u32 first = __builtin_ctz(group), total = (u32)warp[first].value;
    for (u32 k = first + 1; k < WARP; k++)
        if (group >> k & 1)
            total = combined(warp[first].combination, total, (u32)warp[k].value);
    return total;
}

/* The lanes of a group that brought this value. */
static u32 lanes_with(const Thread *warp, u32 group, u64 value)
{
    u32 lanes = 0;
    for (u32 k = 0; k < WARP; k++)
        if (group >> k & 1 && warp[k].value == value)
            lanes |= 1u << k;
    return lanes;
}

static void answer_lane(Thread *warp, u32 group, u32 lane)
{
    Thread *thread = warp + lane;
    u32 votes = group & ~lanes_with(warp, group, 0);
    switch (thread->combination) {
    case SYNC:
        break;
    case SHUFFLE_UP:
    case SHUFFLE_DOWN:
    case SHUFFLE_BFLY:
    case SHUFFLE_IDX:
        answer_shuffle(warp, group, lane);
        break;
    case VOTE_BALLOT:
        thread->answer = votes;
        break;
    case VOTE_ALL:
        thread->answer = votes == group;
        break;
    case VOTE_ANY:
        thread->answer = votes != 0;
        break;
    case VOTE_UNI:
        thread->answer = votes == 0 || votes == group;
        break;
    case MATCH_ANY:
        thread->answer = lanes_with(warp, group, thread->value);
        break;
    case MATCH_ALL:
        thread->flag = lanes_with(warp, group, thread->value) == group;
        thread->answer = thread->flag ? group : 0;
        break;
    default:
        thread->answer = reduced(warp, group);
    }
}

/* The lanes that a waiting lane wants to meet, if all that still run are waiting for the same; 0 otherwise. */
static u32 find_group(const Thread *warp, u32 lanes, u32 lane)
{
    const Thread *asking = warp + lane;
    u32 group = 0;
    for (u32 k = 0; k < lanes; k++) {
        const Thread *other = warp + k;
        if (!(asking->mask >> k & 1) || other->state == DONE)
            continue;
        if (other->state != IN_WARP || other->combination != asking->combination || other->mask != asking->mask)
            return 0;
        group |= 1u << k;
    }
    return group;
}

static void serve_warp(Thread *warp, u32 lanes)
{
    for (u32 lane = 0; lane < lanes; lane++) {
        u32 group = warp[lane].state == IN_WARP ? find_group(warp, lanes, lane) : 0;
        if (group == 0)
            continue;
        int whole = warp[lane].combination == SYNC && group == ~0u >> (WARP - lanes);
        for (u32 k = lane; k < lanes; k++)
            if (group >> k & 1)
                answer_lane(warp, group, k);
        for (u32 k = lane; k < lanes; k++)
            if (group >> k & 1) {
                warp[k].state = READY;
                warp[k].warp_phase += whole;
            }
    }
}

/* All threads that still run wait: let them pass if it is at the same barrier. Whether any goes on. */
static int serve_barrier(Block *block)
{
    Thread *first = NULL;
    u32 waiting = 0, agreeing = 0, done = 0;
    for (u32 i = 0; i < block->count; i++) {
        Thread *thread = block->threads + i;
        if (thread->state == DONE) {
            done++;
            continue;
        }
        if (thread->state == IN_WARP) {
            report(thread, "waits for lanes %x, which never come, PTX line %u", thread->mask, thread->line);
            return 0;
        }
        if (!first)
            first = thread;
        if (thread->barrier != first->barrier || thread->line != first->line)
            report(thread, "waits at barrier %u, PTX line %u, others at barrier %u, PTX line %u", thread->barrier,
                   thread->line, first->barrier, first->line);
        waiting++;
        agreeing += thread->value != 0;
    }
    if (!first)
        return 0;
    if (done)
        report(first, "waits at a barrier, PTX line %u, that %u threads never reach", first->line, done);
    for (u32 i = 0; i < block->count; i++) {
        Thread *thread = block->threads + i;
        if (thread->state != AT_BARRIER)
            continue;
        thread->answer = thread->combination == ALL_OF   ? agreeing == waiting
                         : thread->combination == ANY_OF ? agreeing != 0
                                                         : agreeing;
        thread->state = READY;
    }
    block->phase++;
    return 1;
}

#endif
