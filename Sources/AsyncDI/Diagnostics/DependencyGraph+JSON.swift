extension DependencyGraph {
    /// Returns the graph as JSON, with a line for each node and edge, so that text tools show the changes.
    ///
    /// Unknown and zero values are left out. Equal graphs have equal texts. `JSONDecoder` reads it:
    /// ```swift
    /// let graph = try JSONDecoder().decode(DependencyGraph.self, from: data)
    /// ```
    /// - Returns: The text, which ends with a newline.
    public func json() -> String {
        """
        {
          "details": \(details.map(\.json).asLinesOfJSON),
          "edges": \(edges.map(\.json).asLinesOfJSON)
        }

        """
    }
}

extension DependencyGraph.Node {
    private enum Key: CodingKey {
        case name, service, lifetime, owner, site, creations, failures, duration, isOpaque, isEager
    }

    /// Decodes a node, perhaps written by hand: every missing value except the name is unknown, or zero.
    ///
    /// - Parameter decoder: Reads the node.
    /// - Throws: The decoder's error.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        func text(_ key: Key) throws -> String? { try container.decodeIfPresent(String.self, forKey: key) }
        self.init(
            try container.decode(String.self, forKey: .name), service: try text(.service),
            lifetime: try text(.lifetime), owner: try text(.owner), site: try text(.site),
            creations: try container.decodeIfPresent(Int.self, forKey: .creations) ?? 0,
            failures: try container.decodeIfPresent(Int.self, forKey: .failures) ?? 0,
            duration: try container.decodeIfPresent(Duration.self, forKey: .duration) ?? .zero,
            isOpaque: try container.decodeIfPresent(Bool.self, forKey: .isOpaque) ?? false,
            isEager: try container.decodeIfPresent(Bool.self, forKey: .isEager) ?? false)
    }

    fileprivate var json: String {
        var members = ["\"name\": \(name.quotedForJSON)"]
        let texts = [
            ("service", service == name ? nil : service), ("lifetime", lifetime), ("owner", owner), ("site", site),
        ]
        for case (let key, let text?) in texts { members.append("\"\(key)\": \(text.quotedForJSON)") }
        if creations != 0 { members.append("\"creations\": \(creations)") }
        if failures != 0 { members.append("\"failures\": \(failures)") }
        if duration != .zero {
            // As `Duration` encodes itself: the upper and the lower half of its attoseconds.
            let attoseconds = duration.attoseconds
            members.append(
                "\"duration\": [\(Int64(attoseconds >> 64)), \(UInt64(truncatingIfNeeded: attoseconds))]")
        }
        if isOpaque { members.append("\"isOpaque\": true") }
        if isEager { members.append("\"isEager\": true") }
        return "{\(members.joined(separator: ", "))}"
    }
}

extension DependencyGraph.Edge {
    private enum Key: CodingKey {
        case from, to, isDeferred
    }

    /// Decodes an edge, perhaps written by hand: it is not deferred unless it says so.
    ///
    /// - Parameter decoder: Reads the edge.
    /// - Throws: The decoder's error.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            from: try container.decode(String.self, forKey: .from), to: try container.decode(String.self, forKey: .to),
            isDeferred: try container.decodeIfPresent(Bool.self, forKey: .isDeferred) ?? false)
    }

    fileprivate var json: String {
        "{\"from\": \(from.quotedForJSON), \"to\": \(to.quotedForJSON)\(isDeferred ? ", \"isDeferred\": true" : "")}"
    }
}

extension [String] {
    /// A JSON array of elements that are JSON, one in a line.
    fileprivate var asLinesOfJSON: String {
        isEmpty ? "[]" : "[\n" + map { "    \($0)" }.joined(separator: ",\n") + "\n  ]"
    }
}

extension String {
    /// The text as a JSON string.
    var quotedForJSON: String {
        var text = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            case "\r": text += "\\r"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
