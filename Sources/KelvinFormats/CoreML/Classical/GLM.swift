import KelvinGraph

/// Generalized linear models: `transform(W · x + b)`.
struct GLM: Sendable {
  enum Transform: Sendable { case none, logit, probit }

  /// One row of weights for each result.
  var rows: [[Double]] = []
  var offsets: [Double] = []
  var transform = Transform.none

  /// - Parameters: the field numbers of weights and offsets, which both messages share.
  init(_ parameters: LayerParameters) throws(FormatError) {
    typealias Fields = ClassicalSchema.GLMRegressor
    for row in try parameters.messages(Fields.weights) {
      rows.append(try row.doubles(Fields.DoubleArray.value))
    }
    offsets = try parameters.doubles(Fields.offset)
    guard let first = rows.first, !first.isEmpty, rows.allSatisfy({ $0.count == first.count }),
      offsets.count == rows.count
    else {
      throw FormatError(
        .malformed, file: parameters.message.file, place: "linear model", offset: parameters.message.offset,
        "\(rows.count) rows of weights of \(rows.map(\.count).max() ?? 0) numbers, \(offsets.count) offsets")
    }
  }

  /// `[K]`, one score for each row.
  func scores(_ emitter: Emitter, _ x: ValueID, step: String?) throws -> ValueID {
    let width = rows[0].count
    guard emitter.shape(x).count == width else {
      throw emitter.invalid("takes \(width) numbers, its input has \(emitter.shape(x).count)")
    }
    let weights = emitter.constant(
      Weight(Tensor(TensorType(.float32, [rows.count, width]), rounding: rows.flatMap { $0 })), step: "weights")
    let bias = emitter.constant(
      Weight(Tensor(TensorType(.float32, [rows.count]), rounding: offsets)), step: "offsets")
    let row = try emitter.reshape(x, [1, width], step: "row")
    let product = try emitter.add(Linear(epilogue: .bias), row, weights, bias, step: "scores")
    return try emitter.reshape(product, [rows.count], step: step)
  }

  /// The transform of scores: the logistic function, or the distribution function of the standard normal.
  func transformed(_ emitter: Emitter, _ x: ValueID, step: String?) throws -> ValueID {
    switch transform {
    case .none: return x
    case .logit: return try emitter.unary(.sigmoid, x, step: step)
    case .probit:
      let scaled = try emitter.unary(UnaryFunction(.affine, a: Float(0.5.squareRoot())), x, step: "scaled")
      let erf = try emitter.unary(UnaryFunction(.erf), scaled, step: "erf")
      return try emitter.unary(UnaryFunction(.affine, a: 0.5, b: 0.5), erf, step: step)
    }
  }
}

extension VectorStage {
  static func glmRegressor(
    _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> VectorStage {
    typealias Fields = ClassicalSchema.GLMRegressor
    let parameters = LayerParameters(message)
    var model = try GLM(parameters)
    switch try parameters.integer(Fields.postEvaluationTransform) ?? 0 {
    case Fields.PostEvaluationTransform.notransform: model.transform = .none
    case Fields.PostEvaluationTransform.logit: model.transform = .logit
    case Fields.PostEvaluationTransform.probit: model.transform = .probit
    case let other: throw unknown("transform \(other)", message)
    }
    return VectorStage("glmRegressor", inputs, outputs) { [model] emitter, x in
      let isPlain = model.transform == .none
      let scores = try model.scores(emitter, x, step: isPlain ? nil : "linear")
      return try model.transformed(emitter, scores, step: nil)
    }
  }

  /// With a reference class the first class has the score 0 and the rows belong to the others; of two classes the
  /// second then has the probability `transform(score)`, of more they share by softmax. One against the rest each class
  /// has a row, and the transformed scores are divided by their sum; two classes may share one row, the second's.
  static func glmClassifier(
    _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> VectorStage {
    typealias Fields = ClassicalSchema.GLMClassifier
    let parameters = LayerParameters(message)
    var model = try GLM(parameters)
    switch try parameters.integer(Fields.postEvaluationTransform) ?? 0 {
    case Fields.PostEvaluationTransform.logit: model.transform = .logit
    case Fields.PostEvaluationTransform.probit: model.transform = .probit
    case let other: throw unknown("transform \(other)", message)
    }
    guard
      let labels = try Labels(
        parameters, strings: Fields.stringClassLabels, integers: Fields.int64ClassLabels)
    else { throw unknown("a classifier without labels", message) }
    let isOneAgainstRest =
      try parameters.integer(Fields.classEncoding) ?? 0 == Fields.ClassEncoding.onevsrest
    let rows = model.rows.count
    let body: Body
    if labels.count == 2, rows == 1 {
      body = { [model] emitter, x in
        let scores = try model.scores(emitter, x, step: "linear")
        let second = try model.transformed(emitter, scores, step: "second")
        let first = try emitter.unary(UnaryFunction(.affine, a: -1, b: 1), second, step: "first")
        return try emitter.concat([first, second], axis: 0)
      }
    } else if isOneAgainstRest, rows == labels.count {
      body = { [model] emitter, x in
        let scores = try model.scores(emitter, x, step: "linear")
        let each = try model.transformed(emitter, scores, step: "each")
        let sum = try emitter.add(Reduce(.sum, axes: [0], keepsDimensions: true), each, step: "sum")
        return try emitter.binary(.divide, each, sum)
      }
    } else if !isOneAgainstRest, rows == labels.count - 1, model.transform == .logit {
      body = { [model] emitter, x in
        let scores = try model.scores(emitter, x, step: "linear")
        let reference = emitter.constant(Weight(Tensor([Float(0)], [1])), step: "reference")
        let all = try emitter.concat([reference, scores], axis: 0, step: "all")
        return try emitter.add(Softmax(axis: 0), all)
      }
    } else {
      throw unknown("\(rows) rows of weights for \(labels.count) classes with this transform", message)
    }
    return VectorStage("glmClassifier", inputs, outputs, labels: labels, body: body)
  }

  static func unknown(_ what: String, _ message: WireMessage) -> FormatError {
    FormatError(.unsupported, file: message.file, offset: message.offset, "\(what) is not known")
  }
}

extension Labels {
  /// Whichever of two fields a message has; nil for neither.
  init?(_ parameters: LayerParameters, strings: Int, integers: Int) throws(FormatError) {
    guard let field = try parameters.choice(among: [strings, integers]),
      let message = try parameters.message(field)
    else { return nil }
    self = try Labels(message.message, areStrings: field == strings)
  }
}
