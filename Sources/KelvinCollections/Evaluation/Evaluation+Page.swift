import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinReport
import KelvinVision

private let mostMistakes = 12

extension Evaluation {
  /// Returns the results as one self-contained HTML page, with the examples that each contender does worst at.
  ///
  /// - Parameters:
  ///   - title: The page's title.
  ///   - costs: The costs of the contenders, in their order.
  /// - Returns: An HTML document that loads no other resources.
  public func page(title: String, costs: [CandidateCost]) -> String {
    let verdict = verdict(costs: costs)
    let parts = contenders.indices.map { place in
      EvaluationPage.BenchmarkCandidate(
        name: names[place], cells: cells(of: place, costs[place], intervalWords(of: place)) + [costs[place].placement],
        quality: quality(of: place), interval: interval(of: place), cost: costs[place].time.inSeconds,
        isOnFront: verdict?.front.contains(place) ?? false, isChosen: verdict?.chosen == place,
        sections: sections(on: place).map(\.reported), mistakes: worst(of: place))
    }
    let compared = comparisonTable.map {
      EvaluationPage.Section.table(title: $0.title, columns: $0.columns, rows: $0.rows)
    }
    return EvaluationPage(
      title: title, summary: subject, verdict: verdict?.sentence, columns: Self.columns + ["On"],
      isShare: Self.decisive.unit == .share, isBetterWhenLarger: Self.decisive.isBetterWhenLarger, candidates: parts,
      comparison: compared, notes: (compared == nil ? contenders.indices.dropFirst().map(sentence) : []) + remarks,
      kelvinVersion: kelvinVersion
    ).render()
  }

  private func intervalWords(of contender: Int) -> String {
    interval(of: contender).map { "\(Self.decisive.text($0.lowerBound)) to \(Self.decisive.text($0.upperBound))" }
      ?? "—"
  }

  /// Returns a contender's worst mistakes with thumbnails, several of which are made concurrently.
  private func worst(of contender: Int) -> [EvaluationPage.Mistake] {
    let mistakes = Array(mistakes(of: contender).prefix(mostMistakes))
    return [EvaluationPage.Mistake](together: mistakes.count) { place in
      let mistake = mistakes[place]
      let shown = ContactSheet.Image.thumbnail(shownAs: examples[mistake.example].name, mistake.answers) {
        () throws(VisionError) in try image(of: mistake.example, by: contender)
      }
      return shown.map { EvaluationPage.Mistake(image: $0, caption: mistake.caption) }
    }
  }
}

extension EvaluationSection {
  fileprivate var reported: EvaluationPage.Section {
    switch self {
    case .table(let title, let columns, let rows): .table(title: title, columns: columns, rows: rows)
    case .calibration(let bins): .calibration(bins)
    case .scatter(let title, let points): .scatter(title: title, points)
    }
  }
}

extension ContactSheet.Image {
  /// Makes a thumbnail of an upright image; nil where the example has no image. An image that can no longer be read is
  /// replaced by the reason.
  fileprivate static func thumbnail(
    shownAs name: String, _ labels: [(name: String, figure: String)],
    of image: () throws(VisionError) -> PixelBuffer?
  ) -> ContactSheet.Image? {
    let labels = labels.map { (name: $0.name, confidence: $0.figure) }
    do throws(VisionError) {
      guard let pixels = try image() else { return nil }
      do throws(ImageError) {
        return try thumbnail(of: pixels, orientation: .up, encodedAs: name, labels)
      } catch { throw .image(error) }
    } catch {
      return ContactSheet.Image(
        path: name, labels: labels, width: 0, height: 0, thumbnail: nil, fault: error.description)
    }
  }
}
