// Descriptors of cuDNN's backend: made, filled with attributes whose type and count are checked,
// finalized once, asked afterwards. Handles and messages.
#include "cudnn_descriptor.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cudnn_handle.h"
#include "libraries.h"

namespace host_gpu {
namespace cudnn {
namespace {

constexpr uint64_t kMagic = 0x63756464657363, kGone = 0x676f6e65;

// What a cudnnBackendDescriptor_t points to.
struct Box {
  uint64_t magic = kMagic;
  Content content;
};
Box* BoxOf(cudnnBackendDescriptor_t handle) {
  Box* box = static_cast<Box*>(handle);
  return box && box->magic == kMagic ? box : nullptr;
}

thread_local std::string t_last_error;

// Which attributes a type of descriptor has.
struct Rule {
  int name;
  std::vector<cudnnBackendAttributeType_t> types;
  int64_t least, most;
  bool set, required;  // by callers; before it is finalized
  int link = -1;       // type of descriptor that it takes
};
using Rules = std::vector<Rule>;

Rule Of(int name, cudnnBackendAttributeType_t type, bool required, int64_t most = 1) { return {name, {type}, 1, most, true, required}; }
Rule Link(int name, int to, bool required, int64_t most = 1) {
  return {name, {CUDNN_TYPE_BACKEND_DESCRIPTOR}, 1, most, true, required, to};
}
Rule Answer(int name, cudnnBackendAttributeType_t type, int64_t most = 1, int link = -1) {
  return {name, {type}, 0, most, false, false, link};
}
Rule Real(int name, bool required) { return {name, {CUDNN_TYPE_FLOAT, CUDNN_TYPE_DOUBLE}, 1, 1, true, required}; }

const Rules* RulesOf(cudnnBackendDescriptorType_t type) {
  constexpr int64_t kMany = 4096;
  static const int kTensor = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
  static const std::map<int, Rules>* const table = new std::map<int, Rules>{
      {CUDNN_BACKEND_TENSOR_DESCRIPTOR,
       {Of(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, true), Of(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, true),
        Of(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, true),
        Of(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, true, CUDNN_DIM_MAX),
        Of(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, true, CUDNN_DIM_MAX), Of(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, false),
        Of(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, false)}},
      {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
       {Of(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, true),
        Of(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, true),
        Of(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, true),
        Of(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, true, CUDNN_DIM_MAX),
        Of(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, true, CUDNN_DIM_MAX),
        Of(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, false, CUDNN_DIM_MAX),
        Of(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, false, CUDNN_DIM_MAX)}},
      {CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
       {Of(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, true), Of(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, true),
        Real(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, false), Real(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, false),
        Real(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, false), Real(CUDNN_ATTR_POINTWISE_ELU_ALPHA, false),
        Real(CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, false), Real(CUDNN_ATTR_POINTWISE_SWISH_BETA, false),
        Of(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, false)}},
      {CUDNN_BACKEND_MATMUL_DESCRIPTOR, {Of(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, true)}},
      {CUDNN_BACKEND_REDUCTION_DESCRIPTOR,
       {Of(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, true),
        Of(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, true),
        Of(CUDNN_ATTR_REDUCTION_IS_DETERMINISTIC, CUDNN_TYPE_BOOLEAN, false)}},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       {Real(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, false), Real(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, false),
        Link(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, true),
        Link(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, kTensor, true), Link(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, kTensor, true),
        Link(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, kTensor, true)}},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       {Real(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, false), Real(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, false),
        Link(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, true),
        Link(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, kTensor, true), Link(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, kTensor, true),
        Link(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, kTensor, true)}},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       {Real(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, false), Real(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, false),
        Link(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, true),
        Link(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, kTensor, true),
        Link(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, kTensor, true),
        Link(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, kTensor, true)}},
      {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
       {Link(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_BACKEND_POINTWISE_DESCRIPTOR, true),
        Link(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, kTensor, false), Link(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, kTensor, false),
        Link(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, kTensor, false), Link(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, kTensor, false),
        Link(CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, kTensor, false), Link(CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, kTensor, false),
        Real(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, false), Real(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, false)}},
      {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
       {Link(CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_BACKEND_MATMUL_DESCRIPTOR, true),
        Link(CUDNN_ATTR_OPERATION_MATMUL_ADESC, kTensor, true), Link(CUDNN_ATTR_OPERATION_MATMUL_BDESC, kTensor, true),
        Link(CUDNN_ATTR_OPERATION_MATMUL_CDESC, kTensor, true)}},
      {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
       {Link(CUDNN_ATTR_OPERATION_REDUCTION_DESC, CUDNN_BACKEND_REDUCTION_DESCRIPTOR, true),
        Link(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, kTensor, true), Link(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, kTensor, true)}},
      {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
       {Link(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, kTensor, true), Link(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, kTensor, true)}},
      {CUDNN_BACKEND_RNG_DESCRIPTOR,
       {Of(CUDNN_ATTR_RNG_DISTRIBUTION, CUDNN_TYPE_RNG_DISTRIBUTION, true),
        Of(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, CUDNN_TYPE_DOUBLE, false)}},
      {CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR,
       {Link(CUDNN_ATTR_OPERATION_RNG_DESC, CUDNN_BACKEND_RNG_DESCRIPTOR, true), Link(CUDNN_ATTR_OPERATION_RNG_YDESC, kTensor, true),
        Link(CUDNN_ATTR_OPERATION_RNG_SEED, kTensor, true), Link(CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC, kTensor, true)}},
      {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
       {Of(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, false),
        {CUDNN_ATTR_OPERATIONGRAPH_OPS, {CUDNN_TYPE_BACKEND_DESCRIPTOR}, 1, kMany, true, true, -2},
        Answer(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, CUDNN_TYPE_INT64)}},
      {CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR,
       {Of(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, false), Of(CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, false),
        Of(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, false, 65536)}},
      {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
       {Link(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, true),
        Of(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, true),
        Link(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, false),
        Of(CUDNN_ATTR_ENGINEHEUR_SM_COUNT_TARGET, CUDNN_TYPE_INT32, false),
        Answer(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, kMany, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)}},
      {CUDNN_BACKEND_ENGINE_DESCRIPTOR,
       {Link(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, true),
        Of(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, true),
        Answer(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT),
        Answer(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT),
        Answer(CUDNN_ATTR_ENGINE_KNOB_INFO, CUDNN_TYPE_BACKEND_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS, CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR)}},
      {CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
       {Of(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, true), Of(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, true)}},
      {CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR,
       {Answer(CUDNN_ATTR_KNOB_INFO_TYPE, CUDNN_TYPE_KNOB_TYPE), Answer(CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE, CUDNN_TYPE_INT64),
        Answer(CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE, CUDNN_TYPE_INT64), Answer(CUDNN_ATTR_KNOB_INFO_STRIDE, CUDNN_TYPE_INT64)}},
      {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
       {Link(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, true),
        Link(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, false, CUDNN_KNOB_TYPE_COUNTS)}},
      {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
       {Of(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, false),
        Link(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, true),
        Link(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, false),
        Answer(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64)}},
      {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
       {Of(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, true, kMany),
        Of(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, true, kMany),
        Of(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, false)}}};
  const auto found = table->find(type);
  return found == table->end() ? nullptr : &found->second;
}

