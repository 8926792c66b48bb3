import CFaultyDrivers
import KelvinBasics
import KelvinDevices
import KelvinEngine
import KelvinFeatures
import Synchronization

/// A device behind each simulated driver that fails, hangs and recovers at random while a program runs: rounds of one
/// fault at some call of some function, during a load or during predictions from two threads.
///
/// A disabled device is never used again, so the next round begins with a newly discovered device.
struct FaultRounds {
  struct Tally: Sendable {
    /// The numbers of rounds, and of rounds that reached their fault.
    var rounds = 0, reached = 0
    /// The numbers of predictions and of loads with this outcome.
    var right = 0, errors = 0
    /// The number of disabled devices.
    var lost = 0
    /// Descriptions of wrong behaviour.
    var findings: [String] = []
  }

  private struct Fault {
    var order = FaultyOrder()
    var text = "no fault"
    /// Whether the work recovers from the fault.
    var isRecovered = true
  }

  /// The objects of an interface.
  private struct Subject {
    let machine: FaultyMachine
    let predictor: Predictor
    /// How often a round without a fault calls each function, by whether it loads.
    var calls: [Bool: [(function: String, count: Int)]] = [:]
  }

  private(set) var tally = Tally()
  private var random: SeededGenerator
  private var subjects: [Interface: Subject] = [:]
  private let inputs: [DictionaryFeatureProvider]
  private let expected: [[Double]]

  /// Seconds after which a device counts as hung.
  private static let patience = 0.5

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    inputs = try (0..<2).map { try FaultyMachine.input($0) }
    expected = try FaultyMachine.expected(inputs)
  }

  /// Runs one round.
  ///
  /// - Parameter mayLose: whether the fault may disable a device permanently. The memory of such a device is never
  ///   freed.
  mutating func run(mayLose: Bool) async throws {
    tally.rounds += 1
    let interface = Interface.allCases[random.index(below: Interface.allCases.count)]
    var subject = try subjects[interface] ?? begin(interface)
    let loads = random.index(below: 3) == 0
    let fault = subject.calls[loads].map { self.fault(interface, $0, mayLose: mayLose) } ?? Fault()
    faulty_order(fault.order)
    await work(interface, subject, loads: loads, fault)
    if faulty_failures() > 0 { tally.reached += 1 }
    if subject.calls[loads] == nil { subject.calls[loads] = Self.calls(of: interface) }
    faulty_order(FaultyOrder())
    let isLost = subject.machine.device?.health.failure != nil
    if isLost { tally.lost += 1 }
    subjects[interface] = isLost ? nil : subject
  }

  private func begin(_ interface: Interface) throws -> Subject {
    let machine = FaultyMachine(interface, patience: Self.patience)
    return Subject(machine: machine, predictor: try machine.load())
  }

  private static func calls(of interface: Interface) -> [(function: String, count: Int)] {
    let prefix = interface == .vulkan ? "vk" : "cl"
    return (0...).lazy.map { faulty_function($0) }.prefix { $0 != nil }.compactMap { $0 }
      .filter { String(cString: $0).hasPrefix(prefix) && faulty_can_fail($0) != 0 && faulty_calls($0) > 0 }
      .map { (String(cString: $0), Int(faulty_calls($0))) }
  }

  private mutating func fault(
    _ interface: Interface, _ calls: [(function: String, count: Int)], mayLose: Bool
  ) -> Fault {
    let kind = random.index(below: 5)
    guard kind > 0 else { return Fault() }
    let submission = FailingDeviceTests.submission[interface]
    let candidates = calls.filter { mayLose ? kind < 4 || $0.function == submission : Self.isSurvived($0.function) }
    guard !candidates.isEmpty else { return Fault() }
    let (function, count) = candidates[random.index(below: candidates.count)]
    let call = 1 + random.index(below: count)
    if mayLose, kind == 4 {
      return Fault(order: FaultyFault.hanging(function, call: call), text: "\(function) hangs at call \(call)")
    }
    let codes = interface.codes
    let code = mayLose && kind == 3 ? codes.lost : kind == 2 ? codes.other : codes.memory
    return Fault(
      order: FaultyFault.answering(function, call: call, code: code),
      text: "\(function) answers \(code) at call \(call)",
      isRecovered: code != codes.other)
  }

  /// Whether a device continues after a function has failed once, with another code than that of a loss.
  private static func isSurvived(_ function: String) -> Bool {
    ["vkCreate", "vkAllocate", "vkMap", "vkBegin", "vkEnd", "vkQueueSubmit", "clCreate", "clEnqueue", "clSetKernelArg"]
      .contains { function.hasPrefix($0) }
  }

  /// Loads the model unless it is loaded, and predicts from two threads at once.
  private mutating func work(_ interface: Interface, _ subject: Subject, loads: Bool, _ fault: Fault) async {
    let predictor: Predictor
    do {
      predictor = loads ? try subject.machine.load() : subject.predictor
    } catch { return note(error, interface, fault, isRecovered: false) }
    let endings = await withTaskGroup(of: (Int, Result<[Double], any Error>).self) { group in
      for (number, input) in inputs.enumerated() {
        group.addTask {
          let ending = try? await BlockingWork.run { _ throws(ModelError) in Result { try predictor.answer(input) } }
          return (number, ending ?? .failure(CancellationError()))
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    for (number, ending) in endings {
      switch ending {
      case .success(let answer):
        tally.right += 1
        let off = distance(answer, expected[number])
        if !(off < 1e-4) { find(interface, fault, "an answer is off by \(off)") }
      case .failure(let error): note(error, interface, fault, isRecovered: fault.isRecovered)
      }
    }
  }

  private mutating func note(_ error: any Error, _ interface: Interface, _ fault: Fault, isRecovered: Bool) {
    tally.errors += 1
    let text = "\(error)"
    if isRecovered { find(interface, fault, "not answered elsewhere: \(text)") }
    if !text.contains(interface.device) || text.count < 20 { find(interface, fault, "unclear: \(text)") }
  }

  private mutating func find(_ interface: Interface, _ fault: Fault, _ text: String) {
    tally.findings.append("round \(tally.rounds), \(interface.device), \(fault.text): \(text)")
  }
}
