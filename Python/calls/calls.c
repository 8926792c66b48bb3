// The module kelvin._calls: a prediction of arrays alone as one call from Python into C. Without it, arrays.py does the same.
//
// After a large model, what a step takes is the time to bring it into the processor's caches again; here are the fewest.
#include "interpreter.h"

#include <kelvin.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/// Inputs, and outputs, that a call has at most: what it makes of them lies on the stack.
enum { MOST = 32 };

/// Arrays of each output that are kept, so that a steady loop allocates none: one that its caller still looks at while the next
/// is computed, and some of other threads' calls.
enum { KEPT = 4 };
/// Bytes that kept arrays of a model take at most; where two of each output are more, none is kept.
enum { MOST_KEPT = 16 << 20 };

// One array of sizes serves NumPy and the library.
_Static_assert(sizeof(intptr_t) == sizeof(int64_t), "sizes of NumPy's are those of kelvin.h");

/// A feature, as a call for arrays of the usual sizes needs it.
typedef struct {
  PyObject *name, *type;
  /// Without memory.
  kelvin_array array;
} Feature;

/// Arrays that were handed out as one output, each with a reference of its own. Used under the interpreter's lock alone.
typedef struct {
  PyObject *arrays[KEPT];
  /// Which is given up next where all are in use.
  size_t next;
} Kept;

typedef struct {
  size_t count;
  const char *names[MOST];
  Feature features[MOST];
  /// The tuple that names and types belong to.
  PyObject *rows;
} Features;

/// What the calls for one model have in common.
typedef struct {
  kelvin_model *model;
  __typeof__(&kelvin_predict_arrays) predict;
  __typeof__(&kelvin_free) free;
  /// Makes an exception of a code and a text.
  PyObject *failure;
  Features inputs, outputs;
  /// How many arrays of each output are kept.
  size_t kept_count;
  Kept kept[MOST];
} Call;

static PyObject *array_type;
static NPYNewFromDescr new_array;

// MARK: Predictions

/// Whether an object is an array of NumPy's own type, with a feature's type and shape, and with `flags`.
static bool fits(const PyObject *object, const Feature *feature, int flags) {
  if (object->ob_type != array_type) return false;
  const PyArrayObject *array = (const PyArrayObject *)object;
  size_t size = (size_t)feature->array.rank * sizeof *array->dimensions;
  return array->nd == feature->array.rank && memcmp(array->dimensions, feature->array.shape, size) == 0
    && (array->flags & flags) == flags
    && (array->descr == feature->type || PyObject_RichCompareBool(array->descr, feature->type, Py_EQ) == 1);
}

/// A feature's array in memory of NumPy's.
static kelvin_array placed(const Feature *feature, PyObject *array) {
  kelvin_array result = feature->array;
  result.data = ((PyArrayObject *)array)->data;
  return result;
}

/// A new reference to what a dictionary has under a feature's name; NULL where it has nothing, or with an error.
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

/// Whether an array is as NumPy made it for an output. Who had it may have changed what it is over or how, or may wait for its
/// end by a weak reference: such a one is not handed out again.
static bool is_as_made(const PyObject *object, const Feature *feature) {
  const PyArrayObject *array = (const PyArrayObject *)object;
  return !array->base && !array->weak_references && array->descr == feature->type
    && fits(object, feature, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_OWNDATA | NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE);
}

/// A new reference to an array for an output that nobody else can see; NULL with an error. One that was handed out is such
/// where the only reference is ours: views, buffers and capsules of DLPack hold one to the array that they show.
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

/// Raises what the library said, and frees it.
static void raise(const Call *call, kelvin_code code, char *words) {
  PyObject *text = PyUnicode_DecodeUTF8(words ? words : "", words ? (Py_ssize_t)strlen(words) : 0, "replace");
  call->free(words);
  PyObject *error = text ? PyObject_CallFunction(call->failure, "iO", (int)code, text) : NULL;
  if (error) PyErr_SetObject(error->ob_type, error);
  Py_DecRef(error);
  Py_DecRef(text);
}

