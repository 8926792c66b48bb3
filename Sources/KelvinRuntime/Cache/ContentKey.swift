import KelvinDevices
package import KelvinGraph

/// A name made from contents by SHA-256, as 64 hexadecimal digits. Finding other contents of the same name is
/// infeasible.
package struct ContentKey: Hashable, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ bytes: Bytes) { description = Digest(bytes).description }

  /// Creates the key of several strings together; different lists have different keys.
  package init(_ parts: [String]) {
    var text: [UInt8] = []
    for part in parts { text += Array("\(part.utf8.count):\(part)".utf8) }
    description = Digest(text).description
  }

  /// Returns the key of the same contents under further facts.
  package func with(_ facts: [String]) -> ContentKey { ContentKey([description] + facts) }
}
