import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import Synchronization
import TestSupport
import Testing

/// Computes as the reference does, and waits for other inferences in between.
private final class MeetingDevice: Device {
  let info: DeviceInfo
  let health = DeviceHealth()
  let meet: @Sendable () throws(DeviceError) -> Void
  private let reference = ReferenceDevice()

  init(_ id: String, kind: DeviceInfo.Kind, meet: @escaping @Sendable () throws(DeviceError) -> Void) {
    info = DeviceInfo(
      id: id, name: id, kind: kind, driver: "test", version: "1", memory: 1 << 30, resource: id)
    self.meet = meet
  }

  func support(for node: Node, in graph: Graph, precision: Precision) -> Support { .supported }
  func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer { try HostBuffer(byteCount: byteCount) }

  func compile(_ segment: Segment) throws(DeviceError) -> any Executable {
    MeetingExecutable(try reference.compile(segment), meet)
  }

  private final class MeetingExecutable: Executable {
    let inner: any Executable
    let meet: @Sendable () throws(DeviceError) -> Void
    var scratchByteCount: Int { inner.scratchByteCount }

    init(_ inner: any Executable, _ meet: @escaping @Sendable () throws(DeviceError) -> Void) {
      self.inner = inner
      self.meet = meet
    }

    func bind(_ bindings: Bindings) throws(DeviceError) -> any Invocation {
      MeetingInvocation(try inner.bind(bindings), meet)
    }
  }

  private final class MeetingInvocation: Invocation {
    let inner: any Invocation
    let meet: @Sendable () throws(DeviceError) -> Void
    var completion: any Event { inner.completion }
    var nodeTimings: [NodeTiming] { [] }

    init(_ inner: any Invocation, _ meet: @escaping @Sendable () throws(DeviceError) -> Void) {
      self.inner = inner
      self.meet = meet
    }

    func submit() throws(DeviceError) {
      try meet()
      try inner.submit()
    }
  }
}

struct PipelinedSessionsTests {
  private func model(_ devices: [any Device]) throws -> CompiledModel {
    let context = try chain(VirtualClock(), devices: devices)
    let placement = ["layer 0": devices[0].info.id, "layer 1": devices[1].info.id, "layer 2": devices[1].info.id]
    var request = PlanRequest(units: .devices(devices.map(\.info.id)))
    request.pins = placement
    let solution = try context.planner.problem(context.graph, request).solve()
    return try context.compile(solution, precision: .automatic, threads: 1)
  }

  private struct Meeting {
    var entries = 0
    var onCPU = 0
    var onGPU = 0
    var hasHappened = false
  }

  /// The first inference goes ahead to the GPU and stays there until another one is on the CPU, which stays there until
  /// one is on the GPU: with one inference at a time this would never end.
  @Test func devicesWorkAtTheSameTime() throws {
    let meeting = ConditionLock(Meeting())
    let model = try model([
      MeetingDevice("cpu", kind: .cpu) {
        let isFirst = meeting.withLock { state in
          state.entries += 1
          state.onCPU += 1
          return state.entries == 1
        }
        if !isFirst {
          _ = try? meeting.wait { state in
            if state.onGPU > 0 { state.hasHappened = true }
            return state.hasHappened ? true : nil
          }
        }
        meeting.withLock { $0.onCPU -= 1 }
      },
      MeetingDevice("gpu:0", kind: .discreteGPU) {
        meeting.withLock { $0.onGPU += 1 }
        _ = try? meeting.wait { state in
          if state.onCPU > 0 { state.hasHappened = true }
          return state.hasHappened ? true : nil
        }
        meeting.withLock { $0.onGPU -= 1 }
      },
    ])
    let pipeline = try PipelinedSessions(model, inFlight: 3)
    try pipeline.run { (_, session) throws(RuntimeError) in
      try session.run()
      return false
    }
    #expect(meeting.withLock { $0.hasHappened })
    #expect(meeting.withLock { $0.entries } == 3)
    #expect(pipeline.inFlight == 3)
  }

  @Test func everySessionGivesTheSameResult() throws {
    let model = try model([
      MeetingDevice("cpu", kind: .cpu) {}, MeetingDevice("gpu:0", kind: .discreteGPU) {},
    ])
    let expected = try model.makeSession().run(chainInputs)[0].floats
    let pipeline = try PipelinedSessions(model, inFlight: 4)
    let answers = Mutex<[[Float]]>([])
    try pipeline.run { (_, session) throws(RuntimeError) in
      let answer = try session.run(chainInputs)[0].floats
      return answers.withLock {
        $0.append(answer)
        return $0.count < 50
      }
    }
    let all = answers.withLock { $0 }
    #expect(all.count >= 50 && all.count <= 54)
    #expect(all.allSatisfy { $0 == expected })
  }

  @Test func anErrorEndsAllWorkersAndIsThrownOnce() throws {
    let count = Atomic(0)
    let model = try model([
      MeetingDevice("cpu", kind: .cpu) {},
      MeetingDevice("gpu:0", kind: .discreteGPU) { () throws(DeviceError) in
        if count.add(1, ordering: .relaxed).newValue == 20 {
          throw DeviceError(.lost, device: "gpu:0", place: "a test", reason: "pulled out")
        }
      },
    ])
    let pipeline = try PipelinedSessions(model, inFlight: 3)
    let error = #expect(throws: RuntimeError.self) {
      try pipeline.run { (_, session) throws(RuntimeError) in
        try session.run()
        return true
      }
    }
    #expect("\(try #require(error))".contains("pulled out"))
  }

  /// Three threads take turns at two plans, each of which keeps its own device busy.
  @Test func inferencesAlternateBetweenPlansByTheirShares() throws {
    let counts = Mutex(["cpu": 0, "gpu:0": 0])
    func counting(_ id: String, _ kind: DeviceInfo.Kind) -> MeetingDevice {
      MeetingDevice(id, kind: kind) { counts.withLock { $0[id, default: 0] += 1 } }
    }
    let (cpu, gpu) = (counting("cpu", .cpu), counting("gpu:0", .discreteGPU))
    let context = try chain(VirtualClock(), devices: [cpu, gpu])
    let models = try ["gpu:0", "cpu"].map { id in
      var request = PlanRequest(units: .devices(["cpu", "gpu:0"]))
      for layer in 0..<3 { request.pins["layer \(layer)"] = id }
      let solution = try context.planner.problem(context.graph, request).solve()
      return try context.compile(solution, precision: .automatic, threads: 1)
    }
    let expected = try models[1].makeSession().run(chainInputs)[0].floats
    counts.withLock { $0 = [:] }
    let pipeline = try PipelinedSessions(CompiledMixture([(models[0], 2.0 / 3), (models[1], 1.0 / 3)]), inFlight: 3)
    let answers = Mutex<[[Float]]>([])
    try pipeline.run { (_, session) throws(RuntimeError) in
      let answer = try session.run(chainInputs)[0].floats
      return answers.withLock {
        $0.append(answer)
        return $0.count < 60
      }
    }
    let (onGPU, onCPU) = counts.withLock { ($0["gpu:0", default: 0], $0["cpu", default: 0]) }
    #expect(onGPU + onCPU == answers.withLock { $0.count } && onCPU > 0)
    #expect(abs(Double(onGPU) - Double(onGPU + onCPU) * 2 / 3) < 1, "\(onGPU) and \(onCPU)")
    #expect(answers.withLock { $0 }.allSatisfy { $0 == expected })
  }
}
