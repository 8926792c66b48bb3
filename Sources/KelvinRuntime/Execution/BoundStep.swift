package import KelvinDevices
import KelvinGraph

/// A schedule's step bound to memory, with its number among all steps of the schedule.
enum BoundStep {
  /// Starts a segment, after the end of other segments that may be executing.
  case run(Int, after: [Int], number: Int)
  /// Waits for all segments that may have written the value, then copies it if the two memory locations differ.
  case transfer(producers: [Int], BoundCopy, number: Int)
  indirect case branch(Schedule.Branch, condition: HostScalar, then: [BoundStep], otherwise: [BoundStep])
  indirect case loop(BoundLoop)
}

/// A loop of a schedule, bound to memory.
struct BoundLoop {
  let name: String
  let limit: HostScalar
  let condition: HostScalar?
  let nextCondition: HostScalar?
  let iteration: UnsafeMutableRawBufferPointer
  let iterations: UnsafeMutableRawBufferPointer
  let rows: [(row: UnsafeMutableRawBufferPointer, accumulated: UnsafeMutableRawBufferPointer)]
  let body: [BoundStep]
  /// The segments of the body on asynchronous devices.
  let segments: [Int]
}

/// A copy of a value between the memory of two devices. It does not keep memory that the host addresses.
package enum BoundCopy {
  /// Both devices use the same memory.
  case shared
  case upload(from: UnsafeRawBufferPointer, to: BufferSlice)
  case download(from: BufferSlice, to: UnsafeMutableRawBufferPointer)
  /// The host can address neither device's memory: copies through a host buffer.
  case staged(from: BufferSlice, HostBuffer, to: BufferSlice)

  package init(_ from: BufferSlice, _ to: BufferSlice) throws(DeviceError) {
    if let source = from.hostPointer {
      self = .upload(from: UnsafeRawBufferPointer(start: source, count: from.byteCount), to: to)
    } else if let target = to.hostPointer {
      self = .download(from: from, to: UnsafeMutableRawBufferPointer(start: target, count: to.byteCount))
    } else {
      self = .staged(from: from, try HostBuffer(byteCount: from.byteCount), to: to)
    }
  }

  package func perform() throws(DeviceError) {
    switch self {
    case .shared: break
    case .upload(let source, let to): try to.write(source)
    case .download(let from, let target): try from.read(into: target)
    case .staged(let from, let staging, let to):
      let memory = UnsafeMutableRawBufferPointer(start: staging.hostPointer, count: staging.byteCount)
      try from.read(into: memory)
      try to.write(UnsafeRawBufferPointer(memory))
    }
  }
}

/// A value with one element that control flow reads on the host.
enum HostScalar {
  case constant(Int)
  case memory(UnsafeRawPointer, ScalarType)

  /// The element as an integer; a floating-point element counts as 1 unless it is zero.
  var integer: Int {
    switch self {
    case .constant(let value): value
    case .memory(let address, let scalar):
      switch scalar {
      case .bool: address.load(as: UInt8.self) == 0 ? 0 : 1
      case .int8: Int(address.load(as: Int8.self))
      case .uint8: Int(address.load(as: UInt8.self))
      case .int16: Int(address.load(as: Int16.self))
      case .uint16: Int(address.load(as: UInt16.self))
      case .int32: Int(address.load(as: Int32.self))
      case .uint32: Int(address.load(as: UInt32.self))
      case .int64: Int(address.load(as: Int64.self))
      case .uint64: Int(clamping: address.load(as: UInt64.self))
      case .float16: address.load(as: UInt16.self) & 0x7fff == 0 ? 0 : 1
      case .float32: address.load(as: Float.self) == 0 ? 0 : 1
      case .float64: address.load(as: Double.self) == 0 ? 0 : 1
      }
    }
  }

  var isTrue: Bool { integer != 0 }
}

