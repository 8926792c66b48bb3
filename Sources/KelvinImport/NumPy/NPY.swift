package import KelvinGraph

/// The NumPy array format. Reference: numpy.org, "numpy.lib.format".
package enum NPY {
  private static let magic: [UInt8] = [0x93, 0x4E, 0x55, 0x4D, 0x50, 0x59]

  /// Reads an array. Its elements stay in `bytes`.
  ///
  /// - Parameter name: The name of the array in errors.
  /// - Throws: `FormatError` unless the array is little-endian and row-major and holds numbers or booleans.
  package static func read(_ bytes: Bytes, name: String) throws(FormatError) -> Tensor {
    func malformed(_ reason: String, remedy: String? = nil) -> FormatError {
      FormatError(.malformed, file: name, reason, remedy: remedy)
    }
    let start = bytes.slice(offset: 0, count: min(12, bytes.count))?.withUnsafeBytes { Array($0) } ?? []
    guard start.count >= 10, Array(start.prefix(6)) == magic else {
      throw malformed("it is not a NumPy array file", remedy: "write it with numpy.save")
    }
    let length: Int
    let offset: Int
    switch start[6] {
    case 1: (length, offset) = (Int(start[8]) | Int(start[9]) << 8, 10)
    case 2, 3:
      guard start.count == 12 else { throw malformed("the file ends inside its header") }
      (length, offset) = (start[8...11].reversed().reduce(0) { $0 << 8 | Int($1) }, 12)
    default: throw FormatError(.unsupported, file: name, "its format version is \(start[6]), expected 1 to 3")
    }
    guard length <= 1 << 16, let text = bytes.slice(offset: offset, count: length) else {
      throw malformed("its header of \(length) bytes does not fit the file")
    }
    var header = HeaderParser(text.withUnsafeBytes { Array($0) })
    guard let fields = header.parse() else { throw malformed("its header is not a dictionary of descr, order, shape") }
    guard !fields.isFortranOrder || fields.shape.count < 2 else {
      throw FormatError(
        .unsupported, file: name, "it is in column-major (Fortran) order",
        remedy: "save numpy.ascontiguousarray(array) instead")
    }
    guard let scalar = scalars.first(where: { $0.codes.contains(fields.descriptor) })?.scalar else {
      throw FormatError(
        .unsupported, file: name, "its element type is '\(fields.descriptor)'",
        remedy: "convert it with astype to a little-endian float, integer or bool")
    }
    let shape = Shape(fields.shape)
    guard shape.isAddressable else { throw malformed("its shape \(shape) is not a valid shape") }
    let type = TensorType(scalar, shape)
    let available = bytes.count - offset - length
    guard available == type.byteCount, let data = bytes.slice(offset: offset + length, count: type.byteCount) else {
      throw malformed("\(type) takes \(type.byteCount) bytes, but \(available) follow its header")
    }
    return Tensor(type, data)
  }

  /// Returns the array as a file of format version 1.
  package static func write(_ tensor: Tensor) -> [UInt8] {
    let code = scalars.first { $0.scalar == tensor.type.scalar }?.codes.first ?? ""
    let sizes = tensor.shape.dimensions.map(String.init)
    let shape = sizes.count == 1 ? "(\(sizes[0]),)" : "(\(sizes.joined(separator: ", ")))"
    var header = Array("{'descr': '\(code)', 'fortran_order': False, 'shape': \(shape), }".utf8)
    let padding = 63 - (10 + header.count) % 64
    header += [UInt8](repeating: 0x20, count: padding) + [0x0A]
    var file = magic + [1, 0, UInt8(header.count & 0xFF), UInt8(header.count >> 8)] + header
    tensor.bytes.withUnsafeBytes { file += $0 }
    return file
  }

  /// The names of each element type, the canonical one first.
  private static let scalars: [(codes: [String], scalar: ScalarType)] = [
    (["<f2", "=f2"], .float16), (["<f4", "=f4"], .float32), (["<f8", "=f8"], .float64),
    (["|i1", "<i1", "i1"], .int8), (["<i2", "=i2"], .int16), (["<i4", "=i4"], .int32), (["<i8", "=i8"], .int64),
    (["|u1", "<u1", "u1"], .uint8), (["<u2", "=u2"], .uint16), (["<u4", "=u4"], .uint32), (["<u8", "=u8"], .uint64),
    (["|b1", "<b1", "?"], .bool),
  ]
}

/// A parser of the header, a Python dictionary literal with three known keys.
private struct HeaderParser {
  struct Fields {
    var descriptor: String
    var isFortranOrder: Bool
    var shape: [Int]
  }

  private let text: [UInt8]
  private var position = 0

  init(_ text: [UInt8]) { self.text = text }

  mutating func parse() -> Fields? {
    var (descriptor, order, shape): (String?, Bool?, [Int]?)
    guard take("{") else { return nil }
    while !take("}") {
      guard let key = quoted(), take(":") else { return nil }
      switch key {
      case "descr": descriptor = quoted()
      case "fortran_order": order = take("True") ? true : take("False") ? false : nil
      case "shape": shape = sizes()
      default: return nil
      }
      guard take(",") || next == UInt8(ascii: "}") else { return nil }
    }
    guard let descriptor, let order, let shape else { return nil }
    return Fields(descriptor: descriptor, isFortranOrder: order, shape: shape)
  }

  private var next: UInt8? {
    mutating get {
      while position < text.count, [0x20, 0x0A, 0x0D, 0x09].contains(text[position]) { position += 1 }
      return position < text.count ? text[position] : nil
    }
  }

  private mutating func take(_ word: String) -> Bool {
    guard next != nil, text[position...].starts(with: word.utf8) else { return false }
    position += word.utf8.count
    return true
  }

  private mutating func quoted() -> String? {
    guard let quote = next, quote == 0x27 || quote == 0x22,
      let end = text[(position + 1)...].firstIndex(of: quote)
    else { return nil }
    defer { position = end + 1 }
    return String(decoding: text[(position + 1)..<end], as: UTF8.self)
  }

  private mutating func sizes() -> [Int]? {
    guard take("(") else { return nil }
    var sizes: [Int] = []
    while !take(")") {
      var digits = ""
      while let byte = next, (0x30...0x39).contains(byte), digits.utf8.count < 20 {
        digits.unicodeScalars.append(Unicode.Scalar(byte))
        position += 1
      }
      guard let size = Int(digits), sizes.count < Emitter.rankLimit else { return nil }
      _ = take("L")
      sizes.append(size)
      guard take(",") || next == UInt8(ascii: ")") else { return nil }
    }
    return sizes
  }
}
