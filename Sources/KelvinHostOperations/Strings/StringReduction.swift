package import KelvinGraph

/// Joins the strings along an axis with a separator (`StringJoin` of onnxruntime-extensions). Inputs: strings, the
/// separator, the axis. Strings of one axis or none give one string, of the shape `[1]`.
package struct StringReduction: SlotOperation {
  package static let name = "string_reduction"
  package let slots: HostSlots

  package init(_ slots: HostSlots) { self.slots = slots }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let (strings, separator) = (try strings(0, inputs), try string(1, inputs))
    let axis = try integer(2, inputs)
    guard strings.shape.rank > 0 else { return [try limited(strings.strings)] }
    guard strings.shape.dimensions.indices.contains(axis) else {
      throw refused(2, "strings [\(strings.shape)] have no axis \(axis)", remedy: "give an axis from 0 on")
    }
    var shape = strings.shape
    shape.dimensions.remove(at: axis)
    if shape.rank == 0 { shape = [1] }
    let (outer, length, inner) = strings.shape.around(axis)
    guard length > 0 || StringTensor.takes(shape) else { throw refused(0, "the result [\(shape)] is too large") }
    var joined: [String] = []
    for place in 0..<outer * inner {
      let start = place / inner * length * inner + place % inner
      joined.append((0..<length).map { strings.strings[start + $0 * inner] }.joined(separator: separator))
    }
    return [try limited(joined, shape)]
  }
}
