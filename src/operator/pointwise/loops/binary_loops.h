/* kLoops and kGradients of the rows of MXNET_BINARY_TABLE (see table.h), for a file that has
 * defined it. Included once, inside a variant's namespace. */
#define MXNET_STRUCT(name, types, expression, ...) \
  struct F_##name {                                \
    template <typename T>                          \
    static MXNET_FN T f(T a, T b) {                \
      return expression;                           \
    }                                              \
  };
#define MXNET_ENTRY(name, ...) {Loop2<F_##name, float>, Loop2<F_##name, double>},
MXNET_BINARY_TABLE(MXNET_STRUCT)
constexpr Loop kLoops[][2] = {MXNET_BINARY_TABLE(MXNET_ENTRY)};

#define MXNET_GRAD(name, types, expression, kind, da, db, ...) MXNET_GRAD_##kind(name, da, db)
#define MXNET_GRAD_L(name, da, db)       \
  struct A_##name {                      \
    template <typename T>                \
    static MXNET_FN T f(T g, T a, T b) { \
      return g * (da);                   \
    }                                    \
  };                                     \
  struct B_##name {                      \
    template <typename T>                \
    static MXNET_FN T f(T g, T a, T b) { \
      return g * (db);                   \
    }                                    \
  };
#define MXNET_GRAD_G(name, da, db)
#define MXNET_GRAD_Z(name, da, db)
#define MXNET_SIDES(name, types, expression, kind, ...) MXNET_SIDES_##kind(name)
#define MXNET_SIDES_L(name) \
  {{LoopGradient3<A_##name, float>, LoopGradient3<A_##name, double>}, {LoopGradient3<B_##name, float>, LoopGradient3<B_##name, double>}},
#define MXNET_SIDES_G(name) {{nullptr, nullptr}, {nullptr, nullptr}},
#define MXNET_SIDES_Z(name) {{nullptr, nullptr}, {nullptr, nullptr}},
MXNET_BINARY_TABLE(MXNET_GRAD)
constexpr Loop kGradients[][2][2] = {MXNET_BINARY_TABLE(MXNET_SIDES)};
