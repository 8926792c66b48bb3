// Converts dense [N, C, pixels] to blocked and back. A work item moves up to `run` pixels of one channel block.

typedef struct {
  int channels, blocks, pixels, run;
} blocked_shape;

KERNEL void to_blocked(BUFFER(x), BUFFER(y), blocked_shape s) {
  OPEN(const STORED, x);
  OPEN(STORED, y);
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.pixels);
  const int image = get_global_id(1) / s.blocks, block = get_global_id(1) % s.blocks;
  const int count = min(s.channels - block * LANES, LANES);
  x += ((size_t)image * s.channels + block * LANES) * s.pixels;
  y += (size_t)get_global_id(1) * s.pixels * LANES;
  for (int pixel = start; pixel < end; pixel++) {
    float lanes[LANES];
    _Pragma("unroll") for (int c = 0; c < LANES; c++)
      lanes[c] = c < count ? AT(x, (size_t)c * s.pixels + pixel) : 0.0f;
    STORE(VECTOR(lanes), y + (size_t)pixel * LANES);
  }
}

KERNEL void to_dense(BUFFER(x), BUFFER(y), blocked_shape s) {
  OPEN(const STORED, x);
  OPEN(STORED, y);
  const int start = get_global_id(0) * s.run, end = min(start + s.run, s.pixels);
  const int image = get_global_id(1) / s.blocks, block = get_global_id(1) % s.blocks;
  const int count = min(s.channels - block * LANES, LANES);
  x += (size_t)get_global_id(1) * s.pixels * LANES;
  y += ((size_t)image * s.channels + block * LANES) * s.pixels;
  for (int c = 0; c < count; c++)
    for (int pixel = start; pixel < end; pixel++)
      PUT(AT(x, (size_t)pixel * LANES + c), y, (size_t)c * s.pixels + pixel);
}
