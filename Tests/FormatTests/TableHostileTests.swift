import TestSupport
import Testing

extension HeavyTests {
  /// Operations that expand to tables of numbers: a few bytes of a file request any size.
  @Suite struct TableHostileTests {
    /// A model whose table is as large as a number says; with the one given it is refused.
    struct Case: Sendable, CustomTestStringConvertible {
      let kind: String
      let tooLarge: Int
      let build: @Sendable (inout ONNXFile, Int) -> Void

      var testDescription: String { kind }

      init(_ kind: String, tooLarge: Int, _ build: @escaping @Sendable (inout ONNXFile, Int) -> Void) {
        (self.kind, self.tooLarge, self.build) = (kind, tooLarge, build)
      }

      func file(_ number: Int) -> ONNXFile {
        var file = ONNXFile()
        file.opset = 22
        build(&file, number)
        file.output("y")
        return file
      }
    }

    static let cases = [
      Case("HannWindow", tooLarge: (1 << 31) - 1) { file, size in
        file.input("x", [1])
        file.integers("size", [size], [])
        file.node("HannWindow", ["size"], ["window"])
        file.node("Add", ["x", "window"], ["y"])
      },
      Case("MelWeightMatrix", tooLarge: 1 << 30) { file, bins in
        file.input("x", [1])
        file.integers("bins", [bins], [])
        file.integers("length", [16], [])
        file.integers("rate", [8000], [])
        file.weights("low", [0], [])
        file.weights("high", [4000], [])
        file.node("MelWeightMatrix", ["bins", "length", "rate", "low", "high"], ["mel"])
        file.node("Add", ["x", "mel"], ["y"])
      },
      // A prime: a transform of any other length is split.
      Case("DFT", tooLarge: 300_007) { file, length in
        file.input("x", [1, 4, 1])
        file.integers("length", [length], [])
        file.node("DFT", ["x", "length"], ["y"])
      },
      Case("STFT", tooLarge: 500_000) { file, length in
        file.input("x", [1, 1_000_000, 1])
        file.integers("step", [1], [])
        file.integers("length", [length], [])
        file.node("STFT", ["x", "step", "", "length"], ["y"], ["onesided": .integer(1)])
      },
      Case("Pad", tooLarge: 1 << 30) { file, pad in
        file.input("x", [3])
        file.integers("pads", [pad, pad], [2])
        file.node("Pad", ["x", "pads"], ["y"], ["mode": .text("wrap")])
      },
      Case("Col2Im", tooLarge: 1 << 31) { file, size in
        file.input("x", [1, 1, max(0, min(size, 1 << 20)) * max(0, min(size, 1 << 20))])
        file.integers("image", [size, size], [2])
        file.integers("block", [1, 1], [2])
        file.node("Col2Im", ["x", "image", "block"], ["y"])
      },
      Case("AffineGrid", tooLarge: 1 << 24) { file, size in
        file.input("theta", [1, 2, 3])
        file.integers("size", [1, 1, size, size], [4])
        file.node("AffineGrid", ["theta", "size"], ["y"])
      },
      Case("RoiAlign", tooLarge: 30_000) { file, size in
        file.input("x", [1, 1, 8, 8])
        file.input("boxes", [1, 4])
        file.integers("images", [0], [1])
        file.node(
          "RoiAlign", ["x", "boxes", "images"], ["y"],
          ["output_height": .integer(size), "output_width": .integer(size), "sampling_ratio": .integer(20)])
      },
      Case("DeformConv", tooLarge: 1 << 62) { file, groups in
        // Any number divides no channels.
        let channels = groups > 4 ? 0 : 4
        file.ramp("x", [1, channels, 4, 4])
        file.ramp("filters", [4, channels, 1, 1])
        file.input("moves", [1, 4, 4, 4])
        file.node("DeformConv", ["x", "filters", "moves"], ["y"], ["offset_group": .integer(groups)])
      },
      Case("MaxUnpool", tooLarge: 1 << 31) { file, stride in
        file.input("x", [1, 1, 4])
        file.integers("places", [0, 1, 2, 3], [1, 1, 4])
        file.node(
          "MaxUnpool", ["x", "places"], ["y"], ["kernel_shape": .integers([1]), "strides": .integers([stride])])
      },
      Case("GridSample", tooLarge: 18) { file, axes in
        let axes = max(0, min(axes, 24))
        file.input("x", [1, 1] + [Int](repeating: 2, count: axes))
        file.input("grid", [1] + [Int](repeating: 2, count: axes) + [axes])
        file.node("GridSample", ["x", "grid"], ["y"], ["mode": .text("cubic")])
      },
    ]

    /// A sequence that each node extends by one element and keeps.
    @Test func manyLongSequencesAreRefused() async {
      await #expect(processExitsWith: .success) {
        func file(_ count: Int) -> [UInt8] {
          var file = ONNXFile()
          file.input("x", [1])
          file.node("SequenceConstruct", ["x"], ["s0"])
          for index in 1...count { file.node("SequenceInsert", ["s\(index - 1)", "x"], ["s\(index)"]) }
          file.node("ConcatFromSequence", ["s\(count)"], ["y"], ["axis": .integer(0)])
          file.output("y")
          return file.bytes
        }
        var watch = MemoryWatch()
        #expect(settleONNX(file(100)) == .graph)
        #expect(settleONNX(file(20_000)) == .refused)
        watch.look()
        #expect(watch.isBounded)
      }
    }

    @Test(arguments: Tier.sample(4, of: Array(cases.indices)))
    func tooLargeTableIsRefusedWithoutACrash(index: Int) async {
      await #expect(processExitsWith: .success) { [index] in
        let place = TableHostileTests.cases[index]
        var watch = MemoryWatch()
        #expect(settleONNX(place.file(2).bytes, "\(place.kind) of 2") == .graph)
        #expect(settleONNX(place.file(place.tooLarge).bytes, "\(place.kind) too large") == .refused)
        for number in [Int.min, -(1 << 31), -1, 0, 1, 3, 1 << 31, 1 << 40, 1 << 62, Int.max] {
          #expect(settleONNX(place.file(number).bytes, "\(place.kind) of \(number)") != nil)
        }
        watch.look()
        #expect(watch.isBounded)
      }
    }
  }
}
