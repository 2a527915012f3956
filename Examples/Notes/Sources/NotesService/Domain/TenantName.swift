/// Name of a tenant, which is also the name of its file.
///
/// A name has 1 to 32 characters of `a` to `z`, `0` to `9` and `-`, and begins with a letter. Nothing else gets past
/// this type, so no path can be smuggled in.
package struct TenantName: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ text: String) throws(NotesError) {
        let bytes = text.utf8
        guard (1...32).contains(bytes.count), let first = bytes.first, Self.isLetter(first),
            bytes.allSatisfy({ Self.isLetter($0) || Self.isDigit($0) || $0 == UInt8(ascii: "-") })
        else { throw .invalid("a tenant's name has 1 to 32 characters of a-z, 0-9 and -, and begins with a letter") }
        description = text
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
