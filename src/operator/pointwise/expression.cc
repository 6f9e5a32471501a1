#include "operator/pointwise/expression.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <unordered_map>

#include "mxnet/op.h"
#include "operator/nodes/make_nodes.h"
#include "operator/pointwise/rows.h"

namespace mxnet {
namespace pointwise {
namespace {

ExprPtr MakeExpr(Expr::Kind kind, const std::string& name, std::vector<ExprPtr> args) {
  auto e = std::make_shared<Expr>();
  e->kind = kind;
  e->name = name;
  e->args = std::move(args);
  return e;
}
ExprPtr Operator(char op, ExprPtr a, ExprPtr b) { return MakeExpr(Expr::kOperator, std::string(1, op), {std::move(a), std::move(b)}); }

// ---- building with the simplifications that keep derivatives small
ExprPtr Mul(const ExprPtr& a, const ExprPtr& b) {
  if (IsNumber(a, 0) || IsNumber(b, 0)) return Number(0);
  if (IsNumber(a, 1)) return b;
  if (IsNumber(b, 1)) return a;
  if (a->kind == Expr::kNumber && b->kind == Expr::kNumber) return Number(a->number * b->number);
  return Operator('*', a, b);
}
ExprPtr Add(const ExprPtr& a, const ExprPtr& b) {
  if (IsNumber(a, 0)) return b;
  if (IsNumber(b, 0)) return a;
  if (a->kind == Expr::kNumber && b->kind == Expr::kNumber) return Number(a->number + b->number);
  return Operator('+', a, b);
}
ExprPtr Negate(const ExprPtr& a) { return Mul(Number(-1), a); }
ExprPtr Sub(const ExprPtr& a, const ExprPtr& b) { return IsNumber(b, 0) ? a : Add(a, Negate(b)); }
ExprPtr Div(const ExprPtr& a, const ExprPtr& b) {
  if (IsNumber(a, 0)) return Number(0);
  if (IsNumber(b, 1)) return a;
  return Operator('/', a, b);
}

// ---- parser: C's precedence for ?:, ==, <, +, *, unary minus
class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text), at_(text.c_str()) {}
  ExprPtr Run() {
    ExprPtr e = Select();
    Skip();
    if (*at_) Fail("end");
    return e;
  }

 private:
  [[noreturn]] void Fail(const char* wanted) {
    MXNET_THROW(Generic) << "[pointwise] expression `" << text_ << "`: expected " << wanted << " at `" << at_ << "`";
    std::abort();
  }
  void Skip() {
    while (std::isspace(static_cast<unsigned char>(*at_))) ++at_;
  }
  bool Take(const char* token) {
    Skip();
    const size_t n = std::char_traits<char>::length(token);
    if (std::strncmp(at_, token, n) != 0) return false;  // not beyond the end of the text
    at_ += n;
    return true;
  }
  ExprPtr Select() {
    ExprPtr condition = Equality();
    if (!Take("?")) return condition;
    ExprPtr yes = Select();
    if (!Take(":")) Fail("`:`");
    return MakeExpr(Expr::kSelect, "?", {condition, yes, Select()});
  }
  ExprPtr Equality() {
    ExprPtr e = Relation();
    for (;;) {
      if (Take("=="))
        e = Operator('=', e, Relation());
      else if (Take("!="))
        e = Operator('!', e, Relation());
      else
        return e;
    }
  }
  ExprPtr Relation() {
    ExprPtr e = Sum();
    for (;;) {
      if (Take("<="))
        e = Operator('l', e, Sum());
      else if (Take(">="))
        e = Operator('g', e, Sum());
      else if (Take("<"))
        e = Operator('<', e, Sum());
      else if (Take(">"))
        e = Operator('>', e, Sum());
      else
        return e;
    }
  }
  ExprPtr Sum() {
    ExprPtr e = Product();
    for (;;) {
      if (Take("+"))
        e = Add(e, Product());
      else if (Take("-"))
        e = Sub(e, Product());
      else
        return e;
    }
  }
  ExprPtr Product() {
    ExprPtr e = Unary();
    for (;;) {
      if (Take("*"))
        e = Mul(e, Unary());
      else if (Take("/"))
        e = Div(e, Unary());
      else
        return e;
    }
  }
  ExprPtr Unary() {
    if (Take("-")) return Negate(Unary());
    return Primary();
  }
  ExprPtr Primary() {
    Skip();
    if (Take("(")) {
      ExprPtr e = Select();
      if (!Take(")")) Fail("`)`");
      return e;
    }
    if (std::isdigit(static_cast<unsigned char>(*at_)) || *at_ == '.') {
      char* end;
      const double v = std::strtod(at_, &end);
      at_ = end;
      return Number(v);
    }
    std::string name;
    while (std::isalnum(static_cast<unsigned char>(*at_)) || *at_ == '_') name += *at_++;
    if (name.empty()) Fail("a number, a name or `(`");
    if (!Take("(")) return MakeExpr(Expr::kName, name, {});
    std::vector<ExprPtr> args;
    do args.push_back(Select());
    while (Take(","));
    if (!Take(")")) Fail("`)`");
    if (name == "T") return args[0];  // a literal of the compute type
    if (FindRow(name) < 0) Fail("a function of the table");
    return MakeExpr(Expr::kCall, name, std::move(args));
  }

