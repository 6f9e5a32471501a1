// Functions that fused operators apply to their results.
#include "operator/nn/post.h"

#include <cstdio>
#include <cstdlib>

#include "operator/nn/activation_kernels.h"
#include "operator/pointwise/loops.h"

namespace mxnet {
namespace nn {
namespace {

struct Name { PostKind kind; const char* text; int numbers; };
const Name kNames[] = {{PostKind::kRelu, "relu", 0}, {PostKind::kSigmoid, "sigmoid", 0}, {PostKind::kTanh, "tanh", 0}, {PostKind::kSoftRelu, "softrelu", 0},
                       {PostKind::kGelu, "gelu", 0}, {PostKind::kLeaky, "leaky", 1}, {PostKind::kElu, "elu", 1}, {PostKind::kClip, "clip", 2},
                       {PostKind::kHardSigmoid, "hard_sigmoid", 2}};

std::string Text(const AttrDict& d, const char* key, const char* otherwise) {
  auto it = d.find(key);
  return it == d.end() ? otherwise : it->second;
}
float Number(const AttrDict& d, const char* key, float otherwise) {
  auto it = d.find(key);
  return it == d.end() ? otherwise : std::strtof(it->second.c_str(), nullptr);
}

}  // namespace

std::string PostText(const PostOp& post) {
  for (const Name& n : kNames) {
    if (n.kind != post.kind) continue;
    char numbers[64] = "";
    if (n.numbers == 1) std::snprintf(numbers, sizeof numbers, ":%.9g", static_cast<double>(post.a));
    if (n.numbers == 2) std::snprintf(numbers, sizeof numbers, ":%.9g,%.9g", static_cast<double>(post.a), static_cast<double>(post.b));
    return std::string(n.text) + numbers;
  }
  return "";
}

PostOp ParsePost(const char* op, const std::string& text) {
  PostOp post;
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

bool PostOf(const Node& node, PostOp* post) {
  if (node.is_variable()) return false;
  const std::string& op = node.op()->name;
  const AttrDict& d = node.attrs->dict;
  if (op == "relu" || op == "_npx_relu") return *post = {PostKind::kRelu}, true;
  if (op == "sigmoid" || op == "_npx_sigmoid") return *post = {PostKind::kSigmoid}, true;
  if (op == "tanh" || op == "_npi_tanh") return *post = {PostKind::kTanh}, true;
  if (op == "_softrelu") return *post = {PostKind::kSoftRelu}, true;
  if (op == "clip") return *post = {PostKind::kClip, Number(d, "a_min", 0), Number(d, "a_max", 0)}, true;
  if (op == "hard_sigmoid") return *post = {PostKind::kHardSigmoid, Number(d, "alpha", 0.2f), Number(d, "beta", 0.5f)}, true;
  const std::string type = Text(d, "act_type", op == "LeakyReLU" ? "leaky" : "");
  if (op == "Activation") {
    for (const Name& n : kNames)
      if (type == n.text && n.numbers == 0 && n.kind != PostKind::kGelu) return *post = {n.kind}, true;
  } else if (op == "LeakyReLU") {
    if (type == "gelu") return *post = {PostKind::kGelu}, true;
    if (type == "leaky") return *post = {PostKind::kLeaky, Number(d, "slope", 0.25f)}, true;
    if (type == "elu") return *post = {PostKind::kElu, Number(d, "slope", 0.25f)}, true;
  }
  return false;
}

void ApplyPost(const PostOp& post, const float* x, float* y, int64_t n) {
  auto activation = [&](ActivationType type) { MXNET_CPU_CALL(ActivationForward)(type, kFloat32, x, y, n, static_cast<double>(post.a)); };
  auto row = [&](int id) {
    const float r = 0;
    const void* in[4] = {x, &post.a, &post.b, &r};
    pointwise::ForwardLoop(id, pointwise::kF32)(in, y, n, 0);
  };
  switch (post.kind) {
    case PostKind::kNone: if (x != y) std::copy(x, x + n, y); return;
    case PostKind::kRelu: return activation(kActRelu);
    case PostKind::kSigmoid: return activation(kActSigmoid);
    case PostKind::kTanh: return activation(kActTanh);
    case PostKind::kSoftRelu: return activation(kActSoftRelu);
    case PostKind::kGelu: return activation(kActGelu);
    case PostKind::kLeaky: return activation(kActLeaky);
    case PostKind::kElu: return activation(kActElu);
    case PostKind::kClip: return row(pointwise::k_clip);
    case PostKind::kHardSigmoid: return row(pointwise::k_hard_sigmoid);
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
