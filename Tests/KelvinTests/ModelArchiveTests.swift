import FoundationEssentials
import Kelvin
import KelvinBasics
import TestSupport
import Testing

/// Model files with other names than their format has, and models in ZIP files.
@Suite struct ModelArchiveTests {
  private let folder = TemporaryFolder()
  private static let image = URL(filePath: "\(SharedFiles.projectRoot)/Examples/Digits/images/9_0125.png")

  private func digit(_ path: String) throws -> [Float] {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    let model = try Model(contentsOf: URL(filePath: path), configuration: configuration)
    let input = try #require(model.modelDescription.inputNames.first)
    let pixels = try ImageCodec.decode(path: Self.image.path).pixels
    let kind = model.modelDescription.inputDescriptionsByName[input]?.type
    guard kind == .image else {
      let shape = model.modelDescription.inputDescriptionsByName[input]?.multiArrayConstraint?.shape ?? []
      return try numbers(model, [input: FeatureValue(shapedArray: ShapedArray<Float>(repeating: 0.5, shape: shape))])
    }
    return try numbers(model, [input: FeatureValue(image: pixels)])
  }

  private func numbers(_ model: Model, _ input: [String: FeatureValue]) throws -> [Float] {
    let outputs = try model.prediction(from: input)
    return model.modelDescription.outputNames.flatMap { name -> [Float] in
      guard let value = outputs[name] else { return [] }
      if let array = value.shapedArrayValue(of: Float.self) { return array.scalars }
      return value.dictionaryValue?.sorted { "\($0.key)" < "\($1.key)" }.map { Float($0.value) } ?? []
    }
  }

  @Test func fileIsKnownByItsContents() throws {
    let expected = try digit(ModelFixture.digits)
    #expect(!expected.isEmpty)
    for name in ["CFNetworkDownload_x.tmp", "model", "wrong.mlmodel"] {
      #expect(try digit(folder.copy(ModelFixture.digits, as: name)) == expected, "\(name)")
    }
    let inner = "\(ModelFixture.digitsPackage)/Data/com.apple.CoreML"
    _ = folder.copy("\(inner)/weights", as: "weights")
    let package = try digit(ModelFixture.digitsPackage)
    for name in ["download.tmp", "wrong.onnx"] {
      #expect(try digit(folder.copy("\(inner)/model.mlmodel", as: name)) == package, "\(name)")
    }
  }

  @Test func otherFilesAreRefusedByTheirContents() throws {
    for (text, name) in [("no model at all", "a.tmp"), ("", "b.tmp")] {
      let path = folder.write(text, name)
      let error = #expect(throws: ModelError.self) { try Model(contentsOf: URL(filePath: path)) }
      #expect(error?.description.contains("unknown kind") == true, "\(error?.description ?? "")")
    }
  }

  @Test(arguments: [false, true], ["Digits.mlpackage/", ""])
  func packageInAnArchiveGivesTheSameNumbers(deflated: Bool, root: String) throws {
    var archive = ZIPFile(
      folder: ModelFixture.digitsPackage, as: root.isEmpty ? "." : "Digits.mlpackage", deflated: deflated)
    archive.add("__MACOSX/._model.mlmodel", [1, 2, 3])
    let path = folder.write(archive.bytes, "Digits.mlpackage.zip")
    #expect(try digit(path) == digit(ModelFixture.digitsPackage))
  }

  @Test func fileInAnArchiveGivesTheSameNumbers() throws {
    var archive = ZIPFile()
    archive.add("Digits.onnx", TemporaryFolder.read(ModelFixture.digits), deflated: true)
    #expect(try digit(folder.write(archive.bytes, "digits.tmp")) == digit(ModelFixture.digits))
  }

  @Test func unsuitableArchivesAreRefused() throws {
    let model = TemporaryFolder.read(ModelFixture.digits)
    var (none, two, locked, larger, twice) = (ZIPFile(), ZIPFile(), ZIPFile(), ZIPFile(), ZIPFile())
    none.add("readme.txt", [65])
    two.add("a.onnx", model)
    two.add("b.onnx", model)
    locked.add("a.onnx", model, flags: 1)
    larger.add("a.onnx", model, deflated: true)
    larger.add("zeros", [0], size: 0xffff_fff0)
    twice.add("a.onnx", model)
    twice.add("a.onnx", model)
    for (archive, reason) in [
      (none, "found none"), (two, "a.onnx, b.onnx"), (locked, "encrypted"), (larger, "unpacks from"),
      (twice, "two files 'a.onnx'"),
    ] {
      let path = folder.write(archive.bytes, "m.zip")
      let error = #expect(throws: ModelError.self) { try Model(contentsOf: URL(filePath: path)) }
      #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }
  }

  /// Every damage is an error: no changed byte may give other weights.
  @Test func damagedArchivesAreRefusedOrGiveTheSameNumbers() throws {
    var archive = ZIPFile()
    archive.add("Digits.onnx", TemporaryFolder.read(ModelFixture.digits), deflated: true)
    let (whole, expected) = (archive.bytes, try digit(ModelFixture.digits))
    var random = SeededGenerator(seed: 11)
    for round in 0..<60 {
      var bytes = whole
      if round % 3 == 0 {
        bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
      } else {
        // Headers are small, so every other change is in the directory at the end.
        let place = Int.random(in: round % 2 == 0 ? bytes.count - 80..<bytes.count : 0..<bytes.count, using: &random)
        bytes[place] ^= UInt8.random(in: 1...255, using: &random)
      }
      let path = folder.write(bytes, "m.zip")
      do { #expect(try digit(path) == expected, "round \(round)") } catch { #expect(error is ModelError) }
    }
  }

  @Test func updatableModelSaysSo() async throws {
    let inner = "\(ModelFixture.digitsPackage)/Data/com.apple.CoreML"
    _ = folder.copy("\(inner)/weights", as: "weights")
    let specification = TemporaryFolder.read("\(inner)/model.mlmodel")
    // Field 10 of the model: a Boolean.
    let path = folder.write(specification + [10 << 3, 1], "updatable.mlmodel")
    #expect(try await ModelAsset(url: URL(filePath: path)).modelDescription.isUpdatable)
    #expect(try await !ModelAsset(url: URL(filePath: ModelFixture.digitsPackage)).modelDescription.isUpdatable)
  }
}
