// The transforms of Winograd's minimal filtering for three taps a side and tiles of 2 outputs a side, of which the points are
// 0, +-1 and infinity. Weights at the points are WinogradPlan.swift's.

const int TILE = 2;
const int SIDE = TILE + 2;
const int POINTS = SIDE * SIDE;

// The tile, transformed row by row in place: from inputs to points, or from points to outputs.
vec4 tile[POINTS];

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
