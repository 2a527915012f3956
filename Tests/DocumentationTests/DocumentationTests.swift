import Testing

/// README and guides are true: their code is compiled here, and their links have targets.
@Suite(.timeLimit(.minutes(10)))
struct DocumentationTests {
    @Test func `every Swift block is compiled`() throws {
        let (files, appleClient) = (try Documents.compiledFiles(), try Documents.appleClient())
        let pages = try Documents.pages()
        #expect(pages.count > 8)
        #expect(Documents.appleGuides.isSubset(of: pages.map(\.name)))
        for page in pages {
            let isApple = Documents.appleGuides.contains(page.name)
            let place = isApple ? ".ci/stand-ins/Client.swift" : "Tests/DocumentationTests"
            for block in Markdown.blocks(of: page.text) where block.language == "swift" {
                let isCompiled = Markdown.isCompiled(block.lines, in: isApple ? appleClient : files)
                #expect(isCompiled, "\(page.name) has code that is not in \(place): \(block.lines)")
            }
        }
    }

    @Test func `every example of a doc comment is compiled`() throws {
        let files = try Documents.compiledFiles() + Documents.appleClient()
        let examples = try Documents.docExamples()
        #expect(examples.count > 60)
        for example in examples {
            for part in example.parts where !Markdown.isCompiled(part, in: files) {
                Issue.record("\(example.name) has an example that no test compiles: \(part)")
            }
        }
    }

    @Test func `a block is Swift, text, or a list of commands in README`() throws {
        for page in try Documents.pages() {
            let languages = Set(Markdown.blocks(of: page.text).map(\.language))
            #expect(languages.isSubset(of: page.name == "README.md" ? ["swift", "text", ""] : ["swift", "text"]))
        }
    }

    @Test func `README's links lead to files, and links to tests to a test of that name`() throws {
        let links = Markdown.links(in: try Documents.text(of: "README.md"))
        #expect(links.count > 20)
        for link in links {
            #expect(Documents.exists(link.target), "\(link.target) does not exist")
            guard link.target.hasSuffix(".swift"), Documents.exists(link.target) else { continue }
            let file = try Documents.text(of: link.target)
            let isThere = file.contains("func `\(link.label)`(")
            #expect(isThere, "\(link.target) has no test called: \(link.label)")
        }
    }

    @Test func `README is read in five minutes`() throws {
        let lines = try Documents.text(of: "README.md").split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count - 1 <= 170)
    }

    @Test(arguments: ["README.md", "Sources/AsyncDI/AsyncDI.docc/Decisions/HowItIsProved.md"])
    func `the number of deliberate breaks is that of the list`(page: String) throws {
        let lists = try ["folders", "mutants"].map { try Documents.text(of: "Exploration/Mutants/\($0).txt") }
        let count = lists.flatMap { Markdown.lines($0) }.count { $0.hasPrefix("mutant ") }
        let text = try Documents.text(of: page)
        #expect(
            text.contains("\(count) deliberate breaks") || text.contains("in \(count) ways"),
            "the lists have \(count) breaks")
    }

    // MARK: The checks can fail

    @Test func `a block that is not compiled is found`() {
        let file = Markdown.lines("func f() {\n    let a = 1\n\n    let b = 2\n    let c = 3\n}")
        #expect(Markdown.isCompiled(["let a = 1", "let b = 2"], in: [file]))
        #expect(!Markdown.isCompiled(["let a = 1", "let c = 3"], in: [file]), "not contiguous")
        #expect(!Markdown.isCompiled(["let a = 2"], in: [file]), "not there")
        #expect(!Markdown.isCompiled(["let a = 1", "let b = 2"], in: [["let a = 1"], ["let b = 2"]]), "in two files")
        #expect(!Markdown.isCompiled([], in: [file]), "nothing at all")
    }

    @Test func `examples are found in doc comments, in parts`() {
        let source = """
            /// A service.
            ///
            /// ```swift
            /// struct A {
            ///     let b: B
            /// }
            ///
            /// let a = A(b: b)
            /// ```
            struct A {
                // ```swift
                // no doc comment
                // ```
                /// ```text
                /// not Swift
                /// ```
                let b: B
            }
            """
        #expect(Markdown.docExamples(of: source) == [[["struct A {", "let b: B", "}"], ["let a = A(b: b)"]]])
    }

    @Test func `blocks and links are found in a page`() {
        let page = """
            See [a test
            of mine](Tests/A.swift).

            ```swift
            let  a = 1

            let b = 2
            ```
            ```text
            not Swift
            ```
            """
        let blocks = Markdown.blocks(of: page)
        #expect(blocks.map(\.language) == ["swift", "text"])
        #expect(blocks.first?.lines == ["let a = 1", "let b = 2"])
        #expect(Markdown.links(in: page).map(\.label) == ["a test of mine"])
        #expect(Markdown.links(in: page).map(\.target) == ["Tests/A.swift"])
    }
}
