// The transforms of Winograd's minimal filtering for three taps a side. Points are 0, +-1 and infinity for tiles of 2
// outputs, and 0, +-sqrt(1/2), +-sqrt(2) and infinity for tiles of 4, which halves the error of the usual +-1, +-2.
// Weights at the points are WinogradPlan.swift's.

layout(constant_id = 1) const int TILE = 2;
const int SIDE = TILE + 2;
const int POINTS = SIDE * SIDE;

const float NEAR = 0.70710678118654752440, FAR = 1.41421356237309504880;

// What is transformed, line by line and in place: from inputs to points, or from points to outputs.
vec4 tile[POINTS];

void transformInputs(int at, int step) {
  vec4 d0 = tile[at], d1 = tile[at + step], d2 = tile[at + 2 * step], d3 = tile[at + 3 * step];
  if (TILE == 2) {
    tile[at] = d2 - d0;
    tile[at + step] = d2 + d1;
    tile[at + 2 * step] = d2 - d1;
    tile[at + 3 * step] = d3 - d1;
  } else {
    vec4 d4 = tile[at + 4 * step], d5 = tile[at + 5 * step];
    vec4 near = fma(vec4(-2.0), d2, d4), nearOdd = fma(vec4(NEAR), d3, -FAR * d1);
    vec4 far = fma(vec4(-0.5), d2, d4), farOdd = fma(vec4(FAR), d3, -NEAR * d1);
    tile[at] = fma(vec4(-2.5), d2, d4 + d0);
    tile[at + step] = near + nearOdd;
    tile[at + 2 * step] = near - nearOdd;
    tile[at + 3 * step] = far + farOdd;
    tile[at + 4 * step] = far - farOdd;
    tile[at + 5 * step] = fma(vec4(-2.5), d3, d5 + d1);
  }
}

void transformOutputs(int at, int step) {
  vec4 d0 = tile[at], d1 = tile[at + step], d2 = tile[at + 2 * step], d3 = tile[at + 3 * step];
  if (TILE == 2) {
    tile[at] = d0 + d1 + d2;
    tile[at + step] = d1 - d2 + d3;
  } else {
    vec4 d4 = tile[at + 4 * step], d5 = tile[at + 5 * step];
    vec4 near = d1 + d2, nearOdd = NEAR * (d1 - d2);
    vec4 far = d3 + d4, farOdd = FAR * (d3 - d4);
    tile[at] = d0 + near + far;
    tile[at + step] = nearOdd + farOdd;
    tile[at + 2 * step] = fma(vec4(0.5), near, 2.0 * far);
    tile[at + 3 * step] = fma(vec4(0.5), nearOdd, 2.0 * farOdd) + d5;
  }
}
