import CKelvin
import Glibc

extension FuzzTarget {
  /// The functions of `kelvin.h` that take arrays and images. Bytes choose the arguments. The memory behind them is as
  /// large as the contract demands; where that is more than the target allocates, no call reads it.
  static let interface = [
    FuzzTarget("carray", CallRefusal.self, longest: 128, trials: 200, seeds: ChosenArray.seeds) { bytes in
      var choices = ByteChoices(bytes)
      let flags = choices.byte()
      let input = ChosenArray(&choices)
      let output = ChosenArray(&choices)
      try withFeatures { features in
        try check { kelvin_features_set_array(features, flags & 1 == 0 ? "x" : nil, input.pointer, $0) }
        var seen = kelvin_array()
        try check { kelvin_features_get_array(features, "x", &seen, $0) }
        precondition(input.isSame(seen), "another array is returned")
        try check { kelvin_features_set_arrays(features, "x", input.pointer, 1, $0) }
      }
      guard let input = input.readable, let output = output.readable else { return }
      try SmallModels.array.with { model in
        try ["x", "y"].withTexts { names in
          try check {
            kelvin_predict_arrays(model, names, input, 1, names + 1, output, 1, nil, nil, $0)
          }
        }
      }
    },
    FuzzTarget("cframe", CallRefusal.self, longest: 64, trials: 200, seeds: ChosenFrame.seeds) { bytes in
      var choices = ByteChoices(bytes)
      let (flags, orientation, fit) = (choices.byte(), choices.signed(), kelvin_fit(choices.signed()))
      let image = ChosenFrame(&choices)
      try withFeatures { features in
        let name: String? = flags & 1 == 0 ? "image" : nil
        if flags & 2 == 0 {
          try check { kelvin_features_set_frame(features, name, image.pointer, orientation, fit, $0) }
        } else {
          try check { kelvin_features_set_image(features, name, image.buffer, orientation, fit, $0) }
        }
        guard image.isReadable else { return }
        var seen = kelvin_frame()
        try check { kelvin_features_get_frame(features, "image", &seen, $0) }
        precondition(seen.width > 0 && seen.height > 0 && seen.planes.0.data != nil)
        try SmallModels.image.with { model in
          try withFeatures { outputs in
            try check { kelvin_predict(model, features, outputs, nil, nil, $0) }
          }
        }
      }
    },
  ]

  private static func withFeatures(_ body: (OpaquePointer?) throws -> Void) throws {
    let features = kelvin_features_new()
    precondition(features != nil)
    defer { kelvin_features_release(features) }
    try body(features)
  }
}

/// The error of a call.
private struct CallRefusal: Error, CustomStringConvertible {
  let description: String
}

/// Makes a call, which either succeeds or has an error with a reason.
private func check(_ call: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> kelvin_code) throws(CallRefusal) {
  var text: UnsafeMutablePointer<CChar>?
  let code = call(&text)
  defer { kelvin_free(text) }
  guard Int(code) != KELVIN_OK else { return precondition(text == nil, "an error after success") }
  throw CallRefusal(description: text.map { String(cString: $0) } ?? "")
}

extension [String] {
  /// Calls `body` with C strings that are valid during the call.
  fileprivate func withTexts(_ body: (UnsafePointer<UnsafePointer<CChar>?>) throws -> Void) rethrows {
    let texts = map { UnsafePointer<CChar>(strdup($0)) }
    defer { texts.forEach { free(UnsafeMutableRawPointer(mutating: $0)) } }
    try texts.withUnsafeBufferPointer { if let base = $0.baseAddress { try body(base) } }
  }
}

/// Models with one array and with one image as input.
private struct SmallModels {
  /// The sum of `x` and a constant, both 2 × 3 float32.
  static let array = SmallModels {
    let model = SmallNetwork.sum(withConstant: SmallNetwork.tensor(elements: [UInt8](repeating: 0, count: 24)))
    return kelvin_model_load_bytes(model, model.count, nil, 0, $0, nil, $1, $2)
  }
  static let image = SmallModels {
    kelvin_model_load("\(Seeds.root)/Examples/Digits/Digits.mlpackage", $0, nil, $1, $2)
  }

