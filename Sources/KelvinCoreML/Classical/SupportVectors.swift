import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension ClassicalModel {
  func supportVectorRegressor() throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.SupportVectorRegressor
    let vectors = try vectors(Fields.kernel, Fields.denseSupportVectors, Fields.sparseSupportVectors)
    let coefficients =
      try parameters.message(Fields.coefficients)?.doubles(ClassicalSchema.Coefficients.alpha, limit: 1 << 26) ?? []
    guard coefficients.count == vectors.count else {
      throw malformedVectors(message, "\(coefficients.count) coefficients for \(vectors.count) vectors")
    }
    let function = SupportVectorRegression(
      vectors, coefficients: coefficients, offset: -(try parameters.double(Fields.rho) ?? 0))
    return try stage(function)
  }

  /// Reads a support vector classifier. If the file has no coefficients for probabilities, the score of a class is the
  /// number of machines that vote for it.
  func supportVectorClassifier() throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.SupportVectorClassifier
    let vectors = try vectors(Fields.kernel, Fields.denseSupportVectors, Fields.sparseSupportVectors)
    let labels = try labels(strings: Fields.stringClassLabels, integers: Fields.int64ClassLabels)
    guard labels.count > 1 else { throw message.unknown("a classifier of one class") }
    let counts = try parameters.integers(Fields.numberOfSupportVectorsPerClass, limit: WireMessage.operandLimit)
    guard counts.count == labels.count, counts.allSatisfy({ (0...vectors.count).contains($0) }),
      counts.reduce(0, +) == vectors.count
    else {
      throw malformedVectors(
        message, "\(vectors.count) vectors are divided into \(counts.prefix(8)), for \(labels.count) classes")
    }
    var coefficients: [Double] = []
    let rows = try parameters.messages(Fields.coefficients)
    for row in rows { coefficients += try row.doubles(ClassicalSchema.Coefficients.alpha, limit: 1 << 26) }
    guard rows.count == labels.count - 1, coefficients.count == rows.count * vectors.count else {
      throw malformedVectors(
        message,
        "\(coefficients.count) coefficients in \(rows.count) rows for \(vectors.count) vectors of "
          + "\(labels.count) classes")
    }
    let (rho, a, b) = (
      try parameters.doubles(Fields.rho), try parameters.doubles(Fields.probA), try parameters.doubles(Fields.probB)
    )
    let pairs = labels.count * (labels.count - 1) / 2
    guard rho.count == pairs, a.isEmpty || a.count == pairs, a.count == b.count else {
      throw malformedVectors(
        message, "\(rho.count), \(a.count) and \(b.count) numbers in rho, probA and probB for \(pairs) pairs of classes"
      )
    }
    let classifier = SupportVectorClassifier(
      vectors, counts: counts, coefficients: coefficients, offsets: rho.map { -$0 },
      scores: a.isEmpty ? .votes : .probabilities(a: a, b: b, isCoupled: false))
    return try stage(classifier, labels: labels)
  }

  private func vectors(_ kernelField: Int, _ dense: Int, _ sparse: Int) throws(FormatError) -> SupportVectors {
    let kernel = try kernel(kernelField)
    guard let field = try parameters.choice(among: [dense, sparse]), let message = try parameters.message(field) else {
      throw malformedVectors(parameters.message, "it has no vectors")
    }
    var vectors: [WireMessage] = []
    try message.each(ClassicalSchema.DenseSupportVectors.vectors) { (field) throws(FormatError) in
      try field.append(to: &vectors)
    }
    guard field == dense else { return SupportVectors(kernel, try sparseVectors(vectors)) }
    var numbers: [Double] = []
    var width: Int?
    for vector in vectors {
      let own = try LayerParameters(vector).doubles(ClassicalSchema.DenseVector.values)
      guard width ?? own.count == own.count, !own.isEmpty else {
        throw malformedVectors(
          vector, "a vector has \(own.count) numbers, expected \(width.map(String.init) ?? "some")")
      }
      width = own.count
      numbers += own
    }
    guard let width else { throw malformedVectors(message.message, "it has no vectors") }
    return SupportVectors(kernel, .dense(numbers, width: width))
  }

  /// Reads sparse vectors, whose indices count from 1 and must increase.
  private func sparseVectors(_ vectors: [WireMessage]) throws(FormatError) -> SupportVectors.Vectors {
    typealias Node = ClassicalSchema.SparseNode
    var (starts, places, numbers): ([Int], [Int], [Double]) = ([0], [], [])
    for vector in vectors {
      try LayerParameters(vector).each(ClassicalSchema.SparseVector.nodes) { (field) throws(FormatError) in
        let node = LayerParameters(try field.message())
        let place = try node.integer(Node.index) ?? 0
        let least = places.count > starts[starts.count - 1] ? (places.last ?? 0) + 2 : 1
        guard (least...1 << 31).contains(place) else {
          throw malformedVectors(
            node.message, "an element of a vector has the index \(place), expected \(least) or more")
        }
        places.append(place - 1)
        numbers.append(try node.double(Node.value) ?? 0)
      }
      starts.append(places.count)
    }
    return .sparse(starts: starts, places: places, numbers: numbers)
  }

  private func kernel(_ field: Int) throws(FormatError) -> SupportVectors.Kernel {
    typealias Fields = ClassicalSchema.Kernel
    guard let message = try parameters.message(field),
      let choice = try message.choice(
        among: [Fields.linearKernel, Fields.rbfKernel, Fields.polyKernel, Fields.sigmoidKernel]),
      let kernel = try message.message(choice)
    else { throw malformedVectors(parameters.message, "it has no kernel") }
    switch choice {
    case Fields.rbfKernel: return .radial(gamma: try kernel.double(ClassicalSchema.RBFKernel.gamma) ?? 0)
    case Fields.polyKernel:
      typealias Poly = ClassicalSchema.PolyKernel
      return .polynomial(
        gamma: try kernel.double(Poly.gamma) ?? 0, constant: try kernel.double(Poly.c) ?? 0,
        degree: Double(try kernel.integer(Poly.degree) ?? 0))
    case Fields.sigmoidKernel:
      typealias Sigmoid = ClassicalSchema.SigmoidKernel
      return .sigmoid(gamma: try kernel.double(Sigmoid.gamma) ?? 0, constant: try kernel.double(Sigmoid.c) ?? 0)
    default: return .linear
    }
  }

  private func malformedVectors(_ message: WireMessage, _ reason: String) -> FormatError {
    message.malformed("support vectors", reason)
  }
}
