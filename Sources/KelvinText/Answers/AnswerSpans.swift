import KelvinBasics

/// The best spans of one window, by the scores of their starts and ends.
struct AnswerSpans {
  struct Span: Hashable {
    /// The position of the span in the text.
    let range: Range<Int>
    let score: Double
  }

  /// The spans, the best first. Spans with the same range are merged with the best score.
  let spans: [Span]
  /// The probability that the window has no answer, which is a span that starts and ends at `[CLS]`.
  let noAnswer: Double

  /// Finds the best spans. Start and end scores become probabilities by softmax over the first token and the tokens
  /// that may be part of an answer. A span's score is the product of its start and end probabilities.
  ///
  /// - Parameters:
  ///   - starts: the start score of each token.
  ///   - ends: the end score of each token.
  ///   - isPassage: whether each token may be part of an answer.
  ///   - longest: the maximum number of tokens in an answer.
  ///   - count: the number of spans to return.
  ///   - range: returns the position in the text of the span from one token to another.
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
    for (index, share) in zip(taken, softmax(taken.map { Double(scores[$0]) })) { shares[index] = share }
    return shares
  }
}