  const std::string text_;
  const char* at_;
};

ExprPtr Substitute(const ExprPtr& e, const std::map<std::string, ExprPtr>& with) {
  if (e->kind == Expr::kName) {
    auto it = with.find(e->name);
    return it == with.end() ? e : it->second;
  }
  if (e->args.empty()) return e;
  std::vector<ExprPtr> args;
  for (const auto& a : e->args) args.push_back(Substitute(a, with));
  return MakeExpr(e->kind, e->name, std::move(args));
}

bool IsComparison(const Expr& e) { return e.kind == Expr::kOperator && std::string("<>lg=!").find(e.name) != std::string::npos; }

// ---- emission
NodeEntry Scalar(const std::string& op, const NodeEntry& x, double s) {
  return MakeOp(op, {x}, {{"scalar", ExactText(s)}, {"is_int", "0"}});
}
NodeEntry AsEntry(const Value& v, const NodeEntry& like) {
  if (!v.is_number) return v.entry;
  NodeEntry zero = MakeOp("zeros_like", {like});
  return v.number == 0 ? zero : Scalar("_plus_scalar", zero, v.number);
}

// Names of the operators behind a function of two arguments: both arrays; array and scalar; scalar
// and array.
struct BinaryOps {
  std::string both, right, left;
};
BinaryOps OpsOfRow(int row) {
  BinaryOps ops;
  for (const RowRecord& record : RecordsOf(row)) {
    const std::string& how = record.how;
    const bool arrays = how == "broadcast" || how == "promote" || how == "float" || how == "lhs_float";
    const bool right = how == "scalar" || how == "float_scalar", left = how == "rscalar" || how == "rfloat_scalar";
    std::string* name = arrays ? &ops.both : right ? &ops.right : left ? &ops.left : nullptr;
    if (name && name->empty()) *name = record.names[0];
  }
  if (ops.left.empty()) ops.left = ops.right;  // the order does not matter
  return ops;
}
const BinaryOps& OpsFor(const std::string& name) {
  static const auto* all = [] {
    auto* m = new std::map<std::string, BinaryOps>();
    for (int row = kFirstBinary + 1; row < kEndBinary; ++row) (*m)[GetRow(row).name] = OpsOfRow(row);
    // signs, and what they become when the sides change
    const struct {
      const char* sign;
      int row, mirrored;
    } signs[] = {{"+", k_add, k_add},
                 {"*", k_mul, k_mul},
                 {"/", k_div, k_div},
                 {"divide", k_div, k_div},
                 {"<", k_lesser, k_greater},
                 {">", k_greater, k_lesser},
                 {"l", k_lesser_equal, k_greater_equal},
                 {"g", k_greater_equal, k_lesser_equal},
                 {"=", k_equal, k_equal},
                 {"!", k_not_equal, k_not_equal}};
    for (const auto& s : signs) {
      BinaryOps& ops = (*m)[s.sign] = OpsOfRow(s.row);
      if (s.mirrored != s.row) ops.left = OpsOfRow(s.mirrored).right;
    }
    return m;
  }();
  auto it = all->find(name);
  MXNET_CHECK(it != all->end() && !it->second.both.empty()) << "[pointwise] no operator computes `" << name << "` on graph nodes";
  return it->second;
}
const std::string& UnaryOpFor(const std::string& name) {
  static const auto* all = [] {
    auto* m = new std::map<std::string, std::string>();
    for (int row = 0; row < kNumUnary; ++row)
      for (const RowRecord& record : RecordsOf(row)) m->emplace(GetRow(row).name, record.names[0]);
    (*m)["identity"] = "_copy";
    return m;
  }();
  auto it = all->find(name);
  MXNET_CHECK(it != all->end()) << "[pointwise] no operator computes `" << name << "` on graph nodes";
  return it->second;
}

double Fold(const std::string& op, double a, double b) {
  switch (op[0]) {
    case '+': return a + b;
    case '*': return a * b;
    case '/': return a / b;
    case '<': return a < b;
    case '>': return a > b;
    case 'l': return a <= b;
    case 'g': return a >= b;
    case '=': return a == b;
    default: return a != b;
  }
}

Value EmitBinary(const std::string& name, const Value& a, const Value& b, const NodeEntry& like) {
  const BinaryOps& ops = OpsFor(name);
  if (a.is_number && b.is_number) return Value::Of(MakeOp(ops.both, {AsEntry(a, like), AsEntry(b, like)}));
  if (b.is_number) return Value::Of(Scalar(ops.right, a.entry, b.number));
  if (a.is_number) return Value::Of(Scalar(ops.left, b.entry, a.number));
  return Value::Of(Simple(ops.both, {a.entry, b.entry}));
}

}  // namespace

