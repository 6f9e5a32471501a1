// boolean_mask: the rows that a mask chooses; their number depends on its values, so arrays are
// read on the calling thread.
#include <algorithm>
#include <numeric>
#include <type_traits>

#include "base/copy_run.h"
#include "base/threads/omp.h"
#include "operator/indexing/host_values.h"
#include "operator/indexing/index.h"
#include "operator/indexing/select.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move_cpu.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

struct BooleanMaskParam : public Parameter<BooleanMaskParam> {
  int axis;
  MXNET_DECLARE_PARAM(BooleanMaskParam) { MXNET_FIELD(axis).set_default(0).describe("The dimension whose entries are chosen."); }
};
MXNET_REGISTER_PARAM(BooleanMaskParam);

int CheckMask(const Attrs& attrs, const Shape& data, const Shape& index) {
  const int axis = CheckedAxis(attrs, attrs.get<BooleanMaskParam>().axis, data.ndim());
  MXNET_CHECK_KIND(index.ndim() == 1 && index[0] == data[axis], Value)
      << "[" << attrs.op->name << "] index has shape " << index << "; it must be (" << data[axis] << ",) for dimension " << axis
      << " of data with shape " << data;
  return axis;
}

// For each entry of a mask 1 or 0.
const uint8_t* Flags(const TBlob& mask, std::vector<uint8_t>* made) {
  if (mask.dtype == kBool) return mask.data<uint8_t>();
  made->resize(static_cast<size_t>(mask.Size()));
  NonzeroFlags(mask, 0, mask.Size(), made->data());
  return made->data();
}

/* Entries of a mask in parts that threads share. */
class Parts {
 public:
  /* Of entries of `piece` bytes. */
  Parts(const uint8_t* mask, int64_t size, int64_t piece) : mask_(mask), size_(size) {
    length_ = std::min(std::max<int64_t>(1, kBytes / std::max<int64_t>(piece, 1)), std::max<int64_t>(size, 1));
    before_.resize(static_cast<size_t>((size + length_ - 1) / length_) + 1);
    ParallelFor(count(), 16, [this](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) before_[i + 1] = std::accumulate(mask_ + Begin(i), mask_ + Begin(i + 1), int64_t{0});
    });
    std::partial_sum(before_.begin(), before_.end(), before_.begin());
  }
  int64_t chosen() const { return before_.back(); }
  /* f(array, begin, end, place) for each part of `outer` arrays, which lie one behind the other:
   * the first entry of the array, its entries of the part, and the place of the first chosen one
   * among all that are chosen. */
  template <typename F>
  void ForEach(int64_t outer, const F& f) const {
    ParallelFor(outer * count(), 2, [&](int64_t first, int64_t last) {
      for (int64_t k = first; k < last; ++k) {
        const int64_t o = k / count(), i = k % count();
        f(o * size_, Begin(i), Begin(i + 1), o * chosen() + before_[i]);
      }
    });
  }

 private:
  static constexpr int64_t kBytes = 1 << 16;
  int64_t count() const { return static_cast<int64_t>(before_.size()) - 1; }
  int64_t Begin(int64_t part) const { return std::min(part * length_, size_); }
  const uint8_t* mask_;
  int64_t size_, length_;
  std::vector<int64_t> before_;  // the chosen ones in front of part i
};

// The entries of `from` (outer, size, piece bytes) where the mask is 1.
void Gather(const char* from, int64_t outer, const Parts& parts, const uint8_t* mask, int64_t piece, char* to) {
  OfLength(piece, [&](auto bytes) {
    parts.ForEach(outer, [&](int64_t array, int64_t begin, int64_t end, int64_t place) {
      const char* x = from + array * bytes;
      char* y = to + place * bytes;
      if constexpr (std::is_same_v<decltype(bytes), int64_t>) {
        for (int64_t i = begin; i < end; ++i) {
          if (!mask[i]) continue;
          CopyEntry(y, x + i * bytes, bytes);
          y += bytes;
        }
      } else {
        // What is not chosen is written, too, and written over: one branch less.
        const char* const last = y + std::accumulate(mask + begin, mask + end, int64_t{0}) * bytes;
        for (int64_t i = begin; y < last; ++i) {
          CopyEntry(y, x + i * bytes, bytes);
          y += mask[i] * bytes;
        }
      }
    });
  });
}

// The reverse: entries that are not chosen become 0.
void Scatter(const char* from, int64_t outer, const Parts& parts, const uint8_t* mask, int64_t piece, char* to) {
  OfLength(piece, [&](auto bytes) {
    const std::vector<char> zeros(static_cast<size_t>(bytes));
    parts.ForEach(outer, [&](int64_t array, int64_t begin, int64_t end, int64_t place) {
      const char* x = from + place * bytes;
      char* y = to + (array + begin) * bytes;
      for (int64_t i = begin; i < end; ++i, y += bytes) {
        CopyEntry(y, mask[i] ? x : zeros.data(), bytes);
        x += mask[i] * bytes;
      }
    });
  });
}

