/* GPU kernels of indexing, sorting, running sums and padding on the emulator: gpu_cases.h says
 * how. */
#include "gpu_cases.h"
#include "gpu_emulator.h"
#include "mxnet/env.h"

namespace mxnet {
namespace {

using IndexingKernels = DeviceKernels;

const std::vector<int> kTypes = {kFloat32, kFloat64, kFloat16, kBfloat16, kInt32, kInt64, kInt8, kUint8};

TEST_F(IndexingKernels, Take) {
  for (int dtype : kTypes) {
    Check({"take", {{5, 7}, {3, 4}}, {dtype, kInt32}, {}, OpReq::kWrite, -3, 9});
    Check({"_backward_take", {{3, 4, 7}, {3, 4}, {5, 7}}, {dtype, kInt32, dtype}, {}, OpReq::kWrite, -3, 9}, 4);
  }
  for (int index : {kFloat32, kFloat64, kFloat16, kInt64, kUint8, kInt8})
    Check({"take", {{5, 8}, {6}}, {kFloat32, index}, {{"mode", "wrap"}}, OpReq::kWrite, -13, 13});
  Check({"take", {{3, 5, 7}, {2, 2}}, {kFloat16, kInt64}, {{"axis", "1"}, {"mode", "raise"}}, OpReq::kWrite, 0, 5});
  Check({"take", {{3, 5, 7}, {4}}, {kFloat32, kInt64}, {{"axis", "-1"}}, OpReq::kWrite, -9, 9, true});
  Check({"_backward_take",
         {{3, 4, 7}, {4}, {3, 6, 7}},
         {kFloat32, kInt64, kFloat32},
         {{"axis", "1"}, {"mode", "wrap"}},
         OpReq::kWrite,
         -9,
         9});
  Check({"Embedding", {{4, 3}, {6, 5}}, {kFloat32}, {{"input_dim", "6"}, {"output_dim", "5"}}, OpReq::kWrite, -2, 9});
  for (int dtype : {kFloat32, kFloat64, kFloat16, kBfloat16})
    for (OpReq req : {OpReq::kWrite, OpReq::kAdd})
      Check({"_backward_Embedding", {{4, 3, 5}, {4, 3}}, {dtype, kFloat32}, {{"input_dim", "6"}, {"output_dim", "5"}}, req, -2, 9}, 4);
}

TEST_F(IndexingKernels, SumsOfRowsInOrderOfTheirIndices) {
  Env::Set("MXNET_ENFORCE_DETERMINISM", "1");
  for (int dtype : kTypes)
    Check({"_backward_take", {{40, 7}, {40}, {5, 7}}, {dtype, kInt32, dtype}, {{"axis", "0"}}, OpReq::kWrite, -3, 9},
          IsFloating(dtype) && DTypeSize(dtype) >= 4 ? 0 : 1);
  Check({"_backward_take", {{2, 1300, 3}, {1300}, {2, 700, 3}}, {kFloat32, kInt64, kFloat32}, {{"axis", "1"}}, OpReq::kWrite, 0, 700},
        0);  // sorted in passes
  Check({"_backward_Embedding", {{50, 5}, {50}}, {kFloat16, kInt32}, {{"input_dim", "6"}, {"output_dim", "5"}}, OpReq::kAdd, -2, 9}, 2);
  RunNow();
  Env::Set("MXNET_ENFORCE_DETERMINISM", "0");
}

TEST_F(IndexingKernels, NothingToDo) {
  // gradients of arrays from which nothing was taken are zeros
  Check({"_backward_take", {{0, 7}, {0}, {5, 7}}, {kFloat32, kInt32, kFloat32}, {}});
  Check({"_backward_Embedding", {{0, 5}, {0}}, {kFloat16, kFloat32}, {{"input_dim", "6"}, {"output_dim", "5"}}});
  Check({"_backward_gather_nd", {{0, 3}, {2, 0}, {4, 4, 3}}, {kFloat32, kInt64, kFloat32}, {}});
  Check({"scatter_nd", {{0, 3}, {2, 0}}, {kFloat32, kInt32}, {{"shape", "(4, 4, 3)"}}});
  Check({"_histogram", {{0}}, {kFloat32}, {{"bin_cnt", "7"}, {"range", "(-2, 2)"}}});
  Check({"_backward_tile", {{0, 6}, {2, 3}}, {kFloat32}, {{"reps", "(0, 2)"}}});
}

TEST_F(IndexingKernels, OneEntryOrRow) {
  for (int dtype : kTypes) {
    Check({"pick", {{4, 5, 3}, {4, 3}}, {dtype, kInt32}, {{"axis", "1"}}, OpReq::kWrite, -3, 9});
    Check({"_backward_pick", {{4, 3}, {4, 3}, {4, 5, 3}}, {dtype, kInt32, dtype}, {{"axis", "1"}, {"mode", "wrap"}}, OpReq::kWrite, -3, 9});
    Check({"one_hot",
           {{7}},
           {kInt32},
           {{"depth", "5"},
            {"on_value", "2"},
            {"off_value", "-1"},
            {"dtype", dtype == kUint8 || dtype == kBfloat16 ? "int32" : DTypeName(dtype)}},
           OpReq::kWrite,
           -2,
           7});
    Check({"where", {{4, 5}, {4, 5}, {4, 5}}, {dtype, kFloat32, kFloat32}, {}, OpReq::kWrite, -1, 2});
    Check({"where", {{4}, {4, 5}, {4, 5}}, {kFloat32, dtype, dtype}, {}, OpReq::kWrite, -0.4, 2});
  }
  Check({"batch_take", {{4, 5}, {4}}, {kFloat32, kInt32}, {}, OpReq::kWrite, -3, 9});
  Check({"_backward_batch_take", {{4}, {4}, {4, 5}}, {kFloat32, kInt32, kFloat32}, {}, OpReq::kWrite, -3, 9});
  Check({"fill_element_0index", {{4, 5}, {4}, {4}}, {kFloat32, kFloat32, kInt32}, {}, OpReq::kWrite, 0, 5});
  Check({"_npi_where", {{4, 1}, {1, 5}, {3, 1, 1}}, {kInt32, kFloat32, kFloat32}, {}, OpReq::kWrite, -1, 2});
  Check({"_backward_npi_where", {{3, 4, 5}, {4, 1}, {1, 5}, {3, 1, 1}}, {kFloat32, kInt32, kFloat32, kFloat32}, {}, OpReq::kWrite, -1, 2});
  Check({"_backward_npi_where", {{300, 5}, {300, 1}, {1}, {1, 5}}, {kFloat16, kInt32, kFloat16, kFloat16}, {}, OpReq::kWrite, -1, 2}, 4);
}

TEST_F(IndexingKernels, ColumnsOfIndices) {
  for (int dtype : {kFloat32, kFloat16, kInt64, kInt8}) {
    Check({"gather_nd", {{4, 4, 3}, {2, 5}}, {dtype, kInt64}, {}, OpReq::kWrite, -4, 4});
    Check({"_backward_gather_nd", {{9, 3}, {2, 9}, {4, 4, 3}}, {dtype, kInt64, dtype}, {}, OpReq::kWrite, -4, 4}, 4);
    Check({"scatter_nd", {{9, 3}, {2, 9}}, {dtype, kInt32}, {{"shape", "(4, 4, 3)"}}, OpReq::kWrite, -4, 4});
    Check({"_scatter_set_nd", {{4, 3}, {9, 3}, {1, 9}}, {dtype, dtype, kFloat32}, {{"shape", "(4, 3)"}}, OpReq::kWrite, -4, 4});
  }
  Check({"_ravel_multi_index", {{3, 7}}, {kInt64}, {{"shape", "(-1, 5, 4)"}}, OpReq::kWrite, 0, 4});
  Check({"_unravel_index", {{3, 7}}, {kFloat32}, {{"shape", "(9, 5, 4)"}}, OpReq::kWrite, 0, 180});
  Check({"_contrib_index_copy", {{5, 3}, {4}, {4, 3}}, {kFloat32, kInt64, kFloat32}, {}, OpReq::kWrite, 0, 5});
  Check({"_contrib_index_array", {{3, 4, 2}}, {kFloat32}, {{"axes", "(2, 0)"}}});
  Check({"_contrib_arange_like", {{3, 4}}, {kFloat32}, {{"step", "0.5"}, {"repeat", "2"}}});
  Check({"_backward_boolean_mask", {{3, 4}, {3, 4}, {3}}, {kFloat32, kFloat32, kInt32}, {}, OpReq::kWrite, 1, 3});
  Check({"shape_array", {{3, 4}}, {kFloat32}, {}});
  Check({"size_array", {{3, 4}}, {kFloat32}, {}});
}

TEST_F(IndexingKernels, IndicesOutOfRangeAreRefusedAsOnTheCpu) {
  const Case cases[] = {{"take", {{5, 7}, {3, 4}}, {kFloat32, kInt32}, {{"mode", "raise"}}, OpReq::kWrite, 3, 9},
                        {"gather_nd", {{4, 4}, {2, 5}}, {kFloat32, kInt32}, {}, OpReq::kWrite, 2, 9},
                        {"_contrib_index_copy", {{5, 3}, {4}, {4, 3}}, {kFloat32, kInt64, kFloat32}, {}, OpReq::kWrite, 3, 9}};
  for (const Case& c : cases) {
    std::string messages[2];
    for (DeviceType device : {DeviceType::kCPU, DeviceType::kGPU}) {
      EmulatedDevice emulated;
      try {
        RunKernel(c, device);
        ADD_FAILURE() << Name(c) << ": no error";
      } catch (const Error& e) {
        messages[device == DeviceType::kGPU] = e.what();
      }
    }
    EXPECT_EQ(messages[1], messages[0]);
  }
}

TEST_F(IndexingKernels, BoxesAndSequences) {
  for (int dtype : {kFloat32, kFloat16, kInt64, kUint8}) {
    Check({"diag", {{4, 5}}, {dtype}, {{"k", "1"}}});
    Check({"_slice_assign_scalar", {{6, 7}}, {dtype}, {{"begin", "(1, 2)"}, {"end", "(5, 7)"}, {"step", "(2, 1)"}, {"scalar", "4"}}});
    Check({"SequenceMask", {{5, 3, 2}, {3}}, {dtype, kInt32}, {{"use_sequence_length", "1"}, {"value", "7"}}, OpReq::kWrite, -1, 7});
    Check({"SequenceMask", {{3, 5, 2}, {3}}, {dtype, kFloat32}, {{"use_sequence_length", "1"}, {"axis", "1"}}, OpReq::kWrite, -1, 7});
    Check({"SequenceLast", {{5, 3, 2}, {3}}, {dtype, kInt32}, {{"use_sequence_length", "1"}}, OpReq::kWrite, -1, 7});
    Check({"SequenceLast", {{3, 5}}, {dtype}, {{"axis", "1"}}});
    Check({"_backward_SequenceLast",
           {{3, 2}, {3, 5, 2}, {3}},
           {dtype, dtype, kInt32},
           {{"use_sequence_length", "1"}, {"axis", "1"}},
           OpReq::kWrite,
           -1,
           7});
    Check({"SequenceReverse", {{5, 3, 2}, {3}}, {dtype, kInt32}, {{"use_sequence_length", "1"}}, OpReq::kWrite, -1, 7});
    Check({"Pad", {{2, 3, 4, 5}}, {dtype}, {{"mode", "constant"}, {"pad_width", "(0,0,0,0,1,2,3,0)"}, {"constant_value", "4"}}});
  }
  Check({"SequenceMask", {{5, 3}}, {kFloat32}, {}});
  Check({"SequenceReverse", {{5, 1}}, {kFloat32}, {}});
  Check({"diag", {{5}}, {kFloat32}, {{"k", "-2"}}});
  Check({"_backward_diag", {{4}, {4, 5}}, {kFloat32}, {{"k", "1"}}});
  Check({"_np_diagonal", {{3, 4, 5}}, {kFloat32}, {{"axis1", "2"}, {"axis2", "0"}}});
  Check({"_np_diagflat", {{2, 3}}, {kFloat32}, {}});
  for (const char* mode : {"constant", "edge", "reflect"}) {
    Check({"Pad", {{2, 3, 2, 4, 5}}, {kFloat32}, {{"mode", mode}, {"pad_width", "(0,0,0,0,1,1,3,2,2,4)"}}});
    for (int dtype : {kFloat32, kFloat16, kInt32}) {
      Check({"_backward_Pad", {{2, 3, 9, 11}, {2, 3, 4, 5}}, {dtype}, {{"mode", mode}, {"pad_width", "(0,0,0,0,3,2,2,4)"}}}, 4);
      Check({"_backward_Pad", {{1, 2, 4, 6, 5}, {1, 2, 2, 4, 5}}, {dtype}, {{"mode", mode}, {"pad_width", "(0,0,0,0,1,1,1,1,0,0)"}}}, 4);
    }
  }
  for (int dtype : {kFloat32, kFloat16, kInt8}) Check({"khatri_rao", {{2, 3}, {4, 3}, {3, 3}}, {dtype}, {{"num_args", "3"}}}, 2);
  Check({"_backward_tile", {{4, 6}, {2, 3}}, {kFloat32}, {{"reps", "(2, 2)"}}});
  Check({"_backward_tile", {{600, 2}, {2}}, {kFloat16}, {{"reps", "(600, 1)"}}}, 4);
  Check({"_backward_repeat", {{2, 6}, {2, 3}}, {kInt32}, {{"repeats", "2"}, {"axis", "1"}}});
}

TEST_F(IndexingKernels, Order) {
  for (int dtype : kTypes) {
    Check({"sort", {{3, 37}}, {dtype}, {{"is_ascend", dtype % 2 ? "1" : "0"}}, OpReq::kWrite, -9, 9});
    Check({"argsort", {{3, 37}}, {dtype}, {{"dtype", "int32"}}, OpReq::kWrite, -9, 9});
    Check({"argsort", {{1500}}, {dtype}, {{"dtype", "int64"}, {"is_ascend", "0"}}, OpReq::kWrite, -9, 9});
  }
  Check({"sort", {{3, 20, 4}}, {kFloat32}, {{"axis", "1"}}});
  Check({"sort", {{3, 1}}, {kFloat32}, {}});
  Check({"sort", {{2, 2100, 3}}, {kFloat32}, {{"axis", "1"}}});
  Check({"sort", {{6000}}, {kFloat64}, {{"axis", "None"}}});
  for (const char* type : {"value", "indices", "mask"}) {
    Check({"topk", {{3, 37, 2}}, {kFloat32}, {{"k", "5"}, {"axis", "1"}, {"ret_typ", type}}});
    Check({"topk", {{3, 1100}}, {kFloat16}, {{"k", "5"}, {"ret_typ", type}, {"is_ascend", "1"}}});
  }
  Check({"topk", {{3, 37}}, {kInt32}, {{"k", "5"}, {"ret_typ", "both"}, {"dtype", "int64"}}, OpReq::kWrite, -9, 9});
  Check({"_backward_sort", {{3, 37}, {3, 37}}, {kFloat32}, {}});
  Check({"_backward_backward_sort", {{3, 37}, {3, 37}}, {kFloat32}, {}});
  Check({"_backward_topk", {{3, 5}, {3, 37}}, {kFloat32}, {{"k", "5"}, {"ret_typ", "value"}}});
  Check({"_backward_backward_topk", {{3, 37}, {3, 37}}, {kFloat32}, {{"k", "5"}, {"ret_typ", "value"}}});
}

TEST_F(IndexingKernels, RunningSumsAndCounts) {
  for (int dtype : kTypes) {
    Check({"_np_cumsum", {{3, 37}}, {dtype}, {{"axis", "1"}}}, 8);
    Check({"_np_cumsum", {{2, 2100}}, {dtype}, {{"axis", "1"}}, OpReq::kWrite, -1, 1.5}, 16);
    Check({"_histogram", {{400}}, {dtype}, {{"bin_cnt", "7"}, {"range", "(-2, 2)"}}});
  }
  Check({"_np_cumsum", {{5, 70, 3}}, {kFloat32}, {{"axis", "1"}}}, 8);
  Check({"_np_cumsum", {{70, 16400}}, {kFloat32}, {{"axis", "0"}}, OpReq::kWrite, -1, 1}, 8);
  Check({"_np_cumsum", {{4, 5}}, {kFloat32}, {{"dtype", "int32"}}});
  Check({"_backward_cumsum", {{4500}, {5, 900}}, {kFloat32}, {}, OpReq::kWrite, -1, 1}, 16);
  Check({"_backward_cumsum", {{5, 90}, {5, 90}}, {kFloat16}, {{"axis", "0"}}}, 8);
}

}  // namespace
}  // namespace mxnet
