// Stores within one process. The transport is the place where other processes would come in.
#include "kvstore/local.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <unordered_map>

#include "base/logging.h"
#include "kvstore/reduce.h"
#include "kvstore/tree_store.h"
#include "mxnet/engine.h"
#include "mxnet/env.h"
#include "mxnet/imperative.h"
#include "ndarray/run.h"
#include "operator/nodes/graph_operators.h"

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
  std::vector<std::string> SendCommand(int, const std::string&) override { return {}; }
  void SetBarrierBeforeExit(bool) override {}
};

}  // namespace

void Ensure(NDArray* slot, const TensorType& type, Context ctx) {
  if (slot->is_none() || slot->type() != type || slot->ctx() != ctx) *slot = NDArray::Make(type, ctx);
}

void Ensure(NDArray* slot, const Shape& shape, Context ctx, int dtype) { Ensure(slot, TensorType(shape, dtype, StorageType::kDense), ctx); }

bool SameArray(const NDArray& a, const NDArray& b) {
  return a.chunk() == b.chunk() && a.byte_offset() == b.byte_offset() && a.dtype() == b.dtype();
}

std::vector<Context> GpusOf(const std::vector<const NDArray*>& arrays) {
  std::vector<Context> gpus;
  for (const NDArray* a : arrays)
    if (a->ctx().is_gpu() && std::find(gpus.begin(), gpus.end(), a->ctx()) == gpus.end()) gpus.push_back(a->ctx());
  return gpus;
}

