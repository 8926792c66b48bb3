import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinTables
import TestSupport
import Testing

/// Predictions for the rows of tables.
@Suite("Predictions for tables")
struct TablePredictionTests {
  private let folder = TemporaryFolder()

  /// A recorded number, array, text or dictionary, as Tests/Vectors/Classical/coreml.py writes it.
  private struct Recorded: Decodable {
    struct Value: Decodable {
      var number: Double?
      var text: String?
      var map: [String: Double]?
      /// Nil for a missing value.
      var numbers: [Double?]?
      var shape: [Int]?
    }
    var inputs: [String: Value]
    var outputs: [String: Value]
  }

  private static let vectors = "\(SharedFiles.projectRoot)/Tests/Vectors/Classical"

  private func model(_ name: String) throws -> Model {
    try Model(
      contentsOf: URL(filePath: "\(Self.vectors)/\(name)"), configuration: ModelConfiguration(computeUnits: .cpuOnly))
  }

  /// The resulting rows, the first with the names of the columns.
  private func rows(
    _ model: Model, _ text: String, _ change: (inout TablePrediction) -> Void = { _ in }
  ) throws -> (rows: [[String]], result: TablePrediction.Result) {
    var prediction = TablePrediction(model)
    change(&prediction)
    let output = "\(folder.path)/out.csv"
    let result = try prediction.run(
      from: .file(URL(filePath: folder.write(text, "in.csv"))), to: .file(URL(filePath: output)))
    let separator = prediction.separator.asciiValue ?? 0
    let rows = try DelimitedText(TemporaryFolder.read(output), separator: separator).rows.map(\.fields)
    return (rows, result)
  }

  private func error(_ model: Model, _ text: String, _ change: (inout TablePrediction) -> Void = { _ in }) -> String {
    do throws(Error) {
      _ = try rows(model, text, change)
      return "none"
    } catch { return "\(error)" }
  }

  @Test("classical models match scikit-learn and NumPy on tables")
  func recorded() throws {
    let all = try JSONDecoder().decode(
      [String: [Recorded]].self, from: Data(TemporaryFolder.read("\(Self.vectors)/coreml.json")))
    var compared = 0
    for (name, cases) in all.sorted(by: { $0.key < $1.key }) {
      let model = try model("\(name).mlmodel")
      let names = model.modelDescription.inputNames
      let header = names.flatMap { input -> [String] in
        let count = cases[0].inputs[input]?.numbers?.count ?? 1
        return count == 1 ? [input] : (0..<count).map { "\(input)[\($0)]" }
      }
      let lines = cases.map { entry in
        names.flatMap { input -> [String] in
          let value = entry.inputs[input]
          return value?.numbers?.map { $0.map { "\($0)" } ?? "" } ?? [
            value?.number.map { "\($0)" } ?? value?.text ?? ""
          ]
        }
      }
      let text = ([header] + lines).map { $0.map(DelimitedText.field).joined(separator: ",") }.joined(separator: "\n")
      let (rows, result) = try rows(model, text)
      #expect(result.rowCount == cases.count && result.columns == rows[0], "\(name)")
      for (row, entry) in zip(rows.dropFirst(), cases) {
        let cells = Dictionary(zip(rows[0], row)) { first, _ in first }
        for (output, expected) in entry.outputs {
          var numbers: [(String, Double)] = []
          for (label, number) in expected.map ?? [:] { numbers.append(("\(output)[\(label)]", number)) }
          for case (let place, let number?) in (expected.numbers ?? []).enumerated() {
            numbers.append((expected.numbers?.count == 1 ? output : "\(output)[\(place)]", number))
          }
          if let number = expected.number { numbers.append((output, number)) }
          for (column, number) in numbers {
            let found = cells[column].flatMap(Double.init) ?? .infinity
            #expect(
              abs(found - number) <= 1e-6 * max(1, number.magnitude), "\(name) \(column): \(found), not \(number)")
            compared += 1
          }
          if let text = expected.text { #expect(cells[output] == text, "\(name)") }
        }
      }
    }
    #expect(compared > 200)
  }

