/*
 * CUDA graphs of a plan's nodes: a phase runs as a few captured segments with what cannot be
 * captured between them. Everything that is decided (segments, keys, when to capture, logs, names
 * of files) is here, in every build; what a device does stands behind CaptureHooks
 * (cuda_graphs_cuda.cc).
 */
#ifndef MXNET_EXECUTOR_PLAN_CUDA_GRAPHS_H_
#define MXNET_EXECUTOR_PLAN_CUDA_GRAPHS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mxnet/run_context.h"

namespace mxnet {

class RandomState;

/* A part of the GPU's interface (base/device/device_interface.h). All throw Error on a device's
 * refusal, but for abandon and destroy. */
struct CaptureHooks {
  void (*begin)(void* stream);    // from here on, the stream records what this thread pushes
  void* (*finish)(void* stream);  // what was recorded, ready for launches; capturing has ended also when it throws
  void (*abandon)(void* stream);  // ends capturing and forgets it
  void (*launch)(void* graph, void* stream);
  void (*destroy)(void* graph);
  size_t (*nodes)(void* graph);                                    // kernels, copies, fills
  void (*print)(void* graph, const std::string& path, int flags);  // a .dot file; flags -1: everything
};

/* PREFIX-devN-trn.ID.dot or PREFIX-devN-inf.ID.dot */
std::string GraphFileName(const std::string& prefix, int dev_id, bool is_train, uint64_t id);

/* The graphs of one plan instance; used by one thread at a time. */
class DeviceGraphs {
 public:
  using Key = std::vector<const void*>;
  struct Work {
    RunContext context;
    /* Puts a node on the stream; false: it did what a graph cannot repeat, as run.capture tells. */
    std::function<bool(int node, const RunContext& run)> run;
    std::function<void(int begin, int end, Key* key)> addresses;  // what nodes [begin, end) read and write
    std::function<std::string(int node)> name;
    /* With nodes that draw random numbers: where those come from, and what says to the graphs'
     * kernels (through `draws`) where the next launch begins. */
    RandomState* random = nullptr;
    const uint64_t* draws = nullptr;                                   // in the device's memory; known to graphs, so always the same
    std::function<void(uint64_t seed, uint64_t counter)> begin_draws;  // writes there, on the stream
  };
  DeviceGraphs(int num_nodes, int dev_id, bool is_train) : capturable_(num_nodes, 1), dev_id_(dev_id), is_train_(is_train) {}
  ~DeviceGraphs();
  DeviceGraphs(const DeviceGraphs&) = delete;
  DeviceGraphs& operator=(const DeviceGraphs&) = delete;

  /*
   * Runs nodes [begin, end). A segment's first run with some addresses and some settings of the
   * environment is an ordinary one: it loads kernels, makes memory, tunes, and shows which nodes
   * cannot be captured. The second one is captured, and from then on every run with these is one
   * launch (with random numbers, and a small kernel before it). Errors of nodes are those of `run`.
   * Random numbers are those of runs without graphs.
   */
  void Run(int begin, int end, const Work& work);
  /* More addresses came than there are graphs for, again and again; asked once for each time. */
  bool TakeRestless();

 private:
  static constexpr size_t kRestless = 6;   // strangers of one segment
  static constexpr size_t kMaxGraphs = 4;  // of a segment: programs with two or three sets of arrays in turn need no more
  struct Graph {
    Key key;
    void* graph = nullptr;
    uint64_t id = 0, last_use = 0;
    uint64_t counters = 0;  // random numbers that a launch uses up
  };
  struct Segment {
    std::vector<Graph> graphs;
    std::vector<Key> seen;  // ran once
    size_t strangers = 0;   // keys that no graph and no run before had, since TakeRestless last said yes
  };
  void RunSegment(int begin, int end, const Work& work);
  void RunDirectly(int begin, int end, const Work& work);
  void* Capture(int begin, int end, const Work& work, uint64_t* counters);  // null: something cannot be captured
  static void Launch(const Graph& graph, const Work& work);
  std::string Where() const;

  std::vector<char> capturable_;  // by node, until it has shown otherwise
  std::map<std::pair<int, int>, Segment> segments_;
  int dev_id_;
  bool is_train_;
  uint64_t uses_ = 0;
};

}  // namespace mxnet
#endif  // MXNET_EXECUTOR_PLAN_CUDA_GRAPHS_H_
