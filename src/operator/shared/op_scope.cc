#include "operator/shared/op_scope.h"

#include <exception>

#include "base/ran.h"
#include "profiler/events.h"

namespace mxnet {
namespace profiler {
namespace {

double Flops(const Attrs& attrs, Span<const TBlob> in, Span<const TBlob> out) {
  if (attrs.op->flops) {
    try {
      return attrs.op->flops(attrs, in, out);
    } catch (const std::exception&) {  // an estimate that cannot be made must not fail the operator
    }
  }
  double count = 0;
  for (const TBlob& b : out) count += static_cast<double>(b.Size());
  return count;
}

}  // namespace

void OpScope::BeginEager(const Attrs& attrs, Span<const TBlob> in, Span<const TBlob> out, const RunContext& run) {
  if (!OpensEager(run)) return;
  const OpInfo* info = FindRecent(NameOf(attrs), attrs.param, in, out);
  if (info == nullptr)
    info = Remember(Describe(NameOf(attrs), Flops(attrs, in, out), in, out, nullptr), NameOf(attrs), attrs.param, in, out);
  OpenOp(&open_, info, kImperative, run);
  if (open_.kind != 0) Listen();
}

void OpScope::BeginNode(const OpInfo** info, const Attrs& attrs, Span<const TBlob> in, Span<const TBlob> out, const std::string& node,
                        const RunContext& run) {
  if (!OpensNode()) return;
  if (*info == nullptr) *info = Describe(NameOf(attrs), Flops(attrs, in, out), in, out, node.c_str());
  OpenOp(&open_, *info, kSymbolic, run);
  if (open_.kind != 0) Listen();
}

void OpScope::End() {
  detail::g_ran = outer_;
  if (outer_)  // whoever asks around this kernel wants to know it, too
    for (int i = 0; i < ran_.count; ++i) outer_->Add(ran_.parts[i]);
  CloseOp(&open_, ran_);
}

}  // namespace profiler
}  // namespace mxnet
