import ArgumentParser

/// Where a page of images is written.
struct SheetOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write a contact sheet: one page with thumbnails that opens anywhere.", valueName: "file.html"))
  var sheet: String?
}
