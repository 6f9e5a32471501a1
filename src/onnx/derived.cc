#include "onnx/derived.h"

#include <memory>
#include <utility>

#include "base/round_up.h"
#include "mxnet/op.h"
#include "ndarray/run.h"
#include "ndarray/stored.h"

namespace mxnet {
namespace onnx {
namespace {

constexpr size_t kLeast = 1 << 14;      // bytes of a result that is worth it
constexpr size_t kMostPlain = 1 << 16;  // bytes of operands beside the stored ones, which are copied

using Bytes = std::unique_ptr<char[]>;

bool IsStored(const NDArray& a) { return CoversChunk(a) && StoredIn(a) != 0; }

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
  return StoredArray(out[0].shape, out[0].dtype, std::make_shared<ComputedContents>(attrs, operands, out[0]));
}

}  // namespace onnx
}  // namespace mxnet
