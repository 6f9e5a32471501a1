/*
 * What is still under way on a device's streams, and who has to wait for it.
 *
 * An operation on a GPU worker is complete for the engine when its kernels are queued on the worker's stream. An event behind them stays with the
 * variables that it used (VarWork). Whoever comes next waits for that event: another stream by itself, the host (operators on the CPU, WaitForVar,
 * deletions) by blocking, work on the same stream not at all.
 */
#ifndef MXNET_ENGINE_DEVICE_WORK_H_
#define MXNET_ENGINE_DEVICE_WORK_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/stream.h"

namespace mxnet {

class Var;

namespace engine {

/* The end of one operation on a stream. */
struct DeviceWork {
  DeviceWork(const StreamHooks* h, void* s, void* e, const char* n, const std::string& where);
  ~DeviceWork() { hooks->release(event); }
  DeviceWork(const DeviceWork&) = delete;
  DeviceWork& operator=(const DeviceWork&) = delete;

  /* Over, without a fault. Does not wait. */
  bool Passed();
  /* Waits on the host. Throws Error with the operator's name on a device fault, at every call. */
  void Finish();

  const StreamHooks* const hooks;
  void* const stream;
  void* const event;
  const uint64_t order;              // of works on one stream, the later one has the larger number
  const char* const name;
  const std::string site;
  std::atomic<bool> passed{false};
  std::atomic<bool> raised{false};   // its fault has been shown to the program
};
using DeviceWorkPtr = std::shared_ptr<DeviceWork>;

/* What is under way on one variable. Writers wait for all of it, readers for `write`. */
struct VarWork {
  DeviceWorkPtr write;
  std::vector<DeviceWorkPtr> reads;   // one of each stream
};

/* Adds `work` unless a later one of its stream is there already; drops an earlier one. */
void AddLater(std::vector<DeviceWorkPtr>* list, const DeviceWorkPtr& work);
/* Waits until what was pushed on `var` is complete for the engine, its readers too, and returns what devices still have to do. Raises as WaitForVar does, but for faults to come. */
std::vector<DeviceWorkPtr> WorkOf(Var* var);
/* What a deletion that runs on this thread finds under way on its variable; empty outside deletions. */
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
/* Makes those who write `var` wait for `work`, which may still use its memory; what was pushed before need not. */
void BeginBehind(Var* var, const std::vector<DeviceWorkPtr>& work);

}  // namespace engine
}  // namespace mxnet
#endif  // MXNET_ENGINE_DEVICE_WORK_H_
