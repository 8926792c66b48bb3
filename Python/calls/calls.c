// The module kelvin._calls: a prediction with arrays only as one call from Python into C. Without the module, arrays.py
// does the same in Python.
//
// The code executes few instructions, because after a large model they have to be loaded into the processor's caches
// again.
#include "interpreter.h"

#include <kelvin.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/// The maximum number of inputs, and of outputs, of a call. The call's arrays are on the stack.
enum { MOST = 32 };

/// The maximum number of arrays kept for each output, so that a steady loop allocates none: the array that the caller
/// still uses while the next is computed, and arrays of other threads' calls.
enum { KEPT = 4 };
/// The maximum bytes of a model's kept arrays. If two arrays of each output exceed it, no array is kept.
enum { MOST_KEPT = 16 << 20 };

// The same array of sizes is passed to NumPy and to the library.
_Static_assert(sizeof(intptr_t) == sizeof(int64_t), "sizes of NumPy's are those of kelvin.h");

/// A feature with its default shape.
typedef struct {
  PyObject *name, *type;
  /// The array's type and shape, without data.
  kelvin_array array;
} Feature;

/// Arrays that were returned for one output, each with a reference. Used only while the interpreter's lock is held.
typedef struct {
  PyObject *arrays[KEPT];
  /// The index of the array to drop next if all are in use.
  size_t next;
} Kept;

typedef struct {
  size_t count;
  const char *names[MOST];
  Feature features[MOST];
  /// The tuple that owns the names and types.
  PyObject *rows;
} Features;

/// The data shared by all calls for one model.
typedef struct {
  kelvin_model *model;
  __typeof__(&kelvin_predict_arrays) predict;
  __typeof__(&kelvin_free) free;
  /// Creates an exception from a code and a message.
  PyObject *failure;
  Features inputs, outputs;
  /// The number of arrays kept for each output.
  size_t kept_count;
  Kept kept[MOST];
} Call;

static PyObject *array_type;
static NPYNewFromDescr new_array;

// MARK: Predictions

/// Returns whether an object is a NumPy array, not of a subclass, with a feature's type and shape, and with `flags`.
static bool fits(const PyObject *object, const Feature *feature, int flags) {
  if (object->ob_type != array_type) return false;
  const PyArrayObject *array = (const PyArrayObject *)object;
  size_t size = (size_t)feature->array.rank * sizeof *array->dimensions;
  return array->nd == feature->array.rank && memcmp(array->dimensions, feature->array.shape, size) == 0
    && (array->flags & flags) == flags
    && (array->descr == feature->type || PyObject_RichCompareBool(array->descr, feature->type, Py_EQ) == 1);
}

/// Returns a feature's array with the data of a NumPy array.
static kelvin_array placed(const Feature *feature, PyObject *array) {
  kelvin_array result = feature->array;
  result.data = ((PyArrayObject *)array)->data;
  return result;
}

/// Returns a new reference to the dictionary's value for a feature's name; NULL if there is none, or on an error.
static PyObject *found(PyObject *dictionary, const Feature *feature) {
  PyObject *object = PyDict_GetItemWithError(dictionary, feature->name);
  Py_IncRef(object);
  return object;
}

static PyObject *made(const Feature *feature) {
  Py_IncRef(feature->type);
  const intptr_t *shape = (const intptr_t *)feature->array.shape;
  return new_array(array_type, feature->type, feature->array.rank, shape, NULL, NULL, 0, NULL);
}

/// Returns whether an array is unchanged since NumPy created it for an output. Its previous holder may have changed its
/// memory or shape, or may hold a weak reference; such an array is not reused.
static bool is_as_made(const PyObject *object, const Feature *feature) {
  const PyArrayObject *array = (const PyArrayObject *)object;
  return !array->base && !array->weak_references && array->descr == feature->type
    && fits(object, feature, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_OWNDATA | NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE);
}

/// Returns a new reference to an array for an output that no other code can access; NULL on an error. A kept array
/// qualifies if it has no other reference, because views, buffers and DLPack capsules each hold a reference to their
/// array.
static PyObject *taken(Kept *kept, size_t count, const Feature *feature) {
  PyObject **place = NULL;
  for (size_t i = 0; i < count; i++) {
    PyObject *array = kept->arrays[i];
    bool is_unused = !array || references(array) == 1;
    if (is_unused && array && is_as_made(array, feature)) {
      Py_IncRef(array);
      return array;
    }
    if (is_unused && !place) place = &kept->arrays[i];
  }
  PyObject *array = made(feature);
  if (!array || count == 0) return array;
  if (!place) {
    place = &kept->arrays[kept->next];
    kept->next = (kept->next + 1) % count;
  }
  PyObject *given_up = *place;
  Py_IncRef(*place = array);
  Py_DecRef(given_up);
  return array;
}

/// Raises the library's error message and frees it.
static void raise(const Call *call, kelvin_code code, char *words) {
  PyObject *text = PyUnicode_DecodeUTF8(words ? words : "", words ? (Py_ssize_t)strlen(words) : 0, "replace");
  call->free(words);
  PyObject *error = text ? PyObject_CallFunction(call->failure, "iO", (int)code, text) : NULL;
  if (error) PyErr_SetObject(error->ob_type, error);
  Py_DecRef(error);
  Py_DecRef(text);
}

