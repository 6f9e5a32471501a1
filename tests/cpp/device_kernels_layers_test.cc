/* GPU kernels of layers, losses and updates of several arrays on the emulator: device_cases.h says how. */
#include "device_cases.h"

namespace mxnet {
namespace {

using LayerKernels = DeviceKernels;

const std::vector<int> kReal = {kFloat32, kFloat64, kFloat16, kBfloat16};

TEST_F(LayerKernels, UpdatesOfSeveralArrays) {
  const Shape s{29}, t{3, 5}, u{7};
  for (int dtype : {kFloat32, kFloat16, kFloat64}) {
    Check({"multi_sgd_update", {s, s, t, t, u, u}, {dtype}, {{"lrs", "(0.1, 0.2, 0.3)"}, {"wds", "(0.01, 0, 0.1)"}, {"num_weights", "3"}, {"clip_gradient", "1"}}});
    Check({"multi_sgd_mom_update", {s, s, s, t, t, t}, {dtype}, {{"lrs", "(0.1, 0.2)"}, {"wds", "(0.01, 0)"}, {"num_weights", "2"}, {"momentum", "0.9"}}});
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
  Check({"preloaded_multi_mp_sgd_mom_update", {s, s, s, s, {1}, {1}}, {kFloat16, kFloat16, kFloat32, kFloat32, kFloat32, kFloat32}, {{"num_weights", "1"}, {"momentum", "0.9"}}, OpReq::kWrite, 0.1, 1});
  Check({"_adamw_update", {s, s, s, s, {1}}, {kFloat32}, {{"lr", "0.1"}, {"eta", "0.5"}, {"wd", "0.1"}}, OpReq::kWrite, 0.1, 2});
  Check({"_adamw_update", {s, s, s, s, {1}}, {kFloat32}, {{"lr", "0.1"}, {"eta", "0.5"}}, OpReq::kWrite, 0, 0});
  Check({"_mp_adamw_update", {s, s, s, s, s, {1}}, {kFloat16, kFloat16, kFloat32, kFloat32, kFloat32, kFloat32}, {{"lr", "0.1"}, {"eta", "0.5"}}, OpReq::kWrite, 0.1, 2});
  Check({"lamb_update_phase2", {s, s, {1}, {1}}, {kFloat32}, {{"lr", "0.1"}, {"upper_bound", "1"}}, OpReq::kWrite, 0.1, 2});
  Check({"mp_lamb_update_phase2", {s, s, {1}, {1}, s}, {kFloat16, kFloat32, kFloat32, kFloat32, kFloat32}, {{"lr", "0.1"}}, OpReq::kWrite, 0.1, 2});
  Check({"multi_all_finite", {s, t}, {kFloat32}, {{"num_arrays", "2"}, {"init_output", "0"}}, OpReq::kWrite, -1, -1});
  Check({"all_finite", {{900}}, {kFloat16}, {}, OpReq::kWrite, 1e4, 1e5});   // some are infinite
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
  Check({"_backward_InstanceNorm", {{20, 6, 1}, {20, 6, 1}, {6}}, {kFloat32}, {}, OpReq::kWrite, -1, 1}, 20);
}

TEST_F(LayerKernels, BatchNorm) {
  for (int dtype : kReal) {
    const int param = dtype == kFloat16 || dtype == kBfloat16 ? int{kFloat32} : dtype;
    const Shape c{5};
    for (const char* global : {"0", "1"})
      for (const char* fixed : {"0", "1"}) {
        const AttrDict attrs = {{"use_global_stats", global}, {"fix_gamma", fixed}};
        Check({"BatchNorm", {{4, 5, 6, 7}, c, c, c, c}, {dtype, param, param, param, param}, attrs, OpReq::kWrite, 0.1, 3}, 4);
        Check({"_backward_BatchNorm", {{4, 5, 6, 7}, {4, 5, 6, 7}, c, c, c, c, c}, {dtype, dtype, param, param, param, param, param}, attrs, OpReq::kWrite, 0.1, 1}, 40);
      }
    Check({"_contrib_BatchNormWithReLU", {{700, 5}, c, c, c, c}, {dtype, param, param, param, param}, {{"fix_gamma", "0"}}, OpReq::kWrite, 0.1, 3}, 4);
    Check({"_backward_BatchNormWithReLU", {{700, 5}, {700, 5}, c, c, c, c, c, c}, {dtype, dtype, param, param, param, param, param, param}, {{"fix_gamma", "0"}}, OpReq::kWrite, -1, 1}, 60);
    Check({"_backward_BatchNorm_again", {{4, 5, 6, 7}, c, c, c, c}, {dtype, param, param, param, param}, {{"fix_gamma", "0"}}}, 4);
  }
  Check({"BatchNorm", {{3, 2, 5000}, {2}, {2}, {2}, {2}}, {kFloat32}, {}, OpReq::kWrite, 0.1, 3}, 4);   // several parts for a channel
}

}  // namespace
}  // namespace mxnet
