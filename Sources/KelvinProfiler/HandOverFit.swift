import KelvinMeasurements

/// A least-squares fit of the costs of handing nodes and values to devices, beyond nodes and bare copies. Its data are
/// whole inferences of each device alone and of plans that alternate between devices.
///
/// A device costs `dispatch` per node. A value that moves to or from the host costs `latency`, and `secondsPerByte` for
/// each byte. A value between two other devices passes through the host and costs both links.
///
/// These costs include thread wake-ups, cold caches and layout changes at a segment's edges; the fit does not separate
/// them. Residuals are relative, so that short plans count as much as long ones.
struct HandOverFit {
  /// A link to the host or from it.
  struct Link: Hashable {
    var from: String
    var to: String
  }

  /// One plan, with the number of times it incurs each cost.
  struct Observation {
    /// Whether the plan uses several devices by design, and not only for nodes that one device does not support.
    var isMixed: Bool
    /// The measured seconds of one inference.
    var measured: Double
    /// The seconds of its nodes and bare copies.
    var explained: Double
    /// The number of nodes handed to each device.
    var dispatches: [String: Double] = [:]
    var copies: [Link: (count: Double, bytes: Double)] = [:]
    /// The number of starts by control flow on each device. Their costs are determined later; here they only absorb
    /// their part.
    var starts: [String: Double] = [:]
  }

  private(set) var dispatch: [String: Double] = [:]
  private(set) var latency: [Link: Double] = [:]
  private(set) var secondsPerByte: [Link: Double] = [:]
  /// `predicted / measured − 1` of each mixed plan, predicted by a fit to all the others.
  private(set) var mixedErrors: [Double] = []

  private let devices: [String]
  private let links: [Link]

  /// The weight of single-device observations, which were measured most often and which most plans resemble.
  private static let weightOfSingles = 4.0
  /// The bytes that some plan must move over a link for a cost per byte to be fitted; below, noise would determine the
  /// price of larger values.
  private static let enoughBytes = Double(1 << 20)
  /// The regularization of each kind of cost. Time that the plans do not separate is attributed to control flow first,
  /// then to hand-over, then to nodes and bytes.
  private static let reluctance = (starts: 1e-2, dispatch: 1e2, bytes: 1e3)

  init(_ observations: [Observation]) {
    devices = Set(observations.flatMap { $0.dispatches.keys }).sorted()
    links = Set(observations.flatMap { $0.copies.keys }).sorted { ($0.from, $0.to) < ($1.from, $1.to) }
    let starts = Set(observations.flatMap { $0.starts.keys }).sorted()
    let large = Set(links.filter { link in observations.contains { $0.copies[link]?.bytes ?? 0 >= Self.enoughBytes } })
    let rows = observations.map { row($0, starts, tellingBytesOf: large) }
    let reluctance =
      devices.map { _ in Self.reluctance.dispatch } + links.flatMap { _ in [1, Self.reluctance.bytes] }
      + starts.map { _ in Self.reluctance.starts }
    func solve(without left: Int? = nil) -> [Double] {
      let used = observations.indices.filter { $0 != left }
      return NonNegativeLeastSquares.solve(
        used.map { rows[$0] }, used.map { observations[$0].measured - observations[$0].explained },
        weights: used.map {
          (observations[$0].isMixed ? 1 : Self.weightOfSingles)
            / (observations[$0].measured * observations[$0].measured)
        }, reluctance: reluctance)
    }
    let all = solve()
    for (index, device) in devices.enumerated() { dispatch[device] = all[index] }
    for (index, link) in links.enumerated() {
      latency[link] = all[devices.count + 2 * index]
      secondsPerByte[link] = all[devices.count + 2 * index + 1]
    }
    for (index, observation) in observations.enumerated() where observation.isMixed {
      let predicted = observation.explained + zip(rows[index], solve(without: index)).reduce(0) { $0 + $1.0 * $1.1 }
      mixedErrors.append(predicted / observation.measured - 1)
    }
  }

  private func row(_ observation: Observation, _ starts: [String], tellingBytesOf large: Set<Link>) -> [Double] {
    devices.map { observation.dispatches[$0] ?? 0 }
      + links.flatMap {
        let copied = observation.copies[$0] ?? (0, 0)
        return [copied.count, large.contains($0) ? copied.bytes : 0]
      }
      + starts.map { observation.starts[$0] ?? 0 }
  }
}
