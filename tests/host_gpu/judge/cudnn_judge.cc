/*
 * What the real cuDNN makes of the graphs that a run on the GPU made of the host has finished:
 * which engines it names on a Hopper GPU, which is told in numbers, and for which of them it
 * finishes a plan. No device is needed, only a libcuda.so.1 that can be loaded (the toolkit's
 * stub).
 *
 *   HOST_GPU_CUDNN_GRAPHS=graphs.txt LD_PRELOAD=.../libhost_gpu.so python ...
 *   cudnn_judge graphs.txt [configs to look at in each list]
 *
 * A line for each graph: refused while it was put together, or how many configs are named and the
 * first whose plan is finished (or compiled, and only not loaded for want of a driver: workspace
 * -1), of all, without tensor cores, and deterministic.
 */
#include <cudnn.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "operator/gpu_library/hopper_properties.h"

namespace {

using D = cudnnBackendDescriptor_t;

std::string LastError() {
  char text[1024] = "";
  cudnnGetLastErrorString(text, sizeof text);
  return text;
}

bool Set(D d, int name, int type, int64_t count, const void* values) {
  return cudnnBackendSetAttribute(d, static_cast<cudnnBackendAttributeName_t>(name), static_cast<cudnnBackendAttributeType_t>(type), count,
                                  values) == CUDNN_STATUS_SUCCESS;
}
D Create(int type) {
  D d = nullptr;
  cudnnBackendCreateDescriptor(static_cast<cudnnBackendDescriptorType_t>(type), &d);
  return d;
}
int64_t Number(D d, cudnnBackendAttributeName_t name) {
  int64_t value = -1, count = 0;
  cudnnBackendGetAttribute(d, name, CUDNN_TYPE_INT64, 1, &count, &value);
  return value;
}

size_t SizeOfElement(int type) {
  switch (type) {
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR: return 8;
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR: return 1;
    default: return 4;
  }
}

// Tensors and operations in words.
std::string Words(int type, int name, const std::vector<char>& bytes) {
  std::ostringstream text;
  auto list = [&](const char* what) {
    text << what;
    for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      int64_t v;
      std::memcpy(&v, &bytes[i], 8);
      text << (i ? "," : "") << v;
    }
  };
  int number = 0;
  std::memcpy(&number, bytes.data(), std::min<size_t>(bytes.size(), 4));
  switch (name) {
    case CUDNN_ATTR_TENSOR_DIMENSIONS: list(" "); break;
    case CUDNN_ATTR_TENSOR_STRIDES: list("/"); break;
    case CUDNN_ATTR_TENSOR_DATA_TYPE: text << " t" << number; break;
    case CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT: text << " a" << number; break;
    case CUDNN_ATTR_TENSOR_IS_VIRTUAL: text << " v"; break;
    case CUDNN_ATTR_POINTWISE_MODE: text << " pointwise" << number; break;
    case CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES: list(" stride"); break;
    case CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS: list(" pad"); break;
    case CUDNN_ATTR_CONVOLUTION_DILATIONS: list(" dilate"); break;
    default: break;
  }
  if (name == CUDNN_ATTR_TENSOR_UNIQUE_ID) text << " [" << number;
  (void)type;
  return text.str();
}

struct Judged {
  int64_t engine = -1, workspace = -1;
  std::string Text() const { return engine < 0 ? "none" : std::to_string(engine) + " (" + std::to_string(workspace) + " bytes)"; }
};