  private typealias Load = (
    OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  ) -> kelvin_code

  nonisolated(unsafe) private let model: OpaquePointer?

  private init(_ load: Load) {
    let options = kelvin_options_new()
    defer { kelvin_options_release(options) }
    var model: OpaquePointer?
    do {
      for (name, value) in [("units", "cpu-only"), ("no-cache", "true"), ("threads", "1")] {
        try check { kelvin_options_set(options, name, value, $0) }
      }
      try check { load(options, &model, $0) }
    } catch { fatalError("\(error)") }
    self.model = model
  }

  func with(_ body: (OpaquePointer?) throws -> Void) throws { try body(model) }
}

/// An array whose description bytes choose.
private final class ChosenArray {
  private static let sizes: [Int32: Int] = [
    1: 8, 2: 4, 3: 2, 4: 8, 5: 4, 6: 2, 7: 1, 8: 8, 9: 4, 10: 2, 11: 1, 12: 1,
  ]
  /// A dense array of 2 × 3 float32, and one in every second place, each with a dense output.
  static var seeds: [[UInt8]] {
    let dense: [UInt8] = [2, 4, 2, 2, 3]
    return [[0] + dense + dense, [0, 2, 0, 2, 2, 3, 12, 2] + dense]
  }

  /// The array in C; nil for NULL.
  let pointer: UnsafePointer<kelvin_array>?
  /// The same if all of its elements are in memory.
  private(set) var readable: UnsafePointer<kelvin_array>?
  private let array = UnsafeMutablePointer<kelvin_array>.allocate(capacity: 1)
  private var memory: [ExactMemory] = []

  /// A type, flags, a rank, its sizes and its strides.
  init(_ choices: inout ByteChoices) {
    let (type, flags, rank) = (choices.signed(), choices.byte(), choices.signed())
    let count = (0...64).contains(rank) ? Int(rank) : 0
    let shape = (0..<count).map { _ in choices.size() }
    let strides = flags & 4 == 0 ? (0..<count).map { _ in choices.size() } : nil
    let byteCount = Self.byteCount(type, shape, strides)
    let isMissing = flags & 1 != 0
    memory.append(ExactMemory(byteCount: byteCount ?? 1, offset: flags & 8 == 0 ? 0 : 1))
    array.initialize(
      to: kelvin_array(
        data: isMissing ? nil : memory[0].base, type: type, rank: rank, shape: nil, strides: nil))
    pointer = flags & 16 == 0 ? UnsafePointer(array) : nil
    if flags & 2 == 0 { array.pointee.shape = place(shape) }
    array.pointee.strides = strides.map { place($0) }
    readable = byteCount == nil ? nil : pointer
  }

  deinit { array.deallocate() }

  private func place(_ numbers: [Int64]) -> UnsafePointer<Int64> {
    let place = ExactMemory(byteCount: 8 * numbers.count)
    memory.append(place)
    let base = place.base.bindMemory(to: Int64.self, capacity: numbers.count)
    base.update(from: numbers, count: numbers.count)
    return UnsafePointer(base)
  }

  /// The bytes from the first to the last element; nil if these are too many, or if the description is invalid.
  private static func byteCount(_ type: Int32, _ shape: [Int64], _ strides: [Int64]?) -> Int? {
    guard let size = sizes[type], shape.allSatisfy({ $0 >= 0 }) else { return nil }
    if shape.contains(0) { return 0 }
    var (last, dense): (Int64, Int64) = (0, 1)
    for index in shape.indices.reversed() {
      let stride = strides?[index] ?? dense
      let (step, overflow) = (shape[index] - 1).multipliedReportingOverflow(by: stride)
      let (product, overflows) = dense.multipliedReportingOverflow(by: shape[index])
      guard stride >= 0, !overflow, !overflows, step <= ExactMemory.limit, product <= ExactMemory.limit else {
        return nil
      }
      (last, dense) = (last + step, product)
    }
    let bytes = (Int(last) + 1) * size
    return bytes <= ExactMemory.limit ? bytes : nil
  }