const Rule* RuleOf(const Descriptor& d, int name) {
  for (const Rule& r : *RulesOf(d.type))
    if (r.name == name) return &r;
  return nullptr;
}

size_t SizeOfElement(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR: return 8;
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR: return 1;
    default: return 4;  // enumerations, float, int32
  }
}

std::string Which(const Descriptor& d, int name) { return std::string(NameOf(d.type)) + ", attribute " + std::to_string(name); }

}  // namespace

Content ContentOf(cudnnBackendDescriptor_t handle) {
  const Box* box = BoxOf(handle);
  return box ? box->content : nullptr;
}

cudnnStatus_t Fail(cudnnStatus_t status, const char* function, const std::string& why) {
  t_last_error = why;
  if (CUDNN_STATUS_CATEGORY(status) != CUDNN_STATUS_NOT_SUPPORTED) Complain(function, why.c_str());
  return status;
}

double Descriptor::Real(int name, double otherwise) const {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return otherwise;
  return found->second.type == CUDNN_TYPE_DOUBLE ? Value<double>(name, otherwise) : static_cast<double>(Value<float>(name, 0));
}
std::vector<Content> Descriptor::Links(int name) const {
  const auto found = attributes.find(name);
  return found == attributes.end() ? std::vector<Content>() : found->second.links;
}
Content Descriptor::Link(int name) const {
  const std::vector<Content> all = Links(name);
  return all.empty() ? nullptr : all.front();
}

