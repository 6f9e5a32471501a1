// The store of type nccl: as `device`, with sums and copies between GPUs made by NVIDIA's library.
#include <algorithm>

#include "base/device/device_interface.h"
#include "base/device/device_query.h"
#include "kvstore/local.h"
#include "kvstore/nccl.h"
#include "mxnet/engine.h"

namespace mxnet {
namespace nccl {
bool Takes(int dtype) {
  switch (dtype) {
    case kInt16:
    case kUint16:
    case kBool:  // "any" of several, which no sum is
      return false;
    default: return true;
  }
}

}  // namespace nccl

namespace kvstore {
namespace {

/* Calls that travel together: one operation of the engine for each clique. */
class Batch {
 public:
  explicit Batch(int priority) : priority_(priority) {}

  /* `arrays` lie on the clique's devices, in its order. */
  void Add(const std::vector<int>& devices, nccl::Call::Kind kind, int root, const std::vector<const NDArray*>& in,
           const std::vector<const NDArray*>& out) {
    Work& work = works_[devices];
    if (work.clique == nullptr) work.clique = GpuInterface().collectives->clique(devices);
    const NDArray& any = *in[static_cast<size_t>(root)];
    nccl::Call call = {kind, root, any.shape().Size(), any.dtype(), {}, {}};
    for (const NDArray* a : in) {
      call.in.push_back(a ? a->data().dptr<void>() : nullptr);
      if (a) work.reads.push_back(a->var());
    }
    for (const NDArray* a : out) {
      call.out.push_back(a ? a->data().dptr<void>() : nullptr);
      if (a) work.writes.push_back(a->var());
    }
    work.calls.push_back(std::move(call));
  }

  void Push(const char* name) {
    for (auto& w : works_) {
      Work& work = w.second;
      Unique(&work.writes);
      Unique(&work.reads);
      // what is written need not be named as read: in place, or views of one array
      work.reads.erase(std::remove_if(work.reads.begin(), work.reads.end(),
                                      [&](Var* v) { return std::binary_search(work.writes.begin(), work.writes.end(), v); }),
                       work.reads.end());
      // A worker that has its streams for itself: computing goes on meanwhile.
      Engine::Get()->PushSync(
          [clique = work.clique, calls = std::move(work.calls)](RunContext run) { GpuInterface().collectives->run(clique, calls, run); },
          Context::GPU(w.first[0]), std::move(work.reads), std::move(work.writes), FnProperty::kGPUPrioritized, priority_, name);
    }
    works_.clear();
  }

 private:
  struct Work {
    void* clique = nullptr;
    std::vector<nccl::Call> calls;
    std::vector<Var*> reads, writes;
  };
  static void Unique(std::vector<Var*>* vars) {
    std::sort(vars->begin(), vars->end());
    vars->erase(std::unique(vars->begin(), vars->end()), vars->end());
  }

