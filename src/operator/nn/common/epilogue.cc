// Functions that fused operators apply to their results.
#include "operator/nn/common/epilogue.h"

#include <cstdio>
#include <cstdlib>

#include "operator/pointwise/loops/loops.h"
#include "operator/record/traits.h"
#include "operator/shared/activation_kernels.h"

namespace mxnet {
namespace nn {
namespace {

struct Name {
  EpilogueKind kind;
  const char* text;
  int numbers;
};
const Name kNames[] = {
    {EpilogueKind::kRelu, "relu", 0},         {EpilogueKind::kSigmoid, "sigmoid", 0},     {EpilogueKind::kTanh, "tanh", 0},
    {EpilogueKind::kSoftRelu, "softrelu", 0}, {EpilogueKind::kGelu, "gelu", 0},           {EpilogueKind::kLeaky, "leaky", 1},
    {EpilogueKind::kElu, "elu", 1},           {EpilogueKind::kClip, "clip", 2},           {EpilogueKind::kHardSigmoid, "hard_sigmoid", 2},
    {EpilogueKind::kSilu, "silu", 1},         {EpilogueKind::kHardSwish, "hard_swish", 2}};

}  // namespace

std::string EpilogueText(const EpilogueOp& post) {
  for (const Name& n : kNames) {
    if (n.kind != post.kind) continue;
    char numbers[64] = "";
    if (n.numbers == 1) std::snprintf(numbers, sizeof numbers, ":%.9g", static_cast<double>(post.a));
    if (n.numbers == 2) std::snprintf(numbers, sizeof numbers, ":%.9g,%.9g", static_cast<double>(post.a), static_cast<double>(post.b));
    return std::string(n.text) + numbers;
  }
  return "";
}

EpilogueOp ParsePost(const char* op, const std::string& text) {
  EpilogueOp post;
  if (text.empty()) return post;
  const size_t colon = text.find(':');
  std::string accepted;
  for (const Name& n : kNames) {
    accepted += (accepted.empty() ? "" : ", ") + std::string(n.text) + (n.numbers == 0 ? "" : n.numbers == 1 ? ":A" : ":A,B");
    if (text.substr(0, colon) != n.text || (n.numbers > 0) != (colon != std::string::npos)) continue;
    post.kind = n.kind;
    if (n.numbers == 0) return post;
    const char* at = text.c_str() + colon + 1;
    char* end = nullptr;
    post.a = std::strtof(at, &end);
    bool good = end != at;
    if (n.numbers == 2) {
      good = good && *end == ',';
      at = good ? end + 1 : at;
      post.b = std::strtof(at, &end);
      good = good && end != at;
    }
    if (good && !*end) return post;
  }
  MXNET_THROW(Value) << "[" << op << "] post is '" << text << "'; accepted: " << accepted;
  return post;
}

bool EpilogueOf(const Node& node, EpilogueOp* post) {
  if (node.is_variable()) return false;
  switch (RoleOf(node)) {
    case Role::kRelu: return *post = {EpilogueKind::kRelu}, true;
    case Role::kSigmoid: return *post = {EpilogueKind::kSigmoid}, true;
    case Role::kTanh: return *post = {EpilogueKind::kTanh}, true;
    case Role::kGelu: return *post = {EpilogueKind::kGelu}, true;
    default: break;
  }
  const auto* as = node.op()->trait<AsEpilogue>();
  if (as) *post = as->of(*node.attrs);
  return as && *post;
}

void ApplyPost(const EpilogueOp& post, const float* x, float* y, int64_t n) {
  auto activation = [&](ActivationType type) { MXNET_CPU_CALL(ActivationForward)(type, kFloat32, x, y, n, static_cast<double>(post.a)); };
  auto row = [&](int id) {
    const float r = 0;
    const void* in[4] = {x, &post.a, &post.b, &r};
    pointwise::ForwardLoop(id, pointwise::kF32)(in, y, n, 0);
  };
  switch (post.kind) {
    case EpilogueKind::kNone:
      if (x != y) std::copy(x, x + n, y);
      return;
    case EpilogueKind::kRelu: return activation(kActRelu);
    case EpilogueKind::kSigmoid: return activation(kActSigmoid);
    case EpilogueKind::kTanh: return activation(kActTanh);
    case EpilogueKind::kSoftRelu: return activation(kActSoftRelu);
    case EpilogueKind::kGelu: return activation(kActGelu);
    case EpilogueKind::kLeaky: return activation(kActLeaky);
    case EpilogueKind::kElu: return activation(kActElu);
    case EpilogueKind::kClip: return row(pointwise::k_clip);
    case EpilogueKind::kHardSigmoid: return row(pointwise::k_hard_sigmoid);
    case EpilogueKind::kSilu: return row(pointwise::k_silu);
    case EpilogueKind::kHardSwish: return row(pointwise::k_hard_swish);
  }
}

bool TakeText(AttrDict* dict, const char* key, std::string* value) {
  auto it = dict->find(key);
  if (it == dict->end()) return false;
  *value = it->second;
  dict->erase(it);
  return true;
}

bool TakeFlag(const char* op, AttrDict* dict, const char* key) {
  std::string value;
  if (!TakeText(dict, key, &value)) return false;
  MXNET_CHECK_KIND(value == "1" || value == "0" || value == "True" || value == "False", Value)
      << "[" << op << "] " << key << " is '" << value << "'; accepted: True, False";
  return value == "1" || value == "True";
}

}  // namespace nn
}  // namespace mxnet
