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

    @Test func `an initialiser takes an array or a dictionary`() async throws {
        let container = Container { ExportModule() }
        try await container.register(using: ExportMenu.init)
        let menu = try await container.resolve(ExportMenu.self)
        #expect(menu.exporters.count == 3)
        #expect(menu.byFormat.count == 2)
        try await container.dispose()
    }

    @Test func `a scope's own`() async throws {
        let container = Container { ExportModule() }
        let names = try await container.withScope("preview") {
            Registration((any Exporter).self) { _ in PreviewExporter() }.intoMany(key: Format.pdf)
        } operation: { _ in
            try await container.resolveMap((any Exporter).self, keyedBy: Format.self).mapValues(\.name)
        }
        #expect(names == [.csv: "csv", .pdf: "preview"])
        await container.unregisterMany((any Exporter).self)
        #expect(try await container.resolveMany((any Exporter).self).isEmpty)
        try await container.dispose()
    }

    struct ExportMenu: Sendable {
        let exporters: [any Exporter]
        let byFormat: [Format: any Exporter]
    }

    enum Format { case csv, pdf, html }

    protocol Exporter: Sendable {
        var name: String { get }
    }

    struct CSVExporter: Exporter { var name: String { "csv" } }
    struct PDFExporter: Exporter { var name: String { "pdf" } }
    struct PlainExporter: Exporter { var name: String { "plain" } }
    struct HTMLExporter: Exporter { var name: String { "html" } }
    struct PreviewExporter: Exporter { var name: String { "preview" } }
}
