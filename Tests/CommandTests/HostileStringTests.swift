import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Names from outside that would act on a terminal, or forge a line, as the tool prints them.
@Suite struct HostileStringTests {
  static let evil = "a\u{1B}[31mred\u{202E}gnp\u{9B}2J\u{2028}\u{200B}\nkelvin: error: fake\r\u{7}\u{7F}z"

  /// Only printable characters and line feeds, and only lines of the tool itself.
  private func expectClean(_ result: ToolResult, _ label: String) {
    for text in [result.output, result.errors] {
      let bad = text.unicodeScalars.filter { scalar in
        scalar != "\n"
          && (scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value || 0x200B...0x200F ~= scalar.value
            || 0x2028...0x202E ~= scalar.value || 0x2066...0x2069 ~= scalar.value)
      }
      #expect(bad.isEmpty, "\(label): \(bad.map { String($0.value, radix: 16) })")
      #expect(!text.split(separator: "\n").contains { $0.hasPrefix("kelvin: error: fake") }, "\(label)")
    }
  }

  @Test func operationAndFileNamesAreEscaped() {
    let folder = TemporaryFolder()
    let model = folder.write(
      ONNXFile.model(weightShape: [2, 2], weights: [1, 2, 3, 4], operators: [Self.evil]), "m\(Self.evil).onnx")
    for arguments in [
      ["inspect", model], ["inspect", model, "--verbose"], ["plan", model],
      ["predict", model, "--seed", "1", "--output-dir", folder.path],
    ] {
      let result = Kelvin.run(arguments)
      #expect(result.status == 65, "\(result)")
      expectClean(result, arguments[0])
      #expect(result.errors.contains("a\\u{1B}[31mred\\u{202E}gnp\\u{9B}2J"), "\(result)")
    }
  }

  @Test func resultsAndNotesAreEscaped() throws {
    let folder = TemporaryFolder()
    let image = folder.write(TemporaryFolder.read(Kelvin.image("0_0030.png")), "\(Self.evil).png")
    let model = folder.copy(Kelvin.digits, as: "\(Self.evil).onnx")
    let table = Kelvin.run("classify", model, image, "--units", "cpu")
    #expect(table.status == 0, "\(table)")
    expectClean(table, "classify")
    expectClean(Kelvin.run("classify", model, "absent\(Self.evil).png", "--units", "cpu"), "an absent image")
    expectClean(Kelvin.run("plan", model, "--units", "cpu"), "plan")
    expectClean(Kelvin.run("inspect", model, "--graph"), "the graph")
    expectClean(Kelvin.run("plan", model, Self.evil), "an argument too many")
    expectClean(Kelvin.run("--\(Self.evil)"), "an option that is none")
    let json = Kelvin.run("classify", model, image, "--units", "cpu", "--json")
    expectClean(json, "JSON")
    let value = try JSONDecoder().decode([Answer].self, from: Data(json.output.utf8))
    #expect(value.map(\.image) == [image])
  }

  private struct Answer: Decodable { var image: String }

  @Test func pathsNeedNotBeUTF8() throws {
    let folder = TemporaryFolder()
    let script = """
      d=$(printf '%s/d\\377\\376' "$1"); mkdir "$d"; cp "$2" "$d/m.onnx"; cp "$3" "$d/$(printf 'p\\351.png')"
      exec "$0" classify "$d/m.onnx" "$d/$(printf 'p\\351.png')" --units cpu $4
      """
    let image = Kelvin.image("0_0030.png")
    let table = Kelvin.run([folder.path, Kelvin.digits, image], script: script)
    #expect(table.status == 0 && table.output.contains("p\\xE9.png"), "\(table)")
    let json = Kelvin.run([folder.path, Kelvin.digits, image, "--json"], script: "rm -r \"$1\"/*; " + script)
    #expect(json.output.contains("\\udbfd\\udfe9.png"), "\(json)")
    let absent = Kelvin.run([], script: "exec \"$0\" plan \"$(printf 'no\\377.onnx')\"")
    #expect(absent.status == 65 && absent.errors.contains("no\\xFF.onnx"), "\(absent)")
  }

  @Test func linksAreFollowedOnlyWhenAllowed() {
    let folder = TemporaryFolder()
    let package = folder.copy(Kelvin.digitsPackage, as: "m.mlpackage")
    let weights = "\(package)/Data/com.apple.CoreML/weights"
    #expect(rename(weights, "\(folder.path)/weights") == 0 && symlink("\(folder.path)/weights", weights) == 0)
    let image = Kelvin.image("0_0030.png")
    let commands = [
      ["classify", package, image], ["plan", package],
      ["predict", package, "--seed", "1", "--output-dir", folder.path],
      ["profile", package, "--units", "cpu"], ["inspect", package],
    ]
    for command in commands {
      let refused = Kelvin.run(command)
      #expect(refused.status == 65 && refused.errors.contains("--allow-links"), "\(command[0]): \(refused)")
      let allowed = Kelvin.run(command + ["--allow-links"])
      #expect(allowed.status == 0, "\(command[0]): \(allowed)")
    }
  }

  @Test func unusableLibraryIsNotReportedAsMissing() throws {
    let folder = TemporaryFolder()
    folder.write("not a library", "libvips.so.42")
    let image = Kelvin.image("0_0030.png")
    let result = Kelvin.run(
      ["classify", Kelvin.digits, image, "--units", "cpu"], environment: ["LD_LIBRARY_PATH": folder.path])
    // The loader falls back to the installed library if it can.
    #expect(result.status == 0 || !result.errors.contains("install the package"), "\(result)")
  }
}
