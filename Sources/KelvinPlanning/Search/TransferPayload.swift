/// The cost-relevant properties of a copy: values of equal payload cost the same to move.
struct TransferPayload: Hashable, Sendable {
  var bytes: Int
  /// The number of times that one inference makes the copy; infinite when it cannot be made.
  var copies: Double
  /// The index of the problem's signal; -1 for values that links move.
  var signal = -1
}
