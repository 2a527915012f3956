import Testing

/// The checks that ``LayoutTests`` makes find what they are for.
@Suite(.timeLimit(.minutes(10))) struct SourceFileTests {
    private func file(_ path: String, _ text: String) -> SourceFile { SourceFile(path: path, text: text) }

    @Test func `an arrow to the left is found`() {
        let sources = [
            file("Container/Left.swift", "final class Left { var right: Right? }"),
            file("Keys/Right.swift", "struct Right {\n    func f(_: Left) {}\n}"),
        ]
        let violations = SourceFile.violations(in: sources)
        #expect(violations == ["Keys/Right.swift:2 names Left of Container"])
    }

    @Test func `folders of one rank do not name each other`() {
        let sources = [
            file("Injection/One.swift", "enum One { static let other = Two.self }"),
            file("Diagnostics/Two.swift", "actor Two {}"),
        ]
        let violations = SourceFile.violations(in: sources)
        #expect(violations == ["Injection/One.swift:1 names Two of Diagnostics"])
    }

    @Test func `an unknown folder is found`() {
        let violations = SourceFile.violations(in: [file("Utils/Attic.swift", "struct Attic {}")])
        #expect(violations == ["Utils/Attic.swift is in no folder of the layout"])
    }

    @Test func `comments, strings, longer words and nested types are no mentions`() {
        let sources = [
            file("Container/Left.swift", "struct Left { struct Inner {} }\nextension Int { struct Far {} }"),
            file(
                "Keys/Right.swift",
                """
                /// Like `Left`. /* Left */
                /* Left /* Left */ Left */
                struct Right { struct Inner {}; let far = Far.self; let Leftover = "Left", raw = #"\\(Left)"# }
                let text = \"""
                    Left "Left" \\(1 + (2)) Left
                    \"""
                """),
        ]
        #expect(SourceFile.violations(in: sources).isEmpty)
    }

    @Test func `an interpolation in a string is code`() {
        let sources = [
            file("Container/Left.swift", "public typealias Left = Int"),
            file("Keys/Right.swift", #"let text = "a (\(f(")", Left.self)) b""#),
            file("Support/Raw.swift", ##"let text = #"a \#(Left.self)"#"##),
        ]
        #expect(
            SourceFile.violations(in: sources) == [
                "Keys/Right.swift:1 names Left of Container", "Support/Raw.swift:1 names Left of Container",
            ])
    }

    @Test func `types of every kind are collected, at the top level only`() {
        let text = """
            public struct A<T> {} ; final class B: C {}
            enum D { case e; class func f() {} ; struct G {} }
            @usableFromInline actor H {}
            protocol I<J>: AnyObject {}
            private typealias K = Int
            extension A { enum L {} }
            #if DEBUG
                struct M {}
            #endif
            """
        #expect(file("Keys/A.swift", text).topLevelTypes.sorted() == ["A", "B", "D", "H", "I", "K", "M"])
    }

    @Test func `an unsafe word without a reason is found`() {
        #expect(!file("Keys/A.swift", "final class A: @unchecked Sendable {}").unexplainedUnsafeWords.isEmpty)
        #expect(!file("Keys/A.swift", "let a = unsafeDowncast(b, to: A.self)").unexplainedUnsafeWords.isEmpty)
        #expect(!file("Keys/A.swift", "nonisolated(unsafe) let a = b  // Faster.").unexplainedUnsafeWords.isEmpty)
        #expect(
            !file(
                "Keys/A.swift", "/// because\n" + String(repeating: "\n", count: 20) + "nonisolated(unsafe) var a = 1"
            )
            .unexplainedUnsafeWords.isEmpty)
        #expect(!file("Keys/A.swift", #"nonisolated(unsafe) let a = "because""#).unexplainedUnsafeWords.isEmpty)
        #expect(
            file("Keys/A.swift", "/// Unchecked because it is.\nfinal class A: @unchecked Sendable {}")
                .unexplainedUnsafeWords.isEmpty)
        #expect(file("Keys/A.swift", "// `@unchecked Sendable` would be wrong here.").unexplainedUnsafeWords.isEmpty)
    }

    @Test func `a discarded result of a locked step is found`() {
        for line in ["_ = state.withLock { $0 }", "defer { _ = try? core.withState({ $0.handle }) }"] {
            #expect(file("Keys/A.swift", "let a = 1\n\(line)").discardedResultsOfLockedSteps == ["Keys/A.swift:2"])
        }
        for line in ["let old = state.withLock { $0 }", "state.withLock { _ = $0.take() }", "_ = unlock()"] {
            #expect(file("Keys/A.swift", line).discardedResultsOfLockedSteps.isEmpty)
        }
    }

    @Test func `imports of every spelling are found`() {
        for line in ["import Foundation", "public import Foundation", "@preconcurrency import Foundation.NSLock"] {
            #expect(file("Keys/A.swift", "import Synchronization\n\(line)").imports("Foundation"))
        }
        #expect(!file("Keys/A.swift", "// import Foundation\nimport FoundationEssentials").imports("Foundation"))
    }
}
