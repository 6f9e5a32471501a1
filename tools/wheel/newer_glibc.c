/* What our objects and GCC 12's libstdc++.a call and glibc 2.28 has not, added to the part of the C
 * library that is linked statically (tools/wheel/sysroot.py). */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Since 2.32: whether the process has one thread. "No" is always safe. */
HIDDEN char __libc_single_threaded = 0;

/* Since 2.36, for std::random_device. */
HIDDEN uint32_t arc4random(void) {
  uint32_t value;
  if (getentropy(&value, sizeof(value)) != 0) abort();
  return value;
}

/* Since 2.30, for std::condition_variable: waits until a time of `clock`. Here the rest of that
 * time is added to the clock of the day, as libstdc++ does where the function is absent. Who is
 * woken early because that clock was set looks at its own clock and waits again. */
HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  struct timespec now, day;
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &day);
  day.tv_sec += until->tv_sec - now.tv_sec;
  day.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (day.tv_nsec < 0) day.tv_nsec += 1000000000, --day.tv_sec;
  if (day.tv_nsec >= 1000000000) day.tv_nsec -= 1000000000, ++day.tv_sec;
  if (day.tv_sec < 0) day.tv_sec = day.tv_nsec = 0;
  return pthread_cond_timedwait(condition, mutex, &day);
}
