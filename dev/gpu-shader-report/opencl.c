// Stands before the OpenCL loader, as a libOpenCL.so.1 of its own that needs the real one: says that every device is a
// GPU, so that a program chooses its kernels for one, and writes each program that is built, its text to
// $KELVIN_SHADER_REPORT_FOLDER/N.cl and the options to N.options.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define _GNU_SOURCE
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

enum { programLimit = 1024 };

static struct {
  _Atomic(cl_program) program;
} written[programLimit];
static atomic_int count;

static FILE *makeFile(int number, const char *suffix) {
  const char *folder = getenv("KELVIN_SHADER_REPORT_FOLDER");
  char path[4096];
  snprintf(path, sizeof path, "%s/%d.%s", folder ? folder : ".", number, suffix);
  FILE *file = fopen(path, "w");
  if (file) return file;
  perror(path);
  abort();
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void *value, size_t *needed) {
  cl_int status = NEXT(clGetDeviceInfo)(device, name, size, value, needed);
  if (status == CL_SUCCESS && name == CL_DEVICE_TYPE && value) *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
  return status;
}

cl_program clCreateProgramWithSource(
    cl_context context, cl_uint partCount, const char **parts, const size_t *lengths, cl_int *status) {
  cl_program program = NEXT(clCreateProgramWithSource)(context, partCount, parts, lengths, status);
  int number = atomic_fetch_add(&count, 1);
  if (!program || number >= programLimit) return program;
  FILE *file = makeFile(number, "cl");
  for (cl_uint i = 0; i < partCount; i++)
    fwrite(parts[i], 1, lengths && lengths[i] ? lengths[i] : strlen(parts[i]), file);
  fclose(file);
  written[number].program = program;
  return program;
}

cl_int clBuildProgram(
    cl_program program, cl_uint deviceCount, const cl_device_id *devices, const char *options,
    void (*notify)(cl_program, void *), void *data) {
  for (int number = 0; number < count && number < programLimit; number++) {
    if (written[number].program != program) continue;
    FILE *file = makeFile(number, "options");
    fputs(options ? options : "", file);
    fclose(file);
  }
  return NEXT(clBuildProgram)(program, deviceCount, devices, options, notify, data);
}
