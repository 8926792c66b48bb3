import Glibc
import KelvinBasics
import KelvinPackaging
import TestSupport
import Testing

/// Archives that are written and unpacked.
@Suite struct ArchiveTests {
  private let folder = TemporaryFolder()
  private static let package = "\(SharedFiles.projectRoot)/Examples/Digits/Digits.mlpackage"

  private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

  /// Returns the files below a folder by their paths from it.
  private static func contents(_ root: String) -> [String: [UInt8]] {
    Dictionary(
      uniqueKeysWithValues: TemporaryFolder.files(root).map {
        (String($0.dropFirst(root.count)), TemporaryFolder.read($0))
      })
  }

  @Test(arguments: Archive.endings) func packageIsTheSameAfterUnpacking(ending: String) throws {
    let archive = path("model.\(ending)")
    try Archive.write(Self.package, to: archive)
    #expect(Archive.recognizes(archive))
    try Archive.unpack(archive, into: path("out"))
    let original = Self.contents(Self.package)
    #expect(original.count >= 3 && Self.contents(path("out/Digits.mlpackage")) == original)
    #expect(TemporaryFolder.entries(path("out")) == ["Digits.mlpackage"])
  }

  @Test(arguments: Archive.endings) func equalContentsGiveEqualBytes(ending: String) throws {
    let copy = folder.copy(Self.package, as: "elsewhere/Digits.mlpackage")
    _ = folder.copy(Self.package, as: "Digits.mlpackage")
    for name in ["Digits.mlpackage/Manifest.json", "Digits.mlpackage/Data"] {
      var times = [timeval(tv_sec: 1000, tv_usec: 0), timeval(tv_sec: 1000, tv_usec: 0)]
      #expect(utimes(path(name), &times) == 0)
    }
    chmod(path("Digits.mlpackage/Manifest.json"), 0o600)
    try Archive.write(path("Digits.mlpackage"), to: path("a.\(ending)"))
    try Archive.write("\(copy)/", to: path("b.\(ending)"))
    #expect(TemporaryFolder.read(path("a.\(ending)")) == TemporaryFolder.read(path("b.\(ending)")))
  }

  @Test(arguments: Archive.endings) func emptyAndLongNamesAndEmptyFilesAreKept(ending: String) throws {
    let long = (0..<6).map { "\($0)" + String(repeating: "n", count: 50) }.joined(separator: "/")
    folder.write("x", "tree/\(long)/file")
    folder.write([], "tree/empty")
    folder.write([UInt8](repeating: 7, count: 512), "tree/block")
    folder.write("é", "tree/été")
    mkdir(path("tree/none"), 0o755)
    try Archive.write(path("tree"), to: path("a.\(ending)"))
    mkdir(path("out"), 0o700)
    try Archive.unpack(path("a.\(ending)"), into: path("out"))
    #expect(Self.contents(path("out/tree")) == Self.contents(path("tree")))
    #expect(TemporaryFolder.entries(path("out/tree/none")) == [])
  }

  @Test(arguments: Archive.endings) func fileIsAnArchiveOfOneEntry(ending: String) throws {
    folder.write("model", "m.onnx")
    try Archive.write(path("m.onnx"), to: path("a.\(ending)"))
    try Archive.unpack(path("a.\(ending)"), into: path("out"))
    #expect(TemporaryFolder.entries(path("out")) == ["m.onnx"])
    #expect(TemporaryFolder.read(path("out/m.onnx")) == Array("model".utf8))
  }

  @Test(.enabled(if: Shell.hasPython, "needs python3")) func archivesOfPythonAreUnpacked() throws {
    let made = Shell.run(
      """
      cd '\(folder.path)' && python3 - '\(Self.package)' <<'END'
      import sys, tarfile, zipfile, pathlib
      package = pathlib.Path(sys.argv[1])
      for kind, format in [("ustar", tarfile.USTAR_FORMAT), ("gnu", tarfile.GNU_FORMAT), ("pax", tarfile.PAX_FORMAT)]:
          with tarfile.open(f"{kind}.tar", "w", format=format, pax_headers={"comment": "x"} if kind == "pax" else None) as file:
              file.add(package, arcname="./" + "long" * 22 + "/Digits.mlpackage")
      with tarfile.open("compressed.tar.gz", "w:gz") as file:
          file.add(package, arcname="long/Digits.mlpackage")
      for name, method in [("stored.zip", zipfile.ZIP_STORED), ("deflated.zip", zipfile.ZIP_DEFLATED)]:
          with zipfile.ZipFile(name, "w", method) as file:
              for path in sorted(package.rglob("*")):
                  file.write(path, "d/Digits.mlpackage/" + str(path.relative_to(package)))
      with zipfile.ZipFile("large.zip", "w", zipfile.ZIP_DEFLATED) as file:
          for path in sorted(package.rglob("*")):
              if path.is_file():
                  with file.open("d/Digits.mlpackage/" + str(path.relative_to(package)), "w", force_zip64=True) as entry:
                      entry.write(path.read_bytes())
      END
      """)
    #expect(made.status == 0, "\(made.output)")
    let original = Self.contents(Self.package)
    for name in ["ustar.tar", "gnu.tar", "pax.tar", "compressed.tar.gz", "stored.zip", "deflated.zip", "large.zip"] {
      try Archive.unpack(path(name), into: path("out-\(name)"))
      let top = try #require(TemporaryFolder.entries(path("out-\(name)")))
      #expect(top.count == 1)
      #expect(Self.contents(path("out-\(name)/\(top[0])/Digits.mlpackage")) == original, "\(name)")
    }
  }

