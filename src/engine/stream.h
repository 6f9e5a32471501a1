/*
 * What the engine needs from a device runtime. The table is null in a CPU build; linking
 * stream_cuda.cc registers the CUDA one, and tests register a recording one. An operation for a GPU
 * is refused with an error while it is null.
 */
#ifndef MXNET_ENGINE_STREAM_H_
#define MXNET_ENGINE_STREAM_H_

namespace mxnet {
namespace engine {

struct StreamHooks {
  /* Makes `dev_id` current on the calling thread. Throws Error when there is no such device. */
  void (*set_device)(int dev_id);
  /* A stream of the current device that does not wait for the default stream. `high_priority`: for
   * priority pools. */
  void* (*create)(bool high_priority);
  void (*destroy)(void* stream);
  /* Returns when the stream's work is done; throws Error on a device fault. */
  void (*synchronize)(void* stream);
  /*
   * Events; all of them null where there are none, and the host then waits behind every operation.
   * `record` needs the stream's device current and returns an event behind all that is on the
   * stream; `wait` lets the stream (of any device) go on when the event has passed; `passed` and
   * `finish` may be called on every thread and throw Error on a device fault; `release` gives the
   * event back at any time and never throws.
   */
  void* (*record)(void* stream) = nullptr;
  void (*wait)(void* stream, void* event) = nullptr;
  bool (*passed)(void* event) = nullptr;
  void (*finish)(void* event) = nullptr;
  void (*release)(void* event) = nullptr;
  /*
   * The same for streams of other libraries on device `dev_id`, where there are events: a
   * cudaStream_t, or DLPack's 1 and 2 for the legacy and the per-thread default stream. On any
   * thread, which keeps its current device.
   */
  void* (*record_on)(int dev_id, void* stream) = nullptr;
  void (*wait_on)(int dev_id, void* stream, void* event) = nullptr;
  /*
   * Times; null where there are none. `mark_time` is `record` with an event that also keeps when
   * the device came to it (which costs more); `elapsed` gives the nanoseconds between two of them
   * on one device that have passed. Neither while the stream is captured.
   */
  void* (*mark_time)(void* stream) = nullptr;
  double (*elapsed)(void* from, void* to) = nullptr;
};

const StreamHooks* GetStreamHooks();
void SetStreamHooks(const StreamHooks* hooks);  // `hooks` must stay valid

}  // namespace engine
}  // namespace mxnet
#endif  // MXNET_ENGINE_STREAM_H_
