/* Functions that wait for others of their kind (operator/meeting.h): none may hold a worker that
 * another one needs. */
#ifndef MXNET_IMPERATIVE_OWN_THREAD_H_
#define MXNET_IMPERATIVE_OWN_THREAD_H_

#include <vector>

#include "mxnet/engine.h"

namespace mxnet {

/* As Engine::PushSync, but when its turn has come `fn` runs on a thread of its own. For the CPU: on
 * GPUs each device has workers of its own. */
void PushOnOwnThread(Engine::SyncFn fn, Context ctx, std::vector<Var*> reads, std::vector<Var*> writes, const char* name);

}  // namespace mxnet
#endif  // MXNET_IMPERATIVE_OWN_THREAD_H_