  /// Whether an array that the library returns is this one.
  func isSame(_ other: kelvin_array) -> Bool {
    let own = array.pointee
    guard own.type == other.type, own.rank == other.rank, own.data == other.data || own.data == nil else {
      return false
    }
    return (0..<Int(own.rank)).allSatisfy { index in
      own.shape[index] == other.shape[index]
        && (own.strides.map { $0[index] == other.strides[index] } ?? true)
    }
  }
}

/// An image whose description bytes choose.
private final class ChosenFrame {
  /// Bytes of a pixel by format; those after the last have two planes.
  private static let pixelBytes: [Int32: Int] = [1: 3, 2: 4, 3: 4, 4: 1, 5: 4, 6: 2, 7: 4, 8: 8, 9: 16]
  private static let planar: ClosedRange<Int32> = 10...13
  /// The size and the formats of frames that are fitted and of one that has the model's size.
  static var seeds: [[UInt8]] {
    [[0, 1, 2, 1, 0, 64, 64], [0, 1, 3, 12, 0, 7, 5, 8, 8], [2, 6, 1, 3, 0, 9, 4, 48], [0, 1, 1, 8, 0, 3, 3]]
  }

  let pointer: UnsafePointer<kelvin_frame>?
  let buffer: UnsafePointer<kelvin_image_buffer>?
  /// Whether all rows are in memory.
  let isReadable: Bool
  private let frame = UnsafeMutablePointer<kelvin_frame>.allocate(capacity: 1)
  private let image = UnsafeMutablePointer<kelvin_image_buffer>.allocate(capacity: 1)
  private let planes: [ExactMemory]

  /// A format, flags, a width, a height, and the distances of rows.
  init(_ choices: inout ByteChoices) {
    let (format, flags) = (kelvin_pixels(choices.signed()), choices.byte())
    let width = Int32(truncatingIfNeeded: choices.size())
    let height = Int32(truncatingIfNeeded: choices.size())
    let distances = [choices.size(), choices.size()]
    let counts = Self.byteCounts(format, Int(width), Int(height), distances)
    let isReadable = !counts.contains(nil) && !counts.isEmpty
    self.isReadable = isReadable
    planes = [0, 1].map { index in
      let count = isReadable && index < counts.count ? counts[index] : nil
      return ExactMemory(byteCount: count ?? 1, offset: flags & 8 == 0 ? 0 : 1)
    }
    var value = kelvin_frame()
    (value.format, value.width, value.height) = (format, width, height)
    let hasTwo = Self.planar.contains(format) != (flags & 2 != 0)
    value.planes.0 = kelvin_plane(data: flags & 1 == 0 ? planes[0].base : nil, bytes_per_row: distances[0])
    value.planes.1 = kelvin_plane(data: hasTwo ? planes[1].base : nil, bytes_per_row: distances[1])
    frame.initialize(to: value)
    image.initialize(
      to: kelvin_image_buffer(
        data: flags & 1 == 0 ? planes[0].base : nil, format: format, width: width, height: height,
        bytes_per_row: distances[0]))
    pointer = flags & 16 == 0 ? UnsafePointer(frame) : nil
    buffer = flags & 16 == 0 ? UnsafePointer(image) : nil
  }

  deinit {
    frame.deallocate()
    image.deallocate()
  }

  /// The bytes of each plane, from its first row to the end of its last; nil where these are too many or invalid.
  private static func byteCounts(_ format: Int32, _ width: Int, _ height: Int, _ distances: [Int64]) -> [Int?] {
    let sizes =
      planar.contains(format)
      ? [(width, height), ((width + 1) / 2 * 2, (height + 1) / 2)]
      : pixelBytes[format].map { [($0 * width, height)] } ?? []
    return zip(sizes, distances).map { size, distance in
      let (row, rows) = size
      let step = distance == 0 ? Int64(row) : distance
      guard row > 0, rows > 0, row <= ExactMemory.limit, rows <= ExactMemory.limit, step >= row,
        step <= Int64(ExactMemory.limit)
      else { return nil }
      let bytes = (rows - 1) * Int(step) + row
      return bytes <= ExactMemory.limit ? bytes : nil
    }
  }
}