const char* NameOf(cudnnBackendDescriptorType_t type) {
  switch (type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR: return "tensor";
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR: return "convolution";
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR: return "pointwise";
    case CUDNN_BACKEND_MATMUL_DESCRIPTOR: return "matmul";
    case CUDNN_BACKEND_REDUCTION_DESCRIPTOR: return "reduction";
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR: return "convolution forward operation";
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR: return "convolution backward data operation";
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR: return "convolution backward filter operation";
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: return "pointwise operation";
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: return "matmul operation";
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR: return "reduction operation";
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR: return "reshape operation";
    case CUDNN_BACKEND_RNG_DESCRIPTOR: return "random numbers";
    case CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR: return "random numbers operation";
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR: return "operation graph";
    case CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR: return "device properties";
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR: return "engine heuristics";
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR: return "engine";
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR: return "engine config";
    case CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR: return "knob choice";
    case CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR: return "knob info";
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: return "execution plan";
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR: return "variant pack";
    default: return "descriptor";
  }
}

namespace {

cudnnStatus_t Finalize(Descriptor* d) {
  switch (d->type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR: return FinalizeTensor(d);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR: return FinalizeGraph(d);
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR: return FinalizeHeuristics(d);
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR: return FinalizeEngine(d);
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR: return FinalizeConfig(d);
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: return FinalizePlan(d);
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR: return FinalizePack(d);
    case CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR:
    case CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR: return CUDNN_STATUS_SUCCESS;
    case CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR:
      if (d->attributes.empty())
        return Fail(CUDNN_STATUS_BAD_PARAM, "cudnnBackendFinalize", "device properties: neither a handle nor numbers");
      return CUDNN_STATUS_SUCCESS;
    default: return FinalizeOperation(d);  // and what describes one
  }
}

}  // namespace
}  // namespace cudnn
}  // namespace host_gpu

using namespace host_gpu;         // NOLINT: the functions below have C names
using namespace host_gpu::cudnn;  // NOLINT

