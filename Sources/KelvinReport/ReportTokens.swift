/// The rates at which a configuration generated tokens, for a single sequence and under sustained load. Times are in
/// seconds.
package struct ReportTokens: Sendable, Hashable, Codable {
  /// The rates in tokens per second for a range of lengths.
  package struct Stretch: Sendable, Hashable, Codable {
    /// The range of lengths: `33 to 48 tokens`.
    package var lengths: String
    package var oneShot: Double?
    package var sustained: Double?

    package init(lengths: String, oneShot: Double?, sustained: Double?) {
      self.lengths = lengths
      self.oneShot = oneShot
      self.sustained = sustained
    }
  }

  package var units: String
  /// The number of tokens of the prompt.
  package var prompt: Int
  /// The time from the prompt to the first token.
  package var firstOneShot: Double
  package var firstSustained: Double?
  package var stretches: [Stretch]
  /// The rate of all tokens after the first, in tokens per second.
  package var rateOneShot: Double
  package var rateSustained: Double?
  package var facts: [ReportFact]

  package init(
    units: String, prompt: Int, firstOneShot: Double, firstSustained: Double?, stretches: [Stretch],
    rateOneShot: Double, rateSustained: Double?, facts: [ReportFact]
  ) {
    self.units = units
    self.prompt = prompt
    self.firstOneShot = firstOneShot
    self.firstSustained = firstSustained
    self.stretches = stretches
    self.rateOneShot = rateOneShot
    self.rateSustained = rateSustained
    self.facts = facts
  }
}
