internal import KelvinBasics
internal import KelvinGraph
import Synchronization

/// Which kernels of a loaded model may be chosen by timing, and for how long: all that is compiled for it shares this.
///
/// Kernels that are alternatives of one offer (`KernelOffer.alternatives`) are timed on the node that they are for, with
/// made-up operands, and the fastest is kept for every model and every later process.
package final class KernelTuning: Sendable {
  package enum Mode: String, Hashable, Sendable, CaseIterable {
    /// What was found earlier is used. What nobody has found yet is timed within the allowance, on hardware: software
    /// drivers take long to compile what is to be timed.
    case automatic
    /// What nobody has found yet is timed, on every device, as long as that takes.
    case exhaustive
    /// Nothing is timed, and nothing that was found earlier is used.
    case off
  }

  /// How often each kernel is timed, in turns.
  package static let rounds = 5
  /// Another kernel than the first is taken where it needs at most this share of the first one's time.
  package static let gain = 0.93
  /// Seconds that a model's loading may be longer by where nobody asked for more.
  package static let usualAllowance = 1.0

  package let mode: Mode
  /// What a timing counts as, given the node's name, the kernel's and the seconds it took.
  private let judged: @Sendable (String, String, Double) -> Double
  private let clock: @Sendable () -> Double
  private let left: Mutex<Double>

  /// - Parameters:
  ///   - allowance: seconds for all timing of mode `automatic`. What is being timed then is timed to the end of its round.
  ///   - judged: puts other seconds in the place of those measured, for tests.
  package init(
    _ mode: Mode = .automatic, allowance: Double = KernelTuning.usualAllowance,
    clock: @escaping @Sendable () -> Double = { KernelTuning.now() },
    judged: @escaping @Sendable (String, String, Double) -> Double = { _, _, seconds in seconds }
  ) {
    self.mode = mode
    self.clock = clock
    self.judged = judged
    left = Mutex(allowance)
  }

  /// For what is compiled when a model has been loaded: it takes what was found, and waits for no timing that was not asked for.
  package var afterLoading: KernelTuning { mode == .automatic ? KernelTuning(.automatic, allowance: 0) : self }

  /// Seconds on a clock that nobody sets.
  package static func now() -> Double { start.duration(to: .now).inSeconds }
  private static let start = ContinuousClock.now

  /// Whether there is time for another node.
  fileprivate func hasTime(on device: DeviceInfo) -> Bool {
    switch mode {
    case .automatic: device.kind != .software && left.withLock { $0 > 0 }
    case .exhaustive: true
    case .off: false
    }
  }

  /// The position of the kernel that takes the shortest time, the first of those that hardly differ.
  ///
  /// - Parameters:
  ///   - names: of the kernels.
  ///   - end: when rounds are over but for the first.
  ///   - seconds: runs one once.
  fileprivate func fastest(
    for node: String, _ names: [String], until end: Double, _ seconds: (Int) throws(DeviceError) -> Double
  ) throws(DeviceError) -> Int {
    var times = [Double](repeating: .infinity, count: names.count)
    for round in 0..<Self.rounds {
      // One round tells more than none.
      if round > 0, isPast(end) { break }
      for place in names.indices {
        times[place] = min(times[place], judged(node, names[place], try seconds(place)))
      }
    }
    var best = 0
    for place in times.indices where times[place] < times[best] { best = place }
    return times[best] <= times[0] * Self.gain ? best : 0
  }

  /// Counts what some work takes, which is told when to end.
  fileprivate func spending<Result>(_ work: (Double) throws(DeviceError) -> Result) throws(DeviceError) -> Result {
    let begin = clock()
    defer { left.withLock { [spent = clock() - begin] in $0 -= spent } }
    return try work(mode == .automatic ? begin + left.withLock { $0 } : .infinity)
  }

  fileprivate func isPast(_ end: Double) -> Bool { end < .infinity && clock() > end }
}

/// A kernel of one node, ready to be run on operands that are the same for every kernel of the node.
package protocol KernelTrial {
  /// Runs it once.
  func seconds() throws(DeviceError) -> Double
  /// What the latest run made: the same for kernels that give the same numbers.
  func results() throws(DeviceError) -> Digest
}

extension KernelSelection {
  /// Takes for each node the fastest among its kernel and the alternatives to it, as kept in the segment's blobs or else as
  /// timed now, as far as the segment's tuning allows. Nodes with the most operations come first, equal ones count as one,
  /// and what there is no time for is left as it is, for a later compilation.
  ///
  /// An alternative that cannot be tried, or whose numbers are not those of the first kernel, is out of the question. Where
  /// one takes the device with it, the first kernel is kept as the answer, so that it is not tried again.
  ///
  /// Nothing is timed where the segment has to be deterministic, nor where the answer could not be kept.
  ///
  /// - Parameters:
  ///   - device, kernels: what answers of other devices, drivers and kernels must not be taken for.
  ///   - trial: prepares the kernel of a selection of one node, compiled alone as the segment says.
  /// - Throws: `.cancelled`; what says that the device is out.
  package mutating func tune(
    for segment: Segment, on device: DeviceInfo, kernels: String,
    trial: (KernelSelection, Segment) throws(DeviceError) -> any KernelTrial
  ) throws(DeviceError) {
    let tuning = segment.tuning
    guard tuning.mode != .off, !segment.isDeterministic, !(segment.blobs is NoBlobCache) else { return }
    let identity = "\(device.id) \(device.driver) \(device.version) \(kernels)"
    let keys = Dictionary(
      uniqueKeysWithValues: graph.nodes.indices.filter { !offers[$0].alternatives.isEmpty }.map {
        ($0, tuningKey(of: $0, segment, identity))
      })
    guard !keys.isEmpty else { return }
    var choices = try DriverThread.pausing { () throws(DeviceError) in KernelChoices(segment.blobs, identity) }
    let found = choices.count
    defer { if choices.count > found { try? DriverThread.pausing { choices.keep(in: segment.blobs) } } }
    let work = keys.keys.map { (index: $0, operations: operations(of: $0)) }
    for (index, _) in work.sorted(by: { ($1.operations, $0.index) < ($0.operations, $1.index) }) {
      guard let key = keys[index] else { continue }
      if choices[key] == nil, tuning.hasTime(on: device) {
        do throws(DeviceError) {
          choices[key] = try tuning.spending { (end) throws(DeviceError) in
            try choice(for: index, segment, device.id, until: end, trial)
          }
        } catch {
          if error.takesDeviceOut { choices[key] = offers[index].variant }
          throw error
        }
      }
      guard let choice = choices[key] else { continue }
      // Of a name that is not there, the first kernel is the answer.
      if let taken = offers[index].alternatives.first(where: { $0.name == choice }) { offers[index].take(taken) }
    }
  }

