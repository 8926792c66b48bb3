import KelvinBasics
package import KelvinDevices
package import KelvinGraph
import KelvinReference
import Synchronization

/// Operators whose kernels take addresses from memory, given addresses far outside their tensors.
package enum HostileAddresses {
  /// Indices that a device may clamp to their axis or skip but never follow.
  private static let indices = [
    Int64.min, Int64(Int32.min) - 1, Int64(Int32.min), -1_000_000, -6, -5, -1, 0, 4, 5, 1_000_000, Int64(Int32.max),
    Int64(UInt32.max), .max,
  ]
  private static let types: [(ScalarType, ClosedRange<Int64>)] = [
    (.int64, .min ... .max), (.int32, -1 << 31...1 << 31 - 1), (.int8, -128...127), (.uint32, 0...1 << 32 - 1),
    (.uint8, 0...255),
  ]
  private static let (rows, columns) = (5, 3)
  /// The number of indices of a case; a multiple of `columns`, and of the two of a tuple.
  private static let count = 30

  package struct Case: Sendable, CustomStringConvertible {
    package let description: String
    package let graph: Graph
    package let inputs: [Tensor]
    /// With each index counted from the end where it is negative, then clamped by a gather and skipped by a scatter.
    package let expected: [Float]
  }

  /// Gathering from a matrix and scattering into it, by indices of several types.
  package static func cases(seed: UInt64) throws(GraphError) -> [Case] {
    var random = SeededGenerator(seed: seed)
    return try types.map { (scalar, range) throws(GraphError) in
      try cases(of: scalar, numbers(in: range, &random), "by \(scalar.rawValue), seed \(seed)")
    }.flatMap { $0 }
  }

  /// The indices above that are of a type, and random ones, of which a third is inside both axes, in random order.
  private static func numbers(in range: ClosedRange<Int64>, _ random: inout SeededGenerator) -> [Int64] {
    var numbers = indices.filter { range.contains($0) }
    while numbers.count < count {
      let number = Int64(bitPattern: random.next()) >> Int64(random.index(below: 63))
      let isInside = random.index(below: 3) == 0
      let next = isInside ? Int64(random.index(below: columns)) : number
      if range.contains(next) { numbers.append(next) }
    }
    return numbers.shuffled(using: &random)
  }

  private static func cases(
    of scalar: ScalarType, _ numbers: [Int64], _ name: String
  ) throws(GraphError) -> [Case] {
    let x = Tensor((0..<rows * columns).map { Float($0) + 1 }, [rows, columns])
    let updates = numbers.indices.map { -Float($0) - 1 }
    func place(_ number: Int64, of extent: Int) -> Int64 { number < 0 ? number &+ Int64(extent) : number }
    func clamped(_ number: Int64, of extent: Int) -> Int {
      Int(min(max(place(number, of: extent), 0), Int64(extent) - 1))
    }
    func inside(_ number: Int64, of extent: Int) -> Int? {
      let place = place(number, of: extent)
      return (0..<Int64(extent)).contains(place) ? Int(place) : nil
    }
    let elements = x.floats
    var (scattered, scatteredByTuples) = (elements, elements)
    for (index, number) in numbers.enumerated() {
      if let row = inside(number, of: rows) { scattered[row * columns + index % columns] = updates[index] }
    }
    for tuple in 0..<count / 2 {
      if let row = inside(numbers[2 * tuple], of: rows), let column = inside(numbers[2 * tuple + 1], of: columns) {
        scatteredByTuples[row * columns + column] = updates[tuple]
      }
    }
    func given(_ shape: Shape) -> Tensor { Tensor(TensorType(scalar, shape), wrapping: numbers) }
    let table = Shape([count / columns, columns])
    let all: [(any Operator, [Tensor], [Float])] = [
      (
        Gather(axis: 0), [x, given([count])],
        numbers.flatMap { number in (0..<columns).map { elements[clamped(number, of: rows) * columns + $0] } }
      ),
      (
        Gather(axis: 1), [x, given([count])],
        (0..<rows).flatMap { row in numbers.map { elements[row * columns + clamped($0, of: columns)] } }
      ),
      (
        GatherElements(axis: 0), [x, given(table)],
        numbers.enumerated().map { elements[clamped($1, of: rows) * columns + $0 % columns] }
      ),
      (
        GatherND(), [x, given([count / 2, 2])],
        (0..<count / 2).map {
          elements[clamped(numbers[2 * $0], of: rows) * columns + clamped(numbers[2 * $0 + 1], of: columns)]
        }
      ),
      (ScatterElements(axis: 0), [x, given(table), Tensor(updates, table)], scattered),
      (
        ScatterND(), [x, given([count / 2, 2]), Tensor(Array(updates.prefix(count / 2)), [count / 2])],
        scatteredByTuples
      ),
    ]
    return try all.map { (op, inputs, expected) throws(GraphError) in
      var builder = GraphBuilder(evaluator: ReferenceEvaluator())
      let values = try inputs.enumerated().map { (index, input) throws(GraphError) in
        try builder.input("operand \(index)", input.type)
      }
      builder.output(
        try builder.add(op, values, name: "node", origin: Origin(name: "node", kind: op.name, index: 0))[0])
      return Case(description: "\(op.name) \(name)", graph: try builder.finish(), inputs: inputs, expected: expected)
    }
  }

  /// Resizing of elements between 1 and 2, on dense and on blocked tensors: for any positions, results are between 1
  /// and 2 too.
  package static func resizes() throws(GraphError) -> [(graph: Graph, input: Tensor)] {
    var random = SeededGenerator(seed: 17)
    let input = Tensor.random(.float32, [1, 19, 7, 5], 1...2, &random)
    let window = Window(kernel: [1, 1])
    var graphs: [(Graph, Tensor)] = []
    for interpolation in [Resize.Interpolation.linear, .nearest(.floor)] {
      for axes in [[2, 3], [3]] {
        for isBlocked in [false, true] {
          var builder = GraphBuilder(evaluator: ReferenceEvaluator())
          func origin(_ name: String) -> Origin { Origin(name: name, kind: "test", index: 0) }
          var y = try builder.input("x", input.type)
          let pool = Pool(.maximum, window: window)
          if isBlocked { y = try builder.add(pool, y, name: "before", origin: origin("before")) }
          let resize = Resize(
            axes: axes.map { ResizeAxis(axis: $0, size: 11, scale: 0.5, offset: 0.25) }, interpolation: interpolation)
          y = try builder.add(resize, y, name: "resize", origin: origin("resize"))
          if isBlocked { y = try builder.add(pool, y, name: "after", origin: origin("after")) }
          builder.output(y)
          graphs.append((try builder.finish(), input))
        }
      }
    }
    return graphs
  }
}

