import Glibc
import KelvinEngine
import KelvinGraph
import KelvinImport
import TestSupport
import Testing

/// Paths in a model that are not regular files in its folder.
@Suite struct LinkTests {
  /// A model beside `w.bin`, which the test makes; its weights are two floats from there.
  private func model(_ folder: TemporaryFolder, location: String = "w.bin") throws -> String {
    var file = ONNXFile()
    file.input("x", [1])
    file.initializer(ONNXFile.external("w", [2], [("location", location), ("length", "8")]))
    file.node("Add", ["x", "w"], ["y"])
    file.output("y")
    folder.write(littleEndian([5, 6]), "secret.bin")
    return folder.write(file.bytes, "model/m.onnx")
  }

  private func error(_ path: String, allowsLinks: Bool = false) throws -> FormatError? {
    do {
      _ = try readModel(at: path, allowsLinks: allowsLinks).graph()
      return nil
    } catch let error as FormatError { return error }
  }

  @Test func symbolicLinksAreRefusedUnlessAllowed() throws {
    for (link, target) in [
      ("model/w.bin", "../secret.bin"), ("model/w.bin", "inside.bin"), ("model/data", ".."),
      ("model/w.bin", "/etc/passwd"),
      ("model/w.bin", "absent"), ("model/w.bin", "w.bin"),
    ] {
      let folder = TemporaryFolder()
      let path = try model(folder, location: link == "model/data" ? "data/secret.bin" : "w.bin")
      folder.write(littleEndian([5, 6]), "model/inside.bin")
      #expect(symlink(target, "\(folder.path)/\(link)") == 0)
      let refused = try #require(try error(path), "\(link) to \(target)")
      #expect(refused.code == .link && refused.description.contains("symbolic link to '\(target)'"), "\(refused)")
      #expect(refused.remedy?.contains("--allow-links") == true)
      let allowed = try error(path, allowsLinks: true)
      let leadsNowhere = ["absent", "w.bin", "/etc/passwd"].contains(target)
      #expect(target == "/etc/passwd" || (allowed == nil) == !leadsNowhere, "\(String(describing: allowed))")
    }
  }

  @Test("a slash separates path components even before a combining mark")
  func slashesAreBytes() throws {
    for (location, code) in [("d\u{600}/secret.bin", FormatError.Code.link), ("../\u{301}secret.bin", .malformed)] {
      let folder = TemporaryFolder()
      let path = try model(folder, location: location)
      folder.write(littleEndian([5, 6]), "\u{301}secret.bin")
      #expect(symlink("..", "\(folder.path)/model/d\u{600}") == 0)
      #expect(try error(path)?.code == code, "\(location)")
    }
  }

  @Test func hardLinksAreRefusedUnlessAllowed() throws {
    let folder = TemporaryFolder()
    let path = try model(folder)
    #expect(link("\(folder.path)/secret.bin", "\(folder.path)/model/w.bin") == 0)
    let refused = try #require(try error(path))
    #expect(refused.code == .link && refused.description.contains("2 names"), "\(refused)")
    #expect(try error(path, allowsLinks: true) == nil)
    unlink("\(folder.path)/secret.bin")
    #expect(try error(path) == nil)
  }

  @Test func pathsOutsideTheFolderAreAlwaysRefused() throws {
    for location in ["../secret.bin", "/etc/passwd", "a/../../secret.bin"] {
      let folder = TemporaryFolder()
      #expect(try error(model(folder, location: location), allowsLinks: true)?.code == .malformed, "\(location)")
    }
  }

  @Test(arguments: [true, false])
  func pipesFoldersAndSocketsAreRefused(allowsLinks: Bool) throws {
    for (kind, words) in [("pipe", "a pipe"), ("folder", "a folder"), ("socket", "")] {
      let folder = TemporaryFolder()
      let path = try model(folder)
      let target = "\(folder.path)/model/w.bin"
      switch kind {
      case "pipe": #expect(mkfifo(target, 0o600) == 0)
      case "folder": #expect(mkdir(target, 0o700) == 0)
      default: #expect(mknod(target, S_IFSOCK | 0o600, 0) == 0)
      }
      let refused = try #require(try error(path, allowsLinks: allowsLinks), "\(kind)")
      #expect(refused.code == .unreadable && refused.description.contains(words), "\(refused)")
    }
    let folder = TemporaryFolder()
    let path = try model(folder)
    #expect(symlink("/dev/zero", "\(folder.path)/model/w.bin") == 0)
    #expect(try error(path, allowsLinks: allowsLinks)?.code == (allowsLinks ? .unreadable : .link))
  }

  @Test func modelPathMayBeALink() throws {
    let folder = TemporaryFolder()
    let path = try model(folder)
    folder.write(littleEndian([5, 6]), "model/w.bin")
    #expect(symlink(path, "\(folder.path)/model/alias.onnx") == 0)
    #expect(symlink("model", "\(folder.path)/folder") == 0)
    #expect(try error("\(folder.path)/model/alias.onnx") == nil)
    #expect(try error("\(folder.path)/folder/m.onnx") == nil)
  }

  @Test(arguments: [
    "Manifest.json", "Data", "Data/com.apple.CoreML", "Data/com.apple.CoreML/model.mlmodel",
    "Data/com.apple.CoreML/weights", "Data/com.apple.CoreML/weights/weight.bin",
  ])
  func linkedPackagePartsAreRefused(part: String) throws {
    let folder = TemporaryFolder()
    let path = PackageFolder().write(folder)
    #expect(rename("\(path)/\(part)", "\(folder.path)/elsewhere") == 0)
    #expect(symlink("\(folder.path)/elsewhere", "\(path)/\(part)") == 0)
    let refused = try #require(try error(path), "\(part)")
    #expect(refused.code == .link, "\(refused)")
    #expect(try error(path, allowsLinks: true) == nil)
  }

  @Test func canonicallyEqualNamesAreDifferentFiles() throws {
    let folder = TemporaryFolder()
    var file = ONNXFile()
    file.input("x", [1])
    for (name, location) in [("v", "\u{E9}.bin"), ("w", "e\u{301}.bin")] {
      file.initializer(ONNXFile.external(name, [1], [("location", location), ("length", "4")]))
    }
    file.node("Sub", ["v", "w"], ["d"])
    file.node("Add", ["x", "d"], ["y"])
    file.output("y")
    folder.write(littleEndian([5]), "\u{E9}.bin")
    folder.write(littleEndian([3]), "e\u{301}.bin")
    let graph = try readModel(at: folder.write(file.bytes, "m.onnx")).graph()
    #expect(try run(graph, [Tensor([1] as [Float], [1])])[0].floats == [3])
  }
}
