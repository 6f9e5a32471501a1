/*
 * Operator parameters as structs of fields, which texts fill in. Types of fields: int, float,
 * double, bool, char, int64_t, uint32_t, uint64_t, std::string, and
 *   Shape                 "(2,3)", "[2,3]", "2"; unset is Shape(): .set_default(Shape()) prints it
 *                         as [], .set_default_none() as None
 *   std::optional<T>      "None" or a T
 *   Tuple<T>              operator/record/tuple_field.h
 *   OptionalNumber        operator/record/optional_number.h
 *
 *   struct FooParam : public Parameter<FooParam> {
 *     int axis;
 *     MXNET_DECLARE_PARAM(FooParam) { MXNET_FIELD(axis).set_default(-1).describe("..."); }
 *   };
 *   MXNET_REGISTER_PARAM(FooParam);                 // once, in a .cc file
 *   MXNET_REGISTER_OP(foo).set_param<FooParam>()...
 *
 * A dtype parameter is an int field made by MXNET_DTYPE_FIELD(dtype) (accepts the names, stores
 * DType), or by MXNET_DTYPE_FIELD_OF(dtype, a set). dmlc-core reads and prints the values. Its
 * headers are slow to compile, so they are seen by param.cc alone, and by files that define a type
 * of their own (operator/record/param_field.h).
 */
#ifndef MXNET_OPERATOR_RECORD_PARAM_H_
#define MXNET_OPERATOR_RECORD_PARAM_H_

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mxnet/base.h"
#include "mxnet/node.h"
#include "operator/record/dtypes.h"

namespace mxnet {

/* One field, while its struct is declared. param_field.h says what is defined for which types. */
template <typename T>
class Field {
 public:
  explicit Field(void* entry) : entry_(entry) {}
  Field set_default(const T& value);
  Field set_default_none();         // of a Shape
  Field set_range(T begin, T end);  // of numbers
  Field set_lower_bound(T begin);
  Field add_enum(std::string_view text, int value);  // of int and std::optional<int>: one of the texts accepted
  Field describe(std::string_view text);

 private:
  void* entry_;
};

/* The fields of one struct. Immutable once they are declared. */
class ParamTable {
 public:
  using Texts = std::vector<std::pair<std::string, std::string>>;
  ParamTable(const char* name, void (*declare)(ParamTable*));
  ~ParamTable();
  ParamTable(const ParamTable&) = delete;
  ParamTable& operator=(const ParamTable&) = delete;
  /* A field of the struct at `params`. */
  template <typename T>
  Field<T> Add(const char* name, void* params, T* field);
  std::vector<ParamInfo> Infos() const;
  /* Fills in the struct at `params`. Throws Error(kValue), which begins with [who], for a value
   * that is not accepted, for a required field that is missing, and unless `skip_unknown` for a
   * name that no field has. */
  void Read(void* params, const Texts& given, const std::string& who, bool skip_unknown) const;

 private:
  void* manager_;
};

template <typename P>
struct Parameter {
  /* Fills the struct in with what it has fields for. */
  void ReadKnown(const std::string& who, const ParamTable::Texts& given) { P::Table().Read(static_cast<P*>(this), given, who, true); }
};

/* The field with the set's dtypes among the names that it accepts. */
template <typename T>
Field<T> AddDTypes(Field<T> field, const std::vector<int>& dtypes) {
  for (int dtype : dtypes) field.add_enum(DTypeName(dtype), dtype);
  return field;
}

/* Reading sets failbit on malformed text. */
std::istream& operator>>(std::istream& is, Shape& s);

}  // namespace mxnet

#define MXNET_DECLARE_PARAM(P)               \
  static const ::mxnet::ParamTable& Table(); \
  void DeclareFields(::mxnet::ParamTable* mxnet_fields)
#define MXNET_FIELD(name) mxnet_fields->Add(#name, this, &this->name)

/* A parameter that names a dtype: one of a set (operator/record/dtypes.h), or any. */
#define MXNET_DTYPE_FIELD_OF(name, ...) ::mxnet::AddDTypes(MXNET_FIELD(name), __VA_ARGS__)
#define MXNET_DTYPE_FIELD(name) MXNET_DTYPE_FIELD_OF(name, ::mxnet::dtypes::kAll)

#define MXNET_REGISTER_PARAM(P)                                   \
  const ::mxnet::ParamTable& P::Table() {                         \
    static const ::mxnet::ParamTable table(#P, [](auto* fields) { \
      P params;                                                   \
      params.DeclareFields(fields);                               \
    });                                                           \
    return table;                                                 \
  }                                                               \
  static_assert(true, "a semicolon follows")

#endif  // MXNET_OPERATOR_RECORD_PARAM_H_
