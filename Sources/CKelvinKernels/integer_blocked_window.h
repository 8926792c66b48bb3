/* Windows of single channels of 8-bit tensors in blocks. A depthwise convolution first packs up to four rows of each
 * column in words, and four channels of four neighbouring columns in a vector. A tap of all rows is then one
 * instruction, and four such vectors pack into four pixels of a block in memory order. */
#pragma once
#include "integer_blocked_convolution.h"

enum { integer_quads = CK_LANES / 4, integer_lines_words = ck_integer_lines_height / 4 };

/* The number of words of vertically adjacent rows; and the columns of each stride phase. The layout of words is
 * [word][phase][quad of channels][pitch][4]. */
typedef struct {
  size_t words, pitch;
} integer_lines;

static integer_lines integer_lines_of(const ck_window *w) {
  size_t reach = (w->kernel_width - 1) * w->dilation_x / w->stride_x;
  return (integer_lines){(w->kernel_height + 3) / 4, (w->out_width + 3) / 4 * 4 + (reach + 3) / 4 * 4};
}

CK_INLINE size_t integer_line(const ck_window *w, integer_lines lines, size_t word, size_t phase) {
  return (word * w->stride_x + phase) * integer_quads * lines.pitch * 4;
}

static size_t CK_NAME(ck_i8_blocked_depthwise_scratch)(const ck_window *w) {
  integer_lines lines = integer_lines_of(w);
  return 4 * integer_line(w, lines, lines.words, 0);
}

/* Loads four pixels of a row, every `stride`-th from column `x`; pixels outside `width` are `fill`. */
CK_INLINE __m512i integer_four_pixels(const uint8_t *row, ptrdiff_t x, ptrdiff_t width, ptrdiff_t stride, __m512i fill) {
  const uint8_t *from = row + x * CK_LANES;
  if (x >= 0 && stride == 1 && x + 4 <= width) return _mm512_loadu_si512(from);
  if (x >= 0 && stride == 2 && x + 8 <= width)
    return _mm512_shuffle_i32x4(_mm512_loadu_si512(from), _mm512_loadu_si512(from + 4 * CK_LANES), 0x88);
  __m128i four[4];
  for (ptrdiff_t i = 0; i < 4; i++) {
    ptrdiff_t column = x + i * stride;
    four[i] = column < 0 || column >= width ? _mm512_castsi512_si128(fill)
                                            : _mm_loadu_si128((const __m128i *)(row + column * CK_LANES));
  }
  __m512i r = _mm512_castsi128_si512(four[0]);
  r = _mm512_inserti32x4(r, four[1], 1);
  r = _mm512_inserti32x4(r, four[2], 2);
  return _mm512_inserti32x4(r, four[3], 3);
}

/* Fills the words of one output row, including padding. */
static void integer_fill_lines(
  const ck_window *w, integer_lines lines, const uint8_t *plane, size_t row, uint8_t flip, uint8_t zero, uint32_t *to) {
  ptrdiff_t width = (ptrdiff_t)w->width, top = (ptrdiff_t)(row * w->stride_y) - (ptrdiff_t)w->before_y;
  __m512i flips = _mm512_set1_epi8((char)flip), fill = _mm512_set1_epi8((char)zero);
  for (size_t word = 0; word < lines.words; word++) {
    const uint8_t *from[4] = {0};
    for (size_t r = 0; r < 4 && 4 * word + r < w->kernel_height; r++) {
      ptrdiff_t y = top + (ptrdiff_t)((4 * word + r) * w->dilation_y);
      if (y >= 0 && y < (ptrdiff_t)w->height) from[r] = plane + y * width * CK_LANES;
    }
    for (size_t phase = 0; phase < w->stride_x; phase++) {
      uint32_t *line = to + integer_line(w, lines, word, phase);
      ptrdiff_t x = (ptrdiff_t)phase - (ptrdiff_t)w->before_x;
      for (size_t column = 0; column < lines.pitch; column += 4, x += 4 * (ptrdiff_t)w->stride_x) {
        __m512i rows[4];
#pragma clang loop unroll(full)
        for (size_t r = 0; r < 4; r++) {
          rows[r] = from[r] ? integer_four_pixels(from[r], x, width, (ptrdiff_t)w->stride_x, fill) : fill;
          if (flip) rows[r] = _mm512_xor_si512(rows[r], flips);
        }
        __m512i low01 = _mm512_unpacklo_epi8(rows[0], rows[1]), high01 = _mm512_unpackhi_epi8(rows[0], rows[1]);
        __m512i low23 = _mm512_unpacklo_epi8(rows[2], rows[3]), high23 = _mm512_unpackhi_epi8(rows[2], rows[3]);
        uint32_t *y = line + column * 4;
        _mm512_storeu_si512(y, _mm512_unpacklo_epi16(low01, low23));
        _mm512_storeu_si512(y + lines.pitch * 4, _mm512_unpackhi_epi16(low01, low23));
        _mm512_storeu_si512(y + lines.pitch * 8, _mm512_unpacklo_epi16(high01, high23));
        _mm512_storeu_si512(y + lines.pitch * 12, _mm512_unpackhi_epi16(high01, high23));
      }
    }
  }
}

