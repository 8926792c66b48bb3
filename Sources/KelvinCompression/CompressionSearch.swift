import FoundationEssentials
import Glibc
public import Kelvin
import KelvinEvaluation

/// Finds the form of each weight: measures how much each weight's forms change the model's outputs, one weight at a
/// time, and chooses the forms whose changes add up to the least within a size.
///
/// The changes of two forms are measured. The changes of other forms follow from the weight's squared error, to which
/// small changes are proportional.
public struct CompressionSearch: Sendable {
  /// An input with its class, if that is known.
  public struct Sample: Sendable {
    /// The model's input.
    public var input: DictionaryFeatureProvider
    /// The class; nil if it is not known.
    public var label: String?

    /// Creates a sample.
    public init(_ input: DictionaryFeatureProvider, label: String? = nil) { (self.input, self.label) = (input, label) }
  }

  /// The size and the quality of a copy.
  public struct Outcome: Sendable {
    /// The form of each weight.
    public let forms: [WeightForm]
    /// The number of bytes of the model's files.
    public let byteCount: Int
    /// The mean change of the outputs over all samples: for classifiers the Kullback-Leibler divergence in nats, for
    /// other models the relative squared error.
    public let change: Double
    /// The mean cosine of the outputs and the original's, 1 for equal directions.
    public let cosine: Double
    /// The number of samples with the original's label, and the number of samples with labels.
    public let agreement: (count: Int, of: Int)
    /// The samples with known classes.
    public let accuracy: Accuracy?
    /// The figure of the search's measure.
    public let measure: CompressionMeasure.Comparison?
    /// The median time of a prediction.
    public var time: Duration
  }

  /// Right answers for the samples with known classes.
  public struct Accuracy: Hashable, Sendable {
    /// The number of samples.
    public let count: Int
    /// The number of right answers of the original.
    public let original: Int
    /// The number of right answers of the copy.
    public let copy: Int
    /// The 95 % interval of the difference of the shares of right answers, the copy's less the original's.
    public let difference: ClosedRange<Double>

    init?(_ pairs: PairedProportions) {
      guard pairs.count > 0 else { return nil }
      (count, original, copy) = (pairs.count, pairs.both + pairs.onlyFirst, pairs.both + pairs.onlySecond)
      difference = pairs.interval
    }
  }

  /// The model.
  public let compressor: ModelCompressor
  let samples: [Sample]
  /// The number of samples that measure single weights.
  private let probeCount: Int
  /// How the copies are run.
  public let configuration: ModelConfiguration
  /// A measure of the answers besides right labels.
  public let measure: CompressionMeasure?
  private let model: Model
  private let original: ModelOutputs

  /// The forms whose changes are measured.
  private static let measured: [WeightForm] = [.palette(bits: 2), .palette(bits: 4)]

  /// Runs the model on the samples.
  ///
  /// - Parameters:
  ///   - compressor: The model.
  ///   - samples: At least one. All measure the result; some measure single weights.
  ///   - probeCount: The number of these; nil for 16, or 128 for a model of at most a million weight elements.
  ///   - configuration: How the copies are run.
  ///   - measure: A measure of the answers besides right labels, as segmentation and detection need.
  public init(
    _ compressor: ModelCompressor, samples: [Sample], probeCount: Int? = nil,
    configuration: ModelConfiguration = ModelConfiguration(), measure: CompressionMeasure? = nil
  ) async throws(ModelError) {
    precondition(!samples.isEmpty, "a search needs samples")
    self.compressor = compressor
    self.samples = samples
    let isSmall = compressor.weights.reduce(0) { $0 + $1.count } <= 1_000_000
    self.probeCount = min(probeCount ?? (isSmall ? 128 : 16), samples.count)
    self.configuration = configuration.forCopies
    self.measure = measure
    let same = compressor.weights.map { _ in WeightForm.original }
    model = try await Model.load(asset: try compressor.asset(same), configuration: self.configuration)
    original = try await ModelOutputs(of: model, for: samples.map(\.input))
  }

