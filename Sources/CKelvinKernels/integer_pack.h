/* Packs rows and columns of integer products into panels of words. */
#pragma once
#include "ck_tiles.h"
#include "integer_simd.h"
#include "window_span.h"

/* The rows of a panel, the columns of a panel, and the words that the depth is padded to. The rows of a panel for
 * tiles are [words / 16][16 rows][16 words]. */
#ifdef CK_TILES
enum { integer_panel = ck_tile_rows, integer_width = ck_integer_vectors * ck_tile_words, integer_unit = ck_tile_words };
#else
enum { integer_panel = ck_integer_rows, integer_width = ck_integer_vectors * CK_LANES, integer_unit = 1 };
#endif

/* Words of the depth, without padding. */
CK_INLINE size_t integer_words(size_t depth) { return (depth + CK_INTEGER_GROUP - 1) / CK_INTEGER_GROUP; }
CK_INLINE size_t integer_groups(size_t depth) {
  return (integer_words(depth) + integer_unit - 1) / integer_unit * integer_unit;
}

/* The place of word `k` of a line in its panel. */
CK_INLINE size_t integer_place(size_t line, size_t k, const size_t panel) {
#ifdef CK_TILES
  if (panel == ck_tile_rows)
    return k / ck_tile_words * ck_tile_rows * ck_tile_words + line * ck_tile_words + k % ck_tile_words;
#endif
  return k * panel + line;
}

/* Packs a line of contiguous elements. Returns the sum of the stored elements. */
CK_INLINE uint32_t integer_pack_run(
  const uint8_t *x, size_t depth, bool is_signed, bool is_unsigned, size_t line, const size_t panel, uint32_t *y) {
  size_t k = 0;
#if CK_INTEGER_GROUP == 4
  uint32_t flip = integer_shift(is_signed, is_unsigned) ? 0x80808080u : 0;
  for (; k + 4 <= depth; k += 4) {
    uint32_t word;
    memcpy(&word, x + k, sizeof word);
    y[integer_place(line, k / 4, panel)] = word ^ flip;
  }
#else
  for (; k + 2 <= depth; k += 2)
    y[integer_place(line, k / 2, panel)] = integer_word(x + k, 1, 2, is_signed, is_unsigned);
#endif
  if (k < depth)
    y[integer_place(line, k / CK_INTEGER_GROUP, panel)] = integer_word(x + k, 1, depth - k, is_signed, is_unsigned);
  int32_t sum = 0;
  if (is_signed)
    for (size_t i = 0; i < depth; i++) sum += (int8_t)x[i];
  else
    for (size_t i = 0; i < depth; i++) sum += x[i];
  return (uint32_t)sum + (uint32_t)integer_shift(is_signed, is_unsigned) * (uint32_t)depth;
}

CK_INLINE void integer_pack_lines(const ck_integer_pack_args *p, size_t begin, size_t end, const size_t panel) {
  size_t panels = (p->lines + panel - 1) / panel, groups = integer_groups(p->depth);
  for (size_t item = begin; item < end; item++) {
    size_t first = item % panels * panel, lines = integer_min(panel, p->lines - first);
    const uint8_t *x = p->x + item / panels * p->x_step + first * p->line_stride;
    uint32_t *y = p->y + item / panels * p->y_step + first * (groups + 1);
    uint32_t *sums = y + groups * panel;
    if (lines < panel || groups > integer_words(p->depth)) memset(y, 0, groups * panel * sizeof *y);
    memset(sums, 0, panel * sizeof *sums);
    if (p->depth_stride == 1) {
      for (size_t line = 0; line < lines; line++)
        sums[line] =
          integer_pack_run(x + line * p->line_stride, p->depth, p->is_signed, p->is_unsigned, line, panel, y);
      continue;
    }
    for (size_t k = 0; k < p->depth; k += CK_INTEGER_GROUP) {
      size_t count = integer_min(CK_INTEGER_GROUP, p->depth - k);
      for (size_t line = 0; line < lines; line++) {
        const uint8_t *from = x + line * p->line_stride + k * p->depth_stride;
        uint32_t word = integer_word(from, p->depth_stride, count, p->is_signed, p->is_unsigned);
        y[integer_place(line, k / CK_INTEGER_GROUP, panel)] = word;
        sums[line] += (uint32_t)integer_word_sum(word, p->is_unsigned);
      }
    }
  }
}

static void CK_NAME(ck_i8_pack_rows)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  integer_pack_lines(args, begin, end, integer_panel);
}

