// Times calls of the C interface in C for overhead_round.py, which compares them with Python. libkelvin is already loaded.
#include <kelvin.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/// Seconds of one kelvin_predict with features that are there; negative where it failed.
double overhead_call(kelvin_model *model, kelvin_features *inputs, kelvin_features *outputs) {
  double begin = now();
  kelvin_code code = kelvin_predict(model, inputs, outputs, NULL, NULL, NULL);
  double seconds = now() - begin;
  return code == KELVIN_OK ? seconds : -1;
}

/// The same with all that a new array takes: features made, the array given, the results found, all released.
double overhead_whole(
  kelvin_model *model, const char *input, const kelvin_array *array, const char *const *names, size_t count) {
  double begin = now();
  kelvin_array result;
  kelvin_features *inputs = kelvin_features_new(), *outputs = kelvin_features_new();
  kelvin_code code = kelvin_features_set_array(inputs, input, array, NULL);
  if (code == KELVIN_OK) code = kelvin_predict(model, inputs, outputs, NULL, NULL, NULL);
  for (size_t i = 0; i < count && code == KELVIN_OK; i++)
    code = kelvin_features_get_array(outputs, names[i], &result, NULL);
  kelvin_features_release(inputs);
  kelvin_features_release(outputs);
  double seconds = now() - begin;
  return code == KELVIN_OK ? seconds : -1;
}
