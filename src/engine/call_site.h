/* The place in the user's program that pushes work, for callers that the provider of engine.h
 * cannot see into: Python code that has handed the interpreter lock back, or that has no compiled
 * binding. */
#ifndef MXNET_ENGINE_CALL_SITE_H_
#define MXNET_ENGINE_CALL_SITE_H_

namespace mxnet {
namespace engine {

/* From now on this thread pushes for `site` ("train.py:12"), where the provider knows nothing
 * better; null or "" ends that. */
void MarkCallSite(const char* site);

}  // namespace engine
}  // namespace mxnet
#endif  // MXNET_ENGINE_CALL_SITE_H_
