import FoundationEssentials
import Kelvin
import TestSupport
import Testing

/// Models with strings, dictionaries and lists between their tensors, and classical models, against ONNX Runtime, NumPy and
/// scikit-learn.
@Suite struct PartVectorTests {
  private struct Value: Decodable {
    var text: String?
    var number: Double?
    var texts: [String]?
    var numbers: [Double?]?
    var shape: [Int]?
    var map: [String: Double]?
    var maps: [[String: Double]]?
    var arrays: [Value]?

    var doubles: [Double] { (numbers ?? number.map { [$0] } ?? []).map { $0 ?? .nan } }
  }

  private struct Case: Decodable {
    var inputs: [String: Value]
    var outputs: [String: Value]
  }

  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/Parts"
  private static let onnx = fileStems(in: folder, endingWith: ".onnx")
  private static let coreML = fileStems(in: folder, endingWith: ".mlmodel")
  private static let classicalFolder = "\(SharedFiles.projectRoot)/Tests/Vectors/Classical"
  private static let sequenceFolder = "\(SharedFiles.projectRoot)/Tests/Vectors/Sequences"
  private static let sequences = fileStems(in: sequenceFolder, endingWith: ".onnx")
  private static let textFolder = "\(SharedFiles.projectRoot)/Tests/Vectors/Texts"
  private static let texts = fileStems(in: textFolder, endingWith: ".onnx")
  private static let overrideFolder = "\(SharedFiles.projectRoot)/Tests/Vectors/Overrides"
  private static let overrides = fileStems(in: overrideFolder, endingWith: ".onnx")
  private static let classicalONNX = fileStems(in: classicalFolder, endingWith: ".onnx")
  private static let classicalCoreML = fileStems(in: classicalFolder, endingWith: ".mlmodel")

  private static let versionFolder = "\(SharedFiles.projectRoot)/Tests/Vectors/Versions"
  private static let versions = fileStems(in: versionFolder, endingWith: ".onnx")
  private static let unusualFolder = "\(SharedFiles.projectRoot)/Tests/Vectors/Unusual"
  private static let unusual = fileStems(in: unusualFolder, endingWith: ".onnx")
  private static let unusualCoreML = fileStems(in: unusualFolder, endingWith: ".mlmodel")
  private static let tieFolder = "\(SharedFiles.projectRoot)/Tests/Vectors/Ties"
  private static let tiesONNX = fileStems(in: tieFolder, endingWith: ".onnx")
  private static let tiesCoreML = fileStems(in: tieFolder, endingWith: ".mlmodel")
  private static let extensionFolder = "\(SharedFiles.projectRoot)/Tests/Vectors/Extensions"
  private static let extensions = fileStems(in: extensionFolder, endingWith: ".onnx")
  private static let recommendationFolder = "\(SharedFiles.projectRoot)/Tests/Vectors/Recommendation"
  private static let recommendations = fileStems(in: recommendationFolder, endingWith: ".mlmodel")

  private static func cases(_ file: String, _ name: String, in folder: String = folder) throws -> [Case] {
    let data = try Data(contentsOf: URL(filePath: "\(folder)/\(file)"))
    return try #require(JSONDecoder().decode([String: [Case]].self, from: data)[name])
  }

