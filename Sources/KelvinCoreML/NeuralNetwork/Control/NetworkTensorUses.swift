import KelvinImport

/// The layers of one network, with an index of reads and writes of each tensor. Queries about all layers after a given
/// one do not iterate over these layers.
struct NetworkTensorUses {
  let layers: [NetworkLayer]
  /// By tensor, the indices of layers that may read its previous value.
  private var reads: [String: [Int]] = [:]
  /// By tensor, the indices of layers that have certainly computed it if the layers after them are reached.
  private var computes: [String: [Int]] = [:]
  /// By tensor, the index of the last layer that computes it.
  private var last: [String: Int] = [:]
  /// The indices of layers that may leave the iteration of the enclosing loop and, by tensor, of those that have
  /// certainly computed it when they do.
  private var leavers: [Int] = []
  private var leaverComputes: [String: [Int]] = [:]
  private var lastBreak = -1
  /// The indices of layers after which nothing is reached.
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

  /// Whether the value of a tensor before the layers from an index on may matter to them or to their successors.
  ///
  /// - Parameters:
  ///   - later: The tensors that are read after all layers.
  ///   - leaving: The tensors that are read after the end of an iteration of the enclosing loop.
  func isRead(_ name: String, from start: Int, later: Set<String>, leaving: Set<String>) -> Bool {
    // A layer that computes the tensor may read it before, or leave the iteration.
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

  /// Whether the layers from an index on have certainly computed a tensor when their end is reached. True if their end
  /// is never reached.
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

  /// Returns the number of sorted indices that are less than a given one, by binary search.
  private static func index(in places: [Int], of start: Int) -> Int {
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle] < start { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
