// Embedding: rows of a matrix by index.
#include "operator/nn/dense/embedding.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/copy_run.h"
#include "base/dtype.h"
#include "base/ran.h"
#include "base/threads/omp.h"
#include "operator/indexing/checked_indices.h"
#include "operator/indexing/index.h"
#include "operator/nn/common/half_pieces.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/sparse_form.h"
#include "operator/record/traits.h"
#include "operator/shared/host_scratch.h"

namespace mxnet {
namespace nn {

MXNET_REGISTER_PARAM(EmbeddingParam);
MXNET_REGISTER_PARAM(SparseEmbeddingParam);

namespace {

// Numbers of rows, cut to [0, rows). NaN counts as 0.
template <typename S>
void CutToRows(const S* in, int64_t n, int64_t rows, int64_t* out) {
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_integral<S>::value) {
      out[i] = std::min(std::max<int64_t>(static_cast<int64_t>(in[i]), 0), rows - 1);
    } else {
      const double v = static_cast<double>(in[i]);
      out[i] = v > 0 ? static_cast<int64_t>(std::min(v, static_cast<double>(rows - 1))) : 0;
    }
  }
}

const int64_t* Rows(KernelArgs& args, const TBlob& data, int64_t rows) {
  const int64_t n = data.Size();
  int64_t* out = Workspace<int64_t>(args, n);
  VisitDType(data.dtype, "Embedding", [&](auto tag) { CutToRows(data.data<decltype(tag)>(), n, rows, out); });
  return out;
}

// out[i] = row number[i] of the weight, in one copy each. Rows of tables that no cache holds lie on
// pages that the processor has to look up, so they are asked for ahead (`far`): into the level-2
// cache, because more lines can be on their way there than to the first, and some rows at once, so
// that their pages are looked up together. Of a table in a cache that takes as long as the copies.
template <typename Length>
void CopyWhole(const char* weight, const int64_t* number, int64_t n, Length size, char* out, bool far) {
  constexpr int64_t kTogether = 32, kMost = 1024;
  const int64_t asked = std::min<int64_t>(size, kMost);
  const auto ask = [&](int64_t begin) __attribute__((always_inline)) {
    for (int64_t i = begin; i < std::min(begin + kTogether, n); ++i)
      for (int64_t b = 0; b < asked; b += 64) __builtin_prefetch(weight + number[i] * size + b, 0, 2);
  };
  if (far) ask(0);
  for (int64_t begin = 0; begin < n; begin += kTogether) {
    if (far) ask(begin + kTogether);
    for (int64_t i = begin; i < std::min(begin + kTogether, n); ++i) std::memcpy(out + i * size, weight + number[i] * size, size);
  }
}

// The same for rows of kPart bytes to twice as many: two copies that may overlap.
template <int64_t kPart>
void CopyEnds(const char* weight, const int64_t* number, int64_t n, int64_t size, char* out) {
  const int64_t last = size - kPart;
  for (int64_t i = 0; i < n; ++i) {
    const char* from = weight + number[i] * size;
    char* to = out + i * size;
    std::memcpy(to, from, kPart);
    std::memcpy(to + last, from + last, kPart);
  }
}

void CopyWeightRows(const TBlob& table, const int64_t* number, int64_t n, int64_t bytes, char* out) {
  constexpr int64_t kFar = 16 << 20;
  const char* const weight = static_cast<const char*>(table.dptr);
  const bool far = table.shape[0] * bytes > kFar;
  OfLength(bytes, [=](auto size) {
    if (!std::is_integral_v<decltype(size)> || bytes > 64 || bytes < 4) return CopyWhole(weight, number, n, size, out, far);
    if (bytes < 8) return CopyEnds<4>(weight, number, n, bytes, out);
    if (bytes < 16) return CopyEnds<8>(weight, number, n, bytes, out);
    if (bytes < 32) return CopyEnds<16>(weight, number, n, bytes, out);
    CopyEnds<32>(weight, number, n, bytes, out);
  });
}

void Forward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) {
    const TBlob& weight = args.in[1];
    const int64_t* rows = ReadIndicesInRange(args, args.in[0], weight.shape[0], IndexMode::kClip);
    return TakeRows(args.run, weight, 1, weight.shape[0], weight.shape[1], rows, args.in[0].Size(), args.out[0].dptr);
  }
  Ran("copies of rows", RanAt::kNone);
  const TBlob &data = args.in[0], &weight = args.in[1];
  const int64_t bytes = weight.shape[1] * static_cast<int64_t>(DTypeSize(weight.dtype));
  char* out = static_cast<char*>(args.out[0].dptr);
  VisitDType(data.dtype, "Embedding", [&](auto tag) {
    const auto* in = data.data<decltype(tag)>();
    // beside its copy, finding a row's number counts as some bytes
    ParallelFor(data.Size(), std::max<int64_t>(1, 65536 / (bytes + 8)), [&](int64_t b, int64_t e) {
      constexpr int64_t kBlock = 256;
      int64_t number[kBlock];
      for (int64_t i = b; i < e; i += kBlock) {
        const int64_t n = std::min(kBlock, e - i);
        CutToRows(in + i, n, weight.shape[0], number);
        CopyWeightRows(weight, number, n, bytes, out + i * bytes);
      }
    });
  });
}

