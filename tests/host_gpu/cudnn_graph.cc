// What finalizing looks at in tensors, operations and graphs of them.
#include <algorithm>
#include <set>

#include "cudnn_descriptor.h"

namespace host_gpu {
namespace cudnn {
namespace {

constexpr char kFunction[] = "cudnnBackendFinalize";

cudnnStatus_t Bad(const Descriptor& d, const std::string& why) {
  return Fail(CUDNN_STATUS_BAD_PARAM, kFunction, std::string(NameOf(d.type)) + ": " + why);
}
cudnnStatus_t Unsupported(const Descriptor& d, const std::string& why) {
  return Fail(CUDNN_STATUS_NOT_SUPPORTED, kFunction, std::string(NameOf(d.type)) + ": " + why);
}

bool NumberOf(cudnnDataType_t type, Number* number) {
  switch (type) {
    case CUDNN_DATA_FLOAT: *number = Number::kFloat; return true;
    case CUDNN_DATA_DOUBLE: *number = Number::kDouble; return true;
    case CUDNN_DATA_HALF: *number = Number::kHalf; return true;
    case CUDNN_DATA_BFLOAT16: *number = Number::kBfloat16; return true;
    case CUDNN_DATA_INT8: *number = Number::kInt8; return true;
    case CUDNN_DATA_UINT8: *number = Number::kUint8; return true;
    case CUDNN_DATA_INT32: *number = Number::kInt32; return true;
    case CUDNN_DATA_INT64: *number = Number::kInt64; return true;
    case CUDNN_DATA_BOOLEAN: *number = Number::kBoolean; return true;
    default: return false;
  }
}

std::string List(const std::vector<int64_t>& values) {
  std::string text = "(";
  for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + ")";
}

}  // namespace

int64_t Tensor::Count() const {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  return count;
}
int64_t Tensor::Extent() const {
  int64_t last = 0;
  for (size_t i = 0; i < dims.size(); ++i) last += (dims[i] - 1) * strides[i];
  return last + 1;
}
bool Tensor::Same(const Tensor& o) const {
  return uid == o.uid && alignment == o.alignment && type == o.type && dims == o.dims && strides == o.strides &&
         is_virtual == o.is_virtual && by_value == o.by_value;
}
std::string Tensor::Text() const { return "tensor " + std::to_string(uid) + " of " + List(dims); }

bool IsConvolution(const Operation& o) {
  return o.kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR ||
         o.kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ||
         o.kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
}

cudnnStatus_t FinalizeTensor(Descriptor* d) {
  auto t = std::make_shared<Tensor>();
  t->uid = d->Value<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
  t->alignment = d->Value<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 0);
  t->type = d->Value<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
  t->dims = d->Values<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  t->strides = d->Values<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  t->is_virtual = d->Value<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0) != 0;
  t->by_value = d->Value<char>(CUDNN_ATTR_TENSOR_IS_BY_VALUE, 0) != 0;
  if (!NumberOf(t->type, &t->number)) return Unsupported(*d, "data type " + std::to_string(t->type));
  if (t->dims.size() != t->strides.size())
    return Bad(*d, std::to_string(t->dims.size()) + " dimensions, " + std::to_string(t->strides.size()) + " strides");
  for (size_t i = 0; i < t->dims.size(); ++i) {
    if (t->dims[i] < 1) return Bad(*d, "dimensions " + List(t->dims) + "; at least 1 each");
    if (t->strides[i] < 0) return Bad(*d, "strides " + List(t->strides));
  }
  const int64_t size = static_cast<int64_t>(SizeOf(t->number));
  if (t->alignment <= 0 || t->alignment % size)
    return Bad(*d, t->Text() + " aligned to " + std::to_string(t->alignment) + " bytes; a multiple of its type's " + std::to_string(size) +
                       " is needed");
  if (t->is_virtual && t->by_value) return Bad(*d, t->Text() + " is virtual and given by value");
  if (t->by_value && t->Count() != 1) return Bad(*d, t->Text() + " is given by value");
  d->tensor = t;
  return CUDNN_STATUS_SUCCESS;
}

