// Signs of files of other programs, and the words of errors about them.
#include "base/file_kinds.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "base/new_file.h"
#include "mxnet/error.h"

namespace mxnet {
namespace {

constexpr size_t kHead = 512;       // bytes in which signs are looked for
constexpr size_t kZipTail = 65557;  // an archive's end and its longest comment
constexpr uint32_t kMostEntries = 1 << 20;

constexpr char kNoNetwork[] =
    "it has weights and no network: export the model to ONNX where PyTorch runs (torch.onnx.export), and open what it wrote. "
    "In Python, mx.contrib.torch.load_into(block, path) gives the weights to a block";
constexpr char kExport[] = "export the model to ONNX where PyTorch runs (torch.onnx.export), and open what it wrote";
constexpr char kConvert[] = "convert it to ONNX where TensorFlow runs (package tf2onnx), and open what it wrote";
constexpr char kTorch[] = "mx.contrib.torch.load(path) reads its arrays, mx.contrib.torch.load_into(block, path) gives them to a block";

const FileKind kKinds[] = {
    {"empty", "an empty file", "whatever wrote it was interrupted, or did not begin; write or download it again", nullptr},
    {"params", "a file of MXNet arrays (.params)", "mx.nd.load(path) or net.load_parameters(path) reads it",
     "open it together with its network: Predictor(\"NAME-symbol.json\", path)"},
    {"npy", "a NumPy array (.npy)", "mx.nd.load(path) or mx.npx.load(path) reads it",
     "MXNDArrayLoad reads no files of NumPy; mx.nd.save writes the arrays to a .params file"},
    {"npz", "a NumPy archive (.npz)", "mx.nd.load(path) or mx.npx.load(path) reads it",
     "MXNDArrayLoad reads no files of NumPy; mx.nd.save writes the arrays to a .params file"},
    {"torch", "a PyTorch file (.pt, .pth or .bin)", kTorch, kNoNetwork},
    {"torch_legacy", "a PyTorch file of the form before version 1.6 (.pt, .pth or .bin)", kTorch, kNoNetwork},
    {"torchscript", "a TorchScript archive, which holds a program",
     "save the weights where PyTorch runs: torch.save(torch.jit.load(path).state_dict(), 'weights.pt'), then "
     "mx.contrib.torch.load('weights.pt')",
     kExport},
    {"torch_export", "a program of torch.export (.pt2)",
     "save the weights where PyTorch runs: torch.save(torch.export.load(path).state_dict, 'weights.pt'), then "
     "mx.contrib.torch.load('weights.pt')",
     kExport},
    {"safetensors", "a safetensors file",
     "mx.contrib.safetensors.load(path) reads its arrays, mx.contrib.torch.load_into(block, path) gives them to a block", kNoNetwork},
    {"onnx", "an ONNX model", "mx.onnx.load(path) reads it", "mxnet::Predictor(path) or MXOnnxModelCreate opens it"},
    {"ort", "an ONNX Runtime file (.ort), which that runtime made of an ONNX model for itself",
     "open the ONNX model that it was made of: mx.onnx.load(path)", "open the ONNX model that it was made of"},
    {"symbol", "an MXNet network (-symbol.json)",
     "mx.sym.load(path) reads it, gluon.SymbolBlock.imports(path, input_names, parameter_file) makes a block of it",
     "open it together with its parameters: Predictor(path, \"NAME-0000.params\")"},
    {"shards", "an index of several files of weights",
     "mx.contrib.safetensors.load(path) or mx.contrib.torch.load(path) reads the files beside it, mx.contrib.torch.load_into(block, path) "
     "gives their arrays to a block",
     kNoNetwork},
    {"json", "a JSON text", "files of weights and networks have other forms; look for the file beside it that it describes", nullptr},
    {"hdf5", "an HDF5 file (.h5), as Keras writes", "read it with the package h5py, and give {name: array} to net.load_dict", kConvert},
    {"keras", "a Keras archive (.keras)", "read it with Keras, and give {name: array} to net.load_dict", kConvert},
    {"pickle", "a pickle of Python, which can run code when it is read",
     "if it holds optimizer states, Trainer.load_states(path) or Module.load_optimizer_states(path) reads it; load pickles of people whom "
     "you trust alone",
     "if it holds a model of PyTorch, export that to ONNX where PyTorch runs (torch.onnx.export), and open what it wrote"},
    {"gguf", "a GGUF file of llama.cpp", "take the model's safetensors files, which mx.contrib.safetensors.load(path) reads",
     "take the model in ONNX, or its safetensors files with a program in Python"},
    {"tflite", "a TensorFlow Lite model", "convert it to ONNX where TensorFlow runs (package tf2onnx), then mx.onnx.load(path)", kConvert},
    {"record", "a RecordIO file (.rec)", "mx.recordio.MXRecordIO(path, 'r') reads it", "MXRecordIOReaderCreate reads it"},
    {"lfs", "a pointer of git-lfs, not the file itself", "fetch the file with `git lfs pull`", nullptr},
    {"html", "a page of HTML: most likely a download that failed",
     "open the address in a browser to see what the page says, and download again", nullptr},
    {"xml", "an XML text", "if it is OpenVINO's, take the ONNX model that it was made of: mx.onnx.load(path)",
     "if it is OpenVINO's, take the ONNX model that it was made of"},
    {"gzip", "compressed by gzip (a .gz or .tar.gz)", "unpack it first: gunzip, or tar -xf", nullptr},
    {"bzip2", "compressed by bzip2", "unpack it first: bunzip2, or tar -xf", nullptr},
    {"xz", "compressed by xz", "unpack it first: unxz, or tar -xf", nullptr},
    {"zstd", "compressed by zstd", "unpack it first: unzstd", nullptr},
    {"7z", "a 7z archive", "unpack it first: 7z x", nullptr},
    {"torch_tar", "a PyTorch file of before version 0.2, which is a tar archive",
     "read and save it again where PyTorch runs: torch.save(torch.load(path, weights_only=False), 'weights.pt'), then "
     "mx.contrib.torch.load('weights.pt')",
     kNoNetwork},
    {"tar", "a tar archive", "unpack it first: tar -xf", nullptr},
    {"zip", "a zip archive", "unpack it first: unzip", nullptr},
    {"png", "a PNG picture", "mx.image.imread(path) reads it", "it is read by image iterators, and is no network"},
    {"jpeg", "a JPEG picture", "mx.image.imread(path) reads it", "it is read by image iterators, and is no network"},
    {"gif", "a GIF picture", "convert it to PNG", nullptr},
    {"pdf", "a PDF document", "it holds no arrays", nullptr},
    {"elf", "a program or library (ELF)", "mx.library.load(path) loads a library of operators", "MXLoadLib loads a library of operators"},
    {"text", "a text", "files of weights and networks have other forms", nullptr},
    {"folder", "a folder", "give the path of a file in it, such as model.safetensors, pytorch_model.bin or model.onnx",
     "give the path of a file in it, such as model.onnx"},
    {"saved_model", "a SavedModel of TensorFlow", "convert it to ONNX where TensorFlow runs (package tf2onnx), then mx.onnx.load(path)",
     kConvert},
    {"graph_def", "a graph of TensorFlow (.pb)", "convert it to ONNX where TensorFlow runs (package tf2onnx), then mx.onnx.load(path)",
     kConvert},
};

struct Sign {
  const char* bytes;
  size_t size;
  const char* kind;
};
#define MXNET_SIGN(text, kind) \
  { text, sizeof(text) - 1, kind }
const Sign kBeginnings[] = {MXNET_SIGN("\x12\x01\0\0\0\0\0\0", "params"),
                            MXNET_SIGN("\x93NUMPY", "npy"),
                            MXNET_SIGN("\x89HDF\r\n\x1a\n", "hdf5"),
                            MXNET_SIGN("GGUF", "gguf"),
                            MXNET_SIGN("version https://git-lfs.github.com/", "lfs"),
                            MXNET_SIGN("\x1f\x8b", "gzip"),
                            MXNET_SIGN("BZh", "bzip2"),
                            MXNET_SIGN("\xfd\x37zXZ\0", "xz"),
                            MXNET_SIGN("\x28\xb5\x2f\xfd", "zstd"),
                            MXNET_SIGN("7z\xbc\xaf\x27\x1c", "7z"),
                            MXNET_SIGN("\x89PNG\r\n\x1a\n", "png"),
                            MXNET_SIGN("\xff\xd8\xff", "jpeg"),
                            MXNET_SIGN("GIF8", "gif"),
                            MXNET_SIGN("%PDF-", "pdf"),
                            MXNET_SIGN("\x7f"
                                       "ELF",
                                       "elf"),
                            MXNET_SIGN("\x0a\x23\xd7\xce", "record")};
#undef MXNET_SIGN
// The number with which a file of torch.save before 1.6 begins, as a pickle of any protocol has it.
const std::string kTorchMagic("\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 13);

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

uint64_t Little(const char* at, int count) {
  uint64_t n = 0;
  for (int i = 0; i < count; ++i) n |= static_cast<uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
  return n;
}

/* UTF-8 without control characters; it may end within a letter. */
bool IsText(const std::string& head) {
  for (size_t i = 0; i < head.size();) {
    const auto c = static_cast<unsigned char>(head[i]);
    if (c < 9 || (c > 13 && c < 32 && c != 27)) return false;
    const int more = c < 0x80 ? 0 : c >= 0xc2 && c < 0xe0 ? 1 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xf0 && c < 0xf5 ? 3 : -1;
    if (more < 0) return false;
    ++i;
    for (int k = 0; k < more && i < head.size(); ++k, ++i)
      if ((static_cast<unsigned char>(head[i]) & 0xc0) != 0x80) return false;
  }
  return true;
}

const char* OfText(const std::string& head) {
  size_t begin = head.compare(0, 3, "\xef\xbb\xbf") == 0 ? 3 : 0;
  while (begin < head.size() && IsSpace(head[begin])) ++begin;
  const std::string text = head.substr(begin);
  std::string low = text;
  std::transform(low.begin(), low.end(), low.begin(), [](unsigned char c) { return c < 128 ? std::tolower(c) : c; });
  const auto begins = [&](const char* sign) { return low.compare(0, std::strlen(sign), sign) == 0; };
  if (begins("<!doctype html") || begins("<html") || begins("<head") || begins("<body")) return "html";
  if (begins("<?xml")) return low.find("<html") != std::string::npos ? "html" : "xml";
  if (begins("{") || begins("["))
    return text.find("\"nodes\"") != std::string::npos ? "symbol" : text.find("\"weight_map\"") != std::string::npos ? "shards" : "json";
  return !text.empty() && IsText(head) ? "text" : nullptr;
}

/* Does it begin as protobuf has a NodeDef {name, op} within a GraphDef? */
bool IsGraphDef(const std::string& head) {
  size_t at = 1;
  while (at < 4 && at < head.size() && (head[at] & 0x80)) ++at;
  if (head.empty() || head[0] != 0x0a || ++at + 2 >= head.size() || head[at] != 0x0a) return false;
  const size_t name = static_cast<unsigned char>(head[at + 1]), end = at + 2 + name;
  if (name == 0 || name > 127 || end + 2 >= head.size() || head[end] != 0x12) return false;
  return std::all_of(head.begin() + static_cast<std::ptrdiff_t>(at) + 2, head.begin() + static_cast<std::ptrdiff_t>(end),
                     [](unsigned char c) { return c > 32 && c < 127; }) &&
         std::isupper(static_cast<unsigned char>(head[end + 2]));
}

const char* OfProtobuf(const std::string& head) {
  // ModelProto {ir_version, then one of these fields}; SavedModel {schema version 1, a message}
  if (head.size() > 2 && head[0] == 0x08 && head[1] >= 1 && head[1] <= 32 &&
      std::memchr("\x12\x1a\x22\x28\x32\x3a\x42\x72", head[2], 8) != nullptr) {
    size_t at = 3;
    while (at < 7 && at < head.size() && (head[at] & 0x80)) ++at;
    const bool message = head[1] == 1 && head[2] == 0x12 && at + 1 < head.size() && (head[at + 1] == 0x0a || head[at + 1] == 0x12);
    return message ? "saved_model" : "onnx";
  }
  return IsGraphDef(head) ? "graph_def" : nullptr;
}

const char* OfHead(const std::string& head) {
  if (head.empty()) return "empty";
  if (std::all_of(head.begin(), head.end(), [](char c) { return c == 0; })) return nullptr;
  if (head.compare(0, 4, "PK\x03\x04") == 0 || head.compare(0, 4, "PK\x05\x06") == 0) return "zip";
  for (const Sign& sign : kBeginnings)
    if (head.compare(0, sign.size, sign.bytes, sign.size) == 0) return sign.kind;
  const uint64_t length = head.size() > 8 ? Little(head.data(), 8) : 0;
  if (head.size() > 8 && head[8] == '{' && length >= 2 && length < uint64_t{1} << 40 &&
      (head.size() == 9 || head[9] == '"' || head[9] == '}' || IsSpace(head[9])))
    return "safetensors";
  if (head.size() > 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5)
    return head.substr(0, 32).find(kTorchMagic) != std::string::npos ? "torch_legacy" : "pickle";
  if (const char* kind = OfProtobuf(head)) return kind;
  if (head.size() >= 8 && head.compare(4, 4, "TFL3") == 0) return "tflite";
  if (head.size() >= 8 && head.compare(4, 4, "ORTM") == 0) return "ort";
  if (head.size() >= 262 && head.compare(257, 5, "ustar") == 0) {
    const std::string first = head.substr(0, head.find('\0'));  // torch.save's four members
    const bool torch = first == "sys_info" || first == "pickle" || first == "tensors" || first == "storages";
    return torch ? "torch_tar" : "tar";
  }
  return OfText(head);
}

/* Where the list of entries begins and how many bytes it has, from the last bytes of an archive;
 * false: they are no end of one. */
bool FindList(const std::string& tail, uint64_t* begin, uint64_t* size) {
  for (size_t at = tail.size() < 22 ? 0 : tail.size() - 21; at-- > 0;) {
    if (tail.compare(at, 4, "PK\x05\x06") != 0) continue;
    *size = Little(&tail[at + 12], 4);
    *begin = Little(&tail[at + 16], 4);
    if (*begin == 0xffffffffu && at >= 76 && tail.compare(at - 76, 4, "PK\x06\x06") == 0) {  // ZIP64, as torch.save writes it
      *size = Little(&tail[at - 36], 8);
      *begin = Little(&tail[at - 28], 8);
    }
    return true;
  }
  return false;
}

std::vector<std::string> NamesInList(const std::string& list) {
  std::vector<std::string> names;
  for (size_t at = 0; at + 46 <= list.size() && list.compare(at, 4, "PK\x01\x02") == 0 && names.size() < kMostEntries;) {
    const size_t name = Little(&list[at + 28], 2), rest = Little(&list[at + 30], 2) + Little(&list[at + 32], 2);
    names.push_back(list.substr(at + 46, name));
    at += 46 + name + rest;
  }
  return names;
}

const char* OfEntries(const std::vector<std::string>& names) {
  std::set<std::string> last, folders;
  bool arrays = names.empty();
  for (const std::string& name : names) {
    size_t begin = 0;
    for (size_t slash; (slash = name.find('/', begin)) != std::string::npos; begin = slash + 1)
      folders.insert(name.substr(begin, slash - begin));
    last.insert(name.substr(begin));
    arrays = arrays || (name.size() >= 4 && name.compare(name.size() - 4, 4, ".npy") == 0);
  }
  const auto has = [&](const char* name) { return last.count(name) > 0; };
  if (has("constants.pkl") || (folders.count("code") && has("data.pkl"))) return "torchscript";
  if (has("data.pkl")) return "torch";
  if (has("archive_format") || has("serialized_exported_program.json")) return "torch_export";
  if (has("model.weights.h5") || (has("config.json") && has("metadata.json"))) return "keras";
  return arrays ? "npz" : "zip";
}

const char* OfArchive(std::ifstream* file, uint64_t size, const std::string& path) {
  const auto piece = [&](uint64_t begin, uint64_t count) {
    std::string text(static_cast<size_t>(count), '\0');
    file->clear();
    file->seekg(static_cast<std::streamoff>(begin));
    file->read(&text[0], static_cast<std::streamsize>(count));
    return file->gcount() == static_cast<std::streamsize>(count) ? text : std::string();
  };
  const uint64_t tail = std::min<uint64_t>(size, kZipTail);
  uint64_t begin = 0, count = 0;
  if (FindList(piece(size - tail, tail), &begin, &count) && begin <= size && count <= size - begin)
    return OfEntries(NamesInList(piece(begin, count)));
  std::string low = path;
  std::transform(low.begin(), low.end(), low.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const std::string suffix : {".pt", ".pth", ".bin", ".ckpt"})
    if (low.size() > suffix.size() && low.compare(low.size() - suffix.size(), suffix.size(), suffix) == 0) return "torch";
  return "npz";
}

}  // namespace

const FileKind* KindOfName(const std::string& name) {
  for (const FileKind& kind : kKinds)
    if (name == kind.name) return &kind;
  return nullptr;
}

const FileKind* KindOfBytes(const void* bytes, size_t size) {
  const char* text = static_cast<const char*>(bytes);
  const char* name = OfHead(std::string(text, std::min(size, kHead)));
  uint64_t begin = 0, count = 0;
  if (name && std::strcmp(name, "zip") == 0) {
    const size_t tail = std::min(size, kZipTail);
    if (FindList(std::string(text + size - tail, tail), &begin, &count) && begin <= size && count <= size - begin)
      name = OfEntries(NamesInList(std::string(text + begin, static_cast<size_t>(count))));
  }
  return name ? KindOfName(name) : nullptr;
}

const FileKind* KindOfFile(const std::string& path) {
  const std::string local = LocalPath(path);
  struct stat about;
  if (stat(local.c_str(), &about) != 0) return nullptr;
  if (S_ISDIR(about.st_mode)) {
    std::error_code none;
    return KindOfName(std::filesystem::exists(local + "/saved_model.pb", none) ? "saved_model" : "folder");
  }
  if (!S_ISREG(about.st_mode)) return nullptr;  // bytes that are read from a pipe are gone
  std::ifstream file(local, std::ios::binary);
  if (!file) return nullptr;
  std::string head(kHead, '\0');
  file.read(&head[0], static_cast<std::streamsize>(kHead));
  head.resize(static_cast<size_t>(file.gcount()));
  const char* name = OfHead(head);
  if (name && std::strcmp(name, "zip") == 0) name = OfArchive(&file, static_cast<uint64_t>(about.st_size), local);
  return name ? KindOfName(name) : nullptr;
}

void RefuseKind(const FileKind* kind, const char* own, const char* who, const std::string& file, const char* accepted) {
  if (kind == nullptr || std::strstr(own, (" " + std::string(kind->name) + " ").c_str()) != nullptr) return;
  MXNET_THROW(IO) << "[" << who << "] " << file << " is " << kind->what << ": " << (kind->in_c ? kind->in_c : kind->in_python)
                  << "; accepted here: " << accepted;
}

}  // namespace mxnet
