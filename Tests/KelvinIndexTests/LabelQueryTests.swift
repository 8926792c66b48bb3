import KelvinFeatures
import KelvinIndex
import Testing

@Suite struct LabelQueryTests {
  @Test func orHasTheLowestAndNotTheHighestPrecedence() throws {
    #expect(
      try LabelQuery("otter OR badger AND lake NOT dog")
        == .either(
          .words("\"otter\""), .both(.words("\"badger\""), .without(.words("\"lake\""), .words("\"dog\"")))))
    #expect(
      try LabelQuery("(otter OR badger) (lake)")
        == .both(.either(.words("\"otter\""), .words("\"badger\"")), .words("\"lake\"")))
  }

  @Test func adjacentWordsMatchOneLabel() throws {
    #expect(try LabelQuery("sea lion") == .words("\"sea\" \"lion\""))
    #expect(try LabelQuery("\"sea lion\" terr*") == .words("\"sea lion\" \"terr\" *"))
    // In lower case they are words like others.
    #expect(try LabelQuery("salt and pepper") == .words("\"salt\" \"and\" \"pepper\""))
  }

  @Test(arguments: [
    ("", "no words"), ("  ", "no words"), ("(otter", "no ')'"), ("otter)", "no '('"), ("\"otter", "is not closed"),
    ("NOT dog", "NOT needs words"), ("otter OR", "a word is missing at the end"), ("AND otter", "before AND"),
    ("otter OR )", "nothing before it"), ("*", "is not a word"), ("otter \"'\"", "is not a word"),
    (String(repeating: "(", count: 900) + "a", "parentheses"),
    (String(repeating: "a OR ", count: 600) + "a", "more than 1000"),
  ])
  func malformedQueryIsRefusedWithTheReason(text: String, reason: String) {
    let error = #expect(throws: PhotoIndexError.self) { try LabelQuery(text) }
    #expect(error?.code == .query)
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
  }
}
