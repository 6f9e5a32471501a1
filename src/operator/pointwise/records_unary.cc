// Unary operators: legacy and NumPy names over one row each.
#include "operator/pointwise/records.h"

namespace mxnet {
namespace pointwise {
namespace {

struct Entry {
  int row;
  const char* legacy;  // null: none
  const char* aliases;
  const char* numpy;  // a record of its own, because its input is called x; null: none
  const char* numpy_aliases;
  Precision precision = Precision::kAny;
};

const Entry kEntries[] = {
    {k_abs, "abs", "_sparse_abs", "_npi_absolute", "_npi_abs"},
    {k_sign, "sign", "_sparse_sign", "_npi_sign", ""},
    {k_negative, "negative", "_sparse_negative", "_npi_negative", ""},
    {k_square, "square", "_sparse_square", "_npi_square", "", Precision::kFull},
    {k_reciprocal, "reciprocal", "", "_npi_reciprocal", "", Precision::kFull},
    {k_sqrt, "sqrt", "_sparse_sqrt", "_npi_sqrt", ""},
    {k_rsqrt, "rsqrt", "_sparse_rsqrt", nullptr, "", Precision::kFull},
    {k_cbrt, "cbrt", "_sparse_cbrt", "_npi_cbrt", ""},
    {k_rcbrt, "rcbrt", "", nullptr, "", Precision::kFull},
    {k_floor, "floor", "_sparse_floor", "_npi_floor", ""},
    {k_ceil, "ceil", "_sparse_ceil", "_npi_ceil", ""},
    {k_trunc, "trunc", "_sparse_trunc", "_npi_trunc", ""},
    {k_fix, "fix", "_sparse_fix", "_npi_fix", ""},
    {k_rint, "rint", "_sparse_rint", "_npi_rint", ""},
    {k_round, "round", "_sparse_round", nullptr, ""},
    {k_round_ste, "_contrib_round_ste", "_npx_round_ste _sparse__contrib_round_ste", nullptr, ""},
    {k_sign_ste, "_contrib_sign_ste", "_npx_sign_ste _sparse__contrib_sign_ste", nullptr, ""},
    {k_relu, "relu", "_sparse_relu", nullptr, ""},
    {k_relu, "_npx_relu", "", nullptr, ""},
    {k_softsign, "softsign", "_npx_softsign", nullptr, ""},
    {k_degrees, "degrees", "_sparse_degrees", "_npi_degrees", ""},
    {k_radians, "radians", "_sparse_radians", "_npi_radians", ""},
    {k_exp, "exp", "_sparse_exp", "_npi_exp", "", Precision::kFull},
    {k_expm1, "expm1", "_sparse_expm1", "_npi_expm1", "", Precision::kFull},
    {k_log, "log", "_sparse_log", "_npi_log", "", Precision::kFull},
    {k_log2, "log2", "_sparse_log2", "_npi_log2", "", Precision::kFull},
    {k_log10, "log10", "_sparse_log10", "_npi_log10", "", Precision::kFull},
    {k_log1p, "log1p", "_sparse_log1p", "_npi_log1p", "", Precision::kFull},
    {k_sigmoid, "sigmoid", "_sparse_sigmoid", nullptr, ""},
    {k_sigmoid, "_npx_sigmoid", "", nullptr, ""},
    {k_log_sigmoid, "log_sigmoid", "_sparse_log_sigmoid", nullptr, ""},
    {k_mish, "mish", "_sparse_mish", nullptr, ""},
    {k_softrelu, "_softrelu", "", nullptr, ""},
    {k_tanh, "tanh", "_sparse_tanh", "_npi_tanh", ""},
    {k_sinh, "sinh", "_sparse_sinh", "_npi_sinh", "", Precision::kFull},
    {k_cosh, "cosh", "_sparse_cosh", "_npi_cosh", "", Precision::kFull},
    {k_sin, "sin", "_sparse_sin", "_npi_sin", ""},
    {k_cos, "cos", "_sparse_cos", "_npi_cos", ""},
    {k_tan, "tan", "_sparse_tan", "_npi_tan", "", Precision::kFull},
    {k_arcsin, "arcsin", "_sparse_arcsin", "_npi_arcsin", "", Precision::kFull},
    {k_arccos, "arccos", "_sparse_arccos", "_npi_arccos", "", Precision::kFull},
    {k_arctan, "arctan", "_sparse_arctan", "_npi_arctan", ""},
    {k_arcsinh, "arcsinh", "_sparse_arcsinh", "_npi_arcsinh", ""},
    {k_arccosh, "arccosh", "_sparse_arccosh", "_npi_arccosh", ""},
    {k_arctanh, "arctanh", "_sparse_arctanh", "_npi_arctanh", "", Precision::kFull},
    {k_erf, "erf", "_npx_erf", nullptr, ""},
    {k_erfinv, "erfinv", "_npx_erfinv", nullptr, "", Precision::kFull},
    {k_gamma, "gamma", "_npx_gamma _sparse_gamma", nullptr, "", Precision::kFull},
    {k_gammaln, "gammaln", "_npx_gammaln _sparse_gammaln", nullptr, "", Precision::kFull},
    {k_digamma, "digamma", "_npx_digamma _sparse_digamma", nullptr, "", Precision::kFull},
    {k_trigamma, "_trigamma", "", nullptr, ""},
    {k_tetragamma, "_tetragamma", "", nullptr, ""},
    {k_logical_not, "logical_not", "", nullptr, ""},
};

// NumPy's predicates: any dtype in, bool out.
const struct {
  int row;
  const char* name;
} kPredicates[] = {
    {k_logical_not, "_npi_logical_not"}, {k_isnan, "_npi_isnan"},       {k_isinf, "_npi_isinf"},
    {k_isfinite, "_npi_isfinite"},       {k_isposinf, "_npi_isposinf"}, {k_isneginf, "_npi_isneginf"},
};

const bool kRegistered = [] {
  for (const Entry& e : kEntries) {
    Op& op = RegisterUnary(e.legacy, e.row);
    AddAliases(&op.set_precision(e.precision), e.aliases);
    if (e.numpy) AddAliases(&RegisterUnary(e.numpy, e.row, "x").set_precision(e.precision), e.numpy_aliases);
  }
  Op::Register("logical_not").set_dtypes(NumberOrBoolTypes());
  for (const auto& p : kPredicates)
    RegisterUnary(p.name, p.row, "x")
        .set_infer_type(BoolOutputType)
        .set_inplace(std::vector<std::pair<int, int>>{})
        .set_dtypes(NumberOrBoolTypes());
  return true;
}();

}  // namespace
}  // namespace pointwise
}  // namespace mxnet
