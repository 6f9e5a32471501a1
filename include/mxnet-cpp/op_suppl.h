/* Operators that programs call by their internal names, beside those that are generated into
 * op.h. */
#ifndef MXNET_CPP_OP_SUPPL_H_
#define MXNET_CPP_OP_SUPPL_H_

#include <string>

#include "mxnet-cpp/operator.h"

namespace mxnet {
namespace cpp {

inline Symbol _Plus(Symbol lhs, Symbol rhs) { return detail::SymbolOf("_plus", lhs, rhs); }
inline Symbol _Minus(Symbol lhs, Symbol rhs) { return detail::SymbolOf("_minus", lhs, rhs); }
inline Symbol _Mul(Symbol lhs, Symbol rhs) { return detail::SymbolOf("_mul", lhs, rhs); }
inline Symbol _Div(Symbol lhs, Symbol rhs) { return detail::SymbolOf("_div", lhs, rhs); }
inline Symbol _Mod(Symbol lhs, Symbol rhs) { return detail::SymbolOf("_mod", lhs, rhs); }
inline Symbol _Power(Symbol lhs, Symbol rhs) { return detail::SymbolOf("_power", lhs, rhs); }
inline Symbol _Maximum(Symbol lhs, Symbol rhs) { return detail::SymbolOf("_maximum", lhs, rhs); }
inline Symbol _Minimum(Symbol lhs, Symbol rhs) { return detail::SymbolOf("_minimum", lhs, rhs); }
inline Symbol _PlusScalar(Symbol lhs, mx_float scalar) { return detail::SymbolOf("_plus_scalar", lhs, scalar); }
inline Symbol _MinusScalar(Symbol lhs, mx_float scalar) { return detail::SymbolOf("_minus_scalar", lhs, scalar); }
inline Symbol _RMinusScalar(mx_float scalar, Symbol rhs) { return detail::SymbolOf("_rminus_scalar", rhs, scalar); }
inline Symbol _MulScalar(Symbol lhs, mx_float scalar) { return detail::SymbolOf("_mul_scalar", lhs, scalar); }
inline Symbol _DivScalar(Symbol lhs, mx_float scalar) { return detail::SymbolOf("_div_scalar", lhs, scalar); }
inline Symbol _RDivScalar(mx_float scalar, Symbol rhs) { return detail::SymbolOf("_rdiv_scalar", rhs, scalar); }
inline Symbol _ModScalar(Symbol lhs, mx_float scalar) { return detail::SymbolOf("_mod_scalar", lhs, scalar); }
inline Symbol _RModScalar(mx_float scalar, Symbol rhs) { return detail::SymbolOf("_rmod_scalar", rhs, scalar); }
inline Symbol _PowerScalar(Symbol lhs, mx_float scalar) { return detail::SymbolOf("_power_scalar", lhs, scalar); }
inline Symbol _RPowerScalar(mx_float scalar, Symbol rhs) { return detail::SymbolOf("_rpower_scalar", rhs, scalar); }
inline Symbol _MaximumScalar(Symbol lhs, mx_float scalar) { return detail::SymbolOf("_maximum_scalar", lhs, scalar); }
inline Symbol _MinimumScalar(Symbol lhs, mx_float scalar) { return detail::SymbolOf("_minimum_scalar", lhs, scalar); }

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

}  // namespace cpp
}  // namespace mxnet
#endif  // MXNET_CPP_OP_SUPPL_H_
