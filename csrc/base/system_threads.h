/* SPDX-License-Identifier: MIT */
/*
 * All that base/threads.c needs of the system, by system_threads_posix.c, system_threads_windows.c or, where there are
 * no threads, as in WebAssembly, system_threads_none.c. Another system needs a file like these, and types here.
 */
#ifndef SBS_BASE_SYSTEM_THREADS_H
#define SBS_BASE_SYSTEM_THREADS_H

#include <stdint.h>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

typedef SRWLOCK sbs_mutex;
typedef CONDITION_VARIABLE sbs_condition;
typedef HANDLE sbs_thread;

#define SBS_MUTEX_INITIALIZER SRWLOCK_INIT
#define SBS_CONDITION_INITIALIZER CONDITION_VARIABLE_INIT
#elif defined(__wasm__)
/* Nothing to lock, wait for or end. */
typedef char sbs_mutex, sbs_condition, sbs_thread;

#define SBS_MUTEX_INITIALIZER 0
#define SBS_CONDITION_INITIALIZER 0
#else
#include <pthread.h>

typedef pthread_mutex_t sbs_mutex;
typedef pthread_cond_t sbs_condition;
typedef pthread_t sbs_thread;

#define SBS_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define SBS_CONDITION_INITIALIZER PTHREAD_COND_INITIALIZER

/*
 * Marks a function to be called when the library is unloaded or the process exits. There is none on Windows, which
 * calls such functions while it holds the loader's lock. A thread needs that lock to end, so waiting for one there
 * never ends; and when a process exits, its other threads have been killed before, with whatever they had locked. See
 * sbs_stay_loaded.
 */
#define SBS_AT_UNLOAD __attribute__((destructor))
#endif

void sbs_lock(sbs_mutex *mutex);
void sbs_unlock(sbs_mutex *mutex);
void sbs_wait(sbs_condition *condition, sbs_mutex *mutex);
void sbs_wake_one(sbs_condition *condition);
void sbs_wake_all(sbs_condition *condition);

/*
 * Where threads can't be ended when the library is unloaded, keeps it loaded until the process ends. Returns whether
 * threads may be started.
 */
int sbs_stay_loaded(void);

/* Starts a thread that receives the signals of its own faults alone. Returns whether it started. */
int sbs_start_thread(sbs_thread *thread, void (*run)(void));
void sbs_join_thread(sbs_thread thread);

/*
 * Registers functions to be called at each fork: before it, and after it in the parent and in the child. Returns
 * whether that worked.
 */
int sbs_watch_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));

/* The processors that this process may run on; at least 1. */
int sbs_count_processors(void);

/* A clock that never goes back, in nanoseconds. */
uint64_t sbs_now(void);

/* Tells the processor that this thread waits in a loop. */
static inline void sbs_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

#endif
