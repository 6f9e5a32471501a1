// Stores within one process. The transport is the place where other processes would come in.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <mutex>

#include "kvstore/reduce.h"
#include "mxnet/engine.h"
#include "mxnet/imperative.h"
#include "mxnet/kvstore.h"
#include "ndarray/run.h"

namespace mxnet {
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

/* What is kept for one key. Its address stays for the life of the store. */
struct Entry {
  NDArray stored;
  NDArray sum;                       // what the updater is given; reused
  std::vector<NDArray> staging;      // values of other devices, where they are summed
  std::vector<NDArray> residuals;    // of gradient compression, one per value
  std::vector<NDArray> quantized;
};

/* Makes *slot an array for that if it is not one already. */
void Ensure(NDArray* slot, const Shape& shape, Context ctx, int dtype) {
  if (slot->is_none() || slot->shape() != shape || slot->ctx() != ctx || slot->dtype() != dtype) *slot = NDArray(shape, ctx, dtype);
}

bool SameArray(const NDArray& a, const NDArray& b) { return a.chunk() == b.chunk() && a.byte_offset() == b.byte_offset() && a.dtype() == b.dtype(); }

class LocalStore : public KVStore {
 public:
  LocalStore(std::string type, bool on_device) : type_(std::move(type)), on_device_(on_device), transport_(new LocalTransport()) {}

