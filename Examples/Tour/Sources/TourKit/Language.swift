/// A language that the census knows.
enum Language: String, CaseIterable, Sendable {
    case c = "C"
    case cPlusPlus = "C++"
    case go = "Go"
    case java = "Java"
    case javaScript = "JavaScript"
    case kotlin = "Kotlin"
    case markdown = "Markdown"
    case objectiveC = "Objective-C"
    case python = "Python"
    case ruby = "Ruby"
    case rust = "Rust"
    case shell = "Shell"
    case swift = "Swift"
    case typeScript = "TypeScript"
    case yaml = "YAML"

    /// The language of files with an extension; nil for other files.
    init?(fileExtension: String) {
        switch fileExtension.lowercased() {
        case "c", "h": self = .c
        case "cc", "cpp", "cxx", "hh", "hpp": self = .cPlusPlus
        case "go": self = .go
        case "java": self = .java
        case "js", "jsx", "mjs": self = .javaScript
        case "kt", "kts": self = .kotlin
        case "md", "markdown": self = .markdown
        case "m", "mm": self = .objectiveC
        case "py": self = .python
        case "rb": self = .ruby
        case "rs": self = .rust
        case "sh", "bash", "zsh": self = .shell
        case "swift": self = .swift
        case "ts", "tsx": self = .typeScript
        case "yaml", "yml": self = .yaml
        default: return nil
        }
    }
}
