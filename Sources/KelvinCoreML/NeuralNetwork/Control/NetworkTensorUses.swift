import KelvinImport

/// The layers of one network, and where each tensor is read and computed among them: what is asked of all that stands behind
/// a layer is found without going through it.
struct NetworkTensorUses {
  let layers: [NetworkLayer]
  /// By tensor, where layers may read the value that it has before them.
  private var reads: [String: [Int]] = [:]
  /// By tensor, which layers have computed it for sure if what follows them is reached.
  private var computes: [String: [Int]] = [:]
  /// By tensor, where it is computed last, if at all.
  private var last: [String: Int] = [:]
  /// Which layers may leave the trip of the loop around, and by tensor, which of them have computed it for sure where they do.
  private var leavers: [Int] = []
  private var leaverComputes: [String: [Int]] = [:]
  private var lastBreak = -1
  /// The layers behind which nothing is reached.
  private var ends: [Int] = []

  init(_ layers: [NetworkLayer]) {
    self.layers = layers
    for (place, layer) in layers.enumerated() {
      let effect = layer.effect
      for name in effect.reads { reads[name, default: []].append(place) }
      for name in effect.onwards ?? [] { computes[name, default: []].append(place) }
      for name in CollectionOfOne(layer).computed { last[name] = place }
      if let leaving = effect.leaving {
        leavers.append(place)
        for name in leaving { leaverComputes[name, default: []].append(place) }
      }
      if CollectionOfOne(layer).mayBreak { lastBreak = place }
      if effect.onwards == nil { ends.append(place) }
    }
  }

  /// Whether the value of a tensor before the layers from a place on may matter to them or to what follows.
  ///
  /// - Parameters:
  ///   - later: what is read behind all of them.
  ///   - leaving: what is read behind the end of a trip of the loop around.
  func isRead(_ name: String, from start: Int, later: Set<String>, leaving: Set<String>) -> Bool {
    // A layer that computes it may read it before, or leave the trip.
    let computed = Self.first(computes[name], from: start)
    let end = Self.first(ends, from: start)
    let stop = Swift.min(computed ?? layers.count, end ?? layers.count)
    if let read = Self.first(reads[name], from: start), read <= stop { return true }
    if stop == layers.count, later.contains(name) { return true }
    func count(_ places: [Int]?) -> Int {
      guard let places else { return 0 }
      return Self.index(in: places, of: stop + 1) - Self.index(in: places, of: start)
    }
    return leaving.contains(name) && count(leavers) > count(leaverComputes[name])
  }

  /// Whether a tensor is computed for sure where the layers from a place on come to their end, if they do.
  func surelyCompute(_ name: String, from start: Int) -> Bool {
    Self.first(ends, from: start) != nil || Self.first(computes[name], from: start) != nil
  }

  func mayCompute(_ name: String, from start: Int) -> Bool { last[name].map { $0 >= start } ?? false }

  func mayLeave(from start: Int) -> Bool { leavers.last.map { $0 >= start } ?? false }

  func mayBreak(from start: Int) -> Bool { lastBreak >= start }

  private static func first(_ places: [Int]?, from start: Int) -> Int? {
    guard let places else { return nil }
    let index = index(in: places, of: start)
    return index < places.count ? places[index] : nil
  }

  /// How many of rising places come before one.
  private static func index(in places: [Int], of start: Int) -> Int {
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle] < start { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
