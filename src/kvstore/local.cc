// Stores within one process. The transport is the place where other processes would come in.
#include "kvstore/local.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "kvstore/reduce.h"
#include "mxnet/engine.h"
#include "mxnet/imperative.h"
#include "ndarray/run.h"
#include "operator/graph_operators.h"

namespace mxnet {
namespace kvstore {
namespace {

class LocalTransport : public KVTransport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void AllReduce(const KVKey&, NDArray*, int) override {}
  void Broadcast(const KVKey&, NDArray*, int) override {}
  void Barrier() override {}
  int NumDeadNodes(int, int) override { return 0; }
  void SendCommand(int, const std::string&) override {}
};

}  // namespace

void Ensure(NDArray* slot, const Shape& shape, Context ctx, int dtype) {
  if (slot->is_none() || slot->shape() != shape || slot->ctx() != ctx || slot->dtype() != dtype) *slot = NDArray(shape, ctx, dtype);
}

bool SameArray(const NDArray& a, const NDArray& b) {
  return a.chunk() == b.chunk() && a.byte_offset() == b.byte_offset() && a.dtype() == b.dtype();
}

std::vector<Context> GpusOf(const std::vector<const NDArray*>& arrays) {
  std::vector<Context> gpus;
  for (const NDArray* a : arrays)
    if (a->ctx().is_gpu() && std::find(gpus.begin(), gpus.end(), a->ctx()) == gpus.end()) gpus.push_back(a->ctx());
  return gpus;
}

void Assign(const NDArray& from, const NDArray& to, int priority) {
  const bool gpu = from.ctx().is_gpu() || to.ctx().is_gpu();
  if (!gpu || from.dtype() == to.dtype()) return CopyFromTo(from, to, priority);
  // Arrays travel in their own dtype, and are converted where they come from.
  NDArray converted = from.ctx() == to.ctx() ? to : NDArray(from.shape(), from.ctx(), to.dtype());
  Imperative::Run(graph_ops::CopyAcross(), {from}, {OpReq::kWrite}, {converted}, false);
  CopyFromTo(converted, to, priority);
}

LocalStore::LocalStore(std::string type, bool on_device)
    : type_(std::move(type)), on_device_(on_device), transport_(new LocalTransport()) {}

void LocalStore::Init(const Keys& keys, const Arrays& values) {
  CheckKeys("init", keys, values);
  {
    std::lock_guard<std::mutex> hold(mutex_);
    std::vector<std::string> seen;
    for (const KVKey& k : keys) {
      MXNET_CHECK_KIND(!entries_.count(k.str()) && std::find(seen.begin(), seen.end(), k.str()) == seen.end(), Value)
          << "[kvstore] key " << k.str() << " was initialised before; accepted: one init or broadcast for each key";
      seen.push_back(k.str());
    }
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    std::unique_ptr<Entry> entry(new Entry());
    entry->stored = values[i]->Copy(on_device_ ? values[i]->ctx() : Context::CPU());
    transport_->Broadcast(keys[i], &entry->stored, 0);
    std::lock_guard<std::mutex> hold(mutex_);
    entries_[keys[i].str()] = std::move(entry);
  }
}

void LocalStore::Push(const Keys& keys, const Arrays& values, int priority) {
  const std::vector<Pushed> pushed = Gather("push", keys, values);
  Keep(pushed, Sum(pushed, priority), priority);
}

void LocalStore::Pull(const Keys& keys, const Arrays& outs, int priority) { Spread(GatherOuts("pull", keys, outs), outs, priority); }

void LocalStore::PushPull(const Keys& keys, const Arrays& values, const Keys& out_keys, const Arrays& outs, int priority) {
  const std::vector<Pushed> pushed = Gather("pushpull", keys, values);
  const std::vector<Entry*> entries = GatherOuts("pushpull", out_keys, outs);
  Keep(pushed, Sum(pushed, priority), priority);
  Spread(entries, outs, priority);
}

void LocalStore::Broadcast(const Keys& keys, const Arrays& values, const Keys& out_keys, const Arrays& outs, int priority) {
  Init(keys, values);
  Pull(out_keys, outs, priority);
}

void LocalStore::SetGradientCompression(const std::vector<std::pair<std::string, std::string>>& params) {
  MXNET_CHECK_KIND(type_ == "device" || type_ == "local_allreduce_device", Value)
      << "[kvstore] gradient compression is not for a store of type " << type_ << "; accepted: device, local_allreduce_device";
  std::string kind = "none";
  float threshold = 0.5f;
  for (const auto& p : params) {
    if (p.first == "type") {
      kind = p.second;
      MXNET_CHECK_KIND(kind == "none" || kind == "2bit", Value)
          << "[kvstore] gradient compression type " << kind << "; accepted: none, 2bit";
    } else {
      MXNET_CHECK_KIND(p.first == "threshold", Value)
          << "[kvstore] gradient compression has no parameter " << p.first << "; accepted: type, threshold";
      char* end = nullptr;
      threshold = std::strtof(p.second.c_str(), &end);
      MXNET_CHECK_KIND(end != p.second.c_str() && *end == '\0' && threshold > 0, Value)
          << "[kvstore] gradient compression threshold " << p.second << "; accepted: a number above 0";
    }
  }
  threshold_ = kind == "none" ? 0 : threshold;
}

void LocalStore::CheckKeys(const char* what, const Keys& keys, const Arrays& arrays) {
  MXNET_CHECK_KIND(keys.size() == arrays.size(), Value)
      << "[kvstore] " << what << " got " << keys.size() << " keys and " << arrays.size() << " arrays; accepted: as many";
  std::lock_guard<std::mutex> hold(mutex_);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!have_kind_) named_ = keys[i].named, have_kind_ = true;
    MXNET_CHECK_KIND(keys[i].named == named_, Value)
        << "[kvstore] " << what << " got the " << (named_ ? "number " : "name ") << keys[i].str() << " as key; the keys of this store are "
        << (named_ ? "names" : "numbers");
    MXNET_CHECK_KIND(arrays[i] && !arrays[i]->is_none(), Value)
        << "[kvstore] " << what << " of key " << keys[i].str() << " got an empty (none) array";
    MXNET_CHECK_KIND(arrays[i]->storage_type() == StorageType::kDense, Value)
        << "[kvstore] " << what << " of key " << keys[i].str() << " got a sparse array; accepted: dense ones (stype 'default')";
  }
}

