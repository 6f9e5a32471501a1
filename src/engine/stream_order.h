/* Work of one operator on two streams (MXNET_GPU_WORKER_NSTREAMS=2). */
#ifndef MXNET_ENGINE_STREAM_ORDER_H_
#define MXNET_ENGINE_STREAM_ORDER_H_

#include "mxnet/run_context.h"

namespace mxnet {
namespace engine {

/*
 * A second stream beside run.stream, from its making to Join or its end. What is put on it comes
 * after what was on run.stream before, and before what comes to run.stream afterwards. Without a
 * second stream, or without StreamHooks::order, run() is the first.
 */
class SideStream {
 public:
  SideStream(const RunContext& run, bool wanted);
  ~SideStream();
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;
  const RunContext& run() const { return side_; }
  void Join();

 private:
  void* main_ = nullptr;
  bool split_ = false;
  RunContext side_;
};

}  // namespace engine
}  // namespace mxnet
#endif  // MXNET_ENGINE_STREAM_ORDER_H_
