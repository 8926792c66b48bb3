import KelvinBasics

/// Class labels, categories or the keys of a dictionary, in order: all strings or all integers.
package enum Labels: Sendable, Hashable {
  case strings([String])
  case integers([Int64])

  package var count: Int {
    switch self {
    case .strings(let labels): labels.count
    case .integers(let labels): labels.count
    }
  }

  package var isString: Bool { if case .strings = self { true } else { false } }

  /// The labels as strings; integers in decimal.
  package var strings: [String] {
    switch self {
    case .strings(let labels): labels
    case .integers(let labels): labels.map(String.init)
    }
  }

  package static func == (a: Labels, b: Labels) -> Bool {
    switch (a, b) {
    case (.strings(let a), .strings(let b)): a.exact == b.exact
    case (.integers(let a), .integers(let b)): a == b
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .strings(let labels): hasher.combine(labels.exact)
    case .integers(let labels): hasher.combine(labels)
    }
  }
}
