import KelvinDevices
import KelvinGraph

/// Turns the nodes of a segment into steps: gives values their memory and layout, and moves a value to another layout
/// where a kernel asks for it.
final class SegmentBuilder {
  let graph: Graph
  let traits: VulkanTraits
  /// The node whose kernel is being built.
  var node = 0
  private(set) var steps: [Step] = []
  private(set) var weights: [VulkanWeight] = []
  /// The sizes of scratch values.
  private(set) var scratch: [Int] = []
  let store: VulkanWeightStore
  private let device: String
  private var placed: [ValueID: [Layout: Region]] = [:]
  private var isOutputTaken: [Bool]

  init(_ graph: Graph, _ traits: VulkanTraits, _ store: VulkanWeightStore, device: String) {
    self.graph = graph
    self.traits = traits
    self.store = store
    self.device = device
    isOutputTaken = graph.outputs.map { _ in false }
  }

  func error(_ reason: String) -> DeviceError {
    let node = graph.nodes[node]
    return DeviceError(.compilation, device: device, place: "\(node.op.name) '\(node.name)'", reason: reason)
  }

  func type(_ id: ValueID) -> TensorType { graph[id].type }

  /// Whether a value can be read in this layout without being moved first.
  func has(_ id: ValueID, _ layout: Layout) -> Bool {
    if placed[id]?[layout] != nil || graph[id].weight != nil { return true }
    return layout == .dense && placed[id] == nil
  }

  /// A value's memory in a layout.
  func read(_ id: ValueID, _ layout: Layout) throws(DeviceError) -> Region {
    if let region = placed[id]?[layout] { return region }
    if let weight = graph[id].weight {
      let region = try constant(id, weight, layout)
      place(id, layout, region)
      return region
    }
    let type = type(id)
    let shape = BlockedShape(type.shape)
    if let region = placed[id]?[layout == .dense ? .blocked : .dense] {
      let target = try write(id, layout)
      move(region, .float, shape, to: target, layout)
      return target
    }
    guard let index = graph.inputs.firstIndex(of: id) else {
      throw error("reads '\(graph[id].name)' before it is there")
    }
    let input = Region(place: .input(index), byteCount: type.byteCount)
    guard let element = Element(type.scalar) else { throw error("reads '\(graph[id].name)', which is \(type)") }
    if element.isSameOutside { place(id, .dense, input) }
    if let region = placed[id]?[layout] { return region }
    let target = try write(id, layout)
    if element.kind != .float {
      widen(input, element, count: type.count, to: target)
    } else if layout == .blocked {
      move(input, type.scalar == .float16 ? .half : .float, shape, to: target, .blocked)
    } else {
      convert(Operand(region: input, format: .half4), count: (type.count + 3) / 4, to: target)
    }
    return target
  }

  /// New memory for a value: the segment's output where that is possible.
  func write(_ id: ValueID, _ layout: Layout) throws(DeviceError) -> Region {
    let type = type(id)
    let shape = BlockedShape(type.shape)
    let isDense = layout == .dense || (type.shape.rank >= 2 && shape.isDense)
    let region: Region
    if isDense, Element(type.scalar)?.isSameOutside == true, graph.inputs.firstIndex(of: id) == nil,
      let output = graph.outputs.indices.first(where: { graph.outputs[$0] == id && !isOutputTaken[$0] })
    {
      isOutputTaken[output] = true
      region = Region(place: .output(output), byteCount: type.byteCount)
    } else {
      region = temporary(count: layout == .dense ? type.words : shape.count * 4)
    }
    place(id, layout, region)
    return region
  }

  /// Scratch memory for `count` words of 32 bits.
  func temporary(count: Int) -> Region {
    let byteCount = (count + 3) / 4 * 16
    scratch.append(byteCount)
    return Region(place: .scratch(scratch.count - 1), byteCount: byteCount)
  }

  /// Gives a value the memory of another that has the same elements in the same order.
  func alias(_ id: ValueID, to region: Region, _ layout: Layout) { place(id, layout, region) }

  /// A packed weight of `count` floats, rounded up to whole groups of four.
  func weight(
    _ key: String, count: Int, fill: (UnsafeMutableBufferPointer<Float>) -> Void
  ) throws(DeviceError) -> Region {
    let weight = try store.weight(key, count: (count + 3) / 4 * 4, fill: fill)
    weights.append(weight)
    return Region(place: .weight(weights.count - 1), byteCount: weight.byteCount)
  }

  /// A bias in whole groups of four, zero where there is none.
  func bias(_ id: ValueID?, channels: Int) throws(DeviceError) -> Region {
    guard let id else { return try weight("zeros/vulkan-\((channels + 3) / 4 * 4)", count: channels) { _ in } }
    return try read(id, .dense)
  }

  /// Adds a dispatch. Groups with no work are left out.
  ///
  /// - Parameter constants: specialisation constants from 1; 0 is the group's size.
  func dispatch(
    _ shader: String, group: Int, constants: [Int] = [], _ parameters: Parameters, groups: [Int], reads: [Operand],
    write: Region
  ) {
    guard groups.allSatisfy({ $0 > 0 }) else { return }
    let key = PipelineKey(shader: shader, constants: ([group] + constants).map { UInt32(bitPattern: Int32($0)) })
    steps.append(
      Step(pipeline: key, parameters: parameters.words, groups: groups, reads: reads, write: write, node: node))
  }

