/// The greatest number of Unicode scalars of a text from the application's data in a message.
private let mostScalars = 200

/// A text from the application's data, as messages show it: an argument, the key of a scope, a qualifier.
///
/// Such a text may come from a client. Characters that could forge a line of a log, or control a terminal, are escaped,
/// and a long text is cut.
package func singleLine(_ text: String) -> String {
    escaped(text.unicodeScalars.prefix(mostScalars)) + lengthIfCut(text)
}

/// The debugging description of a value from the application's data, as messages show it.
func singleLine(reflecting value: any Sendable) -> String {
    guard let text = value as? String else { return singleLine(String(reflecting: value)) }
    // Cut first, because the description of a long string takes several times its memory.
    let start = String(text.unicodeScalars.prefix(mostScalars))
    return escaped(String(reflecting: start).unicodeScalars[...]) + lengthIfCut(text)
}

/// The length of a text that is cut; empty for a short one.
private func lengthIfCut(_ text: String) -> String {
    // No text has more scalars than bytes.
    text.utf8.count > mostScalars && !text.unicodeScalars.dropFirst(mostScalars).isEmpty
        ? "… (\(text.utf8.count) bytes)" : ""
}

/// A text in one line that is not cut: the description of an error.
package func escaped(_ text: String) -> String { escaped(text.unicodeScalars[...]) }

private func escaped(_ scalars: Substring.UnicodeScalarView) -> String {
    if scalars.allSatisfy({ (0x20..<0x7F).contains($0.value) }) { return String(scalars) }
    var line = ""
    for scalar in scalars {
        if isPrinted(scalar) { line.unicodeScalars.append(scalar) } else { line += scalar.escaped(asASCII: true) }
    }
    return line
}

private func isPrinted(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    // A joiner is part of many emoji.
    case .format: scalar == "\u{200D}"
    case .control, .lineSeparator, .paragraphSeparator: false
    default: true
    }
}
