/*
 * One dimension of a Winograd transform, for vectors of any element type. No guard: it is a part of
 * winograd_variants.cc, once per instruction set.
 *
 * Toom-Cook with `P` points: 0, +-p for each p of Nodes<P>, infinity. A window of R taps gives P -
 * R + 1 outputs of P inputs. With m(x) the product over the finite points, row p of Bt (In) holds
 * the coefficients of m(x) / (x - p), row p of G (Filter) is (1, p, p^2, ...) / m'(p), and At (Out)
 * gathers the powers of p; rows of +p and -p share their even and odd parts. The nodes are those of
 * least error among short binary fractions (docs/winograd.md).
 */
template <int P>
struct Nodes;
template <>
struct Nodes<4> {
  static constexpr double kNode[] = {1};
};
template <>
struct Nodes<6> {
  static constexpr double kNode[] = {0.75, 1.5};
};
template <>
struct Nodes<8> {
  static constexpr double kNode[] = {1, 2, 0.5};
};
template <>
struct Nodes<10> {
  static constexpr double kNode[] = {0.5, 0.75, 1.25, 2.5};
};

template <int P, int R>
struct Along {
  static constexpr int kPoints = P, kWindow = R, kTile = P - R + 1, kPairs = (P - 2) / 2;
  static_assert(kTile > 0, "more points than taps");
  static constexpr const double* kNode = Nodes<P>::kNode;

  struct Polynomial {
    double c[kPairs + 1];
  };
  /* Product of (x^2 - p^2) over all nodes but number `skip`, by powers of x^2. */
  static constexpr Polynomial Product(int skip) {
    Polynomial q{};
    q.c[0] = 1;
    for (int i = 0, degree = 0; i < kPairs; ++i) {
      if (i == skip) continue;
      for (int k = ++degree; k >= 0; --k) q.c[k] = (k > 0 ? q.c[k - 1] : 0) - kNode[i] * kNode[i] * q.c[k];
    }
    return q;
  }
  static constexpr double Power(double x, int n) { return n == 0 ? 1 : x * Power(x, n - 1); }
  /* 1 / m'(p) of node i; of zero for -1. */
  static constexpr double Scale(int i) {
    double slope = i < 0 ? 1 : 2 * kNode[i] * kNode[i];
    for (int k = 0; k < kPairs; ++k)
      if (k != i) slope *= (i < 0 ? 0 : kNode[i] * kNode[i]) - kNode[k] * kNode[k];
    return 1 / slope;
  }

  template <typename V>
  static inline __attribute__((always_inline)) void In(const V* d, V* r) {
    constexpr Polynomial all = Product(-1);
    V zero = static_cast<float>(all.c[0]) * d[0], infinity = static_cast<float>(all.c[0]) * d[1];
#pragma GCC unroll 5
    for (int k = 1; k <= kPairs; ++k) {
      zero += static_cast<float>(all.c[k]) * d[2 * k];
      infinity += static_cast<float>(all.c[k]) * d[2 * k + 1];
    }
    r[0] = zero;
    r[P - 1] = infinity;
#pragma GCC unroll 5
    for (int i = 0; i < kPairs; ++i) {
      const Polynomial q = Product(i);
      V even = static_cast<float>(q.c[0]) * d[2], odd = static_cast<float>(kNode[i] * q.c[0]) * d[1];
#pragma GCC unroll 5
      for (int k = 1; k < kPairs; ++k) {
        even += static_cast<float>(q.c[k]) * d[2 * k + 2];
        odd += static_cast<float>(kNode[i] * q.c[k]) * d[2 * k + 1];
      }
      r[1 + 2 * i] = even + odd;
      r[2 + 2 * i] = even - odd;
    }
  }
  template <typename V>
  static inline __attribute__((always_inline)) void Out(const V* q, V* y) {
    Gather<float, kTile>(q, y);
  }
  template <typename V>
  static inline __attribute__((always_inline)) void OutTransposed(const V* y, V* q) {
    Evaluate<float, kTile>(y, q);
  }
  template <typename V>
  static inline void Filter(const V* g, V* r) {
    Evaluate<double, R>(g, r);
    r[0] *= Scale(-1);
    for (int i = 0; i < kPairs; ++i) {
      r[1 + 2 * i] *= Scale(i);
      r[2 + 2 * i] *= Scale(i);
    }
  }
  template <typename V>
  static inline void FilterTransposed(const V* u, V* g) {
    V scaled[P];
    scaled[0] = Scale(-1) * u[0];
    for (int i = 0; i < kPairs; ++i) {
      scaled[1 + 2 * i] = Scale(i) * u[1 + 2 * i];
      scaled[2 + 2 * i] = Scale(i) * u[2 + 2 * i];
    }
    scaled[P - 1] = u[P - 1];
    Gather<double, R>(scaled, g);
  }

 private:
  /* The values at the points of a polynomial with n coefficients. */
  template <typename T, int n, typename V>
  static inline __attribute__((always_inline)) void Evaluate(const V* c, V* r) {
    r[0] = c[0];
    r[P - 1] = c[n - 1];
#pragma GCC unroll 5
    for (int i = 0; i < kPairs; ++i) {
      V even = c[0], odd = static_cast<T>(kNode[i]) * c[1];
#pragma GCC unroll 8
      for (int k = 2; k < n; ++k) (k % 2 ? odd : even) += static_cast<T>(Power(kNode[i], k)) * c[k];
      r[1 + 2 * i] = even + odd;
      r[2 + 2 * i] = even - odd;
    }
  }
  /* Its transpose. */
  template <typename T, int n, typename V>
  static inline __attribute__((always_inline)) void Gather(const V* q, V* y) {
    V sum[kPairs], difference[kPairs];
#pragma GCC unroll 5
    for (int i = 0; i < kPairs; ++i) {
      sum[i] = q[1 + 2 * i] + q[2 + 2 * i];
      difference[i] = q[1 + 2 * i] - q[2 + 2 * i];
    }
#pragma GCC unroll 8
    for (int k = 0; k < n; ++k) {
      V v = static_cast<T>(Power(kNode[0], k)) * (k % 2 ? difference : sum)[0];
#pragma GCC unroll 5
      for (int i = 1; i < kPairs; ++i) v += static_cast<T>(Power(kNode[i], k)) * (k % 2 ? difference : sum)[i];
      y[k] = v;
    }
    y[0] += q[0];
    y[n - 1] += q[P - 1];
  }
};

/* A dimension in which the window is one wide. */
struct NotAlong {
  static constexpr int kPoints = 1, kWindow = 1, kTile = 1;
  template <typename V>
  static inline __attribute__((always_inline)) void In(const V* d, V* r) {
    r[0] = d[0];
  }
  template <typename V>
  static inline __attribute__((always_inline)) void Out(const V* q, V* y) {
    y[0] = q[0];
  }
  template <typename V>
  static inline __attribute__((always_inline)) void OutTransposed(const V* y, V* q) {
    q[0] = y[0];
  }
  template <typename V>
  static inline void Filter(const V* g, V* r) {
    r[0] = g[0];
  }
  template <typename V>
  static inline void FilterTransposed(const V* u, V* g) {
    g[0] = u[0];
  }
};