static void CK_NAME(ck_i8_pack_columns)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  integer_pack_lines(args, begin, end, integer_width);
}

/* Interleaves `columns` elements, a multiple of CK_LANES, of CK_INTEGER_GROUP rows of which the first `count` exist. */
CK_INLINE void integer_interleave(
  const uint8_t *const *rows, size_t count, size_t columns, bool is_signed, bool is_unsigned, uint32_t *to) {
#if CK_INTEGER_GROUP == 4 && CK_LANES == 4
  uint32_t flip = integer_shift(is_signed, is_unsigned) ? 0x80808080u >> (8 * (4 - count)) : 0;
  size_t i = 0;
#ifdef CK_NEON
  for (; i + 16 <= columns; i += 16, to += 16) {
    uint8x16x4_t x;
#pragma clang loop unroll(full)
    for (size_t r = 0; r < 4; r++) x.val[r] = vld1q_u8(rows[r] + i) ^ vdupq_n_u8((uint8_t)(flip >> (8 * r)));
    vst4q_u8((uint8_t *)to, x);
  }
#endif
  for (; i < columns; i += CK_LANES, to += CK_LANES) {
    vw words = (vw)flip;
#pragma clang loop unroll(full)
    for (size_t r = 0; r < 4; r++) {
      vb x;
      memcpy(&x, rows[r] + i, CK_LANES);
      words ^= __builtin_convertvector(x, vw) << (uint32_t)(8 * r);
    }
    wstore(to, words);
  }
#elif CK_INTEGER_GROUP == 4
  uint32_t flip = integer_shift(is_signed, is_unsigned) ? 0x80808080u >> (8 * (4 - count)) : 0;
  __m128i flips = _mm_set1_epi32((int)flip);
  for (size_t i = 0; i < columns; i += 16, to += 16) {
    __m128i x[4];
#pragma clang loop unroll(full)
    for (size_t r = 0; r < 4; r++) x[r] = _mm_loadu_si128((const __m128i *)(rows[r] + i));
    __m128i low01 = _mm_unpacklo_epi8(x[0], x[1]), high01 = _mm_unpackhi_epi8(x[0], x[1]);
    __m128i low23 = _mm_unpacklo_epi8(x[2], x[3]), high23 = _mm_unpackhi_epi8(x[2], x[3]);
    __m128i *y = (__m128i *)to;
    _mm_storeu_si128(y, _mm_xor_si128(_mm_unpacklo_epi16(low01, low23), flips));
    _mm_storeu_si128(y + 1, _mm_xor_si128(_mm_unpackhi_epi16(low01, low23), flips));
    _mm_storeu_si128(y + 2, _mm_xor_si128(_mm_unpacklo_epi16(high01, high23), flips));
    _mm_storeu_si128(y + 3, _mm_xor_si128(_mm_unpackhi_epi16(high01, high23), flips));
  }
#else
  (void)count;
  (void)is_unsigned;
  for (size_t i = 0; i < columns; i += CK_LANES, to += CK_LANES) {
    vb low, high;
    memcpy(&low, rows[0] + i, CK_LANES);
    memcpy(&high, rows[1] + i, CK_LANES);
    vi a, b;
    if (is_signed) {
      a = __builtin_convertvector((vsb)low, vi);
      b = __builtin_convertvector((vsb)high, vi);
    } else {
      a = __builtin_convertvector(low, vi);
      b = __builtin_convertvector(high, vi);
    }
    wstore(to, ((vw)a & 0xFFFF) | ((vw)b << 16));
  }
#endif
}

/* Copies `count` elements of row `y` of an image from column `x` by the stride; elements outside are `fill`. */
static void integer_copy_row(
  const ck_window *w, const uint8_t *plane, ptrdiff_t y, ptrdiff_t x, uint8_t *to, size_t count, uint8_t fill) {
  ptrdiff_t width = (ptrdiff_t)w->width, stride = (ptrdiff_t)w->stride_x, n = (ptrdiff_t)count;
  window_span inside = window_inside(w, y, x, n);
  ptrdiff_t before = inside.before, end = inside.end;
  const uint8_t *from = plane + y * width + x;
  if (before > 0) memset(to, fill, (size_t)before);
  if (stride == 1) {
    if (end > before) memcpy(to + before, from + before, (size_t)(end - before));
  } else {
    ptrdiff_t i = before;
    if (stride == 2)
      for (; i + CK_LANES < end; i += CK_LANES) {
        vh halves;
        memcpy(&halves, from + 2 * i, sizeof halves);
        vb bytes = __builtin_convertvector(halves & 0xFF, vb);
        memcpy(to + i, &bytes, sizeof bytes);
      }
    for (; i < end; i++) to[i] = from[i * stride];
  }
  if (n > end) memset(to + end, fill, (size_t)(n - end));
}

