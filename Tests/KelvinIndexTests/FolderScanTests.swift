import Glibc
import KelvinFeatures
import KelvinIndex
import TestSupport
import Testing

@Suite struct FolderScanTests {
  private let folder = TemporaryFolder()

  private func walk(followsLinks: Bool = false) throws -> FolderScan {
    try FolderScan(folder.path, followsLinks: followsLinks, found: { _ in }, isCancelled: { false })
  }

  @Test func imagesAreFoundByExtensionInOrder() throws {
    for name in ["b.JPG", "a/c.webp", "a/b/d.heic", "a.png", "notes.txt", "jpg", ".hidden.jpg", ".cache/e.jpg"] {
      folder.write("x", name)
    }
    let entries = try walk().entries
    #expect(entries.map(\.path) == ["a.png", "a/b/d.heic", "a/c.webp", "b.JPG"])
    #expect(entries.allSatisfy { $0.state.size == 1 && $0.state.modified > 0 && $0.state.inode > 0 })
  }

  @Test func linkCyclesEnd() throws {
    let outside = TemporaryFolder()
    outside.write("x", "far.jpg")
    folder.write("x", "in/near.jpg")
    #expect(symlink(outside.path, "\(folder.path)/out") == 0)
    #expect(symlink("..", "\(folder.path)/in/up") == 0)
    #expect(symlink("near.jpg", "\(folder.path)/in/link.jpg") == 0)
    #expect(symlink("nowhere", "\(folder.path)/dangling.jpg") == 0)
    #expect(symlink("self.jpg", "\(folder.path)/self.jpg") == 0)
    #expect(try walk().entries.map(\.path) == ["in/near.jpg"])
    #expect(try walk().faults.isEmpty)
    let all = try walk(followsLinks: true)
    #expect(all.entries.map(\.path) == ["in/link.jpg", "in/near.jpg", "out/far.jpg"])
    #expect(all.faults.map(\.path).sorted() == ["dangling.jpg", "self.jpg"])
  }

  @Test func nonFilesAreReportedWithoutWaiting() throws {
    folder.write("x", "a.jpg")
    #expect(mkfifo("\(folder.path)/pipe.jpg", 0o644) == 0)
    let walk = try walk()
    #expect(walk.entries.map(\.path) == ["a.jpg"])
    #expect(walk.faults.map(\.path) == ["pipe.jpg"])
  }

  @Test(.enabled(if: getuid() != 0, "needs a user whom permissions hold for"))
  func unreadableFolderKeepsItsImages() throws {
    folder.write("x", "open/a.jpg")
    folder.write("x", "shut/b.jpg")
    #expect(chmod("\(folder.path)/shut", 0) == 0)
    let walk = try walk()
    #expect(chmod("\(folder.path)/shut", 0o755) == 0)
    #expect(walk.entries.map(\.path) == ["open/a.jpg"])
    #expect(walk.faults.map(\.path) == ["shut"])
    #expect(walk.unseen == ["shut/"])
  }

  @Test func pathThatIsNotAFolderIsAnError() {
    folder.write("x", "file")
    for path in ["\(folder.path)/file", "\(folder.path)/absent"] {
      let error = #expect(throws: PhotoIndexError.self) {
        try FolderScan(path, followsLinks: false, found: { _ in }, isCancelled: { false })
      }
      #expect(error?.code == .io)
    }
  }
}
