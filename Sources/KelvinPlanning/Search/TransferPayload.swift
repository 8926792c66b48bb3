/// What is copied when a value is: values of equal cargo cost the same to move.
struct TransferPayload: Hashable, Sendable {
  var bytes: Int
  /// How often one inference makes the copy; infinite where it cannot be made.
  var copies: Double
  /// Which of the problem's signals it is; -1 for what links move.
  var signal = -1
}
