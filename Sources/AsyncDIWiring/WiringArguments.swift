/// The arguments of a check's process.
struct WiringArguments: Equatable {
    enum Drawing: String {
        case dot, mermaid, json
    }

    /// A mistake in the arguments, or in a file that they name.
    struct Mistake: Error, Equatable {
        let message: String
    }

    var asksForHelp = false
    var writesJSON = false
    var drawing: Drawing?
    var warnings: WiringWarnings = []
    var contract: String?
    var comparison: [String]?
    var stamp: String?
    var folders: [String: [String]] = [:]

    static let help = """
        Checks the wiring of an application, without running a factory. Exits with 0, or with 1 when there is a problem.

          --json                     writes what was found as JSON, to the standard output
          --graph dot|mermaid|json   writes the declared graph instead of checking it
          --contract FILE            finds how the graph differs from one that was written by --graph json
          --compare OLD NEW          says how one such file differs from another; exits with 1 when it does
          --warn opaque|unused|outliving|all
                                     warns about closures that declare nothing, about what nothing uses, about what
                                     lives longer than all its users
          --sources MODULE=FOLDER    says where the sources of a module are; else they are looked for
          --stamp FILE               writes this file when nothing is wrong, and checks nothing when it is up to date
          --help                     writes this

        """

    /// Reads the arguments that follow the name of the process.
    init(_ arguments: [String]) throws(Mistake) {
        var rest = arguments[...]
        func value(of option: String, _ what: String) throws(Mistake) -> String {
            guard let value = rest.popFirst() else { throw Mistake(message: "\(option) needs \(what)") }
            return value
        }
        while let option = rest.popFirst() {
            switch option {
            case "--help", "-h": asksForHelp = true
            case "--json": writesJSON = true
            case "--graph":
                let name = try value(of: option, "dot, mermaid or json")
                guard let drawing = Drawing(rawValue: name) else {
                    throw Mistake(message: "\(option) takes dot, mermaid or json, not \(name)")
                }
                self.drawing = drawing
            case "--contract": contract = try value(of: option, "a file")
            case "--compare":
                comparison = [try value(of: option, "two files"), try value(of: option, "two files")]
            case "--stamp": stamp = try value(of: option, "a file")
            case "--warn":
                let name = try value(of: option, "opaque, unused, outliving or all")
                guard let warning = Self.warnings[name] else {
                    throw Mistake(message: "\(option) takes opaque, unused, outliving or all, not \(name)")
                }
                warnings.formUnion(warning)
            case "--sources":
                let text = try value(of: option, "MODULE=FOLDER")
                guard let sign = text.firstIndex(of: "=") else {
                    throw Mistake(message: "\(option) takes MODULE=FOLDER, not \(text)")
                }
                folders[String(text[..<sign]), default: []].append(String(text[text.index(after: sign)...]))
            default: throw Mistake(message: "unknown option \(option)")
            }
        }
    }

    private static let warnings: [String: WiringWarnings] = [
        "opaque": .opaqueClosures, "unused": .unused, "outliving": .outlivingUsers, "all": .all,
    ]
}
