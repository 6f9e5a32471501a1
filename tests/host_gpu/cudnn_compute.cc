// Graphs of operations, one after the other on the host: in float32, or float64 where anything is;
// what is in memory, or virtual, is rounded to its type.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "cudnn_descriptor.h"
#include "host_gpu.h"

namespace host_gpu {
namespace cudnn {
namespace {

// Calls each(i, offset) for every element in row-major order of `dims`.
template <typename Each>
void Walk(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides, Each each) {
  const size_t nd = dims.size();
  std::vector<int64_t> at(nd, 0);
  int64_t count = 1, offset = 0;
  for (int64_t d : dims) count *= d;
  const int64_t inner = nd ? dims[nd - 1] : 1, step = nd ? strides[nd - 1] : 0;
  for (int64_t i = 0; i < count; i += inner) {
    for (int64_t j = 0; j < inner; ++j) each(i + j, offset + j * step);
    for (size_t k = nd - 1; k-- > 0;) {
      offset += strides[k];
      if (++at[k] < dims[k]) break;
      offset -= strides[k] * dims[k];
      at[k] = 0;
    }
  }
}

// Steps through a dense array of `from` that is broadcast to `to`.
std::vector<int64_t> BroadcastStrides(const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  std::vector<int64_t> strides(to.size());
  int64_t step = 1;
  for (size_t i = to.size(); i-- > 0;) {
    strides[i] = from[i] == 1 ? 0 : step;
    step *= from[i];
  }
  return strides;
}

// A convolution with three spatial dimensions, leading ones of size 1.
struct Shape {
  int64_t batch, groups, channels, filters;  // of a group
  int64_t in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];
  bool flipped;
  int64_t InSize() const { return in[0] * in[1] * in[2]; }
  int64_t OutSize() const { return out[0] * out[1] * out[2]; }
  int64_t KernelSize() const { return kernel[0] * kernel[1] * kernel[2]; }
};
Shape ShapeOf(const Operation& o, const Tensor& x, const Tensor& w, const Tensor& y) {
  Shape s;
  s.batch = x.dims[0], s.groups = x.dims[1] / w.dims[1], s.channels = w.dims[1], s.filters = w.dims[0] / s.groups, s.flipped = o.flipped;
  const size_t nd = o.stride.size(), first = 3 - nd;
  for (size_t i = 0; i < 3; ++i) {
    const bool there = i >= first;
    s.in[i] = there ? x.dims[2 + i - first] : 1, s.out[i] = there ? y.dims[2 + i - first] : 1,
    s.kernel[i] = there ? w.dims[2 + i - first] : 1;
    s.stride[i] = there ? o.stride[i - first] : 1, s.dilation[i] = there ? o.dilation[i - first] : 1,
    s.pad[i] = there ? o.before[i - first] : 0;
  }
  return s;
}

// Rows of (channel, position in the kernel), columns of results: data to columns, or columns added
// to data.
template <typename T, bool kBack>
void Columns(const Shape& s, T* data, T* columns) {
  T* column = columns;
  for (int64_t c = 0; c < s.channels; ++c)
    for (int64_t k = 0; k < s.KernelSize(); ++k) {
      const int64_t position = s.flipped ? s.KernelSize() - 1 - k : k;
      const int64_t kernel[3] = {position / (s.kernel[1] * s.kernel[2]), position / s.kernel[2] % s.kernel[1], position % s.kernel[2]};
      for (int64_t i = 0; i < s.out[0]; ++i)
        for (int64_t j = 0; j < s.out[1]; ++j) {
          const int64_t z = i * s.stride[0] + kernel[0] * s.dilation[0] - s.pad[0],
                        y = j * s.stride[1] + kernel[1] * s.dilation[1] - s.pad[1];
          T* row = data + ((c * s.in[0] + z) * s.in[1] + y) * s.in[2];
          const bool inside = z >= 0 && z < s.in[0] && y >= 0 && y < s.in[1];
          for (int64_t l = 0; l < s.out[2]; ++l, ++column) {
            const int64_t x = l * s.stride[2] + kernel[2] * s.dilation[2] - s.pad[2];
            const bool there = inside && x >= 0 && x < s.in[2];
            if (!kBack)
              *column = there ? row[x] : T{0};
            else if (there)
              row[x] += *column;
          }
        }
    }
}

template <typename T>
std::vector<T> Transposed(const T* from, int64_t rows, int64_t columns) {
  std::vector<T> to(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
  return to;
}

template <typename T>
class Interpreter {
 public:
  Interpreter(const Graph& graph, const Pack& pack, const std::map<int64_t, double>& numbers, const Arithmetic& arithmetic)
      : graph_(graph), pack_(pack), numbers_(numbers), arithmetic_(arithmetic) {}

  void Run() {
    for (const Operation& o : graph_.operations) {
      std::vector<T> result;
      if (IsConvolution(o))
        result = Convolution(o);
      else if (o.kind == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR)
        result = Matmul(o);
      else if (o.kind == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR)
        result = Reduction(o);
      else if (o.kind == CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR)
        result = Reshape(o);
      else if (o.kind == CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR)
        result = Random(o);
      else
        result = Pointwise(o);
      Keep(o.output, std::move(result));
    }
  }

 private:
  void* At(const Tensor& t) const { return pack_.pointers.at(t.uid); }

  // A tensor's elements without gaps; what no operation has made lies in memory.
  const std::vector<T>& Of(const Tensor& t) {
    const auto known = values_.find(t.uid);
    if (known != values_.end()) return known->second;
    return values_[t.uid] = t.by_value ? std::vector<T>{static_cast<T>(numbers_.at(t.uid))} : Gather(t);
  }
  std::vector<T> Gather(const Tensor& t) const {
    std::vector<T> dense(static_cast<size_t>(t.Count()));
    const void* from = At(t);
    Walk(t.dims, t.strides, [&](int64_t i, int64_t offset) { dense[static_cast<size_t>(i)] = Load<T>(t.number, from, offset); });
    return dense;
  }
  void Keep(const Tensor& t, std::vector<T> result) {
    if (t.number != Number::kFloat || sizeof(T) > sizeof(float))
      for (T& v : result) v = Rounded(t.number, v);
    if (!t.is_virtual) {
      void* to = At(t);
      Walk(t.dims, t.strides, [&](int64_t i, int64_t offset) { Store(t.number, to, offset, result[static_cast<size_t>(i)]); });
    }
    values_[t.uid] = std::move(result);
  }

  // As the engine's multipliers see it.
  std::vector<T> Factor(const Tensor& t) {
    std::vector<T> values = Of(t);
    if (t.type != CUDNN_DATA_FLOAT) return values;
    if (arithmetic_.inputs_in_tensor_float)
      for (T& v : values) v = static_cast<T>(ToTensorFloat(static_cast<float>(v)));
    if (arithmetic_.inputs_in_half)
      for (T& v : values) v = Rounded(Number::kHalf, v);
    return values;
  }

  std::vector<T> Convolution(const Operation& o) {
    const bool data = o.kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
               filter = o.kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
    const Tensor &x = data ? o.output : o.inputs[0], &w = filter ? o.output : o.inputs[1],
                 &y = data     ? o.inputs[0]
                      : filter ? o.inputs[1]
                               : o.output;
    const Shape s = ShapeOf(o, x, w, y);
    std::vector<T> first = Factor(o.inputs[0]);
    const std::vector<T> second = Factor(o.inputs[1]);
    std::vector<T> result(static_cast<size_t>(o.output.Count()));
    const int64_t depth = s.channels * s.KernelSize(), in = s.InSize(), out = s.OutSize();
    std::vector<T> columns(static_cast<size_t>(depth * out));
    for (int64_t n = 0; n < s.batch; ++n)
      for (int64_t g = 0; g < s.groups; ++g) {
        const int64_t at_x = (n * s.groups + g) * s.channels * in, at_w = g * s.filters * depth,
                      at_y = (n * s.groups + g) * s.filters * out;
        if (data) {
          const std::vector<T> turned = Transposed(&second[at_w], s.filters, depth);
          std::fill(columns.begin(), columns.end(), T{0});
          MultiplyAdd(depth, out, s.filters, turned.data(), s.filters, &first[at_y], out, columns.data(), out);
          Columns<T, true>(s, &result[at_x], columns.data());
        } else {
          Columns<T, false>(s, &first[at_x], columns.data());
          if (filter) {
            const std::vector<T> turned = Transposed(columns.data(), depth, out);
            MultiplyAdd(s.filters, depth, out, &second[at_y], out, turned.data(), depth, &result[at_w], depth);
          } else {
            MultiplyAdd(s.filters, out, depth, &second[at_w], depth, columns.data(), out, &result[at_y], out);
          }
        }
      }
    const T alpha = static_cast<T>(o.alpha), beta = static_cast<T>(o.beta);
    if (alpha != T{1})
      for (T& v : result) v *= alpha;
    if (beta != T{0}) {
      const std::vector<T> before = Gather(o.output);
      for (size_t i = 0; i < result.size(); ++i) result[i] += beta * before[i];
    }
    return result;
  }

  std::vector<T> Matmul(const Operation& o) {
    const Tensor &ta = o.inputs[0], &tb = o.inputs[1];
    const std::vector<T>&a = Of(ta), &b = Of(tb);
    const size_t nd = o.output.dims.size();
    const int64_t m = o.output.dims[nd - 2], n = o.output.dims[nd - 1], k = ta.dims[nd - 1];
    std::vector<T> c(static_cast<size_t>(o.output.Count()));
    const int64_t batch = o.output.Count() / (m * n);
    for (int64_t i = 0; i < batch; ++i) {
      // an operand with fewer matrices has each for several of the result's in a row
      int64_t rest = i, of_a = 0, of_b = 0, step_a = 1, step_b = 1;
      for (size_t j = nd - 2; j-- > 0;) {
        const int64_t at = rest % o.output.dims[j];
        rest /= o.output.dims[j];
        of_a += at / (o.output.dims[j] / ta.dims[j]) * step_a, step_a *= ta.dims[j];
        of_b += at / (o.output.dims[j] / tb.dims[j]) * step_b, step_b *= tb.dims[j];
      }
      MultiplyAdd(m, n, k, &a[of_a * m * k], k, &b[of_b * k * n], n, &c[i * m * n], n);
    }
    return c;
  }

  std::vector<T> Reduction(const Operation& o) {
    const Tensor& tx = o.inputs[0];
    const std::vector<T>& x = Of(tx);
    std::vector<T> y(static_cast<size_t>(o.output.Count()));
    std::vector<int64_t> counts(y.size(), 0);
    Walk(tx.dims, BroadcastStrides(o.output.dims, tx.dims), [&](int64_t i, int64_t to) {
      const T v = x[static_cast<size_t>(i)], size = std::fabs(v);
      T& r = y[static_cast<size_t>(to)];
      const bool first = counts[static_cast<size_t>(to)]++ == 0;
      switch (o.reduction) {
        case CUDNN_REDUCE_TENSOR_ADD:
        case CUDNN_REDUCE_TENSOR_AVG: r += v; break;
        case CUDNN_REDUCE_TENSOR_MUL: r = first ? v : r * v; break;
        case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS: r = first ? (v == 0 ? T{1} : v) : v == 0 ? r : r * v; break;
        case CUDNN_REDUCE_TENSOR_MIN: r = first || v < r || std::isnan(v) ? v : r; break;
        case CUDNN_REDUCE_TENSOR_MAX: r = first || v > r || std::isnan(v) ? v : r; break;
        case CUDNN_REDUCE_TENSOR_AMAX: r = std::max(r, size); break;
        case CUDNN_REDUCE_TENSOR_NORM1: r += size; break;
        case CUDNN_REDUCE_TENSOR_NORM2: r += v * v; break;
      }
    });
    for (size_t i = 0; i < y.size(); ++i) {
      if (o.reduction == CUDNN_REDUCE_TENSOR_AVG) y[i] /= static_cast<T>(counts[i]);
      if (o.reduction == CUDNN_REDUCE_TENSOR_NORM2) y[i] = std::sqrt(y[i]);
    }
    return y;
  }

  // 1 or 0 by seed, offset and place; other numbers than anybody else's: who mixes them up sees it.
  std::vector<T> Random(const Operation& o) const {
    uint64_t given[2];
    for (size_t i = 0; i < 2; ++i) std::memcpy(&given[i], At(o.inputs[i]), sizeof given[i]);
    std::vector<T> y(static_cast<size_t>(o.output.Count()));
    for (size_t i = 0; i < y.size(); ++i) {
      uint64_t x = given[0] ^ 0x686f7374677075;
      for (const uint64_t part : {given[1], static_cast<uint64_t>(i)}) {  // SplitMix64 (Steele, Lea, Flood 2014)
        x += part + 0x9e3779b97f4a7c15;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
        x = (x ^ x >> 27) * 0x94d049bb133111eb;
        x ^= x >> 31;
      }
      y[i] = static_cast<double>(x >> 11) * 0x1p-53 < o.alpha ? T{1} : T{0};
    }
    return y;
  }

  // The same memory seen otherwise: an element goes where its address goes.
  std::vector<T> Reshape(const Operation& o) {
    const Tensor &tx = o.inputs[0], &ty = o.output;
    const std::vector<T>& x = Of(tx);
    std::vector<T> memory(static_cast<size_t>(tx.Extent())), y(static_cast<size_t>(ty.Count()));
    Walk(tx.dims, tx.strides, [&](int64_t i, int64_t offset) { memory[static_cast<size_t>(offset)] = x[static_cast<size_t>(i)]; });
    Walk(ty.dims, ty.strides, [&](int64_t i, int64_t offset) { y[static_cast<size_t>(i)] = memory[static_cast<size_t>(offset)]; });
    return y;
  }

  std::vector<T> Pointwise(const Operation& o) {
    const std::vector<int64_t>& dims = o.output.dims;
    std::vector<T> y(static_cast<size_t>(o.output.Count()));
    const size_t arity = o.inputs.size();
    std::vector<T> operands[3];
    for (size_t i = 0; i < arity; ++i) {
      const std::vector<T>& values = Of(o.inputs[i]);
      operands[i].resize(y.size());
      Walk(dims, BroadcastStrides(o.inputs[i].dims, dims),
           [&](int64_t j, int64_t from) { operands[i][static_cast<size_t>(j)] = values[static_cast<size_t>(from)]; });
    }
    const T alpha = static_cast<T>(o.alpha), beta = static_cast<T>(o.beta);
    for (size_t i = 0; i < y.size(); ++i)
      y[i] = One(o, alpha * operands[0][i], arity > 1 ? beta * operands[1][i] : T{0}, arity > 2 ? operands[2][i] : T{0});
    return y;
  }

  static T One(const Operation& o, T x, T b, T t) {
    const T one{1}, zero{0};
    switch (o.mode) {
      case CUDNN_POINTWISE_ADD: return x + b;
      case CUDNN_POINTWISE_ADD_SQUARE: return x + b * b;
      case CUDNN_POINTWISE_SUB: return x - b;
      case CUDNN_POINTWISE_MUL: return x * b;
      case CUDNN_POINTWISE_DIV: return x / b;
      case CUDNN_POINTWISE_MAX: return std::max(x, b);
      case CUDNN_POINTWISE_MIN: return std::min(x, b);
      case CUDNN_POINTWISE_MOD: return x - std::floor(x / b) * b;
      case CUDNN_POINTWISE_POW: return std::pow(x, b);
      case CUDNN_POINTWISE_ATAN2: return std::atan2(x, b);
      case CUDNN_POINTWISE_ABS: return std::fabs(x);
      case CUDNN_POINTWISE_CEIL: return std::ceil(x);
      case CUDNN_POINTWISE_FLOOR: return std::floor(x);
      case CUDNN_POINTWISE_COS: return std::cos(x);
      case CUDNN_POINTWISE_SIN: return std::sin(x);
      case CUDNN_POINTWISE_TAN: return std::tan(x);
      case CUDNN_POINTWISE_EXP: return std::exp(x);
      case CUDNN_POINTWISE_LOG: return std::log(x);
      case CUDNN_POINTWISE_NEG: return -x;
      case CUDNN_POINTWISE_SQRT: return std::sqrt(x);
      case CUDNN_POINTWISE_RSQRT: return one / std::sqrt(x);
      case CUDNN_POINTWISE_RECIPROCAL: return one / x;
      case CUDNN_POINTWISE_ERF: return std::erf(x);
      case CUDNN_POINTWISE_IDENTITY: return x;
      case CUDNN_POINTWISE_RELU_FWD: {
        const T lower = static_cast<T>(o.lower), upper = static_cast<T>(o.upper);
        return x < lower ? lower + static_cast<T>(o.slope) * (x - lower) : x > upper ? upper : x;
      }
      case CUDNN_POINTWISE_TANH_FWD: return std::tanh(x);
      case CUDNN_POINTWISE_SIGMOID_FWD: return one / (one + std::exp(-x));
      case CUDNN_POINTWISE_ELU_FWD: return x > zero ? x : static_cast<T>(o.elu_alpha) * std::expm1(x);
      case CUDNN_POINTWISE_GELU_FWD: return x / 2 * (one + std::erf(x * static_cast<T>(0.7071067811865476)));
      case CUDNN_POINTWISE_GELU_APPROX_TANH_FWD:
        return x / 2 * (one + std::tanh(static_cast<T>(0.7978845608028654) * (x + static_cast<T>(0.044715) * x * x * x)));
      case CUDNN_POINTWISE_SOFTPLUS_FWD: return std::log1p(std::exp(static_cast<T>(o.softplus_beta) * x)) / static_cast<T>(o.softplus_beta);
      case CUDNN_POINTWISE_SWISH_FWD: return x / (one + std::exp(-static_cast<T>(o.swish_beta) * x));
      // x: the gradient, b: what went in
      case CUDNN_POINTWISE_RELU_BWD:
        return b > static_cast<T>(o.lower) && b < static_cast<T>(o.upper) ? x
               : b <= static_cast<T>(o.lower)                             ? static_cast<T>(o.slope) * x
                                                                          : zero;
      case CUDNN_POINTWISE_TANH_BWD: return x * (one - std::tanh(b) * std::tanh(b));
      case CUDNN_POINTWISE_SIGMOID_BWD: return x * (one / (one + std::exp(-b))) * (one - one / (one + std::exp(-b)));
      case CUDNN_POINTWISE_CMP_EQ: return x == b;
      case CUDNN_POINTWISE_CMP_NEQ: return x != b;
      case CUDNN_POINTWISE_CMP_GT: return x > b;
      case CUDNN_POINTWISE_CMP_GE: return x >= b;
      case CUDNN_POINTWISE_CMP_LT: return x < b;
      case CUDNN_POINTWISE_CMP_LE: return x <= b;
      case CUDNN_POINTWISE_LOGICAL_AND: return x != zero && b != zero;
      case CUDNN_POINTWISE_LOGICAL_OR: return x != zero || b != zero;
      case CUDNN_POINTWISE_LOGICAL_NOT: return x == zero;
      case CUDNN_POINTWISE_BINARY_SELECT: return t != zero ? x : b;
      default: return NAN;  // refused when the operation was finalized
    }
  }

  const Graph& graph_;
  const Pack& pack_;
  const std::map<int64_t, double>& numbers_;
  const Arithmetic arithmetic_;
  std::map<int64_t, std::vector<T>> values_;
};

}  // namespace

void Compute(const Graph& graph, const Pack& pack, const std::map<int64_t, double>& numbers, const Arithmetic& arithmetic) {
  if (graph.wide)
    Interpreter<double>(graph, pack, numbers, arithmetic).Run();
  else
    Interpreter<float>(graph, pack, numbers, arithmetic).Run();
}

}  // namespace cudnn
}  // namespace host_gpu
