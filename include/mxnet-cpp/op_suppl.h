/* Operators that programs call by their internal names, beside those that are generated into
 * op.h. */
#ifndef MXNET_CPP_OP_SUPPL_H_
#define MXNET_CPP_OP_SUPPL_H_

#include <string>
#include <vector>

#include "mxnet-cpp/op.h"
#include "mxnet-cpp/operator.h"

namespace mxnet {
namespace cpp {

inline Symbol _Plus(Symbol lhs, Symbol rhs) { return front_end::SymbolOf("_plus", lhs, rhs); }
inline Symbol _Minus(Symbol lhs, Symbol rhs) { return front_end::SymbolOf("_minus", lhs, rhs); }
inline Symbol _Mul(Symbol lhs, Symbol rhs) { return front_end::SymbolOf("_mul", lhs, rhs); }
inline Symbol _Div(Symbol lhs, Symbol rhs) { return front_end::SymbolOf("_div", lhs, rhs); }
inline Symbol _Mod(Symbol lhs, Symbol rhs) { return front_end::SymbolOf("_mod", lhs, rhs); }
inline Symbol _Power(Symbol lhs, Symbol rhs) { return front_end::SymbolOf("_power", lhs, rhs); }
inline Symbol _Maximum(Symbol lhs, Symbol rhs) { return front_end::SymbolOf("_maximum", lhs, rhs); }
inline Symbol _Minimum(Symbol lhs, Symbol rhs) { return front_end::SymbolOf("_minimum", lhs, rhs); }
inline Symbol _PlusScalar(Symbol lhs, mx_float scalar) { return front_end::SymbolOf("_plus_scalar", lhs, scalar); }
inline Symbol _MinusScalar(Symbol lhs, mx_float scalar) { return front_end::SymbolOf("_minus_scalar", lhs, scalar); }
inline Symbol _RMinusScalar(mx_float scalar, Symbol rhs) { return front_end::SymbolOf("_rminus_scalar", rhs, scalar); }
inline Symbol _MulScalar(Symbol lhs, mx_float scalar) { return front_end::SymbolOf("_mul_scalar", lhs, scalar); }
inline Symbol _DivScalar(Symbol lhs, mx_float scalar) { return front_end::SymbolOf("_div_scalar", lhs, scalar); }
inline Symbol _RDivScalar(mx_float scalar, Symbol rhs) { return front_end::SymbolOf("_rdiv_scalar", rhs, scalar); }
inline Symbol _ModScalar(Symbol lhs, mx_float scalar) { return front_end::SymbolOf("_mod_scalar", lhs, scalar); }
inline Symbol _RModScalar(mx_float scalar, Symbol rhs) { return front_end::SymbolOf("_rmod_scalar", rhs, scalar); }
inline Symbol _PowerScalar(Symbol lhs, mx_float scalar) { return front_end::SymbolOf("_power_scalar", lhs, scalar); }
inline Symbol _RPowerScalar(mx_float scalar, Symbol rhs) { return front_end::SymbolOf("_rpower_scalar", rhs, scalar); }
inline Symbol _MaximumScalar(Symbol lhs, mx_float scalar) { return front_end::SymbolOf("_maximum_scalar", lhs, scalar); }
inline Symbol _MinimumScalar(Symbol lhs, mx_float scalar) { return front_end::SymbolOf("_minimum_scalar", lhs, scalar); }

/* `data` cut to the height and width of crop_like. */
inline Symbol Crop(const std::string& symbol_name, int num_args, Symbol data, Symbol crop_like, Shape offset = Shape(0, 0),
                   Shape h_w = Shape(0, 0), bool center_crop = false) {
  return Operator("Crop")
      .SetParam("num_args", num_args)
      .SetParam("offset", offset)
      .SetParam("h_w", h_w)
      .SetParam("center_crop", center_crop)
      .AddInput(data)
      .AddInput(crop_like)
      .CreateSymbol(symbol_name);
}

/* The kind of activation as a text: "relu", "sigmoid", "softrelu", "softsign", "tanh". */
inline Symbol Activation(const std::string& symbol_name, Symbol data, const std::string& act_type) {
  return Operator("Activation").SetParam("act_type", act_type).SetInput("data", data).CreateSymbol(symbol_name);
}
inline Symbol Activation(Symbol data, const std::string& act_type) { return Activation("", data, act_type); }

/* As 1.9.1 has them: without the states, which these operators make by themselves, and with one
 * input in place of a list. */
inline Symbol BatchNorm_v1(const std::string& symbol_name, Symbol data, Symbol gamma, Symbol beta, mx_float eps = 0.001f,
                           mx_float momentum = 0.9f, bool fix_gamma = true, bool use_global_stats = false, bool output_mean_var = false) {
  return BatchNorm_v1(symbol_name, data, gamma, beta, Symbol(), Symbol(), eps, momentum, fix_gamma, use_global_stats, output_mean_var);
}
inline Symbol BatchNorm_v1(Symbol data, Symbol gamma, Symbol beta, mx_float eps = 0.001f, mx_float momentum = 0.9f, bool fix_gamma = true,
                           bool use_global_stats = false, bool output_mean_var = false) {
  return BatchNorm_v1("", data, gamma, beta, eps, momentum, fix_gamma, use_global_stats, output_mean_var);
}
inline Symbol IdentityAttachKLSparseReg(const std::string& symbol_name, Symbol data, mx_float sparseness_target = 0.1f,
                                        mx_float penalty = 0.001f, mx_float momentum = 0.9f) {
  return IdentityAttachKLSparseReg(symbol_name, data, Symbol(), sparseness_target, penalty, momentum);
}
inline Symbol IdentityAttachKLSparseReg(Symbol data, mx_float sparseness_target = 0.1f, mx_float penalty = 0.001f,
                                        mx_float momentum = 0.9f) {
  return IdentityAttachKLSparseReg("", data, sparseness_target, penalty, momentum);
}
inline Symbol khatri_rao(const std::string& symbol_name, const std::vector<Symbol>& args) {
  return khatri_rao(symbol_name, args, static_cast<int>(args.size()));
}
inline Symbol khatri_rao(const std::vector<Symbol>& args) { return khatri_rao("", args); }

}  // namespace cpp
}  // namespace mxnet
#endif  // MXNET_CPP_OP_SUPPL_H_
