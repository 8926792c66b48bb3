import Glibc
import KelvinBasics
import TestSupport
import Testing

@Suite struct FolderDescentTests {
  private let folder = TemporaryFolder()
  private let outside = TemporaryFolder()

  init() {
    folder.write("inside", "a/b/file")
    outside.write("secret", "a/file")
    symlink("\(outside.path)/a", "\(folder.path)/out")
    symlink("\(outside.path)/a/file", "\(folder.path)/a/link")
    symlink("../a/b/file", "\(folder.path)/a/near")
  }

  private func text(_ path: String, below folder: String?) throws -> String {
    String(decoding: try OpenFile("\(self.folder.path)/\(path)", below: folder).start(100), as: UTF8.self)
  }

  @Test func fileOfTheFolderIsOpened() throws {
    #expect(try text("a/b/file", below: folder.path) == "inside")
    #expect(try text("a/b/file", below: folder.path + "/") == "inside")
    #expect(try text("a//b/./file", below: folder.path) == "inside")
  }

  @Test(arguments: ["out/file", "a/link", "a/near"]) func linkIsNotFollowed(path: String) throws {
    let error = #expect(throws: FileError.self) { try text(path, below: folder.path) }
    #expect(error?.reason.contains("is a symbolic link to") == true, "\(String(describing: error))")
    #expect(try !text(path, below: nil).isEmpty)
  }

  @Test func folderItselfMayBeALink() throws {
    let link = "\(outside.path)/link"
    #expect(symlink(folder.path, link) == 0)
    #expect(try OpenFile("\(link)/a/b/file", below: link).byteCount == 6)
  }

  @Test(arguments: ["../file", "a/../../file", "", "a/b/", "absent/file", "a"])
  func pathThatIsNoFileOfTheFolderIsRefused(path: String) {
    outside.write("secret", "file")
    #expect(throws: FileError.self) { try text(path, below: folder.path) }
    #expect(throws: FileError.self) { try OpenFile("\(outside.path)/file", below: folder.path) }
  }

  @Test func pipeIsRefusedWithoutWaiting() {
    #expect(mkfifo("\(folder.path)/pipe", 0o600) == 0)
    #expect(throws: FileError.self) { try text("pipe", below: folder.path) }
  }
}
