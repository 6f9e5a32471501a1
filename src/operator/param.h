/*
 * Operator parameters as dmlc::Parameter structs, plus the field types that operators need beyond
 * dmlc's:
 *   Shape                 "(2,3)", "[2,3]", "2"; unset is Shape(): .set_default(Shape()) prints it
 *                         as [], .set_default_none() as None
 *   dmlc::optional<T>     "None" or a T
 *   dmlc::optional<Shape> "None" or a Shape
 * Included by operator .cc files only (dmlc/parameter.h is slow to compile).
 *
 *   struct FooParam : public dmlc::Parameter<FooParam> {
 *     int axis;
 *     DMLC_DECLARE_PARAMETER(FooParam) { DMLC_DECLARE_FIELD(axis).set_default(-1).describe("...");
 *     }
 *   };
 *   MXNET_REGISTER_OP(foo).set_param<FooParam>()...     // no DMLC_REGISTER_PARAMETER is needed:
 *   set_param instantiates the manager
 *
 * A dtype parameter is an int field made by MXNET_DTYPE_FIELD(dtype) (accepts the names, stores
 * DType).
 */
#ifndef MXNET_OPERATOR_PARAM_H_
#define MXNET_OPERATOR_PARAM_H_

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // dmlc::optional swaps storage that holds nothing yet
#endif
#include <dmlc/optional.h>
#include <dmlc/parameter.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mxnet/op.h"
#include "operator/dtypes.h"

namespace mxnet {
/* Stream forms used by dmlc's field entries. Reading sets failbit on malformed text. */
std::istream& operator>>(std::istream& is, Shape& s);
std::string ParamError(const std::string& op, const std::string& what);
/* The field with the set's dtypes among the names that it accepts. */
template <typename Field>
Field& AddDTypes(Field* field, const std::vector<int>& dtypes) {
  for (int dtype : dtypes) field->add_enum(DTypeName(dtype), dtype);
  return *field;
}
}  // namespace mxnet

/* A parameter that names a dtype: one of a set, or any. */
#define MXNET_DTYPE_FIELD_OF(name, ...) ::mxnet::AddDTypes(&DMLC_DECLARE_FIELD(name), __VA_ARGS__)
#define MXNET_DTYPE_FIELD(name) MXNET_DTYPE_FIELD_OF(name, ::mxnet::dtypes::kAll)

namespace dmlc {
DMLC_DECLARE_TYPE_NAME(optional<::mxnet::Shape>, "Shape or None");
DMLC_DECLARE_TYPE_NAME(optional<int64_t>, "long or None");

namespace parameter {
template <>
class FieldEntry<::mxnet::Shape> : public FieldEntryBase<FieldEntry<::mxnet::Shape>, ::mxnet::Shape> {
 public:
  FieldEntry() : FieldEntryBase<FieldEntry<::mxnet::Shape>, ::mxnet::Shape>() { this->type_ = "Shape(tuple)"; }
  FieldEntry& set_default_none() {
    none_ = true;
    return set_default(::mxnet::Shape());
  }

 protected:
  // 1.9.1 prints an unset shape as [] or as None, by operator.
  void PrintDefaultValueString(std::ostream& os) const override { PrintValue(os, default_value_); }
  void PrintValue(std::ostream& os, ::mxnet::Shape value) const override {
    if (value.ndim() < 0) {
      os << (default_value_.ndim() < 0 && !none_ ? "[]" : "None");
      return;
    }
    os << '[';
    for (int i = 0; i < value.ndim(); ++i) os << (i ? "," : "") << value[i];
    os << ']';
  }

 private:
  bool none_ = false;
};
}  // namespace parameter
}  // namespace dmlc

namespace mxnet {
template <typename P>
Op& Op::set_param() {
  ::dmlc::parameter::ParamManager* manager = P::__MANAGER__();
  for (const auto& f : manager->GetFieldInfo()) params.push_back({f.name, f.type_info_str, f.description});
  const std::string op_name = name;
  parse = [op_name](const AttrDict& dict) -> std::shared_ptr<const void> {
    auto p = std::make_shared<P>();
    std::vector<std::pair<std::string, std::string>> given;
    for (const auto& kv : dict)
      if (!(kv.first.size() >= 4 && kv.first.compare(0, 2, "__") == 0)) given.emplace_back(kv);
    try {
      p->Init(given, ::dmlc::parameter::kAllMatch);
    } catch (const ::dmlc::Error& e) {
      throw Error(Error::Kind::kValue, ParamError(op_name, e.what()));
    }
    return p;
  };
  return *this;
}
}  // namespace mxnet

/* Emits the manager of a parameter struct; put it once behind the struct, in a .cc file. */
#define MXNET_REGISTER_PARAM(P) DMLC_REGISTER_PARAMETER(P)

#endif  // MXNET_OPERATOR_PARAM_H_