  void Init(const Keys& keys, const Arrays& values) override {
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

  void Push(const Keys& keys, const Arrays& values, int priority) override {
    struct Group {
      const KVKey* key;
      Entry* entry;
      std::vector<const NDArray*> values;
    };
    CheckKeys("push", keys, values);
    std::vector<Group> groups;
    std::map<std::string, size_t> places;
    for (size_t i = 0; i < keys.size(); ++i) {
      auto place = places.emplace(keys[i].str(), groups.size());
      if (place.second) groups.push_back({&keys[i], Find(keys[i]), {}});
      Group& g = groups[place.first->second];
      MXNET_CHECK_KIND(values[i]->shape() == g.entry->stored.shape(), Value)
          << "[kvstore] push to key " << keys[i].str() << " has shape " << values[i]->shape() << "; the stored value has " << g.entry->stored.shape();
      MXNET_CHECK_KIND(g.values.empty() || g.values[0]->dtype() == values[i]->dtype(), Type)
          << "[kvstore] push to key " << keys[i].str() << " has values of " << DTypeName(g.values[0]->dtype()) << " and " << DTypeName(values[i]->dtype())
          << "; accepted: one dtype";
      g.values.push_back(values[i]);
    }
    for (Group& g : groups) {
      NDArray sum = Sum(g.entry, g.values, priority);
      if (transport_->size() > 1) {
        if (SameArray(sum, *g.values[0])) {   // the caller's array must stay as it is
          Ensure(&g.entry->sum, sum.shape(), sum.ctx(), sum.dtype());
          CopyFromTo(sum, g.entry->sum, priority);
          sum = g.entry->sum;
        }
        transport_->AllReduce(*g.key, &sum, priority);
      }
      if (updater_) {
        updater_(*g.key, sum, &g.entry->stored);
      } else {
        CopyFromTo(sum, g.entry->stored, priority);   // nothing to do when the sum was made in place
      }
    }
  }

  void Pull(const Keys& keys, const Arrays& outs, int priority) override {
    CheckKeys("pull", keys, outs);
    std::vector<Entry*> entries;
    for (size_t i = 0; i < keys.size(); ++i) {
      entries.push_back(Find(keys[i]));
      MXNET_CHECK_KIND(outs[i]->shape() == entries[i]->stored.shape(), Value)
          << "[kvstore] pull of key " << keys[i].str() << " into shape " << outs[i]->shape() << "; the stored value has " << entries[i]->stored.shape();
    }
    for (size_t i = 0; i < keys.size(); ++i) CopyFromTo(entries[i]->stored, *outs[i], priority);
  }

  void PushPull(const Keys& keys, const Arrays& values, const Keys& out_keys, const Arrays& outs, int priority) override {
    CheckKeys("pushpull", out_keys, outs);
    for (size_t i = 0; i < out_keys.size(); ++i)
      MXNET_CHECK_KIND(outs[i]->shape() == Find(out_keys[i])->stored.shape(), Value)
          << "[kvstore] pushpull of key " << out_keys[i].str() << " into shape " << outs[i]->shape() << "; the stored value has " << Find(out_keys[i])->stored.shape();
    Push(keys, values, priority);
    Pull(out_keys, outs, priority);
  }

  void Broadcast(const Keys& keys, const Arrays& values, const Keys& out_keys, const Arrays& outs, int priority) override {
    Init(keys, values);
    Pull(out_keys, outs, priority);
  }

  void SetUpdater(Updater updater) override { updater_ = std::move(updater); }

  void SetGradientCompression(const std::vector<std::pair<std::string, std::string>>& params) override {
    MXNET_CHECK_KIND(on_device_, Value) << "[kvstore] gradient compression is not for a store of type " << type_ << "; accepted: device, local_allreduce_device";
    std::string kind = "none";
    float threshold = 0.5f;
    for (const auto& p : params) {
      if (p.first == "type") {
        kind = p.second;
        MXNET_CHECK_KIND(kind == "none" || kind == "2bit", Value) << "[kvstore] gradient compression type " << kind << "; accepted: none, 2bit";
      } else {
        MXNET_CHECK_KIND(p.first == "threshold", Value) << "[kvstore] gradient compression has no parameter " << p.first << "; accepted: type, threshold";
        char* end = nullptr;
        threshold = std::strtof(p.second.c_str(), &end);
        MXNET_CHECK_KIND(end != p.second.c_str() && *end == '\0' && threshold > 0, Value)
            << "[kvstore] gradient compression threshold " << p.second << "; accepted: a number above 0";
      }
    }
    threshold_ = kind == "none" ? 0 : threshold;
  }

  const std::string& type() const override { return type_; }
  KVTransport* transport() override { return transport_.get(); }

 private:
  void CheckKeys(const char* what, const Keys& keys, const Arrays& arrays) {
    MXNET_CHECK_KIND(keys.size() == arrays.size(), Value) << "[kvstore] " << what << " got " << keys.size() << " keys and " << arrays.size() << " arrays; accepted: as many";
    std::lock_guard<std::mutex> hold(mutex_);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!have_kind_) named_ = keys[i].named, have_kind_ = true;
      MXNET_CHECK_KIND(keys[i].named == named_, Value) << "[kvstore] " << what << " got the " << (named_ ? "number " : "name ") << keys[i].str() << " as key; the keys of this store are "
                                                       << (named_ ? "names" : "numbers");
      MXNET_CHECK_KIND(arrays[i] && !arrays[i]->is_none(), Value) << "[kvstore] " << what << " of key " << keys[i].str() << " got an empty (none) array";
      MXNET_CHECK_KIND(arrays[i]->storage_type() == StorageType::kDense, Value)
          << "[kvstore] " << what << " of key " << keys[i].str() << " got a sparse array; accepted: dense ones (stype 'default')";
    }
  }

  Entry* Find(const KVKey& key) {
    std::lock_guard<std::mutex> hold(mutex_);
    auto it = entries_.find(key.str());
    MXNET_CHECK_KIND(it != entries_.end(), Value) << "[kvstore] key " << key.str() << " has no value yet; init or broadcast comes first";
    return it->second.get();
  }

