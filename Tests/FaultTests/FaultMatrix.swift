import CFaultyDrivers
import KelvinDevices
import KelvinEngine
import KelvinFeatures

/// Every function of a driver, at its first, fifth and last call, with each kind of result and with hangs, on each kind
/// of card. The answers must be right, or there must be one clear error.
struct FaultMatrix {
  /// A device to begin with.
  struct Setting: Hashable, Codable, CustomStringConvertible {
    var interface: Interface
    /// The card, by its number in `FaultyCard`.
    var card: UInt32
    /// The byte that fills new memory.
    var fill: UInt8 = 0xA5
    var memory: UInt = 0

    var order: FaultyOrder {
      var order = FaultyOrder()
      order.card = FaultyCard(rawValue: card)
      order.fill = fill
      order.memory = memory
      return order
    }

    var description: String { "\(interface.rawValue), card \(card)" }

    static let cards: [UInt32] = [
      FaultyCardAsItIs.rawValue, FaultyCardDiscrete.rawValue, FaultyCardIntegrated.rawValue, FaultyCardSmall.rawValue,
    ]
    static let all = Interface.allCases.flatMap { interface in cards.map { Setting(interface: interface, card: $0) } }
  }

  /// The count of each outcome.
  struct Tally: Codable {
    /// The numbers of trials, of trials that reached their fault, and of trials answered without the device.
    var trials = 0, reached = 0, elsewhere = 0
    /// The number of trials with a call that does not return.
    var stuck = 0
    /// The number of trials with kernels that are left out or write wrong words.
    var spoiled = 0
    /// The numbers of predictions and of loads with this outcome.
    var right = 0, errors = 0
    /// Descriptions of wrong behaviour.
    var findings: [String] = []
  }

  let setting: Setting
  /// One of this many trials runs.
  let stride: Int
  /// The same of trials with a call that does not return, which take their time.
  private var stuckStride: Int { stride == 1 ? 1 : 2 * stride }
  private let inputs: [DictionaryFeatureProvider]
  private let expected: [[Double]]
  private(set) var tally = Tally()

  init(_ setting: Setting, stride: Int = 1) throws {
    self.setting = setting
    self.stride = stride
    inputs = try (0..<3).map { try FaultyMachine.input($0) }
    expected = try FaultyMachine.expected(inputs)
  }

  /// A function of the driver as a loading and three predictions without a fault use it.
  private struct Use {
    let function: String
    /// How often it is called.
    let count: Int
    /// Whether the function has a result that can be a failure.
    let canFail: Bool

    /// The first, fifth and last call.
    var calls: [Int] { Set([1, min(5, count), count]).sorted() }
  }

  private mutating func uses() throws -> [Use] {
    attempt("no fault", setting.order, isStrict: true, mustAnswer: true)
    var uses: [Use] = []
    var index: UInt32 = 0
    while let name = faulty_function(index) {
      index += 1
      let function = String(cString: name)
      let count = Int(faulty_calls(name))
      guard function.hasPrefix(setting.interface == .vulkan ? "vk" : "cl"), count > 0 else { continue }
      uses.append(Use(function: function, count: count, canFail: faulty_can_fail(name) != 0))
    }
    return uses
  }

  mutating func run() throws {
    let uses = try uses()
    answerWrongly(uses)
    answerNever(uses)
    computeWrongly()
  }

  /// One kernel in ten is left out or writes a wrong word, from the beginning: the first check finds it.
  private mutating func computeWrongly() {
    for (drop, flip) in [(10, 0), (0, 10), (7, 0), (0, 7)] as [(UInt32, UInt32)] {
      var order = setting.order
      (order.drop, order.flip) = (drop, flip)
      tally.spoiled += 1
      attempt("drop \(drop), flip \(flip)", order, isStrict: false, mustAnswer: true)
    }
  }

  /// Calls that do not return.
  private mutating func answerNever(_ uses: [Use]) {
    var number = 0
    for use in uses {
      for call in use.calls {
        number += 1
        guard number % stuckStride == 0 else { continue }
        var order = FaultyFault.stuck(in: use.function, call: call, code: setting.interface.codes.lost)
        (order.card, order.fill) = (setting.order.card, setting.order.fill)
        let isStrict = number % 5 == 1
        tally.stuck += 1
        attempt(
          "stuck in \(use.function), call \(call)", order, isStrict: isStrict, mustAnswer: !isStrict,
          patience: Self.patience)
      }
    }
  }

  /// Seconds; for calls that do not return.
  private static let patience = 0.1

  private mutating func answerWrongly(_ uses: [Use]) {
    let codes = setting.interface.codes
    var number = 0
    for use in uses where use.canFail {
      let function = use.function
      for call in use.calls {
        for (code, isOfDevice) in [(codes.lost, true), (codes.memory, true), (codes.other, false)] {
          for forGood in [false, true] {
            number += 1
            guard number % stride == 0 else { continue }
            var order = FaultyFault.answering(function, call: call, forGood: forGood, code: code)
            (order.card, order.fill) = (setting.order.card, setting.order.fill)
            // If the fault occurs in discovery or planning, the machine lacks the device from the beginning.
            let label = "\(function), call \(call)\(forGood ? " on" : ""), code \(code)"
            attempt(label, order, isStrict: number % 5 == 0, mustAnswer: isOfDevice && number % 5 != 0)
          }
        }
      }
    }
  }

  /// - Parameter mustAnswer: whether an error is a finding once the model is loaded.
  private mutating func attempt(
    _ label: String, _ order: FaultyOrder, isStrict: Bool, mustAnswer: Bool, patience: Double = 10
  ) {
    tally.trials += 1
    let machine = FaultyMachine(setting.interface, order, patience: patience)
    do {
      let predictor = try machine.load(isStrict: isStrict)
      for (input, expected) in zip(inputs, expected) {
        do {
          let answer = try predictor.answer(input)
          tally.right += 1
          let off = distance(answer, expected)
          if !(off < 1e-4) { find(label, "an answer is off by \(off)") }
        } catch {
          note(error, label)
          if mustAnswer { find(label, "not answered elsewhere: \(error)") }
        }
      }
      if !predictor.loaded.fallback.failures.isEmpty { tally.elsewhere += 1 }
    } catch { note(error, label) }
    if faulty_failures() > 0 { tally.reached += 1 }
  }

  /// Records an error. An error is clear if it has a known type and names the device.
  private mutating func note(_ error: any Error, _ label: String) {
    tally.errors += 1
    let text = "\(error)"
    if !text.contains(setting.interface.device) || text.count < 20 { find(label, "unclear: \(text)") }
  }

  private mutating func find(_ label: String, _ text: String) {
    tally.findings.append("\(setting), \(label): \(text)")
  }
}
