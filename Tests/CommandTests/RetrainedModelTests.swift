import Glibc
import TestSupport
import Testing

/// A model whose weights were retrained under an unchanged specification gets none of the old packed weights, in every
/// format.
@Suite struct RetrainedModelTests {
  private let folder = TemporaryFolder()

  /// Returns the model's answer, with or without cached weights.
  private func answer(_ model: String, isCached: Bool) throws -> [UInt8] {
    let output = "\(folder.path)/out"
    let cache = isCached ? ["--cache-dir", "\(folder.path)/cache"] : ["--no-cache"]
    let result = Kelvin.run(
      ["predict", model, "--seed", "3", "--units", "cpu", "--output-dir", output] + cache)
    #expect(result.status == 0, "\(result)")
    return TemporaryFolder.files(output).sorted().flatMap { TemporaryFolder.read($0) }
  }

  private func expectNothingOfTheOld(_ model: String, retrain: () throws -> Void) throws {
    let first = try answer(model, isCached: true)
    #expect(TemporaryFolder.files("\(folder.path)/cache").contains { $0.hasSuffix(".pack") })
    #expect(try answer(model, isCached: true) == first)
    try retrain()
    let second = try answer(model, isCached: true)
    #expect(try second != first && second == answer(model, isCached: false))
  }

  @Test func changedWeightsInsideALoopAreUsed() throws {
    let model = folder.write(ONNXFile.loop(weightsIn: "w.bin"), "m.onnx")
    func write(_ factor: Float) {
      let weights = (0..<16).map { Float($0) * factor - 1 }
      folder.write(weights.withUnsafeBytes { Array($0) }, "w.bin")
    }
    write(1)
    try expectNothingOfTheOld(model) { write(2) }
  }

  @Test func changedWeightsInsideAPipelineAreUsed() throws {
    let package = folder.copy(Kelvin.digitsPackage, as: "m.mlpackage")
    let place = "m.mlpackage/Data/com.apple.CoreML"
    let specification = TemporaryFolder.read("\(folder.path)/\(place)/model.mlmodel")
    folder.write(try Self.pipeline(of: specification), "\(place)/model.mlmodel")
    try expectNothingOfTheOld(package) {
      let weights = TemporaryFolder.read("\(folder.path)/\(place)/weights/weight.bin")
      folder.write(try Self.retrained(weights), "\(place)/weights/weight.bin")
    }
  }

  /// A pipeline of one model. Reference: Model.proto and Pipeline.proto of Core ML, fields 1, 2 and 202, and 1.
  private static func pipeline(of model: [UInt8]) throws -> [UInt8] {
    var place = 0
    func number() -> Int {
      var (value, shift) = (0, 0)
      while place < model.count {
        let byte = Int(model[place])
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80 { break }
      }
      return value
    }
    var kept: [UInt8] = []
    while place < model.count {
      let start = place
      let key = number()
      if key & 7 == 2 { place += number() } else { _ = number() }
      if [1, 2].contains(key >> 3) { kept += model[start..<place] }
    }
    func bytes(_ key: [UInt8], _ contents: [UInt8]) -> [UInt8] {
      var (count, length) = (contents.count, [UInt8]())
      while count >= 0x80 {
        length.append(UInt8(count & 0x7F) | 0x80)
        count >>= 7
      }
      return key + length + [UInt8(count)] + contents
    }
    try #require(kept.count > 2)
    return kept + bytes([0xD2, 0x0C], bytes([0x0A], model))
  }

  /// A weight file whose largest record has other signs.
  private static func retrained(_ file: [UInt8]) throws -> [UInt8] {
    let sentinel: [UInt8] = [0xEF, 0xBE, 0xAD, 0xDE]
    let records = stride(from: 64, to: file.count - 4, by: 64).filter { file[$0..<$0 + 4].elementsEqual(sentinel) }
    let ranges = zip(records, records.dropFirst() + [file.count]).map { $0 + 64..<$1 }
    let largest = try #require(ranges.max { $0.count < $1.count })
    var changed = file
    // The sign of a float16, and of every float32 with some of its fraction.
    for place in largest where place % 2 == 1 { changed[place] ^= 0x80 }
    return changed
  }
}