extension CompiledModel {
  /// Returns the steps of the schedule, bound to the memory of a session.
  ///
  /// - Parameters:
  ///   - invocations: the invocation of each segment.
  ///   - slice: returns the memory of a value on a device.
  func boundSteps(
    _ invocations: [any Invocation], _ slice: (ValueID, String) -> BufferSlice
  ) throws(DeviceError) -> [BoundStep] {
    /// Values that the runtime itself reads and writes are in memory that the host can address.
    func memory(_ value: ValueID) -> UnsafeMutableRawBufferPointer {
      let slice = slice(value, host)
      guard let pointer = slice.hostPointer else { preconditionFailure("a value on the host has no host memory") }
      return UnsafeMutableRawBufferPointer(start: pointer, count: slice.byteCount)
    }
    func scalar(_ value: ValueID) -> HostScalar {
      let known = graph[value]
      if let weight = known.weight {
        let tensor = weight.dense()
        let isInteger = !tensor.type.scalar.isFloatingPoint
        return .constant(isInteger ? tensor.integers.first ?? 0 : (tensor.doubles.first ?? 0) == 0 ? 0 : 1)
      }
      guard let address = memory(value).baseAddress else { preconditionFailure("a value on the host has no address") }
      return .memory(UnsafeRawPointer(address), known.type.scalar)
    }
    func isAsynchronous(_ segment: Int) -> Bool { devices[schedule.segments[segment].device]?.info.isHost == false }

    /// The segments of the current list of steps that overwrite memory others read.
    var overwriting: [Int] = []
    func bind(_ steps: [Schedule.Step]) throws(DeviceError) -> [BoundStep] {
      let outer = overwriting
      defer { overwriting = outer }
      overwriting = []
      return try steps.map { (step) throws(DeviceError) in try bind(step) }
    }
    var number = 0
    func bind(_ step: Schedule.Step) throws(DeviceError) -> BoundStep {
      let own = number
      number += 1
      switch step {
      case .run(let segment):
        let run = schedule.segments[segment]
        guard run.overwrites else { return .run(segment, after: [], number: own) }
        overwriting.append(segment)
        // Submissions to one device run in order.
        let others = schedule.segments.indices.filter { schedule.segments[$0].device != run.device }
        return .run(segment, after: others, number: own)
      case .transfer(let transfer):
        let isShared =
          layout.slot(transfer.value, on: transfer.from) == layout.slot(transfer.value, on: transfer.to)
        let source = recordedCopies.sources[own].flatMap { invocations[$0.segment].stagedOutputs[$0.index] }
        let target = recordedCopies.targets[own].flatMap { invocations[$0.segment].stagedInputs[$0.index] }
        let copy =
          try isShared
          ? BoundCopy.shared
          : BoundCopy(
            source ?? slice(transfer.value, transfer.from), target ?? slice(transfer.value, transfer.to))
        let producers = recordedCopies.producers(of: transfer.value)
        // The end of a device's later submission is the end of its earlier ones too: one wait serves both.
        let later = overwriting.filter { segment in
          producers.contains { schedule.segments[$0].device == schedule.segments[segment].device }
        }
        return .transfer(producers: later + producers, copy, number: own)
      case .branch(let branch):
        let then = try bind(branch.then.steps)
        let otherwise = try bind(branch.otherwise.steps)
        return .branch(branch, condition: scalar(branch.condition), then: then, otherwise: otherwise)
      case .loop(let loop):
        var segments: [Int] = []
        for step in loop.body.steps {
          step.forEach { if case .run(let segment) = $0, isAsynchronous(segment) { segments.append(segment) } }
        }
        return .loop(
          BoundLoop(
            name: loop.name, limit: scalar(loop.limit), condition: loop.condition.map(scalar),
            nextCondition: loop.nextCondition.map(scalar), iteration: memory(loop.iteration),
            iterations: memory(loop.iterations), rows: loop.rows.map { (memory($0.row), memory($0.accumulated)) },
            body: try bind(loop.body.steps), segments: segments))
      }
    }
    return try bind(schedule.steps)
  }
}
