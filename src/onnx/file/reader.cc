// The wire format of onnx.proto, message by message. Field numbers are the standard's.
#include "onnx/file/reader.h"

#include <charconv>
#include <filesystem>
#include <map>
#include <unordered_map>

#include "base/file_kinds.h"
#include "onnx/file/torch_notes.h"
#include "onnx/file/wire.h"

namespace mxnet {
namespace onnx {
namespace {

using Reader = WireMessage;

constexpr int kMostDepth = 100;  // of graphs within graphs

/* Throws for what is known to be something else. Asked when reading failed: models may begin as
 * other files do, since protobuf leaves the order of fields to writers. */
void RefuseOther(const StoredBytes& bytes, const std::string& path) {
  const FileKind* kind = path.empty() ? KindOfBytes(bytes.data(), bytes.size()) : KindOfFile(path);
  RefuseKind(kind, " onnx ", "onnx", path.empty() ? "what was given" : path, "ONNX models");
}

class WireReader {
 public:
  explicit WireReader(Source* source) : source_(source) {}

  void ReadModel(Reader r, Model* m, std::vector<FunctionProto>* functions) {
    bool has_graph = false;
    while (r.next()) switch (r.tag()) {
        case 1: m->ir_version = r.get_int64(); break;
        case 2: m->producer = r.get_string(); break;
        case 3: m->producer_version = r.get_string(); break;
        case 4: m->domain = r.get_string(); break;
        case 5: m->version = r.get_int64(); break;
        case 6: m->description = r.get_string(); break;
        case 7:
          ReadGraph(r.get_message(), &m->graph);
          has_graph = true;
          break;
        case 8: ReadOpset(r.get_message(), &m->opsets); break;
        case 14: ReadPair(r.get_message(), &m->metadata); break;
        case 25:
          functions->emplace_back();
          ReadFunction(r.get_message(), &functions->back());
          break;
        default: r.skip();
      }
    if (!has_graph) RefuseOther(source_->bytes, m->path);
    MXNET_CHECK_KIND(has_graph, IO) << "[onnx] no graph in it; is this an ONNX model?";
  }

 private:
  static void ReadOpset(Reader r, std::map<std::string, int64_t>* opsets) {
    std::string domain;
    int64_t version = 0;
    while (r.next()) switch (r.tag()) {
        case 1: domain = r.get_string(); break;
        case 2: version = r.get_int64(); break;
        default: r.skip();
      }
    (*opsets)[domain == "ai.onnx" ? "" : domain] = version;
  }

  void ReadFunction(Reader r, FunctionProto* f) {
    while (r.next()) switch (r.tag()) {
        case 1: f->name = r.get_string(); break;
        case 4: f->inputs.push_back(r.get_string()); break;
        case 5: f->outputs.push_back(r.get_string()); break;
        case 6: f->attribute_names.push_back(r.get_string()); break;
        case 7: f->nodes.push_back(ReadNode(r.get_message())); break;
        case 9: ReadOpset(r.get_message(), &f->opsets); break;
        case 10: f->domain = r.get_string(); break;
        case 11: f->attribute_defaults.push_back(ReadAttribute(r.get_message())); break;
        case 13: f->overload = r.get_string(); break;
        default: r.skip();
      }
  }

  void ReadGraph(Reader r, GraphProto* g) {
    MXNET_CHECK_KIND(++depth_ <= kMostDepth, IO) << "[onnx] graphs within graphs, more than " << kMostDepth << " deep";
    std::map<std::string, Notes> notes;  // of PyTorch's exporter, by the name of a constant
    while (r.next()) switch (r.tag()) {
        case 1: g->nodes.push_back(ReadNode(r.get_message())); break;
        case 2: g->name = r.get_string(); break;
        case 5: g->constants.push_back(ReadTensor(r.get_message(), source_)); break;
        case 10: g->description = r.get_string(); break;
        case 11: g->inputs.push_back(ReadValueInfo(r.get_message())); break;
        case 12: g->outputs.push_back(ReadValueInfo(r.get_message())); break;
        case 13: ReadNotes(r.get_message(), &notes); break;
        case 15: g->constants.push_back(ReadSparseTensor(r.get_message(), source_)); break;
        default: r.skip();
      }
    --depth_;
    for (Constant& c : g->constants) {
      const auto it = notes.find(c.name);
      if (it != notes.end()) NoteOrigin(it->second, &c);
    }
  }

  /* Of a value in the graph only what is noted about it. */
  static void ReadNotes(Reader r, std::map<std::string, Notes>* all) {
    std::string name;
    Notes notes;
    while (r.next()) switch (r.tag()) {
        case 1: name = r.get_string(); break;
        case 4: ReadPair(r.get_message(), &notes); break;
        default: r.skip();
      }
    if (!notes.empty()) all->emplace(name, std::move(notes));
  }

