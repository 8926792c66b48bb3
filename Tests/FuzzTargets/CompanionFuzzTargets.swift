import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinFeatures
import KelvinGraph
import KelvinImages
import KelvinText
import KelvinVision

extension FuzzTarget {
  /// Inputs beside a model: vocabularies, descriptions of heads, data sets, tables.
  static let companions = [
    FuzzTarget("vocabulary", ModelError.self, longest: 512, seeds: Seeds.vocabularies) { bytes in
      let vocabulary = try WordPieceVocabulary(contentsOf: companion("vocab.txt", bytes))
      precondition(vocabulary.tokens.contains("[UNK]"))
    },
    FuzzTarget("head", VisionError.self, .json, longest: 1024, seeds: Seeds.files([".json"], in: "Tests/Vision/Heads"))
    {
      bytes in
      _ = try DetectionHead(contentsOf: companion("head.json", bytes))
    },
    FuzzTarget("boxes", VisionError.self, .json, longest: 1024, seeds: Seeds.document("data-set.json")) { bytes in
      _ = try DetectedImages(contentsOf: companion("boxes.json", bytes)).names
    },
    FuzzTarget("segments", VisionError.self, .json, longest: 1024, seeds: Seeds.document("data-set.json")) { bytes in
      let images = try SegmentedImages(contentsOf: companion("segments.json", bytes)).examples
      do {
        let pixels = [UInt8](repeating: 0, count: 4 * 6)
        let image = DecodedImage(
          pixels: try PixelBuffer(width: 6, height: 4, format: .gray8, bytes: pixels), orientation: .up)
        for example in images { _ = try example.labelMap(of: image) }
      } catch let error as ImageError { throw VisionError.image(error) }
    },
    FuzzTarget("curves", VisionError.self, .json, longest: 1024, seeds: Seeds.document("model.curves.json")) { bytes in
      _ = try PrecisionRecallCurves(contentsOf: companion("model.curves.json", bytes)).identifiers
    },
    // Lines of images and classes, or a document.
    FuzzTarget(
      "labelled", VisionError.self, longest: 512, seeds: Seeds.texts("image,label\na.png,cat\nb.jpg,\"a dog\"\n")
    ) {
      bytes in
      _ = try LabelledImages(contentsOf: companion("labelled.csv", bytes)).labels
    },
    FuzzTarget(
      "regression", VisionError.self, longest: 512, seeds: Seeds.texts("x,image,target\n1,a.png,2\n3,b.png,4\n")
    ) {
      bytes in
      _ = try RegressionTable(contentsOf: companion("regression.csv", bytes)).columns
    },
    // The file of an input, as each kind of value that is read from JSON.
    FuzzTarget("features", ModelError.self, .json, longest: 512, seeds: Seeds.features) { bytes in
      let path = companion("features.json", bytes).path
      var failure: ModelError?
      for name in featureReader.names {
        do throws(ModelError) {
          let provider = try featureReader.reader.read([(name, path)], mayLackSome: true)
          precondition(provider.featureValue(for: name) != nil)
          return
        } catch { failure = error }
      }
      if let failure { throw failure }
    },
    FuzzTarget("default", VisionError.self, .json, longest: 512, seeds: Seeds.defaultModels) { bytes in
      let model = try DefaultModel(storedIn: companion("default-model.json", bytes).path)
      precondition(model.url.path.hasPrefix("/"))
    },
    // A table that was read is written as one that reads the same, except for an empty row and a mark before the first.
    FuzzTarget("table", ModelError.self, longest: 512, seeds: Seeds.texts("a,b\r\n\"x, y\",\"\"\"z\"\"\"\r\n1,\n")) {
      bytes in
      let rows = try rows(bytes)
      guard !rows.contains([""]), rows.first?.first?.unicodeScalars.first != "\u{FEFF}" else { return }
      // Characters that a path cannot contain are skipped.
      guard !rows.joined().contains(where: { $0.utf8.contains(0) }) else { return }
      let text = rows.map { $0.map { DelimitedText.field($0) }.joined(separator: ",") + "\n" }.joined()
      let again = try text.pathBytes.dropLast().withUnsafeBytes { try Self.rows($0) }
      precondition(again == rows, "\(rows) read as \(again)")
    },
  ]

  private static let featureReader = {
    let kinds: [FeatureKind] = [
      .dictionary(keys: .string), .dictionary(keys: .int64), .sequence(of: .string), .sequence(of: .int64),
      .strings([.fixed(2), .fixed(2)]),
    ]
    let features = kinds.enumerated().map { Feature(name: "input\($0)", type: $1) }
    return (
      names: features.map(\.name), reader: FeatureReader(Function(inputs: features, outputs: [], parts: []))
    )
  }()

  private static func rows(_ bytes: UnsafeRawBufferPointer) throws(ModelError) -> [[String]] {
    do { return try DelimitedText(bytes).rows.map(\.fields) } catch {
      throw ModelError(.io, "line \(error.line): \(error.reason)")
    }
  }

  /// A file of bytes.
  private static func companion(_ name: String, _ bytes: UnsafeRawBufferPointer) -> URL {
    let path = "\(MemoryFolder.path("companions"))/\(name)"
    MemoryFolder.write(bytes, to: path)
    return URL(filePath: path)
  }
}

extension Seeds {
  fileprivate static var features: [[UInt8]] {
    texts("{\"a\": 1.5, \"b\": -2}", "{\"7\": 1e3}", "[\"a\", \"b\"]", "[1, -2]", "[[\"a\", \"b\"], [\"\", \"d\"]]")
  }

  fileprivate static var defaultModels: [[UInt8]] {
    texts(
      "{\"model\": \"/models/otter.onnx\", \"labels\": [\"otter\", \"badger\"], \"normalization\": \"imagenet\"}",
      "{\"model\": \"/models/otter.mlpackage\"}")
  }

  fileprivate static var vocabularies: [[UInt8]] {
    texts("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhe\n##llo\n", "[UNK]\r\n[CLS]\r\n[SEP]\r\n[PAD]\r\n\r\na\r\na")
  }
}