  /// Measures the cost of every form of every weight.
  ///
  /// - Parameters:
  ///   - forms: The forms that weights may have besides their own; nil for ``ModelCompressor/candidates(system:)`` of
  ///     iOS 16.
  ///   - progress: Called with the fraction of the work done.
  /// - Returns: By weight, the options in the order of `forms`, the original last.
  public func options(
    _ forms: [WeightForm]? = nil, progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) async throws(ModelError) -> [[CompressionChoice.Option]] {
    let forms = forms ?? compressor.candidates(system: 16)
    let probes = stride(from: 0, to: samples.count, by: max(1, samples.count / probeCount)).prefix(probeCount)
    let inputs = probes.map { samples[$0].input }
    let before = original.samples(Array(probes))
    var options: [[CompressionChoice.Option]] = []
    for index in compressor.weights.indices {
      let codings = compressor.codings(of: index, in: forms)
      var changes: [(error: Double, change: Double)] = []
      for (form, error) in zip(Self.measured, compressor.weightedErrors(of: index, in: Self.measured)) {
        guard let error, error > 0 else { continue }
        var single = compressor.weights.map { _ in WeightForm.original }
        single[index] = form
        let change = before.change(to: try await ModelOutputs(of: try await load(single), for: inputs))
        changes.append((error, change.isFinite ? change : .greatestFiniteMagnitude))
      }
      let errors = compressor.weightedErrors(of: index, in: forms)
      var list = zip(codings, errors).map { coding, error in
        guard let coding, let error else { return CompressionChoice.Option(byteCount: .max / 4, cost: .infinity) }
        return CompressionChoice.Option(byteCount: coding.byteCount, cost: Self.change(of: error, changes))
      }
      list.append(.init(byteCount: compressor.codings(of: index, in: [.original])[0]?.byteCount ?? 0, cost: 0))
      options.append(list)
      progress(Double(index + 1) / Double(compressor.weights.count))
    }
    return options
  }

  /// Returns the change for a squared error, in proportion to the measured one with the nearest error.
  private static func change(of error: Double, _ measured: [(error: Double, change: Double)]) -> Double {
    guard error > 0 else { return 0 }
    let nearest = measured.min { abs(log($0.error / error)) < abs(log($1.error / error)) }
    return nearest.map { $0.change * error / $0.error } ?? error
  }

  /// Returns a copy in memory.
  func load(_ forms: [WeightForm]) async throws(ModelError) -> Model {
    try await Model.load(asset: try compressor.asset(forms), configuration: configuration)
  }

  /// Returns the cost of every form of every weight without samples: the weight's relative squared error, as if all
  /// weights mattered equally.
  ///
  /// - Parameters:
  ///   - compressor: The model.
  ///   - forms: The forms that weights may have besides their own; nil for ``ModelCompressor/candidates(system:)`` of
  ///     iOS 16.
  ///   - progress: Called with the fraction of the work done.
  /// - Returns: As ``options(_:progress:)`` does.
  public static func options(
    of compressor: ModelCompressor, _ forms: [WeightForm]? = nil,
    progress: (Double) -> Void = { _ in }
  ) -> [[CompressionChoice.Option]] {
    let forms = forms ?? compressor.candidates(system: 16)
    return compressor.weights.indices.map { index in
      let list = compressor.codings(of: index, in: forms + [.original]).map { coding in
        CompressionChoice.Option(byteCount: coding?.byteCount ?? .max / 4, cost: coding?.relativeError ?? .infinity)
      }
      progress(Double(index + 1) / Double(compressor.weights.count))
      return list
    }
  }

  /// Returns the forms with the least sum of costs whose files have at most a number of bytes; nil if there are none.
  ///
  /// - Parameters:
  ///   - compressor: The model.
  ///   - options: The options of each weight, in the order of `forms`, the original last.
  ///   - forms: The forms that weights may have besides their own; nil for ``ModelCompressor/candidates(system:)`` of
  ///     iOS 16.
  ///   - budget: The greatest number of bytes of the model's files.
  public static func forms(
    of compressor: ModelCompressor, _ options: [[CompressionChoice.Option]],
    in forms: [WeightForm]? = nil, budget: Int
  ) throws(ModelError) -> [WeightForm]? {
    let forms = forms ?? compressor.candidates(system: 16)
    let unchanged = compressor.weights.indices.map { options[$0].last?.byteCount ?? 0 }.reduce(0, +)
    let rest = try compressor.byteCount(compressor.weights.map { _ in .original }) - unchanged
    // Operations of compressed weights make the program larger, by about the same number of bytes for most choices.
    var growth = 0
    for _ in 0..<8 where budget - rest > growth {
      guard let chosen = CompressionChoice.choose(from: options, budget: budget - rest - growth) else { return nil }
      let found = chosen.map { $0 < forms.count ? forms[$0] : .original }
      let byteCount = try compressor.byteCount(found)
      if byteCount <= budget { return found }
      let weights = zip(options, chosen).reduce(0) { $0 + $1.0[$1.1].byteCount }
      growth = max(growth, byteCount - rest - weights)
    }
    return nil
  }

