import KelvinGraph
import KelvinHostOperations
import KelvinImages
import TestSupport
import Testing

/// Host operations between sequences and graphs, and from an image's bytes to its pixels.
@Suite struct SequenceTests {
  private func tensor(_ value: HostValue?) -> Tensor? { if case .tensor(let tensor)? = value { tensor } else { nil } }

  @Test func splitSequenceRoundTrips() throws {
    let shapes: [Shape] = [[2, 3], [], [0, 4], [5]]
    let tensors = shapes.enumerated().map { place, shape in
      Tensor(TensorType(.float32, shape), rounding: (0..<shape.count).map { Double(10 * place + $0) })
    }
    let parts = try SequenceParts(of: "x", .float32, mark: "#").run([.sequence(tensors.map { .tensor($0) })])
    #expect(tensor(parts[0])?.type == TensorType(.float32, [12]))
    #expect(tensor(parts[1])?.integers == [2, 4, 2, 2, 3, 0, 2, 0, 4, 1, 5])
    guard case .sequence(let found) = try SequenceOfParts("x", mark: "#").run(parts)[0] else {
      Issue.record("it is no sequence")
      return
    }
    #expect(found.map { tensor($0)?.type.shape } == shapes)
    #expect(found.map { tensor($0)?.floats } == tensors.map(\.floats))
  }

  @Test func optionalValueIsPresentOrAbsent() throws {
    let step = SequenceParts(of: "x", .int64, mark: "#")
    let absent = try SequenceOfParts("x", mark: "#").run(try step.run([.absent]))[0]
    #expect(absent.type == .absent)
    let given = try SequenceOfParts("x", mark: "#").run(try step.run([.tensor(Tensor([1.5, 2] as [Float], [2]))]))[0]
    #expect(tensor(given)?.words == [1, 2])
    #expect(throws: HostOperationError.self) { try step.run([.strings(StringTensor(["a"], [1]))]) }
    #expect(throws: HostOperationError.self) { try step.run([.sequence([.absent])]) }
  }

  @Test(arguments: [
    [], [3], [2], [2, -1], [2, 2, 1, 4], [2, 1, 5, 1], [1, 0], [1, 2, 0, 0], [0, 1, 0], [2, 1, 1, -4],
    [2, 1, 2, 1 << 40, 1 << 40], [2, 2, 1, 1 << 62, 1, 1 << 62], [2, 1, 1, 5],
  ])
  func invalidLayoutIsRefused(integers: [Int64]) {
    let elements = HostValue.tensor(Tensor([1, 2, 3, 4] as [Float], [4]))
    let layout = HostValue.tensor(Tensor(integers, [integers.count]))
    #expect(throws: HostOperationError.self) { try SequenceOfParts("x", mark: "#").run([elements, layout]) }
  }

  @Test func encodedImageBecomesPixels() throws {
    let colors: [UInt8] = [255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30, 255, 255, 255, 0, 0, 0]
    let file = try ImageCodec.encode(PixelBuffer(width: 3, height: 2, format: .rgb8, bytes: colors))
    let bytes = HostValue.tensor(Tensor(TensorType(.uint8, [file.count]), Bytes(file)))
    func pixels(_ channels: ImageDecoding.Channels) throws -> Tensor? {
      tensor(try ImageDecoding(channels, input: "x", output: "y").run([bytes])[0])
    }
    #expect(try pixels(.rgb)?.type == TensorType(.uint8, [2, 3, 3]))
    #expect(try pixels(.rgb)?.integers == colors.map(Int.init))
    #expect(try pixels(.bgr)?.integers.prefix(6) == [0, 0, 255, 0, 255, 0])
    #expect(try pixels(.grayscale)?.type == TensorType(.uint8, [2, 3, 1]))
    #expect(try pixels(.grayscale)?.integers == [76, 150, 29, 18, 255, 0])
    let torn = HostValue.tensor(Tensor(TensorType(.uint8, [20]), Bytes(Array(file.prefix(20)))))
    #expect(throws: HostOperationError.self) { try ImageDecoding(.rgb, input: "x", output: "y").run([torn]) }
  }
}
