/* A pool of threads that share out numbered tasks.
 *
 * Why not OpenMP: its regions end in a barrier that waits for every thread, even one that the system has not
 * let run yet. Training and detection are made of millisecond regions, and on a machine that does something
 * else besides, that barrier made two threads several times slower than one. Here whoever is awake takes the
 * next task, the caller included, and a region ends when its tasks are done, so a late helper costs nothing.
 * Also it needs no compiler flag, and survives fork().
 *
 * Tasks write to places of their own, so it does not matter who does which. One region runs at a time; a second
 * thread of the program that comes meanwhile does its tasks by itself.
 */
#ifndef CASCADE_POOL_H
#define CASCADE_POOL_H

#include <stdint.h>

typedef void (*pool_task)(void *job, int64_t index);

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>

enum { POOL_MOST = 64, POOL_PATIENCE = 20000 }; /* turns of a short wait before sleeping: some 0.2 ms */

#if defined(__x86_64__) || defined(__i386__)
#define POOL_PAUSE() __builtin_ia32_pause()
#else
#define POOL_PAUSE() ((void)0)
#endif

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    int started;             /* threads that exist */
    int busy;                /* a region is running */
    int active;              /* helpers that are in it */
    int wanted;              /* helpers that may still join it */
    pool_task task;
    void *job;
    int members; /* who shares the tasks out: the caller is number 0 */
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, 0, 0, 0, 0};

/* Everyone has a range of tasks, so that the same thread meets the same memory in the next region, and takes
 * from the others' ranges when done with it. Each counter has a cache line of its own. */
static struct {
    int64_t next, end;
    char rest[112];
} pool_range[POOL_MOST];

static void pool_work(pool_task task, void *job, int member, int members) {
    for (int i = 0; i < members; i++) {
        const int owner = (member + i) % members;
        const int64_t end = pool_range[owner].end;
        for (;;) {
            const int64_t index = __atomic_fetch_add(&pool_range[owner].next, 1, __ATOMIC_RELAXED);
            if (index >= end) break;
            task(job, index);
        }
    }
}

/* Regions follow each other closely and waking a sleeper takes long: wait a little with open eyes, until
 * *count is zero (or is not, if `until` is 1). */
static void pool_linger(const int *count, int until) {
    for (int turn = 0; turn < POOL_PATIENCE; turn++) {
        if (!!__atomic_load_n(count, __ATOMIC_ACQUIRE) == until) return;
        POOL_PAUSE();
    }
}

static void *pool_helper(void *unused) {
    (void)unused;
    for (;;) {
        pool_linger(&pool.wanted, 1);
        pthread_mutex_lock(&pool.lock);
        while (!pool.wanted) pthread_cond_wait(&pool.wake, &pool.lock);
        const int member = __atomic_fetch_sub(&pool.wanted, 1, __ATOMIC_RELEASE);
        __atomic_add_fetch(&pool.active, 1, __ATOMIC_RELEASE);
        const pool_task task = pool.task;
        void *const job = pool.job;
        const int members = pool.members;
        pthread_mutex_unlock(&pool.lock);
        pool_work(task, job, member, members);
        pthread_mutex_lock(&pool.lock);
        if (!__atomic_sub_fetch(&pool.active, 1, __ATOMIC_RELEASE)) pthread_cond_signal(&pool.done);
        pthread_mutex_unlock(&pool.lock);
    }
    return 0;
}

static void pool_forked(void) { /* the helpers are not there in a child process */
    const pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    pool.lock = lock;
    pool.wake = pool.done = cond;
    pool.started = pool.busy = pool.active = pool.wanted = 0;
}

static int pool_grow(int helpers) { /* with the lock held; how many there are, up to those wanted */
    static int registered = 0;
    if (!registered) registered = !pthread_atfork(0, 0, pool_forked);
    while (pool.started < helpers) {
        pthread_t thread;
        if (pthread_create(&thread, 0, pool_helper, 0)) break;
        pthread_detach(thread);
        pool.started++;
    }
    return pool.started < helpers ? pool.started : helpers;
}

static void pool_run(pool_task task, void *job, int64_t start, int64_t end, int threads) {
    int helpers = (threads < POOL_MOST ? threads : POOL_MOST) - 1;
    if (helpers > end - start - 1) helpers = (int)(end - start - 1);
    int mine = 0; /* the pool is this region's */
    if (helpers > 0) {
        pthread_mutex_lock(&pool.lock);
        if (!pool.busy) {
            mine = pool.busy = 1;
            pool.task = task;
            pool.job = job;
            helpers = pool_grow(helpers);
            pool.members = helpers + 1;
            for (int i = 0; i <= helpers; i++) {
                pool_range[i].next = start + (end - start) * i / (helpers + 1);
                pool_range[i].end = start + (end - start) * (i + 1) / (helpers + 1);
            }
            __atomic_store_n(&pool.wanted, helpers, __ATOMIC_RELEASE);
            pthread_cond_broadcast(&pool.wake);
        }
        pthread_mutex_unlock(&pool.lock);
    }
    if (!mine) {
        for (int64_t index = start; index < end; index++) task(job, index);
        return;
    }
    pool_work(task, job, 0, pool.members);
    pthread_mutex_lock(&pool.lock);
    __atomic_store_n(&pool.wanted, 0, __ATOMIC_RELEASE); /* who has not come by now need not */
    pthread_mutex_unlock(&pool.lock);
    pool_linger(&pool.active, 0);
    pthread_mutex_lock(&pool.lock);
    while (pool.active) pthread_cond_wait(&pool.done, &pool.lock);
    pool.busy = 0;
    pthread_mutex_unlock(&pool.lock);
}

#else
static void pool_run(pool_task task, void *job, int64_t start, int64_t end, int threads) {
    (void)threads;
    for (int64_t index = start; index < end; index++) task(job, index);
}
#endif

#endif