  @Test(
    "batches of rows match single rows, in order",
    arguments: [
      "linear.mlmodel", "logistic.mlmodel", "pipeline.mlmodel", "forest_two.mlmodel", "sklearn_logistic.onnx",
    ])
  func together(name: String) throws {
    let model = try model(name)
    let input = model.modelDescription.inputNames[0]
    let isArray = model.modelDescription.inputDescriptionsByName[input]?.type == .multiArray
    let names = isArray ? (0..<4).map { "\(input)[\($0)]" } : model.modelDescription.inputNames
    var random = SeededGenerator(seed: 11)
    // More than several blocks.
    let numbers = (0..<20_000).map { _ in (0..<4).map { _ in random.unit() * 8 - 4 } }
    let text = ([names.joined(separator: ",")] + numbers.map { $0.map { "\($0)" }.joined(separator: ",") }).joined(
      separator: "\r\n")
    let (rows, result) = try rows(model, text)
    #expect(result.rowCount == numbers.count && rows.count == numbers.count + 1)
    for place in stride(from: 0, to: numbers.count, by: 499) {
      var features: [String: FeatureValue] = [:]
      if isArray {
        features[input] = FeatureValue(multiArray: try MultiArray(numbers[place].map(Float.init), shape: [1, 4]))
      } else {
        for (name, number) in zip(names, numbers[place]) { features[name] = FeatureValue(double: number) }
      }
      let alone = try model.prediction(from: DictionaryFeatureProvider(dictionary: features))
      let cells = Dictionary(zip(rows[0], rows[place + 1])) { first, _ in first }
      for (output, value) in alone.dictionary {
        switch value.type {
        case .double: #expect(cells[output] == value.doubleValue.map { "\($0)" })
        case .string: #expect(cells[output] == value.stringValue)
        case .sequence where value.sequenceValue?.type == .string:
          #expect(cells[output] == value.sequenceValue?.stringValues[0])
        case .dictionary:
          for (label, score) in value.dictionaryValue ?? [:] { #expect(cells["\(output)[\(label)]"] == "\(score)") }
        default: break
        }
      }
    }
  }

  @Test("quotes, line ends, byte order mark and blanks do not matter")
  func forms() throws {
    let model = try model("linear.mlmodel")
    let plain = try rows(model, "a,b,c,d\n1,2,3,4\n5,6,7,8\n").rows
    #expect(plain.count == 3)
    for text in [
      "\u{FEFF}a,b,c,d\r\n1,2,3,4\r\n5,6,7,8", "d,c,b,a\n4,3,2,1\n8,7,6,5\n",
      "\"a\",\"b\",\"c\",\"d\"\n\"1\",2, 3 ,4.0\n\n5e0,6,7,\"8\"\n",
      "note,a,b,c,d\n\"x\ny, \"\"z\"\"\",1,2,3,4\n,5,6,7,8\n", "a,b,c,d\r1,2,3,4\r5,6,7,8\r",
    ] { #expect(try rows(model, text).rows == plain, "\(text.debugDescription)") }
    let other = try rows(model, "a;b;c;d\n1;2;3;4\n5;6;7;8\n") { $0.separator = ";" }
    #expect(other.rows == plain)
  }

  @Test("columns are matched by name, copied on request, and unused ones reported")
  func columns() throws {
    let model = try model("linear.mlmodel")
    let text = "id,a,b,first,d,note\n7,1,2,3,4,\"x, y\"\n8,1,2,3,4,z\n"
    let (rows, result) = try rows(model, text) {
      $0.columns = ["c": ["first"]]
      $0.keptColumns = ["note", "id"]
    }
    #expect(rows[0] == ["note", "id", "y"] && rows[1].prefix(2) == ["x, y", "7"] && rows[1][2] == rows[2][2])
    #expect(result.remarks.isEmpty)
    let extra = try self.rows(model, "a,b,c,d,e,f\n1,2,3,4,5,6\n").result.remarks
    #expect(extra.count == 1 && extra[0].contains("'e', 'f'"))
    #expect(error(model, "a,b,d\n1,2,3\n").contains("'c'"))
    #expect(error(model, "a;b;c;d\n1;2;3;4\n").contains("--separator ';'"))
    #expect(error(model, "a,b,c,d,a\n1,2,3,4,5\n").contains("both called 'a'"))
    #expect(error(model, text) { $0.columns = ["c": ["absent"]] }.contains("'absent'"))
    #expect(
      error(model, text) {
        $0.columns = ["c": ["first"]]
        $0.keptColumns = ["absent"]
      }.contains("'absent'"))
    #expect(error(model, text) { $0.columns = ["x": ["first"]] }.contains("no input 'x'"))
  }

  @Test("an array is read from a column for each number or from lists, and is written so")
  func arrays() throws {
    let model = try model("transformers.mlmodel")
    let apart = try rows(model, "a,v[0],v[1],v[2]\n1,2,3,4\n5,6,7,8\n").rows
    #expect(apart[0].first == "y[0]")
    #expect(try rows(model, "v,a\n\"[2, 3, 4]\",1\n\"[[6],[7,8]]\",5\n").rows == apart)
    #expect(try rows(model, "x,y,z,a\n2,3,4,1\n6,7,8,5\n") { $0.columns = ["v": ["x", "y", "z"]] }.rows == apart)
    #expect(error(model, "a,v[0],v[1]\n1,2,3\n").contains("'v[2]'"))
    #expect(error(model, "a,v[0],v[1],v[2],v[3]\n1,2,3,4,5\n").contains("'v[3]'"))
    #expect(error(model, "a,v\n1,\"[1, 2]\"\n").contains("line 2, column 'v': expected 3 numbers, got 2"))
    #expect(error(model, "a,v\n1,\"{}\"\n").contains("expected a list"))
  }

  @Test("a cell that begins with a bracket is a list of strings")
  func texts() throws {
    let file = "\(SharedFiles.projectRoot)/Tests/Vectors/Texts/empty.onnx"
    let model = try Model(
      contentsOf: URL(filePath: file), configuration: ModelConfiguration(computeUnits: .cpuOnly))
    let list = try rows(model, "x\n\"[\"\"a\"\", \"\"b\"\"]\"\n").rows
    #expect(try list == rows(model, "x\n\" \t[\"\"a\"\",\"\"b\"\"]\"\n").rows)
    #expect(try rows(model, "x\n [a\n").rows[1] == [" [a"] && list[1] != [" [a"])
  }

  @Test("an empty cell is the model's missing value, or an error")
  func missing() throws {
    // Its imputer replaces not-a-numbers.
    let imputing = try model("transformers.mlmodel")
    #expect(
      try rows(imputing, "a,v[0],v[1],v[2]\n,2,,4\n").rows == rows(imputing, "a,v[0],v[1],v[2]\nnan,2,nan,4\n").rows)
    let linear = try model("linear.mlmodel")
    let text = "a,b,c,d\n1,2,3,4\n1,,3,4\n"
    #expect(error(linear, text).contains("line 3, column 'b': it is empty"))
  }

