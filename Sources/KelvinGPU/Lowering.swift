package import KelvinDevices
package import KelvinGraph

/// Turns the nodes of a segment into dispatches: gives values their memory, and moves one to another layout the first
/// time that a kernel reads it so.
package final class Lowering<Target: GPUTarget> {
  package let graph: Graph
  package let target: Target
  package private(set) var dispatches: [Dispatch<Target.Program>] = []
  package private(set) var weights: [WeightPacking] = []
  /// The sizes of scratch values.
  package private(set) var scratch: [Int] = []
  private var current = 0
  private var places: [ValueID: [ValueLayout: Storage]] = [:]
  /// What kernels without a form for float16 read, by what it was made of.
  private var widened: [Storage: Storage] = [:]
  private var isOutputTaken: [Bool]
  /// Values that are made where a join of runs has them.
  private let joined: [ValueID: JoinedPart]
  /// The memory of joins of which parts have been made.
  private var reserved: [ValueID: [ValueLayout: Storage]] = [:]
  /// - Parameter layouts: of the kernels taken, by node.
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

  /// A value's memory in a layout; a dispatch moves it there where it is in none but another.
  package func read(_ id: ValueID, _ layout: ValueLayout) throws(DeviceError) -> Storage {
    if let storage = places[id]?[layout] { return storage }
    guard layout == .dense || layout == target.blocks else {
      throw error(.compilation, "reads '\(graph[id].name)' as \(layout), which the device does not make")
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
      throw error(.compilation, "reads '\(graph[id].name)' before it is there")
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

  /// New memory for a value: the segment's output where that is possible.
  package func write(_ id: ValueID, _ layout: ValueLayout) -> Storage {
    let (type, shape) = (type(id), blocked(id))
    let isDense = layout == .dense || (type.shape.rank >= 2 && shape.isDense)
    let storage = memory(id, isDense ? .dense : layout)
    place(id, layout, storage)
    return storage
  }

  /// Memory for a value: its part of a join that lies so, the segment's output where it lies dense, or its own.
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

  /// Scratch memory for elements, in whole groups of 16 bytes.
  package func temporary(_ count: Int, of scalar: ScalarType) -> Storage {
    temporary(byteCount: count * target.byteCount(scalar), isHalf: target.isHalf(scalar))
  }

  /// The same for floats that lie as float32 whatever the target makes of their type.
  package func temporary(wide count: Int) -> Storage { temporary(byteCount: count * 4, isHalf: false) }

  /// The same for what lies as it does at a segment's boundary.
  package func temporary(outside type: TensorType) -> Storage {
    temporary(byteCount: type.byteCount, isHalf: type.scalar == .float16)
  }

  private func temporary(byteCount: Int, isHalf: Bool) -> Storage {
    // Of nothing too there is some, which kernels are shown.
    scratch.append(max((byteCount + 15) / 16 * 16, 16))
    return Storage(.scratch(scratch.count - 1), byteCount: scratch[scratch.count - 1], isHalf: isHalf)
  }

  /// Gives the elements of a value another name, and perhaps shape.
  package func rename(_ input: ValueID, to output: ValueID, _ layout: ValueLayout) throws(DeviceError) {
    place(output, layout, try read(input, layout))
  }

  /// A weight of words, to be packed once the segment is lowered: zero where `fill` writes nothing, in whole groups of 16
  /// bytes.
  package func weight(
    _ key: String, count: Int, fill: @escaping (UnsafeMutableBufferPointer<Float>) throws(DeviceError) -> Void
  ) -> Storage {
    let byteCount = max((count + 3) / 4 * 16, 16)
    return weight(key, byteCount, isHalf: false) { (raw) throws(DeviceError) in
      raw.initializeMemory(as: UInt8.self, repeating: 0)
      try fill(raw.bindMemory(to: Float.self))
    }
  }

  /// The same of floats that kernels read as elements of a type: as float16 where these lie so, in which finite numbers
  /// stay finite.
  package func weight(
    _ key: String, count: Int, of scalar: ScalarType,
    fill: @escaping (UnsafeMutableBufferPointer<Float>) throws(DeviceError) -> Void
  ) -> Storage {
    weight(key, count: count, isHalf: target.isHalf(scalar), fill: fill)
  }

  /// The same of a weight that a kernel reads packed: as float16 beside values in float32 too, where a float16 holds each
  /// element.
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

  /// Adds a dispatch, unless it has nothing to do. Where floats lie as float16 and the kernel has no form for those that do,
  /// it works on copies in float32, and so has to write all of its result.
  ///
  /// - Returns: what it writes.
  @discardableResult package func run(_ call: KernelDispatch<Target.Program>, _ reads: [Storage], _ write: Storage) -> Storage {
    guard (reads + [write]).contains(where: \.isHalf) else { return add(call, reads, write) }
    let areWeights = reads.allSatisfy { !$0.isHalf || $0.isWeight }
    let form: HalfStorageMode = write.isHalf ? .all : areWeights ? .weights : .operands
    if let program = target.halved(call.program, form) { return add(call.of(program), reads, write) }
    let result = write.isHalf ? temporary(wide: write.byteCount / 2) : write
    add(call, reads.map { $0.isHalf ? widen($0) : $0 }, result)
    return write.isHalf ? add(target.narrow(count: write.byteCount / 2), [result], write) : write
  }

  /// Adds a change between float32 and float16 elements.
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

  @discardableResult func add(_ call: KernelDispatch<Target.Program>, _ reads: [Storage], _ write: Storage) -> Storage {
    if call.grid.allSatisfy({ $0 > 0 }) {
      widened[write] = nil
      dispatches.append(Dispatch(call: call, reads: reads, write: write, node: current))
    }
    return write
  }

  /// Adds a kernel that reads all of the node's inputs and writes its output, dense.
  package func runDense(_ call: KernelDispatch<Target.Program>) throws(DeviceError) {
    var reads: [Storage] = []
    for input in node.inputs { reads.append(try read(input, .dense)) }
    run(call, reads, write(node.outputs[0], .dense))
  }

  /// Adds a copy between dense tensors of a type.
  package func copy(_ copy: StridedCopy, of scalar: ScalarType, from source: Storage, to target: Storage) {
    let unit = self.target.copyUnit(scalar)
    let units = self.target.byteCount(scalar) / unit
    run(self.target.copy(copy.of(units: units), byteCount: unit), [source], target)
  }

  /// Brings every output to its place.
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
