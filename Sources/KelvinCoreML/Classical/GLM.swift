import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension ClassicalModel {
  func glmRegressor() throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.GLMRegressor
    let transform: LinearModel.Transform
    switch try parameters.integer(Fields.postEvaluationTransform) ?? 0 {
    case Fields.PostEvaluationTransform.notransform: transform = .none
    case Fields.PostEvaluationTransform.logit: transform = .logit
    case Fields.PostEvaluationTransform.probit: transform = .probit
    case let other: throw message.unknown("transform \(other)")
    }
    let (weights, offsets) = try linearRows()
    let model = LinearModel(
      weights: weights, offsets: offsets, width: weights.count / offsets.count, transform: transform)
    return try stage(model)
  }

  /// Reads a generalized linear classifier.
  ///
  /// With a reference class, the first class has the score 0, and each row of weights belongs to one of the others.
  /// With two classes, the probability of the second is then `transform(score)`; with more, softmax gives the
  /// probabilities.
  ///
  /// In one-versus-rest classification each class has a row, and the transformed scores are divided by their sum. With
  /// two classes, a single row, that of the second class, is sufficient.
  func glmClassifier() throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.GLMClassifier
    var transform: LinearModel.Transform
    switch try parameters.integer(Fields.postEvaluationTransform) ?? 0 {
    case Fields.PostEvaluationTransform.logit: transform = .logit
    case Fields.PostEvaluationTransform.probit: transform = .probit
    case let other: throw message.unknown("transform \(other)")
    }
    let (weights, offsets) = try linearRows()
    let labels = try labels(strings: Fields.stringClassLabels, integers: Fields.int64ClassLabels)
    let isOneAgainstRest =
      try parameters.integer(Fields.classEncoding) ?? 0 == Fields.ClassEncoding.onevsrest
    let outcome: LinearModel.Outcome
    if labels.count == 2, offsets.count == 1 {
      outcome = .second
    } else if isOneAgainstRest, offsets.count == labels.count {
      outcome = .shares
    } else if !isOneAgainstRest, offsets.count == labels.count - 1, transform == .logit {
      outcome = .softmaxWithReference
      transform = .none
    } else {
      throw message.unknown("\(offsets.count) rows of weights for \(labels.count) classes with this transform")
    }
    let model = LinearModel(
      weights: weights, offsets: offsets, width: weights.count / offsets.count, transform: transform, outcome: outcome)
    return try stage(model, labels: labels)
  }

  /// Returns the rows of weights, concatenated, and one offset per row. Classifiers and regressors have both in fields
  /// of the same numbers.
  private func linearRows() throws(FormatError) -> (weights: [Double], offsets: [Double]) {
    typealias Fields = ClassicalSchema.GLMRegressor
    var rows: [[Double]] = []
    for row in try parameters.messages(Fields.weights) { rows.append(try row.doubles(Fields.DoubleArray.value)) }
    let offsets = try parameters.doubles(Fields.offset)
    guard let first = rows.first, !first.isEmpty, rows.allSatisfy({ $0.count == first.count }),
      offsets.count == rows.count
    else {
      throw message.malformed(
        "linear model",
        "\(rows.count) rows of weights of \(rows.map(\.count).max() ?? 0) numbers, \(offsets.count) offsets")
    }
    return (rows.flatMap { $0 }, offsets)
  }
}
