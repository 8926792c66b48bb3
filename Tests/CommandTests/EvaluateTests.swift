import TestSupport
import Testing

/// `kelvin evaluate`.
@Suite struct EvaluateTests {
  private let folder = TemporaryFolder()
  private static let digits = ["0_0030.png": "zero", "9_0125.png": "nine", "9_0128.png": "nine", "7_0044.png": "seven"]

  /// A folder for each class; one seven lies among the nines.
  private func dataset() -> String {
    for (image, label) in Self.digits {
      folder.write(TemporaryFolder.read(Kelvin.image(image)), "data/\(image.hasPrefix("7") ? "nine" : label)/\(image)")
    }
    return "\(folder.path)/data"
  }

  private func evaluate(_ arguments: String...) -> ToolResult {
    Kelvin.run(["evaluate", Kelvin.digitsPackage] + arguments)
  }

  @Test func foldersAreClassesAndConfusionsAreListed() throws {
    let result = evaluate(dataset(), "--units", "cpu", "--json")
    #expect(result.status == 0, "\(result)")
    let document = try JSONValue(result.output)
    #expect(document["images"]?.number == 4)
    let one = try #require(document["results"]?[0])
    #expect(one["top1"]?["value"]?.number == 0.75)
    #expect(one["top5"]?["value"]?.number.map { $0 >= 0.75 } == true)
    #expect(one["confusions"]?.array?.count == 1)
    #expect(one["confusions"]?[0]?["label"]?.text == "nine")
    #expect(one["confusions"]?[0]?["answer"]?.text == "seven")
    let classes = try #require(one["classes"]?.array)
    #expect(classes.map { $0["label"]?.text } == ["nine", "zero"])
    #expect(classes.map { $0["recall"]?.number } == [2.0 / 3, 1])
    #expect(one["bytes"]?.number.map { $0 > 10_000 } == true)
    #expect(one["againstFirst"] == nil)
  }

  @Test(.slow) func modelIsComparedAcrossUnits() throws {
    let result = evaluate(dataset(), "--units", "cpu", "--units", "reference", "--json")
    let results = try #require(try JSONValue(result.output)["results"]?.array)
    #expect(results.map { $0["model"]?.text } == ["cpu", "reference"])
    #expect(results[1]["againstFirst"]?["difference"]?.number == 0)
    #expect(results[1]["againstFirst"]?["probability"]?.number == 1)
    let table = evaluate(dataset(), "--units", "cpu", "--precisions", "full,low")
    #expect(table.output.contains("low against full: top-1 +0.0 points"), "\(table)")
    #expect(table.output.split(separator: "\n").allSatisfy { $0.count <= 80 || !$0.contains("%") }, "\(table)")
  }

