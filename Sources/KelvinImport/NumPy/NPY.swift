package import KelvinGraph

/// The NumPy array format. Reference: numpy.org, "numpy.lib.format".
package enum NPY {
  /// The elements of an array, row-major.
  package enum Contents {
    case numbers(Tensor)
    case strings([String], Shape)
  }

  /// The first bytes of a file.
  package static let magic: [UInt8] = [0x93, 0x4E, 0x55, 0x4D, 0x50, 0x59]

  /// Reads an array of numbers or booleans. Little-endian elements in row-major order stay in `bytes`.
  ///
  /// - Parameter name: The name of the array in errors.
  /// - Throws: `FormatError`, also for an array of strings.
  package static func read(_ bytes: Bytes, name: String) throws(FormatError) -> Tensor {
    switch try contents(bytes, name: name) {
    case .numbers(let tensor): return tensor
    case .strings(_, let shape):
      throw FormatError(
        .unsupported, file: name, "it is an array of strings (\(shape)), expected numbers",
        remedy: "convert it with array.astype('float32')")
    }
  }

  /// Reads an array of numbers, booleans or strings in either byte order and either order of axes.
  ///
  /// - Parameter name: The name of the array in errors.
  /// - Throws: `FormatError`, also for an array of Python objects.
  package static func contents(_ bytes: Bytes, name: String) throws(FormatError) -> Contents {
    let (fields, data) = try parts(of: bytes, name)
    guard let element = Element(fields.descriptor) else {
      let isObject = fields.descriptor.utf8.elementsEqual("|O".utf8)
      throw FormatError(
        .unsupported, file: name,
        isObject ? "its elements are pickled Python objects" : "its element type is '\(fields.descriptor)'",
        remedy: isObject
          ? "save an array of strings with array.astype('U'), of numbers with array.astype('float32')"
          : "convert it with astype to a float, integer, bool or string")
    }
    let shape = Shape(fields.shape)
    guard shape.isAddressable else {
      throw FormatError(.malformed, file: name, "its shape \(shape) is not a valid shape")
    }
    let (count, overflow) = shape.count.multipliedReportingOverflow(by: element.byteCount)
    guard !overflow, count == data.count, element.byteCount > 0 || shape.count == 0 else {
      throw FormatError(
        .malformed, file: name,
        "\(fields.descriptor)[\(shape)] takes \(overflow ? "more" : "\(count)") bytes, but \(data.count) follow its header"
      )
    }
    // A column-major array has the elements of its transpose in row-major order.
    let isReversed = fields.isFortranOrder && shape.rank > 1
    let stored = isReversed ? Shape(shape.dimensions.reversed()) : shape
    let reversal = Array((0..<shape.rank).reversed())
    switch element.kind {
    case .scalar(let scalar):
      let tensor = Tensor(TensorType(scalar, stored), element.isBigEndian ? data.swapped(scalar.byteCount) : data)
      return .numbers(isReversed ? tensor.transposed(reversal) : tensor)
    case .unicode, .bytes:
      let strings = try strings(in: data, count: shape.count, element, name)
      guard isReversed else { return .strings(strings, shape) }
      let order = Tensor((0..<Int64(strings.count)).map { $0 }, stored).transposed(reversal)
      return .strings(order.words.map { strings[Int($0)] }, shape)
    }
  }

  /// Returns the header's fields and the bytes that follow the header.
  private static func parts(
    of bytes: Bytes, _ name: String
  ) throws(FormatError) -> (fields: NPYHeaderParser.Fields, data: Bytes) {
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
    guard length <= 1 << 16, let text = bytes.slice(offset: offset, count: length),
      let data = bytes.slice(offset: offset + length, count: bytes.count - offset - length)
    else { throw malformed("its header of \(length) bytes does not fit the file") }
    var header = NPYHeaderParser(text.withUnsafeBytes { Array($0) })
    guard let fields = header.parse() else { throw malformed("its header is not a dictionary of descr, order, shape") }
    return (fields, data)
  }

  /// Returns the array as a file of format version 1.
  package static func write(_ tensor: Tensor) -> [UInt8] {
    let code = Element.scalars.first { $0.scalar == tensor.type.scalar }?.code ?? ""
    let order = tensor.type.scalar.byteCount == 1 ? "|" : "<"
    let sizes = tensor.shape.dimensions.map(String.init)
    let shape = sizes.count == 1 ? "(\(sizes[0]),)" : "(\(sizes.joined(separator: ", ")))"
    var header = Array("{'descr': '\(order)\(code)', 'fortran_order': False, 'shape': \(shape), }".utf8)
    let padding = 63 - (10 + header.count) % 64
    header += [UInt8](repeating: 0x20, count: padding) + [0x0A]
    var file = magic + [1, 0, UInt8(header.count & 0xFF), UInt8(header.count >> 8)] + header
    tensor.bytes.withUnsafeBytes { file += $0 }
    return file
  }

  /// The type of an array's elements, from a descriptor such as `<f4`, `>U12` or `|S5`.
  struct Element {
    enum Kind {
      case scalar(ScalarType)
      /// UTF-32, padded with zeros.
      case unicode
      /// UTF-8, padded with zeros.
      case bytes
    }

    let kind: Kind
    let byteCount: Int
    let isBigEndian: Bool

    static let scalars: [(code: String, scalar: ScalarType)] = [
      ("f2", .float16), ("f4", .float32), ("f8", .float64), ("i1", .int8), ("i2", .int16), ("i4", .int32),
      ("i8", .int64), ("u1", .uint8), ("u2", .uint16), ("u4", .uint32), ("u8", .uint64), ("b1", .bool), ("?", .bool),
    ]

    init?(_ descriptor: String) {
      let hasOrder = descriptor.unicodeScalars.first.map { "<>=|".unicodeScalars.contains($0) } ?? false
      isBigEndian = descriptor.unicodeScalars.first == ">"
      let code = descriptor.unicodeScalars.dropFirst(hasOrder ? 1 : 0)
      if let scalar = Self.scalars.first(where: { $0.code.unicodeScalars.elementsEqual(code) })?.scalar {
        (kind, byteCount) = (.scalar(scalar), scalar.byteCount)
        return
      }
      guard let length = Int(String(code.dropFirst())), (0...Int(Int32.max)).contains(length) else { return nil }
      switch code.first {
      case "U": (kind, byteCount) = (.unicode, 4 * length)
      case "S": (kind, byteCount) = (.bytes, length)
      default: return nil
      }
    }
  }

  private static func strings(
    in data: Bytes, count: Int, _ element: Element, _ name: String
  ) throws(FormatError) -> [String] {
    try data.withUnsafeBytes { raw throws(FormatError) in
      var strings: [String] = []
      strings.reserveCapacity(count)
      for index in 0..<count {
        let cell = UnsafeRawBufferPointer(rebasing: raw[index * element.byteCount..<(index + 1) * element.byteCount])
        if case .unicode = element.kind {
          strings.append(try unicode(cell, index, element, name))
          continue
        }
        let length = cell.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
        guard let string = String(validating: cell[..<length], as: UTF8.self) else {
          throw FormatError(
            .malformed, file: name, "its string \(index) is not UTF-8",
            remedy: "decode the strings: numpy.char.decode(array, 'latin-1')")
        }
        strings.append(string)
      }
      return strings
    }
  }

  private static func unicode(
    _ cell: UnsafeRawBufferPointer, _ index: Int, _ element: Element, _ name: String
  ) throws(FormatError) -> String {
    var string = String.UnicodeScalarView()
    // Zeros end a string only at the end of its cell.
    var zeros = 0
    for offset in stride(from: 0, to: cell.count, by: 4) {
      let word = cell.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      let code = element.isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
      guard code != 0 else {
        zeros += 1
        continue
      }
      guard let scalar = Unicode.Scalar(code) else {
        throw FormatError(
          .malformed, file: name,
          "its string \(index) has the number 0x\(String(code, radix: 16)), which is not a Unicode scalar value")
      }
      string.append(contentsOf: repeatElement("\0", count: zeros))
      string.append(scalar)
      zeros = 0
    }
    return String(string)
  }
}

extension Bytes {
  /// Returns elements of `width` bytes in the opposite byte order.
  fileprivate func swapped(_ width: Int) -> Bytes {
    guard width > 1 else { return self }
    return withUnsafeBytes { source in
      Bytes(count: count) { target in
        for place in target.indices { target[place] = source[place - place % width + width - 1 - place % width] }
      }
    }
  }
}
