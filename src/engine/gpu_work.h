/*
 * What is still under way on a device's streams, and who has to wait for it.
 *
 * An operation on a GPU worker is complete for the engine when its kernels are queued on the
 * worker's stream. Its end (DeviceWork) stays with the variables that it used (VarWork). Whoever
 * comes next waits for it: another stream by itself, the host (operators on the CPU, WaitForVar,
 * deletions) by blocking, work on the same stream not at all.
 *
 * An event for each operation would cost as much as a small kernel's launch, and most ends are
 * never asked about. So a stream records one now and then (StreamClock), and one at once for who
 * has to wait and finds none. An event is behind all that was on its stream when it was recorded:
 * it stands for every end up to its `upto`.
 */
#ifndef MXNET_ENGINE_GPU_WORK_H_
#define MXNET_ENGINE_GPU_WORK_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/device/device_interface.h"

namespace mxnet {

class Var;

namespace engine {

/* A recorded event. */
struct EventMark {
  EventMark(const StreamHooks* h, void* e, uint64_t u) : hooks(h), event(e), upto(u) {}
  ~EventMark() { hooks->release(event); }
  EventMark(const EventMark&) = delete;
  EventMark& operator=(const EventMark&) = delete;
  const StreamHooks* const hooks;
  void* const event;
  const uint64_t upto;  // stands for the works of its stream up to this order
};
using EventMarkPtr = std::shared_ptr<EventMark>;

struct StreamClock;  // gpu_streams.cc

/* The end of one operation on a stream. */
class DeviceWork {
 public:
  /* With an event of its own, which it gives back. */
  DeviceWork(const StreamHooks* h, void* s, void* e, const char* n, const std::string& where);
  /* For EndOnStream. */
  DeviceWork(std::shared_ptr<StreamClock> c, void* s, uint64_t o, const char* n, const std::string& where);
  DeviceWork(const DeviceWork&) = delete;
  DeviceWork& operator=(const DeviceWork&) = delete;

  /* Over, without a fault, as far as recorded events tell: false also where none is behind it yet.
   * Does not wait. */
  bool Passed();
  /* Waits on the host. Throws Error with the operator's name on a device fault, at every call. */
  void Finish();
  /* Has `other`, a stream of the engine, wait. */
  void Precede(void* other);
  /* Has a stream of another library on device `dev_id` wait. */
  void PrecedeOn(int dev_id, void* other);

  void* const stream;
  const uint64_t order;  // of works on one stream, the later one has the larger number
  const char* const name;
  const std::string site;
  std::atomic<bool> passed{false};
  std::atomic<bool> raised{false};  // its fault has been shown to the program

 private:
  /* The first event behind it; null when it has passed, or (unless `make`) when there is none. */
  EventMarkPtr Mark(bool make);

  const std::shared_ptr<StreamClock> clock_;  // null: `own_` is there
  const EventMarkPtr own_;
};
using DeviceWorkPtr = std::shared_ptr<DeviceWork>;

/* What is under way on one variable. Writers wait for all of it, readers for `write` and
 * `outside`. */
struct VarWork {
  DeviceWorkPtr write;
  DeviceWorkPtr outside;             // of other libraries that had the memory; our writes leave it here until it has passed
  std::vector<DeviceWorkPtr> reads;  // one of each stream
};

/* Adds `work` unless a later one of its stream is there already; drops an earlier one. */
void AddLater(std::vector<DeviceWorkPtr>* list, const DeviceWorkPtr& work);
/* Waits until what was pushed on `var` is complete for the engine, its readers too, and returns
 * what devices still have to do. Raises as WaitForVar does, but for faults to come. */
std::vector<DeviceWorkPtr> WorkOf(Var* var);
/* What a deletion that runs on this thread finds under way on its variable; empty outside
 * deletions. */
const std::vector<DeviceWorkPtr>& WorkOfDeletion();
/* There has been some in this process: spares processes without a device the question. */
extern std::atomic<bool> any_device_work;
class DeletionScope {
 public:
  explicit DeletionScope(const std::vector<DeviceWorkPtr>* work);
  ~DeletionScope();

 private:
  const std::vector<DeviceWorkPtr>* const before_;
};
/* Makes those who write `var` wait for `work`, which may still use its memory; what was pushed
 * before need not. */
void BeginBehind(Var* var, const std::vector<DeviceWorkPtr>& work);
/* Makes those who read or write `var` from now on wait for `work` of another library, which may
 * write its memory. */
void UseBehind(Var* var, const DeviceWorkPtr& work);

}  // namespace engine
}  // namespace mxnet
#endif  // MXNET_ENGINE_GPU_WORK_H_
