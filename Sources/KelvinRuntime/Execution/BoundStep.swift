import KelvinDevices
import KelvinGraph

/// A schedule's step bound to memory, with its number among all steps of the schedule.
enum BoundStep {
  /// Starts a segment. If it overwrites memory, all other submissions are waited for first.
  case run(Int, overwrites: Bool, number: Int)
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
  let trips: UnsafeMutableRawBufferPointer
  let rows: [(row: UnsafeMutableRawBufferPointer, accumulated: UnsafeMutableRawBufferPointer)]
  let body: [BoundStep]
  /// The segments of the body on asynchronous devices.
  let segments: [Int]
}

enum BoundCopy {
  /// Both devices use the same memory.
  case shared
  case upload(from: UnsafeRawBufferPointer, to: BufferSlice)
  case download(from: BufferSlice, to: UnsafeMutableRawBufferPointer)
  /// The host can address neither device's memory: copies through a host buffer.
  case staged(from: BufferSlice, HostBuffer, to: BufferSlice)

  init(_ from: BufferSlice, _ to: BufferSlice) throws(DeviceError) {
    if let source = from.hostPointer {
      self = .upload(from: UnsafeRawBufferPointer(start: source, count: from.byteCount), to: to)
    } else if let target = to.hostPointer {
      self = .download(from: from, to: UnsafeMutableRawBufferPointer(start: target, count: to.byteCount))
    } else {
      self = .staged(from: from, try HostBuffer(byteCount: from.byteCount), to: to)
    }
  }

  func perform() throws(DeviceError) {
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

/// Binds the steps of a schedule to the memory of a session.
struct StepBinder {
  private let model: CompiledModel
  private let slice: (ValueID, String) -> BufferSlice
  /// For each value with memory of its own, the segments that write that memory.
  private let producers: [ValueID: [Int]]

  init(_ model: CompiledModel, slice: @escaping (ValueID, String) -> BufferSlice) {
    self.model = model
    self.slice = slice
    var producers: [ValueID: [Int]] = [:]
    for (index, segment) in model.schedule.segments.enumerated() {
      for output in segment.outputs { producers[model.flat.memory[output.index], default: []].append(index) }
    }
    self.producers = producers
  }

  func bind(_ steps: [Schedule.Step]) throws(DeviceError) -> [BoundStep] {
    var number = 0
    return try bind(steps, &number)
  }

  private func bind(_ steps: [Schedule.Step], _ number: inout Int) throws(DeviceError) -> [BoundStep] {
    var bound: [BoundStep] = []
    for step in steps {
      let own = number
      number += 1
      switch step {
      case .run(let segment):
        bound.append(.run(segment, overwrites: model.schedule.segments[segment].overwrites, number: own))
      case .transfer(let transfer):
        let from = model.layout.slot(transfer.value, on: transfer.from)
        let to = model.layout.slot(transfer.value, on: transfer.to)
        let copy =
          try from == to
          ? BoundCopy.shared : BoundCopy(slice(transfer.value, transfer.from), slice(transfer.value, transfer.to))
        bound.append(
          .transfer(producers: producers[model.flat.memory[transfer.value.index]] ?? [], copy, number: own))
      case .branch(let branch):
        let then = try bind(branch.then.steps, &number)
        let otherwise = try bind(branch.otherwise.steps, &number)
        bound.append(.branch(branch, condition: scalar(branch.condition), then: then, otherwise: otherwise))
      case .loop(let loop):
        let body = try bind(loop.body.steps, &number)
        var segments: [Int] = []
        for step in loop.body.steps {
          step.forEach {
            if case .run(let segment) = $0, model.devices[model.schedule.segments[segment].device]?.info.isHost == false
            {
              segments.append(segment)
            }
          }
        }
        bound.append(
          .loop(
            BoundLoop(
              name: loop.name, limit: scalar(loop.limit), condition: loop.condition.map(scalar),
              nextCondition: loop.nextCondition.map(scalar), iteration: memory(loop.iteration),
              trips: memory(loop.trips), rows: loop.rows.map { (memory($0.row), memory($0.accumulated)) }, body: body,
              segments: segments)))
      }
    }
    return bound
  }

  private func scalar(_ value: ValueID) -> HostScalar {
    let known = model.graph[value]
    if let weight = known.weight {
      let tensor = weight.dense()
      let isInteger = !tensor.type.scalar.isFloatingPoint
      return .constant(isInteger ? tensor.integers.first ?? 0 : (tensor.doubles.first ?? 0) == 0 ? 0 : 1)
    }
    guard let address = memory(value).baseAddress else { preconditionFailure("a value on the host has no address") }
    return .memory(UnsafeRawPointer(address), known.type.scalar)
  }

  /// Values that the runtime itself reads and writes are in memory that the host can address.
  private func memory(_ value: ValueID) -> UnsafeMutableRawBufferPointer {
    let slice = slice(value, model.host)
    guard let pointer = slice.hostPointer else { preconditionFailure("a value on the host has no host memory") }
    return UnsafeMutableRawBufferPointer(start: pointer, count: slice.byteCount)
  }
}
