/*
 * Threads of our own for loops on cores that other processes use too (shared_cores.h); one team for
 * the process.
 *
 * A loop's ranges are handed out one by one. Its caller takes them as the threads do and waits at
 * the end only for those that somebody is in the middle of. So a thread that the kernel does not
 * run costs nothing unless it has begun a range, and where no thread comes the loop is the plain
 * loop. What took the caller less than 30 us before, by function and size, is left to it
 * alone: it would be over before the others are awake. Up to half a millisecond both ways are
 * tried, and the threads have to save a quarter of the time. While nobody else computes
 * (CoresCalm), threads wait for the next loop for some 100 us without sleeping, and a loop of 3 us
 * is shared out.
 *
 * Any number of threads may have loops at once, and a range may have loops itself. A process
 * without threads to spare computes on its callers.
 */
#ifndef MXNET_BASE_THREADS_THREAD_TEAM_H_
#define MXNET_BASE_THREADS_THREAD_TEAM_H_

#include <cstdint>

#include "mxnet/base.h"

namespace mxnet {

/* One range of a loop. Does not throw. */
using RangeFn = void (*)(const void* body, int range);

/*
 * Calls fn(body, k) once for each k in [0, ranges), in any order, on at most `ranges` threads, and
 * returns when all have ended. `kind`: loops of one kind take about the same time; 0: not known,
 * and worth the threads.
 */
MXNET_DLL void RunOnTeam(int ranges, uint64_t kind, RangeFn fn, const void* body);
/* The same with other threads, team(ranges, fn, body), and for loops that took their caller `alone`
 * nanoseconds or more. Returns whether they were called. */
using RunTeam = void (*)(int ranges, RangeFn fn, const void* body);
MXNET_DLL bool RunOnTeam(int ranges, uint64_t kind, RangeFn fn, const void* body, RunTeam team, int64_t alone);
/* What the first one has for `alone` now, and how often threads look for a loop before they
 * sleep. */
MXNET_DLL int64_t TeamAlone();
MXNET_DLL int TeamSpins();

/* Can `threads` threads be started now, with memory to spare (room.h)? */
bool ThreadsCanStart(int threads);

/* Around fork: the child has no team and makes one when it needs it. */
void TeamBeforeFork();
void TeamAfterFork(bool child);

}  // namespace mxnet
#endif  // MXNET_BASE_THREADS_THREAD_TEAM_H_