Entry* LocalStore::Find(const KVKey& key) {
  std::lock_guard<std::mutex> hold(mutex_);
  auto it = entries_.find(key.str());
  MXNET_CHECK_KIND(it != entries_.end(), Value) << "[kvstore] key " << key.str() << " has no value yet; init or broadcast comes first";
  return it->second.get();
}

std::vector<Pushed> LocalStore::Gather(const char* what, const Keys& keys, const Arrays& values) {
  CheckKeys(what, keys, values);
  std::vector<Pushed> pushed;
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < keys.size(); ++i) {
    auto place = places.emplace(keys[i].str(), pushed.size());
    if (place.second) pushed.push_back({&keys[i], Find(keys[i]), {}});
    Pushed& p = pushed[place.first->second];
    MXNET_CHECK_KIND(values[i]->shape() == p.entry->stored.shape(), Value)
        << "[kvstore] " << what << " to key " << keys[i].str() << " has shape " << values[i]->shape() << "; the stored value has "
        << p.entry->stored.shape();
    if (!p.values.empty() && p.values[0]->dtype() != values[i]->dtype()) {
      p.converted.push_back(std::make_shared<NDArray>(values[i]->shape(), values[i]->ctx(), p.values[0]->dtype()));
      Assign(*values[i], *p.converted.back(), 0);
      p.values.push_back(p.converted.back().get());
      continue;
    }
    p.values.push_back(values[i]);
  }
  return pushed;
}

