import CKelvinKernels
import KelvinDevices
import KelvinGraph

/// A compiled segment: a kernel for each node, packed weights, and a plan of its memory.
final class CPUExecutable: Executable, @unchecked Sendable {
  let kernels: [String: String]
  let threads: Int
  /// The offset from one thread's scratch to the next, in bytes.
  let threadStride: Int
  private let expanded: ExpandedGraph
  private let program: CPUProgram
  /// The packed weights of each node.
  private let packs: [[Bytes]]
  private let plan: StoragePlan
  /// The number of runs of the program for all items.
  private let chunks: Int
  private let constants: [ValueID: Bytes]
  private let variant: CPUVariant

  init(_ segment: Segment, on device: CPUDevice) throws(DeviceError) {
    let threads = max(1, segment.threads)
    let schedule = ItemSchedule(segment.graph, threads: threads)
    var segment = segment
    segment.graph = schedule.graph
    let selection = try device.kernels.selection(for: segment)
    let graph = selection.graph
    var packs: [[Bytes]] = []
    var constants: [ValueID: Bytes] = [:]
    let packer = CPUPacker(graph: graph, weights: segment.weights, variant: device.variant)
    func hold(_ id: ValueID, isAligned: Bool) throws(DeviceError) {
      if let bytes = constants[id], !isAligned || bytes.isAligned(for: graph[id].type.scalar) { return }
      constants[id] = try packer.dense(id, isAligned: isAligned)
    }
    for (place, node) in graph.nodes.enumerated() {
      try segment.begin(node: place, of: graph.nodes.count, device: device.info.id)
      let kernel = selection.offers[place].kernel
      var packed: [Bytes] = []
      for pack in kernel.packs { packed.append(try packer.pack(pack, of: node)) }
      for (index, input) in node.inputs.enumerated()
      where graph[input].weight != nil && !kernel.packs.contains(where: { $0.inputs.contains(index) }) {
        try hold(input, isAligned: kernel.unalignedInput != index)
      }
      packs.append(packed)
    }
    for output in graph.outputs where graph[output].weight != nil { try hold(output, isAligned: true) }
    self.threads = threads
    chunks = schedule.chunks
    expanded = selection.expanded
    kernels = selection.names
    program = CPUProgram(selection)
    self.packs = packs
    self.constants = constants
    variant = device.variant
    plan = StoragePlan(graph, program)
    let perThread = max(program.steps.map(\.kernel.threadByteCount).max() ?? 0, plan.inner.map(\.byteCount).max() ?? 0)
    threadStride = (perThread + bufferAlignment - 1) / bufferAlignment * bufferAlignment
  }

  var scratchByteCount: Int { plan.byteCount + threads * threadStride }

  /// For each node that runs, the name of the segment's node that it belongs to.
  var nodeNames: [String] { expanded.parents }

  func bind(_ bindings: Bindings) throws(DeviceError) -> any Invocation {
    let graph = expanded.graph
    let inputs = try addresses(bindings.inputs, graph.types(graph.inputs), "input")
    let outputs = try addresses(bindings.outputs, graph.types(graph.outputs), "output")
    var scratch: UnsafeMutableRawPointer?
    if scratchByteCount > 0 {
      guard let slice = bindings.scratch, slice.byteCount >= scratchByteCount, let address = slice.hostPointer else {
        throw DeviceError(
          .execution, device: "cpu", place: "scratch",
          reason: "expected \(scratchByteCount) bytes in host memory, got \(bindings.scratch?.byteCount ?? 0)")
      }
      scratch = address
    }

    let list = CPUTaskList(threads: threads)
    for chunk in 0..<chunks {
      func places(_ addresses: [UnsafeMutableRawPointer], _ ids: [ValueID]) -> [UnsafeMutableRawPointer] {
        zip(addresses, graph.types(ids)).map { $0 + chunk * $1.byteCount }
      }
      record(
        in: list, places(inputs, graph.inputs), places(outputs, graph.outputs), scratch: scratch,
        usesChains: !bindings.measuresNodes)
    }
    return CPUInvocation(self, bindings, list, threadScratch: scratch.map { $0 + plan.byteCount })
  }

