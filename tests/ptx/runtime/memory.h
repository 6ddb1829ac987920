/* Access to memory. Built with CHECK, an access must lie within memory that the kernel was given, and may not race. */
#ifndef MEMORY_H
#define MEMORY_H

#include "threads.h"

typedef enum { READ, WRITE, ATOMIC } Access;

/* A stretch of memory. */
typedef struct {
    u64 begin, bytes;
} Room;

/* When a thread used a byte; nobody if `thread` is negative. */
typedef struct {
    s64 thread;
    u32 phase, warp_phase;
} Visit;

/* Who used a byte since it was last written: enough of them to tell whether the next use is unordered with any. */
typedef struct Shadow {
    Visit writer;
    Visit readers[2];
    Visit atomics[2];
} Shadow;

static const Room *rooms; /* global memory: sorted, disjoint */
static u32 room_count;
static Shadow **room_shadows; /* one for each room, if races are looked for */

static Shadow *new_shadow(u64 bytes)
{
    Shadow *shadow = malloc((bytes + 1) * sizeof *shadow);
    memset(shadow, 0xff, bytes * sizeof *shadow); /* nobody */
    return shadow;
}

static inline Visit visit_of(const Thread *thread)
{
    s64 number = (s64)(thread->block->number * thread->block->count + thread->number);
    return (Visit){number, thread->block->phase, thread->warp_phase};
}

/* 0 the same thread, 1 the same warp, 2 the same block, 3 none of these. */
static inline int distance(Visit a, Visit b, u32 block_size)
{
    if (a.thread == b.thread)
        return 0;
    if (a.thread / block_size != b.thread / block_size)
        return 3;
    return a.thread % block_size / WARP == b.thread % block_size / WARP ? 1 : 2;
}

/* Whether a certainly happened before b, which comes later in this execution: they have met in between. */
static inline int is_before(Visit a, Visit b, u32 block_size)
{
    int apart = distance(a, b, block_size);
    return apart == 0 || (apart <= 2 && a.phase != b.phase) || (apart == 1 && a.warp_phase != b.warp_phase);
}

static inline int conflicts(Visit earlier, Visit now, u32 block_size)
{
    return earlier.thread >= 0 && !is_before(earlier, now, block_size);
}

/* Two visits stand for all: those furthest apart, since whoever is ordered after both is ordered after all. */
static void note(Visit pair[2], Visit now, u32 block_size)
{
    for (int i = 0; i < 2; i++)
        if (!conflicts(pair[i], now, block_size)) {
            pair[i] = now;
            return;
        }
    if (distance(pair[0], now, block_size) > distance(pair[0], pair[1], block_size))
        pair[1] = now;
}

static void check_races(Thread *thread, Shadow *shadow, u64 bytes, Access access, u32 line)
{
    const Visit now = visit_of(thread);
    const u32 size = thread->block->count;
    for (u64 i = 0; i < bytes; i++) {
        Shadow *byte = shadow + i;
        const Visit earlier[] = {byte->writer, byte->readers[0], byte->readers[1], byte->atomics[0], byte->atomics[1]};
        for (int k = 0; k < 5; k++) {
            int both_read = access == READ && (k == 1 || k == 2);
            int both_atomic = access == ATOMIC && k >= 3;
            if (!both_read && !both_atomic && conflicts(earlier[k], now, size)) {
                report(thread, "race with thread %lld of block %lld, PTX line %u", (long long)(earlier[k].thread % size),
                       (long long)(earlier[k].thread / size), line);
                return;
            }
        }
        if (access == READ) {
            note(byte->readers, now, size);
        } else if (access == ATOMIC) {
            note(byte->atomics, now, size);
        } else {
            memset(byte, 0xff, sizeof *byte);
            byte->writer = now;
        }
    }
}

/* The room in which an access lies; -1 if it lies in none. */
static inline s64 find_room(u64 address, u64 bytes)
{
    u32 low = 0, high = room_count;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (rooms[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address + bytes > rooms[low - 1].begin + rooms[low - 1].bytes)
        return -1;
    return low - 1;
}

static inline int is_in_shared(const Thread *thread, u64 address)
{
    return address - (u64)thread->block->shared < thread->block->shared_bytes;
}

static inline int is_in_local(const Thread *thread, u64 address)
{
    return address - (u64)thread->local < LOCAL_BYTES;
}

static inline int is_in_global(const Thread *thread, u64 address)
{
    return !is_in_shared(thread, address) && !is_in_local(thread, address);
}

#ifdef CHECK
static inline void check_place(Thread *thread, const char *space, u64 address, u64 bytes, u64 limit, u32 line)
{
    if (address + bytes > limit || address + bytes < bytes)
        fail(thread, "%s memory out of bounds: %u bytes at %llx, PTX line %u", space, (u32)bytes,
             (unsigned long long)address, line);
    if (address % bytes != 0)
        fail(thread, "misaligned access: %u bytes at %llx, PTX line %u", (u32)bytes, (unsigned long long)address, line);
}
#endif

static inline u8 *local_memory(Thread *thread, u64 offset, u64 bytes, Access access, u32 line)
{
#ifdef CHECK
    check_place(thread, "local", offset, bytes, LOCAL_BYTES, line);
#endif
    return thread->local + offset;
}

static inline u8 *shared_memory(Thread *thread, u64 offset, u64 bytes, Access access, u32 line)
{
#ifdef CHECK
    check_place(thread, "shared", offset, bytes, thread->block->shared_bytes, line);
    if (thread->block->shadow)
        check_races(thread, thread->block->shadow + offset, bytes, access, line);
#endif
    return thread->block->shared + offset;
}

/* By an address that tells the space. */
static inline u8 *any_memory(Thread *thread, u64 address, u64 bytes, Access access, u32 line)
{
#ifdef CHECK
    if (is_in_shared(thread, address))
        return shared_memory(thread, address - (u64)thread->block->shared, bytes, access, line);
    if (is_in_local(thread, address))
        return local_memory(thread, address - (u64)thread->local, bytes, access, line);
    s64 room = find_room(address, bytes);
    check_place(thread, "global", address, bytes, room < 0 ? 0 : ~(u64)0, line);
    if (room_shadows)
        check_races(thread, room_shadows[room] + (address - rooms[room].begin), bytes, access, line);
#endif
    return (u8 *)address;
}

#endif
