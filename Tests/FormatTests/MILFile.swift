/// Writes ML Programs inside Core ML models. Field numbers are those of MIL.proto, Model.proto and FeatureTypes.proto.
struct MILFile {
  static let (bool, string, float16, float32, int32, int64) = (1, 2, 10, 11, 23, 24)
  /// The multi-array types of feature descriptions.
  private static let float32Array = 65568

  private var functionInputs = Wire()
  private var operations = Wire()
  private var description = Wire()
  var outputs: [String] = []
  var opset = "CoreML6"
  private(set) var blobs = WeightFile()

  static func type(_ dataType: Int, _ shape: [Int]) -> [UInt8] {
    Wire.message {
      $0.message(1) {
        $0.integer(1, dataType)
        $0.integer(2, shape.count)
        for size in shape { $0.message(3) { $0.message(1) { $0.integer(1, size) } } }
      }
    }
  }

  private static func named(_ name: String, _ dataType: Int, _ shape: [Int]) -> [UInt8] {
    Wire.message {
      $0.text(1, name)
      $0.bytes(2, type(dataType, shape))
    }
  }

  mutating func input(_ name: String, _ shape: [Int], type: Int = float32) {
    functionInputs.bytes(1, Self.named(name, type, shape))
    description.message(1) {
      $0.text(1, name)
      $0.message(3) {
        $0.message(5) {
          $0.packed(1, shape)
          $0.integer(2, Self.float32Array)
        }
      }
    }
  }

  /// - Parameter value: the fields of a `Value` besides its type.
  mutating func constant(_ name: String, _ dataType: Int, _ shape: [Int], _ value: [UInt8]) {
    operations.message(3) {
      $0.text(1, "const")
      $0.bytes(3, Self.named(name, dataType, shape))
      $0.message(5) {
        $0.text(1, "val")
        $0.message(2) {
          $0.bytes(2, Self.type(dataType, shape))
          $0.append(value)
        }
      }
    }
  }

  static func immediate(_ tensor: (inout Wire) -> Void) -> [UInt8] {
    Wire.message { $0.message(3) { $0.message(1, tensor) } }
  }

  static func blob(_ file: String, offset: Int) -> [UInt8] {
    Wire.message {
      $0.message(5) {
        $0.text(1, file)
        $0.integer(2, offset)
      }
    }
  }

  mutating func integers(_ name: String, _ values: [Int], scalar: Bool = false) {
    constant(name, Self.int32, scalar ? [] : [values.count], Self.immediate { $0.message(2) { $0.packed(1, values) } })
  }

  mutating func longs(_ name: String, _ values: [Int], scalar: Bool = false) {
    constant(name, Self.int64, scalar ? [] : [values.count], Self.immediate { $0.message(5) { $0.packed(1, values) } })
  }

  mutating func flag(_ name: String, _ value: Bool) {
    constant(name, Self.bool, [], Self.immediate { $0.message(3) { $0.packed(1, [value ? 1 : 0]) } })
  }

  mutating func text(_ name: String, _ value: String) {
    constant(name, Self.string, [], Self.immediate { $0.message(4) { $0.text(1, value) } })
  }

  mutating func number(_ name: String, _ value: Float) {
    constant(name, Self.float32, [], Self.immediate { $0.message(1) { $0.bytes(1, littleEndian([value])) } })
  }

  /// Float weights in the weight file.
  mutating func weights(_ name: String, _ shape: [Int]) {
    let count = shape.reduce(1, *)
    let offset = blobs.add(type: 2, littleEndian((0..<count).map { Float($0 % 5) / 5 - 0.3 }))
    constant(name, Self.float32, shape, Self.blob("@model_path/weights/weight.bin", offset: offset))
  }

  /// - Parameter also: inputs bound to values of their own names.
  mutating func operation(
    _ kind: String, _ inputs: KeyValuePairs<String, [String]>, also: [String] = [], _ output: String, _ shape: [Int],
    type: Int = float32, blocks: [[UInt8]] = []
  ) {
    operations.message(3) {
      $0.text(1, kind)
      for (name, values) in inputs.map({ ($0.key, $0.value) }) + also.map({ ($0, [$0]) }) {
        $0.message(2) {
          $0.text(1, name)
          $0.message(2) { for value in values { $0.message(1) { $0.text(1, value) } } }
        }
      }
      $0.bytes(3, Self.named(output, type, shape))
      for block in blocks { $0.bytes(4, block) }
    }
  }

  mutating func output(_ name: String, _ shape: [Int]) {
    outputs.append(name)
    description.message(10) {
      $0.text(1, name)
      $0.message(3) {
        $0.message(5) {
          $0.packed(1, shape)
          $0.integer(2, Self.float32Array)
        }
      }
    }
  }

  var block: [UInt8] {
    Wire.message {
      for output in outputs { $0.text(2, output) }
      $0.append(operations.bytes)
    }
  }