NodeEntry Simple(const std::string& op, std::vector<NodeEntry> inputs) {
  // Gradients are rebuilt for every eager call; their attributes never differ.
  static thread_local std::unordered_map<std::string, AttrsPtr> cache;
  AttrsPtr& attrs = cache[op];
  if (!attrs) attrs = MakeAttrs(Op::Get(op), {});
  auto node = std::make_shared<Node>();
  node->attrs = attrs;
  node->inputs = std::move(inputs);
  return {node, 0, 0};
}

ExprPtr Number(double value) {
  auto e = std::make_shared<Expr>();
  e->number = value;
  return e;
}

bool Mentions(const ExprPtr& e, const std::string& name) {
  if (e->kind == Expr::kName) return e->name == name;
  return std::any_of(e->args.begin(), e->args.end(), [&](const ExprPtr& arg) { return Mentions(arg, name); });
}

bool IsNumber(const ExprPtr& e, double value) { return e->kind == Expr::kNumber && e->number == value; }

ExprPtr Parse(const std::string& text) { return Parser(text).Run(); }

ExprPtr Derivative(const ExprPtr& e, const std::string& name) {
  switch (e->kind) {
    case Expr::kNumber: return Number(0);
    case Expr::kName: return Number(e->name == name ? 1 : 0);
    case Expr::kSelect: {
      ExprPtr yes = Derivative(e->args[1], name), no = Derivative(e->args[2], name);
      if (yes->kind == Expr::kNumber && IsNumber(no, yes->number)) return yes;
      return MakeExpr(Expr::kSelect, "?", {e->args[0], yes, no});
    }
    case Expr::kOperator: {
      if (IsComparison(*e)) return Number(0);
      const ExprPtr &a = e->args[0], &b = e->args[1];
      const ExprPtr da = Derivative(a, name), db = Derivative(b, name);
      switch (e->name[0]) {
        case '+': return Add(da, db);
        case '*': return Add(Mul(da, b), Mul(a, db));
        default: return Sub(Div(da, b), Div(Mul(e, db), b));
      }
    }
    case Expr::kCall: {
      const Row& row = GetRow(FindRow(e->name));
      if (row.uses[0] == 'Z') return Number(0);
      MXNET_CHECK(row.uses[0] != 'N') << "[" << row.name << "] has no derivative here";
      ExprPtr sum = Number(0);
      for (size_t i = 0; i < e->args.size(); ++i) {
        const ExprPtr inner = Derivative(e->args[i], name);
        if (IsNumber(inner, 0)) continue;
        const ExprPtr outer = e->args.size() == 1 ? Substitute(Parse(row.derivative[0]), {{"x", e->args[0]}, {"y", e}})
                                                  : Substitute(Parse(row.derivative[i]), {{"a", e->args[0]}, {"b", e->args[1]}});
        sum = Add(sum, Mul(outer, inner));
      }
      return sum;
    }
  }
  return Number(0);
}

Value EmitMultiply(const Value& a, const Value& b) {
  if (a.is_number && b.is_number) return Value::Of(a.number * b.number);
  if (a.is_number && a.number == 1) return b;
  if (b.is_number && b.number == 1) return a;
  if (a.is_number && a.number == -1) return Value::Of(Simple("negative", {b.entry}));
  if (b.is_number && b.number == -1) return Value::Of(Simple("negative", {a.entry}));
  return EmitBinary("*", a, b, NodeEntry());
}

Value Emit(const ExprPtr& e, const Bindings& bindings, const NodeEntry& like) {
  switch (e->kind) {
    case Expr::kNumber: return Value::Of(e->number);
    case Expr::kName: {
      auto it = bindings.find(e->name);
      MXNET_CHECK(it != bindings.end()) << "[pointwise] nothing is bound to `" << e->name << "`";
      return it->second;
    }
    case Expr::kSelect: {
      const Value condition = Emit(e->args[0], bindings, like);
      if (condition.is_number) return Emit(e->args[condition.number != 0 ? 1 : 2], bindings, like);
      const Value yes = Emit(e->args[1], bindings, like), no = Emit(e->args[2], bindings, like);
      if (yes.is_number && no.is_number) {
        if (yes.number == no.number) return yes;
        if (yes.number == 1 && no.number == 0) return condition;
      }
      return Value::Of(MakeOp("where", {condition.entry, AsEntry(yes, condition.entry), AsEntry(no, condition.entry)}));
    }
    case Expr::kOperator: {
      const Value a = Emit(e->args[0], bindings, like), b = Emit(e->args[1], bindings, like);
      if (a.is_number && b.is_number) return Value::Of(Fold(e->name, a.number, b.number));
      if (e->name == "*") return EmitMultiply(a, b);
      return EmitBinary(e->name, a, b, like);
    }
    case Expr::kCall: {
      if (e->args.size() == 1) return Value::Of(Simple(UnaryOpFor(e->name), {AsEntry(Emit(e->args[0], bindings, like), like)}));
      return EmitBinary(e->name, Emit(e->args[0], bindings, like), Emit(e->args[1], bindings, like), like);
    }
  }
  return Value();
}

}  // namespace pointwise
}  // namespace mxnet
