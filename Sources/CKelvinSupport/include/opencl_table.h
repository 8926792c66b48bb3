#pragma once

/// OpenCL 1.2, opened at run time: no driver is linked, and a machine without one runs the same binary.

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

/// Every function that Kelvin calls.
#define KELVIN_OPENCL_FUNCTIONS(X) \
  X(clGetPlatformIDs)              \
  X(clGetPlatformInfo)             \
  X(clGetDeviceIDs)                \
  X(clGetDeviceInfo)               \
  X(clCreateContext)               \
  X(clReleaseContext)              \
  X(clCreateCommandQueue)          \
  X(clReleaseCommandQueue)         \
  X(clCreateBuffer)                \
  X(clReleaseMemObject)            \
  X(clEnqueueReadBuffer)           \
  X(clEnqueueWriteBuffer)          \
  X(clEnqueueMapBuffer)            \
  X(clEnqueueUnmapMemObject)       \
  X(clCreateProgramWithSource)     \
  X(clCreateProgramWithBinary)     \
  X(clBuildProgram)                \
  X(clGetProgramInfo)              \
  X(clGetProgramBuildInfo)         \
  X(clReleaseProgram)              \
  X(clCreateKernel)                \
  X(clSetKernelArg)                \
  X(clGetKernelWorkGroupInfo)      \
  X(clReleaseKernel)               \
  X(clEnqueueNDRangeKernel)        \
  X(clGetEventInfo)                \
  X(clGetEventProfilingInfo)       \
  X(clReleaseEvent)                \
  X(clSetEventCallback)            \
  X(clWaitForEvents)               \
  X(clEnqueueMarkerWithWaitList)   \
  X(clFlush)

typedef struct {
#define KELVIN_FIELD(name) __typeof__(name) *_Nonnull name;
  KELVIN_OPENCL_FUNCTIONS(KELVIN_FIELD)
#undef KELVIN_FIELD
} kelvin_opencl;

/// Returns a loader's function by its name, or NULL.
typedef void *_Nullable (*kelvin_find)(const char *_Nonnull name);

/// Opens the library at `path`, or calls `find` instead, and fills `table`.
///
/// Returns NULL on success; otherwise the missing library or function, valid until the thread's next call.
const char *_Nullable kelvin_opencl_open(
    const char *_Nonnull path, kelvin_find _Nullable find, kelvin_opencl *_Nonnull table);