// Of a half type: positions are ordered by their row, so that the sum of a row is finished, in
// float, before it is rounded. Threads share columns, and rows where columns are few; each row of a
// part adds its positions in their order.
void SumHalves(KernelArgs& args) {
  constexpr int64_t kColumns = 128;
  const TBlob &og = args.in[0], &dw = args.out[0];
  const int64_t rows = dw.shape[0], width = dw.shape[1], n = args.in[1].Size();
  const int64_t* row = Rows(args, args.in[1], rows);
  const bool add = args.req[0] == OpReq::kAdd;
  const HostScratch<int64_t> first(rows + 2), order(n);  // of row r: order[first[r]] to order[first[r + 1]]
  std::fill_n(first.get(), rows + 2, int64_t{0});
  for (int64_t i = 0; i < n; ++i) ++first[row[i] + 2];
  for (int64_t r = 0; r < rows; ++r) first[r + 2] += first[r + 1];
  for (int64_t i = 0; i < n; ++i) order[first[row[i] + 1]++] = i;
  const int threads = OmpThreads(dw.Size() + og.Size());
  const int64_t blocks = (width + kColumns - 1) / kColumns, parts = (threads + blocks - 1) / blocks;
  // where a part begins: they have as many rows and positions together as each other
  auto begin_of = [&](int64_t part) {
    int64_t low = 0, high = rows;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if ((first[middle] + middle) * parts < (n + rows) * part)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  ParallelForThreads(threads, parts * blocks, [&](int64_t begin, int64_t end) {
    float sums[kColumns], more[kColumns];
    for (int64_t k = begin; k < end; ++k) {
      const int64_t column = k % blocks * kColumns, m = std::min(kColumns, width - column);
      for (int64_t r = begin_of(k / blocks), last = begin_of(k / blocks + 1); r < last; ++r) {
        if (add && first[r] == first[r + 1]) continue;
        if (add)
          ReadFloats(dw, r * width + column, sums, m);
        else
          std::fill_n(sums, m, 0.0f);
        for (int64_t i = first[r]; i < first[r + 1]; ++i) {
          ReadFloats(og, order[i] * width + column, more, m);
          for (int64_t j = 0; j < m; ++j) sums[j] += more[j];
        }
        WriteFloats(sums, dw, r * width + column, m);
      }
    }
  });
}

void Backward(KernelArgs& args) {  // ograd, data -> weight_grad
  if (args.req[0] == OpReq::kNull) return;
  if (args.run.ctx.is_gpu()) {
    const TBlob& grad = args.out[0];
    const int64_t* rows = ReadIndicesInRange(args, args.in[1], grad.shape[0], IndexMode::kClip);
    return AddRowsOnDevice(args, args.in[0].dptr, 1, grad.shape[0], grad.shape[1], rows, args.in[1].Size(), grad,
                           args.req[0] == OpReq::kAdd);
  }
  if (IsHalf(args.out[0].dtype) && args.in[0].dtype == args.out[0].dtype && args.out[0].Size() > 0) {
    Ran("sums of columns", RanAt::kNone);
    return SumHalves(args);
  }
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    Ran("sums of columns", RanAt::kNone);
    const int64_t rows = a.out[0].shape[0], width = a.out[0].shape[1], n = a.in[1].Size();
    const int64_t* row = Rows(a, a.in[1], rows);
    const T* og = a.in[0].data<T>();
    T* dw = a.out[0].data<T>();
    if (a.req[0] != OpReq::kAdd) std::memset(dw, 0, a.out[0].Bytes());
    // columns are divided among threads, so that every sum has one owner and a fixed order
    ParallelFor(width, std::max<int64_t>(8, 65536 / std::max<int64_t>(1, n)), [&](int64_t b, int64_t e) {
      for (int64_t i = 0; i < n; ++i) {
        T* to = dw + row[i] * width;
        const T* from = og + i * width;
        for (int64_t j = b; j < e; ++j) to[j] += from[j];
      }
    });
  });
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<EmbeddingParam>();
  AssignShape(attrs, "weight", &(*in)[1], Shape{p.input_dim, p.output_dim});
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) {
    if ((*out)[0].ndim() >= 1) (*in)[0] = Shape((*out)[0].dims(), (*out)[0].ndim() - 1);
    return (*in)[0].known() && (*out)[0].known();
  }
  Shape expected(data.ndim() + 1);
  for (int i = 0; i < data.ndim(); ++i) expected[i] = data[i];
  expected[data.ndim()] = p.output_dim;
  AssignShape(attrs, "output", &(*out)[0], expected);
  for (int i = 0; i < data.ndim(); ++i) (*in)[0][i] = (*out)[0][i];
  return (*in)[0].known() && (*out)[0].known();
}

