/* SPDX-License-Identifier: MIT */
#include "base/threads.h"

#include <stdalign.h>
#include <stdatomic.h>

#include "base/float_mode.h"
#include "base/progress.h"
#include "base/system_threads.h"

enum {
  CACHE_LINE = 64,
  MOST_TEAMS = 16, /* calls that share work at the same time; any further call works alone */
  MOST_PARTS = 16,
  AWAKE = 30000 /* nanoseconds that threads stay awake: longer than the time between two parts of a frame */
};

/* ------------------------------------------------------------------------------------------------------- a team -- */

/*
 * The threads that work on one call. The chunks are divided into parts, one for each thread, so that in the next call a
 * thread gets the chunks that are still in its cache. A thread that has finished its own part helps with the others.
 */
typedef struct team {
  sbs_chunk_work *work;
  void *context;
  size_t count, chunk;
  int threads;
  int part_count;
  sbs_float_mode mode;
  const void *owner; /* the mark of the calling thread */
  atomic_int status; /* the first that was not SBS_OK */
  struct {
    alignas(CACHE_LINE) atomic_size_t next; /* chunk to take; none is left when it reaches the end */
    size_t end;
  } parts[MOST_PARTS];
} team;

/*
 * The state of each team is one word, so that a thread joins or leaves in one atomic step. The rest of a team is read
 * only by threads that have joined and by the owner.
 */
enum {
  INSIDE = 0x1ff, /* threads that have joined and not left, without the owner */
  TICKET = 0x200, /* each thread that joins takes one of these */
  TICKETS = 0x1ff * TICKET,
  TAKEN = 1 << 18,
  OPEN = 1 << 19,         /* for others to join */
  IS_WAITED_FOR = 1 << 20 /* by the owner, which sleeps */
};
_Static_assert((int)SBS_MOST_THREADS <= (int)INSIDE, "the number of threads does not fit");

static team teams[MOST_TEAMS];
static alignas(CACHE_LINE) atomic_uint states[MOST_TEAMS];
static _Thread_local char mark; /* its address tells threads apart */

static struct {
  sbs_mutex mutex; /* of all that follows; held only to count, to start threads, and to sleep */
  sbs_condition called, departed;
  sbs_thread threads[SBS_MOST_THREADS];
  atomic_int started;
  atomic_int asleep; /* threads that sleep and have not been called */
  int calls;         /* that no thread has answered yet */
  int may_start;
  atomic_int stopping;
} pool = {.mutex = SBS_MUTEX_INITIALIZER, .called = SBS_CONDITION_INITIALIZER, .departed = SBS_CONDITION_INITIALIZER};

static sbs_share deal(size_t count, size_t part, size_t parts) {
  const size_t each = count / parts, extra = count % parts; /* the first `extra` parts have one more */
  const size_t begin = part * each + (part < extra ? part : extra);
  return (sbs_share){begin, begin + each + (part < extra)};
}

/* Worker 0, the calling thread, also reports progress. The others are about as far with their parts. */
static sbs_status work_on_chunk(sbs_chunk_work *work, void *context, size_t count, size_t chunk, size_t number,
                                int worker) {
  const size_t begin = number * chunk, end = count - begin > chunk ? begin + chunk : count;
  const sbs_status status = work(context, (sbs_share){begin, end}, worker);
  return status || worker ? status : sbs_tell((double)end / (double)count);
}

static void work_on(team *t, int worker) {
  for (int i = 0; i < t->part_count; i++) {
    const int part = (worker + i) % t->part_count;
    while (!atomic_load_explicit(&t->status, memory_order_relaxed)) {
      if (worker && atomic_load_explicit(&pool.stopping, memory_order_relaxed)) return;
      const size_t end = t->parts[part].end;
      if (atomic_load_explicit(&t->parts[part].next, memory_order_relaxed) >= end) break;
      const size_t number = atomic_fetch_add_explicit(&t->parts[part].next, 1, memory_order_relaxed);
      if (number >= end) break;
      const sbs_status status = work_on_chunk(t->work, t->context, t->count, t->chunk, number, worker);
      int none = SBS_OK;
      if (status) atomic_compare_exchange_strong(&t->status, &none, (int)status);
    }
  }
}

