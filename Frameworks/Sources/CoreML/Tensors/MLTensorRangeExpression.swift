/// A part of a dimension in a subscript of a tensor: an `Int`, a range, or one of the names below.
public protocol MLTensorRangeExpression: Sendable {
  /// The part that the expression stands for.
  var tensorSlice: TensorSlice { get }
}

/// A part of a dimension of a tensor.
public struct TensorSlice: MLTensorRangeExpression {
  /// Positions `start`, `start + stride`, …
  struct Span {
    var start: Int
    var count: Int
    var stride: Int
  }

  enum Kind {
    /// One position, without its dimension. A negative one counts from the end.
    case position(Int)
    /// The positions of a range, every `stride`th; nil bounds are those of the dimension.
    case range(Int?, Int?, stride: Int)
    case newAxis, squeezeAxis, fillAll
  }

  let kind: Kind

  init(_ kind: Kind) { self.kind = kind }

  public var tensorSlice: TensorSlice { self }
}

extension MLTensorRangeExpression where Self == TensorSlice {
  /// All dimensions that the subscript does not name, like `...`.
  public static var fillAll: any MLTensorRangeExpression { TensorSlice(.fillAll) }
  /// A new dimension of size 1.
  public static var newAxis: any MLTensorRangeExpression { TensorSlice(.newAxis) }
  /// A dimension of size 1, which the result does not have.
  public static var squeezeAxis: any MLTensorRangeExpression { TensorSlice(.squeezeAxis) }
  /// One position of a dimension, which the result does not have. A negative one counts from the end.
  public static func index(_ index: Int) -> any MLTensorRangeExpression { TensorSlice(.position(index)) }
  /// Every `stride`th position of a range.
  public static func range(_ range: Range<Int>, stride: Int = 1) -> any MLTensorRangeExpression {
    TensorSlice(.range(range.lowerBound, range.upperBound, stride: stride))
  }
  /// Every `stride`th position of a range.
  public static func closedRange(_ range: ClosedRange<Int>, stride: Int = 1) -> any MLTensorRangeExpression {
    TensorSlice(.range(range.lowerBound, range.upperBound + 1, stride: stride))
  }
  /// Every `stride`th position from a bound on.
  public static func partialRangeFrom(
    _ range: PartialRangeFrom<Int>, stride: Int = 1
  ) -> any MLTensorRangeExpression { TensorSlice(.range(range.lowerBound, nil, stride: stride)) }
  /// Every `stride`th position below a bound.
  public static func partialRangeUpTo(
    _ range: PartialRangeUpTo<Int>, stride: Int = 1
  ) -> any MLTensorRangeExpression { TensorSlice(.range(nil, range.upperBound, stride: stride)) }
  /// Every `stride`th position up to a bound.
  public static func partialRangeUpTo(
    _ range: PartialRangeThrough<Int>, stride: Int = 1
  ) -> any MLTensorRangeExpression { TensorSlice(.range(nil, range.upperBound + 1, stride: stride)) }
}

extension Int: MLTensorRangeExpression {
  public var tensorSlice: TensorSlice { TensorSlice(.position(self)) }
}
extension Range: MLTensorRangeExpression where Bound == Int {
  public var tensorSlice: TensorSlice { TensorSlice(.range(lowerBound, upperBound, stride: 1)) }
}
extension ClosedRange: MLTensorRangeExpression where Bound == Int {
  public var tensorSlice: TensorSlice { TensorSlice(.range(lowerBound, upperBound + 1, stride: 1)) }
}
extension PartialRangeFrom: MLTensorRangeExpression where Bound == Int {
  public var tensorSlice: TensorSlice { TensorSlice(.range(lowerBound, nil, stride: 1)) }
}
extension PartialRangeUpTo: MLTensorRangeExpression where Bound == Int {
  public var tensorSlice: TensorSlice { TensorSlice(.range(nil, upperBound, stride: 1)) }
}
extension PartialRangeThrough: MLTensorRangeExpression where Bound == Int {
  public var tensorSlice: TensorSlice { TensorSlice(.range(nil, upperBound + 1, stride: 1)) }
}
