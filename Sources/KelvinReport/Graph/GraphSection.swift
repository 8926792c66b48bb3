import KelvinBasics
import KelvinPlanning

/// The complete graph of a placement. Repeated layers are drawn once, under a heading with their total cost. The other
/// repetitions are in a closed disclosure element.
enum GraphSection {
  /// The number of visible layers above which they are drawn as squares.
  private static let mostBoxes = 160

  static func draw(_ placement: ReportPlacement, upTo count: Int, number: Int, _ palette: ReportPalette) -> Markup {
    let stretches = RepeatedBlock.stretches(placement.blocks, of: count)
    let seen = stretches.reduce(0) { sum, stretch in
      switch stretch {
      case .plain(let range): sum + range.count
      case .repeated(let block): sum + block.period
      }
    }
    func graph(_ range: Range<Int>) -> Markup {
      GraphDrawing(placement, range, number: number, isCompact: seen > mostBoxes, palette).markup
    }
    let parts = stretches.map { stretch -> Markup in
      switch stretch {
      case .plain(let range): return graph(range)
      case .repeated(let block):
        let others = block.times.dropFirst()
        return """
          <div class="block"><p>\(BlockHeading(block, placement.plan.nodes).text)</p>\(graph(block.times[0]))\
          <details class="rest"><summary>the other \(others.count) times</summary>\(others.map(graph))</details></div>
          """
      }
    }
    return "\(parts)"
  }
}