  @Test(.enabled(if: Shell.hasTar, "needs tar and zstd")) func archivesOfTarAreUnpacked() throws {
    for (option, name) in [("--zstd", "a.tar.zst"), ("-z", "a.tar.gz"), ("--format=v7", "a.tar"), ("-z -b 1", "b.tgz")]
    {
      let made = Shell.run("tar \(option) -cf '\(path(name))' -C '\(Self.package)/..' Digits.mlpackage")
      #expect(made.status == 0, "\(made.output)")
      try Archive.unpack(path(name), into: path("out-\(name)"))
      #expect(Self.contents(path("out-\(name)/Digits.mlpackage")) == Self.contents(Self.package), "\(name)")
    }
    // Two streams, one after the other, are one file, as for gzip and zstd.
    for (program, ending) in [("gzip", "gz"), ("zstd", "zst")] {
      let made = Shell.run(
        "cd '\(folder.path)' && head -c 3000 a.tar | \(program) -c > two.\(ending) && "
          + "tail -c +3001 a.tar | \(program) -c >> two.\(ending)")
      #expect(made.status == 0, "\(made.output)")
      try Archive.unpack(path("two.\(ending)"), into: path("out-\(ending)"))
      #expect(Self.contents(path("out-\(ending)/Digits.mlpackage")) == Self.contents(Self.package))
    }
  }

  @Test(.enabled(if: Shell.hasTar && Shell.hasPython, "needs tar, zstd and python3"))
  func otherProgramsReadWrittenArchives() throws {
    for ending in Archive.endings { try Archive.write(Self.package, to: path("a.\(ending)")) }
    let read = Shell.run(
      """
      cd '\(folder.path)' && mkdir gz zst zip && tar -xf a.tar.gz -C gz && tar --zstd -xf a.tar.zst -C zst && \
      python3 -c 'import zipfile; z = zipfile.ZipFile("a.zip"); assert z.testzip() is None; z.extractall("zip")'
      """)
    #expect(read.status == 0, "\(read.output)")
    for name in ["gz", "zst", "zip"] {
      #expect(Self.contents(path("\(name)/Digits.mlpackage")) == Self.contents(Self.package), "\(name)")
    }
  }

  @Test func linksAndOtherEndingsAreRefusedWhenWriting() throws {
    folder.write("x", "tree/file")
    symlink("file", path("tree/link"))
    for (source, name, code) in [
      ("tree", "a.zip", PackagingError.Code.refused), ("tree/file", "a.rar", .unsupported), ("absent", "a.zip", .io),
    ] {
      let error = #expect(throws: PackagingError.self) { try Archive.write(path(source), to: path(name)) }
      #expect(error?.code == code, "\(String(describing: error))")
      #expect(TemporaryFolder.entries(folder.path) == ["tree"])
    }
  }

  @Test func otherFilesAreNotArchives() throws {
    for (name, bytes) in [
      ("a.zip", Array("no archive".utf8)), ("b.tar", []), ("c.tar", [UInt8](repeating: 0, count: 2048)),
    ] {
      let file = folder.write(bytes, name)
      #expect(!Archive.recognizes(file))
      let error = #expect(throws: PackagingError.self) { try Archive.unpack(file, into: path("out")) }
      #expect(error?.code == .unsupported && access(path("out"), F_OK) != 0)
    }
    #expect(!Archive.recognizes(path("absent")) && !Archive.recognizes(folder.path))
  }

  @Test func onlyAnEmptyFolderIsUnpackedTo() throws {
    folder.write("mine", "out/mine")
    folder.write("x", "x")
    try Archive.write(path("x"), to: path("a.zip"))
    let error = #expect(throws: PackagingError.self) { try Archive.unpack(path("a.zip"), into: path("out")) }
    #expect(error?.code == .io && TemporaryFolder.entries(path("out")) == ["mine"])
  }
}
