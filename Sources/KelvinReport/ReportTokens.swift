/// How fast one configuration made tokens, alone and one sequence after another. Seconds.
package struct ReportTokens: Sendable, Hashable, Codable {
  /// Tokens of some lengths, a second.
  package struct Stretch: Sendable, Hashable, Codable {
    /// `33 to 48 tokens`.
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
  /// Tokens of the prompt.
  package var prompt: Int
  /// From the prompt to the first token.
  package var firstOneShot: Double
  package var firstSustained: Double?
  package var stretches: [Stretch]
  /// Of all tokens after the first.
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