  /// Records the program once.
  ///
  /// - Parameter usesChains: whether chains are one task, whose time is that of its last node.
  private func record(
    in list: CPUTaskList, _ inputs: [UnsafeMutableRawPointer], _ outputs: [UnsafeMutableRawPointer],
    scratch: UnsafeMutableRawPointer?, usesChains: Bool
  ) {
    let graph = expanded.graph
    var chains = usesChains ? Array(zip(program.chains.ranges, plan.inner))[...] : []
    var firstTask = 0
    // A value without elements has an address that is never read or written.
    let scratch = scratch ?? (plan.byteCount == 0 ? UnsafeMutableRawPointer(bitPattern: 64) : nil)
    func address(_ slot: Int) -> UnsafeMutableRawPointer? {
      let place: UnsafeMutableRawPointer? =
        switch plan.places[slot] {
        case .input(let index): inputs[index]
        case .output(let index): outputs[index]
        case .scratch(let offset): scratch.map { $0 + offset }
        case .constant(let root): constants[root].map { UnsafeMutableRawPointer(mutating: $0.baseAddress) }
        case .none: nil
        }
      return place.map { $0 + plan.offsets[slot] }
    }
    list.node = -1
    for (index, id) in graph.inputs.enumerated() where graph[id].type.scalar == .float16 {
      list.addConversion(variant.kernels.float_from_half, inputs[index], address(id.index), graph[id].type.count)
    }
    for (index, step) in program.steps.enumerated() where step.kernel.viewOffset == nil {
      list.node = step.node
      if chains.first?.0.lowerBound == index { firstTask = list.tasks.count }
      var results: [UnsafeMutableRawPointer] = []
      for output in step.outputs {
        guard let result = address(output) else {
          preconditionFailure("\(graph.nodes[step.node].name) has an output without memory")
        }
        results.append(result)
      }
      let temporaries = plan.temporaries[index].compactMap { offset in scratch.map { $0 + offset } }
      let operands = CPUOperands(
        inputs: step.inputs.map { UnsafeRawPointer(address($0)) }, outputs: results,
        packs: step.isNode ? packs[step.node].map(\.baseAddress) : [], temporaries: temporaries)
      step.kernel.record(operands, list)
      if let (range, inner) = chains.first, range.upperBound == index + 1 {
        chains.removeFirst()
        let places = inner.places.map { places in
          Dictionary(places.compactMap { slot, place in address(slot).map { ($0, place) } }) { place, _ in place }
        }
        list.chain(program.steps[range].compactMap(\.kernel.strips), from: firstTask, places)
      }
    }
    list.node = -1
    for (index, id) in graph.outputs.enumerated() where plan.places[program.outputs[index]] != .output(index) {
      let type = graph[id].type
      if type.scalar == .float16 {
        list.addConversion(variant.kernels.half_from_float, address(program.outputs[index]), outputs[index], type.count)
      } else {
        list.addCopy(address(program.outputs[index]), outputs[index], type.count, element: type.scalar.byteCount)
      }
    }
  }

  private func addresses(
    _ slices: [BufferSlice], _ types: [TensorType], _ what: String
  ) throws(DeviceError) -> [UnsafeMutableRawPointer] {
    guard slices.count == types.count else {
      throw DeviceError(
        .execution, device: "cpu", place: "bind", reason: "expected \(types.count) \(what)s, got \(slices.count)")
    }
    var addresses: [UnsafeMutableRawPointer] = []
    for (index, (slice, type)) in zip(slices, types).enumerated() {
      let byteCount = chunks * type.byteCount
      guard slice.byteCount >= byteCount, let address = slice.hostPointer else {
        throw DeviceError(
          .execution, device: "cpu", place: "\(what) \(index)",
          reason: "expected \(byteCount) bytes in host memory, got \(slice.byteCount)")
      }
      addresses.append(address)
    }
    return addresses
  }
}
