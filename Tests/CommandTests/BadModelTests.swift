import KelvinBasics
import TestSupport
import Testing

/// Invalid model files give one clear error and status 65, never a crash.
@Suite struct BadModelTests {
  /// Reads a model with every command, and expects the same error.
  private func expectRefusal(_ path: String, _ label: String, mentions: String? = nil) {
    for arguments in [["inspect", path], ["plan", path, "--json"]] {
      let result = Kelvin.run(arguments)
      #expect(result.status == 65, "\(label), \(arguments[0]): \(result)")
      #expect(result.errorLines.count == 1, "\(label), \(arguments[0]): \(result.errors)")
      if let mentions { #expect(result.errors.contains(mentions), "\(label): \(result.errors)") }
    }
  }

  @Test func aMissingFileIsNamed() {
    let result = Kelvin.run("plan", "/nowhere/model.onnx")
    #expect(result.status == 65)
    #expect(result.errors.contains("/nowhere/model.onnx"))
    #expect(result.output.isEmpty)
  }

  @Test func emptyAndForeignFilesAreRefused() {
    let folder = TemporaryFolder()
    expectRefusal(folder.write([], "empty.onnx"), "empty")
    expectRefusal(folder.write([], "empty.mlmodel"), "empty")
    expectRefusal(folder.write("hello, this is text\n", "text.onnx"), "text")
    expectRefusal(folder.path, "a folder")
    expectRefusal(Kelvin.image("0_0030.png"), "an image")
  }

  @Test(arguments: [1, 7, 100, 5_000, 150_000, 300_000])
  func aTruncatedModelIsRefused(length: Int) {
    let folder = TemporaryFolder()
    let bytes = TemporaryFolder.read(Kelvin.digits)
    expectRefusal(folder.write(Array(bytes.prefix(length)), "cut.onnx"), "\(length) bytes")
  }

  @Test func lengthsBeyondTheFileAreRefused() {
    let folder = TemporaryFolder()
    // A model whose graph (field 7) claims 2^62 bytes, and one whose claims do not even end.
    expectRefusal(
      folder.write([0x08, 0x08, 0x3A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x3F], "vast.onnx"), "vast")
    expectRefusal(folder.write([0x08, 0x08, 0x3A] + [UInt8](repeating: 0xFF, count: 64), "endless.onnx"), "endless")
  }

  @Test func aTensorThatContradictsItsShapeIsRefused() {
    expectRefusal(
      TemporaryFolder().write(ONNXFile.model(weightShape: [1 << 40, 1 << 40], weights: [1, 2, 3, 4]), "vast.onnx"),
      "a shape beyond memory")
    expectRefusal(
      TemporaryFolder().write(ONNXFile.model(weightShape: [3, 3], weights: [1, 2, 3, 4]), "contradiction.onnx"),
      "nine elements in four")
  }

  @Test func validModelOfSameStructureIsAccepted() {
    let folder = TemporaryFolder()
    let model = folder.write(ONNXFile.model(weightShape: [2, 2], weights: [1, 2, 3, 4]), "sound.onnx")
    let result = Kelvin.run("plan", model, "--json")
    #expect(result.status == 0, "\(result)")
  }

  @Test func allMissingOperatorsAreListed() throws {
    let folder = TemporaryFolder()
    let model = folder.write(
      ONNXFile.model(weightShape: [2, 2], weights: [1, 2, 3, 4], operators: ["Frobnicate", "Twiddle", "Frobnicate"]),
      "strange.onnx")
    let result = Kelvin.run("inspect", model, "--json")
    #expect(result.status == 65)
    let missing = try #require(try JSONValue(result.output)["functions"]?[0]?["missing"]?.array)
    #expect(missing.map { $0["name"]?.text } == ["Frobnicate", "Twiddle"])
    #expect(missing.map { $0["count"]?.number } == [2, 1])
    #expect(result.errors.contains("Frobnicate") && result.errors.contains("Twiddle"))
  }

  @Test func weightsOutsideTheirFileAreRefused() {
    let folder = TemporaryFolder()
    let package = folder.copy(Kelvin.digitsPackage, as: "Digits.mlpackage")
    let weights = "Digits.mlpackage/Data/com.apple.CoreML/weights/weight.bin"
    let whole = TemporaryFolder.read("\(folder.path)/\(weights)")
    for length in [0, 63, whole.count / 2, whole.count - 1] {
      folder.write(Array(whole.prefix(length)), weights)
      expectRefusal(package, "\(length) of \(whole.count) bytes of weights")
    }
    folder.write([UInt8](repeating: 0xFF, count: whole.count), weights)
    expectRefusal(package, "weights of ones")
  }

  @Test func aBrokenPackageIsRefused() {
    let folder = TemporaryFolder()
    let package = folder.copy(Kelvin.digitsPackage, as: "Digits.mlpackage")
    let manifest = TemporaryFolder.read("\(package)/Manifest.json")
    folder.write("{", "Digits.mlpackage/Manifest.json")
    expectRefusal(package, "a manifest that is not JSON")
    let outside = String(decoding: manifest, as: UTF8.self).replacing(
      "com.apple.CoreML/model.mlmodel", with: "../../../etc/passwd")
    folder.write(outside, "Digits.mlpackage/Manifest.json")
    expectRefusal(package, "a model outside its package")
    folder.write(manifest, "Digits.mlpackage/Manifest.json")
    let model = "Digits.mlpackage/Data/com.apple.CoreML/model.mlmodel"
    let bytes = TemporaryFolder.read("\(folder.path)/\(model)")
    for length in [0, 10, bytes.count / 2] {
      folder.write(Array(bytes.prefix(length)), model)
      expectRefusal(package, "\(length) of \(bytes.count) bytes of the model")
    }
  }

  @Test(arguments: Tier.some(3, of: 1..<13 as Range<UInt64>))
  func damagedModelGivesResultOrError(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let folder = TemporaryFolder()
    var bytes = TemporaryFolder.read(Kelvin.digits)
    // Damages the structure: at the beginning, in the nodes, or at the end.
    for _ in 0..<(1 + Int(random.next() % 8)) {
      let zone = [0..<4096, bytes.count - 4096..<bytes.count, 0..<bytes.count][Int(random.next() % 3)]
      bytes[zone.lowerBound + Int(random.next() % UInt64(zone.count))] = UInt8(truncatingIfNeeded: random.next())
    }
    let result = Kelvin.run("plan", folder.write(bytes, "damaged.onnx"), "--json")
    #expect(result.status == 0 || (result.status == 65 && result.errorLines.count == 1), "seed \(seed): \(result)")
  }
}
