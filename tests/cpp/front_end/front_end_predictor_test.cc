// mxnet/predictor.hpp as programs use it, and that it stands on the C interface alone.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "mxnet-cpp/MxNetCpp.h"
#include "mxnet/predictor.hpp"

namespace {

using mxnet::Predictor;
using mxnet::Tensor;

/* The contents of the two files of x -> W x + b, W = 1, b = 0.5, `units` results. */
struct Files {
  std::string json, params;
};

std::string Saved(const std::map<std::string, mxnet::cpp::NDArray>& arrays) {
  const std::string path = testing::TempDir() + "predictor.params";
  mxnet::cpp::NDArray::Save(path, arrays);
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

Files Dense(int units = 2, int features = 3) {
  using namespace mxnet::cpp;  // NOLINT
  Symbol net = FullyConnected("fc", Symbol("data"), Symbol("fc_weight"), Symbol("fc_bias"), units);
  NDArray weight(Shape(units, features), Context::cpu(), false), bias(Shape(units), Context::cpu(), false);
  weight = 1.0f;
  bias = 0.5f;
  return {net.ToJSON(), Saved({{"arg:fc_weight", weight}, {"arg:fc_bias", bias}})};
}

Predictor Load(const Files& files, int threads = 1, size_t kept = 8) {
  Predictor::Options options;
  options.threads = threads;
  options.kept_shapes = kept;
  return Predictor::FromMemory(files.json, files.params, options);
}

std::string MessageOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Predictor, FiveLines) {
  const Files files = Dense();
  const std::string symbol = testing::TempDir() + "p-symbol.json", params = testing::TempDir() + "p-0000.params";
  std::ofstream(symbol) << files.json;
  std::ofstream(params, std::ios::binary) << files.params;
  Predictor predict(symbol, params);
  const Tensor y = predict(Tensor({1, 3}, {1, 2, 3}));
  EXPECT_EQ(y.shape, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(y.data, (std::vector<float>{6.5f, 6.5f}));
  EXPECT_EQ(predict.inputs(), std::vector<std::string>{"data"});
  EXPECT_EQ(predict.outputs(), std::vector<std::string>{"fc_output"});
}

TEST(Predictor, ShapesChangeBetweenCalls) {
  Predictor predict = Load(Dense(), 1, 2);
  for (int round = 0; round < 3; ++round)
    for (uint32_t rows : {1u, 4u, 2u, 7u}) {
      const Tensor y = predict(Tensor({rows, 3}, std::vector<float>(rows * 3, 1.0f)));
      EXPECT_EQ(y.shape[0], rows);
      EXPECT_EQ(y.data, std::vector<float>(rows * 2, 3.5f));
    }
}

TEST(Predictor, BatchesOfSamples) {
  Predictor predict = Load(Dense(1, 2));
  predict.Prepare({{"data", {3, 2}}});
  const std::string plan = predict.Explain({{"data", {3, 2}}}, 1);
  EXPECT_NE(plan.find("\"implementation\": \""), std::string::npos) << plan;
  EXPECT_EQ(predict.Explain({{"data", {3, 2}}}, 0).find("\"implementation\": \""), std::string::npos);
  const std::vector<Tensor> y = predict.Batch({Tensor({2}, {1, 2}), Tensor({2}, {3, 4}), Tensor({2}, {5, 6})});
  ASSERT_EQ(y.size(), 3u);
  EXPECT_EQ(y[2].data, std::vector<float>{11.5f});
  EXPECT_EQ(y[0].shape, std::vector<uint32_t>{1});
  EXPECT_TRUE(predict.Batch({}).empty());
  EXPECT_NE(MessageOf([&] { predict.Batch({Tensor({2}), Tensor({1})}); }).find("different shapes"), std::string::npos);
}

TEST(Predictor, ManyThreadsOfSeveralShapes) {
  Predictor predict = Load(Dense(), 3, 2);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 40; ++i) {
        const uint32_t rows = static_cast<uint32_t>(1 + (t + i / 10) % 3);
        const float value = static_cast<float>(t * 100 + i);
        const Tensor y = predict(Tensor({rows, 3}, std::vector<float>(rows * 3, value)));
        if (y.data != std::vector<float>(rows * 2, 3 * value + 0.5f)) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Predictor, SeveralInputsAndOutputs) {
  using namespace mxnet::cpp;  // NOLINT
  Symbol a("a"), b("b");
  const Symbol sum = a + b, product = a * b;
  Predictor predict = Load({Symbol::Group({sum, product}).ToJSON(), ""});
  EXPECT_EQ(predict.inputs(), (std::vector<std::string>{"a", "b"}));
  const std::vector<Tensor> y = predict({{"a", Tensor({2}, {1, 2})}, {"b", Tensor({2}, {3, 4})}});
  EXPECT_EQ(y[0].data, (std::vector<float>{4, 6}));
  EXPECT_EQ(y[1].data, (std::vector<float>{3, 8}));
  EXPECT_NE(MessageOf([&] { predict(Tensor({2})); }).find("a, b"), std::string::npos);
  EXPECT_NE(MessageOf([&] { predict({{"a", Tensor({2})}}); }).find("nothing for input b"), std::string::npos);
}

TEST(Predictor, LabelsAreNoInputs) {
  using namespace mxnet::cpp;  // NOLINT
  Symbol net = SoftmaxOutput("softmax", Symbol("data"), Symbol("softmax_label"));
  Predictor predict = Load({net.ToJSON(), ""});
  EXPECT_EQ(predict.inputs(), std::vector<std::string>{"data"});
  EXPECT_EQ(predict(Tensor({1, 2}, {0, 0})).data, (std::vector<float>{0.5f, 0.5f}));
}

TEST(Predictor, OtherDtypesThanFloat32) {
  using namespace mxnet::cpp;  // NOLINT
  for (const char* dtype : {"float16", "float64", "int32", "uint8", "int64", "int8"}) {
    Symbol net = Operator("Cast").SetParam("dtype", dtype).SetInput("data", Symbol("data")).CreateSymbol("cast");
    EXPECT_EQ(Load({net.ToJSON(), ""})(Tensor({3}, {0, 7, 100})).data, (std::vector<float>{0, 7, 100})) << dtype;
  }
  // A network whose parameters have 16 bits takes such inputs.
  NDArray weight(Shape(4), Context::cpu(), false), half;
  weight = 2.0f;
  half = Operator("Cast").SetParam("dtype", "float16").SetInput("data", weight).Invoke()[0];
  const std::string params = Saved({{"arg:w", half}});
  Predictor predict = Load({(Symbol("data") * Symbol("w")).ToJSON(), params});
  const Tensor y = predict(Tensor({4}, {1.0f / 3, 6.1e-5f, 40000, -NAN}));
  EXPECT_EQ(y.data[0], 0.66650390625f);
  EXPECT_NEAR(y.data[1], 1.22e-4f, 1e-7f);
  EXPECT_TRUE(std::isinf(y.data[2]));
  EXPECT_TRUE(std::isnan(y.data[3]));
}

/* A field of bytes in protobuf's wire format; shorter than 128. */
std::string Field(int number, const std::string& bytes) {
  return std::string({static_cast<char>(number * 8 + 2), static_cast<char>(bytes.size())}) + bytes;
}

/* An ONNX file of y = Relu(x), x of shape (n, 3); `dtype` as the format numbers them. */
std::string OnnxFile(char dtype) {
  const std::string node = Field(1, "x") + Field(2, "y") + Field(4, "Relu"), free = Field(1, Field(2, "n")), three = Field(1, "\x08\x03");
  const std::string type = Field(1, std::string({8, dtype}) + Field(2, free + three)),
                    graph = Field(1, node) + Field(11, Field(1, "x") + Field(2, type)) + Field(12, Field(1, "y"));
  const std::string path = testing::TempDir() + "relu.onnx";
  std::ofstream(path, std::ios::binary) << "\x08\x08" + Field(7, graph) + Field(8, "\x10\x0e");
  return path;
}

TEST(Predictor, OnnxModels) {
  for (const char dtype : {1, 11, 10, 6, 7}) {  // float32, float64, float16, int32, int64
    const Predictor predict(OnnxFile(dtype));
    EXPECT_EQ(predict.inputs(), std::vector<std::string>{"x"});
    EXPECT_EQ(predict.outputs(), std::vector<std::string>{"y"});
    EXPECT_EQ(predict(Tensor({1, 3}, {-1, 0, 2})).data, (std::vector<float>{0, 0, 2})) << int{dtype};
    const Tensor y = predict({{"x", Tensor({2, 3}, {-1, 0, 2, 3, -4, 5})}})[0];
    EXPECT_EQ(y.shape, (std::vector<uint32_t>{2, 3}));
    EXPECT_EQ(y.data, (std::vector<float>{0, 0, 2, 3, 0, 5}));
    predict.Prepare({{"x", {5, 3}}});
    EXPECT_NE(predict.Explain({{"x", {5, 3}}}, 1).find("\"implementation\": \""), std::string::npos);
    EXPECT_EQ(predict.Batch({Tensor({3}, {1, -1, 0}), Tensor({3}, {-2, 2, 0})})[1].data, (std::vector<float>{0, 2, 0}));
  }
}

TEST(Predictor, OnnxModelsInAnotherPrecision) {
  Predictor::Options options;
  options.precision = Predictor::Precision::kBfloat16;
  const Predictor predict(OnnxFile(1), options);
  EXPECT_EQ(predict(Tensor({1, 3}, {1, -2, 3})).data, (std::vector<float>{1, 0, 3}));
  EXPECT_NE(MessageOf([&] { Predictor::FromMemory("{}", "", options); }).find("[Predictor] precision"), std::string::npos);
}

TEST(Predictor, ErrorsOfOnnxModels) {
  EXPECT_NE(MessageOf([] { Predictor("/no/such.onnx"); }).find("[onnx] cannot open /no/such.onnx"), std::string::npos);
  const Predictor predict(OnnxFile(1));
  EXPECT_NE(MessageOf([&] { predict(Tensor({1, 4})); }).find("input x has shape (1,4); accepted: float32 (n, 3)"), std::string::npos);
  EXPECT_NE(MessageOf([&] { predict({{"z", Tensor({1, 3})}}); }).find("no input z; accepted: x"), std::string::npos);
  const Predictor odd(OnnxFile(16));
  EXPECT_NE(MessageOf([&] { odd(Tensor({1, 3})); }).find("accepted: floats but bfloat16"), std::string::npos);
}

/* What `contents` is, given as a model, as a network and as parameters. */
void ExpectRefusal(const std::string& contents, const std::string& words) {
  const std::string path = testing::TempDir() + "other", symbol = testing::TempDir() + "other-symbol.json";
  std::ofstream(path, std::ios::binary) << contents;
  std::ofstream(symbol) << Dense().json;
  for (const std::string& message : {MessageOf([&] { Predictor predict(path); }), MessageOf([&] { Predictor(path, path); }), MessageOf([&] {
                                       Predictor(symbol, path)(Tensor({1, 3}));
                                     })})
    EXPECT_NE(message.find("other is " + words), std::string::npos) << message;
}

TEST(Predictor, FilesOfOtherPrograms) {
  const std::string zeros(300, '\0'), entry("PK\x01\x02" + zeros.substr(0, 24) + std::string("\x08\0\0\0\0\0", 6) + zeros.substr(0, 12));
  const auto archive = [&](const std::string& name) {  // of eight letters
    const std::string list = entry + name;
    return "PK\x03\x04" + list + "PK\x05\x06" + zeros.substr(0, 8) + static_cast<char>(list.size()) + zeros.substr(0, 3) + '\x04' +
           zeros.substr(0, 5);
  };
  ExpectRefusal(archive("data.pkl"), "a PyTorch file (.pt, .pth or .bin): it has weights and no network: export the model to ONNX");
  ExpectRefusal(archive("code/a.p"), "a zip archive: unpack it first");
  ExpectRefusal(std::string("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 15) + zeros, "a PyTorch file of the form before version 1.6");
  ExpectRefusal(std::string("\x08\0\0\0\0\0\0\0{}      ", 16), "a safetensors file: it has weights and no network");
  ExpectRefusal(std::string("\x18\0\0\0ORTM", 8) + zeros,
                "an ONNX Runtime file (.ort), which that runtime made of an ONNX model for itself");
  ExpectRefusal(std::string("\x1c\0\0\0TFL3", 8) + zeros, "a TensorFlow Lite model: convert it to ONNX where TensorFlow runs");
  ExpectRefusal("\x89HDF\r\n\x1a\n" + zeros, "an HDF5 file (.h5), as Keras writes: convert it");
  ExpectRefusal(std::string("\x0a\x10\x0a\x01x\x12\x0bPlaceholder\x22\0", 20), "a graph of TensorFlow (.pb): convert it");
  ExpectRefusal("\x1f\x8b" + zeros, "compressed by gzip (a .gz or .tar.gz): unpack it first");
  EXPECT_NE(MessageOf([] { Predictor predict(testing::TempDir()); }).find("is a folder: give the path of a file in it"), std::string::npos);
  EXPECT_NE(MessageOf([] { Predictor(testing::TempDir(), ""); }).find("is a folder: give"), std::string::npos);
  const std::string path = testing::TempDir() + "whole.params";
  std::ofstream(path, std::ios::binary) << Dense().params;
  EXPECT_NE(MessageOf([&] { Predictor predict(path); }).find("open it together with its network: Predictor(\"NAME-symbol.json\", path)"),
            std::string::npos);
  std::ofstream(path, std::ios::binary | std::ios::trunc).close();
  EXPECT_NE(MessageOf([&] { Predictor predict(path); }).find("is an empty file: whatever wrote it was interrupted"), std::string::npos);
}

TEST(Predictor, ErrorsAreExceptions) {
  const Files files = Dense();
  EXPECT_EQ(MessageOf([] { Predictor("/no/such.json", "/no/such.params"); }), "[Predictor] cannot read /no/such.json");
  EXPECT_NE(MessageOf([&] { Load({"{", ""}); }).find("malformed JSON"), std::string::npos);
  EXPECT_NE(MessageOf([&] { Load({files.json, "damaged"}); }), "no error");
  EXPECT_NE(MessageOf([&] { Load(files, 0); }).find("accepted: 1 to 4096"), std::string::npos);
  EXPECT_NE(MessageOf([&] { Load(files)(Tensor({1, 4})); }).find("[FullyConnected]"), std::string::npos);
  EXPECT_NE(MessageOf([&] { Load(files)({{"data", Tensor({1, 3})}, {"other", Tensor({1})}}); }).find("other"), std::string::npos);
  Predictor::Options gpu;
  gpu.device = Predictor::Device::kGpu;
  gpu.device_id = 99;
  EXPECT_NE(MessageOf([&] { Predictor::FromMemory(files.json, files.params, gpu)(Tensor({1, 3})); }), "no error");
  EXPECT_THROW(Tensor({2, 2}, {1}), std::invalid_argument);
  EXPECT_THROW(Tensor({70000, 70000}), std::length_error);
  Predictor predict = Load(files);
  EXPECT_NE(MessageOf([&] { predict(Tensor({1, 5})); }), "no error");
  EXPECT_EQ(predict(Tensor({1, 3})).data[0], 0.5f);  // a failed call leaves it usable
}

TEST(Predictor, IsMoved) {
  Predictor first = Load(Dense());
  first(Tensor({1, 3}));
  Predictor second = std::move(first);
  EXPECT_EQ(second(Tensor({1, 3})).data[0], 0.5f);
}

}  // namespace
