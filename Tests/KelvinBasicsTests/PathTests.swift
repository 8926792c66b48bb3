import KelvinBasics
import Testing

@Suite struct PathTests {
  @Test(arguments: [
    ("sets/list.csv", "a.png", "sets/a.png"), ("list.csv", "a.png", "a.png"), ("./list.csv", "a.png", "./a.png"),
    ("/list.csv", "b/a.png", "/b/a.png"), ("sets/list.csv", "/a.png", "/a.png"),
  ])
  func whatAFileNamesLiesBesideIt(file: String, name: String, expected: String) {
    #expect(file.siblingPath(name) == expected)
  }
}
