/*
 * First values of parameters. An initializer is called with a name and an array, and the end of the
 * name decides: biases, betas and moving means are zeros, gammas and moving variances ones, and
 * weights have what the class says.
 */
#ifndef MXNET_CPP_INITIALIZER_H_
#define MXNET_CPP_INITIALIZER_H_

#include <cmath>
#include <string>
#include <vector>

#include "mxnet-cpp/symbol.h"

namespace mxnet {
namespace cpp {

class Initializer {
 public:
  virtual ~Initializer() {}
  static bool StringStartWith(const std::string& name, const std::string& check_str) {
    return name.compare(0, check_str.size(), check_str) == 0;
  }
  static bool StringEndWith(const std::string& name, const std::string& check_str) { return front_end::EndsWith(name, check_str); }
  virtual void operator()(const std::string& name, NDArray* arr) {
    if (StringStartWith(name, "upsampling")) {
      InitBilinear(arr);
    } else if (StringEndWith(name, "bias")) {
      InitBias(arr);
    } else if (StringEndWith(name, "gamma")) {
      InitGamma(arr);
    } else if (StringEndWith(name, "beta")) {
      InitBeta(arr);
    } else if (StringEndWith(name, "weight")) {
      InitWeight(arr);
    } else if (StringEndWith(name, "moving_var")) {
      InitOne(arr);
    } else if (StringEndWith(name, "moving_mean") || StringEndWith(name, "moving_inv_var") || StringEndWith(name, "moving_avg")) {
      InitZero(arr);
    } else {
      InitDefault(arr);
    }
  }

 protected:
  /* Weights of a layer that enlarges images, by linear interpolation. */
  virtual void InitBilinear(NDArray* arr) {
    const Shape shape(arr->GetShape());
    MXNET_CPP_NEED(shape.ndim() >= 2) << "[Bilinear] got an array of shape " << shape << "; accepted: 2 axes or more";
    const size_t rows = shape[shape.ndim() - 2], columns = shape[shape.ndim() - 1];
    const double half = std::ceil(static_cast<double>(columns) / 2);
    const double centre = (2 * half - 1 - std::fmod(half, 2)) / (2 * half);
    std::vector<mx_float> values(shape.Size());
    for (size_t i = 0; i < values.size(); ++i) {
      const double x = static_cast<double>(i % columns), y = static_cast<double>(i / columns % rows);
      values[i] = static_cast<mx_float>((1 - std::fabs(x / half - centre)) * (1 - std::fabs(y / half - centre)));
    }
    arr->SyncCopyFromCPU(values);
  }
  virtual void InitZero(NDArray* arr) { (*arr) = 0.0f; }
  virtual void InitOne(NDArray* arr) { (*arr) = 1.0f; }
  virtual void InitBias(NDArray* arr) { (*arr) = 0.0f; }
  virtual void InitGamma(NDArray* arr) { (*arr) = 1.0f; }
  virtual void InitBeta(NDArray* arr) { (*arr) = 0.0f; }
  virtual void InitWeight(NDArray*) {}
  virtual void InitDefault(NDArray*) {}
};

class Constant : public Initializer {
 public:
  explicit Constant(float value) : value(value) {}
  void operator()(const std::string&, NDArray* arr) override { (*arr) = value; }

 protected:
  float value;
};
class Zero : public Constant {
 public:
  Zero() : Constant(0.0f) {}
};
class One : public Constant {
 public:
  One() : Constant(1.0f) {}
};

class Uniform : public Initializer {
 public:
  explicit Uniform(float scale) : Uniform(-scale, scale) {}
  Uniform(float begin, float end) : begin(begin), end(end) {}
  void operator()(const std::string&, NDArray* arr) override { NDArray::SampleUniform(begin, end, arr); }

 protected:
  float begin, end;
};
class Normal : public Initializer {
 public:
  Normal(float mu, float sigma) : mu(mu), sigma(sigma) {}
  void operator()(const std::string&, NDArray* arr) override { NDArray::SampleGaussian(mu, sigma, arr); }

 protected:
  float mu, sigma;
};
class Bilinear : public Initializer {
 public:
  Bilinear() {}
  void operator()(const std::string&, NDArray* arr) override { InitBilinear(arr); }
};

/*
 * Keeps the size of signals about the same from layer to layer (Glorot and Bengio, AISTATS 2010).
 * The spread is sqrt(magnitude / fan), where the fan counts a unit's inputs, outputs, or their
 * mean.
 */
class Xavier : public Initializer {
 public:
  enum RandType { gaussian, uniform };
  enum FactorType { avg, in, out };
  explicit Xavier(RandType rand_type = gaussian, FactorType factor_type = avg, float magnitude = 3)
      : rand_type(rand_type), factor_type(factor_type), magnitude(magnitude) {}

 protected:
  void InitWeight(NDArray* arr) override {
    const Shape shape(arr->GetShape());
    MXNET_CPP_NEED(shape.ndim() >= 2) << "[Xavier] got a weight of shape " << shape << "; accepted: 2 axes or more";
    float window = 1;
    for (index_t i = 2; i < shape.ndim(); ++i) window *= static_cast<float>(shape[i]);
    const float fan_in = static_cast<float>(shape[1]) * window, fan_out = static_cast<float>(shape[0]) * window;
    const float factor = factor_type == avg ? (fan_in + fan_out) / 2 : factor_type == in ? fan_in : fan_out;
    const float scale = std::sqrt(magnitude / factor);
    if (rand_type == uniform) {
      NDArray::SampleUniform(-scale, scale, arr);
    } else {
      NDArray::SampleGaussian(0, scale, arr);
    }
  }
  /* Names that say nothing: matrices and kernels are weights, lists biases. */
  void InitDefault(NDArray* arr) override {
    if (arr->GetShape().size() >= 2) {
      InitWeight(arr);
    } else {
      InitZero(arr);
    }
  }

  RandType rand_type;
  FactorType factor_type;
  float magnitude;
};

/* For layers that are followed by leaky rectifiers of this slope (He et al., ICCV 2015). */
class MSRAPrelu : public Xavier {
 public:
  explicit MSRAPrelu(FactorType factor_type = avg, float slope = 0.25f) : Xavier(gaussian, factor_type, 2.f / (1 + slope * slope)) {}
};

}  // namespace cpp
}  // namespace mxnet
#endif  // MXNET_CPP_INITIALIZER_H_
