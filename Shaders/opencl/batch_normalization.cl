// y = (x - mean) * factor + shift for each channel of [planes, pixels]; blocked planes have LANES contiguous channels.
// Statistics are [3][channels], blocked ones padded to whole blocks: mean, factor, shift.

typedef struct {
  int channels, pixels, run, isBlocked;
} batch_normalization_shape;

KERNEL void batch_normalization(BUFFER(x), BUFFER(statistics), BUFFER(y), batch_normalization_shape s) {
  OPEN(const STORED, x);
  OPEN(const float, statistics);
  OPEN(STORED, y);
  const int plane = get_global_id(1);
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.pixels);
  if (s.isBlocked) {
    const int blocks = (s.channels + LANES - 1) / LANES, place = plane % blocks * LANES, step = blocks * LANES;
    const vec mean = VECTOR(statistics + place), factor = VECTOR(statistics + step + place);
    const vec shift = VECTOR(statistics + 2 * step + place);
    x += (size_t)plane * s.pixels * LANES;
    y += (size_t)plane * s.pixels * LANES;
    for (int i = start; i < end; i++)
      STORE(MULTIPLY_ADD(LOAD(x + (size_t)i * LANES) - mean, factor, shift), y + (size_t)i * LANES);
  } else {
    const int place = plane % s.channels;
    const vec mean = statistics[place], factor = statistics[s.channels + place];
    const vec shift = statistics[2 * s.channels + place];
    x += (size_t)plane * s.pixels;
    y += (size_t)plane * s.pixels;
    for (int i = start; i < end; i += LANES)
      store_part(MULTIPLY_ADD(load_part(x + i, end - i, 0.0f) - mean, factor, shift), y + i, end - i);
  }
}
