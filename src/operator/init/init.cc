// Operators that make arrays out of nothing: zeros, ones, full, arange, linspace, eye.
#include <cmath>
#include <sstream>

#include "operator/init/fill.h"
#include "operator/nodes/make_nodes.h"
#include "operator/record/dtypes.h"
#include "operator/record/optional_number.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"
#include "operator/runtime/parameters_in_files.h"

namespace mxnet {
namespace {

struct InitParam : public Parameter<InitParam> {
  Shape shape;
  std::string ctx;
  int dtype;
  MXNET_DECLARE_PARAM(InitParam) {
    MXNET_FIELD(shape).set_default(Shape(0)).describe("Shape of the result; without it, the shape of `out`.");
    MXNET_FIELD(ctx).set_default("").describe("Device of the result, such as cpu(0); read by eager calls only.");
    MXNET_DTYPE_FIELD(dtype).set_default(kFloat32).describe("Element type of the result.");
  }
};

struct InitWithoutDTypeParam : public Parameter<InitWithoutDTypeParam> {
  Shape shape;
  std::string ctx;
  int dtype;
  MXNET_DECLARE_PARAM(InitWithoutDTypeParam) {
    MXNET_FIELD(shape).set_default_none().describe("Shape of the result; without it, the shape is inferred from its use.");
    MXNET_FIELD(ctx).set_default("").describe("Device of the result; read by eager calls only.");
    MXNET_FIELD(dtype).set_default(-1).describe("Number of the element type; -1 infers it from the use.");
  }
};

struct FullParam : public Parameter<FullParam> {
  Shape shape;
  std::string ctx;
  int dtype;
  double value;
  MXNET_DECLARE_PARAM(FullParam) {
    MXNET_FIELD(shape).set_default_none().describe("Shape of the result; without it, the shape of `out`.");
    MXNET_FIELD(ctx).set_default("").describe("Device of the result; read by eager calls only.");
    MXNET_DTYPE_FIELD(dtype).set_default(kFloat32).describe("Element type of the result.");
    MXNET_FIELD(value).describe("Value of every element.");
  }
};

struct FullLikeParam : public Parameter<FullLikeParam> {
  double fill_value;
  std::string ctx;
  std::optional<int> dtype;
  MXNET_DECLARE_PARAM(FullLikeParam) {
    MXNET_FIELD(fill_value).describe("Value of every element.");
    MXNET_FIELD(ctx).set_default("").describe("Device of the result; read by eager calls only.");
    MXNET_DTYPE_FIELD(dtype).set_default(std::optional<int>()).describe("Element type of the result; None takes the input's.");
  }
};

struct RangeParam : public Parameter<RangeParam> {
  double start;
  OptionalNumber stop;
  double step;
  int repeat;
  bool infer_range;
  std::string ctx;
  int dtype;
  MXNET_DECLARE_PARAM(RangeParam) {
    MXNET_FIELD(start).describe("First value; the last bound when `stop` is None, and then the range begins at 0.");
    MXNET_FIELD(stop).set_default(OptionalNumber()).describe("Bound that is not reached.");
    MXNET_FIELD(step).set_default(1).describe("Distance between values; not 0.");
    MXNET_FIELD(repeat).set_default(1).set_lower_bound(1).describe("How often each value stands in the result.");
    MXNET_FIELD(infer_range).set_default(false).describe("Take the number of values from the shape that the result must have.");
    MXNET_FIELD(ctx).set_default("").describe("Device of the result; read by eager calls only.");
    MXNET_DTYPE_FIELD(dtype).set_default(kFloat32).describe("Element type of the result.");
  }
};

struct LinspaceParam : public Parameter<LinspaceParam> {
  double start, stop;
  int64_t num;
  bool endpoint;
  std::string ctx;
  int dtype;
  double step;
  int repeat;
  bool infer_range;
  MXNET_DECLARE_PARAM(LinspaceParam) {
    MXNET_FIELD(start).describe("First value.");
    MXNET_FIELD(stop).describe("Last value, or the bound behind it when `endpoint` is false.");
    MXNET_FIELD(num).set_lower_bound(0).describe("Number of values.");
    MXNET_FIELD(endpoint).set_default(true).describe("Whether `stop` is the last value.");
    MXNET_FIELD(ctx).set_default("").describe("Device of the result; read by eager calls only.");
    MXNET_DTYPE_FIELD(dtype).set_default(kFloat32).describe("Element type of the result.");
    MXNET_FIELD(step).set_default(1).describe("Not used: `num` says how far values are apart.");
    MXNET_FIELD(repeat).set_default(1).set_lower_bound(1).describe("How often each value stands in the result.");
    MXNET_FIELD(infer_range).set_default(false).describe("Not used: `num` is always given.");
  }
};

struct SetValueParam : public Parameter<SetValueParam> {
  float src;
  MXNET_DECLARE_PARAM(SetValueParam) { MXNET_FIELD(src).set_default(0).describe("The number."); }
};

struct EyeParam : public Parameter<EyeParam> {
  int64_t N, M, k;
  std::string ctx;
  int dtype;
  MXNET_DECLARE_PARAM(EyeParam) {
    MXNET_FIELD(N).set_lower_bound(0).describe("Number of rows.");
    MXNET_FIELD(M).set_default(0).set_lower_bound(0).describe("Number of columns; 0 takes N.");
    MXNET_FIELD(k).set_default(0).describe("Which diagonal: above the main one when positive.");
    MXNET_FIELD(ctx).set_default("").describe("Device of the result; read by eager calls only.");
    MXNET_DTYPE_FIELD(dtype).set_default(kFloat32).describe("Element type of the result.");
  }
};

struct NumpyEyeParam : public Parameter<NumpyEyeParam> {
  int64_t N;
  std::optional<int64_t> M;
  int64_t k;
  std::string ctx;
  int dtype;
  MXNET_DECLARE_PARAM(NumpyEyeParam) {
    MXNET_FIELD(N).set_lower_bound(0).describe("Number of rows.");
    MXNET_FIELD(M).set_default(std::optional<int64_t>()).describe("Number of columns; None takes N.");
    MXNET_FIELD(k).set_default(0).describe("Which diagonal: above the main one when positive.");
    MXNET_FIELD(ctx).set_default("").describe("Device of the result; read by eager calls only.");
    MXNET_DTYPE_FIELD(dtype).set_default(kFloat32).describe("Element type of the result.");
  }
};

template <typename P>
bool GivenShapeAs(const Attrs& attrs, bool zero_is_unknown, ShapeVector* out) {
  Shape shape = attrs.get<P>().shape;
  // No shape was given when the rank is 0 but the result's is known: then the result says it.
  if (shape.ndim() == 0 && (zero_is_unknown || (*out)[0].ndim() > 0)) shape = Shape();
  if (zero_is_unknown)
    for (int i = 0; i < shape.ndim(); ++i)
      if (shape[i] == 0) shape[i] = Shape::kUnknownDim;
  for (int i = 0; i < shape.ndim(); ++i)
    MXNET_CHECK_KIND(shape[i] >= -1, Value) << "[" << attrs.op->name << "] shape " << shape << "; sizes must not be negative";
  AssignShape(attrs, "the result", &(*out)[0], shape);
  return (*out)[0].known();
}

template <typename P>
bool GivenShape(const Attrs& attrs, ShapeVector*, ShapeVector* out) {
  return GivenShapeAs<P>(attrs, false, out);
}

/*
 * Of records that graphs of 1.x hold: those mean "unknown, to be inferred" by a size of 0, as
 * recurrent cells leave the batch size open, and an unknown rank by an empty shape. Everywhere else
 * 0 is a size.
 */
template <typename P>
bool ShapeLeftOpen(const Attrs& attrs, const InferSwitches& switches, ShapeVector*, ShapeVector* out) {
  return GivenShapeAs<P>(attrs, switches.in_graph && !(switches.numpy_shapes && attrs.dict.count("shape")), out);
}

template <typename P>
bool GivenType(const Attrs& attrs, std::vector<int>*, std::vector<int>* out) {
  AssignType(attrs, "the result", &(*out)[0], attrs.get<P>().dtype);
  return true;
}

template <int kValue>
void Constant(KernelArgs& a) {
  if (a.req[0] != OpReq::kNull) FillValue(a.run, a.out[0], kValue);
}

// ---- ranges

// The number of values of [start, stop) in steps; -1 when that is left to the shape of the result.
int64_t RangeLength(const Attrs& attrs, double* start) {
  const auto& p = attrs.get<RangeParam>();
  *start = p.start;
  MXNET_CHECK_KIND(p.step != 0 && std::isfinite(p.step) && std::isfinite(p.start), Value)
      << "[" << attrs.op->name << "] start " << p.start << ", step " << p.step << "; both must be finite and the step not 0";
  if (p.infer_range && !p.stop.has_value()) return -1;
  double stop;
  if (p.stop.has_value()) {
    stop = p.stop.value();
  } else {
    stop = p.start;
    *start = 0;
  }
  const double length = std::ceil((stop - *start) / p.step);
  MXNET_CHECK_KIND(!std::isnan(length) && length < 9e15, Value)
      << "[" << attrs.op->name << "] range from " << *start << " to " << stop << " has too many values";
  return length > 0 ? static_cast<int64_t>(length) : 0;
}

bool RangeShape(const Attrs& attrs, ShapeVector*, ShapeVector* out, bool empty_allowed) {
  const auto& p = attrs.get<RangeParam>();
  double start;
  int64_t n = RangeLength(attrs, &start);
  if (n < 0) return (*out)[0].known();
  MXNET_CHECK_KIND(n > 0 || empty_allowed, Value)
      << "[" << attrs.op->name << "] start " << start << ", stop " << (p.stop.has_value() ? p.stop.value() : p.start) << ", step " << p.step
      << " is an empty range";
  MXNET_CHECK_KIND(!__builtin_mul_overflow(n, static_cast<int64_t>(p.repeat), &n), Value) << "[" << attrs.op->name << "] too many values";
  AssignShape(attrs, "the result", &(*out)[0], Shape({n}));
  return true;
}

bool LegacyRangeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) { return RangeShape(attrs, in, out, false); }
bool NumpyRangeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) { return RangeShape(attrs, in, out, true); }

