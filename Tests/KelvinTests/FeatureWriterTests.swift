import Kelvin
import KelvinGraph
import KelvinImport
import TestSupport
import Testing

@Suite struct FeatureWriterTests {
  @Test func grayFloatImageKeepsItsValues() throws {
    let folder = TemporaryFolder()
    let numbers: [Float] = [10, 200, 100, -255.5, 0, 0.25]
    let half = Tensor(numbers, [1, 1, 2, 3]).converted(to: .float16)
    let formats: [(PixelFormat, Tensor)] = [(.gray16Half, half), (.gray32Float, Tensor(numbers, [1, 1, 2, 3]))]
    for (format, tensor) in formats {
      let pixels = try PixelBuffer(
        width: 3, height: 2, format: format, bytes: tensor.bytes.withUnsafeBytes { [UInt8]($0) })
      let features = DictionaryFeatureProvider(dictionary: ["y": FeatureValue(pixelBuffer: pixels)])
      let written = try FeatureWriter(folder: folder.path).write(features, order: ["y"])
      let output = try #require(written.first).output
      #expect(output.file == "\(folder.path)/y.npy" && output.shape == [2, 3, 1] && output.type == "image")
      let read = try NPY.read(Bytes(TemporaryFolder.read("\(folder.path)/y.npy")), name: "y.npy")
      #expect(read.type == tensor.type && read.floats == numbers)
    }
  }
}
