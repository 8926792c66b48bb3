import KelvinGraph

extension ConformanceCase {
  package static let randomKey: [ConformanceCase] = ([0, 1 << 40, -1] as [Int]).map {
    node("seed \($0)", RandomKey(seed: $0))
  }
}
