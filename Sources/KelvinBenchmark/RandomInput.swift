package import KelvinGraph
import KelvinProfiling

/// Made-up inputs for models whose user gave none: the same seed gives the same tensors everywhere.
package enum RandomInput {
  /// One tensor for each input of the graph: floating-point values uniform in −1…1, integers in 0…1, so that an index
  /// stays inside any table.
  ///
  /// - Parameter ranges: by input name, the values an input may take: 0…255 for an image, a vocabulary for tokens.
  package static func tensors(
    for graph: Graph, seed: UInt64, ranges: [String: ClosedRange<Double>] = [:]
  ) -> [Tensor] {
    graph.inputs.enumerated().map { index, id in
      var generator = SplitMix64(seed: seed &+ UInt64(index) &* 0x9E37_79B9)
      let type = graph[id].type
      let isFloating = [ScalarType.float16, .float32, .float64].contains(type.scalar)
      let range = ranges[graph[id].name] ?? (isFloating ? -1...1 : 0...1)
      let width = range.upperBound - range.lowerBound
      return Tensor(
        type,
        rounding: (0..<type.count).map { _ in
          isFloating
            ? range.lowerBound + generator.unit() * width
            : min(range.upperBound, range.lowerBound + (generator.unit() * (width + 1)).rounded(.down))
        })
    }
  }
}
