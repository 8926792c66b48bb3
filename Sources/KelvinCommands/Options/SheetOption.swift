import ArgumentParser

/// The option for a page of images.
struct SheetOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write a contact sheet: one page with thumbnails that opens anywhere.", valueName: "file.html"))
  var sheet: String?
}
