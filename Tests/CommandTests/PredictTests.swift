import TestSupport
import Testing

/// `kelvin predict` with unusual names, and with images for plain tensors.
@Suite struct PredictTests {
  private let folder = TemporaryFolder()

  private func predict(_ model: [UInt8], _ arguments: [String]) -> ToolResult {
    let path = folder.write(model, "model.onnx")
    return Kelvin.run(["predict", path, "--units", "cpu", "--output-dir", "\(folder.path)/out"] + arguments)
  }

  private func array(_ name: String, _ numbers: [Float]) -> String {
    folder.write(NumPyFile.bytes(shape: [1, numbers.count], float32: { numbers[$0] }), name)
  }

  private func floats(_ file: String) -> [Float] {
    let bytes = TemporaryFolder.read("\(folder.path)/out/\(file)")
    let header = 10 + Int(bytes[8]) + Int(bytes[9]) << 8
    return bytes.withUnsafeBytes { raw in
      stride(from: header, to: bytes.count, by: 4).map { raw.loadUnaligned(fromByteOffset: $0, as: Float.self) }
    }
  }

  @Test func inputNamesMayContainAnEqualsSign() {
    let model = ONNXFile.rectifiers([("a", "y"), ("a=b", "z"), ("=", "w")], [1, 2])
    let (first, second, third) = (
      array("first=.npy", [1, 2]), array("second.npy", [3, 4]), array("third.npy", [5, 6])
    )
    let result = predict(model, ["--input", "a=\(first)", "--input", "a=b=\(second)", "--input", "==\(third)"])
    #expect(result.status == 0, "\(result)")
    #expect(floats("y.npy") == [1, 2] && floats("z.npy") == [3, 4] && floats("w.npy") == [5, 6])
    let twice = predict(model, ["--input", "a=b=\(first)", "--input", "a=b=\(second)"])
    #expect(twice.status == 64 && twice.errors.contains("names 'a=b' twice"), "\(twice)")
    let none = predict(model, ["--input", "a"])
    #expect(none.status == 64 && none.errors.contains("--input takes"), "\(none)")
  }

  @Test func outputsWithLongNamesHaveShortFileNames() throws {
    let name = String(repeating: "n", count: 300)
    let model = ONNXFile.rectifiers([("x", name + "1"), ("v", name + "2")], [1, 2])
    let (one, two) = (array("one.npy", [1, 2]), array("two.npy", [3, 4]))
    let result = predict(model, ["--input", "x=\(one)", "--input", "v=\(two)", "--json"])
    #expect(result.status == 0 && result.errors.contains("is too long for a file"), "\(result)")
    let outputs = try JSONValue(result.output)["outputs"]
    for (suffix, expected) in [("1", [1, 2]), ("2", [3, 4])] as [(String, [Float])] {
      let path = try #require(outputs?[name + suffix]?["file"]?.text)
      let file = String(path.dropFirst("\(folder.path)/out/".count))
      #expect(file.hasPrefix("nnn") && file.utf8.count <= 204 && floats(file) == expected)
    }
  }

  @Test func imagesEnterPlainTensorsByANormalization() {
    let images = "\(Kelvin.root)/Tests/Images/files"
    let file = TemporaryFolder.read("\(images)/color.bmp.ppm")
    let words = String(decoding: file.prefix(20), as: UTF8.self).split { $0 == " " || $0 == "\n" }
    let (width, height) = (Int(words[1]) ?? 0, Int(words[2]) ?? 0)
    let pixels = Array(file.suffix(3 * width * height))
    let model = ONNXFile.rectifiers([("x", "y")], [1, 3, height, width])
    let input = "x=\(images)/color.bmp"
    for (rule, scale) in [("0:255", 1), ("0:1", 1 / 255)] as [(String, Float)] {
      let result = predict(model, ["--input", input, "--normalization", rule])
      #expect(result.status == 0, "\(result)")
      let expected = (0..<3).flatMap { channel in
        (0..<width * height).map { Float(pixels[3 * $0 + channel]) * scale }
      }
      #expect(!expected.isEmpty && floats("y.npy") == expected, "\(rule)")
    }
    let rows = ONNXFile.rectifiers([("x", "y")], [1, height, width, 3])
    let reversed = predict(rows, ["--input", input, "--normalization", "mean=10,20,30/deviation=2/bgr"])
    #expect(reversed.status == 0, "\(reversed)")
    let expected = (0..<3 * width * height).map { place in
      let channel = 2 - place % 3
      return max(0, (Float(pixels[place / 3 * 3 + channel]) - [10, 20, 30][channel]) / 2)
    }
    #expect(floats("y.npy") == expected)
    let without = predict(model, ["--input", input])
    #expect(without.status == 65 && without.errors.contains("--normalization"), "\(without)")
    let flat = predict(ONNXFile.rectifier(2), ["--input", input, "--normalization", "0:1"])
    #expect(flat.status == 65 && flat.errors.contains("expected"), "\(flat)")
    let declared = Kelvin.run(
      "predict", Kelvin.digits, "--input", "image=\(Kelvin.image("0_0030.png"))", "--normalization", "0:1",
      "--output-dir", folder.path)
    #expect(declared.status == 65 && declared.errors.contains("leave --normalization out"), "\(declared)")
  }
}
