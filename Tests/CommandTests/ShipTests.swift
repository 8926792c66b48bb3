import Glibc
import TestSupport
import Testing

/// `kelvin inspect --ship`.
@Suite struct ShipTests {
  private let folder = TemporaryFolder()

  @Test func totalsAndTensorsArePrinted() throws {
    let result = Kelvin.run(["inspect", "--ship", Kelvin.digitsPackage], environment: ["COLUMNS": "80"])
    #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
    #expect(result.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(result.output)")
    for part in ["size ", "zip ", "packs ", "memory ", "COPY", "palette-4", "TENSOR"] {
      #expect(result.output.contains(part), "\(part): \(result.output)")
    }
  }

  @Test func documentAddsUp() throws {
    let result = Kelvin.run("inspect", "--ship", Kelvin.digitsPackage, "--json", "--units", "cpu")
    let document = try JSONValue(result.output)
    #expect(document["format"]?.text == "kelvin-size" && document["version"]?.number == 1, "\(result)")
    func sum(_ key: String) throws -> Double {
      try #require(document[key]?.array).reduce(0) { $0 + ($1["bytes"]?.number ?? 0) }
    }
    let bytes = try #require(document["bytes"]?.number)
    #expect(try sum("files") == bytes && sum("tensors") + sum("rest") == bytes)
    let zip = try #require(document["zipBytes"]?.number)
    #expect(zip > bytes / 4 && zip < bytes + 1000)
    // Packed weights are at least as large as the float16 weights, and a process has more memory than they.
    let packs = try #require(document["packBytes"]?.number)
    let (load, peak) = (document["memory"]?["afterLoad"]?.number, document["memory"]?["whilePredicting"]?.number)
    #expect(packs > bytes / 2, "\(packs)")
    #expect(try #require(load) > packs && #require(peak) >= #require(load), "\(result.output)")
    #expect(document["copies"]?.array?.count == 6)
  }

  /// The size of a ZIP file that Python writes.
  @Test(.enabled(if: PageTool.hasPython, "needs python3"))
  func sizeAsZIPFileIsThatOfAnotherProgram() throws {
    let write = """
      python3 -c 'import os, sys, zipfile
      z = zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED)
      for d, _, names in os.walk(sys.argv[1]):
        for n in names: z.write(d + "/" + n, "Digits.mlpackage/" + os.path.relpath(d + "/" + n, sys.argv[1]))
      z.close()' \(Kelvin.digitsPackage) \(folder.path)/d.zip
      """
    let made = Kelvin.run(["--version"], shell: write)
    #expect(made.status == 0, "\(made)")
    let document = try JSONValue(Kelvin.run("inspect", "--ship", Kelvin.digitsPackage, "--json").output)
    let expected = Double(TemporaryFolder.read("\(folder.path)/d.zip").count)
    // Another version of zlib may find other matches.
    #expect(try abs(#require(document["zipBytes"]?.number) - expected) < expected / 200)
  }

  @Test func pageIsWritten() {
    let page = "\(folder.path)/size.html"
    let result = Kelvin.run("inspect", "--ship", Kelvin.digits, "--report", page)
    #expect(result.status == 0 && result.errors.contains("wrote \(page)"), "\(result)")
    let html = String(decoding: TemporaryFolder.read(page), as: UTF8.self)
    #expect(html.contains("class=\"treemap\"") && html.contains("Size of Digits.onnx"))
  }

  /// A model whose input sizes are open cannot be run without --shape, and has a size all the same.
  @Test func modelThatCannotRunHasASize() throws {
    let result = Kelvin.run("inspect", "--ship", "\(Kelvin.root)/Tests/Text/squad.onnx", "--json", "--units", "cpu")
    #expect(result.status == 0, "\(result)")
    #expect(try #require(JSONValue(result.output)["tensors"]?.array).count > 3)
  }

  @Test(arguments: [
    (["--ship", "--graph"], 64, "--graph and --ship"), (["--report", "x.html"], 64, "--report needs --ship"),
  ])
  func refusesWrongRequests(arguments: [String], status: Int32, part: String) {
    let result = Kelvin.run(["inspect", Kelvin.digits] + arguments)
    #expect(result.status == status && result.errors.contains(part), "\(result)")
    #expect(result.errorLines.count == 1, "\(result)")
  }

  @Test func damagedModelsAreOneLine() {
    let cut = folder.copy(Kelvin.digitsPackage, as: "Cut.mlpackage")
    folder.write([1, 2, 3], "Cut.mlpackage/Data/com.apple.CoreML/weights/weight.bin")
    mkdir("\(folder.path)/Empty.mlpackage", 0o755)
    for path in [cut, "\(folder.path)/Empty.mlpackage", "\(folder.path)/absent.onnx"] {
      let result = Kelvin.run("inspect", "--ship", path)
      #expect(result.status == 65 && result.errorLines.count == 1 && result.output.isEmpty, "\(path): \(result)")
    }
  }
}
