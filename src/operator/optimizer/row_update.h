/*
 * Updates by row_sparse gradients: of the rows that the gradient has (lazy), in time in proportion
 * to their number, or of all rows as if the others had a gradient of 0.
 *
 * The form of a record is declared beside it:
 *
 *   DeclareRowUpdate<SgdParam>("sgd_update", UpdateRule::kSgd, 0, RowUpdateStates::kEither);
 */
#ifndef MXNET_OPERATOR_OPTIMIZER_ROW_UPDATE_H_
#define MXNET_OPERATOR_OPTIMIZER_ROW_UPDATE_H_

#include <functional>
#include <type_traits>
#include <utility>

#include "mxnet/op.h"
#include "operator/optimizer/update_rules.h"

namespace mxnet {

/* Which storages of weight and states a form takes, besides all of them being row_sparse. */
enum class RowUpdateStates {
  kEither,  // all dense; a row_sparse weight with dense states is updated in all rows
  kAlike,   // all dense
  kSparse,  // none
};

struct RowUpdate {
  UpdateRule rule;
  int states;
  RowUpdateStates takes;
  bool grouped = false;  // GroupAdaGradRows, whose state has one element for each row
  std::function<void(const Attrs&, UpdateNumbers*)> fill;
  std::function<bool(const Attrs&)> lazy;
};
void DeclareRowUpdate(const char* name, RowUpdate update);

/* The form's kernel for GPUs. */
void UpdateRowsOnDevice(const RowUpdate& how, KernelArgs& args);

template <typename P, typename = void>
struct HasLazyUpdate : std::false_type {};
template <typename P>
struct HasLazyUpdate<P, std::void_t<decltype(&P::lazy_update)>> : std::true_type {};

/* P has `void Fill(UpdateNumbers* to) const`, and lazy_update where that is a choice. */
template <typename P>
bool DeclareRowUpdate(const char* name, UpdateRule rule, int states, RowUpdateStates takes, bool grouped = false) {
  RowUpdate update{rule, states, takes, grouped, nullptr, nullptr};
  update.fill = [](const Attrs& a, UpdateNumbers* to) { a.get<P>().Fill(to); };
  update.lazy = [](const Attrs& a) {
    if constexpr (HasLazyUpdate<P>::value) return a.get<P>().lazy_update;
    return (void)a, true;
  };
  DeclareRowUpdate(name, std::move(update));
  return true;
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_OPTIMIZER_ROW_UPDATE_H_
