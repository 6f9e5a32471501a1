// unique: the different elements of an array, or slices of one dimension, in order. Their number
// depends on the values, so arrays are read on the calling thread, and sorted on the host.
#include <algorithm>
#include <memory>
#include <numeric>

#include "operator/indexing/host_values.h"
#include "operator/indexing/order.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move_cpu.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"

namespace mxnet {
namespace {

struct UniqueParam : public Parameter<UniqueParam> {
  bool return_index, return_inverse, return_counts;
  std::optional<int> axis;
  MXNET_DECLARE_PARAM(UniqueParam) {
    MXNET_FIELD(return_index).set_default(false).describe("Give the first position of each, too.");
    MXNET_FIELD(return_inverse).set_default(false).describe("Give for each element the position among the results, too.");
    MXNET_FIELD(return_counts).set_default(false).describe("Give how often each stands in the array, too.");
    MXNET_FIELD(axis).set_default(std::optional<int>()).describe("Compare slices of this dimension; None takes the elements.");
  }
};
MXNET_REGISTER_PARAM(UniqueParam);

int Outputs(const Attrs& attrs) {
  const auto& p = attrs.get<UniqueParam>();
  return 1 + p.return_index + p.return_inverse + p.return_counts;
}

// NaN stands behind everything, and is equal to itself.
template <typename T>
int Compare(T a, T b) {
  if (a < b) return -1;
  if (b < a) return 1;
  if (a == b) return 0;
  const bool a_number = a == a, b_number = b == b;
  return a_number == b_number ? 0 : (a_number ? -1 : 1);
}

struct Wanted {
  bool first, of_row, counts;  // what is asked for beside the values
};

// The first row of each kind in order, which kind each row is, and how many each has.
struct Kinds {
  std::vector<int64_t> first, of_row, counts;
};

// From the rows in order: differ(i) says whether row order[i] is not of the kind of row
// order[i - 1].
template <typename F>
Kinds Gathered(const std::vector<int64_t>& order, const F& differ) {
  Kinds kinds;
  kinds.of_row.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || differ(i)) {
      kinds.first.push_back(order[i]);
      kinds.counts.push_back(0);
    }
    kinds.of_row[static_cast<size_t>(order[i])] = static_cast<int64_t>(kinds.first.size()) - 1;
    ++kinds.counts.back();
  }
  return kinds;
}

// Of rows of `width` elements.
Kinds FindRows(const void* rows, int dtype, int64_t n, int64_t width) {
  Kinds kinds;
  VisitDType(dtype, "_npi_unique", [&](auto tag) {
    using T = decltype(tag);
    const T* x = static_cast<const T*>(rows);
    auto compare = [&](int64_t a, int64_t b) {
      for (int64_t k = 0; k < width; ++k)
        if (const int c = Compare(x[a * width + k], x[b * width + k])) return c;
      return 0;
    };
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return compare(a, b) < 0; });
    kinds = Gathered(order, [&](size_t i) { return compare(order[i - 1], order[i]) != 0; });
  });
  return kinds;
}

// Of single elements: the different ones move to the front of `values`, which has room for as many
// as `data`.
Kinds FindElements(const TBlob& data, const Wanted& wanted, void* values, int64_t* different) {
  const int64_t n = data.Size();
  const bool positions = wanted.first || wanted.of_row;
  std::vector<int64_t> order(static_cast<size_t>(positions ? n : 0));
  OrderEntries(data, 1, n, 1, n, true, values, positions ? order.data() : nullptr);
  Kinds kinds;
  VisitDType(data.dtype, "_npi_unique", [&](auto tag) {
    using T = decltype(tag);
    T* x = static_cast<T*>(values);
    if (positions) kinds = Gathered(order, [&](size_t i) { return Compare(x[i - 1], x[i]) != 0; });
    int64_t m = 0, since = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (m > 0 && Compare(x[m - 1], x[i]) == 0) continue;
      if (m > 0 && wanted.counts && !positions) kinds.counts.push_back(i - since);
      since = i;
      x[m++] = x[i];
    }
    if (m > 0 && wanted.counts && !positions) kinds.counts.push_back(n - since);
    *different = m;
  });
  return kinds;
}

void Give(const Attrs& attrs, NDArray* out, const Shape& to, Context ctx, int dtype, const void* values) {
  if (out->is_none()) out->Init(to, ctx, dtype);
  MXNET_CHECK_KIND(out->shape() == to && out->dtype() == dtype, Value)
      << "[" << attrs.op->name << "] out has shape " << out->shape() << " and dtype " << DTypeName(out->dtype()) << "; the result is " << to
      << " of " << DTypeName(dtype);
  out->CopyBytesFrom(values, static_cast<size_t>(to.Size()) * DTypeSize(dtype));
}

