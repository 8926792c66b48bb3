import KelvinGraph
import KelvinImport
import KelvinONNX
import KelvinReference
import TestSupport
import Testing

extension ONNXFile {
  /// A node of ONNX Runtime's own domain, from `x` and others to `y`.
  fileprivate static func microsoft(
    _ kind: String, input shape: [Int], _ others: [String] = [], _ attributes: KeyValuePairs<String, Attribute> = [:],
    _ build: (inout ONNXFile) -> Void = { _ in }
  ) -> ONNXFile {
    var file = ONNXFile()
    file.opset = 21
    file.input("x", shape)
    build(&file)
    file.node(kind, ["x"] + others, ["y"], domain: "com.microsoft", attributes)
    file.output("y")
    return file
  }

  fileprivate mutating func bytes(_ name: String, _ shape: [Int]) {
    let count = shape.reduce(1, *)
    initializer(Self.tensor(name, bytes: (0..<count).map { UInt8(truncatingIfNeeded: 37 * $0) }, shape))
  }
}

extension HeavyTests {
  /// Operators of ONNX Runtime's own domain with numbers from a hostile file.
  @Suite struct MicrosoftHostileTests {
    struct Case: Sendable, CustomTestStringConvertible {
      let kind: String
      /// A number with which the model is valid, and one with which it is refused.
      let (fitting, tooLarge): (Int, Int)
      let file: @Sendable (Int) -> ONNXFile

      var testDescription: String { kind }

      init(_ kind: String, _ fitting: Int, tooLarge: Int, _ file: @escaping @Sendable (Int) -> ONNXFile) {
        self.kind = kind
        (self.fitting, self.tooLarge) = (fitting, tooLarge)
        self.file = file
      }
    }

    /// A size that a test can write into a file.
    private static func size(_ number: Int) -> Int { max(0, min(number, 1 << 20)) }

    private static func product(rows: Int, depth: Int, block: Int, bits: Int) -> ONNXFile {
      .microsoft(
        "MatMulNBits", input: [2, 32], ["w", "s"],
        ["N": .integer(rows), "K": .integer(depth), "block_size": .integer(block), "bits": .integer(bits)]
      ) { file in
        file.bytes("w", [3, 2, 8])
        file.ramp("s", [3, 2])
      }
    }

