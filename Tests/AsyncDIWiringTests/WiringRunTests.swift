import AsyncDI
import Foundation
import Testing

@testable import AsyncDIWiring

/// The output and the exit code of a wiring check for its arguments.
@MainActor @Suite(.timeLimit(.minutes(10))) struct WiringRunTests {
    private let folder = FileManager.default.temporaryDirectory.appending(component: "wiring-\(UUID())")

    private func container(line: UInt = 7, @RegistrationBuilder more: () -> Registrations = { Registrations() })
        -> Container
    {
        Container(name: "app") {
            Registration(using: Page.init, fileID: "App/Pages.swift", line: line)
            more()
        }
    }

    private func file(_ name: String, _ text: String) throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appending(component: name)
        try Data(text.utf8).write(to: url)
        return url.path
    }

    private func removeFiles() { try? FileManager.default.removeItem(at: folder) }

    // MARK: Problems

    private let missing =
        "Font is not registered in container \"app\" or in any container it searches. Path: Page → Font. Register it: "
        + "Registration(Font.self) { … }, or check which container you resolve from."

    @Test func `a problem is an error at its line, and the status is 1`() async {
        let outcome = await run { [CheckedContainer(container())] }
        #expect(outcome == WiringOutcome(errors: "App/Pages.swift:7: error: \(missing)\n", status: 1))
        // In two containers it is the same problem.
        let twice = await run { [CheckedContainer(container()), CheckedContainer(container())] }
        #expect(twice == outcome)
    }

    @Test(arguments: ["App/Pages.swift", "App/My Pages (iOS), 2.swift", "My_App2/Zoë.swift"])
    func `a problem whose text names its line is an error there, whatever the file is called`(file: String) async {
        let decorated = Container(name: "app") {
            Decoration(Font.self, fileID: file, line: 7) { _, font in font }
        }
        let outcome = await run { [CheckedContainer(decorated)] }
        #expect(outcome.errors.hasPrefix("\(file):7: error: Font is decorated in "))
    }

    @Test func `a text names several places, or none`() {
        func places(_ text: String) -> [String] {
            WiringDiagnostic.Place.mentioned(in: text).map { "\($0.file) at \($0.line)" }
        }
        #expect(
            places("Font (App/A.swift:1) and (App/My Fonts.swift:22)") == [
                "App/A.swift at 1", "App/My Fonts.swift at 22",
            ])
        #expect(places("Made at My-App/Sub.Folder/A B.swift:3.") == ["My-App/Sub.Folder/A B.swift at 3"])
        #expect(places("A/B.swift: no line, and no file.swift:3") == [])
        #expect(places("") == [] && places("App/A.swift:") == [])
    }

    @Test func `a problem of a container is not repeated for its scopes`() async {
        let outcome = await run {
            [
                CheckedContainer(container(), resolving: Page.self)
                    .scope("http", resolving: Page.self).scope("job", resolving: Page.self, Ink.self)
            ]
        }
        let errors = outcome.errors.split(separator: "\n")
        #expect(errors.count == 2 && errors[0] == "App/Pages.swift:7: error: \(missing)")
        #expect(errors.last?.hasPrefix("error: Ink is not registered in container \"job\"") == true)
    }

    @Test func `where nothing is wrong nothing is written`() async {
        let right = await run { [CheckedContainer(container { Registration(Font.self) { _ in Font() } })] }
        #expect(right == WiringOutcome())
    }

    @Test func `paths name the files in the module's folder`() async throws {
        defer { removeFiles() }
        let path = try file("Pages.swift", "")
        let outcome = await run("--sources", "App=\(folder.path)") { [CheckedContainer(container())] }
        #expect(outcome.errors.hasPrefix("\(path):7: error: Font"))
        // Of two files with one name neither is taken.
        try FileManager.default.createDirectory(
            at: folder.appending(component: "Old"), withIntermediateDirectories: true)
        _ = try file("Old/Pages.swift", "")
        let ambiguous = await run("--sources", "App=\(folder.path)") { [CheckedContainer(container())] }
        #expect(ambiguous.errors.hasPrefix("App/Pages.swift:7: error: Font"))
    }

    @Test func `a value that one kind of scope does not supply is missing there alone`() async {
        let app = Container(name: "app") {
            Registration(expected: Request.self, fileID: "App/App.swift", line: 1)
            Registration(using: Handler.init, lifetime: .scoped, fileID: "App/App.swift", line: 2)
        }
        let outcome = await run {
            [
                CheckedContainer(app).scope("request", resolving: Handler.self) {
                    Registration(expected: Request.self)
                }
                .scope("job", resolving: Handler.self).scope("idle")
            ]
        }
        #expect(outcome.status == 1)
        #expect(
            outcome.errors.hasPrefix(
                "App/App.swift:2: error: Request is expected to be supplied by each scope, and container \"job\" does not."
            ))
        #expect(outcome.errors.split(separator: "\n").count == 2)
        let unknown = await run {
            [CheckedContainer(container { Registration(instance: Font()) }, resolving: Ink.self)]
        }
        #expect(unknown.errors.hasPrefix("error: Ink is not registered in container \"app\""))
    }

    @Test func `two kinds of scope may have one name`() async {
        let app = Container(name: "app") {
            Registration(expected: Request.self, fileID: "App/App.swift", line: 1)
            Registration(using: Handler.init, lifetime: .scoped, fileID: "App/App.swift", line: 2)
        }
        for isFirst in [true, false] {
            let outcome = await run {
                [
                    CheckedContainer(app).scope("request", resolving: Handler.self) {
                        if isFirst { Registration(expected: Request.self) }
                    },
                    CheckedContainer(app).scope("request", resolving: Handler.self) {
                        if !isFirst { Registration(expected: Request.self) }
                    },
                ]
            }
            #expect(outcome.errors.contains("container \"request\" does not"))
        }
        let right = await run {
            [
                CheckedContainer(app).scope("request").scope("request", resolving: Handler.self) {
                    Registration(expected: Request.self)
                }
            ]
        }
        #expect(right == WiringOutcome())
    }

    @Test func `a registration of a scope is checked in it`() async {
        let app = Container(name: "app") { Registration(instance: Font()) }
        let outcome = await run {
            [
                CheckedContainer(app).scope("request") {
                    Registration(using: Handler.init, fileID: "App/A.swift", line: 3)
                }
            ]
        }
        #expect(outcome.errors.hasPrefix("App/A.swift:3: error: Request is not registered in container \"request\""))
    }

    @Test func `an error of the containers is a problem too`() async {
        let outcome = await run { throw CocoaError(.fileNoSuchFile) }
        #expect(outcome.status == 1)
        #expect(outcome.errors.hasPrefix("error: the wiring could not be checked: "))
        let disposed = await run {
            let app = container()
            try await app.dispose()
            return [CheckedContainer(app)]
        }
        #expect(disposed.status == 1 && disposed.errors.contains("error: "))
    }

    // MARK: Graphs and contracts

    @Test func `a graph is written in each language`() async throws {
        let graph = try await container().declaredGraph()
        for (name, text) in [("dot", graph.dot()), ("mermaid", graph.mermaid()), ("json", graph.contract.json())] {
            #expect(await run("--graph", name) { [CheckedContainer(container())] } == WiringOutcome(output: text))
        }
    }

    @Test func `a contract that is not kept is an error that names each difference`() async throws {
        defer { removeFiles() }
        let contract = try file("wiring.json", await run("--graph", "json") { [CheckedContainer(right(7))] }.output)
        // Another line is no difference.
        #expect(await run("--contract", contract) { [CheckedContainer(right(8))] } == WiringOutcome())
        let changed = await run("--contract", contract) {
            [CheckedContainer(Container(name: "app") { Registration(Font.self, lifetime: .weak) { _ in Font() } })]
        }
        #expect(changed.status == 1)
        let lines = changed.errors.split(separator: "\n")
        #expect(lines.first?.hasPrefix("\(contract):1: error: The wiring is not as this contract says.") == true)
        #expect(lines.dropFirst().first == "note: - Page (graph, in app)")
        #expect(lines.dropFirst(2).first?.hasSuffix(": note: ~ Font: graph → weak") == true)
        #expect(lines.last == "note: - Page → Font")
        let unreadable = await run("--contract", contract + "x") { [CheckedContainer(right(7))] }
        #expect(unreadable.status == 2 && unreadable.errors.contains("is no graph"))
    }

    @Test func `two files are compared`() async throws {
        defer { removeFiles() }
        let first = try file("1.json", try await right(7).declaredGraph().json())
        let second = try file("2.json", try await container().declaredGraph().json())
        #expect(await run("--compare", first, first) { [] } == WiringOutcome(output: "no difference\n"))
        let outcome = await run("--compare", first, second) { [] }
        #expect(outcome == WiringOutcome(output: "- Font (graph, in app)\n- Page → Font\n", status: 1))
    }

    private func right(_ line: UInt) -> Container {
        container(line: line) { Registration(Font.self) { _ in Font() } }
    }

    // MARK: JSON, stamps and mistakes

    @Test func `problems are written as JSON`() async throws {
        let outcome = await run("--json") { [CheckedContainer(container())] }
        #expect(outcome.status == 1 && outcome.errors.isEmpty)
        let found = try JSONDecoder().decode([WiringDiagnostic].self, from: Data(outcome.output.utf8))
        #expect(
            found == [
                WiringDiagnostic(
                    severity: .error, kind: "notRegistered", message: missing,
                    place: .init(file: "App/Pages.swift", line: 7))
            ])
    }

    @Test func `a stamp spares a check of the same program, and is written only where nothing is wrong`() async throws {
        defer { removeFiles() }
        let (program, stamp) = (try file("program", "1"), folder.appending(component: "stamp.swift").path)
        var checks = 0
        func check(_ app: Container, _ more: String...) async -> WiringOutcome {
            await WiringRun(warnings: []) {
                checks += 1
                return [CheckedContainer(app)]
            }
            .perform([program, "--stamp", stamp] + more)
        }
        #expect(await check(container()).status == 1)
        #expect(!FileManager.default.fileExists(atPath: stamp))
        #expect(await check(right(7)).status == 0 && checks == 2)
        #expect(await check(right(7)).status == 0 && checks == 2)
        // Other arguments, or another program.
        #expect(await check(right(7), "--warn", "opaque").status == 0 && checks == 3)
        _ = try file("program", "12")
        #expect(await check(right(7), "--warn", "opaque").status == 0 && checks == 4)
    }

    @Test func `a wrong call gets an error and the help, with status 2`() async {
        for (arguments, message) in [
            (["--grap"], "unknown option --grap"), (["--graph"], "--graph needs dot, mermaid or json"),
            (["--graph", "svg"], "--graph takes dot, mermaid or json, not svg"),
            (["--warn", "x"], "--warn takes opaque, unused, outliving or all, not x"),
            (["--compare", "a"], "--compare needs two files"),
            (["--sources", "a"], "--sources takes MODULE=FOLDER, not a"),
        ] {
            let outcome = await WiringRun(warnings: []) { [] }.perform(["check"] + arguments)
            #expect(outcome.status == 2)
            #expect(outcome.errors.hasPrefix("error: \(message)\n\nChecks the wiring"))
        }
        #expect(await run("--help") { [] } == WiringOutcome(output: WiringArguments.help))
    }
}