void Range(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const auto& p = a.param<RangeParam>();
  double start, step = p.step;
  RangeLength(*a.attrs, &start);
  if (!IsFloating(a.out[0].dtype))
    start = std::trunc(start), step = std::trunc(step);  // integers count in whole steps, as in 1.x and NumPy
  FillRange(a.run, a.out[0], start, step, p.repeat);
}

int64_t LinspaceSize(const LinspaceParam& p) {
  int64_t size = 0;
  MXNET_CHECK_KIND(!__builtin_mul_overflow(p.num, static_cast<int64_t>(p.repeat), &size), Value)
      << "[_linspace] " << p.num << " values, each " << p.repeat << " times, are too many";
  return size;
}

bool LinspaceShape(const Attrs& attrs, ShapeVector*, ShapeVector* out) {
  AssignShape(attrs, "the result", &(*out)[0], Shape({LinspaceSize(attrs.get<LinspaceParam>())}));
  return true;
}

void Linspace(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const auto& p = a.param<LinspaceParam>();
  const int64_t parts = p.endpoint ? p.num - 1 : p.num;
  FillRange(a.run, a.out[0], p.start, parts > 0 ? (p.stop - p.start) / static_cast<double>(parts) : 0, p.repeat);
  if (p.endpoint && p.num > 1) {
    // exactly `stop`, not what rounding made of it
    TBlob last = a.out[0];
    last.dptr = last.data<char>() + (p.num - 1) * p.repeat * static_cast<int64_t>(DTypeSize(last.dtype));
    last.shape = Shape({p.repeat});
    FillValue(a.run, last, p.stop);
  }
}

