// Operators that test_library.py loads, written as users write them.
#include <cmath>
#include <iostream>

#include "mxnet/lib_api.h"

using namespace mxnet::ext;  // NOLINT
using Attrs = std::unordered_map<std::string, std::string>;
using Tensors = std::vector<MXTensor>;

// c = a * b, or a * b^T with transpose=1
void gemm(const float* a, const float* b, float* c, int64_t n, int64_t k, int64_t m, bool ta, bool tb) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j) {
      float sum = 0;
      for (int64_t t = 0; t < k; ++t) sum += (ta ? a[t * n + i] : a[i * k + t]) * (tb ? b[j * k + t] : b[t * m + j]);
      c[i * m + j] = sum;
    }
}

MXReturnValue forward(const Attrs&, Tensors* inputs, Tensors* outputs, const OpResource&) {
  const auto &a = inputs->at(0), &b = inputs->at(1);
  const int64_t n = a.shape[0], k = a.shape[1], m = b.shape[1];
  gemm(a.data<float>(), b.data<float>(), outputs->at(0).data<float>(), n, k, m, false, false);
  return MX_SUCCESS;
}

MXReturnValue backward(const Attrs&, Tensors* inputs, Tensors* outputs, const OpResource&) {
  const auto &dc = inputs->at(0), &a = inputs->at(1), &b = inputs->at(2);
  const int64_t n = a.shape[0], k = a.shape[1], m = b.shape[1];
  gemm(dc.data<float>(), b.data<float>(), outputs->at(0).data<float>(), n, m, k, false, true);
  gemm(a.data<float>(), dc.data<float>(), outputs->at(1).data<float>(), k, n, m, true, false);
  return MX_SUCCESS;
}

MXReturnValue parseAttrs(const Attrs& attrs, int* num_in, int* num_out) {
  if (attrs.count("bad")) {
    MX_ERROR_MSG << "bad is " << attrs.at("bad");
    return MX_FAIL;
  }
  *num_in = 2;
  *num_out = 1;
  return MX_SUCCESS;
}

MXReturnValue inferType(const Attrs&, std::vector<int>* intypes, std::vector<int>* outtypes) {
  for (const int t : *intypes)
    if (t != kFloat32) {
      MX_ERROR_MSG << "Expected 2 inputs with float data type";
      return MX_FAIL;
    }
  outtypes->at(0) = intypes->at(0);
  return MX_SUCCESS;
}

MXReturnValue inferShape(const Attrs&, std::vector<std::vector<unsigned int>>* inshapes,
                         std::vector<std::vector<unsigned int>>* outshapes) {
  if (inshapes->at(0).size() != 2 || inshapes->at(1).size() != 2) {
    MX_ERROR_MSG << "Expected 2D matrices for both inputs";
    return MX_FAIL;
  }
  if (inshapes->at(0)[1] != inshapes->at(1)[0]) {
    MX_ERROR_MSG << "Inner dimensions differ: " << inshapes->at(0)[1] << " and " << inshapes->at(1)[0];
    return MX_FAIL;
  }
  outshapes->at(0) = {inshapes->at(0)[0], inshapes->at(1)[1]};
  return MX_SUCCESS;
}

REGISTER_OP(my_gemm)
    .setForward(forward, "cpu")
    .setBackward(backward, "cpu")
    .setParseAttrs(parseAttrs)
    .setInferType(inferType)
    .setInferShape(inferShape);

// ---- the same with a state, which counts calls and is told when it ends

static int alive = 0;

class MyStatefulGemm : public CustomStatefulOp {
 public:
  explicit MyStatefulGemm(int count, Attrs attrs) : count_(count), attrs_(std::move(attrs)) { ++alive; }
  ~MyStatefulGemm() override { --alive; }
  MXReturnValue Forward(Tensors* inputs, Tensors* outputs, const OpResource& res) override {
    ++count_;
    const MXReturnValue code = forward(attrs_, inputs, outputs, res);
    if (attrs_.count("add_count"))
      for (int64_t i = 0; i < outputs->at(0).size(); ++i) outputs->at(0).data<float>()[i] += static_cast<float>(count_);
    return code;
  }
  MXReturnValue Backward(Tensors* inputs, Tensors* outputs, const OpResource& res) override {
    return backward(attrs_, inputs, outputs, res);
  }

 private:
  int count_;
  const Attrs attrs_;
};

MXReturnValue createOpState(const Attrs& attrs, const MXContext& ctx, const std::vector<std::vector<unsigned int>>& in_shapes,
                            const std::vector<int> in_types, CustomStatefulOp** op_inst) {
  if (ctx.dev_type != "cpu" || in_shapes.size() != 2 || in_shapes[0].size() != 2 || in_types[1] != kFloat32) {
    MX_ERROR_MSG << "wrong arguments of createOpState";
    return MX_FAIL;
  }
  *op_inst = CustomStatefulOp::create<MyStatefulGemm>(10, attrs);
  return (*op_inst)->wasCreated() ? MX_SUCCESS : MX_FAIL;
}