  private func feature(_ value: Value, _ description: FeatureDescription) throws -> FeatureValue {
    switch description.type {
    case .string: FeatureValue(string: try #require(value.text))
    case .int64: FeatureValue(int64: Int64(try #require(value.number)))
    case .double: FeatureValue(double: try #require(value.number))
    case .dictionary:
      FeatureValue(
        dictionary: Dictionary(
          uniqueKeysWithValues: try #require(value.map).map { key, number in
            (Int64(key).map { .int64($0) } ?? .string(key), number)
          }))
    case .sequence where description.sequenceConstraint?.valueType == .multiArray:
      FeatureValue(
        sequence: FeatureSequence(multiArrays: try #require(value.arrays).map { try array($0, .float32) }))
    case .sequence where description.sequenceConstraint?.valueType == .int64:
      FeatureValue(sequence: FeatureSequence(int64s: value.doubles.map { Int64($0) }))
    case .sequence:
      if let shape = value.shape {
        FeatureValue(sequence: FeatureSequence(strings: try #require(value.texts), shape: shape))
      } else {
        FeatureValue(sequence: FeatureSequence(strings: try #require(value.texts)))
      }
    default:
      FeatureValue(multiArray: try array(value, try #require(description.multiArrayConstraint).dataType))
    }
  }

  private func array(_ value: Value, _ type: MultiArrayDataType) throws -> MultiArray {
    let array = try MultiArray(shape: try #require(value.shape), dataType: type)
    for (index, number) in value.doubles.enumerated() {
      var (rest, position) = (index, [Int]())
      for size in array.shape.reversed() {
        position.insert(rest % size, at: 0)
        rest /= size
      }
      array[position] = number
    }
    return array
  }

  /// - Parameter isDouble: whether it is computed in double precision.
  private func check(_ found: FeatureValue?, _ expected: Value, isDouble: Bool, _ what: String) throws {
    let found = try #require(found, "\(what) is missing")
    func entries(_ dictionary: [ClassLabel: Double]) -> [String: Double] {
      Dictionary(uniqueKeysWithValues: dictionary.map { ($0.key.description, $0.value) })
    }
    let (absolute, relative) = isDouble ? (1e-14, 1e-12) : (2e-6, 1e-5)
    func agree(_ a: [Double], _ b: [Double]) -> Bool {
      a.count == b.count
        && zip(a, b).allSatisfy {
          $0 == $1 || $0.isNaN && $1.isNaN || abs($0 - $1) <= absolute + relative * abs($1)
        }
    }
    let simple = SimpleValue(found)
    if let text = expected.text { #expect(simple.string == text, "\(what)") }
    if let texts = expected.texts {
      #expect(found.sequenceValue?.stringValues.map { Array($0.utf8) } == texts.map { Array($0.utf8) }, "\(what)")
      if let shape = expected.shape { #expect(found.sequenceValue?.shape == shape, "\(what)") }
    }
    if let number = expected.number {
      #expect(agree([simple.number], [number]), "\(what)")
    }
    if expected.numbers != nil {
      let array = try #require(found.multiArrayValue, "\(what)")
      #expect(array.shape == expected.shape && agree(array.doubles, expected.doubles), "\(what): \(array.doubles)")
    }
    if let wanted = expected.arrays {
      let arrays = try #require(found.sequenceValue, "\(what)").multiArrayValues
      #expect(arrays.map(\.shape) == wanted.map { $0.shape ?? [] }, "\(what)")
      for (array, wanted) in zip(arrays, wanted) { #expect(agree(array.doubles, wanted.doubles), "\(what)") }
    }
    if let wanted = expected.map {
      let got = entries(simple.dictionary)
      #expect(got.keys.sorted() == wanted.keys.sorted(), "\(what)")
      #expect(
        agree(wanted.keys.sorted().map { got[$0] ?? .nan }, wanted.keys.sorted().map { wanted[$0] ?? 0 }),
        "\(what): \(got)")
    }
    for (got, wanted) in zip(found.sequenceValue?.dictionaryValues ?? [], expected.maps ?? []) {
      let got = entries(got)
      #expect(got.keys.sorted() == wanted.keys.sorted(), "\(what)")
      #expect(
        agree(wanted.keys.sorted().map { got[$0] ?? .nan }, wanted.keys.sorted().map { wanted[$0] ?? 0 }), "\(what)")
    }
    #expect(found.sequenceValue?.dictionaryValues.count ?? 0 == expected.maps?.count ?? 0, "\(what)")
  }

  private func check(
    _ file: String, in folder: String = folder, _ cases: [Case], _ units: ComputeUnits, isDouble: Bool = false
  ) async throws {
    var configuration = ModelConfiguration(computeUnits: units)
    configuration.usesCache = false
    let model = try await Model.load(contentsOf: URL(filePath: "\(folder)/\(file)"), configuration: configuration)
    #expect(!cases.isEmpty)
    for (number, item) in cases.enumerated() {
      var inputs: [String: FeatureValue] = [:]
      let description = model.modelDescription
      for (name, value) in item.inputs {
        let feature = description.inputDescriptionsByName[name] ?? description.overridableDescriptionsByName[name]
        inputs[name] = try self.feature(value, try #require(feature))
      }
      let outputs = try await model.prediction(from: DictionaryFeatureProvider(dictionary: inputs))
      for (name, value) in item.outputs {
        try check(outputs[name], value, isDouble: isDouble, "\(file), case \(number), \(name)")
      }
    }
  }

  @Test func testVectorsExist() {
    #expect(Self.onnx.count == 24 && Self.coreML.count == 8 && Self.sequences.count == 7)
    #expect(Self.texts.count == 43 && Self.overrides.count == 5)
    #expect(Self.classicalONNX.count == 33 && Self.classicalCoreML.count == 25 && Self.recommendations.count == 6)
    #expect(Self.tiesONNX.count == 2 && Self.tiesCoreML.count == 5)
    #expect(Self.extensions.count == 107)
    #expect(Self.versions.count == 125 && Self.unusual.count == 70 && Self.unusualCoreML.count == 6)
  }

  @Test(arguments: texts) func movedStringsMatchTheVectors(name: String) async throws {
    try await check(
      "\(name).onnx", in: Self.textFolder, try Self.cases("expected.json", name, in: Self.textFolder), .cpuOnly)
  }

  @Test(arguments: overrides) func overriddenConstantsMatchTheVectors(name: String) async throws {
    try await check(
      "\(name).onnx", in: Self.overrideFolder, try Self.cases("expected.json", name, in: Self.overrideFolder), .cpuOnly)
  }

  @Test func overridableConstantsAreNotInputs() async throws {
    let file = URL(filePath: "\(Self.overrideFolder)/affine.onnx")
    let description = try await Model.load(contentsOf: file).modelDescription
    #expect(description.inputNames == ["x"])
    #expect(description.overridableDescriptionsByName.keys.sorted() == ["offset", "scale", "unused"])
    let scale = try #require(description.overridableDescriptionsByName["scale"])
    #expect(scale.isOptional && scale.multiArrayConstraint?.shape == [3])
  }

  @Test func constantsOfFilesListingThemAllStayConstant() async throws {
    let model = try await Model.load(contentsOf: URL(filePath: "\(Self.overrideFolder)/listed.onnx"))
    #expect(model.modelDescription.overridableDescriptionsByName.isEmpty)
    let value = FeatureValue(multiArray: try MultiArray(shape: [3], dataType: .float32))
    let error = await #expect(throws: ModelError.self) {
      try await model.prediction(from: DictionaryFeatureProvider(dictionary: ["scale": value]))
    }
    #expect(error?.description.contains("the model has no input 'scale'") == true)
  }

  @Test func overrideOfWrongShapeIsNamed() async throws {
    let model = try await Model.load(contentsOf: URL(filePath: "\(Self.overrideFolder)/affine.onnx"))
    let values = [
      "x": FeatureValue(multiArray: try MultiArray(shape: [2, 3], dataType: .float32)),
      "scale": FeatureValue(multiArray: try MultiArray(shape: [4], dataType: .float32)),
    ]
    let error = await #expect(throws: ModelError.self) {
      try await model.prediction(from: DictionaryFeatureProvider(dictionary: values))
    }
    #expect(error?.description.contains("'scale'") == true, "\(error as Any)")
  }

  @Test func stringsOfWrongShapeAreRefused() async throws {
    let model = try await Model.load(contentsOf: URL(filePath: "\(Self.textFolder)/gathered.onnx"))
    let places = FeatureValue(multiArray: try MultiArray(shape: [1, 2], dataType: .int64))
    for (count, shape) in [(6, [3, 2]), (6, [1, 2, 3]), (1, [])] {
      let texts = FeatureSequence(strings: [String](repeating: "a", count: count), shape: shape)
      let values = ["x": FeatureValue(sequence: texts), "places": places]
      let error = await #expect(throws: ModelError.self) {
        try await model.prediction(from: DictionaryFeatureProvider(dictionary: values))
      }
      #expect(error?.description.contains("input 'x'") == true, "\(error as Any)")
    }
    // In a row they take the shape that the model says.
    let row = [
      "x": FeatureValue(sequence: FeatureSequence(strings: Array("abcdef").map(String.init))), "places": places,
    ]
    let outputs = try await model.prediction(from: DictionaryFeatureProvider(dictionary: row))
    #expect(outputs["y"]?.sequenceValue == FeatureSequence(strings: ["a"]))
    #expect(outputs["w"]?.sequenceValue?.shape == [2, 2, 2])
  }

  @Test(arguments: recommendations)
  func recommendersAndLinkedModelsMatchTheFormulas(name: String) async throws {
    let cases = try Self.cases("expected.json", name, in: Self.recommendationFolder)
    try await check("\(name).mlmodel", in: Self.recommendationFolder, cases, .cpuOnly, isDouble: true)
  }

  /// The model that it names does not exist, or is outside its folder.
  @Test(arguments: ["elsewhere:linked", "../../elsewhere/"])
  func missingLinkedModelHasARemedy(path: String) async throws {
    let folder = TemporaryFolder()
    var bytes = TemporaryFolder.read("\(Self.recommendationFolder)/linked.mlmodel")
    let named = Array("elsewhere:linked".utf8)
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: named) })
    bytes.replaceSubrange(place..<place + named.count, with: Array(path.utf8))
    let file = URL(filePath: folder.write(bytes, "linked.mlmodel"))
    let error = await #expect(throws: ModelError.self) { try await Model.load(contentsOf: file) }
    #expect(error?.description.contains("put 'scaler.mlpackage'") == true, "\(error as Any)")
  }

  @Test(arguments: classicalONNX) func classicalONNXModelMatchesItsFormulas(name: String) async throws {
    let cases = try Self.cases("expected.json", name, in: Self.classicalFolder)
    try await check("\(name).onnx", in: Self.classicalFolder, cases, .cpuOnly)
  }

  @Test(arguments: classicalCoreML)
  func classicalCoreMLModelMatchesItsFormulas(name: String) async throws {
    let cases = try Self.cases("coreml.json", name, in: Self.classicalFolder)
    try await check("\(name).mlmodel", in: Self.classicalFolder, cases, .cpuOnly, isDouble: true)
  }

  @Test(arguments: tiesONNX) func tiedScoresOfONNXModelsMatchExactArithmetic(name: String) async throws {
    try await check(
      "\(name).onnx", in: Self.tieFolder, try Self.cases("expected.json", name, in: Self.tieFolder), .cpuOnly)
  }

  @Test(arguments: tiesCoreML) func tiedScoresOfCoreMLModelsMatchExactArithmetic(name: String) async throws {
    try await check(
      "\(name).mlmodel", in: Self.tieFolder, try Self.cases("coreml.json", name, in: Self.tieFolder), .cpuOnly,
      isDouble: true)
  }

  @Test(arguments: versions) func modelsOfEarlyOperatorSetsMatchNumPy(name: String) async throws {
    let cases = try Self.cases("expected.json", name, in: Self.versionFolder)
    try await check("\(name).onnx", in: Self.versionFolder, cases, .cpuOnly)
  }

  @Test(arguments: unusual) func unusualONNXModelsMatchONNXRuntime(name: String) async throws {
    let cases = try Self.cases("expected.json", name, in: Self.unusualFolder)
    try await check("\(name).onnx", in: Self.unusualFolder, cases, .cpuOnly)
  }

  @Test(arguments: unusualCoreML) func unusualMLProgramsMatchNumPy(name: String) async throws {
    let cases = try Self.cases("coreml.json", name, in: Self.unusualFolder)
    try await check("\(name).mlmodel", in: Self.unusualFolder, cases, .cpuOnly)
  }

  @Test(arguments: extensions) func operatorsOfExtensionsMatchTheirLibrary(name: String) async throws {
    let cases = try Self.cases("expected.json", name, in: Self.extensionFolder)
    try await check("\(name).onnx", in: Self.extensionFolder, cases, .cpuOnly)
  }

  @Test func outputsWithoutATypeHaveTheComputedElementType() async throws {
    let model = try await Model.load(contentsOf: URL(filePath: "\(Self.unusualFolder)/untyped_outputs.onnx"))
    let x = FeatureValue(multiArray: try MultiArray([Float](repeating: -1, count: 24), shape: [2, 3, 4]))
    let outputs = try await model.prediction(from: DictionaryFeatureProvider(dictionary: ["x": x]))
    let types = ["a", "s", "i", "b", "y"].map { outputs[$0]?.multiArrayValue?.dataType }
    #expect(types == [.float32, .int64, .int64, .bool, .float32])
  }

  @Test(arguments: onnx) func onnxModelMatchesONNXRuntime(name: String) async throws {
    try await check("\(name).onnx", try Self.cases("expected.json", name), .cpuOnly)
  }

  @Test(arguments: sequences) func tensorSequencesMatchTheVectors(name: String) async throws {
    try await check(
      "\(name).onnx", in: Self.sequenceFolder, try Self.cases("expected.json", name, in: Self.sequenceFolder), .cpuOnly)
  }

  @Test func sequenceOfWrongElementsIsRefused() async throws {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    let model = try await Model.load(
      contentsOf: URL(filePath: "\(Self.sequenceFolder)/squared.onnx"), configuration: configuration)
    let given = try #require(model.modelDescription.inputDescriptionsByName["given"])
    #expect(given.type == .sequence && given.sequenceConstraint?.valueType == .multiArray)
    let offset = FeatureValue(multiArray: try MultiArray(shape: [1], dataType: .float32))
    let values = ["given": FeatureValue(sequence: FeatureSequence(strings: ["a"])), "offset": offset]
    await #expect(throws: ModelError.self) {
      try await model.prediction(from: DictionaryFeatureProvider(dictionary: values))
    }
  }

  @Test(arguments: coreML) func coreMLPipelineMatchesItsFormulas(name: String) async throws {
    try await check("\(name).mlmodel", try Self.cases("coreml.json", name), .cpuOnly)
  }

  @Test(arguments: ModelFixture.fastDevices) func everyDeviceRunsTheGraphsBetweenHostOperations(device: String)
    async throws
  {
    try await check("words_in_turn.onnx", try Self.cases("expected.json", "words_in_turn"), .devices([device]))
  }

  @Test func wrongInputTypeHasARemedy() async throws {
    func refusal(_ file: String, _ inputs: [String: FeatureValue]) async throws -> String {
      var configuration = ModelConfiguration(computeUnits: .cpuOnly)
      configuration.usesCache = false
      let model = try await Model.load(
        contentsOf: URL(filePath: "\(Self.folder)/\(file)"), configuration: configuration)
      do {
        _ = try await model.prediction(from: DictionaryFeatureProvider(dictionary: inputs))
        return "nothing was refused"
      } catch {
        #expect(error.code == .featureType)
        return "\(error)"
      }
    }
    let size = FeatureValue(double: 1)
    let unknown = try await refusal(
      "labels_in_the_middle.mlmodel", ["color": FeatureValue(string: "pink"), "size": size])
    #expect(unknown.contains("'color'") && unknown.contains("'pink' is not known; give one of '"), "\(unknown)")
    let missing = try await refusal("labels_in_the_middle.mlmodel", ["size": size])
    #expect(missing.contains("'color': no value was given"), "\(missing)")
    let number = try await refusal("labels_in_the_middle.mlmodel", ["color": FeatureValue(int64: 2), "size": size])
    #expect(number.contains("'color': expected string, got int64"), "\(number)")
    let keys = try await refusal("dictionary_vectorizer.mlmodel", ["words": FeatureValue(dictionary: [1: 1])])
    #expect(keys.contains("'words': expected a dictionary whose keys are strings"), "\(keys)")
    let ragged = try await refusal(
      "one_hot_texts.onnx", ["x": FeatureValue(sequence: FeatureSequence(strings: ["a", "b", "c"]))])
    #expect(ragged.contains("'x': expected a sequence of") && ragged.contains("got 3"), "\(ragged)")
  }
}

/// A feature's number, string or dictionary. The compiler (6.3.1) fails on a function that reads all of them and others.
private struct SimpleValue {
  var number: Double
  var string: String
  var dictionary: [ClassLabel: Double]

  @inline(never)
  init(_ value: FeatureValue) {
    number = value.type == .int64 ? Double(value.int64Value ?? 0) : value.doubleValue ?? .nan
    string = value.stringValue ?? ""
    dictionary = value.dictionaryValue ?? [:]
  }
}
