import Kelvin

extension CoreMLDialect {
  func addInput(to text: inout SourceText) throws(ModelError) {
    var members = MemberNames()
    for input in inputs { try members.add(input.name.text, for: input.owner) }
    for input in inputs where input.description.type == .image {
      try members.add("set\(input.name.capitalized)", for: input.owner)
    }
    text.add("/// The inputs of a prediction.\n\(access)class \(names.input): MLFeatureProvider {")
    for (index, input) in inputs.enumerated() {
      if index > 0 { text.add("") }
      text.document(input.description.documentation, indent: 2)
      text.add("\(access)var \(input.name): \(input.coreMLType)\(input.description.isOptional ? "?" : "")", indent: 2)
    }
    addInitializers(to: &text)
    for input in inputs where input.description.type == .image {
      text.add(
        """

        /// Sets the image.
        \(access)func set\(input.name.capitalized)(with image: CGImage) throws {
          self.\(input.name) = try \(input.imageConversion(.images, of: "image"))
        }

        /// Sets the image from a file.
        \(access)func set\(input.name.capitalized)(at url: URL) throws {
          self.\(input.name) = try \(input.imageConversion(.files, of: "url"))
        }
        """, indent: 2)
    }
    let keys = inputs.map(\.key).joined(separator: ", ")
    text.add(
      """

      \(access)var featureNames: Set<String> { [\(keys)] }

      \(access)func featureValue(for featureName: String) -> MLFeatureValue? {
        switch featureName {
      """, indent: 2)
    for input in inputs {
      let property = "self.\(input.name)"
      let value =
        input.description.isOptional
        ? "\(property).flatMap { \(input.coreMLValue(of: "$0")) }" : input.coreMLValue(of: property)
      text.add("case \(input.key): return \(value)", indent: 4)
    }
    text.add("default: return nil\n}", indent: 4)
    text.add("  }\n}")
  }

  private func addInitializers(to text: inout SourceText) {
    if inputs.isEmpty { text.add("\(access)init() {}", indent: 2) }
    for form in InputForm.all(inputs) {
      text.add("\n/// Creates inputs\(form.documentation).", indent: 2)
      guard !form.isPlain else {
        text.add("\(access)init(\(form.parameters(inputs))) {", indent: 2)
        for input in inputs { text.add("self.\(input.name) = \(input.name)", indent: 4) }
        text.add("}", indent: 2)
        continue
      }
      text.add(
        """
        \(access)convenience init(\(form.parameters(inputs)))\(form.canFail ? " throws" : "") {
          \(form.canFail ? "try " : "")self.init(\(form.convertedArguments(inputs)))
        }
        """, indent: 2)
    }
  }

  func addOutput(to text: inout SourceText) throws(ModelError) {
    var members = MemberNames()
    for output in outputs { try members.add(output.name.text, for: output.owner) }
    for output in outputs where output.description.type == .multiArray {
      try members.add("\(output.name.text)ShapedArray", for: "the shaped array of \(output.owner)")
    }
    text.add(
      """

      /// The outputs of a prediction.
      \(access)class \(names.output): MLFeatureProvider {
        private let provider: any MLFeatureProvider
      """)
    for output in outputs {
      let mark = output.description.isOptional ? "?" : ""
      text.add("")
      text.document(output.description.documentation, indent: 2)
      let value = "provider.featureValue(for: \(output.key))\(output.description.isOptional ? "?" : "!")"
      text.add(
        "\(access)var \(output.name): \(output.coreMLType)\(mark) { \(output.coreMLProperty(of: value)) }", indent: 2)
      if output.description.type == .multiArray {
        let array = "self.\(output.name)"
        text.add(
          """

          /// A copy of the array `\(output.name.text)`.
          \(access)var \(output.name.text)ShapedArray: MLShapedArray<\(output.shapedScalar)>\(mark) {
            \(mark.isEmpty ? output.shapedConversion(of: array) : "\(array).map { \(output.shapedConversion(of: "$0")) }")
          }
          """, indent: 2)
      }
    }
    text.add(
      """

      \(access)var featureNames: Set<String> { provider.featureNames }

      \(access)func featureValue(for featureName: String) -> MLFeatureValue? {
        provider.featureValue(for: featureName)
      }

      /// Creates outputs from the values of a prediction.
      \(access)init(features: any MLFeatureProvider) { provider = features }
      """, indent: 2)
    addMemberwiseInitializer(to: &text)
    text.add("}")
  }

