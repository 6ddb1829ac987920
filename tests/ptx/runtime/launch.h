/* Launching a kernel of the table `kernels`: blocks one after another, threads in an order that is drawn. */
#include <sys/mman.h>

#define STACK_BYTES ((size_t)1 << 20) /* reserved, not used up */
#define UNKNOWN 0xcd                  /* what memory holds that nobody wrote */

static Thread *current;

/* A random permutation, or 0, 1, 2... if the seed is zero. */
static void draw_order(u32 *order, u32 count, u64 *seed)
{
    for (u32 i = 0; i < count; i++)
        order[i] = i;
    for (u32 i = count; *seed && i > 1; i--) {
        *seed ^= *seed << 13; /* xorshift */
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        u32 other = *seed % i, kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

static void set_index(u32 index[3], u64 number, const u32 size[3])
{
    index[0] = number % size[0];
    index[1] = number / size[0] % size[1];
    index[2] = number / size[0] / size[1];
}

static void begin_context(void)
{
    run_thread(current);
}

static void prepare_thread(Block *block, u32 number, u8 *local, u8 *stack)
{
    Thread *thread = block->threads + number;
    memset(thread, 0, sizeof *thread);
    thread->block = block;
    thread->number = number;
    thread->local = local;
    set_index(thread->index, number, block->size);
    memset(local, UNKNOWN, LOCAL_BYTES);
    if (stack) {
        getcontext(&thread->context);
        thread->context.uc_stack.ss_sp = stack;
        thread->context.uc_stack.ss_size = STACK_BYTES;
        thread->context.uc_link = &block->scheduler;
        makecontext(&thread->context, begin_context, 0);
    }
}

/* Threads run until they wait; when all do, those that have met go on. */
static void run_waiting_threads(Block *block, u32 *order, u64 *seed)
{
    int ready = 1;
    while (ready) {
        draw_order(order, block->count, seed);
        for (u32 i = 0; i < block->count; i++) {
            current = block->threads + order[i];
            if (current->state == READY)
                swapcontext(&block->scheduler, &current->context);
        }
        for (u32 first = 0; first < block->count; first += WARP)
            serve_warp(block->threads + first, block->count - first < WARP ? block->count - first : WARP);
        ready = 0;
        for (u32 i = 0; i < block->count; i++)
            ready |= block->threads[i].state == READY;
        ready = ready || serve_barrier(block);
    }
}

static void run_block(Block *block, u8 *local, size_t local_stride, u8 *stacks, u32 *order, u64 *seed)
{
    memset(block->shared, UNKNOWN, block->shared_bytes);
    if (stacks) {
        for (u32 i = 0; i < block->count; i++)
            prepare_thread(block, i, local + local_stride * i, stacks + STACK_BYTES * i);
        run_waiting_threads(block, order, seed);
        return;
    }
    draw_order(order, block->count, seed);
    for (u32 i = 0; i < block->count; i++) {
        prepare_thread(block, order[i], local, NULL);
        run_thread(block->threads + order[i]);
    }
}

/* The number of problems. Rooms are the memory that the kernel may use; `races` asks to look for races, too. */
long launch(u32 kernel, const u8 *parameters, const u32 grid[3], const u32 size[3], u64 dynamic_bytes, u64 seed,
            int races, const Room *given_rooms, u32 count_of_rooms)
{
    u32 threads = size[0] * size[1] * size[2], blocks = grid[0] * grid[1] * grid[2];
    size_t local_stride = (LOCAL_BYTES + 127) / 64 * 64;
    Block block = {.count = threads, .kernel = kernels[kernel], .parameters = parameters};
    block.shared_bytes = SHARED_BYTES + dynamic_bytes;
    block.shared = aligned_alloc(64, (block.shared_bytes + 127) / 64 * 64);
    block.threads = malloc(threads * sizeof *block.threads);
    memcpy(block.size, size, sizeof block.size);
    memcpy(block.grid, grid, sizeof block.grid);
    u8 *local = aligned_alloc(64, local_stride * (WAITS ? threads : 1)), *stacks = NULL;
    u32 *order = malloc(threads * sizeof *order), *block_order = malloc(blocks * sizeof *block_order);
    if (WAITS)
        stacks = mmap(NULL, STACK_BYTES * threads, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                      -1, 0);

    problem_count = 0;
    rooms = given_rooms;
    room_count = count_of_rooms;
    room_shadows = races ? malloc((room_count + 1) * sizeof *room_shadows) : NULL;
    for (u32 i = 0; races && i < room_count; i++)
        room_shadows[i] = new_shadow(rooms[i].bytes);

    draw_order(block_order, blocks, &seed);
    for (u32 i = 0; i < blocks; i++) {
        block.number = block_order[i];
        block.phase = 0;
        set_index(block.index, block.number, grid);
        block.shadow = races ? new_shadow(block.shared_bytes) : NULL;
        run_block(&block, local, local_stride, stacks, order, &seed);
        free(block.shadow);
    }

    for (u32 i = 0; races && i < room_count; i++)
        free(room_shadows[i]);
    free(room_shadows);
    if (stacks)
        munmap(stacks, STACK_BYTES * threads);
    free(block_order);
    free(order);
    free(local);
    free(block.threads);
    free(block.shared);
    return problem_count;
}

const char *problem(u32 number)
{
    return number < MOST_MESSAGES && number < problem_count ? messages[number] : NULL;
}

/* The variables of the module, ended by an empty one. */
const Room *module_rooms(void)
{
    return variables;
}
