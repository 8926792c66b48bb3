#pragma once

/// NVIDIA's management library, opened at run time. The declarations are the part of its stable interface that Kelvin
/// uses, so that building needs no NVIDIA header.
typedef void *kelvin_nvml_device;

enum { KELVIN_NVML_SUCCESS = 0 };
/// The kinds of temperature and clock: of the graphics processor, of its multiprocessors.
enum { KELVIN_NVML_TEMPERATURE_GPU = 0, KELVIN_NVML_CLOCK_SM = 1 };
/// The temperatures at which the hardware slows down, and that the manufacturer recommends not to exceed.
enum { KELVIN_NVML_THRESHOLD_SLOWDOWN = 1, KELVIN_NVML_THRESHOLD_GPU_MAX = 3 };
/// Bits for the reasons why the clock is below the requested clock.
enum {
  KELVIN_NVML_SW_POWER_CAP = 0x4,
  KELVIN_NVML_HW_SLOWDOWN = 0x8,
  KELVIN_NVML_SW_THERMAL = 0x20,
  KELVIN_NVML_HW_THERMAL = 0x40,
  KELVIN_NVML_POWER_BRAKE = 0x80,
};

/// Functions that every version since 2013 has: name, then parameters. All return 0 for success.
#define KELVIN_NVML_REQUIRED(F)                                                               \
  F(nvmlInit_v2, (void))                                                                      \
  F(nvmlDeviceGetCount_v2, (unsigned *_Nonnull count))                                        \
  F(nvmlDeviceGetHandleByIndex_v2, (unsigned index, kelvin_nvml_device _Nullable *_Nonnull))  \
  F(nvmlDeviceGetName, (kelvin_nvml_device _Nonnull, char *_Nonnull name, unsigned length))   \
  F(nvmlDeviceGetTemperature, (kelvin_nvml_device _Nonnull, int sensor, unsigned *_Nonnull))

/// Functions that may be missing; the table then holds NULL.
#define KELVIN_NVML_OPTIONAL(F)                                                                          \
  F(nvmlDeviceGetUUID, (kelvin_nvml_device _Nonnull, char *_Nonnull uuid, unsigned length))              \
  F(nvmlDeviceGetTemperatureThreshold, (kelvin_nvml_device _Nonnull, int threshold, unsigned *_Nonnull)) \
  F(nvmlDeviceGetPowerUsage, (kelvin_nvml_device _Nonnull, unsigned *_Nonnull milliwatts))               \
  F(nvmlDeviceGetEnforcedPowerLimit, (kelvin_nvml_device _Nonnull, unsigned *_Nonnull milliwatts))       \
  F(nvmlDeviceGetTotalEnergyConsumption,                                                                 \
    (kelvin_nvml_device _Nonnull, unsigned long long *_Nonnull millijoules))                             \
  F(nvmlDeviceGetClockInfo, (kelvin_nvml_device _Nonnull, int clock, unsigned *_Nonnull megahertz))      \
  F(nvmlDeviceGetMaxClockInfo, (kelvin_nvml_device _Nonnull, int clock, unsigned *_Nonnull megahertz))   \
  F(nvmlDeviceGetCurrentClocksEventReasons, (kelvin_nvml_device _Nonnull, unsigned long long *_Nonnull)) \
  F(nvmlDeviceGetCurrentClocksThrottleReasons, (kelvin_nvml_device _Nonnull, unsigned long long *_Nonnull))

typedef struct {
#define KELVIN_FIELD(name, parameters) int (*_Nullable name) parameters;
  KELVIN_NVML_REQUIRED(KELVIN_FIELD)
  KELVIN_NVML_OPTIONAL(KELVIN_FIELD)
#undef KELVIN_FIELD
  const char *_Nullable (*_Nullable nvmlErrorString)(int status);
} kelvin_nvml;

/// Opens the library at `path` and fills `table`.
///
/// Returns NULL on success; otherwise the missing library or function, valid until the thread's next call. `is_absent`
/// is set if the library itself could not be opened.
const char *_Nullable kelvin_nvml_open(const char *_Nonnull path, kelvin_nvml *_Nonnull table, int *_Nonnull is_absent);

/// As `kelvin_nvml_open`, with functions looked up by `find`.
const char *_Nullable kelvin_nvml_load(kelvin_nvml *_Nonnull table,
                                       void *_Nullable (*_Nonnull find)(void *_Nullable context, const char *_Nonnull),
                                       void *_Nullable context);
