import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinCompression
import KelvinVision

/// The samples that `kelvin compress` measures copies with: images with or without labels, or lines of inputs.
struct CompressionSamples {
  let samples: [CompressionSearch.Sample]
  /// The measure of a segmenter or a detector; nil for other models.
  let measure: CompressionMeasure?

  /// - Parameters:
  ///   - path: A file of JSON lines, or what `evaluate` or `classify` takes: labelled images, or any images.
  ///   - options: How an image is fitted to the model's input, and how a detector's outputs are read.
  ///   - loaded: Returns the model with its own weights.
  init(
    _ path: String, for model: ReadModel, _ function: String?, _ options: EvaluationOptions,
    loaded: () throws -> Model
  ) throws {
    let description = try model.modelDescription(of: function)
    if path.lowercased().hasSuffix(".jsonl") {
      samples = try Self.lines(path, description, try FeatureReader(model, functionName: function))
      measure = nil
      try check(path)
      return
    }
    /// Reads images for a plain tensor.
    func reader(_ cropAndScale: ImageCropAndScale) throws -> FeatureReader? {
      try options.normalization.map { rule in
        try FeatureReader(model, functionName: function, cropAndScale: cropAndScale) {
          try ImageOptions.scaling(rule, channels: $0)
        }
      }
    }
    if description.classLabels.isEmpty,
      let task = try CompressionTask(
        of: try loaded(), path, options, unlabelled: { try Self.unlabelled(path).map(\.path) })
    {
      let fitting = options.cropAndScale ?? task.cropAndScale
      samples = try Self.images(task.paths.map { ($0, nil) }, description, fitting, try reader(fitting))
      measure = task.measure
    } else {
      let fitting = options.cropAndScale ?? .centerCrop
      samples = try Self.images(try Self.labelled(path, description), description, fitting, try reader(fitting))
      measure = nil
    }
    try check(path)
  }

  private func check(_ path: String) throws {
    guard !samples.isEmpty else { throw InputError("'\(path)' has no sample that can be read") }
  }

  /// Reads one object a line: the value of each input by its name.
  private static func lines(
    _ path: String, _ description: ModelDescription, _ reader: FeatureReader
  ) throws -> [CompressionSearch.Sample] {
    let text = String(decoding: try LocalFile.read(path), as: UTF8.self)
    var samples: [CompressionSearch.Sample] = []
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    where !line.allSatisfy(\.isWhitespace) {
      do {
        let fields = try JSONText.decode([String: JSONFragment].self, from: Data(line.utf8))
        samples.append(.init(try sample(fields, description, reader, path.parentPath)))
      } catch is DecodingError {
        throw InputError("'\(path)', line \(number + 1) is not a JSON object with a value for each input")
      } catch { throw InputError("'\(path)', line \(number + 1): \(describe(error))") }
    }
    return samples
  }

  /// Returns the inputs of a line. The reader takes arrays from files only, so that lists become arrays here.
  private static func sample(
    _ fields: [String: JSONFragment], _ description: ModelDescription, _ reader: FeatureReader, _ folder: String
  ) throws -> DictionaryFeatureProvider {
    var (values, others): ([String: FeatureValue], [(name: String, text: String)]) = ([:], [])
    for (name, fragment) in fields.sorted(by: { ExactString($0.key) < ExactString($1.key) }) {
      if case .list = fragment, let constraint = description.inputDescriptionsByName[name]?.multiArrayConstraint {
        values[name] = FeatureValue(multiArray: try fragment.array(constraint.dataType, of: name))
      } else {
        others.append((name, try fragment.text(in: folder)))
      }
    }
    guard !others.isEmpty else { return DictionaryFeatureProvider(dictionary: values) }
    let read = try reader.read(others, mayLackSome: true)
    return DictionaryFeatureProvider(dictionary: values.merging(read.dictionary) { own, _ in own })
  }

  private static func images(
    _ files: [(path: String, label: String?)], _ description: ModelDescription, _ cropAndScale: ImageCropAndScale,
    _ reader: FeatureReader?
  ) throws -> [CompressionSearch.Sample] {
    guard description.inputNames.count == 1, let input = description.inputNames.first else {
      throw InputError(
        "images need a model with one input; this one has the inputs \(description.inputNames.joined(separator: ", ")); "
          + "give their values as JSON lines in a file '.jsonl'")
    }
    let constraint = description.inputDescriptionsByName[input]?.imageConstraint
    guard constraint != nil || reader != nil else {
      throw InputError(
        "images need a model whose input is an image, and '\(input)' is not; say with --normalization how pixels become "
          + "its numbers, or give them as JSON lines in a file '.jsonl'")
    }
    var samples: [CompressionSearch.Sample] = []
    for (path, label) in files {
      do {
        let provider: DictionaryFeatureProvider
        if let constraint {
          let value = try self.image(path, constraint, cropAndScale)
          provider = DictionaryFeatureProvider(dictionary: [input: value])
        } else if let reader {
          provider = try reader.read([(input, path)])
        } else {
          continue
        }
        samples.append(.init(provider, label: label))
      } catch { Console.error("'\(path)': \(describe(error))") }
    }
    return samples
  }

