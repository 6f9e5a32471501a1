#include "onnx/run/derived.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/round_up.h"
#include "mxnet/op.h"
#include "ndarray/run.h"
#include "ndarray/stored.h"
#include "onnx/builder.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace onnx {
namespace {

constexpr size_t kLeast = 1 << 14;      // bytes of results that are worth it, and of an operand
constexpr size_t kMostPlain = 1 << 16;  // bytes of operands that nobody keeps, which are copied
constexpr int kMostResults = 8;
constexpr int kMostRuns = 64;  // of kernels for one result: a chain that reads its links twice would double them with each

using Bytes = std::unique_ptr<char[]>;

bool IsStored(const NDArray& a) { return CoversChunk(a) && StoredIn(a) != 0; }

/* An operator's kernel with constants. */
class ConstantCall {
 public:
  /* `runs`: of kernels, when a result is computed. */
  ConstantCall(AttrsPtr attrs, const std::vector<NDArray>& operands, const std::vector<bool>& kept, TensorTypes out, int runs)
      : attrs_(std::move(attrs)), out_(std::move(out)), runs_(runs) {
    for (size_t i = 0; i < operands.size(); ++i) {
      const NDArray& a = operands[i];
      Operand o{{a.shape(), a.dtype()}, IsStored(a) ? a.chunk()->stored : nullptr, NDArray(), nullptr};
      if (!o.stored && kept[i]) {
        a.WaitToRead();
        o.array = a;
      } else if (!o.stored) {
        o.bytes = std::make_unique<char[]>(o.type.Bytes());
        if (o.type.Bytes()) a.CopyBytesTo(o.bytes.get(), o.type.Bytes());
      }
      operands_.push_back(std::move(o));
    }
  }
  int runs() const { return runs_; }
  void SetHasForms() const {
    for (const Operand& o : operands_)
      if (o.stored) o.stored->SetHasForms();
  }
  /* Of the matrix that it transposes; null: it does something else. */
  const StoredContents* Transposed() const {
    const auto* permutation = attrs_->op->trait<Permutation>();
    if (!permutation || operands_.size() != 1 || operands_[0].type.shape.ndim() != 2) return nullptr;
    return permutation->axes(*attrs_, 2) == std::vector<int>{1, 0} ? operands_[0].stored.get() : nullptr;
  }
  /* Is an element of the result that of the same place in what is stored, perhaps in another dtype,
   * and can that be read by parts? */
  bool HasParts() const {
    const Role* const role = attrs_->op->trait<Role>();
    return role && (*role == Role::kCast || *role == Role::kCopy) && operands_.size() == 1 && operands_[0].stored &&
           operands_[0].stored->HasParts();
  }
  /* Elements [begin, begin + count). REQUIRES: HasParts. */
  void ComputePart(size_t begin, size_t count, void* to) const {
    const Operand& from = operands_[0];
    const Shape part{static_cast<int64_t>(count)};
    const size_t each = DTypeSize(from.type.dtype);
    Room room;
    void* const read = room(count * each);
    from.stored->ReadPart(begin * each, read, count * each);
    Run({BlobOf({part, from.type.dtype}, read)}, {BlobOf({part, out_[0].dtype}, to)}, &room);
  }
  const TensorType& type(size_t result) const { return out_[result]; }
  /* Writes result `wanted`. */
  void Compute(size_t wanted, void* to) const {
    Room room;
    std::vector<TBlob> in, out;
    for (const Operand& o : operands_) {
      void* at = o.bytes.get();
      if (!o.array.is_none()) at = o.array.data().dptr<void>();
      if (o.stored) o.stored->Read(at = room(o.type.Bytes()));
      in.push_back(BlobOf(o.type, at));
    }
    for (size_t i = 0; i < out_.size(); ++i) out.push_back(BlobOf(out_[i], i == wanted ? to : room(out_[i].Bytes())));
    Run(in, out, &room);
  }

 private:
  class Room {  // memory of one call
   public:
    void* operator()(size_t bytes) {
      held_.emplace_back(new char[bytes + 64]);
      return AlignedTo64<char>(held_.back().get());
    }

