package import KelvinGraph

/// A classical model on tensors.
package struct RowOperation<Function: RowFunction>: OneOutputOperation {
  package static var name: String { Function.name }
  package let function: Function
  package let layout: RowLayout
  package let inputs: [String]
  package let output: String
  /// The element type of the results; nil for that of the first input.
  package let scalar: ScalarType?

  package init(
    _ function: Function, _ layout: RowLayout, inputs: [String], output: String, scalar: ScalarType? = .float64
  ) {
    self.function = function
    self.layout = layout
    self.inputs = inputs
    self.output = output
    self.scalar = scalar
  }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    guard let extent = try layout.extent(inputs, of: self) else { return [.unknown] }
    return [.tensor(try type(extent, inputs))]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let (rows, extent) = try layout.rows(inputs, of: self)
    let type = try type(extent, inputs.map(\.type))
    return [.tensor(Tensor(type, rounding: function.results(rows)))]
  }

  private func type(_ extent: RowExtent, _ inputs: [HostType]) throws(HostOperationError) -> TensorType {
    try extent.check(function.widths, of: self)
    var scalar = scalar ?? .float32
    if self.scalar == nil, case .tensor(let type)? = inputs.first { scalar = type.scalar }
    return TensorType(scalar, try extent.shape(function.resultCount(of: extent.width), of: self))
  }
}

/// A classifier on a tensor of rows. It gives their labels, and their scores as float32.
package struct ClassifierOperation<Classifier: RowClassifier>: HostOperation {
  package static var name: String { Classifier.name }
  package let classifier: Classifier
  package let labels: Labels
  package let input: String
  package let labelOutput: String
  package let scoresOutput: String

  /// Creates the operation.
  ///
  /// - Precondition: The indices of the classifier's winners are valid for the labels.
  package init(
    _ classifier: Classifier, _ labels: Labels, input: String, labelOutput: String, scoresOutput: String
  ) {
    self.classifier = classifier
    self.labels = labels
    self.input = input
    self.labelOutput = labelOutput
    self.scoresOutput = scoresOutput
  }

  package var inputs: [String] { [input] }
  package var outputs: [String] { [labelOutput, scoresOutput] }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    guard let extent = try RowLayout.batch.extent(inputs, of: self) else { return [.unknown, .unknown] }
    try extent.check(classifier.widths, of: self)
    let scores = TensorType(.float32, try extent.shape(classifier.scoreCount, of: self))
    return [labels.isString ? .strings([extent.count]) : .tensor(TensorType(.int64, [extent.count])), .tensor(scores)]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let (rows, extent) = try RowLayout.batch.rows(inputs, of: self)
    try extent.check(classifier.widths, of: self)
    let shape = try extent.shape(classifier.scoreCount, of: self)
    let (winners, scores) = classifier.classify(rows)
    return [labels.value(at: winners), .tensor(Tensor(TensorType(.float32, shape), rounding: scores))]
  }
}