std::vector<Entry*> LocalStore::GatherOuts(const char* what, const Keys& keys, const Arrays& outs) {
  CheckKeys(what, keys, outs);
  std::vector<Entry*> entries;
  for (size_t i = 0; i < keys.size(); ++i) {
    entries.push_back(Find(keys[i]));
    MXNET_CHECK_KIND(outs[i]->shape() == entries[i]->stored.shape(), Value)
        << "[kvstore] " << what << " of key " << keys[i].str() << " into shape " << outs[i]->shape() << "; the stored value has "
        << entries[i]->stored.shape();
  }
  return entries;
}

Context LocalStore::Home(const Pushed& pushed) {
  if (!on_device_) return Context::CPU();
  Entry* e = pushed.entry;
  const std::vector<Context> gpus = GpusOf(pushed.values);
  if (!e->placed && !gpus.empty()) {
    Context home = gpus[0];
    {
      std::lock_guard<std::mutex> hold(mutex_);
      for (const Context& gpu : gpus)
        if (placed_bytes_[gpu] < placed_bytes_[home]) home = gpu;
      placed_bytes_[home] += e->stored.data().Bytes();
    }
    if (e->stored.ctx() != home) e->stored = e->stored.Copy(home);
    e->placed = true;
  }
  return e->stored.ctx().is_gpu() ? e->stored.ctx() : pushed.values[0]->ctx().execution();
}

void LocalStore::Keep(const std::vector<Pushed>& pushed, std::vector<NDArray> sums, int priority) {
  for (size_t i = 0; i < pushed.size(); ++i) {
    Entry* e = pushed[i].entry;
    NDArray sum = sums[i];
    if (transport_->size() > 1) {
      if (SameArray(sum, *pushed[i].values[0])) {  // the caller's array must stay as it is
        Ensure(&e->sum, sum.shape(), sum.ctx(), sum.dtype());
        CopyFromTo(sum, e->sum, priority);
        sum = e->sum;
      }
      transport_->AllReduce(*pushed[i].key, &sum, priority);
    }
    if (updater_) {
      updater_(*pushed[i].key, sum, &e->stored);
    } else {
      Assign(sum, e->stored, priority);  // nothing to do when the sum was made in place
    }
  }
}

std::vector<NDArray> LocalStore::Sum(const std::vector<Pushed>& pushed, int priority) {
  std::vector<NDArray> sums;
  for (const Pushed& p : pushed) sums.push_back(SumAt(Home(p), p, priority));
  return sums;
}

void LocalStore::Spread(const std::vector<Entry*>& entries, const Arrays& outs, int priority) {
  for (size_t i = 0; i < entries.size(); ++i) Assign(entries[i]->stored, *outs[i], priority);
}

NDArray* LocalStore::SumSlot(Entry* e, Context where, int dtype) {
  if (!updater_ && transport_->size() == 1 && e->stored.dtype() == dtype && e->stored.ctx().execution() == where.execution())
    return &e->stored;
  Ensure(&e->sum, e->stored.shape(), where, dtype);
  return &e->sum;
}

NDArray LocalStore::SumAt(Context where, const Pushed& pushed, int priority) {
  Entry* e = pushed.entry;
  std::vector<const NDArray*> values = threshold_ > 0 ? Quantize(e, pushed.values, priority) : pushed.values;
  // arrays that other devices hold come over first
  e->staging.resize(std::max(e->staging.size(), values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i]->ctx().execution() == where.execution()) continue;
    Ensure(&e->staging[i], values[i]->shape(), where, values[i]->dtype());
    CopyFromTo(*values[i], e->staging[i], priority);
    values[i] = &e->staging[i];
  }
  if (values.size() == 1) return *values[0];
  const NDArray out = *SumSlot(e, where, values[0]->dtype());
  AddUp(values, out, priority);
  return out;
}

