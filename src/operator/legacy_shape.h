/*
 * In graphs of 1.x programs a size of 0 in the `shape` of _zeros, _ones and _full means "unknown,
 * to be inferred" (recurrent cells leave the batch size open that way), and an empty shape an
 * unknown rank. Everywhere else 0 is a size. The graph room opens a scope around its inference,
 * eager calls never do, and the NumPy forms (_npi_zeros, ...) ignore it.
 */
#ifndef MXNET_OPERATOR_LEGACY_SHAPE_H_
#define MXNET_OPERATOR_LEGACY_SHAPE_H_

namespace mxnet {

/* Of this thread. */
inline bool& ZeroIsUnknown() {
  static thread_local bool on = false;
  return on;
}

class ZeroIsUnknownScope {
 public:
  explicit ZeroIsUnknownScope(bool on) : previous_(ZeroIsUnknown()) { ZeroIsUnknown() = on; }
  ~ZeroIsUnknownScope() { ZeroIsUnknown() = previous_; }
  ZeroIsUnknownScope(const ZeroIsUnknownScope&) = delete;
  ZeroIsUnknownScope& operator=(const ZeroIsUnknownScope&) = delete;

 private:
  bool previous_;
};

}  // namespace mxnet
#endif  // MXNET_OPERATOR_LEGACY_SHAPE_H_