  @Test("an invalid row names its line and column and keeps the old file")
  func faults() throws {
    let model = try model("linear.mlmodel")
    let output = folder.write("before", "out.csv")
    for (row, reason) in [
      ("1,2,three,4", "line 4, column 'c': expected a number, got 'three'"),
      ("1,2,3", "line 4: it has 3 cells, expected 4"),
      ("1,2,3,4,5", "line 4: it has 5 cells, expected 4"), ("\"1,2,3,4", "line 4: a quoted field does not end"),
      ("\"1\"x,2,3,4", "line 4: something follows the closing quote"),
    ] {
      let message = error(model, "a,b,c,d\n1,2,3,4\n1,2,3,4\n\(row)\n1,2,3,4\n")
      #expect(message.contains(reason), "\(message)")
      #expect(String(decoding: TemporaryFolder.read(output), as: UTF8.self) == "before")
      #expect(TemporaryFolder.entries(folder.path)?.sorted() == ["in.csv", "out.csv"])
    }
    // This run must not remove files that another run has begun.
    let begun = folder.write("begun", "out.csv.writing-\(ProcessInfo.processInfo.processIdentifier)")
    #expect(error(model, "a,b,c,d\n1,2,3,4\n").contains("File exists"))
    #expect(String(decoding: TemporaryFolder.read(begun), as: UTF8.self) == "begun")
    try FileManager.default.removeItem(atPath: begun)
    #expect(error(model, "").contains("is empty"))
    #expect(error(model, "\n\n").contains("no rows"))
    #expect(try rows(model, "a,b,c,d\n").rows == [["y"]])
  }

