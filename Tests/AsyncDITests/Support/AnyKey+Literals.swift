@testable import AsyncDI

extension AnyKey: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    /// A string.
    public convenience init(stringLiteral key: String) { self.init(key) }
    /// A number.
    public convenience init(integerLiteral key: Int) { self.init(key) }
}
