import AsyncDI

/// One message about the wiring, with its source locations.
struct WiringDiagnostic: Hashable, Codable {
    enum Severity: String, Codable {
        case error, warning
    }

    /// A line that a message is about; the file as in `#fileID`, until it is located.
    struct Place: Hashable, Codable {
        let file: String
        let line: UInt

        func located(by locator: inout SourceLocator) -> Place { Place(file: locator.path(of: file), line: line) }
    }

    struct Note: Hashable, Codable {
        let message: String
        let place: Place?
    }

    let severity: Severity
    /// The kind: the code of an error, or the name of a warning.
    let kind: String
    let message: String
    var place: Place?
    var notes: [Note] = []

    /// In the form of a compiler's messages: a line for the message and one for each note.
    var lines: [String] {
        [Self.line(place, severity.rawValue, message)] + notes.map { Self.line($0.place, "note", $0.message) }
    }

    private static func line(_ place: Place?, _ kind: String, _ message: String) -> String {
        // A compiler's message is a single line.
        let text = message.split(whereSeparator: \.isNewline).joined(separator: " ")
        guard let place else { return "\(kind): \(text)" }
        return "\(place.file):\(place.line): \(kind): \(text)"
    }

    /// Returns the same diagnostic with the paths of located files.
    func located(by locator: inout SourceLocator) -> WiringDiagnostic {
        var copy = self
        copy.place = place?.located(by: &locator)
        copy.notes = notes.map { Note(message: $0.message, place: $0.place?.located(by: &locator)) }
        return copy
    }
}

extension WiringDiagnostic.Place {
    init(_ site: RegistrationSite) { self.init(file: site.fileID, line: site.line) }

    /// The sites that a text names, in order: `App/Modules.swift:12`, also where the file's name has spaces.
    static func mentioned(in text: String) -> [Self] {
        var places: [Self] = []
        var rest = text[...]
        while let end = rest.firstRange(of: ".swift:") {
            let number = rest[end.upperBound...].prefix { $0.isNumber }
            let file = rest[..<rest.index(before: end.upperBound)]
            if let slash = file.lastIndex(of: "/"), let line = UInt(number) {
                let before = file[..<slash].lastIndex { " (),;".contains($0) }
                let start = before.map { file.index(after: $0) } ?? file.startIndex
                places.append(Self(file: String(file[start...]), line: line))
            }
            rest = rest[number.endIndex...]
        }
        return places
    }

    /// A site in the form of a graph's node: `App/Modules.swift:12`.
    init?(_ site: String?) {
        guard let site, let colon = site.lastIndex(of: ":"), let line = UInt(site[site.index(after: colon)...]) else {
            return nil
        }
        self.init(file: String(site[..<colon]), line: line)
    }
}

extension WiringDiagnostic {
    /// The error that resolving would throw, at the first registration of its path; the others are notes.
    init(_ problem: ResolutionError) {
        let steps = zip(problem.path, problem.sites).map { (name: "\($0)", place: $1.map(Place.init)) }
        var message = problem.message
        if problem.code == .circularDependency {
            message = "\(steps.last?.name ?? "A service") depends on itself."
        }
        if steps.count > 1 { message += " Path: \(steps.map(\.name).joined(separator: " → "))." }
        if let advice = problem.advice { message += " \(advice)" }
        self.init(severity: .error, kind: "\(problem.code)", message: message)
        let places = steps.filter { $0.place != nil }
        place = places.first?.place
        var seen = Set(places.prefix(1).map(\.place))
        for step in places.dropFirst() where seen.insert(step.place).inserted {
            notes.append(Note(message: "\(step.name) is registered here", place: step.place))
        }
        // The registrations named in the text: the other one of two, or a decoration.
        for other in Place.mentioned(in: message) where seen.insert(other).inserted {
            if place == nil { place = other } else { notes.append(Note(message: "named above", place: other)) }
        }
    }

    /// A closure that the check could not look into.
    init(opaque registration: ValidationReport.Registration) {
        self.init(
            severity: .warning, kind: "opaqueClosure",
            message: "\(registration.key) is made by a closure that does not declare what it resolves, which therefore "
                + "is not checked. Declare it: .dependencies(A.self, B.self), or .dependencies() if it resolves nothing.",
            place: registration.site.map(Place.init))
    }

    init(unused node: DependencyGraph.Node) {
        self.init(
            severity: .warning, kind: "unused",
            message: "\(node.name) is registered, but none of the services that the application resolves needs it.",
            place: Place(node.site))
    }

    init(outlivingUsers node: DependencyGraph.Node) {
        self.init(
            severity: .warning, kind: "outlivingUsers",
            message: "\(node.name) is \(node.lifetime ?? "shared") and lives longer than everything that uses it.",
            place: Place(node.site))
    }

    /// A warning about some registrations that is uncertain, because closures may use them.
    init(
        _ kind: String, whether question: String, _ nodes: [DependencyGraph.Node],
        perhapsUsedBy opaque: [DependencyGraph.Node]
    ) {
        self.init(
            severity: .warning, kind: kind,
            message: "Whether these \(question) cannot be told, because some registrations may resolve more than they "
                + "declare: \(nodes.map(\.name).joined(separator: ", ")).",
            place: opaque.lazy.compactMap { Place($0.site) }.first,
            notes: opaque.map { Note(message: "\($0.name) may resolve more than it declares", place: Place($0.site)) })
    }

    /// The contract differs.
    init(_ difference: GraphDifference, fromContract file: String) {
        self.init(
            severity: .error, kind: "contract",
            message: "The wiring is not as this contract says. Write it anew if this is meant: --graph json > \(file)",
            place: Place(file: file, line: 1))
        notes = difference.lines.map { Note(message: $0.text, place: Place($0.node?.site)) }
    }
}