    static let cases = [
      Case("MatMulNBits: N", 3, tooLarge: 1 << 40) { product(rows: $0, depth: 32, block: 16, bits: 4) },
      Case("MatMulNBits: K", 32, tooLarge: (1 << 31) - 1) { product(rows: 3, depth: $0, block: 16, bits: 4) },
      Case("MatMulNBits: block_size", 16, tooLarge: 1 << 30) { product(rows: 3, depth: 32, block: $0, bits: 4) },
      Case("MatMulNBits: bits", 4, tooLarge: 8) { product(rows: 3, depth: 32, block: 16, bits: $0) },
      Case("MatMulBnb4: N", 3, tooLarge: 1 << 30) { rows in
        .microsoft(
          "MatMulBnb4", input: [2, 32], ["w", "s"],
          ["N": .integer(rows), "K": .integer(32), "block_size": .integer(16), "quant_type": .integer(1)]
        ) { file in
          file.bytes("w", [48])
          file.ramp("s", [6])
        }
      },
      Case("GatherBlockQuantized: quantize_axis", 1, tooLarge: 2) { axis in
        var file = ONNXFile()
        file.input("x", [32])
        file.bytes("w", [5, 16])
        file.integers("i", [0, 4], [2])
        file.ramp("s", [5, 2])
        file.node(
          "GatherBlockQuantized", ["w", "i", "s"], ["rows"], domain: "com.microsoft",
          ["quantize_axis": .integer(axis), "block_size": .integer(16)])
        file.node("Add", ["rows", "x"], ["y"])
        file.output("y")
        return file
      },
      Case("Attention: num_heads", 2, tooLarge: 1 << 40) { heads in
        .microsoft("Attention", input: [1, 3, 4], ["w"], ["num_heads": .integer(heads)]) { $0.ramp("w", [4, 12]) }
      },
      Case("MultiHeadAttention: queries", 3, tooLarge: 1 << 20) { queries in
        .microsoft(
          "MultiHeadAttention", input: [1, size(queries), 4], ["x", "x"],
          ["num_heads": .integer(2), "unidirectional": .integer(1)])
      },
      Case("GroupQueryAttention: total_sequence_length", 3, tooLarge: 1 << 40) { total in
        .microsoft(
          "GroupQueryAttention", input: [1, 3, 8], ["", "", "", "", "lengths", "total"],
          ["num_heads": .integer(2), "kv_num_heads": .integer(1)]
        ) { file in
          file.integers("lengths", [2], [1])
          file.integers("total", [total], [])
        }
      },
      Case("GroupQueryAttention: kv_num_heads", 1, tooLarge: 1 << 62) { heads in
        .microsoft(
          "GroupQueryAttention", input: [1, 3, 8], ["", "", "", "", "lengths", "total"],
          ["num_heads": .integer(2), "kv_num_heads": .integer(heads), "local_window_size": .integer(heads)]
        ) { file in
          file.integers("lengths", [2], [1])
          file.integers("total", [3], [])
        }
      },
      Case("DecoderMaskedMultiHeadAttention: past_sequence_length", 2, tooLarge: 5) { length in
        .microsoft(
          "DecoderMaskedMultiHeadAttention", input: [1, 1, 4], ["x", "x", "", "", "cache", "cache", "length"],
          ["num_heads": .integer(2), "past_present_share_buffer": .integer(1)]
        ) { file in
          file.ramp("cache", [1, 2, 5, 2])
          file.integers("length", [length], [1])
        }
      },
      Case("RotaryEmbedding: rotary_embedding_dim", 4, tooLarge: 1 << 40) { width in
        .microsoft(
          "RotaryEmbedding", input: [1, 2, 3, 4], ["places", "c", "c"], ["rotary_embedding_dim": .integer(width)]
        ) { file in
          file.integers("places", [1], [1])
          file.ramp("c", [6, 2])
        }
      },
      Case("NGramRepeatBlock: ngram_size", 2, tooLarge: -1) { size in
        var file = ONNXFile()
        file.integers("ids", [1, 2, 1, 2], [1, 4])
        file.input("x", [1, 5])
        file.node("NGramRepeatBlock", ["ids", "x"], ["y"], domain: "com.microsoft", ["ngram_size": .integer(size)])
        file.output("y")
        return file
      },
      Case("RelativePositionBias: lengths", 4, tooLarge: 1 << 20) { length in
        .microsoft("RelativePositionBias", input: [8, 2], ["n", "n"], ["max_distance": .integer(32)]) {
          $0.integers("n", [length], [1])
        }
      },
      Case("RelativePositionBias: max_distance", 32, tooLarge: 1 << 31) { distance in
        .microsoft("RelativePositionBias", input: [8, 2], ["n", "n"], ["max_distance": .integer(distance)]) {
          $0.integers("n", [40], [1])
        }
      },
      Case("CropAndResize: crop_size", 3, tooLarge: 1 << 20) { size in
        .microsoft("CropAndResize", input: [1, 1, 4, 4], ["boxes", "images", "size"]) { file in
          file.ramp("boxes", [1, 4])
          file.integers("images", [0], [1])
          file.integers("size", [size, size], [2])
        }
      },
      Case("Inverse: size", 3, tooLarge: 65) { .microsoft("Inverse", input: [size($0), size($0)]) },
      // A prime: a transform of any other length is split.
      Case("Rfft: length", 8, tooLarge: 300_007) { .microsoft("Rfft", input: [1, size($0)]) },
      Case("GroupNorm: groups", 2, tooLarge: 1 << 62) { groups in
        .microsoft(
          "GroupNorm", input: [1, 2, 2, 4], ["g", "g"], ["groups": .integer(groups), "activation": .integer(1)]
        ) { $0.ramp("g", [4]) }
      },
      Case("MoE: k", 2, tooLarge: 4) { chosen in
        .microsoft("MoE", input: [2, 4], ["r", "a", "", "b"], ["k": .integer(chosen)]) { file in
          file.input("r", [2, 3])
          file.ramp("a", [3, 6, 4])
          file.ramp("b", [3, 4, 6])
        }
      },
      Case("QMoE: block_size", 16, tooLarge: 1 << 40) { block in
        .microsoft("QMoE", input: [2, 16], ["r", "a", "s", "", "b", "s"], ["block_size": .integer(block)]) { file in
          file.input("r", [2, 3])
          file.bytes("a", [3, 16, 8])
          file.bytes("b", [3, 16, 8])
          file.ramp("s", [3, 16, 1])
        }
      },
      Case("PackedMultiHeadAttention: places", 3, tooLarge: 1) { places in
        .microsoft(
          "PackedMultiHeadAttention", input: [4, 4], ["x", "x", "", "offsets", "counts"], ["num_heads": .integer(2)]
        ) { file in
          file.input("offsets", [2, size(places)], type: ONNXFile.int32)
          file.input("counts", [3], type: ONNXFile.int32)
        }
      },
    ]

