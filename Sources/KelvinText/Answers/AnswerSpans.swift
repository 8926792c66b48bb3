import Glibc

/// Pieces of one window by the scores of where an answer begins and ends.
struct AnswerSpans {
  struct Span: Hashable {
    let first: Int
    let last: Int
    let score: Double
  }

  /// Best first.
  let spans: [Span]
  /// How likely it is that the window has no answer: that it begins and ends at `[CLS]`.
  let noAnswer: Double

  /// The softmax of either kind of scores, over the tokens that may be part of an answer and the first one; a span's score is
  /// the product of both.
  ///
  /// - Parameters:
  ///   - starts: a score for each token.
  ///   - ends: as many.
  ///   - isPassage: which tokens may be part of an answer.
  ///   - longest: the most tokens of an answer.
  ///   - count: how many spans are wanted.
  init(starts: [Float], ends: [Float], isPassage: [Bool], longest: Int, count: Int) {
    let start = Self.shares(starts, isPassage)
    let end = Self.shares(ends, isPassage)
    noAnswer = start.isEmpty ? 0 : start[0] * end[0]
    var best: [Span] = []
    for first in isPassage.indices.dropFirst() where isPassage[first] {
      for last in first..<min(first + longest, isPassage.count) where isPassage[last] {
        let score = start[first] * end[last]
        if best.count == count, let least = best.last, score <= least.score { continue }
        let place = best.firstIndex { $0.score < score } ?? best.count
        best.insert(Span(first: first, last: last, score: score), at: place)
        if best.count > count { best.removeLast() }
      }
    }
    spans = best
  }

  private static func shares(_ scores: [Float], _ isPassage: [Bool]) -> [Double] {
    let taken = isPassage.indices.filter { $0 == 0 || isPassage[$0] }
    let largest = taken.reduce(-Double.infinity) { max($0, Double(scores[$1])) }
    var shares = [Double](repeating: 0, count: isPassage.count)
    var sum = 0.0
    for place in taken {
      shares[place] = exp(Double(scores[place]) - largest)
      sum += shares[place]
    }
    return shares.map { $0 / sum }
  }
}
