@_exported public import CoreGraphics
@_exported public import CoreVideo

/// Operations on vectors of numbers, each a loop that the compiler vectorizes. Float and Double vectors of equal length
/// are expected; every function is a subset of Accelerate's.
public enum vDSP {
  /// Returns the sums of elements.
  ///
  /// - Precondition: both have the same number of elements.
  public static func add<T: BinaryFloatingPoint>(
    _ left: some AccelerateBuffer<T>, _ right: some AccelerateBuffer<T>
  ) -> [T] { pairs(left, right, +) }

  /// Returns a scalar plus each element.
  public static func add<T: BinaryFloatingPoint>(_ scalar: T, _ vector: some AccelerateBuffer<T>) -> [T] {
    vector.map { $0 + scalar }
  }

  /// Returns the differences of elements, `left - right`.
  ///
  /// - Precondition: both have the same number of elements.
  public static func subtract<T: BinaryFloatingPoint>(
    _ left: some AccelerateBuffer<T>, _ right: some AccelerateBuffer<T>
  ) -> [T] { pairs(left, right, -) }

  /// Returns the products of elements.
  ///
  /// - Precondition: both have the same number of elements.
  public static func multiply<T: BinaryFloatingPoint>(
    _ left: some AccelerateBuffer<T>, _ right: some AccelerateBuffer<T>
  ) -> [T] { pairs(left, right, *) }

  /// Returns a scalar times each element.
  public static func multiply<T: BinaryFloatingPoint>(_ scalar: T, _ vector: some AccelerateBuffer<T>) -> [T] {
    vector.map { $0 * scalar }
  }

  /// Returns the quotients of elements, `left / right`.
  ///
  /// - Precondition: both have the same number of elements.
  public static func divide<T: BinaryFloatingPoint>(
    _ left: some AccelerateBuffer<T>, _ right: some AccelerateBuffer<T>
  ) -> [T] { pairs(left, right, /) }

  /// Returns each element divided by a scalar.
  public static func divide<T: BinaryFloatingPoint>(_ vector: some AccelerateBuffer<T>, _ scalar: T) -> [T] {
    vector.map { $0 / scalar }
  }

  /// Returns a scalar divided by each element.
  public static func divide<T: BinaryFloatingPoint>(_ scalar: T, _ vector: some AccelerateBuffer<T>) -> [T] {
    vector.map { scalar / $0 }
  }

  /// Returns the products of the differences of elements, `(a - b) · (c - d)`.
  ///
  /// - Precondition: all have the same number of elements.
  public static func multiply<T: BinaryFloatingPoint>(
    subtraction left: (a: some AccelerateBuffer<T>, b: some AccelerateBuffer<T>),
    subtraction right: (c: some AccelerateBuffer<T>, d: some AccelerateBuffer<T>)
  ) -> [T] { multiply(subtract(left.a, left.b), subtract(right.c, right.d)) }

  /// Returns the sum of the products of elements.
  ///
  /// - Precondition: both have the same number of elements.
  public static func dot<T: BinaryFloatingPoint>(
    _ left: some AccelerateBuffer<T>, _ right: some AccelerateBuffer<T>
  ) -> T { pairs(left, right, *).reduce(0, +) }

  /// Returns the sum of elements.
  public static func sum<T: BinaryFloatingPoint>(_ vector: some AccelerateBuffer<T>) -> T { vector.reduce(0, +) }

  /// Returns the sum of the squares of elements.
  public static func sumOfSquares<T: BinaryFloatingPoint>(_ vector: some AccelerateBuffer<T>) -> T {
    vector.reduce(0) { $0 + $1 * $1 }
  }

  /// Returns the mean of elements; NaN if there are none.
  public static func mean<T: BinaryFloatingPoint>(_ vector: some AccelerateBuffer<T>) -> T {
    sum(vector) / T(vector.count)
  }

  /// Returns the square root of the mean of the squares; NaN if there are no elements.
  public static func rootMeanSquare<T: BinaryFloatingPoint>(_ vector: some AccelerateBuffer<T>) -> T {
    (sumOfSquares(vector) / T(vector.count)).squareRoot()
  }

  /// Returns the largest element; -∞ if there are none.
  public static func maximum<T: BinaryFloatingPoint>(_ vector: some AccelerateBuffer<T>) -> T {
    vector.max() ?? -.infinity
  }

  /// Returns the smallest element; ∞ if there are none.
  public static func minimum<T: BinaryFloatingPoint>(_ vector: some AccelerateBuffer<T>) -> T {
    vector.min() ?? .infinity
  }

  /// Returns the index and the value of the first largest element.
  ///
  /// - Precondition: there is an element.
  public static func indexOfMaximum<T: BinaryFloatingPoint>(_ vector: some AccelerateBuffer<T>) -> (UInt, T) {
    extreme(vector) { $0 > $1 }
  }

  /// Returns the index and the value of the first smallest element.
  ///
  /// - Precondition: there is an element.
  public static func indexOfMinimum<T: BinaryFloatingPoint>(_ vector: some AccelerateBuffer<T>) -> (UInt, T) {
    extreme(vector) { $0 < $1 }
  }

  /// Returns each element, limited to a range.
  public static func clip<T: BinaryFloatingPoint>(_ vector: some AccelerateBuffer<T>, to bounds: ClosedRange<T>) -> [T]
  {
    vector.map { min(max($0, bounds.lowerBound), bounds.upperBound) }
  }

  /// Returns the absolute values.
  public static func absolute<T: BinaryFloatingPoint>(_ vector: some AccelerateBuffer<T>) -> [T] {
    vector.map { abs($0) }
  }

  /// Returns the squares.
  public static func square<T: BinaryFloatingPoint>(_ vector: some AccelerateBuffer<T>) -> [T] {
    vector.map { $0 * $0 }
  }

  private static func pairs<T>(
    _ left: some AccelerateBuffer<T>, _ right: some AccelerateBuffer<T>, _ body: (T, T) -> T
  ) -> [T] {
    precondition(left.count == right.count, "vectors of \(left.count) and \(right.count) elements")
    return zip(left, right).map { body($0, $1) }
  }

  private static func extreme<T>(_ vector: some AccelerateBuffer<T>, _ isBetter: (T, T) -> Bool) -> (UInt, T) {
    var best: (index: UInt, value: T)?
    for (index, value) in vector.enumerated() where best.map({ isBetter(value, $0.value) }) ?? true {
      best = (UInt(index), value)
    }
    guard let best else { preconditionFailure("a vector has at least one element") }
    return best
  }
}

/// A vector: an array, a slice of one, or a buffer.
public protocol AccelerateBuffer<Element>: RandomAccessCollection {}

extension Array: AccelerateBuffer {}
extension ArraySlice: AccelerateBuffer {}
extension ContiguousArray: AccelerateBuffer {}
extension UnsafeBufferPointer: AccelerateBuffer {}
extension UnsafeMutableBufferPointer: AccelerateBuffer {}
