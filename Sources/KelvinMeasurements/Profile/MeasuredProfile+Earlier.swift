/// Conversion of earlier versions of the document.
extension MeasuredProfile {
  /// Converts the keys of versions before 3, which contain the requested precision although every device computes in
  /// float32. Costs of one node under several precisions are merged: a certain cost takes precedence over a noisy one,
  /// then the cost with more samples.
  mutating func nameByEffectivePrecision() {
    let order = nodes.keys.sorted()
    var renamed: [String: [String: NodeCost]] = [:]
    for key in order {
      renamed[Self.effective(key), default: [:]].merge(nodes[key] ?? [:]) { first, second in
        if first.isNoisy != second.isNoisy { return first.isNoisy ? second : first }
        return second.samples > first.samples ? second : first
      }
    }
    nodes = renamed
    work = Dictionary(work.sorted { $0.key < $1.key }.map { (Self.effective($0.key), $0.value) }) { first, _ in first }
    for model in models.keys {
      for index in models[model]?.nodes.indices ?? 0..<0 {
        guard let key = models[model]?.nodes[index].key else { continue }
        models[model]?.nodes[index].key = Self.effective(key)
      }
    }
  }

  /// Converts `relu(f32[1]) automatic 2t` to `relu(f32[1]) full 2t`; returns other strings unchanged.
  private static func effective(_ key: String) -> String {
    let words = key.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count > 2, let threads = words.last, threads.last == "t", Int(threads.dropLast()) != nil,
      ["automatic", "high", "low"].contains(words[words.count - 2])
    else { return key }
    return (words.dropLast(2) + ["full", threads]).joined(separator: " ")
  }
}