void GiveRest(const Attrs& attrs, const Wanted& wanted, const Kinds& kinds, Context ctx, const std::vector<NDArray*>& out) {
  size_t next = 1;
  auto give = [&](bool asked, const std::vector<int64_t>& numbers) {
    if (asked) Give(attrs, out[next++], Shape({static_cast<int64_t>(numbers.size())}), ctx, kInt64, numbers.data());
  };
  give(wanted.first, kinds.first);
  give(wanted.of_row, kinds.of_row);
  give(wanted.counts, kinds.counts);
}

void Unique(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const auto& p = attrs.get<UniqueParam>();
  const Wanted wanted{p.return_index, p.return_inverse, p.return_counts};
  const NDArray& data = *in[0];
  const bool whole = !p.axis.has_value();
  const Shape s = whole ? Shape({data.shape().Size()}) : data.shape();
  const int axis = whole ? 0 : CheckedAxis(attrs, p.axis.value(), s.ndim());
  const int64_t outer = s.Prod(0, axis), n = s[axis], inner = s.Prod(axis + 1, s.ndim()), width = outer * inner;
  const int64_t bytes = static_cast<int64_t>(DTypeSize(data.dtype()));
  HostValues values(data, HostValues::kHeld);
  const std::unique_ptr<char[]> rows(new char[static_cast<size_t>(s.Size() * bytes) + 1]);
  Shape to = s;
  if (width == 1) {
    const Kinds kinds = FindElements(values.blob(), wanted, rows.get(), &to[axis]);
    values.Release();
    Give(attrs, out[0], to, data.ctx(), data.dtype(), rows.get());
    return GiveRest(attrs, wanted, kinds, data.ctx(), out);
  }
  const int axes[3] = {1, 0, 2}, back[3] = {1, 0, 2};
  if (s.Size() > 0) Permute(values.at(), Shape({outer, n, inner}), axes, rows.get(), static_cast<size_t>(bytes));
  values.Release();
  const Kinds kinds = FindRows(rows.get(), data.dtype(), n, width);
  const int64_t m = static_cast<int64_t>(kinds.first.size());
  to[axis] = m;
  std::vector<char> chosen(static_cast<size_t>(m * width * bytes)), result(chosen.size());
  for (int64_t i = 0; i < m && width > 0; ++i)
    std::copy_n(rows.get() + kinds.first[static_cast<size_t>(i)] * width * bytes, width * bytes, chosen.data() + i * width * bytes);
  if (!chosen.empty()) Permute(chosen.data(), Shape({m, outer, inner}), back, result.data(), static_cast<size_t>(bytes));
  Give(attrs, out[0], to, data.ctx(), data.dtype(), result.data());
  GiveRest(attrs, wanted, kinds, data.ctx(), out);
}

bool UniqueShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<UniqueParam>();
  Shape to = (*in)[0];
  if (!to.known()) return false;
  const int64_t n = p.axis.has_value() ? to[CheckedAxis(attrs, p.axis.value(), to.ndim())] : to.Size();
  if (p.axis.has_value())
    to[CheckedAxis(attrs, p.axis.value(), to.ndim())] = Shape::kUnknownDim;
  else
    to = Shape({Shape::kUnknownDim});
  AssignShape(attrs, "the result", &(*out)[0], to);
  bool known = (*out)[0].known();
  for (size_t i = 1; i < out->size(); ++i) {
    const bool inverse = p.return_inverse && i == (p.return_index ? 2u : 1u);
    AssignShape(attrs, "the result", &(*out)[i], Shape({inverse ? n : Shape::kUnknownDim}));
    known = known && (*out)[i].known();
  }
  return known;
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("_npi_unique")
      .describe("The different elements of an array, or slices of one dimension, in order. NaN stands last, once.")
      .set_param<UniqueParam>()
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_num_outputs(Outputs)
      .set_infer_shape(UniqueShape)
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        for (size_t i = 0; i < out->size(); ++i) AssignType(attrs, "the result", &(*out)[i], i == 0 ? (*in)[0] : static_cast<int>(kInt64));
        return (*in)[0] != kDTypeUnknown;
      })
      .set_zero_gradient()
      .set_array_fn(Unique);
  return true;
}();

}  // namespace
}  // namespace mxnet
