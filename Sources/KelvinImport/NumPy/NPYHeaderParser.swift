/// A parser of the header, a Python dictionary literal with three known keys.
struct NPYHeaderParser {
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
