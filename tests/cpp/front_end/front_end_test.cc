/* Arrays, symbols, operators and executors of the C++ front end, as programs see them: linked to
 * libmxnet.so alone. */
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <locale>
#include <set>

#include "mxnet-cpp/MxNetCpp.h"

namespace mxnet {
namespace cpp {
namespace {

typedef std::vector<mx_float> Values;
typedef std::vector<std::string> Names;

const Context kHost = Context::cpu();

Values Read(NDArray array) {
  Values values;
  array.SyncCopyToCPU(&values);
  return values;
}

NDArray Matrix() { return NDArray({1, 2, 3, 4, 5, 6}, Shape(2, 3), kHost); }

/* What the statement throws. */
template <typename Function>
std::string Said(Function function) {
  try {
    function();
  } catch (const dmlc::Error& error) {
    return error.what();
  }
  return "nothing";
}

std::string TemporaryFile(const std::string& name) { return ::testing::TempDir() + std::to_string(getpid()) + name; }

TEST(FrontEndArray, Arithmetic) {
  const NDArray a = Matrix();
  EXPECT_EQ(Read(a + 1), Values({2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(Read(a - 1), Values({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(Read(a * 2), Values({2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(Read(a / 2), Values({0.5, 1, 1.5, 2, 2.5, 3}));
  EXPECT_EQ(Read(a % 4), Values({1, 2, 3, 0, 1, 2}));
  EXPECT_EQ(Read(a * a - a / a + a % a), Values({0, 3, 8, 15, 24, 35}));
  EXPECT_EQ(Read(1 + 2 * a - 12 / a - (7 - a) + 7 % a), Values({-15, -5, 0, 6, 8.6f, 11}));
  NDArray b = a.Copy(kHost), same = b;
  b += 1;
  b -= a;
  b *= Matrix();
  b /= 2;
  b %= 2;
  EXPECT_EQ(Read(same), Values({0.5, 1, 1.5, 0, 0.5, 1})) << "copies of an NDArray are the same memory";
  same = 7;
  EXPECT_EQ(Read(b), Values(6, 7));
  EXPECT_EQ(Read(a), Values({1, 2, 3, 4, 5, 6})) << "Copy makes new memory";
}

TEST(FrontEndArray, ShapesAndElements) {
  const NDArray a = Matrix();
  EXPECT_EQ(a.GetShape(), std::vector<mx_uint>({2, 3}));
  EXPECT_EQ(a.Size(), 6u);
  EXPECT_EQ(a.Offset(1, 2), 5u);
  EXPECT_EQ(a.At(1, 0), 4);
  EXPECT_EQ(a.Reshape(Shape(-1)).At(4), 5);
  EXPECT_EQ(a.Reshape(Shape(1, 3, 2)).At(0, 2, 1), 6);
  EXPECT_EQ(Read(a.Slice(1, 2)), Values({4, 5, 6}));
  EXPECT_EQ(Read(a.Reshape(Shape(3, 2)).ArgmaxChannel()), Values({1, 1, 1}));
  EXPECT_EQ(a.GetData()[2], 3);
  EXPECT_EQ(a.GetContext().GetDeviceType(), kCPU);
  std::ostringstream text;
  text << a << NDArray();
  EXPECT_EQ(text.str(), "[1, 2, 3, 4, 5, 6, ][]");
  EXPECT_EQ(NDArray().Size(), 0u);
}

TEST(FrontEndArray, WrongPlacesAreErrors) {
  const NDArray a = Matrix();
  EXPECT_EQ(Said([&] { a.At(2, 0); }), "[NDArray::At] (2, 0) is no place in the shape (2,3)");
  EXPECT_EQ(Said([&] { a.At(0, 3); }), "[NDArray::At] (0, 3) is no place in the shape (2,3)");
  EXPECT_EQ(Said([&] { a.At(0); }), "[NDArray::At] (0) is no place in the shape (2,3)");
  EXPECT_EQ(Said([&] { a.At(0, 0, 0); }), "[NDArray::Offset] got 3 indices for the shape (2,3)");
  EXPECT_NE(Said([&] { NDArray(Values({1, 2}), Shape(3), kHost); }), "nothing");
  EXPECT_NE(Said([&] { a.Slice(1, 3); }), "nothing");
  EXPECT_NE(Said([&] { a + NDArray(Shape(5), kHost); }), "nothing");
  EXPECT_NE(Said([&] { NDArray() + 1; }), "nothing");
  mx_float few[2];
  EXPECT_NE(Said([&] { Matrix().SyncCopyToCPU(few, 2); }), "nothing");
}

TEST(FrontEndArray, WhatWasMovedAwayIsAnError) {
  NDArray a = Matrix();
  const NDArray b = std::move(a);
  EXPECT_EQ(a.GetHandle(), nullptr);  // NOLINT
  for (const auto& use :
       std::vector<std::function<void()>>{[&] { a.Size(); }, [&] { a + b; }, [&] { a.WaitToRead(); }, [&] { a.Slice(0, 1); }})
    EXPECT_NE(Said(use).find("null NDArray handle"), std::string::npos);
  a = b;
  EXPECT_EQ(a.Size(), 6u);
}

TEST(FrontEndArray, VectorsAreConverted) {
  for (int dtype : {1, 2, 3, 4, 5, 6}) {  // float64, float16, uint8, int32, int8, int64
    NDArray a(Shape(3), kHost, false, dtype);
    a.SyncCopyFromCPU(Values({1, 2, 3}));
    EXPECT_EQ(Read(a), Values({1, 2, 3})) << dtype;
    EXPECT_EQ(a.At(1), 2) << dtype;
    EXPECT_EQ(a.Copy(kHost).GetDType(), dtype);
    EXPECT_NE(Said([&] { a.SyncCopyFromCPU(Values({1, 2})); }), "nothing");
  }
}

TEST(FrontEndArray, RandomValuesHaveTheirMean) {
  MXRandomSeed(3);
  NDArray a(Shape(10000), kHost);
  NDArray::SampleGaussian(1, 2, &a);
  double sum = 0, squares = 0;
  for (float v : Read(a)) sum += v, squares += (v - 1) * (v - 1);
  EXPECT_NEAR(sum / 10000, 1, 0.1);
  EXPECT_NEAR(squares / 10000, 4, 0.3);
  NDArray::SampleUniform(2, 3, &a);
  for (float v : Read(a)) ASSERT_TRUE(v >= 2 && v <= 3);
}

TEST(FrontEndArray, Files) {
  const std::string file = TemporaryFile("named.params");
  NDArray::Save(file, std::map<std::string, NDArray>{{"arg:w", Matrix()}, {"aux:m", Matrix() * 2}});
  EXPECT_EQ(Read(NDArray::LoadToMap(file)["aux:m"]), Values({2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(NDArray::LoadToList(file).size(), 2u);
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_EQ(Read(NDArray::LoadFromBufferToMap(bytes.data(), bytes.size())["arg:w"]), Read(Matrix()));
  EXPECT_EQ(NDArray::LoadFromBufferToList(bytes.data(), bytes.size()).size(), 2u);
  NDArray::Save(file, std::vector<NDArray>{Matrix()});
  EXPECT_TRUE(NDArray::LoadToMap(file).empty());
  std::remove(file.c_str());
  EXPECT_NE(Said([&] { NDArray::LoadToMap(file); }).find(file), std::string::npos);
}

TEST(FrontEndSymbol, ArithmeticMatchesArrays) {
  const Symbol x("x"), y("y");
  Symbol z = 2 - (x + y) * 3 / (1 + x) % 4 - 6 / y;
  std::map<std::string, NDArray> args{{"x", Matrix()}, {"y", Matrix() + 1}};
  std::unique_ptr<Executor> exec(z.SimpleBind(kHost, args));
  exec->Forward(false);
  const NDArray a = args["x"], b = args["y"];
  const NDArray expected = ((a + b) * 3 / (a + 1) % 4) * -1 + 2 - (b * 0 + 6) / b;
  EXPECT_EQ(Read(exec->outputs[0]), Read(expected));
  EXPECT_EQ(z.ListArguments(), Names({"x", "y"}));
}

TEST(FrontEndSymbol, NamesAndAttributes) {
  Symbol x = Symbol::Variable("x");
  Symbol fc = FullyConnected("fc1", x, Symbol(), Symbol(), 4);
  EXPECT_EQ(fc.ListArguments(), Names({"x", "fc1_weight", "fc1_bias"}));
  EXPECT_EQ(fc.ListOutputs(), Names({"fc1_output"}));
  Symbol bn = BatchNorm("bn", fc, Symbol(), Symbol(), Symbol(), Symbol());
  EXPECT_EQ(bn.ListAuxiliaryStates(), Names({"bn_moving_mean", "bn_moving_var"}));
  bn.SetAttributes({{"__lr_mult__", "2"}, {"__wd_mult__", "3"}});
  EXPECT_EQ(bn.ListAttributes()["__wd_mult__"], "3");
  EXPECT_EQ(bn.ListAllAttributes()["fc1$num_hidden"], "4");
  Symbol group = Symbol::Group({x, bn});
  EXPECT_EQ(group[1].GetName(), "bn");
  EXPECT_EQ(group["x"].GetName(), "x");
  EXPECT_EQ(group.GetName(), "");
  EXPECT_EQ(Said([&] { bn["fc1_output"]; }), "[Symbol] got the output 'fc1_output'; accepted: bn_output");
  EXPECT_EQ(bn.GetInternals()["fc1_output"].ListArguments().size(), 3u);
  EXPECT_EQ(Symbol::LoadJSON(bn.ToJSON()).ToJSON(), bn.ToJSON());
  const Symbol twice = fc(std::map<std::string, Symbol>{{"x", Symbol("y") * 2}});
  EXPECT_EQ(twice.ListArguments(), Names({"y", "fc1_weight", "fc1_bias"}));
  EXPECT_NE(Said([] { Symbol().ListArguments(); }), "nothing");
}

TEST(FrontEndSymbol, NodesWithoutNamesGetOneEach) {
  const Symbol a = FullyConnected(Symbol("x"), Symbol(), Symbol(), 4), b = FullyConnected(a, Symbol(), Symbol(), 4);
  const Names names = b.ListArguments();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 5u);
  EXPECT_EQ(a.GetName().compare(0, 14, "fullyconnected"), 0);
}

TEST(FrontEndSymbol, Shapes) {
  Symbol fc = FullyConnected("fc", Symbol("x"), Symbol("w"), Symbol("b"), 4);
  std::vector<std::vector<mx_uint>> in, aux, out;
  fc.InferShape({{"x", {5, 3}}}, &in, &aux, &out);
  EXPECT_EQ(in[1], std::vector<mx_uint>({4, 3}));
  EXPECT_EQ(out[0], std::vector<mx_uint>({5, 4}));
  EXPECT_EQ(Said([&] { fc.InferShape({}, &in, &aux, &out); }), "[Symbol::InferShape] the shapes given do not determine that of x, w");
  std::map<std::string, NDArray> args{{"x", NDArray(Shape(5, 3), kHost)}};
  fc.InferArgsMap(kHost, &args, args);
  EXPECT_EQ(args["w"].Size(), 12u);
}

TEST(FrontEndOperators, GeneratedOnes) {
  const Symbol x("x");
  EXPECT_EQ(Concat("c", {x, Symbol("y")}, 2, 0).ListAttributes()["dim"], "0");
  EXPECT_EQ(ElementWiseSum("s", {x, x, x}).ListArguments(), Names({"x"}));
  EXPECT_EQ(topk("t", x, dmlc::optional<int>()).ListAttributes()["axis"], "None");
  EXPECT_EQ(topk("t", x).ListAttributes()["axis"], "-1");
  EXPECT_EQ(slice_axis("t", x, 0, 1, dmlc::optional<int64_t>()).ListAttributes()["end"], "None");
  EXPECT_EQ(slice_axis("t", x, 0, 1, dmlc::optional<int>(5)).ListAttributes()["end"], "5");
  EXPECT_EQ(log_softmax("l", x, 1).ListAttributes()["axis"], "1");
  EXPECT_EQ(softmin(x).ListArguments().size(), 1u);
  EXPECT_EQ(khatri_rao("k", {x, x}).ListAttributes()["num_args"], "2");
  EXPECT_EQ(BatchNorm_v1("b", x, Symbol(), Symbol(), 0.25f).ListAttributes()["eps"], "0.25");
  EXPECT_EQ(IdentityAttachKLSparseReg("i", x, 0.25f).ListAttributes()["sparseness_target"], "0.25");
  EXPECT_EQ(Pooling("p", x, Shape(2, 2), PoolingPoolType::kAvg).ListAttributes()["pool_type"], "avg");
  EXPECT_EQ(Reshape("r", x, Shape(-1, 0)).ListAttributes()["shape"], "(-1,0,)");
  EXPECT_EQ(cast("k", x, CastDtype::kFloat16).ListAttributes()["dtype"], "float16");
  EXPECT_EQ(Activation("a", x, "tanh").ListAttributes()["act_type"], "tanh");
  EXPECT_EQ(_MaximumScalar(x, 2.5f).ListAttributes()["scalar"], "2.5");
  EXPECT_NE(Said([&] { Activation("a", x, "none"); }).find("none"), std::string::npos);
}

TEST(FrontEndOperators, ByName) {
  const NDArray a = Matrix();
  EXPECT_EQ(Read(Operator("_plus")(a, a).Invoke()[0]), Read(a * 2));
  EXPECT_EQ(Read(Operator("slice_axis")(a, 1, 0, 2).Invoke()[0]), Values({1, 2, 4, 5}));
  NDArray out(Shape(2, 3), kHost);
  Operator("_plus_scalar")(a, 2.5f).Invoke(out);
  EXPECT_EQ(Read(out), Read(a + 2.5f));
  Operator dense("FullyConnected");
  dense.SetInput("weight", NDArray({1, 1, 1}, Shape(1, 3), kHost)).SetInput("data", a);
  EXPECT_EQ(Read(dense.SetParam("num_hidden", 1).SetParam("no_bias", true).Invoke()[0]), Values({6, 15}));
  NDArray empty;
  Operator("tile").SetParam("reps", Shape(1, 2))(a).Invoke(empty);
  EXPECT_EQ(empty.GetShape(), std::vector<mx_uint>({2, 6}));
  EXPECT_EQ(Read(Operator("concat")(std::vector<NDArray>{a, a}).SetParam("dim", 1).Invoke()[0]).size(), 12u);
  EXPECT_NE(Said([] { Operator("no_such_operator").CreateSymbol("x"); }).find("no_such_operator"), std::string::npos);
  EXPECT_EQ(Said([&] { Operator("_plus")(a, a, 1); }), "[Operator] _plus has no argument number 2; accepted: 0 to 1");
}

TEST(FrontEndOperators, NumbersDoNotDependOnTheLocale) {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  EXPECT_EQ((Symbol("x") * 0.5f).ListAttributes()["scalar"], "0.5");
  EXPECT_EQ(Read(Matrix() * 0.5f)[0], 0.5f);
  std::locale::global(before);
  EXPECT_EQ(_MulScalar(Symbol("x"), 0.1f).ListAttributes()["scalar"], "0.1");
  EXPECT_EQ(_MulScalar(Symbol("x"), 1.f / 3).ListAttributes()["scalar"], "0.33333334");
}

TEST(FrontEndExecutor, BackwardAndDictionaries) {
  Symbol fc = FullyConnected("fc", Symbol("x"), Symbol("w"), Symbol("b"), 2);
  std::map<std::string, NDArray> args{{"x", Matrix()}, {"w", Matrix()}, {"b", NDArray(Values({1, 2}))}};
  std::unique_ptr<Executor> exec(fc.SimpleBind(kHost, args, {}, {{"x", kNullOp}, {"b", kAddTo}}));
  exec->Forward(true);
  EXPECT_EQ(Read(exec->outputs[0]), Values({15, 34, 33, 79}));
  const NDArray ones({1, 1, 1, 1}, Shape(2, 2), kHost);
  exec->Backward({ones});
  exec->Backward({ones});
  EXPECT_EQ(Read(exec->grad_dict()["w"]), Values({5, 7, 9, 5, 7, 9}));
  EXPECT_EQ(Read(exec->grad_dict()["b"]), Values({4, 4}));
  EXPECT_EQ(Read(exec->grad_dict()["x"]), Values(6, 0));
  EXPECT_EQ(Read(exec->arg_dict()["b"]), Values({1, 2}));
  EXPECT_NE(exec->DebugStr().find("fc"), std::string::npos);
  EXPECT_EQ(exec->GetOptimizedSymbol().ListArguments().size(), 3u);
}

TEST(FrontEndExecutor, ReshapeSharesParameters) {
  Symbol fc = FullyConnected("fc", Symbol("data"), Symbol("w"), Symbol("b"), 2);
  std::map<std::string, NDArray> args{{"data", Matrix()}, {"w", Matrix()}, {"b", NDArray(Values({0, 0}))}};
  std::unique_ptr<Executor> exec(fc.SimpleBind(kHost, args));
  std::unique_ptr<Executor> one(exec->Reshape({{"data", {1, 3}}}));
  args["w"] *= 2;
  one->arg_dict()["data"].SyncCopyFromCPU(Values({1, 0, 0}));
  one->Forward(false);
  EXPECT_EQ(Read(one->outputs[0]), Values({2, 8}));
  EXPECT_EQ(one->arg_dict().size(), 3u);
}

TEST(FrontEndExecutor, FirstValues) {
  Symbol bn = BatchNorm("bn", Symbol("data"), Symbol(), Symbol(), Symbol(), Symbol());
  std::unique_ptr<Executor> exec(bn.SimpleBind(kHost, {{"data", Matrix()}}));
  EXPECT_EQ(Read(exec->aux_dict()["bn_moving_var"]), Values(3, 1));
  EXPECT_EQ(Read(exec->aux_dict()["bn_moving_mean"]), Values(3, 0));
  EXPECT_NE(Said([&] { Executor(bn, kHost, {Matrix()}, {}, {}, {}); }).find("accepted: equally many"), std::string::npos);
}

TEST(FrontEndExecutor, ErrorsOfKernelsComeWithTheWait) {
  NDArray ids(Values({7}));
  Symbol embedding = Embedding("e", Symbol("data"), Symbol("w"), 2, 3);
  EXPECT_EQ(Said([] { throw dmlc::Error("text"); }), "text");
  EXPECT_EQ(Said([&] {
              std::unique_ptr<Executor> exec(embedding.SimpleBind(kHost, {{"data", ids}}));
              exec->Forward(false);
              exec->outputs[0].WaitToRead();
            }),
            "nothing")
      << "Embedding clips what is out of range";
  CHECK_EQ(1, 1) << "not thrown";
  EXPECT_NE(Said([] { CHECK_LT(2, 1) << "because"; }).find("Check failed: 2 < 1 (2 vs. 1) : because"), std::string::npos);
  if (ids.Size() == 1)
    CHECK(true) << "an else below belongs to the if";
  else
    FAIL();
}

TEST(FrontEndTypes, Texts) {
  std::istringstream in("(3, 4) [5] 6");
  Shape a, b, c;
  in >> a >> b >> c;
  EXPECT_EQ(a, Shape(3, 4));
  EXPECT_EQ(b, Shape(5));
  EXPECT_EQ(c, Shape(6));
  std::ostringstream out;
  out << a << b << dmlc::optional<int>() << dmlc::optional<Shape>(a) << nnvm::Tuple<int>{1, 2};
  EXPECT_EQ(out.str(), "(3,4)(5,)None(3,4)(1,2)");
  EXPECT_EQ(a.Size(), 12u);
  EXPECT_NE(Said([] { *dmlc::optional<int>(); }), "nothing");
}

}  // namespace
}  // namespace cpp
}  // namespace mxnet
