/* Threads and blocks, and the list of what they did wrong. */
#ifndef THREADS_H
#define THREADS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include "words.h"

#define WARP 32

typedef struct Thread Thread;
typedef struct Block Block;
typedef void (*Kernel)(Thread *thread, const u8 *parameters);

typedef enum { READY, AT_BARRIER, IN_WARP, DONE } State;

struct Thread {
    Block *block;
    u32 index[3];
    u32 number; /* in the block, x first */
    State state;
    u8 *local; /* its own memory */
    u64 frame; /* where in it the function that is running has its variables */
    jmp_buf end;
    ucontext_t context; /* where it goes on, if it gave way */

    u32 line; /* of the instruction at which it waits */
    u32 barrier;
    u32 combination; /* what a barrier does with `value`, or the kind of a meeting in a warp */
    u32 mask;        /* lanes that meet */
    u64 value;       /* what it brings */
    u32 choice, control;
    u64 answer; /* what it gets */
    u8 flag;
    u32 warp_phase; /* how often its whole warp has met */
};

struct Block {
    Thread *threads;
    u32 count;
    u32 index[3], size[3], grid[3];
    u64 number; /* in the grid, x first */
    Kernel kernel;
    const u8 *parameters;
    u8 *shared;
    u64 shared_bytes;
    struct Shadow *shadow; /* who used each byte of shared memory */
    u32 phase;             /* how often all threads have met at a barrier */
    ucontext_t scheduler;
};

/* Problems. Only the first few are told, all are counted. */

#define MOST_MESSAGES 4
static char messages[MOST_MESSAGES][256];
static long problem_count;

static void report_arguments(Thread *thread, const char *format, va_list arguments)
{
    long at = problem_count++;
    if (at >= MOST_MESSAGES)
        return;
    const u32 *block = thread->block->index, *index = thread->index;
    int used = snprintf(messages[at], sizeof messages[at], "block (%u,%u,%u) thread (%u,%u,%u): ", block[0], block[1],
                        block[2], index[0], index[1], index[2]);
    vsnprintf(messages[at] + used, sizeof messages[at] - used, format, arguments);
}

static void report(Thread *thread, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report_arguments(thread, format, arguments);
    va_end(arguments);
}

/* The thread ends here. */
static inline void leave(Thread *thread)
{
    longjmp(thread->end, 1);
}

/* A problem after which the thread cannot go on. */
static void fail(Thread *thread, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report_arguments(thread, format, arguments);
    va_end(arguments);
    leave(thread);
}

/* A function begins: the place of its variables in local memory. */
static inline u64 enter(Thread *thread, u64 bytes)
{
    if (thread->frame + bytes > LOCAL_BYTES)
        fail(thread, "out of local memory: a recursion?");
    return thread->frame;
}

static void run_thread(Thread *thread)
{
    if (setjmp(thread->end) == 0)
        thread->block->kernel(thread, thread->block->parameters);
    thread->state = DONE;
}

#endif
