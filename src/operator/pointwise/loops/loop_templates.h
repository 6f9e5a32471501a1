// Loop bodies shared by the *_variants.cc files; included inside their anonymous namespace, after
// functions.h. E::f is the row's expression. `ivdep`: out may equal an input, but only element for
// element.

template <class E, typename T>
void Loop1(const void* const* in, void* out, int64_t n, unsigned) {
  const T* x = static_cast<const T*>(in[0]);
  T* y = static_cast<T*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = E::f(x[i]);
}

template <class E, typename T>
void LoopParam(const void* const* in, void* out, int64_t n, unsigned) {
  const T* x = static_cast<const T*>(in[0]);
  const T p = *static_cast<const T*>(in[1]), q = *static_cast<const T*>(in[2]), r = *static_cast<const T*>(in[3]);
  T* y = static_cast<T*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = E::f(x[i], p, q, r);
}

template <class E, typename T>
void Loop2(const void* const* in, void* out, int64_t n, unsigned scalars) {
  const T* a = static_cast<const T*>(in[0]);
  const T* b = static_cast<const T*>(in[1]);
  T* y = static_cast<T*>(out);
  if (scalars == 0) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = E::f(a[i], b[i]);
  } else if (scalars == 2) {
    const T s = *b;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = E::f(a[i], s);
  } else {
    const T s = *a;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = E::f(s, b[i]);
  }
}

// (gradient, x): no scalars
template <class E, typename T>
void LoopGradient2(const void* const* in, void* out, int64_t n, unsigned) {
  const T* g = static_cast<const T*>(in[0]);
  const T* x = static_cast<const T*>(in[1]);
  T* y = static_cast<T*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = E::f(g[i], x[i]);
}

// (gradient, a, b)
template <class E, typename T>
void LoopGradient3(const void* const* in, void* out, int64_t n, unsigned scalars) {
  const T* g = static_cast<const T*>(in[0]);
  const T* a = static_cast<const T*>(in[1]);
  const T* b = static_cast<const T*>(in[2]);
  T* y = static_cast<T*>(out);
  if (scalars == 0) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = E::f(g[i], a[i], b[i]);
  } else if (scalars == 4) {
    const T s = *b;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = E::f(g[i], a[i], s);
  } else {
    const T s = *a;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = E::f(g[i], s, b[i]);
  }
}

#define MXNET_UNARY_STRUCT(name, types, expression, ...) \
  struct F_##name {                                      \
    template <typename T>                                \
    static MXNET_FN T f(T x) {                           \
      return expression;                                 \
    }                                                    \
  };
#define MXNET_UNARY_ENTRY(name, ...) {Loop1<F_##name, float>, Loop1<F_##name, double>},

// gradient structs and entries by what the derivative reads
#define MXNET_GRAD_STRUCT(name, types, expression, uses, derivative, ...) MXNET_GRAD_STRUCT_##uses(name, derivative)
#define MXNET_GRAD_STRUCT_X(name, derivative) \
  struct G_##name {                           \
    template <typename T>                     \
    static MXNET_FN T f(T g, T x) {           \
      return g * (derivative);                \
    }                                         \
  };
#define MXNET_GRAD_STRUCT_Y(name, derivative) \
  struct G_##name {                           \
    template <typename T>                     \
    static MXNET_FN T f(T g, T y) {           \
      return g * (derivative);                \
    }                                         \
  };
#define MXNET_GRAD_STRUCT_XY(name, derivative) \
  struct G_##name {                            \
    template <typename T>                      \
    static MXNET_FN T f(T g, T x, T y) {       \
      return g * (derivative);                 \
    }                                          \
  };
#define MXNET_GRAD_STRUCT_C(name, derivative) \
  struct G_##name {                           \
    template <typename T>                     \
    static MXNET_FN T f(T g) {                \
      return g * (derivative);                \
    }                                         \
  };
#define MXNET_GRAD_STRUCT_Z(name, derivative)
#define MXNET_GRAD_STRUCT_P(name, derivative)
#define MXNET_GRAD_STRUCT_N(name, derivative)
#define MXNET_GRAD_ENTRY(name, types, expression, uses, ...) MXNET_GRAD_ENTRY_##uses(name)
#define MXNET_GRAD_ENTRY_X(name) {LoopGradient2<G_##name, float>, LoopGradient2<G_##name, double>},
#define MXNET_GRAD_ENTRY_Y(name) MXNET_GRAD_ENTRY_X(name)
#define MXNET_GRAD_ENTRY_XY(name) {LoopGradient3<G_##name, float>, LoopGradient3<G_##name, double>},
#define MXNET_GRAD_ENTRY_C(name) {Loop1<G_##name, float>, Loop1<G_##name, double>},
#define MXNET_GRAD_ENTRY_Z(name) {nullptr, nullptr},
#define MXNET_GRAD_ENTRY_P(name) {nullptr, nullptr},
#define MXNET_GRAD_ENTRY_N(name) {nullptr, nullptr},
