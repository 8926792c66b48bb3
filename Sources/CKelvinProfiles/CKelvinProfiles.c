#include "CKelvinProfiles.h"

static const unsigned char sample_discrete_gpu[] = {
#embed "../../Profiles/devices/sample-discrete-gpu.json"
};

static const struct {
  const char *name;
  const unsigned char *bytes;
  size_t count;
} profiles[] = {
    {"sample-discrete-gpu", sample_discrete_gpu, sizeof sample_discrete_gpu},
};

const size_t kelvin_device_profile_count = sizeof profiles / sizeof *profiles;

const char *kelvin_device_profile_name(size_t index) {
  return index < kelvin_device_profile_count ? profiles[index].name : NULL;
}

const unsigned char *kelvin_device_profile(size_t index, size_t *count) {
  if (index >= kelvin_device_profile_count) return NULL;
  *count = profiles[index].count;
  return profiles[index].bytes;
}
