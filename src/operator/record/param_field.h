/*
 * What Field<T> and ParamTable::Add<T> do, by entries of dmlc-core. For param.cc, and for .cc files
 * with fields of a type of their own: such a type has stream operators and, if its name in
 * signatures is to be told, a FieldEntry; MXNET_DEFINE_FIELD(T) behind them makes the field.
 */
#ifndef MXNET_OPERATOR_RECORD_PARAM_FIELD_H_
#define MXNET_OPERATOR_RECORD_PARAM_FIELD_H_

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // dmlc::optional swaps storage that holds nothing yet
#endif
#include <dmlc/optional.h>
#include <dmlc/parameter.h>

#include <charconv>
#include <string>
#include <system_error>
#include <type_traits>

#include "operator/record/param.h"

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

/* A std::optional: the entry of dmlc's own optional works on a copy. */
template <typename T>
class FieldEntry<std::optional<T>> : public FieldAccessEntry {
 public:
  void Init(const std::string& key, void* head, std::optional<T>& field) {
    offset_ = reinterpret_cast<char*>(&field) - static_cast<char*>(head);
    optional<T> copy;
    copy_.Init(key, &copy, copy);
  }
  void SetDefault(void* head) const override {
    optional<T> copy;
    copy_.SetDefault(&copy);
    Put(head, copy);
  }
  void Set(void* head, const std::string& value) const override {
    optional<T> copy;
    copy_.Set(&copy, value);
    Put(head, copy);
  }
  std::string GetStringValue(void* head) const override {
    optional<T> copy = Copy(*reinterpret_cast<std::optional<T>*>(GetRawPtr(head)));
    return copy_.GetStringValue(&copy);
  }
  ParamFieldInfo GetFieldInfo() const override { return copy_.GetFieldInfo(); }
  void set_default(const std::optional<T>& value) { copy_.set_default(default_ = Copy(value)); }
  void add_enum(const std::string& text, int value) { copy_.add_enum(text, value); }
  void describe(const std::string& text) { copy_.describe(text); }

 protected:
  void PrintDefaultValueString(std::ostream& os) const override {
    optional<T> copy = default_;
    os << copy_.GetStringValue(&copy);
  }

 private:
  static optional<T> Copy(const std::optional<T>& value) { return value ? optional<T>(*value) : optional<T>(); }
  void Put(void* head, const optional<T>& copy) const {
    auto* field = reinterpret_cast<std::optional<T>*>(GetRawPtr(head));
    *field = copy ? std::optional<T>(*copy) : std::nullopt;
  }
  FieldEntry<optional<T>> copy_;
  optional<T> default_;
};

}  // namespace parameter
}  // namespace dmlc

namespace mxnet {

template <typename T>
using FieldEntry = ::dmlc::parameter::FieldEntry<T>;

/* A double that is the nearest one to its text. dmlc-core's own reading is off by a unit in the
 * last place for one number in eight, and refuses subnormal ones; it still reads what is written
 * in another way ("1.0f", "INF") and words the errors. */
class DoubleEntry : public FieldEntry<double> {
 public:
  void Set(void* head, const std::string& value) const override {
    const char* const end = value.data() + value.size();
    double number = 0;
    const std::from_chars_result read = std::from_chars(value.data(), end, number);
    if (read.ec == std::errc() && read.ptr == end)
      this->Get(head) = number;
    else
      FieldEntry<double>::Set(head, value);
  }
};

template <typename T>
Field<T> ParamTable::Add(const char* name, void* params, T* field) {
  using Made = std::conditional_t<std::is_same_v<T, double>, DoubleEntry, FieldEntry<T>>;
  FieldEntry<T>* const entry = new Made();
  entry->Init(name, params, *field);
  static_cast<::dmlc::parameter::ParamManager*>(manager_)->AddEntry(name, entry);
  return Field<T>(entry);
}
template <typename T>
Field<T> Field<T>::set_default(const T& value) {
  static_cast<FieldEntry<T>*>(entry_)->set_default(value);
  return *this;
}
template <typename T>
Field<T> Field<T>::set_default_none() {
  static_cast<FieldEntry<T>*>(entry_)->set_default_none();
  return *this;
}
template <typename T>
Field<T> Field<T>::set_range(T begin, T end) {
  static_cast<FieldEntry<T>*>(entry_)->set_range(begin, end);
  return *this;
}
template <typename T>
Field<T> Field<T>::set_lower_bound(T begin) {
  static_cast<FieldEntry<T>*>(entry_)->set_lower_bound(begin);
  return *this;
}
template <typename T>
Field<T> Field<T>::add_enum(std::string_view text, int value) {
  static_cast<FieldEntry<T>*>(entry_)->add_enum(std::string(text), value);
  return *this;
}
template <typename T>
Field<T> Field<T>::describe(std::string_view text) {
  static_cast<FieldEntry<T>*>(entry_)->describe(std::string(text));
  return *this;
}

}  // namespace mxnet

/* In namespace mxnet of one .cc file for each type. */
#define MXNET_DEFINE_FIELD(...)                                                               \
  template Field<__VA_ARGS__> ParamTable::Add<__VA_ARGS__>(const char*, void*, __VA_ARGS__*); \
  template Field<__VA_ARGS__> Field<__VA_ARGS__>::set_default(const __VA_ARGS__&);            \
  template Field<__VA_ARGS__> Field<__VA_ARGS__>::describe(std::string_view)
#define MXNET_DEFINE_NUMBER_FIELD(T)                     \
  MXNET_DEFINE_FIELD(T);                                 \
  template Field<T> Field<T>::set_range(T begin, T end); \
  template Field<T> Field<T>::set_lower_bound(T begin)

#endif  // MXNET_OPERATOR_RECORD_PARAM_FIELD_H_
