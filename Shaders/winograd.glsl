// The transforms of Winograd's minimal filtering for three taps a side. Points are 0, +-1 and infinity for tiles of 2 outputs
// a side. With LARGE tiles have 4, and points are 0, +-sqrt(1/2), +-sqrt(2) and infinity, which halves the error of the
// usual +-1 and +-2. Weights at the points are WinogradPlan.swift's.

#ifdef LARGE
const int TILE = 4;
#else
const int TILE = 2;
#endif
const int SIDE = TILE + 2;
const int POINTS = SIDE * SIDE;

// The tile, transformed row by row in place: from inputs to points, or from points to outputs.
vec4 tile[POINTS];

#ifdef LARGE
const float NEAR = 0.70710678118654752, FAR = 1.41421356237309505;
const int ROWS = SIDE / 2;   // of points that an invocation transforms inputs to

// Transforms inputs to zero and the near points, or to infinity and the far points.
void transformHalf(int at, int step, bool isFar) {
  vec4 d0 = tile[at], d1 = tile[at + step], d2 = tile[at + 2 * step];
  vec4 d3 = tile[at + 3 * step], d4 = tile[at + 4 * step], d5 = tile[at + 5 * step];
  vec4 even = d4 - (isFar ? 0.5 : 2.0) * d2, odd = (isFar ? FAR : NEAR) * d3 - (isFar ? NEAR : FAR) * d1;
  tile[at] = isFar ? d1 - 2.5 * d3 + d5 : d0 - 2.5 * d2 + d4;
  tile[at + step] = even + odd;
  tile[at + 2 * step] = even - odd;
}

void transformInputs(int at, int step) {
  vec4 d0 = tile[at], d1 = tile[at + step], d2 = tile[at + 2 * step];
  vec4 d3 = tile[at + 3 * step], d4 = tile[at + 4 * step], d5 = tile[at + 5 * step];
  vec4 near = d4 - 2.0 * d2, nearOdd = NEAR * d3 - FAR * d1;
  vec4 far = d4 - 0.5 * d2, farOdd = FAR * d3 - NEAR * d1;
  tile[at] = d0 - 2.5 * d2 + d4;
  tile[at + step] = near + nearOdd;
  tile[at + 2 * step] = near - nearOdd;
  tile[at + 3 * step] = far + farOdd;
  tile[at + 4 * step] = far - farOdd;
  tile[at + 5 * step] = d1 - 2.5 * d3 + d5;
}

void transformOutputs(int at, int step) {
  vec4 d1 = tile[at + step], d2 = tile[at + 2 * step], d3 = tile[at + 3 * step], d4 = tile[at + 4 * step];
  vec4 near = d1 + d2, nearOdd = NEAR * (d1 - d2), far = d3 + d4, farOdd = FAR * (d3 - d4);
  tile[at] += near + far;
  tile[at + step] = nearOdd + farOdd;
  tile[at + 2 * step] = 0.5 * near + 2.0 * far;
  tile[at + 3 * step] = 0.5 * nearOdd + 2.0 * farOdd + tile[at + 5 * step];
}
#else
const int ROWS = SIDE;

void transformInputs(int at, int step) {
  vec4 d0 = tile[at], d1 = tile[at + step], d2 = tile[at + 2 * step], d3 = tile[at + 3 * step];
  tile[at] = d2 - d0;
  tile[at + step] = d2 + d1;
  tile[at + 2 * step] = d2 - d1;
  tile[at + 3 * step] = d3 - d1;
}

void transformOutputs(int at, int step) {
  vec4 d0 = tile[at], d1 = tile[at + step], d2 = tile[at + 2 * step], d3 = tile[at + 3 * step];
  tile[at] = d0 + d1 + d2;
  tile[at + step] = d1 - d2 + d3;
}
#endif
