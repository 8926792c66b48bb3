import KelvinBasics
import KelvinEngine
package import KelvinFeatures
package import KelvinGraph
import KelvinHostOperations
package import KelvinImages
import KelvinImport

/// Reads inputs from files and strings and checks them against the model's features. Nothing is compiled.
package struct FeatureReader {
  private let function: Function
  private let orientation: ImageOrientation?
  private let cropAndScale: ImageCropAndScale?
  private let scaling: Scaling?

  /// Returns the order of an image's channels in a plain tensor input, and the factor and the offset of each.
  package typealias Scaling =
    @Sendable (_ channels: Int) throws -> (order: ChannelOrder, scale: [Float], bias: [Float])

  /// - Parameters:
  ///   - orientation: the orientation of stored images; nil to use the orientation in each file.
  ///   - cropAndScale: how an image is fitted to the model's input size. Otherwise, a classifier sees the center, and
  ///     another model sees the whole image, stretched.
  ///   - scaling: how the pixels of images enter plain tensor inputs; nil if no image is given for one.
  /// - Throws: `ModelError` with code `parameters` for a function that the model does not have.
  package init(
    _ model: ReadModel, functionName: String?, orientation: ImageOrientation? = nil,
    cropAndScale: ImageCropAndScale? = nil, scaling: Scaling? = nil
  ) throws(ModelError) {
    function = try model.function(functionName)
    self.orientation = orientation
    self.cropAndScale = cropAndScale
    self.scaling = scaling
  }

  /// Splits an argument `NAME=VALUE` at the end of the longest input name that it begins with, else at the first `=`.
  package func split(_ argument: String) -> (name: String, text: String) {
    let signs = argument.utf8.indices.filter { argument.utf8[$0] == UInt8(ascii: "=") && $0 > argument.startIndex }
    let features = function.inputs + function.overridable
    let sign =
      signs.last { sign in features.contains { $0.isNamed(String(argument[..<sign])) } }
      ?? signs.first ?? argument.endIndex
    return (String(argument[..<sign]), String(argument[sign...].utf8.dropFirst()) ?? "")
  }

  /// Creates a reader for a function that is already selected.
  package init(_ function: Function, cropAndScale: ImageCropAndScale? = nil, scaling: Scaling? = nil) {
    self.function = function
    orientation = nil
    self.scaling = scaling
    self.cropAndScale = cropAndScale
  }

  /// Reads the value of each input: a `.npy` file, an image, a number, a boolean, a string, or JSON (given directly or
  /// as a `.json` file). A single string is taken as it is.
  ///
  /// - Parameter mayLackSome: whether required inputs may be missing.
  /// - Throws: `ModelError` with code `featureType` that names the input, the expected and the given type; `io` for
  ///   files that cannot be read.
  package func read(
    _ inputs: [(name: String, text: String)], mayLackSome: Bool = false
  ) throws(ModelError) -> DictionaryFeatureProvider {
    try ModelError.wrapping { try values(inputs, mayLackSome) }
  }

  /// Returns the features of a model whose only input is an image, for an image in memory. It is fitted as an image
  /// from a file is.
  ///
  /// - Parameters:
  ///   - pixels: The stored pixels.
  ///   - orientation: The orientation of the stored pixels, unless the reader has one.
  /// - Throws: `ModelError` with code `featureType` if the model has another input, or a plain tensor and the reader has
  ///   no scaling.
  package func read(
    _ pixels: PixelBuffer, orientation: ImageOrientation
  ) throws(ModelError) -> DictionaryFeatureProvider {
    try ModelError.wrapping {
      guard function.inputs.count == 1, let feature = function.inputs.first else {
        throw ModelError(.featureType, "the model takes \(list(function.inputs)); frames need a model with one input")
      }
      let image = (pixels: pixels, orientation: self.orientation ?? orientation)
      return DictionaryFeatureProvider(dictionary: [feature.name: try value(of: image, for: feature)])
    }
  }

  private func value(of image: OrientedPixels, for feature: Feature) throws -> FeatureValue {
    switch feature.type {
    case .image:
      return fitted(image)
    case .tensor(let scalar, let dimensions):
      guard let scaling else {
        throw mismatch(feature, "an image", "give --normalization, which defines how pixels enter")
      }
      guard let value = try self.image(scalar, dimensions, scaling, { image }) else { fallthrough }
      return value
    default:
      throw mismatch(feature, "an image", "use a model that takes images")
    }
  }

  private func fitted(_ image: OrientedPixels) -> FeatureValue {
    // As `ClassificationRequest` does.
    let usual: ImageCropAndScale = function.classification == nil ? .scaleToFill : .centerCrop
    return FeatureValue(image: image.pixels, orientation: image.orientation, cropAndScale: cropAndScale ?? usual)
  }

  private typealias OrientedPixels = (pixels: PixelBuffer, orientation: ImageOrientation)

  private func decoded(_ path: String) throws -> OrientedPixels {
    let decoded = try ImageCodec.decode(path: path, orientation: orientation)
    return (decoded.pixels, decoded.orientation)
  }

  private func values(
    _ inputs: [(name: String, text: String)], _ mayLackSome: Bool
  ) throws -> DictionaryFeatureProvider {
    var values: [String: FeatureValue] = [:]
    for input in inputs {
      guard let feature = (function.inputs + function.overridable).first(where: { $0.isNamed(input.name) }) else {
        throw ModelError(
          .featureType, "the model has no input '\(ExactString(input.name).escaped)'; it takes \(list(function.inputs))"
        )
      }
      guard values[feature.name] == nil else {
        throw ModelError(.featureType, "input '\(input.name)' has two values", fault: .request)
      }
      values[feature.name] = try value(input.text, for: feature)
    }
    let missing = function.inputs.filter { feature in
      if case .state = feature.type { return false }
      return values[feature.name] == nil && !feature.isOptional && feature.defaultValue == nil
    }
    guard missing.isEmpty || mayLackSome else {
      let example = "--input \(missing[0].name)=\(missing[0].type.exampleValue)"
      throw ModelError(.featureType, "no value was given for \(list(missing)); add \(example)")
    }
    return DictionaryFeatureProvider(dictionary: values)
  }

  private func list(_ features: [Feature]) -> String {
    features.isEmpty ? "no inputs" : features.map { "'\($0.name)' (\($0.typeText))" }.joined(separator: ", ")
  }

  private func value(_ text: String, for feature: Feature) throws -> FeatureValue {
    switch feature.type {
    case .int64:
      guard let number = Int64(text) else { throw mismatch(feature, "'\(text)'", "give a whole number") }
      return FeatureValue(int64: number)
    case .double:
      guard let number = NumberText.number(text) else {
        throw mismatch(feature, "'\(text)'", "give a number such as 12, -0.5 or 1e-3")
      }
      return FeatureValue(double: number)
    case .string: return FeatureValue(string: text)
    case .image(let image):
      if let array = try array(text) {
        return try checked(array, feature, image.scalar, image.dimensions)
      }
      guard scaling == nil else {
        throw mismatch(feature, "a normalization", "the model defines how pixels enter; leave --normalization out")
      }
      return fitted(try decoded(text))
    case .tensor(let scalar, let dimensions):
      if let array = try array(text) { return try checked(array, feature, scalar, dimensions) }
      let boolean = scalar == .bool ? NumberText.boolean(text) : nil
      if let scaling, let image = try image(scalar, dimensions, scaling, { try decoded(text) }) { return image }
      guard let number = boolean.map({ $0 ? 1 : 0 }) ?? NumberText.number(text),
        dimensions.allSatisfy({ $0.minimum <= 1 })
      else {
        throw mismatch(
          feature, "'\(text)', which is not a .npy file",
          "save the array with numpy.save"
            + (dimensions.count == 4 ? "; an image needs --normalization, which defines how pixels enter" : ""))
      }
      return try checked(
        Tensor(TensorType(.float64, Shape(dimensions.map { _ in 1 })), rounding: [number]), feature, scalar, dimensions)
    case .dictionary(let keys): return FeatureValue(dictionary: try dictionary(text, keys, feature))
    case .sequence(let elements): return FeatureValue(sequence: try sequence(text, elements, feature))
    case .strings:
      let isList = text.hasPrefix("[") || text.hasSuffix(".json") || text.hasSuffix(".npy")
      return FeatureValue(
        sequence: isList ? try sequence(text, .string, feature) : FeatureSequence(strings: [text]))
    case .dictionaries:
      throw ModelError(
        .featureType, "input '\(feature.name)' is a sequence of dictionaries, which the command line cannot read")
    case .tensors:
      throw ModelError(
        .featureType, "input '\(feature.name)' is a sequence of arrays, which the command line cannot read")
    case .state:
      throw ModelError(.featureType, "input '\(feature.name)' is a state of the model, which cannot be given")
    }
  }

  /// Returns the array in a .npy file; nil if the file is of another kind or does not exist.
  private func array(_ path: String) throws -> Tensor? {
    guard let file = try? OpenFile(path) else {
      if path.hasSuffix(".npy") { _ = try OpenFile(path) }
      return nil
    }
    let isArray = try file.start(NPY.magic.count) == NPY.magic
    guard isArray || path.hasSuffix(".npy") else { return nil }
    let bytes = try Bytes(reading: file)
    return try NPY.read(bytes, name: path)
  }

  /// Returns an image as a plain tensor, whose second or last axis has 1 or 3 channels; nil for another input.
  ///
  /// - Parameter decode: decodes the image.
  private func image(
    _ scalar: ScalarType, _ dimensions: [Dimension], _ scaling: Scaling, _ decode: () throws -> OrientedPixels
  ) throws -> FeatureValue? {
    guard scalar.isFloatingPoint, dimensions.count == 4, dimensions[0].accepts(size: 1) else { return nil }
    let isFixed = [1, 3].first { [.fixed(1), .fixed(3)].contains(dimensions[$0]) }
    guard let axis = isFixed ?? (dimensions[1].accepts(size: 3) ? 1 : nil) else { return nil }
    let channels = dimensions[axis].accepts(size: 3) ? 3 : 1
    let (order, scale, bias) = try scaling(channels)
    let (pixels, orientation) = try decode()
    let (wide, high) = orientation.swapsAxes ? (pixels.height, pixels.width) : (pixels.width, pixels.height)
    // A flexible side is as long as the image's, as far as its range allows.
    let rows = axis == 1 ? 2 : 1
    let (height, width) = (dimensions[rows].nearest(high), dimensions[rows + 1].nearest(wide))
    let shape = axis == 1 ? Shape([1, channels, height, width]) : Shape([1, height, width, channels])
    guard shape.isAddressable, shape.count > 0 else { return nil }
    let sampler = ImageSampler(
      width: width, height: height, order: order, arrangement: axis == 1 ? .planar : .interleaved,
      cropAndScale: cropAndScale ?? .scaleToFill)
    var numbers = [Float](repeating: 0, count: shape.count)
    try numbers.withUnsafeMutableBufferPointer { numbers in
      try pixels.withPixels { (view) throws(ImageError) in
        try sampler.sample(view, orientation: orientation, scale: scale, bias: bias, into: numbers)
      }
    }
    return FeatureValue(multiArray: MultiArray(Tensor(numbers, shape).converted(to: scalar)))
  }

  /// Converts the tensor to the feature's scalar type if the conversion loses at most floating-point precision.
  private func checked(
    _ tensor: Tensor, _ feature: Feature, _ scalar: ScalarType, _ dimensions: [Dimension]
  ) throws -> FeatureValue {
    let fits =
      feature.takesAnyShape
      || tensor.shape.rank == dimensions.count
        && zip(tensor.shape.dimensions, dimensions).allSatisfy { $1.accepts(size: $0) }
    guard fits else {
      let remedy =
        tensor.shape.rank == dimensions.count - 1
        ? "add the leading dimension: numpy.expand_dims(array, 0)" : "save the array in that shape"
      throw mismatch(feature, "\(tensor.type)", remedy)
    }
    let converted = tensor.converted(to: scalar)
    let isLossless =
      tensor.type.scalar == scalar
      || (tensor.type.scalar.isFloatingPoint && scalar.isFloatingPoint
        && zip(tensor.doubles, converted.doubles).allSatisfy { !$0.isFinite || $1.isFinite })
      || tensor.doubles.elementsEqual(converted.doubles) { $0 == $1 && $0.magnitude < 0x1p53 }
    guard isLossless else {
      throw mismatch(
        feature, "\(tensor.type) with values that \(scalar.rawValue) cannot hold",
        "convert it: array.astype('\(scalar.rawValue)')")
    }
    return FeatureValue(multiArray: MultiArray(converted))
  }

  func mismatch(_ feature: Feature, _ got: String, _ remedy: String) -> ModelError {
    ModelError(.featureType, "input '\(feature.name)': expected \(feature.typeText), got \(got); \(remedy)")
  }
}

