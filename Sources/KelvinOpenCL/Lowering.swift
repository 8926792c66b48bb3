internal import KelvinDevices
internal import KelvinGraph

/// How a value lies in memory inside a segment. Floating-point elements are float32 in both.
enum Layout: Hashable {
  /// Row-major.
  case dense
  /// `[N, C / lanes rounded up, pixels, lanes]` for a value `[N, C, …]`; the lanes beyond C are undefined.
  case blocked
}

/// Memory that dispatches refer to.
enum Storage {
  case input(Int)
  case output(Int)
  case scratch(byteCount: Int)
  case weights(WeightBuffer)
}

/// A number in a kernel's block of constants.
enum Constant {
  case int(Int)
  case float(Float)

  var bits: UInt32 {
    switch self {
    case .int(let value): UInt32(bitPattern: Int32(truncatingIfNeeded: value))
    case .float(let value): value.bitPattern
    }
  }
}

/// One kernel run.
struct Dispatch {
  var kernel: KernelName
  /// Indices of storages, in the order of the kernel's buffers.
  var buffers: [Int]
  var constants: [UInt32]
  /// Work items along each of three dimensions, the first a multiple of the group.
  var global: (Int, Int, Int)
  /// The node of the expanded graph that this is part of.
  var node: Int
}

/// Turns a graph into dispatches: keeps track of where values lie, in which layouts, and converts where needed.
struct Lowering {
  let device: OpenCLDevice
  let graph: Graph
  let segment: Segment
  var currentNode = 0
  private(set) var storages: [Storage] = []
  private(set) var dispatches: [Dispatch] = []
  /// For each value, its storages by layout.
  private var places: [[Layout: Int]]
  private let consumers: [[Int]]
  private let producers: [Int?]

  var tuning: Tuning { device.tuning }

  init(_ device: OpenCLDevice, _ graph: Graph, _ segment: Segment) {
    self.device = device
    self.graph = graph
    self.segment = segment
    places = Array(repeating: [:], count: graph.values.count)
    consumers = graph.consumers()
    producers = graph.producers()
    for (index, value) in graph.inputs.enumerated() where graph[value].type.scalar != .float16 {
      places[value.index][.dense] = storages.count
      storages.append(.input(index))
    }
  }

  var node: Node { graph.nodes[currentNode] }
  func type(_ value: ValueID) -> TensorType { graph[value].type }

  /// Whether the value is wanted by nobody in the segment but its boundary.
  func isOnlyOutput(_ value: ValueID) -> Bool { consumers[value.index].isEmpty }

  /// Whether the value is there in the blocked layout, so that asking for it costs nothing.
  func isBlocked(_ value: ValueID) -> Bool { places[value.index][.blocked] != nil }

  /// The value in a layout, converted by a dispatch where it is not there yet.
  mutating func place(_ value: ValueID, _ layout: Layout) throws(DeviceError) -> Int {
    if let known = places[value.index][layout] { return known }
    let storage: Int
    if graph[value].weight != nil {
      storage = try weight(value, layout)
    } else if layout == .dense, let blocked = places[value.index][.blocked] {
      storage = isDenseWhenBlocked(value) ? blocked : unblock(value, blocked)
    } else if layout == .dense {
      guard let input = graph.inputs.firstIndex(of: value) else {
        throw error(.execution, "'\(graph[value].name)' is read before it is computed")
      }
      storages.append(.input(input))
      storage = scratch(elements: type(value).count)
      convert("half_to_float", storages.count - 2, storage, count: type(value).count)
    } else {
      storage = block(value, try place(value, .dense))
    }
    places[value.index][layout] = storage
    return storage
  }

  /// New memory for a value in a layout: the segment's output itself where that fits.
  mutating func make(_ value: ValueID, _ layout: Layout) -> Int {
    let type = type(value)
    if layout == .dense, type.scalar != .float16, let output = graph.outputs.firstIndex(of: value) {
      storages.append(.output(output))
    } else if layout == .dense {
      storages.append(.scratch(byteCount: type.count * internalByteCount(type.scalar)))
    } else {
      storages.append(.scratch(byteCount: 4 * blockedCount(type.shape)))
    }
    places[value.index][layout] = storages.count - 1
    return storages.count - 1
  }

  /// Lets a value lie where another already does.
  mutating func alias(_ value: ValueID, _ layout: Layout, _ storage: Int) { places[value.index][layout] = storage }

  mutating func scratch(elements: Int) -> Int {
    storages.append(.scratch(byteCount: 4 * elements))
    return storages.count - 1
  }

