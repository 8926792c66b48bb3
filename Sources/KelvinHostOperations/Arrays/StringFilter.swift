package import KelvinGraph

/// Picks the strings for which a mask is true (`MaskedFill` of onnxruntime-extensions). Inputs: strings with at most one
/// axis, and a mask of the same shape.
package struct StringFilter: SlotOperation {
  package static let name = "string_filter"
  package let slots: HostSlots

  package init(_ slots: HostSlots) { self.slots = slots }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let (strings, mask) = (try strings(0, inputs), try integers(1, inputs))
    guard strings.shape == mask.shape, mask.shape.rank < 2 else {
      throw refused(1, "expected a mask for strings [\(strings.shape)] of at most one axis, got \(mask.type)")
    }
    return [try limited(zip(strings.strings, mask.words).filter { $1 != 0 }.map(\.0))]
  }
}