/// Packed weights in which the source positions of a resize are nonsense; the shares by which they mix stay.
package final class HostilePositions: PackedWeights {
  private static let nonsense: [Float] = [-1, -1e9, 1e9, 3e38, -3e38, .infinity, -.infinity, .nan]
  private let memory = MemoryPackedWeights()
  private let kept = Mutex<[Bytes]>([])
  private let numbersPerPosition: Int

  /// - Parameter numbersPerPosition: lower position, upper position, weight, and padding if there is any.
  package init(numbersPerPosition: Int) { self.numbersPerPosition = numbersPerPosition }

  package var count: Int { kept.withLock { $0.count } }

  package func packed(
    _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Bytes {
    let bytes = try memory.packed(key, byteCount: byteCount) { (target) throws(DeviceError) in
      try fill(target)
      guard key.hasPrefix("resize ") else { return }
      let numbers = target.bindMemory(to: Float.self)
      for index in numbers.indices where index % numbersPerPosition < 2 {
        numbers[index] = Self.nonsense[index % Self.nonsense.count]
      }
    }
    kept.withLock { $0.append(bytes) }
    return bytes
  }
}

/// Packed weights in which all words after the codes of a quantized weight are nonsense: scales, zero points, and where
/// tables begin.
package final class HostileTables: PackedWeights {
  private static let nonsense: [UInt32] = [0xFFFF_FFFF, 0x7FFF_FFFF, 0x8000_0000, 1 << 24, 1 << 20, 0x3F80_0000]
  private let memory = MemoryPackedWeights()
  private let changed = Mutex(0)
  private let codeBytes: Int

  /// - Parameter codeBytes: the bytes of the weight's codes.
  package init(codeBytes: Int) { self.codeBytes = codeBytes }

  /// The number of words that are nonsense.
  package var count: Int { changed.withLock { $0 } }

  package func packed(
    _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Bytes {
    try memory.packed(key, byteCount: byteCount) { (target) throws(DeviceError) in
      try fill(target)
      guard key.contains("/gpu-codes-") else { return }
      let words = target.bindMemory(to: UInt32.self)
      for index in codeBytes / 4..<words.count { words[index] = Self.nonsense[index % Self.nonsense.count] }
      changed.withLock { $0 += words.count - codeBytes / 4 }
    }
  }
}