/* --------------------------------------------------------------------------------------- the threads of the pool -- */

/* Whether there is something to join. */
static int is_wanted(void) {
  for (int i = 0; i < MOST_TEAMS; i++) {
    const unsigned state = atomic_load(states + i);
    if (state & OPEN && state & TICKETS) return 1;
  }
  return 0;
}

static void leave(int number) {
  const unsigned before = atomic_fetch_sub(states + number, 1);
  if ((before & INSIDE) > 1 || !(before & IS_WAITED_FOR)) return;
  sbs_lock(&pool.mutex);
  sbs_unlock(&pool.mutex); /* the owner is not between its look at the state and its sleep */
  sbs_wake_all(&pool.departed);
}

static void work_on_what_is_open(void) {
  for (int i = 0; i < MOST_TEAMS; i++) {
    unsigned state = atomic_load(states + i);
    while (state & OPEN && state & TICKETS) {
      if (!atomic_compare_exchange_weak(states + i, &state, state - TICKET + 1)) continue;
      team *t = teams + i;
      sbs_set_float_mode(t->mode);
      work_on(t, t->threads - (int)((state & TICKETS) / TICKET));
      leave(i);
      break;
    }
  }
}

static int is_wanted_soon(void) {
  const uint64_t start = sbs_now();
  do {
    for (int i = 0; i < 16; i++) {
      if (is_wanted()) return 1;
      sbs_pause();
    }
  } while (sbs_now() - start < AWAKE && !atomic_load(&pool.stopping));
  return 0;
}

/*
 * Sleeps until called. A caller first opens its team and then looks for sleepers; a thread first counts itself as
 * asleep and then looks for open teams. So at least one of them sees the other.
 */
static void fall_asleep(void) {
  sbs_lock(&pool.mutex);
  atomic_fetch_add(&pool.asleep, 1);
  if (is_wanted()) {
    atomic_fetch_sub(&pool.asleep, 1);
  } else {
    while (!pool.calls && !atomic_load(&pool.stopping)) sbs_wait(&pool.called, &pool.mutex);
    if (pool.calls) pool.calls--;
  }
  sbs_unlock(&pool.mutex);
}

static void run_thread(void) {
  while (!atomic_load(&pool.stopping)) {
    work_on_what_is_open();
    if (!is_wanted_soon()) fall_asleep();
  }
}

static void call(int wanted) {
  if (!atomic_load(&pool.asleep)) return;
  sbs_lock(&pool.mutex);
  const int asleep = atomic_load(&pool.asleep), called = asleep < wanted ? asleep : wanted;
  atomic_fetch_sub(&pool.asleep, called);
  pool.calls += called;
  sbs_unlock(&pool.mutex);
  for (int i = 0; i < called; i++) sbs_wake_one(&pool.called);
}

/* ---------------------------------------------------------------------------------------------- start, fork, end -- */

static void before_fork(void) {
  sbs_lock(&pool.mutex);
}

static void after_fork(void) {
  sbs_unlock(&pool.mutex);
}

/* In the child no thread exists but this one, and work that others had begun will never be finished. */
static void in_child_of_fork(void) {
  pool.mutex = (sbs_mutex)SBS_MUTEX_INITIALIZER;
  pool.called = pool.departed = (sbs_condition)SBS_CONDITION_INITIALIZER;
  atomic_store(&pool.started, 0);
  atomic_store(&pool.asleep, 0);
  pool.calls = 0;
  for (int i = 0; i < MOST_TEAMS; i++) {
    const unsigned state = atomic_load(states + i);
    const int own = state & TAKEN && teams[i].owner == &mark; /* the fork was called from within this team's work */
    if (own && state & INSIDE) atomic_store(&teams[i].status, SBS_ERROR_CANCELLED);
    atomic_store(states + i, own ? TAKEN : 0u);
  }
}

/* Starts as many threads as possible, up to those wanted. Returns whether there are any. */
static int have_threads(int wanted) {
  if (atomic_load(&pool.started) >= wanted) return 1;
  sbs_lock(&pool.mutex);
  if (!pool.may_start) pool.may_start = sbs_stay_loaded() && sbs_watch_forks(before_fork, after_fork, in_child_of_fork);
  int started = atomic_load(&pool.started);
  const int may_start = pool.may_start && !atomic_load(&pool.stopping);
  while (may_start && started < wanted && sbs_start_thread(pool.threads + started, run_thread)) started++;
  atomic_store(&pool.started, started);
  sbs_unlock(&pool.mutex);
  return started > 0;
}