  NodeProto ReadNode(Reader r) {
    NodeProto n;
    Notes notes;
    while (r.next()) switch (r.tag()) {
        case 1: n.inputs.push_back(r.get_string()); break;
        case 2: n.outputs.push_back(r.get_string()); break;
        case 3: n.name = r.get_string(); break;
        case 4: n.op = r.get_string(); break;
        case 5: n.attributes.push_back(ReadAttribute(r.get_message())); break;
        case 7: n.domain = r.get_string(); break;
        case 8: n.overload = r.get_string(); break;
        case 9: ReadPair(r.get_message(), &notes); break;
        default: r.skip();
      }
    if (n.domain == "ai.onnx") n.domain.clear();
    if (n.op == "Gather" && !notes.empty()) TakePadding(notes, &n);
    return n;
  }

  /* PyTorch's exporter notes what call of its own a node was made of:
   * "...aten.embedding.default](args = (%weight, %ids, 0), kwargs = {})". */
  static void TakePadding(const Notes& notes, NodeProto* n) {
    const auto note = notes.find("pkg.torch.onnx.fx_node");
    const std::string call = "aten.embedding.default](args = (";
    const size_t at = note == notes.end() ? std::string::npos : note->second.find(call);
    if (at == std::string::npos) return;
    const std::string rest = note->second.substr(at + call.size()), arguments = rest.substr(0, rest.find(')'));
    const size_t first = arguments.find(", "), second = first == std::string::npos ? first : arguments.find(", ", first + 2);
    if (second == std::string::npos) return;
    const char* const begin = arguments.data() + second + 2;
    Attribute padding;
    padding.name = kPaddingAttribute;
    padding.kind = AttributeKind::kInt;
    const auto read = std::from_chars(begin, arguments.data() + arguments.size(), padding.i);
    if (read.ec == std::errc() && padding.i >= 0) n->attributes.push_back(std::move(padding));
  }

  Attribute ReadAttribute(Reader r) {
    Attribute a;
    int64_t kind = 0;
    AttributeKind found = AttributeKind::kUndefined;  // IR versions below 2 do not name the kind
    while (r.next()) {
      const uint32_t tag = r.tag();
      switch (tag) {
        case 1: a.name = r.get_string(); continue;
        case 2: a.f = r.get_float(); break;
        case 3: a.i = r.get_int64(); break;
        case 4: a.s = r.get_string(); break;
        case 5: a.tensor = std::make_shared<Constant>(ReadTensor(r.get_message(), source_)); break;
        case 22: a.tensor = std::make_shared<Constant>(ReadSparseTensor(r.get_message(), source_)); break;
        case 6:
          a.graph = std::make_shared<GraphProto>();
          ReadGraph(r.get_message(), a.graph.get());
          break;
        case 7: ReadFloats(&r, &a.floats); break;
        case 8: ReadInts(&r, &a.ints); break;
        case 9: a.strings.push_back(r.get_string()); break;
        case 14: a.i = DTypeOfType(r.get_message()); break;
        case 20: kind = r.get_int32(); continue;
        case 21: a.refers_to = r.get_string(); continue;
        default: r.skip(); continue;
      }
      found = tag == 22 ? AttributeKind::kTensor : tag == 14 ? AttributeKind::kTypeProto : static_cast<AttributeKind>(tag - 1);
    }
    a.kind = kind > 0 && kind <= 14 ? static_cast<AttributeKind>(kind) : found;
    if (a.kind == AttributeKind::kSparseTensor) a.kind = AttributeKind::kTensor;
    return a;
  }

  /* TensorProto.DataType of a TypeProto's tensors. */
  static int64_t DTypeOfType(Reader r) {
    int64_t type = 0;
    while (r.next()) switch (r.tag()) {
        case 1:
        case 4:
        case 9:
          for (Reader t = r.get_message(); t.next();) {
            if (t.tag() != 1) {
              t.skip();
            } else if (t.wire_type() == Reader::Type::varint) {
              type = t.get_int32();
            } else {
              type = DTypeOfType(t.get_message());
            }
          }
          break;
        default: r.skip();
      }
    return type;
  }

  static ValueInfo ReadValueInfo(Reader r) {
    ValueInfo v;
    while (r.next()) switch (r.tag()) {
        case 1: v.name = r.get_string(); break;
        case 2: ReadType(r.get_message(), &v, 0); break;
        default: r.skip();
      }
    return v;
  }

