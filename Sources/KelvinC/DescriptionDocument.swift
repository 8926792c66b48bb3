import Kelvin
import KelvinBasics

extension ModelDescription {
  /// The JSON document of a model's description. `overridable` are the constants that a prediction may override;
  /// `classLabels` are strings, or integers in digits.
  var document: JSONObject {
    [
      "inputs": inputNames.compactMap { inputDescriptionsByName[$0]?.document },
      "outputs": outputNames.compactMap { outputDescriptionsByName[$0]?.document },
      "states": Self.documents(stateDescriptionsByName), "overridable": Self.documents(overridableDescriptionsByName),
      "predictedFeatureName": predictedFeatureName, "predictedProbabilitiesName": predictedProbabilitiesName,
      "classLabels": classLabels.map(\.description),
      "metadata": Dictionary(uniqueKeysWithValues: metadata.map { ($0.rawValue, $1) }),
      "creatorDefinedMetadata": creatorDefinedMetadata,
    ]
  }

  private static func documents(_ features: [String: FeatureDescription]) -> [JSONObject] {
    features.values.sorted { $0.name < $1.name }.map(\.document)
  }
}

extension FeatureDescription {
  /// `type` is the name of the `FeatureType`; `array` is the constraint of arrays, including arrays of strings and
  /// states; `elements` is the type of a dictionary's keys or a sequence's elements.
  fileprivate var document: JSONObject {
    let array = (multiArrayConstraint ?? stateConstraint)?.document
    let image = imageConstraint?.document
    return [
      "name": name, "type": type.rawValue, "isOptional": isOptional, "summary": summary,
      "defaultValue": defaultValue,
      "array": sequenceConstraint?.sizeRangeForDimension.map(Self.document(strings:)) ?? array, "image": image,
      // Deprecated: the former key of `image`.
      "picture": image,
      "elements": (dictionaryConstraint?.keyType ?? sequenceConstraint?.valueType)?.rawValue,
    ]
  }

  private static func document(strings sizes: [ClosedRange<Int>]) -> JSONObject {
    [
      "dataType": "string", "shape": sizes.map { max($0.lowerBound, min($0.upperBound, 1)) },
      "enumeratedShapes": [[Int]](), "ranges": sizes.map(\.ends),
    ]
  }
}

extension MultiArrayConstraint {
  /// `shape` is the default shape. `enumeratedShapes` are the allowed shapes if they are enumerated; else empty.
  /// `ranges` are the smallest and largest size of each dimension. A largest size of 2^63 - 1 means unbounded.
  fileprivate var document: JSONObject {
    [
      "dataType": dataType.rawValue, "shape": shape, "enumeratedShapes": shapeConstraint.enumeratedShapes,
      "ranges": shapeConstraint.sizeRangeForDimension.map(\.ends),
    ]
  }
}

extension ImageConstraint {
  /// `dataType` is `uint8`, or `float16` for grayscale images whose values the model uses unchanged. `enumeratedSizes`
  /// are the allowed sizes as width and height, if they are enumerated; else empty.
  fileprivate var document: JSONObject {
    [
      "width": pixelsWide, "height": pixelsHigh, "channelOrder": "\(channelOrder)",
      "dataType": isHalfPrecision ? "float16" : "uint8",
      "enumeratedSizes": sizeConstraint.enumeratedImageSizes.map { [$0.pixelsWide, $0.pixelsHigh] },
      "widths": sizeConstraint.pixelsWideRange.ends, "heights": sizeConstraint.pixelsHighRange.ends,
    ]
  }
}
