/* Functions that wait for others, of their kind (operator/record/meeting.h) or in graphs that they
 * hold (operator/runtime/call_states.h): none may hold a worker that another one needs. */
#ifndef MXNET_IMPERATIVE_OWN_THREAD_H_
#define MXNET_IMPERATIVE_OWN_THREAD_H_

#include <vector>

#include "mxnet/engine.h"

namespace mxnet {

/* As Engine::PushSync, but when its turn has come `fn` runs on a thread of its own, which on a GPU
 * also waits for what `fn` has put on its stream. */
void PushOnOwnThread(Engine::SyncFn fn, Context ctx, std::vector<Var*> reads, std::vector<Var*> writes, const char* name);

}  // namespace mxnet
#endif  // MXNET_IMPERATIVE_OWN_THREAD_H_
