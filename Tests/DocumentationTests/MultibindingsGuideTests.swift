import AsyncDI
import Testing

/// The guide "Multibindings", run.
@Suite(.timeLimit(.minutes(10)))
struct MultibindingsGuideTests {
    struct ExportModule: Module {
        var registrations: Registrations {
            Registration(using: CSVExporter.init, as: (any Exporter).self).intoMany(key: Format.csv)
            Registration((any Exporter).self, lifetime: .singleton) { _ in PDFExporter() }.intoMany(key: Format.pdf)
            Registration((any Exporter).self) { _ in PlainExporter() }.intoMany()
        }
    }

    @Test func `contributions are added up, in order and by key`() async throws {
        let container = Container { ExportModule() }
        try await container.registerMany((any Exporter).self, key: Format.html) { _ in HTMLExporter() }
        let exporters = try await container.resolveMany((any Exporter).self)
        let byFormat = try await container.resolveMap((any Exporter).self, keyedBy: Format.self)
        #expect(exporters.map(\.name) == ["csv", "pdf", "plain", "html"])
        #expect(byFormat.mapValues(\.name) == [.csv: "csv", .pdf: "pdf", .html: "html"])
        #expect(try await container.resolveMany(String.self).isEmpty)
        await #expect { try await container.resolve([String].self) } throws: {
            ResolutionError.Code.notRegistered ~= $0
        }
        #expect(try await container.resolve([String]?.self) == nil)
        try await container.dispose()
    }

    @Test func `a contribution with hooks is a registration`() async throws {
        let container = Container { ExportModule() }
        try await container.registerMany((any Exporter).self, key: Format.html) { _ in HTMLExporter() }
        try await container.registerMany(
            Registration((any Exporter).self, lifetime: .singleton) { _ in SpreadsheetExporter() }
                .onDispose { exporter in try await exporter.close() },
            key: Format.spreadsheet)
        let exporter = try await container.resolveMap((any Exporter).self, keyedBy: Format.self)[.spreadsheet]
        try await container.dispose()
        #expect(await (exporter as? SpreadsheetExporter)?.isClosed == true)
    }

    @Test func `an initializer takes an array or a dictionary`() async throws {
        let container = Container { ExportModule() }
        try await container.register(using: ExportMenu.init)
        let menu = try await container.resolve(ExportMenu.self)
        #expect(menu.exporters.count == 3)
        #expect(menu.byFormat.count == 2)
        try await container.dispose()
    }

    @Test func `one of them is overridden, in its place`() async throws {
        let menu = Container {
            ExportModule()
            // Comes first, like that of the module.
            Registration((any Exporter).self) { _ in FastCSVExporter() }.intoMany(key: Format.csv)
        }
        #expect(try await menu.resolveMany((any Exporter).self).map(\.name) == ["fast csv", "pdf", "plain"])
        try await menu.dispose()
    }

    @Test func `they are held as long as they are used`() async throws {
        let container = Container { ExportModule() }
        let document = Document()
        try await container.withInstance((any Exporter).self, contributedAs: Format.pdf) { exporter in
            try await exporter.export(document)
        }
        try await container.withInstances((any Exporter).self) { exporters in
            for exporter in exporters { try await exporter.export(document) }
        }
        try await container.withInstanceMap((any Exporter).self, keyedBy: Format.self) { exporters in
            try await exporters[.csv]?.export(document)
        }
        #expect(await document.exports == ["pdf", "csv", "pdf", "plain", "csv"])
        try await container.dispose()
    }

    actor Document {
        private(set) var exports: [String] = []
        func exported(by name: String) { exports.append(name) }
    }

    @Test func `a scope's own`() async throws {
        let container = Container { ExportModule() }
        let names = try await container.withScope("preview") {
            Registration((any Exporter).self) { _ in PreviewExporter() }.intoMany(key: Format.pdf)
        } operation: { _ in
            try await container.resolveMap((any Exporter).self, keyedBy: Format.self).mapValues(\.name)
        }
        #expect(names == [.csv: "csv", .pdf: "preview"])
        await container.unregister((any Exporter).self, contributedAs: Format.pdf)
        await container.unregisterMany((any Exporter).self)
        #expect(try await container.resolveMany((any Exporter).self).isEmpty)
        try await container.dispose()
    }

    struct ExportMenu: Sendable {
        let exporters: [any Exporter]
        let byFormat: [Format: any Exporter]
    }

    enum Format { case csv, pdf, html, spreadsheet }

    protocol Exporter: Sendable {
        var name: String { get }
        func close() async throws
    }

    actor SpreadsheetExporter: Exporter {
        nonisolated let name = "spreadsheet"
        private(set) var isClosed = false
        func close() { isClosed = true }
    }

    struct FastCSVExporter: Exporter { var name: String { "fast csv" } }

    struct CSVExporter: Exporter { var name: String { "csv" } }
    struct PDFExporter: Exporter { var name: String { "pdf" } }
    struct PlainExporter: Exporter { var name: String { "plain" } }
    struct HTMLExporter: Exporter { var name: String { "html" } }
    struct PreviewExporter: Exporter { var name: String { "preview" } }
}

extension MultibindingsGuideTests.Exporter {
    func close() {}
    func export(_ document: MultibindingsGuideTests.Document) async throws { await document.exported(by: name) }
}
