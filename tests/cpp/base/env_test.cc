// The environment table inside one process. What needs a fresh process (bad values, warnings) is in
// tests/python/runtime/test_env.py.
#include "mxnet/env.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "c_api/c_api_error.h"
#include "mxnet/c_api_env.h"

using mxnet::Env;
using mxnet::EnvInfo;
using mxnet::Error;

namespace {

std::string Refusal(const std::string& name, const std::string& value) {
  const std::string before = Env::Info(name).value;
  try {
    Env::Set(name, value);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), Error::Kind::kValue);
    EXPECT_EQ(Env::Info(name).value, before) << "a refused value must change nothing";
    return e.what();
  }
  ADD_FAILURE() << name << "=" << value << " was accepted";
  return "";
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST(Env, TableIsComplete) {
  const std::vector<EnvInfo> rows = Env::List();
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(), [](const EnvInfo& row) { return !Has(row.help, "An addition"); }),
            100);  // three are names of earlier releases, two are not in the original's list
  std::set<std::string> names;
  for (const EnvInfo& row : rows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " twice";
    EXPECT_FALSE(row.group.empty() || row.type.empty() || row.help.empty()) << row.name;
    EXPECT_EQ(row.help.find('\n'), std::string::npos) << row.name;
  }
}

// Restoring a default by "" and setting the default's own text must mean the same.
TEST(Env, DefaultsAreAcceptedValues) {
  for (const EnvInfo& row : Env::List()) {
    if (row.source != "default") continue;
    EXPECT_NO_THROW(Env::Set(row.name, row.value)) << row.name << "=" << row.value;
    EXPECT_EQ(Env::Info(row.name).value, row.value);
    EXPECT_NO_THROW(Env::Set(row.name, ""));
    EXPECT_EQ(Env::Info(row.name).source, "default");
  }
}

TEST(Env, Booleans) {
  for (const char* text : {"0", "false", "No", "OFF", " False "}) {
    Env::Set("MXNET_SAFE_ACCUMULATION", text);
    EXPECT_FALSE(Env::Get().safe_accumulation) << text;
  }
  for (const char* text : {"1", "true", "YES", "on", "TRUE"}) {
    Env::Set("MXNET_SAFE_ACCUMULATION", text);
    EXPECT_TRUE(Env::Get().safe_accumulation) << text;
  }
  const std::string message = Refusal("MXNET_SAFE_ACCUMULATION", "2");
  EXPECT_TRUE(Has(message, "MXNET_SAFE_ACCUMULATION") && Has(message, "'2'") && Has(message, "true")) << message;
  Env::Set("MXNET_SAFE_ACCUMULATION", "");
  EXPECT_TRUE(Env::Get().safe_accumulation);
}

TEST(Env, NumbersAndRanges) {
  Env::Set("MXNET_OPTIMIZER_AGGREGATION_SIZE", "60");
  EXPECT_EQ(Env::Get().optimizer_aggregation_size, 60);
  for (const char* text : {"0", "61", "x", "4x", "4.5", "1e1", "99999999999999999999", "--4"})
    Refusal("MXNET_OPTIMIZER_AGGREGATION_SIZE", text);
  Env::Set("MXNET_OPTIMIZER_AGGREGATION_SIZE", "");
  Env::Set("MXNET_CPU_PARALLEL_SIZE", "5000000000");  // 64 bits where sizes are counted
  EXPECT_EQ(Env::Get().cpu_parallel_size, 5000000000);
  Env::Set("MXNET_CPU_PARALLEL_SIZE", "");
  Refusal("MXNET_KVSTORE_REDUCTION_NTHREADS", "5000000000");
  Refusal("MXNET_CUDNN_AUTOTUNE_DEFAULT", "3");
  Env::Set("MXNET_CUDNN_AUTOTUNE_DEFAULT", "2");
  EXPECT_EQ(Env::Get().cudnn_autotune_default, 2);
  Env::Set("MXNET_CUDNN_AUTOTUNE_DEFAULT", "");
  Env::Set("MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY", "0.25");
  EXPECT_EQ(Env::Get().kvstore_tree_link_usage_penalty, 0.25);
  for (const char* text : {"1.5", "nan", "inf", "-0.1", ""}) {
    if (*text) Refusal("MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY", text);
  }
  Env::Set("MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY", "");
  EXPECT_EQ(Env::Get().cuda_graphs_dbg_file_flags, -1);
  Refusal("MXNET_CUDA_GRAPHS_DBG_FILE_FLAGS", "-2");
}