void Mask(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const NDArray &data = *in[0], &index = *in[1];
  const Shape& s = data.shape();
  const int axis = CheckMask(attrs, s, index.shape());
  const HostValues from(data);  // first: it waits, which nobody may who holds an array
  HostValues flags(index, HostValues::kHeld);
  std::vector<uint8_t> made;
  const uint8_t* mask = Flags(flags.blob(), &made);
  const int64_t outer = s.Prod(0, axis), piece = s.Prod(axis + 1, s.ndim()) * static_cast<int64_t>(DTypeSize(data.dtype()));
  const Parts parts(mask, s[axis], piece);
  Shape to = s;
  to[axis] = parts.chosen();
  const bool fresh = out[0]->is_none();
  if (fresh) out[0]->Init(to, data.ctx(), data.dtype());
  MXNET_CHECK_KIND(out[0]->shape() == to && out[0]->dtype() == data.dtype(), Value)
      << "[" << attrs.op->name << "] out has shape " << out[0]->shape() << " and dtype " << DTypeName(out[0]->dtype()) << "; the result is "
      << to << " of " << DTypeName(data.dtype());
  if (to.Size() == 0) return;
  if (fresh && !data.ctx().is_gpu()) return Gather(from.at(), outer, parts, mask, piece, out[0]->data().data<char>());
  std::vector<char> result(static_cast<size_t>(to.Size()) * DTypeSize(data.dtype()));
  Gather(from.at(), outer, parts, mask, piece, result.data());
  flags.Release();
  out[0]->CopyBytesFrom(result.data(), result.size());
}

void CheckGradient(const Attrs& attrs, const TBlob& g, const Shape& data, int axis, int64_t chosen) {
  Shape expected = data;
  expected[axis] = chosen;
  MXNET_CHECK_KIND(g.shape == expected, Value) << "[" << attrs.op->name << "] the gradient has shape " << g.shape << "; the mask chooses "
                                               << chosen << " entries of dimension " << axis;
}

// [ograd, data, index] -> gradient of data
void MaskBack(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const TBlob &g = a.in[0], &out = a.out[0], &index = a.in[2];
  const Shape& s = out.shape;
  const int axis = CheckMask(*a.attrs, s, index.shape);
  const int64_t outer = s.Prod(0, axis), piece = s.Prod(axis + 1, s.ndim()) * static_cast<int64_t>(DTypeSize(out.dtype));
  if (a.run.ctx.is_gpu()) {
    int64_t* before = CountChosenOnDevice(a, index);
    int64_t n = 0;
    rtc::ReadBack(a.run, before + index.Size(), &n, sizeof(n));
    CheckGradient(*a.attrs, g, s, axis, n);
    return PutChosenOnDevice(a.run, g, before, outer, s[axis], n, piece, out);
  }
  std::vector<uint8_t> made;
  const uint8_t* const mask = Flags(index, &made);
  const Parts parts(mask, index.Size(), piece);
  CheckGradient(*a.attrs, g, s, axis, parts.chosen());
  if (out.Size() > 0) Scatter(g.data<char>(), outer, parts, mask, piece, out.data<char>());
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("_contrib_boolean_mask")
      .describe("The entries of one dimension where index is not zero.")
      .alias("_npi_boolean_mask")
      .set_param<BooleanMaskParam>()
      .set_inputs({"data", "index"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
        Shape to = (*in)[0];
        if (!to.ndim_known()) return false;
        to[CheckedAxis(attrs, attrs.get<BooleanMaskParam>().axis, to.ndim())] = Shape::kUnknownDim;
        AssignShape(attrs, "the result", &(*out)[0], to);
        return (*in)[0].known() && (*in)[1].known() && (*out)[0].known();
      })
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        AssignType(attrs, "the result", &(*out)[0], (*in)[0]);
        return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
      })
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{
            NodeEntry{MakeNodeLike("_backward_boolean_mask", *node, {ograds[0], node->inputs[0], node->inputs[1]}), 0, 0}, NodeEntry{}};
      })
      .set_array_fn(Mask);
  Op::Register("_backward_boolean_mask")
      .describe("Gradient of boolean_mask.")
      .set_param<BooleanMaskParam>()
      .set_inputs({"ograd", "data", "index"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(LikeInputsShape(1))
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        AssignType(attrs, "the gradient", &(*out)[0], (*in)[0]);
        return (*in)[0] != kDTypeUnknown && (*in)[2] != kDTypeUnknown;
      })
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        std::vector<NodeEntry> grads(3);
        grads[0] = NodeEntry{MakeNodeLike("_contrib_boolean_mask", *node, {ograds[0], node->inputs[2]}), 0, 0};
        return grads;
      })
      .set_kernel(MaskBack);
  return true;
}();

}  // namespace
}  // namespace mxnet