extension ImageFeature {
  /// The dimensions of the tensor that the image is converted to.
  fileprivate var dimensions: [Dimension] {
    func sides(_ sizes: [Int]) -> Dimension {
      let (smallest, largest) = (sizes.min() ?? 1, sizes.max() ?? 1)
      return smallest == largest
        ? .fixed(smallest) : .flexible(name: "side", range: smallest...largest, standard: nil)
    }
    let (rows, columns): (Dimension, Dimension) =
      switch sizes {
      case .fixed: (.fixed(height), .fixed(width))
      case .enumerated(let sizes): (sides(sizes.map(\.height)), sides(sizes.map(\.width)))
      case .ranged(let widths, let heights):
        (
          .flexible(name: "height", range: heights, standard: height),
          .flexible(name: "width", range: widths, standard: width)
        )
      }
    return [.fixed(1), .fixed(channels), rows, columns]
  }
}

extension Dimension {
  fileprivate func accepts(size: Int) -> Bool {
    switch self {
    case .fixed(let fixed): size == fixed
    case .flexible(_, let range, _): range.contains(size)
    }
  }

  fileprivate func nearest(_ size: Int) -> Int {
    switch self {
    case .fixed(let fixed): fixed
    case .flexible(_, let range, _): min(max(size, range.lowerBound), range.upperBound)
    }
  }

  fileprivate var minimum: Int {
    switch self {
    case .fixed(let size): size
    case .flexible(_, let range, _): range.lowerBound
    }
  }
}

extension FeatureKind {
  fileprivate var exampleValue: String {
    switch self {
    case .image: "photo.jpg"
    case .int64, .double: "1"
    case .string: "text"
    case .dictionary: "'{\"key\": 1}'"
    case .sequence(let elements): elements == .string ? "'[\"a\", \"b\"]'" : "'[1, 2]'"
    case .strings: "text"
    default: "array.npy"
    }
  }
}
