import Kelvin

extension KelvinDialect {
  func addInput(to text: inout SourceText) throws(ModelError) {
    var members = MemberNames()
    for input in inputs { try members.add(input.name.text, for: input.owner) }
    let images = inputs.filter { $0.description.type == .image }
    for image in images { try members.add("set\(image.name.capitalized)", for: image.owner) }
    text.add("\n  /// The inputs of a prediction.\n  \(access)struct Input: FeatureProvider {")
    for (index, input) in inputs.enumerated() {
      if index > 0 { text.add("") }
      text.document(input.description.documentation, indent: 4)
      if input.description.type == .image {
        addImage(input, stored: members.unused("\(input.name.text)Value"), to: &text)
      } else {
        text.add("\(access)var \(input.name): \(input.type)", indent: 4)
      }
    }
    addInitializer(images: [], members, to: &text)
    if !images.isEmpty { addInitializer(images: images, members, to: &text) }
    addProvider(members, to: &text)
    text.add("  }")
  }

  private func addImage(_ image: NamedFeature, stored: String, to text: inout SourceText) {
    let isOptional = image.description.isOptional
    let value = "FeatureValue(image: \(isOptional ? "$0" : "newValue"), cropAndScale: .scaleToFill)"
    text.add(
      """
      ///
      /// An image of another size is scaled to fill the model's size.
      \(access)var \(image.name): \(image.type) {
        get { self.\(stored)\(isOptional ? "?" : "").imageBufferValue\(isOptional ? "" : "!") }
        set { self.\(stored) = \(isOptional ? "newValue.map { \(value) }" : value) }
      }
      private var \(stored): FeatureValue\(isOptional ? "?" : "")

      /// Sets the image.
      \(access)mutating func set\(image.name.capitalized)(
        _ image: PixelBuffer, orientation: ImageOrientation = .up, cropAndScale: ImageCropAndScale = .scaleToFill
      ) {
        self.\(stored) = FeatureValue(image: image, orientation: orientation, cropAndScale: cropAndScale)
      }

      /// Sets the image from a file.
      \(access)mutating func set\(image.name.capitalized)(
        at url: URL, orientation: ImageOrientation? = nil, cropAndScale: ImageCropAndScale = .scaleToFill
      ) throws(ImageError) {
        self.\(stored) = try FeatureValue(imageAt: url, orientation: orientation, cropAndScale: cropAndScale)
      }
      """, indent: 4)
  }

  /// Adds an initializer. The given images come from files.
  private func addInitializer(images: [NamedFeature], _ members: MemberNames, to text: inout SourceText) {
    let isOfFiles = !images.isEmpty
    var parameters: [String] = []
    var body: [String] = []
    for input in inputs {
      let isOptional = input.description.isOptional
      let ending = isOptional ? "? = nil" : ""
      let stored = "self.\(members.unused("\(input.name.text)Value"))"
      switch (input.description.type == .image, isOfFiles) {
      case (false, _):
        parameters.append("\(input.name): \(input.plainType)\(ending)")
        body.append("self.\(input.name) = \(input.name)")
      case (true, false):
        parameters.append("\(input.name): PixelBuffer\(ending)")
        let value = "FeatureValue(image: \(isOptional ? "$0" : "\(input.name)"), cropAndScale: .scaleToFill)"
        body.append("\(stored) = \(isOptional ? "\(input.name).map { \(value) }" : value)")
      case (true, true):
        parameters.append("\(input.name.text)At \(input.name): URL\(isOptional ? "?" : "")")
        let closure =
          "{ (url) throws(ImageError) -> FeatureValue in "
          + "try FeatureValue(imageAt: url, cropAndScale: cropAndScale) }"
        let value = "try FeatureValue(imageAt: \(input.name), cropAndScale: cropAndScale)"
        body.append("\(stored) = \(isOptional ? "try \(input.name).map \(closure)" : value)")
      }
    }
    if isOfFiles { parameters.append("cropAndScale: ImageCropAndScale = .scaleToFill") }
    text.add("\n/// Creates inputs\(isOfFiles ? " with images from files" : "").", indent: 4)
    let effects = isOfFiles ? " throws(ImageError)" : ""
    text.add("\(access)init(\(parameters.joined(separator: ", ")))\(effects) {", indent: 4)
    for line in body { text.add(line, indent: 6) }
    text.add("}", indent: 4)
  }

  private func addProvider(_ members: MemberNames, to text: inout SourceText) {
    let keys = inputs.map(\.key).joined(separator: ", ")
    let isFixed = inputs.allSatisfy { !$0.description.isOptional }
    text.add(
      """

      \(access)var featureNames: Set<String> {
        \(isFixed ? "[\(keys)]" : "Set([\(keys)].filter { featureValue(for: $0) != nil })")
      }

      \(access)func featureValue(for featureName: String) -> FeatureValue? {
        switch featureName {
      """, indent: 4)
    for input in inputs {
      let property = "self.\(input.name)"
      let value =
        input.description.type == .image
        ? "self.\(members.unused("\(input.name.text)Value"))"
        : input.description.isOptional ? "\(property).map { \(input.value(of: "$0")) }" : input.value(of: property)
      text.add("case \(input.key): \(value)", indent: 6)
    }
    text.add("default: nil\n}", indent: 6)
    text.add("}", indent: 4)
  }

