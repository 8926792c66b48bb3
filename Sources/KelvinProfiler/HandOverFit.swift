import KelvinMeasurements

/// What handing nodes and values from device to device costs beyond nodes and bare copies: least squares over whole
/// inferences, each device's alone and of plans that alternate.
///
/// A device takes `dispatch` for each node that is handed to it; a value that goes to or from the host takes `latency`
/// and so much for each byte, once a direction. Woken threads, caches gone cold and changes of layout at a segment's
/// edges are in these: they are told from what alternating plans take, not by what causes them. A value between two
/// devices passes by the host, and takes what both ways take. Residuals are relative, so that short plans count as much
/// as long ones.
struct HandOverFit {
  /// A way to the host or from it.
  struct Link: Hashable {
    var from: String
    var to: String
  }

  /// One plan, and how often it does what costs.
  struct Observation {
    /// Whether it is of several devices beyond what one of them leaves to others.
    var isMixed: Bool
    /// Seconds of one inference.
    var measured: Double
    /// Seconds of its nodes and bare copies.
    var explained: Double
    /// By device, nodes that are handed to it.
    var dispatches: [String: Double] = [:]
    var copies: [Link: (count: Double, bytes: Double)] = [:]
    /// By device, starts by control flow. They have costs of their own, told later; here they only take their share.
    var starts: [String: Double] = [:]
  }

  private(set) var dispatch: [String: Double] = [:]
  private(set) var latency: [Link: Double] = [:]
  private(set) var secondsPerByte: [Link: Double] = [:]
  /// `predicted / measured − 1` of each mixed plan, by what is fitted to all the others.
  private(set) var mixedErrors: [Double] = []

  private let devices: [String]
  private let links: [Link]

  /// A device alone is what most plans come down to, and was measured most often.
  private static let weightOfSingles = 4.0
  /// Where no plan moves as many bytes, what each takes cannot be told: larger values would get a price made of noise.
  private static let enoughBytes = Double(1 << 20)
  /// What plans do not tell apart is put down to control flow before hand-over, and to that before nodes and bytes.
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