// ---- identity matrices

bool EyeShape(const Attrs& attrs, ShapeVector*, ShapeVector* out) {
  const auto& p = attrs.get<EyeParam>();
  AssignShape(attrs, "the result", &(*out)[0], Shape({p.N, p.M > 0 ? p.M : p.N}));
  return true;
}
void Eye(KernelArgs& a) {
  if (a.req[0] != OpReq::kNull) FillEye(a.run, a.out[0], a.param<EyeParam>().k);
}

bool NumpyEyeShape(const Attrs& attrs, ShapeVector*, ShapeVector* out) {
  const auto& p = attrs.get<NumpyEyeParam>();
  const int64_t columns = p.M.has_value() ? p.M.value() : p.N;
  MXNET_CHECK_KIND(columns >= 0, Value) << "[" << attrs.op->name << "] M=" << columns << "; must not be negative";
  AssignShape(attrs, "the result", &(*out)[0], Shape({p.N, columns}));
  return true;
}
void NumpyEye(KernelArgs& a) {
  if (a.req[0] != OpReq::kNull) FillEye(a.run, a.out[0], a.param<NumpyEyeParam>().k);
}

bool IdentityShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  if (!GivenShape<InitParam>(attrs, in, out)) return false;
  const Shape& s = (*out)[0];
  MXNET_CHECK_KIND(s.ndim() == 2 && s[0] == s[1], Value) << "[" << attrs.op->name << "] shape " << s << "; must be (n, n)";
  return true;
}
void Identity(KernelArgs& a) {
  if (a.req[0] != OpReq::kNull) FillEye(a.run, a.out[0], 0);
}

