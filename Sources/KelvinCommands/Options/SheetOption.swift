import ArgumentParser

/// The option for a page of images.
struct SheetOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write a contact sheet: a self-contained HTML page with thumbnails.", valueName: "file.html"))
  var sheet: String?
}

/// The options for a page of the images of an index.
struct IndexSheetOptions: ParsableArguments {
  @OptionGroup var page: SheetOption

  @Flag(help: "Show images behind symbolic links on the sheet. They may be anywhere on this machine.")
  var followLinks = false
}
