#pragma once

/// A management library with one card whose readings a test sets. Every function returns `failure` if that is not 0.
typedef struct {
  int initFailure;
  int failure;
  /// Affects the functions that read values of the card, not those that find it.
  int readFailure;
  unsigned count;
  unsigned celsius;
  unsigned slowdownCelsius;
  unsigned milliwatts;
  unsigned limitMilliwatts;
  unsigned long long millijoules;
  unsigned megahertz;
  unsigned highestMegahertz;
  unsigned long long reasons;
  /// Calls of any function since the beginning.
  int calls;
} FakeNVML;

FakeNVML *_Nonnull fake_nvml(void);

/// Sets the card's name in every string that contains it, cut to 127 bytes; empty for the default names.
void fake_nvml_name(const char *_Nonnull name);

/// A function of the library by its name, for `kelvin_nvml_load`. `missing` is the name of one that is not there.
void *_Nullable fake_nvml_find(void *_Nullable missing, const char *_Nonnull name);