MXNET_REGISTER_PARAM(InitParam);
MXNET_REGISTER_PARAM(InitWithoutDTypeParam);
// 2.0 writes each number three times over, as `NAME_int`, `NAME_uint` and `NAME_double`, and in
// `value_type` which of them it is.
void ReadTypedNumbers(const std::vector<const char*>& names, AttrDict* params) {
  const auto kind = params->extract("value_type");
  if (kind.empty()) return;
  const std::string type = kind.mapped() == "0" ? "int" : kind.mapped() == "1" ? "uint" : "double";
  for (const std::string name : names) {
    const bool first = params->count(type + "_" + name) != 0;  // full has double_value, linspace start_double
    const auto found = params->find(first ? type + "_" + name : name + "_" + type);
    if (found != params->end()) (*params)[name] = found->second;
    for (const std::string other : {"int", "uint", "double"}) params->erase(first ? other + "_" + name : name + "_" + other);
  }
}

MXNET_REGISTER_PARAM(FullParam);
MXNET_REGISTER_PARAM(FullLikeParam);
MXNET_REGISTER_PARAM(RangeParam);
MXNET_REGISTER_PARAM(LinspaceParam);
MXNET_REGISTER_PARAM(SetValueParam);
MXNET_REGISTER_PARAM(EyeParam);
MXNET_REGISTER_PARAM(NumpyEyeParam);

Op& InitRecord(Op& op, const char* text) { return op.describe(text).set_inputs({}).set_dtypes(dtypes::kAll).set_zero_gradient(); }

template <int kValue>
Op& ConstantRecord(Op& op, const char* text) {
  return InitRecord(op, text)
      .set_trait(Role::kConstant)
      .set_param<InitParam>()
      .set_infer_shape(GivenShape<InitParam>)
      .set_trait(ShapeParameter{"shape", [](const Attrs& a) { return a.get<InitParam>().shape; }})
      .set_infer_type(GivenType<InitParam>)
      .set_kernel(Constant<kValue>);
}

Op& FullRecord(Op& op) {
  return InitRecord(op, "An array whose elements all have one value.")
      .set_trait(Role::kConstant)
      .set_param<FullParam>()
      .set_infer_shape(GivenShape<FullParam>)
      .set_trait(ShapeParameter{"shape", [](const Attrs& a) { return a.get<FullParam>().shape; }})
      .set_infer_type(GivenType<FullParam>)
      .set_kernel([](KernelArgs& a) {
        if (a.req[0] != OpReq::kNull) FillValue(a.run, a.out[0], a.param<FullParam>().value);
      });
}

void RegisterConstants() {
  ConstantRecord<0>(Op::Register("_zeros"), "An array of zeros.").set_infer_shape(ShapeLeftOpen<InitParam>);
  ConstantRecord<0>(Op::Register("_npi_zeros"), "An array of zeros.");
  ConstantRecord<1>(Op::Register("_ones"), "An array of ones.").set_infer_shape(ShapeLeftOpen<InitParam>);
  ConstantRecord<1>(Op::Register("_npi_ones"), "An array of ones.");
  InitRecord(Op::Register("_zeros_without_dtype"),
             "An array of zeros whose element type follows from its use; float32 when nothing says it.")
      .set_trait(Role::kConstant)
      .set_param<InitWithoutDTypeParam>()
      .set_infer_shape(ShapeLeftOpen<InitWithoutDTypeParam>)
      .set_trait(ShapeParameter{"shape", [](const Attrs& a) { return a.get<InitWithoutDTypeParam>().shape; }})
      .set_infer_type([](const Attrs& attrs, std::vector<int>*, std::vector<int>* out) {
        const int dtype = attrs.get<InitWithoutDTypeParam>().dtype;
        MXNET_CHECK_KIND(dtype >= -1 && dtype < kNumDTypes, Type)
            << "[_zeros_without_dtype] dtype number " << dtype << "; accepted: -1 to " << kNumDTypes - 1;
        if (dtype >= 0)
          AssignType(attrs, "the result", &(*out)[0], dtype);
        else if ((*out)[0] == kDTypeUnknown)
          (*out)[0] = kFloat32;
        return true;
      })
      .set_kernel(Constant<0>);
  FullRecord(Op::Register("_full")).set_infer_shape(ShapeLeftOpen<FullParam>);
  FullRecord(Op::Register("_npi_full"))
      .set_trait(ParametersInFiles{
          {}, {}, [](const std::string&, AttrDict* params, std::vector<NodeEntry>*) { ReadTypedNumbers({"value"}, params); }});
  Op::Register("_npi_full_like")
      .describe("An array of one value with the shape of another.")
      .set_trait(Role::kConstant)
      .set_param<FullLikeParam>()
      .set_inputs({"a"})
      .set_dtypes(dtypes::kAll)
      .set_shape_only_from(0)
      .set_infer_shape(ElemwiseShape)
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        const auto& dtype = attrs.get<FullLikeParam>().dtype;
        AssignType(attrs, "the result", &(*out)[0], dtype.has_value() ? dtype.value() : (*in)[0]);
        return (*in)[0] != kDTypeUnknown && (*out)[0] != kDTypeUnknown;
      })
      .set_zero_gradient()
      .set_kernel([](KernelArgs& a) {
        if (a.req[0] != OpReq::kNull) FillValue(a.run, a.out[0], a.param<FullLikeParam>().fill_value);
      });
}