bool AddableInto(const std::vector<const NDArray*>& values, const std::vector<const NDArray*>& outs, const NDArray& out) {
  if (out.ctx().is_gpu() || out.dtype() != values[0]->dtype() || values[0]->ctx().is_gpu()) return false;
  const auto apart = [&out](const NDArray* a) {
    const char *one = a->data().data<char>(), *two = out.data().data<char>();
    const size_t bytes = out.data().Bytes();
    return SameArray(*a, out) || one + bytes <= two || two + bytes <= one;
  };
  return std::all_of(values.begin(), values.end(), apart) && std::all_of(outs.begin(), outs.end(), apart);
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
    : LocalStore(std::move(type), on_device, std::unique_ptr<KVTransport>(new LocalTransport())) {}

LocalStore::LocalStore(std::string type, bool on_device, std::unique_ptr<KVTransport> transport)
    : type_(std::move(type)), on_device_(on_device), transport_(std::move(transport)) {}

void LocalStore::CheckNew(const char* what, const Keys& keys, const Arrays& values) {
  CheckKeys(what, keys, values);
  std::lock_guard<std::mutex> hold(mutex_);
  std::set<std::string> seen;
  for (const KVKey& k : keys)
    MXNET_CHECK_KIND(!entries_.count(k.str()) && seen.insert(k.str()).second, Value)
        << "[kvstore] key " << k.str() << " was initialised before; accepted: one init or broadcast for each key";
}

void LocalStore::Add(const KVKey& key, NDArray stored) {
  std::unique_ptr<Entry> entry(new Entry());
  entry->stored = std::move(stored);
  std::lock_guard<std::mutex> hold(mutex_);
  entries_[key.str()] = std::move(entry);
}

void LocalStore::Init(const Keys& keys, const Arrays& values) {
  CheckNew("init", keys, values);
  for (size_t i = 0; i < keys.size(); ++i) {
    NDArray stored = values[i]->Copy(on_device_ ? values[i]->ctx() : Context::CPU());
    transport_->Broadcast(keys[i], &stored, 0);
    Add(keys[i], std::move(stored));
  }
}

void LocalStore::Push(const Keys& keys, const Arrays& values, int priority) {
  const std::vector<Pushed> pushed = Gather("push", keys, values);
  Keep(pushed, SumAll(pushed, priority), priority);
}

void LocalStore::Pull(const Keys& keys, const Arrays& outs, int priority) { SpreadAll(GatherOuts("pull", keys, outs), outs, priority); }

void LocalStore::PushPull(const Keys& keys, const Arrays& values, const Keys& out_keys, const Arrays& outs, int priority) {
  const std::vector<Pushed> pushed = Gather("pushpull", keys, values);
  const std::vector<Entry*> entries = GatherOuts("pushpull", out_keys, outs);
  // With one key the sum may go to all places in one pass: no other key's values are changed.
  if (pushed.size() == 1 && AddsInOnePass(pushed[0], entries)) {
    const NDArray& stored = pushed[0].entry->stored;
    std::vector<const NDArray*> all{&stored};
    Arrays left;
    for (NDArray* out : outs) {
      if (!out->is_sparse() && AddableInto(pushed[0].values, all, *out))
        all.push_back(out);
      else
        left.push_back(out);
    }
    AddUp(pushed[0].values, all, priority);
    for (NDArray* out : left) Assign(stored, *out, priority);
    return;
  }
  Keep(pushed, SumAll(pushed, priority), priority);
  SpreadAll(entries, outs, priority);
}

bool LocalStore::AddsInOnePass(const Pushed& pushed, const std::vector<Entry*>& entries) const {
  const NDArray& stored = pushed.entry->stored;
  if (IsSparse(pushed)) return false;
  const auto fits = [&](const NDArray* v) { return !v->ctx().is_gpu() && v->dtype() == stored.dtype() && v->var() != stored.var(); };
  return !updater_ && !compression_.on() && transport_->size() == 1 && !stored.ctx().is_gpu() &&
         std::all_of(pushed.values.begin(), pushed.values.end(), fits) &&
         std::all_of(entries.begin(), entries.end(), [&](const Entry* e) { return e == pushed.entry; });
}

void LocalStore::Broadcast(const Keys& keys, const Arrays& values, const Keys& out_keys, const Arrays& outs, int priority) {
  Init(keys, values);
  Pull(out_keys, outs, priority);
}

void LocalStore::SetGradientCompression(const std::vector<std::pair<std::string, std::string>>& params) {
  MXNET_CHECK_KIND(type_ == "device" || type_ == "local_allreduce_device", Value)
      << "[kvstore] gradient compression is not for a store of type " << type_ << "; accepted: device, local_allreduce_device";
  compression_ = Compression::FromParams(params);
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
    MXNET_CHECK_KIND(arrays[i]->storage_type() != StorageType::kCSR || KeepsCSR(), Value)
        << "[kvstore] " << what << " of key " << keys[i].str() << " got a csr array; accepted: default and row_sparse";
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
    const size_t place = keys.size() == 1 ? 0 : places.emplace(keys[i].str(), pushed.size()).first->second;
    if (place == pushed.size()) pushed.push_back({&keys[i], Find(keys[i]), {}, {}});
    Pushed& p = pushed[place];
    const NDArray* const both[2] = {values[i], &p.entry->stored};
    for (const NDArray* array : both)
      MXNET_CHECK_KIND(array->storage_type() != StorageType::kCSR, Value)
          << "[kvstore] " << what << " to key " << keys[i].str() << (array == values[i] ? " got a csr array" : ", whose value is csr")
          << "; accepted: default and row_sparse";
    MXNET_CHECK_KIND(values[i]->shape() == p.entry->stored.shape(), Value)
        << "[kvstore] " << what << " to key " << keys[i].str() << " has shape " << values[i]->shape() << "; the stored value has "
        << p.entry->stored.shape();
    if (!p.values.empty() && p.values[0]->dtype() != values[i]->dtype()) {
      p.converted.push_back(std::make_shared<NDArray>(
          NDArray::Make(TensorType(values[i]->shape(), p.values[0]->dtype(), values[i]->storage_type()), values[i]->ctx())));
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
  if (!on_device_ || IsSparse(pushed)) return Context::CPU();
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
  const Updater updater = updater_;  // which may set another one
  for (size_t i = 0; i < pushed.size(); ++i) {
    Entry* e = pushed[i].entry;
    NDArray sum = sums[i];
    if (transport_->size() > 1) {
      if (SameArray(sum, *pushed[i].values[0])) {  // the caller's array must stay as it is
        Ensure(&e->sum, sum.type(), sum.ctx());
        CopyFromTo(sum, e->sum, priority);
        sum = e->sum;
      }
      transport_->AllReduce(*pushed[i].key, &sum, priority);
    }
    if (updater && sum.is_sparse() && sum.ctx().execution() != e->stored.ctx().execution()) {
      const NDArray there = NDArray::Make(sum.type(), e->stored.ctx().execution(), true);
      CopyFromTo(sum, there, priority);
      sum = there;
    }
    if (updater) {
      updater(*pushed[i].key, sum, &e->stored);
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
  for (const auto& [entry, of_entry] : ByEntry(entries, outs)) {
    const NDArray& from = entry->stored;
    std::vector<const NDArray*> together;
    for (NDArray* out : of_entry) {
      if (AddableInto({&from}, together, *out))
        together.push_back(out);
      else
        Assign(from, *out, priority);
    }
    if (!together.empty()) AddUp({&from}, together, priority);
  }
}

std::vector<std::pair<Entry*, KVStore::Arrays>> LocalStore::ByEntry(const std::vector<Entry*>& entries, const Arrays& outs) {
  std::vector<std::pair<Entry*, Arrays>> groups;
  std::unordered_map<Entry*, size_t> places;
  for (size_t i = 0; i < outs.size(); ++i) {
    const auto place = places.emplace(entries[i], groups.size());
    if (place.second) groups.emplace_back(entries[i], Arrays());
    groups[place.first->second].second.push_back(outs[i]);
  }
  return groups;
}

NDArray* LocalStore::SumSlot(Entry* e, Context where, int dtype) {
  if (!updater_ && transport_->size() == 1 && e->stored.dtype() == dtype && e->stored.ctx().execution() == where.execution())
    return &e->stored;
  Ensure(&e->sum, e->stored.shape(), where, dtype);
  return &e->sum;
}

NDArray LocalStore::SumAt(Context where, const Pushed& pushed, int priority) {
  Entry* e = pushed.entry;
  const std::vector<const NDArray*> values = Here(where, pushed, priority);
  if (values.size() == 1) return *values[0];
  const NDArray out = *SumSlot(e, where, values[0]->dtype());
  AddUp(values, {&out}, priority);
  return out;
}

std::vector<const NDArray*> LocalStore::Here(Context where, const Pushed& pushed, int priority) {
  if (compression_.on()) return Unpacked(where, pushed, priority);
  Entry* e = pushed.entry;
  std::vector<const NDArray*> values = pushed.values;
  e->staging.resize(std::max(e->staging.size(), values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i]->ctx().execution() == where.execution()) continue;
    Ensure(&e->staging[i], values[i]->shape(), where, values[i]->dtype());
    CopyFromTo(*values[i], e->staging[i], priority);
    values[i] = &e->staging[i];
  }
  return values;
}

std::vector<const NDArray*> LocalStore::OnePerDevice(const Pushed& pushed, const std::vector<Context>& devices, int priority) {
  std::vector<const NDArray*> one;
  for (const Context& device : devices) {
    std::vector<const NDArray*> values;
    for (const NDArray* v : pushed.values)
      if (v->ctx() == device) values.push_back(v);
    one.push_back(values[0]);
    if (values.size() == 1) continue;
    NDArray& partial = pushed.entry->partial[device];
    Ensure(&partial, values[0]->shape(), device, values[0]->dtype());
    AddUp(values, {&partial}, priority);
    one.back() = &partial;
  }
  return one;
}

void LocalStore::AddUp(const std::vector<const NDArray*>& values, const std::vector<const NDArray*>& outs, int priority) {
  if (outs[0]->ctx().is_gpu()) {
    std::vector<NDArray> in;
    for (const NDArray* v : values) in.push_back(*v);
    Imperative::Run(graph_ops::Sum(static_cast<int>(in.size())), in, {OpReq::kWrite}, {*outs[0]}, false);
    for (size_t i = 1; i < outs.size(); ++i) CopyFromTo(*outs[0], *outs[i], priority);
    return;
  }
  std::vector<TBlob> in, out;
  std::vector<Var*> reads, kept, replaced;  // kept: variables of which more is left than what is written, or which are read too
  const auto has = [](const std::vector<Var*>& vars, Var* v) { return std::find(vars.begin(), vars.end(), v) != vars.end(); };
  for (const NDArray* v : values) {
    in.push_back(v->data());
    if (!has(reads, v->var())) reads.push_back(v->var());
  }
  for (const NDArray* o : outs) {
    out.push_back(o->data());
    if (has(kept, o->var()) || has(replaced, o->var())) continue;
    const auto read = std::find(reads.begin(), reads.end(), o->var());
    (read != reads.end() || !CoversChunk(*o) ? kept : replaced).push_back(o->var());
    if (read != reads.end()) reads.erase(read);
  }
  const int num_kept = static_cast<int>(kept.size());
  kept.insert(kept.end(), replaced.begin(), replaced.end());
  const double cost = kNsPerSummedByte * static_cast<double>(in[0].Bytes()) * static_cast<double>(in.size() + out.size());
  const char* name = in.size() > 1 ? "kvstore_sum" : "kvstore_copy";
  RunOrPush([in = std::move(in), out = std::move(out)](RunContext) { SumArrays(in, out); }, Context::CPU(),
            Span<Var* const>(reads.data(), static_cast<int>(reads.size())), Span<Var* const>(kept.data(), static_cast<int>(kept.size())),
            cost < kInlineNanoseconds, FnProperty::kCPUPrioritized, priority, name, num_kept);
}

std::vector<const NDArray*> LocalStore::Unpacked(Context where, const Pushed& pushed, int priority) {
  Entry* e = pushed.entry;
  const size_t n = pushed.values.size();
  e->compressed.resize(std::max(e->compressed.size(), n));
  e->staging.resize(std::max(e->staging.size(), n));
  std::vector<const NDArray*> result;
  for (size_t i = 0; i < n; ++i) {
    const NDArray& v = *pushed.values[i];
    CompressedValue& c = e->compressed[i];
    Compress(compression_, v, &c.residual, &c.bits, priority);
    const NDArray* bits = &c.bits;
    if (v.ctx().execution() != where.execution()) {  // the bits travel, not the values
      Ensure(&c.sent, c.bits.shape(), where, kUint32);
      CopyFromTo(c.bits, c.sent, priority);
      bits = &c.sent;
    }
    Ensure(&e->staging[i], v.shape(), where, kFloat32);
    Decompress(compression_, *bits, e->staging[i], priority);
    result.push_back(&e->staging[i]);
  }
  return result;
}

}  // namespace kvstore

namespace {
constexpr char kAccepted[] =
    "local, local_update_cpu, local_allreduce_cpu, device, local_allreduce_device, nccl, dist_sync, dist_device_sync, dist_async, "
    "dist_device_async, dist_p3";
}  // namespace

std::unique_ptr<KVStore> KVStore::Create(const std::string& type) {
  std::string name = type;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name == "nccl") return kvstore::CreateNcclStore(name);
  if (name.find("dist") != std::string::npos) return kvstore::CreateDistStore(name);
  const bool device = name.find("device") != std::string::npos;
  const bool known = name == "device" || name == "local_allreduce_device" || name == "local" || name == "local_update_cpu" ||
                     name == "local_allreduce_cpu";
  if (!known)  // as in 1.9.1, whose programs may have misspelt it
    LogWarning("[kvstore] there is no store of type '" + type + "', so '" + (device ? "device" : "local") +
               "' is made; accepted: " + kAccepted);
  if (device && Env::Get().kvstore_usetree) return std::unique_ptr<KVStore>(new kvstore::TreeStore(name));
  return std::unique_ptr<KVStore>(new kvstore::LocalStore(name, device));
}

}  // namespace mxnet
