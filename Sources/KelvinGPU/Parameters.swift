/// A kernel's push constants, as 32-bit words in the order that the kernel declares them.
package struct Parameters: Hashable, Sendable {
  package private(set) var words: [UInt32] = []

  package init() {}
  package init(_ values: Int...) { add(values) }
  package init(_ values: [Int]) { add(values) }

  package mutating func add(_ values: Int...) { add(values) }
  package mutating func add(_ values: [Int]) { words += values.map { UInt32(bitPattern: Int32(clamping: $0)) } }
  package mutating func add(words values: UInt32...) { words += values }
  /// Adds the low word, then the high one.
  package mutating func add(wide value: UInt64) {
    add(words: UInt32(truncatingIfNeeded: value), UInt32(truncatingIfNeeded: value >> 32))
  }

  /// Returns these parameters, followed by the reciprocals by which kernels divide.
  package func inverses(_ values: Int...) -> Parameters {
    var result = self
    result.words += values.map { (1 / Float(max($0, 1))).bitPattern }
    return result
  }

  /// Returns these parameters, followed by integers.
  package func followed(by values: [Int]) -> Parameters {
    var result = self
    result.add(values)
    return result
  }

  package func followed(by other: Parameters) -> Parameters {
    var result = self
    result.words += other.words
    return result
  }

  /// Returns these parameters, followed by floats.
  package func floats(_ values: Float...) -> Parameters {
    var result = self
    result.words += values.map(\.bitPattern)
    return result
  }
}
