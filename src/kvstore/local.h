/* The stores of one process: what they keep, and how sums are made where no library makes them. */
#ifndef MXNET_KVSTORE_LOCAL_H_
#define MXNET_KVSTORE_LOCAL_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kvstore/compression.h"
#include "mxnet/kvstore.h"

namespace mxnet {
namespace kvstore {

/* One value on its way through gradient compression. */
struct CompressedValue {
  NDArray residual, bits;  // where the value lies
  NDArray sent;            // the bits where values are summed, if that is another device
};

/* What is kept for one key. Its address stays for the life of the store. */
struct Entry {
  NDArray stored;
  NDArray sum;                              // what the updater is given; reused
  std::vector<NDArray> staging;             // values of other devices, where they are summed
  std::map<Context, NDArray> partial;       // sums of several values of one device
  std::vector<CompressedValue> compressed;  // one per value
  bool placed = false;                      // stored is on the GPU that is the key's home
};

/* The values of one key in one call. */
struct Pushed {
  const KVKey* key;
  Entry* entry;
  std::vector<const NDArray*> values;
  std::vector<std::shared_ptr<NDArray>> converted;  // values of another dtype than the first one's, in that
};

/* Makes *slot an array for that if it is not one already. The second: a dense one. */
void Ensure(NDArray* slot, const TensorType& type, Context ctx);
void Ensure(NDArray* slot, const Shape& shape, Context ctx, int dtype);
/* The same memory, read in the same way. */
bool SameArray(const NDArray& a, const NDArray& b);
/* May the sum of `values` be written to `out`, on the CPU, while they are read and `outs` are
 * written? */
bool AddableInto(const std::vector<const NDArray*>& values, const std::vector<const NDArray*>& outs, const NDArray& out);
/* to = from, across devices and dtypes. */
void Assign(const NDArray& from, const NDArray& to, int priority);
/* Is a value of that key sparse, or what is stored? */
bool IsSparse(const Pushed& pushed);
/* The GPUs that arrays lie on, in the order of the arrays. */
std::vector<Context> GpusOf(const std::vector<const NDArray*>& arrays);

/* local and device, and what others do as they do. */
class LocalStore : public KVStore {
 public:
  LocalStore(std::string type, bool on_device);

  void Init(const Keys& keys, const Arrays& values) override;
  void Push(const Keys& keys, const Arrays& values, int priority) override;
  void Pull(const Keys& keys, const Arrays& outs, int priority) override;
  void PullRowSparse(const Keys& keys, const Arrays& outs, const Arrays& row_ids, int priority) override;
  void PushPull(const Keys& keys, const Arrays& values, const Keys& out_keys, const Arrays& outs, int priority) override;
  void Broadcast(const Keys& keys, const Arrays& values, const Keys& out_keys, const Arrays& outs, int priority) override;
  void SetUpdater(Updater updater) override { updater_ = std::move(updater); }
  void SetGradientCompression(const std::vector<std::pair<std::string, std::string>>& params) override;
  const std::string& type() const override { return type_; }
  KVTransport* transport() override { return transport_.get(); }
  void RunServer(const Controller&) override {}
  void SetServerReply(const std::string&) override {}
  void ReportServerError(const std::string&) override {}
  ServerPart UpdatedPart() const override { return {}; }

 protected:
  /* With other processes behind it. */
  LocalStore(std::string type, bool on_device, std::unique_ptr<KVTransport> transport);
  /* Throws unless `keys` are new, with as many dense arrays. */
  void CheckNew(const char* what, const Keys& keys, const Arrays& values);
  void Add(const KVKey& key, NDArray stored);
  Entry* Find(const KVKey& key);
  /* The sum of each key's values, on its home. May be a value or, without an updater, the stored
   * array itself. */
  virtual std::vector<NDArray> Sum(const std::vector<Pushed>& pushed, int priority);
  /* outs[i] = entries[i]->stored. */
  virtual void Spread(const std::vector<Entry*>& entries, const Arrays& outs, int priority);
  /* `outs` by their entries, both in the order of the first arrays. */
  static std::vector<std::pair<Entry*, Arrays>> ByEntry(const std::vector<Entry*>& entries, const Arrays& outs);

