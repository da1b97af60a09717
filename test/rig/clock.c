/*
 * Loaded into a process by LD_PRELOAD: its wall clock is off by the milliseconds in the file WAYBRIDGE_CLOCK (int64), which whoever
 * has that file may change at any time. Its monotonic clock is not changed. It allocates nothing, as it runs before Redis has memory.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *ahead_ms;

__attribute__((constructor)) static void open_clock(void) {
  const char *file = getenv("WAYBRIDGE_CLOCK");
  int descriptor = file ? open(file, O_RDONLY) : -1;
  if (descriptor < 0) return;
  void *page = mmap(NULL, sizeof *ahead_ms, PROT_READ, MAP_SHARED, descriptor, 0);
  if (page != MAP_FAILED) ahead_ms = page;
  close(descriptor);
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  int result = (int)syscall(SYS_clock_gettime, clock, at);
  if (result != 0 || !ahead_ms || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
  int64_t ns = at->tv_nsec + *ahead_ms % 1000 * 1000000;
  at->tv_sec += *ahead_ms / 1000 + (ns >= 1000000000) - (ns < 0);
  at->tv_nsec = (ns + 1000000000) % 1000000000;
  return 0;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *at) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}
