/* What the C++ front end trains with: optimizers, schedules, stores, metrics, first values,
 * monitors and iterators. */
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "mxnet-cpp/MxNetCpp.h"

namespace mxnet {
namespace cpp {
namespace {

typedef std::vector<mx_float> Values;

const Context kHost = Context::cpu();

Values Read(NDArray array) {
  Values values;
  array.SyncCopyToCPU(&values);
  return values;
}

template <typename Function>
std::string Said(Function function) {
  try {
    function();
  } catch (const dmlc::Error& error) {
    return error.what();
  }
  return "nothing";
}

class OwnOptimizer : public Optimizer {
 public:
  explicit OwnOptimizer(unsigned begin_num_update = 0) : Optimizer(begin_num_update) {}
  std::string GetType() const override { return "own"; }
  void Update(int, NDArray weight, NDArray grad) override { weight -= grad; }
};
MXNETCPP_REGISTER_OPTIMIZER(own, OwnOptimizer);

/* A weight of 1, 2, 3 after three steps of one gradient. The numbers are those that the same
 * headers give with 1.9.1's library. */
Values ThreeSteps(const std::string& name, bool has_momentum) {
  std::unique_ptr<Optimizer> opt(OptimizerRegistry::Find(name));
  NDArray weight(Values({1, 2, 3}));
  opt->SetParam("lr", 0.1)->SetParam("wd", 0.01)->SetParam("rescale_grad", 0.5);
  if (has_momentum) opt->SetParam("momentum", 0.9)->SetParam("clip_gradient", 10);
  for (int i = 0; i < 3; ++i) opt->Update(0, weight, NDArray(Values({0.1f, -0.2f, 0.3f})));
  return Read(weight);
}

void ExpectNear(const Values& got, const Values& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 2e-5) << i;
}

TEST(FrontEndOptimizer, StepsAreThoseOf19) {
  ExpectNear(ThreeSteps("sgd", true), {0.966369f, 2.04484f, 2.89911f});
  ExpectNear(ThreeSteps("ccsgd", false), {0.982018f, 2.02398f, 2.94605f});
  ExpectNear(ThreeSteps("signum", true), {0.7f, 2.3f, 2.7f});
  ExpectNear(ThreeSteps("rmsprop", false), {-0.580637f, 3.5891f, 1.39749f});
  ExpectNear(ThreeSteps("adam", false), {0.700176f, 2.29987f, 2.70006f});
  ExpectNear(ThreeSteps("adagrad", false), {0.768831f, 2.22218f, 2.76283f});
  ExpectNear(ThreeSteps("adadelta", false), {0.940506f, 1.97084f, 2.88057f});
  ExpectNear(ThreeSteps("own", false), {0.7f, 2.6f, 2.1f});
}

TEST(FrontEndOptimizer, RegistryAndTexts) {
  EXPECT_EQ(Said([] { OptimizerRegistry::Find("none"); }),
            "[OptimizerRegistry] got 'none'; accepted: adadelta, adagrad, adam, ccsgd, own, rmsprop, sgd, signum");
  std::unique_ptr<Optimizer> sgd(OptimizerRegistry::Find("sgd"));
  sgd->SetParam("lr", 0.05)->SetParam("momentum", 0.9f);
  EXPECT_EQ(sgd->Serialize(), "opt_type=sgd\nlr=0.05\nmomentum=0.9\nwd=0");
  std::unique_ptr<Optimizer> same(OptimizerRegistry::FromText(sgd->Serialize()));
  EXPECT_EQ(same->Serialize(), sgd->Serialize());
  EXPECT_NE(Said([] { OptimizerRegistry::FromText("opt_type=sgd\nlr"); }), "nothing");
  NDArray weight(Values({1}));
  sgd->SetParam("no_such_parameter", 1);
  EXPECT_NE(Said([&] { sgd->Update(0, weight, weight); }).find("no_such_parameter"), std::string::npos);
}

TEST(FrontEndOptimizer, SchedulesStartAtTheRate) {
  std::unique_ptr<Optimizer> sgd(OptimizerRegistry::Find("sgd"));
  sgd->SetParam("lr", 1)->SetLRScheduler(std::unique_ptr<LRScheduler>(new FactorScheduler(2, 0.5f, 0.3f)));
  NDArray weight(Values({0}));
  Values path;
  for (int i = 0; i < 6; ++i) {
    sgd->Update(0, weight, NDArray(Values({-1})));
    path.push_back(weight.At(0));
  }
  ExpectNear(path, {1, 2, 2.5f, 3, 3.3f, 3.6f});
  EXPECT_NE(Said([] { FactorScheduler(0); }), "nothing");
  EXPECT_NE(Said([] { FactorScheduler(1, 1.5f); }), "nothing");
}

TEST(FrontEndOptimizer, UpdateAllWalksTheArguments) {
  Symbol net = MakeLoss("loss", FullyConnected("fc", Symbol("data"), Symbol("w"), Symbol("b"), 1));
  std::map<std::string, NDArray> args{
      {"data", NDArray({1, 2}, Shape(1, 2), kHost)}, {"w", NDArray({0, 0}, Shape(1, 2), kHost)}, {"b", NDArray(Values({0}))}};
  std::unique_ptr<Executor> exec(net.SimpleBind(kHost, args));
  exec->Forward(true);
  exec->Backward();
  std::unique_ptr<Optimizer> sgd(OptimizerRegistry::Find("sgd"));
  exec->UpdateAll(sgd.get(), 0.5f, 0);
  EXPECT_EQ(Read(args["w"]), Values({-0.5, -1}));
  EXPECT_EQ(Read(args["b"]), Values({0})) << "the last argument is taken to be the label";
}

TEST(FrontEndStore, SumsAndUpdates) {
  const NDArray a(Values({1, 2}));
  NDArray out(Shape(2), kHost);
  KVStore::SetType("local");
  KVStore::Init(3, a);
  KVStore::Push(std::vector<int>{3, 3}, std::vector<NDArray>{a, a * 2});
  KVStore::Pull(3, &out);
  EXPECT_EQ(Read(out), Values({3, 6}));
  std::unique_ptr<Optimizer> sgd(OptimizerRegistry::Find("sgd"));
  sgd->SetParam("lr", 1);
  KVStore::SetOptimizer(std::move(sgd));
  KVStore::Push(3, a);
  KVStore::Pull(3, &out);
  EXPECT_EQ(Read(out), Values({2, 4}));
  EXPECT_EQ(KVStore::GetType() + KVStore::GetRole(), "localworker");
  EXPECT_EQ(KVStore::GetRank() + KVStore::GetNumWorkers(), 1);
  KVStore::Barrier();
  EXPECT_NE(Said([] { KVStore::RunServer(); }).find("this process is a worker"), std::string::npos);
  EXPECT_NE(Said([&] { KVStore::Push(std::vector<int>{3}, std::vector<NDArray>()); }), "nothing");
  EXPECT_NE(Said([] { KVStore::SetType("dist_none"); }), "nothing");
  KVStore::SetType("local");
  KVStore::Init("name", a);
  KVStore::Pull("name", &out);
  EXPECT_EQ(Read(out), Values({1, 2}));
}

TEST(FrontEndMetric, Means) {
  const NDArray labels(Values({1, 1})), scores({0.1f, 0.9f, 0.8f, 0.2f}, Shape(2, 2), kHost);
  Accuracy accuracy;
  EXPECT_TRUE(std::isnan(accuracy.Get()));
  accuracy.Update(labels, scores);
  EXPECT_EQ(accuracy.Get(), 0.5f);
  LogLoss loss;
  loss.Update(labels, scores);
  EXPECT_NEAR(loss.Get(), -(std::log(0.9) + std::log(0.2)) / 2, 1e-6);
  EXPECT_EQ(Said([&] { loss.Update(NDArray(Values({1, 2})), scores); }), "[LogLoss] got the label 2; accepted: 0 to 1");
  EXPECT_NE(Said([&] { accuracy.Update(scores, scores); }), "nothing");
  const NDArray a(Values({1, 2, 3, 4}));
  MAE mae;
  MSE mse;
  RMSE rmse;
  PSNR psnr;
  for (EvalMetric* metric : std::vector<EvalMetric*>{&mae, &mse, &rmse, &psnr}) metric->Update(a, a + 2);
  EXPECT_EQ(mae.Get(), 2);
  EXPECT_EQ(mse.Get(), 4);
  EXPECT_EQ(rmse.Get(), 2);
  EXPECT_NEAR(psnr.Get(), 42.1102, 1e-3);
  mae.Reset();
  EXPECT_TRUE(std::isnan(mae.Get()));
}

TEST(FrontEndInitializer, ByNameAndByClass) {
  MXRandomSeed(5);
  Xavier xavier(Xavier::uniform, Xavier::in, 3);
  NDArray weight(Shape(50, 40, 2, 2), kHost), bias(Shape(50), kHost);
  xavier("conv_weight", &weight);
  const float bound = std::sqrt(3.f / 160);
  float largest = 0;
  for (float v : Read(weight)) largest = std::max(largest, std::fabs(v));
  EXPECT_TRUE(largest <= bound && largest > 0.95f * bound) << largest << " " << bound;
  bias = 5;
  xavier("conv_bias", &bias);
  EXPECT_EQ(bias.At(0), 0);
  xavier("bn_gamma", &bias);
  EXPECT_EQ(bias.At(49), 1);
  xavier("b0", &bias);
  EXPECT_EQ(bias.At(49), 0) << "a list without a telling name is a bias";
  MSRAPrelu he(Xavier::out, 0);
  he("w", &weight);
  double squares = 0;
  for (float v : Read(weight)) squares += v * v;
  EXPECT_NEAR(squares / 8000, 2.0 / 200, 1e-3);
  One()("anything", &bias);
  EXPECT_EQ(bias.At(3), 1);
  Uniform(2, 3)("anything", &bias);
  EXPECT_TRUE(bias.At(3) >= 2 && bias.At(3) <= 3);
  NDArray kernel(Shape(1, 1, 4, 4), kHost);
  Bilinear()("w", &kernel);
  EXPECT_EQ(Read(kernel.Reshape(Shape(4, 4)).Slice(1, 2)), Values({0.1875, 0.5625, 0.5625, 0.1875}));
  EXPECT_NE(Said([&] { xavier("fc_weight", &bias); }), "nothing");
}

TEST(FrontEndMonitor, SeesOutputsThatMatch) {
  Symbol net = Activation("act", FullyConnected("fc", Symbol("data"), Symbol("w"), Symbol("b"), 1), "relu");
  std::map<std::string, NDArray> args{
      {"data", NDArray({3, 4}, Shape(1, 2), kHost)}, {"w", NDArray({1, 1}, Shape(1, 2), kHost)}, {"b", NDArray(Values({0}))}};
  std::unique_ptr<Executor> exec(net.SimpleBind(kHost, args));
  Monitor monitor(2, std::regex("act_output|w"));
  monitor.install(exec.get());
  for (size_t expected : {2u, 0u, 2u}) {
    monitor.tic();
    exec->Forward(false);
    const std::vector<Monitor::Stat> stats = monitor.toc();
    ASSERT_EQ(stats.size(), expected);
    if (expected == 0) continue;
    EXPECT_EQ(std::get<1>(stats[0]), "act_output");
    EXPECT_EQ(std::get<2>(stats[0]).At(0), 7);
    EXPECT_EQ(std::get<2>(stats[1]).At(0), 1) << "the root of the mean square";
  }
}

TEST(FrontEndIterator, ReadsBatches) {
  const std::string file = ::testing::TempDir() + std::to_string(getpid()) + "rows.csv";
  std::ofstream(file) << "1,2\n3,4\n5,6\n";
  MXDataIter rows("CSVIter");
  EXPECT_EQ(Said([&] { rows.Next(); }), "[MXDataIter] there is no data yet: call CreateDataIter first");
  rows.SetParam("data_csv", file).SetParam("data_shape", Shape(2)).SetParam("batch_size", 2);
  rows.SetParam("round_batch", false).CreateDataIter();
  for (int epoch = 0; epoch < 2; ++epoch) {
    rows.Reset();
    ASSERT_TRUE(rows.Next());
    EXPECT_EQ(Read(rows.GetData()), Values({1, 2, 3, 4}));
    ASSERT_TRUE(rows.Next());
    const DataBatch batch = rows.GetDataBatch();
    EXPECT_EQ(Read(batch.data).size(), 4u);
    EXPECT_EQ(Read(batch.data)[0], 5);
    EXPECT_EQ(batch.pad_num, 1);
    EXPECT_FALSE(rows.Next());
  }
  std::remove(file.c_str());
  EXPECT_NE(Said([] { MXDataIter("NoIter"); }).find("CSVIter"), std::string::npos);
}

}  // namespace
}  // namespace cpp
}  // namespace mxnet
