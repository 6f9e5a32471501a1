/*
 * The texts of the table as expression trees: parsed, differentiated and rebuilt from graph nodes.
 * This is what makes every gradient of a pointwise operator differentiable again without a second
 * set of formulas.
 */
#ifndef MXNET_OPERATOR_POINTWISE_EXPRESSION_H_
#define MXNET_OPERATOR_POINTWISE_EXPRESSION_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mxnet/node.h"

namespace mxnet {
namespace pointwise {

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

/* Immutable. kind: number, name, call (of a row or `?:`), or one of the operator characters + - * /
 * < > l(<=) g(>=) =(==) !(!=). */
struct Expr {
  enum Kind { kNumber, kName, kCall, kSelect, kOperator } kind = kNumber;
  double number = 0;
  std::string name;  // of a name, a called function or an operator
  std::vector<ExprPtr> args;
};

ExprPtr Number(double value);
/* Throws Error(kGeneric) "[pointwise] ..." with the text when it does not follow the vocabulary. */
ExprPtr Parse(const std::string& text);
/* d expression / d name, where other names are constants; simplified as far as 0 and 1 go. */
ExprPtr Derivative(const ExprPtr& e, const std::string& name);
bool IsNumber(const ExprPtr& e, double value);
/* Does its value depend on what the name stands for? */
bool Mentions(const ExprPtr& e, const std::string& name);

/* What a name stands for when an expression becomes graph nodes: an entry, or a number. */
struct Value {
  NodeEntry entry;
  double number = 0;
  bool is_number = false;
  static Value Of(NodeEntry e) {
    Value v;
    v.entry = std::move(e);
    return v;
  }
  static Value Of(double d) {
    Value v;
    v.number = d;
    v.is_number = true;
    return v;
  }
};
using Bindings = std::map<std::string, Value>;
/* Output 0 of a new node of an operator without parameters. */
NodeEntry Simple(const std::string& op, std::vector<NodeEntry> inputs);
/* `like`: an entry whose shape constants take when an operator needs an array. */
Value Emit(const ExprPtr& e, const Bindings& bindings, const NodeEntry& like);
Value EmitMultiply(const Value& a, const Value& b);

}  // namespace pointwise
}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_EXPRESSION_H_
