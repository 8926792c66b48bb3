#pragma once

/* The functions of OpenBLAS that Kelvin uses, loaded at run time. */
typedef struct {
  const char *version;
  /* C = alpha A B + beta C, as CBLAS defines it. */
  void (*sgemm)(
    int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a, int lda,
    const float *b, int ldb, float beta, float *c, int ldc);
} kd_blas;

/* Loads libopenblas.so.0 at the first call and keeps it, single-threaded. Returns null if it is not installed, or if
 * memory limits of the process could make it hang. */
const kd_blas *kd_blas_load(void);
