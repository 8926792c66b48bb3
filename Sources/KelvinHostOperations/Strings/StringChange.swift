package import KelvinBasics
package import KelvinGraph

/// Changes each string by itself (`StringLower`, `StringUpper`, `StringStrip` and `StringMapping` of
/// onnxruntime-extensions).
package struct StringChange: SlotOperation {
  package static let name = "string_change"

  package enum Change: Hashable, Sendable {
    /// Lowercase letters of the scripts that onnxruntime-extensions knows.
    case lower
    /// Uppercase letters of ASCII.
    case upper
    /// Without ASCII's spaces at both ends. A string of spaces is kept.
    case stripped
    /// The value of each string that is a key; other strings are kept.
    case mapped([ExactString: ExactString])
  }

  package let change: Change
  package let slots: HostSlots

  package init(_ change: Change, _ slots: HostSlots) {
    self.change = change
    self.slots = slots
  }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] { [inputs[0]] }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let strings = try strings(0, inputs)
    return [try limited(strings.strings.map(changed), strings.shape)]
  }

  private func changed(_ string: String) -> String {
    switch change {
    case .lower: return String(String.UnicodeScalarView(string.unicodeScalars.map(\.simplyLowercased)))
    case .upper:
      let bytes = string.utf8.map { (0x61...0x7A).contains($0) ? $0 - 32 : $0 }
      return String(decoding: bytes, as: UTF8.self)
    case .stripped:
      let scalars = string.unicodeScalars
      guard let start = scalars.firstIndex(where: { !$0.isASCIISpace }),
        let end = scalars.lastIndex(where: { !$0.isASCIISpace })
      else { return string }
      return String(scalars[start...end])
    case .mapped(let map): return map[ExactString(string)]?.string ?? string
    }
  }
}

extension Unicode.Scalar {
  /// Whether the scalar is a space, a tab, a line end, a vertical tab or a form feed.
  fileprivate var isASCIISpace: Bool { self == " " || (9...13).contains(value) }

  /// The lowercase scalar by onnxruntime-extensions, which shifts ranges of Latin-1, Greek and Cyrillic letters by 32
  /// and keeps all other scalars.
  var simplyLowercased: Unicode.Scalar {
    switch value {
    case 0xD7, 0x39E: self
    case 0x41...0x5A, 0xC0...0xDE, 0x399...0x3A0, 0x410...0x42F, 0x1F08...0x1F68: Unicode.Scalar(value + 32) ?? self
    default: self
    }
  }
}