/// The arrays of one prediction, and references to its inputs. The results hold the references to its outputs.
typedef struct {
  kelvin_array inputs[MOST], outputs[MOST];
  PyObject *held[MOST];
  size_t count;
} Arrays;

/// Returns whether each input is an array of the required type and shape. May set an error if not.
static bool gather(const Features *inputs, PyObject *given, Arrays *arrays) {
  if (PyDict_Size(given) != (Py_ssize_t)inputs->count) return false;
  for (size_t i = 0; i < inputs->count; i++) {
    PyObject *array = found(given, &inputs->features[i]);
    if (!array) return false;
    arrays->held[arrays->count++] = array;
    if (!fits(array, &inputs->features[i], NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED)) return false;
    arrays->inputs[i] = placed(&inputs->features[i], array);
  }
  return true;
}

/// Fills `results` with an array for each output: the caller's, or one that no other code can access. Returns whether
/// all of the caller's arrays are valid; may set an error if not.
static bool prepare(Call *call, PyObject *borrowed, PyObject *results, Arrays *arrays) {
  Py_ssize_t rest = borrowed ? PyDict_Size(borrowed) : 0;
  for (size_t i = 0; i < call->outputs.count; i++) {
    const Feature *feature = &call->outputs.features[i];
    PyObject *array = rest ? found(borrowed, feature) : NULL;
    bool is_borrowed = array;
    if (!array) array = rest && PyErr_Occurred() ? NULL : taken(&call->kept[i], call->kept_count, feature);
    if (!array) return false;
    bool is_written = !is_borrowed || fits(array, feature, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE);
    rest -= is_borrowed;
    arrays->outputs[i] = placed(feature, array);
    is_written = is_written && PyDict_SetItem(results, feature->name, array) == 0;
    Py_DecRef(array);
    if (!is_written) return false;
  }
  return rest == 0;
}

/// Predicts while other Python threads run. Sets an error on failure.
static bool run(const Call *call, const Arrays *arrays, kelvin_cancellation *cancellation) {
  char *words = NULL;
  PyThreadState *thread = PyEval_SaveThread();
  kelvin_code code = call->predict(
    call->model, call->inputs.names, arrays->inputs, call->inputs.count, call->outputs.names, arrays->outputs,
    call->outputs.count, NULL, cancellation, &words);
  PyEval_RestoreThread(thread);
  if (code != KELVIN_OK) raise(call, code, words);
  return code == KELVIN_OK;
}

