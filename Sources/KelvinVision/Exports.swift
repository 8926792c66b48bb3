// What searches of pictures find is part of the public vocabulary: `PhotoMatch`, `PhotoCategory`, `PhotoIndexError`.
@_exported public import KelvinIndex