  @Test func listsAndCOCODocumentsAreDataSets() throws {
    _ = dataset()
    let lines = folder.write(
      "\u{FEFF}label,image\r\n\"nine\",\"data/nine/9_0125.png\"\r\n\r\nzero,data/zero/0_0030.png\r\n", "set.csv")
    let coco = folder.write(
      #"""
      {"images": [{"id": 1, "file_name": "data/nine/9_0125.png"}, {"id": 2, "file_name": "data/zero/0_0030.png"},
                  {"id": 3, "file_name": "data/nine/7_0044.png"}],
       "annotations": [{"image_id": 1, "category_id": 9}, {"image_id": 1, "category_id": 9},
                       {"image_id": 2, "category_id": 4}, {"image_id": 3, "category_id": 4},
                       {"image_id": 3, "category_id": 9}],
       "categories": [{"id": 4, "name": "ZERO"}, {"id": 9, "name": "nine"}]}
      """#, "set.json")
    for (path, remark) in [(lines, ""), (coco, "1 image without exactly one class")] {
      let result = evaluate(path, "--units", "cpu", "--json")
      #expect(result.errors.contains(remark), "\(result)")
      let document = try JSONValue(result.output)
      #expect(document["images"]?.number == 2)
      #expect(document["results"]?[0]?["top1"]?["value"]?.number == 1)
    }
  }

  @Test func savedCurvesCanBeRead() throws {
    let curves = "\(folder.path)/curves.json"
    #expect(evaluate(dataset(), "--units", "cpu", "--save-curves", curves).status == 0)
    let document = try JSONValue(String(decoding: TemporaryFolder.read(curves), as: UTF8.self))
    #expect(document["format"]?.text == "kelvin-curves")
    #expect(document["classes"]?["nine"]?["recall"]?.array?.count == 4)
    let seen = Kelvin.run([
      "classify", Kelvin.digitsPackage, Kelvin.image("9_0125.png"), "--curves", curves, "--min-precision", "0.9",
      "--units", "cpu", "--json",
    ])
    #expect(seen.status == 0, "\(seen)")
    #expect(try JSONValue(seen.output)[0]?["observations"]?[0]?["identifier"]?.text == "nine")
  }

  @Test(.slow) func pageHasEveryCandidateAndFetchesNothing() throws {
    let page = "\(folder.path)/page.html"
    let result = evaluate(dataset(), "--units", "cpu", "--units", "reference", "--report", page)
    #expect(result.status == 0, "\(result)")
    let text = String(decoding: TemporaryFolder.read(page), as: UTF8.self)
    for words in [
      "default-src &#39;none&#39;", "What accuracy costs", "taken for", "is nine:", "data:image/jpeg;base64,",
    ] {
      #expect(text.contains(words.replacing("&#39;", with: "'")), "\(words)")
    }
    #expect(!text.contains("http://") && !text.contains("https://"))
  }

  @Test(.slow) func verdictNamesAModelAndTheParetoFront() throws {
    let result = evaluate(dataset(), "--units", "cpu", "--units", "reference", "--pareto", "--json")
    #expect(result.status == 0, "\(result)")
    let document = try JSONValue(result.output)
    let results = try #require(document["results"]?.array)
    let names = results.compactMap { $0["model"]?.text }
    #expect(names == ["cpu, full", "cpu, low", "reference, full", "reference, low"])
    let verdict = try #require(document["verdict"])
    #expect(names.contains(verdict["model"]?.text ?? ""))
    let front = try #require(verdict["front"]?.array).compactMap(\.text)
    #expect(
      results.filter { $0["isOnFront"]?.bool == true }.compactMap { $0["model"]?.text }.sorted() == front.sorted())
    for one in results {
      let device = one["model"]?.text?.hasPrefix("cpu") == true ? "cpu" : "reference"
      #expect(one["devices"]?[device]?.number.map { $0 > 0 } == true, "\(result.output)")
      // More than the size of the model's files, less than the machine's memory.
      #expect(one["peakMemory"]?.number.map { $0 > 1e6 && $0 < 1e10 } == true, "\(result.output)")
    }
    let page = "\(folder.path)/page.html"
    let table = evaluate(
      dataset(), "--units", "cpu", "--precisions", "full,low", "--pareto", "--report", page)
    #expect(table.output.contains("FRONT") && table.output.contains("For this job on this machine: "), "\(table)")
    let text = String(decoding: TemporaryFolder.read(page), as: UTF8.self)
    #expect(text.contains("class=\"front\"") && text.contains("<span class=\"tag\">pick</span>"))
  }

  @Test(.slow) func manyModelsAreComparedInOneTable() {
    let page = "\(folder.path)/page.html"
    let result = evaluate(dataset(), "--units", "cpu", "--units", "reference", "--pareto", "--report", page)
    #expect(result.status == 0 && result.output.contains("\nAgainst cpu, full:\nMODEL "), "\(result)")
    #expect(result.output.ranges(of: "not told apart").count == 3 && !result.output.contains("against cpu, full: "))
    #expect(result.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(result)")
    #expect(String(decoding: TemporaryFolder.read(page), as: UTF8.self).contains("<h3>Against cpu, full</h3>"))
  }

  @Test func invalidDataSetIsOneErrorLine() throws {
    _ = dataset()
    for (path, words) in [
      ("\(folder.path)/absent", "cannot be read"), (folder.write("", "empty.csv"), "no labelled images"),
      (folder.write("one\n", "short.csv"), "line 1: expected an image and its class, found 1 field"),
      (folder.write("\"a,b\n", "open.csv"), "line 1: a quoted field does not end"),
      (folder.write("{}", "set.json"), "is not a COCO data set"),
      (folder.write("data/zero/0_0030.png,otter\n", "other.csv"), "the data set's only class, 'otter', is not one of"),
      (folder.write("data/absent.png,zero\n", "gone.csv"), "the only image cannot be read: '"),
    ] {
      let result = evaluate(path, "--units", "cpu")
      #expect(result.status == 65 && result.errorLines.count == 1, "\(result)")
      #expect(result.errors.contains(words), "\(result)")
    }
    let text = evaluate(
      folder.write("data/zero/0_0030.png,zero\ndata/nine/9_0125.png,otter\nset.json,zero\n", "mixed.csv"), "--units",
      "cpu",
      "--json")
    #expect(text.status == 65, "\(text)")
    #expect(text.errors.contains("has no answer for 1 of the data set's classes ('otter')"), "\(text)")
    #expect(try JSONValue(text.output)["results"]?[0]?["top1"]?["value"]?.number == 0.5)
    #expect(try JSONValue(text.output)["faults"]?.array?.count == 1)
  }
}