  @Test("invalid rows are skipped and counted on request", arguments: [1, 3000])
  func leftOut(count: Int) throws {
    let model = try model("linear.mlmodel")
    let lines = (0..<count).flatMap { ["\($0),1,2,3,4", "\($0),1,2,x,4", "\($0),1,2"] }.joined(separator: "\n")
    let (rows, result) = try rows(model, "id,a,b,c,d\n\(lines)\n") {
      $0.skipsFaultyRows = true
      $0.keptColumns = ["id"]
    }
    #expect(result.rowCount == 3 * count && result.faultCount == 2 * count)
    #expect(result.faults.count == min(2 * count, 100) && result.faults[0].contains("line 3, column 'c'"))
    #expect(rows.count == 3 * count + 1)
    #expect(rows.dropFirst().allSatisfy { $0.count == 2 } && rows.dropFirst().filter { $0[1] == "" }.count == 2 * count)
    #expect(rows.dropFirst().enumerated().allSatisfy { $1[0] == "\($0 / 3)" })
  }

  @Test("bytes that are not UTF-8 are an error only in columns that are read")
  func bytes() throws {
    let model = try model("linear.mlmodel")
    let row = Array("a,b,c,d,note\n1,2,3,4,".utf8) + [0xE9, 0x0A]
    let input = URL(filePath: folder.write(row, "latin.csv"))
    let output = TablePrediction.Place.file(URL(filePath: "\(folder.path)/out.csv"))
    var prediction = TablePrediction(model)
    #expect(try prediction.run(from: .file(input), to: output).rowCount == 1)
    prediction.keptColumns = ["note"]
    let error = #expect(throws: ModelError.self) { try prediction.run(from: .file(input), to: output) }
    #expect(error?.description.contains("line 2, column 'note'") == true)
    let name = URL(filePath: folder.write([0xE9] + row, "name.csv"))
    let other = #expect(throws: ModelError.self) { try prediction.run(from: .file(name), to: output) }
    #expect(other?.description.contains("names of columns are not UTF-8") == true)
  }

  @Test("the input table is never overwritten")
  func same() throws {
    let model = try model("linear.mlmodel")
    let path = folder.write("a,b,c,d\n1,2,3,4\n", "in.csv")
    let prediction = TablePrediction(model)
    for other in [path, "\(folder.path)/./in.csv"] {
      let error = #expect(throws: ModelError.self) {
        try prediction.run(from: .file(URL(filePath: path)), to: .file(URL(filePath: other)))
      }
      #expect(error?.description.contains("is the input table") == true)
    }
    #expect(String(decoding: TemporaryFolder.read(path), as: UTF8.self) == "a,b,c,d\n1,2,3,4\n")
    #expect(throws: ModelError.self) {
      try prediction.run(from: .file(URL(filePath: folder.path)), to: .file(URL(filePath: "\(folder.path)/out.csv")))
    }
  }

  @Test("a cancelled run keeps its rows in a partial file")
  func cancelled() async throws {
    let model = try model("linear.mlmodel")
    let lines = String(repeating: "1,2,3,4\n", count: 400_000)
    let input = folder.write("a,b,c,d\n" + lines, "in.csv")
    let output = folder.write("before", "out.csv")
    let prediction = TablePrediction(model)
    let task = Task {
      try await prediction.run(from: .file(URL(filePath: input)), to: .file(URL(filePath: output))) { _ in
        withUnsafeCurrentTask { $0?.cancel() }
      }
    }
    task.cancel()
    let result = await task.result
    // Cancelled before it began, or at its first block.
    switch result {
    case .success(let done):
      #expect(done.isCancelled && done.rowCount < 400_000)
      #expect(done.partialPath == "\(output).partial")
      #expect(try DelimitedText(TemporaryFolder.read("\(output).partial")).rows.count == done.rowCount + 1)
    case .failure(let error): #expect((error as? ModelError)?.code == .predictionCancelled)
    }
    #expect(String(decoding: TemporaryFolder.read(output), as: UTF8.self) == "before")
  }
}
