/*
 * Arrays that show elements of another one that do not lie side by side there: NumPy's views, for
 * programs that ask for them (npx.set_np(views=True)).
 *
 * Operators take arrays whose elements lie side by side. So a view has memory of its own, and this
 * file keeps the two equal: whoever takes an array from Python (Get) first has what was written
 * into views carried into the array that they show, and a view that is taken has its elements
 * carried from there if that array was written. Versions of the engine's variables tell. Nothing is
 * copied before a view is taken.
 */
#ifndef MXNET_PYTHON_VIEWS_H_
#define MXNET_PYTHON_VIEWS_H_

#include <Python.h>

#include <cstdint>
#include <vector>

#include "mxnet/ndarray.h"

namespace mxnet {
namespace python {

/* Which elements of an array a view shows: that with index (i, j, ...) is number
 * offset + i * step[0] + j * step[1] + ... */
struct Layout {
  int64_t offset = 0;
  std::vector<int64_t> count, step;
};

/* How the elements of `a` lie in the array that it shows, or in itself. */
Layout LayoutOf(const NDArray& a);
/* An array of `type` that shows elements of what `a` shows, in the same memory where they lie side
 * by side. Throws Error(kValue) where one of them is outside of it. */
PyObject* Show(const NDArray& a, const Layout& layout, bool writable, PyTypeObject* type);
/* Has the array let go of its memory, after what was written into a view is where it belongs. */
void LetGo(NDArray* a);
/* Adds the functions of views to the module. */
void AddViews(PyObject* module);

}  // namespace python
}  // namespace mxnet

#endif  // MXNET_PYTHON_VIEWS_H_