/* A block's parameters, four channels repeated in each lane of 128 bits. */
typedef struct {
  vw add[integer_quads], factor[integer_quads];
  vf scale[integer_quads];
} integer_quad_block;

static integer_quad_block integer_quads_of(const integer_block *block) {
  integer_quad_block quads;
  for (size_t quad = 0; quad < integer_quads; quad++)
    for (size_t lane = 0; lane < CK_LANES; lane++) {
      quads.add[quad][lane] = block->add[4 * quad + lane % 4];
      quads.factor[quad][lane] = block->factor[4 * quad + lane % 4];
      quads.scale[quad][lane] = block->scale[4 * quad + lane % 4];
    }
  return quads;
}

CK_INLINE vw integer_tap(const uint32_t *weights, size_t quad) {
  return (vw)_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(weights + 4 * quad)));
}

/* Stores four pixels of outputs, or the first `count`. */
CK_INLINE void integer_finish_quads(
  vw *sums, const integer_quad_block *block, const integer_range *range, uint8_t *y, size_t count) {
#pragma clang loop unroll(full)
  for (size_t quad = 0; quad < integer_quads; quad++) sums[quad] += block->add[quad];
  if (range->saturates) {
    __m512i bytes = integer_pack_four(sums, block->scale, 1, range);
    if (count >= 4) _mm512_storeu_si512(y, bytes);
    else _mm512_mask_storeu_epi8(y, ((__mmask64)1 << (16 * count)) - 1, bytes);
    return;
  }
  for (size_t quad = 0; quad < integer_quads; quad++) {
    uint8_t bytes[CK_LANES];
    integer_store_block(bytes, sums[quad], block->scale[quad], range->bounds);
    for (size_t p = 0; p < count && p < 4; p++) memcpy(y + p * CK_LANES + 4 * quad, bytes + 4 * p, 4);
  }
}

/* Computes a row of outputs of one block from its words. If zero points of the weights are not zero, `ones` has a
 * one for each row of each word. */
static void integer_line_row(
  const ck_window *w, integer_lines lines, const uint32_t *from, const uint32_t *weights, const uint32_t *ones,
  const integer_quad_block *block, const integer_range *range, uint8_t *y) {
  for (size_t column = 0; column < w->out_width; column += 4) {
    vw sums[integer_quads], totals[integer_quads];
#pragma clang loop unroll(full)
    for (size_t quad = 0; quad < integer_quads; quad++) sums[quad] = totals[quad] = (vw)0;
    const uint32_t *taps = weights;
    for (size_t kx = 0; kx < w->kernel_width; kx++) {
      size_t at = kx * w->dilation_x;
      for (size_t word = 0; word < lines.words; word++, taps += CK_LANES) {
        const uint32_t *line = from + integer_line(w, lines, word, at % w->stride_x) + (column + at / w->stride_x) * 4;
#pragma clang loop unroll(full)
        for (size_t quad = 0; quad < integer_quads; quad++) {
          vw x = wload(line + quad * lines.pitch * 4);
          sums[quad] = wdot(sums[quad], x, integer_tap(taps, quad));
          if (ones) totals[quad] = wdot(totals[quad], x, (vw)ones[word]);
        }
      }
    }
    if (ones)
      for (size_t quad = 0; quad < integer_quads; quad++) sums[quad] -= block->factor[quad] * totals[quad];
    integer_finish_quads(sums, block, range, y + column * CK_LANES, w->out_width - column);
  }
}