  var bytes: [UInt8] {
    Wire.message {
      $0.integer(1, 7)
      $0.bytes(2, description.bytes)
      $0.message(502) {
        $0.integer(1, 1)
        $0.message(2) {
          $0.text(1, "main")
          $0.message(2) {
            $0.append(functionInputs.bytes)
            $0.text(2, opset)
            $0.message(3) {
              $0.text(1, opset)
              $0.bytes(2, block)
            }
          }
        }
      }
    }
  }
}

/// Writes `weight.bin`: a header of 64 bytes, then records of 64 bytes, each with its elements behind it.
struct WeightFile {
  var bytes: [UInt8] = littleEndian(UInt32(0)) + littleEndian(UInt32(2)) + [UInt8](repeating: 0, count: 56)

  /// - Returns: the record's position.
  mutating func add(type: UInt32, _ elements: [UInt8], sentinel: UInt32 = 0xDEAD_BEEF) -> Int {
    bytes += [UInt8](repeating: 0, count: (64 - bytes.count % 64) % 64)
    let record = bytes.count
    bytes += littleEndian(sentinel) + littleEndian(type) + littleEndian(UInt64(elements.count))
    bytes += littleEndian(UInt64(record + 64)) + [UInt8](repeating: 0, count: 40) + elements
    return record
  }
}

extension MILFile {
  /// As many kinds of operation and constant as fit in a few kilobytes.
  static let manifold: MILFile = {
    var file = MILFile()
    file.input("x", [1, 4, 6, 6])
    file.weights("w", [4, 2, 3, 3])
    file.weights("vector", [4])
    file.weights("matrix", [5, 6])
    file.text("same", "same")
    file.integers("two", [2, 2])
    file.integers("groups", [2], scalar: true)
    file.integers("minus_one", [-1], scalar: true)
    file.integers("one", [1], scalar: true)
    file.number("epsilon", 4)
    file.number("zero", 0)
    file.number("six", 6)
    file.flag("yes", true)
    file.integers("last", [-1])
    file.integers("begin", [0, 1, 0, -1])
    file.integers("end", [1, 3, 3, -7])
    file.integers("stride", [1, 1, 1, -1])
    file.integers("perm", [0, 2, 1, 3])
    file.integers("flat", [0, 12, -1])
    file.integers("amounts", [1, 1, 0, 2])
    file.integers("reps", [1, 1, 2])
    file.operation(
      "conv", ["x": ["x"], "weight": ["w"], "pad_type": ["same"], "groups": ["groups"], "bias": ["vector"]], "conv",
      [1, 4, 6, 6])
    file.operation(
      "batch_norm", ["x": ["conv"], "mean": ["vector"], "variance": ["vector"], "epsilon": ["epsilon"]], "bn",
      [1, 4, 6, 6])
    file.operation("clip", ["x": ["bn"], "alpha": ["zero"], "beta": ["six"]], "clip", [1, 4, 6, 6])
    file.operation(
      "avg_pool", ["x": ["clip"], "kernel_sizes": ["two"], "strides": ["two"], "pad_type": ["same"]], "pool",
      [1, 4, 3, 3])
    file.operation(
      "slice_by_index", ["x": ["clip"], "begin": ["begin"], "end": ["end"], "stride": ["stride"]], "slice",
      [1, 2, 3, 6])
    file.operation("transpose", ["x": ["clip"], "perm": ["perm"]], "turned", [1, 6, 4, 6])
    file.operation("reshape", ["x": ["turned"], "shape": ["flat"]], "flattened", [1, 12, 12])
    file.operation("pad", ["x": ["flattened"], "pad": ["amounts"]], "padded", [1, 14, 14])
    file.operation("tile", ["x": ["padded"], "reps": ["reps"]], "tiled", [1, 14, 28])
    file.operation("reduce_mean", ["x": ["tiled"], "axes": ["last"], "keep_dims": ["yes"]], "mean", [1, 14, 1])
    file.operation("linear", ["x": ["turned"], "weight": ["matrix"]], "linear", [1, 6, 4, 5])
    file.operation("softmax", ["x": ["linear"], "axis": ["minus_one"]], "soft", [1, 6, 4, 5])
    file.operation(
      "reduce_argmax", ["x": ["soft"], "axis": ["minus_one"], "keep_dims": ["yes"]], "best", [1, 6, 4, 1], type: int32)
    file.operation(
      "concat", ["values": ["pool", "pool"], "axis": ["one"], "interleave": ["yes"]], "joined", [1, 8, 3, 3])
    file.operation("expand_dims", ["x": ["joined"], "axes": ["last"]], "raised", [1, 8, 3, 3, 1])
    for (name, shape) in [("slice", [1, 2, 3, 6]), ("mean", [1, 14, 1]), ("raised", [1, 8, 3, 3, 1])] {
      file.output(name, shape)
    }
    file.output("soft", [1, 6, 4, 5])
    file.output("best", [1, 6, 4, 1])
    return file
  }()
}
