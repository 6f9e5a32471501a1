/*
 * An ONNX file as it is read: names, nodes, attributes and weights, checked for form but not for
 * meaning. Numbers of the format are those of onnx.proto (ONNX IR, versions 3 and later).
 *
 * LIFETIME   A Model owns everything in it. Weights that lie in the file as bytes are read from it when
 *            somebody wants them; arrays made of them keep the file open.
 */
#ifndef MXNET_ONNX_FILE_MODEL_H_
#define MXNET_ONNX_FILE_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mxnet/ndarray.h"

namespace mxnet {
namespace onnx {

/* TensorProto.DataType of what this library has no arrays for. */
constexpr int kStringType = -2;

/*
 * What is stored in bytes here, of uint8 or int8: floats of 8 and 4 bits by their bits, integers of
 * 4 and 2 bits. `format`: of floats, as operators name it; null: integers.
 */
struct SmallType {
  int64_t type;  // TensorProto.DataType
  const char* name;
  int dtype, bits;
  const char* format;
  /* Of integers. */
  bool is_signed() const { return dtype == kInt8; }
};
/* Null for other types. */
const SmallType* SmallTypeOf(int64_t type);

/* A constant: an array, or strings. */
struct Constant {
  std::string name;
  const SmallType* small = nullptr;
  NDArray array;  // none for strings
  Shape shape;
  std::vector<std::string> strings;
  bool is_parameter = false, is_buffer = false;  // as the exporter says
  std::vector<std::string> folded_from;          // what the exporter says that it computed this of
};

struct GraphProto;

/* AttributeProto.AttributeType */
enum class AttributeKind : int {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kTypeProto = 13,
  kTypeProtos = 14
};

struct Attribute {
  std::string name;
  AttributeKind kind = AttributeKind::kUndefined;
  std::string refers_to;  // in functions: the caller's attribute of that name takes its place
  float f = 0;
  int64_t i = 0;
  std::string s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  std::shared_ptr<Constant> tensor;
  std::shared_ptr<GraphProto> graph;
};

/* Of nodes that take the place of those of a file, which has none of them. */
inline bool IsOwnDomain(const std::string& domain) { return domain.rfind("mxnet.", 0) == 0; }

struct NodeProto {
  std::string name, op, domain, overload;
  int64_t opset = 0;                         // of its domain; functions may have others than the model
  std::vector<std::string> inputs, outputs;  // an empty name: left out
  std::vector<Attribute> attributes;
  std::vector<std::string> captured;    // names of outer graphs that its subgraphs read
  std::vector<const SmallType*> small;  // by input: null where it is of another type; empty: all are
  bool of_stage = false;                // made for one stage: another node may have its address later
  /* Its name, or its first output where it has none. */
  const std::string& label() const { return !name.empty() || outputs.empty() ? name : outputs[0]; }
  /* An operator of ONNX itself with so many inputs, none of a small type, and one output. */
  bool IsPlain(size_t num_inputs) const { return domain.empty() && small.empty() && inputs.size() == num_inputs && outputs.size() == 1; }
  /* Null when it is not there. */
  const Attribute* Find(const char* attribute) const {
    for (const Attribute& a : attributes)
      if (a.name == attribute) return &a;
    return nullptr;
  }
  int64_t Int(const char* attribute, int64_t otherwise) const {
    const Attribute* const a = Find(attribute);
    return a ? a->i : otherwise;
  }
};

/* A dimension: a number, or a name that any number may be given for (-1). */
struct Dimension {
  int64_t size = -1;
  std::string name;
};

/* An input or output of a graph, as far as the file says. */
struct ValueInfo {
  enum Kind : int { kTensor, kSequence, kOptional, kMap };
  std::string name;
  Kind kind = kTensor;
  int dtype = kDTypeUnknown;  // or kStringType
  const SmallType* small = nullptr;
  bool has_shape = false;
  std::vector<Dimension> dims;
};

struct GraphProto {
  std::string name, description;
  std::vector<NodeProto> nodes;
  std::vector<Constant> constants;  // initializers
  std::vector<ValueInfo> inputs, outputs;
};

struct FunctionProto {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs, attribute_names;
  std::vector<Attribute> attribute_defaults;
  std::vector<NodeProto> nodes;
  std::map<std::string, int64_t> opsets;
};

struct Model {
  std::string path;  // for messages; empty when it was read from memory
  int64_t ir_version = 0;
  std::string producer, producer_version, domain, description;
  int64_t version = 0;
  std::map<std::string, int64_t> opsets;  // by domain; "" is ai.onnx
  std::map<std::string, std::string> metadata;
  GraphProto graph;
  uint64_t file_bytes = 0, weight_bytes = 0;
};

/*
 * Reads a file, or bytes (`folder`: where external data lies; empty: none is read). Functions of
 * the model are written out where they are called, and every name of a subgraph is unique in the
 * model afterwards. Throws Error(kIO) with the place for what is malformed, Error(kValue) for what
 * is not known.
 */
std::shared_ptr<const Model> ReadModel(const std::string& path);
std::shared_ptr<const Model> ReadModel(std::shared_ptr<const void> bytes, size_t size, const std::string& folder);

/* TensorProto.DataType -> DType; kStringType for strings; kDTypeUnknown for what has no
 * equivalent. */
int DTypeOfOnnx(int64_t type);
/* The other way round, for messages and Cast. */
const char* OnnxTypeName(int64_t type);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_FILE_MODEL_H_