bool ForwardType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], (*in)[1]);
  if ((*out)[0] == kDTypeUnknown) (*out)[0] = attrs.get<EmbeddingParam>().dtype;
  AssignType(attrs, "weight", &(*in)[1], (*out)[0]);
  if ((*in)[0] == kDTypeUnknown) (*in)[0] = kFloat32;
  return true;
}

bool BackwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<EmbeddingParam>();
  AssignShape(attrs, "weight_grad", &(*out)[0], Shape{p.input_dim, p.output_dim});
  return (*in)[0].known() && (*in)[1].known();
}

bool BackwardType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "weight_grad", &(*out)[0], (*in)[0]);
  AssignType(attrs, "ograd", &(*in)[0], (*out)[0]);
  return (*out)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
}

/* What the records of both names say. */
Op& AsEmbedding(Op& op) {
  return op.set_expensive_to_recompute()
      .set_trait(ReadsChosen{1})
      .set_trait(MakesSparseGradient{[](const Attrs& attrs) { return attrs.get<EmbeddingParam>().sparse_grad; }})
      .set_inputs({"data", "weight"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(ForwardShape)
      .set_infer_type(ForwardType)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
        return {NodeEntry(), NodeEntry{MakeNodeLike("_backward_Embedding", *node, {ograds[0], node->inputs[0]}), 0, 0}};
      })
      .set_kernel(WithCheckedIndices(
          0, [](const KernelArgs& a) { return IndexRange{a.in[1].shape[0]}; }, Forward));
}

const Op& embedding =
    AsEmbedding(Op::Register("Embedding").set_param<EmbeddingParam>())
        .describe(
            "Rows of weight (input_dim, output_dim) chosen by the integers in data; the output has data's shape followed by "
            "output_dim.\n\n"
            "Indices below 0 or beyond the last row are cut to the nearest row. data may have any dtype; fractions are cut off.")
        .alias("_npx_embedding")
        .alias("_sparse_Embedding")
        .set_trait(Quantized{"_contrib_quantized_embedding", {0}});

const Op& sparse_embedding = AsEmbedding(Op::Register("_contrib_SparseEmbedding").set_param<SparseEmbeddingParam>())
                                 .describe("Embedding whose weight has a row_sparse gradient: the rows that data names.");

MXNET_REGISTER_OP(_contrib_quantized_embedding).set_param<EmbeddingParam>();

MXNET_REGISTER_OP(_backward_Embedding)
    .describe("Gradient of Embedding with respect to weight: rows of the output's gradient, added up by index.")
    .set_param<EmbeddingParam>()
    .set_inputs({"ograd", "data"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"weight_grad"})
    .set_infer_shape(BackwardShape)
    .set_infer_type(BackwardType)
    .set_supports_add()
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) -> std::vector<NodeEntry> {
      return {NodeEntry{MakeNodeLike("Embedding", *node, {node->inputs[1], ograds[0]}), 0, 0}, NodeEntry()};
    })
    .set_kernel(Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
