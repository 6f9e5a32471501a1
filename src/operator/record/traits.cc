#include "operator/record/traits.h"

namespace mxnet {

Role RoleOf(const Node& node) {
  if (node.is_variable()) return Role::kNone;
  if (const Role* role = node.op()->trait<Role>()) return *role;
  const auto* by_parameters = node.op()->trait<RoleByParameters>();
  return by_parameters ? by_parameters->of(*node.attrs) : Role::kNone;
}

std::optional<double> NumberBeside(const Node& node, Role role, bool number_first) {
  if (node.is_variable()) return std::nullopt;
  const auto* with = node.op()->trait<WithNumber>();
  if (!with || with->role != role || with->number_first != number_first) return std::nullopt;
  return with->number(*node.attrs);
}

std::optional<Affine> AffineOf(const Node& node) {
  if (node.is_variable()) return std::nullopt;
  if (const auto* with = node.op()->trait<WithNumber>()) {
    const double c = with->number(*node.attrs);
    switch (with->role) {
      case Role::kAdd: return Affine{1, c};
      case Role::kSubtract: return with->number_first ? Affine{-1, c} : Affine{1, -c};
      case Role::kMultiply: return Affine{c, 0};
      case Role::kDivide:
        if (with->number_first || c == 0) return std::nullopt;
        return Affine{1 / c, 0};
      default: return std::nullopt;
    }
  }
  if (RoleOf(node) == Role::kNegative) return Affine{-1, 0};
  return std::nullopt;
}

std::optional<double> ExponentOf(const Node& node) {
  switch (RoleOf(node)) {
    case Role::kSquare: return 2;
    case Role::kSqrt: return 0.5;
    case Role::kRsqrt: return -0.5;
    case Role::kReciprocal: return -1;
    default: break;
  }
  if (NumberBeside(node, Role::kDivide, true) == 1.0) return -1;
  return NumberBeside(node, Role::kPower);
}

std::vector<int> PermutationOf(const Node& node, int ndim) {
  const auto* permutation = node.is_variable() ? nullptr : node.op()->trait<Permutation>();
  return permutation ? permutation->axes(*node.attrs, ndim) : std::vector<int>();
}

std::optional<ReductionView> ReductionOf(const Node& node, int ndim) {
  const auto* reduction = node.is_variable() ? nullptr : node.op()->trait<Reduction>();
  if (!reduction) return std::nullopt;
  return reduction->of(*node.attrs, ndim);
}

bool ShapesAreChannelsLast(const Node& node) {
  const auto* names = node.is_variable() ? nullptr : node.op()->trait<NamesLayout>();
  return names && names->channels_last(*node.attrs);
}

const Quantized* QuantizedFormOf(const Node& node) {
  const auto* quantized = node.is_variable() ? nullptr : node.op()->trait<Quantized>();
  return quantized && (!quantized->when || quantized->when(*node.attrs)) ? quantized : nullptr;
}

bool NeedsRequantizing(const Node& node) {
  const auto* needs = node.is_variable() ? nullptr : node.op()->trait<NeedsRequantize>();
  return needs && (!needs->when || needs->when(*node.attrs));
}

}  // namespace mxnet
