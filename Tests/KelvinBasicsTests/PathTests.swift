import Glibc
import KelvinBasics
import Testing

@Suite struct PathTests {
  @Test(arguments: [
    ("sets/list.csv", "a.png", "sets/a.png"), ("list.csv", "a.png", "a.png"), ("./list.csv", "a.png", "./a.png"),
    ("/list.csv", "b/a.png", "/b/a.png"), ("sets/list.csv", "/a.png", "/a.png"),
  ])
  func siblingPathIsRelativeToTheFile(file: String, name: String, expected: String) {
    #expect(file.siblingPath(name) == expected)
  }

  @Test func pathWithAZeroByteIsRefused() {
    let error = #expect(throws: FileError.self) { try OpenFile("/etc/passwd\0.onnx") }
    #expect("\(error, default: "")" == #"cannot open '/etc/passwd\u{0}.onnx': a path cannot contain a zero byte"#)
    #expect(access("/etc/passwd\0.onnx".pathBytes, F_OK) != 0)
  }
}
