// Support vector machines.
#include "onnx/convert/trees/tree_svm.h"

#include <algorithm>
#include <cmath>

namespace mxnet {
namespace onnx {

Machine ReadMachine(const Call& c) {
  Machine m;
  m.kernel = c.Attr("kernel_type", "LINEAR");
  OneOf(c, "kernel_type", m.kernel, {"LINEAR", "POLY", "RBF", "SIGMOID"});
  const std::vector<float> params = c.Attr("kernel_params", std::vector<float>{});
  if (params.size() >= 3) m.gamma = params[0], m.coef0 = params[1], m.degree = params[2];
  m.coefficients = c.Attr("coefficients", std::vector<float>{});
  m.vectors = c.Attr("support_vectors", std::vector<float>{});
  m.rho = c.Attr("rho", std::vector<float>{});
  m.chance_a = c.Attr("prob_a", std::vector<float>{}), m.chance_b = c.Attr("prob_b", std::vector<float>{});
  m.per_class = c.Attr("vectors_per_class", std::vector<int64_t>{});
  for (int64_t n : m.per_class)
    if (n < 0 || n > (int64_t{1} << 40)) c.Refuse("attribute vectors_per_class is " + Text(m.per_class));
  if (m.coefficients.empty() || m.rho.empty()) c.Refuse("attributes coefficients or rho are empty");
  return m;
}

void CheckClasses(const Call& c, const Machine& m, int64_t classes) {
  const int64_t pairs = classes * (classes - 1) / 2;
  if (static_cast<int64_t>(m.per_class.size()) != classes)
    c.Refuse("attribute vectors_per_class is " + Text(m.per_class) + " for " + Text(classes) + " labels");
  if (static_cast<int64_t>(m.rho.size()) < pairs)
    c.Refuse("attribute rho has " + Text(static_cast<int64_t>(m.rho.size())) + " numbers for " + Text(pairs) + " pairs of classes");
  if (static_cast<int64_t>(m.coefficients.size()) != (classes - 1) * m.count())
    c.Refuse("attribute coefficients has " + Text(static_cast<int64_t>(m.coefficients.size())) + " numbers");
}

namespace {

Value Matrix(const Call& c, const std::vector<float>& numbers, int64_t rows, int64_t columns, int dtype, const char* what) {
  if (rows < 0 || columns < 0 || static_cast<int64_t>(numbers.size()) != rows * columns)
    c.Refuse(std::string("attribute ") + what + " has " + Text(static_cast<int64_t>(numbers.size())) + " numbers; expected are " +
             Text(rows) + " x " + Text(columns));
  return c.Cast(c.Tensor(Shape{rows, columns}, kFloat32, numbers.data()), dtype);
}

/* (examples, vectors) */
Value Kernel(const Call& c, const Machine& m, const std::string& kernel, const Value& x, const Value& vectors) {
  if (kernel == "RBF") {  // sums of squares of differences, exact where they are small
    const Value apart =
        Sub(c, c.Reshape(x, Shape{x.shape()[0], 1, x.shape()[1]}), c.Reshape(vectors, Shape{1, vectors.shape()[0], x.shape()[1]}));
    return Unary(c, "exp", MulNumber(c, Sum(c, Mul(c, apart, apart), {2}, false), -m.gamma));
  }
  const Value dots = Dense(c, x, vectors);
  if (kernel == "LINEAR") return dots;
  const Value scaled = AddNumber(c, MulNumber(c, dots, m.gamma), m.coef0);
  return kernel == "POLY" ? PowNumber(c, scaled, std::trunc(m.degree)) : Unary(c, "tanh", scaled);
}

Value Column(const Call& c, const Value& x, int64_t i) { return SliceAxis(c, x, 1, static_cast<int>(i), i + 1); }

/* Scores (examples, pairs) of one class against another, and votes (examples, classes). */
struct Pairs {
  Value scores, votes;
};

Pairs OneAgainstOne(const Call& c, const Machine& m, const Value& kernels) {
  const std::vector<int64_t>& per_class = m.per_class;
  const int64_t classes = static_cast<int64_t>(per_class.size()), vectors = kernels.shape()[1], pairs = classes * (classes - 1) / 2;
  std::vector<int64_t> start(1, 0);
  for (int64_t n : per_class) start.push_back(start.back() + n);
  std::vector<float> rows, bias, votes_i(static_cast<size_t>(classes * pairs), 0), votes_j = votes_i;
  int64_t pair = 0;
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      std::vector<float> row(static_cast<size_t>(vectors), 0);
      for (int64_t v = start[static_cast<size_t>(i)]; v < start[static_cast<size_t>(i) + 1]; ++v)
        row[static_cast<size_t>(v)] = m.coefficients[static_cast<size_t>((j - 1) * vectors + v)];
      for (int64_t v = start[static_cast<size_t>(j)]; v < start[static_cast<size_t>(j) + 1]; ++v)
        row[static_cast<size_t>(v)] = m.coefficients[static_cast<size_t>(i * vectors + v)];
      rows.insert(rows.end(), row.begin(), row.end());
      bias.push_back(m.rho[static_cast<size_t>(pair)]);
      votes_i[static_cast<size_t>(i * pairs + pair)] = 1, votes_j[static_cast<size_t>(j * pairs + pair)] = 1;
    }
  const int dtype = kernels.dtype();
  Pairs made;
  made.scores = Add(c, Dense(c, kernels, Matrix(c, rows, pairs, vectors, dtype, "coefficients")), Matrix(c, bias, 1, pairs, dtype, "rho"));
  const Value won = c.Cast(BinaryNumber(c, "greater", made.scores, 0), dtype), lost = AddNumber(c, MulNumber(c, won, -1), 1);
  made.votes = Add(c, Dense(c, won, Matrix(c, votes_i, classes, pairs, dtype, "votes")),
                   Dense(c, lost, Matrix(c, votes_j, classes, pairs, dtype, "votes")));
  return made;
}

}  // namespace

void ConvertSVMRegressor(Call& c) {
  const Machine m = ReadMachine(c);
  const int64_t supports = c.Attr("n_supports", int64_t{0});
  const bool one_class = c.Attr("one_class", int64_t{0}) != 0;
  const Post post = ReadPost(c);
  const Value x = Features(c, 0);
  const int64_t features = x.shape()[1];
  const Value coefficients = Matrix(c, m.coefficients, 1, supports > 0 ? supports : features, x.dtype(), "coefficients");
  const Value kernels =
      supports > 0 ? Kernel(c, m, m.kernel, x, Matrix(c, m.vectors, supports, features, x.dtype(), "support_vectors")) : x;
  Value y = AddNumber(c, Dense(c, kernels, coefficients), m.rho[0]);
  if (one_class) y = AddNumber(c, MulNumber(c, c.Cast(BinaryNumber(c, "greater", y, 0), x.dtype()), 2), -1);
  c.Out(c.Cast(Transformed(c, y, post), kFloat32));
}

void ConvertSVMClassifier(Call& c) {
  const Post post = ReadPost(c);
  const Labels labels = ReadLabels(c, "classlabels_ints");
  if (const auto machine = CoupledOf(c, std::max<int64_t>(1, labels.size()))) {
    const CoupledResult result = RunCoupled(c, *machine, Features(c, 0));
    GiveLabels(c, labels, result.places);
    return c.Out(1, c.Cast(Transformed(c, result.chances, post), kFloat32));
  }
  const Machine m = ReadMachine(c);
  const Value x = Features(c, 0);
  const int64_t features = x.shape()[1], classes = std::max<int64_t>(1, labels.size()), vectors = m.count();
  Value scores, places;
  if (vectors == 0) {
    scores = AddNumber(c, Dense(c, x, Matrix(c, m.coefficients, classes, features, x.dtype(), "coefficients")), m.rho[0]);
    places = c.Op("_npi_argmax", {scores}, {{"axis", "1"}});
  } else {
    CheckClasses(c, m, classes);
    const Value supports = Matrix(c, m.vectors, vectors, features, x.dtype(), "support_vectors");
    const Pairs pairs = OneAgainstOne(c, m, Kernel(c, m, m.kernel, x, supports));
    scores = pairs.scores;
    places = c.Op("_npi_argmax", {pairs.votes}, {{"axis", "1"}});
  }
  GiveLabels(c, labels, places);
  if (scores.shape()[1] == 1 && classes == 2 && post != Post::kProbit)
    scores = Concat(c, {MulNumber(c, Column(c, scores, 0), -1), scores}, 1);
  c.Out(1, c.Cast(Transformed(c, scores, post), kFloat32));
}

}  // namespace onnx
}  // namespace mxnet