  /* Checks arguments; equal keys belong together. */
  std::vector<Pushed> Gather(const char* what, const Keys& keys, const Arrays& values);
  std::vector<Entry*> GatherOuts(const char* what, const Keys& keys, const Arrays& outs);
  /* The same for row_sparse_pull. */
  std::vector<Entry*> GatherRowOuts(const Keys& keys, const Arrays& outs, const Arrays& row_ids);
  /* `out` itself where it lies there and has the dtype of the value, else an array to copy from. */
  static NDArray RowTarget(const Entry& entry, const NDArray& out, Context where);
  /*
   * Where a key's values are summed and its value is kept. Its first push settles it for values on
   * GPUs: the one that has the fewest bytes of this store so far, so that all of them take part in
   * adding, sending and, with an updater, updating.
   */
  Context Home(const Pushed& pushed);
  NDArray SumAt(Context where, const Pushed& pushed, int priority);
  /* Of values that are not all dense. */
  NDArray SumSparse(const Pushed& pushed, int priority);
  /* Sum and Spread for keys of any storage. */
  std::vector<NDArray> SumAll(const std::vector<Pushed>& pushed, int priority);
  void SpreadAll(const std::vector<Entry*>& entries, const Arrays& outs, int priority);
  /* The values on the device `where`: those of other devices are copied to it. */
  std::vector<const NDArray*> Here(Context where, const Pushed& pushed, int priority);
  /* Each of `outs` = the sum of arrays that lie where it lies, in their order. On the CPU each of
   * `outs` is AddableInto. */
  static void AddUp(const std::vector<const NDArray*>& values, const std::vector<const NDArray*>& outs, int priority);
  /* What is made of the sums. */
  void Keep(const std::vector<Pushed>& pushed, std::vector<NDArray> sums, int priority);
  /* A key's values by device, several of one device added up there. Each device has one. */
  static std::vector<const NDArray*> OnePerDevice(const Pushed& pushed, const std::vector<Context>& devices, int priority);
  /* Can values be added up on the CPU to what is stored and to arrays of `entries` at once? */
  virtual bool AddsInOnePass(const Pushed& pushed, const std::vector<Entry*>& entries) const;
  bool compressed() const { return compression_.on(); }
  /* Are csr values kept, for pulls alone? Other processes get none. */
  virtual bool KeepsCSR() const { return transport_->size() == 1; }
  bool has_updater() const { return static_cast<bool>(updater_); }
  /* Where a sum is made: the stored array itself if it may be. */
  NDArray* SumSlot(Entry* entry, Context where, int dtype);

 private:
  void CheckKeys(const char* what, const Keys& keys, const Arrays& arrays);
  /* The values as gradient compression lets them through, on the device `where`. */
  std::vector<const NDArray*> Unpacked(Context where, const Pushed& pushed, int priority);

  const std::string type_;
  const bool on_device_;
  const std::unique_ptr<KVTransport> transport_;
  Updater updater_;
  Compression compression_;
  std::mutex mutex_;  // guards what follows; entries themselves belong to whoever calls for their key
  bool have_kind_ = false, named_ = false;
  std::map<std::string, std::unique_ptr<Entry>> entries_;
  std::map<Context, size_t> placed_bytes_;
};

/* Stores of type nccl. Throws Error where there is no NCCL. */
std::unique_ptr<KVStore> CreateNcclStore(const std::string& type);

/* Stores of the dist types, in a process of a job (dist/store.h). */
std::unique_ptr<KVStore> CreateDistStore(const std::string& name);

}  // namespace kvstore
}  // namespace mxnet
#endif  // MXNET_KVSTORE_LOCAL_H_
