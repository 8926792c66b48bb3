import KelvinBasics
import KelvinReport

extension SizeReport {
  /// Renders the report as a self-contained page.
  ///
  /// - Parameter kelvinVersion: The version of Kelvin, for the page's foot.
  /// - Returns: A complete HTML document in UTF-8.
  package func page(kelvinVersion: String) -> String {
    let tiles =
      tensors.map { tensor in
        SizePage.Part(
          name: tensor.name, shape: tensor.shapeText, form: tensor.coding.description, coding: tensor.coding.kind,
          file: tensor.file, byteCount: tensor.byteCount)
      }
      + rest.map { rest in
        SizePage.Part(
          name: rest.name, shape: "", form: "", coding: .other, file: rest.file, byteCount: rest.byteCount)
      }
    return SizePage(
      title: "Size of \(model.lastPathPart)",
      summary: "\(format), \(HumanReadable.bytes(byteCount)) in \(counted(files.count, "file")), "
        + "\(counted(tensors.count, "tensor"))",
      totals: totals, copies: copiesReport,
      parts: tiles.filter { $0.byteCount > 0 }.sorted { $0.byteCount > $1.byteCount },
      notes: notes, kelvinVersion: kelvinVersion
    ).render()
  }

  private var copiesReport: ReportTable? {
    guard !copies.isEmpty else { return nil }
    return ReportTable(
      title: "Smaller copies", columns: ["Form of the weights", "About", "Saves"],
      rows: copies.map { [$0.form.description, HumanReadable.bytes($0.byteCount), saving($0)] },
      facts: [
        .init(
          "Copies",
          "The files that 'kelvin compress' would write with all weights in one form, computed from their shapes. The "
            + "loss of accuracy is not known before it is measured.")
      ])
  }

  /// The facts that qualify the figures.
  package var notes: [String] {
    [
      download?.missing.map {
        "the size as .tar.zst is not known: \($0.printable); install the Debian package libzstd1"
      },
      memory?.failure.map { "the memory of predictions is not known: \($0)" },
    ].compactMap { $0 }
  }
}
