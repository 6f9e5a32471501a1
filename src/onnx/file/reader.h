/* Reading the wire format of onnx.proto into a Model, name by name as the file has them. */
#ifndef MXNET_ONNX_FILE_READER_H_
#define MXNET_ONNX_FILE_READER_H_

#include <map>
#include <string>
#include <vector>

#include "ndarray/stored_file.h"
#include "onnx/file/model.h"
#include "onnx/file/wire.h"

namespace mxnet {
namespace onnx {

/* Where the bytes of a model come from, and where its weights' files are. */
struct Source {
  explicit Source(StoredBytes all) : bytes(std::move(all)) {}
  StoredBytes bytes;
  std::string folder;  // of external data; empty: none is read
  std::string path;    // of the model, which may be a link to another folder; empty: in memory
  std::map<std::string, StoredBytes> external;
};

/* As written: functions are not called, names are not looked at. */
void ReadWire(Source* source, Model* model, std::vector<FunctionProto>* functions);

/* Writes functions out, gives names of subgraphs that another graph has too new ones, sorts nodes,
 * fills in opsets and captured names. Throws Error(kIO). */
void Resolve(Model* model, const std::vector<FunctionProto>& functions);

/* Fills in NodeProto::small of all nodes (small_types.cc). Throws Error(kValue) for floats of 8 and
 * 4 bits where an operator does not take them. REQUIRES: Resolve. */
void FindSmallTypes(GraphProto* graph);

/* Says that outputs are float16 where the file does not say their type and nodes do
 * (half_outputs.cc). REQUIRES: Resolve. */
void FindHalfOutputs(GraphProto* graph);

/* The keys of a map, in the order of the columns; null where the node has none. */
inline const Attribute* VocabularyOf(const NodeProto& dict_vectorizer) {
  const Attribute* const words = dict_vectorizer.Find("string_vocabulary");
  return words && !words->strings.empty() ? words : dict_vectorizer.Find("int64_vocabulary");
}

/* What exporters note about a value. */
using Notes = std::map<std::string, std::string>;

/* What PyTorch notes about a constant: a parameter, a buffer, or computed of others (tensor.cc). */
void NoteOrigin(const Notes& notes, Constant* constant);

/* TensorProto -> Constant (tensor.cc). */
Constant ReadTensor(WireMessage message, Source* source);
/* SparseTensorProto -> Constant, dense. */
Constant ReadSparseTensor(WireMessage message, Source* source);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_FILE_READER_H_
