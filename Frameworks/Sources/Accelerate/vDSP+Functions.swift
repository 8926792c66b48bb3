/// A number of elements.
public typealias vDSP_Length = UInt
/// A distance between elements.
public typealias vDSP_Stride = Int

// The functions take and give vectors as addresses, distances and a number of elements, as Accelerate's do.

/// Writes `a + b`.
public func vDSP_vadd(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  for i in 0..<Int(n) { c[i * ic] = a[i * ia] + b[i * ib] }
}

/// Writes `a - b`. As in Accelerate, the first vector is `b`.
public func vDSP_vsub(
  _ b: UnsafePointer<Float>, _ ib: vDSP_Stride, _ a: UnsafePointer<Float>, _ ia: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  for i in 0..<Int(n) { c[i * ic] = a[i * ia] - b[i * ib] }
}

/// Writes `a · b`.
public func vDSP_vmul(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  for i in 0..<Int(n) { c[i * ic] = a[i * ia] * b[i * ib] }
}

/// Writes `a / b`. As in Accelerate, the first vector is `b`.
public func vDSP_vdiv(
  _ b: UnsafePointer<Float>, _ ib: vDSP_Stride, _ a: UnsafePointer<Float>, _ ia: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  for i in 0..<Int(n) { c[i * ic] = a[i * ia] / b[i * ib] }
}

/// Writes `a + b` for a scalar `b`.
public func vDSP_vsadd(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ c: UnsafeMutablePointer<Float>,
  _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  for i in 0..<Int(n) { c[i * ic] = a[i * ia] + b[0] }
}

/// Writes `a · b` for a scalar `b`.
public func vDSP_vsmul(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ c: UnsafeMutablePointer<Float>,
  _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  for i in 0..<Int(n) { c[i * ic] = a[i * ia] * b[0] }
}

/// Writes `a / b` for a scalar `b`.
public func vDSP_vsdiv(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ c: UnsafeMutablePointer<Float>,
  _ ic: vDSP_Stride, _ n: vDSP_Length
) {
  for i in 0..<Int(n) { c[i * ic] = a[i * ia] / b[0] }
}

/// Writes `a · b + c` for scalars `b` and `c`.
public func vDSP_vsmsa(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ c: UnsafePointer<Float>,
  _ d: UnsafeMutablePointer<Float>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  for i in 0..<Int(n) { d[i * id] = a[i * ia] * b[0] + c[0] }
}

/// Writes each element of `a`, limited to `b…c`.
public func vDSP_vclip(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ c: UnsafePointer<Float>,
  _ d: UnsafeMutablePointer<Float>, _ id: vDSP_Stride, _ n: vDSP_Length
) {
  for i in 0..<Int(n) { d[i * id] = min(max(a[i * ia], b[0]), c[0]) }
}

/// Writes the sum of the elements.
public func vDSP_sve(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  c[0] = (0..<Int(n)).reduce(0) { $0 + a[$1 * ia] }
}

/// Writes the sum of the squares.
public func vDSP_svesq(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  c[0] = (0..<Int(n)).reduce(0) { $0 + a[$1 * ia] * a[$1 * ia] }
}

/// Writes the mean of the elements; NaN if there are none.
public func vDSP_meanv(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  vDSP_sve(a, ia, c, n)
  c[0] /= Float(n)
}

/// Writes the sum of the products.
public func vDSP_dotpr(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  c[0] = (0..<Int(n)).reduce(0) { $0 + a[$1 * ia] * b[$1 * ib] }
}

/// Writes the largest element; -∞ if there are none.
public func vDSP_maxv(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  c[0] = (0..<Int(n)).reduce(-.infinity) { max($0, a[$1 * ia]) }
}

/// Writes the smallest element; ∞ if there are none.
public func vDSP_minv(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ n: vDSP_Length
) {
  c[0] = (0..<Int(n)).reduce(.infinity) { min($0, a[$1 * ia]) }
}

/// Writes the first largest element and its index, which counts elements of memory.
public func vDSP_maxvi(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>,
  _ i: UnsafeMutablePointer<vDSP_Length>, _ n: vDSP_Length
) {
  (c[0], i[0]) = (-.infinity, 0)
  for index in 0..<Int(n) where a[index * ia] > c[0] { (c[0], i[0]) = (a[index * ia], vDSP_Length(index * ia)) }
}

/// Writes the product of an `m × p` and a `p × n` matrix, row-major.
public func vDSP_mmul(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ b: UnsafePointer<Float>, _ ib: vDSP_Stride,
  _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride, _ m: vDSP_Length, _ n: vDSP_Length, _ p: vDSP_Length
) {
  let (m, n, p) = (Int(m), Int(n), Int(p))
  for row in 0..<m {
    for column in 0..<n {
      c[(row * n + column) * ic] = (0..<p).reduce(0) { $0 + a[(row * p + $1) * ia] * b[($1 * n + column) * ib] }
    }
  }
}

/// Writes the transposed matrix. The result has `m` rows and `n` columns.
public func vDSP_mtrans(
  _ a: UnsafePointer<Float>, _ ia: vDSP_Stride, _ c: UnsafeMutablePointer<Float>, _ ic: vDSP_Stride,
  _ m: vDSP_Length, _ n: vDSP_Length
) {
  let (m, n) = (Int(m), Int(n))
  for row in 0..<m { for column in 0..<n { c[(row * n + column) * ic] = a[(column * m + row) * ia] } }
}
