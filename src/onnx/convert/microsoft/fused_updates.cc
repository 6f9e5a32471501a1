// Steps of optimizers, as ai.onnx.preview.training has them: a learning rate, a number of steps,
// then weights, gradients and states, n of each.
#include <cmath>

#include "onnx/convert/neural/norm.h"

namespace mxnet {
namespace onnx {

namespace {

struct Update {
  int64_t n;
  Value rate, steps;  // shape (), of the weights' dtype
};

/* `lists`: of how many lists the inputs behind the first two are. */
Update ReadUpdate(const Call& c, int lists) {
  if (c.num_inputs() <= 2 || (c.num_inputs() - 2) % lists)
    c.Refuse("there are " + Text(c.num_inputs()) + " inputs; accepted are 2 and " + Text(lists) + " for each weight");
  const int dtype = c.in(2).dtype();
  const auto number = [&](int i) {
    if (c.in(i).size() != 1) c.Refuse("input " + Text(i) + " has shape " + Text(c.in(i).shape()) + "; accepted is one element");
    return c.Cast(c.Reshape(c.in(i), Shape(0)), dtype);
  };
  return {(c.num_inputs() - 2) / lists, number(0), number(1)};
}

/* Input i of a list. */
const Value& Of(const Call& c, const Update& u, int list, int64_t i) { return c.in(static_cast<int>(2 + list * u.n + i)); }

void Give(Call& c, const Update& u, int list, int64_t i, const Value& v) { c.Out(static_cast<int>(list * u.n + i), v); }

/* The gradient with that of the squared norm of the weight. */
Value Regularized(const Call& c, const Update& u, int64_t i, double norm) {
  const Value& gradient = Of(c, u, 1, i);
  return norm == 0 ? gradient : Add(c, MulNumber(c, Of(c, u, 0, i), norm), gradient);
}

Value Square(const Call& c, const Value& x) { return Mul(c, x, x); }

}  // namespace

void ConvertAdagrad(Call& c) {
  const double decay = c.Attr("decay_factor", 0.0f), epsilon = c.Attr("epsilon", 1e-6f), norm = c.Attr("norm_coefficient", 0.0f);
  const Update u = ReadUpdate(c, 3);
  const Value rate = Div(c, u.rate, AddNumber(c, MulNumber(c, u.steps, decay), 1));
  for (int64_t i = 0; i < u.n; ++i) {
    const Value g = Regularized(c, u, i, norm), sum = Add(c, Of(c, u, 2, i), Square(c, g));
    Give(c, u, 0, i, Sub(c, Of(c, u, 0, i), Div(c, Mul(c, g, rate), AddNumber(c, Unary(c, "sqrt", sum), epsilon))));
    Give(c, u, 1, i, sum);
  }
}

void ConvertAdam(Call& c) {
  const double alpha = c.Attr("alpha", 0.9f), beta = c.Attr("beta", 0.999f), epsilon = c.Attr("epsilon", 1e-6f);
  const double norm = c.Attr("norm_coefficient", 0.0f), after = c.Attr("norm_coefficient_post", 0.0f);
  const Update u = ReadUpdate(c, 4);
  const auto left = [&](double base) {  // 1 - base^steps
    return AddNumber(c, MulNumber(c, Unary(c, "exp", MulNumber(c, u.steps, std::log(base))), -1), 1);
  };
  const Value first = BinaryNumber(c, "greater", u.steps, 0);
  const Value rate = Where(c, first, Div(c, Mul(c, u.rate, Unary(c, "sqrt", left(beta))), left(alpha)), u.rate);
  for (int64_t i = 0; i < u.n; ++i) {
    const Value g = Regularized(c, u, i, norm);
    const Value mean = Add(c, MulNumber(c, Of(c, u, 2, i), alpha), MulNumber(c, g, 1 - alpha));
    const Value square = Add(c, MulNumber(c, Of(c, u, 3, i), beta), MulNumber(c, Square(c, g), 1 - beta));
    const Value x = Sub(c, Of(c, u, 0, i), Div(c, Mul(c, mean, rate), AddNumber(c, Unary(c, "sqrt", square), epsilon)));
    Give(c, u, 0, i, after == 0 ? x : MulNumber(c, x, 1 - after));
    Give(c, u, 1, i, mean), Give(c, u, 2, i, square);
  }
}

void ConvertMomentum(Call& c) {
  const double alpha = c.Attr("alpha", 0.0f), beta = c.Attr("beta", 0.0f), norm = c.Attr("norm_coefficient", 0.0f);
  const int mode = OneOf(c, "mode", c.Attr("mode", "standard"), {"standard", "nesterov"});
  const Update u = ReadUpdate(c, 3);
  const int dtype = u.rate.dtype();
  const Value share = Where(c, BinaryNumber(c, "greater", u.steps, 0), c.Scalar(beta, dtype), c.Scalar(1, dtype));
  for (int64_t i = 0; i < u.n; ++i) {
    const Value g = Regularized(c, u, i, norm), momentum = Add(c, MulNumber(c, Of(c, u, 2, i), alpha), Mul(c, g, share));
    const Value step = mode == 0 ? momentum : Add(c, g, MulNumber(c, momentum, alpha));
    Give(c, u, 0, i, Sub(c, Of(c, u, 0, i), Mul(c, step, u.rate)));
    Give(c, u, 1, i, momentum);
  }
}

}  // namespace onnx
}  // namespace mxnet