/* Row `k` of columns `first` to `first + count` of an image's windows. */
static void integer_image_row(
  const ck_window *w, const uint8_t *b, size_t k, size_t first, size_t count, uint8_t fill, uint8_t *to) {
  size_t area = w->kernel_height * w->kernel_width, tap = k % area;
  const uint8_t *volume = b + k / area / w->slices.kernel * w->slices.size * w->height * w->width;
  ptrdiff_t dz = (ptrdiff_t)(k / area % w->slices.kernel * w->slices.dilation) - (ptrdiff_t)w->slices.before;
  ptrdiff_t dy = (ptrdiff_t)(tap / w->kernel_width * w->dilation_y) - (ptrdiff_t)w->before_y;
  ptrdiff_t dx = (ptrdiff_t)(tap % w->kernel_width * w->dilation_x) - (ptrdiff_t)w->before_x;
  size_t line = first / w->out_width, column = first % w->out_width;
  for (size_t done = 0; done < count; line++, column = 0) {
    size_t length = integer_min(w->out_width - column, count - done);
    ptrdiff_t z = (ptrdiff_t)(line / w->out_height * w->slices.stride) + dz;
    ptrdiff_t y = (ptrdiff_t)(line % w->out_height * w->stride_y) + dy;
    bool is_inside = z >= 0 && z < (ptrdiff_t)w->slices.size;
    const uint8_t *plane = volume + (is_inside ? (size_t)z * w->height * w->width : 0);
    integer_copy_row(
      w, plane, is_inside ? y : -1, (ptrdiff_t)(column * w->stride_x) + dx, to + done, length, fill);
    done += length;
  }
}

/* The words of a row of `count` columns that are packed while they are read: whole vectors, or whole tiles. */
CK_INLINE size_t integer_row_of(size_t count) {
  const size_t step = integer_unit > CK_LANES ? integer_unit : CK_LANES;
  return (count + step - 1) / step * step;
}

/* Packs columns `first` to `first + count` as [groups][integer_row_of(count)] words. */
static void integer_pack_panel(
  const ck_integer_gemm_args *g, const uint8_t *b, size_t first, size_t count, uint32_t *to) {
  const ck_integer_operand *o = &g->b_operand;
  bool is_unsigned = g->is_convolution;
  size_t columns = integer_row_of(count), words = integer_words(g->depth);
  memset(to + words * columns, 0, (integer_groups(g->depth) - words) * columns * sizeof *to);
  if (g->kind == ck_columns_strided && g->b_column_stride != 1) {
    for (size_t k = 0; k < g->depth; k += CK_INTEGER_GROUP, to += columns) {
      size_t depth = integer_min(CK_INTEGER_GROUP, g->depth - k);
      for (size_t j = 0; j < count; j++)
        to[j] = integer_word(
          b + (first + j) * g->b_column_stride + k * g->b_row_stride, g->b_row_stride, depth, o->is_signed,
          is_unsigned);
      for (size_t j = count; j < columns; j++) to[j] = 0;
    }
    return;
  }
  static const uint8_t zeros[integer_width] = {0};
  uint8_t copies[CK_INTEGER_GROUP][integer_width] = {{0}};
  for (size_t k = 0; k < g->depth; k += CK_INTEGER_GROUP, to += columns) {
    size_t depth = integer_min(CK_INTEGER_GROUP, g->depth - k);
    const uint8_t *rows[CK_INTEGER_GROUP];
    for (size_t r = 0; r < CK_INTEGER_GROUP; r++) {
      if (r >= depth) {
        rows[r] = zeros;
      } else if (g->kind == ck_columns_of_image) {
        integer_image_row(&g->window, b, k + r, first, count, *o->zero, copies[r]);
        rows[r] = copies[r];
      } else if (count == columns) {
        rows[r] = b + (k + r) * g->b_row_stride + first;
      } else {
        memcpy(copies[r], b + (k + r) * g->b_row_stride + first, count);
        rows[r] = copies[r];
      }
    }
    integer_interleave(rows, depth, columns, o->is_signed, is_unsigned, to);
  }
}