   private:
    std::vector<Bytes> held_;
  };
  void Run(const std::vector<TBlob>& in, const std::vector<TBlob>& out, Room* room) const {
    const std::vector<OpReq> req(out.size(), OpReq::kWrite);
    KernelArgs args;
    args.attrs = attrs_.get();
    args.in = in;
    args.out = out;
    args.req = req;
    args.run.ctx = Context::CPU();
    args.switches = InferSwitches::OfThread(true);
    args.workspace = [room](size_t bytes) { return (*room)(bytes); };
    (*attrs_->op->KernelFor(DeviceType::kCPU))(args);
  }
  struct Operand {
    TensorType type;
    std::shared_ptr<const StoredContents> stored;
    NDArray array;  // of the model, where it is not stored
    Bytes bytes;    // where it is neither
  };
  static TBlob BlobOf(const TensorType& type, void* at) {
    TBlob blob;
    blob.shape = type.shape;
    blob.dtype = type.dtype;
    blob.dptr = at;
    return blob;
  }
  const AttrsPtr attrs_;
  std::vector<Operand> operands_;
  const TensorTypes out_;
  const int runs_;
};

/* A result of it. */
class ComputedContents final : public StoredContents {
 public:
  ComputedContents(std::shared_ptr<const ConstantCall> call, size_t result) : call_(std::move(call)), result_(result) {}
  void Read(void* to) const override { call_->Compute(result_, to); }
  bool HasParts() const override { return call_->HasParts(); }
  void ReadPart(size_t offset, void* to, size_t size) const override {
    const size_t each = DTypeSize(call_->type(result_).dtype), begin = offset / each, end = (offset + size + each - 1) / each;
    if (offset % each == 0 && size % each == 0) return call_->ComputePart(begin, end - begin, to);
    const Bytes whole(new char[(end - begin) * each]);
    call_->ComputePart(begin, end - begin, whole.get());
    std::memcpy(to, whole.get() + offset % each, size);
  }
  const StoredContents* Transposed() const override { return call_->Transposed(); }
  int runs() const { return call_->runs(); }
  void SetHasForms() const override {
    StoredContents::SetHasForms();
    call_->SetHasForms();
  }

 private:
  const std::shared_ptr<const ConstantCall> call_;
  const size_t result_;
};

/* Of kernels, to read the operands and compute a result. */
int RunsFor(const std::vector<NDArray>& operands) {
  int runs = 1;
  for (const NDArray& a : operands)
    if (IsStored(a))
      if (const auto* computed = dynamic_cast<const ComputedContents*>(a.chunk()->stored.get())) runs += computed->runs();
  return runs;
}

NDArray ResultNow(const ConstantCall& call, size_t result, const TensorType& type) {
  NDArray array(type.shape, Context::CPU(), type.dtype);
  const std::unique_ptr<char[]> bytes(new char[type.Bytes()]);
  call.Compute(result, bytes.get());
  array.CopyBytesFrom(bytes.get(), type.Bytes());
  return array;
}

/* Is it a kernel that gives the same each time? Of several results each takes a run of its own. */
bool Computes(const Attrs& attrs) {
  return attrs.op->NumOutputs(attrs) <= kMostResults && attrs.op->RunsBy(attrs) == RunBy::kKernel && !attrs.op->uses_random &&
         attrs.op->KernelFor(DeviceType::kCPU);
}

}  // namespace

std::vector<NDArray> DerivedFromStored(const AttrsPtr& attrs, const std::vector<NDArray>& operands, bool on_inputs,
                                       FoldedWeights* weights) {
  // Most of what is computed beforehand are sizes. Smaller arrays are never delayed (StoredArray).
  const auto is_large = [](const NDArray& a) { return a.type().Bytes() >= kLeast; };
  if (std::none_of(operands.begin(), operands.end(), is_large)) return {};
  const std::vector<bool> kept = weights->Keeps(operands);
  bool any = false;
  size_t plain = 0, made = 0;
  TensorTypes in, out(static_cast<size_t>(attrs->op->NumOutputs(*attrs)));
  std::vector<bool> stays;  // as long as the model, and is no part of what is stored
  for (size_t i = 0; i < operands.size(); ++i) {
    const NDArray& a = operands[i];
    if (a.ctx() != Context::CPU() || a.is_sparse()) return {};
    const bool stored = IsStored(a);
    in.emplace_back(a.shape(), a.dtype());
    stays.push_back(kept[i] && !a.chunk()->stored);
    any = any || (stored && a.delayed()) || (stays[i] && in.back().Bytes() >= kLeast);
    if (!stored && !stays[i]) plain += in.back().Bytes();
  }
  // What depends on inputs is read once, and now.
  if (!any || plain > (on_inputs ? 0 : kMostPlain) || !Computes(*attrs) || !InferCall(*attrs, InferSwitches::OfThread(true), &in, &out))
    return {};
  for (const TensorType& t : out) made += t.Bytes();
  if (made < kLeast) return {};
  const int runs = RunsFor(operands);
  const auto call = std::make_shared<const ConstantCall>(attrs, operands, stays, out, runs);
  std::vector<NDArray> results;
  for (size_t i = 0; i < out.size(); ++i)
    results.push_back(runs > kMostRuns ? ResultNow(*call, i, out[i])
                                       : StoredArray(out[i].shape, out[i].dtype, std::make_shared<ComputedContents>(call, i)));
  return results;
}

}  // namespace onnx
}  // namespace mxnet