REGISTER_OP(state_gemm).setCreateOpState(createOpState, "cpu").setParseAttrs(parseAttrs).setInferType(inferType).setInferShape(inferShape);

// how many objects there are
REGISTER_OP(state_gemm_alive)
    .setForward(
        [](const Attrs&, Tensors*, Tensors* outputs, const OpResource&) {
          outputs->at(0).data<int>()[0] = alive;
          return MX_SUCCESS;
        },
        "cpu")
    .setParseAttrs([](const Attrs&, int* in, int* out) {
      *in = 0;
      *out = 1;
      return MX_SUCCESS;
    })
    .setInferType([](const Attrs&, std::vector<int>*, std::vector<int>* out) {
      out->at(0) = kInt32;
      return MX_SUCCESS;
    })
    .setInferShape([](const Attrs&, std::vector<std::vector<unsigned int>>*, std::vector<std::vector<unsigned int>>* out) {
      out->at(0) = {1};
      return MX_SUCCESS;
    });

// ---- noise, workspace, and an input that is changed

MXReturnValue noisyForward(const Attrs& attrs, Tensors* inputs, Tensors* outputs, const OpResource& res) {
  const int64_t n = inputs->at(0).size();
  float* noise = static_cast<float*>(res.alloc_cpu(static_cast<size_t>(n) * sizeof(float)));
  if (!noise || reinterpret_cast<uintptr_t>(noise) % 64 || res.alloc_gpu(8) || res.get_cuda_stream()) {
    MX_ERROR_MSG << "the workspace is not as it should be";
    return MX_FAIL;
  }
  std::normal_distribution<float> normal(0, 1);
  mx_cpu_rand_t* states = res.get_cpu_rand_states();
  for (int64_t i = 0; i < n; ++i) noise[i] = normal(states[i % MX_NUM_CPU_RANDOM_STATES]);
  const float scale = attrs.count("scale") ? std::stof(attrs.at("scale")) : 1.0f;
  float* calls = inputs->at(1).data<float>();
  calls[0] += 1;
  for (int64_t i = 0; i < n; ++i) outputs->at(0).data<float>()[i] = inputs->at(0).data<float>()[i] + scale * noise[i];
  for (int64_t i = 0; i < n; ++i) outputs->at(1).data<float>()[i] = noise[i];
  return MX_SUCCESS;
}

MXReturnValue noisyBackward(const Attrs&, Tensors* inputs, Tensors* outputs, const OpResource&) {
  for (int64_t i = 0; i < inputs->at(0).size(); ++i) outputs->at(0).data<float>()[i] = 2 * inputs->at(0).data<float>()[i];
  return MX_SUCCESS;
}

REGISTER_OP(_contrib_noisy)
    .setForward(noisyForward, "cpu")
    .setBackward(noisyBackward, "cpu")
    .setParseAttrs([](const Attrs&, int* in, int* out) {
      *in = 2;
      *out = 2;
      return MX_SUCCESS;
    })
    .setInferType([](const Attrs&, std::vector<int>* in, std::vector<int>* out) {
      (*in)[1] = (*out)[0] = (*out)[1] = (*in)[0];
      return MX_SUCCESS;
    })
    .setInferShape([](const Attrs&, std::vector<std::vector<unsigned int>>* in, std::vector<std::vector<unsigned int>>* out) {
      (*in)[1] = {1};
      (*out)[0] = (*out)[1] = (*in)[0];
      return MX_SUCCESS;
    })
    .setMutateInputs([](const Attrs&, std::vector<int>* indices) {
      indices->push_back(1);
      return MX_SUCCESS;
    });

// ---- what goes wrong

MXReturnValue failingForward(const Attrs& attrs, Tensors*, Tensors*, const OpResource&) {
  const std::string how = attrs.count("how") ? attrs.at("how") : "";
  if (how == "throw") throw std::runtime_error("thrown in forward");
  if (how == "number") throw 3;  // NOLINT
  MX_ERROR_MSG << "first reason";
  MX_ERROR_MSG << "second reason";
  return MX_FAIL;
}

REGISTER_OP(failing)
    .setForward(failingForward, "cpu")
    .setParseAttrs([](const Attrs& attrs, int* in, int* out) {
      *in = attrs.count("inputs") ? std::stoi(attrs.at("inputs")) : 1;
      *out = 1;
      return MX_SUCCESS;
    })
    .setInferType([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
      out->at(0) = attrs.count("dtype") ? std::stoi(attrs.at("dtype")) : in->at(0);
      return MX_SUCCESS;
    });

REGISTER_OP(gpu_alone).setForward(failingForward, "gpu").setParseAttrs([](const Attrs&, int* in, int* out) {
  *in = *out = 1;
  return MX_SUCCESS;
});

MXReturnValue initialize(int version) {
  if (version >= 10700) return MX_SUCCESS;
  MX_ERROR_MSG << "MXNet version " << version << " not supported by custom library";
  return MX_FAIL;
}
