import KelvinGraph

/// The copies of a schedule that segments can make in their own submissions: of outputs at the end, and of inputs at
/// the start. Any other copy from or to a device that the host cannot address is one more submission and wait.
struct RecordedCopies: Sendable {
  /// A value at the boundary of a segment.
  struct Place: Hashable, Sendable {
    let segment: Int
    /// The index among the segment's inputs or outputs.
    let index: Int
  }

  /// By the number of a copy's step, the output that the copy reads, and the input that it writes. A copy and its
  /// segment are in the same list of steps, so that each of them runs as often as the other.
  private(set) var sources: [Int: Place] = [:]
  private(set) var targets: [Int: Place] = [:]
  private let schedule: Schedule
  /// By value, the value whose memory it uses.
  private let memory: [ValueID]
  /// By value with memory of its own, the segments that write the memory.
  private let producers: [ValueID: [Int]]

  init(_ flat: FlatGraph, _ schedule: Schedule) {
    self.schedule = schedule
    memory = flat.memory
    var producers: [ValueID: [Int]] = [:]
    for (index, segment) in schedule.segments.enumerated() {
      for output in segment.outputs { producers[flat.memory[output.index], default: []].append(index) }
    }
    self.producers = producers
    find(schedule.steps, from: 0)
  }

  /// The segments that write a value's memory.
  func producers(of value: ValueID) -> [Int] { producers[memory[value.index]] ?? [] }

  /// The indices of the inputs of a segment that copies write, and of the outputs that copies read.
  func inputs(of segment: Int) -> Set<Int> { Self.indices(targets, segment) }
  func outputs(of segment: Int) -> Set<Int> { Self.indices(sources, segment) }

  private static func indices(_ places: [Int: Place], _ segment: Int) -> Set<Int> {
    Set(places.values.filter { $0.segment == segment }.map(\.index))
  }

  /// - Parameter first: the number of the first step among all steps of the schedule.
  private mutating func find(_ steps: [Schedule.Step], from first: Int) {
    var number = first
    var begun: Set<Int> = []
    for (index, step) in steps.enumerated() {
      switch step {
      case .run(let segment): begun.insert(segment)
      case .transfer(let transfer):
        let producers = producers(of: transfer.value)
        if producers.count == 1, begun.contains(producers[0]) {
          sources[number] = place(transfer.value, producers[0], on: transfer.from, in: \.outputs)
        }
        targets[number] = reader(of: transfer, in: steps[(index + 1)...])
      case .branch(let branch):
        find(branch.then.steps, from: number + 1)
        find(branch.otherwise.steps, from: number + 1 + branch.then.count)
      case .loop(let loop): find(loop.body.steps, from: number + 1)
      }
      number += step.count
    }
  }

  private func place(
    _ value: ValueID, _ segment: Int, on device: String, in values: KeyPath<Schedule.Run, [ValueID]>
  ) -> Place? {
    let run = schedule.segments[segment]
    guard run.device == device else { return nil }
    return run[keyPath: values].firstIndex(of: value).map { Place(segment: segment, index: $0) }
  }

  /// Returns the input that a copy writes, if a segment of these steps reads it before any other step uses it.
  private func reader(of transfer: Schedule.Transfer, in steps: ArraySlice<Schedule.Step>) -> Place? {
    for step in steps {
      if case .run(let segment) = step,
        let place = place(transfer.value, segment, on: transfer.to, in: \.inputs)
      {
        return place
      }
      var isUsed = false
      step.forEach { isUsed = isUsed || uses($0, transfer.value, on: transfer.to) }
      if isUsed { return nil }
    }
    return nil
  }

  /// Whether a step without the steps inside it reads or writes a value's memory on a device other than the host.
  private func uses(_ step: Schedule.Step, _ value: ValueID, on device: String) -> Bool {
    switch step {
    case .run(let segment):
      let run = schedule.segments[segment]
      return run.device == device && (run.inputs + run.outputs).contains { memory[$0.index] == memory[value.index] }
    case .transfer(let other):
      return [other.from, other.to].contains(device) && memory[other.value.index] == memory[value.index]
    case .branch, .loop: return false
    }
  }
}
