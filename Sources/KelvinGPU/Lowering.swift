package import KelvinDevices
package import KelvinGraph

/// Turns the nodes of a segment into dispatches. It assigns memory to values, and converts a value to another layout
/// the first time that a kernel reads it in that layout.
package final class Lowering<Target: GPUTarget> {
  package let graph: Graph
  package let target: Target
  package private(set) var dispatches: [Dispatch<Target.Program>] = []
  package private(set) var weights: [WeightPacking] = []
  /// The sizes of scratch values, in bytes.
  package private(set) var scratch: [Int] = []
  private var current = 0
  private var places: [ValueID: [ValueLayout: Storage]] = [:]
  /// The float32 copies for kernels without a variant for float16, by the storage that they were converted from.
  private var widened: [Storage: Storage] = [:]
  private var isOutputTaken: [Bool]
  /// Values that are written directly into a contiguous join.
  private let joined: [ValueID: JoinedPart]
  /// The memory of joins that already have some of their parts.
  private var reserved: [ValueID: [ValueLayout: Storage]] = [:]
  /// - Parameter layouts: the layouts of the selected kernels, by node.
  package init(_ graph: Graph, _ target: Target, layouts: [KernelLayouts]) {
    self.graph = graph
    self.target = target
    isOutputTaken = graph.outputs.map { _ in false }
    joined = graph.joinedParts(layouts) { target.byteCount($0) }
  }

  /// The node whose dispatches are added.
  package var node: Node { graph.nodes[current] }
  package func begin(_ node: Int) { current = node }

  package func type(_ id: ValueID) -> TensorType { graph[id].type }
  package func blocked(_ id: ValueID) -> BlockedShape { BlockedShape(type(id).shape, lanes: target.lanes) }

  package func error(_ code: DeviceError.Code, _ reason: String) -> DeviceError {
    DeviceError(code, device: target.device, place: "\(node.op.name) '\(node.name)'", reason: reason)
  }

  /// Returns a value's memory in a layout; a dispatch converts the value if it only exists in another layout.
  package func read(_ id: ValueID, _ layout: ValueLayout) throws(DeviceError) -> Storage {
    if let storage = places[id]?[layout] { return storage }
    guard layout == .dense || layout == target.blocks else {
      throw error(.compilation, "reads '\(graph[id].name)' as \(layout), a layout that the device does not produce")
    }
    if let weight = graph[id].weight {
      let storage = try constant(id, weight, layout)
      place(id, layout, storage)
      return storage
    }
    let shape = blocked(id)
    if layout == .dense, let storage = places[id]?[target.blocks] {
      if shape.startsDense {
        place(id, .dense, storage)
        return storage
      }
      return run(target.unblock(shape), [storage], write(id, .dense))
    }
    if layout == target.blocks, let storage = places[id]?[.dense] {
      return run(target.block(shape), [storage], write(id, layout))
    }
    guard let index = graph.inputs.firstIndex(of: id) else {
      throw error(.compilation, "reads '\(graph[id].name)' before it is computed")
    }
    let type = type(id)
    let input = Storage(.input(index), byteCount: type.byteCount, isHalf: type.scalar == .float16)
    if target.isSameOutside(type.scalar) {
      place(id, .dense, input)
    } else if layout == .dense, target.enter(type, layout) != nil {
      return cross(type, from: input, to: write(id, layout)) { target.enter($0, .dense) }
    } else if let call = target.enter(type, layout) {
      return add(call, [input], write(id, layout))
    } else if layout == .dense {
      throw error(.compilation, "reads '\(graph[id].name)', which is \(type)")
    } else {
      _ = try read(id, .dense)
    }
    return try read(id, layout)
  }

  /// Returns new memory for a value: the segment's output if possible.
  package func write(_ id: ValueID, _ layout: ValueLayout) -> Storage {
    let (type, shape) = (type(id), blocked(id))
    let isDense = layout == .dense || (type.shape.rank >= 2 && shape.isDense)
    let storage = memory(id, isDense ? .dense : layout)
    place(id, layout, storage)
    return storage
  }

  /// Returns memory for a value: its part of a join in the same layout, the segment's output for a dense value, or
  /// memory of its own.
  private func memory(_ id: ValueID, _ layout: ValueLayout) -> Storage {
    if let storage = reserved[id]?[layout] { return storage }
    let type = type(id)
    if let part = joined[id], part.layout == layout {
      let (whole, size) = (memory(part.whole, layout), target.byteCount(type.scalar))
      reserved[part.whole, default: [:]][layout] = whole
      return whole.part(at: part.start * size, byteCount: layout.count(of: type.shape) * size)
    }
    guard layout == .dense else { return temporary(blocked(id).count, of: type.scalar) }
    if target.isSameOutside(type.scalar), !graph.inputs.contains(id),
      let output = graph.outputs.indices.first(where: { graph.outputs[$0] == id && !isOutputTaken[$0] })
    {
      isOutputTaken[output] = true
      return Storage(.output(output), byteCount: type.byteCount, isHalf: type.scalar == .float16)
    }
    return temporary(type.count, of: type.scalar)
  }

  /// Returns scratch memory for elements, in whole groups of 16 bytes.
  package func temporary(_ count: Int, of scalar: ScalarType) -> Storage {
    temporary(byteCount: count * target.byteCount(scalar), isHalf: target.isHalf(scalar))
  }

  /// Returns scratch memory for floats that are stored as float32 whatever the target does with their type.
  package func temporary(wide count: Int) -> Storage { temporary(byteCount: count * 4, isHalf: false) }

  /// Returns scratch memory for elements that are stored as at a segment's boundary.
  package func temporary(outside type: TensorType) -> Storage {
    temporary(byteCount: type.byteCount, isHalf: type.scalar == .float16)
  }

  private func temporary(byteCount: Int, isHalf: Bool) -> Storage {
    // An empty value has memory too, because kernels need a binding.
    scratch.append(max((byteCount + 15) / 16 * 16, 16))
    return Storage(.scratch(scratch.count - 1), byteCount: scratch[scratch.count - 1], isHalf: isHalf)
  }

  /// Makes the elements of a value available as another value, possibly with another shape.
  package func rename(_ input: ValueID, to output: ValueID, _ layout: ValueLayout) throws(DeviceError) {
    place(output, layout, try read(input, layout))
  }

  /// Returns a weight of 32-bit words that is packed after lowering, in whole groups of 16 bytes. Words that `fill`
  /// does not write are zero.
  package func weight(
    _ key: String, count: Int, fill: @escaping (UnsafeMutableBufferPointer<Float>) throws(DeviceError) -> Void
  ) -> Storage {
    let byteCount = max((count + 3) / 4 * 16, 16)
    return weight(key, byteCount, isHalf: false) { (raw) throws(DeviceError) in
      raw.initializeMemory(as: UInt8.self, repeating: 0)
      try fill(raw.bindMemory(to: Float.self))
    }
  }

  /// Returns a weight of floats that kernels read as elements of a type. If that type is stored as float16, finite
  /// numbers stay finite.
  package func weight(
    _ key: String, count: Int, of scalar: ScalarType,
    fill: @escaping (UnsafeMutableBufferPointer<Float>) throws(DeviceError) -> Void
  ) -> Storage {
    weight(key, count: count, isHalf: target.isHalf(scalar), fill: fill)
  }

  /// Returns a weight that a kernel reads packed. It is float16, even beside float32 values, if a float16 holds each
  /// element exactly.
  package func packed(
    _ weight: Weight, _ key: String, count: Int,
    fill: @escaping (UnsafeMutableBufferPointer<Float>) throws(DeviceError) -> Void
  ) -> Storage {
    let isHalf = target.isHalf(weight.type.scalar) || (target.halves != .none && weight.isHeldByFloat16)
    return self.weight(key, count: count, isHalf: isHalf, fill: fill)
  }

  private func weight(
    _ key: String, count: Int, isHalf: Bool,
    fill: @escaping (UnsafeMutableBufferPointer<Float>) throws(DeviceError) -> Void
  ) -> Storage {
    guard isHalf else { return weight(key, count: count, fill: fill) }
    let byteCount = max((count * 2 + 15) / 16 * 16, 16)
    return weight("\(key)-half", byteCount, isHalf: true) { (raw) throws(DeviceError) in
      let floats = UnsafeMutableBufferPointer<Float>.allocate(capacity: max(count, 1))
      defer { floats.deallocate() }
      floats.initialize(repeating: 0)
      try fill(floats)
      raw.initializeMemory(as: UInt8.self, repeating: 0)
      let halves = raw.bindMemory(to: UInt16.self)
      for index in 0..<count { halves[index] = floats[index].finiteHalfBits }
    }
  }

  private func weight(
    _ key: String, _ byteCount: Int, isHalf: Bool,
    fill: @escaping (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) -> Storage {
    weights.append(WeightPacking(key: key, byteCount: byteCount, node: current, fill: fill))
    return Storage(.weight(weights.count - 1), byteCount: byteCount, isHalf: isHalf)
  }

  /// Adds a dispatch, unless it has nothing to do. If floats are stored as float16 and the kernel has no variant for
  /// them, the kernel works on float32 copies and must write all of its result.
  ///
  /// - Returns: the memory that the dispatch writes.
  @discardableResult package func run(_ call: KernelDispatch<Target.Program>, _ reads: [Storage], _ write: Storage)
    -> Storage
  {
    guard (reads + [write]).contains(where: \.isHalf) else { return add(call, reads, write) }
    let areWeights = reads.allSatisfy { !$0.isHalf || $0.isWeight }
    let form: HalfStorageMode = write.isHalf ? .all : areWeights ? .weights : .operands
    if let program = target.halved(call.program, form) { return add(call.of(program), reads, write) }
    let result = write.isHalf ? temporary(wide: write.byteCount / 2) : write
    add(call, reads.map { $0.isHalf ? widen($0) : $0 }, result)
    return write.isHalf ? add(target.narrow(count: write.byteCount / 2), [result], write) : write
  }

  /// Adds a conversion between float32 and float16 elements.
  package func convert(_ read: Storage, _ write: Storage, count: Int) {
    add(write.isHalf ? target.narrow(count: count) : target.widen(count: count), [read], write)
  }

  private func widen(_ storage: Storage) -> Storage {
    if let known = widened[storage] { return known }
    let count = storage.byteCount / 2
    let wide = add(target.widen(count: count), [storage], temporary(wide: count))
    widened[storage] = wide
    return wide
  }

  /// - Parameters:
  ///   - furtherWrites: the number of leading operands that the kernel writes.
  ///   - isIdentity: whether it copies its operand unchanged.
  @discardableResult func add(
    _ call: KernelDispatch<Target.Program>, _ reads: [Storage], _ write: Storage, furtherWrites: Int = 0,
    isIdentity: Bool = false
  ) -> Storage {
    if call.grid.allSatisfy({ $0 > 0 }) {
      let dispatch = Dispatch(
        call: call, reads: reads, write: write, node: current, furtherWrites: furtherWrites, isIdentity: isIdentity)
      for written in dispatch.writes { widened[written] = nil }
      dispatches.append(dispatch)
    }
    return write
  }

  /// Returns new memory for an output that is a copy of an input, and adds the copy, which is left out if an invocation
  /// gives both the same memory.
  func copyForUpdate(_ input: ValueID, _ output: ValueID) throws(DeviceError) -> Storage {
    let (source, type) = (try read(input, .dense), type(output))
    let result = write(output, .dense)
    let copy = StridedCopy(contiguous: type.count)
    guard source.isHalf == result.isHalf else {
      self.copy(copy, of: type.scalar, from: source, to: result)
      return result
    }
    return add(target.dispatch(copy.kernel(of: type.scalar)), [source], result, isIdentity: true)
  }

  /// Adds a kernel that reads all of the node's inputs and writes its output, dense.
  package func runDense(_ call: KernelDispatch<Target.Program>) throws(DeviceError) {
    var reads: [Storage] = []
    for input in node.inputs { reads.append(try read(input, .dense)) }
    run(call, reads, write(node.outputs[0], .dense))
  }

  /// Adds a copy between dense tensors of a type.
  package func copy(_ copy: StridedCopy, of scalar: ScalarType, from source: Storage, to target: Storage) {
    run(copy.kernel(of: scalar), [source], target)
  }

  /// Adds the dispatches that move every output to the segment's output memory.
  package func finish() throws(DeviceError) {
    let producers = graph.producers()
    for (index, id) in graph.outputs.enumerated() {
      let type = type(id)
      current = producers[id.index] ?? max(graph.nodes.count - 1, 0)
      let boundary = Storage(.output(index), byteCount: type.byteCount, isHalf: type.scalar == .float16)
      let storage = try read(id, .dense)
      if storage.place == boundary.place { continue }
      if target.isSameOutside(type.scalar) {
        move(type, from: storage, to: boundary)
      } else {
        cross(type, from: storage, to: boundary) { target.leave($0) }
      }
    }
  }

  func place(_ id: ValueID, _ layout: ValueLayout, _ storage: Storage) {
    places[id, default: [:]][layout] = storage
    if type(id).scalar.isFloatingPoint, type(id).shape.rank >= 2, blocked(id).isDense {
      places[id, default: [:]][layout == .dense ? target.blocks : .dense] = storage
    }
  }
}