  /// Returns the forms of the copy that changes the outputs of all samples least: the one with the least sum of costs
  /// within a size, or one of the two largest copies within it that have one form for all weights. Nil if no copy has
  /// the size.
  ///
  /// - Parameters:
  ///   - options: The options of each weight, in the order of `forms`, the original last.
  ///   - forms: The forms that weights may have besides their own.
  ///   - budget: The greatest number of bytes of the model's files.
  public func best(
    _ options: [[CompressionChoice.Option]], in forms: [WeightForm], budget: Int
  ) async throws(ModelError) -> [WeightForm]? {
    guard let found = try Self.forms(of: compressor, options, in: forms, budget: budget) else { return nil }
    var uniform: [(forms: [WeightForm], byteCount: Int)] = []
    for form in forms {
      let copy = compressor.weights.map { _ in form }
      let byteCount = try compressor.byteCount(copy)
      if byteCount <= budget { uniform.append((copy, byteCount)) }
    }
    var best = (forms: found, change: try await change(of: found))
    for (copy, _) in uniform.sorted(by: { $0.byteCount > $1.byteCount }).prefix(2) {
      let change = try await change(of: copy)
      if change < best.change { best = (copy, change) }
    }
    return best.forms
  }

  /// The mean change of the outputs of all samples; infinite if an output is not finite.
  private func change(of forms: [WeightForm]) async throws(ModelError) -> Double {
    let outputs = try await ModelOutputs(of: try await load(forms), for: samples.map(\.input))
    let change = original.change(to: outputs)
    return change.isFinite ? change : .infinity
  }

  /// The size and the quality of the model with its own weights.
  public func originalOutcome() async throws(ModelError) -> Outcome {
    try await outcome(compressor.weights.map { _ in .original }, original, model)
  }

  /// Runs the copies with the least sums of costs within several sizes, from an eighth of the model's to three quarters.
  ///
  /// - Parameters:
  ///   - options: The options of each weight, in the order of `forms`, the original last.
  ///   - forms: The forms that weights may have besides their own; nil for ``ModelCompressor/candidates(system:)`` of
  ///     iOS 16.
  ///   - progress: Called with the fraction of the work done.
  /// - Returns: The outcomes, the smallest first, without sizes that no copy meets.
  public func frontier(
    _ options: [[CompressionChoice.Option]], in forms: [WeightForm]? = nil,
    progress: @escaping @Sendable (Double) -> Void = { _ in }
  ) async throws(ModelError) -> [Outcome] {
    let shares = [0.125, 0.16, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.75]
    var found: [Outcome] = []
    for (index, share) in shares.enumerated() {
      let budget = Int(share * Double(compressor.byteCount))
      if let chosen = try Self.forms(of: compressor, options, in: forms, budget: budget),
        !found.contains(where: { $0.forms == chosen })
      {
        found.append(try await outcome(chosen))
      }
      progress(Double(index + 1) / Double(shares.count))
    }
    return found
  }

  /// Runs a copy of the model on all samples.
  ///
  /// - Parameter forms: The form of each weight.
  public func outcome(_ forms: [WeightForm]) async throws(ModelError) -> Outcome {
    let copy = try await load(forms)
    return try await outcome(forms, try await ModelOutputs(of: copy, for: samples.map(\.input)), copy)
  }

  private func outcome(
    _ forms: [WeightForm], _ outputs: ModelOutputs, _ copy: Model
  ) async throws(ModelError) -> Outcome {
    var comparison = PairedProportions()
    var agreement = (count: 0, of: 0)
    for (index, sample) in samples.enumerated() {
      guard let before = original.labels[index], let after = outputs.labels[index] else { continue }
      agreement.of += 1
      agreement.count += before == after ? 1 : 0
      if let label = sample.label { comparison.add(first: before == label, second: after == label) }
    }
    return Outcome(
      forms: forms, byteCount: try compressor.byteCount(forms), change: original.change(to: outputs),
      cosine: original.cosine(to: outputs),
      agreement: agreement, accuracy: Accuracy(comparison), measure: try await measure?.compare(model, copy),
      time: outputs.time)
  }
}