    @Test(arguments: Tier.sample(6, of: Array(cases.indices)))
    func extremeNumbersAreRefusedWithoutACrash(index: Int) async {
      await #expect(processExitsWith: .success) { [index] in
        let place = MicrosoftHostileTests.cases[index]
        var watch = MemoryWatch()
        #expect(settleONNX(place.file(place.fitting).bytes, "\(place.kind) of \(place.fitting)") == .graph)
        #expect(settleONNX(place.file(place.tooLarge).bytes, "\(place.kind) of \(place.tooLarge)") == .refused)
        for number in [Int.min, -(1 << 31), -1, 0, 1, 3, 16, 1 << 20, 1 << 31, 1 << 40, 1 << 62, Int.max] {
          #expect(settleONNX(place.file(number).bytes, "\(place.kind) of \(number)") != nil)
        }
        watch.look()
        #expect(watch.isBounded)
      }
    }
  }
}

/// Unsupported operators of ONNX Runtime's domain are refused by name.
@Suite struct MicrosoftRefusalTests {
  private func refusal(_ file: ONNXFile) -> FormatError? {
    do {
      _ = try readONNX(Bytes(file.bytes), path: "m.onnx").graph()
      return nil
    } catch { return error as? FormatError }
  }

  private func expect(_ file: ONNXFile, _ words: String) {
    let error = refusal(file)
    #expect(error?.code == .unsupported, "\(words): \(String(describing: error))")
    #expect("\(String(describing: error))".contains(words))
  }

  @Test func unsupportedAttentionOptionsAreNamed() {
    expect(
      .microsoft("Attention", input: [1, 3, 4], ["w"], ["num_heads": .integer(2), "do_rotary": .integer(1)]) {
        $0.ramp("w", [4, 12])
      }, "do_rotary")
    expect(
      .microsoft(
        "GroupQueryAttention", input: [1, 3, 8], ["", "", "", "", "lengths", "total"],
        ["num_heads": .integer(2), "kv_num_heads": .integer(1), "k_quant_type": .text("PER_TENSOR")]
      ) { file in
        file.integers("lengths", [2], [1])
        file.integers("total", [3], [])
      }, "k_quant_type")
    expect(
      .microsoft(
        "RotaryEmbedding", input: [1, 2, 3, 4], ["places", "c", "c"], ["is_packed_batching": .integer(1)]
      ) { file in
        file.integers("places", [1], [1])
        file.ramp("c", [6, 2])
      }, "is_packed_batching")
  }

  @Test func unsupportedActivationsAndMetricsAreNamed() {
    expect(
      .microsoft("FusedConv", input: [1, 2, 5, 5], ["w"], ["activation": .text("Mish")]) {
        $0.ramp("w", [2, 2, 3, 3])
      },
      "'Mish'")
    expect(.microsoft("CDist", input: [2, 3], ["x"], ["metric": .text("cosine")]), "'cosine'")
  }
}
