#include "operator/indexing/parts.h"

#include <algorithm>

#include "base/dtype.h"
#include "operator/indexing/host_values.h"
#include "operator/matrix/axes.h"
#include "operator/nodes/graph_operators.h"
#include "operator/runtime/array_call.h"

namespace mxnet {
namespace parts {
namespace {

// Arrays of mx.np are float32 unless they are told otherwise, so whole numbers of any dtype count.
List ValuesOf(const Attrs& attrs, const NDArray& index) {
  const int64_t n = index.shape().Size();
  List values(static_cast<size_t>(n));
  const HostValues given(index);
  ConvertElements(given.at(), index.dtype(), values.data(), kInt64, n);
  if (!IsFloating(index.dtype())) return values;
  std::vector<double> exact(values.size());
  ConvertElements(given.at(), index.dtype(), exact.data(), kFloat64, n);
  for (size_t i = 0; i < exact.size(); ++i)
    MXNET_CHECK_KIND(exact[i] == static_cast<double>(values[i]), Type)
        << "[" << attrs.op->name << "] obj holds " << exact[i] << "; accepted: whole numbers and bool";
  return values;
}

NDArray IndexArray(const List& values, Context ctx) {
  NDArray index(Shape({static_cast<int64_t>(values.size())}), ctx, kInt64);
  index.CopyBytesFrom(values.data(), values.size() * sizeof(int64_t));
  return index;
}

AttrsPtr TakeAttrs(const char* op, int axis) { return MakeAttrs(Op::Get(op), {{"axis", std::to_string(axis)}, {"mode", "clip"}}); }

}  // namespace

int64_t Count(const Runs& runs) {
  int64_t n = 0;
  for (const Run& r : runs) n += r.count;
  return n;
}

List Expanded(const Runs& runs) {
  List places;
  places.reserve(static_cast<size_t>(Count(runs)));
  for (const Run& r : runs)
    for (int64_t i = 0; i < r.count; ++i) places.push_back(r.begin + i);
  return places;
}

Runs Others(List gone, int64_t size) {
  std::sort(gone.begin(), gone.end());
  Runs runs;
  int64_t next = 0;
  for (int64_t at : gone) {
    if (at > next) runs.push_back({next, at - next});
    next = std::max(next, at + 1);
  }
  if (next < size) runs.push_back({next, size - next});
  return runs;
}

Along AlongAxis(const Attrs& attrs, const Shape& shape, const std::optional<int>& axis) {
  if (!axis.has_value()) return {Shape({shape.Size()}), 0};
  if (shape.ndim() == 0) {  // NumPy takes a number as an array of one
    CheckedAxis(attrs, axis.value(), 1);
    return {Shape({1}), 0};
  }
  return {shape, CheckedAxis(attrs, axis.value(), shape.ndim())};
}

List SlicePlaces(const Attrs& attrs, const PlaceSlice& p, int64_t size) {
  const int64_t step = p.step.has_value() ? p.step.value() : 1;
  MXNET_CHECK_KIND(step != 0, Value) << "[" << attrs.op->name << "] step is 0; accepted: any other number";
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  auto bound = [&](const std::optional<int>& given, int64_t otherwise) {
    if (!given.has_value()) return otherwise;
    const int64_t at = given.value() < 0 ? given.value() + size : given.value();
    return std::min(std::max(at, low), high);
  };
  List places;
  const int64_t start = bound(p.start, step > 0 ? low : high), stop = bound(p.stop, step > 0 ? high : low);
  for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) places.push_back(i);
  return places;
}

int64_t CheckedPlace(const Attrs& attrs, int64_t at, int64_t size, int64_t end) {
  MXNET_CHECK_KIND(at >= -size && at < end, Index)
      << "[" << attrs.op->name << "] index " << at << " is out of range; accepted: " << -size << " to " << end - 1;
  return at < 0 ? at + size : at;
}

List ArrayPlaces(const Attrs& attrs, const NDArray& index, int64_t size, int64_t end) {
  List values = ValuesOf(attrs, index);
  if (index.dtype() != kBool) {
    for (int64_t& v : values) v = CheckedPlace(attrs, v, size, end);
    return values;
  }
  MXNET_CHECK_KIND(index.shape().ndim() == 1 && index.shape()[0] == size, Index)
      << "[" << attrs.op->name << "] a mask of shape " << index.shape() << " for " << size << " entries; it needs one for each";
  List places;
  for (int64_t i = 0; i < size; ++i)
    if (values[static_cast<size_t>(i)] != 0) places.push_back(i);
  return places;
}

Shape WithSize(Shape s, int axis, int64_t size) {
  s[axis] = size;
  return s;
}

void GiveShape(const Attrs& attrs, NDArray* out, const Shape& to, const NDArray& like) {
  if (out->is_none()) out->Init(to, like.ctx(), like.dtype());
  MXNET_CHECK_KIND(out->shape() == to && out->dtype() == like.dtype(), Value)
      << "[" << attrs.op->name << "] out has shape " << out->shape() << " and dtype " << DTypeName(out->dtype()) << "; the result is " << to
      << " of " << DTypeName(like.dtype());
}

void Zero(const NDArray& a) { RunOnArrays(graph_ops::Zeros(), {}, {OpReq::kWrite}, {a}, false); }

void Take(const NDArray& data, const Along& along, const List& places, const NDArray& out) {
  if (out.shape().Size() == 0) return;
  RunOnArrays(TakeAttrs("take", along.axis), {data.Detach().Reshape(along.shape), IndexArray(places, data.ctx())}, {OpReq::kWrite},
              {out.Detach().Reshape(WithSize(along.shape, along.axis, static_cast<int64_t>(places.size())))}, false);
}

NDArray Part(const NDArray& data, const Along& along, const Run& run) {
  const NDArray whole = data.Detach().Reshape(along.shape);
  if (run.count == along.size()) return whole;
  const Shape to = WithSize(along.shape, along.axis, run.count);
  int64_t outer = 1;
  for (int d = 0; d < along.axis; ++d) outer *= along.shape[d];
  if (outer == 1)
    return whole.Reshape(Shape({along.size(), whole.shape().Size() / along.size()})).Slice(run.begin, run.begin + run.count).Reshape(to);
  NDArray part(to, data.ctx(), data.dtype());
  RunOnArrays(MakeAttrs(Op::Get("slice_axis"), {{"axis", std::to_string(along.axis)},
                                                {"begin", std::to_string(run.begin)},
                                                {"end", std::to_string(run.begin + run.count)}}),
              {data.Detach().Reshape(along.shape)}, {OpReq::kWrite}, {part}, false);
  return part;
}

void Join(const std::vector<NDArray>& parts, int axis, const NDArray& out) {
  if (parts.size() == 1) return RunOnArrays(graph_ops::Copy(), {parts[0]}, {OpReq::kWrite}, {out}, false);
  RunOnArrays(MakeAttrs(Op::Get("Concat"), {{"dim", std::to_string(axis)}, {"num_args", std::to_string(parts.size())}}), parts,
              {OpReq::kWrite}, {out}, false);
}

void Take(const NDArray& data, const Along& along, const Runs& runs, const NDArray& out) {
  if (out.shape().Size() == 0) return;
  if (runs.size() > kFewRuns) return Take(data, along, Expanded(runs), out);
  std::vector<NDArray> parts;
  for (const Run& r : runs) parts.push_back(Part(data, along, r));
  Join(parts, along.axis, out.Detach().Reshape(WithSize(along.shape, along.axis, Count(runs))));
}
void Put(const NDArray& data, const Along& along, const Runs& runs, const NDArray& out) {
  if (out.shape().Size() == 0) return;
  if (runs.empty()) return Zero(out);
  const List places = Expanded(runs);
  const NDArray whole = out.Detach().Reshape(along.shape);
  RunOnArrays(TakeAttrs("_backward_take", along.axis),
              {data.Detach().Reshape(WithSize(along.shape, along.axis, static_cast<int64_t>(places.size()))),
               IndexArray(places, data.ctx()), whole},
              {OpReq::kWrite}, {whole}, false);
}

bool FirstType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  for (int& t : *out) AssignType(attrs, "the result", &t, (*in)[0]);
  for (int t : *in)
    if (t == kDTypeUnknown) return false;
  return true;
}

}  // namespace parts
}  // namespace mxnet