  /// Returns an image in the model's size: hundreds of photos would fill the memory.
  private static func image(
    _ path: String, _ constraint: ImageConstraint, _ cropAndScale: ImageCropAndScale
  ) throws(ImageError) -> FeatureValue {
    let decoded = try ImageCodec.decode(path: path)
    guard !constraint.isHalfPrecision else {
      return FeatureValue(image: decoded.pixels, orientation: decoded.orientation, cropAndScale: cropAndScale)
    }
    return FeatureValue(
      pixelBuffer: try decoded.pixels.resized(
        width: constraint.pixelsWide, height: constraint.pixelsHigh, cropAndScale, orientation: decoded.orientation))
  }

  /// Returns the paths of the images, with their classes in the model's words if they are known.
  private static func labelled(
    _ path: String, _ description: ModelDescription
  ) throws -> [(path: String, label: String?)] {
    guard !description.classLabels.isEmpty else { return try unlabelled(path) }
    let dataset: LabelledImages
    do throws(VisionError) { dataset = try LabelledImages(contentsOf: URL(filePath: path)) } catch {
      let found = try unlabelled(path)
      guard found.contains(where: { $0.path != path }) else { throw InputError("\(error)") }
      Console.note("'\(path)' has no folders of classes; the answers are compared with the original's")
      return found
    }
    dataset.remarks.forEach(Console.note)
    let labels = LabelMatching(dataset.labels, answers: description.classLabels.map { "\($0)" })
    guard let missing = try? labels.missing(of: path.lastPathPart) else {
      let known = description.classLabels.prefix(3).map { "'\($0)'" }.joined(separator: ", ")
      throw InputError(
        "no class of '\(path)' is a label of the model: '\(dataset.labels.first ?? "")'; it has \(known), …")
    }
    if !missing.isEmpty {
      Console.note("\(missing.count) classes of the data set are not among the labels of the model")
    }
    return dataset.images.map { ($0.path, labels.answer(for: $0.label)) }
  }

  private static func unlabelled(_ path: String) throws -> [(path: String, label: String?)] {
    try ImageFileList.named([path]).compactMap { file in
      guard let fault = file.fault else { return (file.path, nil) }
      if file.path == path { throw InputError("'\(path)': \(fault)") }
      Console.error("'\(file.path)': \(fault)")
      return nil
    }
  }
}

/// A value of a JSON document.
private enum JSONFragment: Codable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case list([JSONFragment])
  case object([String: JSONFragment])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let integer = try? value.decode(Int64.self) {
      self = .integer(integer)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if let list = try? value.decode([JSONFragment].self) {
      self = .list(list)
    } else {
      self = .object(try value.decode([String: JSONFragment].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .bool(let bool): try value.encode(bool)
    case .integer(let integer): try value.encode(integer)
    case .number(let number): try value.encode(number)
    case .string(let text): try value.encode(text)
    case .list(let list): try value.encode(list)
    case .object(let object): try value.encode(object)
    }
  }

  /// Returns nested lists of numbers as an array.
  func array(_ type: MultiArrayDataType, of name: String) throws -> MultiArray {
    var shape: [Int] = []
    var level = self
    while case .list(let list) = level {
      shape.append(list.count)
      guard let first = list.first else { break }
      level = first
    }
    var numbers: [Double] = []
    try collect(shape[...], name, &numbers)
    let array = try MultiArray(shape: shape, dataType: type)
    for (index, number) in numbers.enumerated() { array[index] = number }
    return array
  }

  private func collect(_ shape: ArraySlice<Int>, _ name: String, _ numbers: inout [Double]) throws {
    switch self {
    case .list(let list) where list.count == shape.first:
      for element in list { try element.collect(shape.dropFirst(), name, &numbers) }
    case .bool(let bool) where shape.isEmpty: numbers.append(bool ? 1 : 0)
    case .integer(let integer) where shape.isEmpty: numbers.append(Double(integer))
    case .number(let number) where shape.isEmpty: numbers.append(number)
    default: throw InputError("the lists of '\(name)' have different lengths, or hold other values than numbers")
    }
  }

  /// Returns the value as an argument of an input. Names of files are relative to a folder.
  func text(in folder: String) throws -> String {
    if case .string(let text) = self {
      return access(folder.appendingPath(text).pathBytes, R_OK) == 0 ? folder.appendingPath(text) : text
    }
    return String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
  }
}