  const int priority_;
  std::map<std::vector<int>, Work> works_;
};

std::vector<int> Numbers(const std::vector<Context>& gpus) {
  std::vector<int> numbers;
  for (const Context& gpu : gpus) numbers.push_back(gpu.dev_id);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

int PlaceOf(const std::vector<int>& devices, Context gpu) {
  const auto at = std::find(devices.begin(), devices.end(), gpu.dev_id);
  return at == devices.end() || !gpu.is_gpu() ? -1 : static_cast<int>(at - devices.begin());
}

class NcclStore : public LocalStore {
 public:
  explicit NcclStore(std::string type) : LocalStore(std::move(type), true) {}

  void PushPull(const Keys& keys, const Arrays& values, const Keys& out_keys, const Arrays& outs, int priority) override {
    if (has_updater()) return LocalStore::PushPull(keys, values, out_keys, outs, priority);
    const std::vector<Pushed> pushed = Gather("pushpull", keys, values);
    const std::vector<Entry*> entries = GatherOuts("pushpull", out_keys, outs);
    const bool sparse = std::any_of(pushed.begin(), pushed.end(), IsSparse) ||
                        std::any_of(outs.begin(), outs.end(), [](const NDArray* out) { return out->is_sparse(); }) ||
                        std::any_of(entries.begin(), entries.end(), [](const Entry* e) { return e->stored.is_sparse(); });
    if (sparse) return LocalStore::PushPull(keys, values, out_keys, outs, priority);
    std::vector<Direct> direct;
    std::vector<Pushed> others;
    for (const Pushed& p : pushed) {
      Direct d = {&p, Home(p), {}, {}, {}};
      d.devices = Devices(p, d.home);
      d.out.resize(d.devices.size(), nullptr);
      for (size_t i = 0; i < outs.size() && !d.devices.empty(); ++i) {
        const int at = entries[i] == p.entry && outs[i]->dtype() == p.values[0]->dtype() ? PlaceOf(d.devices, outs[i]->ctx()) : -1;
        if (at >= 0 && d.out[static_cast<size_t>(at)] == nullptr) d.out[static_cast<size_t>(at)] = outs[i];
      }
      if (d.devices.empty() || std::find(d.out.begin(), d.out.end(), nullptr) != d.out.end()) {
        others.push_back(p);
        continue;
      }
      d.in = Values(p, d.devices, priority);
      direct.push_back(std::move(d));
    }
    if (!Apart(direct)) direct.clear(), others = pushed;
    if (!others.empty()) Keep(others, Sum(others, priority), priority);  // all values are read before anything is written
    std::vector<bool> done(outs.size(), false);
    Batch batch(priority);
    for (const Direct& d : direct) batch.Add(d.devices, nccl::Call::kAllReduce, 0, d.in, d.out);
    batch.Push("nccl_allreduce");
    for (const Direct& d : direct) {
      Assign(*d.out[static_cast<size_t>(PlaceOf(d.devices, d.home))], d.pushed->entry->stored, priority);
      for (size_t i = 0; i < outs.size(); ++i) {
        if (entries[i] != d.pushed->entry) continue;
        const int at = PlaceOf(d.devices, outs[i]->ctx());
        Assign(*d.out[at >= 0 ? static_cast<size_t>(at) : 0], *outs[i], priority);  // nothing to do for those of the operation itself
        done[i] = true;
      }
    }
    std::vector<Entry*> left;
    Arrays left_outs;
    for (size_t i = 0; i < outs.size(); ++i)
      if (!done[i]) left.push_back(entries[i]), left_outs.push_back(outs[i]);
    Spread(left, left_outs, priority);
  }

 protected:
  std::vector<NDArray> Sum(const std::vector<Pushed>& pushed, int priority) override {
    std::vector<NDArray> sums;
    Batch batch(priority);
    for (const Pushed& p : pushed) {
      const Context home = Home(p);
      const std::vector<int> devices = Devices(p, home);
      if (devices.empty()) {
        sums.push_back(SumAt(home, p, priority));
        continue;
      }
      const int root = PlaceOf(devices, home);
      sums.push_back(*SumSlot(p.entry, home, p.values[0]->dtype()));
      std::vector<const NDArray*> out(devices.size(), nullptr);
      out[static_cast<size_t>(root)] = &sums.back();
      batch.Add(devices, nccl::Call::kReduce, root, Values(p, devices, priority), out);
    }
    batch.Push("nccl_reduce");
    return sums;
  }

  void Spread(const std::vector<Entry*>& entries, const Arrays& outs, int priority) override {
    Batch batch(priority);
    std::vector<std::pair<const NDArray*, NDArray*>> copies;
    for (const auto& [entry, of_entry] : ByEntry(entries, outs)) {
      const NDArray& from = entry->stored;
      std::vector<const NDArray*> fit{&from};
      for (const NDArray* out : of_entry)
        if (out->ctx().is_gpu() && out->dtype() == from.dtype() && out->var() != from.var()) fit.push_back(out);
      const std::vector<int> devices = from.ctx().is_gpu() && from.shape().Size() > 0 ? Numbers(GpusOf(fit)) : std::vector<int>();
      std::vector<const NDArray*> in(devices.size(), nullptr), first(devices.size(), nullptr);
      if (devices.size() > 1) {
        const size_t root = static_cast<size_t>(PlaceOf(devices, from.ctx()));
        for (size_t i = 1; i < fit.size(); ++i) {
          const NDArray*& at = first[static_cast<size_t>(PlaceOf(devices, fit[i]->ctx()))];
          if (at == nullptr) at = fit[i];
        }
        in[root] = &from;
        batch.Add(devices, nccl::Call::kBroadcast, static_cast<int>(root), in, first);
      }
      for (NDArray* out : of_entry) {
        if (std::find(first.begin(), first.end(), out) != first.end()) continue;
        const int at = out->dtype() == from.dtype() ? PlaceOf(devices, out->ctx()) : -1;
        copies.emplace_back(at >= 0 && first[static_cast<size_t>(at)] != nullptr ? first[static_cast<size_t>(at)] : &from, out);
      }
    }
    batch.Push("nccl_broadcast");
    for (const auto& c : copies) Assign(*c.first, *c.second, priority);
  }

 private:
  /* A key whose sum goes back to where its values come from, with no step between. */
  struct Direct {
    const Pushed* pushed;
    Context home;
    std::vector<int> devices;
    std::vector<const NDArray*> in, out;  // one of each device
  };

  /* The devices whose values the library adds up; none where the store does it as `device` does. */
  static std::vector<int> Devices(const Pushed& p, Context home) {
    const std::vector<Context> gpus = GpusOf(p.values);
    const auto on_gpu = [](const NDArray* v) { return v->ctx().is_gpu(); };
    const bool fits = gpus.size() > 1 && std::all_of(p.values.begin(), p.values.end(), on_gpu) &&
                      std::find(gpus.begin(), gpus.end(), home) != gpus.end() && nccl::Takes(p.values[0]->dtype()) &&
                      p.values[0]->shape().Size() > 0;
    return fits ? Numbers(gpus) : std::vector<int>();
  }

  static std::vector<const NDArray*> Values(const Pushed& p, const std::vector<int>& devices, int priority) {
    std::vector<Context> contexts;
    for (int d : devices) contexts.push_back(Context::GPU(d));
    return OnePerDevice(p, contexts, priority);
  }

  /* No result lies where something else of the same operation is read or written; on its own
   * device's value it may. */
  static bool Apart(const std::vector<Direct>& all) {
    struct Range {
      const char *begin, *end;
      bool write;
    };
    std::vector<Range> ranges;
    const auto add = [&ranges](const NDArray* a, bool write) {
      const TBlob b = a->data();
      ranges.push_back({static_cast<const char*>(b.dptr), static_cast<const char*>(b.dptr) + b.Bytes(), write});
    };
    for (const Direct& d : all) {
      for (size_t i = 0; i < d.out.size(); ++i) {
        add(d.out[i], true);
        if (!SameArray(*d.in[i], *d.out[i])) add(d.in[i], false);
      }
    }
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
    const char *read_to = nullptr, *written_to = nullptr;
    for (const Range& r : ranges) {
      if (r.begin < written_to || (r.write && r.begin < read_to)) return false;
      const char*& to = r.write ? written_to : read_to;
      to = std::max(to, r.end);
    }
    return true;
  }
};

}  // namespace

std::unique_ptr<KVStore> CreateNcclStore(const std::string& type) {
  const nccl::Library* library = GpuInterface().collectives.get();
  const std::string missing = library == nullptr                   ? "this build has no CUDA"
                              : DeviceCount(DeviceType::kGPU) == 0 ? "there are no usable GPUs (python -m mxnet.doctor says why)"
                                                                   : library->open();
  MXNET_CHECK_KIND(missing.empty(), Value) << "[kvstore] a store of type 'nccl' needs NVIDIA's NCCL: " << missing
                                           << "; accepted: device, which adds up on GPUs without it, or local";
  return std::unique_ptr<KVStore>(new NcclStore(type));
}

}  // namespace kvstore
}  // namespace mxnet