extern "C" {

size_t cudnnGetVersion(void) { return CUDNN_VERSION; }

const char* cudnnGetErrorString(cudnnStatus_t status) {
  HOST_GPU_COUNT_CALL();
  switch (CUDNN_STATUS_CATEGORY(status)) {
    case 0: return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_BAD_PARAM: return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_NOT_SUPPORTED: return "CUDNN_STATUS_NOT_SUPPORTED";
    case CUDNN_STATUS_EXECUTION_FAILED: return "CUDNN_STATUS_EXECUTION_FAILED";
    case 1000: return "CUDNN_STATUS_NOT_INITIALIZED";
    default: return "CUDNN_STATUS_INTERNAL_ERROR";
  }
}
// Once: the next call finds it empty.
void cudnnGetLastErrorString(char* message, size_t size) {
  HOST_GPU_COUNT_CALL();
  if (!message || !size) return;
  std::snprintf(message, size, "%s", t_last_error.c_str());
  t_last_error.clear();
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* descriptor) {
  HOST_GPU_COUNT_CALL();
  static const char kFunction[] = "cudnnBackendCreateDescriptor";
  if (!descriptor) return Fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, kFunction, "no place for the descriptor");
  if (!RulesOf(type))
    return Fail(CUDNN_STATUS_NOT_SUPPORTED, kFunction,
                "descriptors of type " + std::to_string(static_cast<int>(type)) + ", which the stand-in does not have");
  Box* box = new Box;
  box->content = std::make_shared<Descriptor>();
  box->content->type = type;
  *descriptor = box;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  HOST_GPU_COUNT_CALL();
  Box* box = BoxOf(descriptor);
  if (!box) return Fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "cudnnBackendDestroyDescriptor", "not a descriptor, or destroyed before");
  box->magic = kGone;
  delete box;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count, const void* values) {
  HOST_GPU_COUNT_CALL();
  static const char kFunction[] = "cudnnBackendSetAttribute";
  Box* box = BoxOf(descriptor);
  if (!box) return Fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, kFunction, "not a descriptor, or destroyed");
  Descriptor& d = *box->content;
  if (d.finalized) return Fail(CUDNN_STATUS_BAD_PARAM, kFunction, Which(d, name) + ": it is finalized");
  const Rule* rule = RuleOf(d, name);
  if (!rule)
    return Fail(CUDNN_STATUS_BAD_PARAM, kFunction, Which(d, name) + ": there is none for this type of descriptor (or not in the stand-in)");
  if (!rule->set) return Fail(CUDNN_STATUS_BAD_PARAM, kFunction, Which(d, name) + ": can only be asked");
  if (std::find(rule->types.begin(), rule->types.end(), type) == rule->types.end())
    return Fail(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, kFunction,
                Which(d, name) + ": given as type " + std::to_string(type) + ", it is " + std::to_string(rule->types[0]));
  if (count < rule->least || count > rule->most)
    return Fail(CUDNN_STATUS_BAD_PARAM, kFunction, Which(d, name) + ": " + std::to_string(count) + " elements");
  if (!values) return Fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, kFunction, Which(d, name) + ": no elements");
  Attribute attribute;
  attribute.type = type;
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    for (int64_t i = 0; i < count; ++i) {
      const Box* other = BoxOf(static_cast<const cudnnBackendDescriptor_t*>(values)[i]);
      if (!other)
        return Fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, kFunction,
                    Which(d, name) + ": element " + std::to_string(i) + " is no descriptor, or was destroyed");
      const Descriptor& o = *other->content;
      if (rule->link == -2 ? !o.operation || !o.finalized || o.operation->kind != o.type : o.type != rule->link)
        return Fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, kFunction,
                    Which(d, name) + ": element " + std::to_string(i) + " is a descriptor of another type: " + NameOf(o.type));
      if (!o.finalized)
        return Fail(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, kFunction,
                    Which(d, name) + ": element " + std::to_string(i) + " is not finalized");
      attribute.links.push_back(other->content);
    }
  } else {
    const char* first = static_cast<const char*>(values);
    attribute.bytes.assign(first, first + static_cast<size_t>(count) * SizeOfElement(type));
  }
  if (type == CUDNN_TYPE_HANDLE && !HandleOf(*static_cast<const cudnnHandle_t*>(values)))
    return Fail(CUDNN_STATUS_BAD_PARAM, kFunction, Which(d, name) + ": not a handle");
  d.attributes[name] = std::move(attribute);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  HOST_GPU_COUNT_CALL();
  static const char kFunction[] = "cudnnBackendFinalize";
  Box* box = BoxOf(descriptor);
  if (!box) return Fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, kFunction, "not a descriptor, or destroyed");
  Descriptor& d = *box->content;
  if (d.finalized) return Fail(CUDNN_STATUS_BAD_PARAM, kFunction, std::string(NameOf(d.type)) + ": finalized before");
  for (const Rule& r : *RulesOf(d.type))
    if (r.required && !d.Has(r.name)) return Fail(CUDNN_STATUS_BAD_PARAM, kFunction, Which(d, r.name) + " is not set");
  const cudnnStatus_t status = Finalize(&d);
  d.finalized = status == CUDNN_STATUS_SUCCESS;
  if (d.finalized && d.graph) Record(box->content);
  return status;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t requested, int64_t* count, void* values) {
  HOST_GPU_COUNT_CALL();
  static const char kFunction[] = "cudnnBackendGetAttribute";
  const Box* box = BoxOf(descriptor);
  if (!box) return Fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, kFunction, "not a descriptor, or destroyed");
  Descriptor& d = *box->content;
  if (!d.finalized) return Fail(CUDNN_STATUS_NOT_INITIALIZED, kFunction, Which(d, name) + ": it is not finalized");
  const Rule* rule = RuleOf(d, name);
  if (!rule)
    return Fail(CUDNN_STATUS_BAD_PARAM, kFunction, Which(d, name) + ": there is none for this type of descriptor (or not in the stand-in)");
  if (std::find(rule->types.begin(), rule->types.end(), type) == rule->types.end())
    return Fail(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, kFunction, Which(d, name) + ": asked as type " + std::to_string(type));
  if (requested < 0 || (requested && !values)) return Fail(CUDNN_STATUS_BAD_PARAM, kFunction, Which(d, name) + ": no room for elements");
  static const Attribute kNone;
  const auto found = d.attributes.find(name);
  const Attribute& a = found == d.attributes.end() ? kNone : found->second;
  const bool links = type == CUDNN_TYPE_BACKEND_DESCRIPTOR;
  if (!links && found != d.attributes.end() && a.type != type)
    return Fail(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, kFunction, Which(d, name) + ": set as another type");
  const int64_t there = static_cast<int64_t>(links ? a.links.size() : a.bytes.size() / SizeOfElement(type)),
                given = std::min(there, requested);
  if (links) {  // into descriptors of the right type that the caller has created
    for (int64_t i = 0; i < given; ++i) {
      Box* into = BoxOf(static_cast<cudnnBackendDescriptor_t*>(values)[i]);
      if (!into)
        return Fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, kFunction,
                    Which(d, name) + ": element " + std::to_string(i) + " is no descriptor; create them first");
      if (into->content->type != a.links[static_cast<size_t>(i)]->type)
        return Fail(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, kFunction,
                    Which(d, name) + ": element " + std::to_string(i) + " is a descriptor of another type");
      into->content = a.links[static_cast<size_t>(i)];
    }
  } else if (given) {
    std::memcpy(values, a.bytes.data(), static_cast<size_t>(given) * SizeOfElement(type));
  }
  if (count) *count = requested ? given : there;
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
