import Configuration
import Foundation
import NotesService
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SettingsTests {
    private func read(_ arguments: [String] = [], _ environment: [String: String] = [:]) async throws -> Settings {
        try await Settings.read(arguments: ["notes"] + arguments, environment: environment)
    }

    private func problems(_ arguments: [String] = [], _ environment: [String: String] = [:]) async -> [String] {
        do {
            _ = try await read(arguments, environment)
            return []
        } catch {
            return (error as? SettingsError)?.problems ?? ["\(error)"]
        }
    }

    @Test
    func `the command line wins over the environment, and that over the file`() async throws {
        try await withTemporaryDirectory { file in
            try Data(#"{"http": {"port": 1, "host": "::1"}, "admin": {"port": 2}, "tenants": {"open": 7}}"#.utf8)
                .write(to: file)
            let settings = try await read(
                ["--http-port", "3"],
                ["NOTES_HTTP_PORT": "4", "NOTES_ADMIN_PORT": "5", "NOTES_CONFIG": file.path])
            #expect(settings.port == 3)
            #expect(settings.adminPort == 5)
            #expect(settings.host == "::1")
            #expect(settings.openTenants == 7)
        }
    }

    @Test
    func `every bad value is named, all at once`() async throws {
        let problems = await problems(
            ["--http-port", "no"],
            ["NOTES_ADMIN_PORT": "70000", "NOTES_LOG_LEVEL": "loud", "NOTES_TENANTS_OPEN": "0"])
        #expect(problems.count == 4)
        for key in ["http.port", "admin.port", "log.level", "tenants.open"] {
            #expect(problems.contains { $0.hasPrefix(key) }, "\(key) in \(problems)")
        }
    }

    @Test
    func `unknown options are named with the bad values, all at once`() async throws {
        let problems = await problems(
            ["stray", "--data-dir", "/tmp", "--http-port", "no", "--http-prot=80", "late", "--data-directory", ""])
        for problem in [
            "\"stray\" belongs to no option", "--data-dir is not an option", "--http-prot is not an option",
            "\"late\" belongs to no option", "data.directory is empty",
        ] {
            #expect(problems.contains(problem), "\(problem) in \(problems)")
        }
        #expect(problems.contains { $0.hasPrefix("http.port") })
        #expect(problems.count == 6)
    }

    @Test
    func `every option of the usage is known`() async {
        let options = Settings.usage.matches(of: /--[a-z-]+/).map { "\($0.output)=" }
        #expect(options.count == 12)
        let problems = await problems(options.filter { $0 != "--config=" })
        #expect(!problems.contains { $0.hasSuffix("is not an option") }, "\(problems)")
    }

    @Test(arguments: [["-h"], ["--help"], ["help"], ["--http-port", "80", "--help"]])
    func `help is asked for in the usual ways`(_ arguments: [String]) {
        #expect(Command.isHelp(["notes"] + arguments))
    }

    @Test(arguments: [[], ["--data-directory", "help"], ["--http-port", "80"]])
    func `other arguments do not ask for help`(_ arguments: [String]) {
        #expect(!Command.isHelp(["notes"] + arguments))
    }

    @Test
    func `a bad value in the file is named`() async throws {
        try await withTemporaryDirectory { file in
            try Data(#"{"http": {"port": "eighty"}, "tenants": {"idle": [1]}}"#.utf8).write(to: file)
            let problems = await problems(["--config", file.path])
            #expect(problems.count == 2)
            #expect(problems.contains { $0.hasPrefix("http.port") })
            #expect(problems.contains { $0.hasPrefix("tenants.idle") })
        }
    }

    @Test(arguments: [["--config"], ["--config", "a", "--config", "b"], ["--config", "a,b"], ["--config="]])
    func `a file's name that is missing or not one is a problem like the others`(_ arguments: [String]) async {
        let problems = await problems(arguments + ["--http-port", "no"])
        #expect(problems.count == 2, "\(problems)")
        #expect(problems.contains { $0.hasPrefix("config") })
        #expect(problems.contains { $0.hasPrefix("http.port") })
    }

    @Test(arguments: ["{", nil])
    func `a file that cannot be read is named`(_ text: String?) async throws {
        try await withTemporaryDirectory { file in
            if let text { try Data(text.utf8).write(to: file) }
            let problems = await problems(["--config", file.path])
            #expect(problems.count == 1)
            #expect(problems.first?.contains(file.path) == true)
        }
    }
}
