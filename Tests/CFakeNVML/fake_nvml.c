#include "CFakeNVML.h"

#include <stdio.h>
#include <string.h>

static FakeNVML state;
static int card;
static char given[128];

FakeNVML *fake_nvml(void) { return &state; }

void fake_nvml_name(const char *name) { snprintf(given, sizeof given, "%s", name); }

static int answer(void *device) {
  state.calls += 1;
  if (state.failure) return state.failure;
  return device == &card ? state.readFailure : 2;
}

static int init(void) {
  state.calls += 1;
  return state.initFailure;
}

static int get_count(unsigned *count) {
  state.calls += 1;
  *count = state.count;
  return state.failure;
}

static int get_handle(unsigned index, void **device) {
  state.calls += 1;
  if (index >= state.count) return 2;
  *device = &card;
  return state.failure;
}

static int get_name(void *device, char *name, unsigned length) {
  state.calls += 1;
  snprintf(name, length, "%s", given[0] ? given : "NVIDIA Fake");
  return device == &card ? state.failure : 2;
}

static int get_uuid(void *device, char *uuid, unsigned length) {
  state.calls += 1;
  snprintf(uuid, length, "%s", given[0] ? given : "GPU-00112233-4455-6677-8899-aabbccddeeff");
  return device == &card ? state.failure : 2;
}

static int get_temperature(void *device, int sensor, unsigned *celsius) {
  *celsius = state.celsius;
  return sensor == 0 ? answer(device) : 2;
}

static int get_threshold(void *device, int threshold, unsigned *celsius) {
  *celsius = state.slowdownCelsius;
  return threshold == 1 && state.slowdownCelsius != 0 ? answer(device) : 3;
}

static int get_power(void *device, unsigned *milliwatts) {
  *milliwatts = state.milliwatts;
  return answer(device);
}

static int get_limit(void *device, unsigned *milliwatts) {
  *milliwatts = state.limitMilliwatts;
  return answer(device);
}

static int get_energy(void *device, unsigned long long *millijoules) {
  *millijoules = state.millijoules;
  return answer(device);
}

static int get_clock(void *device, int clock, unsigned *megahertz) {
  *megahertz = state.megahertz;
  return clock == 1 ? answer(device) : 2;
}

static int get_highest_clock(void *device, int clock, unsigned *megahertz) {
  *megahertz = state.highestMegahertz;
  return clock == 1 ? answer(device) : 2;
}

static int get_reasons(void *device, unsigned long long *reasons) {
  *reasons = state.reasons;
  return answer(device);
}

static const char *describe(int status) {
  return status == 15 ? "GPU is lost" : status == 9 ? "Driver Not Loaded" : "Unknown Error";
}

void *fake_nvml_find(void *missing, const char *name) {
  static const struct {
    const char *name;
    void *function;
  } functions[] = {
      {"nvmlInit_v2", init},
      {"nvmlDeviceGetCount_v2", get_count},
      {"nvmlDeviceGetHandleByIndex_v2", get_handle},
      {"nvmlDeviceGetName", get_name},
      {"nvmlDeviceGetUUID", get_uuid},
      {"nvmlDeviceGetTemperature", get_temperature},
      {"nvmlDeviceGetTemperatureThreshold", get_threshold},
      {"nvmlDeviceGetPowerUsage", get_power},
      {"nvmlDeviceGetEnforcedPowerLimit", get_limit},
      {"nvmlDeviceGetTotalEnergyConsumption", get_energy},
      {"nvmlDeviceGetClockInfo", get_clock},
      {"nvmlDeviceGetMaxClockInfo", get_highest_clock},
      {"nvmlDeviceGetCurrentClocksThrottleReasons", get_reasons},
      {"nvmlErrorString", describe},
  };
  if (missing != NULL && strcmp(missing, name) == 0) return NULL;
  for (unsigned index = 0; index < sizeof functions / sizeof *functions; index++)
    if (strcmp(functions[index].name, name) == 0) return functions[index].function;
  return NULL;
}
