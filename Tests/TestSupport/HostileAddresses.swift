import KelvinBasics
package import KelvinDevices
package import KelvinGraph
import KelvinReference
import Synchronization

/// Operators whose kernels take addresses from memory, given addresses far outside their tensors.
package enum HostileAddresses {
  /// Indices that a device may clamp to their axis but never follow.
  private static let indices = [
    Int64.min, -4_000_000_000, -1_000_000, -6, -5, -1, 0, 4, 5, 1_000_000, 4_000_000_000, .max,
  ]

  package struct Case: Sendable, CustomStringConvertible {
    package let description: String
    package let graph: Graph
    package let inputs: [Tensor]
    /// With each index counted from the end where it is negative, then clamped.
    package let expected: [Float]
  }

  /// Gathering from `[1, 2, 3, 4, 5]` by indices of several types.
  package static func gathers() throws(GraphError) -> [Case] {
    let x = Tensor((0..<5).map { Float($0) + 1 }, [5])
    var cases: [Case] = []
    let types: [(ScalarType, ClosedRange<Int64>)] = [
      (.int64, .min ... .max), (.int32, -1 << 31...1 << 31 - 1), (.int8, -128...127), (.uint32, 0...1 << 32 - 1),
      (.uint8, 0...255),
    ]
    for (scalar, range) in types {
      let own = indices.filter { range.contains($0) }
      let flat =
        scalar == .int64
        ? Tensor(own, [own.count]) : Tensor(TensorType(scalar, [own.count]), rounding: own.map { Double($0) })
      let expected = own.map { Float(min(max($0 < 0 ? $0 + 5 : $0, 0), 4)) + 1 }
      let rows = Tensor(TensorType(scalar, [own.count, 1]), flat.bytes)
      let operators: [(any Operator, Tensor)] = [
        (Gather(axis: 0), flat), (GatherElements(axis: 0), flat), (GatherND(), rows),
      ]
      for (op, indices) in operators {
        var builder = GraphBuilder(evaluator: ReferenceEvaluator())
        let values = [try builder.input("x", x.type), try builder.input("indices", indices.type)]
        builder.output(
          try builder.add(op, values, name: "node", origin: Origin(name: "node", kind: op.name, index: 0))[0])
        cases.append(
          Case(
            description: "\(op.name) by \(scalar.rawValue)", graph: try builder.finish(),
            inputs: [x, indices], expected: expected))
      }
    }
    return cases
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
