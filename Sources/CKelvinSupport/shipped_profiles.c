#include "shipped_profiles.h"

static const char phone[] = {
#embed "../../Profiles/thermal/phone.json" suffix(, 0)
};
static const char fanless_board[] = {
#embed "../../Profiles/thermal/fanless-board.json" suffix(, 0)
};
static const char fanless_laptop[] = {
#embed "../../Profiles/thermal/fanless-laptop.json" suffix(, 0)
};
static const char laptop[] = {
#embed "../../Profiles/thermal/laptop.json" suffix(, 0)
};
static const char desktop[] = {
#embed "../../Profiles/thermal/desktop.json" suffix(, 0)
};
static const char server[] = {
#embed "../../Profiles/thermal/server.json" suffix(, 0)
};
static const char epyc_avx512[] = {
#embed "../../Profiles/devices/epyc-avx512.json" suffix(, 0)
};
static const char llvmpipe[] = {
#embed "../../Profiles/devices/llvmpipe.json" suffix(, 0)
};
static const char pocl[] = {
#embed "../../Profiles/devices/pocl.json" suffix(, 0)
};
static const char sample_discrete_gpu[] = {
#embed "../../Profiles/devices/sample-discrete-gpu.json" suffix(, 0)
};

static const KelvinShippedProfile profiles[] = {
    {"devices", "epyc-avx512", epyc_avx512, sizeof epyc_avx512 - 1},
    {"devices", "llvmpipe", llvmpipe, sizeof llvmpipe - 1},
    {"devices", "pocl", pocl, sizeof pocl - 1},
    {"devices", "sample-discrete-gpu", sample_discrete_gpu, sizeof sample_discrete_gpu - 1},
    {"thermal", "phone", phone, sizeof phone - 1},
    {"thermal", "fanless-board", fanless_board, sizeof fanless_board - 1},
    {"thermal", "fanless-laptop", fanless_laptop, sizeof fanless_laptop - 1},
    {"thermal", "laptop", laptop, sizeof laptop - 1},
    {"thermal", "desktop", desktop, sizeof desktop - 1},
    {"thermal", "server", server, sizeof server - 1},
};

const KelvinShippedProfile *kelvin_shipped_profiles(size_t *count) {
  *count = sizeof profiles / sizeof *profiles;
  return profiles;
}