  /* The sum of a key's values on the device where sums are made. Without an updater that may be the stored array itself. */
  NDArray Sum(Entry* e, std::vector<const NDArray*> values, int priority) {
    if (threshold_ > 0) values = Quantize(e, values, priority);
    const Context where = on_device_ ? values[0]->ctx() : Context::CPU();
    const int dtype = values[0]->dtype();
    // arrays that other devices hold come over first
    e->staging.resize(std::max(e->staging.size(), values.size()));
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i]->ctx().execution() == where.execution()) continue;
      Ensure(&e->staging[i], values[i]->shape(), where, dtype);
      CopyFromTo(*values[i], e->staging[i], priority);
      values[i] = &e->staging[i];
    }
    if (values.size() == 1) return *values[0];
    NDArray out = e->stored;
    if (updater_ || transport_->size() > 1 || out.dtype() != dtype || out.ctx().execution() != where.execution()) {
      Ensure(&e->sum, values[0]->shape(), where, dtype);
      out = e->sum;
    }
    if (where.is_gpu()) {
      static const Op* op = Op::Get("add_n");
      std::vector<NDArray> in;
      for (const NDArray* v : values) in.push_back(*v);
      const AttrsPtr attrs = MakeAttrs(op, {{"num_args", std::to_string(in.size())}});
      Imperative::Run(attrs, in, {OpReq::kWrite}, {out}, false);
      return out;
    }
    std::vector<TBlob> in;
    std::vector<Var*> reads, writes{out.var()};
    for (const NDArray* v : values) {
      in.push_back(v->data());
      if (v->var() != out.var() && std::find(reads.begin(), reads.end(), v->var()) == reads.end()) reads.push_back(v->var());
    }
    const TBlob result = out.data();
    const double cost = 0.25 * static_cast<double>(result.Size()) * static_cast<double>(in.size());
    RunOrPush([in, result](RunContext) { SumArrays(in, result); }, Context::CPU(), Span<Var* const>(reads.data(), static_cast<int>(reads.size())),
              Span<Var* const>(writes.data(), 1), cost < kInlineNanoseconds, FnProperty::kCPUPrioritized, priority, "kvstore_sum");
    return out;
  }

  std::vector<const NDArray*> Quantize(Entry* e, const std::vector<const NDArray*>& values, int priority) {
    if (e->residuals.size() < values.size()) e->residuals.resize(values.size()), e->quantized.resize(values.size());
    std::vector<const NDArray*> result;
    for (size_t i = 0; i < values.size(); ++i) {
      const NDArray& v = *values[i];
      MXNET_CHECK_KIND(v.dtype() == kFloat32, Type) << "[kvstore] gradient compression of " << DTypeName(v.dtype()) << "; accepted: float32";
      if (e->residuals[i].is_none()) {
        Ensure(&e->residuals[i], v.shape(), v.ctx(), kFloat32);
        Imperative::Run(MakeAttrs(Op::Get("_zeros"), {}), {}, {OpReq::kWrite}, {e->residuals[i]}, false);
      }
      Ensure(&e->quantized[i], v.shape(), v.ctx(), kFloat32);
      const TBlob in = v.data(), residual = e->residuals[i].data(), out = e->quantized[i].data();
      const float threshold = threshold_;
      Var* reads[1] = {v.var()};
      Var* writes[2] = {e->residuals[i].var(), e->quantized[i].var()};
      const Context where = v.ctx().execution();
      RunOrPush(
          [in, residual, out, threshold](RunContext run) {
            if (run.ctx.is_gpu()) QuantizeTwoBitOnDevice(run, in, residual, out, threshold);
            else QuantizeTwoBit(in, residual, out, threshold);
          },
          where, Span<Var* const>(reads, 1),
                Span<Var* const>(writes, 2), static_cast<double>(in.Size()) < kInlineNanoseconds, where.is_gpu() ? FnProperty::kNormal : FnProperty::kCPUPrioritized, priority, "kvstore_quantize");
      result.push_back(&e->quantized[i]);
    }
    return result;
  }

  const std::string type_;
  const bool on_device_;
  const std::unique_ptr<KVTransport> transport_;
  Updater updater_;
  float threshold_ = 0;              // of gradient compression; 0: none
  std::mutex mutex_;                 // guards what follows; entries themselves belong to whoever calls for their key
  bool have_kind_ = false, named_ = false;
  std::map<std::string, std::unique_ptr<Entry>> entries_;
};

constexpr char kAccepted[] = "local, local_update_cpu, local_allreduce_cpu, device, local_allreduce_device";

}  // namespace

std::unique_ptr<KVStore> KVStore::Create(const std::string& type) {
  std::string name = type;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool device = name == "device" || name == "local_allreduce_device";
  MXNET_CHECK_KIND(device || name == "local" || name == "local_update_cpu" || name == "local_allreduce_cpu", Value)
      << "[kvstore] there is no store of type '" << type << "'" << (name == "nccl" || name.compare(0, 4, "dist") == 0 || name == "p3" ? " in this build" : "")
      << "; accepted: " << kAccepted;
  return std::unique_ptr<KVStore>(new LocalStore(name, device));
}

}  // namespace mxnet
