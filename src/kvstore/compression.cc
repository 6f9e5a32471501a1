#include "kvstore/compression.h"

#include <cmath>
#include <cstdlib>

#include "kvstore/compression_kernels.h"
#include "mxnet/engine.h"
#include "mxnet/imperative.h"
#include "ndarray/run.h"
#include "operator/nodes/graph_operators.h"

namespace mxnet {
namespace kvstore {

Compression Compression::FromParams(const std::vector<std::pair<std::string, std::string>>& params) {
  Compression how;
  bool typed = false;
  for (const auto& p : params) {
    if (p.first == "type") {
      typed = true;
      MXNET_CHECK_KIND(p.second == "none" || p.second == "1bit" || p.second == "2bit", Value)
          << "[kvstore] gradient compression type " << p.second << "; accepted: none, 1bit, 2bit";
      how.kind = p.second == "none" ? kNone : p.second == "1bit" ? kOneBit : kTwoBit;
    } else {
      MXNET_CHECK_KIND(p.first == "threshold", Value)
          << "[kvstore] gradient compression has no parameter " << p.first << "; accepted: type, threshold";
      char* end = nullptr;
      how.threshold = std::strtof(p.second.c_str(), &end);
      MXNET_CHECK_KIND(end != p.second.c_str() && *end == '\0' && !std::isnan(how.threshold), Value)
          << "[kvstore] gradient compression threshold " << p.second << "; accepted: a number";
    }
  }
  MXNET_CHECK_KIND(typed, Value) << "[kvstore] gradient compression without a type; accepted: none, 1bit, 2bit";
  MXNET_CHECK_KIND(how.kind != kTwoBit || how.threshold > 0, Value)
      << "[kvstore] gradient compression threshold " << how.threshold << "; accepted with 2bit: a number above 0";
  return how;
}

int64_t Compression::Words(int64_t values) const {
  const int64_t of_word = kind == kTwoBit ? 16 : 32;
  return (values + of_word - 1) / of_word;
}

void Compress(const RunContext& run, const Compression& how, const TBlob& in, const TBlob& residual, const TBlob& bits) {
  if (run.ctx.is_gpu())
    CompressOnDevice(run, how, in, residual, bits);
  else
    CompressOnHost(how, in, residual, bits);
}

void Decompress(const RunContext& run, const Compression& how, const TBlob& bits, const TBlob& out) {
  if (run.ctx.is_gpu())
    DecompressOnDevice(run, how, bits, out);
  else
    DecompressOnHost(how, bits, out);
}

void Compress(const Compression& how, const NDArray& in, NDArray* residual, NDArray* bits, int priority) {
  MXNET_CHECK_KIND(in.dtype() == kFloat32, Type) << "[kvstore] gradient compression of " << DTypeName(in.dtype()) << "; accepted: float32";
  const Shape words{how.Words(in.shape().Size())};
  if (residual->is_none() || residual->shape() != in.shape() || residual->ctx() != in.ctx()) {
    *residual = NDArray(in.shape(), in.ctx(), kFloat32);
    Imperative::Run(graph_ops::Filled(0, kFloat32), {}, {OpReq::kWrite}, {*residual}, false);
  }
  if (bits->is_none() || bits->shape() != words || bits->ctx() != in.ctx()) *bits = NDArray(words, in.ctx(), kUint32);
  const TBlob from = in.data(), rest = residual->data(), to = bits->data();
  Var* reads[1] = {in.var()};
  Var* writes[2] = {residual->var(), bits->var()};
  const Context where = in.ctx().execution();
  RunOrPush([=](RunContext run) { Compress(run, how, from, rest, to); }, where, Span<Var* const>(reads, 1), Span<Var* const>(writes, 2),
            kNsPerCompressedElement * static_cast<double>(from.Size()) < kInlineNanoseconds,
            where.is_gpu() ? FnProperty::kNormal : FnProperty::kCPUPrioritized, priority, "kvstore_compress", 1);
}

void Decompress(const Compression& how, const NDArray& bits, const NDArray& out, int priority) {
  const TBlob from = bits.data(), to = out.data();
  Var* reads[1] = {bits.var()};
  Var* writes[1] = {out.var()};
  const Context where = out.ctx().execution();
  RunOrPush([=](RunContext run) { Decompress(run, how, from, to); }, where, Span<Var* const>(reads, 1), Span<Var* const>(writes, 1),
            kNsPerCompressedElement * static_cast<double>(to.Size()) < kInlineNanoseconds,
            where.is_gpu() ? FnProperty::kNormal : FnProperty::kCPUPrioritized, priority, "kvstore_decompress", CoversChunk(out) ? 0 : 1);
}

}  // namespace kvstore
}  // namespace mxnet
