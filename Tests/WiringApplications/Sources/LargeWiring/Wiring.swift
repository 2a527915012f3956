package import AsyncDI

struct Number: Qualifier {
    let value: Int
}
struct Part: Sendable {}

/// Two thousand registrations, most of which need four others: those of higher numbers.
package func makeContainer() -> Container {
    Container(name: "app") {
        for number in 0..<2000 {
            Registration(Part.self, qualifier: Number(value: number)) { _ in Part() }
                .needing([1, 2, 30, 400].map { number + $0 }.filter { $0 < 2000 })
        }
    }
}

extension Registration<Part> {
    func needing(_ numbers: [Int]) -> Self {
        numbers.reduce(dependencies()) { $0.dependency(Part.self, qualifier: Number(value: $1)) }
    }
}
