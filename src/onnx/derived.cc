#include "onnx/derived.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/round_up.h"
#include "base/threads/omp.h"
#include "mxnet/op.h"
#include "ndarray/run.h"
#include "ndarray/stored.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace onnx {
namespace {

constexpr size_t kLeast = 1 << 14;      // bytes of a result that is worth it
constexpr size_t kMostPlain = 1 << 16;  // bytes of operands beside the stored ones, which are copied

using Bytes = std::unique_ptr<char[]>;

bool IsStored(const NDArray& a) { return a.chunk()->stored && CoversChunk(a) && StoredIn(a) != 0; }

/* A stored matrix, transposed, faster than the operator on any axes is. */
class TransposedContents final : public StoredContents {
 public:
  TransposedContents(std::shared_ptr<const StoredContents> of, int64_t rows, int64_t columns, size_t item)
      : of_(std::move(of)), rows_(rows), columns_(columns), item_(item) {}
  void Read(void* to) const override {
    const Bytes plain(new char[static_cast<size_t>(rows_ * columns_) * item_]);
    of_->Read(plain.get());
    switch (item_) {
      case 1: return Transpose<uint8_t>(plain.get(), to);
      case 2: return Transpose<uint16_t>(plain.get(), to);
      case 4: return Transpose<uint32_t>(plain.get(), to);
      default: return Transpose<uint64_t>(plain.get(), to);
    }
  }

 private:
  template <typename T>
  void Transpose(const void* from, void* to) const {
    constexpr int64_t kTile = 32;
    const T* x = static_cast<const T*>(from);
    T* y = static_cast<T*>(to);
    ParallelFor((columns_ + kTile - 1) / kTile, 1, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin * kTile; j < std::min(columns_, end * kTile); j += kTile)
        for (int64_t i = 0; i < rows_; i += kTile)
          for (int64_t c = j; c < std::min(columns_, j + kTile); ++c)
            for (int64_t r = i; r < std::min(rows_, i + kTile); ++r) y[c * rows_ + r] = x[r * columns_ + c];
    });
  }
  const std::shared_ptr<const StoredContents> of_;
  const int64_t rows_, columns_;
  const size_t item_;
};

/* What an operator's kernel makes of constants. */
class ComputedContents final : public StoredContents {
 public:
  ComputedContents(AttrsPtr attrs, const std::vector<NDArray>& operands, TensorType out) : attrs_(std::move(attrs)), out_(std::move(out)) {
    for (const NDArray& a : operands) {
      Operand o{{a.shape(), a.dtype()}, IsStored(a) ? a.chunk()->stored : nullptr, nullptr};
      if (!o.stored) {
        o.bytes = std::make_unique<char[]>(o.type.Bytes());
        if (o.type.Bytes()) a.SyncCopyToCPU(o.bytes.get(), o.type.Bytes());
      }
      operands_.push_back(std::move(o));
    }
  }
  void Read(void* to) const override {
    std::vector<Bytes> held;
    const auto room = [&held](size_t bytes) -> void* {
      held.emplace_back(new char[bytes + 64]);
      return AlignedTo64<char>(held.back().get());
    };
    std::vector<TBlob> in;
    for (const Operand& o : operands_) {
      void* at = o.bytes.get();
      if (o.stored) o.stored->Read(at = room(o.type.Bytes()));
      in.push_back(BlobOf(o.type, at));
    }
    const TBlob out = BlobOf(out_, to);
    const OpReq req = OpReq::kWrite;
    KernelArgs args;
    args.attrs = attrs_.get();
    args.in = in;
    args.out = Span<const TBlob>(&out, 1);
    args.req = Span<const OpReq>(&req, 1);
    args.run.ctx = Context::CPU();
    args.switches = InferSwitches::OfThread(true);
    args.workspace = room;
    (*attrs_->op->KernelFor(DeviceType::kCPU))(args);
  }

 private:
  struct Operand {
    TensorType type;
    std::shared_ptr<const StoredContents> stored;
    Bytes bytes;  // when it is not stored
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
  const TensorType out_;
};

/* Is it a kernel that gives one result, the same each time? */
bool Computes(const Attrs& attrs) {
  return attrs.op->NumOutputs(attrs) == 1 && attrs.op->RunsBy(attrs) == RunBy::kKernel && !attrs.op->uses_random &&
         attrs.op->KernelFor(DeviceType::kCPU);
}

}  // namespace

NDArray DerivedFromStored(const AttrsPtr& attrs, const std::vector<NDArray>& operands) {
  bool any = false;
  size_t plain = 0;
  TensorTypes in, out(1);
  for (const NDArray& a : operands) {
    if (a.ctx() != Context::CPU() || a.is_sparse()) return NDArray();
    const bool stored = IsStored(a);
    any = any || (stored && a.delayed());
    in.emplace_back(a.shape(), a.dtype());
    if (!stored) plain += in.back().Bytes();
  }
  if (!any || plain > kMostPlain || !Computes(*attrs) || !InferCall(*attrs, InferSwitches::OfThread(true), &in, &out) ||
      out[0].Bytes() < kLeast)
    return NDArray();
  const auto* permutation = attrs->op->trait<mxnet::Permutation>();
  const NDArray& first = operands[0];
  std::shared_ptr<StoredContents> contents;
  if (permutation && operands.size() == 1 && first.shape().ndim() == 2 && permutation->axes(*attrs, 2) == std::vector<int>{1, 0})
    contents = std::make_shared<TransposedContents>(first.chunk()->stored, first.shape()[0], first.shape()[1], DTypeSize(first.dtype()));
  else
    contents = std::make_shared<ComputedContents>(attrs, operands, out[0]);
  return StoredArray(out[0].shape, out[0].dtype, std::move(contents));
}

}  // namespace onnx
}  // namespace mxnet