  private func addMemberwiseInitializer(to text: inout SourceText) {
    let present = outputs.filter { !$0.description.isOptional }
    guard !present.isEmpty else { return }
    let parameters = present.map { "\($0.name): \($0.coreMLType)" }.joined(separator: ", ")
    text.add(
      """

      /// Creates outputs from values.
      \(access)convenience init(\(parameters)) {
        let values: [String: MLFeatureValue?] = [
      """, indent: 2)
    for output in present { text.add("\(output.key): \(output.coreMLValue(of: "\(output.name)")),", indent: 6) }
    text.add(
      """
        ]
        self.init(features: try! MLDictionaryFeatureProvider(dictionary: values.compactMapValues { $0 }))
      }
      """, indent: 2)
  }
}

extension NamedFeature {
  /// The type of a value that is present.
  var coreMLType: String {
    switch description.type {
    case .int64: "Int64"
    case .double: "Double"
    case .string: "String"
    case .image: "CVPixelBuffer"
    case .dictionary: hasIntegerKeys ? "[Int64: Double]" : "[String: Double]"
    case .sequence: "MLSequence"
    case .multiArray, .state: "MLMultiArray"
    }
  }

  private var hasIntegerKeys: Bool { description.dictionaryConstraint?.keyType == .int64 }

  /// The number type of the shaped array. Core ML's arrays have no other types of integers.
  var shapedScalar: String {
    switch description.multiArrayConstraint?.dataType {
    case .float64: "Double"
    case .float32, nil: "Float"
    case .float16: "Float16"
    case .int8: "Int8"
    case .int32, .int64, .int16, .uint8, .uint16, .uint32, .uint64, .bool: "Int32"
    }
  }

  /// Returns the expression of a shaped array with the numbers of an `MLMultiArray`.
  func shapedConversion(of array: String) -> String {
    let isConverted =
      switch description.multiArrayConstraint?.dataType {
      case .float64, .float32, .float16, .int8, .int32: false
      default: true
      }
    return "MLShapedArray<\(shapedScalar)>(\(isConverted ? "converting: " : "")\(array))"
  }

  /// Returns the expression of the pixel buffer of a `CGImage` or of a file. It can throw.
  func imageConversion(_ images: InputForm.Images, of value: String) -> String {
    guard let constraint = description.imageConstraint else { return value }
    let format =
      constraint.isHalfPrecision
      ? "kCVPixelFormatType_OneComponent16Half"
      : constraint.channelOrder == .grayscale ? "kCVPixelFormatType_OneComponent8" : "kCVPixelFormatType_32ARGB"
    return "MLFeatureValue(\(images == .images ? "cgImage" : "imageAt"): \(value), "
      + "pixelsWide: \(constraint.pixelsWide), pixelsHigh: \(constraint.pixelsHigh), pixelFormatType: \(format), "
      + "options: nil).imageBufferValue!"
  }

  /// Returns the expression of the feature value of a property. It is optional for dictionaries.
  func coreMLValue(of property: String) -> String {
    switch description.type {
    case .int64: "MLFeatureValue(int64: \(property))"
    case .double: "MLFeatureValue(double: \(property))"
    case .string: "MLFeatureValue(string: \(property))"
    case .image: "MLFeatureValue(pixelBuffer: \(property))"
    case .sequence: "MLFeatureValue(sequence: \(property))"
    case .multiArray, .state: "MLFeatureValue(multiArray: \(property))"
    case .dictionary:
      "try? MLFeatureValue(dictionary: \(property).reduce(into: [AnyHashable: NSNumber]()) { "
        + "$0[$1.key] = NSNumber(value: $1.value) })"
    }
  }

  /// Returns the expression of the property's value in a feature value.
  func coreMLProperty(of value: String) -> String {
    let isOptional = description.isOptional
    switch description.type {
    case .int64: return "\(value).int64Value"
    case .double: return "\(value).doubleValue"
    case .string: return "\(value).stringValue"
    case .image: return "\(value).imageBufferValue\(isOptional ? "" : "!")"
    case .sequence: return "\(value).sequenceValue\(isOptional ? "" : "!")"
    case .multiArray, .state: return "\(value).multiArrayValue\(isOptional ? "" : "!")"
    case .dictionary:
      let key = hasIntegerKeys ? "($1.key as? NSNumber)?.int64Value" : "$1.key as? String"
      return "\(value).dictionaryValue.reduce(into: \(coreMLType)()) { "
        + "if let key = \(key) { $0[key] = $1.value.doubleValue } }"
    }
  }
}
