import AsyncDI

/// Services that the whole tour shares: the settings, the directory and the report.
struct ReportModule: Module {
    let settings: Settings

    var registrations: Registrations {
        // An instance that exists already.
        Registration(instance: settings)

        // The parameters of each initializer are resolved by their types.
        Registration(using: SourceTree.init, lifetime: .singleton)
        Registration(using: Census.init, lifetime: .singleton)

        // Opened asynchronously, once, however many files request it at the same time; written at the end. Services
        // depend on the protocol, so that a test can register another report.
        Registration(using: JSONReportStore.open, as: (any ReportStore).self, lifetime: .singleton)
            .onDispose { report in try await report.close() }
    }
}

/// Services that count one file.
struct FileModule: Module {
    var registrations: Registrations {
        // Each scope supplies its file, see `Tour`.
        Registration(expected: SourceFile.self)

        // One for each language: the argument is part of an instance's identity.
        Registration(LineClassifier.self, lifetime: .multiton) { _, language in LineClassifier(language) }
            .dependencies()

        // One for each scope, closed with it.
        Registration(using: OpenFile.init, lifetime: .scoped)
            .onDispose { file in try await file.close() }

        // A closure can pass arguments. Its dependencies are declared, for `validate()`.
        Registration(FileCensus.self, lifetime: .scoped) { resolver in
            let file = try await resolver.resolve(SourceFile.self)
            return try await FileCensus(
                file: file,
                input: resolver.resolve(),
                classifier: resolver.resolve(arguments: file.language),
                report: resolver.resolve())
        }
        .dependencies(SourceFile.self, OpenFile.self, (any ReportStore).self)
        .dependency(LineClassifier.self, arguments: Language.self)
    }
}
