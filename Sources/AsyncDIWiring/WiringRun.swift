import AsyncDI
import Foundation

/// One run of a check with the arguments of its process: its output, and its exit code.
@MainActor struct WiringRun {
    let warnings: WiringWarnings
    let containers: @MainActor () async throws -> [CheckedContainer]

    /// Performs the arguments' command; the first argument is the path of the process.
    func perform(_ arguments: [String]) async -> WiringOutcome {
        let options: WiringArguments
        do {
            options = try WiringArguments(Array(arguments.dropFirst()))
        } catch {
            return WiringOutcome(errors: "error: \(error.message)\n\n\(WiringArguments.help)", status: 2)
        }
        if options.asksForHelp { return WiringOutcome(output: WiringArguments.help) }
        do {
            if let files = options.comparison {
                let difference = try read(files[1]).difference(from: try read(files[0]))
                return WiringOutcome(output: "\(difference)\n", status: difference.isEmpty ? 0 : 1)
            }
            let stamp = options.stamp.map { WiringStamp(file: $0, arguments: arguments, contract: options.contract) }
            if stamp?.isUpToDate == true { return WiringOutcome() }
            let wiring = try Wiring(try await containers())
            if let drawing = options.drawing { return WiringOutcome(output: draw(try wiring.graph, drawing)) }
            var found = try await wiring.diagnostics(warnings.union(options.warnings))
            if let contract = options.contract {
                let difference = try wiring.graph.difference(from: try read(contract))
                if !difference.isEmpty { found.append(WiringDiagnostic(difference, fromContract: contract)) }
            }
            return try outcome(found, options, stamp)
        } catch let error as WiringArguments.Mistake {
            return WiringOutcome(errors: "error: \(error.message)\n", status: 2)
        } catch let error as ResolutionError {
            return (try? outcome([WiringDiagnostic(error)], options, nil)) ?? failure(error)
        } catch {
            return failure(error)
        }
    }

    private func outcome(
        _ diagnostics: [WiringDiagnostic], _ options: WiringArguments, _ stamp: WiringStamp?
    ) throws -> WiringOutcome {
        var locator = SourceLocator(folders: options.folders)
        let located = diagnostics.map { $0.located(by: &locator) }
        let status: Int32 = located.contains { $0.severity == .error } ? 1 : 0
        if status == 0 { try stamp?.write() }
        if options.writesJSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let text = String(decoding: try encoder.encode(located), as: UTF8.self)
            return WiringOutcome(output: text + "\n", status: status)
        }
        return WiringOutcome(errors: located.flatMap(\.lines).map { $0 + "\n" }.joined(), status: status)
    }

    private func failure(_ error: any Error) -> WiringOutcome {
        WiringOutcome(errors: "error: the wiring could not be checked: \(error)\n", status: 1)
    }

    private func draw(_ graph: DependencyGraph, _ drawing: WiringArguments.Drawing) -> String {
        switch drawing {
        case .dot: graph.dot()
        case .mermaid: graph.mermaid()
        case .json: graph.contract.json()
        }
    }

    // MARK: Files

    private func read(_ file: String) throws -> DependencyGraph {
        do {
            return try JSONDecoder().decode(DependencyGraph.self, from: Data(contentsOf: URL(filePath: file)))
        } catch {
            throw WiringArguments.Mistake(message: "\(file) is no graph that --graph json wrote: \(error)")
        }
    }
}

/// The output and the exit code of a run.
struct WiringOutcome: Equatable {
    var output = ""
    var errors = ""
    var status: Int32 = 0

    /// Prints the output and ends the process.
    func printAndExit() -> Never {
        FileHandle.standardOutput.write(Data(output.utf8))
        FileHandle.standardError.write(Data(errors.utf8))
        exit(status)
    }
}
