// This library's own convolutions and dense layers: which method, with which weights.
#include <algorithm>

#include "base/cpu_dispatch.h"
#include "base/ran.h"
#include "base/threads/omp.h"
#include "mxnet/env.h"
#include "operator/nn/common/epilogue.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/nn/convolution/sequence_windows.h"
#include "operator/nn/convolution/tap_products.h"
#include "operator/nn/cpu_gemm/packed.h"
#include "operator/nn/cpu_gemm/packed_bfloat.h"
#include "operator/nn/cpu_gemm/small_m_gemm.h"
#include "operator/nn/cpu_gemm/winograd.h"

namespace mxnet {
namespace nn {
namespace {

// A dense layer with few rows, or a 1x1 convolution of few pixels: weights are read as they lie.
void FewRows(KernelArgs& args, const DenseCall& call, const float* addend) {
  Ran("GEMM of few rows");
  args.NeedWeights(call.weight);
  const int64_t m = call.m, n = call.n, k = call.k;
  float* y = static_cast<float*>(call.out);
  if (addend == y) {
    float* added = static_cast<float*>(args.workspace(static_cast<size_t>(m * n) * sizeof(float)));
    std::copy(y, y + m * n, added);
    addend = added;
  }
  ParallelFor(n, std::max<int64_t>(8, 65536 / std::max<int64_t>(k, 1)), [&](int64_t begin, int64_t end) {
    MXNET_CPU_CALL(SmallMGemm)
    (m, n, k, static_cast<const float*>(call.data), static_cast<const float*>(call.weight), static_cast<const float*>(call.bias), y, begin,
     end);
    for (int64_t i = 0; i < m; ++i) {
      float* row = y + i * n;
      if (addend)
        for (int64_t j = begin; j < end; ++j) row[j] += addend[i * n + j];
      if (call.post) ApplyPost(call.post, row + begin, row + begin, end - begin);
    }
  });
}

// Is the convolution a dense layer, its pixels being the rows?
bool IsDense(const ConvCall& call) {
  const ConvDims& d = call.dims;
  if (call.pass != ConvPass::kForward || d.groups != 1 || d.KernelSize() != 1 || d.InSize() != d.OutSize()) return false;
  for (int i = 0; i < 3; ++i)
    if (d.stride[i] != 1 || d.pad[i] != 0) return false;
  return (call.src.channels_last && call.dst.channels_last) || d.InSize() == 1;
}

// Derived weights differ with the method and the vectors' length.
uint64_t Form(ConvMethod method) { return static_cast<uint64_t>(method) << 8 | static_cast<uint64_t>(CurrentCpuLevel()); }

bool KeptDense(KernelArgs& args, const DenseCall& call, const float* addend) {
  if (!PacksDense(args, call)) return false;
  // Also for a few rows: it is faster than reading weights as they lie, plans for any number of
  // rows share the packed ones, and the vector library would make code for each number (5 ms).
  const float* packed = KeptWeights(
      args, call.weight_input, call.weight, Form(ConvMethod::kPacked) | kOfContentsAlone, PackedDenseSize(call.n, call.k),
      [&](float* to) { PackDense(static_cast<const float*>(call.weight), call.n, call.k, to); }, {},
      [&] { return PackDenseParts(call.n, call.k); }, [&] { return PackTransposedParts(call.n, call.k); });
  Ran("packed GEMM");
  PackedDense(call, packed, addend, args.workspace);
  return true;
}

bool Dense(KernelArgs& args, const DenseCall& call, const void* addend) {
  if (call.dtype == kBfloat16) return BfloatDense(args, call, addend);
  if (call.dtype != kFloat32 || call.m == 0) return false;
  const float* added = static_cast<const float*>(addend);
  if (KeptDense(args, call, added)) return true;
  if (!IsSmallMGemm(call.m, call.n, call.k)) return false;
  FewRows(args, call, added);
  return true;
}

bool Convolution(KernelArgs& args, const ConvCall& call, const void* addend) {
  if (call.weight.ptr && call.dtype == kBfloat16) return BfloatConvolution(args, call, addend);
  if (!call.weight.ptr || call.dtype != kFloat32) return false;
  constexpr int64_t kFewPixels = 8;
  const int64_t pixels = call.dims.batch * call.dims.OutSize();
  if (pixels <= kFewPixels && IsDense(call)) {
    DenseCall dense;
    dense.m = pixels, dense.n = call.dims.filters, dense.k = call.dims.channels, dense.dtype = call.dtype;
    dense.data = call.src.ptr, dense.weight = call.weight.ptr, dense.bias = call.bias, dense.out = call.dst.ptr, dense.post = call.post;
    dense.weight_input = call.weight_input;
    if (Dense(args, dense, addend)) return true;
  }
  if (SequenceWindows(args, call, static_cast<const float*>(addend))) return true;
  if (!args.state) return false;
  if (TapProducts(args, call, static_cast<const float*>(addend))) return true;
  const bool kept = KeepsWeights(args, call.weight_input);
  ConvMethod method = Env::Get().enforce_determinism ? MethodByRule(call, kept) : MethodByMeasurement(call, kept);
  const float* added = static_cast<const float*>(addend);
  if (method == ConvMethod::kDepthwise && !DepthwiseTakes(call, added != nullptr)) return false;
  const auto weights = [&](int64_t size, void (*pack)(const ConvCall&, float*), WeightParts (*parts)(const ConvCall&)) {
    return KeptWeights(
        args, call.weight_input, call.weight.ptr, Form(method), size, [&](float* packed) { pack(call, packed); }, {},
        [&] { return parts ? parts(call) : WeightParts(); });
  };
  switch (method) {
    case ConvMethod::kLibrary: return false;
    case ConvMethod::kPacked:
      Ran(call.dims.KernelSize() == 1 ? "packed GEMM" : "packed implicit GEMM");
      PackedRun(call, weights(PackedSize(call), PackWeights, PackWeightParts), added, args.workspace);
      return true;
    case ConvMethod::kDepthwise:
      Ran("depthwise");
      DepthwiseRun(call, weights(DepthwiseSize(call), PackDepthwise, nullptr), added);
      return true;
    default: WinogradConvolution(args, call, addend, static_cast<int>(method), Form(method)); return true;
  }
}

}  // namespace

bool PacksDense(const KernelArgs& args, const DenseCall& call) {
  constexpr int64_t kLarge = 64 << 20;  // bytes
  if (!KeepsWeights(args, call.weight_input) || Env::Get().onednn_force_fc_ab_format || call.k == 0) return false;
  const bool large = call.n * call.k * static_cast<int64_t>(DTypeSize(call.dtype)) > kLarge;
  return !IsSmallMGemm(call.m, call.n, call.k) ||
         (WeightsStay(args, call.weight_input) && (!large || (call.dtype == kFloat32 && KeptWithoutSource(args, call.weight))));
}

bool NativeConvolution(KernelArgs& args, const ConvCall& call, const void* addend) {
  if (Convolution(args, call, addend)) return true;
  if (call.weight.ptr) args.NeedWeights(call.weight.ptr);  // others read them as they lie
  return false;
}

bool NativeDense(KernelArgs& args, const DenseCall& call, const void* addend) {
  if (Dense(args, call, addend)) return true;
  args.NeedWeights(call.weight);
  return false;
}

}  // namespace nn
}  // namespace mxnet