TEST(Env, ListsAndTypes) {
  Env::Set("MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES", "3, 7,11");
  EXPECT_EQ(Env::Get().cudnn_disabled_conv_fwd_engines, (std::vector<int>{3, 7, 11}));
  for (const char* text : {"3,,7", "3,", "a", "-1"}) Refusal("MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES", text);
  Env::Set("MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES", "");
  EXPECT_TRUE(Env::Get().cudnn_disabled_conv_fwd_engines.empty());
  Env::Set("MXNET_USE_OPERATOR_TUNING", "float32, int8");
  EXPECT_EQ(Env::Get().use_operator_tuning, "float32, int8");
  Refusal("MXNET_USE_OPERATOR_TUNING", "2");
  Refusal("MXNET_USE_OPERATOR_TUNING", "list of types");
  Env::Set("MXNET_USE_OPERATOR_TUNING", "");
}

TEST(Env, DefaultsThatFollowOthers) {
  Env::Set("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "7");
  EXPECT_EQ(Env::Get().exec_bulk_exec_max_node_train_fwd, 7);
  EXPECT_EQ(Env::Get().exec_bulk_exec_max_node_train_bwd, 7);
  Env::Set("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", "3");
  EXPECT_EQ(Env::Get().exec_bulk_exec_max_node_train_fwd, 7);
  EXPECT_EQ(Env::Get().exec_bulk_exec_max_node_train_bwd, 3);
  Env::Set("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "");
  EXPECT_EQ(Env::Get().exec_bulk_exec_max_node_train_fwd, 15);
  Env::Set("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", "");
  EXPECT_EQ(Env::Get().exec_bulk_exec_max_node_train_bwd, 15);
}

TEST(Env, NewerNameWins) {
  Env::Set("MXNET_EXEC_MATCH_RANGE", "5");
  EXPECT_EQ(Env::Get().nnvm_exec_match_range, 5);
  EXPECT_EQ(Env::Info("NNVM_EXEC_MATCH_RANGE").source, "alias MXNET_EXEC_MATCH_RANGE");
  Env::Set("NNVM_EXEC_MATCH_RANGE", "9");
  EXPECT_EQ(Env::Get().nnvm_exec_match_range, 9);
  EXPECT_EQ(Env::Info("NNVM_EXEC_MATCH_RANGE").source, "set_env");
  Env::Set("NNVM_EXEC_MATCH_RANGE", "");
  EXPECT_EQ(Env::Get().nnvm_exec_match_range, 5);
  Env::Set("MXNET_EXEC_MATCH_RANGE", "");
  EXPECT_EQ(Env::Get().nnvm_exec_match_range, 16);
}

TEST(Env, FixedAfterStart) {
  const std::string message = Refusal("MXNET_ENGINE_TYPE", Env::Get().engine_type == "NaiveEngine" ? "ThreadedEngine" : "NaiveEngine");
  EXPECT_TRUE(Has(message, "MXNET_ENGINE_TYPE") && Has(message, "fixed after start")) << message;
  EXPECT_NO_THROW(Env::Set("MXNET_ENGINE_TYPE", Env::Get().engine_type));  // changes nothing
  Env::Set("MXNET_ENGINE_TYPE", "");
}

TEST(Env, UnknownNameNamesTheNearest) {
  const std::pair<const char*, const char*> cases[] = {{"MXNET_SAVE_ACCUMULATION", "MXNET_SAFE_ACCUMULATION"},
                                                       {"MXNET_ENGIN", "MXNET_ENGINE_TYPE"},
                                                       {"MXNET_CPU_WORKER_NTHREAD", "MXNET_CPU_WORKER_NTHREADS"},
                                                       {"MXNET_ONEDN_ENABLED", "MXNET_ONEDNN_ENABLED"}};
  for (const auto& c : cases) {
    try {
      Env::Set(c.first, "1");
      ADD_FAILURE() << c.first;
    } catch (const Error& e) {
      EXPECT_TRUE(Has(e.what(), std::string("nearest name: ") + c.second)) << e.what();
    }
  }
}

// Readers see whole values, old or new, while another thread switches; a reference that was handed
// out does not change.
TEST(Env, ReadersRunWhileSet) {
  Env::Set("MXNET_GLUON_REPO", "a");
  const Env& before = Env::Get();
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) {
      const std::string& repo = Env::Get().gluon_repo;
      ASSERT_TRUE(repo == "a" || repo == std::string(64, 'b')) << repo;
    }
  });
  for (int i = 0; i < 300; ++i) Env::Set("MXNET_GLUON_REPO", i % 2 ? "a" : std::string(64, 'b'));
  stop = true;
  reader.join();
  EXPECT_EQ(before.gluon_repo, "a");
  EXPECT_EQ(&Env::Get(), &before) << "equal settings share one Env";
  Env::Set("MXNET_GLUON_REPO", "");
}

