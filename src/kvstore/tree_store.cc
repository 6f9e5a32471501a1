#include "kvstore/tree_store.h"

#include <algorithm>

#include "base/device/device_interface.h"
#include "base/logging.h"
#include "kvstore/nccl.h"
#include "mxnet/env.h"

namespace mxnet {
namespace kvstore {
namespace {

/* The devices of arrays, sorted; none where trees cannot run between them: one alone, memory that
 * is pinned or shared, arrays on the CPU and on GPUs. */
std::vector<Context> DevicesOf(const std::vector<const NDArray*>& arrays) {
  std::vector<Context> devices;
  for (const NDArray* a : arrays) {
    const DeviceType type = a->ctx().dev_type;
    if (type != arrays[0]->ctx().dev_type || (type != DeviceType::kCPU && type != DeviceType::kGPU)) return {};
    devices.push_back(a->ctx());
  }
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices.size() > 1 ? devices : std::vector<Context>();
}

size_t PlaceOf(const std::vector<Context>& devices, Context device) {
  return static_cast<size_t>(std::find(devices.begin(), devices.end(), device) - devices.begin());
}

NDArray Flat(const NDArray& a) { return a.Reshape({a.shape().Size()}); }

}  // namespace

Links LinksBetween(const std::vector<Context>& devices) {
  const int n = static_cast<int>(devices.size());
  Links links(n, 1);
  const nccl::Library* library = GpuInterface().collectives.get();
  if (!devices[0].is_gpu() || library == nullptr || library->link == nullptr) return links;
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < a; ++b)
      links.Set(a, b, library->link(devices[static_cast<size_t>(a)].dev_id, devices[static_cast<size_t>(b)].dev_id));
  return links;
}

const TreeStore::Plan& TreeStore::PlanFor(std::vector<Context> devices) {
  std::lock_guard<std::mutex> hold(mutex_);
  std::unique_ptr<Plan>& plan = plans_[devices];
  if (plan != nullptr) return *plan;
  const Env& env = Env::Get();
  const TreeOptions options = {env.kvstore_tree_backtrack, env.kvstore_tree_link_usage_penalty};
  plan = std::make_unique<Plan>();
  plan->trees = PlanTrees(LinksBetween(devices), options);
  plan->devices = std::move(devices);
  if (env.kvstore_logtree) {
    std::vector<std::string> names;
    for (const Context& d : plan->devices) names.push_back(d.str());
    const bool exact = options.exact && plan->devices.size() <= kMostExactDevices;
    LogInfo("[kvstore] " + std::to_string(plan->trees.size()) + " reduction trees by " + (exact ? "exact search" : "Kernighan-Lin"));
    for (const ReductionTree& tree : plan->trees) LogInfo("[kvstore] " + TreeText(tree, names));
  }
  return *plan;
}

std::vector<TreeStore::Slice> TreeStore::SlicesOf(const Plan& plan, int64_t size, int root) {
  if (size <= Env::Get().kvstore_tree_array_bound) return {{0, size, &plan.trees[static_cast<size_t>(root)]}};
  const int64_t n = static_cast<int64_t>(plan.trees.size());
  std::vector<Slice> slices;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t begin = size / n * i + std::min(i, size % n), end = begin + size / n + (i < size % n);
    if (begin < end) slices.push_back({begin, end, &plan.trees[static_cast<size_t>(i)]});
  }
  return slices;
}

int TreeStore::RootOf(const Pushed& pushed, const Plan& plan) {
  const Context home = Home(pushed);  // settles where the value is kept
  const size_t place = PlaceOf(plan.devices, home);
  if (home.is_gpu()) return place < plan.devices.size() ? static_cast<int>(place) : 0;
  // CPU contexts have one memory: roots take turns by what they sum up.
  std::lock_guard<std::mutex> hold(mutex_);
  const auto known = roots_.find(pushed.entry);
  if (known != roots_.end() && PlaceOf(plan.devices, known->second) < plan.devices.size())
    return static_cast<int>(PlaceOf(plan.devices, known->second));
  Context root = plan.devices[0];
  for (const Context& d : plan.devices)
    if (root_bytes_[d] < root_bytes_[root]) root = d;
  root_bytes_[root] += pushed.entry->stored.data().Bytes();
  roots_[pushed.entry] = root;
  return static_cast<int>(PlaceOf(plan.devices, root));
}

