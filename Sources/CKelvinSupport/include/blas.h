#pragma once

/* The parts of OpenBLAS that are used, found at run time. */
typedef struct {
  const char *version;
  /* C = alpha A B + beta C, as CBLAS defines it. */
  void (*sgemm)(
    int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a, int lda,
    const float *b, int ldb, float beta, float *c, int ldc);
} kd_blas;

/* Loads libopenblas.so.0 at the first call and keeps it, single-threaded. Null where it is absent, or the
 * process may not have the memory that it would wait for. */
const kd_blas *kd_blas_load(void);
