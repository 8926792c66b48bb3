internal import KelvinBasics
package import KelvinGraph
import Synchronization

/// Which kernels of a loaded model may be chosen by timing, and the time for it. All compilations of the model share
/// this object.
///
/// Alternatives of an offer (`KernelOffer.alternatives`) are timed on their node with synthetic operands. The fastest
/// is stored for every model and every later process.
package final class KernelTuning: Sendable {
  package enum Mode: String, Hashable, Sendable, CaseIterable {
    /// Stored results are used. Unknown ones are timed within the allowance, but only on hardware: software drivers
    /// compile kernels slowly.
    case automatic
    /// Unknown results are timed on every device, without a time limit.
    case exhaustive
    /// Nothing is timed, and stored results are not used.
    case off
  }

  /// The number of rounds, in each of which every kernel is timed once.
  package static let rounds = 5
  /// The share of the default kernel's time that another kernel must not exceed to be chosen.
  package static let gain = 0.93
  /// The default allowance: the seconds by which timing may extend a model's loading.
  package static let usualAllowance = 1.0

  package let mode: Mode
  /// Returns the adjusted seconds, given the node's name, the kernel's name and the measured seconds.
  private let judged: @Sendable (String, String, Double) -> Double
  private let clock: @Sendable () -> Double
  private let left: Mutex<Double>

  /// - Parameters:
  ///   - allowance: the seconds for all timing in mode `automatic`. A round in progress is completed.
  ///   - judged: replaces measured seconds, for tests.
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

  /// The tuning for compilations after loading: stored results are used, and nothing is timed unless requested
  /// explicitly.
  package var afterLoading: KernelTuning { mode == .automatic ? KernelTuning(.automatic, allowance: 0) : self }

  /// Returns seconds of a monotonic clock.
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

  /// Returns the index of the fastest kernel, or the first one's unless the gain is significant.
  ///
  /// - Parameters:
  ///   - names: the names of the kernels.
  ///   - end: the time after which only the first round is completed.
  ///   - seconds: runs a kernel once and returns its time.
  fileprivate func fastest(
    for node: String, _ names: [String], until end: Double, _ seconds: (Int) throws(DeviceError) -> Double
  ) throws(DeviceError) -> Int {
    var times = [Double](repeating: .infinity, count: names.count)
    for round in 0..<Self.rounds {
      // The first round is always completed.
      if round > 0, isPast(end) { break }
      for place in names.indices {
        times[place] = min(times[place], judged(node, names[place], try seconds(place)))
      }
    }
    var best = 0
    for place in times.indices where times[place] < times[best] { best = place }
    return times[best] <= times[0] * Self.gain ? best : 0
  }

  /// Runs timing work and subtracts its duration from the allowance; the work receives its end time.
  fileprivate func spending<Result>(_ work: (Double) throws(DeviceError) -> Result) throws(DeviceError) -> Result {
    let begin = clock()
    defer { left.withLock { [spent = clock() - begin] in $0 -= spent } }
    return try work(mode == .automatic ? begin + left.withLock { $0 } : .infinity)
  }

  fileprivate func isPast(_ end: Double) -> Bool { end < .infinity && clock() > end }
}

/// A kernel of one node, ready to run on operands that are equal for every kernel of the node.
package protocol KernelTrial {
  /// Runs it once and returns the seconds it took.
  func seconds() throws(DeviceError) -> Double
  /// Returns the digest of the latest run's results; equal for kernels with bit-identical results.
  func results() throws(DeviceError) -> Digest
}

extension KernelSelection {
  /// Chooses for each node the fastest among its kernel and the alternatives: from the segment's blobs, or by timing,
  /// as far as the segment's tuning allows. Nodes with more operations come first, and equal nodes count as one.
  /// Nodes for which no time is left keep their kernel, and a later compilation may time them.
  ///
  /// Candidates that fail, or whose results differ from the default kernel's, are dropped. If a candidate crashes the
  /// device, the default is recorded for later runs.
  ///
  /// Nothing is timed if the segment must be deterministic, or if results cannot be stored.
  ///
  /// - Parameters:
  ///   - device, kernels: identify the device, its driver and its kernels, to which stored results belong.
  ///   - trial: prepares the kernel of a selection of one node, compiled alone as the segment says.
  /// - Throws: `.cancelled`, or the failure of the device.
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
      // If a stored name does not exist any more, the default kernel is kept.
      if let taken = offers[index].alternatives.first(where: { $0.name == choice }) { offers[index].take(taken) }
    }
  }

  private func operations(of index: Int) -> Double {
    let node = graph.nodes[index]
    return node.op.operations(graph.types(node.inputs), graph.types(node.outputs))
  }

  /// Returns the key of a choice, which contains everything that it depends on.
  private func tuningKey(of index: Int, _ segment: Segment, _ identity: String) -> String {
    let (node, offer) = (graph.nodes[index], offers[index])
    let weights = node.inputs.compactMap { graph[$0].weight }
    let forms = weights.map { "\($0.isBlockQuantized ? "codes" : "")\($0.isHeldByFloat16 ? "half" : "")" }
    let names = [offer.variant] + offer.alternatives.map(\.name)
    return Digest(
      "\(node.fingerprint(in: graph)) \(forms) \(offer.key) \(names) \(offer.precision) \(identity)"
    ).description
  }

  /// Returns the name of the fastest kernel; the default kernel's if it cannot run.
  ///
  /// - Parameter end: the time after which no further kernel is prepared.
  private func choice(
    for index: Int, _ segment: Segment, _ device: String, until end: Double,
    _ trial: (KernelSelection, Segment) throws(DeviceError) -> any KernelTrial
  ) throws(DeviceError) -> String {
    var offer = offers[index]
    let alternatives = offer.alternatives
    offer.alternatives = []
    var alone = segment
    alone.graph = graph.alone(graph.nodes[index])
    alone.weights = MemoryPackedWeights()
    alone.blobs = NoBlobCache()
    alone.didPack = {}
    alone.streamed = []
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
  /// Returns a graph of one node, whose non-constant operands are inputs.
  package func alone(_ node: Node) -> Graph {
    var inputs: [ValueID] = []
    for id in node.inputs where self[id].weight == nil && !inputs.contains(id) { inputs.append(id) }
    return Graph(nodes: [node], values: values, inputs: inputs, outputs: node.outputs)
  }
}

/// The chosen kernels by key, for all models on a device: one line each, the oldest first.
private struct KernelChoices {
  /// The maximum number of stored choices.
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

  /// Stores the choices, merged with those stored by other processes meanwhile.
  func keep(in blobs: any BlobCache) {
    var kept = KernelChoices(blobs, identity)
    for key in order where kept[key] == nil { kept[key] = names[key] }
    let lines = kept.order.suffix(Self.limit).map { "\($0) \(kept.names[$0] ?? "")\n" }
    CheckedBlob.encoded(Array(lines.joined().utf8), origin: Digest(key)).withUnsafeBytes { blobs.store(key, $0) }
  }
}
