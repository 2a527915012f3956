import Testing

@testable import TourKit

@Suite(.timeLimit(.minutes(1)))
struct LineClassifierTests {
    /// One letter for each line: c(ode), m (comment), b(lank).
    private func kinds(_ language: Language, _ text: String) -> String {
        let classifier = LineClassifier(language)
        var state = LineClassifier.State.code
        return text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { line in
                switch classifier.classify(Array(line)[...], after: &state) {
                case .code: "c"
                case .comment: "m"
                case .blank: "b"
                }
            }
            .joined()
    }

    @Test(arguments: [
        ("let x = 1 // one", "c"),
        ("// one\n\n  \t\n/// two", "mbbm"),
        ("let x = 1\r\n\r\n// one\r", "cbm"),
        ("/* one\n\ntwo */\nx", "mbmc"),
        ("/* one /* two */\nthree */\nx", "mmc"),
        ("/* one */ x", "c"),
        ("x /* one\ntwo */ y\nz", "ccc"),
        ("let s = \"/* no comment\"\nx", "cc"),
        ("let s = \"\\\"/*\"\nx", "cc"),
        ("let s = #\"\\\"# // /*\nx", "cc"),
        ("let s = \"\"\"\n// no comment\n\n\"\"\"\n// one", "ccbcm"),
        ("let s = \"unfinished\n// one", "cm"),
        ("let u = \"https://example.com\"", "c"),
    ])
    func `Swift`(text: String, expected: String) {
        #expect(kinds(.swift, text) == expected)
    }

    @Test
    func `block comments nest in Swift, not in C`() {
        let text = "/* one /* two */\nx"
        #expect(kinds(.swift, text) == "mm")
        #expect(kinds(.c, text) == "mc")
    }

    @Test(arguments: [
        (Language.c, "char q = '\"'; /* one\ntwo */", "cm"),
        (.python, "x = '''\n# no comment\n'''\n# one", "cccm"),
        (.shell, "#!/bin/sh\necho '# no' # one", "mc"),
        (.javaScript, "x = `\n// no comment\n`\n// one", "cccm"),
        (.markdown, "# A title\n<!-- one -->\n\ntext", "cmbc"),
    ])
    func `other languages`(language: Language, text: String, expected: String) {
        #expect(kinds(language, text) == expected)
    }

    @Test
    func `every language has a syntax and an extension is looked at without its case`() {
        for language in Language.allCases { #expect(kinds(language, "x") == "c") }
        #expect(Language(fileExtension: "SWIFT") == .swift)
        #expect(Language(fileExtension: "png") == nil)
    }
}
