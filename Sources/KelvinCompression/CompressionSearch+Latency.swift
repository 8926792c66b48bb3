public import Kelvin

/// The times of predictions of several copies, which predicted in turns.
public struct CopyTimes: Sendable {
  /// By copy, the time of each of its turns.
  private let turns: [[Duration]]

  /// Of 15 turns, a fair coin gives 12 equal sides or more with a probability of 1.8 %.
  static let (turnCount, clearCount) = (15, 12)
  private static let share = 0.95

  init(_ turns: [[Duration]]) { self.turns = turns }

  /// Returns the median time of a copy.
  ///
  /// - Parameter copy: The index of the copy.
  public func median(of copy: Int) -> Duration { turns[copy].sorted()[turns[copy].count / 2] }

  /// Returns whether a copy is clearly faster than another: by 5 % at the median, and in 12 of 15 turns.
  ///
  /// - Parameters:
  ///   - copy: The index of the copy.
  ///   - other: The index of the other copy.
  public func isFaster(_ copy: Int, than other: Int) -> Bool {
    let wins = zip(turns[copy], turns[other]).count { $0 < $1 }
    return wins >= Self.clearCount && median(of: copy) < median(of: other) * Self.share
  }

  /// The index of the copy with the least median.
  var fastest: Int { turns.indices.min { median(of: $0) < median(of: $1) } ?? 0 }
}

extension CompressionSearch {
  /// The number of predictions of each copy before those that are timed.
  private static let untimed = 3

  /// Measures the time of a prediction of several copies, which predict in turns, so that other work of the machine
  /// affects all.
  ///
  /// - Parameter copies: The form of each weight, by copy.
  public func times(of copies: [[WeightForm]]) async throws(ModelError) -> CopyTimes {
    var models: [Model] = []
    for forms in copies { models.append(try await load(forms)) }
    var turns = models.map { _ in [Duration]() }
    for turn in 0..<Self.untimed + CopyTimes.turnCount {
      let input = samples[turn % samples.count].input
      for (place, model) in models.enumerated() {
        let start = ContinuousClock.now
        _ = try await model.prediction(from: input)
        if turn >= Self.untimed { turns[place].append(ContinuousClock.now - start) }
      }
    }
    return CopyTimes(turns)
  }

  /// Returns copies within a size that may be faster than the one with the least change: those whose compressed weights
  /// all have one kind of form, and those with a form for all weights.
  ///
  /// - Parameters:
  ///   - options: The options of each weight, in the order of `forms`, the original last.
  ///   - forms: The forms that weights may have besides their own.
  ///   - budget: The greatest number of bytes of the model's files.
  public func alternatives(
    _ options: [[CompressionChoice.Option]], in forms: [WeightForm], budget: Int
  ) throws(ModelError) -> [[WeightForm]] {
    let kinds: [Set<WeightForm>] =
      [forms.filter(\.isInteger), forms.filter { !$0.isInteger }].map(Set.init) + forms.map { [$0] }
    var found: [[WeightForm]] = []
    for kind in kinds where !kind.isEmpty {
      let kept = forms.indices.filter { kind.contains(forms[$0]) }
      let part = options.map { list in kept.map { list[$0] } + [list[list.count - 1]] }
      guard let choice = try Self.forms(of: compressor, part, in: kept.map { forms[$0] }, budget: budget),
        !found.contains(choice)
      else { continue }
      found.append(choice)
    }
    return found
  }

  /// Returns the fastest of several copies that lose little.
  ///
  /// - Parameters:
  ///   - first: The copy to prefer unless another is clearly faster (``CopyTimes/isFaster(_:than:)``).
  ///   - others: Other copies.
  ///   - maxLoss: The greatest loss in points of a hundred (``Outcome/loss``); nil for one point more than the first.
  public func fastest(
    _ first: [WeightForm], _ others: [[WeightForm]], maxLoss: Double? = nil
  ) async throws(ModelError) -> [WeightForm] {
    let limit: Double
    if let maxLoss { limit = maxLoss } else { limit = try await outcome(first).loss + 1 }
    var allowed = [first]
    for forms in others where forms != first {
      if try await outcome(forms).loss <= limit { allowed.append(forms) }
    }
    guard allowed.count > 1 else { return first }
    let times = try await times(of: allowed)
    return times.isFaster(times.fastest, than: 0) ? allowed[times.fastest] : first
  }
}

extension CompressionSearch.Outcome {
  /// The loss against the original in points of a hundred: of right answers; else of the search's measure; else of
  /// samples with the original's label; else of the cosine of the outputs.
  public var loss: Double {
    if let accuracy { return 100 * Double(accuracy.original - accuracy.copy) / Double(accuracy.count) }
    if let measure { return measure.loss }
    if agreement.of > 0 { return 100 * Double(agreement.of - agreement.count) / Double(agreement.of) }
    return 100 * (1 - cosine)
  }
}

extension WeightForm {
  /// Whether the numbers are integers.
  fileprivate var isInteger: Bool { if case .integers = numbers { true } else { false } }
}