TEST(EnvC, SetGetList) {
  const char* text = nullptr;
  ASSERT_EQ(MXCheckEnv(), 0);
  ASSERT_EQ(MXSetEnv("MXNET_EXEC_NUM_TEMP", "3"), 0);
  ASSERT_EQ(MXGetEnv("MXNET_EXEC_NUM_TEMP", &text), 0);
  EXPECT_STREQ(text, "3");
  ASSERT_EQ(MXSetEnv("MXNET_EXEC_NUM_TEMP", ""), 0);
  ASSERT_EQ(MXListEnv(&text), 0);
  EXPECT_TRUE(Has(text, "\"name\": \"MXNET_EXEC_NUM_TEMP\""));
  EXPECT_EQ(MXSetEnv("MXNET_EXEC_NUM_TEMP", "-3"), -1);
  EXPECT_EQ(MXGetLastErrorKind(), static_cast<int>(Error::Kind::kValue));
  EXPECT_TRUE(Has(MXGetLastError(), "MXNET_EXEC_NUM_TEMP='-3'")) << MXGetLastError();
  EXPECT_STREQ(NNGetLastError(), MXGetLastError());
  EXPECT_EQ(MXSetEnv(nullptr, "1"), -1);
  EXPECT_EQ(MXGetEnv("MXNET_EXEC_NUM_TEMP", nullptr), -1);
  EXPECT_EQ(MXGetEnv("NO_SUCH", &text), -1);
  EXPECT_EQ(MXSetNumOMPThreads(0), -1);
  ASSERT_EQ(MXSetNumOMPThreads(3), 0);
  EXPECT_EQ(Env::Get().omp_num_threads, 3);
  ASSERT_EQ(MXSetEnv("OMP_NUM_THREADS", ""), 0);
  NNAPISetLastError("mine");
  EXPECT_STREQ(MXGetLastError(), "mine");
  EXPECT_EQ(MXGetLastErrorKind(), 0);
  std::thread([] { EXPECT_STREQ(MXGetLastError(), ""); }).join();
}

TEST(CApiError, KindsOfExceptions) {
  auto run = [](auto f) -> int {
    API_BEGIN();
    f();
    API_END();
  };
  EXPECT_EQ(run([] {}), 0);
  EXPECT_EQ(run([] { MXNET_THROW(Index) << "[x] far"; }), -1);
  EXPECT_EQ(MXGetLastErrorKind(), 3);
  EXPECT_EQ(run([] { throw std::bad_alloc(); }), -1);
  EXPECT_EQ(MXGetLastErrorKind(), 5);
  EXPECT_EQ(run([] { throw std::runtime_error("other"); }), -1);
  EXPECT_EQ(MXGetLastErrorKind(), 0);
  EXPECT_STREQ(MXGetLastError(), "[c_api] other");
  EXPECT_EQ(run([] { throw 5; }), -1);
  EXPECT_EQ(MXGetLastErrorKind(), 0);
}
