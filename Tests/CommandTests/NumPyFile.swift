/// NumPy's array files, version 1.0. Reference: numpy.org, "numpy.lib.format".
enum NumPyFile {
  static func bytes(shape: [Int], float32 element: (Int) -> Float) -> [UInt8] {
    bytes(shape, "<f4", (0..<shape.reduce(1, *)).map(element))
  }

  static func bytes(shape: [Int], float64 element: (Int) -> Double) -> [UInt8] {
    bytes(shape, "<f8", (0..<shape.reduce(1, *)).map(element))
  }

  static func bytes(shape: [Int], int64 element: (Int) -> Int64) -> [UInt8] {
    bytes(shape, "<i8", (0..<shape.reduce(1, *)).map(element))
  }

  private static func bytes<Element: BitwiseCopyable>(_ shape: [Int], _ code: String, _ elements: [Element]) -> [UInt8]
  {
    let sizes = shape.map(String.init).joined(separator: ", ") + (shape.count == 1 ? "," : "")
    var header = Array("{'descr': '\(code)', 'fortran_order': False, 'shape': (\(sizes)), }".utf8)
    while (header.count + 11) % 64 != 0 { header.append(0x20) }
    header.append(0x0A)
    let length = [UInt8(header.count & 0xFF), UInt8(header.count >> 8)]
    return [0x93, 0x4E, 0x55, 0x4D, 0x50, 0x59, 1, 0] + length + header + elements.withUnsafeBytes { Array($0) }
  }
}
