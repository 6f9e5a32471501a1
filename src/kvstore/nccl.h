/* What the store of type nccl asks of NVIDIA's library. */
#ifndef MXNET_KVSTORE_NCCL_H_
#define MXNET_KVSTORE_NCCL_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "mxnet/run_context.h"

namespace mxnet {
namespace nccl {

/* One operation of all devices of a clique; what is said of devices is in their order. */
struct Call {
  enum Kind { kReduce, kBroadcast, kAllReduce };  // sums
  Kind kind;
  int root;       // of a reduction or broadcast: number of a device in the clique
  int64_t count;  // elements
  int dtype;
  std::vector<const void*> in;  // of a broadcast only the root's counts
  std::vector<void*> out;       // of a reduction only the root's counts
};

/* Groups of one GPU of each of several processes. All processes call these for a group in the same
 * order, each on one thread. All but `missing` throw Error. */
struct Joined {
  /* What the opened library lacks for it, or an empty text. */
  std::string (*missing)();
  /* Of a device: no other of any process has it. No two in a group may be the same. */
  std::string (*identity)(int device);
  /* The identity of a new group, which its member 0 makes and gives to the others. */
  std::string (*new_group)();
  /* Returns when all members have called it. Kept until the process ends. When `lost` becomes true,
   * this and what comes after ends with an error soon. */
  void* (*join)(const std::string& group, int device, int number, int size, const std::atomic<bool>* lost);
  /* data = its sum over the members. Returns before that is so. */
  void (*add)(void* group, void* data, int64_t count, int dtype);
  /* Returns when all sums are made. */
  void (*finish)(void* group);
};

/* A part of the GPU's interface (base/device/device_interface.h). */
struct Library {
  /* Finds and opens the library. Returns what is missing, or an empty text. */
  std::string (*open)();
  /* The clique of these devices (two or more, each once, in rising order): made when first asked
   * for, kept until the process ends. Throws Error. */
  void* (*clique)(const std::vector<int>& devices);
  /*
   * Puts the calls on all devices of a clique, behind what is on run.stream (a stream of its first
   * device) and in front of what comes to it. Cliques share a stream on each device, and a lock
   * keeps everybody's operations in one order. Throws Error, after which the clique is of no use
   * any more.
   */
  void (*run)(void* clique, const std::vector<Call>& calls, const RunContext& run);
  /* How fast copies between two devices are, relative to those between others; 0: they go through
   * the host's memory. The driver tells, so it is the same every time. Null: nobody knows. */
  double (*link)(int device, int other) = nullptr;
  const Joined* joined = nullptr;
};

/* Whether the library adds numbers of this type up. */
bool Takes(int dtype);

}  // namespace nccl
}  // namespace mxnet
#endif  // MXNET_KVSTORE_NCCL_H_
