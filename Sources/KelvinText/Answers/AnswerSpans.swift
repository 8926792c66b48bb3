import KelvinBasics

/// Pieces of one window by the scores of where an answer begins and ends.
struct AnswerSpans {
  struct Span: Hashable {
    /// Where it lies in the text.
    let range: Range<Int>
    let score: Double
  }

  /// Best first; of those in the same place the best.
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
  ///   - range: where the text from one token to another lies.
  init(
    starts: [Float], ends: [Float], isPassage: [Bool], longest: Int, count: Int,
    range: (_ first: Int, _ last: Int) -> Range<Int>
  ) {
    let start = Self.shares(starts, isPassage)
    let end = Self.shares(ends, isPassage)
    noAnswer = start.isEmpty ? 0 : start[0] * end[0]
    var best: [Span] = []
    for first in isPassage.indices.dropFirst() where isPassage[first] {
      for last in first..<first + min(max(longest, 0), isPassage.count - first) where isPassage[last] {
        let score = start[first] * end[last]
        if best.count == count, let least = best.last, score <= least.score { continue }
        let span = Span(range: range(first, last), score: score)
        if let same = best.firstIndex(where: { $0.range == span.range }) {
          guard best[same].score < score else { continue }
          best.remove(at: same)
        }
        best.insert(span, at: best.firstIndex { $0.score < score } ?? best.count)
        if best.count > count { best.removeLast() }
      }
    }
    spans = best
  }

  private static func shares(_ scores: [Float], _ isPassage: [Bool]) -> [Double] {
    let taken = isPassage.indices.filter { $0 == 0 || isPassage[$0] }
    var shares = [Double](repeating: 0, count: isPassage.count)
    for (place, share) in zip(taken, softmax(taken.map { Double(scores[$0]) })) { shares[place] = share }
    return shares
  }
}
