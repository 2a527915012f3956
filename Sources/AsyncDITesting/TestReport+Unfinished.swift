import AsyncDI

extension TestReport {
    /// What was going on in a container when its test ended.
    static func unfinished(in container: Container) async -> [TestReport] { [] }
}
