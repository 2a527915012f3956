// Applies the mutants of a list to a copy of the sources, all of them at once: each is behind a switch, and the environment says which
// one is on. So one build serves for all.
//
//   mutate LIST SOURCES   Changes the sources in place, adds the switch, and prints the mutants' names.
//
// A mutant whose place is not there, or not once, has become stale, and fails.

import Foundation

struct Mutant {
    var name = ""
    var file = ""
    var changes: [(old: String, new: String)] = []
}

func stop(_ message: String) -> Never {
    FileHandle.standardError.write(Data("mutate: \(message)\n".utf8))
    exit(1)
}

func mutants(in list: String) -> [Mutant] {
    var mutants: [Mutant] = []
    var isNew = false
    for line in list.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
        if line.hasPrefix("#") || line.hasPrefix("survives ") || line.hasPrefix("tests   ")
            || line.hasPrefix("inside  ")
            || line.isEmpty
        {
            continue
        }
        if line.hasPrefix("mutant  ") {
            mutants.append(Mutant(name: String(line.dropFirst(8))))
        } else if line.hasPrefix("file    ") {
            mutants[mutants.count - 1].file = String(line.dropFirst(8))
        } else if line.hasPrefix("- ") {
            isNew = false
            mutants[mutants.count - 1].changes.append((String(line.dropFirst(2)), ""))
        } else if line.hasPrefix("+ ") {
            isNew = true
            mutants[mutants.count - 1].changes[mutants[mutants.count - 1].changes.count - 1].new = String(
                line.dropFirst(2))
        } else {
            // The next line of what was or of what is to be.
            let last = mutants[mutants.count - 1].changes.count - 1
            if isNew {
                mutants[mutants.count - 1].changes[last].new += "\n" + line
            } else {
                mutants[mutants.count - 1].changes[last].old += "\n" + line
            }
        }
    }
    return mutants
}

guard CommandLine.arguments.count == 3 else { stop("a list and a folder are needed") }
let folder = URL(fileURLWithPath: CommandLine.arguments[2])
let all = mutants(in: try String(contentsOfFile: CommandLine.arguments[1], encoding: .utf8))
if Set(all.map(\.name)).count != all.count { stop("two mutants have the same name") }

var originals: [String: String] = [:]
for (index, mutant) in all.enumerated() {
    let url = folder.appending(path: mutant.file)
    guard var text = try? String(contentsOf: url, encoding: .utf8) else {
        stop("\(mutant.name): no file \(mutant.file)")
    }
    let original = originals[mutant.file] ?? text
    originals[mutant.file] = original
    if mutant.changes.isEmpty { stop("\(mutant.name) changes nothing") }
    for change in mutant.changes {
        guard original.components(separatedBy: change.old).count == 2 else {
            stop("\(mutant.name) is stale: \(mutant.file) does not have, once: \(change.old)")
        }
        guard change.new.contains("MUTANT") || mutant.changes.count > 1 else { stop("\(mutant.name) has no switch") }
        let new = change.new.replacingOccurrences(of: "MUTANT", with: "Mutant.isOn(\(index + 1))")
        guard text.components(separatedBy: change.old).count == 2 else {
            stop("\(mutant.name) meets another mutant in \(mutant.file): \(change.old)")
        }
        text = text.replacingOccurrences(of: change.old, with: new)
    }
    try text.write(to: url, atomically: true, encoding: .utf8)
    print(mutant.name)
}

let support = """
    import Foundation

    /// Which deliberate break is on.
    @usableFromInline enum Mutant {
        @usableFromInline static let number = ProcessInfo.processInfo.environment["ASYNCDI_MUTANT"].flatMap { Int($0) } ?? 0
        @usableFromInline static func isOn(_ other: Int) -> Bool { number == other }
    }
    """
try support.write(to: folder.appending(path: "Support/Mutant.swift"), atomically: true, encoding: .utf8)