#ifdef SBS_AT_UNLOAD
/* The code of the threads is unloaded with the library. Calls in progress on other threads end without them. */
SBS_AT_UNLOAD static void stop_threads(void) {
  sbs_lock(&pool.mutex);
  atomic_store(&pool.stopping, 1);
  sbs_unlock(&pool.mutex);
  sbs_wake_all(&pool.called);
  for (int i = 0; i < atomic_load(&pool.started); i++) sbs_join_thread(pool.threads[i]);
  atomic_store(&pool.started, 0);
}
#endif

/* -------------------------------------------------------------------------------------------- the calling thread -- */

/* Takes a free team for this thread and returns its number; -1 if there is none. */
static int take_team(void) {
  for (int i = 0; i < MOST_TEAMS; i++) {
    unsigned state = atomic_load_explicit(states + i, memory_order_relaxed);
    if (!state && atomic_compare_exchange_strong(states + i, &state, TAKEN)) return i;
  }
  return -1;
}

static void open_team(int number, int threads, size_t count, size_t chunk, size_t chunk_count, sbs_chunk_work *work,
                      void *context) {
  team *t = teams + number;
  t->work = work;
  t->context = context;
  t->count = count;
  t->chunk = chunk;
  t->threads = threads;
  t->part_count = threads < MOST_PARTS ? threads : MOST_PARTS;
  t->mode = sbs_get_float_mode();
  t->owner = &mark;
  atomic_store_explicit(&t->status, SBS_OK, memory_order_relaxed);
  for (int part = 0; part < t->part_count; part++) {
    const sbs_share chunks = deal(chunk_count, (size_t)part, (size_t)t->part_count);
    atomic_store_explicit(&t->parts[part].next, chunks.begin, memory_order_relaxed);
    t->parts[part].end = chunks.end;
  }
  atomic_store(states + number, TAKEN | OPEN | (unsigned)(threads - 1) * TICKET);
}

/* Lets no more threads join, and waits for the others. */
static sbs_status close_team(int number) {
  atomic_uint *state = states + number;
  unsigned inside = atomic_fetch_and(state, ~(unsigned)(OPEN | TICKETS)) & INSIDE;
  for (uint64_t start = inside ? sbs_now() : 0; inside && sbs_now() - start < AWAKE;) {
    for (int i = 0; i < 16 && (inside = atomic_load(state) & INSIDE); i++) sbs_pause();
  }
  if (inside) {
    sbs_lock(&pool.mutex);
    atomic_fetch_or(state, IS_WAITED_FOR);
    while (atomic_load(state) & INSIDE) sbs_wait(&pool.departed, &pool.mutex);
    sbs_unlock(&pool.mutex);
  }
  teams[number].owner = NULL;
  const sbs_status status = (sbs_status)atomic_load(&teams[number].status);
  atomic_store(state, 0);
  return status;
}

static sbs_status work_alone(size_t count, size_t chunk, size_t chunk_count, sbs_chunk_work *work, void *context) {
  sbs_status status = SBS_OK;
  for (size_t i = 0; i < chunk_count && !status; i++) status = work_on_chunk(work, context, count, chunk, i, 0);
  return status;
}

sbs_status sbs_share_work(int threads, size_t count, size_t chunk, sbs_chunk_work *work, void *context) {
  const size_t chunk_count = count / chunk + (count % chunk != 0);
  if (threads > SBS_MOST_THREADS) threads = SBS_MOST_THREADS;
  if ((size_t)(threads > 0 ? threads : 1) > chunk_count) threads = (int)chunk_count;
  const int number = threads > 1 && have_threads(threads - 1) ? take_team() : -1;
  if (number < 0) return work_alone(count, chunk, chunk_count, work, context);
  open_team(number, threads, count, chunk, chunk_count, work, context);
  call(threads - 1);
  work_on(teams + number, 0);
  return close_team(number);
}
