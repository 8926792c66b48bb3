import KelvinBasics

extension SizeReport {
  /// The number of tensors that are shown without `--verbose`.
  private static let shownCount = 12

  /// The number of codings that are counted one by one.
  private static let shownCodings = 5

  /// The totals by name, with their meaning.
  var totals: [(name: String, value: String, remark: String)] {
    var totals = [
      (name: "files", value: "\(files.count)", remark: ""),
      (name: "size", value: HumanReadable.bytes(byteCount), remark: "the files as they are"),
    ]
    if let download {
      totals.append(
        ("zip", HumanReadable.bytes(download.zip), "each file deflated, level \(DownloadSize.deflateLevel)"))
      if let zstd = download.zstd {
        totals.append(("tar.zst", HumanReadable.bytes(zstd), "Zstandard, level \(DownloadSize.zstdLevel)"))
      }
    }
    if let memory {
      totals.append(
        ("packs", HumanReadable.bytes(memory.packs), "packed weights in the compiled cache, on this machine"))
      totals.append(("memory", HumanReadable.bytes(memory.afterLoad), "of a process after the model is loaded"))
      if let peak = memory.whilePredicting {
        totals.append(("peak", HumanReadable.bytes(peak), "of the process while it predicts"))
      }
    }
    totals.append(("tensors", HumanReadable.bytes(tensorByteCount), codings))
    let others = rest.prefix(3).map { "\($0.name) \(HumanReadable.bytes($0.byteCount))" }
    totals.append(
      ("rest", HumanReadable.bytes(byteCount - tensorByteCount), others.joined(separator: ", ")))
    return totals
  }

  /// The number of tensors of each coding: `53 float16, 53 palette-6`.
  private var codings: String {
    let counts = Dictionary(tensors.map { ($0.coding.description, 1) }, uniquingKeysWith: +)
      .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    let shown = counts.prefix(Self.shownCodings).map { "\($0.value) \($0.key)" }
    let rest = counts.dropFirst(Self.shownCodings).reduce(0) { $0 + $1.value }
    return counts.isEmpty ? "none" : (shown + (rest > 0 ? ["\(rest) others"] : [])).joined(separator: ", ")
  }

  /// Formats the report for a terminal.
  ///
  /// - Parameters:
  ///   - width: The terminal's width in columns.
  ///   - isVerbose: Whether all tensors are shown.
  package func text(width: Int, isVerbose: Bool) -> String {
    let sizes = totals.map(\.value.columns).max() ?? 0
    var lines = ["\(model.lastPathPart.printable): \(format), version \(formatVersion)", ""]
    for total in totals {
      let name = total.name.padding(to: 9)
      let value = String(repeating: " ", count: sizes - total.value.columns) + total.value
      let remark = total.remark.isEmpty ? "" : "  \(total.remark)"
      lines.append("\(name)\(value)\(remark)".paragraph(width: width, hangingIndent: 11 + sizes))
    }
    if !copies.isEmpty { lines += ["", copiesTable.text(width: width)] }
    guard !tensors.isEmpty else { return lines.joined(separator: "\n") }
    var table = TextTable(
      .init("TENSOR", shrinksTo: 16, cut: .beginning), .init("SHAPE", vanishes: true), .init("CODING"),
      .init("SIZE", .right), .init("SHARE", .right))
    let shown = isVerbose ? tensors[...] : tensors.prefix(Self.shownCount)
    for tensor in shown {
      table.add(
        tensor.name, tensor.shapeText, tensor.coding.description, HumanReadable.bytes(tensor.byteCount),
        share(tensor.byteCount))
    }
    lines += ["", table.text(width: width)]
    if shown.count < tensors.count {
      let bytes = tensors.dropFirst(shown.count).reduce(0) { $0 + $1.byteCount }
      lines.append(
        "and \(tensors.count - shown.count) more with \(HumanReadable.bytes(bytes)) (--verbose shows all)")
    }
    return lines.joined(separator: "\n")
  }

  private var copiesTable: TextTable {
    var table = TextTable(.init("COPY"), .init("ABOUT", .right), .init("SAVES", .right))
    for copy in copies { table.add(copy.form.description, HumanReadable.bytes(copy.byteCount), saving(copy)) }
    return table
  }

  /// The share of the model's bytes that a copy saves.
  func saving(_ copy: Copy) -> String {
    HumanReadable.percent(1 - Double(copy.byteCount) / Double(max(byteCount, 1)), decimals: 0)
  }

  /// The share of a number of bytes in the model's.
  func share(_ bytes: Int) -> String { HumanReadable.percent(Double(bytes) / Double(max(byteCount, 1))) }
}

extension ShippedTensor {
  /// The sizes: `64x3x7x7`; empty for a scalar.
  var shapeText: String { shape.map(String.init).joined(separator: "x") }
}

extension String {
  fileprivate func padding(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - columns))
  }
}
