import Configuration
import Synchronization

/// Reads settings one by one and collects their problems.
///
/// A `ConfigReader` takes a value that it cannot convert for a missing one, and tells its access reporter.
final class SettingsReader {
    private let reports = Reports()
    private let config: ConfigReader
    private var rejected: [String] = []

    init(_ providers: [any ConfigProvider]) { config = ConfigReader(providers: providers, accessReporter: reports) }

    var problems: [String] { reports.problems.withLock { $0 } + rejected }

    func text(_ key: ConfigKey) -> String? { config.string(forKey: key) }

    func text(_ key: ConfigKey, default value: String) -> String { text(key) ?? value }

    func number(_ key: ConfigKey, in range: ClosedRange<Int>) -> Int? {
        guard let number = config.int(forKey: key) else { return nil }
        if range.contains(number) { return number }
        rejected.append("\(key) is \(number), not \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    func seconds(_ key: ConfigKey, in range: ClosedRange<Int>) -> Duration? {
        number(key, in: range).map { .seconds($0) }
    }

    func choice(_ key: ConfigKey, of choices: [String]) -> String? {
        guard let text = text(key) else { return nil }
        if choices.contains(text) { return text }
        rejected.append("\(key) is \"\(text)\", not one of \(choices.joined(separator: ", "))")
        return nil
    }
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
