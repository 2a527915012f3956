extension DependencyGraph {
    /// Returns the graph in the DOT language of Graphviz: `dot -Tsvg graph.dot`.
    ///
    /// Each container is a box around its registrations; a color stands for a lifetime, a dashed arrow for a
    /// deferred dependency. Names may contain anything.
    ///
    /// - Returns: The text.
    public func dot() -> String {
        var text = """
            digraph AsyncDI {
                graph [rankdir=LR, fontname="Helvetica", charset="UTF-8"];
                node [shape=box, style="rounded,filled", fillcolor="white", fontname="Helvetica"];
                edge [color="#555555"];

            """
        let ids = identifiers
        for (number, group) in groups.enumerated() {
            let indent = group.owner == nil ? "    " : "        "
            if let owner = group.owner {
                text += "    subgraph cluster_\(number) {\n        label=\(owner.quotedForDOT);\n"
                text += "        style=\"rounded\";\n        color=\"#AAAAAA\";\n"
            }
            for node in group.nodes {
                text += "\(indent)\(ids[node.name]!) [label=\(node.label.quotedForDOT)"
                if let color = node.color { text += ", fillcolor=\"\(color)\"" }
                text += "];\n"
            }
            if group.owner != nil { text += "    }\n" }
        }
        for edge in edges {
            text += "    \(ids[edge.from]!) -> \(ids[edge.to]!)\(edge.isDeferred ? " [style=dashed]" : "");\n"
        }
        return text + "}\n"
    }

    /// Returns the graph as a Mermaid flowchart, which GitHub and others draw in a page.
    ///
    /// Each container is a box around its registrations; a dashed arrow stands for a deferred dependency. Names may
    /// contain anything.
    ///
    /// - Returns: The text.
    public func mermaid() -> String {
        var text = "flowchart LR\n"
        let ids = identifiers
        for (number, group) in groups.enumerated() {
            let indent = group.owner == nil ? "    " : "        "
            if let owner = group.owner {
                text += "    subgraph c\(number)[\(owner.quotedForMermaid)]\n"
            }
            for node in group.nodes { text += "\(indent)\(ids[node.name]!)[\(node.label.quotedForMermaid)]\n" }
            if group.owner != nil { text += "    end\n" }
        }
        for edge in edges {
            text += "    \(ids[edge.from]!) \(edge.isDeferred ? "-.->" : "-->") \(ids[edge.to]!)\n"
        }
        return text
    }

    /// A short identifier for each name, of letters and digits, which both languages accept without quotes.
    private var identifiers: [String: String] {
        Dictionary(uniqueKeysWithValues: details.enumerated().map { ($1.name, "n\($0)") })
    }

    /// The nodes of each owner, in the order of owners; nodes without an owner first.
    private var groups: [(owner: String?, nodes: [Node])] {
        let nodes = Dictionary(grouping: details, by: \.owner)
        let owners = nodes.keys.compactMap(\.self).sorted()
        return ([nil] + owners).compactMap { owner in nodes[owner].map { (owner, $0) } }
    }
}

extension DependencyGraph.Node {
    /// The name, and beneath it the lifetime and the number of instances, if that is more than one.
    fileprivate var label: String {
        guard let lifetime else { return name }
        return "\(name)\n\(lifetime)\(creations > 1 ? " × \(creations)" : "")"
    }

    fileprivate var color: String? {
        switch lifetime {
        case nil: nil
        case "transient", "making": "#F5F5F5"
        case "graph": "#FFF7D6"
        case "scoped": "#DDF3E4"
        case "singleton", "instance": "#D8E8FB"
        case "multiton": "#E3DDF8"
        case "weak": "#FBE3E4"
        default: "#FDE9D0"
        }
    }
}

extension String {
    /// The text as a string of the DOT language, in which a label interprets backslashes.
    fileprivate var quotedForDOT: String {
        "\""
            + escaped { scalar in
                switch scalar {
                case "\"": "\\\""
                case "\\": "\\\\"
                case "\n": "\\n"
                case "&": "&amp;"  // A label interprets entities too.
                default: nil
                }
            } + "\""
    }

    /// The text as a string of a Mermaid flowchart, which takes entities with a number sign and HTML for a line's end.
    ///
    /// More than string delimiters must be escaped: Mermaid looks for `%%{…}%%` and for `style…:…#…;` everywhere.
    fileprivate var quotedForMermaid: String {
        // Mermaid rejects an empty string.
        "\""
            + (isEmpty ? " " : self).escaped { scalar in
                switch scalar {
                case "\"", "#", "<", ">", "&", "`", "\\", ";", ":", "%": "#\(scalar.value);"
                case "\n": "<br/>"
                default: nil
                }
            } + "\""
    }

    /// The text with some characters replaced; every other control character, which no format accepts, becomes a symbol
    /// for it.
    private func escaped(_ replacement: (Unicode.Scalar) -> String?) -> String {
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if let other = replacement(scalar) {
                text.append(contentsOf: other.unicodeScalars)
            } else {
                text.append(scalar.value < 0x20 || scalar.value == 0x7F ? "\u{FFFD}" : scalar)
            }
        }
        return String(text)
    }
}