  /// float32 values packed from weights by `fill`, which sees them zeroed.
  mutating func packed(
    _ key: String, count: Int, fill: (UnsafeMutableBufferPointer<Float>) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Int {
    let buffer = try device.weights.buffer(key, in: segment.weights, byteCount: 4 * max(count, 1), on: device) {
      (raw: UnsafeMutableRawBufferPointer) throws(DeviceError) in
      raw.initializeMemory(as: UInt8.self, repeating: 0)
      try fill(raw.assumingMemoryBound(to: Float.self))
    }
    storages.append(.weights(buffer))
    return storages.count - 1
  }

  /// Adds a kernel run, unless it has nothing to do.
  ///
  /// - Parameter global: work items along up to three dimensions; the first is rounded up to whole groups.
  mutating func run(_ kernel: KernelName, _ buffers: [Int], _ constants: [Constant], global: [Int]) {
    guard global.allSatisfy({ $0 > 0 }) else { return }
    let first = (global[0] + tuning.group - 1) / tuning.group * tuning.group
    dispatches.append(
      Dispatch(
        kernel: kernel, buffers: buffers, constants: constants.map(\.bits),
        global: (first, global.count > 1 ? global[1] : 1, global.count > 2 ? global[2] : 1), node: currentNode))
  }

  /// Brings every output of the graph to its place.
  mutating func finish() throws(DeviceError) {
    for (index, value) in graph.outputs.enumerated() {
      currentNode = producers[value.index] ?? 0
      let dense = try place(value, .dense)
      if case .output(index) = storages[dense] { continue }
      storages.append(.output(index))
      let target = storages.count - 1
      let type = type(value)
      if type.scalar == .float16 {
        convert("float_to_half", dense, target, count: type.count)
      } else {
        copy(
          StridedCopy(contiguous: type.count), from: dense, to: target,
          elementByteCount: internalByteCount(type.scalar))
      }
    }
  }

  func error(_ code: DeviceError.Code, _ reason: String) -> DeviceError {
    DeviceError(code, device: device.info.id, place: "\(node.op.name) '\(node.name)'", reason: reason)
  }

  /// Bytes that an element takes inside a segment.
  func internalByteCount(_ scalar: ScalarType) -> Int { scalar == .float16 ? 4 : scalar.byteCount }

  func blockedCount(_ shape: Shape) -> Int {
    shape[0] * tuning.blocks(shape[1]) * tuning.lanes * shape.pixels
  }

  mutating func convert(_ function: String, _ source: Int, _ target: Int, count: Int) {
    run(
      KernelName(program: "half", function: function), [source, target], [.int(count), .int(tuning.run)],
      global: [(count + tuning.run - 1) / tuning.run])
  }

  private func isDenseWhenBlocked(_ value: ValueID) -> Bool {
    let shape = type(value).shape
    return shape.pixels == 1 && (shape[0] == 1 || shape[1] % tuning.lanes == 0)
  }

  private mutating func block(_ value: ValueID, _ dense: Int) -> Int {
    let shape = type(value).shape
    if shape.pixels == 1, shape[1] % tuning.lanes == 0 { return dense }
    let target = scratch(elements: blockedCount(shape))
    relayout("to_blocked", shape, dense, target)
    return target
  }

  private mutating func unblock(_ value: ValueID, _ blocked: Int) -> Int {
    let target = make(value, .dense)
    relayout("to_dense", type(value).shape, blocked, target)
    return target
  }

  private mutating func relayout(_ function: String, _ shape: Shape, _ source: Int, _ target: Int) {
    let blocks = tuning.blocks(shape[1])
    let run = max(tuning.run / tuning.lanes, 1)
    self.run(
      KernelName(program: "blocked", function: function), [source, target],
      [.int(shape[1]), .int(blocks), .int(shape.pixels), .int(run)],
      global: [(shape.pixels + run - 1) / run, shape[0] * blocks])
  }

  private mutating func weight(_ value: ValueID, _ layout: Layout) throws(DeviceError) -> Int {
    guard let weight = graph[value].weight else { throw error(.execution, "'\(graph[value].name)' is not constant") }
    let (type, lanes) = (type(value), tuning.lanes)
    guard type.scalar.isFloatingPoint else { return try integers(value, weight) }
    guard layout == .blocked else {
      return try packed("\(graph[value].name)/dense-f32", count: type.count) { target in
        weight.fill(target)
      }
    }
    let (shape, blocks) = (type.shape, tuning.blocks(type.shape[1]))
    return try packed("\(graph[value].name)/blocked-\(lanes)", count: blockedCount(shape)) { target in
      let source = weight.floats()
      for index in 0..<source.count {
        let (plane, pixel) = index.quotientAndRemainder(dividingBy: shape.pixels)
        let (image, channel) = plane.quotientAndRemainder(dividingBy: shape[1])
        let block = image * blocks + channel / lanes
        target[(block * shape.pixels + pixel) * lanes + channel % lanes] = source[index]
      }
    }
  }

  private mutating func integers(_ value: ValueID, _ weight: Weight) throws(DeviceError) -> Int {
    let (key, count) = ("\(graph[value].name)/dense", max(weight.type.byteCount, 4))
    let buffer = try device.weights.buffer(key, in: segment.weights, byteCount: count, on: device) { target in
      target.initializeMemory(as: UInt8.self, repeating: 0)
      weight.dense().bytes.withUnsafeBytes { target.copyMemory(from: $0) }
    }
    storages.append(.weights(buffer))
    return storages.count - 1
  }
}

extension Shape {
  /// The number of positions that all axes after the first two span together.
  var pixels: Int { dimensions.dropFirst(2).reduce(1, *) }
}