/* The same for three columns and one word, which stay in registers. */
static void integer_line_row_of_three(
  const ck_window *w, integer_lines lines, const uint32_t *from, const uint32_t *weights,
  const integer_quad_block *block, const integer_range *range, uint8_t *y) {
  vw taps[3][integer_quads];
  const uint32_t *columns[3];
#pragma clang loop unroll(full)
  for (size_t kx = 0; kx < 3; kx++) {
    size_t at = kx * w->dilation_x;
    columns[kx] = from + integer_line(w, lines, 0, at % w->stride_x) + at / w->stride_x * 4;
#pragma clang loop unroll(full)
    for (size_t quad = 0; quad < integer_quads; quad++) taps[kx][quad] = integer_tap(weights + kx * CK_LANES, quad);
  }
  for (size_t column = 0; column < w->out_width; column += 4) {
    vw sums[integer_quads];
#pragma clang loop unroll(full)
    for (size_t quad = 0; quad < integer_quads; quad++) {
      size_t at = column * 4 + quad * lines.pitch * 4;
      sums[quad] = wdot((vw)0, wload(columns[0] + at), taps[0][quad]);
      sums[quad] = wdot(sums[quad], wload(columns[1] + at), taps[1][quad]);
      sums[quad] = wdot(sums[quad], wload(columns[2] + at), taps[2][quad]);
    }
    integer_finish_quads(sums, block, range, y + column * CK_LANES, w->out_width - column);
  }
}

static void CK_NAME(ck_i8_blocked_depthwise)(const void *args, size_t begin, size_t end, void *scratch) {
  const ck_integer_lines_args *d = args;
  const ck_window *w = &d->window;
  integer_lines lines = integer_lines_of(w);
  size_t bands = (w->out_height + d->band - 1) / d->band, blocks = (d->channels + CK_LANES - 1) / CK_LANES;
  size_t size = lines.words * w->kernel_width * CK_LANES, taps = w->kernel_height * w->kernel_width;
  uint8_t flip = d->x.is_signed ? 0x80 : 0, zero = *d->x.zero ^ flip;
  integer_range range = integer_range_of(&d->output, d->channels);
  uint32_t ones[integer_lines_words];
  for (size_t word = 0; word < lines.words; word++)
    ones[word] = CK_INTEGER_ONES >> (8 * (4 - integer_min(4, w->kernel_height - 4 * word)));
  for (size_t item = begin; item < end; item++) {
    size_t first = item % bands * d->band, plane = item / bands, channel = plane % blocks * CK_LANES;
    size_t last = integer_min(first + d->band, w->out_height);
    const uint8_t *x = d->x.data + plane * w->height * w->width * CK_LANES;
    const uint32_t *weights = d->packed + plane % blocks * (size + CK_LANES);
    integer_block block;
    bool crosses = integer_block_of(&d->output, &d->weights, weights + size, channel, d->channels, zero, &block);
    /* The product of both zero points. */
    if (crosses) block.add += block.factor * (vw)(uint32_t)(taps * zero);
    integer_quad_block quads = integer_quads_of(&block);
    for (size_t row = first; row < last; row++) {
      integer_fill_lines(w, lines, x, row, flip, *d->x.zero, scratch);
      uint8_t *y = (uint8_t *)d->y + (plane * w->out_height + row) * w->out_width * CK_LANES;
      if (!crosses && lines.words == 1 && w->kernel_width == 3)
        integer_line_row_of_three(w, lines, scratch, weights, &quads, &range, y);
      else integer_line_row(w, lines, scratch, weights, crosses ? ones : NULL, &quads, &range, y);
    }
  }
}

/* The largest elements of the windows of one block. */
static void CK_NAME(ck_i8_blocked_pool)(const void *args, size_t begin, size_t end, void *scratch) {
  (void)scratch;
  const ck_integer_pool_args *p = args;
  const ck_window *w = &p->window;
  __m128i flips = _mm_set1_epi8((char)(p->is_signed ? 0x80 : 0));
  for (size_t item = begin; item < end; item++) {
    const __m128i *x = (const __m128i *)p->x + item * w->height * w->width;
    __m128i *y = (__m128i *)p->y + item * w->out_height * w->out_width;
    for (size_t row = 0; row < w->out_height; row++)
      for (size_t column = 0; column < w->out_width; column++, y++) {
        __m128i most = _mm_setzero_si128();
        for (size_t ky = 0; ky < w->kernel_height; ky++) {
          size_t in = row * w->stride_y + ky * w->dilation_y - w->before_y;
          if (in >= w->height) continue;
          for (size_t kx = 0; kx < w->kernel_width; kx++) {
            size_t at = column * w->stride_x + kx * w->dilation_x - w->before_x;
            if (at >= w->width) continue;
            most = _mm_max_epu8(most, _mm_xor_si128(_mm_loadu_si128(x + in * w->width + at), flips));
          }
        }
        _mm_storeu_si128(y, _mm_xor_si128(most, flips));
      }
  }
}