namespace {

cudnnStatus_t CheckConvolutionDescriptor(Descriptor* d) {
  const int64_t nd = d->Value<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0);
  const std::vector<int64_t> zeros(static_cast<size_t>(std::max<int64_t>(nd, 0)), 0);
  for (int name : {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS})
    if (!d->Has(name)) d->Keep(name, CUDNN_TYPE_INT64, zeros);
  if (nd < 1) return Bad(*d, std::to_string(nd) + " spatial dimensions");
  for (int name : {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
                   CUDNN_ATTR_CONVOLUTION_POST_PADDINGS}) {
    const std::vector<int64_t> values = d->Values<int64_t>(name);
    const int64_t least = name == CUDNN_ATTR_CONVOLUTION_DILATIONS || name == CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES;
    if (static_cast<int64_t>(values.size()) != nd)
      return Bad(*d, "attribute " + std::to_string(name) + " has " + std::to_string(values.size()) + " elements for " + std::to_string(nd) +
                         " spatial dimensions");
    for (int64_t v : values)
      if (v < least) return Bad(*d, "attribute " + std::to_string(name) + " is " + List(values));
  }
  return CUDNN_STATUS_SUCCESS;
}

// `x`, `w`, `y`: data, weights, result or their gradients.
cudnnStatus_t CheckConvolution(const Descriptor& d, const Descriptor& how, const Tensor& x, const Tensor& w, const Tensor& y,
                               Operation* o) {
  o->compute = how.Value<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  o->flipped = how.Value<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION) == CUDNN_CONVOLUTION;
  o->dilation = how.Values<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  o->stride = how.Values<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  o->before = how.Values<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  o->behind = how.Values<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  const size_t nd = o->stride.size();
  const std::string which = "data " + List(x.dims) + ", weights " + List(w.dims) + ", result " + List(y.dims);
  if (x.dims.size() != nd + 2 || w.dims.size() != nd + 2 || y.dims.size() != nd + 2)
    return Bad(d, which + " with " + std::to_string(nd) + " spatial dimensions");
  if (nd > 3) return Unsupported(d, which);
  if (x.dims[0] != y.dims[0]) return Bad(d, "batch sizes differ: " + which);
  if (y.dims[1] != w.dims[0]) return Bad(d, "numbers of filters differ: " + which);
  if (x.dims[1] % w.dims[1] || w.dims[0] % (x.dims[1] / w.dims[1])) return Bad(d, "channels do not fall into groups: " + which);
  for (size_t i = 0; i < nd; ++i) {
    const int64_t window = (w.dims[2 + i] - 1) * o->dilation[i] + 1, room = x.dims[2 + i] + o->before[i] + o->behind[i] - window;
    if (room < 0 || y.dims[2 + i] != room / o->stride[i] + 1)
      return Bad(d, "spatial dimension " + std::to_string(i) + " of the result should be " +
                        std::to_string(room < 0 ? 0 : room / o->stride[i] + 1) + ": " + which);
  }
  for (const Tensor* t : {&x, &w, &y})
    if (t->by_value) return Bad(d, t->Text() + " is given by value");
  if ((x.type == CUDNN_DATA_DOUBLE || w.type == CUDNN_DATA_DOUBLE || y.type == CUDNN_DATA_DOUBLE) && o->compute != CUDNN_DATA_DOUBLE)
    return Unsupported(d, "float64 computed in a narrower type");
  return CUDNN_STATUS_SUCCESS;
}

bool Backward(cudnnPointwiseMode_t mode) { return mode >= CUDNN_POINTWISE_RELU_BWD && mode < CUDNN_POINTWISE_CMP_EQ; }

