import CFaultyDrivers
import KelvinDevices
import KelvinEngine
import KelvinFeatures

/// Every function of a driver, at its first, fifth and last call, with each kind of answer, on each kind of card: the
/// answers are right, or there is one clear error.
struct FaultMatrix {
  /// A device to begin with.
  struct Setting: Hashable, Codable, CustomStringConvertible {
    var interface: Interface
    /// As `FaultyCard` numbers them.
    var card: UInt32
    /// What fresh memory is filled with.
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

  /// How often each came.
  struct Tally: Codable {
    /// Trials, those of them whose fault was reached, and those that had to be answered without the device.
    var trials = 0, reached = 0, elsewhere = 0
    /// Predictions, and loadings, that ended so.
    var right = 0, errors = 0
    /// What should not have been, in words.
    var findings: [String] = []
  }

  let setting: Setting
  /// Of this many trials, one is made.
  let stride: Int
  private let inputs: [DictionaryFeatureProvider]
  private let expected: [[Double]]
  private(set) var tally = Tally()

  init(_ setting: Setting, stride: Int = 1) throws {
    self.setting = setting
    self.stride = stride
    inputs = try (0..<3).map { try FaultyMachine.input($0) }
    expected = try FaultyMachine.expected(inputs)
  }

  /// How often each function is called by a loading and three predictions without a fault.
  mutating func calls() throws -> [(function: String, count: Int)] {
    attempt("no fault", setting.order, isStrict: true, mustAnswer: true)
    var calls: [(String, Int)] = []
    var index: UInt32 = 0
    while let name = faulty_function(index) {
      index += 1
      let function = String(cString: name)
      guard function.hasPrefix(setting.interface == .vulkan ? "vk" : "cl"), faulty_can_fail(name) != 0 else { continue }
      let count = Int(faulty_calls(name))
      if count > 0 { calls.append((function, count)) }
    }
    return calls
  }

  mutating func run() throws {
    let codes = setting.interface.codes
    var number = 0
    for (function, count) in try calls() {
      for call in Set([1, min(5, count), count]).sorted() {
        for (code, isOfDevice) in [(codes.lost, true), (codes.memory, true), (codes.other, false)] {
          for forGood in [false, true] {
            number += 1
            guard number % stride == 0 else { continue }
            var order = FaultyFault.answering(function, call: call, forGood: forGood, code: code)
            (order.card, order.fill) = (setting.order.card, setting.order.fill)
            // What discovery or planning meets, the machine lacks from the beginning.
            let label = "\(function), call \(call)\(forGood ? " on" : ""), code \(code)"
            attempt(label, order, isStrict: number % 5 == 0, mustAnswer: isOfDevice && number % 5 != 0)
          }
        }
      }
    }
  }

  /// - Parameter mustAnswer: whether an error is a finding once the model is loaded.
  mutating func attempt(_ label: String, _ order: FaultyOrder, isStrict: Bool, mustAnswer: Bool) {
    tally.trials += 1
    let machine = FaultyMachine(setting.interface, order)
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
      if !predictor.loaded.outages.failures.isEmpty { tally.elsewhere += 1 }
    } catch { note(error, label) }
    if faulty_failures() > 0 { tally.reached += 1 }
  }

  /// An error is clear where it is of a known type and says of which device.
  private mutating func note(_ error: any Error, _ label: String) {
    tally.errors += 1
    let text = "\(error)"
    if !text.contains(setting.interface.device) || text.count < 20 { find(label, "unclear: \(text)") }
  }

  private mutating func find(_ label: String, _ text: String) {
    tally.findings.append("\(setting), \(label): \(text)")
  }
}
