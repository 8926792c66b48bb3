// The parts of the Python and NumPy interfaces that calls.c uses, declared here so that building needs no headers of
// either.
//
// Python's part is in the stable ABI (https://docs.python.org/3/c-api/stable.html) since 3.10, and also works with 3.9.
// NumPy's part is the first fields of every array (`PyArrayObject_fields` of numpy/ndarraytypes.h) and a table of
// functions with fixed indices. Both are the same in NumPy 1 and 2, and `load` in calls.c checks for these versions.
#pragma once

#include <stddef.h>
#include <stdint.h>

// MARK: Python

typedef ptrdiff_t Py_ssize_t;
typedef struct PyObject {
  Py_ssize_t ob_refcnt;
  struct PyObject *ob_type;
} PyObject;
typedef struct PyThreadState PyThreadState;

/// Returns the reference count of an object. Since 3.12 only the first four bytes are the count; the others are flags.
static inline uint32_t references(const PyObject *object) { return (uint32_t)object->ob_refcnt; }

typedef struct {
  const char *ml_name;
  void *ml_meth;
  int ml_flags;
  const char *ml_doc;
} PyMethodDef;
enum { METH_VARARGS = 0x1, METH_FASTCALL = 0x80 };

typedef struct {
  int slot;
  void *value;
} PyModuleDef_Slot;
enum { Py_mod_exec = 2 };

typedef struct {
  struct {
    PyObject ob_base;
    void *m_init;
    Py_ssize_t m_index;
    PyObject *m_copy;
  } m_base;
  const char *m_name, *m_doc;
  Py_ssize_t m_size;
  PyMethodDef *m_methods;
  PyModuleDef_Slot *m_slots;
  void *m_traverse, *m_clear, *m_free;
} PyModuleDef;

extern PyObject _Py_NoneStruct, PyBaseObject_Type, PyDict_Type;
extern PyObject *PyExc_ImportError, *PyExc_TypeError;

void Py_IncRef(PyObject *object);
void Py_DecRef(PyObject *object);
int PyObject_RichCompareBool(PyObject *left, PyObject *right, int operation);
enum { Py_EQ = 2 };
PyObject *PyObject_GetAttrString(PyObject *object, const char *name);
PyObject *PyObject_CallFunction(PyObject *function, const char *format, ...);
PyObject *PyImport_ImportModule(const char *name);
PyObject *PyModuleDef_Init(PyModuleDef *definition);
PyObject *PyCFunction_NewEx(PyMethodDef *definition, PyObject *self, PyObject *module);
PyObject *PyCapsule_New(void *pointer, const char *name, void (*destructor)(PyObject *capsule));
void *PyCapsule_GetPointer(PyObject *capsule, const char *name);
int PyArg_ParseTuple(PyObject *tuple, const char *format, ...);
Py_ssize_t PyTuple_Size(PyObject *tuple);
PyObject *PyTuple_GetItem(PyObject *tuple, Py_ssize_t index);
PyObject *PyDict_New(void);
Py_ssize_t PyDict_Size(PyObject *dictionary);
PyObject *PyDict_GetItemWithError(PyObject *dictionary, PyObject *key);
int PyDict_SetItem(PyObject *dictionary, PyObject *key, PyObject *value);
size_t PyLong_AsSize_t(PyObject *number);
long long PyLong_AsLongLong(PyObject *number);
PyObject *PyUnicode_DecodeUTF8(const char *text, Py_ssize_t count, const char *errors);
PyObject *PyErr_Occurred(void);
PyObject *PyErr_NoMemory(void);
void PyErr_Clear(void);
void PyErr_SetString(PyObject *type, const char *text);
void PyErr_SetObject(PyObject *type, PyObject *value);
PyThreadState *PyEval_SaveThread(void);
void PyEval_RestoreThread(PyThreadState *state);

// MARK: NumPy

typedef struct {
  PyObject ob_base;
  char *data;
  int nd;
  intptr_t *dimensions, *strides;
  PyObject *base, *descr;
  int flags;
  PyObject *weak_references;
} PyArrayObject;
enum {
  NPY_ARRAY_C_CONTIGUOUS = 0x1,
  NPY_ARRAY_OWNDATA = 0x4,
  NPY_ARRAY_ALIGNED = 0x100,
  NPY_ARRAY_WRITEABLE = 0x400,
};

/// Indices in NumPy's table, the capsule `_ARRAY_API`: the version function, the type of arrays and the array
/// constructor.
enum { NPY_VERSION = 0, NPY_ARRAY_TYPE = 2, NPY_NEW_FROM_DESCR = 94 };
typedef unsigned (*NPYVersion)(void);
/// Creates an array. Takes ownership of the reference to `descr`.
typedef PyObject *(*NPYNewFromDescr)(
  PyObject *type, PyObject *descr, int nd, const intptr_t *dimensions, const intptr_t *strides, void *data, int flags,
  PyObject *owner);