std::vector<NDArray> TreeStore::Sum(const std::vector<Pushed>& pushed, int priority) {
  std::vector<NDArray> results;
  for (const Pushed& p : pushed) {
    const std::vector<Context> devices = compressed() ? std::vector<Context>() : DevicesOf(p.values);
    if (devices.empty() || p.values[0]->shape().Size() == 0) {
      results.push_back(SumAt(Home(p), p, priority));
      continue;
    }
    const Plan& plan = PlanFor(devices);
    const int root = RootOf(p, plan);
    const std::vector<const NDArray*> values = OnePerDevice(p, plan.devices, priority);
    const NDArray sum = *SumSlot(p.entry, Home(p), p.values[0]->dtype());
    const std::vector<Slice> slices = SlicesOf(plan, sum.shape().Size(), root);
    std::vector<Sums>* kept;
    {
      std::lock_guard<std::mutex> hold(mutex_);
      kept = &sums_[p.entry];
    }
    kept->resize(std::max(kept->size(), slices.size()));
    for (size_t i = 0; i < slices.size(); ++i) {
      std::vector<NDArray> parts;
      for (const NDArray* v : values) parts.push_back(Flat(*v).Slice(slices[i].begin, slices[i].end));
      SumAlong(*slices[i].tree, plan.devices, parts, &(*kept)[i], Flat(sum).Slice(slices[i].begin, slices[i].end), priority);
    }
    results.push_back(sum);
  }
  return results;
}

void TreeStore::SumAlong(const ReductionTree& tree, const std::vector<Context>& devices, std::vector<NDArray> values, Sums* sums,
                         const NDArray& out, int priority) {
  sums->partial.resize(devices.size());
  sums->received.resize(devices.size());
  const auto last = tree.rounds.back().back();
  for (const auto& round : tree.rounds) {
    for (const TreeStep& step : round) {
      const size_t to = static_cast<size_t>(step.to);
      NDArray other = values[static_cast<size_t>(step.from)];
      if (other.ctx().execution() != devices[to].execution()) {
        Ensure(&sums->received[to], other.shape(), devices[to], other.dtype());
        CopyFromTo(other, sums->received[to], priority);
        other = sums->received[to];
      }
      NDArray result = out;  // the last step makes the sum where it belongs, if that is here
      if (step.from != last.from || out.ctx().execution() != devices[to].execution()) {
        Ensure(&sums->partial[to], other.shape(), devices[to], other.dtype());
        result = sums->partial[to];
      }
      AddUp({&values[to], &other}, {&result}, priority);
      values[to] = result;
    }
  }
  CopyFromTo(values[static_cast<size_t>(tree.root)], out, priority);  // nothing to do where it is there
}

void TreeStore::Spread(const std::vector<Entry*>& entries, const Arrays& outs, int priority) {
  for (const auto& [entry, same] : ByEntry(entries, outs)) SpreadFrom(entry->stored, same, priority);
}

void TreeStore::SpreadFrom(const NDArray& stored, const Arrays& outs, int priority) {
  // One array of each device is filled along the trees, the others from what is stored.
  std::vector<const NDArray*> first;
  for (const NDArray* out : outs) {
    const auto there = [out](const NDArray* f) { return f->ctx() == out->ctx() || f->var() == out->var(); };
    if (out->dtype() == stored.dtype() && out->var() != stored.var() && std::none_of(first.begin(), first.end(), there))
      first.push_back(out);
  }
  const std::vector<Context> devices = stored.shape().Size() > 0 ? DevicesOf(first) : std::vector<Context>();
  if (devices.empty()) first.clear();
  if (!devices.empty()) {
    const Plan& plan = PlanFor(devices);
    const size_t home = PlaceOf(plan.devices, stored.ctx());
    std::vector<NDArray> all(devices.size());
    for (const NDArray* f : first) all[PlaceOf(plan.devices, f->ctx())] = Flat(*f);
    for (const Slice& s : SlicesOf(plan, stored.shape().Size(), home < devices.size() ? static_cast<int>(home) : 0)) {
      const auto part = [&s](const NDArray& a) { return a.Slice(s.begin, s.end); };
      CopyFromTo(part(Flat(stored)), part(all[static_cast<size_t>(s.tree->root)]), priority);
      for (auto round = s.tree->rounds.rbegin(); round != s.tree->rounds.rend(); ++round)
        for (const TreeStep& step : *round)
          CopyFromTo(part(all[static_cast<size_t>(step.to)]), part(all[static_cast<size_t>(step.from)]), priority);
    }
  }
  for (NDArray* out : outs)
    if (std::find(first.begin(), first.end(), out) == first.end()) Assign(stored, *out, priority);
}

}  // namespace kvstore
}  // namespace mxnet