  func addOutput(to text: inout SourceText) throws(ModelError) {
    var members = MemberNames()
    for output in outputs { try members.add(output.name.text, for: output.owner) }
    text.add("\n  /// The outputs of a prediction.\n  \(access)struct Output: Sendable {")
    for (index, output) in outputs.enumerated() {
      if index > 0 { text.add("") }
      text.document(output.description.documentation, indent: 4)
      text.add("\(access)let \(output.name): \(output.type)", indent: 4)
    }
    text.add(
      """

      /// Creates outputs from the values of a prediction.
      ///
      /// - Throws: `ModelError` with code `featureType` if a value is missing or has another type.
      \(access)init(_ features: some FeatureProvider) throws(ModelError) {
      """, indent: 4)
    for output in outputs {
      let value = "features.featureValue(for: \(output.key))?.\(output.accessor)"
      let converted =
        output.description.isOptional
        ? "\(value).map { \(output.converted("$0")) }" : output.converted("Self.present(\(value), \(output.key))")
      text.add("self.\(output.name) = \(output.description.isOptional ? "" : "try ")\(converted)", indent: 6)
    }
    text.add(
      """
      }

      private static func present<Value>(_ value: Value?, _ name: String) throws(ModelError) -> Value {
        if let value { return value }
        throw ModelError(
          .featureType,
          "output '\\(name)' is missing or has another type than in the model that the class was made from; "
            + "load that model, or make the class again with 'kelvin generate'")
      }
      """, indent: 4)
    text.add("  }")
  }
}

extension NamedFeature {
  /// The type of the property.
  fileprivate var type: String { plainType + (description.isOptional ? "?" : "") }

  /// The type of a value that is present.
  fileprivate var plainType: String {
    switch description.type {
    case .int64: "Int64"
    case .double: "Double"
    case .string: "String"
    case .image: "PixelBuffer"
    case .dictionary: hasIntegerKeys ? "[Int64: Double]" : "[String: Double]"
    case .sequence: sequenceElement.map { "[\($0)]" } ?? "FeatureSequence"
    case .multiArray, .state: scalar.map { "ShapedArray<\($0)>" } ?? "MultiArray"
    }
  }

  /// The number type of the array; nil for types of which shaped arrays have no elements.
  private var scalar: String? {
    switch (description.multiArrayConstraint ?? description.stateConstraint)?.dataType {
    case .float64: "Double"
    case .float32: "Float"
    case .float16: "Float16"
    case .int8: "Int8"
    case .int16: "Int16"
    case .int32: "Int32"
    case .int64: "Int64"
    case .uint8: "UInt8"
    case .uint16, .uint32, .uint64, .bool, nil: nil
    }
  }

  private var hasIntegerKeys: Bool { description.dictionaryConstraint?.keyType == .int64 }

  /// The type of the elements of a sequence of one dimension; nil for other sequences.
  private var sequenceElement: String? {
    guard let constraint = description.sequenceConstraint, constraint.sizeRangeForDimension == nil else { return nil }
    return constraint.valueType == .string ? "String" : constraint.valueType == .int64 ? "Int64" : nil
  }

  /// Returns the expression of the feature value of a property.
  fileprivate func value(of property: String) -> String {
    switch description.type {
    case .int64: return "FeatureValue(int64: \(property))"
    case .double: return "FeatureValue(double: \(property))"
    case .string: return "FeatureValue(string: \(property))"
    case .image: return "FeatureValue(image: \(property), cropAndScale: .scaleToFill)"
    case .dictionary:
      let key = hasIntegerKeys ? "int64" : "string"
      return "FeatureValue(dictionary: \(property).reduce(into: [:]) { $0[.\(key)($1.key)] = $1.value })"
    case .sequence:
      guard let element = sequenceElement else { return "FeatureValue(sequence: \(property))" }
      return "FeatureValue(sequence: FeatureSequence(\(element == "String" ? "strings" : "int64s"): \(property)))"
    case .multiArray, .state:
      return "FeatureValue(\(scalar == nil ? "multiArray" : "shapedArray"): \(property))"
    }
  }

  /// The property of a feature value that has this feature's value.
  fileprivate var accessor: String {
    switch description.type {
    case .int64: "int64Value"
    case .double: "doubleValue"
    case .string: "stringValue"
    case .image: "imageBufferValue"
    case .dictionary: "dictionaryValue"
    case .sequence: "sequenceValue"
    case .multiArray, .state: "multiArrayValue"
    }
  }

  /// Returns the expression of the property's value, from what `accessor` gives.
  fileprivate func converted(_ value: String) -> String {
    switch description.type {
    case .int64, .double, .string, .image: return value
    case .dictionary:
      let key = hasIntegerKeys ? "int64" : "string"
      return "\(value).reduce(into: \(plainType)()) { if case .\(key)(let key) = $1.key { $0[key] = $1.value } }"
    case .sequence:
      guard let element = sequenceElement else { return value }
      return "\(value).\(element == "String" ? "stringValues" : "int64Values")"
    case .multiArray, .state: return scalar.map { "ShapedArray<\($0)>(converting: \(value))" } ?? value
    }
  }
}
