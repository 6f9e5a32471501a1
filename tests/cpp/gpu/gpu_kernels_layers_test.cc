/* GPU kernels of layers, losses and updates of several arrays on the emulator: gpu_cases.h says
 * how. */
#include "gpu_cases.h"

namespace mxnet {
namespace {

using LayerKernels = DeviceKernels;

const std::vector<int> kReal = {kFloat32, kFloat64, kFloat16, kBfloat16};

TEST_F(LayerKernels, UpdatesOfSeveralArrays) {
  const Shape s{29}, t{3, 5}, u{7};
  for (int dtype : {kFloat32, kFloat16, kFloat64}) {
    Check({"multi_sgd_update",
           {s, s, t, t, u, u},
           {dtype},
           {{"lrs", "(0.1, 0.2, 0.3)"}, {"wds", "(0.01, 0, 0.1)"}, {"num_weights", "3"}, {"clip_gradient", "1"}}});
    Check({"multi_sgd_mom_update",
           {s, s, s, t, t, t},
           {dtype},
           {{"lrs", "(0.1, 0.2)"}, {"wds", "(0.01, 0)"}, {"num_weights", "2"}, {"momentum", "0.9"}}});
    Check({"all_finite", {s}, {dtype}, {}});
    Check({"multi_sum_sq", {s, t}, {dtype}, {{"num_arrays", "2"}}}, 4);
    Check({"multi_lars", {u, u, u, u}, {dtype}, {{"eta", "0.1"}, {"eps", "0.01"}}, OpReq::kWrite, 0.1, 2});
  }
  AttrDict many = {{"num_weights", "19"}, {"momentum", "0.9"}};
  std::vector<Shape> shapes;
  std::vector<int> dtypes;
  for (int w = 0; w < 19; ++w) {
    many["lrs"] += (w ? ", " : "(") + std::to_string(0.01 * w);
    many["wds"] += (w ? ", " : "(") + std::to_string(0.02 * w);
    for (int dtype : {kFloat16, kFloat16, kFloat32, kFloat32}) {
      shapes.push_back(Shape{w % 3 == 1 ? 0 : 3 + w});
      dtypes.push_back(dtype);
    }
  }
  many["lrs"] += ")";
  many["wds"] += ")";
  Check({"multi_mp_sgd_mom_update", shapes, dtypes, many});
  Check({"preloaded_multi_sgd_update", {s, s, t, t, {2}, {2}}, {kFloat32}, {{"num_weights", "2"}}, OpReq::kWrite, 0.1, 1});
  Check({"preloaded_multi_mp_sgd_mom_update",
         {s, s, s, s, {1}, {1}},
         {kFloat16, kFloat16, kFloat32, kFloat32, kFloat32, kFloat32},
         {{"num_weights", "1"}, {"momentum", "0.9"}},
         OpReq::kWrite,
         0.1,
         1});
  Check({"_adamw_update", {s, s, s, s, {1}}, {kFloat32}, {{"lr", "0.1"}, {"eta", "0.5"}, {"wd", "0.1"}}, OpReq::kWrite, 0.1, 2});
  Check({"_adamw_update", {s, s, s, s, {1}}, {kFloat32}, {{"lr", "0.1"}, {"eta", "0.5"}}, OpReq::kWrite, 0, 0});
  Check({"_mp_adamw_update",
         {s, s, s, s, s, {1}},
         {kFloat16, kFloat16, kFloat32, kFloat32, kFloat32, kFloat32},
         {{"lr", "0.1"}, {"eta", "0.5"}},
         OpReq::kWrite,
         0.1,
         2});
  Check({"lamb_update_phase2", {s, s, {1}, {1}}, {kFloat32}, {{"lr", "0.1"}, {"upper_bound", "1"}}, OpReq::kWrite, 0.1, 2});
  Check({"mp_lamb_update_phase2",
         {s, s, {1}, {1}, s},
         {kFloat16, kFloat32, kFloat32, kFloat32, kFloat32},
         {{"lr", "0.1"}},
         OpReq::kWrite,
         0.1,
         2});
  Check({"multi_all_finite", {s, t}, {kFloat32}, {{"num_arrays", "2"}, {"init_output", "0"}}, OpReq::kWrite, -1, -1});
  Check({"all_finite", {{900}}, {kFloat16}, {}, OpReq::kWrite, 1e4, 1e5});  // some are infinite
  Check({"reset_arrays", {s, t}, {kFloat32}, {{"num_arrays", "2"}}});
}

TEST_F(LayerKernels, Norms) {
  for (int dtype : kReal) {
    for (const char* axis : {"-1", "1"}) {
      const Shape s = axis[0] == '1' ? Shape{2, 300, 11} : Shape{2, 11, 300}, n{300};
      Check({"LayerNorm", {s, n, n}, {dtype}, {{"axis", axis}}}, 4);
      Check({"_backward_LayerNorm", {s, s, n}, {dtype}, {{"axis", axis}}, OpReq::kWrite, -1, 1}, 40);
    }
    Check({"GroupNorm", {{3, 6, 5, 4}, {3}, {3}}, {dtype}, {{"num_groups", "3"}}}, 4);
    Check({"GroupNorm", {{3, 6, 5, 4}, {6}, {6}}, {dtype}, {{"num_groups", "3"}, {"output_mean_var", "1"}}}, 4);
    Check({"_backward_GroupNorm", {{3, 6, 5, 4}, {3, 6, 5, 4}, {3}}, {dtype}, {{"num_groups", "3"}}, OpReq::kWrite, -1, 1}, 10);
    Check({"_backward_GroupNorm", {{3, 6, 5, 4}, {3, 6, 5, 4}, {6}}, {dtype}, {{"num_groups", "3"}}, OpReq::kWrite, -1, 1}, 10);
    Check({"InstanceNorm", {{3, 6, 50}, {6}, {6}}, {dtype}, {}}, 4);
    Check({"_backward_InstanceNorm", {{3, 6, 50}, {3, 6, 50}, {6}}, {dtype}, {}, OpReq::kWrite, -1, 1}, 20);
    Check({"LRN", {{2, 7, 3, 3}}, {dtype}, {{"nsize", "5"}, {"alpha", "0.1"}}}, 2);
    Check({"_backward_LRN", {{2, 7, 3, 3}, {2, 7, 3, 3}}, {dtype}, {{"nsize", "3"}, {"alpha", "0.1"}}}, 4);
  }
  // rows in registers: packs, many rows in a block, a block for a row; and rows too long for that
  for (int dtype : {kFloat32, kFloat16})
    for (int64_t n : {16, 264, 1000}) {
      const Shape s{n == 16 ? 70 : 3, n};
      for (bool misaligned : {false, true}) {
        Check({"LayerNorm", {s, {n}, {n}}, {dtype}, {{"output_mean_var", "1"}}, OpReq::kWrite, -3, 3, misaligned}, 8);
        Check({"_backward_LayerNorm", {s, s, {n}}, {dtype}, {}, OpReq::kWrite, -1, 1, misaligned}, 100);
      }
    }
  for (int64_t n : {8200, 33000}) {
    Check({"LayerNorm", {{1, n}, {n}, {n}}, {kFloat16}, {}}, 8);
    Check({"_backward_LayerNorm", {{1, n}, {1, n}, {n}}, {kFloat32}, {}, OpReq::kWrite, -1, 1}, 100);
  }
  // nothing to sum: zeros
  Check({"_backward_LayerNorm", {{0, 5}, {0, 5}, {5}}, {kFloat32}, {}});
  Check({"_backward_LayerNorm", {{2, 5, 0}, {2, 5, 0}, {5}}, {kFloat32}, {{"axis", "1"}}});
  Check({"_backward_GroupNorm", {{0, 6, 5}, {0, 6, 5}, {3}}, {kFloat32}, {{"num_groups", "3"}}});
  Check({"_backward_BatchNorm", {{0, 2, 5}, {0, 2, 5}, {2}, {2}, {2}, {2}, {2}}, {kFloat32}, {}});
  Check({"_backward_InstanceNorm", {{20, 6, 1}, {20, 6, 1}, {6}}, {kFloat32}, {}, OpReq::kWrite, -1, 1}, 20);
}

// Channels and groups, in registers and longer; packs within a channel, across channels, and none.
TEST_F(LayerKernels, GroupsAndInstances) {
  const Shape two{2};
  auto check = [&](const Shape& s, int dtype, bool misaligned, bool by_group) {
    const Shape c{s[1]};
    Check({"GroupNorm", {s, c, c}, {dtype}, {{"num_groups", "2"}, {"output_mean_var", "1"}}, OpReq::kWrite, -3, 3, misaligned}, 8);
    Check({"_backward_GroupNorm", {s, s, c}, {dtype}, {{"num_groups", "2"}}, OpReq::kWrite, -1, 1, misaligned}, 200);
    if (!by_group) return;
    Check({"GroupNorm", {s, two, two}, {dtype}, {{"num_groups", "2"}}, OpReq::kWrite, -3, 3, misaligned}, 8);
    Check({"_backward_GroupNorm", {s, s, two}, {dtype}, {{"num_groups", "2"}}, OpReq::kWrite, -1, 1, misaligned}, 200);
    Check({"InstanceNorm", {s, c, c}, {dtype}, {}, OpReq::kWrite, -3, 3, misaligned}, 8);
    Check({"_backward_InstanceNorm", {s, s, c}, {dtype}, {}, OpReq::kWrite, -1, 1, misaligned}, 200);
  };
  for (int dtype : {kFloat32, kFloat16}) {
    check({2, 8, 6, 8}, dtype, false, true);
    check({2, 6, 5, 3}, dtype, false, false);
    check({1, 4, dtype == kFloat32 ? 17000 : 9000}, dtype, false, true);
    check({1, 6, 61, 67}, dtype, false, false);
  }
  for (const Shape& s : {Shape{2, 8, 6, 8}, Shape{1, 4, 9000}}) check(s, kFloat32, true, false);
  check({2, 20000}, kFloat64, false, false);  // a channel is one element
}

TEST_F(LayerKernels, BatchNorm) {
  for (int dtype : kReal) {
    const int param = IsHalf(dtype) ? int{kFloat32} : dtype;
    const Shape c{5};
    for (const char* global : {"0", "1"})
      for (const char* fixed : {"0", "1"}) {
        const AttrDict attrs = {{"use_global_stats", global}, {"fix_gamma", fixed}};
        Check({"BatchNorm", {{4, 5, 6, 7}, c, c, c, c}, {dtype, param, param, param, param}, attrs, OpReq::kWrite, 0.1, 3}, 4);
        Check({"_backward_BatchNorm",
               {{4, 5, 6, 7}, {4, 5, 6, 7}, c, c, c, c, c},
               {dtype, dtype, param, param, param, param, param},
               attrs,
               OpReq::kWrite,
               0.1,
               1},
              40);
      }
    Check({"_contrib_BatchNormWithReLU",
           {{700, 5}, c, c, c, c},
           {dtype, param, param, param, param},
           {{"fix_gamma", "0"}},
           OpReq::kWrite,
           0.1,
           3},
          4);
    Check({"_backward_BatchNormWithReLU",
           {{700, 5}, {700, 5}, c, c, c, c, c, c},
           {dtype, dtype, param, param, param, param, param, param},
           {{"fix_gamma", "0"}},
           OpReq::kWrite,
           -1,
           1},
          60);
    Check({"_backward_BatchNorm_recompute", {{4, 5, 6, 7}, c, c, c, c}, {dtype, param, param, param, param}, {{"fix_gamma", "0"}}}, 4);
  }
  Check({"BatchNorm", {{3, 2, 5000}, {2}, {2}, {2}, {2}}, {kFloat32}, {}, OpReq::kWrite, 0.1, 3}, 4);  // several parts for a channel
}

// Several elements in an access: along planes, and along channels where these lie last; channels
// that do not fill a block, and more than one fills.
TEST_F(LayerKernels, BatchNormInPacks) {
  for (int dtype : {kFloat32, kFloat16, kFloat64})
    for (const Shape& shape : {Shape{3, 6, 4, 4}, Shape{40, 264}, Shape{9000, 8}})
      for (uint32_t last : {0u, 1u}) {
        if (last && shape.ndim() < 3) continue;
        for (bool misaligned : {false, true}) {
          const int param = dtype == kFloat16 ? int{kFloat32} : dtype;
          const Shape c{shape[1]};
          Check({"BatchNorm",
                 {shape, c, c, c, c},
                 {dtype, param, param, param, param},
                 {{"fix_gamma", "0"}},
                 OpReq::kWrite,
                 0.1,
                 3,
                 misaligned,
                 last,
                 last},
                4);
          Check({"_backward_BatchNormWithReLU",
                 {shape, shape, c, c, c, c, c, c},
                 {dtype, dtype, param, param, param, param, param, param},
                 {{"fix_gamma", "0"}},
                 OpReq::kWrite,
                 -1,
                 1,
                 misaligned,
                 last ? 3u : 0u,
                 last},
                100);
        }
      }
  Check({"_backward_LeakyReLU", {{5, 16, 8}, {5, 16, 8}, {16}}, {kFloat16}, {{"act_type", "prelu"}}}, 8);
  Check({"_backward_LayerNorm", {{30, 64}, {30, 64}, {64}}, {kFloat16}, {}, OpReq::kWrite, -1, 1}, 40);
}

// With a sum and a relu behind it. The bits of the mask are what the CPU's kernel writes, in the
// order of the forward pass; the backward pass may lie otherwise.
TEST_F(LayerKernels, BatchNormSumAndRelu) {
  const std::string name = "_fused_batch_norm_add_relu";
  for (int dtype : kReal)
    for (const Shape& shape : {Shape{3, 6, 4, 4}, Shape{2, 5, 3, 7}, Shape{20, 72}, Shape{300, 3}, Shape{2, 16, 9}}) {
      const int param = IsHalf(dtype) ? int{kFloat32} : dtype;
      const Shape c{shape[1]};
      for (uint32_t last : {0u, 1u}) {
        if (last && shape.ndim() < 3) continue;
        for (bool misaligned : {false, true}) {
          const AttrDict attrs = {{"fix_gamma", misaligned ? "1" : "0"}, {"use_global_stats", misaligned && dtype == kFloat32 ? "1" : "0"}};
          const std::vector<int> types = {dtype, param, param, dtype, param, param},
                                 back = {dtype, kUint8, dtype, param, param, param, param, param};
          Case forward{name, {shape, c, c, shape, c, c}, types, attrs, OpReq::kWrite, 0.1, 3, misaligned, last ? 9u : 0u, last};
          forward.given[3] = RunKernel({"_mul_scalar", {shape}, {dtype}, {{"scalar", "-2"}}, OpReq::kWrite, 0, 4}, DeviceType::kCPU)
                                 .bytes[0];  // a part is negative
          Check(forward, 8);
          const Result kept = RunKernel(forward, DeviceType::kCPU);
          for (uint32_t order : {0u, 1u}) {  // of the results
            if (order && shape.ndim() < 3) continue;
            if (order != last && misaligned) continue;
            Case backward{"_backward" + name,
                          {shape, kept.shapes[3], shape, c, c, c, c, c},
                          back,
                          attrs,
                          OpReq::kWrite,
                          0.1,
                          1,
                          misaligned,
                          last ? 5u : 0u,
                          order ? 9u : 0u};
            backward.given[1] = kept.bytes[3];
            Check(backward, 100);
          }
        }
        Check({"_backward" + name + "_recompute",
               {shape, c, c, shape, c, c},
               {dtype, param, param, dtype, param, param},
               {{"fix_gamma", "0"}},
               OpReq::kWrite,
               -2,
               3,
               false,
               last ? 9u : 0u,
               last},
              8);
      }
    }
  const Shape c{6}, image{3, 6, 4, 4};  // the addend's gradient alone lies otherwise; the addend does
  const Case forward{name, {image, c, c, image, c, c}, {kFloat32}, {{"fix_gamma", "0"}}, OpReq::kWrite, 0.1, 3, false, 1u, 1u};
  Check(forward, 8);
  Case backward{"_backward" + name,
                {image, Shape{RunKernel(forward, DeviceType::kCPU).shapes[3]}, image, c, c, c, c, c},
                {kFloat32, kUint8, kFloat32, kFloat32, kFloat32, kFloat32, kFloat32, kFloat32},
                {{"fix_gamma", "0"}},
                OpReq::kWrite,
                0.1,
                1,
                false,
                4u,
                8u};
  backward.given[1] = RunKernel(forward, DeviceType::kCPU).bytes[3];
  Check(backward, 40);
  Check({"_backward" + name,
         {{0, 2, 5}, {64}, {0, 2, 5}, {2}, {2}, {2}, {2}, {2}},
         {kFloat32, kUint8, kFloat32, kFloat32, kFloat32, kFloat32, kFloat32, kFloat32},
         {}});
}

TEST_F(LayerKernels, DropoutAndSlopes) {
  for (int dtype : kReal) {
    Check({"Dropout", {{5, 7, 3}}, {dtype}, {{"p", "0.3"}}});
    Check({"Dropout", {{5, 7, 3}}, {dtype}, {{"p", "0.3"}, {"axes", "(1,)"}}});
    Check({"_backward_Dropout", {{5, 7}, {5, 7}}, {dtype}, {}});
    Check({"_backward_Dropout", {{5, 7}, {5, 1}}, {dtype}, {{"axes", "(1,)"}}});
    for (const char* type : {"leaky", "elu", "selu", "gelu"}) {
      Check({"LeakyReLU", {{5, 13}}, {dtype}, {{"act_type", type}, {"slope", "0.3"}}}, 2);
      Check({"_backward_LeakyReLU", {{5, 13}, {5, 13}}, {dtype}, {{"act_type", type}, {"slope", "0.3"}}}, 4);
    }
    Check({"LeakyReLU", {{5, 13, 4}, {13}}, {dtype}, {{"act_type", "prelu"}}});
    Check({"_backward_LeakyReLU", {{5, 13, 4}, {5, 13, 4}, {13}}, {dtype}, {{"act_type", "prelu"}}}, 8);
    Check({"_backward_LeakyReLU", {{5, 13}, {5, 13}, {1}}, {dtype}, {{"act_type", "prelu"}}}, 16);
    Check({"LeakyReLU", {{5, 13}}, {dtype}, {{"act_type", "rrelu"}}});
    Check({"_backward_LeakyReLU", {{5, 13}, {5, 13}, {5, 13}}, {dtype}, {{"act_type", "rrelu"}}});
  }
  Check({"Dropout", {{41}}, {kFloat32}, {{"p", "0"}}});
}

TEST_F(LayerKernels, Losses) {
  for (int dtype : kReal) {
    Check({"SoftmaxOutput", {{5, 7}, {5}}, {dtype}, {}});
    Check({"SoftmaxOutput", {{5, 7, 3}, {5, 3}}, {dtype}, {{"multi_output", "1"}}});
    for (const char* normalization : {"null", "batch", "valid"}) {
      const AttrDict attrs = {{"normalization", normalization}, {"use_ignore", "1"}, {"ignore_label", "2"}, {"grad_scale", "3"}};
      Check({"_backward_SoftmaxOutput", {{5}, {5, 7}}, {kInt32, dtype}, attrs, OpReq::kWrite, 0, 4}, 4);
      AttrDict several = attrs;
      several["multi_output"] = "1";
      Check({"_backward_SoftmaxOutput", {{5, 3}, {5, 7, 3}}, {kInt32, dtype}, several, OpReq::kWrite, 0, 4}, 4);
    }
    Check({"_backward_SoftmaxOutput", {{5, 7}, {5, 7}, {5, 7}}, {dtype}, {{"out_grad", "1"}}}, 4);
    Check({"_backward_SoftmaxOutput", {{5}, {5, 7}}, {dtype}, {{"smooth_alpha", "0.1"}}}, 2);
    Check({"softmax_cross_entropy", {{5, 300}, {5}}, {dtype, kFloat32}, {}, OpReq::kWrite, -2, 6}, 4);
    Check({"_backward_softmax_cross_entropy", {{1}, {5, 7}, {5}}, {dtype, dtype, kFloat32}, {}, OpReq::kWrite, -2, 6}, 8);
    for (const char* kind : {"LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput"}) {
      Check({kind, {{5, 7}, {5, 7}}, {dtype}, {}});
      Check({std::string("_backward_") + kind, {{5, 7}, {5, 7}}, {dtype}, {{"grad_scale", "2"}}}, 2);
    }
    for (const char* linear : {"0", "1"}) Check({"_backward_SVMOutput", {{5}, {5, 7}}, {kInt32, dtype}, {{"use_linear", linear}}}, 4);
    for (const char* normalization : {"batch", "valid"})
      for (OpReq req : {OpReq::kWrite, OpReq::kAdd})
        Check({"_backward_MakeLoss",
               {{5, 7}},
               {dtype},
               {{"normalization", normalization}, {"valid_thresh", "0.5"}, {"grad_scale", "3"}},
               req});
    Check({"SoftmaxActivation", {{4, 5, 3}}, {dtype}, {{"mode", "channel"}}});
    Check({"_backward_SoftmaxActivation", {{4, 5, 3}, {4, 5, 3}}, {dtype}, {}, OpReq::kWrite, 0, 1}, 4);
  }
}

TEST_F(LayerKernels, Ctc) {
  for (int dtype : kReal)
    for (const char* blank : {"first", "last"}) {
      // labels 0 and 1 of three classes: the blank ends them, or a class may come twice
      Check({"CTCLoss", {{9, 5, 3}, {5, 4}}, {dtype, kInt32}, {{"blank_label", blank}}, OpReq::kWrite, 0, blank[0] == 'f' ? 3 : 2}, 4);
      Check({"_backward_CTCLoss",
             {{5}, {9, 5, 3}, {5, 4}},
             {dtype, dtype, kInt32},
             {{"blank_label", blank}},
             OpReq::kWrite,
             0,
             blank[0] == 'f' ? 3 : 2},
            8);
    }
  const AttrDict lengths = {{"use_data_lengths", "1"}, {"use_label_lengths", "1"}, {"blank_label", "last"}};
  Check({"CTCLoss", {{6, 5, 4}, {5, 4}, {5}, {5}}, {kFloat32, kInt32, kInt32, kInt32}, lengths, OpReq::kWrite, 0, 3}, 4);
  Check({"_backward_CTCLoss",
         {{5}, {6, 5, 4}, {5, 4}, {5}, {5}},
         {kFloat32, kFloat32, kInt32, kInt32, kFloat32},
         lengths,
         OpReq::kWrite,
         0,
         3},
        8);
  Check({"CTCLoss", {{400, 2, 5}, {2, 150}}, {kFloat32, kInt32}, {{"blank_label", "last"}}, OpReq::kWrite, 0, 4},
        40);  // more states than threads
}

TEST_F(LayerKernels, Pooling) {
  for (int dtype : kReal)
    for (const char* type : {"max", "avg", "sum", "lp"}) {
      const bool slopes = std::string(type) == "max" || std::string(type) == "lp";
      AttrDict attrs = {{"pool_type", type}, {"kernel", "(3, 2)"}, {"stride", "(2, 1)"}, {"pad", "(1, 1)"}, {"p_value", "3"}};
      Check({"Pooling", {{2, 3, 7, 6}}, {dtype}, attrs}, 4);
      // few values: maxima stand in several places
      Check({"_backward_Pooling", {{2, 3, 4, 7}, {2, 3, 7, 6}, {2, 3, 4, 7}}, {dtype}, attrs, OpReq::kWrite, 1, 2}, 20);
      if (slopes)
        Check({"_backward_backward_Pooling", {{2, 3, 7, 6}, {2, 3, 7, 6}, {2, 3, 4, 7}}, {dtype}, attrs, OpReq::kWrite, 1, 2}, 20);
      attrs["layout"] = "NHWC";
      attrs["count_include_pad"] = "0";
      Check({"Pooling", {{2, 7, 6, 3}}, {dtype}, attrs}, 4);
      Check({"_backward_Pooling", {{2, 4, 7, 3}, {2, 7, 6, 3}, {2, 4, 7, 3}}, {dtype}, attrs, OpReq::kWrite, 1, 2}, 20);
      if (slopes)
        Check({"_backward_backward_Pooling", {{2, 7, 6, 3}, {2, 7, 6, 3}, {2, 4, 7, 3}}, {dtype}, attrs, OpReq::kWrite, 1, 2}, 20);
    }
  for (int dtype : {kFloat32, kFloat16})  // several channels of a pixel in an access
    for (const char* type : {"max", "avg", "sum", "lp"})
      for (bool misaligned : {false, true}) {
        const bool slopes = std::string(type) == "max" || std::string(type) == "lp";
        const AttrDict attrs = {{"pool_type", type}, {"kernel", "(3, 3)"}, {"stride", "(2, 2)"},
                                {"pad", "(1, 1)"},   {"p_value", "2"},     {"layout", "NHWC"}};
        Check({"Pooling", {{2, 7, 6, 16}}, {dtype}, attrs, OpReq::kWrite, -3, 3, misaligned}, 4);
        Check({"_backward_Pooling", {{2, 4, 3, 16}, {2, 7, 6, 16}, {2, 4, 3, 16}}, {dtype}, attrs, OpReq::kWrite, 1, 2, misaligned}, 20);
        if (slopes)
          Check({"_backward_backward_Pooling",
                 {{2, 7, 6, 16}, {2, 7, 6, 16}, {2, 4, 3, 16}},
                 {dtype},
                 attrs,
                 OpReq::kWrite,
                 1,
                 2,
                 misaligned},
                20);
      }
  for (int dtype : {kInt8, kUint8})
    Check({"Pooling", {{2, 3, 7, 6}}, {dtype}, {{"kernel", "(3, 3)"}, {"pooling_convention", "full"}, {"stride", "(2, 2)"}}});
  Check(
      {"Pooling", {{2, 3, 9}}, {kFloat32}, {{"kernel", "(4,)"}, {"pool_type", "avg"}, {"pooling_convention", "same"}, {"stride", "(2,)"}}});
  Check({"Pooling", {{2, 3, 4, 5, 6}}, {kFloat32}, {{"kernel", "(2, 3, 2)"}, {"pad", "(0, 1, 0)"}}});
  Check({"Pooling", {{2, 3, 4, 5}}, {kFloat16}, {{"global_pool", "1"}, {"pool_type", "avg"}}});
  Check({"_backward_Pooling", {{2, 3, 1, 1}, {2, 3, 4, 5}, {2, 3, 1, 1}}, {kFloat32}, {{"global_pool", "1"}, {"pool_type", "avg"}}});
  for (int dtype : kReal) {
    Check({"_contrib_AdaptiveAvgPooling2D", {{2, 3, 7, 10}}, {dtype}, {{"output_size", "(3, 4)"}}}, 2);
    Check({"_backward_contrib_AdaptiveAvgPooling2D", {{2, 3, 3, 4}, {2, 3, 7, 10}}, {dtype}, {{"output_size", "(3, 4)"}}}, 2);
    Check({"UpSampling", {{2, 3, 4, 5}, {2, 2, 2, 5}}, {dtype}, {{"scale", "2"}, {"sample_type", "nearest"}, {"num_args", "2"}}});
    Check({"UpSampling",
           {{2, 3, 4, 5}, {2, 3, 4, 5}},
           {dtype},
           {{"scale", "2"}, {"sample_type", "nearest"}, {"num_args", "2"}, {"multi_input_mode", "sum"}}},
          2);
    Check({"_backward_UpSampling",
           {{2, 5, 8, 10}, {2, 3, 4, 5}, {2, 2, 2, 5}},
           {dtype},
           {{"scale", "2"}, {"sample_type", "nearest"}, {"num_args", "2"}}},
          2);
  }
  Check({"_backward_contrib_AdaptiveAvgPooling2D", {{2, 3, 9, 8}, {2, 3, 7, 5}}, {kFloat32}, {{"output_size", "(9, 8)"}}});
}

// Images in memory orders that a plan may choose, also different ones for inputs and results.
TEST_F(LayerKernels, ChannelsLast) {
  const Shape c{5}, image{3, 5, 6, 7}, pooled{3, 5, 5, 6};
  for (int dtype : {kFloat32, kFloat16}) {
    const std::vector<int> types = {dtype, kFloat32, kFloat32, kFloat32, kFloat32},
                           back = {dtype, dtype, kFloat32, kFloat32, kFloat32, kFloat32, kFloat32};
    const uint32_t orders[][2] = {{1, 1}, {0, 1}, {1, 0}};
    for (const auto& order : orders) {
      Check({"BatchNorm", {image, c, c, c, c}, types, {{"fix_gamma", "0"}}, OpReq::kWrite, 0.1, 3, false, order[0], order[1]}, 4);
      Check({"Pooling", {image}, {dtype}, {{"kernel", "(2, 2)"}, {"pool_type", "avg"}}, OpReq::kWrite, -3, 3, false, order[0], order[1]},
            2);
    }
    for (uint32_t in : {0u, 1u, 2u, 3u})
      for (uint32_t out : {0u, 1u}) {
        Check({"_backward_BatchNorm", {image, image, c, c, c, c, c}, back, {{"fix_gamma", "0"}}, OpReq::kWrite, 0.1, 1, false, in, out},
              60);
        Check({"_backward_Pooling",
               {pooled, image, pooled},
               {dtype},
               {{"kernel", "(2, 2)"}, {"pool_type", "avg"}},
               OpReq::kWrite,
               -3,
               3,
               false,
               in,
               out},
              4);
        Check({"_backward_backward_Pooling", {image, image, pooled}, {dtype}, {{"kernel", "(2, 2)"}}, OpReq::kWrite, -3, 3, false, in, out},
              0);
      }
  }
}

// Pooled so that every maximum is one of the image: what the backward pass compares with.
TEST_F(LayerKernels, MaximaAndTheirPlaces) {
  const AttrDict attrs = {{"kernel", "(2, 2)"}, {"stride", "(1, 2)"}};
  for (int dtype : kReal) Check({"_backward_Pooling", {{1, 2, 5, 3}, {1, 2, 6, 6}, {1, 2, 5, 3}}, {dtype}, attrs, OpReq::kWrite, 1, 1}, 2);
  for (int dtype : {kFloat32, kFloat16})
    Check({"_backward_Pooling", {{1, 2, 5, 3}, {1, 2, 6, 6}, {1, 2, 5, 3}}, {dtype}, attrs, OpReq::kWrite, 1, 1, false, 3, 1}, 2);
  const AttrDict last = {{"kernel", "(2, 2)"}, {"stride", "(1, 2)"}, {"layout", "NHWC"}};
  for (int dtype : {kFloat32, kFloat16})
    Check({"_backward_Pooling", {{1, 5, 3, 8}, {1, 6, 6, 8}, {1, 5, 3, 8}}, {dtype}, last, OpReq::kWrite, 1, 1}, 2);
}

// Data of the values 0, 1 and 2 and maxima of 2: windows have one, several or none of them.
TEST_F(LayerKernels, MaximaTakenAgain) {
  auto few = [](int dtype, const Shape& shape, int step) {
    std::vector<char> bytes(static_cast<size_t>(shape.Size()) * DTypeSize(dtype));
    for (int64_t i = 0; i < shape.Size(); ++i) WriteElement(bytes.data(), dtype, i, step ? i * i / step % 3 : 2);
    return bytes;
  };
  for (int dtype : kReal)
    for (const char* layout : {"NCHW", "NHWC"})
      for (const char* kernel : {"(3, 2)", "(2, 9)"}) {  // small and not
        const bool last = layout[1] == 'H', wide = kernel[1] == '2';
        const int64_t h = wide ? 9 : 8, w = wide ? 4 : 11;
        const Shape x = last ? Shape{2, 10, 12, 8} : Shape{2, 8, 10, 12}, y = last ? Shape{2, h, w, 8} : Shape{2, 8, h, w};
        Case c{"_backward_backward_Pooling", {x, x, y}, {dtype}, {{"kernel", kernel}, {"layout", layout}}};
        c.given = {{1, few(dtype, x, 5)}, {2, few(dtype, y, 0)}};
        Check(c, 0);
        Case back{"_backward_Pooling", {y, x, y}, {dtype}, c.attrs};
        back.given = c.given;
        Check(back, 4);
      }
}

}  // namespace
}  // namespace mxnet