void RegisterSeries() {
  for (const char* name : {"_arange", "_npi_arange"})
    InitRecord(Op::Register(name), "Values from `start` up to but without `stop`, `step` apart, each `repeat` times.")
        .set_param<RangeParam>()
        .set_infer_shape(name[1] == 'n' ? NumpyRangeShape : LegacyRangeShape)
        .set_infer_type(GivenType<RangeParam>)
        .set_kernel(Range);
  InitRecord(Op::Register("_linspace"), "`num` values at equal distances between `start` and `stop`.")
      .alias("_npi_linspace")
      .set_trait(ParametersInFiles{{},
                                   {},
                                   [](const std::string&, AttrDict* params, std::vector<NodeEntry>*) {
                                     ReadTypedNumbers({"start", "stop"}, params);
                                   }})
      .set_param<LinspaceParam>()
      .set_infer_shape(LinspaceShape)
      .set_infer_type(GivenType<LinspaceParam>)
      .set_kernel(Linspace);
  Op::Register("_set_value")
      .describe("Sets all elements of the array that is given as `out` to a number.")
      .set_param<SetValueParam>()
      .set_inputs({})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape([](const Attrs& attrs, ShapeVector*, ShapeVector* out) {
        MXNET_CHECK_KIND((*out)[0].known(), Value) << "[" << attrs.op->name << "] no array is given; accepted: `out`, the one to set";
        return true;
      })
      .set_infer_type([](const Attrs&, std::vector<int>*, std::vector<int>* out) { return (*out)[0] != kDTypeUnknown; })
      .set_zero_gradient()
      .set_kernel([](KernelArgs& a) {
        if (a.req[0] != OpReq::kNull) FillValue(a.run, a.out[0], static_cast<double>(a.param<SetValueParam>().src));
      });
  InitRecord(Op::Register("_eye"), "A matrix with ones on one diagonal.")
      .set_param<EyeParam>()
      .set_infer_shape(EyeShape)
      .set_infer_type(GivenType<EyeParam>)
      .set_kernel(Eye);
  InitRecord(Op::Register("_npi_eye"), "A matrix with ones on one diagonal.")
      .set_param<NumpyEyeParam>()
      .set_infer_shape(NumpyEyeShape)
      .set_infer_type(GivenType<NumpyEyeParam>)
      .set_kernel(NumpyEye);
  InitRecord(Op::Register("_npi_identity"), "The identity matrix.")
      .set_param<InitParam>()
      .set_infer_shape(IdentityShape)
      .set_infer_type(GivenType<InitParam>)
      .set_kernel(Identity);
}

[[maybe_unused]] const bool registered = [] {
  RegisterConstants();
  RegisterSeries();
  return true;
}();

}  // namespace

namespace {
NodeEntry MakeConstant(const char* op, const Shape& shape, int dtype, const std::string& name) {
  std::ostringstream text;
  text << shape;
  return MakeOp(op, {}, {{"shape", text.str()}, {"dtype", DTypeName(dtype)}}, name);
}
}  // namespace

NodeEntry MakeZeros(const Shape& shape, int dtype, const std::string& name) { return MakeConstant("_zeros", shape, dtype, name); }
NodeEntry MakeOnes(const Shape& shape, int dtype, const std::string& name) { return MakeConstant("_ones", shape, dtype, name); }

}  // namespace mxnet