void LocalStore::AddUp(const std::vector<const NDArray*>& values, const NDArray& out, int priority) {
  if (out.ctx().is_gpu()) {
    std::vector<NDArray> in;
    for (const NDArray* v : values) in.push_back(*v);
    Imperative::Run(graph_ops::Sum(static_cast<int>(in.size())), in, {OpReq::kWrite}, {out}, false);
    return;
  }
  std::vector<TBlob> in;
  std::vector<Var*> reads, writes{out.var()};
  bool own = false;  // `out` is one of the values
  for (const NDArray* v : values) {
    in.push_back(v->data());
    own = own || v->var() == out.var();
    if (v->var() != out.var() && std::find(reads.begin(), reads.end(), v->var()) == reads.end()) reads.push_back(v->var());
  }
  const TBlob result = out.data();
  const double cost = 0.25 * static_cast<double>(result.Size()) * static_cast<double>(in.size());
  RunOrPush([in, result](RunContext) { SumArrays(in, result); }, Context::CPU(),
            Span<Var* const>(reads.data(), static_cast<int>(reads.size())), Span<Var* const>(writes.data(), 1), cost < kInlineNanoseconds,
            FnProperty::kCPUPrioritized, priority, "kvstore_sum", own ? 1 : 0);
}

std::vector<const NDArray*> LocalStore::Quantize(Entry* e, const std::vector<const NDArray*>& values, int priority) {
  if (e->residuals.size() < values.size()) e->residuals.resize(values.size()), e->quantized.resize(values.size());
  std::vector<const NDArray*> result;
  for (size_t i = 0; i < values.size(); ++i) {
    const NDArray& v = *values[i];
    MXNET_CHECK_KIND(v.dtype() == kFloat32, Type) << "[kvstore] gradient compression of " << DTypeName(v.dtype()) << "; accepted: float32";
    if (e->residuals[i].is_none()) {
      Ensure(&e->residuals[i], v.shape(), v.ctx(), kFloat32);
      Imperative::Run(graph_ops::Filled(0, kFloat32), {}, {OpReq::kWrite}, {e->residuals[i]}, false);
    }
    Ensure(&e->quantized[i], v.shape(), v.ctx(), kFloat32);
    const TBlob in = v.data(), residual = e->residuals[i].data(), out = e->quantized[i].data();
    const float threshold = threshold_;
    Var* reads[1] = {v.var()};
    Var* writes[2] = {e->residuals[i].var(), e->quantized[i].var()};
    const Context where = v.ctx().execution();
    RunOrPush(
        [in, residual, out, threshold](RunContext run) {
          if (run.ctx.is_gpu())
            QuantizeTwoBitOnDevice(run, in, residual, out, threshold);
          else
            QuantizeTwoBit(in, residual, out, threshold);
        },
        where, Span<Var* const>(reads, 1), Span<Var* const>(writes, 2), static_cast<double>(in.Size()) < kInlineNanoseconds,
        where.is_gpu() ? FnProperty::kNormal : FnProperty::kCPUPrioritized, priority, "kvstore_quantize", 1);
    result.push_back(&e->quantized[i]);
  }
  return result;
}

}  // namespace kvstore

namespace {
constexpr char kAccepted[] = "local, local_update_cpu, local_allreduce_cpu, device, local_allreduce_device, nccl";
}  // namespace

std::unique_ptr<KVStore> KVStore::Create(const std::string& type) {
  std::string name = type;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name == "nccl") return kvstore::CreateNcclStore(name);
  const bool device = name == "device" || name == "local_allreduce_device";
  MXNET_CHECK_KIND(device || name == "local" || name == "local_update_cpu" || name == "local_allreduce_cpu", Value)
      << "[kvstore] there is no store of type '" << type << "'" << (name.compare(0, 4, "dist") == 0 || name == "p3" ? " in this build" : "")
      << "; accepted: " << kAccepted;
  return std::unique_ptr<KVStore>(new kvstore::LocalStore(name, device));
}

}  // namespace mxnet
