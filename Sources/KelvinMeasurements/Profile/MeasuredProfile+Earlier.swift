/// What earlier versions of the document say otherwise.
extension MeasuredProfile {
  /// Before version 3 keys had the precision that was asked for, though every device computed in float32: costs of one
  /// node under several of them become one, a certain one before a noisy one, the one of more samples before others.
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

  /// `relu(f32[1]) automatic 2t` as `relu(f32[1]) full 2t`; any other text as it is.
  private static func effective(_ key: String) -> String {
    let words = key.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count > 2, let threads = words.last, threads.last == "t", Int(threads.dropLast()) != nil,
      ["automatic", "high", "low"].contains(words[words.count - 2])
    else { return key }
    return (words.dropLast(2) + ["full", threads]).joined(separator: " ")
  }
}
