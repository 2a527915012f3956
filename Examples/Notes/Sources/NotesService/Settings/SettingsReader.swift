import Configuration
import Foundation
import Synchronization

/// Reads settings one by one and collects their problems.
///
/// A `ConfigReader` takes a value that it cannot convert for a missing one, and tells its access reporter.
final class SettingsReader {
    private let reports = Reports()
    private let config: ConfigReader
    private var rejected: [String] = []
    /// Options of the settings that were read.
    private var options: Set = ["--config"]

    init(_ providers: [any ConfigProvider]) { config = ConfigReader(providers: providers, accessReporter: reports) }

    var problems: [String] { reports.problems.withLock { $0 } + rejected }

    func text(_ key: ConfigKey) -> String? {
        addOption(key)
        return config.string(forKey: key)
    }

    func text(_ key: ConfigKey, default value: String) -> String { text(key) ?? value }

    func number(_ key: ConfigKey, in range: ClosedRange<Int>) -> Int? {
        addOption(key)
        guard let number = config.int(forKey: key) else { return nil }
        if range.contains(number) { return number }
        rejected.append("\(key) is \(number), not \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    func seconds(_ key: ConfigKey, in range: ClosedRange<Int>) -> Duration? {
        number(key, in: range).map { .seconds($0) }
    }

    func directory(_ key: ConfigKey) -> URL? {
        guard let path = text(key) else { return nil }
        if path.isEmpty { rejected.append("\(key) is empty") }
        return URL(filePath: path)
    }

    func choice(_ key: ConfigKey, of choices: [String]) -> String? {
        guard let text = text(key) else { return nil }
        if choices.contains(text) { return text }
        rejected.append("\(key) is \"\(text)\", not one of \(choices.joined(separator: ", "))")
        return nil
    }

    /// Rejects arguments from which no setting was read.
    ///
    /// `CommandLineArgumentsProvider` ignores them.
    func rejectOthers(in arguments: [String]) {
        var takesValue = false
        for argument in arguments.dropFirst() {
            if argument.hasPrefix("--") {
                let option = String(argument.prefix { $0 != "=" })
                if !options.contains(option) { rejected.append("\(option) is not an option") }
                takesValue = option == argument
            } else if !takesValue {
                rejected.append("\"\(argument)\" belongs to no option")
            }
        }
    }

    private func addOption(_ key: ConfigKey) { options.insert("--" + key.components.joined(separator: "-")) }
}

/// Problems of the settings, for the person who wrote them.
package struct SettingsError: Error, CustomStringConvertible {
    package let problems: [String]

    package var description: String { problems.joined(separator: "\n") }
}

private final class Reports: AccessReporter {
    let problems = Mutex<[String]>([])

    func report(_ event: AccessEvent) {
        var errors = event.providerResults.compactMap { $0.result.failure }
        if let error = event.conversionError { errors.append(error) }
        guard let error = errors.first else { return }
        problems.withLock { $0.append("\(event.metadata.key) is not of type \(event.metadata.valueType): \(error)") }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
