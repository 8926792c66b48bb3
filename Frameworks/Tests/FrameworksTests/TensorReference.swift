/// Numbers in row-major order, and operations on them as plain loops.
struct TensorReference {
  var shape: [Int]
  var numbers: [Double]

  init(_ shape: [Int], _ number: ([Int]) -> Double) {
    self.shape = shape
    var places = [[Int]()]
    for size in shape { places = places.flatMap { place in (0..<size).map { place + [$0] } } }
    numbers = places.map(number)
  }

  /// The number at a place, whose leading dimensions may be more, and whose sizes of 1 repeat.
  subscript(place: [Int]) -> Double {
    let place = zip(place.suffix(shape.count), shape).map { $1 == 1 ? 0 : $0 }
    return numbers[zip(place, shape).reduce(0) { $0 * $1.1 + $1.0 }]
  }

  func map(_ function: (Double) -> Double) -> TensorReference {
    var result = self
    result.numbers = numbers.map(function)
    return result
  }

  func combined(_ other: TensorReference, _ function: (Double, Double) -> Double) -> TensorReference {
    let rank = max(shape.count, other.shape.count)
    let sizes = [self, other].map { [Int](repeating: 1, count: rank - $0.shape.count) + $0.shape }
    return TensorReference(zip(sizes[0], sizes[1]).map { max($0, $1) }) { function(self[$0], other[$0]) }
  }

  func sum(_ axis: Int) -> TensorReference {
    var target = shape
    target[axis] = 1
    return TensorReference(target) { place in
      (0..<shape[axis]).reduce(0) { sum, index in
        var place = place
        place[axis] = index
        return sum + self[place]
      }
    }
  }
}

/// A linear congruential generator with Knuth's multiplier.
struct SeededNumbers: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ state >> 31
  }
}
