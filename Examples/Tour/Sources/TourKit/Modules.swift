import AsyncDI

/// Services that the whole tour shares: the settings, the directory and the report.
struct ReportModule: Module {
    let settings: Settings
    let runs: FactoryRuns

    var registrations: Registrations {
        // Something that is there already.
        Registration(instance: settings)

        // The parameters of `SourceTree.init(settings:)` are resolved by their types.
        Registration(using: SourceTree.init, lifetime: .singleton)
            .counted(by: runs)

        // Opened asynchronously, once, however many files ask for it at the same time; written at the end.
        Registration(using: ReportStore.open, lifetime: .singleton)
            .onDispose { report in try await report.close() }
            .counted(by: runs)
    }
}

/// Services that count one file.
struct FileModule: Module {
    let runs: FactoryRuns

    var registrations: Registrations {
        // Each scope brings its file, see `Tour`.
        Registration(expected: SourceFile.self)

        // One for each language: the argument of `resolve` is part of what is shared.
        Registration(LineClassifier.self, lifetime: .multiton) { _, language in LineClassifier(language) }
            .dependencies()
            .counted(by: runs)

        // One for each scope, closed with it. What a closure resolves is declared for `validate()`.
        Registration(OpenFile.self, lifetime: .scoped) { resolver in try await OpenFile(resolver.resolve()) }
            .onDispose { file in try await file.close() }
            .dependencies(SourceFile.self)
            .counted(by: runs)

        Registration(FileCensus.self, lifetime: .scoped) { resolver in
            let file = try await resolver.resolve(SourceFile.self)
            return try await FileCensus(
                file: file,
                input: resolver.resolve(),
                classifier: resolver.resolve(arguments: file.language),
                report: resolver.resolve())
        }
        .dependencies(SourceFile.self, OpenFile.self, ReportStore.self)
        .dependency(LineClassifier.self, arguments: Language.self)
        .counted(by: runs)
    }
}