  private func operations(of index: Int) -> Double {
    let node = graph.nodes[index]
    return node.op.operations(graph.types(node.inputs), graph.types(node.outputs))
  }

  /// What a choice depends on.
  private func tuningKey(of index: Int, _ segment: Segment, _ identity: String) -> String {
    let (node, offer) = (graph.nodes[index], offers[index])
    let weights = node.inputs.compactMap { graph[$0].weight }
    let forms = weights.map { "\($0.isBlockQuantized ? "codes" : "")\($0.isHeldByFloat16 ? "half" : "")" }
    let names = [offer.variant] + offer.alternatives.map(\.name)
    return Digest(
      "\(node.fingerprint(in: graph)) \(forms) \(offer.key) \(names) \(offer.precision) \(identity)"
    ).description
  }

  /// The name of the fastest kernel; the first one's where that cannot be tried.
  ///
  /// - Parameter end: what has not been made ready by then is not tried.
  private func choice(
    for index: Int, _ segment: Segment, _ device: String, until end: Double,
    _ trial: (KernelSelection, Segment) throws(DeviceError) -> any KernelTrial
  ) throws(DeviceError) -> String {
    var offer = offers[index]
    let alternatives = offer.alternatives
    offer.alternatives = []
    var alone = segment
    alone.graph = graph.alone(index)
    alone.weights = MemoryPackedWeights()
    alone.blobs = NoBlobCache()
    alone.didPack = {}
    alone.tuning = KernelTuning(.off)
    let name = graph.nodes[index].name
    alone.expectedSeconds = segment.expectedSeconds[expanded.parents[index]].map { [name: $0] } ?? [:]
    func prepared(_ offer: KernelOffer<Kernel>) throws(DeviceError) -> (trial: any KernelTrial, results: Digest)? {
      try segment.goOn(device: device)
      do throws(DeviceError) {
        let trial = try trial(KernelSelection(ExpandedGraph(alone.graph) { _, _ in nil }, [[offer]]), alone)
        _ = try trial.seconds()
        return (trial, try trial.results())
      } catch {
        guard error.takesDeviceOut || error.code == .cancelled else { return nil }
        throw error
      }
    }
    guard let first = try prepared(offer) else { return offer.variant }
    var (names, trials) = ([offer.variant], [first.trial])
    for alternative in alternatives where !segment.tuning.isPast(end) {
      var other = offer
      other.take(alternative)
      guard let made = try prepared(other), made.results == first.results else { continue }
      names.append(alternative.name)
      trials.append(made.trial)
    }
    let best = try segment.tuning.fastest(for: name, names, until: end) { (place) throws(DeviceError) in
      try segment.goOn(device: device)
      return try trials[place].seconds()
    }
    return names[best]
  }
}

extension Graph {
  /// One of its nodes, whose operands come from outside unless they are constant.
  fileprivate func alone(_ index: Int) -> Graph {
    let node = nodes[index]
    var inputs: [ValueID] = []
    for id in node.inputs where self[id].weight == nil && !inputs.contains(id) { inputs.append(id) }
    return Graph(nodes: [node], values: values, inputs: inputs, outputs: node.outputs)
  }
}

/// What was chosen, by key, for all models on a device: a line each, the oldest first.
private struct KernelChoices {
  /// More than these are not kept.
  private static let limit = 1 << 14

  private var names: [String: String] = [:]
  private var order: [String] = []
  private let identity: String
  private var key: String { "kernels/\(identity)" }

  var count: Int { order.count }

  init(_ blobs: any BlobCache, _ identity: String) {
    self.identity = identity
    guard let payload = blobs.blob(key).flatMap({ CheckedBlob.payload(of: $0, origin: Digest(key)) }) else { return }
    for line in String(decoding: payload, as: UTF8.self).split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
      self[parts[0]] = parts.count > 1 ? parts[1] : ""
    }
  }

  subscript(key: String) -> String? {
    get { names[key] }
    set {
      guard let newValue, names.updateValue(newValue, forKey: key) == nil else { return }
      order.append(key)
    }
  }

  /// With what others have kept meanwhile.
  func keep(in blobs: any BlobCache) {
    var kept = KernelChoices(blobs, identity)
    for key in order where kept[key] == nil { kept[key] = names[key] }
    let lines = kept.order.suffix(Self.limit).map { "\($0) \(kept.names[$0] ?? "")\n" }
    CheckedBlob.encoded(Array(lines.joined().utf8), origin: Digest(key)).withUnsafeBytes { blobs.store(key, $0) }
  }
}