/// Arrays of one prediction, and references to its inputs; those to outputs are in its results.
typedef struct {
  kelvin_array inputs[MOST], outputs[MOST];
  PyObject *held[MOST];
  size_t count;
} Arrays;

/// Whether each input is an array that a call takes. May set an error where not.
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

/// Fills `results` with an array for each output: the caller's, or one that nobody else can see. Answers whether all of the
/// caller's are such as a call writes to; may set an error where not.
static bool prepare(Call *call, PyObject *lent, PyObject *results, Arrays *arrays) {
  Py_ssize_t rest = lent ? PyDict_Size(lent) : 0;
  for (size_t i = 0; i < call->outputs.count; i++) {
    const Feature *feature = &call->outputs.features[i];
    PyObject *array = rest ? found(lent, feature) : NULL;
    bool is_lent = array;
    if (!array) array = rest && PyErr_Occurred() ? NULL : taken(&call->kept[i], call->kept_count, feature);
    if (!array) return false;
    bool is_written = !is_lent || fits(array, feature, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE);
    rest -= is_lent;
    arrays->outputs[i] = placed(feature, array);
    is_written = is_written && PyDict_SetItem(results, feature->name, array) == 0;
    Py_DecRef(array);
    if (!is_written) return false;
  }
  return rest == 0;
}

/// Predicts while other threads of Python run. Sets an error where that fails.
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

/// `predict(inputs, outputs, cancellation)`, as `ArrayCall.__call__` of arrays.py.
static PyObject *predict(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  Call *call = PyCapsule_GetPointer(self, NULL);
  if (!call) return NULL;
  if (count != 3) {
    PyErr_SetString(PyExc_TypeError, "expected inputs, outputs, and a cancellation's handle");
    return NULL;
  }
  PyObject *lent = arguments[1] == &_Py_NoneStruct ? NULL : arguments[1];
  kelvin_cancellation *cancellation = NULL;
  if (arguments[2] != &_Py_NoneStruct) {
    cancellation = (kelvin_cancellation *)PyLong_AsSize_t(arguments[2]);
    if (PyErr_Occurred()) return NULL;
  }
  Arrays arrays;
  arrays.count = 0;
  PyObject *results = PyDict_New();
  bool are_dictionaries = arguments[0]->ob_type == &PyDict_Type && (!lent || lent->ob_type == &PyDict_Type);
  bool is_done = results && are_dictionaries && gather(&call->inputs, arguments[0], &arrays)
    && prepare(call, lent, results, &arrays) && run(call, &arrays, cancellation);
  while (arrays.count) Py_DecRef(arrays.held[--arrays.count]);
  if (is_done) return results;
  Py_DecRef(results);
  if (PyErr_Occurred()) return NULL;
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

// MARK: What is made once

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

/// A tuple of sizes in memory of its own; NULL with an error.
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

/// Reads rows of name, the same in bytes, shape, element type and its code. Answers false for too many, or with an error.
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

/// How many arrays of each output are kept: as many as there is room for, and fewer than two never.
static size_t kept_count(const Features *outputs) {
  size_t bytes = 0;
  for (size_t i = 0; i < outputs->count; i++) {
    // No element has more than eight.
    size_t size = 8;
    for (int32_t axis = 0; axis < outputs->features[i].array.rank; axis++)
      if (__builtin_mul_overflow(size, (size_t)outputs->features[i].array.shape[axis], &size)) return 0;
    if (size > MOST_KEPT) return 0;
    bytes += size;
  }
  size_t count = bytes ? MOST_KEPT / bytes : 0;
  return count < 2 ? 0 : count < KEPT ? count : KEPT;
}

/// `predictor(model, predict, free, failure, inputs, outputs)`: see _calls.pyi.
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

/// NumPy's table; NULL with an error. Its module is called otherwise before NumPy 2.
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

/// Runs when the module is imported: an ImportError where objects or arrays are of another form than is declared here.
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
