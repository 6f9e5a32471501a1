#include "executor/plan/cuda_graphs.h"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "base/device/device_interface.h"
#include "engine/gpu_streams.h"
#include "mxnet/env.h"
#include "mxnet/error.h"
#include "mxnet/kernel_args.h"

namespace mxnet {
namespace {

std::atomic<uint64_t> g_graphs{0};
std::atomic<int64_t> g_logged{0};

// MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES of a process, all of them with 0.
void Log(const std::string& text) {
  if (!Env::Get().cuda_graphs_verbose) return;
  const int most = Env::Get().cuda_graphs_max_log_entries;
  if (most > 0 && g_logged.fetch_add(1) >= most) return;
  std::fprintf(stderr, "[cuda graphs] %s\n", text.c_str());
}

}  // namespace

std::string GraphFileName(const std::string& prefix, int dev_id, bool is_train, uint64_t id) {
  return prefix + "-dev" + std::to_string(dev_id) + (is_train ? "-trn." : "-inf.") + std::to_string(id) + ".dot";
}

DeviceGraphs::~DeviceGraphs() {
  const CaptureHooks* hooks = GpuInterface().graphs.get();
  if (!hooks) return;
  for (auto& s : segments_)
    for (auto& g : s.second.graphs) hooks->destroy(g.graph);
}

std::string DeviceGraphs::Where() const { return "gpu(" + std::to_string(dev_id_) + (is_train_ ? "), training: " : "), inference: "); }

void DeviceGraphs::Run(int begin, int end, const Work& work) {
  for (int t = begin; t < end;) {
    int stop = t;
    // asked before anything of the segment runs: a run may find more nodes that cannot be captured
    while (stop < end && capturable_[stop]) ++stop;
    if (stop == t) {
      RunDirectly(t, t + 1, work);
      ++t;
      continue;
    }
    RunSegment(t, stop, work);
    t = stop;
  }
}

void DeviceGraphs::RunDirectly(int begin, int end, const Work& work) {
  CaptureState watched;  // nothing is captured, but what nodes do is noted
  RunContext run = work.context;
  run.capture = &watched;
  for (int t = begin; t < end; ++t) {
    if (work.run(t, run) || !capturable_[t]) continue;
    capturable_[t] = 0;
    Log(Where() + work.name(t) + " waits for results or draws random numbers on the host; it runs outside of graphs");
  }
}

void* DeviceGraphs::Capture(int begin, int end, const Work& work, uint64_t* counters) {
  const CaptureHooks* hooks = GpuInterface().graphs.get();
  struct Restore {  // nothing has been drawn yet: the launch does
    RandomState* random;
    RandomState before;
    ~Restore() {
      if (random) *random = before;
    }
  } restore{work.random, work.random ? *work.random : RandomState()};
  std::string why;
  int at = -1;  // the node that refuses; -1: nobody knows
  try {
    const engine::StreamCaptureScope captured;
    hooks->begin(work.context.stream);
    CaptureState capture;
    capture.capturing = true;
    capture.draws = work.draws;
    capture.draws_begin = work.random ? work.random->Take(0) : 0;
    RunContext run = work.context;
    run.capture = &capture;
    for (int t = begin; t < end && at < 0; ++t) {
      try {
        if (!work.run(t, run)) at = t;
      } catch (const std::exception& e) {
        at = t;
        why = e.what();
      }
    }
    if (work.random) *counters = work.random->Take(0) - restore.before.Take(0);
    if (at < 0) return hooks->finish(work.context.stream);
    hooks->abandon(work.context.stream);
  } catch (const Error& e) {
    why = e.what();
  }
  if (at >= 0)
    capturable_[at] = 0;
  else
    std::fill(capturable_.begin() + begin, capturable_.begin() + end, 0);
  Log(Where() + (at >= 0 ? work.name(at) : "nodes " + work.name(begin) + " to " + work.name(end - 1)) + " cannot be captured" +
      (why.empty() ? "" : ": " + why));
  return nullptr;
}

void DeviceGraphs::Launch(const Graph& graph, const Work& work) {
  if (graph.counters) {
    const uint64_t seed = work.random->seed();
    work.begin_draws(seed, work.random->Take(graph.counters));
  }
  GpuInterface().graphs->launch(graph.graph, work.context.stream);
}

bool DeviceGraphs::TakeRestless() {
  bool restless = false;
  for (const auto& s : segments_) restless = restless || s.second.strangers >= kRestless;
  if (!restless) return false;
  for (auto& s : segments_) s.second.strangers = 0;
  return true;
}

void DeviceGraphs::RunSegment(int begin, int end, const Work& work) {
  const CaptureHooks* hooks = GpuInterface().graphs.get();
  Segment& segment = segments_[{begin, end}];
  Key key;
  work.addresses(begin, end, &key);
  // Nodes choose kernels by variables that may be changed while the process runs. Equal settings
  // share one Env, so going back to a value finds its graph again.
  const Env* const env = &Env::Get();
  key.push_back(env);
  ++uses_;
  for (Graph& g : segment.graphs) {
    if (g.key != key) continue;
    g.last_use = uses_;
    Launch(g, work);
    Log(Where() + "graph " + std::to_string(g.id) + " replayed");
    return;
  }
  const auto seen = std::find(segment.seen.begin(), segment.seen.end(), key);
  if (seen == segment.seen.end()) {
    if (segment.seen.size() == kMaxGraphs) segment.seen.erase(segment.seen.begin());
    segment.seen.push_back(std::move(key));
    ++segment.strangers;
    return RunDirectly(begin, end, work);
  }
  segment.seen.erase(seen);
  uint64_t counters = 0;
  void* made = Capture(begin, end, work, &counters);
  if (made && env != &Env::Get()) {  // changed meanwhile: nobody knows under which value each node was captured
    hooks->destroy(made);
    made = nullptr;
  }
  if (!made) return RunDirectly(begin, end, work);  // an error of a node that is not the capture's happens again here
  if (segment.graphs.size() == kMaxGraphs) {
    auto oldest = std::min_element(segment.graphs.begin(), segment.graphs.end(),
                                   [](const Graph& a, const Graph& b) { return a.last_use < b.last_use; });
    hooks->destroy(oldest->graph);
    segment.graphs.erase(oldest);
  }
  segment.graphs.push_back({std::move(key), made, g_graphs.fetch_add(1), uses_, counters});
  const uint64_t id = segment.graphs.back().id;
  Log(Where() + "graph " + std::to_string(id) + " captured from " + std::to_string(end - begin) + " nodes, " + work.name(begin) + " to " +
      work.name(end - 1) + ": " + std::to_string(hooks->nodes(made)) + " kernels and copies");
  const std::string& prefix = Env::Get().cuda_graphs_dbg_file;
  if (!prefix.empty()) {
    try {
      hooks->print(made, GraphFileName(prefix, dev_id_, is_train_, id), Env::Get().cuda_graphs_dbg_file_flags);
    } catch (const Error& e) {  // a picture is no reason to fail
      std::fprintf(stderr, "[cuda graphs] %s\n", e.what());
    }
  }
  Launch(segment.graphs.back(), work);
}

}  // namespace mxnet
