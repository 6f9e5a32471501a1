/* For what may wait for a device as a whole. */
#ifndef MXNET_BASE_THREADS_COLLECTIVE_LAUNCH_H_
#define MXNET_BASE_THREADS_COLLECTIVE_LAUNCH_H_

#include "base/threads/fork_guard.h"

namespace mxnet {

/*
 * The kernels of one collective operation wait for one another on their devices. A call that waits
 * for a device (allocating and freeing memory, loading kernels) and comes between their launches
 * would wait for ever, and hold up the launches that are still to come. Who launches takes this
 * lock, and so does who makes such a call; nobody waits for a stream, an event or another lock of
 * higher modules with it held.
 */
ForkMutex& CollectiveLaunchMutex();

}  // namespace mxnet
#endif  // MXNET_BASE_THREADS_COLLECTIVE_LAUNCH_H_