// How many inputs a mode has; 0: not in the stand-in.
int Arity(cudnnPointwiseMode_t mode) {
  switch (mode) {
    case CUDNN_POINTWISE_ADD:
    case CUDNN_POINTWISE_ADD_SQUARE:
    case CUDNN_POINTWISE_DIV:
    case CUDNN_POINTWISE_MAX:
    case CUDNN_POINTWISE_MIN:
    case CUDNN_POINTWISE_MOD:
    case CUDNN_POINTWISE_MUL:
    case CUDNN_POINTWISE_POW:
    case CUDNN_POINTWISE_SUB:
    case CUDNN_POINTWISE_ATAN2:
    case CUDNN_POINTWISE_CMP_EQ:
    case CUDNN_POINTWISE_CMP_NEQ:
    case CUDNN_POINTWISE_CMP_GT:
    case CUDNN_POINTWISE_CMP_GE:
    case CUDNN_POINTWISE_CMP_LT:
    case CUDNN_POINTWISE_CMP_LE:
    case CUDNN_POINTWISE_LOGICAL_AND:
    case CUDNN_POINTWISE_LOGICAL_OR:
    case CUDNN_POINTWISE_RELU_BWD:
    case CUDNN_POINTWISE_TANH_BWD:
    case CUDNN_POINTWISE_SIGMOID_BWD: return 2;
    case CUDNN_POINTWISE_ABS:
    case CUDNN_POINTWISE_CEIL:
    case CUDNN_POINTWISE_COS:
    case CUDNN_POINTWISE_EXP:
    case CUDNN_POINTWISE_FLOOR:
    case CUDNN_POINTWISE_LOG:
    case CUDNN_POINTWISE_NEG:
    case CUDNN_POINTWISE_RSQRT:
    case CUDNN_POINTWISE_SIN:
    case CUDNN_POINTWISE_SQRT:
    case CUDNN_POINTWISE_TAN:
    case CUDNN_POINTWISE_ERF:
    case CUDNN_POINTWISE_IDENTITY:
    case CUDNN_POINTWISE_RECIPROCAL:
    case CUDNN_POINTWISE_RELU_FWD:
    case CUDNN_POINTWISE_TANH_FWD:
    case CUDNN_POINTWISE_SIGMOID_FWD:
    case CUDNN_POINTWISE_ELU_FWD:
    case CUDNN_POINTWISE_GELU_FWD:
    case CUDNN_POINTWISE_SOFTPLUS_FWD:
    case CUDNN_POINTWISE_SWISH_FWD:
    case CUDNN_POINTWISE_GELU_APPROX_TANH_FWD:
    case CUDNN_POINTWISE_LOGICAL_NOT: return 1;
    case CUDNN_POINTWISE_BINARY_SELECT: return 3;
    default: return 0;
  }
}