  static void ReadType(Reader r, ValueInfo* v, int depth) {
    if (depth > 8) return;  // optional(sequence(tensor)) is the deepest that has a meaning
    while (r.next()) switch (r.tag()) {
        case 1: ReadTensorType(r.get_message(), v); break;
        case 4:
        case 9: {
          if (depth == 0) v->kind = r.tag() == 4 ? ValueInfo::kSequence : ValueInfo::kOptional;
          for (Reader t = r.get_message(); t.next();)
            if (t.tag() == 1)
              ReadType(t.get_message(), v, depth + 1);
            else
              t.skip();
          break;
        }
        case 5:
          if (depth == 0) v->kind = ValueInfo::kMap;
          for (Reader t = r.get_message(); t.next();)
            if (t.tag() == 2 && depth == 0)
              ReadType(t.get_message(), v, depth + 1);
            else
              t.skip();
          break;
        default: r.skip();
      }
  }

  static void ReadTensorType(Reader r, ValueInfo* v) {
    while (r.next()) switch (r.tag()) {
        case 1: {
          const int64_t type = r.get_int32();
          v->dtype = DTypeOfOnnx(type);
          v->small = SmallTypeOf(type);
          break;
        }
        case 2:
          v->has_shape = true;
          for (Reader s = r.get_message(); s.next();) {
            if (s.tag() != 1) {
              s.skip();
              continue;
            }
            Dimension d;
            for (Reader t = s.get_message(); t.next();) switch (t.tag()) {
                case 1: d.size = t.get_int64(); break;
                case 2: d.name = t.get_string(); break;
                default: t.skip();
              }
            if (d.size < 0) d.size = -1;
            v->dims.push_back(std::move(d));
          }
          break;
        default: r.skip();
      }
  }

  Source* source_;
  int depth_ = 0;
};

}  // namespace

void ReadWire(Source* source, Model* model, std::vector<FunctionProto>* functions) {
  try {
    WireReader(source).ReadModel(Reader(&source->bytes), model, functions);
  } catch (const protozero::exception& e) {
    RefuseOther(source->bytes, model->path);
    MXNET_THROW(IO) << "[onnx] " << (model->path.empty() ? "the bytes are" : model->path + " is") << " damaged, cut off, or no ONNX model ("
                    << e.what() << " at byte " << source->bytes.last() << ")";
  }
  model->file_bytes = source->bytes.size();
  for (const auto& c : model->graph.constants)
    if (!c.array.is_none()) model->weight_bytes += static_cast<uint64_t>(c.shape.Size()) * DTypeSize(c.array.dtype());
}

/* A map that DictVectorizer reads is a row of its values, in the order of the vocabulary: inputs
 * are arrays, and whoever calls the model fills in the row. */
static void GiveRowsToMaps(GraphProto* graph) {
  std::unordered_map<std::string, ValueInfo*> inputs;
  std::unordered_map<std::string, const NodeProto*> first;
  for (const NodeProto& n : graph->nodes) {
    const Attribute* const words = n.op == "DictVectorizer" ? VocabularyOf(n) : nullptr;
    if (!words || n.inputs.empty()) continue;
    if (inputs.empty())
      for (ValueInfo& v : graph->inputs) inputs.emplace(v.name, &v);
    const auto found = inputs.find(n.inputs[0]);
    if (found == inputs.end()) continue;
    ValueInfo& v = *found->second;
    const auto met = first.emplace(v.name, &n);
    const Attribute* const before = met.second ? nullptr : VocabularyOf(*met.first->second);
    MXNET_CHECK_KIND(!before || (before->strings == words->strings && before->ints == words->ints), Value)
        << "[onnx] input " << v.name << " is a map of two vocabularies, of the nodes " << met.first->second->label() << " and " << n.label()
        << "; accepted: one";
    v.kind = ValueInfo::kTensor;
    v.has_shape = true;
    v.dims.assign(2, Dimension());
    v.dims[0].size = 1;
    v.dims[1].size = static_cast<int64_t>(words->strings.size() + words->ints.size());
  }
}

static std::shared_ptr<const Model> Read(Source source, std::string path) {
  auto model = std::make_shared<Model>();
  model->path = std::move(path);
  std::vector<FunctionProto> functions;
  ReadWire(&source, model.get(), &functions);
  Resolve(model.get(), functions);
  FindSmallTypes(&model->graph);
  FindHalfOutputs(&model->graph);
  GiveRowsToMaps(&model->graph);
  return model;
}

std::shared_ptr<const Model> ReadModel(const std::string& path) {
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) RefuseOther(StoredBytes(nullptr, 0, nullptr), path);
  Source source(StoredBytes(std::make_shared<StoredFile>(path, "onnx")));
  const size_t slash = path.rfind('/');
  source.folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  source.path = path;
  return Read(std::move(source), path);
}

std::shared_ptr<const Model> ReadModel(std::shared_ptr<const void> bytes, size_t size, const std::string& folder) {
  const void* const data = bytes.get();
  Source source(StoredBytes(data, size, std::move(bytes)));
  source.folder = folder;
  return Read(std::move(source), "");
}

}  // namespace onnx
}  // namespace mxnet
