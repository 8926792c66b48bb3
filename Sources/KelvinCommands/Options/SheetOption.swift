import ArgumentParser

/// The option for a page of images.
struct SheetOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write a contact sheet: a self-contained HTML page with thumbnails.", valueName: "file.html"))
  var sheet: String?
}