cudnnStatus_t CheckPointwise(const Descriptor& d, Operation* o) {
  const Descriptor& how = *d.Link(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  o->mode = how.Value<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_ADD);
  o->compute = how.Value<cudnnDataType_t>(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
  o->lower = how.Real(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0);
  o->upper = how.Real(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, HUGE_VAL);
  o->slope = how.Real(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0);
  o->elu_alpha = how.Real(CUDNN_ATTR_POINTWISE_ELU_ALPHA, 1);
  o->softplus_beta = how.Real(CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, 1);
  o->swish_beta = how.Real(CUDNN_ATTR_POINTWISE_SWISH_BETA, 1);
  o->alpha = d.Real(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1);
  o->beta = d.Real(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1);
  const int arity = Arity(o->mode);
  if (!arity) return Unsupported(d, "mode " + std::to_string(o->mode) + ", which the stand-in does not have");
  const bool backward = Backward(o->mode);
  const int names[] = {backward ? CUDNN_ATTR_OPERATION_POINTWISE_DYDESC : CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                       backward ? CUDNN_ATTR_OPERATION_POINTWISE_XDESC : CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                       CUDNN_ATTR_OPERATION_POINTWISE_TDESC};
  const int result = backward ? CUDNN_ATTR_OPERATION_POINTWISE_DXDESC : CUDNN_ATTR_OPERATION_POINTWISE_YDESC;
  if (!d.Has(result)) return Bad(d, "mode " + std::to_string(o->mode) + " without its result");
  o->output = *d.Link(result)->tensor;
  for (int i = 0; i < 3; ++i) {
    if (d.Has(names[i]) != (i < arity)) {
      if (i >= arity) continue;  // an operand that the mode does not have is not looked at
      return Bad(d, "mode " + std::to_string(o->mode) + " without attribute " + std::to_string(names[i]));
    }
    if (i >= arity) continue;
    const Tensor& t = *d.Link(names[i])->tensor;
    if (t.dims.size() != o->output.dims.size()) return Bad(d, t.Text() + " for " + o->output.Text() + ": numbers of dimensions differ");
    for (size_t j = 0; j < t.dims.size(); ++j)
      if (t.dims[j] != o->output.dims[j] && t.dims[j] != 1) return Bad(d, t.Text() + " cannot be broadcast to " + o->output.Text());
    o->inputs.push_back(t);
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CheckMatmul(const Descriptor& d, Operation* o) {
  o->compute = d.Link(CUDNN_ATTR_OPERATION_MATMUL_DESC)->Value<cudnnDataType_t>(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  const Tensor &a = *d.Link(CUDNN_ATTR_OPERATION_MATMUL_ADESC)->tensor, &b = *d.Link(CUDNN_ATTR_OPERATION_MATMUL_BDESC)->tensor,
               &c = *d.Link(CUDNN_ATTR_OPERATION_MATMUL_CDESC)->tensor;
  o->inputs = {a, b};
  o->output = c;
  const size_t nd = c.dims.size();
  const std::string which = List(a.dims) + " times " + List(b.dims) + " into " + List(c.dims);
  if (nd < 2 || a.dims.size() != nd || b.dims.size() != nd) return Bad(d, which);
  if (a.dims[nd - 1] != b.dims[nd - 2] || a.dims[nd - 2] != c.dims[nd - 2] || b.dims[nd - 1] != c.dims[nd - 1]) return Bad(d, which);
  for (size_t i = 0; i + 2 < nd; ++i)
    if (c.dims[i] != std::max(a.dims[i], b.dims[i]) || c.dims[i] % a.dims[i] || c.dims[i] % b.dims[i])
      return Bad(d, "batch dimensions: " + which);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CheckReduction(const Descriptor& d, Operation* o) {
  const Descriptor& how = *d.Link(CUDNN_ATTR_OPERATION_REDUCTION_DESC);
  o->compute = how.Value<cudnnDataType_t>(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  o->reduction = how.Value<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_REDUCE_TENSOR_ADD);
  const Tensor &x = *d.Link(CUDNN_ATTR_OPERATION_REDUCTION_XDESC)->tensor, &y = *d.Link(CUDNN_ATTR_OPERATION_REDUCTION_YDESC)->tensor;
  o->inputs = {x};
  o->output = y;
  if (x.dims.size() != y.dims.size()) return Bad(d, List(x.dims) + " to " + List(y.dims));
  for (size_t i = 0; i < x.dims.size(); ++i)
    if (y.dims[i] != x.dims[i] && y.dims[i] != 1) return Bad(d, List(x.dims) + " to " + List(y.dims));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CheckRandom(const Descriptor& d, Operation* o) {
  const Descriptor& how = *d.Link(CUDNN_ATTR_OPERATION_RNG_DESC);
  if (how.Value<cudnnRngDistribution_t>(CUDNN_ATTR_RNG_DISTRIBUTION, CUDNN_RNG_DISTRIBUTION_UNIFORM) != CUDNN_RNG_DISTRIBUTION_BERNOULLI)
    return Unsupported(d, "the stand-in has Bernoulli's distribution alone");
  o->alpha = how.Real(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, -1);
  if (!(o->alpha >= 0 && o->alpha <= 1)) return Bad(d, "a probability of " + std::to_string(o->alpha));
  o->inputs = {*d.Link(CUDNN_ATTR_OPERATION_RNG_SEED)->tensor, *d.Link(CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC)->tensor};
  o->output = *d.Link(CUDNN_ATTR_OPERATION_RNG_YDESC)->tensor;
  for (const Tensor& t : o->inputs)
    if (t.Count() != 1 || t.type != CUDNN_DATA_INT64 || t.is_virtual || t.by_value)
      return Unsupported(d, t.Text() + ": seed and offset are one int64 each, in memory");
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t CheckReshape(const Descriptor& d, Operation* o) {
  const Tensor &x = *d.Link(CUDNN_ATTR_OPERATION_RESHAPE_XDESC)->tensor, &y = *d.Link(CUDNN_ATTR_OPERATION_RESHAPE_YDESC)->tensor;
  o->inputs = {x};
  o->output = y;
  if (x.Count() != y.Count()) return Bad(d, List(x.dims) + " to " + List(y.dims));
  if (x.Extent() != y.Extent()) return Unsupported(d, List(x.dims) + " to " + List(y.dims) + ": one lies more widely than the other");
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

cudnnStatus_t FinalizeOperation(Descriptor* d) {
  auto o = std::make_shared<Operation>();
  o->kind = d->type;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  auto tensor = [d](int name) -> const Tensor& { return *d->Link(name)->tensor; };
  switch (d->type) {
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR: return CheckConvolutionDescriptor(d);
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
    case CUDNN_BACKEND_MATMUL_DESCRIPTOR:
    case CUDNN_BACKEND_REDUCTION_DESCRIPTOR:
    case CUDNN_BACKEND_RNG_DESCRIPTOR: return CUDNN_STATUS_SUCCESS;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR: {
      const Tensor &x = tensor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X), &w = tensor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W),
                   &y = tensor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
      o->inputs = {x, w}, o->output = y;
      o->alpha = d->Real(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1),
      o->beta = d->Real(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0);
      status = CheckConvolution(*d, *d->Link(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC), x, w, y, o.get());
      break;
    }
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR: {
      const Tensor &dx = tensor(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX), &w = tensor(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W),
                   &dy = tensor(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY);
      o->inputs = {dy, w}, o->output = dx;
      o->alpha = d->Real(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, 1),
      o->beta = d->Real(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, 0);
      status = CheckConvolution(*d, *d->Link(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC), dx, w, dy, o.get());
      break;
    }
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR: {
      const Tensor &x = tensor(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X), &dw = tensor(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW),
                   &dy = tensor(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY);
      o->inputs = {x, dy}, o->output = dw;
      o->alpha = d->Real(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, 1),
      o->beta = d->Real(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, 0);
      status = CheckConvolution(*d, *d->Link(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC), x, dw, dy, o.get());
      break;
    }
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: status = CheckPointwise(*d, o.get()); break;
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: status = CheckMatmul(*d, o.get()); break;
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR: status = CheckReduction(*d, o.get()); break;
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR: status = CheckReshape(*d, o.get()); break;
    case CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR: status = CheckRandom(*d, o.get()); break;
    default: return Unsupported(*d, "not in the stand-in");
  }
  if (status != CUDNN_STATUS_SUCCESS) return status;
  if (o->output.by_value) return Bad(*d, o->output.Text() + " is a result given by value");
  if (IsConvolution(*o) && o->beta != 0 && o->output.is_virtual) return Bad(*d, "adds to a virtual tensor");
  d->operation = o;
  return status;
}

cudnnStatus_t FinalizeGraph(Descriptor* d) {
  auto graph = std::make_shared<Graph>();
  std::vector<Operation> given;
  for (const Content& c : d->Links(CUDNN_ATTR_OPERATIONGRAPH_OPS)) given.push_back(*c->operation);
  std::set<int64_t> made;
  for (const Operation& o : given) {
    std::vector<const Tensor*> all = {&o.output};
    for (const Tensor& t : o.inputs) all.push_back(&t);
    for (const Tensor* t : all) {
      const auto known = graph->tensors.emplace(t->uid, *t);
      if (!known.second && !known.first->second.Same(*t))
        return Bad(*d, "two tensors have the number " + std::to_string(t->uid) + ": " + known.first->second.Text() + " and " + t->Text());
      graph->wide |= t->type == CUDNN_DATA_DOUBLE;
    }
    graph->wide |= o.compute == CUDNN_DATA_DOUBLE;
    if (!made.insert(o.output.uid).second) return Bad(*d, o.output.Text() + " is the result of two operations");
  }
  // each behind what it reads
  std::set<int64_t> ready;
  std::vector<char> placed(given.size(), 0);
  while (graph->operations.size() < given.size()) {
    bool any = false;
    for (size_t i = 0; i < given.size(); ++i) {
      const auto& inputs = given[i].inputs;
      if (placed[i] || !std::all_of(inputs.begin(), inputs.end(), [&](const Tensor& t) {
            return !made.count(t.uid) || ready.count(t.uid) || t.uid == given[i].output.uid;
          }))
        continue;
      for (const Tensor& t : inputs)
        if (t.is_virtual && !made.count(t.uid)) return Bad(*d, t.Text() + " is virtual, and the result of no operation");
      placed[i] = 1, any = true;
      ready.insert(given[i].output.uid);
      graph->operations.push_back(given[i]);
    }
    if (!any) return Bad(*d, "operations that wait for each other");
  }
  graph->has_handle = d->Has(CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  d->graph = graph;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace cudnn
}  // namespace host_gpu
