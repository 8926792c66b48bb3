import Dispatch
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinReport
import Synchronization

extension ClassificationEvaluation {
  /// What a contender takes: bytes of its files, and seconds for one picture once warm.
  public struct Cost: Hashable, Sendable {
    /// Of the model's files together.
    public var bytes: Int
    /// The median of some predictions.
    public var seconds: Double

    /// What a contender takes.
    public init(bytes: Int, seconds: Double) { (self.bytes, self.seconds) = (bytes, seconds) }
  }

  private static let (mostConfusions, mostMistakes) = (12, 12)

  /// All of it on one page that opens anywhere and fetches nothing, with the pictures that each contender is surest and
  /// wrong about.
  ///
  /// - Parameters:
  ///   - title: above the page.
  ///   - costs: of the contenders, in their order.
  /// - Returns: an HTML document.
  public func page(title: String, costs: [Cost]) -> String {
    let contestants = zip(results, costs).enumerated().map { place, pair in
      contestant(pair.0, pair.1, comparison: place == 0 ? "" : sentence(on: pair.0))
    }
    let classes = results[0].scores.classes.count
    return EvaluationPage(
      title: title,
      summary:
        "\(pictures.count) picture\(pictures.count == 1 ? "" : "s") of \(classes) class\(classes == 1 ? "" : "es")",
      contestants: contestants, kelvinVersion: kelvinVersion
    ).render()
  }

  /// How a result compares with the first, for people.
  public func sentence(on result: Result) -> String {
    func signed(_ share: Double) -> String { (share < 0 ? "" : "+") + HumanReadable.fixed(share * 100, decimals: 1) }
    let pairs = comparison(of: result)
    let probability =
      pairs.probability < 0.001 ? "p < 0.001" : "p = \((pairs.probability * 1000).rounded() / 1000)"
    let words = pairs.probability < 0.05 ? "a difference" : "no difference that \(pairs.count) pictures tell"
    return "\(result.name) against \(results[0].name): top-1 \(signed(pairs.difference ?? 0)) points "
      + "(\(signed(pairs.interval.lowerBound)) to \(signed(pairs.interval.upperBound))), \(probability): \(words)"
  }

  private func contestant(_ result: Result, _ cost: Cost, comparison: String) -> EvaluationPage.Contestant {
    let scores = result.scores
    return EvaluationPage.Contestant(
      name: result.name, top1: scores.top1.share ?? 0, interval: scores.top1.interval, top5: scores.top5.share ?? 0,
      calibrationError: scores.calibration.expectedError ?? 0, bytes: cost.bytes, seconds: cost.seconds,
      comparison: comparison,
      calibration: scores.calibration.bins.compactMap { bin in
        bin.right.share.map { (bin.confidence, $0, bin.right.trials) }
      },
      confusions: scores.confusions.prefix(Self.mostConfusions).map {
        (labels[$0.truth], labels[$0.answer], $0.count)
      },
      mistakes: mistakes(of: result))
  }

  /// Those that the contender was surest about, with thumbnails.
  private func mistakes(of result: Result) -> [EvaluationPage.Mistake] {
    let wrong = result.pictures.indices.filter { !result.pictures[$0].isRight(among: 1) }
    func confidence(_ index: Int) -> Float { result.pictures[index].answers.first?.confidence ?? 0 }
    let worst = wrong.sorted { (confidence($1), $0) < (confidence($0), $1) }.prefix(Self.mostMistakes)
    let made = Mutex<[Int: EvaluationPage.Mistake]>([:])
    let order = Array(worst)
    DispatchQueue.concurrentPerform(iterations: order.count) { place in
      let picture = result.pictures[order[place]]
      let shown = picture.answers.prefix(3).map {
        (name: labels[$0.label], confidence: HumanReadable.percent(Double($0.confidence), decimals: 0))
      }
      let mistake = EvaluationPage.Mistake(
        picture: .thumbnail(ofFileAt: pictures[order[place]].path, shownAs: pictures[order[place]].path, shown),
        truth: labels[picture.truth])
      made.withLock { $0[place] = mistake }
    }
    return made.withLock { made in order.indices.compactMap { made[$0] } }
  }
}