/// Implements `predict(inputs, outputs, cancellation)` like `ArrayCall.__call__` in arrays.py.
static PyObject *predict(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  Call *call = PyCapsule_GetPointer(self, NULL);
  if (!call) return NULL;
  if (count != 3) {
    PyErr_SetString(PyExc_TypeError, "expected inputs, outputs, and a cancellation's handle");
    return NULL;
  }
  PyObject *borrowed = arguments[1] == &_Py_NoneStruct ? NULL : arguments[1];
  kelvin_cancellation *cancellation = NULL;
  if (arguments[2] != &_Py_NoneStruct) {
    cancellation = (kelvin_cancellation *)PyLong_AsSize_t(arguments[2]);
    if (PyErr_Occurred()) return NULL;
  }
  Arrays arrays;
  arrays.count = 0;
  PyObject *results = PyDict_New();
  bool are_dictionaries = arguments[0]->ob_type == &PyDict_Type && (!borrowed || borrowed->ob_type == &PyDict_Type);
  bool is_done = results && are_dictionaries && gather(&call->inputs, arguments[0], &arrays)
    && prepare(call, borrowed, results, &arrays) && run(call, &arrays, cancellation);
  while (arrays.count) Py_DecRef(arrays.held[--arrays.count]);
  if (is_done) return results;
  Py_DecRef(results);
  if (PyErr_Occurred()) return NULL;
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

// MARK: Preparation

static void clear(Features *features) {
  for (size_t i = 0; i < features->count; i++) free((void *)features->features[i].array.shape);
  Py_DecRef(features->rows);
}

static void forget(Call *call) {
  for (size_t i = 0; i < call->outputs.count; i++)
    for (size_t k = 0; k < KEPT; k++) Py_DecRef(call->kept[i].arrays[k]);
  clear(&call->inputs);
  clear(&call->outputs);
  Py_DecRef(call->failure);
  free(call);
}

static void destroy(PyObject *capsule) { forget(PyCapsule_GetPointer(capsule, NULL)); }

/// Returns a copy of a tuple of sizes; NULL on an error.
static int64_t *copied(PyObject *shape, int32_t *rank) {
  Py_ssize_t count = PyTuple_Size(shape);
  if (count < 0) return NULL;
  int64_t *sizes = malloc((size_t)(count + 1) * sizeof *sizes);
  if (!sizes) {
    PyErr_NoMemory();
    return NULL;
  }
  for (Py_ssize_t axis = 0; axis < count; axis++) sizes[axis] = PyLong_AsLongLong(PyTuple_GetItem(shape, axis));
  if (PyErr_Occurred()) {
    free(sizes);
    return NULL;
  }
  *rank = (int32_t)count;
  return sizes;
}

/// Reads rows of name, UTF-8 name, shape, element type and type code. Returns false for too many rows, or on an error.
static bool read(PyObject *rows, Features *features) {
  Py_IncRef(features->rows = rows);
  Py_ssize_t count = PyTuple_Size(rows);
  if (count < 0 || count > MOST) return false;
  for (Py_ssize_t i = 0; i < count; i++) {
    Feature *feature = &features->features[i];
    PyObject *shape;
    PyObject *row = PyTuple_GetItem(rows, i);
    if (!PyArg_ParseTuple(
          row, "OyOOi", &feature->name, &features->names[i], &shape, &feature->type, &feature->array.type))
      return false;
    feature->array.shape = copied(shape, &feature->array.rank);
    if (!feature->array.shape) return false;
    features->count++;
  }
  return true;
}

/// Returns the number of arrays to keep for each output, as many as `MOST_KEPT` allows: 0 or at least two.
static size_t kept_count(const Features *outputs) {
  size_t bytes = 0;
  for (size_t i = 0; i < outputs->count; i++) {
    // The largest element has eight bytes.
    size_t size = 8;
    for (int32_t axis = 0; axis < outputs->features[i].array.rank; axis++)
      if (__builtin_mul_overflow(size, (size_t)outputs->features[i].array.shape[axis], &size)) return 0;
    if (size > MOST_KEPT) return 0;
    bytes += size;
  }
  size_t count = bytes ? MOST_KEPT / bytes : 0;
  return count < 2 ? 0 : count < KEPT ? count : KEPT;
}

/// Implements `predictor(model, predict, free, failure, inputs, outputs)`: see _calls.pyi.
static PyObject *predictor(PyObject *module, PyObject *arguments) {
  (void)module;
  unsigned long long model, predict_address, free_address;
  PyObject *failure, *inputs, *outputs;
  if (!PyArg_ParseTuple(arguments, "KKKOOO", &model, &predict_address, &free_address, &failure, &inputs, &outputs))
    return NULL;
  Call *call = calloc(1, sizeof *call);
  if (!call) return PyErr_NoMemory();
  call->model = (kelvin_model *)model;
  call->predict = (__typeof__(call->predict))predict_address;
  call->free = (__typeof__(call->free))free_address;
  Py_IncRef(call->failure = failure);
  bool is_read = read(inputs, &call->inputs) && read(outputs, &call->outputs);
  call->kept_count = is_read ? kept_count(&call->outputs) : 0;
  PyObject *capsule = is_read ? PyCapsule_New(call, NULL, destroy) : NULL;
  if (!capsule) {
    forget(call);
    if (PyErr_Occurred()) return NULL;
    Py_IncRef(&_Py_NoneStruct);
    return &_Py_NoneStruct;
  }
  static PyMethodDef definition = {"predict", (void *)predict, METH_FASTCALL, NULL};
  PyObject *function = PyCFunction_NewEx(&definition, capsule, NULL);
  Py_DecRef(capsule);
  return function;
}

/// Returns NumPy's function table; NULL on an error. The table's module has another name before NumPy 2.
static void **numpy_table(void) {
  PyObject *module = PyImport_ImportModule("numpy._core._multiarray_umath");
  if (!module) {
    PyErr_Clear();
    module = PyImport_ImportModule("numpy.core._multiarray_umath");
  }
  PyObject *capsule = module ? PyObject_GetAttrString(module, "_ARRAY_API") : NULL;
  void **table = capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
  Py_DecRef(capsule);
  Py_DecRef(module);
  return table;
}

/// Initializes the module. Raises ImportError if the layout of objects or arrays differs from the declarations here.
static int load(PyObject *module) {
  (void)module;
  PyObject *size = PyObject_GetAttrString(&PyBaseObject_Type, "__basicsize__");
  bool is_known = size && PyLong_AsLongLong(size) == sizeof(PyObject);
  Py_DecRef(size);
  void **table = is_known ? numpy_table() : NULL;
  unsigned version = table ? ((NPYVersion)table[NPY_VERSION])() >> 24 : 0;
  if (version != 1 && version != 2) {
    PyErr_SetString(PyExc_ImportError, "kelvin._calls is for the objects of another Python, or the arrays of another NumPy");
    return -1;
  }
  array_type = table[NPY_ARRAY_TYPE];
  new_array = (NPYNewFromDescr)table[NPY_NEW_FROM_DESCR];
  return 0;
}

__attribute__((visibility("default"))) PyObject *PyInit__calls(void) {
  static PyMethodDef methods[] = {{"predictor", (void *)predictor, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
  static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)load}, {0, NULL}};
  static PyModuleDef definition = {
    .m_base = {.ob_base = {.ob_refcnt = 1}}, .m_name = "kelvin._calls", .m_methods = methods, .m_slots = slots};
  return PyModuleDef_Init(&definition);
}
