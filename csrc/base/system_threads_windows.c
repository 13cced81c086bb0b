/* SPDX-License-Identifier: MIT */
#include "base/system_threads.h"

#include <process.h>

void sbs_lock(sbs_mutex *mutex) {
  AcquireSRWLockExclusive(mutex);
}

void sbs_unlock(sbs_mutex *mutex) {
  ReleaseSRWLockExclusive(mutex);
}

void sbs_wait(sbs_condition *condition, sbs_mutex *mutex) {
  SleepConditionVariableSRW(condition, mutex, INFINITE, 0);
}

void sbs_wake_one(sbs_condition *condition) {
  WakeConditionVariable(condition);
}

void sbs_wake_all(sbs_condition *condition) {
  WakeAllConditionVariable(condition);
}

/* By the address of something of it; that of a program, into which the library may be linked, is none too many. */
int sbs_stay_loaded(void) {
  static const char inside;
  HMODULE module;
  const DWORD how = GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
  return GetModuleHandleExW(how, (LPCWSTR)(const void *)&inside, &module) != 0;
}

static unsigned __stdcall call(void *run) {
  void (*function)(void);
  *(void **)&function = run;
  function();
  return 0;
}

/* By the C library, which has things of each thread to look after. There are no signals to keep away. */
int sbs_start_thread(sbs_thread *thread, void (*run)(void)) {
  const uintptr_t handle = _beginthreadex(NULL, 0, call, *(void **)&run, 0, NULL);
  *thread = (HANDLE)handle; /* NULL if it could not */
  return handle != 0;
}

void sbs_join_thread(sbs_thread thread) {
  WaitForSingleObject(thread, INFINITE);
  CloseHandle(thread);
}

/* There are none. */
int sbs_watch_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
  (void)before;
  (void)in_parent;
  (void)in_child;
  return 1;
}

/* A process that runs in several groups of processors has no mask, and may have them all. */
int sbs_count_processors(void) {
  DWORD_PTR own = 0, system = 0;
  int count = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &own, &system) && own) {
    for (; own; own &= own - 1) count++;
  } else {
    count = (int)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
  }
  return count < 1 ? 1 : count;
}

uint64_t sbs_now(void) {
  LARGE_INTEGER count, each_second; /* the second never changes, and costs no more than to keep it */
  QueryPerformanceCounter(&count);
  QueryPerformanceFrequency(&each_second);
  const uint64_t ticks = (uint64_t)count.QuadPart, rate = (uint64_t)each_second.QuadPart;
  return ticks / rate * 1000000000u + ticks % rate * 1000000000u / rate;
}