std::string Judge(D graph, D device, int64_t most) {
  Judged any, plain, deterministic;
  std::string text, why;  // why the first plan was refused
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    const D heuristics = Create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    Set(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
    Set(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    Set(heuristics, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &device);
    int64_t count = 0, finished = 0;
    std::vector<D> configs;
    if (cudnnBackendFinalize(heuristics) == CUDNN_STATUS_SUCCESS) {
      cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr);
      for (int64_t i = 0; i < count; ++i) configs.push_back(Create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
      if (count)
        cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, configs.data());
    }
    for (int64_t i = 0; i < count; ++i) {
      const D config = configs[static_cast<size_t>(i)], engine = Create(CUDNN_BACKEND_ENGINE_DESCRIPTOR),
              plan = Create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      D into = engine;
      int64_t one = 0, noted = 0;
      cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
      cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &one, &into);
      cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &noted,
                               notes);
      auto has = [&](cudnnBackendNumericalNote_t note) { return std::find(notes, notes + noted, note) != notes + noted; };
      const bool without = !has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) && !has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS),
                 ordered = !has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
      const bool wanted = any.engine < 0 || (without && plain.engine < 0) || (ordered && deterministic.engine < 0) || i < most;
      const bool made = wanted && Set(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &config) &&
                        Set(plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &device) &&
                        cudnnBackendFinalize(plan) == CUDNN_STATUS_SUCCESS;
      const std::string error = wanted && !made ? LastError() : "";
      if (why.empty()) why = error;
      // all that a compiled engine lacks is a driver that loads its code; 34: the library is a stub
      const bool compiled = error.find("cuLibraryLoadData returned error  (34)") != std::string::npos;
      if (made || compiled) {
        ++finished;
        Judged j;
        j.engine = Number(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
        j.workspace = Number(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
        if (any.engine < 0) any = j;
        if (without && plain.engine < 0) plain = j;
        if (ordered && deterministic.engine < 0) deterministic = j;
      }
      for (D d : {config, engine, plan}) cudnnBackendDestroyDescriptor(d);
    }
    cudnnBackendDestroyDescriptor(heuristics);
    text += (mode == CUDNN_HEUR_MODE_A ? "named " : ", last resort ") + std::to_string(count) + " finished " + std::to_string(finished);
  }
  return text + "; first " + any.Text() + ", without tensor cores " + plain.Text() + ", deterministic " + deterministic.Text() +
         (any.engine < 0 && !why.empty() ? " (" + why + ")" : "");
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return std::fprintf(stderr, "usage: cudnn_judge graphs.txt [configs]\n"), 2;
  if (!dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) && !dlopen("/usr/local/cuda/lib64/stubs/libcuda.so", RTLD_NOW | RTLD_GLOBAL))
    return std::fprintf(stderr, "no libcuda.so.1, and no stub of it\n"), 2;
  const D device = Create(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  if (!Set(device, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
           static_cast<int64_t>(std::strlen(mxnet::gpu_library::kHopperProperties)), mxnet::gpu_library::kHopperProperties) ||
      cudnnBackendFinalize(device) != CUDNN_STATUS_SUCCESS)
    return std::fprintf(stderr, "the device: %s\n", LastError().c_str()), 2;
  std::ifstream file(arguments[1]);
  std::string word;
  int refused = 0;
  while (file >> word && word == "graph") {
    size_t total = 0;
    file >> total;
    std::vector<D> all;
    std::string words, why;
    for (size_t i = 0; i < total; ++i) {
      int type = 0, attributes = 0;
      file >> type >> attributes;
      const D d = Create(type);
      all.push_back(d);
      for (int j = 0; j < attributes; ++j) {
        int name = 0, kind = 0;
        size_t size = 0;
        file >> name >> kind >> size;
        std::vector<D> links;
        std::vector<char> bytes(size);
        if (kind == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
          for (size_t k = 0, at = 0; k < size; ++k) file >> at, links.push_back(all.at(at));
        } else {
          std::string digits;
          if (size) file >> digits;
          for (size_t k = 0; k < size; ++k) bytes[k] = static_cast<char>(std::stoi(digits.substr(2 * k, 2), nullptr, 16));
          words += Words(type, name, bytes);
        }
        const bool linked = kind == CUDNN_TYPE_BACKEND_DESCRIPTOR;
        if (why.empty() && !Set(d, name, kind, static_cast<int64_t>(linked ? links.size() : size / SizeOfElement(kind)),
                                linked ? static_cast<const void*>(links.data()) : bytes.data()))
          why = "attribute " + std::to_string(name) + ": " + LastError();
      }
      if (type == CUDNN_BACKEND_TENSOR_DESCRIPTOR)
        words += "]";
      else if (type >= CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR && type != CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
        words += " op" + std::to_string(type);
      if (why.empty() && cudnnBackendFinalize(d) != CUDNN_STATUS_SUCCESS)
        why = "descriptor of type " + std::to_string(type) + ": " + LastError();
    }
    refused += !why.empty();
    std::printf("%s |%s\n",
                why.empty() ? Judge(all.back(), device, count > 2 ? std::atoll(arguments[2]) : 0).c_str() : ("REFUSED: " + why).c_str(),
                words.c_str());
    std::fflush(stdout);
    for (D d : all) cudnnBackendDestroyDescriptor(d);
  }
  return refused != 0;
}
