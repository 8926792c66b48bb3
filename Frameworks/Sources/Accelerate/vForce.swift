import Glibc

/// Functions of each element of a vector.
public enum vForce {
  /// Returns the exponentials.
  public static func exp(_ vector: some AccelerateBuffer<Float>) -> [Float] { vector.map { expf($0) } }
  /// Returns the exponentials.
  public static func exp(_ vector: some AccelerateBuffer<Double>) -> [Double] { vector.map { Glibc.exp($0) } }
  /// Returns the natural logarithms.
  public static func log(_ vector: some AccelerateBuffer<Float>) -> [Float] { vector.map { logf($0) } }
  /// Returns the natural logarithms.
  public static func log(_ vector: some AccelerateBuffer<Double>) -> [Double] { vector.map { Glibc.log($0) } }
  /// Returns the square roots.
  public static func sqrt<T: BinaryFloatingPoint>(_ vector: some AccelerateBuffer<T>) -> [T] {
    vector.map { $0.squareRoot() }
  }
  /// Returns the hyperbolic tangents.
  public static func tanh(_ vector: some AccelerateBuffer<Float>) -> [Float] { vector.map { tanhf($0) } }
  /// Returns the sines.
  public static func sin(_ vector: some AccelerateBuffer<Float>) -> [Float] { vector.map { sinf($0) } }
  /// Returns the cosines.
  public static func cos(_ vector: some AccelerateBuffer<Float>) -> [Float] { vector.map { cosf($0) } }
}

/// Writes the exponentials of `n` elements.
public func vvexpf(_ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>) {
  for i in 0..<Int(n[0]) { y[i] = expf(x[i]) }
}

/// Writes the natural logarithms of `n` elements.
public func vvlogf(_ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>) {
  for i in 0..<Int(n[0]) { y[i] = logf(x[i]) }
}

/// Writes the square roots of `n` elements.
public func vvsqrtf(_ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>) {
  for i in 0..<Int(n[0]) { y[i] = x[i].squareRoot() }
}

/// Writes the hyperbolic tangents of `n` elements.
public func vvtanhf(_ y: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>, _ n: UnsafePointer<Int32>) {
  for i in 0..<Int(n[0]) { y[i] = tanhf(x[i]) }
}