  /// Adds a dispatch of one invocation for each of `count` elements.
  func dispatchFlat(
    _ shader: String, constants: [Int] = [], _ parameters: Parameters, count: Int, reads: [Operand], write: Region
  ) {
    let (x, z) = folded((count + traits.flatGroup - 1) / traits.flatGroup)
    dispatch(
      shader, group: traits.flatGroup, constants: constants, parameters, groups: [x, 1, z], reads: reads, write: write)
  }

  /// A long side of a grid as x and z, neither above the device's limit.
  func folded(_ count: Int) -> (x: Int, z: Int) {
    guard count > traits.groupLimit else { return (count, count > 0 ? 1 : 0) }
    let z = (count + traits.groupLimit - 1) / traits.groupLimit
    return ((count + z - 1) / z, z)
  }

  /// Brings every output to its place.
  func finish() throws(DeviceError) {
    let producers = graph.producers()
    for (index, id) in graph.outputs.enumerated() {
      let type = type(id)
      node = producers[id.index] ?? max(graph.nodes.count - 1, 0)
      let target = Region(place: .output(index), byteCount: type.byteCount)
      if let region = placed[id]?[.dense], region.place == target.place { continue }
      guard let element = Element(type.scalar) else { throw error("gives '\(graph[id].name)' as \(type)") }
      let isBlockedOnly = placed[id]?[.dense] == nil && placed[id]?[.blocked] != nil
      if type.scalar == .float32, isBlockedOnly, !isOutputTaken[index], let region = placed[id]?[.blocked] {
        isOutputTaken[index] = true
        move(region, .float, BlockedShape(type.shape), to: target, .dense)
        place(id, .dense, target)
        continue
      }
      let region = try read(id, .dense)
      if region.place == target.place { continue }
      isOutputTaken[index] = true
      if element.kind != .float {
        if element.isSameOutside {
          copy(words: type.words, region, to: target)
        } else {
          narrow(region, element, count: type.count, to: target)
        }
      } else if type.scalar == .float32 {
        convert(Operand(region: region, format: .float4), count: (type.count + 3) / 4, to: target)
      } else {
        var parameters = Parameters()
        parameters.add((type.count + 1) / 2)
        dispatchFlat(
          "half", parameters, count: (type.count + 1) / 2, reads: [Operand(region: region, format: .float)],
          write: target)
      }
    }
  }

  private func place(_ id: ValueID, _ layout: Layout, _ region: Region) {
    placed[id, default: [:]][layout] = region
    let (shape, scalar) = (type(id).shape, type(id).scalar)
    if scalar.isFloatingPoint, shape.rank >= 2, BlockedShape(shape).isDense {
      placed[id, default: [:]][layout == .dense ? .blocked : .dense] = region
    }
  }

  private func constant(_ id: ValueID, _ weight: Weight, _ layout: Layout) throws(DeviceError) -> Region {
    let value = graph[id]
    guard let element = Element(value.type.scalar) else { throw error("'\(value.name)' is \(value.type)") }
    if element.kind != .float { return try words(value, weight, element) }
    if layout == .dense {
      return try self.weight("\(value.name)/vulkan-dense", count: value.type.count) { target in
        for (index, element) in weight.dense().floats.enumerated() { target[index] = element }
      }
    }
    let shape = BlockedShape(value.type.shape)
    return try self.weight("\(value.name)/vulkan-blocked", count: shape.count * 4) { target in
      let source = weight.dense().floats
      for plane in 0..<shape.batch * shape.channels {
        let (batch, channel) = plane.quotientAndRemainder(dividingBy: shape.channels)
        for place in 0..<shape.area {
          let block = (batch * shape.blocks + channel / 4) * shape.area + place
          target[block * 4 + channel % 4] = source[plane * shape.area + place]
        }
      }
    }
  }

  /// A constant of integers.
  private func words(_ value: Value, _ weight: Weight, _ element: Element) throws(DeviceError) -> Region {
    try self.weight("\(value.name)/vulkan-words", count: value.type.words) { target in
      let tensor = weight.dense()
      if element.isSameOutside {
        tensor.bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(target).copyMemory(from: $0) }
      } else {
        for (index, integer) in tensor.integers.enumerated() {
          target[index] = Float(bitPattern: UInt32(truncatingIfNeeded: integer))
        }
      }
    }
  }

  private func move(
    _ source: Region, _ format: TexelFormat, _ shape: BlockedShape, to target: Region, _ layout: Layout
  ) {
    var parameters = Parameters()
    parameters.add(shape.count, shape.area, shape.blocks, shape.channels)
    parameters.addInverses(shape.area, shape.blocks)
    dispatchFlat(
      layout == .blocked ? "block" : "unblock", parameters, count: shape.count,
      reads: [Operand(region: source, format: layout == .blocked ? format : .float4)], write: target)
  }

  /// Copies groups of four elements, to float32.
  private func convert(_ source: Operand, count: Int, to target: Region) {
    var parameters = Parameters()
    parameters.add(count)
    parameters.add(Float(0), 0)
    dispatchFlat(
      "unary", constants: [Int(UnaryFunction.noneCode)], parameters, count: count, reads: [source], write: target)
  }
}
