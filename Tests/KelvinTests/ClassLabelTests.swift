import Kelvin
import Testing

@Suite struct ClassLabelTests {
  @Test func labelsAreComparedByTheirBytes() {
    let labels: [ClassLabel: Double] = [.string("\u{E9}"): 1, .string("e\u{301}"): 2, .int64(7): 3]
    #expect(labels.count == 3 && labels["\u{E9}"] == 1 && labels["e\u{301}"] == 2 && labels[7] == 3)
    #expect(ClassLabel.string("7") != .int64(7))
  }
}
